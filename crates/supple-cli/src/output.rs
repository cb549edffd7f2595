//! Files that are written: what their endings say, and glTF documents.

use crate::console;
use crate::failure::Failure;
use std::path::Path;
use supple_io::gltf::Document;
use supple_io::text::quoted;
use supple_io::whole_file::write_whole;

/// The two forms of a glTF file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    Binary,
    Text,
}

impl DocumentKind {
    pub(crate) fn of(path: &Path) -> Option<DocumentKind> {
        match ending(path).as_str() {
            "glb" => Some(DocumentKind::Binary),
            "gltf" => Some(DocumentKind::Text),
            _ => None,
        }
    }

    /// What the ending of an output says, where it can be nothing else.
    pub(crate) fn wanted(path: &Path) -> Result<DocumentKind, Failure> {
        DocumentKind::of(path).ok_or_else(|| Failure::wrong_ending(path, ".glb or .gltf"))
    }

    /// Writes a file that needs no other, and tells of images that could not be taken in.
    pub(crate) fn write(self, document: &mut Document, path: &Path) -> Result<(), Failure> {
        for uri in document.embed_images() {
            console::tell(&format!(
                "note: the image {} stays a link to another file",
                quoted(&uri)
            ));
        }
        let bytes = match self {
            DocumentKind::Binary => document.to_glb()?,
            DocumentKind::Text => document.to_gltf(),
        };
        write_whole(path, |out| out.write_all(&bytes))
            .map_err(|error| Failure::writing(path, error))
    }
}

/// A path's ending in lower case.
pub(crate) fn ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default();
    ending.to_string_lossy().to_ascii_lowercase()
}
