//! Edges of a welded surface and their cotangent weights.
//!
//! The cotangent weight of an edge is half the sum of the cotangents of the angles opposite to it.
//! Weights of this kind make smoothing and energies independent of how the surface is cut into
//! triangles. But obtuse angles make them negative, slivers make them arbitrarily large, and
//! triangles without area have none: see [`CotangentPolicy`].

use crate::disjoint_sets::DisjointSets;
use crate::merging::merge_by_key;
use glam::DVec3;

/// An edge of a welded surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The points at its ends, the lower one first.
    pub(crate) ends: [u32; 2],
    /// Its weight.
    pub(crate) weight: f64,
}

/// The treatment of cotangents that are negative, very large or undefined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CotangentPolicy {
    /// The cotangent of one angle is limited to ± this.
    steepest: f64,
    /// Corners on a line count as `steepest` with the sign of their angle; otherwise as zero.
    lines_are_steep: bool,
    /// The weight of an edge is limited to this range.
    weight: [f64; 2],
    /// … and, where weights are divided by their median, to this range of multiples of it.
    of_median: [f64; 2],
}

const ANY_MULTIPLE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl CotangentPolicy {
    /// For smoothing: no weight is negative. The weighted mean of neighbours must lie among them,
    /// and the covariances of direct delta mush must not become indefinite.
    pub(crate) const MEAN: CotangentPolicy = CotangentPolicy {
        steepest: f64::INFINITY,
        lines_are_steep: false,
        weight: [0.0, f64::INFINITY],
        of_median: ANY_MULTIPLE,
    };

    /// For surfaces as rigid as possible: as for smoothing, and no weight is zero or very large,
    /// since the surface must hang together. The cotangent of a sliver is arbitrary.
    #[cfg(feature = "arap")]
    pub(crate) const RIGID: CotangentPolicy = CotangentPolicy {
        of_median: [1e-3, 1e3],
        ..CotangentPolicy::MEAN
    };

    /// For heat diffusion: no weight is negative or zero, so that all of a piece stays connected.
    /// In an equilateral triangle the weight is 0.58; a thousandth of that connects without
    /// visible effect.
    pub(crate) const CONNECTED: CotangentPolicy = CotangentPolicy {
        steepest: f64::INFINITY,
        lines_are_steep: false,
        weight: [6e-4, 1e4],
        of_median: ANY_MULTIPLE,
    };

    /// For the smoothness of weights: the true Dirichlet energy, negative weights included. Angles
    /// below six degrees are cut off, as slivers would amplify the rounding of weights.
    pub(crate) const SIGNED: CotangentPolicy = CotangentPolicy {
        steepest: 10.0,
        lines_are_steep: false,
        weight: [f64::NEG_INFINITY, f64::INFINITY],
        of_median: ANY_MULTIPLE,
    };

    /// For the rigidity of deformed surfaces: no weight is negative, so that the energy is not.
    /// Angles below 3° weigh no more than 3°, or a single sliver would outweigh the rest. A
    /// triangle without area at rest counts like a sliver, as the pose may give it one.
    pub(crate) const ENERGY: CotangentPolicy = CotangentPolicy {
        steepest: 19.08,
        lines_are_steep: true,
        weight: [0.0, f64::INFINITY],
        of_median: ANY_MULTIPLE,
    };

    /// The cotangent of the angle at `apex`.
    pub(crate) fn cotangent(&self, apex: DVec3, a: DVec3, b: DVec3) -> f64 {
        let (a, b) = (a - apex, b - apex);
        let (cosine, sine) = (a.dot(b), a.cross(b).length());
        if sine > 0.0 {
            (cosine / sine).clamp(-self.steepest, self.steepest)
        } else if self.lines_are_steep && cosine != 0.0 {
            self.steepest.copysign(cosine)
        } else {
            0.0
        }
    }

    /// The weight of an edge with these cotangents opposite to it, added up in their order.
    pub(crate) fn weight(&self, cotangents: impl Iterator<Item = f64>) -> f64 {
        self.limited(cotangents.map(|cotangent| 0.5 * cotangent).sum())
    }

    /// A weight as a multiple of the median weight, limited.
    #[cfg(feature = "arap")]
    pub(crate) fn of_median(&self, weight: f64, median: f64) -> f64 {
        let [least, most] = self.of_median;
        weight.clamp(least * median, most * median) / median
    }

    fn limited(&self, weight: f64) -> f64 {
        let [least, most] = self.weight;
        weight.clamp(least, most)
    }
}

/// The edges of triangles over welded points, each once and in rising order, with cotangent
/// weights.
pub(crate) fn cotangent_edges(
    points: &[DVec3],
    triangles: impl Iterator<Item = [u32; 3]>,
    policy: CotangentPolicy,
) -> Vec<Edge> {
    let half_cotangent = |corners: [u32; 3]| {
        let [opposite, a, b] = corners.map(|corner| points[corner as usize]);
        0.5 * policy.cotangent(opposite, a, b)
    };
    let mut edges = merged_edges(triangles, half_cotangent, |sum, next| sum + next);
    for edge in &mut edges {
        edge.weight = policy.limited(edge.weight);
    }
    edges
}

/// The edges of triangles over welded points, each once and in rising order, all with weight one.
pub(crate) fn uniform_edges(triangles: impl Iterator<Item = [u32; 3]>) -> Vec<Edge> {
    merged_edges(triangles, |_| 1.0, |weight, _| weight)
}

/// Merges the sides of triangles into edges. `weight` receives the opposite corner and the two ends
/// of a side.
fn merged_edges(
    triangles: impl Iterator<Item = [u32; 3]>,
    weight: impl Fn([u32; 3]) -> f64,
    add: impl Fn(f64, f64) -> f64,
) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(3 * triangles.size_hint().0);
    for [a, b, c] in triangles {
        for [from, to, opposite] in [[a, b, c], [b, c, a], [c, a, b]] {
            if from != to {
                let ends = [from.min(to), from.max(to)];
                let weight = weight([opposite, from, to]);
                edges.push(Edge { ends, weight });
            }
        }
    }
    let add = |kept: &mut Edge, next: &Edge| kept.weight = add(kept.weight, next.weight);
    merge_by_key(&mut edges, |edge| edge.ends, add);
    edges
}

/// The connected piece of each of `count` points, named by its lowest point.
pub(crate) fn pieces_of(count: usize, edges: &[Edge]) -> Vec<u32> {
    let mut sets = DisjointSets::new(count);
    for edge in edges {
        let [a, b] = edge.ends;
        sets.join(a as usize, b as usize);
    }
    (0..count).map(|point| sets.find(point) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slivers_lines_and_obtuse_angles_follow_the_policy() {
        let [apex, right] = [DVec3::ZERO, DVec3::X];
        let at =
            |degrees: f64| DVec3::new(degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0);
        let cotangents = |policy: CotangentPolicy| {
            let ends = [
                at(45.0),
                at(0.1),
                at(179.9),
                DVec3::X * 2.0,
                -DVec3::X,
                DVec3::ZERO,
            ];
            ends.map(|end| policy.cotangent(apex, right, end).round())
        };
        assert_eq!(
            cotangents(CotangentPolicy::MEAN),
            [1.0, 573.0, -573.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            cotangents(CotangentPolicy::SIGNED),
            [1.0, 10.0, -10.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            cotangents(CotangentPolicy::ENERGY),
            [1.0, 19.0, -19.0, 19.0, -19.0, 0.0]
        );
        let weight = |policy: CotangentPolicy| policy.weight([-0.5, -1.0].into_iter());
        assert_eq!(weight(CotangentPolicy::MEAN), 0.0);
        assert_eq!(weight(CotangentPolicy::CONNECTED), 6e-4);
        assert_eq!(weight(CotangentPolicy::SIGNED), -0.75);
    }

    #[cfg(feature = "arap")]
    #[test]
    fn rigid_weights_are_multiples_of_the_median_from_a_thousandth_to_a_thousand() {
        let weights = [0.0, 3.0, 1e9].map(|weight| CotangentPolicy::RIGID.of_median(weight, 2.0));
        assert_eq!(weights, [1e-3, 1.5, 1e3]);
    }
}
