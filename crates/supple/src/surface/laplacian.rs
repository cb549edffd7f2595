//! Laplacians of a welded surface: the neighbours of every point, and how much each counts in
//! smoothing.
//!
//! `direct-delta-mush.txt`, §3.1: `L` is symmetric with zero row sums, and `L̄ = L·D_L⁻¹` is its
//! normalised form, whose columns are kept here. Smoothing a channel `x` with `L̄` from the right,
//! as the paper writes it, mixes the value of a point with the mean of its neighbours.

use super::edges::{CotangentPolicy, Edge, cotangent_edges, pieces_of, uniform_edges};
use super::{Rows, Weld};
use glam::{DVec3, Vec3};
use std::fmt;

/// The weight of an edge in smoothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EdgeWeights {
    /// The same for all edges: depends on connectivity only, and suits any mesh.
    #[default]
    Uniform,
    /// By the cotangents of the angles opposite to the edge, at least zero: independent of how the
    /// surface is cut into triangles.
    Cotangent,
}

impl fmt::Display for EdgeWeights {
    /// Writes the name in files and commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EdgeWeights::Uniform => "uniform",
            EdgeWeights::Cotangent => "cotangent",
        })
    }
}

/// The neighbours of every point of a welded surface, with their shares.
#[derive(Clone, Debug)]
pub(crate) struct Laplacian {
    neighbours: Rows<u32>,
    /// The share of each neighbour; the shares of a point sum to one.
    shares: Vec<f64>,
    points: Vec<DVec3>,
}

/// The edges of a surface before they become a [`Laplacian`], so that more can be added.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    edges: Vec<Edge>,
    points: Vec<DVec3>,
}

impl Edges {
    /// Collects the edges of triangles whose vertices are welded. Triangles without area have
    /// edges, but no angles.
    pub(crate) fn of(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        weld: &Weld,
        weights: EdgeWeights,
    ) -> Edges {
        let points = weld.places(positions);
        let triangles = weld.triangles(triangles);
        let edges = match weights {
            EdgeWeights::Uniform => uniform_edges(triangles),
            EdgeWeights::Cotangent => cotangent_edges(&points, triangles, CotangentPolicy::MEAN),
        };
        let mut edges = Edges { edges, points };
        edges.mend_lost_points();
        edges
    }

    /// Gives points whose edges all have weight zero (negative cotangents, or triangles without
    /// area) edges of median weight, so that smoothing doesn't leave them behind.
    fn mend_lost_points(&mut self) {
        let mut total = vec![0.0; self.points.len()];
        for edge in &self.edges {
            for point in edge.ends {
                total[point as usize] += edge.weight;
            }
        }
        let median = self.median_weight();
        for edge in &mut self.edges {
            if edge.ends.iter().any(|&point| total[point as usize] == 0.0) {
                edge.weight = median;
            }
        }
    }

    /// The median of all positive weights. (A mean would follow slivers, whose cotangents are
    /// arbitrarily large.)
    pub(crate) fn median_weight(&self) -> f64 {
        let weights = self.edges.iter().map(|edge| edge.weight);
        let mut weights: Vec<f64> = weights.filter(|&weight| weight > 0.0).collect();
        let middle = weights.len() / 2;
        if weights.is_empty() {
            return 1.0;
        }
        *weights.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// The position of every point.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Every edge, in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter()
    }

    /// The connected piece of each point, named by its lowest point.
    pub(crate) fn pieces(&self) -> Vec<u32> {
        pieces_of(self.points.len(), &self.edges)
    }

    /// The mean length of the edges at every point; zero where there are none.
    pub(crate) fn mean_lengths(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.points.len()];
        for edge in &self.edges {
            let [a, b] = edge.ends.map(|end| end as usize);
            let length = self.points[a].distance(self.points[b]);
            for point in [a, b] {
                sums[point].0 += length;
                sums[point].1 += 1.0;
            }
        }
        let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 };
        sums.into_iter().map(mean).collect()
    }

    /// Adds edges of median weight between points that no triangle connects.
    pub(crate) fn link(&mut self, links: &[(u32, u32)]) {
        let weight = self.median_weight();
        self.edges.extend(links.iter().map(|&(a, b)| Edge {
            ends: [a.min(b), a.max(b)],
            weight,
        }));
        self.edges.sort_by_key(|edge| edge.ends);
        self.edges.dedup_by_key(|edge| edge.ends);
    }

    /// Normalises the weights around every point. Edges of weight zero are dropped.
    pub(crate) fn into_laplacian(self) -> Laplacian {
        let count = self.points.len();
        let used = self.edges.iter().filter(|edge| edge.weight > 0.0);
        let mut totals = vec![0.0; count];
        for edge in used.clone() {
            for point in edge.ends {
                totals[point as usize] += edge.weight;
            }
        }
        let used = used.map(|edge| (edge.ends[0], edge.ends[1], edge.weight));
        let (neighbours, mut shares) = Rows::of_neighbours(count, used).unzip();
        for (point, total) in totals.into_iter().enumerate() {
            for share in &mut shares[neighbours.range(point)] {
                *share /= total;
            }
        }
        Laplacian {
            neighbours,
            shares,
            points: self.points,
        }
    }
}

impl Laplacian {
    /// The number of points.
    pub(crate) fn point_count(&self) -> usize {
        self.points.len()
    }

    /// The position of every point.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The neighbours of a point and their shares. A point without neighbours stays as it is.
    #[inline]
    pub(crate) fn row(&self, point: usize) -> (&[u32], &[f64]) {
        (
            self.neighbours.row(point),
            &self.shares[self.neighbours.range(point)],
        )
    }

    /// The mean squared distance to a point's neighbours, weighted by their shares; zero without
    /// neighbours.
    pub(crate) fn mean_square_step(&self, point: usize) -> f64 {
        let (neighbours, shares) = self.row(point);
        let here = self.points[point];
        let squares = neighbours
            .iter()
            .zip(shares)
            .map(|(&other, share)| here.distance_squared(self.points[other as usize]) * share);
        squares.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::weld_positions;

    fn laplacian(positions: &[Vec3], triangles: &[[u32; 3]], weights: EdgeWeights) -> Laplacian {
        Edges::of(positions, triangles, &weld_positions(positions), weights).into_laplacian()
    }

    #[test]
    fn cotangents_of_a_square_leave_out_its_diagonal() {
        let square = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let found = laplacian(&square, &[[0, 1, 2], [0, 2, 3]], EdgeWeights::Cotangent);
        // The angles opposite to the diagonal are right ones; rounding must not leave anything
        // either.
        for (corner, others) in [(0, [1, 3]), (1, [0, 2]), (2, [1, 3]), (3, [0, 2])] {
            assert_eq!(found.row(corner), (&others[..], &[0.5, 0.5][..]));
        }
        let uniform = laplacian(&square, &[[0, 1, 2], [0, 2, 3]], EdgeWeights::Uniform);
        assert_eq!(uniform.row(0).0, [1, 2, 3]);
    }

    #[test]
    fn a_point_of_slivers_only_is_not_left_behind() {
        let line = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::Y * 9.0];
        let found = laplacian(&line, &[[0, 1, 2]], EdgeWeights::Cotangent);
        assert_eq!(found.row(0), (&[1, 2][..], &[0.5, 0.5][..]));
        assert_eq!(found.row(3).0, [0u32; 0], "no triangle, no neighbour");
    }
}
