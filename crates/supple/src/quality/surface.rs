//! The welded surface that the figures are taken over.

use crate::disjoint_sets::DisjointSets;
use crate::merging::merge_by_key;
use crate::mesh::Mesh;
use crate::surface::{Weld, cotangent};
use glam::DVec3;

/// Cotangents are cut off here, at an angle of about six degrees: in slivers they would make much
/// of the rounding of weights.
const MOST_COTANGENT: f64 = 10.0;

/// Points, their areas and their neighbours.
pub(super) struct Surface {
    weld: Weld,
    first_vertices: Vec<u32>,
    places: Vec<DVec3>,
    areas: Vec<f64>,
    /// Where each point's neighbours start; one entry more than points.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    /// Half the sum of the cotangents of the angles opposite to the edge to each neighbour.
    cotangents: Vec<f64>,
    pieces: Vec<u32>,
}

impl Surface {
    pub(super) fn new(mesh: &Mesh, weld: Weld) -> Surface {
        let count = weld.point_count();
        let places = weld.places(mesh.positions());
        let mut areas = vec![0.0; count];
        let mut sets = DisjointSets::new(count);
        // Both directions of every edge.
        let mut edges: Vec<(u32, u32, f64)> = Vec::with_capacity(6 * mesh.triangles().len());
        for corners in mesh.triangles() {
            let corners = corners.map(|corner| weld.point_of(corner as usize));
            let [a, b, c] = corners.map(|corner| places[corner]);
            let double_area = (b - a).cross(c - a).length();
            for turn in 0..3 {
                let [from, to, opposite] =
                    [turn, (turn + 1) % 3, (turn + 2) % 3].map(|at| corners[at]);
                areas[from] += double_area / 6.0;
                if from == to {
                    continue;
                }
                sets.join(from, to);
                let cotangent = cotangent(places[opposite], places[from], places[to]);
                let cotangent = cotangent.clamp(-MOST_COTANGENT, MOST_COTANGENT);
                edges.push((from as u32, to as u32, 0.5 * cotangent));
                edges.push((to as u32, from as u32, 0.5 * cotangent));
            }
        }
        if areas.iter().all(|&area| area == 0.0) {
            areas.fill(1.0);
        }
        merge_by_key(
            &mut edges,
            |&(from, to, _)| (from, to),
            |kept, next| kept.2 += next.2,
        );
        let mut starts = vec![0; count + 1];
        for &(from, ..) in &edges {
            starts[from as usize + 1] += 1;
        }
        for point in 0..count {
            starts[point + 1] += starts[point];
        }
        Surface {
            first_vertices: weld.first_vertices(),
            weld,
            places,
            areas,
            starts,
            neighbours: edges.iter().map(|edge| edge.1).collect(),
            cotangents: edges.iter().map(|edge| edge.2).collect(),
            pieces: (0..count).map(|point| sets.find(point) as u32).collect(),
        }
    }

    pub(super) fn point_count(&self) -> usize {
        self.places.len()
    }

    /// The point of a vertex.
    pub(super) fn point_of(&self, vertex: usize) -> usize {
        self.weld.point_of(vertex)
    }

    /// The first vertex of a point.
    pub(super) fn vertex_of(&self, point: usize) -> usize {
        self.first_vertices[point] as usize
    }

    pub(super) fn place(&self, point: usize) -> DVec3 {
        self.places[point]
    }

    /// A third of the triangles around a point.
    pub(super) fn area(&self, point: usize) -> f64 {
        self.areas[point]
    }

    /// The connected piece that a point belongs to: its lowest point.
    pub(super) fn piece(&self, point: usize) -> u32 {
        self.pieces[point]
    }

    pub(super) fn neighbours(&self, point: usize) -> &[u32] {
        &self.neighbours[self.starts[point]..self.starts[point + 1]]
    }

    /// The cotangent weights of the edges to the neighbours.
    pub(super) fn cotangents(&self, point: usize) -> &[f64] {
        &self.cotangents[self.starts[point]..self.starts[point + 1]]
    }
}
