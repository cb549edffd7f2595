//! The figure's clips.

use super::CharacterError;
use super::cage::smooth_step;
use super::bones::{Bones, Move, mirrored, sampled, there_and_back};
use super::figure::{ARM, Joints, SideJoints};
use super::hand::HandJoints;
use super::upper_limb::ArmPlacement;
use crate::clip::Clip;
use glam::{DQuat, DVec2, DVec3};
use std::f64::consts::{PI, TAU};

pub(super) fn clips(bones: &Bones, joints: &Joints) -> Result<Vec<Clip>, CharacterError> {
    let pose = |name: &str, keys: usize, pose: &dyn Fn(f64) -> Vec<Move>| {
        there_and_back(name, bones, keys, pose)
    };
    let left = &joints.left;
    Ok(vec![
        pose("arms raised", 3, &|share| arms_raised(joints, share))?,
        pose("squat", 10, &|share| squat(bones, joints, share))?,
        pose("hip flexion 90", 3, &|share| {
            let bend = (90f64 * share).to_radians();
            vec![
                Move::Turn(left.leg.thigh, -DVec3::X, bend),
                Move::Turn(left.leg.shin, DVec3::X, bend),
            ]
        })?,
        pose("elbow bend 120", 3, &|share| {
            vec![Move::Turn(left.arm.forearm, -ARM.up(), (120.0 * share).to_radians())]
        })?,
        pose("forearm twist 150", 3, &|share| {
            vec![Move::Turn(left.arm.forearm_twist, ARM.axis(), (150.0 * share).to_radians())]
        })?,
        pose("spine twist", 3, &|share| spine_twist(joints, share))?,
        pose("fist", 3, &|share| fist(&left.arm.hand, &ARM, share))?,
        sampled("walk", bones, STRIDE_SECONDS, 24, |time| {
            walk(bones, joints, time / STRIDE_SECONDS)
        })?,
    ])
}

/// The same turn of left and right joints, each the mirror image of the other.
fn both(joints: &Joints, joint: impl Fn(&SideJoints) -> usize, axis: DVec3, angle: f64) -> [Move; 2] {
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

/// All fingers of a left hand curled into the palm, the thumb across them.
pub(super) fn fist(hand: &HandJoints, arm: &ArmPlacement, share: f64) -> Vec<Move> {
    const CURL: [f64; 4] = [4.0, 74.0, 88.0, 52.0];
    let degrees = |angle: f64| (angle * share).to_radians();
    let mut moves = Vec::new();
    for finger in hand.fingers {
        let bones = finger.iter().zip(CURL);
        moves.extend(bones.map(|(&joint, curl)| Move::Turn(joint, -DVec3::Z, degrees(curl))));
    }
    let across = arm.axis() * 0.8 - DVec3::Z * 0.3 + arm.up() * 0.55;
    let thumb = hand.thumb.iter().zip([30.0, 25.0, 45.0]);
    moves.extend(thumb.map(|(&joint, curl)| Move::Turn(joint, across, degrees(curl))));
    moves
}

/// The angles of a leg about −X that put the ankle somewhere, with the sole level.
struct LegBend {
    thigh: f64,
    knee: f64,
    foot: f64,
}

/// Two bones in the plane of X: from the hip at `hip` to the ankle at `ankle`, with the pelvis pitched forwards by `pitch`.
fn reach(bones: &Bones, side: &SideJoints, hip: DVec3, ankle: DVec3, pitch: f64) -> LegBend {
    let rest = [side.leg.thigh, side.leg.shin, side.leg.foot].map(|joint| bones.positions[joint]);
    let flat = |v: DVec3| DVec2::new(v.z, v.y);
    let (upper, lower) = (flat(rest[1] - rest[0]), flat(rest[2] - rest[1]));
    let wanted = flat(ankle - hip);
    let (a, b) = (upper.length(), lower.length());
    let distance = wanted.length().min(0.9999 * (a + b));
    let corner = |opposite: f64, x: f64, y: f64| {
        ((x * x + y * y - opposite * opposite) / (2.0 * x * y)).clamp(-1.0, 1.0).acos()
    };
    // Angles in the (z, y) plane, counter-clockwise: the thigh swings forwards of the line from hip to ankle.
    let line = wanted.to_angle();
    let thigh = line + corner(b, distance, a) - upper.to_angle();
    let shin = line - corner(a, distance, b) - lower.to_angle();
    let wrapped = |angle: f64| (angle + PI).rem_euclid(TAU) - PI;
    let (thigh, shin) = (wrapped(thigh), wrapped(shin));
    LegBend {
        thigh: thigh - pitch,
        knee: shin - thigh,
        foot: -shin,
    }
}

/// About −X a turn is counter-clockwise in the (z, y) plane: forwards for what hangs down.
fn pitch_of(joint: usize, angle: f64) -> Move {
    Move::Turn(joint, -DVec3::X, angle)
}

fn squat(bones: &Bones, joints: &Joints, share: f64) -> Vec<Move> {
    let sink = DVec3::new(0.0, -0.40, -0.20) * share;
    // The pelvis leans forwards (top to the front), which is a turn about +X.
    let lean = -38f64.to_radians() * share;
    let trunk = &joints.trunk;
    let mut moves = vec![Move::Shift(trunk.pelvis, sink), pitch_of(trunk.pelvis, lean)];
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
        let bend = reach(bones, side, hip, bones.positions[side.leg.foot], lean);
        moves.push(pitch_of(side.leg.thigh, bend.thigh));
        moves.push(pitch_of(side.leg.shin, bend.knee));
        moves.push(pitch_of(side.leg.foot, bend.foot));
    }
    // Arms reach forwards for balance.
    let forwards = (DVec3::Z * 0.9 + ARM.up() * 0.4).normalize();
    let axis = ARM.axis().cross(forwards);
    moves.extend(both(joints, |side| side.arm.upper_arm, axis, 68f64.to_radians() * share));
    moves
}

const STRIDE_SECONDS: f64 = 1.1;

/// One stride in place, from the left heel's strike to the next; the right side is half a stride behind.
fn walk(bones: &Bones, joints: &Joints, phase: f64) -> Vec<Move> {
    let wave = |offset: f64| (TAU * (phase - offset)).cos();
    // Lowest when both feet are on the floor; over the standing leg; the hip of the leading leg in front.
    let shift = DVec3::new(0.016 * wave(0.3), -0.026 - 0.014 * (2.0 * TAU * phase).cos(), 0.0);
    let yaw = DQuat::from_rotation_y(-0.10 * wave(0.0));
    let roll = DQuat::from_rotation_z(0.04 * wave(0.3));
    let pelvis_turn = yaw * roll;
    let trunk = &joints.trunk;
    let mut moves = vec![
        Move::Shift(trunk.pelvis, shift),
        Move::Rotate(trunk.pelvis, pelvis_turn),
        Move::Rotate(trunk.spine[0], roll.inverse()),
    ];
    let against = [
        (trunk.spine[1], 0.06),
        (trunk.spine[2], 0.06),
        (trunk.spine[3], 0.05),
        (trunk.chest, 0.04),
        (trunk.neck[0], -0.05),
        (trunk.head, -0.05),
    ];
    moves.extend(against.map(|(joint, angle)| Move::Turn(joint, DVec3::Y, angle * wave(0.0))));
    let pelvis = bones.positions[trunk.pelvis];
    for (side, phase, outwards) in [(&joints.left, phase, 1.0), (&joints.right, phase + 0.5, -1.0)] {
        let step = Step::at(phase.rem_euclid(1.0));
        let hip = pelvis + shift + pelvis_turn * (bones.positions[side.leg.thigh] - pelvis);
        let bend = reach(bones, side, hip, step.ankle(bones, side), 0.0);
        // Taking the pelvis' turn back keeps the leg in its plane, and leaning it keeps the foot where it is.
        let lean = DQuat::from_rotation_z(-shift.x / 0.83);
        let thigh = DQuat::from_axis_angle(-DVec3::X, bend.thigh);
        moves.push(Move::Rotate(side.leg.thigh, pelvis_turn.inverse() * lean * thigh));
        moves.push(pitch_of(side.leg.shin, bend.knee));
        moves.push(pitch_of(side.leg.foot, bend.foot + step.pitch));
        moves.push(pitch_of(side.leg.toes, step.toes));
        // Arms hang and swing against the legs.
        let swing = -(TAU * phase).cos();
        let lowered = DQuat::from_rotation_z(-outwards * 36f64.to_radians());
        let swung = DQuat::from_axis_angle(-DVec3::X, 0.38 * swing + 0.02);
        moves.push(Move::Rotate(side.arm.upper_arm, swung * lowered));
        let flexion = if outwards > 0.0 { -ARM.up() } else { mirrored(-ARM.up()) };
        moves.push(Move::Turn(side.arm.forearm, flexion, 0.38 + 0.16 * swing));
    }
    moves
}

/// A foot in its stride: on the floor up to [`Step::STANCE`], then swinging forwards.
struct Step {
    /// Where it is relative to standing.
    forwards: f64,
    lift: f64,
    /// Radians that its toes point up; negative when the heel is up.
    pitch: f64,
    /// Radians that the toes are bent upwards.
    toes: f64,
}

impl Step {
    const STANCE: f64 = 0.6;
    /// Half of the length of a step.
    const REACH: f64 = 0.24;
    /// Phase and pitch: heel strike, flat, flat, toes off, swing.
    const PITCH: [(f64, f64); 6] =
        [(0.0, 0.30), (0.12, 0.0), (0.34, 0.0), (0.60, -0.75), (0.85, 0.22), (1.0, 0.30)];

    fn at(phase: f64) -> Step {
        let pitch = eased(&Step::PITCH, phase);
        let speed = 2.0 * Step::REACH / Step::STANCE;
        let (forwards, lift) = if phase < Step::STANCE {
            (Step::REACH - speed * phase, 0.0)
        } else {
            // A cubic that leaves and meets the floor at the floor's speed.
            let rest = 1.0 - Step::STANCE;
            let t = (phase - Step::STANCE) / rest;
            let eased = Step::REACH * (2.0 * smooth_step(t) - 1.0);
            let drift = -speed * rest * (2.0 * t * t * t - 3.0 * t * t + t);
            (eased + drift, 0.045 * (PI * t).sin().powi(2))
        };
        let toes = eased(&[(0.0, 0.0), (0.34, 0.0), (0.58, 0.6), (0.75, 0.0), (1.0, 0.0)], phase);
        Step {
            forwards,
            lift,
            pitch,
            toes,
        }
    }

    /// Where the ankle goes: the foot rolls over the heel when its toes are up, over its ball when the heel is.
    fn ankle(&self, bones: &Bones, side: &SideJoints) -> DVec3 {
        let rest = bones.positions[side.leg.foot];
        let pivot = if self.pitch > 0.0 {
            DVec3::new(rest.x, 0.0, rest.z - 0.035)
        } else {
            let ball = bones.positions[side.leg.toes];
            DVec3::new(rest.x, 0.0, ball.z)
        };
        let rolled = DQuat::from_axis_angle(-DVec3::X, self.pitch) * (rest - pivot) + pivot;
        rolled + DVec3::new(0.0, self.lift, self.forwards)
    }
}

/// A value that eases from key to key.
fn eased(keys: &[(f64, f64)], at: f64) -> f64 {
    let mut value = keys.first().map_or(0.0, |key| key.1);
    for pair in keys.windows(2) {
        let ((from, _), (to, end)) = (pair[0], pair[1]);
        value += (end - pair[0].1) * smooth_step((at - from) / (to - from));
    }
    value
}
