//! The welded surface that every measure looks at.

use crate::rig::Rig;
use crate::surface::Weld;
use crate::weights::weld_bound;
use glam::{DVec3, Vec3};

/// A triangle lower than this share of the extent has no shape that `f32` positions could tell
/// (they round at 6e-8).
const LEAST_HEIGHT: f64 = 1e-6;

/// Points, triangles and edges of a rig's surface, vertices along seams welded.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) weld: Weld,
    pub(super) vertex_count: usize,
    /// The first vertex of every point, which stands for it: vertices of one point have the same
    /// weights and move as one.
    first_vertex: Vec<usize>,
    /// Rest position of every point.
    pub(super) rest: Vec<DVec3>,
    /// Corners as points, in the order of the mesh's triangles.
    pub(super) triangles: Vec<[usize; 3]>,
    /// Rest area of every triangle.
    pub(super) areas: Vec<f64>,
    /// Each edge once, lower point first.
    pub(super) edges: Vec<[usize; 2]>,
    /// The diagonal of the bounding box.
    pub(super) extent: f64,
}

impl Surface {
    pub(super) fn new(rig: &Rig) -> Surface {
        let mesh = rig.mesh();
        let weld = weld_bound(mesh.positions(), rig.weights());
        let mut first_vertex = Vec::with_capacity(weld.point_count());
        for vertex in 0..mesh.vertex_count() {
            // Points are numbered in the order of their first vertex.
            if weld.point_of(vertex) == first_vertex.len() {
                first_vertex.push(vertex);
            }
        }
        let position = |&vertex: &usize| mesh.positions()[vertex].as_dvec3();
        let rest: Vec<DVec3> = first_vertex.iter().map(position).collect();
        let triangles: Vec<[usize; 3]> = mesh
            .triangles()
            .iter()
            .map(|corners| corners.map(|corner| weld.point_of(corner as usize)))
            .collect();
        let areas = triangles.iter().map(|&t| area(corners(&rest, t))).collect();
        let mut edges: Vec<[usize; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .filter(|[a, b]| a != b)
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Surface {
            weld,
            vertex_count: mesh.vertex_count(),
            first_vertex,
            rest,
            triangles,
            areas,
            edges,
            extent: mesh.bounds().map_or(0.0, |box_| f64::from(box_.extent())),
        }
    }

    /// Where the points are when the vertices are at `positions`. Missing vertices stay at rest.
    pub(super) fn posed(&self, positions: &[Vec3]) -> Vec<DVec3> {
        self.first_vertex
            .iter()
            .zip(&self.rest)
            .map(|(&vertex, &rest)| positions.get(vertex).map_or(rest, |p| p.as_dvec3()))
            .collect()
    }

    /// The area of a surface with these points.
    pub(super) fn area(&self, points: &[DVec3]) -> f64 {
        self.triangles
            .iter()
            .map(|&triangle| area(corners(points, triangle)))
            .sum()
    }

    /// The rest shape of a triangle in its own plane, first corner at the origin and second on the
    /// X axis, as (x of b, x of c, y of c); `None` for one too flat to have a shape.
    pub(super) fn flattened(&self, triangle: usize) -> Option<[f64; 3]> {
        let [a, b, c] = corners(&self.rest, self.triangles[triangle]);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        if 2.0 * self.areas[triangle] <= LEAST_HEIGHT * self.extent * longest {
            return None;
        }
        let along = (b - a).try_normalize()?;
        let width = (b - a).length();
        Some([
            width,
            (c - a).dot(along),
            2.0 * self.areas[triangle] / width,
        ])
    }

    /// Area-weighted means over the triangles around each point, handed to every vertex; zero where
    /// there is no area.
    pub(super) fn spread_to_vertices(&self, of_triangle: &[f64]) -> Vec<f32> {
        let mut sums = vec![(0.0, 0.0); self.rest.len()];
        for ((corners, &area), &value) in self.triangles.iter().zip(&self.areas).zip(of_triangle) {
            for &point in corners {
                sums[point].0 += area * value;
                sums[point].1 += area;
            }
        }
        let mean = |(sum, area): (f64, f64)| if area > 0.0 { sum / area } else { 0.0 };
        (0..self.vertex_count)
            .map(|vertex| mean(sums[self.weld.point_of(vertex)]) as f32)
            .collect()
    }
}

/// The corners of a triangle.
pub(super) fn corners(points: &[DVec3], triangle: [usize; 3]) -> [DVec3; 3] {
    triangle.map(|corner| points[corner])
}

fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}
