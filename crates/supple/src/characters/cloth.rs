//! A square cloth: an open sheet held by nine joints that know nothing of each other.

use super::bones::Bones;
use super::cage::Influences;
use super::motion::{Move, there_and_back};
use super::tessellation::SampledSurface;
use super::{Character, CharacterError};
use crate::clip::Clip;
use crate::rig::Asset;
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// The length of a side in metres.
const SIDE: f64 = 1.0;
/// Its height above the floor.
const HEIGHT: f64 = 0.5;
/// Joints along a side.
const LATTICE: usize = 3;
const COLOR: Vec3 = Vec3::new(0.16, 0.34, 0.52);

pub(super) fn build(vertices: usize) -> Result<Asset, CharacterError> {
    let mut bones = Bones::default();
    for (row, column) in (0..LATTICE).flat_map(|row| (0..LATTICE).map(move |c| (row, c))) {
        let place = |step: usize| step as f64 / (LATTICE - 1) as f64;
        let name = format!("cloth{}{}", row + 1, column + 1);
        bones.add(name, None, on_sheet(place(column), place(row)));
    }
    let clips = clips(&bones)?;
    super::assemble(Character::Cloth, COLOR, sheet(vertices), bones, clips)
}

/// A place on the sheet from (0, 0) at the back right to (1, 1) at the front left.
fn on_sheet(x: f64, z: f64) -> DVec3 {
    DVec3::new((x - 0.5) * SIDE, HEIGHT, (z - 0.5) * SIDE)
}

fn sheet(vertices: usize) -> SampledSurface {
    let side = (vertices as f64).sqrt().round() as usize;
    let place = |step: usize| step as f64 / (side - 1) as f64;
    let mut surface = SampledSurface {
        positions: Vec::with_capacity(side * side),
        influences: Vec::with_capacity(side * side),
        triangles: Vec::with_capacity(2 * (side - 1) * (side - 1)),
    };
    for (j, i) in (0..side).flat_map(|j| (0..side).map(move |i| (j, i))) {
        surface.positions.push(on_sheet(place(i), place(j)));
        surface.influences.push(influences(place(i), place(j)));
    }
    for (j, i) in (0..side - 1).flat_map(|j| (0..side - 1).map(move |i| (j, i))) {
        let at = |i: usize, j: usize| (j * side + i) as u32;
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        // Diagonals alternate, so that the sheet folds as easily in both directions.
        if (i + j) % 2 == 0 {
            surface.triangles.extend([[a, b, c], [a, c, d]]);
        } else {
            surface.triangles.extend([[a, b, d], [b, c, d]]);
        }
    }
    surface
}

/// Tensor product of cosine bumps around the joints: smooth, local, and summing to one.
fn influences(x: f64, z: f64) -> Influences {
    let hold = |x: f64, step: usize| {
        let distance = (x * (LATTICE - 1) as f64 - step as f64).abs();
        if distance < 1.0 {
            0.5 + 0.5 * (PI * distance).cos()
        } else {
            0.0
        }
    };
    let joints = (0..LATTICE).flat_map(|row| (0..LATTICE).map(move |column| (row, column)));
    joints
        .map(|(row, column)| (row * LATTICE + column, hold(x, column) * hold(z, row)))
        .filter(|&(_, weight)| weight > 1e-6)
        .collect()
}

fn clips(bones: &Bones) -> Result<Vec<Clip>, CharacterError> {
    let center = LATTICE * LATTICE / 2;
    let lift = there_and_back("lift", bones, 1, |share| {
        vec![
            Move::Shift(center, DVec3::Y * (0.35 * share)),
            Move::Turn(center, DVec3::Y, 0.25 * PI * share),
        ]
    })?;
    let wave = there_and_back("wave", bones, 4, |share| {
        let joints = 0..LATTICE * LATTICE;
        let moves = joints.flat_map(|joint| {
            let (row, column) = (joint / LATTICE, joint % LATTICE);
            let phase = PI * (column as f64 + 0.5 * row as f64);
            vec![
                Move::Shift(joint, DVec3::Y * (0.14 * share * phase.cos())),
                Move::Turn(joint, DVec3::Z, 0.6 * share * (phase + 0.5 * PI).cos()),
            ]
        });
        moves.collect()
    })?;
    // The left side is laid over: the middle turns a part of the way, the edge goes all the way
    // around.
    let fold = there_and_back("fold", bones, 6, |share| {
        let angle = 0.85 * PI * share;
        let step = SIDE / (LATTICE - 1) as f64;
        let (sine, cosine) = (0.75 * angle).sin_cos();
        let moves = (0..LATTICE).flat_map(|row| {
            let [middle, edge] = [1, 2].map(|column| row * LATTICE + column);
            [
                Move::Turn(middle, DVec3::Z, 0.4 * angle),
                Move::Turn(edge, DVec3::Z, angle),
                Move::Shift(edge, DVec3::new(cosine - 1.0, sine, 0.0) * step),
            ]
        });
        moves.collect()
    })?;
    let twist = there_and_back("corner-twist", bones, 1, |share| {
        vec![
            Move::Shift(LATTICE * LATTICE - 1, DVec3::new(-0.1, 0.25, -0.1) * share),
            Move::Turn(
                LATTICE * LATTICE - 1,
                DVec3::new(1.0, 0.0, -1.0),
                -2.2 * share,
            ),
        ]
    })?;
    Ok(vec![lift, wave, fold, twist])
}
