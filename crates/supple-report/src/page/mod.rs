//! The page: everything that is HTML, from templates in Rust (`maud`), which escapes all text.
//!
//! The frame of the page is here; a character's part of it is put together in `section.rs`.

mod answer;
mod centers;
mod clips;
mod elements;
mod heat_map;
mod joints;
mod plot;
mod section;
mod summary;
mod table;
mod weights;
mod writer;

pub(crate) use answer::Answer;
pub(crate) use section::{Judgement, Section, section};

use crate::methods::{self, Entry};
use crate::names::{clean, cut};
use crate::phrases::join_names;
use crate::{ReportOptions, Subject};
use elements::{key, named};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use supple_render::{FULL_STRETCH, srgb_from_linear, stretch_color};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

const INTRODUCTION: &str = "Skinning decides how the skin follows the bones. Inside a limb that is \
    easy; where two bones meet, each method mixes their motions in its own way, and that is where \
    they differ. Each keeps its colour on this page.";

const HOW_IT_WAS_MEASURED: &str = "Every clip was played by every method, with the same weights, \
    in evenly spaced frames, and where these are far apart also at keys that pose the character \
    unlike them. Moments were chosen where the methods differ most or distort the skin most. \
    Thickness is the distance from the skin to the bones around a joint; stretch is the change of \
    area around each point; both are compared with the character as it was bound. Volume is \
    compared with the file’s rest pose. Times were measured on this machine and will differ on \
    yours; their order should not.";

/// The whole page.
pub(crate) fn page(
    subjects: &[Subject<'_>],
    sections: &[Section],
    entries: &[Entry],
    options: &ReportOptions,
) -> String {
    let titles = || join_names(subjects.iter().map(|subject| cut(&subject.title)));
    let heading = clean(&options.heading.clone().unwrap_or_else(titles));
    let hero = sections.iter().find_map(|section| section.hero.as_ref());
    // One character is what the page is about; several have a chapter each.
    let only = match sections {
        [only] => Some(only),
        _ => None,
    };
    // Where there is an answer, it is the first sentence.
    let lead = options.lead.clone();
    let lead = lead.or_else(|| only.is_none().then(|| default_lead(entries)));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (heading) " – Supple" }
                style {
                    (PreEscaped(properties(options)))
                    (PreEscaped(STYLE))
                    (method_colors(entries))
                }
            }
            body {
                main {
                    header.(if hero.is_some() { "pictured" } else { "plain" }) {
                        div {
                            p.brand { "Supple · comparison of skinning methods" }
                            h1 { bdi { (heading) } }
                            @if let Some(lead) = lead { p { (clean(&lead)) } }
                            @if let Some(only) = only { (only.facts) }
                        }
                        @if let Some(hero) = hero { div { (hero) } }
                    }
                    @if let Some(only) = only {
                        section.subject.single { (only.answer) (only.body) }
                    } @else {
                        @for (subject, section) in subjects.iter().zip(sections) {
                            section.subject {
                                h2 { (named(&subject.title)) }
                                (section.facts) (section.answer) (section.body)
                            }
                        }
                    }
                    section {
                        details.chapter {
                            summary { h3 { "The methods" } }
                            p.lead { (INTRODUCTION) }
                            div.methods {
                                @for (index, entry) in entries.iter().enumerate() {
                                    (method_card(index, entry))
                                }
                            }
                        }
                        details.chapter {
                            summary { h3 { "How this was measured" } }
                            p { (HOW_IT_WAS_MEASURED) }
                        }
                    }
                    @if let Some(commands) = &options.commands {
                        footer {
                            h2 { "Now your own character" }
                            pre { (commands) }
                        }
                    }
                }
                div #tip hidden {}
                dialog #large { button type="button" aria-label="Close" { "×" } div {} }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn default_lead(entries: &[Entry]) -> String {
    let methods = match entries.len() {
        1 => "one skinning method".to_owned(),
        count => format!("{count} skinning methods"),
    };
    format!(
        "The same character, the same motion, {methods}: the artifacts of each, where they \
         appear, and the cost."
    )
}

fn method_card(index: usize, entry: &Entry) -> Markup {
    html! {
        div.method {
            h3 { (key(index)) (entry.title) }
            p { (entry.introduction) }
            code { "-m " (entry.text) }
        }
    }
}

/// The properties that the style sheet refers to: the size of tiles and the colours of stretch.
fn properties(options: &ReportOptions) -> String {
    let (width, height) = options.picture_size;
    let tile = width.clamp(120, 340) * 3 / 5;
    let gradient = gradient();
    format!(":root {{ --tile: {tile}px; --aspect: {width} / {height}; --gradient: {gradient}; }}\n")
}

/// The line and the mark of every method.
fn method_colors(entries: &[Entry]) -> Markup {
    html! {
        @for index in 0..entries.len() {
            @let (color, dashes) = (methods::color(index), methods::dashes(index));
            ".m" (index) " { stroke: " (color) "; stroke-dasharray: " (dashes) "; } "
            ".k" (index) " { border-color: " (color) "; border-top-style: " (border(dashes)) "; }\n"
        }
    }
}

fn border(dashes: &str) -> &'static str {
    match dashes {
        "none" => "solid",
        "2 3" => "dotted",
        _ => "dashed",
    }
}

/// The colours of stretch as stops of a gradient.
fn gradient() -> String {
    let stops = (-4..=4).map(|step| {
        let color = stretch_color(FULL_STRETCH * step as f32 / 4.0);
        let [r, g, b] = srgb_from_linear(color);
        format!("rgb({r} {g} {b})")
    });
    stops.collect::<Vec<_>>().join(", ")
}
