//! Why a surface cannot be prepared or deformed.

#[cfg(feature = "arap")]
use crate::arap::ArapError;
use crate::centers::CenterError;
use crate::mesh::MeshError;
use crate::mush::MushError;
use crate::pose::NodeCountError;
use thiserror::Error;

/// Why a surface could not be prepared or deformed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DeformError {
    /// Sizes that do not fit the character.
    #[error("{what}: {found}, but the character has {expected}")]
    SizeMismatch {
        /// What was of the wrong size.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits.
        expected: usize,
    },
    /// A number of a vertex that is NaN or infinite.
    #[error("the {what} of vertex {vertex} is not finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Whose.
        vertex: usize,
    },
    /// Vertex buffers that cannot hold what is asked for.
    #[error("{what}: {why}")]
    Layout {
        /// Which attribute.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A shape with morph targets that does not fit its mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Centers of rotation that cannot be had.
    #[error(transparent)]
    Centers(#[from] CenterError),
    /// What smoothing bakes cannot be had.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// A surface that cannot be kept rigid.
    #[cfg(feature = "arap")]
    #[error(transparent)]
    Arap(#[from] ArapError),
    /// A backend that runs the vertex loop, such as a GPU, has failed.
    #[error("{0}")]
    Backend(String),
    /// Differential blending over joints that are too far from each other in the skeleton.
    #[error(
        "the paths between the joints of vertex {vertex} and those before it are too long: steps along the skeleton may be at most {most}"
    )]
    TooManySteps {
        /// The vertex with which they became too many.
        vertex: usize,
        /// How many there may be.
        most: usize,
    },
    /// Log-matrix skinning cannot blend this joint in this pose.
    #[error("the matrix of joint {joint} '{name}' has no real logarithm in this pose: {reason}")]
    NoLogarithm {
        /// Which joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Why not.
        reason: NoLogarithm,
    },
}

/// Why a matrix has no real logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
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

/// Checks that an array has the size that the character asks for.
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
