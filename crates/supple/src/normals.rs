//! Normals of a surface, computed from its triangles.

use crate::adjacency::weld_positions;
use glam::{DVec3, Vec3};

/// Smooth normals: around each point of the surface, triangle normals weighted by area and corner angle.
///
/// Vertices at the same position share one normal, so that seams in texture coordinates stay invisible; except where that
/// cancels out (the two sides of a sheet): there each vertex follows its own triangles. A vertex without any
/// triangle of positive area gets +Y.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let weld = weld_positions(positions);
    let mut around_point = vec![DVec3::ZERO; weld.point_count()];
    let mut around_vertex = vec![DVec3::ZERO; positions.len()];
    let mut size_at_point = vec![0.0; weld.point_count()];
    for corners in triangles {
        let around_corner =
            corner_normals(corners.map(|corner| positions[corner as usize].as_dvec3()));
        for (&corner, normal) in corners.iter().zip(around_corner) {
            let vertex = corner as usize;
            let point = weld.point_of(vertex);
            around_point[point] += normal;
            around_vertex[vertex] += normal;
            size_at_point[point] += normal.length();
        }
    }
    (0..positions.len())
        .map(|vertex| {
            let point = weld.point_of(vertex);
            let cancelled = around_point[point].length() < 1e-6 * size_at_point[point];
            let sum = if cancelled {
                around_vertex[vertex]
            } else {
                around_point[point]
            };
            sum.try_normalize().unwrap_or(DVec3::Y).as_vec3()
        })
        .collect()
}

/// What a triangle adds to the normal at each of its corners: its own normal, as long as area and corner angle weigh.
pub(crate) fn corner_normals([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let area_normal = (b - a).cross(c - a);
    [
        area_normal * angle(b - a, c - a),
        area_normal * angle(c - b, a - b),
        area_normal * angle(a - c, b - c),
    ]
}

/// How well given normals fit the triangles, by the mean of a triangle's corner normals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormalFit {
    /// Triangles whose normals are more than 60° off their plane's, whichever way they face.
    pub askew: usize,
    /// Triangles whose normals point to the other side, within 60°.
    pub inward: usize,
}

impl NormalFit {
    /// Counts over a surface; triangles of no area fit anything.
    pub fn of(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]]) -> NormalFit {
        let mut fit = NormalFit::default();
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| positions[corner as usize].as_dvec3());
            let given = corners.map(|corner| normals[corner as usize].as_dvec3());
            let plane = (b - a).cross(c - a).try_normalize();
            let mean = (given[0] + given[1] + given[2]).try_normalize();
            if let (Some(plane), Some(mean)) = (plane, mean) {
                let cosine = plane.dot(mean);
                fit.askew += usize::from(cosine.abs() < 0.5);
                fit.inward += usize::from(cosine <= -0.5);
            }
        }
        fit
    }
}

fn angle(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_corner_points_along_the_diagonal_and_split_vertices_share_it() {
        // Three unit squares around the origin, each cut by the diagonal through it.
        let positions = vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::Y,
            Vec3::new(0.0, 1.0, 1.0),
            Vec3::Z,
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::ZERO, // a split vertex
        ];
        let triangles = [
            [7, 3, 2],
            [7, 2, 1],
            [0, 5, 4],
            [0, 4, 3],
            [0, 1, 6],
            [0, 6, 5],
        ];
        let normals = vertex_normals(&positions, &triangles);
        let expected = Vec3::splat(-1.0).normalize();
        assert!((normals[0] - expected).length() < 1e-6, "{}", normals[0]);
        assert_eq!(normals[0], normals[7]);
    }

    #[test]
    fn normals_that_do_not_fit_are_counted() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let fit = |normal: Vec3| NormalFit::of(&positions, &[normal; 3], &[[0, 1, 2], [0, 0, 1]]);
        assert_eq!(fit(Vec3::new(0.0, 0.8, 0.6)), NormalFit::default());
        assert_eq!(fit(Vec3::new(0.0, 0.9, 0.4)).askew, 1);
        assert_eq!(
            fit(-Vec3::Z),
            NormalFit {
                askew: 0,
                inward: 1
            }
        );
    }

    #[test]
    fn the_two_sides_of_a_sheet_keep_their_own_normals() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO, Vec3::X, Vec3::Y];
        let normals = vertex_normals(&positions, &[[0, 1, 2], [3, 5, 4]]);
        assert_eq!(normals[0], Vec3::Z);
        assert_eq!(normals[3], -Vec3::Z);
    }

    #[test]
    fn a_lonely_vertex_gets_a_unit_normal() {
        assert_eq!(vertex_normals(&[Vec3::ZERO], &[]), [Vec3::Y]);
        assert_eq!(vertex_normals(&[Vec3::ZERO], &[[0, 0, 0]]), [Vec3::Y]);
    }
}
