//! Rigid skinning: one joint per vertex (`skinning-course-direct-methods.txt`, §2, the older games'
//! variant).

use super::DeformError;
use super::direct::{Direct, FieldKey, Fields};
use super::lanes::{FrameLanes, Group, Packing};
use super::linear::{LinearSkin, PosedMatrices};
use super::streams::{PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::transform::Affine;
use fearless_simd::Simd;
use std::sync::Arc;

/// Linear blending with all weight on the heaviest joint of every vertex; on a tie on the one with
/// the lower index.
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

    fn pose(&self, palette: &[Affine], posed: &mut PosedMatrices) -> Result<(), DeformError> {
        self.linear.pose(palette, posed)
    }

    /// None: the frame is constant around every vertex.
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

    fn packing(&self) -> Option<&Arc<Packing>> {
        self.linear.packing()
    }

    fn stream_layout(&self) -> Option<StreamLayout> {
        self.linear.stream_layout()
    }

    fn stream_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        self.linear.stream_vertex(vertex, stream);
    }

    fn stream_pose(&self, posed: &PosedMatrices, stream: &mut PoseStream) {
        self.linear.stream_pose(posed, stream);
    }

    #[inline(always)]
    fn frame_lanes<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        posed: &PosedMatrices,
    ) -> FrameLanes<S> {
        self.linear.frame_lanes(simd, group, posed)
    }
}
