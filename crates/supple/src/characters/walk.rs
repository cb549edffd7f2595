//! The figure's walk: one stride in place, ready to loop.

use super::CharacterError;
use super::bones::Bones;
use super::cage::smooth_step;
use super::figure_joints::{ARM, Joints, SideJoints};
use super::leg_pose::{pitch_of, reach};
use super::motion::{Move, mirrored, sampled};
use crate::clip::Clip;
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

const SECONDS: f64 = 1.1;
const KEYS: usize = 24;

pub(super) fn clip(bones: &Bones, joints: &Joints) -> Result<Clip, CharacterError> {
    sampled("walk", bones, SECONDS, KEYS, |time| {
        stride(bones, joints, time / SECONDS)
    })
}

/// One stride in place, from the left heel's strike to the next; the right side is half a stride
/// behind.
fn stride(bones: &Bones, joints: &Joints, phase: f64) -> Vec<Move> {
    let wave = |offset: f64| (TAU * (phase - offset)).cos();
    // Lowest when both feet are on the floor; over the standing leg; the hip of the leading leg in
    // front.
    let shift = DVec3::new(
        0.016 * wave(0.3),
        -0.013 - 0.011 * (2.0 * TAU * phase).cos(),
        0.0,
    );
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
    for (side, phase, outwards) in [
        (&joints.left, phase, 1.0),
        (&joints.right, phase + 0.5, -1.0),
    ] {
        let step = Step::at(phase.rem_euclid(1.0));
        let hip = pelvis + shift + pelvis_turn * (bones.positions[side.leg.thigh] - pelvis);
        let bend = reach(bones, &side.leg, hip, step.ankle(bones, side), 0.0);
        // Taking the pelvis' turn back keeps the leg in its plane, and leaning it keeps the foot
        // where it is.
        let lean = DQuat::from_rotation_z(-shift.x / 0.83);
        let thigh = DQuat::from_axis_angle(-DVec3::X, bend.thigh);
        moves.push(Move::Rotate(
            side.leg.thigh,
            pelvis_turn.inverse() * lean * thigh,
        ));
        moves.push(pitch_of(side.leg.shin, bend.knee));
        moves.push(pitch_of(side.leg.foot, bend.foot + step.pitch));
        moves.push(pitch_of(side.leg.toes, step.toes));
        // Arms hang and swing against the legs.
        let swing = -(TAU * phase).cos();
        let lowered = DQuat::from_rotation_z(-outwards * 36f64.to_radians());
        let swung = DQuat::from_axis_angle(-DVec3::X, 0.34 * swing);
        moves.push(Move::Rotate(side.arm.upper_arm, swung * lowered));
        let flexion = if outwards > 0.0 {
            -ARM.up()
        } else {
            mirrored(-ARM.up())
        };
        moves.push(Move::Turn(side.arm.forearm, flexion, 0.24 + 0.12 * swing));
    }
    moves
}

/// A foot in its stride: on the floor up to [`Step::STANCE`], then swinging forwards.
struct Step {
    /// Its position relative to standing.
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
    const PITCH: [(f64, f64); 6] = [
        (0.0, 0.30),
        (0.12, 0.0),
        (0.34, 0.0),
        (0.60, -0.75),
        (0.85, 0.22),
        (1.0, 0.30),
    ];

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
        // While the heel rises the toes stay level.
        let toes = eased(&[(0.34, 0.0), (0.60, 0.75), (0.78, 0.0)], phase);
        Step {
            forwards,
            lift,
            pitch,
            toes,
        }
    }

    /// The position of the ankle: the foot rolls over the heel with its toes up, over its ball with
    /// the heel up.
    fn ankle(&self, bones: &Bones, side: &SideJoints) -> DVec3 {
        let rest = bones.positions[side.leg.foot];
        let pivot = if self.pitch > 0.0 {
            DVec3::new(rest.x, 0.0, rest.z - 0.024)
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
