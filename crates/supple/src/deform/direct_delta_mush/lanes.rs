//! Direct delta mush variants that gather matrices, eight vertices at a time.
//!
//! `Σ M_j Ω_ij` takes fifty multiply-adds per joint of a vertex, and the nearest rotation is a
//! chain of dependent operations. So vertices are processed side by side in lanes
//! (`deform/lanes/`): a group iterates over the joints of all of its vertices, with one matrix for
//! all lanes. A lane that does not have a joint holds zeros for it.

use super::{MushSkin, PosedJoints, Variant};
use crate::deform::lanes::{
    ALL, FrameLanes, Group, GroupSlots, LANES, Lane, Packing, loaded, stored,
};
use crate::deform::rigid_motion::MotionLanes;
use crate::polar::{self, RotationLanes, narrowed, widened};
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8, f32x16, f64x8};
use glam::Mat3;
use std::marker::PhantomData;
use std::sync::Arc;

/// Patches of all vertices, in the order of the packing.
#[derive(Clone, Debug)]
pub(in crate::deform) struct LanePatches<V> {
    packing: Arc<Packing>,
    /// Lever and moments of each slot of the packing.
    omegas: Vec<[Lane; 9]>,
    /// The middle of the patch of each vertex, and its size: levers and moments are relative to
    /// this size, so that the gathered matrix has a norm of about one.
    places: Vec<[Lane; 4]>,
    variant: PhantomData<V>,
}

/// The conversion of the gathered matrix to a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::deform) enum Rotations {
    /// The nearest rotation (v0).
    Nearest,
    /// By cofactors and the covariance (v1).
    Cofactors,
}

impl<V: Variant> LanePatches<V> {
    /// Packs the patches of a skin whose parts are matrices.
    pub(super) fn pack(skin: &MushSkin<V>, weights: &Weights) -> LanePatches<V> {
        let packing = Arc::new(Packing::of(weights.clone()));
        let mut patches = LanePatches {
            packing: packing.clone(),
            omegas: Vec::new(),
            places: Vec::new(),
            variant: PhantomData,
        };
        let unit = skin.units.extent();
        for group in packing.all_groups() {
            let own = |vertex: usize| skin.numbers_of(vertex).split_at(V::PER_VERTEX);
            let size = |vertex: usize| patch_size(own(vertex).1.as_chunks::<9>().0);
            patches.places.push(group.lanes(|vertex| {
                let center = own(vertex).0;
                let center = skin.units.restore([center[0], center[1], center[2]]);
                center.extend(unit * size(vertex)).to_array()
            }));
            for &joint in group.joints().unwrap_or_default() {
                patches.omegas.push(group.lanes(|vertex| {
                    let mut parts = own(vertex).1.as_chunks::<9>().0.iter();
                    let joints = packing.weights().row(vertex).0;
                    let place = joints.iter().position(|&other| other == joint);
                    let part = place.and_then(|place| parts.nth(place));
                    part.map_or([0.0; 9], |part| measured(part, size(vertex)))
                }));
            }
        }
        patches
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
        let rotation = loaded(simd, &by_cofactors(simd, &wide));
        FrameLanes {
            rigid: false,
            ..FrameLanes::turned_about(&rotation, &patches.center, &wide.middle)
        }
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
            omegas: &self.omegas[group.slot_range()],
            center: [x, y, z],
            unit,
            matrices,
            about,
        }
    }
}

impl<V: Variant> MotionLanes<PosedJoints> for LanePatches<V> {
    const IN_PAIRS: bool = matches!(V::IN_LANES, Some(Rotations::Nearest));

    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, group: &Group<'_>, stretched: bool, posed: &PosedJoints) -> bool {
        let gathers = posed.about.is_some() && group.joints().is_some();
        !stretched && (posed.common.is_some() || gathers)
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedJoints,
    ) -> FrameLanes<S> {
        match (posed.common, &posed.about) {
            (None, Some(about)) => self.by_cofactors(simd, group, &posed.matrices, about),
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
        size_of_val(&self.omegas[..]) + size_of_val(&self.places[..])
    }
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

    /// [`Patches::gather`] and the covariance, in double precision.
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
            covariance: [zero; 6],
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
            let covariance = [xx, xy, xz, yy, yz, zz];
            for (sum, moment) in wide.covariance.iter_mut().zip(covariance) {
                *sum += moment;
            }
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

/// `Q` row by row and the covariance, in double precision: rounding errors in both cancel out in
/// the quotient.
struct Wide<S: Simd> {
    matrix: [f64x8<S>; 9],
    covariance: [f64x8<S>; 6],
    /// `q`.
    middle: [f32x8<S>; 3],
}

/// `cof(Q)·P / det P` of all lanes.
#[inline(always)]
fn by_cofactors<S: Simd>(simd: S, wide: &Wide<S>) -> [Lane; 9] {
    let [xx, xy, xz, yy, yz, zz] = wide.covariance;
    let determinant =
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    let factor = f64x8::splat(simd, 1.0) / determinant;
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
            narrowed(simd, *column * factor).store_slice(lane);
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
