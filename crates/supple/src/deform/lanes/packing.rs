//! Groups of vertices, and their weights in the order of the loop.

use super::{LANES, Lane};
use crate::surface::Rows;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, f32x8};
use std::collections::HashMap;
use std::ops::Range;

/// Vertices per block. Vertices may have any order within a block, so that its output stays in the
/// L1 cache; threads process whole blocks.
pub(in crate::deform) const BLOCK: usize = 1024;

/// Vertices are sorted only if that reduces the work to this share, since sorted vertices are read
/// and written out of order.
const WORTH_SORTING: f64 = 0.85;

/// Eight vertices share a set of joints if it is at most this many times larger than the joints of
/// the vertex with the most influences; else each uses its own.
const ALIKE: usize = 3;

/// Eight vertices always share a set of joints, however large.
const ALWAYS_ALIKE: usize = usize::MAX;

/// All vertices in groups of [`LANES`], with their weights.
#[derive(Clone, Debug)]
pub(in crate::deform) struct Packing {
    vertex_count: usize,
    weights: Weights,
    /// For each vertex, its influences by rising joint, as indices into its row. Parallel to the
    /// rows of `weights`.
    rising: Vec<u16>,
    blocks: Vec<Block>,
    /// The vertices of every group, relative to the first of the block; the last vertex of a block
    /// is repeated to fill its group.
    locals: Vec<[u16; LANES]>,
    /// The shared set of joints of a group; none if its vertices are processed one by one.
    set_of_group: Vec<Option<u32>>,
    /// The start of the slots of every group, and the end of the last.
    slot_starts: Vec<u32>,
    slots: Slots,
    /// The joints of every set, in rising order.
    sets: Rows<u16>,
}

/// A weight of each vertex of a group, joint by joint.
#[derive(Clone, Debug)]
enum Slots {
    Full(Vec<Lane>),
    /// In units of [`Weights::SHORT_STEP`].
    Short(Vec<[u16; LANES]>),
}

/// The weights of a group's vertices, joint by joint.
#[derive(Clone, Copy, Debug)]
pub(in crate::deform) enum GroupSlots<'a> {
    Full(&'a [Lane]),
    Short(&'a [[u16; LANES]]),
}

impl GroupSlots<'_> {
    /// The weights of one joint.
    #[inline(always)]
    pub(in crate::deform) fn weights<S: Simd>(&self, simd: S, slot: usize) -> f32x8<S> {
        match self {
            GroupSlots::Full(slots) => f32x8::from_slice(simd, &slots[slot]),
            GroupSlots::Short(slots) => lengthened(simd, &slots[slot]),
        }
    }
}

/// Weights of 16 bits as numbers.
#[inline(always)]
pub(super) fn lengthened<S: Simd>(simd: S, slot: &[u16; LANES]) -> f32x8<S> {
    let mut steps = [0.0; LANES];
    for (long, &short) in steps.iter_mut().zip(slot) {
        *long = f32::from(short);
    }
    f32x8::from_slice(simd, &steps) * Weights::SHORT_STEP
}

/// A range of vertices and their groups.
#[derive(Clone, Copy, Debug)]
struct Block {
    first_vertex: usize,
    first_group: usize,
}

/// Eight vertices and their joints.
#[derive(Clone, Copy, Debug)]
pub(in crate::deform) struct Group<'a> {
    packing: &'a Packing,
    /// The index among all groups, by which a method finds its packed data.
    pub(in crate::deform) index: usize,
    first_vertex: usize,
    /// Its vertices, relative to the first of the block.
    pub(in crate::deform) locals: &'a [u16; LANES],
}

impl Packing {
    /// For methods that blend data of joints, many vertices at once.
    pub(in crate::deform) fn of(weights: Weights) -> Packing {
        Packing::with_sets(weights, ALIKE)
    }

    /// For methods whose arithmetic in lanes exists only for shared sets of joints: every group has
    /// one. Beside unlike vertices the work is that of up to eight sets, less than one by one.
    pub(in crate::deform) fn with_common_sets(weights: Weights) -> Packing {
        Packing::with_sets(weights, ALWAYS_ALIKE)
    }

    /// For methods with numbers of their own per joint of a vertex, for which weights only name the
    /// joints: they are not in lanes.
    pub(in crate::deform) fn of_joints(weights: Weights) -> Packing {
        Packing {
            slots: Slots::Full(Vec::new()),
            ..Packing::with_common_sets(weights)
        }
    }

    fn with_sets(weights: Weights, alike: usize) -> Packing {
        let mut packing = Packing {
            vertex_count: weights.vertex_count(),
            rising: rising_places(&weights),
            blocks: Vec::new(),
            locals: Vec::new(),
            set_of_group: Vec::new(),
            slot_starts: vec![0],
            slots: Slots::Full(Vec::new()),
            sets: Rows::default(),
            weights,
        };
        let mut slots = Vec::new();
        let mut sets = HashMap::new();
        for first_vertex in (0..packing.weights.vertex_count()).step_by(BLOCK) {
            packing.blocks.push(Block {
                first_vertex,
                first_group: packing.locals.len(),
            });
            for locals in packing.ordered_block(first_vertex) {
                packing.push_group(first_vertex, locals, alike, &mut sets, &mut slots);
            }
        }
        packing.slots = match in_short_steps(&slots) {
            Some(short) => Slots::Short(short),
            None => Slots::Full(slots),
        };
        packing
    }

    /// For methods that process vertices one by one.
    pub(in crate::deform) fn in_order(vertex_count: usize, weights: Weights) -> Packing {
        let mut packing = Packing {
            vertex_count,
            weights,
            rising: Vec::new(),
            blocks: Vec::new(),
            locals: Vec::new(),
            set_of_group: Vec::new(),
            slot_starts: Vec::new(),
            slots: Slots::Full(Vec::new()),
            sets: Rows::default(),
        };
        for first_vertex in (0..vertex_count).step_by(BLOCK) {
            packing.blocks.push(Block {
                first_vertex,
                first_group: packing.locals.len(),
            });
            let count = (vertex_count - first_vertex).min(BLOCK);
            let order: Vec<u16> = (0..count as u16).collect();
            packing.locals.extend(in_groups(&order));
        }
        packing.set_of_group = vec![None; packing.locals.len()];
        packing.slot_starts = vec![0; packing.locals.len() + 1];
        packing
    }

    /// The groups of a block: in the order of vertices, or sorted by joints if that makes groups
    /// more uniform.
    fn ordered_block(&self, first_vertex: usize) -> Vec<[u16; LANES]> {
        let count = (self.weights.vertex_count() - first_vertex).min(BLOCK);
        let as_given: Vec<u16> = (0..count as u16).collect();
        let mut sorted = as_given.clone();
        sorted.sort_by_cached_key(|&local| {
            let vertex = first_vertex + usize::from(local);
            self.rising_joints(vertex).collect::<Vec<u16>>()
        });
        let [as_given, sorted] = [as_given, sorted].map(|order| in_groups(&order));
        let work = |groups: &[[u16; LANES]]| {
            let joints = groups
                .iter()
                .map(|group| self.joints_of(first_vertex, group).len());
            joints.sum::<usize>() as f64
        };
        if work(&sorted) < WORTH_SORTING * work(&as_given) {
            sorted
        } else {
            as_given
        }
    }

    fn push_group(
        &mut self,
        first_vertex: usize,
        locals: [u16; LANES],
        alike: usize,
        sets: &mut HashMap<Vec<u16>, u32>,
        slots: &mut Vec<Lane>,
    ) {
        let joints = self.joints_of(first_vertex, &locals);
        let vertices = locals.map(|local| first_vertex + usize::from(local));
        let richest = vertices.map(|vertex| self.weights.row(vertex).0.len());
        let richest = richest.into_iter().max().unwrap_or(0);
        let alike = joints.len() <= alike.saturating_mul(richest);
        if alike {
            let first_slot = slots.len();
            slots.resize(first_slot + joints.len(), [0.0; LANES]);
            for (lane, &vertex) in vertices.iter().enumerate() {
                let (own, weights) = self.weights.row(vertex);
                for (joint, &weight) in own.iter().zip(weights) {
                    if let Ok(slot) = joints.binary_search(joint) {
                        slots[first_slot + slot][lane] = weight;
                    }
                }
            }
        }
        let set = alike.then(|| {
            *sets.entry(joints).or_insert_with_key(|joints| {
                self.sets.push_row(joints.iter().copied());
                self.sets.len() as u32 - 1
            })
        });
        self.locals.push(locals);
        self.set_of_group.push(set);
        self.slot_starts.push(slots.len() as u32);
    }

    /// The joints of the vertices of a group, in rising order.
    fn joints_of(&self, first_vertex: usize, locals: &[u16; LANES]) -> Vec<u16> {
        let rows = locals.iter().map(|&local| {
            let vertex = first_vertex + usize::from(local);
            self.weights.row(vertex).0
        });
        let mut joints: Vec<u16> = rows.flatten().copied().collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    fn rising_joints(&self, vertex: usize) -> impl Iterator<Item = u16> {
        let joints = self.weights.row(vertex).0;
        let rising = self.rising(vertex).iter();
        rising.map(|&place| joints[usize::from(place)])
    }

    /// The indices of a vertex's influences in its row, by rising joint.
    #[inline]
    pub(super) fn rising(&self, vertex: usize) -> &[u16] {
        &self.rising[self.weights.range(vertex)]
    }

    /// The weights that were packed.
    #[inline]
    pub(in crate::deform) fn weights(&self) -> &Weights {
        &self.weights
    }

    pub(in crate::deform) fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    pub(in crate::deform) fn group_count(&self) -> usize {
        self.locals.len()
    }

    pub(in crate::deform) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The first vertex of a block, or the number of vertices after the last block.
    pub(in crate::deform) fn first_vertex(&self, block: usize) -> usize {
        let block = self.blocks.get(block);
        block.map_or(self.vertex_count, |block| block.first_vertex)
    }

    fn first_group(&self, block: usize) -> usize {
        let block = self.blocks.get(block);
        block.map_or(self.group_count(), |block| block.first_group)
    }

    /// The range of a block's groups among all groups.
    #[inline]
    pub(super) fn group_range(&self, block: usize) -> Range<usize> {
        self.first_group(block)..self.first_group(block + 1)
    }

    /// The groups of a block.
    #[inline]
    pub(in crate::deform) fn groups(&self, block: usize) -> impl Iterator<Item = Group<'_>> {
        let first_vertex = self.first_vertex(block);
        self.group_range(block).map(move |index| Group {
            packing: self,
            index,
            first_vertex,
            locals: &self.locals[index],
        })
    }

    /// All groups.
    pub(in crate::deform) fn all_groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.block_count()).flat_map(|block| self.groups(block))
    }

    pub(super) fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// The range of a set's joints among the joints of all sets.
    #[inline]
    pub(super) fn set_range(&self, set: usize) -> Range<usize> {
        self.sets.range(set)
    }

    /// The joints of all sets.
    pub(super) fn set_joints(&self) -> &[u16] {
        self.sets.values()
    }

    /// The bytes per frame that the loop reads for weights and joints of all vertices.
    pub(in crate::deform) fn bytes(&self) -> usize {
        let slots = match &self.slots {
            Slots::Full(slots) => size_of_val(&slots[..]),
            Slots::Short(slots) => size_of_val(&slots[..]),
        };
        let alone = self.all_groups().filter(|group| group.set().is_none());
        let rows = alone.flat_map(|group| (0..LANES).map(move |lane| group.vertex(lane)));
        let one_by_one: usize = match self.weights.vertex_count() {
            0 => 0,
            _ => rows.map(|vertex| self.weights.row(vertex).0.len()).sum(),
        };
        slots
            + one_by_one * (size_of::<f32>() + 2 * size_of::<u16>())
            + size_of_val(&self.locals[..])
            + size_of_val(&self.set_of_group[..])
            + size_of_val(&self.slot_starts[..])
            + size_of_val(self.sets.values())
    }
}

impl<'a> Group<'a> {
    /// The vertex in a lane.
    #[inline]
    pub(in crate::deform) fn vertex(&self, lane: usize) -> usize {
        self.first_vertex + usize::from(self.locals[lane])
    }

    /// The shared set of joints, if any.
    #[inline]
    pub(super) fn set(&self) -> Option<usize> {
        self.packing.set_of_group[self.index].map(|set| set as usize)
    }

    /// The range of its joints among those of all sets.
    #[inline]
    pub(super) fn set_range(&self, set: usize) -> Range<usize> {
        self.packing.set_range(set)
    }

    /// The joints of its set.
    #[inline]
    pub(in crate::deform) fn joints(&self) -> Option<&'a [u16]> {
        let set = self.set()?;
        Some(self.packing.sets.row(set))
    }

    /// The range of its slots among those of all groups.
    #[inline]
    pub(in crate::deform) fn slot_range(&self) -> Range<usize> {
        let starts = &self.packing.slot_starts;
        starts[self.index] as usize..starts[self.index + 1] as usize
    }

    #[inline(always)]
    pub(in crate::deform) fn slots(&self) -> GroupSlots<'a> {
        match &self.packing.slots {
            Slots::Full(slots) => GroupSlots::Full(&slots[self.slot_range()]),
            Slots::Short(slots) => GroupSlots::Short(&slots[self.slot_range()]),
        }
    }

    /// Its vertices, lane by lane.
    #[inline]
    pub(in crate::deform) fn vertices(&self) -> impl Iterator<Item = usize> {
        (0..LANES).map(|lane| self.vertex(lane))
    }

    /// The influences of one of its vertices, heaviest first, and their indices by rising joint.
    #[inline]
    pub(super) fn row(&self, vertex: usize) -> (&'a [u16], &'a [f32], &'a [u16]) {
        let (joints, weights) = self.packing.weights.row(vertex);
        (joints, weights, self.packing.rising(vertex))
    }

    /// The vertices of which something is true, as bits.
    pub(in crate::deform) fn bits(&self, is_true: impl Fn(usize) -> bool) -> u8 {
        let lanes = self.vertices().enumerate();
        lanes.fold(0, |bits, (lane, vertex)| {
            bits | u8::from(is_true(vertex)) << lane
        })
    }

    /// Numbers of vertices, arranged in the lanes of this group.
    #[inline]
    pub(in crate::deform) fn lanes<const N: usize>(
        &self,
        numbers: impl Fn(usize) -> [f32; N],
    ) -> [Lane; N] {
        let mut lanes = [[0.0; LANES]; N];
        for lane in 0..LANES {
            for (all, number) in lanes.iter_mut().zip(numbers(self.vertex(lane))) {
                all[lane] = number;
            }
        }
        lanes
    }
}

/// For each vertex its influences by rising joint, as indices into its row.
fn rising_places(weights: &Weights) -> Vec<u16> {
    let mut places = Vec::new();
    for vertex in 0..weights.vertex_count() {
        let joints = weights.row(vertex).0;
        let first = places.len();
        places.extend(0..joints.len() as u16);
        places[first..].sort_unstable_by_key(|&place| joints[usize::from(place)]);
    }
    places
}

/// Groups of eight; the last group is filled with its last vertex.
fn in_groups(order: &[u16]) -> Vec<[u16; LANES]> {
    let groups = order.chunks(LANES);
    let filled = groups.map(|group| {
        std::array::from_fn(|lane| group.get(lane).copied().unwrap_or(group[group.len() - 1]))
    });
    filled.collect()
}

/// The same weights in 16 bits, if that is lossless.
fn in_short_steps(slots: &[Lane]) -> Option<Vec<[u16; LANES]>> {
    let steps = |weight: f32| {
        let steps = weight / Weights::SHORT_STEP;
        (steps.fract() == 0.0).then_some(steps as u16)
    };
    let short = slots.iter().map(|slot| {
        let mut short = [0; LANES];
        for (short, &weight) in short.iter_mut().zip(slot) {
            *short = steps(weight)?;
        }
        Some(short)
    });
    short.collect()
}
