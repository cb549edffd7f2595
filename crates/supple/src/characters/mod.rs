//! Built-in characters of any size, with skeletons, smooth weights and clips that stress the
//! methods.
//!
//! All but the cloth are modelled as a cage of quads (`cage.rs`), smoothed by subdivision
//! (`subdivision.rs`) and sampled with any number of vertices (`tessellation.rs`): the same shape
//! at every size.

mod arm;
mod arm_placement;
mod bar;
mod bones;
mod cage;
mod cloth;
mod ear;
mod features;
mod figure;
mod figure_clips;
mod figure_joints;
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
use crate::option_error::{OptionError, check_option};
use crate::rig::{Asset, Rig, RigError};
use crate::skeleton::SkeletonError;
use crate::weights::{WeightsBuilder, WeightsError};
use bones::Bones;
use glam::Vec3;
use tessellation::SampledSurface;
use thiserror::Error;

/// A built-in character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Character {
    /// A bar of two bones, as in the papers.
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

/// The minimum number of vertices of a built-in character.
pub const MIN_VERTICES: usize = 2_000;
/// The maximum number of vertices of a built-in character.
pub const MAX_VERTICES: usize = 4_000_000;

impl Character {
    /// All characters.
    pub const ALL: &[Character] = &[
        Character::Bar,
        Character::Arm,
        Character::Cloth,
        Character::Tentacle,
        Character::Figure,
    ];

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Character::Bar => "bar",
            Character::Arm => "arm",
            Character::Cloth => "cloth",
            Character::Tentacle => "tentacle",
            Character::Figure => "figure",
        }
    }

    /// Describes the character in one line.
    pub fn summary(&self) -> &'static str {
        match self {
            Character::Bar => "a bar of two bones, bent and twisted: the papers' toy",
            Character::Arm => "an arm with elbow, wrist and five fingers",
            Character::Cloth => "a square cloth held by nine unconnected joints",
            Character::Tentacle => "a tapering chain of nine joints, curled and wound up twice",
            Character::Figure => "a human figure of 77 joints with fingers, a squat and a walk",
        }
    }

    /// Returns the default number of vertices: that of the papers, if they have the character.
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

/// Error of [`build`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CharacterError {
    /// The number of vertices is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The surface is not a valid mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The joints are not a valid skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The influences are not valid weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Mesh, skeleton and weights do not fit together.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A motion is not a valid curve.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

/// Builds a character with about `vertices` vertices.
///
/// # Errors
///
/// Fails if `vertices` is not within [`MIN_VERTICES`] and [`MAX_VERTICES`].
pub fn build(character: Character, vertices: usize) -> Result<Asset, CharacterError> {
    check_option(
        (MIN_VERTICES..=MAX_VERTICES).contains(&vertices),
        "the number of vertices",
        vertices as f64,
        "from 2000 to 4000000",
    )?;
    match character {
        Character::Bar => bar::build(vertices),
        Character::Arm => arm::build(vertices),
        Character::Cloth => cloth::build(vertices),
        Character::Tentacle => tentacle::build(vertices),
        Character::Figure => figure::build(vertices),
    }
}

/// Assembles the asset from surface, bones and clips.
fn assemble(
    character: Character,
    color: Vec3,
    surface: SampledSurface,
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
