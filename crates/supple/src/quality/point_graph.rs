//! The welded surface of the measures.

use crate::mesh::Mesh;
use crate::surface::{CotangentPolicy, Rows, Weld, cotangent_edges, pieces_of, point_areas};
use glam::DVec3;

/// A welded surface: points with areas and neighbours.
pub(super) struct PointGraph {
    weld: Weld,
    first_vertices: Vec<u32>,
    places: Vec<DVec3>,
    areas: Vec<f64>,
    neighbours: Rows<u32>,
    /// Half the sum of the cotangents opposite to the edge to each neighbour.
    cotangents: Vec<f64>,
    pieces: Vec<u32>,
}

impl PointGraph {
    pub(super) fn new(mesh: &Mesh, weld: Weld) -> PointGraph {
        let count = weld.point_count();
        let places = weld.places(mesh.positions());
        let triangles = weld.triangles(mesh.triangles());
        let mut areas = point_areas(&places, triangles.clone());
        if areas.iter().all(|&area| area == 0.0) {
            areas.fill(1.0);
        }
        let edges = cotangent_edges(&places, triangles, CotangentPolicy::SIGNED);
        let pieces = pieces_of(count, &edges);
        let edges = edges
            .iter()
            .map(|edge| (edge.ends[0], edge.ends[1], edge.weight));
        let (neighbours, cotangents) = Rows::of_neighbours(count, edges).unzip();
        PointGraph {
            first_vertices: weld.first_vertices(),
            weld,
            places,
            areas,
            neighbours,
            cotangents,
            pieces,
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

    /// The area of a point: a third of the area of its triangles.
    pub(super) fn area(&self, point: usize) -> f64 {
        self.areas[point]
    }

    /// The connected piece of a point, identified by its lowest point.
    pub(super) fn piece(&self, point: usize) -> u32 {
        self.pieces[point]
    }

    pub(super) fn neighbours(&self, point: usize) -> &[u32] {
        self.neighbours.row(point)
    }

    /// The cotangent weights of the edges to the neighbours.
    pub(super) fn cotangents(&self, point: usize) -> &[f64] {
        &self.cotangents[self.neighbours.range(point)]
    }
}
