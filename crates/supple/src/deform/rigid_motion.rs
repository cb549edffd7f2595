//! Scale and shear for methods that blend rigid motions, in two phases (§4 of the course).
//!
//! Each joint's matrix is split by a polar decomposition into `R·S`. The stretches `S` are blended
//! linearly, each about the rest position of its joint, and applied first; then the method blends
//! the remaining rigid motions. With stretches about the origin, the result would depend on the
//! position of the character.
//!
//! Uniform scale and mirroring shared by all joints are removed before (`common_scale.rs`). For
//! other mirrored matrices and for degenerate ones, [`Polar`] defines the result.

use super::common_scale::{CommonScale, RestScale};
use super::direct::{BakedStreams, Direct, FieldKey, Fields, LaneFrames, OneByOne, Streams};
use super::error::DeformError;
use super::lanes::{ChosenRecords, FrameLanes, Group, Packing, blend as blend_lanes};
use super::streams::{PoseStream, SmoothingStream, StreamLayout, VertexStream};
use crate::polar::Polar;
use crate::rig::Rig;
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::Simd;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::fmt::Debug;
use std::sync::Arc;

/// A rotation, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RigidMotion {
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
}

impl RigidMotion {
    pub(super) fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// `other` first, then `self`.
    pub(super) fn after(&self, other: &RigidMotion) -> RigidMotion {
        RigidMotion {
            rotation: self.rotation * other.rotation,
            translation: self.transform_point(other.translation),
        }
    }

    pub(super) fn to_affine(self) -> Affine {
        let map = DAffine3::from_rotation_translation(self.rotation, self.translation);
        Affine::from_f64(&map)
    }

    pub(super) fn inverse(&self) -> RigidMotion {
        let back = self.rotation.conjugate();
        RigidMotion {
            rotation: back,
            translation: back * -self.translation,
        }
    }
}

/// The largest difference of stretches that are equal up to the rounding of `f32`.
const COMMON_STRETCH: f64 = 1e-5;

/// The joints of a pose, split into stretches and rigid motions.
#[derive(Clone, Debug, Default)]
pub(super) struct RigidMotions {
    /// The motion of each joint after its stretch.
    pub(super) motions: Vec<RigidMotion>,
    /// The stretch of each joint about its own rest position. Empty if no joint stretches.
    pub(super) stretches: Vec<DAffine3>,
    /// The stretches in `f32`, for the vertex loop.
    rounded: Vec<Affine>,
    /// The matrices before the split.
    palette: Vec<Affine>,
    /// The common scale that was removed from all matrices.
    common_scale: CommonScale,
}

impl RigidMotions {
    /// Splits a palette; `heads` are the rest positions of the joints.
    pub(super) fn split(&mut self, palette: &[Affine], heads: &[DVec3], rest_scale: &RestScale) {
        self.palette.clear();
        self.palette.extend_from_slice(palette);
        self.common_scale = rest_scale.common_scale(palette);
        self.motions.clear();
        self.stretches.clear();
        let mut stretches = false;
        for (posed_from_bind, &head) in palette.iter().zip(heads) {
            let map = self.common_scale.removed_from(posed_from_bind);
            let Polar { rotation, stretch } = Polar::of(map.matrix3);
            // T(x) = R·(p + S(x − p)) + r, so r = T(p) − R·p: the stretch need not be inverted.
            self.motions.push(RigidMotion {
                rotation,
                translation: map.transform_point3(head) - rotation * head,
            });
            self.stretches.push(DAffine3 {
                matrix3: stretch,
                translation: head - stretch * head,
            });
            stretches |= stretch != DMat3::IDENTITY;
        }
        self.rounded.clear();
        if stretches {
            self.rounded
                .extend(self.stretches.iter().map(Affine::from_f64));
        } else {
            self.stretches.clear();
        }
    }

    /// The stretch of a joint.
    pub(super) fn stretch(&self, joint: usize) -> DMat3 {
        let stretch = self.stretches.get(joint);
        stretch.map_or(DMat3::IDENTITY, |stretch| stretch.matrix3)
    }

    /// Phase one: the blended stretches. None if no joint stretches.
    #[inline]
    pub(super) fn stretch_blend(&self, joints: &[u16], weights: &[f32]) -> Option<Affine> {
        if self.rounded.is_empty() {
            return None;
        }
        let mut blend = Affine::ZERO;
        for (&joint, &weight) in joints.iter().zip(weights) {
            blend = blend.add_scaled(&self.rounded[usize::from(joint)], weight);
        }
        Some(blend)
    }

    /// Linear blends of points without the common scale, and their stretched rest positions. In
    /// double precision: rounding would distort small patches.
    pub(super) fn blend_linearly<'a>(
        &self,
        rest: &[DVec3],
        row: impl Fn(usize) -> (&'a [u16], &'a [f32]),
        matrices: &mut Vec<DAffine3>,
        stretched: &mut Vec<DVec3>,
        blended: &mut Vec<DVec3>,
    ) {
        matrices.clear();
        matrices.extend(self.motions.iter().map(|motion| {
            DAffine3::from_rotation_translation(motion.rotation, motion.translation)
        }));
        stretched.clear();
        blended.clear();
        for (point, &place) in rest.iter().enumerate() {
            let (joints, weights) = row(point);
            let place = match self.stretch_blend(joints, weights) {
                Some(stretch) => stretch.to_f64().transform_point3(place),
                None => place,
            };
            stretched.push(place);
            let row = joints.iter().zip(weights);
            let images = row.map(|(&joint, &weight)| {
                matrices[usize::from(joint)].transform_point3(place) * f64::from(weight)
            });
            blended.push(images.sum());
        }
    }

    /// Reapplies the common scale to a frame.
    #[inline]
    pub(super) fn with_common_scale(&self, frame: Affine) -> Affine {
        self.common_scale.reapplied_to(frame)
    }

    /// [`RigidMotions::with_common_scale`] for a group of vertices.
    #[inline(always)]
    fn with_common_scale_in_lanes<S: Simd>(&self, frames: FrameLanes<S>) -> FrameLanes<S> {
        match self.common_scale.is_identity() {
            true => frames,
            false => frames.scaled(self.common_scale.factors().as_vec3()),
        }
    }

    /// The motion of all joints if it is the same; then every frame equals it, bit for bit.
    pub(super) fn common(&self) -> Option<Affine> {
        let (first, others) = self.motions.split_first()?;
        let alike = others.iter().all(|motion| motion == first);
        alike.then(|| first.to_affine())
    }

    /// The stretch of all joints if it is the same up to rounding, as for a non-uniform scale of
    /// the node above a mesh.
    pub(super) fn common_stretch(&self) -> Option<DMat3> {
        let (first, others) = self.stretches.split_first()?;
        let alike = |other: &DAffine3| other.matrix3.abs_diff_eq(first.matrix3, COMMON_STRETCH);
        others.iter().all(alike).then_some(first.matrix3)
    }

    /// The position to which a joint's whole map takes a point, without the common scale.
    pub(super) fn carry(&self, joint: usize, point: DVec3) -> DVec3 {
        let stretch = self.stretches.get(joint);
        let stretched = stretch.map_or(point, |stretch| stretch.transform_point3(point));
        self.motions[joint].transform_point(stretched)
    }
}

/// The rest positions of all joints.
pub(super) fn joint_heads(rig: &Rig) -> Vec<DVec3> {
    let bones = rig.skeleton().bind_bones();
    bones.iter().map(|bone| bone.head).collect()
}

/// A method that blends rigid motions.
pub(super) trait BlendsMotions: Debug + Send + Sync + 'static {
    /// Data computed once per pose.
    type Posed: Debug + Default + Send + Sync + 'static;

    /// Computes the frames of eight vertices at once; [`OneByOne`] if the method cannot.
    type Lanes: MotionLanes<Self::Posed>;

    /// True if a vertex with one influence follows its joint rigidly, as for most methods.
    const ONE_JOINT_IS_RIGID: bool = true;

    /// Computes the data shared by all vertices in a pose.
    fn pose(&self, motions: &RigidMotions, posed: &mut Self::Posed);

    /// The fields of a vertex other than its weights.
    fn extras(&self, _vertex: usize) -> &[f32] {
        &[]
    }

    /// The keys of the fields other than weights.
    fn extra_keys(&self, _vertex: usize, _keys: &mut Vec<FieldKey>) {}

    /// Phase two: the frame of a vertex after its stretch.
    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        posed: &Self::Posed,
    ) -> Affine;

    /// Phase two for eight vertices at once; `None` if vertices are processed one by one.
    fn lanes(&self) -> Option<&Self::Lanes>;

    /// The data for GPUs; `None` if the method has no kernel.
    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<Self::Posed>)> {
        None
    }

    /// True if that frame mirrors, which no rotation does.
    fn inverts(
        &self,
        _joints: &[u16],
        _fields: Fields<'_>,
        _motions: &RigidMotions,
        _posed: &Self::Posed,
    ) -> bool {
        false
    }
}

/// Phase two for eight vertices at once, for methods with poses of a type `P`.
pub(super) trait MotionLanes<P>: Debug + Send + Sync + 'static {
    /// True if groups of vertices are faster in pairs. Groups that stretch are then processed one
    /// vertex at a time.
    const IN_PAIRS: bool = false;

    /// The order and grouping of vertices.
    fn packing(&self) -> &Arc<Packing>;

    /// True if the vertices of a group can be processed together in this pose.
    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, _stretched: bool, _posed: &P) -> bool {
        true
    }

    /// Phase two for a group that can be processed together; `stretch` is its phase one.
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        stretch: Option<&FrameLanes<S>>,
        posed: &P,
    ) -> FrameLanes<S>;

    /// Phase two for two groups without stretches.
    #[inline(always)]
    fn frame_pair<S: Simd>(
        &self,
        simd: S,
        [first, second]: [&Group<'_>; 2],
        posed: &P,
    ) -> [FrameLanes<S>; 2] {
        [
            self.frames(simd, first, None, posed),
            self.frames(simd, second, None, posed),
        ]
    }

    /// The bytes of baked data that a frame reads for all vertices, without the packing.
    fn bytes(&self) -> usize;
}

impl<P> MotionLanes<P> for OneByOne {
    fn packing(&self) -> &Arc<Packing> {
        match *self {}
    }

    fn frames<S: Simd>(
        &self,
        _simd: S,
        _group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        _posed: &P,
    ) -> FrameLanes<S> {
        match *self {}
    }

    fn bytes(&self) -> usize {
        match *self {}
    }
}

/// The data of phase two for a GPU, for methods with poses of a type `P`.
pub(super) trait MotionStreams<P>: Debug {
    /// A table that all vertices use in every pose, for this number of joints.
    fn table(&self, _joints: usize) -> Vec<u32> {
        Vec::new()
    }

    /// The smoothing that precedes the kernel.
    fn smoothing(&self) -> Option<SmoothingStream> {
        None
    }

    /// Appends the numbers of a vertex other than its weights.
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream);

    /// False if the GPU computes everything that [`BlendsMotions::pose`] does.
    fn needs_pose(&self) -> bool {
        true
    }

    /// Appends the joints of a pose.
    fn push_joints(&self, motions: &RigidMotions, posed: &P, stream: &mut PoseStream);
}

/// A method that blends rigid motions, with both phases.
#[derive(Clone, Debug)]
pub(super) struct TwoPhases<M> {
    /// The weights: they define the joints of a vertex and the blend of its stretches.
    packing: Arc<Packing>,
    heads: Vec<DVec3>,
    rest_scale: RestScale,
    method: M,
}

impl<M: BlendsMotions> TwoPhases<M> {
    pub(super) fn around(rig: &Rig, method: M) -> TwoPhases<M> {
        TwoPhases::with_weights(rig, rig.weights(), method)
    }

    /// With weights other than the rig's.
    pub(super) fn with_weights(rig: &Rig, weights: &Weights, method: M) -> TwoPhases<M> {
        let in_order = || Packing::in_order(weights.vertex_count(), weights.clone());
        let packing = method.lanes().map(|lanes| lanes.packing().clone());
        TwoPhases {
            packing: packing.unwrap_or_else(|| Arc::new(in_order())),
            heads: joint_heads(rig),
            rest_scale: RestScale::of(rig),
            method,
        }
    }

    #[inline]
    fn row(&self, vertex: usize) -> (&[u16], &[f32]) {
        self.packing.weights().row(vertex)
    }

    #[inline(always)]
    fn one_by_one<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        posed: &PosedPhases<M::Posed>,
    ) -> FrameLanes<S> {
        FrameLanes::one_by_one(simd, group, |vertex| {
            self.frame(vertex, self.fields(vertex), posed)
        })
    }
}

/// The joints of a pose for both phases.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedPhases<P> {
    motions: RigidMotions,
    /// The stretches in lanes; outdated if no joint stretches.
    stretches: ChosenRecords<12>,
    own: P,
}

impl<M: BlendsMotions> Direct for TwoPhases<M> {
    type Posed = PosedPhases<M::Posed>;
    type Lanes = TwoPhases<M>;

    fn pose(&self, palette: &[Affine], posed: &mut Self::Posed) -> Result<(), DeformError> {
        let PosedPhases {
            motions,
            stretches,
            own,
        } = posed;
        motions.split(palette, &self.heads, &self.rest_scale);
        if !motions.rounded.is_empty() && self.method.lanes().is_some() {
            let records = motions.rounded.iter().map(Affine::to_array);
            stretches.refill(&self.packing, records);
        }
        self.method.pose(motions, own);
        Ok(())
    }

    #[inline]
    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: self.row(vertex).1,
            extras: self.method.extras(vertex),
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        FieldKey::of_weights(self.packing.weights(), vertex, keys);
        self.method.extra_keys(vertex, keys);
    }

    #[inline]
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Self::Posed) -> Affine {
        let motions = &posed.motions;
        let joints = self.row(vertex).0;
        if let (&[joint], true) = (joints, M::ONE_JOINT_IS_RIGID) {
            return motions.palette[usize::from(joint)];
        }
        let method = &self.method;
        let frame = method.frame(vertex, joints, fields, motions, &posed.own);
        let frame = match motions.stretch_blend(joints, fields.weights) {
            Some(stretch) => frame.after(&stretch),
            None => frame,
        };
        motions.with_common_scale(frame)
    }

    #[inline]
    fn lanes(&self) -> Option<&TwoPhases<M>> {
        Some(self)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<Self::Posed>)> {
        let (layout, _) = self.method.streams()?;
        Some((layout, self))
    }

    fn bytes(&self, packing: &Packing) -> usize {
        let vertices = 0..packing.vertex_count();
        let extras = || {
            let extras = vertices.map(|vertex| size_of_val(self.method.extras(vertex)));
            extras.sum()
        };
        packing.bytes() + self.method.lanes().map_or_else(extras, MotionLanes::bytes)
    }

    fn inverts(&self, vertex: usize, posed: &Self::Posed) -> bool {
        let joints = self.row(vertex).0;
        let alone = joints.len() == 1 && M::ONE_JOINT_IS_RIGID;
        let fields = self.fields(vertex);
        !alone
            && self
                .method
                .inverts(joints, fields, &posed.motions, &posed.own)
    }
}

/// Methods without lanes are processed vertex by vertex.
impl<M: BlendsMotions> LaneFrames<PosedPhases<M::Posed>> for TwoPhases<M> {
    const IN_PAIRS: bool = M::Lanes::IN_PAIRS;

    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        posed: &PosedPhases<M::Posed>,
    ) -> FrameLanes<S> {
        let (motions, own) = (&posed.motions, &posed.own);
        let stretched = !motions.rounded.is_empty();
        let lanes = match self.method.lanes() {
            Some(lanes) if lanes.goes_together(group, stretched, own) => lanes,
            _ => return self.one_by_one(simd, group, posed),
        };
        let frames = if stretched {
            let stretch = FrameLanes::of(blend_lanes(simd, group, &posed.stretches));
            let frames = lanes.frames(simd, group, Some(&stretch), own);
            frames.after(&stretch)
        } else {
            lanes.frames(simd, group, None, own)
        };
        motions.with_common_scale_in_lanes(frames)
    }

    #[inline(always)]
    fn frame_pair<S: Simd>(
        &self,
        simd: S,
        groups: [&Group<'_>; 2],
        posed: &PosedPhases<M::Posed>,
    ) -> [FrameLanes<S>; 2] {
        let (motions, own) = (&posed.motions, &posed.own);
        let stretched = !motions.rounded.is_empty();
        let together =
            |lanes: &M::Lanes| groups.map(|group| lanes.goes_together(group, stretched, own));
        let (lanes, [first, second]) = match self.method.lanes() {
            Some(lanes) if together(lanes) != [false; 2] => (lanes, together(lanes)),
            _ => {
                return [
                    self.one_by_one(simd, groups[0], posed),
                    self.one_by_one(simd, groups[1], posed),
                ];
            }
        };
        let frames = lanes.frame_pair(simd, groups, own);
        let mut frames = [
            motions.with_common_scale_in_lanes(frames[0]),
            motions.with_common_scale_in_lanes(frames[1]),
        ];
        if !first {
            frames[0] = self.one_by_one(simd, groups[0], posed);
        }
        if !second {
            frames[1] = self.one_by_one(simd, groups[1], posed);
        }
        frames
    }
}

impl<M: BlendsMotions> BakedStreams for TwoPhases<M> {
    fn table(&self) -> Vec<u32> {
        let streams = self.method.streams();
        streams.map_or_else(Vec::new, |(_, streams)| streams.table(self.heads.len()))
    }

    fn smoothing(&self) -> Option<SmoothingStream> {
        self.method.streams()?.1.smoothing()
    }

    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.push_row(self.row(vertex));
        if let Some((_, streams)) = self.method.streams() {
            streams.push_vertex(vertex, stream);
        }
    }
}

impl<M: BlendsMotions> Streams<PosedPhases<M::Posed>> for TwoPhases<M> {
    fn push_pose(
        &self,
        palette: &[Affine],
        posed: &mut PosedPhases<M::Posed>,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        let PosedPhases { motions, own, .. } = posed;
        motions.split(palette, &self.heads, &self.rest_scale);
        stream.factors = motions.common_scale.factors().as_vec3().to_array();
        stream.stretches.extend_from_slice(&motions.rounded);
        if let Some((_, streams)) = self.method.streams() {
            if streams.needs_pose() {
                self.method.pose(motions, own);
            }
            streams.push_joints(motions, own, stream);
        }
        Ok(())
    }
}
