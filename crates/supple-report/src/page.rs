//! The page around the characters: what it opens with, the methods, its style.

use crate::html::{cut, escape, fill, named};
use crate::methods::{self, Entry};
use crate::phrases::join_names;
use crate::pictures::{self, FULL_COLOR};
use crate::section::Section;
use crate::{ReportOptions, Subject};
use std::fmt::Write;
use supple_render::srgb_from_linear;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub(crate) fn page(
    subjects: &[Subject<'_>],
    sections: &[Section],
    entries: &[Entry],
    options: &ReportOptions,
) -> String {
    let heading = options
        .heading
        .clone()
        .unwrap_or_else(|| join_names(subjects.iter().map(|subject| cut(&subject.title))));
    let lead = options.lead.clone().unwrap_or_else(|| {
        let methods = match entries.len() {
            1 => "one skinning method".to_owned(),
            count => format!("{count} skinning methods"),
        };
        format!("The same character, the same motion, {methods}: what each does to the skin, where it goes wrong, and what it costs.")
    });
    let hero = sections.iter().find_map(|section| section.hero.as_deref());
    let mut cards = String::new();
    let mut colors = String::new();
    // Writing to a string cannot fail.
    for (index, entry) in entries.iter().enumerate() {
        let _ = write!(
            cards,
            "<div class=\"method\"><h3><i class=\"key k{index}\"></i>{}</h3><p>{}</p><code>-m {}</code></div>",
            escape(&entry.title),
            escape(&entry.introduction),
            escape(&entry.method.to_string()),
        );
        let (color, dashes) = (methods::color(index), methods::dashes(index));
        let border = match dashes {
            "none" => "solid",
            "2 3" => "dotted",
            _ => "dashed",
        };
        let _ = writeln!(
            colors,
            ".m{index} {{ stroke: {color}; stroke-dasharray: {dashes}; }} .k{index} {{ border-color: {color}; border-top-style: {border}; }}"
        );
    }
    let (width, height) = options.picture_size;
    let tile = width.clamp(120, 340) * 3 / 5;
    let style = fill(
        STYLE,
        &[
            ("tile", &tile.to_string()),
            ("aspect", &format!("{width} / {height}")),
            ("gradient", &gradient()),
        ],
    );
    // One character is what the page is about; several have a chapter each.
    let (top, subjects_html) = match sections {
        [only] => (
            format!("{}{}", only.facts, only.summary),
            format!("<section class=\"subject single\">{}</section>", only.body),
        ),
        _ => {
            let chapter = |(subject, section): (&Subject<'_>, &Section)| {
                let Section {
                    facts,
                    summary,
                    body,
                    ..
                } = section;
                let title = named(&subject.title);
                format!(
                    "<section class=\"subject\"><h2>{title}</h2>{facts}{summary}{body}</section>"
                )
            };
            (
                String::new(),
                subjects.iter().zip(sections).map(chapter).collect(),
            )
        }
    };
    let mut notes = "<p>Every clip was played by every method, with the same weights, in evenly spaced frames, and where these are far apart \
                     also at keys that pose the character unlike them. Moments were \
                     chosen where the methods differ most or distort the skin most. Thickness is the distance from the skin to the bones \
                     around a joint; stretch is the change of area around each point; both are compared with the character as it was bound. Volume is compared with the file’s rest pose. \
                     Times were measured on this machine and will differ on yours; their order should not.</p>".to_owned();
    if let Some(commands) = &options.commands {
        let _ = write!(
            notes,
            "<h2>Now your own character</h2><pre>{}</pre>",
            escape_lines(commands)
        );
    }
    fill(
        PAGE,
        &[
            ("title", &escape(&format!("{heading} – Supple"))),
            ("style", &style),
            ("method_style", &colors),
            (
                "header_class",
                if hero.is_some() { "pictured" } else { "plain" },
            ),
            ("heading", &format!("<bdi>{}</bdi>", escape(&heading))),
            ("lead", &format!("<p>{}</p>{top}", escape(&lead))),
            (
                "hero",
                &hero
                    .map(|image| format!("<div>{image}</div>"))
                    .unwrap_or_default(),
            ),
            ("methods", &cards),
            ("subjects", &subjects_html),
            ("notes", &notes),
            ("script", SCRIPT),
        ],
    )
}

fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// The colours of stretch as stops of a gradient.
fn gradient() -> String {
    let stops = (-4..=4).map(|step| {
        let color = pictures::stretch_color(FULL_COLOR * step as f32 / 4.0);
        let [r, g, b] = srgb_from_linear(color);
        format!("rgb({r} {g} {b})")
    });
    stops.collect::<Vec<_>>().join(", ")
}
