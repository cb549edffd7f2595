//! Seams: vertices that a file split along textures or creases, whose weights may differ slightly
//! because of rounding or a brush stroke.
//!
//! Vertices at one position of one connected piece must be one point; otherwise smoothing would
//! have a border there, and a rigid bind could send the two sides to different joints. Separate
//! pieces at the same position stay separate.

use super::{Weights, WeightsBuilder, WeightsError};
use crate::disjoint_sets::DisjointSets;
use crate::mesh::Mesh;
use crate::surface::{Weld, position_bits, weld_by, weld_positions};
use glam::Vec3;
use std::collections::BTreeMap;

/// Welds vertices of equal positions and weights, which always move together.
///
/// Two instances of a mesh at the same position, bound to different joints, stay separate.
pub(crate) fn weld_bound(positions: &[Vec3], weights: &Weights) -> Weld {
    weld_by(positions.len(), |vertex| {
        let (joints, values) = weights.row(vertex);
        let values: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        (position_bits(positions[vertex]), joints, values)
    })
}

/// Welds vertices of equal position within one connected piece, whatever their weights: the sides
/// of a seam.
///
/// Pieces are connected by triangles through vertices that [`weld_bound`] welds. So the sides of a
/// seam are welded even if their weights differ slightly, as long as they agree somewhere; and two
/// instances of a mesh at the same position, bound to different joints, stay separate.
pub(crate) fn weld_seams(mesh: &Mesh, weights: &Weights) -> Weld {
    let points = weld_bound(mesh.positions(), weights);
    let places = weld_positions(mesh.positions());
    let mut pieces = DisjointSets::new(points.point_count());
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|corner| points.point_of(corner as usize));
        pieces.join(a, b);
        pieces.join(a, c);
    }
    let piece_of_point: Vec<usize> = (0..points.point_count())
        .map(|point| pieces.find(point))
        .collect();
    weld_by(mesh.vertex_count(), |vertex| {
        let piece = piece_of_point[points.point_of(vertex)];
        (places.point_of(vertex), piece)
    })
}

/// Averages weights over all vertices that [`weld_seams`] welds.
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

    #[test]
    fn points_that_move_apart_are_not_welded() {
        let mut weights = WeightsBuilder::new(2).unwrap();
        for joint in [0, 0, 1] {
            weights.push([(joint, 1.0)], 0).unwrap();
        }
        let weld = weld_bound(&[Vec3::X; 3], &weights.finish().0);
        assert_eq!(weld.point_count(), 2);
        assert_eq!([0, 1, 2].map(|vertex| weld.point_of(vertex)), [0, 0, 1]);
    }

    #[test]
    fn the_two_sides_of_a_seam_agree_and_two_pieces_do_not() {
        // Two adjacent triangles, split along their edge at one end only, and a third triangle on
        // top, separate from both.
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
