//! Bounded biharmonic weights: the smoothest weights within `0…1` that sum to one and are one on
//! their own bones.
//!
//! `lecture-skinning.txt` and `arap-point-handles.txt`, §4 (Jacobson et al. 2011): minimises `½ Σ_j
//! w_jᵀ L V⁻¹ L w_j` with `w_j ≥ 0`, `Σ_j w_j = 1` and `w` given on the cells of bones. `L` is the
//! Laplacian over the cells and `V` their volumes.
//!
//! The minimum over the weights of one cell, with all others fixed, is exact: since every joint has
//! the same quadratic form, it is the projection of one Newton step onto the simplex. So cells are
//! relaxed one after another, bounds and sums hold at all times, and no system is factorised.
//! Relaxation converges slowly at the broad shape, which comes from coarser levels that are solved
//! first: blocks of eight cells, as far as these are connected.

use super::cells::{BUMP, Cells, Links, Seed, spread_around};
use super::{BindError, JointShares};
use crate::disjoint_sets::DisjointSets;
use crate::option_error::OptionError;
use fearless_simd::{Level as Instructions, Simd, SimdBase, SimdFloat, dispatch, f32x8};
use glam::DVec3;
use std::collections::VecDeque;

/// Options of bounded biharmonic weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct BoundedBiharmonicOptions {
    /// The approximate number of voxels of the body; `None` derives it from the length of the
    /// bones.
    pub voxels: Option<usize>,
    /// The tolerance of the energy, relative to its minimum.
    pub tolerance: f64,
}

impl Default for BoundedBiharmonicOptions {
    fn default() -> BoundedBiharmonicOptions {
        BoundedBiharmonicOptions {
            voxels: None,
            tolerance: 1e-3,
        }
    }
}

impl BoundedBiharmonicOptions {
    pub(super) fn check(&self) -> Result<(), OptionError> {
        super::check_voxels(self.voxels)?;
        super::check_positive("the tolerance", self.tolerance)
    }
}

/// Convergence of the solver.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Convergence {
    /// Sweeps over the finest level.
    pub sweeps: usize,
    /// The final energy.
    pub energy: f64,
    /// The estimated gain of further sweeps, relative to the energy: extrapolated from the gains of
    /// the last sweeps.
    pub left: f64,
}

/// The number of joints that are processed at a time.
const LANES: usize = 8;

/// The largest number of cells of the coarsest level.
const COARSEST: usize = 150;

/// Below this number of cells, the tolerance is stricter: sweeps take almost no time.
const MANY: usize = 20_000;

/// The largest number of sweeps on a level.
const MOST_SWEEPS: usize = 3000;

/// Over-relaxation: sweeps step beyond the minimum of each cell by this factor, which damps smooth
/// errors faster.
const OVER_RELAXATION: f32 = 1.4;

/// The number of sweeps, an even number, between two evaluations of the energy. The Laplacian of
/// the weights is updated change by change, and then recomputed before rounding errors add up.
const SWEEPS_PER_CHECK: usize = 12;

/// The largest number of joints times cells: eight bytes each, slightly more over all levels.
const MOST_WEIGHTS: usize = 200_000_000;

/// The same limit if no number of voxels was given. A character of a thousand joints still gets the
/// usual number of cells.
const MOST_WEIGHTS_BY_DEFAULT: usize = 60_000_000;

/// The largest number of cells that is chosen for a number of joints.
pub(super) fn most_cells(joints: usize) -> usize {
    MOST_WEIGHTS_BY_DEFAULT / joints.max(1)
}

/// Refuses requests that would take too much memory.
pub(super) fn check_size(cells: &Cells, joints: usize) -> Result<(), BindError> {
    let cells = cells.places.len();
    match joints.saturating_mul(cells) <= MOST_WEIGHTS {
        true => Ok(()),
        false => Err(BindError::TooLarge {
            joints,
            cells,
            most: MOST_WEIGHTS,
        }),
    }
}

/// The weights of every cell, by hold; none in cells that are not connected to a bone.
pub(super) fn cell_rows(
    cells: &Cells,
    seeds: &[Vec<Seed>],
    options: &BoundedBiharmonicOptions,
    progress: &dyn Fn(f64),
) -> (JointShares, Convergence) {
    let mut levels = vec![Level::finest(cells, seeds)];
    let mut parents: Vec<Vec<u32>> = Vec::new();
    while let Some((coarser, parent)) = levels.last().and_then(Level::coarser) {
        levels.push(coarser);
        parents.push(parent);
    }
    let all: usize = levels.iter().map(|level| level.places.len()).sum();
    let mut done = 0;
    let mut field: Option<Field> = None;
    let mut convergence = Convergence::default();
    for (depth, level) in levels.iter().enumerate().rev() {
        let mut start = match &field {
            None => Field::from_seeds(level, seeds.len()),
            Some(coarse) => coarse.refined(&levels[depth + 1], level, &parents[depth]),
        };
        // Sweeps over few cells are cheap, and an error on a coarse level is not corrected later.
        let share = level.places.len() as f64 / cells.places.len().max(MANY) as f64;
        convergence = start.settle(level, options.tolerance * share);
        field = Some(start);
        done += level.places.len();
        progress(done as f64 / all as f64);
    }
    let rows = field.map_or_else(Vec::new, |field| field.rows(cells.places.len()));
    (rows, convergence)
}

/// The problem on one level of cells.
struct Level {
    places: Vec<DVec3>,
    links: Links,
    /// The conductance of each link, in the order of the links: area divided by distance, in widths
    /// of the finest cells.
    conductances: Vec<f32>,
    /// The diagonal of the Laplacian: the sum of the conductances of a cell's links.
    diagonal: Vec<f32>,
    inverse_volumes: Vec<f32>,
    /// The diagonal of `L V⁻¹ L`: the contribution of a cell's own weight to the gradient there.
    stiffness: Vec<f32>,
    /// Given weights on the cells of bones, by hold, and none in cells without a connection to a
    /// bone; `None` for unknown weights.
    given: Vec<Option<Vec<(u16, f32)>>>,
    /// The width of a cell.
    size: f64,
}

impl Level {
    fn finest(cells: &Cells, seeds: &[Vec<Seed>]) -> Level {
        let count = cells.places.len();
        let mut given: Vec<Option<Vec<(u16, f32)>>> = vec![None; count];
        let mut reached = vec![false; count];
        for (hold, seeds) in seeds.iter().enumerate() {
            for seed in seeds {
                let row = given[seed.cell as usize].get_or_insert_default();
                row.push((hold as u16, seed.amount as f32));
                reached[cells.component[seed.cell as usize] as usize] = true;
            }
        }
        for (cell, given) in given.iter_mut().enumerate() {
            match given {
                Some(row) => {
                    let sum: f32 = row.iter().map(|(_, amount)| amount).sum();
                    row.iter_mut().for_each(|(_, amount)| *amount /= sum);
                }
                None if !reached[cells.component[cell] as usize] => *given = Some(Vec::new()),
                None => {}
            }
        }
        let links = cells.links.clone();
        let conductances = vec![1.0; links.len()];
        let volumes = vec![1.0; count];
        Level::new(
            cells.places.clone(),
            links,
            conductances,
            volumes,
            given,
            cells.size,
        )
    }

    fn new(
        places: Vec<DVec3>,
        links: Links,
        conductances: Vec<f32>,
        volumes: Vec<f32>,
        given: Vec<Option<Vec<(u16, f32)>>>,
        size: f64,
    ) -> Level {
        let cells = || 0..places.len() as u32;
        let diagonal: Vec<f32> = cells()
            .map(|cell| conductances[links.range(cell)].iter().sum())
            .collect();
        let inverse_volumes: Vec<f32> = volumes.iter().map(|volume| 1.0 / volume).collect();
        let stiffness = cells()
            .map(|cell| {
                let own = diagonal[cell as usize].powi(2) * inverse_volumes[cell as usize];
                let around = links.at(cell).iter().zip(&conductances[links.range(cell)]);
                let around = around.map(|(&other, conductance)| {
                    conductance.powi(2) * inverse_volumes[other as usize]
                });
                own + around.sum::<f32>()
            })
            .collect();
        Level {
            places,
            links,
            conductances,
            diagonal,
            inverse_volumes,
            stiffness,
            given,
            size,
        }
    }

    /// The next coarser level, and the block of every cell. Blocks are connected cells within at
    /// least twice the width, or more if cells are too far apart for that.
    fn coarser(&self) -> Option<(Level, Vec<u32>)> {
        let count = self.places.len();
        let mut size = 2.0 * self.size;
        while count > COARSEST && size < 1.0 {
            let (coarser, parent) = self.in_blocks(size);
            if coarser.places.len() * 2 <= count {
                return Some((coarser, parent));
            }
            size *= 2.0;
        }
        None
    }

    /// Merges the connected cells within blocks of a given width.
    fn in_blocks(&self, size: f64) -> (Level, Vec<u32>) {
        let count = self.places.len();
        let block = |cell: u32| (self.places[cell as usize] / size).floor().as_ivec3();
        let mut sets = DisjointSets::new(count);
        for cell in 0..count as u32 {
            for &other in self.links.at(cell).iter().filter(|&&other| other > cell) {
                if block(cell) == block(other) {
                    sets.join(cell as usize, other as usize);
                }
            }
        }
        let mut parent = vec![0u32; count];
        let mut sums: Vec<(DVec3, f32)> = Vec::new();
        let mut given: Vec<Option<Vec<(u16, f32)>>> = Vec::new();
        let mut givers: Vec<f32> = Vec::new();
        for cell in 0..count {
            let first = sets.find(cell);
            if first == cell {
                parent[cell] = sums.len() as u32;
                sums.push((DVec3::ZERO, 0.0));
                given.push(None);
                givers.push(0.0);
            }
            parent[cell] = parent[first];
            let coarse = parent[cell] as usize;
            let volume = 1.0 / self.inverse_volumes[cell];
            sums[coarse].0 += self.places[cell] * f64::from(volume);
            sums[coarse].1 += volume;
            if let Some(row) = &self.given[cell] {
                let mean = given[coarse].get_or_insert_default();
                givers[coarse] += f32::from(!row.is_empty());
                for &(hold, weight) in row {
                    match mean.iter_mut().find(|(known, _)| *known == hold) {
                        Some((_, sum)) => *sum += weight,
                        None => mean.push((hold, weight)),
                    }
                }
            }
        }
        for (row, givers) in given.iter_mut().zip(givers) {
            let row = row.iter_mut().flatten();
            row.for_each(|(_, weight)| *weight /= givers);
        }
        let places: Vec<DVec3> = sums
            .iter()
            .map(|&(sum, volume)| sum / f64::from(volume))
            .collect();
        // Conductance is area divided by distance: areas add up, distances grow.
        let mut pairs: Vec<(u32, u32, f32)> = Vec::new();
        for cell in 0..count as u32 {
            let conductances = &self.conductances[self.links.range(cell)];
            for (&other, &conductance) in self.links.at(cell).iter().zip(conductances) {
                let ends = [cell, other];
                let [a, b] = ends.map(|end| parent[end as usize]);
                if a != b {
                    let [near, far] = ends.map(|end| self.places[end as usize]);
                    let distance = places[a as usize].distance(places[b as usize]);
                    let nearer = near.distance(far) / distance.max(0.25 * size);
                    pairs.push((a, b, nearer as f32 * conductance));
                }
            }
        }
        pairs.sort_by_key(|&(a, b, _)| (a, b));
        pairs.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let links = Links::of(sums.len(), pairs.iter().map(|&(a, b, _)| (a, b)).collect());
        let conductances = pairs
            .iter()
            .map(|&(_, _, conductance)| conductance)
            .collect();
        let volumes = sums.iter().map(|&(_, volume)| volume).collect();
        (
            Level::new(places, links, conductances, volumes, given, size),
            parent,
        )
    }
}

/// The weights of all holds at the cells of a level, and their Laplacian `L w`, row by row.
struct Field {
    holds: usize,
    /// Numbers per row: the holds, and zeros up to a multiple of the lanes.
    stride: usize,
    weights: Vec<f32>,
    laplacian: Vec<f32>,
    /// The groups of lanes of a cell whose weights or Laplacian may be nonzero, one bit each.
    live: Vec<u64>,
    /// The number of blocks of lanes per bit.
    group: usize,
}

impl Field {
    fn zero(cells: usize, holds: usize) -> Field {
        let blocks = holds.div_ceil(LANES).max(1);
        let group = blocks.div_ceil(64);
        let stride = blocks.next_multiple_of(group) * LANES;
        Field {
            holds,
            stride,
            weights: vec![0.0; cells * stride],
            laplacian: vec![0.0; cells * stride],
            live: vec![0; cells],
            group,
        }
    }

    /// Every cell takes the weights of the nearest cell of a bone, by number of links.
    fn from_seeds(level: &Level, holds: usize) -> Field {
        let mut field = Field::zero(level.places.len(), holds);
        let mut known: Vec<bool> = level.given.iter().map(Option::is_some).collect();
        let seeds = level.given.iter().enumerate();
        let seeds = seeds.filter(|(_, row)| row.as_ref().is_some_and(|row| !row.is_empty()));
        let mut front: VecDeque<u32> = seeds.map(|(cell, _)| cell as u32).collect();
        field.take_given(level);
        while let Some(cell) = front.pop_front() {
            for &other in level.links.at(cell) {
                if !std::mem::replace(&mut known[other as usize], true) {
                    let row = cell as usize * field.stride..(cell as usize + 1) * field.stride;
                    field
                        .weights
                        .copy_within(row, other as usize * field.stride);
                    front.push_back(other);
                }
            }
        }
        field
    }

    /// The same weights on a finer level, interpolated smoothly between the cells of this level.
    fn refined(&self, coarse: &Level, fine: &Level, parent: &[u32]) -> Field {
        let mut field = Field::zero(fine.places.len(), self.holds);
        let mut around = Vec::new();
        for (cell, &place) in fine.places.iter().enumerate() {
            let radius = BUMP * coarse.size;
            spread_around(
                &coarse.places,
                &coarse.links,
                place,
                parent[cell],
                radius,
                &mut around,
            );
            let row = &mut field.weights[cell * self.stride..(cell + 1) * self.stride];
            for &(other, share) in &around {
                let other = other as usize * self.stride;
                let other = &self.weights[other..other + self.stride];
                for (weight, other) in row.iter_mut().zip(other) {
                    *weight += share as f32 * other;
                }
            }
        }
        field.take_given(fine);
        field
    }

    /// Sets the given weights.
    fn take_given(&mut self, level: &Level) {
        for (row, given) in self.weights.chunks_exact_mut(self.stride).zip(&level.given) {
            if let Some(given) = given {
                row.fill(0.0);
                for &(hold, weight) in given {
                    row[usize::from(hold)] = weight;
                }
            }
        }
    }

    /// Relaxes all cells until the gain of a sweep is small.
    fn settle(&mut self, level: &Level, tolerance: f64) -> Convergence {
        let instructions = Instructions::new();
        let cells: Vec<u32> = (0..level.places.len() as u32)
            .filter(|&cell| {
                level.given[cell as usize].is_none() && level.stiffness[cell as usize] > 0.0
            })
            .collect();
        self.refresh(level);
        let mut convergence = Convergence {
            energy: self.energy(level),
            ..Convergence::default()
        };
        let mut gain_before = f64::INFINITY;
        while convergence.sweeps < MOST_SWEEPS {
            for _ in 0..SWEEPS_PER_CHECK / 2 {
                // Forwards and backwards, to avoid a directional bias.
                for backwards in [false, true] {
                    dispatch!(instructions, simd => self.sweep(simd, level, &cells, backwards));
                }
            }
            convergence.sweeps += SWEEPS_PER_CHECK;
            self.refresh(level);
            let energy = self.energy(level);
            let gain = (convergence.energy - energy).max(0.0);
            convergence.energy = energy;
            // Assumes that gains keep falling at the current rate, but not too fast: slow
            // components show late.
            let slowing = (gain / gain_before).clamp(0.6, 0.98);
            let left = gain * slowing / (1.0 - slowing);
            convergence.left = left / energy.max(f64::MIN_POSITIVE);
            gain_before = gain;
            if convergence.left <= tolerance {
                break;
            }
        }
        convergence
    }

    /// Recomputes the Laplacian.
    fn refresh(&mut self, level: &Level) {
        for cell in 0..level.places.len() as u32 {
            let at = cell as usize * self.stride;
            let own = &self.weights[at..at + self.stride];
            let row = &mut self.laplacian[at..at + self.stride];
            for (value, weight) in row.iter_mut().zip(own) {
                *value = level.diagonal[cell as usize] * weight;
            }
            let around = level
                .links
                .at(cell)
                .iter()
                .zip(&level.conductances[level.links.range(cell)]);
            for (&other, conductance) in around {
                let other = other as usize * self.stride;
                for (value, weight) in row
                    .iter_mut()
                    .zip(&self.weights[other..other + self.stride])
                {
                    *value -= conductance * weight;
                }
            }
            let width = self.group * LANES;
            let groups = row
                .chunks_exact(width)
                .zip(own.chunks_exact(width))
                .enumerate();
            let live = groups.filter(|(_, (laplacian, weights))| {
                laplacian.iter().chain(*weights).any(|value| *value != 0.0)
            });
            self.live[cell as usize] = live.fold(0, |bits, (group, _)| bits | 1 << group);
        }
    }

    /// `½ Σ_j w_jᵀ L V⁻¹ L w_j`
    fn energy(&self, level: &Level) -> f64 {
        let rows = self
            .laplacian
            .chunks_exact(self.stride)
            .zip(&level.inverse_volumes);
        let squares = rows.map(|(row, inverse_volume)| {
            f64::from(*inverse_volume)
                * row
                    .iter()
                    .map(|value| f64::from(*value).powi(2))
                    .sum::<f64>()
        });
        0.5 * squares.sum::<f64>()
    }

    /// Minimises the energy over each cell in turn, with its neighbours fixed and over-relaxation.
    #[inline(always)]
    fn sweep<S: Simd>(&mut self, simd: S, level: &Level, cells: &[u32], backwards: bool) {
        let mut gradient = vec![0.0f32; self.stride];
        let mut positive: Vec<(u32, f32)> = Vec::new();
        let width = self.group * LANES;
        for at in 0..cells.len() {
            let cell = cells[if backwards { cells.len() - 1 - at } else { at }];
            let index = cell as usize;
            let others = level.links.at(cell);
            let conductances = &level.conductances[level.links.range(cell)];
            let live = others.iter().fold(self.live[index], |bits, &other| {
                bits | self.live[other as usize]
            });
            let own = level.diagonal[index] * level.inverse_volumes[index];
            let step = OVER_RELAXATION / level.stiffness[index];
            positive.clear();
            // The unconstrained minimum of each joint.
            for block in blocks_of(live, width) {
                let here = index * self.stride + block;
                let mut sum = f32x8::from_slice(simd, &self.laplacian[here..here + LANES])
                    * f32x8::splat(simd, own);
                for (&other, &conductance) in others.iter().zip(conductances) {
                    let there = other as usize * self.stride + block;
                    let factor = -conductance * level.inverse_volumes[other as usize];
                    let there = f32x8::from_slice(simd, &self.laplacian[there..there + LANES]);
                    sum = there.mul_add(f32x8::splat(simd, factor), sum);
                }
                let weights = f32x8::from_slice(simd, &self.weights[here..here + LANES]);
                let wished = sum.mul_add(f32x8::splat(simd, -step), weights);
                wished.store_slice(&mut gradient[block..block + LANES]);
                for (lane, &wish) in gradient[block..block + LANES].iter().enumerate() {
                    if wish > 0.0 {
                        positive.push(((block + lane) as u32, wish));
                    }
                }
            }
            let level_off = threshold(&mut positive);
            for block in blocks_of(live, width) {
                let here = index * self.stride + block;
                let wished = f32x8::from_slice(simd, &gradient[block..block + LANES]);
                let zero = f32x8::splat(simd, 0.0);
                let new = (wished - f32x8::splat(simd, level_off)).max(zero);
                let weights = f32x8::from_slice(simd, &self.weights[here..here + LANES]);
                let change = new - weights;
                let mut lanes = [0.0; LANES];
                change.store_slice(&mut lanes);
                if lanes == [0.0; LANES] {
                    continue;
                }
                new.store_slice(&mut self.weights[here..here + LANES]);
                let mut add = |cell: usize, factor: f32| {
                    let at = cell * self.stride + block;
                    let values = f32x8::from_slice(simd, &self.laplacian[at..at + LANES]);
                    let values = change.mul_add(f32x8::splat(simd, factor), values);
                    values.store_slice(&mut self.laplacian[at..at + LANES]);
                    self.live[cell] |= 1 << (block / width);
                };
                add(index, level.diagonal[index]);
                for (&other, &conductance) in others.iter().zip(conductances) {
                    add(other as usize, -conductance);
                }
            }
        }
    }

    /// The weights by cell, without negligible ones.
    fn rows(&self, cells: usize) -> JointShares {
        let row = |cell: usize| {
            let row = &self.weights[cell * self.stride..cell * self.stride + self.holds];
            let shares = row
                .iter()
                .enumerate()
                .map(|(hold, &weight)| (hold as u16, f64::from(weight)));
            shares
                .filter(|(_, weight)| *weight > super::LEAST)
                .collect()
        };
        (0..cells).map(row).collect()
    }
}

/// The first lane of every block in the groups whose bits are set.
#[inline(always)]
fn blocks_of(mut live: u64, width: usize) -> impl Iterator<Item = usize> {
    let groups = std::iter::from_fn(move || {
        let group = (live != 0).then(|| live.trailing_zeros() as usize)?;
        live &= live - 1;
        Some(group)
    });
    groups.flat_map(move |group| (group * width..(group + 1) * width).step_by(LANES))
}

/// The number to subtract from all numbers so that the positive ones sum to one: the projection
/// onto the simplex. Their sum must be at least one.
#[inline(always)]
fn threshold(positive: &mut Vec<(u32, f32)>) -> f32 {
    let mut level = 0.0;
    loop {
        let sum: f32 = positive.iter().map(|(_, value)| value).sum();
        level = if positive.is_empty() {
            level
        } else {
            (sum - 1.0) / positive.len() as f32
        };
        let before = positive.len();
        positive.retain(|(_, value)| *value > level);
        if positive.len() == before || positive.is_empty() {
            return level;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{Filled, bones, boxes, points, sheet};
    use super::*;
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::SupportedConeT::{NonnegativeConeT, ZeroConeT};
    use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus};

    /// The same problem in double precision, as a quadratic program for a generic solver.
    struct Plain {
        level: Level,
        holds: usize,
    }

    impl Plain {
        fn of(filled: &Filled) -> Plain {
            Plain {
                level: Level::finest(&filled.cells, &filled.seeds),
                holds: filled.seeds.len(),
            }
        }

        fn laplacian(&self, weights: &[f64]) -> Vec<f64> {
            let mut result = vec![0.0; weights.len()];
            for cell in 0..self.level.places.len() {
                for &other in self.level.links.at(cell as u32) {
                    for hold in 0..self.holds {
                        result[cell * self.holds + hold] += weights[cell * self.holds + hold]
                            - weights[other as usize * self.holds + hold];
                    }
                }
            }
            result
        }

        fn energy(&self, weights: &[f64]) -> f64 {
            let laplacian = self.laplacian(weights);
            0.5 * laplacian.iter().map(|value| value * value).sum::<f64>()
        }

        fn free(&self) -> impl Iterator<Item = usize> {
            let cells = 0..self.level.places.len();
            cells.filter(|&cell| self.level.given[cell].is_none())
        }

        /// An upper bound of the possible gain: the energy is convex, so it is nowhere below its
        /// tangent.
        fn most_left(&self, weights: &[f64]) -> f64 {
            let gradient = self.laplacian(&self.laplacian(weights));
            let at_cell = |cell: usize| {
                let row = cell * self.holds..(cell + 1) * self.holds;
                let slopes = gradient[row.clone()].iter();
                let least = slopes.clone().copied().fold(f64::INFINITY, f64::min);
                let now: f64 = slopes.zip(&weights[row]).map(|(a, b)| a * b).sum();
                now - least
            };
            self.free().map(at_cell).sum()
        }

        /// The weights of the cells that bones pass through; zero elsewhere.
        fn given(&self) -> Vec<f64> {
            let mut weights = vec![0.0; self.level.places.len() * self.holds];
            for (cell, given) in self.level.given.iter().enumerate() {
                for &(hold, weight) in given.iter().flatten() {
                    weights[cell * self.holds + usize::from(hold)] = f64::from(weight);
                }
            }
            weights
        }

        /// The weights of minimal energy, by an interior-point method: minimises `½ Σ y²` over `w`
        /// and `y = L·w`, where the `w` of every cell are nonnegative and sum to one.
        fn solved(&self) -> Vec<f64> {
            let count = self.level.places.len() * self.holds;
            let given = self.given();
            let mut entries: Vec<(usize, usize, f64)> = Vec::new();
            let mut right = Vec::new();
            for (cell, fixed) in self.level.given.iter().enumerate() {
                let row = cell * self.holds..(cell + 1) * self.holds;
                for at in row.clone() {
                    let others = self.level.links.at(cell as u32);
                    entries.push((right.len(), at, others.len() as f64));
                    for &other in others {
                        let other_at = other as usize * self.holds + at % self.holds;
                        entries.push((right.len(), other_at, -1.0));
                    }
                    entries.push((right.len(), count + at, -1.0));
                    right.push(0.0);
                    if fixed.is_some() {
                        entries.push((right.len(), at, 1.0));
                        right.push(given[at]);
                    }
                }
                if fixed.is_none() {
                    entries.extend(row.map(|at| (right.len(), at, 1.0)));
                    right.push(1.0);
                }
            }
            let equations = right.len();
            for cell in self.free() {
                for at in cell * self.holds..(cell + 1) * self.holds {
                    entries.push((right.len(), at, -1.0));
                    right.push(0.0);
                }
            }
            let bounds = right.len() - equations;
            let matrix = |rows: usize, entries: &[(usize, usize, f64)]| {
                CscMatrix::new_from_triplets(
                    rows,
                    2 * count,
                    entries.iter().map(|entry| entry.0).collect(),
                    entries.iter().map(|entry| entry.1).collect(),
                    entries.iter().map(|entry| entry.2).collect(),
                )
            };
            let squares: Vec<_> = (count..2 * count).map(|at| (at, at, 1.0)).collect();
            let settings = DefaultSettings {
                verbose: false,
                ..DefaultSettings::default()
            };
            let mut solver = DefaultSolver::new(
                &matrix(2 * count, &squares),
                &vec![0.0; 2 * count],
                &matrix(right.len(), &entries),
                &right,
                &[ZeroConeT(equations), NonnegativeConeT(bounds)],
                settings,
            )
            .unwrap();
            solver.solve();
            assert_eq!(solver.solution.status, SolverStatus::Solved);
            solver.solution.x[..count].to_vec()
        }
    }

    /// The nearest row of nonnegative numbers that sum to one.
    fn project(row: &mut [f64]) {
        let mut sorted = row.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut off) = (0.0, 0.0);
        for (index, value) in sorted.iter().enumerate() {
            sum += value;
            let level = (sum - 1.0) / (index + 1) as f64;
            if *value > level {
                off = level;
            }
        }
        row.iter_mut()
            .for_each(|value| *value = (*value - off).max(0.0));
    }

    #[track_caller]
    fn comes_near_the_least(filled: &Filled, weights_within: f64) {
        let plain = Plain::of(filled);
        let exact = plain.solved();
        let least = plain.energy(&exact);
        assert!(
            plain.most_left(&exact) < 1e-5 * least,
            "it is not the least"
        );
        let options = BoundedBiharmonicOptions::default();
        let (rows, convergence) = cell_rows(&filled.cells, &filled.seeds, &options, &|_| {});
        let mut found = vec![0.0; exact.len()];
        for (cell, row) in rows.iter().enumerate() {
            let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "cell {cell} sums to {sum}");
            for &(hold, weight) in row {
                assert!((0.0..1.0 + 1e-5).contains(&weight));
                found[cell * plain.holds + usize::from(hold)] = weight;
            }
        }
        let energy = plain.energy(&found);
        let differences = found.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        let most = differences.fold(0.0, f64::max);
        println!(
            "{} cells: {:.6} of the least energy, weights off by {most:.5} at most",
            rows.len(),
            energy / least
        );
        assert!(energy < 1.01 * least, "{energy} where {least} would do");
        assert!(energy > (1.0 - 1e-5) * least, "{energy} below {least}");
        assert!((convergence.energy / energy - 1.0).abs() < 1e-3);
        assert!(most < weights_within, "weights are off by {most}");
    }

    #[test]
    fn a_bar_with_bones_has_the_weights_of_the_exact_programme() {
        let bar = boxes(&[([0.0; 3], [6.0, 1.0, 1.0])]);
        let ends = [0.4, 2.0, 4.0, 5.6].map(|x| [x, 0.5, 0.5]);
        let handles = bones(&[(ends[0], ends[1]), (ends[1], ends[2]), (ends[2], ends[3])]);
        comes_near_the_least(&Filled::new(&bar, &handles, 500), 0.0005);
    }

    #[test]
    fn an_angle_with_points_has_the_weights_of_the_exact_programme() {
        let angle = boxes(&[([0.0; 3], [4.0, 1.0, 1.0]), ([0.0; 3], [1.0, 4.0, 1.0])]);
        let places = [
            [0.5, 0.5, 0.5],
            [3.5, 0.5, 0.5],
            [0.5, 3.5, 0.5],
            [2.0, 0.3, 0.6],
        ];
        comes_near_the_least(&Filled::new(&angle, &points(&places), 400), 0.01);
    }

    /// A sheet held by three points only: large motions change the energy little, so an energy
    /// difference of 0.2 % allows weights to differ by 0.08.
    fn sheet_on_points() -> Filled {
        let filled = Filled::new(
            &sheet(24, 16),
            &points(&[[3.0, 3.0, 0.0], [20.0, 4.0, 0.0], [12.0, 13.0, 0.0]]),
            200,
        );
        assert_eq!(filled.cells.voxels, 0, "a sheet has no inside");
        filled
    }

    #[test]
    fn a_sheet_has_the_weights_of_the_exact_programme() {
        comes_near_the_least(&sheet_on_points(), 0.1);
    }

    #[test]
    fn too_many_joints_over_too_many_cells_are_refused_with_their_numbers() {
        let bar = boxes(&[([0.0; 3], [6.0, 1.0, 1.0])]);
        let filled = Filled::new(&bar, &points(&[[0.5; 3]]), 500);
        let cells = filled.cells.places.len();
        let most = MOST_WEIGHTS / cells;
        assert_eq!(check_size(&filled.cells, most), Ok(()));
        let error = check_size(&filled.cells, most + 1).unwrap_err();
        assert!(error.to_string().ends_with("at most 200000000"), "{error}");
        assert!(most_cells(1000) >= 60_000 && most_cells(10_000) <= 6_000);
    }

    #[test]
    fn the_projection_onto_the_simplex_is_the_nearest_row() {
        for row in [
            vec![0.4, 0.9, -0.2],
            vec![1.0],
            vec![2.0, 2.0, 0.1],
            vec![0.2, 0.3, 0.6],
        ] {
            let mut expected = row.clone();
            project(&mut expected);
            let positive = row.iter().enumerate().filter(|(_, value)| **value > 0.0);
            let mut positive: Vec<(u32, f32)> = positive
                .map(|(at, &value)| (at as u32, value as f32))
                .collect();
            let off = f64::from(threshold(&mut positive));
            for (value, expected) in row.iter().zip(expected) {
                assert!(((value - off).max(0.0) - expected).abs() < 1e-6);
            }
        }
    }
}
