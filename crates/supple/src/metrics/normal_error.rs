//! How far a method's normals are from those of the surface that it made.

use super::surface::{Surface, corners};
use crate::mesh::Mesh;
use crate::normals::corner_normals;
use glam::{DVec3, Vec3};

/// Rest normals of one point closer than this (the cosine of 2°) belong to one smooth stretch of surface.
const SAME_SIDE: f64 = 0.999_390_827;

/// A sum of normals this much shorter than its parts has cancelled out, and points nowhere.
const CANCELLED: f64 = 1e-6;

/// The angle between given normals and those recomputed from the posed triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NormalError {
    /// Mean by rest area, in degrees.
    pub mean_degrees: f64,
    /// The largest, in degrees.
    pub largest_degrees: f64,
    /// Where the largest is; `None` where no vertex could be compared.
    pub worst_vertex: Option<usize>,
}

/// Which vertices share a normal.
#[derive(Clone, Debug)]
pub(super) struct SmoothGroups {
    /// Vertices of one point whose rest normals agree, by number; a hard edge has a group on either side.
    of_vertex: Vec<usize>,
    /// The mesh's own corners, which say on which side of a hard edge a triangle lies.
    triangles: Vec<[u32; 3]>,
    /// A third of the rest area of the triangles of each vertex.
    areas: Vec<f64>,
    count: usize,
}

impl SmoothGroups {
    pub(super) fn new(mesh: &Mesh, surface: &Surface) -> SmoothGroups {
        // The groups of every point, each by the normal of its first vertex.
        let mut of_point: Vec<Vec<(usize, DVec3)>> = vec![Vec::new(); surface.rest.len()];
        let mut count = 0;
        let mut group_of = |vertex: usize| {
            let normal = mesh.normals()[vertex].as_dvec3().normalize_or_zero();
            let groups = &mut of_point[surface.weld.point_of(vertex)];
            if let Some((group, _)) = groups.iter().find(|(_, n)| n.dot(normal) >= SAME_SIDE) {
                return *group;
            }
            groups.push((count, normal));
            count += 1;
            count - 1
        };
        let of_vertex = (0..mesh.vertex_count()).map(&mut group_of).collect();
        let mut areas = vec![0.0; mesh.vertex_count()];
        for (corners, area) in mesh.triangles().iter().zip(&surface.areas) {
            for &corner in corners {
                areas[corner as usize] += area / 3.0;
            }
        }
        SmoothGroups {
            of_vertex,
            triangles: mesh.triangles().to_vec(),
            areas,
            count,
        }
    }

    pub(super) fn error(
        &self,
        surface: &Surface,
        points: &[DVec3],
        normals: &[Vec3],
    ) -> NormalError {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.count];
        for (vertices, &triangle) in self.triangles.iter().zip(&surface.triangles) {
            let around_corner = corner_normals(corners(points, triangle));
            for (&vertex, normal) in vertices.iter().zip(around_corner) {
                let (sum, size) = &mut sums[self.of_vertex[vertex as usize]];
                *sum += normal;
                *size += normal.length();
            }
        }
        let mut error = NormalError::default();
        let (mut weighted, mut total) = (0.0, 0.0);
        let vertices = self.of_vertex.iter().zip(&self.areas).zip(normals);
        for (vertex, ((&group, &area), normal)) in vertices.enumerate() {
            let (sum, size) = sums[group];
            let own = sum
                .try_normalize()
                .filter(|_| sum.length() > CANCELLED * size);
            let (Some(own), Some(given)) = (own, normal.as_dvec3().try_normalize()) else {
                continue;
            };
            let degrees = own.angle_between(given).to_degrees();
            weighted += area * degrees;
            total += area;
            if error.worst_vertex.is_none() || degrees > error.largest_degrees {
                error.largest_degrees = degrees;
                error.worst_vertex = Some(vertex);
            }
        }
        if total > 0.0 {
            error.mean_degrees = weighted / total;
        }
        error
    }
}
