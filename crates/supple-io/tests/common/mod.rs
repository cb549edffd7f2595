//! What the test files share.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Every `.glb` and `.gltf` of the shared models, in a fixed order.
///
/// Without the folder the list is empty and says so; on a build server that is a failure instead.
pub fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    if !folder.is_dir() {
        assert!(
            std::env::var_os("CI").is_none(),
            "{} is not there",
            folder.display()
        );
        // Straight to the terminal: the test runner keeps what passing tests print to itself.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {} is not there",
            folder.display()
        );
        return Vec::new();
    }
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            files.extend(entry.read_dir().unwrap().map(|file| file.unwrap().path()));
        }
    }
    files.retain(|file| {
        file.extension()
            .is_some_and(|ending| ending == "glb" || ending == "gltf")
    });
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}
