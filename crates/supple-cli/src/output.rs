//! Output files: their extensions, and writing glTF documents.

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
        match extension(path).as_str() {
            "glb" => Some(DocumentKind::Binary),
            "gltf" => Some(DocumentKind::Text),
            _ => None,
        }
    }

    /// The form that the extension of an output file asks for; other extensions are an error.
    pub(crate) fn wanted(path: &Path) -> Result<DocumentKind, Failure> {
        DocumentKind::of(path).ok_or_else(|| Failure::wrong_ending(path, ".glb or .gltf"))
    }

    /// Writes a self-contained file; prints a note about images that could not be embedded.
    pub(crate) fn write(self, document: &mut Document, path: &Path) -> Result<(), Failure> {
        for uri in document.embed_images() {
            console::eprint(&format!(
                "note: the image {} could not be embedded and stays a separate file",
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

/// The extension of a path in lower case.
pub(crate) fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}
