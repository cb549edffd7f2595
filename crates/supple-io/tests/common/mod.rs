//! What the test files share.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder beside the repository. Without it there is nothing to test, which is said; on a build
/// server that is a failure instead.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared")
        .join(folder);
    if folder.is_dir() {
        return Some(folder);
    }
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
    None
}

/// Every `.glb` and `.gltf` of the shared models, in a fixed order; none without them.
pub fn models() -> Vec<PathBuf> {
    let Some(folder) = shared("models") else {
        return Vec::new();
    };
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
