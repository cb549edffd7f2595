//! The vertices whose joints are about half a turn apart.
//!
//! `q` and `−q` are the same rotation, and the rule of the papers (⊕) adds each influence with the
//! sign nearer to the sum so far. If joints have signs such that no two joints of a vertex have a
//! negative dot product, the rule arrives at these signs for that vertex, or at all of them
//! negated, which changes nothing. So signs are chosen once per pose, joint by joint; the vertices
//! of which two joints have another sign relative to each other, or are near a tie, are left to the
//! rule. Which ones these are depends on the pose and on the vertex alone, not on the vertices
//! beside it.

use super::blend::CLOSE_TO_TIE;
use super::packing::Group;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use std::collections::HashSet;

/// The most influences of a vertex in lanes, for methods whose work or memory grows with the pairs
/// of influences. Vertices with more are processed one by one.
pub(in crate::deform) const MOST_INFLUENCES: usize = 16;

/// The pairs of items (joints, or pieces of motions) that some vertex blends, in rising order.
#[derive(Clone, Debug, Default)]
pub(in crate::deform) struct NeighbourPairs {
    pairs: Vec<[u32; 2]>,
}

impl NeighbourPairs {
    /// The pairs of joints that share a vertex in lanes.
    pub(in crate::deform) fn of_joints(weights: &Weights) -> NeighbourPairs {
        let rows = (0..weights.vertex_count()).map(|vertex| weights.row(vertex).0);
        let rows = rows.filter(|joints| joints.len() <= MOST_INFLUENCES);
        NeighbourPairs::of_sets(rows.map(|joints| joints.iter().map(|&joint| u32::from(joint))))
    }

    /// The pairs of items that are in one set.
    pub(in crate::deform) fn of_sets(
        sets: impl Iterator<Item = impl Iterator<Item = u32>>,
    ) -> NeighbourPairs {
        let (mut found, mut seen) = (HashSet::new(), HashSet::new());
        let mut items: Vec<u32> = Vec::new();
        for set in sets {
            items.clear();
            items.extend(set);
            items.sort_unstable();
            // Mostly the same few sets.
            if seen.contains(&items) {
                continue;
            }
            seen.insert(items.clone());
            for (place, &second) in items.iter().enumerate() {
                found.extend(items[..place].iter().map(|&first| [first, second]));
            }
        }
        let mut pairs: Vec<[u32; 2]> = found.into_iter().collect();
        pairs.sort_unstable();
        NeighbourPairs { pairs }
    }
}

/// The pairs of a pose that are about half a turn apart, or more.
#[derive(Clone, Debug, Default)]
pub(in crate::deform) struct FarPairs {
    /// In rising order; mostly none.
    pairs: Vec<[u32; 2]>,
    /// True for the items of these pairs.
    among: Vec<bool>,
}

impl FarPairs {
    /// Finds the pairs by the dot products of their quaternions, in a pose of `items` items.
    pub(in crate::deform) fn refill(
        &mut self,
        neighbours: &NeighbourPairs,
        items: usize,
        dot: impl Fn(usize, usize) -> f64,
    ) {
        self.pairs.clear();
        // So that no later pose allocates.
        self.pairs.reserve(neighbours.pairs.len());
        self.among.clear();
        self.among.resize(items, false);
        for &[first, second] in &neighbours.pairs {
            let dot = dot(first as usize, second as usize);
            if dot.is_nan() || dot < f64::from(CLOSE_TO_TIE) {
                self.pairs.push([first, second]);
                self.among[first as usize] = true;
                self.among[second as usize] = true;
            }
        }
    }

    /// The vertices of a group that blend both joints of such a pair, as bits.
    #[inline(always)]
    pub(in crate::deform) fn vertices<S: Simd>(&self, simd: S, group: &Group<'_>) -> u64 {
        if self.pairs.is_empty() {
            return 0;
        }
        let slots = group.slots();
        let joints = group.joints().unwrap_or_default();
        let joint = |slot: usize| u32::from(joints[slot]);
        self.lanes(joints.len(), joint, |slot| {
            let weights = slots.weights(simd, slot);
            weights.simd_gt(f32x8::splat(simd, 0.0)).to_bitmask()
        })
    }

    /// The lanes that hold both items of such a pair, as bits; `has` are the lanes that hold the
    /// item in a slot. Items are in rising order.
    #[inline]
    pub(in crate::deform) fn lanes(
        &self,
        slots: usize,
        item: impl Fn(usize) -> u32,
        has: impl Fn(usize) -> u64,
    ) -> u64 {
        let mut lanes = 0;
        if self.pairs.is_empty() {
            return lanes;
        }
        for second in (0..slots).filter(|&slot| self.among[item(slot) as usize]) {
            for first in (0..second).filter(|&slot| self.among[item(slot) as usize]) {
                let pair = [item(first), item(second)];
                if self.pairs.binary_search(&pair).is_ok() {
                    lanes |= has(first) & has(second);
                }
            }
        }
        lanes
    }
}
