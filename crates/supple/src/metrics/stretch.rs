//! Stretch and shear of triangles.

use super::surface::{MeasuredSurface, corners};
use glam::DVec3;

/// The limit of colours, in doublings: a triangle crushed to nothing has no finite logarithm.
const MOST_DOUBLINGS: f64 = 4.0;

/// The singular values of a triangle's deformation: the largest and least growth of lengths over
/// all directions in its plane.
///
/// For a triangle without rest area, (1, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stretch {
    /// In the direction that is stretched most; 1 is unchanged.
    pub largest: f64,
    /// In the direction that is stretched least, at right angles to the other; 0 is crushed flat.
    pub least: f64,
}

impl Stretch {
    /// No change.
    pub(super) const NONE: Stretch = Stretch {
        largest: 1.0,
        least: 1.0,
    };

    /// The distance from the nearest rigid deformation: `√((σ₁−1)² + (σ₂−1)²)`, the Frobenius norm
    /// of `F − R`.
    ///
    /// Zero only for a rigid motion, and finite also for a crushed triangle.
    pub fn distortion(&self) -> f64 {
        (self.largest - 1.0).hypot(self.least - 1.0)
    }

    /// Posed area over rest area.
    pub(crate) fn area_ratio(&self) -> f64 {
        self.largest * self.least
    }

    /// Computes the stretch from the rest shape in its plane (x of b, x of c, y of c) and the posed
    /// corners.
    ///
    /// `F` maps the plane to space. Its columns are the images of the two axes. The largest
    /// singular value is the root of the larger eigenvalue of `FᵀF`; the other follows from the
    /// area, which keeps its digits if it is small.
    fn between([bx, cx, cy]: [f64; 3], [a, b, c]: [DVec3; 3]) -> Stretch {
        let x_axis = (b - a) / bx;
        let y_axis = (c - a - x_axis * cx) / cy;
        let (xx, yy, xy) = (
            x_axis.length_squared(),
            y_axis.length_squared(),
            x_axis.dot(y_axis),
        );
        let largest = (0.5 * (xx + yy) + (0.5 * (xx - yy)).hypot(xy)).sqrt();
        let area = x_axis.cross(y_axis).length();
        let least = if largest > 0.0 { area / largest } else { 0.0 };
        Stretch { largest, least }
    }
}

/// Summary of the stretch of a whole surface. All shares and means are by rest area, so that they
/// do not depend on the tessellation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StretchSummary {
    /// Mean of [`Stretch::distortion`].
    pub mean_distortion: f64,
    /// 99 % of the surface is stretched less than this.
    pub largest_p99: f64,
    /// 99 % of the surface is compressed less than this (1 is unchanged, 0 crushed).
    pub least_p1: f64,
    /// The triangle with the largest distortion; `None` if no triangle has an area.
    pub worst: Option<WorstTriangle>,
}

/// The most distorted triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WorstTriangle {
    /// Its index in the mesh.
    pub triangle: usize,
    /// Its stretch.
    pub stretch: Stretch,
}

/// The stretch of every triangle.
pub(super) fn stretch(surface: &MeasuredSurface, points: &[DVec3]) -> Vec<Stretch> {
    let of_triangle = |(index, &triangle)| {
        surface.flattened(index).map_or(Stretch::NONE, |flat| {
            Stretch::between(flat, corners(points, triangle))
        })
    };
    surface
        .triangles
        .iter()
        .enumerate()
        .map(of_triangle)
        .collect()
}

pub(super) fn summary(surface: &MeasuredSurface, stretch: &[Stretch]) -> StretchSummary {
    let percentile = |share: f64, value: fn(&Stretch) -> f64| {
        let values = stretch.iter().map(value).zip(surface.areas.iter().copied());
        weighted_percentile(&mut values.collect::<Vec<_>>(), share).unwrap_or(1.0)
    };
    let worst = stretch
        .iter()
        .zip(&surface.areas)
        .enumerate()
        .filter(|(_, (_, area))| **area > 0.0)
        .max_by(|(_, (a, _)), (_, (b, _))| a.distortion().total_cmp(&b.distortion()));
    StretchSummary {
        mean_distortion: mean_distortion(surface, stretch, 0..stretch.len()),
        largest_p99: percentile(0.99, |stretch| stretch.largest),
        least_p1: percentile(0.01, |stretch| stretch.least),
        worst: worst.map(|(triangle, (&stretch, _))| WorstTriangle { triangle, stretch }),
    }
}

/// Mean distortion by rest area over some triangles; zero where they have no area.
pub(super) fn mean_distortion(
    surface: &MeasuredSurface,
    stretch: &[Stretch],
    triangles: impl Iterator<Item = usize>,
) -> f64 {
    let (sum, area) = triangles.fold((0.0, 0.0), |(sum, total), triangle| {
        let area = surface.areas[triangle];
        (sum + area * stretch[triangle].distortion(), total + area)
    });
    if area > 0.0 { sum / area } else { 0.0 }
}

/// log₂ of the area ratio, per vertex.
pub(super) fn vertex_stretch(surface: &MeasuredSurface, stretch: &[Stretch]) -> Vec<f32> {
    let doublings = |stretch: &Stretch| {
        let doublings = stretch.area_ratio().log2();
        doublings.clamp(-MOST_DOUBLINGS, MOST_DOUBLINGS)
    };
    surface.spread_to_vertices(&stretch.iter().map(doublings).collect::<Vec<_>>())
}

/// The value below which this share of the whole weight lies; `None` without any value.
///
/// Halves the candidates in linear time, as quickselect does, instead of sorting them.
fn weighted_percentile(values: &mut [(f64, f64)], share: f64) -> Option<f64> {
    let wanted = share * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let (mut low, mut high, mut below) = (0, values.len(), 0.0);
    while high - low > 1 {
        let half = (high - low) / 2;
        let candidates = &mut values[low..high];
        candidates.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0));
        let weight: f64 = candidates[..half].iter().map(|(_, weight)| weight).sum();
        if below + weight >= wanted {
            high = low + half;
        } else {
            below += weight;
            low += half;
        }
    }
    values.get(low).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_sorted_values(
            values in prop::collection::vec((0u8..20, 0u8..4), 0..40),
            hundredths in 1u8..100,
        ) {
            // Whole numbers and a share in hundredths of them: sums do not round.
            let values = values.iter().map(|&(value, weight)| (value.into(), weight.into()));
            let mut values: Vec<(f64, f64)> = values.collect();
            let mut sorted = values.clone();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let share = f64::from(hundredths) / 100.0;
            let total: f64 = values.iter().map(|(_, weight)| weight).sum();
            let mut below = 0.0;
            let found = sorted.iter().find(|(_, weight)| {
                below += weight;
                below >= share * total
            });
            let expected = found.map(|(value, _)| *value);
            prop_assert_eq!(weighted_percentile(&mut values, share), expected);
        }
    }
}
