//! Smoothing of channels over a surface: many steps at once, as a polynomial of the Laplacian.
//!
//! `direct-delta-mush.txt`, eq. (2) with the local strengths of §3.3: an explicit step is `x ← (I −
//! A)x`, an implicit step solves `(I + A)x' = x`, with `A = λ·D_λ·L̄ᵀ` acting on a column of
//! values. All `p` steps together are a function of the matrix: `(1 − a)^p` or `(1 + a)^−p`. `A` is
//! similar to a symmetric matrix whose eigenvalues are between 0 and twice the largest `λ·D_λ`, so
//! a Chebyshev series on that interval approximates the function to any accuracy. Its degree grows
//! with the *reach* of the smoothing in edges: 45 sparse matrix products replace 20 solves with a
//! Cholesky factor ten times as dense, and no factor is needed.
//!
//! On a part of the surface, the same polynomial smooths that part without flux through its border.
//! So a local channel is smoothed locally.

use crate::surface::{Laplacian, Rows};
use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f64x2, f64x4};
use std::fmt;

/// Kind of smoothing step (eq. 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Steps {
    /// `(I + A)⁻¹`: stable for steps of any size.
    #[default]
    Implicit,
    /// `I − A`: stable for strengths up to one.
    Explicit,
}

impl fmt::Display for Steps {
    /// Writes the name in files and commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Steps::Implicit => "implicit",
            Steps::Explicit => "explicit",
        })
    }
}

/// Several smoothing steps of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Smoothing {
    pub(crate) steps: Steps,
    pub(crate) count: u32,
}

impl Smoothing {
    /// The factor that the steps apply to an eigenvector of `A`.
    fn response(self, eigenvalue: f64) -> f64 {
        let count = f64::from(self.count);
        match self.steps {
            Steps::Implicit => (1.0 + eigenvalue).powf(-count),
            Steps::Explicit => {
                let left = 1.0 - eigenvalue;
                let size = left.abs().powf(count);
                if left < 0.0 && self.count % 2 == 1 {
                    -size
                } else {
                    size
                }
            }
        }
    }

    /// The Chebyshev series on `[0, bound]`; the truncated terms sum to less than [`ACCURACY`].
    fn series(self, bound: f64) -> Series {
        // Near 0 the response decays within 1/count: the node nearest to 0 must lie within that, or
        // all nodes would sample only zeros.
        let resolved = 2.0 * (f64::from(self.count) * bound).sqrt();
        let mut nodes = (resolved as usize)
            .clamp(32, MOST_TERMS)
            .next_power_of_two();
        loop {
            let mut series = self.interpolate(bound, nodes);
            let tail = series[nodes * 3 / 4..].iter();
            let tail: f64 = tail.map(|coefficient| coefficient.abs()).sum();
            // An explicit step is already a polynomial.
            let exact = self.steps == Steps::Explicit && nodes > self.count as usize;
            if tail < ACCURACY / 4.0 || exact || nodes >= MOST_TERMS {
                let mut left_out = 0.0;
                while series.len() > 1 {
                    left_out += series[series.len() - 1].abs();
                    if left_out > ACCURACY {
                        break;
                    }
                    series.pop();
                }
                // Constants are preserved: the response to 0, where T_k = (−1)^k, is 1.
                let mut series = Series(series);
                let constant: f64 = series.alternating().sum();
                series.0[0] += 1.0 - constant;
                return series;
            }
            nodes *= 2;
        }
    }

    /// The polynomial that interpolates the response at `nodes` Chebyshev nodes.
    fn interpolate(self, bound: f64, nodes: usize) -> Vec<f64> {
        // All angles are multiples of one: cos((n + ½)kπ/N) = cosines[(2n + 1)k mod 4N].
        let cosines: Vec<f64> = (0..4 * nodes)
            .map(|at| (at as f64 * std::f64::consts::PI / (2 * nodes) as f64).cos())
            .collect();
        let values: Vec<f64> = (0..nodes)
            .map(|node| self.response(bound * 0.5 * (1.0 + cosines[2 * node + 1])))
            .collect();
        let coefficient = |term: usize| {
            let products = values
                .iter()
                .enumerate()
                .map(|(node, value)| value * cosines[(2 * node + 1) * term % (4 * nodes)]);
            products.sum::<f64>() * 2.0 / nodes as f64
        };
        let mut series: Vec<f64> = (0..nodes).map(coefficient).collect();
        series[0] *= 0.5;
        series
    }
}

/// The truncation error of the series: a covariance of a hundredth of the squared distance to its
/// joint still has seven digits.
const ACCURACY: f64 = 1e-9;

/// Enough for all smoothing that the options allow (`mush/strengths.rs`).
const MOST_TERMS: usize = 8192;

/// The coefficients of a Chebyshev series, the first one halved.
#[derive(Clone, Debug)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    /// The coefficients with alternating signs, the first one unhalved: their effect on constants,
    /// since `T_k(−1) = (−1)^k`.
    fn alternating(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + '_ {
        let sign = |term: usize| if term.is_multiple_of(2) { 1.0 } else { -1.0 };
        let terms = self.0.iter().enumerate();
        terms.map(move |(term, c)| c * sign(term))
    }

    /// The series as the coefficients `f` of a recurrence that works in single precision.
    ///
    /// Clenshaw's recurrence subtracts large numbers where values are nearly constant. Reinsch's
    /// form uses differences between neighbours instead: with `L = 4A/bound` and `e_k = (−1)^k
    /// c_k`, it is `δ_k = δ_{k+1} + e_k x − L β_{k+1}`, `β_k = β_{k+1} + δ_k`. Where `L x` is zero,
    /// these are `x` times sums of the `e` and sums of those, `f_k = Σ_{j≥k} Σ_{i≥j} e_i`. Without
    /// that part, the sums are small where `x` is smooth, and so are their rounding errors: `δ_k =
    /// δ_{k+1} − f_{k+1} L x − L β_{k+1}`. In the end (`k = 0`) both products count half, and the
    /// result is `x + δ`.
    fn of_differences(&self) -> Vec<f32> {
        let mut left_out = 0.0;
        let terms = self.alternating().skip(1).rev().skip_while(|term| {
            left_out += term.abs();
            left_out <= SINGLE_PRECISION
        });
        let (mut sum, mut sum_of_sums) = (0.0, 0.0);
        let factors = terms.map(|term| {
            sum += term;
            sum_of_sums += sum;
            sum_of_sums as f32
        });
        factors.collect()
    }
}

/// The truncation error of a series for single precision: half of the last digit.
const SINGLE_PRECISION: f64 = 3e-8;

/// The values of the channels at one point: one, or an even number up to twelve.
pub(crate) type Values<const C: usize> = [f64; C];

/// A surface, or a part of it, with the strength of smoothing at every point.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    neighbours: Rows<u32>,
    /// The off-diagonal entries of `2·(2A/bound − I)` …
    entries: Vec<f64>,
    /// … and the diagonal ones.
    diagonal: Vec<f64>,
    bound: f64,
    level: Level,
}

impl Domain {
    /// The whole surface; `strengths` are `λ·D_λ`.
    pub(crate) fn whole(laplacian: &Laplacian, strengths: &[f64]) -> Domain {
        let points: Vec<u32> = (0..laplacian.point_count() as u32).collect();
        Domain::part(laplacian, strengths, &points, Some)
    }

    /// A part of the surface. `local` maps points to their index in `points`; neighbours outside
    /// count as having the same value.
    pub(crate) fn part(
        laplacian: &Laplacian,
        strengths: &[f64],
        points: &[u32],
        local: impl Fn(u32) -> Option<u32>,
    ) -> Domain {
        let largest = points.iter().map(|&point| strengths[point as usize]);
        let bound = 2.0 * largest.fold(0.0, f64::max);
        let bound = if bound > 0.0 { bound } else { 1.0 };
        let mut domain = Domain {
            neighbours: Rows::with_capacity(points.len(), points.len() * 6),
            entries: Vec::with_capacity(points.len() * 6),
            diagonal: Vec::with_capacity(points.len()),
            bound,
            level: Level::new(),
        };
        for &point in points {
            let (neighbours, shares) = laplacian.row(point as usize);
            let scale = 4.0 * strengths[point as usize] / bound;
            let mut inside = 0.0;
            let pairs = neighbours.iter().zip(shares);
            domain
                .neighbours
                .push_row(pairs.filter_map(|(&neighbour, share)| {
                    let neighbour = local(neighbour)?;
                    domain.entries.push(-scale * share);
                    inside += share;
                    Some(neighbour)
                }));
            domain.diagonal.push(scale * inside - 2.0);
        }
        domain
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// The neighbours of a point, with their coefficients in `4A/bound`: `Σ share (x_i − x_j)`.
    pub(crate) fn row(&self, point: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let row = self.neighbours.range(point);
        let entries = self.neighbours.row(point).iter().zip(&self.entries[row]);
        entries.map(|(&neighbour, &entry)| (neighbour, -entry))
    }

    /// These steps on this domain in single precision: series that are applied one after the other,
    /// as in [`Series::of_differences`]; none is empty.
    ///
    /// Sums of a series are much larger than values, and their rounding errors remain in the result
    /// and vary from point to point. So a tenth of the steps is a separate last series: its sums
    /// are small, and it smooths the errors of the first.
    pub(crate) fn single_precision_series(&self, smoothing: Smoothing) -> Vec<Vec<f32>> {
        let last = smoothing.count.div_ceil(10);
        let counts = [smoothing.count - last, last].into_iter();
        let series = counts.map(|count| {
            let steps = Smoothing { count, ..smoothing };
            self.series(steps).of_differences()
        });
        series.filter(|series| !series.is_empty()).collect()
    }

    /// The series of these steps on this domain.
    pub(crate) fn series(&self, smoothing: Smoothing) -> Series {
        smoothing.series(self.bound)
    }

    /// Smooths channels in place. Only the first `sources` points may have nonzero values.
    ///
    /// Clenshaw's recurrence: `b_k = c_k x + 2(2A/bound − I) b_{k+1} − b_{k+2}` from the last term
    /// down, then `c₀x + (2A/bound − I) b₁ − b₂`. Except for `x`, which is mostly zero for local
    /// channels, only two rows per point are accessed: memory is the bottleneck.
    pub(crate) fn smooth<const C: usize>(
        &self,
        Series(series): &Series,
        values: &mut [Values<C>],
        sources: usize,
        Scratch { newest, older }: &mut Scratch<C>,
    ) {
        for rows in [&mut *newest, &mut *older] {
            rows.clear();
            rows.resize(values.len(), [0.0; C]);
        }
        let sources = &mut values[..sources];
        for (term, &coefficient) in series.iter().enumerate().rev() {
            let step = Step {
                coefficient,
                scale: if term == 0 { 0.5 } else { 1.0 },
            };
            dispatch!(self.level, simd => self.step(simd, step, sources, newest, older));
            std::mem::swap(newest, older);
        }
        values.copy_from_slice(newest);
    }

    /// One term of the recurrence, which overwrites the term before the last.
    #[inline(always)]
    fn step<S: Simd, const C: usize>(
        &self,
        simd: S,
        step: Step,
        sources: &[Values<C>],
        newest: &[Values<C>],
        older: &mut [Values<C>],
    ) {
        let blocks = C / 4;
        let coefficient = f64x4::splat(simd, step.coefficient);
        let coefficient_of_rest = f64x2::splat(simd, step.coefficient);
        let (scale, scale_of_rest) = (
            f64x4::splat(simd, step.scale),
            f64x2::splat(simd, step.scale),
        );
        for (point, (older, own)) in older.iter_mut().zip(newest).enumerate() {
            let row = self.neighbours.range(point);
            let entries = self.neighbours.row(point).iter().zip(&self.entries[row]);
            if C == 1 {
                let mut product = own[0] * self.diagonal[point];
                for (&neighbour, &entry) in entries {
                    product += newest[neighbour as usize][0] * entry;
                }
                let source = sources.get(point).map_or(0.0, |source| source[0]);
                older[0] = product * step.scale - older[0] + step.coefficient * source;
                continue;
            }
            let diagonal = f64x4::splat(simd, self.diagonal[point]);
            let diagonal_of_rest = f64x2::splat(simd, self.diagonal[point]);
            let mut product = [diagonal; 3];
            let mut rest = diagonal_of_rest;
            for block in 0..blocks {
                product[block] = f64x4::from_slice(simd, &own[4 * block..4 * block + 4]) * diagonal;
            }
            if C % 4 == 2 {
                rest = f64x2::from_slice(simd, &own[C - 2..]) * diagonal_of_rest;
            }
            for (&neighbour, &entry) in entries {
                let there = &newest[neighbour as usize];
                let entry_of_rest = f64x2::splat(simd, entry);
                let entry = f64x4::splat(simd, entry);
                for block in 0..blocks {
                    let lanes = f64x4::from_slice(simd, &there[4 * block..4 * block + 4]);
                    product[block] = lanes.mul_add(entry, product[block]);
                }
                if C % 4 == 2 {
                    rest = f64x2::from_slice(simd, &there[C - 2..]).mul_add(entry_of_rest, rest);
                }
            }
            for block in 0..blocks {
                let lanes = &mut older[4 * block..4 * block + 4];
                let next = product[block] * scale - f64x4::from_slice(simd, lanes);
                next.store_slice(lanes);
            }
            if C % 4 == 2 {
                let lanes = &mut older[C - 2..];
                let next = rest * scale_of_rest - f64x2::from_slice(simd, lanes);
                next.store_slice(lanes);
            }
            if let Some(source) = sources.get(point) {
                for block in 0..blocks {
                    let lanes = &mut older[4 * block..4 * block + 4];
                    let source = f64x4::from_slice(simd, &source[4 * block..4 * block + 4]);
                    let next = source.mul_add(coefficient, f64x4::from_slice(simd, lanes));
                    next.store_slice(lanes);
                }
                if C % 4 == 2 {
                    let lanes = &mut older[C - 2..];
                    let source = f64x2::from_slice(simd, &source[C - 2..]);
                    let next = source.mul_add(coefficient_of_rest, f64x2::from_slice(simd, lanes));
                    next.store_slice(lanes);
                }
            }
        }
    }
}

/// One term of Clenshaw's recurrence.
#[derive(Clone, Copy)]
struct Step {
    coefficient: f64,
    /// The factor of the product: one, and in the end one half.
    scale: f64,
}

/// Scratch buffers of smoothing, reused between frames.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const C: usize> {
    newest: Vec<Values<C>>,
    older: Vec<Values<C>>,
}

impl<const C: usize> Default for Scratch<C> {
    fn default() -> Scratch<C> {
        Scratch {
            newest: Vec::new(),
            older: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{EdgeWeights, Edges, weld_positions};
    use glam::Vec3;

    /// A strip of triangles with a loose point at its end.
    fn strip(columns: usize) -> Laplacian {
        let places = (0..2 * columns).map(|at| Vec3::new((at / 2) as f32, (at % 2) as f32, 0.0));
        let mut places: Vec<Vec3> = places.collect();
        places.push(Vec3::splat(-9.0));
        let quads = (0..columns as u32 - 1).map(|column| column * 2);
        let triangles = quads.flat_map(|a| [[a, a + 1, a + 2], [a + 1, a + 3, a + 2]]);
        let triangles: Vec<[u32; 3]> = triangles.collect();
        let weld = weld_positions(&places);
        Edges::of(&places, &triangles, &weld, EdgeWeights::Uniform).into_laplacian()
    }

    fn strengths(count: usize) -> Vec<f64> {
        (0..count)
            .map(|point| 0.9 * (point % 7) as f64 / 7.0)
            .collect()
    }

    /// `A x`, written out.
    fn product(laplacian: &Laplacian, strengths: &[f64], x: &[f64]) -> Vec<f64> {
        let at = |point: usize| {
            let (neighbours, shares) = laplacian.row(point);
            let differences = neighbours.iter().zip(shares);
            let differences =
                differences.map(|(&other, share)| share * (x[point] - x[other as usize]));
            strengths[point] * differences.sum::<f64>()
        };
        (0..x.len()).map(at).collect()
    }

    #[test]
    fn the_series_does_what_the_steps_do() {
        let laplacian = strip(20);
        let count = laplacian.point_count();
        let strengths = strengths(count);
        let domain = Domain::whole(&laplacian, &strengths);
        let start: Vec<f64> = (0..count)
            .map(|point| ((point * point) % 11) as f64)
            .collect();
        for steps in [Steps::Explicit, Steps::Implicit] {
            let smoothing = Smoothing { steps, count: 9 };
            let mut values: Vec<Values<1>> = start.iter().map(|&value| [value]).collect();
            domain.smooth(
                &domain.series(smoothing),
                &mut values,
                count,
                &mut Scratch::default(),
            );
            // Step by step in reverse: from the result of implicit steps, or from the start of
            // explicit steps.
            let found: Vec<f64> = values.iter().map(|value| value[0]).collect();
            let (mut from, to, sign) = match steps {
                Steps::Explicit => (start.clone(), &found, -1.0),
                Steps::Implicit => (found.clone(), &start, 1.0),
            };
            for _ in 0..9 {
                let change = product(&laplacian, &strengths, &from);
                for (value, change) in from.iter_mut().zip(change) {
                    *value += sign * change;
                }
            }
            for (from, to) in from.iter().zip(to) {
                assert!((from - to).abs() < 1e-5, "{steps:?}: {from} for {to}");
            }
            let loose = (found[count - 1] - start[count - 1]).abs();
            assert!(loose < 1e-12, "a loose point keeps its value: {loose:e}");
        }
    }

    /// The recurrence of `SmoothingStream::series`.
    fn in_single_precision(domain: &Domain, series: &[Vec<f32>], start: &[f32]) -> Vec<f32> {
        let mut values = start.to_vec();
        let product = |values: &[f32]| -> Vec<f32> {
            let at = |point: usize| {
                let row = domain.row(point);
                row.map(|(other, share)| share as f32 * (values[point] - values[other as usize]))
                    .sum()
            };
            (0..values.len()).map(at).collect()
        };
        for factors in series {
            let differences = product(&values);
            let (mut changes, mut sums) = (vec![0.0; values.len()], vec![0.0; values.len()]);
            for (term, factor) in factors.iter().enumerate() {
                let share = if term + 1 == factors.len() { 0.5 } else { 1.0 };
                let pulls = product(&sums);
                for (point, change) in changes.iter_mut().enumerate() {
                    *change -= share * (factor * differences[point] + pulls[point]);
                    sums[point] += *change;
                }
            }
            for (value, change) in values.iter_mut().zip(changes) {
                *value += change;
            }
        }
        values
    }

    #[test]
    fn single_precision_smooths_as_well() {
        let laplacian = strip(200);
        let count = laplacian.point_count();
        for (steps, steps_count, strength) in [
            (Steps::Implicit, 20, 30.0),
            (Steps::Implicit, 1, 0.3),
            (Steps::Explicit, 25, 1.0),
            (Steps::Explicit, 0, 1.0),
            (Steps::Implicit, 20, 0.0),
        ] {
            let domain = Domain::whole(&laplacian, &vec![strength; count]);
            let smoothing = Smoothing {
                steps,
                count: steps_count,
            };
            // A bend between two straight parts of the surface.
            let start: Vec<f32> = (0..count)
                .map(|point| (point as f32 - 150.0).max(0.0) / 50.0)
                .collect();
            let mut values: Vec<Values<1>> =
                start.iter().map(|&value| [f64::from(value)]).collect();
            domain.smooth(
                &domain.series(smoothing),
                &mut values,
                count,
                &mut Scratch::default(),
            );
            let series = domain.single_precision_series(smoothing);
            assert!(series.iter().all(|series| !series.is_empty()));
            let found = in_single_precision(&domain, &series, &start);
            for (found, [expected]) in found.iter().zip(&values) {
                let off = (f64::from(*found) - expected).abs();
                assert!(off < 2e-6, "{smoothing:?}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn a_series_follows_its_response_however_steep() {
        for (count, bound) in [
            (1, 0.5),
            (20, 6.0),
            (20, 1e4),
            (1, 2e4),
            (100, 4e3),
            (10_000, 40.0),
        ] {
            let smoothing = Smoothing {
                steps: Steps::Implicit,
                count,
            };
            let Series(series) = smoothing.series(bound);
            for at in [0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0] {
                // T_k(cos θ) = cos kθ.
                let angle = f64::acos(2.0 * at - 1.0);
                let terms = series.iter().enumerate();
                let sum: f64 = terms.map(|(term, c)| c * (term as f64 * angle).cos()).sum();
                let expected = smoothing.response(at * bound);
                assert!(
                    (sum - expected).abs() < 1e-8,
                    "{count} steps on {bound} at {at}: {sum} for {expected}"
                );
            }
        }
    }

    #[test]
    fn channels_do_not_mix_and_a_part_that_is_large_enough_is_the_whole() {
        let laplacian = strip(60);
        let count = laplacian.point_count();
        let strengths = vec![0.8; count];
        let smoothing = Smoothing {
            steps: Steps::Implicit,
            count: 6,
        };
        let whole = Domain::whole(&laplacian, &strengths);
        let mut one: Vec<Values<1>> = vec![[0.0]; count];
        one[0] = [1.0];
        whole.smooth(
            &whole.series(smoothing),
            &mut one,
            1,
            &mut Scratch::default(),
        );
        let points: Vec<u32> = (0..70).collect();
        let part = Domain::part(&laplacian, &strengths, &points, |point| {
            (point < 70).then_some(point)
        });
        let mut ten: Vec<Values<10>> = vec![[0.0; 10]; part.len()];
        ten[0] = std::array::from_fn(|channel| channel as f64);
        part.smooth(
            &part.series(smoothing),
            &mut ten,
            1,
            &mut Scratch::default(),
        );
        for (ten, one) in ten.iter().zip(&one) {
            for (channel, value) in ten.iter().enumerate() {
                assert!((value - channel as f64 * one[0]).abs() < 1e-8);
            }
        }
    }
}
