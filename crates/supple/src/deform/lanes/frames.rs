//! Eight affine frames, applied to points, normals and tangents.

use super::packing::Group;
use super::{LANES, Lane};
use crate::transform::Affine;
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use glam::Vec3;

/// Three numbers per vertex.
pub(in crate::deform) type Vec3Lanes<S> = [f32x8<S>; 3];

/// `posed_from_bind` of eight vertices.
#[derive(Clone, Copy, Debug)]
pub(in crate::deform) struct FrameLanes<S: Simd> {
    /// The entries row by row, as in [`Affine`].
    pub(in crate::deform) numbers: [f32x8<S>; 12],
    /// The lanes that the method could not compute, as bits; they are computed one by one.
    pub(in crate::deform) doubtful: u64,
    /// True if all frames are rotations and translations, which are their own inverse transpose.
    pub(in crate::deform) rigid: bool,
}

impl<S: Simd> FrameLanes<S> {
    #[inline(always)]
    pub(in crate::deform) fn of(numbers: [f32x8<S>; 12]) -> FrameLanes<S> {
        FrameLanes {
            numbers,
            doubtful: 0,
            rigid: false,
        }
    }

    /// The same frame in all lanes.
    #[inline(always)]
    pub(in crate::deform) fn splat(simd: S, frame: &Affine) -> FrameLanes<S> {
        let mut numbers = [f32x8::splat(simd, 0.0); 12];
        for (lanes, number) in numbers.iter_mut().zip(frame.to_array()) {
            *lanes = f32x8::splat(simd, number);
        }
        FrameLanes::of(numbers)
    }

    /// Frames that are computed vertex by vertex.
    #[inline(always)]
    pub(in crate::deform) fn one_by_one(
        simd: S,
        group: &Group<'_>,
        frame: impl Fn(usize) -> Affine,
    ) -> FrameLanes<S> {
        let lanes = group.lanes(|vertex| frame(vertex).to_array());
        FrameLanes::of(loaded(simd, &lanes))
    }

    /// A rotation about a center that moves to `carried`.
    #[inline(always)]
    pub(in crate::deform) fn turned_about(
        rotation: &[f32x8<S>; 9],
        center: &Vec3Lanes<S>,
        carried: &Vec3Lanes<S>,
    ) -> FrameLanes<S> {
        let [a, b, c, d, e, f, g, h, i] = *rotation;
        let row = |row: [f32x8<S>; 3], carried: f32x8<S>| carried - dot(&row, center);
        let (x, y, z) = (
            row([a, b, c], carried[0]),
            row([d, e, f], carried[1]),
            row([g, h, i], carried[2]),
        );
        FrameLanes {
            rigid: true,
            ..FrameLanes::of([a, b, c, x, d, e, f, y, g, h, i, z])
        }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> Vec3Lanes<S> {
        let row = 4 * row;
        [
            self.numbers[row],
            self.numbers[row + 1],
            self.numbers[row + 2],
        ]
    }

    #[inline(always)]
    pub(in crate::deform) fn transform_points(&self, points: &Vec3Lanes<S>) -> Vec3Lanes<S> {
        let m = &self.numbers;
        let row = |row: usize| {
            let sum = m[row + 2].mul_add(points[2], m[row + 3]);
            m[row].mul_add(points[0], m[row + 1].mul_add(points[1], sum))
        };
        [row(0), row(4), row(8)]
    }

    #[inline(always)]
    pub(in crate::deform) fn transform_vectors(&self, vectors: &Vec3Lanes<S>) -> Vec3Lanes<S> {
        [
            dot(&self.row(0), vectors),
            dot(&self.row(1), vectors),
            dot(&self.row(2), vectors),
        ]
    }

    /// `other` first, then `self`.
    #[inline(always)]
    #[must_use]
    pub(in crate::deform) fn after(&self, other: &FrameLanes<S>) -> FrameLanes<S> {
        let (m, o) = (&self.numbers, &other.numbers);
        let mut numbers = *m;
        for row in [0, 4, 8] {
            for column in 0..4 {
                let sum = m[row].mul_add(
                    o[column],
                    m[row + 1].mul_add(o[4 + column], m[row + 2] * o[8 + column]),
                );
                numbers[row + column] = if column == 3 { sum + m[row + 3] } else { sum };
            }
        }
        FrameLanes {
            numbers,
            doubtful: self.doubtful | other.doubtful,
            rigid: false,
        }
    }

    /// Multiplies each row by a factor.
    #[inline(always)]
    #[must_use]
    pub(in crate::deform) fn scaled(&self, factors: Vec3) -> FrameLanes<S> {
        let mut numbers = self.numbers;
        for (number, value) in numbers.iter_mut().enumerate() {
            *value *= factors[number / 4];
        }
        FrameLanes {
            numbers,
            doubtful: self.doubtful,
            rigid: false,
        }
    }

    /// `self` for a share of 0, `other` for a share of 1; bitwise unchanged if both are equal.
    #[inline(always)]
    #[must_use]
    pub(in crate::deform) fn lerp(&self, other: &FrameLanes<S>, shares: f32x8<S>) -> FrameLanes<S> {
        let mut numbers = self.numbers;
        for (own, other) in numbers.iter_mut().zip(other.numbers) {
            *own = (other - *own).mul_add(shares, *own);
        }
        FrameLanes {
            numbers,
            doubtful: self.doubtful | other.doubtful,
            rigid: false,
        }
    }

    /// The translations, row by row.
    #[inline(always)]
    pub(in crate::deform) fn positions(&self, rest: &Vec3Lanes<S>) -> [Lane; 3] {
        stored(self.transform_points(rest))
    }

    /// The rows of the cofactor matrices, and the determinants.
    #[inline(always)]
    fn cofactors(&self) -> ([Vec3Lanes<S>; 3], f32x8<S>) {
        let (a, b, c) = (self.row(0), self.row(1), self.row(2));
        let first = cross(&b, &c);
        let determinant = dot(&a, &first);
        ([first, cross(&c, &a), cross(&a, &b)], determinant)
    }

    /// Unit normals by the inverse transpose, as in [`Affine::transform_normal`], and the lanes
    /// whose numbers are too large, small or degenerate for this.
    #[inline(always)]
    pub(in crate::deform) fn normals(&self, simd: S, rest: &Vec3Lanes<S>) -> ([Lane; 3], u64) {
        let one = f32x8::splat(simd, 1.0);
        let (mapped, side) = if self.rigid {
            (self.transform_vectors(rest), one)
        } else {
            let ([x, y, z], determinant) = self.cofactors();
            ([dot(&x, rest), dot(&y, rest), dot(&z, rest)], determinant)
        };
        let squared = dot(&mapped, &mapped);
        let factor = (one / squared.sqrt()).copysign(side);
        let [x, y, z] = mapped;
        let usual = squared.simd_ge(1e-24) & squared.simd_lt(1e24);
        let unit = stored([x * factor, y * factor, z * factor]);
        (unit, !usual.to_bitmask())
    }

    /// Unit tangents, as in [`Affine::transform_tangent`], and the lanes that cannot be computed.
    #[inline(always)]
    pub(in crate::deform) fn tangents(&self, simd: S, rest: &[f32x8<S>; 4]) -> ([Lane; 4], u64) {
        let &[x, y, z, sides] = rest;
        let along = self.transform_vectors(&[x, y, z]);
        let squared = dot(&along, &along);
        let factor = f32x8::splat(simd, 1.0) / squared.sqrt();
        let (cofactors, determinant) = self.cofactors();
        // The product of the lengths of the rows, up to rounding: a determinant far below it may
        // have the wrong sign.
        let area = dot(&cofactors[0], &cofactors[0]);
        let length = dot(&self.row(0), &self.row(0));
        let turned = f32x8::splat(simd, 1.0).copysign(determinant) * sides;
        let [x, y, z] = along;
        let tangents = stored([x * factor, y * factor, z * factor, turned]);
        let usual = squared.simd_ge(1e-24)
            & squared.simd_lt(1e24)
            & (determinant * determinant).simd_gt(area * length * 1e-8);
        (tangents, !usual.to_bitmask())
    }
}

/// Loads numbers into registers. With a loop, as for all arrays here: closures in `map` may be
/// compiled without the instruction set.
#[inline(always)]
pub(in crate::deform) fn loaded<S: Simd, const N: usize>(
    simd: S,
    lanes: &[Lane; N],
) -> [f32x8<S>; N] {
    let mut numbers = [f32x8::splat(simd, 0.0); N];
    for at in 0..N {
        numbers[at] = f32x8::from_slice(simd, &lanes[at]);
    }
    numbers
}

/// Stores registers to numbers.
#[inline(always)]
pub(in crate::deform) fn stored<S: Simd, const N: usize>(numbers: [f32x8<S>; N]) -> [Lane; N] {
    let mut lanes = [[0.0; LANES]; N];
    for at in 0..N {
        numbers[at].store_slice(&mut lanes[at]);
    }
    lanes
}

#[inline(always)]
pub(in crate::deform) fn dot<S: Simd>(a: &Vec3Lanes<S>, b: &Vec3Lanes<S>) -> f32x8<S> {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

#[inline(always)]
pub(in crate::deform) fn cross<S: Simd>(a: &Vec3Lanes<S>, b: &Vec3Lanes<S>) -> Vec3Lanes<S> {
    [
        a[1].mul_sub(b[2], a[2] * b[1]),
        a[2].mul_sub(b[0], a[0] * b[2]),
        a[0].mul_sub(b[1], a[1] * b[0]),
    ]
}
