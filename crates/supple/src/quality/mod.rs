//! Quality of weights: smoothness, locality, spurious maxima, symmetry, and partition of unity.
//!
//! All measures are independent of the model's size, of the resolution of its surface, and of
//! vertex splits: they are integrals over the welded surface, weighted by area. Without any area,
//! all points count equally.

mod field;
mod locality;
mod maxima;
mod point_graph;
mod smoothness;

pub use locality::{FarJoint, Locality, StrayJoint};
pub use maxima::{Monotonicity, SpuriousMaximum};
pub use smoothness::{Kink, Smoothness};

use crate::mesh::Mesh;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::symmetry::{MirrorPlane, Symmetry};
use crate::weights::{Weights, WeightsReport, weld_seams};
use field::Fields;
use point_graph::PointGraph;

/// The quality of weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WeightQuality {
    /// The smoothness of the transitions between joints.
    pub smoothness: Smoothness,
    /// The distance of weights from their own bones.
    pub locality: Locality,
    /// The number of spurious maxima.
    pub monotonicity: Monotonicity,
    /// The difference between both sides of a symmetric character; none for others.
    pub asymmetry: Option<Asymmetry>,
    /// The difference of the original sums of weights from one.
    pub partition: PartitionError,
}

/// Difference of the weights between both sides of a symmetric character.
///
/// At a point `p` with the partner `q`, and with `σ` mapping joints to their partners, `½ Σ_j
/// |w_j(p) − w_σ(j)(q)|`: the share of weight on other joints than on the other side, from 0 to 1.
/// A joint without partner is its own partner.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Asymmetry {
    /// The mean over the area of all points with a partner.
    pub mean: f64,
    /// The largest difference.
    pub most: f64,
    /// The vertex of the largest difference.
    pub vertex: usize,
    /// The share of points that have a partner.
    pub matched: f64,
    /// The mirror plane.
    pub plane: MirrorPlane,
}

/// Difference of the sums of weights from one before normalisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PartitionError {
    /// The largest `|Σ_j w_j − 1|` of a vertex with weights, beyond the rounding of `f32`. Negative
    /// weights count as zero.
    pub most: f64,
    /// The number of vertices with a difference beyond rounding.
    pub vertices: usize,
    /// The number of vertices without weights.
    pub without_weights: usize,
}

impl PartitionError {
    fn of(found: &WeightsReport) -> PartitionError {
        let (low, high) = found.sum_range.unwrap_or((1.0, 1.0));
        PartitionError {
            most: (1.0 - low).max(high - 1.0),
            vertices: found.unnormalised,
            without_weights: found.without_weights,
        }
    }
}

impl WeightQuality {
    /// Measures the weights of a rig. They sum to one by construction; add the original sums, if
    /// known, with [`WeightQuality::as_found`].
    pub fn of(rig: &Rig) -> WeightQuality {
        WeightQuality::over(rig.mesh(), rig.skeleton(), rig.weights())
    }

    /// Replaces the sums by those found when the weights were read or built.
    pub fn as_found(self, found: &WeightsReport) -> WeightQuality {
        WeightQuality {
            partition: PartitionError::of(found),
            ..self
        }
    }

    /// Mesh and skeleton must fit the weights.
    fn over(mesh: &Mesh, skeleton: &Skeleton, weights: &Weights) -> WeightQuality {
        let surface = PointGraph::new(mesh, weld_seams(mesh, weights));
        let fields = Fields::of(weights, &surface, skeleton.joints().len());
        let symmetry = Symmetry::of(mesh, skeleton);
        WeightQuality {
            smoothness: Smoothness::of(&surface, &fields, &fields.heaviest_only(&surface)),
            locality: Locality::of(&surface, &fields, &skeleton.bind_bones()),
            monotonicity: Monotonicity::of(&surface, &fields),
            asymmetry: symmetry.and_then(|symmetry| Asymmetry::of(&surface, &fields, &symmetry)),
            partition: PartitionError::default(),
        }
    }
}

impl Asymmetry {
    /// True if the differences are within the rounding of mirroring and normalisation.
    pub fn is_negligible(&self) -> bool {
        self.most < 1e-3
    }

    fn of(surface: &PointGraph, fields: &Fields, symmetry: &Symmetry) -> Option<Asymmetry> {
        let (mut sum, mut area) = (0.0, 0.0);
        let mut most: Option<(f64, usize)> = None;
        for point in 0..surface.point_count() {
            let vertex = surface.vertex_of(point);
            let Some(partner) = symmetry.vertex_partner(vertex) else {
                continue;
            };
            let own = fields.row(point);
            let other = fields.row(surface.point_of(partner));
            let image = |joint: u16| {
                let partner = symmetry.joint_partner(usize::from(joint));
                partner.map_or(joint, |partner| partner as u16)
            };
            let weight_in = |row: &[(u16, f64)], joint: u16| {
                let found = row.iter().find(|(other, _)| *other == joint);
                found.map_or(0.0, |(_, weight)| *weight)
            };
            // Both sum to one, so half of the absolute differences is the excess of one over the
            // other.
            let more = own
                .iter()
                .map(|&(joint, weight)| (weight - weight_in(other, image(joint))).max(0.0));
            let difference: f64 = more.sum();
            sum += surface.area(point) * difference;
            area += surface.area(point);
            if most.is_none_or(|(known, _)| difference > known) {
                most = Some((difference, vertex));
            }
        }
        let (most, vertex) = most?;
        Some(Asymmetry {
            mean: if area > 0.0 { sum / area } else { 0.0 },
            most,
            vertex,
            matched: symmetry.matched_points(),
            plane: symmetry.plane(),
        })
    }
}

#[cfg(test)]
mod tests;
