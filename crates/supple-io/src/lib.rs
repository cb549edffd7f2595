//! Characters from and to files.
//!
//! - [`gltf`]: `.glb` and `.gltf` in and out; what Supple does not understand in a file is kept
//!   when it is written.
//! - [`obj`], [`ply`], [`npy`]: posed surfaces out, palettes in.
//! - [`write_whole`]: writes a file completely or not at all; [`check_writable`] tells beforehand
//!   whether it can; [`make_folders`] makes the folder for it; [`discard_unfinished`] is for
//!   programs that are interrupted.
//!
//! Files are hostile until proven otherwise: every count, index and number is checked against what
//! is really there before it is used, and errors say where in the file they are. What errors repeat
//! of a file is [`shortened`].
//!
//! Nothing is written that could not be read again: a number that is [`NotFinite`] as a 32-bit
//! float refuses the whole file.

pub mod gltf;
pub mod npy;
mod numbers;
pub mod obj;
pub mod ply;
mod quote;

pub use numbers::NotFinite;
pub use quote::{escaped, is_invisible, quoted, shortened, shortened_to};

mod whole_file;

use glam::Vec3;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
pub use whole_file::{
    NewFolders, check_folder_writable, check_writable, discard_unfinished, make_folders,
    write_whole,
};

/// Why a file could not be read.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The file's content is wrong.
    #[error("{}: {place}: {problem}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where in it: a byte, a line, or a JSON path such as `meshes[0].primitives[1]`.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}

/// Reads a file whole.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>, LoadError> {
    read_regular(path).map_err(|source| LoadError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Refuses numbers that are not finite, normals that are not one per vertex, and triangles of
/// vertices that do not exist.
pub(crate) fn check_surface(
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
    numbers::check_vectors("position", positions)?;
    numbers::check_vectors("normal", normals)?;
    let vertices = positions.len();
    let refused = |problem: String| Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    if !normals.is_empty() && normals.len() != vertices {
        return refused(format!("{} normals for {vertices} vertices", normals.len()));
    }
    let mut corners = triangles.iter().flatten();
    match corners.find(|&&corner| corner as usize >= vertices) {
        Some(corner) => refused(format!(
            "a triangle names vertex {corner}, but there are {vertices} vertices"
        )),
        None => Ok(()),
    }
}

/// Pipes, devices and directories are refused before they are opened: they have no size, or wait
/// forever.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}
