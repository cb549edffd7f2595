//! A grid in the space of a pair's weights, and the similarity of eq. (1) between its nodes.
//!
//! For one pair of joints the similarity of a vertex with weights (a, b) and a place with weights
//! (c, d) is `abcd·exp(−(ad − bc)²/σ²)`. With the sums `s = a + b` and `t = c + d` as coordinates,
//! `ad − bc = at − sc`: smooth in (s, a) and in (t, c) on the scale of σ. So it can be told from a
//! few nodes by cubic splines on either side: `exp(…) ≈ Σᵢⱼ φᵢ(s, a) Kᵢⱼ φⱼ(t, c)`. All triangles
//! of a pair are spread over the nodes, the nodes are multiplied by K, the same for all pairs, and
//! every vertex reads its sums off the nodes around it.
//!
//! The coordinates are chosen so that vertices of two influences, which are most, lie on one line
//! of the grid, t = 1.
//!
//! The splines are `φ = β + β″/42`, with β the cubic B-spline: of all functions that reach over
//! four nodes, those that approximate best. At the same cost they leave a fifth of the error of
//! B-splines, and a thirtieth of that of cubic Lagrange interpolation.
//!
//! K is not the similarity at the nodes, since these splines do not interpolate: it is that,
//! sharpened along all four coordinates by the inverse of the blur of a spline.

use crate::exec;
use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f64x8};
use std::ops::{Add, Mul, Range, Sub};

/// The nodes and the similarity between them.
///
/// A node is a row, `t·cells` from −1 to `cells + 1`, and a column, `c·cells` from −1 to what
/// stencils with c ≤ t reach.
#[derive(Clone, Debug)]
pub(super) struct WeightGrid {
    cells: usize,
    /// The start of the nodes of each row, from row −1 on, and the number of all nodes.
    row_starts: Vec<usize>,
    /// `K`, symmetric, each row padded to whole blocks.
    kernel: Vec<f32>,
    stride: usize,
    level: Level,
}

/// A place among the rows or columns: between the second and the third of four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// The first of the four, counted from the first of all.
    pub(super) cell: usize,
    /// The share of each.
    pub(super) shares: [f64; 4],
}

/// The sharpening filter reaches this many nodes to each side.
const REACH: usize = 4;

/// Targets are computed in blocks of at most this many.
const BLOCK: usize = 32;

impl WeightGrid {
    /// The finest grid that is worth its memory: beyond, direct summation serves.
    pub(super) const MOST_CELLS: usize = 64;

    pub(super) fn new(cells: usize, sigma: f64) -> WeightGrid {
        let mut row_starts = vec![0];
        for row in 0..cells + 3 {
            let last = row_starts[row];
            row_starts.push(last + columns_of(row, cells));
        }
        let mut grid = WeightGrid {
            cells,
            stride: (row_starts[cells + 3] + BLOCK).next_multiple_of(BLOCK),
            row_starts,
            kernel: Vec::new(),
            level: Level::new(),
        };
        grid.kernel = grid.sharpened_kernel(sigma);
        grid
    }

    pub(super) fn node_count(&self) -> usize {
        self.row_starts[self.cells + 3]
    }

    /// The instructions of this machine.
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// The position of a weight, or of a sum of two, among the rows or columns.
    #[inline(always)]
    pub(super) fn between(&self, weight: f64) -> Between {
        let at = weight * self.cells as f64;
        let cell = (at as i32).clamp(0, self.cells as i32 - 1);
        let x = at - f64::from(cell);
        let shares = spline_shares(x, 1.0);
        Between {
            cell: cell as usize,
            shares,
        }
    }

    /// The same for the sums of eight pairs at once.
    #[inline(always)]
    pub(super) fn rows_between<S: Simd>(
        &self,
        simd: S,
        sums: f64x8<S>,
    ) -> (f64x8<S>, [f64x8<S>; 4]) {
        let at = sums * self.cells as f64;
        let cell = at.trunc().min(f64x8::splat(simd, self.cells as f64 - 1.0));
        (cell, spline_shares(at - cell, f64x8::splat(simd, 1.0)))
    }

    /// The first node of each of the four rows of a stencil, by the cell of the sum of a pair's
    /// weights and of the lower joint's.
    #[inline(always)]
    pub(super) fn nodes(&self, row: usize, column: usize) -> [usize; 4] {
        let starts = &self.row_starts[row..row + 4];
        // Rounding must not leave the triangle.
        let column = column.min(row);
        [
            starts[0] + column,
            starts[1] + column,
            starts[2] + column,
            starts[3] + column,
        ]
    }

    /// The nodes that stencils of sums in a range may touch.
    pub(super) fn nodes_for(&self, sums: Range<f64>) -> Range<usize> {
        let [first, last] = [sums.start, sums.end].map(|sum| self.between(sum).cell);
        self.row_starts[first]..self.row_starts[last + 4]
    }

    /// `K` times the sources, for a range of nodes.
    pub(super) fn multiply<const C: usize>(
        &self,
        sources: &[(usize, [f32; C])],
        targets: Range<usize>,
    ) -> Vec<[f32; C]> {
        let mut values = vec![[0.0; C]; targets.len()];
        dispatch!(self.level, simd => multiply(simd, self, sources, targets.start, &mut values));
        values
    }

    /// The similarity between nodes, sharpened along all four coordinates.
    ///
    /// At nodes, `at − sc` is an integer times the spacing squared, so that the exponential is a
    /// table. Sharpening along the source's column moves that integer by the target's row, and
    /// along the source's row by the target's column: two more tables. The target's own two
    /// directions are then filtered as rows of numbers.
    fn sharpened_kernel(&self, sigma: f64) -> Vec<f32> {
        let reach = REACH as i64;
        let most = self.cells as i64 + 1 + reach;
        // The largest integer, with what the filters add on either side.
        let farthest = 2 * most * most + reach * most;
        let spacing = 1.0 / (self.cells * self.cells) as f64;
        let reached = farthest + reach * most;
        let similarity: Vec<f64> = (-reached..=reached)
            .map(|steps| (-(steps as f64 * spacing / sigma).powi(2)).exp())
            .collect();
        let taps = sharpening_taps();
        // Each of the target's rows, and some beyond for the last filter, with the columns that its
        // neighbours have.
        let rows = self.cells + 3 + 2 * REACH;
        let filtered = exec::map(rows, |row| {
            self.sharpened_row(row as i64 - 1 - reach, &similarity, farthest, &taps)
        });
        let mut kernel = Vec::with_capacity(self.node_count() * self.stride);
        for row in 0..self.cells + 3 {
            for column in 0..self.row_starts[row + 1] - self.row_starts[row] {
                let first = kernel.len();
                kernel.resize(first + self.stride, 0.0);
                let nodes = self.node_count();
                let mut sums = vec![0.0; nodes];
                for (tap, row) in taps.iter().zip(&filtered[row..]) {
                    let values = &row[column * nodes..][..nodes];
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += tap * value;
                    }
                }
                for (entry, sum) in kernel[first..].iter_mut().zip(sums) {
                    *entry = sum as f32;
                }
            }
        }
        kernel
    }

    /// One row of targets against all nodes, sharpened along all but the target's row.
    fn sharpened_row(
        &self,
        row: i64,
        similarity: &[f64],
        farthest: i64,
        taps: &[f64; 2 * REACH + 1],
    ) -> Vec<f64> {
        let reach = REACH as i64;
        let nodes = self.node_count();
        // The columns of all rows within reach, counted from −1, and beyond for the filter.
        let columns = columns_of((row + 1 + reach).max(0) as usize, self.cells);
        let mut along_source_column = vec![0.0; 2 * farthest as usize + 1];
        let middle = similarity.len() as i64 / 2;
        for (tap, shift) in taps.iter().zip(-reach..=reach) {
            let shifted = &similarity[(middle - farthest + shift * row) as usize..];
            for (sum, value) in along_source_column.iter_mut().zip(shifted) {
                *sum += tap * value;
            }
        }
        let mut beyond = vec![0.0; (columns + 2 * REACH) * nodes];
        let mut table = Vec::new();
        for (index, values) in beyond.chunks_exact_mut(nodes).enumerate() {
            let column = index as i64 - 1 - reach;
            // The integers that some source has: row · its column − column · its row.
            let most = self.cells as i64 + 1;
            let [low, high] = [-1, most].map(|at| [row * at, column * at]);
            let from = low[0].min(high[0]) - low[1].max(high[1]);
            let to = low[0].max(high[0]) - low[1].min(high[1]);
            table.clear();
            table.resize((to - from + 1) as usize, 0.0);
            for (tap, shift) in taps.iter().zip(-reach..=reach) {
                let start = from - shift * column + farthest;
                let shifted = &along_source_column[start as usize..][..table.len()];
                for (sum, value) in table.iter_mut().zip(shifted) {
                    *sum += tap * value;
                }
            }
            for source_row in 0..self.cells + 3 {
                let starts = self.row_starts[source_row]..self.row_starts[source_row + 1];
                let mut steps = -row - column * (source_row as i64 - 1) - from;
                for value in &mut values[starts] {
                    *value = table[steps as usize];
                    steps += row;
                }
            }
        }
        // The target's own columns.
        let mut filtered = vec![0.0; columns * nodes];
        for (column, sums) in filtered.chunks_exact_mut(nodes).enumerate() {
            for (tap, values) in taps
                .iter()
                .zip(beyond[column * nodes..].chunks_exact(nodes))
            {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += tap * value;
                }
            }
        }
        filtered
    }
}

/// The splines of the four nodes around a place that is `x` beyond the second.
#[inline(always)]
fn spline_shares<T>(x: T, one: T) -> [T; 4]
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Mul<f64, Output = T>,
{
    let y = one - x;
    // x³/6 + x/42, and 2/3 − x²(1 − x/2) + (3x − 2)/42.
    let outer = |x: T| x * (x * x * (1.0 / 6.0) + one * (1.0 / 42.0));
    let inner = |x: T| one * (13.0 / 21.0) + x * (one * (1.0 / 14.0) - x * (one - x * 0.5));
    [outer(y), inner(x), inner(y), outer(x)]
}

/// The number of columns, from −1 on, that stencils reach in a row (with −1 counted as zero).
fn columns_of(row: usize, cells: usize) -> usize {
    (row + 4).min(cells + 3)
}

/// `1 − b + b² − …` with `b = 4/21 δ²` and `δ²` the second difference: the inverse of the samples
/// (4, 13, 4)/21 of a spline, up to its tenth order.
fn sharpening_taps() -> [f64; 2 * REACH + 1] {
    let mut taps = [0.0; 2 * REACH + 1];
    let mut power = taps;
    power[REACH] = 1.0;
    taps[REACH] = 1.0;
    for _ in 0..REACH {
        let around = |index: usize| power.get(index).copied().unwrap_or(0.0);
        let next = std::array::from_fn(|index| {
            let before = index.checked_sub(1).map_or(0.0, around);
            -(before - 2.0 * around(index) + around(index + 1)) * (4.0 / 21.0)
        });
        power = next;
        for (tap, term) in taps.iter_mut().zip(power) {
            *tap += term;
        }
    }
    taps
}

/// The product, a block of targets at a time: of each source one run of `K` is read, and used for
/// all its moments.
#[inline(always)]
fn multiply<S: Simd, const C: usize>(
    simd: S,
    grid: &WeightGrid,
    sources: &[(usize, [f32; C])],
    first: usize,
    values: &mut [[f32; C]],
) {
    let lanes = S::f32s::LEN;
    for (block, values) in values.chunks_mut(2 * lanes).enumerate() {
        let start = first + block * 2 * lanes;
        let mut sums = [[S::f32s::splat(simd, 0.0); 2]; C];
        for (node, moments) in sources {
            let row = &grid.kernel[node * grid.stride + start..][..2 * lanes];
            let similar = [
                S::f32s::from_slice(simd, &row[..lanes]),
                S::f32s::from_slice(simd, &row[lanes..]),
            ];
            for (sum, &moment) in sums.iter_mut().zip(moments) {
                let moment = S::f32s::splat(simd, moment);
                sum[0] = similar[0].mul_add(moment, sum[0]);
                sum[1] = similar[1].mul_add(moment, sum[1]);
            }
        }
        for (moment, sum) in sums.iter().enumerate() {
            for (half, sum) in sum.iter().enumerate() {
                let values = values.iter_mut().skip(half * lanes);
                for (value, &sum) in values.zip(sum.as_slice()) {
                    value[moment] = sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The similarity between two points as the grid has it.
    fn through_nodes(grid: &WeightGrid, here: [f64; 2], there: [f64; 2]) -> f64 {
        let stencil = |[sum, low]: [f64; 2]| {
            let (sum, low) = (grid.between(sum), grid.between(low));
            let nodes = grid.nodes(sum.cell, low.cell);
            let each = (0..4).flat_map(|row| (0..4).map(move |column| (row, column)));
            let each = each
                .map(|(row, column)| (nodes[row] + column, sum.shares[row] * low.shares[column]));
            each.collect::<Vec<_>>()
        };
        let mut sum = 0.0;
        for (target, here) in stencil(here) {
            for (source, there) in stencil(there) {
                let entry = grid.kernel[source * grid.stride + target];
                sum += here * there * f64::from(entry);
            }
        }
        sum
    }

    #[test]
    fn similarity_survives_the_nodes() {
        let sigma = 0.1;
        for (cells, allowed) in [(24, 1.2e-3), (48, 6e-5)] {
            let grid = WeightGrid::new(cells, sigma);
            let mut worst = 0.0_f64;
            let steps = 13;
            let points: Vec<[f64; 2]> = (0..=steps)
                .flat_map(|sum| {
                    let sum = f64::from(sum) / f64::from(steps);
                    (0..=steps).map(move |low| [sum, sum * f64::from(low) / f64::from(steps)])
                })
                .collect();
            for &[s, a] in &points {
                for &[t, c] in &points {
                    let exact = (-((a * t - s * c) / sigma).powi(2)).exp();
                    let found = through_nodes(&grid, [s, a], [t, c]);
                    worst = worst.max((found - exact).abs());
                }
            }
            assert!(worst < allowed, "{worst:e} with {cells} cells");
        }
    }

    #[test]
    fn products_are_the_same_for_any_range_of_targets() {
        let grid = WeightGrid::new(12, 0.2);
        let sources: Vec<(usize, [f32; 4])> = (3..grid.node_count())
            .step_by(7)
            .map(|node| (node, [1.0, node as f32, -0.5, 0.1 * node as f32]))
            .collect();
        let all = grid.multiply(&sources, 0..grid.node_count());
        for range in [0..1, 5..6, 17..90, 60..grid.node_count()] {
            assert_eq!(grid.multiply(&sources, range.clone()), all[range]);
        }
    }
}
