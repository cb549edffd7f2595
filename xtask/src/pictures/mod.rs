//! The pictures of the documentation, one module per page.

mod album;

mod arap;
mod handles;
mod mush;
mod twist;
mod weights;

use crate::{Outcome, USAGE};
use album::Album;
use std::path::Path;

/// Draws the pictures of a page into a folder, which is made if there is none.
pub(crate) fn draw(page: &str, folder: &Path, rest: &[&str]) -> Outcome<()> {
    let album = || Album::new(folder);
    match (page, rest) {
        ("arap", []) => arap::draw(&album()?, None),
        ("arap", [file, clip]) => arap::draw(&album()?, Some((file.as_ref(), clip))),
        ("mush", []) => mush::draw(&album()?),
        ("point-handles", []) => handles::draw(&album()?),
        ("twist", []) => twist::draw(&album()?),
        ("weights", []) => weights::draw(&album()?),
        _ => Err(USAGE.into()),
    }
}
