//! Dual quaternion skinning (DLB): blends rigid motions as unit dual quaternions and normalises the
//! sum.
//!
//! `skinning-course-direct-methods.txt`, §4. `q` and `−q` are the same motion, so the sum must
//! choose signs. Per vertex (the default): influences are added in order of falling weight, each
//! with the sign nearer to the sum so far (⊕). Per joint: signs are chosen once per pose along the
//! hierarchy, each joint's nearer to its parent's (roots to the first root's), and vertices add
//! without choosing. This is cheaper and lets a chain of joints wind up by more than half a turn;
//! but joints far apart in the hierarchy that share a vertex may be blended the long way round.

use super::antipodality::{Antipodality, Signs};
use super::direct::Fields;
use super::dual_quat::{DualQuat, DualQuatLanes};
use super::lanes::{ChosenRecords, FrameLanes, Group, Packing, blend as blend_lanes};
use super::rigid_motion::{BlendsMotions, MotionLanes, MotionStreams, RigidMotions};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::transform::Affine;
use fearless_simd::Simd;
use std::sync::Arc;

/// Options of dual quaternion skinning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct DualQuaternion {
    /// The choice of signs of quaternions.
    pub antipodality: Antipodality,
}

/// The baked data of dual quaternion skinning, in addition to the weights.
#[derive(Clone, Debug)]
pub(super) struct DualQuaternionSkin {
    signs: Signs,
    packing: Arc<Packing>,
}

impl DualQuaternionSkin {
    pub(super) fn bake(rig: &Rig, options: &DualQuaternion) -> DualQuaternionSkin {
        let packing = Arc::new(Packing::of(rig.weights().clone()));
        DualQuaternionSkin::packed(rig, options, packing)
    }

    /// With weights that are already packed.
    pub(super) fn packed(
        rig: &Rig,
        options: &DualQuaternion,
        packing: Arc<Packing>,
    ) -> DualQuaternionSkin {
        DualQuaternionSkin {
            signs: Signs::bake(rig, options.antipodality),
            packing,
        }
    }
}

/// The motions of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedMotions {
    motions: Vec<DualQuat>,
    records: ChosenRecords<8>,
}

impl BlendsMotions for DualQuaternionSkin {
    type Posed = PosedMotions;
    type Lanes = DualQuaternionSkin;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedMotions) {
        posed.motions.clear();
        for motion in &motions.motions {
            let motion = DualQuat::from_motion(motion);
            self.signs.push(&mut posed.motions, motion);
        }
        let records = posed.motions.iter().map(|motion| motion.to_array());
        posed
            .records
            .refill_with_signs(&self.packing, &self.signs, 8, records);
    }

    #[inline]
    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &PosedMotions,
    ) -> Affine {
        let sum = self.signs.sum(joints, fields.weights, &posed.motions);
        sum.to_affine()
    }

    #[inline]
    fn lanes(&self) -> Option<&DualQuaternionSkin> {
        Some(self)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedMotions>)> {
        let layout = StreamLayout {
            antipodality: self.signs.antipodality(),
            ..StreamLayout::of(Kernel::DualQuaternion, 0, 0, 2)
        };
        Some((layout, self))
    }
}

impl MotionLanes<PosedMotions> for DualQuaternionSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedMotions,
    ) -> FrameLanes<S> {
        let sums = blend_lanes(simd, group, &posed.records);
        DualQuatLanes::new(sums).to_frames(simd)
    }

    /// Zero: nothing in addition to the weights.
    fn bytes(&self) -> usize {
        0
    }
}

impl MotionStreams<PosedMotions> for DualQuaternionSkin {
    /// Nothing in addition to the weights.
    fn push_vertex(&self, _vertex: usize, _stream: &mut VertexStream) {}

    fn push_joints(&self, _motions: &RigidMotions, posed: &PosedMotions, stream: &mut PoseStream) {
        for motion in &posed.motions {
            let parts = [motion.real.to_array(), motion.dual.to_array()];
            stream.joints.extend(parts);
        }
    }
}
