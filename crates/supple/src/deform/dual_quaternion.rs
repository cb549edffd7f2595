//! Dual quaternion skinning: rigid motions blended as unit dual quaternions, then brought back to unit length (DLB).
//!
//! `skinning-course-direct-methods.txt`, §4. `q` and `−q` are the same motion, and the sum must choose. Per vertex
//! (the default): influences are added by falling weight, each with the sign nearer to the sum so far (⊕).
//! Per joint: signs are chosen once per pose along the hierarchy, each joint's nearer to its parent's (roots to the first root's), and vertices add blindly. That
//! is cheaper, and a chain of joints may then wind up by more than half a turn; but joints that are far apart in the hierarchy and
//! share a vertex may be blended the long way round.

use super::antipodality::{Antipodality, Signs};
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

/// What dual quaternion skinning keeps beside the weights.
#[derive(Clone, Debug)]
pub(super) struct DualQuaternionSkin {
    signs: Signs,
}

impl DualQuaternionSkin {
    pub(super) fn bake(rig: &Rig, options: &DualQuaternion) -> DualQuaternionSkin {
        DualQuaternionSkin {
            signs: Signs::bake(rig, options.antipodality),
        }
    }
}

impl BlendsMotions for DualQuaternionSkin {
    type Posed = Vec<DualQuat>;

    fn pose(&self, motions: &RigidMotions, posed: &mut Vec<DualQuat>) {
        posed.clear();
        for motion in &motions.motions {
            self.signs.push(posed, DualQuat::from_motion(motion));
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
        self.signs.sum(joints, fields.weights, posed).to_affine()
    }
}
