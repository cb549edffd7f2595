//! As-rigid-as-possible energy: how far each point's surroundings are from having merely been
//! turned.
//!
//! Sorkine and Alexa 2007, eq. (3): `Σ_i Σ_{j∈N(i)} c_ij |p'_i − p'_j − R_i (p_i − p_j)|²` with the
//! best rotation `R_i` per point.

use super::surface::{Surface, corners};
use crate::polar::{Polar, outer};
use glam::{DMat3, DQuat, DVec3};

/// The cotangent of 3°: corners sharper than that weigh no more, or a single sliver would outweigh
/// the rest of the surface.
const STEEPEST: f64 = 19.08;

/// Edges with their cotangent weights.
#[derive(Clone, Debug)]
pub(super) struct Springs {
    /// Half the sum of the cotangents opposite each edge, never negative; in the order of the
    /// surface's edges.
    stiffness: Vec<f64>,
    /// Σ_i Σ_j c_ij |p_i − p_j|².
    scale: f64,
}

impl Springs {
    pub(super) fn new(surface: &Surface) -> Springs {
        let mut stiffness = vec![0.0; surface.edges.len()];
        for &triangle in &surface.triangles {
            let points = corners(&surface.rest, triangle);
            for opposite in 0..3 {
                let [from, to] = [(opposite + 1) % 3, (opposite + 2) % 3];
                let edge = [triangle[from], triangle[to]];
                let edge = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                if let Ok(edge) = surface.edges.binary_search(&edge) {
                    let legs = [points[from], points[to]].map(|end| end - points[opposite]);
                    stiffness[edge] += 0.5 * cotangent(legs[0], legs[1]);
                }
            }
        }
        for value in &mut stiffness {
            *value = f64::max(*value, 0.0);
        }
        let squares = surface.edges.iter().zip(&stiffness).map(|(&[a, b], c)| {
            // Each edge belongs to both of its ends.
            2.0 * c * surface.rest[a].distance_squared(surface.rest[b])
        });
        Springs {
            scale: squares.sum(),
            stiffness,
        }
    }

    /// The energy over Σ_i Σ_j c_ij |p_i − p_j|², so that it knows no units: scaling by 1 + s gives
    /// s².
    pub(super) fn energy(&self, surface: &Surface, points: &[DVec3]) -> f64 {
        let springs = || surface.edges.iter().zip(&self.stiffness);
        let edge = |[a, b]: [usize; 2]| (surface.rest[b] - surface.rest[a], points[b] - points[a]);
        // Σ_j c_ij e'_ij e_ijᵀ; an edge seen from its other end gives the same product.
        let mut spread = vec![DMat3::ZERO; points.len()];
        for (&[a, b], &c) in springs() {
            let (rest, posed) = edge([a, b]);
            let product = outer(posed, rest) * c;
            spread[a] += product;
            spread[b] += product;
        }
        // Of all rotations the polar one maximises tr(RᵀM), which is what the energy asks for.
        let turns: Vec<DQuat> = spread.into_iter().map(|m| Polar::of(m).rotation).collect();
        let energy: f64 = springs()
            .map(|(&[a, b], &c)| {
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

/// The cotangent of the angle between two vectors, no steeper than [`STEEPEST`] either way.
fn cotangent(a: DVec3, b: DVec3) -> f64 {
    let (along, across) = (a.dot(b), a.cross(b).length());
    if along.abs() < STEEPEST * across {
        along / across
    } else {
        STEEPEST * along.signum() * f64::from(along != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rig_of;
    use super::*;
    use glam::Vec3;

    #[test]
    fn no_edge_pushes_and_no_sliver_outweighs_the_rest() {
        // Two obtuse triangles across an edge, of cotangents −0.75 each; and one of which f32 can
        // hardly tell that it has a height.
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
        let surface = Surface::new(&rig_of(positions, None, triangles));
        let springs = Springs::new(&surface);
        let between = |a, b| springs.stiffness[surface.edges.binary_search(&[a, b]).unwrap()];
        assert_eq!(between(0, 1), 0.0);
        assert!((between(0, 2) - 1.0).abs() < 1e-12, "half of cot 26.6°");
        assert_eq!(between(4, 5), 0.5 * STEEPEST);
        assert_eq!(between(5, 6), 0.0);
    }
}
