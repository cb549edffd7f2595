//! Poses, and the palette of transforms that a pose gives the surface.

use crate::transform::{Affine, Local};
use thiserror::Error;

/// Where every node stands relative to its parent, and how much of every morph target shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// One transform per node of the skeleton.
    pub locals: Vec<Local>,
    /// One weight per morph target of the asset, morphs one after another.
    pub morph_weights: Vec<f32>,
}

/// `posed_from_bind` of every joint: what moves a point of the bind surface into the posed world.
///
/// These are the matrices `T_j` of the papers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    /// One map per joint of the skeleton.
    pub posed_from_bind: Vec<Affine>,
}

/// A pose that was made for a skeleton with another number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the pose has {found} nodes, but the skeleton has {expected}")]
pub struct NodeCountError {
    /// Nodes in the pose.
    pub found: usize,
    /// Nodes of the skeleton.
    pub expected: usize,
}

impl Palette {
    /// The palette under which nothing moves.
    pub fn identity(joint_count: usize) -> Palette {
        Palette {
            posed_from_bind: vec![Affine::IDENTITY; joint_count],
        }
    }
}
