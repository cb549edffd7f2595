//! The facts about a character, and the comparison in a few sentences.

use super::elements::named;
use super::table::{self, Column, known_values};
use super::writer::Writer;
use crate::names::clip_title;
use crate::phrases::{grouped, singular};
use maud::{Markup, html};
use supple::Asset;

/// A change of volume below this is none.
const LITTLE_VOLUME: f64 = 0.005;

/// The size of the character.
pub(super) fn facts(asset: &Asset) -> Markup {
    let facts = [
        (asset.rig.mesh().vertex_count(), "vertices"),
        (asset.rig.mesh().triangles().len(), "triangles"),
        (asset.rig.skeleton().joints().len(), "joints"),
        (asset.clips.len(), "clips"),
    ];
    html! {
        ul.facts {
            @for (count, what) in facts {
                li { b { (grouped(count)) } " " (if count == 1 { singular(what) } else { what }) }
            }
        }
    }
}

impl Writer<'_, '_> {
    /// The comparison in a few sentences.
    pub fn summary(&self) -> Markup {
        let find = |title: &str| self.columns.iter().find(|column| column.title == title);
        let volume = find("Volume").and_then(|column| self.volume(column));
        let joints = self.most_wins().map(|text| html! { (text) });
        let cost = find("Time per vertex").and_then(|column| self.cost(column));
        let cost = cost.map(|text| html! { (text) });
        let points = [("Volume:", volume), ("Joints:", joints), ("Cost:", cost)];
        if points.iter().all(|(_, text)| text.is_none()) {
            return Markup::default();
        }
        html! {
            div.short {
                b.head { "In short" }
                ul {
                    @for (what, text) in &points {
                        @if let Some(text) = text { li { b { (what) } " " (text) } }
                    }
                }
            }
        }
    }

    /// "linear blending changes it most at the worst moment (−31 % in ‘Squat’), dual quaternions
    /// least (+2 %)."
    fn volume(&self, column: &Column) -> Option<Markup> {
        let known = known_values(column);
        let by = |a: &&(usize, f64), b: &&(usize, f64)| a.1.abs().total_cmp(&b.1.abs());
        let (least, most) = (*known.iter().min_by(by)?, *known.iter().max_by(by)?);
        if most.1.abs() < LITTLE_VOLUME {
            let limit = table::plain_percent(LITTLE_VOLUME);
            return Some(html! { "no method changes it by as much as " (limit) "." });
        }
        // A number, and the clip that it was found in.
        let written = |(method, value): (usize, f64)| {
            let clip = self.study.shown.iter().find(|shown| {
                let mut frames = shown.samples.frames[method].iter().flatten();
                frames.any(|frame| frame.volume_change == Some(value))
            });
            html! {
                ((column.write)(value))
                @if let Some(shown) = clip { " in ‘" (named(&clip_title(&shown.clip.name))) "’" }
            }
        };
        let alike = |one: (usize, f64)| -> Vec<usize> {
            let text = written(one).into_string();
            let same = known
                .iter()
                .filter(|other| written(**other).into_string() == text);
            same.map(|(method, _)| *method).collect()
        };
        let (best, worst) = (alike(least), alike(most));
        let who = |methods: &[usize]| match methods.len() {
            count if count == known.len() && count > 1 => "all methods".to_owned(),
            _ => self.names(methods),
        };
        let change = self.verb(&worst, "change");
        Some(html! {
            (who(&worst)) " " (change)
            @if worst.len() == known.len() {
                " it by up to " (written(most)) "."
            } @else {
                " it most at the worst moment (" (written(most)) "), "
                (who(&best)) " least (" (written(least)) ")."
            }
        })
    }

    /// At how many joints the methods that win most hold up best.
    fn most_wins(&self) -> Option<String> {
        let (joints, wins) = self.findings.wins(self.entries.len());
        let most = *wins.iter().max()?;
        if joints == 0 {
            return None;
        }
        let winners: Vec<usize> = (0..wins.len())
            .filter(|&method| wins[method] == most)
            .collect();
        let keep = self.verb(&winners, "keep");
        let of = match joints {
            1 => "at the one joint where methods differ".to_owned(),
            2 if most == 2 => "at both joints where methods differ".to_owned(),
            _ if most == joints => format!("at all {joints} joints where methods differ most"),
            _ => format!("at {most} of the {joints} joints where methods differ most"),
        };
        let who = self.names(&winners);
        Some(format!("{who} {keep} the thickness best {of}."))
    }

    fn cost(&self, column: &Column) -> Option<String> {
        let known = known_values(column);
        let (cheapest, least) = *known.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (dearest, most) = *known.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (who, takes) = (self.names(&[cheapest]), self.verb(&[cheapest], "take"));
        let least = (column.write)(least);
        if known.len() == 1 {
            return Some(format!("{who} {takes} {least} per vertex."));
        }
        let most = (column.write)(most);
        let other = self.names(&[dearest]);
        Some(format!(
            "{who} {takes} least time ({least} per vertex), {other} most ({most})."
        ))
    }
}
