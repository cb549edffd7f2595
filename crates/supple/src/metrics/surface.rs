//! The welded surface of a rig, on which all measures are taken.

use crate::rig::Rig;
use crate::surface::{CotangentPolicy, Weld, cotangent_edges, double_area_normal};
use crate::weights::weld_bound;
use glam::{DVec3, Vec3};

/// A triangle lower than this share of the extent has no reliable shape: `f32` positions round at
/// 6e-8.
const LEAST_HEIGHT: f64 = 1e-6;

/// Points, triangles and edges of a rig's surface, vertices along seams welded.
#[derive(Clone, Debug)]
pub(super) struct MeasuredSurface {
    pub(super) weld: Weld,
    pub(super) vertex_count: usize,
    /// The first vertex of every point. All vertices of a point have the same weights and move
    /// together.
    first_vertex: Vec<u32>,
    /// Rest position of every point.
    pub(super) rest: Vec<DVec3>,
    /// Corners as points, in the order of the mesh's triangles.
    pub(super) triangles: Vec<[usize; 3]>,
    /// Rest area of every triangle.
    pub(super) areas: Vec<f64>,
    /// Each edge once, lower point first.
    pub(super) edges: Vec<[usize; 2]>,
    /// Cotangent weight of every edge.
    pub(super) edge_weights: Vec<f64>,
    /// The diagonal of the bounding box.
    pub(super) extent: f64,
}

impl MeasuredSurface {
    pub(super) fn new(rig: &Rig) -> MeasuredSurface {
        let mesh = rig.mesh();
        let weld = weld_bound(mesh.positions(), rig.weights());
        let rest = weld.places(mesh.positions());
        let corners_of = weld.triangles(mesh.triangles());
        let edges = cotangent_edges(&rest, corners_of.clone(), CotangentPolicy::ENERGY);
        let to_index = |point: u32| point as usize;
        let triangles: Vec<[usize; 3]> = corners_of.map(|corners| corners.map(to_index)).collect();
        let areas = triangles.iter().map(|&t| area(corners(&rest, t))).collect();
        MeasuredSurface {
            first_vertex: weld.first_vertices(),
            weld,
            vertex_count: mesh.vertex_count(),
            rest,
            triangles,
            areas,
            edges: edges.iter().map(|edge| edge.ends.map(to_index)).collect(),
            edge_weights: edges.iter().map(|edge| edge.weight).collect(),
            extent: f64::from(mesh.extent()),
        }
    }

    /// The points of a posed surface. Points without a vertex in `positions` stay at rest.
    pub(super) fn posed(&self, positions: &[Vec3]) -> Vec<DVec3> {
        self.first_vertex
            .iter()
            .zip(&self.rest)
            .map(|(&vertex, &rest)| {
                positions
                    .get(vertex as usize)
                    .map_or(rest, |p| p.as_dvec3())
            })
            .collect()
    }

    /// The area of the surface in a pose.
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

    /// For every vertex the area-weighted mean over the triangles around its point; zero where
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

fn area(corners: [DVec3; 3]) -> f64 {
    0.5 * double_area_normal(corners).length()
}
