//! An arm on its own, held out to the left, with a stub of a shoulder.

use super::arm_placement::ArmPlacement;
use super::bones::Bones;
use super::cage::{Cage, NO_HOLE, Section};
use super::motion::{Move, there_and_back};
use super::tessellation::{Smooth, tessellate};
use super::upper_limb::{self, ArmJoints};
use super::{Character, CharacterError, hand_pose};
use crate::clip::Clip;
use crate::rig::Asset;
use glam::{DVec3, Vec3};

const COLOR: Vec3 = Vec3::new(0.62, 0.47, 0.37);
const ARM: ArmPlacement = ArmPlacement {
    shoulder: DVec3::ZERO,
    drop: 0.0,
};

pub(super) fn build(vertices: usize) -> Result<Asset, CharacterError> {
    let mut bones = Bones::default();
    let stub = bones.add("shoulder", None, DVec3::X * -0.08);
    let joints = upper_limb::add_joints(&mut bones, stub, &ARM, "", |point| point);
    let mut cage = Cage::default();
    let rim = stub_rim(&mut cage, stub);
    upper_limb::grow(&mut cage, rim, &ARM, &joints, stub);
    let clips = clips(&bones, &joints)?;
    let surface = tessellate(&cage, bones.count(), vertices, &Smooth);
    super::assemble(Character::Arm, COLOR, surface, bones, clips)
}

/// Rings that close the arm towards the body: distance from the shoulder, and size.
const STUB: [(f64, f64); 4] = [
    (-0.105, 0.5),
    (-0.099, 0.78),
    (-0.078, 0.93),
    (-0.040, 0.96),
];

/// A rounded end; returns the ring at which the arm goes on.
fn stub_rim(cage: &mut Cage, stub: usize) -> Vec<usize> {
    let held = vec![(stub, 1.0)];
    let mut last: Option<Vec<usize>> = None;
    for (along, size) in STUB {
        let section = Section {
            center: ARM.at(along, 0.0, 0.0),
            side: DVec3::Z,
            up: DVec3::Y,
            radii: [0.062, 0.064, 0.052, 0.064].map(|radius| radius * size),
            roundness: 0.95,
        };
        let next = cage.add_ring(section.ring(5.0 / 12.0, -1.0 / 12.0, 12), &held);
        match &last {
            Some(last) => cage.band(last, &next, NO_HOLE),
            None => {
                // Seen from the body, the ring runs the other way.
                let turned: Vec<usize> = (0..12).map(|i| next[(16 - i) % 12]).collect();
                cage.cap(&turned, DVec3::X * -0.004, &held);
            }
        }
        last = Some(next);
    }
    last.unwrap_or_default()
}

fn clips(bones: &Bones, joints: &ArmJoints) -> Result<Vec<Clip>, CharacterError> {
    let turn = |name: &str, joint: usize, axis: DVec3, degrees: f64| {
        there_and_back(name, bones, 3, |share| {
            vec![Move::Turn(joint, axis, degrees.to_radians() * share)]
        })
    };
    Ok(vec![
        turn("elbow-bend-120", joints.forearm, -ARM.up(), 120.0)?,
        turn("forearm-twist-150", joints.forearm_twist, ARM.axis(), 150.0)?,
        there_and_back("fist", bones, 3, |share| {
            hand_pose::fist(&joints.hand, &ARM, share)
        })?,
        there_and_back("wave", bones, 3, |share| {
            vec![
                Move::Turn(joints.upper_arm, DVec3::Z, 0.5 * share),
                Move::Turn(joints.forearm, -ARM.up() + DVec3::Z, 1.4 * share),
                Move::Turn(joints.hand.hand, DVec3::Z, 0.7 * share),
            ]
        })?,
    ])
}
