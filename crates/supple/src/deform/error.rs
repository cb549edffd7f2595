//! Errors of baking and deforming.

#[cfg(feature = "arap")]
use crate::arap::ArapError;
use crate::centers::CenterError;
use crate::mesh::MeshError;
use crate::mush::MushError;
use crate::pose::NodeCountError;
use thiserror::Error;

/// Error from baking or deforming a surface.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DeformError {
    /// A size that does not fit the character.
    #[error("{what}: {found}, but the character has {expected}")]
    SizeMismatch {
        /// The array of the wrong size.
        what: &'static str,
        /// The size found.
        found: usize,
        /// The size expected.
        expected: usize,
    },
    /// A number of a vertex is NaN or infinite.
    #[error("the {what} of vertex {vertex} is not finite")]
    NotFinite {
        /// The kind of number.
        what: &'static str,
        /// The vertex.
        vertex: usize,
    },
    /// Vertex buffers that do not fit the request.
    #[error("{what}: {why}")]
    Layout {
        /// The attribute.
        what: &'static str,
        /// The problem.
        why: String,
    },
    /// A shape with morph targets does not fit its mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Centers of rotation could not be computed or used.
    #[error(transparent)]
    Centers(#[from] CenterError),
    /// Direct delta mush could not be baked.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// The surface could not be prepared for as-rigid-as-possible skinning.
    #[cfg(feature = "arap")]
    #[error(transparent)]
    Arap(#[from] ArapError),
    /// The backend of the vertex loop, such as a GPU, failed.
    #[error("{0}")]
    Backend(String),
    /// Joints of a vertex are too far apart in the skeleton for differential blending.
    #[error(
        "the paths between the joints of vertex {vertex} and those before it are too long: steps \
         along the skeleton may be at most {most}"
    )]
    TooManySteps {
        /// The vertex at which the limit was exceeded.
        vertex: usize,
        /// The limit.
        most: usize,
    },
    /// Log-matrix skinning cannot blend a joint in this pose.
    #[error("the matrix of joint {joint} '{name}' has no real logarithm in this pose: {reason}")]
    NoLogarithm {
        /// The joint.
        joint: usize,
        /// The name of the joint.
        name: String,
        /// The reason.
        reason: NoLogarithm,
    },
}

/// Reason why a matrix has no real logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoLogarithm {
    /// Entries that are NaN or infinite.
    #[error("it is not finite")]
    NotFinite,
    /// A negative determinant.
    #[error("it mirrors")]
    Mirrors,
    /// A determinant of zero, up to rounding.
    #[error("it flattens space")]
    Flattens,
    /// Two different negative eigenvalues.
    #[error("it has two different negative eigenvalues")]
    NegativeEigenvalues,
}

impl From<NodeCountError> for DeformError {
    fn from(NodeCountError { found, expected }: NodeCountError) -> DeformError {
        DeformError::SizeMismatch {
            what: "nodes in the pose",
            found,
            expected,
        }
    }
}

/// Checks that an array has the size of the character.
pub(super) fn check_size(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), DeformError> {
    match found == expected {
        true => Ok(()),
        false => Err(DeformError::SizeMismatch {
            what,
            found,
            expected,
        }),
    }
}
