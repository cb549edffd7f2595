//! The papers' toy: a rounded bar along X with a joint in its middle.

use super::bones::Bones;
use super::cage::{Cage, Influences, smooth_step};
use super::motion::{Move, there_and_back};
use super::tessellation::{Smooth, tessellate};
use super::{Character, CharacterError};
use crate::clip::Clip;
use crate::rig::Asset;
use glam::{DVec3, Vec3};

/// Half of the bar's length in metres.
const HALF_LENGTH: f64 = 0.5;
/// The distance from the axis to its sides.
const RADIUS: f64 = 0.1;
/// Half of the length over which one joint hands over to the other.
const HALF_BLEND: f64 = 0.16;
const COLOR: Vec3 = Vec3::new(0.62, 0.30, 0.13);

/// Rings from an end to the middle, the same for both ends: distance from the middle, share of the
/// radius, roundness.
const RINGS: [(f64, f64, f64); 7] = [
    (0.5, 0.55, 1.0),
    (0.488, 0.86, 0.85),
    (0.45, 0.98, 0.72),
    (0.36, 1.0, 0.68),
    (0.24, 1.0, 0.68),
    (0.12, 1.0, 0.68),
    (0.0, 1.0, 0.68),
];

pub(super) fn build(vertices: usize) -> Result<Asset, CharacterError> {
    let mut bones = Bones::default();
    let first = bones.add("first", None, DVec3::X * -HALF_LENGTH);
    let second = bones.add("second", Some(first), DVec3::ZERO);
    let clips = clips(&bones, second)?;
    let mut surface = tessellate(&cage(), 0, vertices, &Smooth);
    // A blend that depends on the place along the bar alone, and is exactly even at the joint.
    let blend = |point: &DVec3| -> Influences {
        let share = smooth_step(0.5 + 0.5 * point.x / HALF_BLEND);
        vec![(first, 1.0 - share), (second, share)]
    };
    surface.influences = surface.positions.iter().map(blend).collect();
    super::assemble(Character::Bar, COLOR, surface, bones, clips)
}

fn cage() -> Cage {
    let left = RINGS
        .iter()
        .map(|&(x, radius, roundness)| (-x, radius * RADIUS, roundness));
    let right = RINGS
        .iter()
        .rev()
        .skip(1)
        .map(|&(x, radius, roundness)| (x, radius * RADIUS, roundness));
    Cage::rod(DVec3::X, DVec3::Z, DVec3::Y, left.chain(right))
}

fn clips(bones: &Bones, second: usize) -> Result<Vec<Clip>, CharacterError> {
    let turn = |name: &str, axis: DVec3, degrees: f64| {
        there_and_back(name, bones, 3, |share| {
            vec![Move::Turn(second, axis, degrees.to_radians() * share)]
        })
    };
    let stretch = there_and_back("bend-and-shift", bones, 3, |share| {
        vec![
            Move::Turn(second, DVec3::Z, 70f64.to_radians() * share),
            Move::Shift(second, DVec3::new(0.15, 0.1, 0.0) * share),
        ]
    })?;
    Ok(vec![
        turn("bend-90", DVec3::Z, 90.0)?,
        turn("bend-120", DVec3::Z, 120.0)?,
        turn("twist-90", DVec3::X, 90.0)?,
        turn("twist-135", DVec3::X, 135.0)?,
        turn("twist-150", DVec3::X, 150.0)?,
        stretch,
    ])
}
