//! The variants that gather matrices, eight vertices at a time.
//!
//! `Σ M_j Ω_ij` is fifty multiply-adds per joint of a vertex, and the nearest rotation a chain of dependent ones, so vertices are put side by side in lanes (`deform/lanes/`): a group goes through the joints of
//! all of its vertices, each with one matrix for all lanes. A lane that does not have a joint holds zeros for it.

use super::{MushSkin, PosedJoints, Variant};
use crate::deform::lanes::{
    ALL, FrameLanes, Group, GroupSlots, LANES, Lane, Packing, loaded, stored,
};
use crate::polar::{self, RotationLanes};
use crate::transform::Affine;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8, f64x8};
use glam::Mat3;

/// Patches of all vertices, as they go side by side.
#[derive(Clone, Debug)]
pub(super) struct LanePatches {
    /// Lever and moments of each slot of the packing.
    omegas: Vec<[Lane; 9]>,
    /// The middles of the patches of each group.
    centers: Vec<[Lane; 3]>,
}

/// How a gathered matrix becomes a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::deform) enum Rotations {
    /// The nearest one (v0).
    Nearest,
    /// By cofactors and the covariance (v1).
    Cofactors,
}

impl LanePatches {
    /// Packs the patches of a skin whose parts are matrices.
    pub(super) fn pack<V: Variant>(skin: &MushSkin<V>, packing: &Packing) -> LanePatches {
        let mut patches = LanePatches {
            omegas: Vec::new(),
            centers: Vec::new(),
        };
        for group in packing.all_groups() {
            let own = |vertex: usize| skin.numbers_of(vertex).split_at(V::PER_VERTEX);
            patches.centers.push(group.lanes(|vertex| {
                let center = own(vertex).0;
                skin.frame
                    .point([center[0], center[1], center[2]])
                    .to_array()
            }));
            for &joint in group.joints().unwrap_or_default() {
                patches.omegas.push(group.lanes(|vertex| {
                    let mut parts = own(vertex).1.as_chunks::<9>().0.iter();
                    let joints = packing.weights().row(vertex).0;
                    let place = joints.iter().position(|&other| other == joint);
                    let part = place.and_then(|place| parts.nth(place));
                    part.copied().unwrap_or_default()
                }));
            }
        }
        patches
    }

    /// The bytes of all.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.omegas[..]) + size_of_val(&self.centers[..])
    }

    /// The frames of a group whose vertices go through their joints together; none if they do not.
    #[inline(always)]
    pub(super) fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        rotations: Rotations,
        unit: f32,
        posed: &PosedJoints,
    ) -> Option<FrameLanes<S>> {
        let patches = Patches {
            joints: group.joints()?,
            slots: group.slots(),
            omegas: &self.omegas[group.slot_range()],
            center: loaded(simd, &self.centers[group.index]),
            unit,
            matrices: &posed.matrices,
        };
        let (rotation, middle) = match rotations {
            Rotations::Nearest => {
                let (matrix, middle) = patches.gather(simd);
                (nearest(simd, &matrix), middle)
            }
            Rotations::Cofactors => {
                let wide = patches.gather_wide(simd);
                let rotation = loaded(simd, &by_cofactors(simd, &wide));
                (rotation, loaded(simd, &wide.middle))
            }
        };
        Some(FrameLanes {
            rigid: rotations == Rotations::Nearest,
            ..FrameLanes::turned_about(&rotation, &patches.center, &middle)
        })
    }
}

/// The patches of a group in a pose.
struct Patches<'a, S: Simd> {
    joints: &'a [u16],
    slots: GroupSlots<'a>,
    omegas: &'a [[Lane; 9]],
    center: [f32x8<S>; 3],
    unit: f32,
    matrices: &'a [Affine],
}

impl<S: Simd> Patches<'_, S> {
    /// About where the middles go: as linear blending takes them. What is summed is measured from there, and no joint that a vertex does not have has a say in it.
    #[inline(always)]
    fn base(&self, simd: S) -> [f32x8<S>; 3] {
        let splat = |number: f32| f32x8::splat(simd, number);
        let mut base = [splat(0.0); 3];
        for (slot, &joint) in self.joints.iter().enumerate() {
            let rows = &self.matrices[usize::from(joint)].rows;
            let weight = self.slots.weights(simd, slot);
            let [cx, cy, cz] = self.center;
            for axis in 0..3 {
                let row = rows[axis];
                let sum = splat(row.z).mul_add(cz, splat(row.w));
                let carried = splat(row.x).mul_add(cx, splat(row.y).mul_add(cy, sum));
                base[axis] = weight.mul_add(carried, base[axis]);
            }
        }
        base
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
        let per_unit = splat(unit.recip());
        let mut matrix = [zero; 9];
        let mut middle = [zero; 3];
        let base = self.base(simd);
        for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
            let rows = &matrices[usize::from(joint)].rows;
            let weight = self.slots.weights(simd, slot);
            let [lx, ly, lz, xx, xy, xz, yy, yz, zz] = loaded(simd, omega);
            let lever = [lx, ly, lz];
            for axis in 0..3 {
                let row = rows[axis];
                let [x, y, z, w] = [splat(row.x), splat(row.y), splat(row.z), splat(row.w)];
                let carried = x.mul_add(center[0], y.mul_add(center[1], z.mul_add(center[2], w)));
                let shift = (carried - base[axis]) * per_unit;
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
        let unit = splat(unit);
        for axis in 0..3 {
            middle[axis] = middle[axis].mul_add(unit, base[axis]);
        }
        (matrix, middle)
    }

    /// The same and the covariance, in double precision.
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
        let per_unit = f64x8::splat(simd, f64::from(unit).recip());
        let [cx, cy, cz] = center;
        let center = [
            widened(simd, &cx.into()),
            widened(simd, &cy.into()),
            widened(simd, &cz.into()),
        ];
        let [x, y, z] = self.base(simd);
        let base = [
            widened(simd, &x.into()),
            widened(simd, &y.into()),
            widened(simd, &z.into()),
        ];
        let mut wide = Wide {
            matrix: [zero; 9],
            covariance: [zero; 6],
            middle: [[0.0; LANES]; 3],
        };
        let mut middle = [zero; 3];
        for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
            let rows = &matrices[usize::from(joint)].rows;
            let weight = widened(simd, &self.slots.weights(simd, slot).into());
            let mut numbers = [zero; 9];
            for (number, lane) in numbers.iter_mut().zip(omega) {
                *number = widened(simd, lane);
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
        let unit = f64x8::splat(simd, f64::from(unit));
        for axis in 0..3 {
            narrowed(
                middle[axis].mul_add(unit, base[axis]),
                &mut wide.middle[axis],
            );
        }
        wide
    }
}

/// The same numbers in double precision.
#[inline(always)]
fn widened<S: Simd>(simd: S, lane: &Lane) -> f64x8<S> {
    let mut wide = [0.0; LANES];
    for at in 0..LANES {
        wide[at] = f64::from(lane[at]);
    }
    f64x8::from_slice(simd, &wide)
}

#[inline(always)]
fn narrowed<S: Simd>(wide: f64x8<S>, lane: &mut Lane) {
    let mut numbers = [0.0; LANES];
    wide.store_slice(&mut numbers);
    for at in 0..LANES {
        lane[at] = numbers[at] as f32;
    }
}

/// The rotations nearest to the matrices of all lanes.
#[inline(always)]
fn nearest<S: Simd>(simd: S, matrix: &[f32x8<S>; 9]) -> [f32x8<S>; 9] {
    let (rotation, unsure) = polar::single_rotations(simd, matrix);
    if unsure & ALL == 0 {
        return rotation;
    }
    // Computed anew in a function of its own, so that registers stay free of what seldom matters.
    let matrix = stored(*matrix);
    let rotation = simd.vectorize(|| nearest_in_double(simd, &matrix));
    loaded(simd, &rotation)
}

/// The same, with some of the lanes in double precision. The others are as they would be beside any other vertices.
#[inline(always)]
fn nearest_in_double<S: Simd>(simd: S, matrix: &[Lane; 9]) -> [Lane; 9] {
    let (single, unsure) = polar::single_rotations(simd, &loaded(simd, matrix));
    let mut lanes = stored(single);
    let mut wide = [f64x8::splat(simd, 0.0); 9];
    for entry in 0..9 {
        wide[entry] = widened(simd, &matrix[entry]);
    }
    let RotationLanes { rotation, doubtful } = polar::nearest_rotations(simd, &wide);
    for entry in 0..9 {
        let mut narrow = [0.0; LANES];
        narrowed(rotation[entry], &mut narrow);
        for lane in (0..LANES).filter(|lane| (unsure >> lane) & 1 != 0) {
            lanes[entry][lane] = narrow[lane];
        }
    }
    for lane in (0..LANES).filter(|&lane| doubtful[lane]) {
        put_nearest(matrix, lane, &mut lanes);
    }
    lanes
}

/// `Q` row by row and the covariance, in double precision: the quotient of the two keeps only what rounding they share.
struct Wide<S: Simd> {
    matrix: [f64x8<S>; 9],
    covariance: [f64x8<S>; 6],
    /// `q`.
    middle: [Lane; 3],
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
        narrowed((a * xx + b * xy + c * xz) * factor, &mut lanes[3 * row]);
        narrowed((a * xy + b * yy + c * yz) * factor, &mut lanes[3 * row + 1]);
        narrowed((a * xz + b * yz + c * zz) * factor, &mut lanes[3 * row + 2]);
    }
    // A patch without extent has no inverse.
    for lane in 0..LANES {
        let lost = lanes.iter().any(|entry| !entry[lane].is_finite());
        if lost {
            let mut matrix = [[0.0; LANES]; 9];
            for (entry, sum) in matrix.iter_mut().zip(&wide.matrix) {
                narrowed(*sum, entry);
            }
            put_nearest(&matrix, lane, &mut lanes);
        }
    }
    lanes
}

/// One lane's rotation by the way that always has an answer.
fn put_nearest(matrix: &[Lane; 9], lane: usize, rotations: &mut [Lane; 9]) {
    let columns = Mat3::from_cols_array(&matrix.map(|entry| entry[lane]));
    let rotation = polar::nearest_rotation(&columns.transpose().as_dmat3()).as_mat3();
    let rows = rotation.transpose().to_cols_array();
    for (entry, number) in rotations.iter_mut().zip(rows) {
        entry[lane] = number;
    }
}
