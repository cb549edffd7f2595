//! Random rigs in random poses.

use crate::common::{in_sockets, palette, posed_joints, rig, rotation, vector};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use proptest::prelude::*;
use supple::skeleton::Node;
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Palette, Rig, Skeleton};

/// A rig in a pose.
#[derive(Clone, Debug)]
pub struct Scene {
    pub rig: Rig,
    pub palette: Palette,
}

impl Scene {
    /// The same with another map after every joint's.
    pub fn moved(&self, after: DAffine3) -> Scene {
        let joints = self.palette.posed_from_bind.iter();
        let moved: Vec<DAffine3> = joints.map(|joint| after * DAffine3::from(*joint)).collect();
        Scene {
            rig: self.rig.clone(),
            palette: palette(&moved),
        }
    }
}

/// The stretch of a joint: a symmetric matrix with factors between `1 / most` and `most`.
fn stretch(most: f64) -> impl Strategy<Value = DMat3> {
    let factor = move || (-1.0..=1.0f64).prop_map(move |power| most.powf(power));
    let factors = (factor(), factor(), factor());
    (rotation(3.0), factors).prop_map(|(axes, (x, y, z))| {
        let axes = DMat3::from_quat(axes);
        axes * DMat3::from_diagonal(DVec3::new(x, y, z)) * axes.transpose()
    })
}

/// A turn, a shift and a stretch for each joint.
type Moves = Vec<(DQuat, DVec3, DMat3)>;

fn moves(
    largest_angle: f64,
    largest_shift: f64,
    most_stretch: f64,
) -> impl Strategy<Value = (Rig, Moves)> {
    let joint = move || {
        (
            rotation(largest_angle),
            vector(largest_shift),
            stretch(most_stretch),
        )
    };
    posed_joints(rig(), move || joint().boxed())
}

/// Every joint goes where it likes, whatever its parent does.
pub fn loose(largest_angle: f64, most_stretch: f64) -> impl Strategy<Value = Scene> {
    moves(largest_angle, 2.0, most_stretch).prop_map(|(rig, moves)| {
        let transforms: Vec<DAffine3> = moves
            .into_iter()
            .map(|(turn, shift, stretch)| DAffine3 {
                matrix3: DMat3::from_quat(turn) * stretch,
                translation: shift,
            })
            .collect();
        let palette = palette(&transforms);
        Scene { rig, palette }
    })
}

/// Every joint is turned about itself against its parent, and a little out of its socket.
pub fn chained(largest_angle: f64, most_stretch: f64) -> impl Strategy<Value = Scene> {
    moves(largest_angle, 0.2, most_stretch).prop_map(|(rig, moves)| {
        let own: Vec<DAffine3> = moves
            .iter()
            .map(|(turn, shift, _)| DAffine3::from_rotation_translation(*turn, *shift))
            .collect();
        let bones = rig.skeleton().bind_bones();
        let motions = in_sockets(&rig, &own).into_iter().zip(bones).zip(moves);
        let transforms: Vec<DAffine3> = motions
            .map(|((motion, bone), (_, _, stretch))| {
                let head = DAffine3::from_translation(bone.head);
                motion * head * DAffine3::from_mat3(stretch) * head.inverse()
            })
            .collect();
        let palette = palette(&transforms);
        Scene { rig, palette }
    })
}

/// Joints one after another, a step apart, from the origin along an axis.
pub fn chain(joints: usize, step: DVec3) -> Skeleton {
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(if joint > 0 {
            step
        } else {
            DVec3::ZERO
        })),
    };
    let all: Vec<usize> = (0..joints).collect();
    Skeleton::bound_at_rest((0..joints).map(node).collect(), &all).unwrap()
}

/// Points, each held by some joints.
pub fn points(skeleton: Skeleton, points: &[(DVec3, Vec<(usize, f64)>)]) -> Rig {
    let positions = points
        .iter()
        .map(|(position, _)| *position)
        .collect::<Vec<_>>();
    let normals = vec![DVec3::Z; points.len()];
    let weights: Vec<_> = points
        .iter()
        .map(|(_, influences)| influences.clone())
        .collect();
    surface(skeleton, &positions, &normals, &weights, Vec::new())
}

pub fn surface(
    skeleton: Skeleton,
    positions: &[DVec3],
    normals: &[DVec3],
    influences: &[Vec<(usize, f64)>],
    triangles: Vec<[u32; 3]>,
) -> Rig {
    let mut weights = WeightsBuilder::new(skeleton.joints().len()).unwrap();
    for row in influences {
        let row = row.iter().map(|&(joint, weight)| (joint, weight as f32));
        weights.push(row, 0).unwrap();
    }
    let single = |vectors: &[DVec3]| vectors.iter().map(|v| v.as_vec3()).collect::<Vec<_>>();
    let mesh = Mesh::new(single(positions), Some(single(normals)), None, triangles).unwrap();
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

/// Every joint of a skeleton turned about itself by the same angle against its parent.
pub fn curl(skeleton: &Skeleton, axis: DVec3, angle: f64) -> Vec<DAffine3> {
    let mut motions: Vec<DAffine3> = Vec::new();
    for (joint, bone) in skeleton.joints().iter().zip(skeleton.bind_bones()) {
        let head = DAffine3::from_translation(bone.head);
        let local = head * DAffine3::from_axis_angle(axis, angle) * head.inverse();
        motions.push(match joint.parent {
            Some(parent) => motions[parent] * local,
            None => local,
        });
    }
    motions
}
