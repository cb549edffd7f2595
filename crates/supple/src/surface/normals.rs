//! Vertex normals computed from triangles.

use super::weld_positions;
use glam::{DVec3, Vec3};

/// Smooth vertex normals: triangle normals weighted by area and corner angle, shared by all
/// vertices at one position.
///
/// If the shared sum cancels out (the two sides of a sheet), each vertex sums up its own triangles.
/// A vertex without any triangle of positive area gets +Y.
///
/// # Panics
///
/// If a triangle names a vertex that does not exist.
pub(crate) fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let weld = weld_positions(positions);
    let mut around_point = vec![DVec3::ZERO; weld.point_count()];
    let mut around_vertex = vec![DVec3::ZERO; positions.len()];
    let mut size_at_point = vec![0.0; weld.point_count()];
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| positions[corner as usize].as_dvec3());
        let shares = [[a, b, c], [b, c, a], [c, a, b]].map(corner_normal);
        for (&corner, share) in corners.iter().zip(shares) {
            let vertex = corner as usize;
            let point = weld.point_of(vertex);
            around_point[point] += share;
            around_vertex[vertex] += share;
            size_at_point[point] += share.length();
        }
    }
    let normal = |vertex: usize| {
        let point = weld.point_of(vertex);
        let sum = if is_cancelled(around_point[point], size_at_point[point]) {
            around_vertex[vertex]
        } else {
            around_point[point]
        };
        sum.try_normalize().unwrap_or(DVec3::Y).as_vec3()
    };
    (0..positions.len()).map(normal).collect()
}

/// A triangle's contribution to the normal at its first corner: its normal, weighted by its area
/// and by the angle at that corner.
pub(crate) fn corner_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let cross = ab.cross(ac);
    cross * cross.length().atan2(ab.dot(ac))
}

/// True if a sum of normals is so much shorter than its summands, whose lengths sum up to `size`,
/// that its direction is rounding noise.
pub(crate) fn is_cancelled(sum: DVec3, size: f64) -> bool {
    sum.length() < 1e-6 * size
}
