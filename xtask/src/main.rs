//! Chores of this repository: the pictures of the documentation, and the experiment of `arap`.

mod album;
mod arap;
mod pictures;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "\
Usage: cargo xtask pictures [PAGE …]

Draws the pictures of the documentation, or only those of some pages: a page of docs/ by its name
without .md, or README.

       cargo xtask pictures --check [PAGE …]

Draws them into target/pictures, and fails if one differs from that in the repository, if a page
names a picture that is missing, or if a page does not show one at half its size in pixels.

       cargo xtask pictures --references

Checks only what pages say about pictures, without drawing.

       cargo xtask arap FOLDER [FILE CLIP]

Runs the experiment of docs/arap.md, prints its table and draws its plots into a folder; also for a
clip of a glTF file.";

#[expect(clippy::print_stderr, reason = "errors are for the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["pictures", "--check", ref pages @ ..] => pictures::check(pages),
        ["pictures", "--references"] => pictures::check_references(),
        ["pictures", ref pages @ ..] => pictures::redraw(pages),
        ["arap", folder] => arap::measure(folder.as_ref(), None),
        ["arap", folder, file, clip] => arap::measure(folder.as_ref(), Some((file.as_ref(), clip))),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
