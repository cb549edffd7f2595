//! Direct delta mush variants that blend rotations, eight vertices at a time.
//!
//! All sums over the joints of a vertex are sums of numbers per joint, as in linear blending: the
//! rotation of `Σ ψ_j q_j` or `Σ ψ_j R_j`, and the middle `Σ M_j (ω_j p + χ_j, ω_j)`. The signs of
//! quaternions are chosen as in `deform/lanes/far_pairs.rs`.

use super::lanes::{LanePatches, Rotations};
use super::{CANCELLED, MOST_STRETCHED, PosedJoints, Variant};
use crate::deform::antipodality::QuatLanes;
use crate::deform::lanes::{FrameLanes, Group, Lane, loaded};
use crate::transform::Affine;
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use glam::Quat;

type Vec3Lanes<S> = [f32x8<S>; 3];

/// The sums over the joints of eight vertices.
struct Sums<S: Simd> {
    /// `Σ ψ_j q_j`, or `Σ ψ_j R_j` row by row.
    rotation: [f32x8<S>; 9],
    /// The posed middle.
    middle: Vec3Lanes<S>,
}

impl<V: Variant> LanePatches<V> {
    /// The frames of a group whose vertices share a set of joints.
    #[inline(always)]
    pub(super) fn blended<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        stretch: Option<&FrameLanes<S>>,
        posed: &PosedJoints,
    ) -> FrameLanes<S> {
        let [x, y, z, unit] = loaded(simd, &self.places[group.index]);
        let center = match stretch {
            Some(stretch) => stretch.transform_points(&[x, y, z]),
            None => [x, y, z],
        };
        let sums = self.sums(simd, group, stretch, posed, &center, unit);
        let (rotation, doubtful) = match V::ROTATIONS {
            Rotations::Matrices => {
                let delta = loaded(simd, &self.deltas[group.index]);
                let delta = match stretch {
                    Some(stretch) => stretch.transform_vectors(&delta),
                    None => delta,
                };
                evened(simd, &sums.rotation, &delta)
            }
            _ => {
                let [x, y, z, w, ..] = sums.rotation;
                let sum = QuatLanes([x, y, z, w]);
                let far = posed.far.vertices(simd, group);
                let rotation = sum.to_rotation(simd, sum.twice_per_square(simd));
                (rotation, far | u64::from(self.one_by_one[group.index]))
            }
        };
        FrameLanes {
            doubtful,
            rigid: V::ROTATIONS.blends_quaternions(),
            ..FrameLanes::turned_about(&rotation, &center, &sums.middle)
        }
    }

    #[inline(always)]
    fn sums<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        stretch: Option<&FrameLanes<S>>,
        posed: &PosedJoints,
        center: &Vec3Lanes<S>,
        unit: f32x8<S>,
    ) -> Sums<S> {
        let zero = f32x8::splat(simd, 0.0);
        let mut sums = Sums {
            rotation: [zero; 9],
            middle: [zero; 3],
        };
        let slots = group.slots();
        let parts = self.parts_of(group).chunks_exact(V::PER_JOINT);
        let joints = group.joints().unwrap_or_default();
        for (slot, (&joint, part)) in joints.iter().zip(parts).enumerate() {
            let joint = usize::from(joint);
            let weights = slots.weights(simd, slot);
            let [x, y, z] = *center;
            let mut carried = [x * weights, y * weights, z * weights];
            if V::PER_JOINT == 4 {
                let lever = lever(simd, part, stretch);
                for axis in 0..3 {
                    carried[axis] = lever[axis].mul_add(unit, carried[axis]);
                }
            }
            let matrix = &posed.matrices[joint];
            add_carried(simd, matrix, &carried, weights, &mut sums.middle);
            let share = f32x8::from_slice(simd, &part[V::PER_JOINT - 1]);
            if V::ROTATIONS.blends_quaternions() {
                add_quaternion(simd, posed.signed[joint], share, &mut sums.rotation);
            } else {
                add_matrix(simd, matrix, share, &mut sums.rotation);
            }
        }
        sums
    }
}

/// The lever of a part, stretched.
#[inline(always)]
fn lever<S: Simd>(simd: S, part: &[Lane], stretch: Option<&FrameLanes<S>>) -> Vec3Lanes<S> {
    let lever = [
        f32x8::from_slice(simd, &part[0]),
        f32x8::from_slice(simd, &part[1]),
        f32x8::from_slice(simd, &part[2]),
    ];
    match stretch {
        Some(stretch) => stretch.transform_vectors(&lever),
        None => lever,
    }
}

/// Adds `M (carried, weights)`.
#[inline(always)]
fn add_carried<S: Simd>(
    simd: S,
    matrix: &Affine,
    carried: &Vec3Lanes<S>,
    weights: f32x8<S>,
    sum: &mut Vec3Lanes<S>,
) {
    for (sum, row) in sum.iter_mut().zip(&matrix.rows) {
        let [x, y, z, w] = row.to_array();
        let moved = f32x8::splat(simd, w).mul_add(weights, *sum);
        let moved = f32x8::splat(simd, z).mul_add(carried[2], moved);
        let moved = f32x8::splat(simd, y).mul_add(carried[1], moved);
        *sum = f32x8::splat(simd, x).mul_add(carried[0], moved);
    }
}

#[inline(always)]
fn add_quaternion<S: Simd>(simd: S, own: Quat, share: f32x8<S>, sum: &mut [f32x8<S>; 9]) {
    for (sum, number) in sum.iter_mut().zip(own.to_array()) {
        *sum = share.mul_add(f32x8::splat(simd, number), *sum);
    }
}

#[inline(always)]
fn add_matrix<S: Simd>(simd: S, matrix: &Affine, share: f32x8<S>, sum: &mut [f32x8<S>; 9]) {
    for (row, numbers) in matrix.rows.iter().enumerate() {
        let [x, y, z, _] = numbers.to_array();
        for (sum, number) in sum[3 * row..3 * row + 3].iter_mut().zip([x, y, z]) {
            *sum = share.mul_add(f32x8::splat(simd, number), *sum);
        }
    }
}

/// Blends of matrices, scaled such that the delta keeps its length (§3.5.3), and the lanes that
/// would be scaled too much for that.
#[inline(always)]
fn evened<S: Simd>(simd: S, blend: &[f32x8<S>; 9], delta: &Vec3Lanes<S>) -> ([f32x8<S>; 9], u64) {
    let splat = |number: f32| f32x8::splat(simd, number);
    let mut turned = *delta;
    for axis in 0..3 {
        let row = &blend[3 * axis..3 * axis + 3];
        let sum = row[1].mul_add(delta[1], row[2] * delta[2]);
        turned[axis] = row[0].mul_add(delta[0], sum);
    }
    let factor = length(delta) / length(&turned);
    // Without a delta there is nothing to scale.
    let factor = factor.simd_lt(splat(CANCELLED)).select(factor, splat(1.0));
    let mut even = *blend;
    for entry in &mut even {
        *entry *= factor;
    }
    (even, factor.simd_gt(splat(MOST_STRETCHED)).to_bitmask())
}

#[inline(always)]
fn length<S: Simd>(vector: &Vec3Lanes<S>) -> f32x8<S> {
    let [x, y, z] = *vector;
    x.mul_add(x, y.mul_add(y, z * z)).sqrt()
}
