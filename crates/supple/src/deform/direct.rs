//! The interface of direct methods: one affine frame per vertex. Two optional capabilities, frames
//! of eight vertices at once and streams for GPUs, are separate traits that a method implements
//! completely or not at all.

use super::error::DeformError;
use super::lanes::{FrameLanes, Group, Packing};
use super::streams::{PoseStream, SmoothingStream, StreamLayout, VertexStream};
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::Simd;
use std::fmt::Debug;
use std::sync::Arc;

/// A method whose frame of a vertex depends on the pose and on a few numbers of that vertex.
pub(super) trait Direct: Debug + Send + Sync + 'static {
    /// Data computed once per pose and shared by all vertices. It is stored in the caller's
    /// [`Workspace`](super::Workspace), so it must be refilled in place.
    type Posed: Debug + Default + Send + Sync + 'static;

    /// Computes the frames of eight vertices at once; [`OneByOne`] if the method cannot.
    type Lanes: LaneFrames<Self::Posed>;

    /// True if the frame is a linear function of the fields.
    const LINEAR_IN_FIELDS: bool = false;

    /// True if translating all joints equally translates the result and changes nothing else.
    const FOLLOWS_SHIFTS: bool = true;

    /// Computes the data shared by all vertices. The palette has as many joints as the baked rig.
    fn pose(&self, palette: &[Affine], posed: &mut Self::Posed) -> Result<(), DeformError>;

    /// The numbers of a vertex that its frame depends on and that vary over the surface.
    fn fields(&self, vertex: usize) -> Fields<'_>;

    /// The meaning of each of those numbers, weights first.
    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>);

    /// `posed_from_bind` of a vertex with these fields.
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Self::Posed) -> Affine;

    /// Frames of eight vertices at once; `None` if vertices are processed one by one.
    fn lanes(&self) -> Option<&Self::Lanes>;

    /// The data for GPUs; `None` if the method has no kernel.
    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<Self::Posed>)> {
        None
    }

    /// The bytes of baked data that a frame reads for all vertices, without the rest surface.
    fn bytes(&self, packing: &Packing) -> usize {
        let rows_known = packing.weights().vertex_count() > 0;
        let vertices = (0..packing.vertex_count()).map(|vertex| {
            let Fields { weights, extras } = self.fields(vertex);
            let rows = if rows_known { 0 } else { weights.len() };
            rows * (size_of::<f32>() + size_of::<u16>()) + size_of_val(extras)
        });
        packing.bytes() + vertices.sum::<usize>()
    }

    /// True if the frame of a vertex mirrors although none of its joints does: a flaw of some
    /// methods.
    fn inverts(&self, _vertex: usize, _posed: &Self::Posed) -> bool {
        false
    }

    /// The change of the frame as the fields change: exact if it is linear in them, else by central
    /// differences.
    fn frame_change(
        &self,
        vertex: usize,
        fields: Fields<'_>,
        change: Fields<'_>,
        posed: &Self::Posed,
        scratch: &mut Vec<f32>,
    ) -> Affine {
        if Self::LINEAR_IN_FIELDS {
            return self.frame(vertex, change, posed);
        }
        let step = DIFFERENCE / change.largest();
        if !step.is_finite() {
            return Affine::ZERO;
        }
        let ahead = self.frame(vertex, fields.moved(change, step, scratch), posed);
        let behind = self.frame(vertex, fields.moved(change, -step, scratch), posed);
        let half = 0.5 / step;
        Affine::ZERO
            .add_scaled(&ahead, half)
            .add_scaled(&behind, -half)
    }
}

/// Frames of eight vertices at once, for methods with poses of a type `P`.
pub(super) trait LaneFrames<P>: Debug + Send + Sync + 'static {
    /// True if groups of vertices are faster in pairs.
    const IN_PAIRS: bool = false;

    /// The order and grouping of vertices.
    fn packing(&self) -> &Arc<Packing>;

    /// The frames of a group of vertices.
    fn frames<S: Simd>(&self, simd: S, group: &Group<'_>, posed: &P) -> FrameLanes<S>;

    /// The frames of two groups.
    #[inline(always)]
    fn frame_pair<S: Simd>(
        &self,
        simd: S,
        [first, second]: [&Group<'_>; 2],
        posed: &P,
    ) -> [FrameLanes<S>; 2] {
        [
            self.frames(simd, first, posed),
            self.frames(simd, second, posed),
        ]
    }
}

/// The lanes of methods that have none; this type has no values.
#[derive(Clone, Copy, Debug)]
pub(super) enum OneByOne {}

impl<P> LaneFrames<P> for OneByOne {
    fn packing(&self) -> &Arc<Packing> {
        match *self {}
    }

    fn frames<S: Simd>(&self, _simd: S, _group: &Group<'_>, _posed: &P) -> FrameLanes<S> {
        match *self {}
    }
}

/// Baked data for a GPU.
pub(super) trait BakedStreams: Debug {
    /// A table that all vertices use in every pose.
    fn table(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The smoothing that precedes the kernel.
    fn smoothing(&self) -> Option<SmoothingStream> {
        None
    }

    /// Appends a vertex.
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream);
}

/// Baked data and poses for a GPU.
pub(super) trait Streams<P>: BakedStreams {
    /// Computes the data of a pose that the kernel reads, and appends it.
    fn push_pose(
        &self,
        palette: &[Affine],
        posed: &mut P,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError>;
}

/// The step of differences: near the origin, both the curvature of a blend and the rounding of
/// `f32` stay below 1e-3 of the change.
const DIFFERENCE: f32 = 1.0 / 128.0;

/// The numbers of a vertex that its frame depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    /// One per influence.
    pub(super) weights: &'a [f32],
    /// Other numbers of the method, in its own order.
    pub(super) extras: &'a [f32],
}

impl Fields<'_> {
    fn largest(&self) -> f32 {
        let all = self.weights.iter().chain(self.extras);
        all.fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// These fields plus `change * step`, written into `scratch`.
    fn moved<'s>(&self, change: Fields<'_>, step: f32, scratch: &'s mut Vec<f32>) -> Fields<'s> {
        scratch.clear();
        let weights = self.weights.iter().zip(change.weights);
        let extras = self.extras.iter().zip(change.extras);
        scratch.extend(
            weights
                .chain(extras)
                .map(|(value, change)| value + change * step),
        );
        let (weights, extras) = scratch.split_at(self.weights.len());
        Fields { weights, extras }
    }
}

/// The identity of a field, by which it is followed from vertex to vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldKey {
    /// The kind of field, numbered by the method.
    pub(super) kind: u16,
    /// The owner of the field: a joint, a chain of joints.
    pub(super) owner: u32,
    /// The value at vertices that do not store the field.
    pub(super) outside: OutsideValue,
}

/// The value of a field at vertices that do not store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OutsideValue {
    /// Zero, as for weights.
    Zero,
    /// Unknown, as for positions along a bone that the vertex does not follow.
    Unknown,
}

impl FieldKey {
    /// The kind of plain weights.
    pub(super) const WEIGHT: u16 = 0;

    /// The keys of a vertex's weights.
    pub(super) fn of_weights(weights: &Weights, vertex: usize, keys: &mut Vec<FieldKey>) {
        keys.extend(weights.row(vertex).0.iter().map(|&joint| FieldKey {
            kind: FieldKey::WEIGHT,
            owner: u32::from(joint),
            outside: OutsideValue::Zero,
        }));
    }
}
