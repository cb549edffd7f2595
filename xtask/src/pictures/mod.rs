//! The pictures of the documentation. Pages draw theirs by the commands that they show; what no
//! command draws has a module here.

mod blocks;
mod difference;
mod handles;
mod mush;
mod references;
mod speed;
mod twist;
mod weights;

use crate::album::Album;
use crate::{Outcome, arap, root};
use blocks::Blocks;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Draws the pictures of a page.
type Draw = fn(&Album) -> Outcome<()>;

/// Pages whose pictures no command draws: the name, the folder in `docs/`, and what draws them.
const DRAWN: [(&str, &str, Draw); 6] = [
    ("arap", "arap", arap::draw),
    ("direct-delta-mush", "mush", mush::draw),
    ("point-handles", "point-handles", handles::draw),
    ("speed", "", speed::draw),
    ("twist-joints", "twist", twist::draw),
    ("weights", "weights", weights::draw),
];

/// Draws pictures into the repository.
pub(crate) fn redraw(pages: &[&str]) -> Outcome<()> {
    let scratch = draw(pages)?;
    for picture in pictures(&scratch)? {
        let to = root().join(&picture);
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(scratch.join(&picture), to)?;
    }
    Ok(())
}

/// Fails if a picture of the repository is not what is drawn now.
pub(crate) fn check(pages: &[&str]) -> Outcome<()> {
    let scratch = draw(pages)?;
    let drawn = pictures(&scratch)?;
    let mut faults = references::faults(&root())?;
    for picture in &drawn {
        let fault = difference::of_files(&root().join(picture), &scratch.join(picture));
        faults.extend(fault.map(|fault| format!("{}: {fault}", picture.display())));
    }
    if pages.is_empty() {
        let kept = pictures(&root())?;
        // The plots of arap are measured, by a command of their own.
        let left = kept.difference(&drawn);
        let left = left.filter(|picture| !picture.starts_with("docs/arap") || !is_svg(picture));
        faults.extend(left.map(|picture| format!("{}: nothing draws it", picture.display())));
    }
    report(
        faults,
        "cargo xtask pictures draws them anew; target/pictures has what it drew",
    )
}

/// Fails if a page names a missing picture, or shows one at another size than half its pixels.
pub(crate) fn check_references() -> Outcome<()> {
    report(
        references::faults(&root())?,
        "write <img src=… width=…> for pictures",
    )
}

fn report(faults: Vec<String>, hint: &str) -> Outcome<()> {
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{hint}", faults.join("\n")).into()),
    }
}

/// Draws the pictures of pages, or of all, into a scratch folder as they lie in the repository.
fn draw(pages: &[&str]) -> Outcome<PathBuf> {
    let scratch = root().join("target/pictures");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    let blocks = Blocks::read(&root())?;
    let known = |page: &&&str| {
        DRAWN.iter().any(|(name, ..)| name == *page) || blocks.names().any(|name| name == **page)
    };
    if let Some(unknown) = pages.iter().find(|page| !known(page)) {
        return Err(format!("no page named {unknown} has pictures").into());
    }
    let wanted = |page: &str| pages.is_empty() || pages.contains(&page);
    for (page, folder, draw) in DRAWN {
        if wanted(page) {
            draw(&Album::new(&scratch.join("docs").join(folder))?)?;
        }
    }
    blocks.run(&scratch, wanted)?;
    Ok(scratch)
}

fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "svg")
}

/// The PNG, GIF and SVG files below `docs/`, by their path from the root.
fn pictures(root: &Path) -> Outcome<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let mut extensions = ["png", "gif", "svg"].into_iter();
            let is_picture = extensions.any(|known| path.extension().is_some_and(|is| is == known));
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if is_picture {
                found.insert(path);
            }
        }
    }
    Ok(found)
}
