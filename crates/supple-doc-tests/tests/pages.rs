//! Every page with Rust code is among those that are compiled.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The Markdown files of a folder and of the folders in it, but for builds and hidden folders.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "shared"].contains(&&*name) {
                pages(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn every_page_with_rust_code_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let compiled = include_str!("../src/lib.rs");
    let mut all = Vec::new();
    pages(&root, &mut all);
    let mut with_code = 0;
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        if !text.lines().any(|line| line.starts_with("```rust")) {
            continue;
        }
        let name = page.strip_prefix(&root).unwrap().to_string_lossy();
        let name = name.replace('\\', "/");
        assert!(compiled.contains(&format!("\"{name}\"")), "{name}");
        with_code += 1;
    }
    assert!(with_code >= 9, "{with_code} pages");
}
