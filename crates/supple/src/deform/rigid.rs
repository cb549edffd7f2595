//! Rigid skinning: one joint per vertex (`skinning-course-direct-methods.txt`, §2, the older games'
//! variant).

use super::direct::{Direct, FieldKey, Fields, Streams};
use super::error::DeformError;
use super::linear::{LinearSkin, PosedMatrices};
use super::streams::StreamLayout;
use crate::rig::Rig;
use crate::transform::Affine;

/// Linear blending with the full weight on the heaviest joint of every vertex; the lowest joint
/// wins ties.
#[derive(Clone, Debug)]
pub(super) struct RigidSkin {
    linear: LinearSkin,
}

impl RigidSkin {
    pub(super) fn bake(rig: &Rig) -> RigidSkin {
        RigidSkin {
            linear: LinearSkin::with_weights(rig.weights().heaviest_only()),
        }
    }
}

impl Direct for RigidSkin {
    type Posed = PosedMatrices;
    type Lanes = LinearSkin;

    fn pose(&self, palette: &[Affine], posed: &mut PosedMatrices) -> Result<(), DeformError> {
        self.linear.pose(palette, posed)
    }

    /// Empty: the frame is constant around every vertex.
    #[inline]
    fn fields(&self, _vertex: usize) -> Fields<'_> {
        Fields {
            weights: &[],
            extras: &[],
        }
    }

    fn keys(&self, _vertex: usize, _keys: &mut Vec<FieldKey>) {}

    #[inline]
    fn frame(&self, vertex: usize, _fields: Fields<'_>, posed: &PosedMatrices) -> Affine {
        self.linear.frame(vertex, self.linear.fields(vertex), posed)
    }

    #[inline]
    fn lanes(&self) -> Option<&LinearSkin> {
        self.linear.lanes()
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<PosedMatrices>)> {
        self.linear.streams()
    }
}
