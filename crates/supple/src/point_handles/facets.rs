//! The triangles of a surface and their adjacency.

use crate::bind::oriented_surface::OrientedSurface;
use crate::surface::{Rows, double_area_normal};
use glam::DVec3;
use std::collections::HashMap;

/// Triangles of an [`OrientedSurface`], in its order and its unit.
pub(super) struct Facets {
    pub(super) centers: Vec<DVec3>,
    /// Outward unit normals.
    pub(super) normals: Vec<DVec3>,
    pub(super) areas: Vec<f64>,
    /// Facets across edges, with the ends of the edge.
    pub(super) borders: Vec<Border>,
    neighbours: Rows<(u32, f64)>,
}

/// An edge between two facets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    pub(super) facets: [u32; 2],
    pub(super) ends: [u32; 2],
    pub(super) length: f64,
}

impl Facets {
    pub(super) fn of(shape: &OrientedSurface) -> Facets {
        let corners = |facet: &[u32; 3]| facet.map(|corner: u32| shape.points[corner as usize]);
        let across = |facet: &[u32; 3]| double_area_normal(corners(facet));
        let center = |facet: &[u32; 3]| corners(facet).iter().sum::<DVec3>() / 3.0;
        let borders = borders(shape);
        let lengths = borders.iter();
        let lengths = lengths.map(|border| (border.facets[0], border.facets[1], border.length));
        let neighbours = Rows::of_neighbours(shape.triangles.len(), lengths);
        Facets {
            centers: shape.triangles.iter().map(center).collect(),
            normals: shape
                .triangles
                .iter()
                .map(|facet| across(facet).normalize_or_zero())
                .collect(),
            areas: shape
                .triangles
                .iter()
                .map(|facet| across(facet).length() * 0.5)
                .collect(),
            borders,
            neighbours,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.areas.len()
    }

    /// The neighbours of a facet, and the lengths of their shared edges.
    pub(super) fn around(&self, facet: usize) -> &[(u32, f64)] {
        self.neighbours.row(facet)
    }

    /// Converts values of facets to points: the mean over the facets of a point, weighted by area.
    /// Zero at points without facets.
    pub(super) fn at_points(&self, shape: &OrientedSurface, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); shape.points.len()];
        for (facet, corners) in shape.triangles.iter().enumerate() {
            for &corner in corners {
                let (sum, area) = &mut sums[corner as usize];
                *sum += values[facet] * self.areas[facet];
                *area += self.areas[facet];
            }
        }
        let mean = |(sum, area)| if area > 0.0 { sum / area } else { 0.0 };
        sums.into_iter().map(mean).collect()
    }
}

/// The edges between facets. If more than two facets share an edge, each is paired with the next.
fn borders(shape: &OrientedSurface) -> Vec<Border> {
    let mut last: HashMap<[u32; 2], u32> = HashMap::with_capacity(shape.edges.len());
    let mut borders = Vec::with_capacity(shape.edges.len());
    for (facet, corners) in shape.triangles.iter().enumerate() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (corners[a], corners[b]);
            let ends = [a.min(b), a.max(b)];
            if let Some(other) = last.insert(ends, facet as u32) {
                let [from, to] = ends.map(|end| shape.points[end as usize]);
                borders.push(Border {
                    facets: [other, facet as u32],
                    ends,
                    length: from.distance(to),
                });
            }
        }
    }
    borders
}
