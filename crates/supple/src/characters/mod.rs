//! Built-in characters: procedural, any size, with skeleton, smooth weights and clips that stress
//! the methods.
//!
//! All but the cloth are modelled as a cage of quads (`cage.rs`), made smooth by subdivision
//! (`subdivision.rs`) and sampled with as many vertices as wanted (`tessellation.rs`): the same
//! shape at every size.

mod arm;
mod bar;
mod bones;
mod cage;
mod cloth;
mod features;
mod figure;
mod figure_clips;
mod hand;
mod hand_pose;
mod leg_pose;
mod lower_limb;
mod motion;
mod sculpt;
mod subdivision;
mod tentacle;
mod tessellation;
mod torso;
mod upper_limb;
mod walk;

use crate::clip::{Clip, CurveError};
use crate::mesh::{Mesh, MeshError, Part};
use crate::rig::{Asset, Rig, RigError};
use crate::skeleton::SkeletonError;
use crate::weights::{WeightsBuilder, WeightsError};
use bones::Bones;
use glam::Vec3;
use std::str::FromStr;
use tessellation::Surface;
use thiserror::Error;

/// Which character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Character {
    /// A two-bone bar, the papers' toy.
    Bar,
    /// An arm with elbow, wrist and fingers.
    Arm,
    /// A cloth held by unconnected joints.
    Cloth,
    /// A tapering chain of joints.
    Tentacle,
    /// A whole human figure.
    Figure,
}

/// The fewest vertices that a character can be built with.
pub const MIN_VERTICES: usize = 2_000;
/// The most vertices that a character can be built with.
pub const MAX_VERTICES: usize = 4_000_000;

impl Character {
    /// Every character.
    pub const ALL: &[Character] = &[
        Character::Bar,
        Character::Arm,
        Character::Cloth,
        Character::Tentacle,
        Character::Figure,
    ];

    /// The name on the command line, after the `@`.
    pub fn name(&self) -> &'static str {
        match self {
            Character::Bar => "bar",
            Character::Arm => "arm",
            Character::Cloth => "cloth",
            Character::Tentacle => "tentacle",
            Character::Figure => "figure",
        }
    }

    /// One line for people who choose.
    pub fn summary(&self) -> &'static str {
        match self {
            Character::Bar => "a bar of two bones, bent and twisted: the papers' toy",
            Character::Arm => "an arm with elbow, wrist and five fingers",
            Character::Cloth => "a square cloth held by nine unconnected joints",
            Character::Tentacle => "a tapering chain of nine joints, curled and wound up twice",
            Character::Figure => "a human figure of 77 joints with fingers, a squat and a walk",
        }
    }

    /// How many vertices it has when nobody says: the papers' sizes where there is one.
    pub fn default_vertices(&self) -> usize {
        match self {
            Character::Bar => 4_000,
            Character::Arm => 8_435,
            Character::Cloth => 2_601,
            Character::Tentacle => 6_000,
            Character::Figure => 39_158,
        }
    }
}

/// A name that is no character's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no character '{0}'; known: {known}", known = known_characters())]
pub struct UnknownCharacter(String);

fn known_characters() -> String {
    let names: Vec<_> = Character::ALL.iter().map(Character::name).collect();
    names.join(", ")
}

impl FromStr for Character {
    type Err = UnknownCharacter;

    fn from_str(name: &str) -> Result<Character, UnknownCharacter> {
        let found = Character::ALL.iter().find(|known| known.name() == name);
        found
            .copied()
            .ok_or_else(|| UnknownCharacter(name.to_owned()))
    }
}

/// A character and its size, as the command line names them after the `@`: `bar`, `figure:40000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterSpec {
    /// Which character.
    pub character: Character,
    /// About how many vertices.
    pub vertices: usize,
}

/// Why a text names no character.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CharacterSpecError {
    /// The name before the colon is no character's.
    #[error(transparent)]
    Unknown(#[from] UnknownCharacter),
    /// What comes after the colon is not a whole number.
    #[error(
        "'{found}' is not a number of vertices; write a whole number from {MIN_VERTICES} to {MAX_VERTICES}, as in '{character}:40000'"
    )]
    Number {
        /// The character asked for.
        character: &'static str,
        /// What was found.
        found: String,
    },
    /// The number after the colon is too small or too large.
    #[error(transparent)]
    Size(CharacterError),
}

impl FromStr for CharacterSpec {
    type Err = CharacterSpecError;

    fn from_str(text: &str) -> Result<CharacterSpec, CharacterSpecError> {
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let character: Character = name.parse()?;
        let vertices = match number {
            Some(number) => number.parse().map_err(|_| CharacterSpecError::Number {
                character: character.name(),
                found: number.to_owned(),
            })?,
            None => character.default_vertices(),
        };
        check_size(vertices).map_err(CharacterSpecError::Size)?;
        Ok(CharacterSpec {
            character,
            vertices,
        })
    }
}

/// Why a character could not be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CharacterError {
    /// A size outside of what can be built.
    #[error("a built-in character has from {min} to {max} vertices, not {asked}")]
    Size {
        /// What was asked for.
        asked: usize,
        /// The smallest size.
        min: usize,
        /// The largest size.
        max: usize,
    },
    /// The surface made no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The joints made no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The influences made no weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The parts do not fit each other.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A motion made no curve.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

/// Builds a character of about `vertices` vertices.
///
/// # Errors
///
/// If a character cannot have so few or so many vertices.
pub fn build(character: Character, vertices: usize) -> Result<Asset, CharacterError> {
    check_size(vertices)?;
    match character {
        Character::Bar => bar::build(vertices),
        Character::Arm => arm::build(vertices),
        Character::Cloth => cloth::build(vertices),
        Character::Tentacle => tentacle::build(vertices),
        Character::Figure => figure::build(vertices),
    }
}

fn check_size(vertices: usize) -> Result<(), CharacterError> {
    if !(MIN_VERTICES..=MAX_VERTICES).contains(&vertices) {
        return Err(CharacterError::Size {
            asked: vertices,
            min: MIN_VERTICES,
            max: MAX_VERTICES,
        });
    }
    Ok(())
}

/// Binds a surface to its bones.
fn assemble(
    character: Character,
    color: Vec3,
    surface: Surface,
    bones: Bones,
    clips: Vec<Clip>,
) -> Result<Asset, CharacterError> {
    let positions = surface.positions.iter().map(|p| p.as_vec3()).collect();
    let mesh = Mesh::new(positions, None, None, surface.triangles)?;
    let mut weights = WeightsBuilder::new(bones.count())?;
    for row in &surface.influences {
        weights.push(row.iter().map(|&(joint, weight)| (joint, weight as f32)), 0)?;
    }
    let part = Part {
        name: character.name().to_owned(),
        vertices: 0..mesh.vertex_count(),
        triangles: 0..mesh.triangles().len(),
        color: Some(color),
    };
    Ok(Asset {
        name: character.name().to_owned(),
        rig: Rig::new(mesh, bones.into_skeleton()?, weights.finish().0)?,
        parts: vec![part],
        morphs: Vec::new(),
        rest_morph_weights: Vec::new(),
        clips,
        props: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
