//! Intrinsic blending of dual quaternions (DIB): the mean on the manifold of rigid motions.
//!
//! `skinning-course-direct-methods.txt`, §4, "Lie-algebraic averaging". It starts from the linear
//! blend `b` and repeats `b ← b exp(x)` with the mean of the relative logarithms, `x = Σ w_j
//! log(b⁻¹ q_j)`, until `x` vanishes. For two joints the result is the screw motion between them,
//! at constant speed. Computed in `f64`, because rounding in `f32` would keep the iterations from
//! converging.

use super::antipodality::turns_around_in_double;
use super::direct::{Fields, OneByOne};
use super::rigid_motion::{BlendsMotions, RigidMotion, RigidMotions};
use crate::rig::Rig;
use crate::transform::Affine;
use glam::{DAffine3, DQuat, DVec3};

/// Options of intrinsic blending.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct DualQuaternionIntrinsic {
    /// A vertex has converged when the remaining step is shorter than this, in radians and relative
    /// to the size of the character.
    pub tolerance: f64,
    /// The largest number of steps per vertex: motions half a turn apart may never converge.
    pub most_steps: u32,
}

impl DualQuaternionIntrinsic {
    pub(super) const DEFAULT: DualQuaternionIntrinsic = DualQuaternionIntrinsic {
        tolerance: 1e-9,
        most_steps: 50,
    };
}

impl Default for DualQuaternionIntrinsic {
    fn default() -> DualQuaternionIntrinsic {
        DualQuaternionIntrinsic::DEFAULT
    }
}

/// The baked data of intrinsic blending, in addition to the weights.
#[derive(Clone, Debug)]
pub(super) struct IntrinsicSkin {
    options: DualQuaternionIntrinsic,
    /// The size of the character.
    extent: f64,
}

impl IntrinsicSkin {
    pub(super) fn bake(rig: &Rig, options: &DualQuaternionIntrinsic) -> IntrinsicSkin {
        IntrinsicSkin {
            options: *options,
            extent: f64::from(rig.mesh().extent()),
        }
    }
}

impl BlendsMotions for IntrinsicSkin {
    type Posed = Vec<Screw>;
    type Lanes = OneByOne;

    fn pose(&self, motions: &RigidMotions, posed: &mut Vec<Screw>) {
        posed.clear();
        posed.extend(motions.motions.iter().map(Screw::of));
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &Vec<Screw>,
    ) -> Affine {
        let influences = || {
            let weights = fields.weights.iter().map(|&weight| f64::from(weight));
            let screws = joints.iter().map(|&joint| posed[usize::from(joint)]);
            screws.zip(weights)
        };
        let mut mean = influences()
            .fold(Screw::ZERO, |sum, (screw, weight)| {
                sum.add_scaled(&screw.towards(&sum), weight)
            })
            .normalize();
        let DualQuaternionIntrinsic {
            tolerance,
            most_steps,
        } = self.options;
        for _ in 0..most_steps {
            let back = mean.conjugate();
            let (mut turn, mut shift) = (DVec3::ZERO, DVec3::ZERO);
            for (screw, weight) in influences() {
                let (real, dual) = back.after(&screw.towards(&mean)).log();
                turn += real * weight;
                shift += dual * weight;
            }
            mean = mean.after(&Screw::exp(turn, shift)).normalize();
            if turn.length() <= tolerance && shift.length() <= tolerance * self.extent {
                break;
            }
        }
        mean.to_affine()
    }
}

/// A dual quaternion in `f64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screw {
    real: DQuat,
    dual: DQuat,
}

impl Screw {
    const ZERO: Screw = Screw {
        real: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    fn of(motion: &RigidMotion) -> Screw {
        let half = DQuat::from_vec4((motion.translation * 0.5).extend(0.0));
        Screw {
            real: motion.rotation,
            dual: half * motion.rotation,
        }
    }

    fn add_scaled(&self, other: &Screw, weight: f64) -> Screw {
        Screw {
            real: self.real + other.real * weight,
            dual: self.dual + other.dual * weight,
        }
    }

    /// This motion, with the sign nearer to another motion.
    fn towards(&self, other: &Screw) -> Screw {
        if turns_around_in_double(other.real, self.real) {
            Screw::ZERO.add_scaled(self, -1.0)
        } else {
            *self
        }
    }

    fn conjugate(&self) -> Screw {
        Screw {
            real: self.real.conjugate(),
            dual: self.dual.conjugate(),
        }
    }

    /// `other` first, then `self`.
    fn after(&self, other: &Screw) -> Screw {
        Screw {
            real: self.real * other.real,
            dual: self.real * other.dual + self.dual * other.real,
        }
    }

    /// The nearest unit dual quaternion: real part of length one, dual part perpendicular to it.
    fn normalize(&self) -> Screw {
        let length = self.real.length();
        let real = self.real * length.recip();
        let dual = self.dual * length.recip();
        Screw {
            real,
            dual: dual - real * real.dot(dual),
        }
    }

    /// The logarithm of a unit dual quaternion: a dual vector, half angle and half shift along the
    /// axis of the screw.
    fn log(&self) -> (DVec3, DVec3) {
        let (axis, cosine) = (self.real.xyz(), self.real.w);
        let sine = axis.length();
        let angle = sine.atan2(cosine);
        let (ratio, bend) = if sine < 1e-4 {
            (1.0, 1.0 / 3.0)
        } else {
            let ratio = angle / sine;
            (ratio, (1.0 - ratio * cosine) / (sine * sine))
        };
        let dual = self.dual.xyz() * ratio - axis * (self.dual.w * bend);
        (axis * ratio, dual)
    }

    /// The unit dual quaternion of a logarithm.
    fn exp(turn: DVec3, shift: DVec3) -> Screw {
        let angle = turn.length();
        let along = turn.dot(shift);
        let (sinc, bend) = if angle < 1e-4 {
            (1.0 - angle * angle / 6.0, -1.0 / 3.0)
        } else {
            let sinc = angle.sin() / angle;
            (sinc, (angle.cos() - sinc) / (angle * angle))
        };
        Screw {
            real: DQuat::from_vec4((turn * sinc).extend(angle.cos())),
            dual: DQuat::from_vec4((shift * sinc + turn * (along * bend)).extend(-along * sinc)),
        }
    }

    fn to_affine(self) -> Affine {
        let translation = (self.dual * self.real.conjugate()).xyz() * 2.0;
        Affine::from_f64(&DAffine3::from_rotation_translation(self.real, translation))
    }
}
