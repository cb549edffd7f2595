//! Files that are written completely or not at all.
//!
//! Content goes into a draft in the folder of the destination, which gets its name once it is
//! complete. On Linux a draft has no name before that (`O_TMPFILE`), so the kernel discards it when
//! the process ends, however it ends. Only replacing a file needs a name for a moment, as a file
//! without one can be linked but not renamed.
//!
//! Elsewhere, and on file systems without such files, a draft is called `.supple-XXXXXX`. It is
//! removed when writing fails, and by [`discard_unfinished`]. A process that is killed (`SIGKILL`)
//! leaves it behind.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// The beginning of the names of drafts.
const PREFIX: &str = ".supple-";

/// The number of links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Writes a file completely or not at all.
///
/// An existing file is replaced atomically and keeps its permissions, and its owner and group where
/// the system allows it; other hard links to it keep the old content. A new file gets the
/// permissions that the umask leaves. Symbolic links are followed, also to a file that does not
/// exist yet. A pipe or a device is written to directly.
///
/// # Errors
///
/// Fails without a change if the destination is a folder or a read-only file, if its folder does
/// not exist or takes no files, or if `content` fails.
pub fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let place = match Destination::of(path)? {
        Destination::Regular(place) => place,
        Destination::Special => {
            let mut open = io::BufWriter::new(File::create(path)?);
            content(&mut open)?;
            return open.flush();
        }
    };
    let draft = Draft::of(&place)?;
    let mut buffered = io::BufWriter::new(draft.file());
    content(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    draft.publish(&place.path)
}

/// Checks beforehand whether [`write_whole`] can write a file.
///
/// # Errors
///
/// The same as those of [`write_whole`].
pub fn check_writable(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Regular(place) => Draft::of(&place).map(drop),
        Destination::Special => Ok(()),
    }
}

/// Makes a folder and all missing parents.
///
/// # Errors
///
/// Fails if a part of the path is not a folder, or if the system refuses. Folders that were made
/// before that are removed.
pub fn make_folders(folder: &Path) -> io::Result<NewFolders> {
    let route = Route::to(folder)?;
    let mut made = NewFolders(Vec::new());
    for missing in route.missing.into_iter().rev() {
        let mut unfinished = lock_unfinished();
        match fs::create_dir(&missing) {
            Ok(()) => {
                unfinished.folders.push(missing.clone());
                drop(unfinished);
                made.0.push(missing);
            }
            // Another process has made it meanwhile.
            Err(_) if missing.is_dir() => {}
            Err(error) => {
                drop(unfinished);
                return Err(error);
            }
        }
    }
    Ok(made)
}

/// Checks beforehand whether [`make_folders`] can make a folder that takes files.
///
/// # Errors
///
/// Names the part of the path that is not a folder, or takes no files.
pub fn check_folder_writable(folder: &Path) -> io::Result<()> {
    let route = Route::to(folder)?;
    Draft::new_in(&route.existing).map(drop)
}

/// The folders that [`make_folders`] has made. Dropping it removes those that are empty.
#[derive(Debug)]
#[must_use = "empty folders are removed when this is dropped"]
pub struct NewFolders(Vec<PathBuf>);

impl Drop for NewFolders {
    fn drop(&mut self) {
        let mut unfinished = lock_unfinished();
        unfinished.folders.retain(|folder| !self.0.contains(folder));
        for folder in self.0.iter().rev() {
            // Fails for folders that hold something, as intended.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes all unfinished files and empty folders, then calls `end` to end the program. For
/// programs that are interrupted.
///
/// Until `end` returns, threads that write files or make folders have to wait.
pub fn discard_unfinished<T>(end: impl FnOnce() -> T) -> T {
    let mut unfinished = lock_unfinished();
    unfinished.discard();
    end()
}

/// The files and folders to remove if the program ends now.
struct Unfinished {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Unfinished {
    fn discard(&mut self) {
        for file in self.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        // Folders that were made later are inside of earlier ones.
        for folder in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
    files: Vec::new(),
    folders: Vec::new(),
});

fn lock_unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file that is or will be at a path, with all links followed.
enum Destination {
    Regular(RegularFile),
    /// A pipe or a device.
    Special,
}

/// The path of a regular file, with all links followed.
struct RegularFile {
    path: PathBuf,
    /// The file that is replaced.
    old: Option<Metadata>,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::Error::other("this is a folder")),
            Ok(found) if !found.is_file() => Ok(Destination::Special),
            Ok(found) => {
                let path = path.canonicalize()?;
                refuse_read_only(&path, &found)?;
                let old = Some(found);
                Ok(Destination::Regular(RegularFile { path, old }))
            }
            Err(error) if is_missing(&error) => {
                let path = behind_links(path)?;
                Ok(Destination::Regular(RegularFile { path, old: None }))
            }
            Err(error) => Err(error),
        }
    }
}

/// Refuses to replace a file that may not be written: renaming would replace it all the same.
fn refuse_read_only(path: &Path, found: &Metadata) -> io::Result<()> {
    let refused = |problem: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    if found.permissions().readonly() {
        return refused("the file is read-only; make it writable, or write to another name");
    }
    match File::options().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            refused("you have no permission to change this file; write to another name")
        }
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Err(error),
        _ => Ok(()),
    }
}

/// The end of a chain of links that leads to no file.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&place) {
            Ok(target) => place = folder_of(&place).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("this is a link that leads back to itself"))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path to a folder that may not exist yet.
struct Route {
    /// The nearest folder that exists.
    existing: PathBuf,
    /// The missing folders, the wanted one first.
    missing: Vec<PathBuf>,
}

impl Route {
    fn to(folder: &Path) -> io::Result<Route> {
        let mut missing = Vec::new();
        for place in folder.ancestors() {
            let place = match place.as_os_str().is_empty() {
                true => Path::new("."),
                false => place,
            };
            match fs::metadata(place) {
                Ok(found) if found.is_dir() => {
                    let existing = place.to_owned();
                    return Ok(Route { existing, missing });
                }
                Ok(_) => {
                    let problem = format!("{} is not a folder", place.display());
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, problem));
                }
                Err(_) if place.is_symlink() => {
                    let problem = format!("the link {} leads to no folder", place.display());
                    return Err(io::Error::new(io::ErrorKind::NotFound, problem));
                }
                Err(error) if is_missing(&error) => missing.push(place.to_owned()),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Content that is not complete yet.
enum Draft {
    /// A file without a name, in the folder of its destination.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedDraft),
}

impl Draft {
    /// A draft for a file, with the access rights that the file will have.
    fn of(place: &RegularFile) -> io::Result<Draft> {
        let draft = Draft::new_in(folder_of(&place.path))?;
        if let Some(old) = &place.old {
            keep_access(draft.file(), old)?;
        }
        Ok(draft)
    }

    fn new_in(folder: &Path) -> io::Result<Draft> {
        if !folder.is_dir() {
            let problem = format!("there is no folder {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, problem));
        }
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::create(folder) {
            return Ok(Draft::Unnamed(file));
        }
        NamedDraft::create(folder).map(Draft::Named)
    }

    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => file,
            Draft::Named(draft) => draft.file.as_file(),
        }
    }

    /// Gives the draft its name, replacing the file at that path.
    fn publish(self, path: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => unnamed::publish(&file, path),
            Draft::Named(draft) => draft.publish(path),
        }
    }
}

/// Gives a draft the owner, the group and the permissions of the file that it will replace, before
/// there is anything in it to read.
fn keep_access(draft: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = draft.metadata()?;
        // Only root can change the owner, and only members of a group can keep it.
        if new.gid() != old.gid() {
            let _ = fchown(draft, None, Some(old.gid()));
        }
        if new.uid() != old.uid() {
            let _ = fchown(draft, Some(old.uid()), None);
        }
    }
    match draft.metadata()?.permissions() == old.permissions() {
        true => Ok(()),
        false => draft.set_permissions(old.permissions()),
    }
}

/// A draft that is visible in its folder.
struct NamedDraft {
    file: NamedTempFile<File>,
    /// Dropped after the file.
    _listed: Listed,
}

impl NamedDraft {
    fn create(folder: &Path) -> io::Result<NamedDraft> {
        let mut unfinished = lock_unfinished();
        // Created like any new file, so that the umask applies; temporary files would be private.
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .make_in(folder, |path| File::create_new(path))?;
        let path = file.path().to_owned();
        unfinished.files.push(path.clone());
        let _listed = Listed(path);
        Ok(NamedDraft { file, _listed })
    }

    fn publish(self, path: &Path) -> io::Result<()> {
        // The name is neither given nor taken while unfinished files are being removed.
        let unfinished = lock_unfinished();
        let published = self.file.persist(path);
        drop(unfinished);
        published.map(drop).map_err(|error| error.error)
    }
}

/// A file on the list of unfinished ones.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        lock_unfinished().files.retain(|file| *file != self.0);
    }
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod unnamed {
    use super::{NamedDraft, PREFIX, folder_of, keep_access, lock_unfinished};
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
    use std::fs::File;
    use std::io::{self, Seek};
    use std::os::fd::AsRawFd;
    use std::path::Path;

    /// Creates a file without a name; fails on file systems that do not support it.
    pub(super) fn create(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let all = Mode::from_raw_mode(0o666);
        Ok(File::from(openat(CWD, folder, flags, all)?))
    }

    /// Gives a file a name, which may be taken.
    pub(super) fn publish(mut file: &File, path: &Path) -> io::Result<()> {
        let unfinished = lock_unfinished();
        let linked = match link(file, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => replace(file, path),
            linked => linked,
        };
        drop(unfinished);
        if linked.is_ok() {
            return Ok(());
        }
        // Some file systems support such files, but do not link them.
        let copy = NamedDraft::create(folder_of(path))?;
        keep_access(copy.file.as_file(), &file.metadata()?)?;
        file.rewind()?;
        io::copy(&mut file, &mut copy.file.as_file())?;
        copy.publish(path)
    }

    fn link(file: &File, path: &Path) -> io::Result<()> {
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Gives a file a name of its own, then the other one.
    fn replace(file: &File, path: &Path) -> io::Result<()> {
        let mut named = tempfile::Builder::new();
        let named = named
            .prefix(PREFIX)
            .make_in(folder_of(path), |own| link(file, own))?;
        named.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(path: &Path, text: &str) -> io::Result<()> {
        write_whole(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write(&path, "first").unwrap();
        let error = write_whole(&path, |out| {
            out.write_all(b"half of the sec")?;
            Err(io::Error::other("disk on fire"))
        });
        assert_eq!(error.unwrap_err().to_string(), "disk on fire");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(listing(folder.path()), ["out.txt"]);
        write(&path, "second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(listing(folder.path()), ["out.txt"]);
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
        let refused = write(folder.path(), "new");
        assert_eq!(refused.unwrap_err().to_string(), "this is a folder");
        check_writable(&folder.path().join("out.txt")).unwrap();
        check_writable(Path::new("in-this-folder.txt")).unwrap();
        assert_eq!(listing(folder.path()), [""; 0]);
    }

    #[test]
    fn named_drafts_are_published_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        for text in ["first", "second"] {
            let draft = NamedDraft::create(folder.path()).unwrap();
            draft.file.as_file().write_all(text.as_bytes()).unwrap();
            draft.publish(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        drop(NamedDraft::create(folder.path()).unwrap());
        assert_eq!(listing(folder.path()), ["out.txt"]);
        let is_ours = |file: &PathBuf| file.starts_with(folder.path());
        assert!(!lock_unfinished().files.iter().any(is_ours));
    }

    #[test]
    fn discarding_removes_drafts_and_empty_folders() {
        let folder = tempfile::tempdir().unwrap();
        let [full, empty] = ["full", "empty"].map(|name| folder.path().join(name));
        let inside = empty.join("inside");
        for made in [&full, &empty, &inside] {
            fs::create_dir(made).unwrap();
        }
        let [draft, kept] = [inside.join("draft"), full.join("kept")];
        for file in [&draft, &kept] {
            File::create(file).unwrap();
        }
        let mut unfinished = Unfinished {
            files: vec![draft],
            folders: vec![full, empty, inside],
        };
        unfinished.discard();
        assert_eq!(listing(folder.path()), ["full"]);
        assert!(kept.exists());
    }

    #[test]
    fn folders_are_made_and_removed_again_while_they_are_empty() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        check_folder_writable(&deep).unwrap();
        assert_eq!(listing(folder.path()), [""; 0]);
        drop(make_folders(&deep).unwrap());
        assert_eq!(listing(folder.path()), [""; 0]);
        let made = make_folders(&deep).unwrap();
        write(&deep.join("out.txt"), "here").unwrap();
        drop(made);
        assert_eq!(listing(&deep), ["out.txt"]);
        let inside = deep.join("out.txt/more");
        let expected = format!("{} is not a folder", deep.join("out.txt").display());
        for refused in [
            check_folder_writable(&inside),
            make_folders(&inside).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().to_string(), expected);
        }
    }

    #[cfg(unix)]
    mod on_unix {
        use super::*;
        use std::os::unix::fs::{PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        }

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn a_replaced_file_keeps_its_permissions_and_a_new_one_follows_the_umask() {
            let folder = tempfile::tempdir().unwrap();
            let (usual, path) = (folder.path().join("usual"), folder.path().join("out"));
            File::create(&usual).unwrap();
            write(&path, "new").unwrap();
            assert_eq!(mode(&path), mode(&usual));
            for wanted in [0o600, 0o640, 0o666, 0o755] {
                set_mode(&path, wanted);
                write(&path, "replaced").unwrap();
                assert_eq!(mode(&path), wanted);
            }
            assert_eq!(listing(folder.path()), ["out", "usual"]);
        }

        #[test]
        fn a_read_only_file_is_not_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let (path, link) = (folder.path().join("out"), folder.path().join("link"));
            write(&path, "old").unwrap();
            symlink(&path, &link).unwrap();
            set_mode(&path, 0o444);
            for place in [&path, &link] {
                for refused in [check_writable(place), write(place, "new")] {
                    let error = refused.unwrap_err();
                    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                    let expected =
                        "the file is read-only; make it writable, or write to another name";
                    assert_eq!(error.to_string(), expected);
                }
            }
            assert_eq!(fs::read(&path).unwrap(), b"old");
            assert_eq!(listing(folder.path()), ["link", "out"]);
        }

        #[test]
        fn links_stay_and_the_file_behind_them_is_written() {
            let folder = tempfile::tempdir().unwrap();
            let there = folder.path().join("there");
            fs::create_dir(&there).unwrap();
            symlink("there", folder.path().join("linked-folder")).unwrap();
            symlink("../there/file", there.join("relative")).unwrap();
            symlink("linked-folder/relative", folder.path().join("link")).unwrap();
            let (link, file) = (folder.path().join("link"), there.join("file"));
            // The first time the links lead to nothing yet.
            for text in ["new", "newer"] {
                check_writable(&link).unwrap();
                write(&link, text).unwrap();
                assert_eq!(fs::read_to_string(&file).unwrap(), text);
                assert!(!file.is_symlink());
            }
            write(&folder.path().join("linked-folder/beside"), "new").unwrap();
            assert!(link.is_symlink() && there.join("relative").is_symlink());
            assert_eq!(listing(folder.path()), ["link", "linked-folder", "there"]);
            assert_eq!(listing(&there), ["beside", "file", "relative"]);
        }

        #[test]
        fn links_that_lead_nowhere_are_refused() {
            let folder = tempfile::tempdir().unwrap();
            let [lost, round] = ["lost", "round"].map(|name| folder.path().join(name));
            symlink("no/file", &lost).unwrap();
            symlink("round", &round).unwrap();
            for (link, problem) in [(lost, "there is no folder"), (round, "symbolic links")] {
                for refused in [check_writable(&link), write(&link, "new")] {
                    let error = refused.unwrap_err().to_string();
                    assert!(error.contains(problem), "{error}");
                }
            }
            symlink("no", folder.path().join("folder")).unwrap();
            let refused = check_folder_writable(&folder.path().join("folder/inside"));
            assert!(
                refused
                    .unwrap_err()
                    .to_string()
                    .contains("leads to no folder")
            );
        }

        #[test]
        fn devices_are_written_to_directly() {
            let folder = tempfile::tempdir().unwrap();
            let link = folder.path().join("null");
            symlink("/dev/null", &link).unwrap();
            check_writable(&link).unwrap();
            write(&link, "gone").unwrap();
            assert!(link.is_symlink());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn unnamed_files_that_cannot_be_linked_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        for text in ["first", "second"] {
            // These are opened so that they never get a name.
            let file = tempfile::tempfile_in(folder.path()).unwrap();
            (&file).write_all(text.as_bytes()).unwrap();
            Draft::Unnamed(file).publish(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(listing(folder.path()), ["out.txt"]);
    }
}
