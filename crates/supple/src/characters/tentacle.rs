//! A tapering tentacle: a chain of joints that share the skin widely, curled and wound up.
//!
//! Each point is held by several joints in a row. Wound up, they are more than half a turn apart,
//! which matrices and quaternions of whole motions cannot tell; methods that follow the chain can.

use super::bones::Bones;
use super::cage::{Cage, Influences};
use super::motion::{Move, there_and_back};
use super::tessellation::{Smooth, tessellate};
use super::{Character, CharacterError};
use crate::clip::Clip;
use crate::rig::Asset;
use glam::{DVec3, Vec3};

/// From the ground to the tip, in metres.
const LENGTH: f64 = 1.2;
/// At the ground and at the tip.
const RADII: (f64, f64) = (0.13, 0.035);
const JOINTS: usize = 9;
/// The reach of a joint along the chain, in lengths of a bone, from the middle of its own.
const REACH: f64 = 2.6;
/// Rings of the cage between the ends.
const RINGS: usize = 12;
const ROUNDNESS: f64 = 0.75;
const COLOR: Vec3 = Vec3::new(0.36, 0.16, 0.30);

pub(super) fn build(vertices: usize) -> Result<Asset, CharacterError> {
    let bone = LENGTH / JOINTS as f64;
    let mut bones = Bones::default();
    let mut chain = Vec::with_capacity(JOINTS);
    for index in 0..JOINTS {
        let above = chain.last().copied();
        let joint = bones.add(
            format!("tentacle.{}", index + 1),
            above,
            DVec3::Y * bone * index as f64,
        );
        chain.push(joint);
    }
    let clips = clips(&bones, &chain[1..])?;
    let mut surface = tessellate(&cage(), 0, vertices, &Smooth);
    // A smooth hump around the middle of each bone: several joints in a row hold every point.
    let hold = |point: &DVec3| -> Influences {
        let share = |index: usize| {
            let away = (point.y / bone - index as f64 - 0.5) / REACH;
            (1.0 - away * away).max(0.0).powi(3)
        };
        (0..JOINTS)
            .map(|index| (chain[index], share(index)))
            .filter(|(_, share)| *share > 0.0)
            .collect()
    };
    surface.influences = surface.positions.iter().map(hold).collect();
    super::assemble(Character::Tentacle, COLOR, surface, bones, clips)
}

fn cage() -> Cage {
    // Rounded at both ends, tapering in between.
    let radius = |share: f64| RADII.0 + (RADII.1 - RADII.0) * share;
    let inner = (1..=RINGS).map(|ring| {
        let share = ring as f64 / (RINGS + 1) as f64;
        (LENGTH * share, radius(share), ROUNDNESS)
    });
    let ground = [(0.0, 0.8 * RADII.0, 1.0), (0.012, 0.97 * RADII.0, 0.9)];
    let tip = [
        (LENGTH - 0.012, 0.85 * RADII.1, 0.9),
        (LENGTH, 0.5 * RADII.1, 1.0),
    ];
    let rings = ground.into_iter().chain(inner).chain(tip);
    Cage::rod(DVec3::Y, DVec3::X, DVec3::Z, rings)
}

fn clips(bones: &Bones, moving: &[usize]) -> Result<Vec<Clip>, CharacterError> {
    let turn_all = |name: &str, axis: DVec3, degrees: f64| {
        there_and_back(name, bones, 4, |share| {
            let turn = |&joint: &usize| Move::Turn(joint, axis, degrees.to_radians() * share);
            moving.iter().map(turn).collect()
        })
    };
    let wave = there_and_back("wave", bones, 4, |share| {
        let turn = |(index, &joint): (usize, &usize)| {
            let side = if index < moving.len() / 2 { 1.0 } else { -1.0 };
            Move::Turn(joint, DVec3::Z, side * 32f64.to_radians() * share)
        };
        moving.iter().enumerate().map(turn).collect()
    })?;
    let reach = there_and_back("reach", bones, 4, |share| {
        let shift = |&joint: &usize| Move::Shift(joint, DVec3::Y * 0.11 * share);
        moving.iter().map(shift).collect()
    })?;
    Ok(vec![
        turn_all("curl", DVec3::Z, 42.0)?,
        wave,
        turn_all("wind-360", DVec3::Y, 360.0 / moving.len() as f64)?,
        turn_all("wind-720", DVec3::Y, 720.0 / moving.len() as f64)?,
        reach,
    ])
}
