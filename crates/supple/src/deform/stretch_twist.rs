//! Stretchable, twistable bones: deformation spread along the bone by endpoint weights.
//!
//! `skinning-course-direct-methods.txt`, §5, Fig. 9. In addition to skinning weights, a vertex has
//! for each of its bones a position `e` along the bone, from 0 at the joint to 1 at the end. With
//! `a`, `b` the ends of the bone at rest and `a'`, `b'` posed:
//!
//! `v' = Σ w_i [ a'_i + R_i · Rot(axis_i, e_i θ_i) · (e_i s_i + v − a_i) ]`, with `s = (|b'−a'| /
//! |b−a| − 1)(b − a)` and `R` the rotation of the bone to its posed direction.
//!
//! In a skeleton, a bone ends at its child joints: if they move away, the bone stretches to them;
//! if the only child twists about the bone by `θ`, as a wrist does, the twist is spread over the
//! whole bone, the forearm. So the vertices of one bone do not move rigidly; this is the purpose of
//! the method. Stretches of the joints themselves come first (two phases): `b − a` is then the
//! stretched bone.
//!
//! In eight lanes, with `Rot(axis, φ) = I + sin φ K + (1 − cos φ) K²`, the map of a bone is a sum
//! of six maps that depend on the pose alone, times `1`, `e`, `sin φ`, `e sin φ`, `1 − cos φ` and
//! `e (1 − cos φ)`: `R`, `R K` and `R K²`, each about `a`, and `R s`, `R K s` and `R K² s`, which
//! are translations.

use super::direct::{FieldKey, Fields, OutsideValue};
use super::error::DeformError;
use super::lanes::{FrameLanes, Group, Lane, MOST_ANGLE, Packing, sine_and_versine};
use super::rigid_motion::{
    BlendsMotions, MotionLanes, MotionStreams, RigidMotion, RigidMotions, joint_heads,
};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::rotation::{rotation_about, swing_and_twist};
use crate::skeleton::same_place;
use crate::surface::Rows;
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use std::sync::Arc;

/// The bones and the endpoint weights.
#[derive(Clone, Debug)]
pub(super) struct StretchTwistSkin {
    bones: Vec<Bone>,
    /// The joints of each vertex.
    joints: Rows<u16>,
    /// Parallel to the joints.
    endpoint_weights: Vec<f32>,
    lanes: EndpointLanes,
}

/// The endpoint weights of eight vertices at a time.
#[derive(Clone, Debug)]
pub(super) struct EndpointLanes {
    packing: Arc<Packing>,
    /// Parallel to the slots of the packing; zero for joints that a vertex does not have.
    ends: Vec<Lane>,
    /// The vertices with extreme endpoint weights, as bits.
    one_by_one: Vec<u8>,
}

/// Beyond this endpoint weight, the angle of a twist may be too large for lanes.
const MOST_END: f32 = 16.0;

#[derive(Clone, Debug)]
struct Bone {
    head: DVec3,
    /// The vector from head to tail at rest.
    along: DVec3,
    /// The child joints that are apart from it, with their rest positions.
    below: Vec<(usize, DVec3)>,
}

/// A bone of a pose.
#[derive(Clone, Copy, Debug)]
struct BonePose {
    /// Maps the surroundings of the head, relative to it, into the world.
    frame: Affine,
    head: Vec3,
    axis: Vec3,
    stretch: Vec3,
    twist: f32,
}

/// The bones of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedBones {
    bones: Vec<BonePose>,
    parts: Vec<BoneParts>,
    /// True if all numbers are finite and all twists moderate.
    in_lanes: bool,
}

/// The maps that sum up to the map of a posed bone.
#[derive(Clone, Copy, Debug)]
struct BoneParts {
    /// `R`, `R K` and `R K²` about the head, row by row.
    maps: [[f32; 12]; 3],
    /// `R s`, `R K s` and `R K² s`.
    stretches: [[f32; 3]; 3],
    twist: f32,
    stretches_along: bool,
}

/// A stretch below this share of the bone is only rounding.
const NO_STRETCH: f64 = 1e-12;

/// The kind of endpoint weights among the fields of a vertex.
const ENDPOINT: u16 = 1;

impl StretchTwistSkin {
    /// If there are no stored endpoint weights, vertices are projected onto their bones.
    pub(super) fn bake(rig: &Rig, stored: Option<&[f32]>) -> Result<StretchTwistSkin, DeformError> {
        let bind = rig.skeleton().bind_bones();
        let same_place = same_place(&joint_heads(rig));
        let mut bones: Vec<Bone> = bind
            .iter()
            .map(|bone| Bone {
                head: bone.head,
                along: bone.tail - bone.head,
                below: Vec::new(),
            })
            .collect();
        for (index, joint) in rig.skeleton().joints().iter().enumerate() {
            let head = bind[index].head;
            if let Some(parent) = joint
                .parent
                .filter(|&parent| bones[parent].head.distance(head) > same_place)
            {
                bones[parent].below.push((index, head));
            }
        }
        let (weights, positions) = (rig.weights(), rig.mesh().positions());
        let (mut joints, mut projected) = (Rows::default(), Vec::new());
        for (vertex, position) in positions.iter().enumerate() {
            let row = weights.row(vertex).0.iter().copied();
            let bones = row.clone().map(|joint| &bones[usize::from(joint)]);
            projected.extend(bones.map(|bone| bone.projection(position.as_dvec3())));
            joints.push_row(row);
        }
        let endpoint_weights = stored.map_or(projected, <[f32]>::to_vec);
        if endpoint_weights.len() != joints.values().len() {
            return Err(DeformError::SizeMismatch {
                what: "endpoint weights",
                found: endpoint_weights.len(),
                expected: joints.values().len(),
            });
        }
        if let Some(bad) = endpoint_weights
            .iter()
            .position(|weight| !weight.is_finite())
        {
            return Err(DeformError::NotFinite {
                what: "endpoint weight",
                vertex: joints.row_of(bad),
            });
        }
        let of_vertex = |vertex: usize| &endpoint_weights[joints.range(vertex)];
        Ok(StretchTwistSkin {
            bones,
            lanes: EndpointLanes::pack(weights, of_vertex),
            joints,
            endpoint_weights,
        })
    }
}

impl EndpointLanes {
    fn pack<'a>(weights: &Weights, of_vertex: impl Fn(usize) -> &'a [f32]) -> EndpointLanes {
        let packing = Arc::new(Packing::with_common_sets(weights.clone()));
        let is_extreme = |vertex: usize| of_vertex(vertex).iter().any(|end| end.abs() > MOST_END);
        let (mut ends, mut one_by_one) = (Vec::new(), Vec::new());
        for group in packing.all_groups() {
            one_by_one.push(group.bits(is_extreme));
            for &joint in group.joints().unwrap_or_default() {
                let end = |vertex: usize| {
                    let mut row = weights.row(vertex).0.iter().zip(of_vertex(vertex));
                    row.find(|(other, _)| **other == joint)
                        .map_or(0.0, |(_, end)| *end)
                };
                ends.push(group.lanes(|vertex| [end(vertex)])[0]);
            }
        }
        EndpointLanes {
            packing,
            ends,
            one_by_one,
        }
    }
}

impl Bone {
    /// The position of a point along the bone, from 0 to 1.
    fn projection(&self, point: DVec3) -> f32 {
        let share = (point - self.head).dot(self.along) / self.along.length_squared();
        if share.is_finite() {
            share.clamp(0.0, 1.0) as f32
        } else {
            0.0
        }
    }

    fn pose(&self, joint: usize, motions: &RigidMotions) -> (BonePose, BoneParts) {
        let motion = &motions.motions[joint];
        let head = motion.transform_point(self.head);
        // The bone after the stretch of its own joint, and its direction if no child had moved.
        let along = motions.stretch(joint) * self.along;
        let unmoved = motion.rotation * along;
        let ends = self
            .below
            .iter()
            .map(|&(below, place)| motions.motions[below].transform_point(place));
        let reach = match self.below.len() {
            0 => unmoved,
            count => ends.sum::<DVec3>() / count as f64 - head,
        };
        let length = along.length();
        let stretch = match length > 0.0 {
            true => along * (reach.length() / length - 1.0),
            false => DVec3::ZERO,
        };
        let swing = match (unmoved.try_normalize(), reach.try_normalize()) {
            (Some(from), Some(to)) => DQuat::from_rotation_arc(from, to),
            _ => DQuat::IDENTITY,
        };
        let axis = self.along.try_normalize();
        let twist = match self.below[..] {
            [(only, _)] => {
                let relative = motion.rotation.conjugate() * motions.motions[only].rotation;
                swing_and_twist(relative, axis).1
            }
            _ => 0.0,
        };
        let frame = RigidMotion {
            rotation: swing * motion.rotation,
            translation: head,
        };
        let axis = axis.unwrap_or(DVec3::X);
        let pose = BonePose {
            frame: frame.to_affine(),
            head: self.head.as_vec3(),
            axis: axis.as_vec3(),
            stretch: stretch.as_vec3(),
            twist: twist as f32,
        };
        (pose, self.parts(&frame, axis, stretch, twist))
    }

    fn parts(&self, frame: &RigidMotion, axis: DVec3, stretch: DVec3, twist: f64) -> BoneParts {
        let rotation = DMat3::from_quat(frame.rotation);
        let cross = DMat3::from_cols(
            DVec3::new(0.0, axis.z, -axis.y),
            DVec3::new(-axis.z, 0.0, axis.x),
            DVec3::new(axis.y, -axis.x, 0.0),
        );
        let turned = [rotation, rotation * cross, rotation * cross * cross];
        let places = [frame.translation, DVec3::ZERO, DVec3::ZERO];
        let stretch = match stretch.length() > NO_STRETCH * self.along.length() {
            true => stretch,
            false => DVec3::ZERO,
        };
        BoneParts {
            maps: std::array::from_fn(|at| {
                let translation = places[at] - turned[at] * self.head;
                let map = DAffine3 {
                    matrix3: turned[at],
                    translation,
                };
                Affine::from_f64(&map).to_array()
            }),
            stretches: turned.map(|map| (map * stretch).as_vec3().to_array()),
            twist: twist as f32,
            stretches_along: stretch != DVec3::ZERO,
        }
    }
}

impl BoneParts {
    fn goes_in_lanes(&self) -> bool {
        let numbers = self.maps.as_flattened().iter();
        let mut numbers = numbers.chain(self.stretches.as_flattened());
        self.twist.abs() * MOST_END <= MOST_ANGLE && numbers.all(|number| number.is_finite())
    }

    /// Adds the map of the bone at some endpoint weights, times the weights of the bone.
    #[inline(always)]
    fn add_to<S: Simd>(
        &self,
        simd: S,
        weights: f32x8<S>,
        ends: f32x8<S>,
        frames: &mut [f32x8<S>; 12],
    ) {
        self.add_part(simd, 0, weights, ends, frames);
        if self.twist != 0.0 {
            let [sine, versine] = sine_and_versine(simd, ends * self.twist);
            self.add_part(simd, 1, weights * sine, ends, frames);
            self.add_part(simd, 2, weights * versine, ends, frames);
        }
    }

    #[inline(always)]
    fn add_part<S: Simd>(
        &self,
        simd: S,
        part: usize,
        factors: f32x8<S>,
        ends: f32x8<S>,
        frames: &mut [f32x8<S>; 12],
    ) {
        for (entry, number) in frames.iter_mut().zip(&self.maps[part]) {
            *entry = factors.mul_add(f32x8::splat(simd, *number), *entry);
        }
        if self.stretches_along {
            let factors = factors * ends;
            for (axis, number) in self.stretches[part].iter().enumerate() {
                let entry = &mut frames[4 * axis + 3];
                *entry = factors.mul_add(f32x8::splat(simd, *number), *entry);
            }
        }
    }
}

impl MotionStreams<PosedBones> for StretchTwistSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.influence_numbers.extend(self.extras(vertex));
    }

    fn push_joints(&self, _motions: &RigidMotions, posed: &PosedBones, stream: &mut PoseStream) {
        for bone in &posed.bones {
            stream.push_rows(&bone.frame);
            stream.joints.push(bone.axis.extend(bone.twist).to_array());
            stream.joints.push(bone.stretch.extend(0.0).to_array());
            stream.joints.push(bone.head.extend(0.0).to_array());
        }
    }
}

impl BlendsMotions for StretchTwistSkin {
    type Posed = PosedBones;
    type Lanes = EndpointLanes;

    /// False: a bone that stretches or twists does not move its vertices rigidly.
    const ONE_JOINT_IS_RIGID: bool = false;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedBones) {
        posed.bones.clear();
        posed.parts.clear();
        for (joint, bone) in self.bones.iter().enumerate() {
            let (pose, parts) = bone.pose(joint, motions);
            posed.bones.push(pose);
            posed.parts.push(parts);
        }
        posed.in_lanes = posed.parts.iter().all(BoneParts::goes_in_lanes);
    }

    fn extras(&self, vertex: usize) -> &[f32] {
        &self.endpoint_weights[self.joints.range(vertex)]
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        keys.extend(self.joints.row(vertex).iter().map(|&joint| FieldKey {
            kind: ENDPOINT,
            owner: u32::from(joint),
            outside: OutsideValue::Unknown,
        }));
    }

    fn lanes(&self) -> Option<&EndpointLanes> {
        Some(&self.lanes)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedBones>)> {
        Some((StreamLayout::of(Kernel::StretchTwist, 0, 1, 6), self))
    }

    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &PosedBones,
    ) -> Affine {
        let mut blend = Affine::ZERO;
        for ((&joint, &weight), &end) in joints.iter().zip(fields.weights).zip(fields.extras) {
            let bone = &posed.bones[usize::from(joint)];
            let twist = rotation_about(bone.axis, bone.twist * end);
            let offset = bone.stretch * end - bone.head;
            let twisted = Affine::from_mat3_translation(twist, twist * offset);
            blend = blend.add_scaled(&bone.frame.after(&twisted), weight);
        }
        blend
    }
}

impl MotionLanes<PosedBones> for EndpointLanes {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, _stretched: bool, posed: &PosedBones) -> bool {
        posed.in_lanes
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedBones,
    ) -> FrameLanes<S> {
        let mut frames = [f32x8::splat(simd, 0.0); 12];
        let slots = group.slots();
        let joints = group.joints().unwrap_or_default();
        let ends = &self.ends[group.slot_range()];
        for (slot, (&joint, ends)) in joints.iter().zip(ends).enumerate() {
            let (weights, ends) = (slots.weights(simd, slot), f32x8::from_slice(simd, ends));
            posed.parts[usize::from(joint)].add_to(simd, weights, ends, &mut frames);
        }
        FrameLanes {
            doubtful: u64::from(self.one_by_one[group.index]),
            ..FrameLanes::of(frames)
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.ends[..]) + size_of_val(&self.one_by_one[..])
    }
}
