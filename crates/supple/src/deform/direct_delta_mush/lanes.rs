//! Direct delta mush, eight vertices at a time.
//!
//! The variants that blend rotations are in `blended.rs`. For those that gather matrices, `Σ M_j
//! Ω_ij` takes fifty multiply-adds per joint of a vertex, and the nearest rotation is a
//! chain of dependent operations. So vertices are processed side by side in lanes
//! (`deform/lanes/`): a group iterates over the joints of all of its vertices, with one matrix for
//! all lanes. A lane that does not have a joint holds zeros for it.

use super::{PosedJoints, Variant};
use crate::deform::lanes::{
    ALL, FrameLanes, Group, GroupSlots, LANES, Lane, MOST_INFLUENCES, NeighbourPairs, Packing,
    loaded, stored,
};
use crate::deform::rigid_motion::MotionLanes;
use crate::polar::{self, RotationLanes, narrowed, widened};
use crate::surface::StoredUnits;
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8, f32x16, f64x8};
use glam::Mat3;
use std::marker::PhantomData;
use std::sync::Arc;

/// Patches of all vertices, in the order of the packing.
#[derive(Clone, Debug)]
pub(in crate::deform) struct LanePatches<V> {
    pub(super) packing: Arc<Packing>,
    /// The numbers of each slot of the packing, as many as the variant has per joint.
    pub(super) parts: Vec<Lane>,
    /// The middle of the patch of each vertex, and its size: levers and moments are relative to
    /// this size, so that the gathered matrix has a norm of about one.
    pub(super) places: Vec<[Lane; 4]>,
    /// The vectors from the middle to the vertex, if the variant has them.
    pub(super) deltas: Vec<[Lane; 3]>,
    /// `P / det P` with the covariance `P` of each patch, if rotations are computed from it: the
    /// entries xx, xy, xz, yy, yz, zz.
    covariances: Vec<[[f64; LANES]; 6]>,
    /// The vertices that are processed one by one, as bits.
    pub(super) one_by_one: Vec<u8>,
    /// The joints whose quaternions are blended.
    pub(super) neighbours: NeighbourPairs,
    variant: PhantomData<V>,
}

/// What rotations are computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::deform) enum Rotations {
    /// The nearest rotation to the gathered matrix (v0).
    Nearest,
    /// Cofactors of the gathered matrix and the covariance (v1).
    Cofactors,
    /// Blended quaternions, about a gathered middle (v2).
    Quaternions,
    /// Blended matrices, about a gathered middle (v3).
    Matrices,
    /// Blended quaternions, about a linearly blended middle (v4).
    Centers,
}

impl Rotations {
    pub(super) const fn blends_quaternions(self) -> bool {
        matches!(self, Rotations::Quaternions | Rotations::Centers)
    }

    /// True if rotations are computed from gathered moments.
    pub(super) const fn gathers(self) -> bool {
        matches!(self, Rotations::Nearest | Rotations::Cofactors)
    }
}

impl<V: Variant> LanePatches<V> {
    /// Packs the numbers of all vertices.
    pub(super) fn pack<'a>(
        weights: &Weights,
        units: StoredUnits,
        numbers: impl Fn(usize) -> &'a [f32],
    ) -> LanePatches<V> {
        let gathers = V::ROTATIONS.gathers();
        let packing = Arc::new(match gathers {
            true => Packing::of(weights.clone()),
            false => Packing::with_common_sets(weights.clone()),
        });
        let blends = V::ROTATIONS.blends_quaternions();
        let mut patches = LanePatches {
            packing: packing.clone(),
            parts: Vec::new(),
            places: Vec::new(),
            deltas: Vec::new(),
            covariances: Vec::new(),
            one_by_one: Vec::new(),
            neighbours: match blends {
                true => NeighbourPairs::of_joints(weights),
                false => NeighbourPairs::default(),
            },
            variant: PhantomData,
        };
        let goes_alone = |vertex: usize| blends && weights.row(vertex).0.len() > MOST_INFLUENCES;
        let own = |vertex: usize| numbers(vertex).split_at(V::PER_VERTEX);
        let size = |vertex: usize| match gathers {
            true => patch_size(own(vertex).1.as_chunks::<9>().0),
            false => 1.0,
        };
        for group in packing.all_groups() {
            patches.one_by_one.push(group.bits(goes_alone));
            patches.places.push(group.lanes(|vertex| {
                let center = own(vertex).0;
                let center = units.restore([center[0], center[1], center[2]]);
                center.extend(units.extent() * size(vertex)).to_array()
            }));
            if V::PER_VERTEX > 3 {
                let delta = |vertex: usize| std::array::from_fn(|axis| own(vertex).0[3 + axis]);
                patches.deltas.push(group.lanes(delta));
            }
            let part = |vertex: usize, joint: u16| {
                let joints = packing.weights().row(vertex).0;
                let place = joints.iter().position(|&other| other == joint);
                let mut parts = own(vertex).1.chunks_exact(V::PER_JOINT);
                lane_numbers(place.and_then(|place| parts.nth(place)), size(vertex))
            };
            patches.push_parts(&group, part);
        }
        patches
    }

    /// Adds the numbers of the slots of a group; `part` has those of a vertex and a joint.
    fn push_parts(&mut self, group: &Group<'_>, part: impl Fn(usize, u16) -> [f32; 9]) {
        let mut covariance = [[0.0; LANES]; 6];
        for &joint in group.joints().unwrap_or_default() {
            let numbers = group.lanes(|vertex| part(vertex, joint));
            self.parts.extend(&numbers[..V::PER_JOINT]);
            add_moments(&numbers, &mut covariance);
        }
        if V::ROTATIONS == Rotations::Cofactors {
            self.covariances.push(per_determinant(covariance));
        }
    }

    /// Nearest rotations for two groups whose vertices share a set of joints.
    #[inline(always)]
    fn nearest<S: Simd>(
        &self,
        simd: S,
        groups: [&Group<'_>; 2],
        matrices: &[Affine],
        about: &Affine,
    ) -> [FrameLanes<S>; 2] {
        let first = self.patches(simd, groups[0], matrices, about);
        let second = self.patches(simd, groups[1], matrices, about);
        let (first_matrix, first_middle) = first.gather(simd);
        let (second_matrix, second_middle) = second.gather(simd);
        let rotations = nearest(simd, [&first_matrix, &second_matrix]);
        [
            FrameLanes::turned_about(&rotations[0], &first.center, &first_middle),
            FrameLanes::turned_about(&rotations[1], &second.center, &second_middle),
        ]
    }

    /// Rotations by cofactors for a group whose vertices share a set of joints.
    #[inline(always)]
    fn by_cofactors<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        matrices: &[Affine],
        about: &Affine,
    ) -> FrameLanes<S> {
        let patches = self.patches(simd, group, matrices, about);
        let wide = patches.gather_wide(simd);
        let covariance = &self.covariances[group.index];
        let rotation = loaded(simd, &by_cofactors(simd, &wide, covariance));
        FrameLanes {
            rigid: false,
            ..FrameLanes::turned_about(&rotation, &patches.center, &wide.middle)
        }
    }

    /// The numbers of the slots of a group.
    #[inline(always)]
    pub(super) fn parts_of(&self, group: &Group<'_>) -> &[Lane] {
        let slots = group.slot_range();
        &self.parts[slots.start * V::PER_JOINT..slots.end * V::PER_JOINT]
    }

    #[inline(always)]
    fn patches<'a, S: Simd>(
        &'a self,
        simd: S,
        group: &Group<'a>,
        matrices: &'a [Affine],
        about: &'a Affine,
    ) -> Patches<'a, S> {
        let [x, y, z, unit] = loaded(simd, &self.places[group.index]);
        Patches {
            joints: group.joints().unwrap_or_default(),
            slots: group.slots(),
            omegas: self.parts_of(group).as_chunks::<9>().0,
            center: [x, y, z],
            unit,
            matrices,
            about,
        }
    }
}

impl<V: Variant> MotionLanes<PosedJoints> for LanePatches<V> {
    const IN_PAIRS: bool = matches!(V::ROTATIONS, Rotations::Nearest);

    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, group: &Group<'_>, stretched: bool, posed: &PosedJoints) -> bool {
        let finite = posed.about.is_some() && group.joints().is_some();
        let stretched = stretched && V::ROTATIONS.gathers();
        !stretched && (posed.common.is_some() || finite)
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        stretch: Option<&FrameLanes<S>>,
        posed: &PosedJoints,
    ) -> FrameLanes<S> {
        match (posed.common, &posed.about) {
            (None, Some(about)) if V::ROTATIONS.gathers() => {
                self.by_cofactors(simd, group, &posed.matrices, about)
            }
            (None, Some(_)) => self.blended(simd, group, stretch, posed),
            (common, _) => FrameLanes::splat(simd, &common.unwrap_or(Affine::IDENTITY)),
        }
    }

    #[inline(always)]
    fn frame_pair<S: Simd>(
        &self,
        simd: S,
        groups: [&Group<'_>; 2],
        posed: &PosedJoints,
    ) -> [FrameLanes<S>; 2] {
        match (posed.common, &posed.about) {
            (None, Some(about)) => self.nearest(simd, groups, &posed.matrices, about),
            (common, _) => [FrameLanes::splat(simd, &common.unwrap_or(Affine::IDENTITY)); 2],
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.parts[..])
            + size_of_val(&self.places[..])
            + size_of_val(&self.deltas[..])
            + size_of_val(&self.covariances[..])
            + size_of_val(&self.one_by_one[..])
    }
}

/// The numbers of a joint of a vertex in lanes: lever and moments are measured in a size. Zeros if
/// the vertex does not have the joint.
fn lane_numbers(part: Option<&[f32]>, size: f32) -> [f32; 9] {
    let mut numbers = [0.0; 9];
    if let Some(part) = part {
        numbers[..part.len()].copy_from_slice(part);
    }
    measured(&numbers, size)
}

/// Adds the moments of a joint's part, in double precision.
fn add_moments(part: &[Lane; 9], covariance: &mut [[f64; LANES]; 6]) {
    for (sums, moments) in covariance.iter_mut().zip(&part[3..]) {
        for (sum, moment) in sums.iter_mut().zip(moments) {
            *sum += f64::from(*moment);
        }
    }
}

/// `P / det P`; not finite for a patch without extent.
fn per_determinant(covariance: [[f64; LANES]; 6]) -> [[f64; LANES]; 6] {
    let mut lanes = covariance;
    for lane in 0..LANES {
        let [xx, xy, xz, yy, yz, zz] = covariance.map(|entry| entry[lane]);
        let determinant =
            xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
        for entry in &mut lanes {
            entry[lane] /= determinant;
        }
    }
    lanes
}

/// The size of a patch in the unit of its parts: relative to this size, its moments are a matrix of
/// unit norm.
pub(super) fn patch_size(parts: &[[f32; 9]]) -> f32 {
    let [xx, xy, xz, yy, yz, zz] = moment_sums(parts).map(|moment| moment * moment);
    let size = (xx + yy + zz + 2.0 * (xy + xz + yz)).sqrt().sqrt() as f32;
    // The moments of a patch without extent are zero in any unit.
    if size > f32::MIN_POSITIVE { size } else { 1.0 }
}

/// The sum of the moments of all parts: the covariance of the patch.
pub(super) fn moment_sums(parts: &[[f32; 9]]) -> [f64; 6] {
    let mut moments = [0.0; 6];
    for &[_, _, _, ref part @ ..] in parts {
        for (sum, &moment) in moments.iter_mut().zip(part) {
            *sum += f64::from(moment);
        }
    }
    moments
}

/// Lever and moments relative to a size.
pub(super) fn measured(part: &[f32; 9], size: f32) -> [f32; 9] {
    let mut numbers = *part;
    for (place, number) in numbers.iter_mut().enumerate() {
        *number /= size;
        // Divided twice: the square of a small size would underflow.
        if place >= 3 {
            *number /= size;
        }
    }
    numbers
}

/// The patches of a group in a pose.
struct Patches<'a, S: Simd> {
    joints: &'a [u16],
    slots: GroupSlots<'a>,
    omegas: &'a [[Lane; 9]],
    center: [f32x8<S>; 3],
    unit: f32x8<S>,
    matrices: &'a [Affine],
    about: &'a Affine,
}

impl<S: Simd> Patches<'_, S> {
    /// The approximate posed position of the middles, from which sums are measured. This leaves the
    /// sums unchanged, since the levers of a patch cancel out, and keeps precision far from the
    /// origin.
    #[inline(always)]
    fn base(&self, simd: S) -> [f32x8<S>; 3] {
        FrameLanes::splat(simd, self.about).transform_points(&self.center)
    }

    /// `Q` row by row, and `q`, of all lanes.
    #[inline(always)]
    fn gather(&self, simd: S) -> ([f32x8<S>; 9], [f32x8<S>; 3]) {
        let &Patches {
            joints,
            omegas,
            center,
            unit,
            matrices,
            ..
        } = self;
        let splat = |number: f32| f32x8::splat(simd, number);
        let zero = splat(0.0);
        let per_unit = splat(1.0) / unit;
        let mut matrix = [zero; 9];
        let mut middle = [zero; 3];
        let base = self.base(simd);
        let (mut place, mut behind) = (center, base);
        for axis in 0..3 {
            place[axis] *= per_unit;
            behind[axis] *= per_unit;
        }
        for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
            let rows = &matrices[usize::from(joint)].rows;
            let weight = self.slots.weights(simd, slot);
            let [lx, ly, lz, xx, xy, xz, yy, yz, zz] = loaded(simd, omega);
            let lever = [lx, ly, lz];
            for axis in 0..3 {
                let row = rows[axis];
                let [x, y, z, w] = [splat(row.x), splat(row.y), splat(row.z), splat(row.w)];
                let shift = z.mul_add(place[2], w.mul_sub(per_unit, behind[axis]));
                let shift = x.mul_add(place[0], y.mul_add(place[1], shift));
                let row = 3 * axis;
                matrix[row] = x.mul_add(
                    xx,
                    y.mul_add(xy, z.mul_add(xz, shift.mul_add(lever[0], matrix[row]))),
                );
                matrix[row + 1] = x.mul_add(
                    xy,
                    y.mul_add(yy, z.mul_add(yz, shift.mul_add(lever[1], matrix[row + 1]))),
                );
                matrix[row + 2] = x.mul_add(
                    xz,
                    y.mul_add(yz, z.mul_add(zz, shift.mul_add(lever[2], matrix[row + 2]))),
                );
                middle[axis] = x.mul_add(
                    lever[0],
                    y.mul_add(
                        lever[1],
                        z.mul_add(lever[2], shift.mul_add(weight, middle[axis])),
                    ),
                );
            }
        }
        for axis in 0..3 {
            middle[axis] = middle[axis].mul_add(unit, base[axis]);
        }
        (matrix, middle)
    }

    /// [`Patches::gather`] in double precision.
    #[inline(always)]
    fn gather_wide(&self, simd: S) -> Wide<S> {
        let &Patches {
            joints,
            omegas,
            center,
            unit,
            matrices,
            ..
        } = self;
        let splat = |number: f32| f64x8::splat(simd, f64::from(number));
        let zero = splat(0.0);
        let unit = widened(simd, unit);
        let per_unit = splat(1.0) / unit;
        let [cx, cy, cz] = center;
        let center = [widened(simd, cx), widened(simd, cy), widened(simd, cz)];
        let [x, y, z] = self.base(simd);
        let base = [widened(simd, x), widened(simd, y), widened(simd, z)];
        let mut wide = Wide {
            matrix: [zero; 9],
            middle: self.center,
        };
        let mut middle = [zero; 3];
        for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
            let rows = &matrices[usize::from(joint)].rows;
            let weight = widened(simd, self.slots.weights(simd, slot));
            let mut numbers = [zero; 9];
            for (number, single) in numbers.iter_mut().zip(loaded(simd, omega)) {
                *number = widened(simd, single);
            }
            let [lx, ly, lz, xx, xy, xz, yy, yz, zz] = numbers;
            for axis in 0..3 {
                let row = rows[axis];
                let [x, y, z, w] = [splat(row.x), splat(row.y), splat(row.z), splat(row.w)];
                let carried = x.mul_add(center[0], y.mul_add(center[1], z.mul_add(center[2], w)));
                let shift = (carried - base[axis]) * per_unit;
                let sums = &mut wide.matrix[3 * axis..3 * axis + 3];
                sums[0] = x.mul_add(xx, y.mul_add(xy, z.mul_add(xz, shift.mul_add(lx, sums[0]))));
                sums[1] = x.mul_add(xy, y.mul_add(yy, z.mul_add(yz, shift.mul_add(ly, sums[1]))));
                sums[2] = x.mul_add(xz, y.mul_add(yz, z.mul_add(zz, shift.mul_add(lz, sums[2]))));
                let lever = x.mul_add(lx, y.mul_add(ly, z * lz));
                middle[axis] += shift.mul_add(weight, lever);
            }
        }
        for axis in 0..3 {
            wide.middle[axis] = narrowed(simd, middle[axis].mul_add(unit, base[axis]));
        }
        wide
    }
}

/// Nearest rotations to the matrices of two groups. Each is a long chain of dependent operations;
/// two groups are processed at once to hide the latency.
#[inline(always)]
fn nearest<S: Simd>(simd: S, matrices: [&[f32x8<S>; 9]; 2]) -> [[f32x8<S>; 9]; 2] {
    let mut both = [f32x16::splat(simd, 0.0); 9];
    for entry in 0..9 {
        both[entry] = simd.combine_f32x8(matrices[0][entry], matrices[1][entry]);
    }
    let (both, unsure) = polar::single_rotations(simd, &both);
    let mut rotations = [*matrices[0], *matrices[1]];
    for entry in 0..9 {
        let (first, second) = simd.split_f32x16(both[entry]);
        rotations[0][entry] = first;
        rotations[1][entry] = second;
    }
    for (at, rotation) in rotations.iter_mut().enumerate() {
        let unsure = (unsure >> (LANES * at)) & ALL;
        if unsure != 0 {
            // A separate function keeps registers free of the unlikely case.
            let (matrix, single) = (stored(*matrices[at]), stored(*rotation));
            let mended = simd.vectorize(|| nearest_in_double(simd, &matrix, single, unsure));
            *rotation = loaded(simd, &mended);
        }
    }
    rotations
}

/// Recomputes rotations in double precision where single precision was not enough. The others stay
/// unchanged, independent of the vertices beside them.
#[inline(always)]
fn nearest_in_double<S: Simd>(
    simd: S,
    matrix: &[Lane; 9],
    mut lanes: [Lane; 9],
    unsure: u64,
) -> [Lane; 9] {
    let mut wide = [f64x8::splat(simd, 0.0); 9];
    for (wide, single) in wide.iter_mut().zip(loaded(simd, matrix)) {
        *wide = widened(simd, single);
    }
    let RotationLanes { rotation, doubtful } = polar::nearest_rotations(simd, &wide);
    for entry in 0..9 {
        let mut narrow = [0.0; LANES];
        narrowed(simd, rotation[entry]).store_slice(&mut narrow);
        for lane in (0..LANES).filter(|lane| (unsure >> lane) & 1 != 0) {
            lanes[entry][lane] = narrow[lane];
        }
    }
    for lane in (0..LANES).filter(|&lane| doubtful[lane]) {
        put_nearest(matrix, lane, &mut lanes);
    }
    lanes
}

/// `Q` row by row, in double precision as the covariance: rounding errors in both cancel out in the
/// quotient.
struct Wide<S: Simd> {
    matrix: [f64x8<S>; 9],
    /// `q`.
    middle: [f32x8<S>; 3],
}

/// `cof(Q)·P / det P` of all lanes.
#[inline(always)]
fn by_cofactors<S: Simd>(simd: S, wide: &Wide<S>, covariance: &[[f64; LANES]; 6]) -> [Lane; 9] {
    let mut entries = [f64x8::splat(simd, 0.0); 6];
    for (entry, lanes) in entries.iter_mut().zip(covariance) {
        *entry = f64x8::from_slice(simd, lanes);
    }
    let [xx, xy, xz, yy, yz, zz] = entries;
    let cofactors = polar::cofactor_lanes(&wide.matrix);
    let mut lanes = [[0.0; LANES]; 9];
    for row in 0..3 {
        let [a, b, c] = [
            cofactors[3 * row],
            cofactors[3 * row + 1],
            cofactors[3 * row + 2],
        ];
        let columns = [
            a * xx + b * xy + c * xz,
            a * xy + b * yy + c * yz,
            a * xz + b * yz + c * zz,
        ];
        for (column, lane) in columns.iter().zip(&mut lanes[3 * row..]) {
            narrowed(simd, *column).store_slice(lane);
        }
    }
    // A patch without extent has no inverse covariance.
    for lane in 0..LANES {
        let lost = lanes.iter().any(|entry| !entry[lane].is_finite());
        if lost {
            let mut matrix = [[0.0; LANES]; 9];
            for (entry, sum) in matrix.iter_mut().zip(&wide.matrix) {
                narrowed(simd, *sum).store_slice(entry);
            }
            put_nearest(&matrix, lane, &mut lanes);
        }
    }
    lanes
}

/// Computes the rotation of one lane by polar decomposition, which always has a result.
fn put_nearest(matrix: &[Lane; 9], lane: usize, rotations: &mut [Lane; 9]) {
    let columns = Mat3::from_cols_array(&matrix.map(|entry| entry[lane]));
    let rotation = polar::nearest_rotation(&columns.transpose().as_dmat3()).as_mat3();
    let rows = rotation.transpose().to_cols_array();
    for (entry, number) in rotations.iter_mut().zip(rows) {
        entry[lane] = number;
    }
}
