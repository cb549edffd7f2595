//! A mix of linear and dual quaternion skinning, by a painted share per vertex.
//!
//! `skinning-course-direct-methods.txt`, §4, on the bulging artifact of dual quaternions: a share
//! of linear blending reduces bulging at bends, but brings back some volume loss at twists. So the
//! share is painted.

use super::direct::{BakedStreams, Direct, FieldKey, Fields, LaneFrames, OutsideValue, Streams};
use super::dual_quaternion::{DualQuaternion, DualQuaternionSkin};
use super::error::DeformError;
use super::lanes::{FrameLanes, Group, Lane, Packing};
use super::linear::LinearSkin;
use super::rigid_motion::TwoPhases;
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::transform::Affine;
use crate::weights::weld_bound;
use fearless_simd::{Simd, SimdBase, f32x8};
use std::sync::Arc;

/// Options of the mix of linear and dual quaternion skinning.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct LinearDualBlend {
    /// The share of dual quaternion skinning in the result: 0 is linear blending, 1 is dual
    /// quaternion skinning; other numbers extrapolate. Vertices at one point of the surface use the
    /// mean of their shares.
    pub dual: DualShare,
}

/// The share of dual quaternion skinning at each vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DualShare {
    /// From [`BakedData::dual_shares`](super::BakedData::dual_shares), or else from the mesh
    /// attribute [`DUAL_SHARE`]; 0.5 where nothing is painted.
    AsPainted,
    /// The same for all vertices.
    Everywhere(f32),
}

impl LinearDualBlend {
    pub(super) const DEFAULT: LinearDualBlend = LinearDualBlend {
        dual: DualShare::AsPainted,
    };
}

impl Default for LinearDualBlend {
    fn default() -> LinearDualBlend {
        LinearDualBlend::DEFAULT
    }
}

/// Both methods, and the share of dual quaternion skinning.
#[derive(Clone, Debug)]
pub(super) struct LinearDualSkin {
    linear: LinearSkin,
    dual: TwoPhases<DualQuaternionSkin>,
    shares: Vec<f32>,
    packing: Arc<Packing>,
    /// The shares, group by group.
    share_lanes: Vec<Lane>,
}

/// The name of the vertex attribute for painted shares: one float from 0 (linear) to 1 (dual
/// quaternions).
pub const DUAL_SHARE: &str = "_DUAL_QUATERNION_SHARE";

const HALF: f32 = 0.5;

/// The kind of the share among the fields of a vertex.
const SHARE: u16 = 1;

impl LinearDualSkin {
    pub(super) fn bake(
        rig: &Rig,
        options: &LinearDualBlend,
        stored: Option<&[f32]>,
    ) -> Result<LinearDualSkin, DeformError> {
        let vertices = rig.mesh().vertex_count();
        let shares = match (options.dual, stored, rig.mesh().painted(DUAL_SHARE)) {
            (DualShare::Everywhere(share), ..) => vec![share; vertices],
            (DualShare::AsPainted, Some(shares), _) => shares.to_vec(),
            (DualShare::AsPainted, None, Some(painted)) => {
                painted.iter().map(|share| share.unwrap_or(HALF)).collect()
            }
            (DualShare::AsPainted, None, None) => vec![HALF; vertices],
        };
        if shares.len() != vertices {
            return Err(DeformError::SizeMismatch {
                what: "shares of dual quaternion skinning",
                found: shares.len(),
                expected: vertices,
            });
        }
        if let Some(vertex) = shares.iter().position(|share| !share.is_finite()) {
            return Err(DeformError::NotFinite {
                what: "share of dual quaternion skinning",
                vertex,
            });
        }
        let weld = weld_bound(rig.mesh().positions(), rig.weights());
        let shares = weld.average(&shares);
        let packing = Arc::new(Packing::of(rig.weights().clone()));
        let options = DualQuaternion::default();
        let dual = DualQuaternionSkin::packed(rig, &options, packing.clone());
        let groups = packing.all_groups();
        let share_lanes = groups.map(|group| group.lanes(|vertex| [shares[vertex]])[0]);
        Ok(LinearDualSkin {
            linear: LinearSkin::packed(packing.clone()),
            dual: TwoPhases::around(rig, dual),
            share_lanes: share_lanes.collect(),
            shares,
            packing,
        })
    }
}

/// The joints of a pose for both methods.
type PosedBoth = (
    <LinearSkin as Direct>::Posed,
    <TwoPhases<DualQuaternionSkin> as Direct>::Posed,
);

impl Direct for LinearDualSkin {
    type Posed = PosedBoth;
    type Lanes = LinearDualSkin;

    fn pose(
        &self,
        palette: &[Affine],
        (linear, dual): &mut Self::Posed,
    ) -> Result<(), DeformError> {
        self.linear.pose(palette, linear)?;
        self.dual.pose(palette, dual)
    }

    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            extras: std::slice::from_ref(&self.shares[vertex]),
            ..self.linear.fields(vertex)
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        self.linear.keys(vertex, keys);
        keys.push(FieldKey {
            kind: SHARE,
            owner: 0,
            outside: OutsideValue::Unknown,
        });
    }

    fn frame(&self, vertex: usize, fields: Fields<'_>, (linear, dual): &Self::Posed) -> Affine {
        let share = fields.extras[0];
        let linear = self.linear.frame(vertex, fields, linear);
        let dual = self.dual.frame(vertex, fields, dual);
        // As a difference: under the identity both frames are equal, and so is their mix, bit for
        // bit.
        linear.lerp(&dual, share)
    }

    #[inline]
    fn lanes(&self) -> Option<&LinearDualSkin> {
        Some(self)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<PosedBoth>)> {
        Some((StreamLayout::of(Kernel::LinearDualBlend, 1, 0, 5), self))
    }
}

impl BakedStreams for LinearDualSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        self.linear.push_vertex(vertex, stream);
        stream.numbers.push(self.shares[vertex]);
    }
}

impl Streams<PosedBoth> for LinearDualSkin {
    fn push_pose(
        &self,
        palette: &[Affine],
        (linear, dual): &mut PosedBoth,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        let mut matrices = PoseStream::default();
        self.linear.push_pose(palette, linear, &mut matrices)?;
        self.dual.push_pose(palette, dual, stream)?;
        let matrices = matrices.joints.chunks_exact(3);
        let joints = matrices.zip(stream.joints.chunks_exact(2));
        let joints = joints.flat_map(|(rows, parts)| rows.iter().chain(parts).copied());
        stream.joints = joints.collect();
        Ok(())
    }
}

impl LaneFrames<PosedBoth> for LinearDualSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        (linear, dual): &PosedBoth,
    ) -> FrameLanes<S> {
        let shares = f32x8::from_slice(simd, &self.share_lanes[group.index]);
        let linear = self.linear.frames(simd, group, linear);
        let dual = self.dual.frames(simd, group, dual);
        linear.lerp(&dual, shares)
    }
}
