//! Dual quaternions: rigid motions that can be added.

use super::antipodality::{Addend, QuatLanes};
use super::lanes::FrameLanes;
use super::rigid_motion::RigidMotion;
use crate::transform::Affine;
use fearless_simd::{Simd, SimdFloat, f32x8};
use glam::{Quat, Vec3, Vec4};

/// A dual quaternion in `f32`. With unit length it is a rigid motion; [`DualQuat::to_affine`]
/// normalises sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DualQuat {
    /// The rotation.
    pub(super) real: Quat,
    /// ½ translation · rotation.
    pub(super) dual: Quat,
}

impl Addend for DualQuat {
    const ZERO: DualQuat = DualQuat {
        real: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        dual: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    #[inline]
    fn rotation(&self) -> Quat {
        self.real
    }

    #[inline]
    fn add_scaled(&self, other: &DualQuat, weight: f32) -> DualQuat {
        DualQuat {
            real: self.real + other.real * weight,
            dual: self.dual + other.dual * weight,
        }
    }
}

impl DualQuat {
    pub(super) const IDENTITY: DualQuat = DualQuat {
        real: Quat::IDENTITY,
        dual: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    pub(super) fn from_motion(motion: &RigidMotion) -> DualQuat {
        let half = (motion.translation * 0.5).extend(0.0);
        let dual = glam::DQuat::from_vec4(half) * motion.rotation;
        DualQuat {
            real: motion.rotation.as_quat(),
            dual: dual.as_quat(),
        }
    }

    /// `other` first, then `self`.
    #[inline]
    #[must_use]
    pub(super) fn after(&self, other: &DualQuat) -> DualQuat {
        DualQuat {
            real: self.real * other.real,
            dual: self.real * other.dual + self.dual * other.real,
        }
    }

    /// The rotation first.
    pub(super) fn to_array(self) -> [f32; 8] {
        let [a, b, c, d] = self.real.to_array();
        let [e, f, g, h] = self.dual.to_array();
        [a, b, c, d, e, f, g, h]
    }

    /// The rigid motion nearest to a sum of motions. Both parts are divided by the length of the
    /// real part; the component of the dual part along the real part drops out of the translation
    /// `2 · dual · conj(real)`.
    #[inline]
    pub(super) fn to_affine(self) -> Affine {
        let [x, y, z, w] = self.real.to_array();
        let s = 2.0 / self.real.length_squared();
        let (real, dual) = (Vec3::new(x, y, z), self.dual.xyz());
        let t = (dual * w - real * self.dual.w + real.cross(dual)) * s;
        let (xx, yy, zz) = (x * x * s, y * y * s, z * z * s);
        let (xy, xz, yz) = (x * y * s, x * z * s, y * z * s);
        let (wx, wy, wz) = (w * x * s, w * y * s, w * z * s);
        Affine {
            rows: [
                Vec4::new(1.0 - (yy + zz), xy - wz, xz + wy, t.x),
                Vec4::new(xy + wz, 1.0 - (xx + zz), yz - wx, t.y),
                Vec4::new(xz - wy, yz + wx, 1.0 - (xx + yy), t.z),
            ],
        }
    }
}

/// Sums of dual quaternions for eight vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualQuatLanes<S: Simd> {
    real: QuatLanes<S>,
    dual: [f32x8<S>; 4],
}

impl<S: Simd> DualQuatLanes<S> {
    #[inline(always)]
    pub(super) fn new(numbers: [f32x8<S>; 8]) -> DualQuatLanes<S> {
        let [a, b, c, d, dual @ ..] = numbers;
        DualQuatLanes {
            real: QuatLanes([a, b, c, d]),
            dual,
        }
    }

    /// `other` first, then `self`. Exact if one of them is the identity.
    #[inline(always)]
    #[must_use]
    pub(super) fn after(&self, other: &DualQuatLanes<S>) -> DualQuatLanes<S> {
        let (real, dual) = (&self.real.0, &self.dual);
        let zero = [real[0] * 0.0, real[1] * 0.0, real[2] * 0.0, real[3] * 0.0];
        let turned = product_added(real, &other.dual, &zero);
        DualQuatLanes {
            real: QuatLanes(product_added(real, &other.real.0, &zero)),
            dual: product_added(dual, &other.real.0, &turned),
        }
    }

    /// [`DualQuat::to_affine`].
    #[inline(always)]
    pub(super) fn to_frames(self, simd: S) -> FrameLanes<S> {
        let s = self.real.twice_per_square(simd);
        let [a, b, c, d, e, f, g, h, i] = self.real.to_rotation(simd, s);
        let [x, y, z, w] = self.real.0;
        let [dx, dy, dz, dw] = self.dual;
        let tx = (dx * w - x * dw + y * dz - z * dy) * s;
        let ty = (dy * w - y * dw + z * dx - x * dz) * s;
        let tz = (dz * w - z * dw + x * dy - y * dx) * s;
        FrameLanes {
            numbers: [a, b, c, tx, d, e, f, ty, g, h, i, tz],
            doubtful: self.real.cancelled_out(),
            rigid: true,
        }
    }
}

/// The product of two quaternions plus another quaternion.
#[inline(always)]
fn product_added<S: Simd>(
    a: &[f32x8<S>; 4],
    b: &[f32x8<S>; 4],
    sum: &[f32x8<S>; 4],
) -> [f32x8<S>; 4] {
    let [x, y, z, w] = *a;
    [
        w.mul_add(b[0], x.mul_add(b[3], y.mul_add(b[2], sum[0] - z * b[1]))),
        w.mul_add(b[1], y.mul_add(b[3], z.mul_add(b[0], sum[1] - x * b[2]))),
        w.mul_add(b[2], z.mul_add(b[3], x.mul_add(b[1], sum[2] - y * b[0]))),
        w.mul_add(b[3], sum[3] - x.mul_add(b[0], y.mul_add(b[1], z * b[2]))),
    ]
}
