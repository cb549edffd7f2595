//! Catmull-Clark subdivision of closed quad meshes, and the points of the smooth surface that it
//! converges to.
//!
//! All masks are convex, so that fields such as skinning weights stay non-negative and keep summing
//! to one.

use std::collections::HashMap;
use std::ops::{Add, Mul};

/// A quantity that can be subdivided, by averaging.
pub(super) trait Field: Copy + Add<Output = Self> + Mul<f64, Output = Self> {}
impl<T: Copy + Add<Output = T> + Mul<f64, Output = T>> Field for T {}

/// The connectivity of a closed quad mesh.
pub(super) struct Connectivity {
    pub(super) quads: Vec<[usize; 4]>,
    /// The two ends of every edge, lower vertex first.
    pub(super) edges: Vec<[usize; 2]>,
    /// The edges of every quad: edge `i` runs from corner `i` to corner `i + 1`.
    pub(super) edges_of_quad: Vec<[usize; 4]>,
    valence: Vec<f64>,
}

impl Connectivity {
    pub(super) fn new(vertices: usize, quads: Vec<[usize; 4]>) -> Connectivity {
        let mut edge_of: HashMap<[usize; 2], usize> = HashMap::with_capacity(quads.len() * 2);
        let mut edges = Vec::with_capacity(quads.len() * 2);
        let mut valence = vec![0.0; vertices];
        let mut edges_of_quad = Vec::with_capacity(quads.len());
        for quad in &quads {
            edges_of_quad.push([0, 1, 2, 3].map(|i| {
                let (a, b) = (quad[i], quad[(i + 1) % 4]);
                let ends = [a.min(b), a.max(b)];
                *edge_of.entry(ends).or_insert_with(|| {
                    edges.push(ends);
                    valence[a] += 1.0;
                    valence[b] += 1.0;
                    edges.len() - 1
                })
            }));
        }
        Connectivity {
            quads,
            edges,
            edges_of_quad,
            valence,
        }
    }

    /// The connectivity after one step: vertices first, then one per edge, then one per quad.
    ///
    /// Quad `q` becomes quads `4 q` to `4 q + 3`, one at each corner, all turned as `q` is.
    pub(super) fn refined(&self) -> Connectivity {
        let vertices = self.valence.len();
        let quads = self.quads.iter().zip(&self.edges_of_quad).enumerate();
        let children = quads.flat_map(|(index, (&[a, b, c, d], edges))| {
            let [ab, bc, cd, da] = edges.map(|edge| vertices + edge);
            let middle = vertices + self.edges.len() + index;
            [
                [a, ab, middle, da],
                [ab, b, bc, middle],
                [middle, bc, c, cd],
                [da, middle, cd, d],
            ]
        });
        Connectivity::new(
            vertices + self.edges.len() + self.quads.len(),
            children.collect(),
        )
    }

    /// The values after one step.
    pub(super) fn refine<T: Field>(&self, values: &[T]) -> Vec<T> {
        let zero = |value: &T| *value * 0.0;
        let middles: Vec<T> = self
            .quads
            .iter()
            .map(|&[a, b, c, d]| (values[a] + values[b] + values[c] + values[d]) * 0.25)
            .collect();
        // Of a vertex of valence n: the mean of its quads, twice the mean of its edges' middles, n
        // − 3 times itself.
        let mut quad_sums: Vec<T> = values.iter().map(zero).collect();
        let mut edge_sums = quad_sums.clone();
        let mut across: Vec<T> = self.edges.iter().map(|&[a, _]| zero(&values[a])).collect();
        for (index, quad) in self.quads.iter().enumerate() {
            for i in 0..4 {
                quad_sums[quad[i]] = quad_sums[quad[i]] + middles[index];
                let edge = self.edges_of_quad[index][i];
                across[edge] = across[edge] + middles[index];
            }
        }
        for &[a, b] in &self.edges {
            let middle = (values[a] + values[b]) * 0.5;
            edge_sums[a] = edge_sums[a] + middle;
            edge_sums[b] = edge_sums[b] + middle;
        }
        let mut refined = Vec::with_capacity(values.len() + self.edges.len() + self.quads.len());
        for (vertex, &value) in values.iter().enumerate() {
            let n = self.valence[vertex];
            let around = (quad_sums[vertex] + edge_sums[vertex] * 2.0) * (1.0 / (n * n));
            refined.push(around + value * ((n - 3.0) / n));
        }
        for (edge, &[a, b]) in self.edges.iter().enumerate() {
            refined.push((values[a] + values[b] + across[edge]) * 0.25);
        }
        refined.extend(middles);
        refined
    }

    /// The values of the vertices in the limit of infinitely many steps.
    pub(super) fn limit<T: Field>(&self, values: &[T]) -> Vec<T> {
        let mut sums: Vec<T> = values
            .iter()
            .zip(&self.valence)
            .map(|(&value, n)| value * (n * n))
            .collect();
        for &[a, b] in &self.edges {
            sums[a] = sums[a] + values[b] * 4.0;
            sums[b] = sums[b] + values[a] * 4.0;
        }
        for &[a, b, c, d] in &self.quads {
            for (corner, opposite) in [(a, c), (b, d), (c, a), (d, b)] {
                sums[corner] = sums[corner] + values[opposite];
            }
        }
        for (sum, n) in sums.iter_mut().zip(&self.valence) {
            *sum = *sum * (1.0 / (n * (n + 5.0)));
        }
        sums
    }

    /// Values whose limit passes close to the `targets`: subdivision shrinks, this takes it back.
    ///
    /// A few steps leave out the finest waviness, which an exact solution would have.
    pub(super) fn fitted<T: Field>(&self, targets: &[T], steps: usize) -> Vec<T> {
        let mut values = targets.to_vec();
        for _ in 0..steps {
            let limit = self.limit(&values);
            for ((value, &target), limit) in values.iter_mut().zip(targets).zip(limit) {
                *value = *value + target + limit * -1.0;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn cube() -> (Vec<DVec3>, Connectivity) {
        let corner = |i: usize| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64);
        let quads = vec![
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let points = (0..8).map(|i| corner(i) * 2.0 - DVec3::ONE).collect();
        (points, Connectivity::new(8, quads))
    }

    #[test]
    fn limit_points_do_not_move_under_further_subdivision() {
        let (mut points, mut connectivity) = cube();
        let expected = connectivity.limit(&points);
        for _ in 0..3 {
            points = connectivity.refine(&points);
            connectivity = connectivity.refined();
        }
        let found = connectivity.limit(&points);
        for (found, expected) in found.iter().zip(expected) {
            assert!((*found - expected).length() < 1e-12);
        }
    }

    #[test]
    fn constants_stay_and_fitting_passes_through_the_targets() {
        let (points, connectivity) = cube();
        let ones = vec![1.0; 8];
        for value in connectivity
            .refine(&ones)
            .iter()
            .chain(&connectivity.limit(&ones))
        {
            assert!((value - 1.0).abs() < 1e-12);
        }
        let limit = connectivity.limit(&connectivity.fitted(&points, 60));
        for (found, target) in limit.iter().zip(&points) {
            assert!((*found - *target).length() < 1e-3);
        }
    }
}
