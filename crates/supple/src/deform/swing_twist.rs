//! Swing-twist deformers: at a joint, the twist is blended spherically and the swing linearly.
//!
//! `skinning-course-direct-methods.txt`, §4 and §5 (joint-based deformers). A twist about the bone
//! keeps its volume only if it is blended as an angle (linear blending has the candy-wrapper
//! artifact); a bend bulges if it is. So the rotation of a joint `b` relative to a joint `a` above
//! it is decomposed into `swing · twist`, with the twist about the bone of `b`. A vertex at a share
//! `s` of the way from `a` to `b` is moved by
//!
//! `Γ_ab(v) = M_a( x_b + s (D x_b − x_b) + ((1−s) I + s Swing) · Rot(axis, s·angle) · (v − x_b) )`,
//! with `D = M_a⁻¹ M_b` and `x_b` the rest position of `b`. Of the angles of the same twist, the
//! one nearest to the sum of the twists from `a` to `b` is used. Between joints of which neither is
//! above the other there is no bone to twist, and `Γ` is linear.
//!
//! The papers learn the weights of deformers; here they follow from the skinning weights: pair by
//! pair, `s = w_b / (w_a + w_b)`, and the difference of each deformer to linear blending is blended
//! linearly,
//!
//! `v' = Σ w_j M_j v + Σ_ab p_ab (Γ_ab(v) − ((1−s) M_a + s M_b) v)`, with `p_ab = w_a w_b / Σ w_a
//! w_b`.
//!
//! A bend without twist is exactly linear blending, for any number of influences. Two influences
//! are one deformer. As a weight goes to zero, its deformers vanish; as it goes to one, the result
//! becomes the motion of its joint.

use super::direct::{Fields, OneByOne};
use super::rigid_motion::{BlendsMotions, MotionStreams, RigidMotion, RigidMotions};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::rotation::{rotation_about, swing_and_twist};
use crate::skeleton::BindBone;
use crate::transform::{Affine, linear_blend};
use glam::{DQuat, DVec3, Vec3};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// The pairs of joints that share vertices.
#[derive(Clone, Debug)]
pub(super) struct SwingTwistSkin {
    hinges: Vec<Hinge>,
    /// The hinges of each set of joints, shared by all vertices with the same joints in the same
    /// order.
    rows: Vec<Vec<Pair>>,
    row_of_vertex: Vec<u32>,
}

/// A joint and one of its ancestors.
#[derive(Clone, Debug)]
struct Hinge {
    above: u16,
    below: u16,
    /// The rest position of the joint below.
    pivot: DVec3,
    /// The direction of its bone; none if it has no length. Then all rotation is swing.
    axis: Option<DVec3>,
    /// The joints on the way down, each with the direction of its bone; ends with the joint below.
    steps: Vec<(u16, Option<DVec3>)>,
}

/// Two influences of a row, by position, and the hinge between them.
#[derive(Clone, Copy, Debug)]
struct Pair {
    above: u16,
    below: u16,
    hinge: u32,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct SwingTwistPose {
    motions: Vec<Affine>,
    hinges: Vec<HingePose>,
}

/// The number of vectors of four numbers of a posed hinge, for GPUs.
const HINGE_VECTORS: usize = 8;

#[derive(Clone, Copy, Debug)]
struct HingePose {
    /// Map the surroundings of the pivot, relative to it, into the world: as the joint above does,
    /// and as the swing does.
    above: Affine,
    swung: Affine,
    angle: f32,
    axis: Vec3,
    pivot: Vec3,
}

impl SwingTwistSkin {
    pub(super) fn bake(rig: &Rig) -> SwingTwistSkin {
        let bones = rig.skeleton().bind_bones();
        let joints = rig.skeleton().joints().iter();
        let parents: Vec<Option<usize>> = joints.map(|joint| joint.parent).collect();
        let is_above = |above: usize, below: usize| {
            // Parents have lower indices, so the walk can stop early.
            let mut at = below;
            while let Some(parent) = parents[at].filter(|_| at > above) {
                at = parent;
            }
            at == above && above != below
        };
        let mut hinge_of: HashMap<(u16, u16), u32> = HashMap::new();
        let mut hinges = Vec::new();
        let mut pairs_of = |joints: &[u16]| {
            let mut pairs = Vec::new();
            for (first, &a) in joints.iter().enumerate() {
                for (second, &b) in joints.iter().enumerate() {
                    if !is_above(usize::from(a), usize::from(b)) {
                        continue;
                    }
                    let hinge = *hinge_of.entry((a, b)).or_insert_with(|| {
                        hinges.push(Hinge::new((a, b), &bones, &parents));
                        hinges.len() as u32 - 1
                    });
                    pairs.push(Pair {
                        above: first as u16,
                        below: second as u16,
                        hinge,
                    });
                }
            }
            pairs
        };
        let mut index: HashMap<&[u16], u32> = HashMap::new();
        let mut rows = Vec::new();
        let row_of_vertex = (0..rig.weights().vertex_count())
            .map(|vertex| {
                let joints = rig.weights().row(vertex).0;
                *index.entry(joints).or_insert_with(|| {
                    rows.push(pairs_of(joints));
                    rows.len() as u32 - 1
                })
            })
            .collect();
        SwingTwistSkin {
            hinges,
            rows,
            row_of_vertex,
        }
    }
}

impl Hinge {
    fn new((above, below): (u16, u16), bones: &[BindBone], parents: &[Option<usize>]) -> Hinge {
        let bone = &bones[usize::from(below)];
        let upwards = std::iter::successors(Some(usize::from(below)), |&joint| parents[joint]);
        let between = upwards.take_while(|&joint| joint != usize::from(above));
        let mut steps: Vec<_> = between
            .map(|joint| (joint as u16, bones[joint].axis()))
            .collect();
        steps.reverse();
        Hinge {
            above,
            below,
            pivot: bone.head,
            axis: bone.axis(),
            steps,
        }
    }

    /// The sum of the twists of all joints on the way down: how often the chain winds around.
    fn winding(&self, motions: &[RigidMotion]) -> f64 {
        let mut from = &motions[usize::from(self.above)];
        let mut sum = 0.0;
        for &(joint, axis) in &self.steps {
            let to = &motions[usize::from(joint)];
            sum += swing_and_twist(from.rotation.conjugate() * to.rotation, axis).1;
            from = to;
        }
        sum
    }

    fn pose(&self, motions: &[RigidMotion]) -> HingePose {
        let (above, below) = (
            &motions[usize::from(self.above)],
            &motions[usize::from(self.below)],
        );
        let relative = above.rotation.conjugate() * below.rotation;
        let (swing, angle) = swing_and_twist(relative, self.axis);
        // Of all angles of the same twist, the one nearest to the sum over the joints between.
        let angle = angle + TAU * ((self.winding(motions) - angle) / TAU).round();
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

impl HingePose {
    /// The difference of `Γ` to linear blending at a share of the way. Bitwise zero without a
    /// twist.
    fn beyond_linear(&self, share: f32) -> Affine {
        let swing = self.above.lerp(&self.swung, share);
        let below = self.swung.after(&self.turned(self.angle));
        let twisted = swing.after(&self.turned(self.angle * share));
        let untwisted = self.above.after(&self.turned(0.0)).lerp(&below, share);
        twisted.add_scaled(&untwisted, -1.0)
    }

    /// A rotation about the bone through the pivot, relative to the pivot.
    fn turned(&self, angle: f32) -> Affine {
        let turn = rotation_about(self.axis, angle);
        Affine::from_mat3_translation(turn, -(turn * self.pivot))
    }
}

impl MotionStreams<SwingTwistPose> for SwingTwistSkin {
    fn table(&self, joints: usize) -> Vec<u32> {
        let mut table = vec![0; joints * joints];
        for (index, hinge) in self.hinges.iter().enumerate() {
            let place = usize::from(hinge.above) * joints + usize::from(hinge.below);
            table[place] = index as u32 + 1;
        }
        table
    }

    /// Nothing: the hinges of a vertex follow from its joints.
    fn push_vertex(&self, _vertex: usize, _stream: &mut VertexStream) {}

    fn push_joints(
        &self,
        _motions: &RigidMotions,
        posed: &SwingTwistPose,
        stream: &mut PoseStream,
    ) {
        for matrix in &posed.motions {
            stream.push_rows(matrix);
        }
        for hinge in &posed.hinges {
            let frames = [&hinge.above, &hinge.swung].map(|frame| frame.rows);
            let rows = frames.as_flattened().iter().copied();
            let ends = [hinge.axis.extend(hinge.angle), hinge.pivot.extend(0.0)];
            let vectors = rows.chain(ends).map(|vector| vector.to_array());
            stream.shared.extend(vectors);
        }
    }
}

impl BlendsMotions for SwingTwistSkin {
    type Posed = SwingTwistPose;
    type Lanes = OneByOne;

    fn pose(&self, motions: &RigidMotions, posed: &mut SwingTwistPose) {
        posed.motions.clear();
        posed
            .motions
            .extend(motions.motions.iter().map(|motion| motion.to_affine()));
        posed.hinges.clear();
        let hinges = self.hinges.iter().map(|hinge| hinge.pose(&motions.motions));
        posed.hinges.extend(hinges);
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<SwingTwistPose>)> {
        let layout = StreamLayout {
            shared: self.hinges.len() * HINGE_VECTORS,
            ..StreamLayout::of(Kernel::SwingTwist, 0, 0, 3)
        };
        Some((layout, self))
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &SwingTwistPose,
    ) -> Affine {
        let mut frame = linear_blend(joints, fields.weights, &posed.motions);
        // Σ w_a w_b over all pairs, from the sums over all influences.
        let sum: f32 = fields.weights.iter().sum();
        let squares: f32 = fields.weights.iter().map(|weight| weight * weight).sum();
        let total = 0.5 * (sum * sum - squares);
        for pair in &self.rows[self.row_of_vertex[vertex] as usize] {
            let hinge = &posed.hinges[pair.hinge as usize];
            let weight = |place: u16| fields.weights[usize::from(place)];
            let (above, below) = (weight(pair.above), weight(pair.below));
            // Fields that are varied for a finite difference may leave the range of real weights.
            let importance = above * below / total;
            let share = below / (above + below);
            if hinge.angle != 0.0 && importance.is_finite() && share.is_finite() {
                let beyond = hinge.beyond_linear(share.clamp(-0.5, 1.5));
                frame = frame.add_scaled(&beyond, importance.clamp(-1.0, 2.0));
            }
        }
        frame
    }
}
