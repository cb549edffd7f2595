//! Dual quaternion skinning: rigid motions blended as unit dual quaternions, then brought back to unit length (DLB).
//!
//! `skinning-course-direct-methods.txt`, §4. `q` and `−q` are the same motion, and the sum must choose. Per vertex
//! (the default): influences are added by falling weight, each with the sign nearer to the sum so far (⊕).
//! Per joint: signs are chosen once per pose along the hierarchy, each joint's nearer to its parent's (roots to the first root's), and vertices add blindly. That
//! is cheaper, and a chain of joints may then wind up by more than half a turn; but joints that are far apart in the hierarchy and
//! share a vertex may be blended the long way round.

use super::direct::Fields;
use super::dual_quat::DualQuat;
use super::rigid_motion::{BlendsMotions, RigidMotions};
use crate::rig::Rig;
use crate::transform::Affine;

/// The options of dual quaternion skinning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualQuaternion {
    /// Where the signs are chosen.
    pub antipodality: Antipodality,
}

/// Where the sign of a dual quaternion is chosen: `q` and `−q` are the same motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Antipodality {
    /// At each vertex, nearer to the sum of the heavier influences: always the shorter way.
    #[default]
    PerVertex,
    /// At each joint, nearer to its parent: once per pose.
    PerJoint,
}

/// What dual quaternion skinning keeps beside the weights.
#[derive(Clone, Debug)]
pub(super) struct DualQuaternionSkin {
    antipodality: Antipodality,
    parents: Vec<Option<usize>>,
}

impl DualQuaternionSkin {
    pub(super) fn bake(rig: &Rig, options: &DualQuaternion) -> DualQuaternionSkin {
        let joints = rig.skeleton().joints().iter();
        DualQuaternionSkin {
            antipodality: options.antipodality,
            parents: joints.map(|joint| joint.parent).collect(),
        }
    }

    /// The blend of a vertex.
    #[inline]
    pub(super) fn blend(&self, joints: &[u16], weights: &[f32], posed: &[DualQuat]) -> Affine {
        let influences = || {
            let joints = joints.iter().map(|&joint| &posed[usize::from(joint)]);
            joints.zip(weights)
        };
        let sum = match self.antipodality {
            Antipodality::PerVertex => influences()
                .fold(DualQuat::ZERO, |sum, (motion, &weight)| {
                    sum.add_nearer(motion, weight)
                }),
            Antipodality::PerJoint => {
                let sum = influences().fold(DualQuat::ZERO, |sum, (motion, &weight)| {
                    sum.add_scaled(motion, weight)
                });
                // Only signs from elsewhere can cancel out; then the heaviest joint decides.
                match (sum.real.length_squared() < 1e-12, joints.first()) {
                    (true, Some(&heaviest)) => posed[usize::from(heaviest)],
                    _ => sum,
                }
            }
        };
        sum.to_affine()
    }
}

impl BlendsMotions for DualQuaternionSkin {
    type Posed = Vec<DualQuat>;

    fn pose(&self, motions: &RigidMotions, posed: &mut Vec<DualQuat>) {
        posed.clear();
        for (motion, parent) in motions.motions.iter().zip(&self.parents) {
            let own = DualQuat::from_motion(motion);
            // Further roots go with the first, whose own sign does not matter.
            let above = match (self.antipodality, parent) {
                (Antipodality::PerVertex, _) => own,
                (Antipodality::PerJoint, Some(parent)) => posed[*parent],
                (Antipodality::PerJoint, None) => posed.first().copied().unwrap_or(own),
            };
            let side = if above.real.dot(own.real) < 0.0 {
                -1.0
            } else {
                1.0
            };
            posed.push(DualQuat::ZERO.add_scaled(&own, side));
        }
    }

    #[inline]
    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &Vec<DualQuat>,
    ) -> Affine {
        self.blend(joints, fields.weights, posed)
    }
}
