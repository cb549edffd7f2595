//! Swing-twist deformers: at a joint, the twist is blended spherically and the swing linearly.
//!
//! `skinning-course-direct-methods.txt`, §4 and §5 (joint-based deformers). A twist about the bone keeps its thickness only if it is
//! blended as an angle; a bend bulges only if it is. So the rotation of a joint `b` against a joint `a` above it is taken apart,
//! `swing · twist`, with the twist about the bone of `b`. A vertex that has gone a share `s` of the way from `a` to `b` is moved by
//!
//! `Γ_ab(v) = M_a( x_b + s (D x_b − x_b) + ((1−s) I + s Swing) · Rot(axis, s·angle) · (v − x_b) )`, with `D = M_a⁻¹ M_b` and `x_b` the rest
//! position of `b`. Between joints that are not above one another there is no bone to twist, and `Γ` is linear.
//!
//! The papers learn how deformers are weighted; here it comes from the skinning weights: pair by pair, `s = w_b / (w_a + w_b)`, and the
//! deformers are blended linearly by `w_a w_b`. With two influences that is one deformer; as one weight goes to zero, its deformers do; as one
//! goes to one, all of its deformers become the motion of its joint.

use super::direct::Fields;
use super::rigid_motion::{BlendsMotions, RigidMotion, RigidMotions};
use crate::rig::Rig;
use crate::skeleton::BindBone;
use crate::transform::Affine;
use glam::{DQuat, DVec3, Mat3, Vec3};
use std::collections::HashMap;

/// The pairs of joints that share vertices.
#[derive(Clone, Debug)]
pub(super) struct SwingTwistSkin {
    hinges: Vec<Hinge>,
    /// Where each vertex's pairs start; one entry more than vertices.
    starts: Vec<u32>,
    pairs: Vec<Pair>,
}

/// A joint and one above it.
#[derive(Clone, Debug)]
struct Hinge {
    above: u16,
    below: u16,
    /// The rest position of the joint below.
    pivot: DVec3,
    /// The direction of its bone; none if it has no length: then all is swing.
    axis: Option<DVec3>,
}

/// Two influences of a vertex, by their place in its row.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The one above, for a hinge.
    first: u16,
    second: u16,
    /// The hinge between them; none if neither is above the other.
    hinge: Option<u32>,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct SwingTwistPose {
    motions: Vec<Affine>,
    hinges: Vec<HingePose>,
}

#[derive(Clone, Copy, Debug)]
struct HingePose {
    /// Takes the surroundings of the pivot, seen from it, into the world: as the joint above does, and as the swing does.
    above: Affine,
    swung: Affine,
    angle: f32,
    axis: Vec3,
    pivot: Vec3,
}

/// Rows longer than this pair only with their heaviest influence: the number of pairs grows with the square.
const MOST_PAIRED: usize = 64;

impl SwingTwistSkin {
    pub(super) fn bake(rig: &Rig) -> SwingTwistSkin {
        let bones = rig.skeleton().bind_bones();
        let parents: Vec<Option<usize>> = rig
            .skeleton()
            .joints()
            .iter()
            .map(|joint| joint.parent)
            .collect();
        let is_above = |above: usize, below: usize| {
            // Parents have lower indices, so the walk can stop early.
            let mut at = below;
            while let Some(parent) = parents[at].filter(|_| at > above) {
                at = parent;
            }
            at == above && above != below
        };
        let mut index: HashMap<(u16, u16), Option<u32>> = HashMap::new();
        let mut hinges = Vec::new();
        let mut starts = vec![0];
        let mut pairs = Vec::new();
        for vertex in 0..rig.weights().vertex_count() {
            let joints = rig.weights().row(vertex).0;
            let firsts = if joints.len() > MOST_PAIRED {
                1
            } else {
                joints.len()
            };
            for first in 0..firsts {
                for second in first + 1..joints.len() {
                    // The joint with the lower index can only be the one above.
                    let (above, below) = match joints[first] < joints[second] {
                        true => (first, second),
                        false => (second, first),
                    };
                    let key = (joints[above], joints[below]);
                    let hinge = *index.entry(key).or_insert_with(|| {
                        let (above, below) = (usize::from(key.0), usize::from(key.1));
                        is_above(above, below).then(|| {
                            hinges.push(Hinge::new(key, &bones[below]));
                            hinges.len() as u32 - 1
                        })
                    });
                    pairs.push(Pair {
                        first: above as u16,
                        second: below as u16,
                        hinge,
                    });
                }
            }
            starts.push(pairs.len() as u32);
        }
        SwingTwistSkin {
            hinges,
            starts,
            pairs,
        }
    }
}

impl Hinge {
    fn new((above, below): (u16, u16), bone: &BindBone) -> Hinge {
        Hinge {
            above,
            below,
            pivot: bone.head,
            axis: bone.axis(),
        }
    }

    fn pose(&self, motions: &[RigidMotion]) -> HingePose {
        let (above, below) = (
            &motions[usize::from(self.above)],
            &motions[usize::from(self.below)],
        );
        let relative = above.rotation.conjugate() * below.rotation;
        let (swing, angle) = swing_and_twist(relative, self.axis);
        let seen_from_pivot = |rotation: DQuat, place: DVec3| RigidMotion {
            rotation,
            translation: place,
        };
        let above_pivot = above.transform_point(self.pivot);
        let below_pivot = below.transform_point(self.pivot);
        HingePose {
            above: seen_from_pivot(above.rotation, above_pivot).to_affine(),
            swung: seen_from_pivot(above.rotation * swing, below_pivot).to_affine(),
            angle: angle as f32,
            axis: self.axis.unwrap_or(DVec3::X).as_vec3(),
            pivot: self.pivot.as_vec3(),
        }
    }
}

/// Takes a rotation apart: first a twist about an axis by an angle in (−π, π], then a swing that keeps nothing of it.
pub(super) fn swing_and_twist(rotation: DQuat, axis: Option<DVec3>) -> (DQuat, f64) {
    let Some(axis) = axis else {
        return (rotation, 0.0);
    };
    let rotation = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let along = rotation.xyz().dot(axis);
    // A half turn of pure swing has no twist that could be told.
    if along == 0.0 {
        return (rotation, 0.0);
    }
    let angle = 2.0 * along.atan2(rotation.w);
    let swing = rotation * DQuat::from_axis_angle(axis, -angle);
    (swing, angle)
}

/// The rotation about a unit axis; at angle zero it is the identity to the bit.
pub(super) fn turn_about(axis: Vec3, angle: f32) -> Mat3 {
    let (sine, cosine) = angle.sin_cos();
    let cross = Mat3::from_cols(
        Vec3::new(0.0, axis.z, -axis.y),
        Vec3::new(-axis.z, 0.0, axis.x),
        Vec3::new(axis.y, -axis.x, 0.0),
    );
    Mat3::IDENTITY + cross * sine + cross * cross * (1.0 - cosine)
}

impl HingePose {
    /// `Γ` at a share of the way.
    fn frame(&self, share: f32) -> Affine {
        let difference = self.swung.add_scaled(&self.above, -1.0);
        let swing = self.above.add_scaled(&difference, share);
        let twist = turn_about(self.axis, self.angle * share);
        swing.after(&Affine::from_mat3_translation(twist, -(twist * self.pivot)))
    }
}

impl BlendsMotions for SwingTwistSkin {
    type Posed = SwingTwistPose;

    fn pose(&self, motions: &RigidMotions, posed: &mut SwingTwistPose) {
        posed.motions.clear();
        posed
            .motions
            .extend(motions.motions.iter().map(|motion| motion.to_affine()));
        posed.hinges.clear();
        let hinges = self.hinges.iter().map(|hinge| hinge.pose(&motions.motions));
        posed.hinges.extend(hinges);
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &SwingTwistPose,
    ) -> Affine {
        let weight = |place: u16| fields.weights[usize::from(place)];
        let motion = |place: u16| posed.motions[usize::from(joints[usize::from(place)])];
        let pairs = &self.pairs[self.starts[vertex] as usize..self.starts[vertex + 1] as usize];
        let share_of_pair = |pair: &Pair| (weight(pair.first) * weight(pair.second)).abs();
        let total: f32 = pairs.iter().map(share_of_pair).sum();
        let base = motion(0);
        if total <= 0.0 {
            return base;
        }
        // As differences from the heaviest joint: where all agree, the result is that joint's motion to the bit.
        let mut frame = base;
        for pair in pairs {
            let sum = weight(pair.first) + weight(pair.second);
            let share = (weight(pair.second) / sum).clamp(-0.5, 1.5);
            let deformer = match pair.hinge {
                Some(hinge) => posed.hinges[hinge as usize].frame(share),
                None => {
                    let (first, second) = (motion(pair.first), motion(pair.second));
                    first.add_scaled(&second.add_scaled(&first, -1.0), share)
                }
            };
            let difference = deformer.add_scaled(&base, -1.0);
            frame = frame.add_scaled(&difference, share_of_pair(pair) / total);
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;
    use std::f64::consts::PI;

    #[test]
    fn a_rotation_comes_apart_and_together() {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        for (twist, swing) in [(0.4, 0.9), (-2.8, 0.3), (3.0, -2.0), (0.0, 3.1), (PI, 0.0)] {
            let twisted = DQuat::from_axis_angle(axis, twist);
            let swung = DQuat::from_axis_angle(DVec3::Y, swing);
            let (found, angle) = swing_and_twist(swung * twisted, Some(axis));
            assert!((angle - twist).abs() < 1e-12, "{twist} {angle}");
            assert!(found.dot(swung).abs() > 1.0 - 1e-12);
        }
        let half_turn = DQuat::from_axis_angle(DVec3::Y, PI);
        assert_eq!(swing_and_twist(half_turn, Some(DVec3::X)).1, 0.0);
        assert_eq!(swing_and_twist(half_turn, None), (half_turn, 0.0));
    }

    #[test]
    fn turns_are_those_of_quaternions() {
        let axis = Vec3::new(0.36, -0.48, 0.8);
        let expected = DMat3::from_axis_angle(axis.as_dvec3(), 2.1);
        let found = turn_about(axis, 2.1).as_dmat3();
        assert!(found.abs_diff_eq(expected, 1e-6));
        assert_eq!(turn_about(axis, 0.0), Mat3::IDENTITY);
    }
}
