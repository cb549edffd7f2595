//! Why a document could not be changed or written.

use crate::NotFinite;
use crate::text::quoted;
use supple::mush::MushError;
use supple::weights::WeightsError;
use thiserror::Error;

/// Why a document could not be changed or written.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The number of vertices is not that of the character in the file.
    #[error("{what} for {found} vertices, but the character in the file has {expected}")]
    VertexCount {
        /// The data, such as "weights".
        what: &'static str,
        /// Its number of vertices.
        found: usize,
        /// The character's number of vertices.
        expected: usize,
    },
    /// A vertex is bound to a joint that its skin does not list.
    #[error(
        "vertex {vertex} is bound to joint {joint}, which the skin of node {node} does not list"
    )]
    JointNotInSkin {
        /// The vertex of the character.
        vertex: usize,
        /// The joint of the skeleton.
        joint: usize,
        /// The file's node with the skin.
        node: usize,
    },
    /// A vertex and its skin bind the same node by different matrices.
    #[error(
        "vertex {vertex} would follow {} by another matrix than the skin of node {node} has for \
         it, and a skin can list a joint only once",
        quoted(joint)
    )]
    NodeBoundTwice {
        /// The vertex of the character.
        vertex: usize,
        /// The name of the joint.
        joint: String,
        /// The file's node with the skin.
        node: usize,
    },
    /// No mesh of the file has a skin.
    #[error("no mesh of the file has a skin")]
    NoSkin,
    /// The extras of a mesh are not an object, so nothing can be stored in them.
    #[error(
        "meshes[{mesh}].extras is not an object, so it cannot store how its centers were computed"
    )]
    ExtrasNotAnObject {
        /// The file's mesh.
        mesh: usize,
    },
    /// The weights are not valid.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The numbers of a bake of direct delta mush are not valid.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// The character does not have the nodes and joints of the file.
    #[error("the character does not have the nodes and joints of the file")]
    OtherSkeleton,
    /// The parts of the character are not the primitives of the file.
    #[error("the parts of the character are not the primitives of the file")]
    OtherParts,
    /// The character is not that of the file with one more joint.
    #[error("the character does not have the file's nodes and joints with one more among them")]
    NotOneMoreJoint,
    /// A number is not finite as a 32-bit float, such as a position that a pose moves to infinity.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// The changed document holds no character that can be read.
    #[error("the changed file could not be read: {place}: {problem}")]
    NotReadable {
        /// The place in the file: a JSON path.
        place: String,
        /// The problem.
        problem: String,
    },
    /// The file would be larger than a `.glb` can be, whose lengths are 32-bit numbers.
    #[error("the file would have {0} bytes, more than the 4 GiB that a .glb can hold")]
    TooLarge(u64),
}
