//! Quaternions of eight vertices in double precision: `x`, `y`, `z`, `w`.

use fearless_simd::{Simd, SimdBase, SimdFloat, f64x8};

/// The product of two quaternions plus another quaternion; exact if one factor is the identity.
#[inline(always)]
pub(in crate::deform) fn product_added<S: Simd>(
    a: &[f64x8<S>; 4],
    b: &[f64x8<S>; 4],
    sum: &[f64x8<S>; 4],
) -> [f64x8<S>; 4] {
    let [x, y, z, w] = *a;
    [
        w.mul_add(b[0], x.mul_add(b[3], y.mul_add(b[2], sum[0] - z * b[1]))),
        w.mul_add(b[1], y.mul_add(b[3], z.mul_add(b[0], sum[1] - x * b[2]))),
        w.mul_add(b[2], z.mul_add(b[3], x.mul_add(b[1], sum[2] - y * b[0]))),
        w.mul_add(b[3], sum[3] - x.mul_add(b[0], y.mul_add(b[1], z * b[2]))),
    ]
}

/// The product of the first three numbers of each.
#[inline(always)]
pub(in crate::deform) fn dot<S: Simd>(a: &[f64x8<S>], b: &[f64x8<S>]) -> f64x8<S> {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// `Q − I` row by row, for the rotation `Q` of a quaternion of any length.
#[inline(always)]
pub(in crate::deform) fn turn<S: Simd>(simd: S, quaternion: &[f64x8<S>; 4]) -> [f64x8<S>; 9] {
    let [x, y, z, w] = *quaternion;
    let squared = w.mul_add(w, dot(quaternion, quaternion));
    let s = f64x8::splat(simd, 2.0) / squared;
    let (xs, ys, zs) = (x * s, y * s, z * s);
    let (xx, yy, zz) = (x * xs, y * ys, z * zs);
    let (xy, xz, yz) = (x * ys, x * zs, y * zs);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    [
        -(yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        -(xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        -(xx + yy),
    ]
}
