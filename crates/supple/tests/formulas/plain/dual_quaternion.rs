//! Dual quaternions blended linearly (Kavan, Collins, Žára and O'Sullivan 2008, §4 of the course),
//! with the shorter way chosen per vertex or per joint, and the intrinsic average that iterates to
//! the true middle (their algorithm DIB).

use super::algebra::{exponential, logarithm};
use super::{Frame, Influences, Posed};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};

/// `real + ε dual`.
#[derive(Clone, Copy, Debug)]
pub struct DualQuat {
    pub real: DQuat,
    pub dual: DQuat,
}

impl DualQuat {
    pub const ZERO: DualQuat = DualQuat {
        real: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    /// `q + ε t q / 2` of `x ↦ q x q* + t`.
    pub fn of(motion: &DAffine3) -> DualQuat {
        let real = DQuat::from_mat3(&motion.matrix3).normalize();
        let t = motion.translation;
        let dual = hamilton(DQuat::from_xyzw(t.x, t.y, t.z, 0.0), real) * 0.5;
        DualQuat { real, dual }
    }

    pub fn add_scaled(self, other: DualQuat, factor: f64) -> DualQuat {
        DualQuat {
            real: self.real + other.real * factor,
            dual: self.dual + other.dual * factor,
        }
    }

    /// The motion of the normalised dual quaternion: `t = 2 dual real*`, of which normalising
    /// removes the scalar.
    pub fn motion(self) -> DAffine3 {
        let length = self.real.length();
        let (real, dual) = (self.real * length.recip(), self.dual * length.recip());
        DAffine3 {
            matrix3: DMat3::from_quat(real),
            translation: hamilton(dual, real.conjugate()).xyz() * 2.0,
        }
    }
}

/// The product of quaternions, of any length.
fn hamilton(a: DQuat, b: DQuat) -> DQuat {
    let v = b.xyz() * a.w + a.xyz() * b.w + a.xyz().cross(b.xyz());
    DQuat::from_xyzw(v.x, v.y, v.z, a.w * b.w - a.xyz().dot(b.xyz()))
}

/// `⊕`: the weighted sum, each flipped to the side of what was summed before; and the least of the
/// cosines that decided, and the length of the sum.
pub fn sum_of_shorter(terms: impl IntoIterator<Item = (f64, DualQuat)>) -> (DualQuat, f64) {
    let mut sum = DualQuat::ZERO;
    let mut margin: f64 = 1.0;
    for (weight, q) in terms {
        let side = sum.real.dot(q.real);
        if sum.real.length() > 0.0 {
            margin = margin.min(side.abs() / sum.real.length());
        }
        sum = sum.add_scaled(q, if side < 0.0 { -weight } else { weight });
    }
    (sum, margin.min(sum.real.length()))
}

/// The motions of a vertex's joints, blended.
pub fn blended_motion(posed: &Posed, influences: Influences<'_>) -> (DAffine3, f64) {
    let (sum, margin) = sum_of_shorter(
        influences
            .iter()
            .map(|&(joint, weight)| (weight, DualQuat::of(&posed.motion(joint)))),
    );
    (sum.motion(), margin)
}

pub fn dual_quaternion(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let (motion, margin) = blended_motion(posed, influences);
    Frame {
        map: motion * posed.phase_one(influences),
        margin,
    }
}

/// Signs once per joint, each on the side of its parent, further roots on the side of the first;
/// then a plain sum.
pub fn signed_per_joint(posed: &Posed, influences: Influences<'_>) -> (DualQuat, f64) {
    let mut margin: f64 = 1.0;
    let mut signed: Vec<DualQuat> = Vec::new();
    for joint in 0..posed.parents.len() {
        let q = DualQuat::of(&posed.motion(joint));
        let first = signed.first().map_or(q.real, |first| first.real);
        let above = posed.parents[joint].map_or(first, |parent| signed[parent].real);
        let side = above.dot(q.real);
        margin = margin.min(side.abs());
        signed.push(DualQuat::ZERO.add_scaled(q, if side < 0.0 { -1.0 } else { 1.0 }));
    }
    let mut sum = DualQuat::ZERO;
    for &(joint, weight) in influences {
        sum = sum.add_scaled(signed[joint], weight);
    }
    (sum, margin.min(sum.real.length()))
}

pub fn dual_quaternion_per_joint(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let (sum, margin) = signed_per_joint(posed, influences);
    Frame {
        map: sum.motion() * posed.phase_one(influences),
        margin,
    }
}

/// From the linear blend `b`, repeat `x = Σ w_j log(b⁻¹ q_j)`, `b ← b exp(x)`: here with matrices,
/// whose principal logarithm is that of the quaternion on the nearer side.
pub fn dual_quaternion_intrinsic(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let (mut middle, mut margin) = blended_motion(posed, influences);
    for _ in 0..100 {
        let inverse = middle.inverse();
        let mut mean = DMat4::ZERO;
        for &(joint, weight) in influences {
            let apart = inverse * posed.motion(joint);
            let cosine = (DQuat::from_mat3(&apart.matrix3).w).abs();
            if cosine < 0.05 {
                return Frame {
                    map: middle,
                    margin: 0.0,
                };
            }
            margin = margin.min(cosine);
            mean += logarithm(apart) * weight;
        }
        middle *= exponential(mean);
        let step: f64 = mean.to_cols_array().iter().map(|x| x.abs()).sum();
        if step < 1e-11 {
            break;
        }
    }
    Frame {
        map: middle * posed.phase_one(influences),
        margin,
    }
}
