//! The figure's clips: poses that stress shoulders, hips, elbows and spine, and a walk.

use super::CharacterError;
use super::bones::Bones;
use super::figure_joints::{ARM, Joints, SideJoints};
use super::leg_pose::{pitch_of, reach};
use super::motion::{Move, mirrored, there_and_back};
use super::{hand_pose, walk};
use crate::clip::Clip;
use glam::{DQuat, DVec3};

pub(super) fn clips(bones: &Bones, joints: &Joints) -> Result<Vec<Clip>, CharacterError> {
    let pose = |name: &str, pose: &dyn Fn(f64) -> Vec<Move>| there_and_back(name, bones, 3, pose);
    let left = &joints.left;
    Ok(vec![
        walk::clip(bones, joints)?,
        pose("arms-raised", &|share| arms_raised(joints, share))?,
        there_and_back("squat", bones, 10, |share| squat(bones, joints, share))?,
        pose("hip-flexion-90", &|share| {
            let bend = (90.0 * share).to_radians();
            vec![
                pitch_of(left.leg.thigh, bend),
                pitch_of(left.leg.shin, -bend),
            ]
        })?,
        pose("elbow-bend-120", &|share| {
            let bend = (120.0 * share).to_radians();
            vec![Move::Turn(left.arm.forearm, -ARM.up(), bend)]
        })?,
        pose("forearm-twist-150", &|share| {
            let twist = (150.0 * share).to_radians();
            vec![Move::Turn(left.arm.forearm_twist, ARM.axis(), twist)]
        })?,
        pose("fist", &|share| {
            hand_pose::fist(&left.arm.hand, &ARM, share)
        })?,
        pose("spine-twist", &|share| spine_twist(joints, share))?,
        pose("look-aside", &|share| look_aside(joints, share))?,
    ])
}

/// The same turn of left and right joints, each the mirror image of the other.
fn both(
    joints: &Joints,
    joint: impl Fn(&SideJoints) -> usize,
    axis: DVec3,
    angle: f64,
) -> [Move; 2] {
    [
        Move::Turn(joint(&joints.left), axis, angle),
        Move::Turn(joint(&joints.right), mirrored(axis), angle),
    ]
}

fn arms_raised(joints: &Joints, share: f64) -> Vec<Move> {
    let degrees = |angle: f64| (angle * share).to_radians();
    let clavicle = both(joints, |side| side.clavicle, DVec3::Z, degrees(22.0));
    let scapula = both(joints, |side| side.scapula, DVec3::Z, degrees(18.0));
    let arm = both(joints, |side| side.arm.upper_arm, DVec3::Z, degrees(95.0));
    [clavicle, scapula, arm].concat()
}

fn spine_twist(joints: &Joints, share: f64) -> Vec<Move> {
    let spine = joints.trunk.spine.iter().chain([&joints.trunk.chest]);
    let turn = |&joint: &usize| Move::Turn(joint, DVec3::Y, (14.0 * share).to_radians());
    let mut moves: Vec<Move> = spine.map(turn).collect();
    let neck = joints.trunk.neck.iter();
    moves.extend(neck.map(|&joint| Move::Turn(joint, DVec3::Y, (-10.0 * share).to_radians())));
    moves
}

/// The head turned over a shoulder, with an open mouth.
fn look_aside(joints: &Joints, share: f64) -> Vec<Move> {
    let [first, second] = joints.trunk.neck;
    let turns = [(first, 18.0), (second, 18.0), (joints.trunk.head, 26.0)];
    let turn = |(joint, angle): (usize, f64)| {
        Move::Turn(
            joint,
            DVec3::new(0.0, 1.0, 0.2),
            (angle * share).to_radians(),
        )
    };
    let mut moves: Vec<Move> = turns.map(turn).into();
    moves.push(pitch_of(joints.trunk.jaw, (-8.0 * share).to_radians()));
    moves
}

fn squat(bones: &Bones, joints: &Joints, share: f64) -> Vec<Move> {
    let sink = DVec3::new(0.0, -0.54, -0.19) * share;
    // The pelvis leans forwards (top to the front), which is a turn about +X.
    let lean = -38f64.to_radians() * share;
    let trunk = &joints.trunk;
    let mut moves = vec![
        Move::Shift(trunk.pelvis, sink),
        pitch_of(trunk.pelvis, lean),
    ];
    for &joint in &trunk.spine[..2] {
        moves.push(pitch_of(joint, 2f64.to_radians() * share));
    }
    for joint in trunk.neck {
        moves.push(pitch_of(joint, 14f64.to_radians() * share));
    }
    let pelvis = bones.positions[trunk.pelvis];
    for side in [&joints.left, &joints.right] {
        let rest = bones.positions[side.leg.thigh] - pelvis;
        let hip = pelvis + sink + DQuat::from_axis_angle(-DVec3::X, lean) * rest;
        let bend = reach(bones, &side.leg, hip, bones.positions[side.leg.foot], lean);
        moves.push(pitch_of(side.leg.thigh, bend.thigh));
        moves.push(pitch_of(side.leg.shin, bend.knee));
        moves.push(pitch_of(side.leg.foot, bend.foot));
    }
    // Arms reach forwards for balance.
    let forwards = (DVec3::Z * 0.9 + ARM.up() * 0.4).normalize();
    let axis = ARM.axis().cross(forwards);
    moves.extend(both(
        joints,
        |side| side.arm.upper_arm,
        axis,
        68f64.to_radians() * share,
    ));
    moves
}
