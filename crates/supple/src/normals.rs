//! Normals computed from triangles: at rest, recomputed after a deformation, and checks of given
//! normals.

use crate::mesh::{Mesh, MeshError, check_triangles};
use crate::rig::Rig;
use crate::surface::{Rows, corner_normal, double_area_normal, is_cancelled, smooth_normals};
use crate::transform::Affine;
use crate::weights::weld_bound;
use glam::{DVec3, Vec2, Vec3};

/// Computes smooth normals: triangle normals around each point, weighted by area and corner angle.
///
/// Vertices at the same position share one normal, so seams in texture coordinates stay invisible.
/// If the shared sum cancels out (the two sides of a sheet), each vertex uses its own triangles. A
/// vertex without any triangle of positive area gets +Y.
///
/// # Errors
///
/// If a triangle names a vertex that does not exist.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Vec<Vec3>, MeshError> {
    check_triangles(triangles, positions.len())?;
    Ok(smooth_normals(positions, triangles))
}

/// Octahedral coordinates of a direction, in the square `[−1, 1]²`: the direction projected onto an
/// octahedron whose lower half is unfolded into the corners of the square.
///
/// The zero vector and NaN have the coordinates (0, 0).
#[inline]
pub fn octahedral(direction: Vec3) -> Vec2 {
    let sum = direction.abs().element_sum();
    if sum.is_nan() || sum <= 0.0 {
        return Vec2::ZERO;
    }
    let [x, y, z] = (direction / sum).to_array();
    if z >= 0.0 {
        Vec2::new(x, y)
    } else {
        Vec2::new((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y))
    }
}

/// Groups of vertices of a bound surface that share one normal: those at the same point of the
/// surface with equal rest normals.
///
/// Seams in texture coordinates stay invisible, hard edges stay hard, and the two sides of a sheet
/// stay two.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SmoothGroups {
    group_of_vertex: Vec<u32>,
    /// The corners around each group: a triangle, and which of its corners.
    corners: Rows<(u32, u8)>,
    triangles: Vec<[u32; 3]>,
    /// The heaviest joint of each triangle's first corner, which tells whether a pose turns it
    /// around.
    heaviest: Vec<u16>,
}

/// Rest normals closer than this (about 2°) are one: files round them.
const SAME_NORMAL: f32 = 0.9994;

impl SmoothGroups {
    /// Finds the groups of a rig's surface.
    pub(crate) fn of(rig: &Rig) -> SmoothGroups {
        let (mesh, weights) = (rig.mesh(), rig.weights());
        let weld = weld_bound(mesh.positions(), weights);
        let unit = |vertex: usize| mesh.normals()[vertex].normalize_or_zero();
        // The groups at each point, each known by its first vertex.
        let mut groups_at: Vec<Vec<(usize, u32)>> = vec![Vec::new(); weld.point_count()];
        let mut group_count = 0;
        let mut group_of_vertex = Vec::with_capacity(mesh.vertex_count());
        for vertex in 0..mesh.vertex_count() {
            let groups = &mut groups_at[weld.point_of(vertex)];
            let same = |&&(first, _): &&(usize, u32)| unit(first).dot(unit(vertex)) > SAME_NORMAL;
            let group = match groups.iter().find(same) {
                Some(&(_, group)) => group,
                None => {
                    groups.push((vertex, group_count));
                    group_count += 1;
                    group_count - 1
                }
            };
            group_of_vertex.push(group);
        }
        let corners = (0..)
            .zip(mesh.triangles())
            .flat_map(|(triangle, vertices)| {
                let groups = vertices.map(|vertex| group_of_vertex[vertex as usize] as usize);
                [
                    (groups[0], (triangle, 0)),
                    (groups[1], (triangle, 1)),
                    (groups[2], (triangle, 2)),
                ]
            });
        let corners = Rows::of(group_count as usize, corners);
        let heaviest = |vertices: &[u32; 3]| weights.row(vertices[0] as usize).0[0];
        SmoothGroups {
            corners,
            group_of_vertex,
            triangles: mesh.triangles().to_vec(),
            heaviest: mesh.triangles().iter().map(heaviest).collect(),
        }
    }

    /// Normals of the posed surface, area- and angle-weighted. Where a group has no triangle of
    /// positive area, what `normals` held stays. `scratch` is refilled in place.
    pub(crate) fn recompute(
        &self,
        positions: &[Vec3],
        palette: &[Affine],
        scratch: &mut Vec<Vec3>,
        normals: &mut [Vec3],
    ) {
        scratch.clear();
        for corners in self.corners.iter() {
            let (mut sum, mut size) = (DVec3::ZERO, 0.0);
            for &(triangle, corner) in corners {
                let triangle = triangle as usize;
                let mut vertices = self.triangles[triangle];
                vertices.rotate_left(usize::from(corner));
                let share =
                    corner_normal(vertices.map(|vertex| positions[vertex as usize].as_dvec3()));
                let joint = usize::from(self.heaviest[triangle]);
                let mirrored = palette.get(joint).is_some_and(Affine::mirrors);
                sum += if mirrored { -share } else { share };
                size += share.length();
            }
            let normal = sum.try_normalize().filter(|_| !is_cancelled(sum, size));
            scratch.push(normal.unwrap_or(DVec3::ZERO).as_vec3());
        }
        for (normal, &group) in normals.iter_mut().zip(&self.group_of_vertex) {
            let recomputed = scratch[group as usize];
            if recomputed != Vec3::ZERO {
                *normal = recomputed;
            }
        }
    }
}

/// The agreement of given normals with the triangles, by the mean of a triangle's corner normals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NormalFit {
    /// Triangles whose normals are more than 60° off their plane's, whichever way they face.
    pub askew: usize,
    /// Triangles whose normals point to the other side, within 60°.
    pub inward: usize,
}

impl NormalFit {
    /// Counts over a surface; triangles of no area fit anything.
    pub fn of(mesh: &Mesh) -> NormalFit {
        let mut fit = NormalFit::default();
        for corners in mesh.triangles() {
            let plane = double_area_normal(mesh.corners(corners)).try_normalize();
            let given = corners.map(|corner| mesh.normals()[corner as usize].as_dvec3());
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
        let normals = vertex_normals(&positions, &triangles).unwrap();
        let expected = Vec3::splat(-1.0).normalize();
        assert!((normals[0] - expected).length() < 1e-6, "{}", normals[0]);
        assert_eq!(normals[0], normals[7]);
    }

    #[test]
    fn normals_that_do_not_fit_are_counted() {
        let fit = |normal: Vec3| {
            let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
            let triangles = vec![[0, 1, 2], [0, 0, 1]];
            NormalFit::of(&Mesh::new(positions, Some(vec![normal; 3]), None, triangles).unwrap())
        };
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
        let normals = vertex_normals(&positions, &[[0, 1, 2], [3, 5, 4]]).unwrap();
        assert_eq!(normals[0], Vec3::Z);
        assert_eq!(normals[3], -Vec3::Z);
    }

    #[test]
    fn a_lonely_vertex_gets_a_unit_normal() {
        assert_eq!(vertex_normals(&[Vec3::ZERO], &[]).unwrap(), [Vec3::Y]);
        let normals = vertex_normals(&[Vec3::ZERO], &[[0, 0, 0]]).unwrap();
        assert_eq!(normals, [Vec3::Y]);
    }
}
