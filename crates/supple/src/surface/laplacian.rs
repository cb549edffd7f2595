//! Who is whose neighbour on a surface, and how much neighbours count: what smoothing runs over.
//!
//! `direct-delta-mush.txt`, §3.1: `L` is symmetric with zero row sums, and `L̄ = L·D_L⁻¹` is its
//! normalised form, whose columns are what is kept here. Smoothing a channel `x` with `L̄` from the
//! right, as the paper writes it, replaces what a point has by a mix with the mean of its
//! neighbours.
//!
//! Weights are never negative: raw cotangents of obtuse triangles would make a mean that lies
//! outside of what it is a mean of, and the covariances of direct delta mush indefinite.

use super::Weld;
use crate::disjoint_sets::DisjointSets;
use crate::merging::merge_by_key;
use glam::{DVec3, Vec3};

/// How much two neighbours count for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeWeights {
    /// All alike: cares for nothing but who is connected, and takes any mesh.
    #[default]
    Uniform,
    /// By the cotangents of the angles opposite to the edge, at least zero: does not care how the
    /// surface is cut into triangles.
    Cotangent,
}

impl EdgeWeights {
    /// The name that files and commands have for it.
    pub fn name(self) -> &'static str {
        match self {
            EdgeWeights::Uniform => "uniform",
            EdgeWeights::Cotangent => "cotangent",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<EdgeWeights> {
        let mut all = [EdgeWeights::Uniform, EdgeWeights::Cotangent].into_iter();
        all.find(|weights| weights.name() == name)
    }
}

/// The points of a welded surface with their neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Laplacian {
    /// Where each point's neighbours start; one entry more than points.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// What each neighbour counts for: the shares of a point sum to one.
    shares: Vec<f64>,
    points: Vec<DVec3>,
}

/// An edge with its weight; the lower point first.
#[derive(Clone, Copy, Debug)]
struct Edge {
    ends: (u32, u32),
    weight: f64,
}

/// The edges of a surface before they are turned into a [`Laplacian`], so that more can be added.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    edges: Vec<Edge>,
    points: Vec<DVec3>,
}

impl Edges {
    /// Collects the edges of triangles whose vertices are welded. Triangles without area have edges,
    /// but no angles.
    pub(crate) fn of(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        weld: &Weld,
        weights: EdgeWeights,
    ) -> Edges {
        let points = weld.places(positions);
        let mut edges = Vec::with_capacity(triangles.len() * 3);
        for corners in triangles {
            let corners = corners.map(|corner| weld.point_of(corner as usize));
            for turn in 0..3 {
                let [a, b, opposite] = [turn, (turn + 1) % 3, (turn + 2) % 3].map(|at| corners[at]);
                if a == b {
                    continue;
                }
                let weight = match weights {
                    EdgeWeights::Uniform => 1.0,
                    EdgeWeights::Cotangent => {
                        0.5 * cotangent(points[opposite], points[a], points[b])
                    }
                };
                edges.push(Edge {
                    ends: (a.min(b) as u32, a.max(b) as u32),
                    weight,
                });
            }
        }
        merge_by_key(
            &mut edges,
            |edge| edge.ends,
            |kept, next| {
                if weights == EdgeWeights::Cotangent {
                    kept.weight += next.weight;
                }
            },
        );
        for edge in &mut edges {
            edge.weight = edge.weight.max(0.0);
        }
        let mut edges = Edges { edges, points };
        edges.mend_lost_points();
        edges
    }

    /// Gives points all of whose edges count nothing (all cotangents negative, or triangles without
    /// area) edges of middling weight: they must not be left behind.
    fn mend_lost_points(&mut self) {
        let mut total = vec![0.0; self.points.len()];
        for edge in &self.edges {
            total[edge.ends.0 as usize] += edge.weight;
            total[edge.ends.1 as usize] += edge.weight;
        }
        let middling = self.middling_weight();
        let lost = |point: u32| total[point as usize] == 0.0;
        for edge in &mut self.edges {
            if lost(edge.ends.0) || lost(edge.ends.1) {
                edge.weight = middling;
            }
        }
    }

    /// The middle one of all weights that count: slivers have cotangents as large as any.
    pub(crate) fn middling_weight(&self) -> f64 {
        let weights = self.edges.iter().map(|edge| edge.weight);
        let mut weights: Vec<f64> = weights.filter(|&weight| weight > 0.0).collect();
        let middle = weights.len() / 2;
        if weights.is_empty() {
            return 1.0;
        }
        *weights.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// The place of every point.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Every edge, the lower point first, with its weight.
    pub(crate) fn weighted(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let edges = self.edges.iter();
        edges.map(|edge| (edge.ends.0, edge.ends.1, edge.weight))
    }

    /// The number of the connected piece that each point belongs to: its lowest point.
    pub(crate) fn pieces(&self) -> Vec<u32> {
        let mut sets = DisjointSets::new(self.points.len());
        for edge in &self.edges {
            sets.join(edge.ends.0 as usize, edge.ends.1 as usize);
        }
        (0..self.points.len())
            .map(|point| sets.find(point) as u32)
            .collect()
    }

    /// The mean length of the edges at every point; zero where there are none.
    pub(crate) fn mean_lengths(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.points.len()];
        for edge in &self.edges {
            let (a, b) = (edge.ends.0 as usize, edge.ends.1 as usize);
            let length = self.points[a].distance(self.points[b]);
            for point in [a, b] {
                sums[point].0 += length;
                sums[point].1 += 1.0;
            }
        }
        let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 };
        sums.into_iter().map(mean).collect()
    }

    /// Adds edges of middling weight between points that no triangle connects.
    pub(crate) fn link(&mut self, links: &[(u32, u32)]) {
        let weight = self.middling_weight();
        self.edges.extend(links.iter().map(|&(a, b)| Edge {
            ends: (a.min(b), a.max(b)),
            weight,
        }));
        self.edges.sort_by_key(|edge| edge.ends);
        self.edges.dedup_by_key(|edge| edge.ends);
    }

    pub(crate) fn into_laplacian(self) -> Laplacian {
        let count = self.points.len();
        let mut totals = vec![0.0; count];
        let mut starts = vec![0u32; count + 1];
        let used = || self.edges.iter().filter(|edge| edge.weight > 0.0);
        for edge in used() {
            for point in [edge.ends.0, edge.ends.1] {
                starts[point as usize + 1] += 1;
                totals[point as usize] += edge.weight;
            }
        }
        for point in 0..count {
            starts[point + 1] += starts[point];
        }
        let mut next = starts.clone();
        let entries = starts[count] as usize;
        let (mut neighbours, mut shares) = (vec![0; entries], vec![0.0; entries]);
        for edge in used() {
            for (point, other) in [edge.ends, (edge.ends.1, edge.ends.0)] {
                let slot = &mut next[point as usize];
                neighbours[*slot as usize] = other;
                shares[*slot as usize] = edge.weight / totals[point as usize];
                *slot += 1;
            }
        }
        Laplacian {
            starts,
            neighbours,
            shares,
            points: self.points,
        }
    }
}

/// The cotangent of the angle at `apex`; zero in a triangle without area.
pub(crate) fn cotangent(apex: DVec3, a: DVec3, b: DVec3) -> f64 {
    let (a, b) = (a - apex, b - apex);
    let sine = a.cross(b).length();
    if sine > 0.0 { a.dot(b) / sine } else { 0.0 }
}

impl Laplacian {
    /// The number of points.
    pub(crate) fn point_count(&self) -> usize {
        self.points.len()
    }

    /// The place of every point.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The neighbours of a point and what they count for. A point without any stays as it is.
    #[inline]
    pub(crate) fn row(&self, point: usize) -> (&[u32], &[f64]) {
        let row = self.starts[point] as usize..self.starts[point + 1] as usize;
        (&self.neighbours[row.clone()], &self.shares[row])
    }

    /// The mean square of the distance to a point's neighbours, by what they count for; zero
    /// without any.
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
