//! What pages say about pictures: `<img src="docs/arm.png" width="300" alt="…">`.

use super::difference::size;
use crate::Outcome;
use crate::album::PIXELS;
use std::fs;
use std::path::{Path, PathBuf};

/// The pages with pictures: README.md and all of `docs/`, by their path from the root.
pub(super) fn markdown(root: &Path) -> Outcome<Vec<PathBuf>> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The faults of all references to pictures, in words.
pub(super) fn faults(root: &Path) -> Outcome<Vec<String>> {
    let mut faults = Vec::new();
    for page in markdown(root)? {
        let text = fs::read_to_string(root.join(&page))?;
        let folder = root.join(page.parent().unwrap_or(Path::new("")));
        let name = page.display();
        for reference in references(&text) {
            let fault = fault(&folder, &reference);
            faults.extend(fault.map(|fault| format!("{name}: {}: {fault}", reference.source)));
        }
    }
    Ok(faults)
}

/// A picture on a page.
#[derive(Debug, PartialEq, Eq)]
struct Reference {
    source: String,
    /// The width on the page, in pixels.
    width: Option<usize>,
    /// What a reader who does not see it is told.
    description: String,
}

/// All pictures of a page: elements of HTML, and those of Markdown, which have no width.
fn references(text: &str) -> Vec<Reference> {
    let elements = text.split("<img ").skip(1).map(|rest| {
        let element = rest.split('>').next().unwrap_or_default();
        Reference {
            source: attribute(element, "src").unwrap_or_default(),
            width: attribute(element, "width").and_then(|width| width.parse().ok()),
            description: attribute(element, "alt").unwrap_or_default(),
        }
    });
    let of_markdown = text.split("![").skip(1).filter_map(|rest| {
        let (description, rest) = rest.split_once("](")?;
        let (source, _) = rest.split_once(')')?;
        Some(Reference {
            source: source.to_owned(),
            width: None,
            description: description.to_owned(),
        })
    });
    elements.chain(of_markdown).collect()
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let (_, rest) = element.split_once(&format!("{name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(value.to_owned())
}

fn fault(folder: &Path, reference: &Reference) -> Option<String> {
    let path = folder.join(&reference.source);
    if !path.is_file() {
        return Some("there is no such file".to_owned());
    }
    if reference.description.is_empty() {
        return Some("it has no alternative text".to_owned());
    }
    if path.extension().is_some_and(|extension| extension == "svg") {
        return None;
    }
    let pixels = match size(&path) {
        Ok((pixels, _)) => pixels,
        Err(error) => return Some(error.to_string()),
    };
    let Some(width) = reference.width else {
        return Some(format!(
            "it has no width; half its pixels are {}",
            pixels / PIXELS
        ));
    };
    (width * PIXELS != pixels)
        .then(|| format!("its width is {width} and should be half of its {pixels} pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_pictures_are_found() {
        let text = "<p><img src=\"a.png\" width=\"30\" alt=\"a bar\"></p> | ![b](docs/b.svg) |";
        let found = references(text);
        let expected = [("a.png", Some(30), "a bar"), ("docs/b.svg", None, "b")];
        let expected = expected.map(|(source, width, description)| Reference {
            source: source.to_owned(),
            width,
            description: description.to_owned(),
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn missing_pictures_and_wrong_sizes_are_faults() {
        let folder = crate::root().join("docs");
        let reference = |source: &str, width| Reference {
            source: source.to_owned(),
            width,
            description: "a picture".to_owned(),
        };
        let of = |source, width| fault(&folder, &reference(source, width)).unwrap_or_default();
        assert_eq!(of("nothing.png", Some(1)), "there is no such file");
        let pixels = size(&folder.join("twist/weights-spread.png")).unwrap().0;
        assert!(of("twist/weights-spread.png", None).contains("no width"));
        assert!(of("twist/weights-spread.png", Some(pixels)).contains("should be half"));
        assert_eq!(of("twist/weights-spread.png", Some(pixels / 2)), "");
        assert_eq!(of("arap/rounds.svg", None), "");
    }
}
