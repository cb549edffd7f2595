//! Chores of this repository: `cargo xtask pictures PAGE FOLDER`.

mod pictures;

use std::error::Error;
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "\
Usage: cargo xtask pictures PAGE FOLDER

Draws the pictures of a page of the documentation into a folder, `docs/PAGE` for those of the
repository. Pages: arap, mush, point-handles, twist, weights.

       cargo xtask pictures arap FOLDER FILE CLIP

Also measures a clip of a glTF file.";

#[expect(clippy::print_stderr, reason = "errors are for the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["pictures", page, folder, ref rest @ ..] => pictures::draw(page, folder.as_ref(), rest),
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
