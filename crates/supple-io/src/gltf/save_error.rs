//! Why a document could not be changed or written.

use crate::{NotFinite, quoted};
use supple::mush::MushError;
use supple::weights::WeightsError;
use thiserror::Error;

/// Why a document could not be changed or written.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SaveError {
    /// Something has another number of vertices than the character.
    #[error("{what} for {found} vertices, but the character in the file has {expected}")]
    VertexCount {
        /// What.
        what: &'static str,
        /// Its vertices.
        found: usize,
        /// The character's.
        expected: usize,
    },
    /// A vertex is bound to a joint that its skin does not list.
    #[error(
        "vertex {vertex} is bound to joint {joint}, which the skin of node {node} does not list"
    )]
    JointNotInSkin {
        /// Which vertex of the character.
        vertex: usize,
        /// Which joint of the skeleton.
        joint: usize,
        /// The file's node with the skin.
        node: usize,
    },
    /// A vertex is bound to a node otherwise than its skin binds that node.
    #[error(
        "vertex {vertex} would follow {} by another matrix than the skin of node {node} has for it, and a skin can list a joint only once",
        quoted(joint)
    )]
    NodeBoundTwice {
        /// Which vertex of the character.
        vertex: usize,
        /// The name of the joint.
        joint: String,
        /// The file's node with the skin.
        node: usize,
    },
    /// No mesh has a skin.
    #[error("no mesh of the file has a skin: nothing follows joints")]
    NoSkin,
    /// There is no place to keep something in.
    #[error(
        "meshes[{mesh}].extras is not an object, so there is no place to say what its centers were computed from"
    )]
    ExtrasNotAnObject {
        /// The file's mesh.
        mesh: usize,
    },
    /// Numbers that are no weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Numbers of a bake that make no sense.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// A character has another skeleton than the file's.
    #[error("the character does not have the nodes and joints of the file")]
    OtherSkeleton,
    /// A character is not this file's with one more joint.
    #[error("the character does not have the file's nodes and joints with one more among them")]
    NotOneMoreJoint,
    /// A number that no file can hold, such as that of a vertex which a pose carries to infinity.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// What was changed is no character any more.
    #[error("the changed file could not be read: {place}: {problem}")]
    NotReadable {
        /// Where in the file.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// GLB lengths are 32-bit.
    #[error("the file would have {0} bytes, more than the 4 GiB that a .glb can hold")]
    TooLarge(u64),
}
