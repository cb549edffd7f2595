//! Linear blend skinning.
//!
//! `skinning-course-direct-methods.txt`, §2, eq. (1): `v' = Σ_j w_j T_j v = (Σ_j w_j T_j) v`. The
//! second form is the frame: the blended matrix, applied once to the position and once to the
//! normal.

use super::direct::{BakedStreams, Direct, FieldKey, Fields, LaneFrames, Streams};
use super::error::DeformError;
use super::lanes::{ChosenRecords, FrameLanes, Group, Packing, blend as blend_lanes};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::transform::{Affine, linear_blend};
use crate::weights::Weights;
use fearless_simd::Simd;
use std::sync::Arc;

/// The baked data of linear blending: the weights.
#[derive(Clone, Debug)]
pub(super) struct LinearSkin {
    packing: Arc<Packing>,
}

impl LinearSkin {
    pub(super) fn bake(rig: &Rig) -> LinearSkin {
        LinearSkin::with_weights(rig.weights().clone())
    }

    /// With weights other than the rig's.
    pub(super) fn with_weights(weights: Weights) -> LinearSkin {
        LinearSkin::packed(Arc::new(Packing::of(weights)))
    }

    /// With weights that are already packed.
    pub(super) fn packed(packing: Arc<Packing>) -> LinearSkin {
        LinearSkin { packing }
    }
}

/// The matrices of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedMatrices {
    matrices: Vec<Affine>,
    records: ChosenRecords<12>,
}

impl Direct for LinearSkin {
    type Posed = PosedMatrices;
    type Lanes = LinearSkin;

    const LINEAR_IN_FIELDS: bool = true;

    fn pose(&self, palette: &[Affine], posed: &mut PosedMatrices) -> Result<(), DeformError> {
        palette.clone_into(&mut posed.matrices);
        let records = palette.iter().map(Affine::to_array);
        posed.records.refill(&self.packing, records);
        Ok(())
    }

    #[inline]
    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: self.packing.weights().row(vertex).1,
            extras: &[],
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        FieldKey::of_weights(self.packing.weights(), vertex, keys);
    }

    #[inline]
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &PosedMatrices) -> Affine {
        let joints = self.packing.weights().row(vertex).0;
        linear_blend(joints, fields.weights, &posed.matrices)
    }

    #[inline]
    fn lanes(&self) -> Option<&LinearSkin> {
        Some(self)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<PosedMatrices>)> {
        Some((StreamLayout::of(Kernel::Linear, 0, 0, 3), self))
    }
}

impl BakedStreams for LinearSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.push_row(self.packing.weights().row(vertex));
    }
}

impl Streams<PosedMatrices> for LinearSkin {
    fn push_pose(
        &self,
        palette: &[Affine],
        _posed: &mut PosedMatrices,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        for matrix in palette {
            stream.push_rows(matrix);
        }
        Ok(())
    }
}

impl LaneFrames<PosedMatrices> for LinearSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(&self, simd: S, group: &Group<'_>, posed: &PosedMatrices) -> FrameLanes<S> {
        FrameLanes::of(blend_lanes(simd, group, &posed.records))
    }
}
