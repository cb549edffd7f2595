//! Reading files, and why a file could not be read.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The content of the file is not valid.
    #[error("{}: {place}: {problem}", path.display())]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// The place in the file: a byte, a line, or a JSON path such as `meshes[0].primitives[1]`.
        place: String,
        /// The problem.
        problem: String,
    },
}

/// Reads a regular file; the error names it.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>, LoadError> {
    read_regular(path).map_err(|source| LoadError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads a regular file. Pipes, devices and folders are refused before they are opened, since they
/// have no size or wait forever.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}
