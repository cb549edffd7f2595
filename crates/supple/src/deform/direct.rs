//! A direct method: one affine frame per vertex. Its two optional capabilities, frames of eight
//! vertices at once and streams for GPUs, are traits of their own, implemented as a whole or not at
//! all.

use super::error::DeformError;
use super::lanes::{FrameLanes, Group, Packing};
use super::streams::{PoseStream, SmoothingStream, StreamLayout, VertexStream};
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::Simd;
use std::fmt::Debug;
use std::sync::Arc;

/// A method whose frame of a vertex depends on the pose and on a few numbers of the vertex.
pub(super) trait Direct: Debug + Send + Sync + 'static {
    /// What is computed once per pose and shared by all vertices. It lives in the caller's
    /// [`Workspace`](super::Workspace), so it must be refilled in place.
    type Posed: Debug + Default + Send + Sync + 'static;

    /// What computes the frames of eight vertices at once; [`OneByOne`] if nothing does.
    type Lanes: LaneFrames<Self::Posed>;

    /// True if the frame is a linear function of the fields.
    const LINEAR_IN_FIELDS: bool = false;

    /// True if shifting all joints alike shifts the result and changes nothing else.
    const FOLLOWS_SHIFTS: bool = true;

    /// Computes what all vertices share in a pose. The palette has as many joints as the rig that
    /// was baked.
    fn pose(&self, palette: &[Affine], posed: &mut Self::Posed) -> Result<(), DeformError>;

    /// The numbers of a vertex on which its frame depends and which vary over the surface.
    fn fields(&self, vertex: usize) -> Fields<'_>;

    /// What each of those numbers stands for, weights first.
    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>);

    /// `posed_from_bind` of a vertex, if it had these fields.
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Self::Posed) -> Affine;

    /// The frames of eight vertices at once; `None` if vertices go one by one.
    fn lanes(&self) -> Option<&Self::Lanes>;

    /// How a GPU reads the method; `None` if it has no kernel.
    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<Self::Posed>)> {
        None
    }

    /// The bytes that a frame reads of what was baked for all vertices, beside the rest surface.
    fn bytes(&self, packing: &Packing) -> usize {
        let rows_known = packing.weights().vertex_count() > 0;
        let vertices = (0..packing.vertex_count()).map(|vertex| {
            let Fields { weights, extras } = self.fields(vertex);
            let rows = if rows_known { 0 } else { weights.len() };
            rows * (size_of::<f32>() + size_of::<u16>()) + size_of_val(extras)
        });
        packing.bytes() + vertices.sum::<usize>()
    }

    /// True if the frame of a vertex turns the surface inside out though no joint of its does: a
    /// flaw that some methods have.
    fn inverts(&self, _vertex: usize, _posed: &Self::Posed) -> bool {
        false
    }

    /// How the frame changes as the fields do: exactly if it is linear in them, else by central
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
    /// True if groups of vertices are better done two at a time.
    const IN_PAIRS: bool = false;

    /// Which vertices go side by side.
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

/// The lanes of methods without any: no value exists.
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

/// Baked data as a GPU reads them.
pub(super) trait BakedStreams: Debug {
    /// What is looked up beside vertices and poses.
    fn table(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What is smoothed before the kernel runs.
    fn smoothing(&self) -> Option<SmoothingStream> {
        None
    }

    /// Appends a vertex.
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream);
}

/// Baked data and poses as a GPU reads them.
pub(super) trait Streams<P>: BakedStreams {
    /// Computes what the kernel reads of a pose, and appends it.
    fn push_pose(
        &self,
        palette: &[Affine],
        posed: &mut P,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError>;
}

/// How far fields are moved for a difference: for a character near the origin, the curvature of a
/// blend and the rounding of `f32` both stay below 1e-3 of the change.
const DIFFERENCE: f32 = 1.0 / 128.0;

/// The numbers of a vertex that its frame depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    /// One per influence.
    pub(super) weights: &'a [f32],
    /// What else a method keeps, in its own order.
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

/// What a field stands for, so that it can be followed from vertex to vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldKey {
    /// Which of a method's kinds of field it is.
    pub(super) kind: u16,
    /// Whose it is: a joint, a chain of joints.
    pub(super) owner: u32,
    /// What it is at a vertex that does not have it.
    pub(super) outside: OutsideValue,
}

/// What a field is where it is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OutsideValue {
    /// Nothing: weights.
    Zero,
    /// Unknown: a place along a bone that the vertex does not follow.
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
