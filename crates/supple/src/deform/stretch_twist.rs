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

use super::direct::{FieldKey, Fields, OneByOne, OutsideValue};
use super::error::DeformError;
use super::rigid_motion::{BlendsMotions, MotionStreams, RigidMotion, RigidMotions, joint_heads};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::rotation::{rotation_about, swing_and_twist};
use crate::skeleton::same_place;
use crate::surface::Rows;
use crate::transform::Affine;
use glam::{DQuat, DVec3, Vec3};

/// The bones and the endpoint weights.
#[derive(Clone, Debug)]
pub(super) struct StretchTwistSkin {
    bones: Vec<Bone>,
    /// The joints of each vertex.
    joints: Rows<u16>,
    /// Parallel to the joints.
    endpoint_weights: Vec<f32>,
}

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
pub(super) struct BonePose {
    /// Maps the surroundings of the head, relative to it, into the world.
    frame: Affine,
    head: Vec3,
    axis: Vec3,
    stretch: Vec3,
    twist: f32,
}

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
        Ok(StretchTwistSkin {
            bones,
            joints,
            endpoint_weights,
        })
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

    fn pose(&self, joint: usize, motions: &RigidMotions) -> BonePose {
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
        BonePose {
            frame: frame.to_affine(),
            head: self.head.as_vec3(),
            axis: axis.unwrap_or(DVec3::X).as_vec3(),
            stretch: stretch.as_vec3(),
            twist: twist as f32,
        }
    }
}

impl MotionStreams<Vec<BonePose>> for StretchTwistSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.influence_numbers.extend(self.extras(vertex));
    }

    fn push_joints(&self, _motions: &RigidMotions, posed: &Vec<BonePose>, stream: &mut PoseStream) {
        for bone in posed {
            stream.push_rows(&bone.frame);
            stream.joints.push(bone.axis.extend(bone.twist).to_array());
            stream.joints.push(bone.stretch.extend(0.0).to_array());
            stream.joints.push(bone.head.extend(0.0).to_array());
        }
    }
}

impl BlendsMotions for StretchTwistSkin {
    type Posed = Vec<BonePose>;
    type Lanes = OneByOne;

    /// False: a bone that stretches or twists does not move its vertices rigidly.
    const ONE_JOINT_IS_RIGID: bool = false;

    fn pose(&self, motions: &RigidMotions, posed: &mut Vec<BonePose>) {
        posed.clear();
        let bones = self.bones.iter().enumerate();
        posed.extend(bones.map(|(joint, bone)| bone.pose(joint, motions)));
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

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<Vec<BonePose>>)> {
        Some((StreamLayout::of(Kernel::StretchTwist, 0, 1, 6), self))
    }

    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &Vec<BonePose>,
    ) -> Affine {
        let mut blend = Affine::ZERO;
        for ((&joint, &weight), &end) in joints.iter().zip(fields.weights).zip(fields.extras) {
            let bone = &posed[usize::from(joint)];
            let twist = rotation_about(bone.axis, bone.twist * end);
            let offset = bone.stretch * end - bone.head;
            let twisted = Affine::from_mat3_translation(twist, twist * offset);
            blend = blend.add_scaled(&bone.frame.after(&twisted), weight);
        }
        blend
    }
}
