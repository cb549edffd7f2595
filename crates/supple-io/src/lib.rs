//! Characters from and to files.
//!
//! - [`gltf`]: `.glb` and `.gltf` in and out; what Supple does not understand in a file is kept when it is written.
//! - [`obj`], [`ply`], [`npy`]: posed surfaces out, palettes in.
//! - [`write_whole`]: a file is written beside its place and renamed, so that it is there whole or not at all;
//!   [`check_writable`] tells beforehand whether it can be.
//!
//! Files are hostile until proven otherwise: every count, index and number is checked against what is really there
//! before it is used, and errors say where in the file they are.

pub mod gltf;
pub mod npy;
pub mod obj;
pub mod ply;

use glam::Vec3;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

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

/// Refuses normals that are not one per vertex, and triangles of vertices that do not exist.
pub(crate) fn check_surface(
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
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

/// Pipes, devices and directories are refused before they are opened: they have no size, or wait forever.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}

/// Writes a file so that it is there whole or not at all: into a temporary beside it, then renamed.
///
/// A link is followed, so that the file behind it is replaced; a pipe or a device is written to as it is.
///
/// # Errors
///
/// If the file cannot be created, written or renamed, or `content` fails.
pub fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let place = match Destination::of(path)? {
        Destination::Regular(place) => place,
        Destination::Special(place) => {
            let mut open = io::BufWriter::new(File::create(&place)?);
            content(&mut open)?;
            return open.flush();
        }
    };
    let mut temporary = temporary_beside(&place)?;
    let mut buffered = io::BufWriter::new(temporary.as_file_mut());
    content(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    temporary.persist(&place).map_err(|error| error.error)?;
    Ok(())
}

/// Fails where [`write_whole`] would, as far as that can be told before there is anything to write.
///
/// # Errors
///
/// If the folder does not exist or cannot be written to, or the path is a folder.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Regular(place) => temporary_beside(&place).map(drop),
        Destination::Special(_) => Ok(()),
    }
}

/// What is or will be at a path, behind all links.
enum Destination {
    Regular(PathBuf),
    /// A pipe or a device.
    Special(PathBuf),
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match std::fs::metadata(&place) {
            Ok(found) if found.is_dir() => Err(io::Error::other("this is a folder")),
            Ok(found) if !found.is_file() => Ok(Destination::Special(place)),
            _ => Ok(Destination::Regular(place)),
        }
    }
}

/// A file that goes away unless it is renamed.
fn temporary_beside(place: &Path) -> io::Result<NamedTempFile<File>> {
    let folder = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    // Made as any new file is, so that the user's umask decides; temporary files are private otherwise.
    let mut temporary = tempfile::Builder::new();
    temporary
        .prefix(".supple-")
        .make_in(folder, |path| File::create_new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write_whole(&path, |out| out.write_all(b"first")).unwrap();
        let error = write_whole(&path, |out| {
            out.write_all(b"half of the sec")?;
            Err(io::Error::other("disk on fire"))
        });
        assert_eq!(error.unwrap_err().to_string(), "disk on fire");
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_known_before_and_said_without_the_name_of_the_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/out.txt");
        let expected = format!("there is no folder {}", folder.path().join("no").display());
        let errors = [
            check_writable(&missing),
            write_whole(&missing, |_| panic!("nothing to write into")),
        ];
        for error in errors {
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
        let refused = check_writable(folder.path());
        assert_eq!(refused.unwrap_err().to_string(), "this is a folder");
        check_writable(&folder.path().join("out.txt")).unwrap();
        check_writable(Path::new("in-this-folder.txt")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_folders_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
        let refused = write_whole(folder.path(), |out| out.write_all(b"new"));
        assert_eq!(refused.unwrap_err().to_string(), "this is a folder");
        write_whole(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    }
}
