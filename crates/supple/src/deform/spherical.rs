//! Spherical blend skinning: rotations blended about a least-squares center of the joints.
//!
//! `skinning-course-direct-methods.txt`, §4 ("computed using least squares optimization"). For each
//! set of influencing joints, the center `r` is the point that they move to nearly the same
//! position: `min Σ_{i<j} |M_i r − M_j r|²`. Joints that rotate about a common axis leave `r` free
//! along that axis; of all minimisers, the one nearest to the mean rest position of the joints is
//! used. Then `v' = Q (v − r) + Σ w_j M_j r`, with `Q` the normalised sum of the rotations'
//! quaternions. Computed in `f64`: joints with nearly equal rotations have a distant center, for
//! which `f32` has too few digits.

use super::antipodality::turns_around_in_double;
use super::direct::{Fields, OneByOne};
use super::rigid_motion::{BlendsMotions, MotionStreams, RigidMotion, RigidMotions, joint_heads};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::polar::symmetric_eigen;
use crate::rig::Rig;
use crate::transform::Affine;
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;

/// The sets of joints that share a vertex; all vertices of a set have the same center.
#[derive(Clone, Debug)]
pub(super) struct SphericalSkin {
    sets: Vec<JointSet>,
    set_of_vertex: Vec<u32>,
}

#[derive(Clone, Debug)]
struct JointSet {
    joints: Vec<u16>,
    /// The mean rest position of the joints.
    middle: DVec3,
}

/// Directions in which rotations differ by less than about a thousandth of a radian do not move the
/// center: its effect on the result shrinks with the square of that difference.
const SAME_ROTATION: f64 = 5e-7;

impl SphericalSkin {
    pub(super) fn bake(rig: &Rig) -> SphericalSkin {
        let heads = joint_heads(rig);
        let mut index: HashMap<Vec<u16>, u32> = HashMap::new();
        let mut sets = Vec::new();
        let set_of_vertex = (0..rig.weights().vertex_count())
            .map(|vertex| {
                let mut joints = rig.weights().row(vertex).0.to_vec();
                joints.sort_unstable();
                if let Some(&set) = index.get(&joints) {
                    return set;
                }
                let set = sets.len() as u32;
                index.insert(joints.clone(), set);
                let places = joints.iter().map(|&joint| heads[usize::from(joint)]);
                let middle = places.sum::<DVec3>() / joints.len() as f64;
                sets.push(JointSet { joints, middle });
                set
            })
            .collect();
        SphericalSkin {
            sets,
            set_of_vertex,
        }
    }
}

impl JointSet {
    /// The point that the joints move to nearly the same position.
    ///
    /// `Σ_{i<j} |M_i r − M_j r|²` equals `Σ_i |M_i r − mean|²` up to a factor. The cost of the
    /// latter grows with the number of joints, not of pairs.
    fn center(&self, motions: &[RigidMotion]) -> DVec3 {
        let own = || {
            self.joints
                .iter()
                .map(|&joint| &motions[usize::from(joint)])
        };
        let share = 1.0 / self.joints.len() as f64;
        let place = |motion: &RigidMotion| motion.transform_point(self.middle);
        let mean_place = own().map(place).sum::<DVec3>() * share;
        let mean_rotation = own().fold(DMat3::ZERO, |sum, motion| {
            sum + DMat3::from_quat(motion.rotation) * share
        });
        let (mut normal, mut right) = (DMat3::ZERO, DVec3::ZERO);
        for motion in own() {
            let rotation = DMat3::from_quat(motion.rotation) - mean_rotation;
            normal += rotation.transpose() * rotation;
            right += rotation.transpose() * (place(motion) - mean_place);
        }
        let (values, axes) = symmetric_eigen(&normal);
        let along = axes.transpose() * right;
        let step = |value: f64, along: f64| {
            if value > SAME_ROTATION {
                along / value
            } else {
                0.0
            }
        };
        let correction = DVec3::new(
            step(values.x, along.x),
            step(values.y, along.y),
            step(values.z, along.z),
        );
        self.middle - axes * correction
    }
}

impl MotionStreams<Vec<DVec3>> for SphericalSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let set = self.set_of_vertex[vertex];
        stream.numbers.push(f32::from_bits(set));
    }

    fn push_joints(&self, motions: &RigidMotions, centers: &Vec<DVec3>, stream: &mut PoseStream) {
        for motion in &motions.motions {
            let rotation = motion.rotation.as_quat();
            stream.push_motion(rotation.to_array(), motion.translation.as_vec3());
        }
        let centers = centers.iter().map(|center| center.as_vec3().extend(0.0));
        let centers = centers.map(|center| center.to_array());
        stream.shared.extend(centers);
    }
}

impl BlendsMotions for SphericalSkin {
    /// The center of each set.
    type Posed = Vec<DVec3>;
    type Lanes = OneByOne;

    fn pose(&self, motions: &RigidMotions, centers: &mut Vec<DVec3>) {
        centers.clear();
        centers.extend(self.sets.iter().map(|set| set.center(&motions.motions)));
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<Vec<DVec3>>)> {
        let layout = StreamLayout {
            shared: self.sets.len(),
            ..StreamLayout::of(Kernel::Spherical, 1, 0, 2)
        };
        Some((layout, self))
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        centers: &Vec<DVec3>,
    ) -> Affine {
        let center = centers[self.set_of_vertex[vertex] as usize];
        let mut rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let mut shift = DVec3::ZERO;
        for (&joint, &weight) in joints.iter().zip(fields.weights) {
            let (motion, weight) = (&motions.motions[usize::from(joint)], f64::from(weight));
            let side = if turns_around_in_double(rotation, motion.rotation) {
                -weight
            } else {
                weight
            };
            rotation += motion.rotation * side;
            shift += (motion.transform_point(center) - center) * weight;
        }
        let rotation = rotation.normalize();
        let frame = RigidMotion {
            rotation,
            translation: shift + (center - rotation * center),
        };
        frame.to_affine()
    }
}
