//! glTF 2.0 in and out.
//!
//! [`load`] gives the character ([`supple::Asset`]) and the [`Document`] that it came from. The
//! document keeps the file's JSON and buffers as they are; writing changes only what Supple means
//! to change.
//!
//! A *character* is every node that has a mesh and a skin, in node order, primitives in order.
//! Skins that bind the same node by the same matrix share its joint. Meshes without a skin are
//! props, which follow their node. In a file without any skin, every mesh node becomes a joint that
//! carries its own mesh.

mod container;
mod shape;

mod accessor;
mod read;

mod centers;
mod clips;
mod joints;
mod mush;
mod packed_mush;
mod stored;
mod surface;
mod tree;

mod bind;
mod build;
mod compact;
mod handles;
mod save;
mod skins;
mod store;
mod twist;
mod write;

pub use centers::{CENTER_ATTRIBUTE, StoredCenters};
pub use handles::BadEdge;
pub use mush::{MUSH_EXTENSION, StoredMush};
pub use stored::StoredState;
pub use write::SaveError;

use crate::LoadError;
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supple::Asset;
use supple::weights::WeightsReport;

/// A character and the file that it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The character.
    pub asset: Asset,
    /// The file, for writing.
    pub document: Document,
    /// Centers of rotation that came with the file.
    pub stored_centers: Option<StoredCenters>,
    /// A bake of direct delta mush that came with the file.
    pub stored_mush: Option<StoredMush>,
    /// What had to be mended or passed over.
    pub notes: Notes,
}

/// What had to be mended or passed over while loading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Weights that were normalised, made up or ignored.
    pub weights: WeightsReport,
    /// True where the file has no skin, so that meshes follow their own nodes.
    pub unskinned: bool,
    /// Animation channels that Supple does not play (no node, or not a transform or morph
    /// weights).
    pub ignored_channels: usize,
    /// Primitives of points or lines.
    pub not_triangles: usize,
    /// Extensions that the file calls required and Supple does not know.
    pub unknown_required_extensions: Vec<String>,
}

/// A glTF file in memory: everything in it, understood or not.
#[derive(Clone, Debug)]
pub struct Document {
    json: Value,
    buffers: Vec<Arc<Vec<u8>>>,
    /// Chunks of a `.glb` after JSON and BIN, kept as they are.
    extra_chunks: Vec<(u32, Vec<u8>)>,
    /// The folder that relative URIs start from.
    folder: Option<PathBuf>,
    binding: Binding,
}

/// How the parts of an [`Asset`] correspond to the file.
#[derive(Clone, Debug, Default)]
struct Binding {
    /// The file's node for each node of the skeleton.
    file_node: Vec<usize>,
    /// The skeleton's joint for each joint in the file's own order.
    file_joints: Vec<usize>,
    /// The mesh nodes that make up the character.
    instances: Vec<Instance>,
    /// The file's nodes of the props, with where their morph weights are.
    props: Vec<PropBinding>,
    /// The file's animation for each clip; none where a clip moves nothing that a file could.
    animation_of_clip: Vec<Option<usize>>,
}

/// A node of the file whose mesh is part of the character.
#[derive(Clone, Debug)]
struct Instance {
    node: usize,
    mesh: usize,
    /// False in a file without skins.
    skinned: bool,
    /// The skeleton's joint for each joint of the node's skin.
    joint_of_skin: Arc<[usize]>,
    /// The vertices of each primitive.
    primitives: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
struct PropBinding {
    node: usize,
    morph_weights: Range<usize>,
}

/// Reads a `.glb` or `.gltf` file.
///
/// # Errors
///
/// If the file, or one that it names, cannot be read or is not valid glTF.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let bytes = crate::read_whole(path)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    from_bytes(&bytes, Some(folder), &name).map_err(|fault| fault.in_file(path))
}

/// Reads a file that is already in memory; without a folder, it cannot refer to others.
///
/// # Errors
///
/// If the bytes are not valid glTF, or refer to other files.
pub fn from_slice(bytes: &[u8], name: &str) -> Result<Loaded, LoadError> {
    from_bytes(bytes, None, name).map_err(|fault| fault.in_file(Path::new(name)))
}

fn from_bytes(bytes: &[u8], folder: Option<PathBuf>, name: &str) -> Result<Loaded, Fault> {
    let container = container::open(bytes, folder.as_deref())?;
    let character = read::character(&container, name)?;
    Ok(Loaded::of(character, container, folder))
}

impl Loaded {
    /// What was read, with the file that it was read from.
    fn of(
        character: read::Character,
        container: container::Container,
        folder: Option<PathBuf>,
    ) -> Loaded {
        Loaded {
            asset: character.asset,
            stored_centers: character.stored_centers,
            stored_mush: character.stored_mush,
            notes: character.notes,
            document: Document {
                json: container.json,
                buffers: container.buffers,
                extra_chunks: container.extra_chunks,
                folder,
                binding: character.binding,
            },
        }
    }
}

impl Document {
    /// The skeleton's joint for each joint in the file's own order: the order of `--palette` files.
    ///
    /// That is the order of the skin; of several skins, each one's joints that no earlier one has.
    pub fn joints_in_file_order(&self) -> &[usize] {
        &self.binding.file_joints
    }
}

/// Something wrong at a place in a file whose name the caller knows.
#[derive(Debug)]
struct Fault {
    place: String,
    problem: String,
}

impl Fault {
    fn new(place: impl Into<String>, problem: impl Into<String>) -> Fault {
        Fault {
            place: place.into(),
            problem: problem.into(),
        }
    }

    fn in_file(self, path: &Path) -> LoadError {
        LoadError::Malformed {
            path: path.to_owned(),
            place: self.place,
            problem: self.problem,
        }
    }
}
