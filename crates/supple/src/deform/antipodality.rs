//! Signs of quaternions in blends: `q` and `−q` are the same rotation, so a sign must be chosen
//! before rotations are added.

use crate::rig::Rig;
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use glam::{DQuat, Quat};

/// The choice of signs of quaternions; `q` and `−q` are the same rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Antipodality {
    /// At each vertex, on the side of the sum of the heavier influences: always the shortest path.
    #[default]
    PerVertex,
    /// At each joint, on the side of its parent: once per pose.
    PerJoint,
}

/// The choice of signs for the joints of a rig.
#[derive(Clone, Debug)]
pub(super) struct Signs {
    antipodality: Antipodality,
    parents: Vec<Option<usize>>,
}

/// A motion with a rotation that can be added to others.
pub(super) trait Addend: Copy {
    const ZERO: Self;

    fn rotation(&self) -> Quat;

    /// `self + other * weight`.
    #[must_use]
    fn add_scaled(&self, other: &Self, weight: f32) -> Self;

    /// `self ⊕ other * weight`: since `other` and `−other` are the same motion, adds the one on the
    /// side of `self`.
    #[inline]
    #[must_use]
    fn add_nearer(&self, other: &Self, weight: f32) -> Self {
        if !turns_around(self.rotation(), other.rotation()) {
            self.add_scaled(other, weight)
        } else {
            // A separate branch: it is nearly always predicted, so the next sum does not wait for
            // the product.
            unlikely_branch();
            self.add_scaled(other, -weight)
        }
    }
}

/// The cosine below which a quaternion counts as perpendicular to a sum: the joints are half a turn
/// apart. Rounding would decide such a tie differently in every vertex loop and on every GPU, so
/// the next quaternion keeps its own sign. Pose and sum each have an error of at most about `1e-7`,
/// so an exact half turn is always a tie.
pub(super) const TIE: f32 = 2e-6;

/// True if the next quaternion, of unit length, is on the opposite side of a sum, and not in a tie.
#[inline]
pub(super) fn turns_around(sum: Quat, next: Quat) -> bool {
    let along = sum.dot(next);
    along < 0.0 && along * along > TIE * TIE * sum.length_squared()
}

/// [`turns_around`] in double precision.
#[inline]
pub(super) fn turns_around_in_double(sum: DQuat, next: DQuat) -> bool {
    let along = sum.dot(next);
    let tie = f64::from(TIE);
    along < 0.0 && along * along > tie * tie * sum.length_squared()
}

/// The squared length below which a sum of quaternions has cancelled out.
const CANCELLED: f32 = 1e-12;

/// Sums of quaternions for eight vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuatLanes<S: Simd>(pub(super) [f32x8<S>; 4]);

impl<S: Simd> QuatLanes<S> {
    #[inline(always)]
    fn length_squared(&self) -> f32x8<S> {
        let [x, y, z, w] = self.0;
        x.mul_add(x, y.mul_add(y, z.mul_add(z, w * w)))
    }

    /// The lanes whose sum cancels out, as bits. Only signs chosen per joint can cancel out.
    #[inline(always)]
    pub(super) fn cancelled_out(&self) -> u64 {
        !self.length_squared().simd_ge(CANCELLED).to_bitmask()
    }

    /// Two divided by the squared length.
    #[inline(always)]
    pub(super) fn twice_per_square(&self, simd: S) -> f32x8<S> {
        f32x8::splat(simd, 2.0) / self.length_squared()
    }

    /// The rotations, row by row; `s` is [`QuatLanes::twice_per_square`].
    #[inline(always)]
    pub(super) fn to_rotation(self, simd: S, s: f32x8<S>) -> [f32x8<S>; 9] {
        let [x, y, z, w] = self.0;
        let one = f32x8::splat(simd, 1.0);
        let (xs, ys, zs) = (x * s, y * s, z * s);
        let (xx, yy, zz) = (x * xs, y * ys, z * zs);
        let (xy, xz, yz) = (x * ys, x * zs, y * zs);
        let (wx, wy, wz) = (w * xs, w * ys, w * zs);
        [
            one - (yy + zz),
            xy - wz,
            xz + wy,
            xy + wz,
            one - (xx + zz),
            yz - wx,
            xz - wy,
            yz + wx,
            one - (xx + yy),
        ]
    }
}

/// For signs that are chosen once per pose, in which single precision is enough.
impl Addend for DQuat {
    const ZERO: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);

    fn rotation(&self) -> Quat {
        self.as_quat()
    }

    fn add_scaled(&self, other: &DQuat, weight: f32) -> DQuat {
        *self + *other * f64::from(weight)
    }
}

/// Marks an unlikely branch.
#[cold]
#[inline(never)]
fn unlikely_branch() {}

impl Addend for Quat {
    const ZERO: Quat = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);

    #[inline]
    fn rotation(&self) -> Quat {
        *self
    }

    #[inline]
    fn add_scaled(&self, other: &Quat, weight: f32) -> Quat {
        *self + *other * weight
    }
}

impl Signs {
    pub(super) fn bake(rig: &Rig, antipodality: Antipodality) -> Signs {
        let joints = rig.skeleton().joints().iter();
        Signs {
            antipodality,
            parents: joints.map(|joint| joint.parent).collect(),
        }
    }

    /// The choice of signs.
    pub(super) fn antipodality(&self) -> Antipodality {
        self.antipodality
    }

    /// Appends the next joint of a pose, parents first. Chooses its sign if signs are chosen per
    /// joint; further roots follow the first root, whose own sign does not matter.
    pub(super) fn push<T: Addend>(&self, posed: &mut Vec<T>, own: T) {
        let above = match self.antipodality {
            Antipodality::PerVertex => None,
            Antipodality::PerJoint => posed.get(self.parents[posed.len()].unwrap_or(0)),
        };
        let turned = above.is_some_and(|above| turns_around(above.rotation(), own.rotation()));
        posed.push(T::ZERO.add_scaled(&own, if turned { -1.0 } else { 1.0 }));
    }

    /// The `⊕` of the papers over the influences of a vertex, heaviest first; a plain sum if signs
    /// are chosen per joint.
    #[inline]
    pub(super) fn sum<T: Addend>(&self, joints: &[u16], weights: &[f32], posed: &[T]) -> T {
        self.sum_by(joints, weights.iter().copied(), posed)
    }

    /// [`Signs::sum`] with weights from an iterator.
    #[inline]
    pub(super) fn sum_by<T: Addend>(
        &self,
        joints: &[u16],
        weights: impl Iterator<Item = f32>,
        posed: &[T],
    ) -> T {
        let terms = joints.iter().zip(weights);
        let terms = terms.map(|(&joint, weight)| (&posed[usize::from(joint)], weight));
        match self.antipodality {
            Antipodality::PerVertex => {
                terms.fold(T::ZERO, |sum, (term, weight)| sum.add_nearer(term, weight))
            }
            Antipodality::PerJoint => {
                let sum = terms.fold(T::ZERO, |sum, (term, weight)| sum.add_scaled(term, weight));
                // Only signs chosen per joint can cancel out; then the heaviest joint decides.
                match (sum.rotation().length_squared() < CANCELLED, joints.first()) {
                    (true, Some(&heaviest)) => posed[usize::from(heaviest)],
                    _ => sum,
                }
            }
        }
    }
}
