//! Seams: vertices that a file split along textures or creases, and whose weights differ by a
//! rounding or by a stroke of a brush.
//!
//! Where they are one place of one piece of the surface, they must be one point, or smoothing would
//! have a border there, and a rigid bind could send the two sides to different joints. Two
//! pieces that lie in the same place stay two.

use super::{Weights, WeightsBuilder, WeightsError};
use crate::adjacency::{weld_bound, weld_seams};
use crate::mesh::Mesh;
use std::collections::BTreeMap;

/// The weights, with the mean of what they were for all vertices of one place in one piece.
pub(crate) fn closed_over_seams(mesh: &Mesh, weights: &Weights) -> Result<Weights, WeightsError> {
    let points = weld_seams(mesh, weights);
    if points.point_count() == weld_bound(mesh.positions(), weights).point_count() {
        return Ok(weights.clone());
    }
    let mut shares_at: Vec<BTreeMap<u16, f64>> = vec![BTreeMap::new(); points.point_count()];
    for vertex in 0..mesh.vertex_count() {
        let shares = &mut shares_at[points.point_of(vertex)];
        let (joints, values) = weights.row(vertex);
        for (&joint, &value) in joints.iter().zip(values) {
            *shares.entry(joint).or_default() += f64::from(value);
        }
    }
    let mut builder = WeightsBuilder::new(1 << 16)?;
    for vertex in 0..mesh.vertex_count() {
        let shares = &shares_at[points.point_of(vertex)];
        builder.push_shares(shares.iter().map(|(&joint, &share)| (joint, share)))?;
    }
    Ok(builder.finish().0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn the_two_sides_of_a_seam_agree_and_two_pieces_do_not() {
        // Two triangles side by side, split along their edge at one end only; and a third one on
        // top, all for itself.
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)];
        let at = [0, 1, 2, 1, 3, 0, 1, 2];
        let positions: Vec<Vec3> = at.iter().map(|&corner| corners[corner]).collect();
        let triangles = vec![[0, 1, 2], [3, 4, 2], [5, 6, 7]];
        let mesh = Mesh::new(positions, None, None, triangles).unwrap();
        let mut weights = WeightsBuilder::new(3).unwrap();
        for (vertex, share) in [1.0, 0.5, 0.5, 0.25, 0.5, 0.0, 0.0, 0.0]
            .into_iter()
            .enumerate()
        {
            let other = if vertex > 4 { 2 } else { 1 };
            weights.push([(0, share), (other, 1.0 - share)], 0).unwrap();
        }
        let weights = weights.finish().0;
        let closed = closed_over_seams(&mesh, &weights).unwrap();
        assert_eq!(closed.row(1), (&[1u16, 0][..], &[0.625f32, 0.375][..]));
        assert_eq!(closed.row(3), closed.row(1));
        for vertex in [0, 2, 4, 5, 6, 7] {
            assert_eq!(closed.row(vertex), weights.row(vertex));
        }
    }
}
