//! Poses, and the palettes that they give the surface.

use crate::transform::{Affine, Local};
use thiserror::Error;

/// The transform of every node relative to its parent, and the weight of every morph target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// One transform per node of the skeleton.
    pub locals: Vec<Local>,
    /// One weight per morph target of the asset, morph after morph.
    pub morph_weights: Vec<f32>,
}

/// One matrix per joint: moves points from the bind surface into the posed world.
///
/// These are the matrices `T_j` of the papers, often called skinning matrices: the joint's world
/// transform times its inverse bind matrix. A [`Skeleton`](crate::Skeleton) makes them from a
/// [`Pose`]; an engine that poses its characters itself passes its own:
///
/// ```
/// use supple::Palette;
/// use supple::glam::{Mat4, Vec3};
///
/// let world_from_joint = [Mat4::IDENTITY, Mat4::from_translation(Vec3::Y)];
/// let joint_from_bind = [Mat4::IDENTITY; 2];
/// let matrices = world_from_joint.iter().zip(joint_from_bind);
/// let palette = Palette::from_matrices(matrices.map(|(world, bind)| *world * bind));
/// assert_eq!(palette.posed_from_bind[1].transform_point(Vec3::X), Vec3::new(1.0, 1.0, 0.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    /// One map per joint of the skeleton.
    pub posed_from_bind: Vec<Affine>,
}

/// Error for a pose whose number of nodes is not that of the skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the pose has {found} nodes, but the skeleton has {expected}")]
pub struct NodeCountError {
    /// Nodes in the pose.
    pub found: usize,
    /// Nodes of the skeleton.
    pub expected: usize,
}

impl Palette {
    /// Creates a palette of identities, under which nothing moves.
    pub fn identity(joint_count: usize) -> Palette {
        Palette {
            posed_from_bind: vec![Affine::IDENTITY; joint_count],
        }
    }

    /// Creates a palette from one matrix per joint, in the order of the skeleton's joints: `Mat4`,
    /// `Affine3A`, `DAffine3` or arrays of three rows.
    pub fn from_matrices<M: Into<Affine>>(matrices: impl IntoIterator<Item = M>) -> Palette {
        Palette {
            posed_from_bind: matrices.into_iter().map(M::into).collect(),
        }
    }
}
