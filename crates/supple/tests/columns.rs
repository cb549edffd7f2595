//! Lines of code, comments, scripts and prose have at most 100 columns.
//!
//! Exempt is what cannot be wrapped: tables and code blocks in Markdown, and lines of Rust with
//! eight numbers or more, as in tables of measured points.

#![allow(clippy::panic)] // in the helpers of the test below

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;

#[test]
fn no_line_is_too_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    list_files(&root, &mut files);
    let mut long = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        if let Some(is_exempt) = rule_for(&file, &text) {
            let lines = text.lines().enumerate();
            let lines = lines.filter(|(at, line)| {
                line.chars().count() > COLUMNS && !is_exempt(&text, *at, line)
            });
            let name = file.strip_prefix(&root).unwrap_or(&file).display();
            long.extend(lines.map(|(at, _)| format!("{name}:{}", at + 1)));
        }
    }
    assert!(
        long.is_empty(),
        "more than {COLUMNS} columns:\n{}",
        long.join("\n")
    );
}

/// True for a line of a text that may be longer.
type Exemption = fn(&str, usize, &str) -> bool;

/// What is exempt in a file; `None` for files that are not checked.
fn rule_for(file: &Path, text: &str) -> Option<Exemption> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("md") => Some(is_table_or_code),
        Some("rs") => Some(|_, _, line| has_many_numbers(line)),
        Some("wgsl" | "css" | "js" | "mjs" | "sh") => Some(|_, _, _| false),
        None if text.starts_with("#!") => Some(|_, _, _| false),
        _ => None,
    }
}

fn is_table_or_code(text: &str, at: usize, line: &str) -> bool {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let fences = text.lines().take(at).filter(is_fence).count();
    line.trim_start().starts_with('|') || fences % 2 == 1
}

fn has_many_numbers(line: &str) -> bool {
    let words = line.split(|char: char| !char.is_ascii_digit() && char != '.');
    let starts_as_number = |word: &&str| word.starts_with(|char: char| char.is_ascii_digit());
    words.filter(starts_as_number).count() >= 8
}

/// All files of the repository but what is built or hidden; `.ci` has scripts.
fn list_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_built = ["target", "node_modules", "corpus", "artifacts"].contains(&&*name);
        let is_hidden = name.starts_with('.') && name != ".ci";
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_built && !is_hidden => {
                list_files(&entry.path(), files);
            }
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

#[test]
fn numbers_and_tables_are_told_from_prose() {
    assert!(has_many_numbers(
        "    Oval { center: [0.0, 1.6, 0.1], reach: [0.017, 0.012], up: [0, 1, 0] },"
    ));
    assert!(!has_many_numbers(
        "    let center = surface.center(of_triangle(12)).map(as_vec3);"
    ));
    let page = "text\n| a | b |\n```sh\nls\n```\ntext";
    let exempt = page.lines().enumerate();
    let exempt = exempt.filter(|(at, line)| is_table_or_code(page, *at, line));
    assert_eq!(exempt.map(|(at, _)| at).collect::<Vec<_>>(), [1, 3, 4]);
}
