//! The comparison report: skinning methods side by side on one self-contained HTML page.
//!
//! ```
//! use supple::Method;
//! use supple::characters::{Character, build};
//! use supple::deform::BakedData;
//! use supple::weights::WeightsReport;
//! use supple_report::{ReportOptions, Subject, report};
//!
//! let bar = build(Character::Bar, 2_000)?;
//! let subject = Subject {
//!     title: "A bar".to_owned(),
//!     file: "bar.glb".to_owned(),
//!     asset: &bar,
//!     weights_report: WeightsReport::default(),
//!     baked: BakedData::default(),
//!     clips: vec![0],
//! };
//! let options = ReportOptions {
//!     methods: vec![Method::Linear, Method::LogMatrix],
//!     picture_size: (48, 48),
//!     ..ReportOptions::default()
//! };
//! let html = report(&[subject], &options, |_progress| ())?;
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules below make a page in this order: a *comparison* plays a character by every method at
//! once and measures it; a *study* chooses the clips, moments and joint regions that show the
//! largest differences; *findings* judge these joints; *page* draws and describes it all, and
//! *numbers* writes the same measures as JSON and CSV.

pub mod command_line;

mod methods;
mod names;

mod regions;
mod thickness;

mod comparison;

mod choose;
mod study;

mod findings;
mod phrases;
mod recommendation;
mod verdict;

mod numbers;
mod page;
mod pictures;

pub use methods::{all_methods, default_methods};
pub use numbers::{Numbers, numbers};

use methods::Entry;
use study::Study;
use supple::deform::BakedData;
use supple::weights::WeightsReport;
use supple::{Asset, Method};
use thiserror::Error;

/// A character to compare methods on.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Its title on the page.
    pub title: String,
    /// The file, as the commands on the page name it.
    pub file: String,
    /// The character.
    pub asset: &'a Asset,
    /// Data that its methods need not compute, such as those stored in its file.
    pub baked: BakedData,
    /// The defects of its weights that were found and repaired on reading.
    pub weights_report: WeightsReport,
    /// Indices of the clips to show; if empty, those that show most are chosen.
    pub clips: Vec<usize>,
}

/// Options of a report.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// The methods, in the order of the page; the same one twice counts once.
    pub methods: Vec<Method>,
    /// Writes a method with its options as the commands on the page name it.
    pub method_text: fn(&Method) -> String,
    /// Width and height of the pictures.
    pub picture_size: (usize, usize),
    /// The most clips that are chosen per character.
    pub most_clips: usize,
    /// The heading; by default the titles of the subjects.
    pub heading: Option<String>,
    /// The paragraph under the heading.
    pub lead: Option<String>,
    /// Commands to try, shown at the bottom.
    pub commands: Option<String>,
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions {
            methods: default_methods(),
            method_text: Method::to_string,
            picture_size: (300, 320),
            most_clips: 4,
            heading: None,
            lead: None,
            commands: None,
        }
    }
}

/// A reason why no report could be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no method to compare.
    #[error("there is no method to show")]
    NoMethods,
    /// No character has a surface.
    #[error("there is no surface to show")]
    NoSurface,
    /// A picture has more than 65,535 pixels in a row or column.
    #[error("a picture of {width} × {height} pixels is too large for a page")]
    PictureSize {
        /// Pixels per row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A picture could not be stored.
    #[error("a picture could not be stored: {0}")]
    Image(#[from] jpeg_encoder::EncodingError),
}

/// Compares methods on some characters, and gives an HTML page that needs no other file.
///
/// `progress` is called with the share of the work that is done, from 0 to 1.
///
/// # Errors
///
/// If there is nothing to compare, or a picture cannot be stored.
pub fn report(
    subjects: &[Subject<'_>],
    options: &ReportOptions,
    mut progress: impl FnMut(f64),
) -> Result<String, ReportError> {
    let entries = entries(options)?;
    check_surface(subjects)?;
    let mut sections = Vec::new();
    let count = subjects.len() as f64;
    for (index, subject) in subjects.iter().enumerate() {
        let from = index as f64 / count;
        let study = Study::new(
            subject.asset,
            &subject.baked,
            &entries,
            &subject.clips,
            options.most_clips,
            |share| {
                progress(from + 0.5 * share / count);
            },
        );
        let section = page::section(subject, &study, &entries, options, |share| {
            progress(from + (0.5 + 0.5 * share) / count);
        })?;
        sections.push(section);
    }
    Ok(page::page(subjects, &sections, &entries, options))
}

/// The methods to compare, each once.
fn entries(options: &ReportOptions) -> Result<Vec<Entry>, ReportError> {
    let mut entries: Vec<Entry> = Vec::new();
    for method in &options.methods {
        if !entries.iter().any(|entry| entry.method == *method) {
            entries.push(Entry::of(method, (options.method_text)(method)));
        }
    }
    match entries.is_empty() {
        true => Err(ReportError::NoMethods),
        false => Ok(entries),
    }
}

/// Refuses characters of which none has a surface.
fn check_surface(subjects: &[Subject<'_>]) -> Result<(), ReportError> {
    let has_surface = |subject: &Subject<'_>| !subject.asset.rig.mesh().triangles().is_empty();
    match subjects.iter().any(has_surface) {
        true => Ok(()),
        false => Err(ReportError::NoSurface),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::Clip;
    use supple::characters::{Character, build};
    use supple::clip::{Channel, Curve, Interpolation, Track};

    fn small() -> ReportOptions {
        ReportOptions {
            methods: vec![Method::Linear, Method::LogMatrix, Method::Linear],
            picture_size: (24, 24),
            ..ReportOptions::default()
        }
    }

    fn page_of(asset: &Asset, title: &str) -> String {
        page_with(asset, title, &small())
    }

    fn page_with(asset: &Asset, title: &str, options: &ReportOptions) -> String {
        let subject = Subject {
            title: title.to_owned(),
            file: "bar.glb".to_owned(),
            asset,
            baked: BakedData::default(),
            weights_report: WeightsReport::default(),
            clips: Vec::new(),
        };
        let mut last = 0.0;
        let page = report(&[subject], options, |share| {
            assert!((last..=1.0 + 1e-9).contains(&share), "{share} after {last}");
            last = share;
        });
        assert!(last > 0.99);
        page.unwrap()
    }

    #[test]
    fn a_method_that_cannot_do_a_pose_says_so_in_its_place() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        let times = vec![0.0, 1.0];
        let values = vec![1.0, 1.0, 1.0, -1.0, 2.0, 1.0];
        let curve = Curve::new(times, values, 3, Interpolation::Linear).unwrap();
        let channel = Channel::Scale { node: 1 };
        bar.clips = vec![Clip {
            name: "mirror".to_owned(),
            tracks: vec![Track { channel, curve }],
        }];
        let page = page_of(&bar, "bar");
        assert!(page.contains("cannot do this pose"));
        assert!(page.contains("poses not possible"));
        // Pictures may spell anything.
        let words = page
            .split("base64,")
            .map(|part| &part[part.find('"').unwrap_or(0)..]);
        assert!(!words.collect::<String>().contains("NaN"));
    }

    /// The text between two marks, without tags and narrow spaces.
    fn between(page: &str, from: &str, to: &str) -> String {
        let from = page.find(from).map_or(page.len(), |at| at + from.len());
        let text = page[from..].split(to).next().unwrap_or_default();
        let text = text
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap_or(part));
        text.collect::<String>().replace('\u{202f}', " ")
    }

    #[test]
    fn sentence_captions_and_table_tell_the_same() {
        let bar = build(Character::Bar, 2000).unwrap();
        let page = page_of(&bar, "bar");
        let close_up = &page[page.find("<div class=\"region\">").unwrap()..];
        let sentence = between(close_up, "<p>", "<small>");
        assert!(sentence.starts_with("Linear blending"), "{sentence}");
        let tiles = &close_up[close_up.find("<div class=\"tiles enlarged\">").unwrap()..];
        let table = &page[page.rfind("<table>").unwrap()..];
        for title in ["Linear blending", "Log-matrix blending"] {
            let tile = &tiles[tiles.find(title).unwrap()..];
            let caption = between(tile, "<p class=\"under\">", "</p>");
            assert!(sentence.contains(&caption), "{caption} in {sentence}");
            // The second column is what is left of the thinnest joint.
            let row = &table[table.find(title).unwrap()..];
            let cells: Vec<&str> = row.split("<td").take(3).collect();
            let kept: i64 = between(cells[2], ">", " %")
                .split(['.', '\u{202f}', ' '])
                .next()
                .and_then(|number| number.parse().ok())
                .unwrap();
            let lost = between(&caption, "loses ", " %")
                .trim_end_matches('%')
                .trim()
                .parse()
                .unwrap_or(0);
            assert!((100 - lost - kept).abs() <= 1, "{caption} against {kept}");
        }
    }

    #[test]
    fn the_page_starts_with_the_answer_and_commands_for_it() {
        let bar = build(Character::Bar, 2000).unwrap();
        let options = ReportOptions {
            methods: default_methods(),
            ..small()
        };
        let page = page_with(&bar, "bar", &options);
        let answer = page.find("<div class=\"answer\">").unwrap();
        assert!(answer < page.find("<table>").unwrap());
        let verdict = between(&page[answer..], "<p class=\"verdict\">", "</p>");
        assert_eq!(
            verdict,
            "Use centers of rotation; if your engine only supports linear blending, \
             add a twist joint to the first joint."
        );
        for command in [
            "supple bake bar.glb -m cor -o bar-cor.glb",
            "supple shaders -m cor -o shaders",
            "supple twist bar.glb --joint first -o bar-twist.glb",
        ] {
            assert!(page[answer..].contains(command), "{command}");
        }
        // Linear blending is the first column of the heat map.
        let columns = &page[page.find("<table>").unwrap()..];
        assert!(
            columns.find("Linear blending").unwrap() < columns.find("Dual quaternions").unwrap()
        );
        assert_eq!(page.matches("class=\"wipe\"").count(), 1);
        assert_eq!(
            page.matches("class=\"strip\"").count(),
            2,
            "the motion by both"
        );
    }

    #[test]
    fn centers_are_shown_where_they_are_compared() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.truncate(2);
        assert!(!page_of(&bar, "bar").contains("Centers of rotation"));
        let options = ReportOptions {
            methods: vec![Method::Linear, "cor".parse().unwrap()],
            ..small()
        };
        let page = page_with(&bar, "bar", &options);
        let section = &page[page.find("<h3>Centers of rotation</h3>").unwrap()..];
        let section = &section[..section.find("<h3>The weights").unwrap()];
        let weights = bar.rig.weights();
        let blended = (0..weights.vertex_count()).filter(|&vertex| weights.of(vertex).len() > 1);
        let sentence = format!("{} of 1,978 vertices have such a center", blended.count());
        assert!(section.contains(&sentence), "{sentence}");
        assert_eq!(section.matches("<img").count(), 2, "at rest and posed");
    }

    #[test]
    fn weights_are_shown_and_judged() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.truncate(1);
        let page = page_of(&bar, "bar");
        let section = &page[page.find("<h3>The weights</h3>").unwrap()..];
        assert_eq!(
            section.matches("<img").count(),
            2,
            "all joints, and the worst place"
        );
        for (figure, value) in [
            ("Smoothness", "smooth, roughness"),
            ("Stray weight", "none"),
            ("Spurious maxima", "none"),
            ("Asymmetry", "none"),
            ("Sums", "1 everywhere"),
        ] {
            let value_text = between(section, &format!("<dt>{figure}</dt>"), "</dd>");
            assert!(value_text.starts_with(value), "{figure}: {value_text}");
        }
    }

    #[test]
    fn names_from_a_file_stay_text() {
        let hostile = "</style><script>alert(1)</script>\"'&{{style}}";
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.truncate(2);
        bar.clips
            .iter_mut()
            .for_each(|clip| clip.name = hostile.to_owned());
        let page = page_of(&bar, hostile);
        assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
        assert_eq!(page.matches("</style>").count(), 1);
        assert!(page.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn the_same_method_twice_counts_once() {
        let bar = build(Character::Bar, 2000).unwrap();
        let page = page_of(&bar, "bar");
        assert_eq!(page.matches("<div class=\"method\">").count(), 2);
    }

    #[test]
    fn nothing_to_show_is_an_error() {
        let bar = build(Character::Bar, 2000).unwrap();
        let none = ReportOptions {
            methods: Vec::new(),
            ..small()
        };
        let subject = Subject {
            title: String::new(),
            file: String::new(),
            asset: &bar,
            baked: BakedData::default(),
            weights_report: WeightsReport::default(),
            clips: Vec::new(),
        };
        assert!(matches!(
            report(&[subject], &none, |_| ()),
            Err(ReportError::NoMethods)
        ));
        assert!(matches!(
            report(&[], &small(), |_| ()),
            Err(ReportError::NoSurface)
        ));
    }
}
