//! A file and its character, read together.

use super::container::{self, Container};
use super::fault::Fault;
use super::read::{self, Character};
use super::{Document, Notes, SaveError, StoredCenters, StoredMush};
use crate::read::{LoadError, read_whole};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supple::Asset;

/// A character and the document that it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The character.
    pub asset: Asset,
    /// The document, to change and write.
    pub document: Document,
    /// Centers of rotation that are stored in the file.
    pub stored_centers: Option<StoredCenters>,
    /// A bake of direct delta mush that is stored in the file.
    pub stored_mush: Option<StoredMush>,
    /// Repairs, and ignored parts of the file.
    pub notes: Notes,
}

/// Reads a `.glb` or `.gltf` file.
///
/// # Errors
///
/// If the file, or one that it names, cannot be read or is not valid glTF.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let bytes = read_whole(path)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    from_bytes(&bytes, Some(folder), &name).map_err(|fault| fault.in_file(path))
}

/// Reads a file that is already in memory and refers to no other file. Errors call it by `name`,
/// which becomes the name of the character.
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
    /// A character with the document that it was read from.
    pub(super) fn of(
        character: Character,
        container: Container,
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
    /// Reads the character that this document now holds, in memory. Everything is rounded as in the
    /// file.
    ///
    /// # Errors
    ///
    /// If a change has left no character that can be read.
    pub fn read(self, name: &str) -> Result<Loaded, SaveError> {
        // Buffers that name one file share its bytes, which count once.
        let mut shared = HashSet::new();
        let once = self
            .buffers
            .iter()
            .filter(|&bytes| shared.insert(Arc::as_ptr(bytes)));
        let stored = once.map(|bytes| bytes.len() as u64);
        let text = self.json.to_string().len() as u64;
        let container = Container {
            byte_count: stored.fold(text, u64::saturating_add),
            json: self.json,
            buffers: self.buffers,
            extra_chunks: self.extra_chunks,
        };
        let read = read::character(&container, name);
        let character = read.map_err(|fault| SaveError::NotReadable {
            place: fault.place,
            problem: fault.problem,
        })?;
        Ok(Loaded::of(character, container, self.folder))
    }
}
