//! Sums over the joints of eight vertices at a time.

use super::frames::loaded;
use super::packing::{Group, GroupSlots, Packing, lengthened};
use super::{LANES, Lane};
use crate::deform::antipodality::{Addend, Antipodality, Signs, TIE, turns_around};
use crate::polar::widened;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8, f64x8};
use glam::Quat;

/// The numbers of a joint in a pose that a method blends.
pub(in crate::deform) type Record<const N: usize> = [f32; N];

/// The records of a pose, and the choice of records for each set of joints.
///
/// `q` and `−q` are the same rotation, so if records hold a quaternion, each joint has two of them,
/// the second negated. The rule of the papers (⊕) adds influences in order of falling weight, each
/// with the sign nearer to the sum so far. If the joints of a set can be given signs such that no
/// two of them have a negative dot product, then for any weights and any order the rule arrives at
/// these signs, possibly all negated, which changes nothing: so signs are chosen once per set. If
/// no such signs exist, vertices are processed one by one with the rule.
#[derive(Clone, Debug)]
pub(in crate::deform) struct ChosenRecords<const N: usize> {
    records: Vec<Record<N>>,
    /// The number of joints.
    joints: usize,
    /// The index of the record of each joint of each set.
    chosen: Vec<u32>,
    /// The sets without consistent signs.
    torn: Vec<bool>,
    /// True if vertices that are processed one by one choose signs.
    by_vertex: bool,
}

impl<const N: usize> Default for ChosenRecords<N> {
    fn default() -> ChosenRecords<N> {
        ChosenRecords {
            records: Vec::new(),
            joints: 0,
            chosen: Vec::new(),
            torn: Vec::new(),
            by_vertex: false,
        }
    }
}

impl<const N: usize> ChosenRecords<N> {
    /// Records without a quaternion, or with signs that are already chosen.
    pub(in crate::deform) fn refill(
        &mut self,
        packing: &Packing,
        records: impl Iterator<Item = Record<N>>,
    ) {
        self.records.clear();
        self.records.extend(records);
        self.joints = self.records.len();
        self.by_vertex = false;
        self.chosen.clear();
        let joints = packing.set_joints().iter();
        self.chosen.extend(joints.map(|&joint| u32::from(joint)));
        self.torn.clear();
        self.torn.resize(packing.set_count(), false);
        if !all_finite(self.records.as_flattened()) {
            self.separate_non_finite(packing);
        }
    }

    /// A weight of zero does not remove numbers that are not finite: the vertices of a set with
    /// such a joint are processed one by one, so that the others are unaffected.
    #[cold]
    fn separate_non_finite(&mut self, packing: &Packing) {
        let lost = |joint: &u16| {
            let record = &self.records[usize::from(*joint)];
            record.iter().any(|number| !number.is_finite())
        };
        for set in 0..packing.set_count() {
            self.torn[set] = packing.set_joints()[packing.set_range(set)]
                .iter()
                .any(lost);
        }
    }

    /// Records that begin with a quaternion; the first `signed` numbers change sign with it.
    pub(in crate::deform) fn refill_with_signs(
        &mut self,
        packing: &Packing,
        signs: &Signs,
        signed: usize,
        records: impl Iterator<Item = Record<N>>,
    ) {
        self.refill(packing, records);
        if signs.antipodality() == Antipodality::PerJoint {
            return;
        }
        self.by_vertex = true;
        for joint in 0..self.joints {
            let mut turned = self.records[joint];
            for number in &mut turned[..signed] {
                *number = -*number;
            }
            self.records.push(turned);
        }
        for set in 0..packing.set_count() {
            let range = packing.set_range(set);
            self.torn[set] |= !self.choose(&packing.set_joints()[range.clone()], range.start);
        }
    }

    /// Chooses signs for a set whose joints start at `first`; false if no choice is consistent.
    fn choose(&mut self, joints: &[u16], first: usize) -> bool {
        for (place, &joint) in joints.iter().enumerate() {
            let own = quaternion(&self.records[usize::from(joint)]);
            let others = &self.chosen[first..first + place];
            // The same sign relative to all others, and never nearly perpendicular.
            let (mut nearest, mut farthest) = (f32::INFINITY, f32::NEG_INFINITY);
            for &other in others {
                let dot = own.dot(quaternion(&self.records[other as usize]));
                nearest = nearest.min(dot);
                farthest = farthest.max(dot);
            }
            if nearest < CLOSE_TO_TIE && farthest > -CLOSE_TO_TIE {
                return false;
            }
            if farthest < 0.0 && place > 0 {
                self.chosen[first + place] += self.joints as u32;
            }
        }
        true
    }

    #[inline]
    fn quaternion(&self, joint: u16) -> Quat {
        quaternion(&self.records[usize::from(joint)])
    }

    /// The influences of a vertex that the rule negates, as bits; influences are sorted by falling
    /// weight. None if there are more influences than bits.
    #[inline]
    fn turned(&self, joints: &[u16], weights: &[f32]) -> Option<u64> {
        if !self.by_vertex {
            return Some(0);
        }
        let mut signs = RunningSigns::START;
        let mut bits = 0;
        for (place, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
            let turned = signs.turns(self.quaternion(joint), weight);
            bits |= u64::from(turned).checked_shl(place as u32)?;
        }
        Some(bits)
    }
}

/// Compares the largest exponent, to check several numbers at once.
fn all_finite(numbers: &[f32]) -> bool {
    let bits = numbers
        .iter()
        .map(|number| number.to_bits() & (u32::MAX >> 1));
    bits.fold(0, u32::max) < f32::INFINITY.to_bits()
}

/// Below this dot product, a pair of quaternions may be in a tie at some vertex, whose order of
/// influences then decides; above it, no sum of the set is in a tie.
pub(super) const CLOSE_TO_TIE: f32 = 2.0 * TIE;

/// The ⊕ rule, influence by influence.
struct RunningSigns {
    sum: Quat,
}

impl RunningSigns {
    const START: RunningSigns = RunningSigns {
        sum: <Quat as Addend>::ZERO,
    };

    /// True if the next influence is negated.
    #[inline]
    fn turns(&mut self, own: Quat, weight: f32) -> bool {
        let turned = turns_around(self.sum, own);
        self.sum += own * if turned { -weight } else { weight };
        turned
    }
}

/// The quaternion at the start of a record.
#[inline]
fn quaternion<const N: usize>(record: &Record<N>) -> Quat {
    Quat::from_xyzw(record[0], record[1], record[2], record[3])
}

/// `Σ w_j record_j` of all lanes.
#[inline(always)]
pub(in crate::deform) fn blend<S: Simd, const N: usize>(
    simd: S,
    group: &Group<'_>,
    records: &ChosenRecords<N>,
) -> [f32x8<S>; N] {
    let Some(set) = group.set().filter(|&set| !records.torn[set]) else {
        // A separate function, so that the sums below stay in registers.
        let lanes = simd.vectorize(|| blend_one_by_one(simd, group, records));
        return loaded(simd, &lanes);
    };
    let chosen = &records.chosen[group.set_range(set)];
    let mut sums = [f32x8::splat(simd, 0.0); N];
    let records = &records.records[..];
    match group.slots() {
        GroupSlots::Full(slots) => {
            for (&record, slot) in chosen.iter().zip(slots) {
                add(
                    simd,
                    &mut sums,
                    &records[record as usize],
                    f32x8::from_slice(simd, slot),
                );
            }
        }
        GroupSlots::Short(slots) => {
            for (&record, slot) in chosen.iter().zip(slots) {
                add(
                    simd,
                    &mut sums,
                    &records[record as usize],
                    lengthened(simd, slot),
                );
            }
        }
    }
    sums
}

/// `Σ w_j record_j` of all lanes in double precision, for groups with a shared set of joints.
#[inline(always)]
pub(in crate::deform) fn weighted_sums<S: Simd, const N: usize>(
    simd: S,
    group: &Group<'_>,
    records: &[[f64; N]],
) -> [f64x8<S>; N] {
    let mut sums = [f64x8::splat(simd, 0.0); N];
    let slots = group.slots();
    for (slot, &joint) in group.joints().unwrap_or_default().iter().enumerate() {
        let weights = widened(simd, slots.weights(simd, slot));
        for (sum, number) in sums.iter_mut().zip(&records[usize::from(joint)]) {
            *sum = weights.mul_add(f64x8::splat(simd, *number), *sum);
        }
    }
    sums
}

/// Adds a record to all lanes. Not a closure: a closure that is not inlined would be compiled
/// without the instruction set.
#[inline(always)]
fn add<S: Simd, const N: usize>(
    simd: S,
    sums: &mut [f32x8<S>; N],
    record: &Record<N>,
    weight: f32x8<S>,
) {
    for number in 0..N {
        sums[number] = weight.mul_add(f32x8::splat(simd, record[number]), sums[number]);
    }
}

/// Sums each lane over the joints of its own vertex.
#[inline(always)]
fn blend_one_by_one<S: Simd, const N: usize>(
    simd: S,
    group: &Group<'_>,
    records: &ChosenRecords<N>,
) -> [Lane; N] {
    let mut lanes = [[0.0; LANES]; N];
    for (lane, vertex) in group.vertices().enumerate() {
        let sums = blend_row(simd, group, vertex, records);
        for (lanes, sum) in lanes.iter_mut().zip(sums.as_flattened()) {
            lanes[lane] = *sum;
        }
    }
    lanes
}

/// The longest record, in blocks of four numbers.
const MOST_QUARTERS: usize = 4;

/// Sums one vertex, four numbers of a record at a time.
#[inline(always)]
fn blend_row<S: Simd, const N: usize>(
    simd: S,
    group: &Group<'_>,
    vertex: usize,
    records: &ChosenRecords<N>,
) -> [[f32; 4]; MOST_QUARTERS] {
    const { assert!(N.is_multiple_of(4) && N <= 4 * MOST_QUARTERS) };
    let (joints, weights, rising) = group.row(vertex);
    let mut sums = [f32x4::splat(simd, 0.0); MOST_QUARTERS];
    let mut add = |place: usize, turned: bool| {
        let record = usize::from(joints[place]) + if turned { records.joints } else { 0 };
        let record = records.records[record].as_chunks::<4>().0;
        let weight = f32x4::splat(simd, weights[place]);
        for (sum, numbers) in sums.iter_mut().zip(record) {
            *sum = weight.mul_add(f32x4::from_slice(simd, numbers), *sum);
        }
    };
    match records.turned(joints, weights) {
        Some(turned) => {
            for &place in rising {
                add(usize::from(place), (turned >> (place % 64)) & 1 != 0);
            }
        }
        None => {
            let mut signs = RunningSigns::START;
            for (place, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
                add(place, signs.turns(records.quaternion(joint), weight));
            }
        }
    }
    let mut numbers = [[0.0; 4]; MOST_QUARTERS];
    for (numbers, sum) in numbers.iter_mut().zip(sums) {
        sum.store_slice(numbers);
    }
    numbers
}
