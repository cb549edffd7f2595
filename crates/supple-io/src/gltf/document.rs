//! A file in memory, and which of its parts are the character's.

use super::SaveError;
use serde_json::Value;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A glTF file in memory, with everything in it, understood or not.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) json: Value,
    pub(super) buffers: Vec<Arc<Vec<u8>>>,
    /// Chunks of a `.glb` after JSON and BIN, kept as they are.
    pub(super) extra_chunks: Vec<(u32, Vec<u8>)>,
    /// The folder that relative URIs start from.
    pub(super) folder: Option<PathBuf>,
    pub(super) binding: Binding,
}

/// The correspondence between the parts of an [`supple::Asset`] and the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    /// The file's node for each node of the skeleton.
    pub(super) file_node: Vec<usize>,
    /// The skeleton's joint for each joint in the file's own order.
    pub(super) file_joints: Vec<usize>,
    /// The mesh nodes that make up the character.
    pub(super) instances: Vec<Instance>,
    /// The file's nodes of the props, with where their morph weights are.
    pub(super) props: Vec<PropBinding>,
    /// The file's animation for each clip; none for a clip without channels that a file can hold.
    pub(super) animation_of_clip: Vec<Option<usize>>,
}

/// A node of the file whose mesh is part of the character.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) node: usize,
    pub(super) mesh: usize,
    /// False in a file without skins.
    pub(super) skinned: bool,
    /// The skeleton's joint for each joint of the node's skin.
    pub(super) joint_of_skin: Arc<[usize]>,
    /// The vertices of each primitive.
    pub(super) primitives: Vec<Range<usize>>,
}

/// A node of the file whose mesh is a prop.
#[derive(Clone, Debug)]
pub(super) struct PropBinding {
    pub(super) node: usize,
    pub(super) morph_weights: Range<usize>,
}

impl Document {
    /// The skeleton's joint for each joint in the file's own order, in which palettes are stored.
    ///
    /// This is the order of the skin. Several skins follow each other, each without the joints of
    /// earlier ones.
    pub fn joints_in_file_order(&self) -> &[usize] {
        &self.binding.file_joints
    }

    /// Refuses a number of vertices that is not that of the character.
    pub(super) fn check_vertex_count(
        &self,
        what: &'static str,
        found: usize,
    ) -> Result<(), SaveError> {
        let primitives = self
            .binding
            .instances
            .iter()
            .flat_map(|instance| &instance.primitives);
        let expected = primitives.map(|vertices| vertices.end).max().unwrap_or(0);
        if found == expected {
            return Ok(());
        }
        Err(SaveError::VertexCount {
            what,
            found,
            expected,
        })
    }
}
