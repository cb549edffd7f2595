//! `q` and `−q` are the same rotation: where the sign is chosen before rotations are added.

use crate::rig::Rig;
use glam::Quat;

/// Where the sign of a quaternion is chosen: `q` and `−q` are the same rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Antipodality {
    /// At each vertex, nearer to the sum of the heavier influences: always the shorter way.
    #[default]
    PerVertex,
    /// At each joint, nearer to its parent: once per pose.
    PerJoint,
}

/// The choice of signs for the joints of a rig.
#[derive(Clone, Debug)]
pub(super) struct Signs {
    antipodality: Antipodality,
    parents: Vec<Option<usize>>,
}

/// What has a rotation in it and can be added.
pub(super) trait Addend: Copy {
    const ZERO: Self;

    fn rotation(&self) -> Quat;

    /// `self + other * weight`.
    #[must_use]
    fn add_scaled(&self, other: &Self, weight: f32) -> Self;

    /// `self ⊕ other * weight`: as `other` and `−other` are the same motion, the one on the side of `self` is added.
    #[inline]
    #[must_use]
    fn add_nearer(&self, other: &Self, weight: f32) -> Self {
        if self.rotation().dot(other.rotation()) >= 0.0 {
            self.add_scaled(other, weight)
        } else {
            // A branch of its own: guessed right, as nearly always, the next sum need not wait for the product.
            turned_around();
            self.add_scaled(other, -weight)
        }
    }
}

/// Marks what seldom happens.
#[cold]
#[inline(never)]
fn turned_around() {}

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

    /// Appends the next joint of a pose, parents first, with its sign if that is chosen per joint. Further roots go with the first, whose own sign does not matter.
    pub(super) fn push<T: Addend>(&self, posed: &mut Vec<T>, own: T) {
        let above = match self.antipodality {
            Antipodality::PerVertex => None,
            Antipodality::PerJoint => posed.get(self.parents[posed.len()].unwrap_or(0)),
        };
        let turned = above.is_some_and(|above| above.rotation().dot(own.rotation()) < 0.0);
        posed.push(T::ZERO.add_scaled(&own, if turned { -1.0 } else { 1.0 }));
    }

    /// `⊕` of the papers over a vertex's influences, heaviest first, or the plain sum where signs were chosen per joint.
    #[inline]
    pub(super) fn sum<T: Addend>(&self, joints: &[u16], weights: &[f32], posed: &[T]) -> T {
        self.sum_by(joints, weights.iter().copied(), posed)
    }

    /// The same with weights that come one by one.
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
                // Only signs from elsewhere can cancel out; then the heaviest joint decides.
                match (sum.rotation().length_squared() < 1e-12, joints.first()) {
                    (true, Some(&heaviest)) => posed[usize::from(heaviest)],
                    _ => sum,
                }
            }
        }
    }
}
