//! As-rigid-as-possible energy: the deviation of the neighbourhood of each point from a rotation.
//!
//! Sorkine and Alexa 2007, eq. (3): `Σ_i Σ_{j∈N(i)} c_ij |p'_i − p'_j − R_i (p_i − p_j)|²` with the
//! best rotation `R_i` per point.
//!
//! `arap` minimises the same energy. It has rotations and weights of its own, because its solver
//! needs a rotation even where the surface gives none, and no weight of zero; a measure must not
//! depend on either (`docs/decisions/arap.md`).

use super::surface::MeasuredSurface;
use crate::polar::{Polar, outer};
use glam::{DMat3, DQuat, DVec3};

/// The normalisation of the energy.
#[derive(Clone, Debug)]
pub(super) struct Springs {
    /// Σ_i Σ_j c_ij |p_i − p_j|².
    scale: f64,
}

impl Springs {
    pub(super) fn new(surface: &MeasuredSurface) -> Springs {
        let squares = springs(surface).map(|([a, b], c)| {
            // Each edge belongs to both of its ends.
            2.0 * c * surface.rest[a].distance_squared(surface.rest[b])
        });
        Springs {
            scale: squares.sum(),
        }
    }

    /// The energy relative to Σ_i Σ_j c_ij |p_i − p_j|², so that it has no unit: scaling by 1 + s
    /// gives s².
    pub(super) fn energy(&self, surface: &MeasuredSurface, points: &[DVec3]) -> f64 {
        let edge = |[a, b]: [usize; 2]| (surface.rest[b] - surface.rest[a], points[b] - points[a]);
        // Σ_j c_ij e'_ij e_ijᵀ; an edge seen from its other end gives the same product.
        let mut spread = vec![DMat3::ZERO; points.len()];
        for ([a, b], c) in springs(surface) {
            let (rest, posed) = edge([a, b]);
            let product = outer(posed, rest) * c;
            spread[a] += product;
            spread[b] += product;
        }
        // Of all rotations, the polar one maximises tr(RᵀM), as the energy requires.
        let turns: Vec<DQuat> = spread.into_iter().map(|m| Polar::of(m).rotation).collect();
        let energy: f64 = springs(surface)
            .map(|([a, b], c)| {
                let (rest, posed) = edge([a, b]);
                let strain = |point: usize| (posed - turns[point] * rest).length_squared();
                c * (strain(a) + strain(b))
            })
            .sum();
        if self.scale > 0.0 {
            energy / self.scale
        } else {
            0.0
        }
    }
}

/// Every edge with its cotangent weight.
fn springs(surface: &MeasuredSurface) -> impl Iterator<Item = ([usize; 2], f64)> + '_ {
    let weights = surface.edge_weights.iter();
    surface.edges.iter().copied().zip(weights.copied())
}

#[cfg(test)]
mod tests {
    use super::super::tests::rig_of;
    use super::*;
    use glam::Vec3;

    #[test]
    fn no_edge_pushes_and_no_sliver_outweighs_the_rest() {
        // Two obtuse triangles across an edge, with cotangents of −0.75 each; and one whose height
        // is barely above the rounding of f32.
        let positions = vec![
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 0.5, 0.0),
            Vec3::new(0.0, -0.5, 0.0),
            Vec3::new(0.0, 1e-7, 5.0),
            Vec3::new(-1.0, 0.0, 5.0),
            Vec3::new(1.0, 0.0, 5.0),
        ];
        let triangles = vec![[0, 1, 2], [1, 0, 3], [4, 5, 6]];
        let surface = MeasuredSurface::new(&rig_of(positions, None, triangles));
        let between = |a, b| surface.edge_weights[surface.edges.binary_search(&[a, b]).unwrap()];
        assert_eq!(between(0, 1), 0.0);
        assert!((between(0, 2) - 1.0).abs() < 1e-12, "half of cot 26.6°");
        assert_eq!(between(4, 5), 0.5 * 19.08);
        assert_eq!(between(5, 6), 0.0);
    }
}
