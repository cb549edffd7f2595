//! Triangles spread over the nodes of the grid, for the pairs of one joint at a time.

use super::grid::WeightGrid;
use super::joint_support::{CornerWeights, weight_distances};
use super::pieces::{Cutter, Piece, TriangleCorners};
use super::surface::WeightedSurface;
use fearless_simd::{Simd, SimdBase, SimdFloat, dispatch, f64x8};
use glam::DVec3;
use std::ops::Range;

/// The sums over all triangles of a pair of joints.
#[derive(Clone, Debug)]
pub(super) struct PairSpread<const C: usize> {
    /// The higher joint.
    pub(super) partner: u16,
    /// The moments that each node got.
    pub(super) nodes: Vec<[f64; C]>,
    /// The least and the largest sum of both weights of any vertex that has both joints; none at
    /// first.
    pub(super) sums: Range<f64>,
    /// The number of triangles.
    pub(super) triangles: usize,
    /// The area of all that was ever taken away.
    pub(super) removed: f64,
}

impl<const C: usize> PairSpread<C> {
    /// True once so much was taken away that its rounding may show in what is left.
    pub(super) fn is_worn(&self) -> bool {
        if self.removed == 0.0 {
            return false;
        }
        let measure: f64 = self.nodes.iter().map(|moments| moments[0]).sum();
        // Also if nothing is left but rounding.
        self.removed > measure * MOST_REMOVED
    }
}

/// A pair is spread anew once the area taken off it is this many times what it holds.
const MOST_REMOVED: f64 = 1e6;

/// Adds triangles to the pairs in which one joint is the lower one, or takes them away.
pub(super) struct Spreader<'s, const C: usize, F> {
    surface: &'s WeightedSurface<'s>,
    grid: &'s WeightGrid,
    joint: usize,
    /// The partners that are included.
    wanted: F,
    spreads: Vec<PairSpread<C>>,
    /// For each joint: unknown, unwanted, or its index in `spreads` and two.
    slot_of: Vec<u32>,
    /// The partners in the triangle at hand.
    present: Vec<Batch>,
    cutter: Cutter,
}

/// Up to eight partners of a triangle, side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    count: usize,
    slots: [usize; LANES],
    /// Their weights at each corner.
    weights: [[f64; LANES]; 3],
}

const LANES: usize = 8;

const UNKNOWN: u32 = 0;
const UNWANTED: u32 = 1;

/// Addition or removal of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Added,
    Removed,
}

impl<'s, const C: usize, F: Fn(u16) -> bool> Spreader<'s, C, F> {
    /// Goes on from what was spread before.
    pub(super) fn new(
        surface: &'s WeightedSurface<'s>,
        grid: &'s WeightGrid,
        joint: usize,
        spreads: Vec<PairSpread<C>>,
        wanted: F,
    ) -> Spreader<'s, C, F> {
        let mut slot_of = vec![UNKNOWN; surface.joint_count];
        for (slot, spread) in spreads.iter().enumerate() {
            slot_of[usize::from(spread.partner)] = slot as u32 + 2;
        }
        Spreader {
            surface,
            grid,
            joint,
            wanted,
            spreads,
            slot_of,
            present: Vec::new(),
            cutter: Cutter::new(surface.options.epsilon),
        }
    }

    /// The pairs, in the order in which they were met.
    pub(super) fn finish(self) -> Vec<PairSpread<C>> {
        self.spreads
    }

    /// Adds some triangles, each with its row of weights, or takes them away.
    pub(super) fn spread<'r>(
        &mut self,
        rows: impl Iterator<Item = (u32, &'r [CornerWeights])>,
        change: Change,
    ) {
        dispatch!(self.grid.level(), simd => self.spread_each(simd, rows, change));
    }

    #[inline(always)]
    fn spread_each<'r, S: Simd>(
        &mut self,
        simd: S,
        rows: impl Iterator<Item = (u32, &'r [CornerWeights])>,
        change: Change,
    ) {
        for (triangle, row) in rows {
            let mut own = DVec3::ZERO;
            self.present.clear();
            for held in row {
                if usize::from(held.joint) > self.joint {
                    if let Some(slot) = self.slot(held.joint) {
                        self.meet(slot, held.weights());
                    }
                } else if usize::from(held.joint) == self.joint {
                    own = held.weights();
                }
            }
            if self.present.is_empty() {
                continue;
            }
            let mut place = TriangleCorners::of(&self.surface.mesh, triangle as usize);
            self.count(change, place.area);
            if change == Change::Removed {
                place.area = -place.area;
            }
            let distances = weight_distances(row);
            if self.cutter.must_cut(distances) {
                self.cutter.start(distances);
                while let Some(piece) = self.cutter.next_piece() {
                    self.spread_piece(simd, own, &place, &piece);
                }
            } else {
                self.spread_piece(simd, own, &place, &Piece::WHOLE);
            }
        }
    }

    /// Notes a partner of the triangle at hand.
    #[inline(always)]
    fn meet(&mut self, slot: usize, weights: DVec3) {
        if self.present.last().is_none_or(|batch| batch.count == LANES) {
            self.present.push(Batch::default());
        }
        if let Some(batch) = self.present.last_mut() {
            batch.slots[batch.count] = slot;
            for (lanes, weight) in batch.weights.iter_mut().zip(weights.to_array()) {
                lanes[batch.count] = weight;
            }
            batch.count += 1;
        }
    }

    /// Keeps account of the triangle at hand.
    #[inline(always)]
    fn count(&mut self, change: Change, area: f64) {
        for batch in &self.present {
            for &slot in &batch.slots[..batch.count] {
                let spread = &mut self.spreads[slot];
                match change {
                    Change::Added => spread.triangles += 1,
                    Change::Removed => {
                        spread.triangles = spread.triangles.saturating_sub(1);
                        spread.removed += area;
                    }
                }
            }
        }
    }

    /// The index of a partner in `spreads`, if it is wanted.
    #[inline(always)]
    fn slot(&mut self, joint: u16) -> Option<usize> {
        if self.slot_of[usize::from(joint)] == UNKNOWN {
            self.slot_of[usize::from(joint)] = UNWANTED;
            if (self.wanted)(joint) {
                self.spreads.push(PairSpread {
                    partner: joint,
                    nodes: vec![[0.0; C]; self.grid.node_count()],
                    sums: f64::INFINITY..0.0,
                    triangles: 0,
                    removed: 0.0,
                });
                self.slot_of[usize::from(joint)] = self.spreads.len() as u32 + 1;
            }
        }
        (self.slot_of[usize::from(joint)] as usize).checked_sub(2)
    }

    /// Spreads a piece of the triangle at hand over the nodes of every pair that it has.
    #[inline(always)]
    fn spread_piece<S: Simd>(
        &mut self,
        simd: S,
        own: DVec3,
        place: &TriangleCorners,
        piece: &Piece,
    ) {
        let middle = piece.middle();
        let low = own.dot(middle);
        let measure = low * place.area * piece.share;
        let moments: [f64; C] = place.moments(piece);
        let column = self.grid.between(low);
        // What four nodes in a row get, all partners alike, up to a factor.
        let mut pattern = [[0.0; C]; 4];
        for (node, share) in pattern.iter_mut().zip(column.shares) {
            for (part, moment) in node.iter_mut().zip(moments) {
                *part = share * moment;
            }
        }
        let pattern = pattern.as_flattened();
        let [x, y, z] = middle.to_array().map(|share| f64x8::splat(simd, share));
        for batch in &self.present {
            let [a, b, c] = &batch.weights;
            let high = f64x8::from_slice(simd, a) * x
                + f64x8::from_slice(simd, b) * y
                + f64x8::from_slice(simd, c) * z;
            let (cells, shares) = self.grid.rows_between(simd, high + low);
            let factor = high * measure;
            let factors = shares.map(|share| share * factor);
            for lane in 0..batch.count {
                let spread = &mut self.spreads[batch.slots[lane]];
                let nodes = self.grid.nodes(cells[lane] as i32 as usize, column.cell);
                for (first, factor) in nodes.into_iter().zip(&factors) {
                    let Some(nodes) = spread.nodes[first..].first_chunk_mut::<4>() else {
                        continue;
                    };
                    let factor = f64x8::splat(simd, factor[lane]);
                    let nodes = nodes.as_flattened_mut();
                    for (sums, pattern) in nodes.chunks_exact_mut(8).zip(pattern.chunks_exact(8)) {
                        let sum = f64x8::from_slice(simd, sums);
                        let pattern = f64x8::from_slice(simd, pattern);
                        pattern.mul_add(factor, sum).store_slice(sums);
                    }
                }
            }
        }
    }
}

/// Widens the range of sums of both weights of some pairs with one lower joint, by some of the
/// vertices that the joint moves.
pub(super) fn widen_sums<const C: usize>(
    surface: &WeightedSurface<'_>,
    joint: usize,
    pairs: &mut [PairSpread<C>],
    vertices: &[u32],
) {
    let mut slot_of = vec![None; surface.joint_count];
    for (slot, pair) in pairs.iter().enumerate() {
        slot_of[usize::from(pair.partner)] = Some(slot);
    }
    for &vertex in vertices {
        let (joints, values) = surface.weights.row(vertex as usize);
        let Some(own) = joints.iter().position(|&other| usize::from(other) == joint) else {
            continue;
        };
        let own = f64::from(values[own]);
        for (&other, &value) in joints.iter().zip(values) {
            if let Some(slot) = slot_of[usize::from(other)] {
                let sum = own + f64::from(value);
                let sums = &mut pairs[slot].sums;
                *sums = sums.start.min(sum)..sums.end.max(sum);
            }
        }
    }
}

impl WeightedSurface<'_> {
    /// All triangles of a joint, spread over its wanted pairs as the lower one.
    pub(super) fn spreads<const C: usize>(
        &self,
        grid: &WeightGrid,
        joint: usize,
        wanted: impl Fn(u16) -> bool,
    ) -> Vec<PairSpread<C>> {
        let triangles = self.support.triangles[joint].iter();
        let rows = triangles.map(|&triangle| (triangle, self.rows.of_triangle(triangle as usize)));
        let mut spreader = Spreader::new(self, grid, joint, Vec::new(), wanted);
        spreader.spread(rows, Change::Added);
        let mut spreads = spreader.finish();
        widen_sums(self, joint, &mut spreads, &self.support.vertices[joint]);
        spreads
    }
}
