//! The chapters about joints: a sentence for each, and the worst up close.

use super::elements::named;
use super::table;
use super::writer::Writer;
use crate::ReportError;
use crate::findings::JointFinding;
use crate::names::clip_title;
use crate::phrases::{both_sides, motion_words};
use crate::pictures::{self, Posed};
use crate::study::JointMoment;
use crate::verdict::thickness_words;
use maud::{Markup, html};

/// A sentence about one joint, or about a left and a right one that do alike.
struct Verdict<'a> {
    title: String,
    when: Markup,
    sentence: &'a str,
}

impl Writer<'_, '_> {
    pub fn joints(&self, tick: &mut impl FnMut()) -> Result<Markup, ReportError> {
        let verdicts = self.verdicts();
        if verdicts.is_empty() {
            return Ok(Markup::default());
        }
        let mut close_ups = Vec::new();
        for at in &self.close_ups {
            close_ups.push(self.close_up(at)?);
            tick();
        }
        Ok(html! {
            h3 { "Joint by joint" }
            p {
                "Which method holds up where. Each joint is judged at one moment of the clips \
                 above: while it moves, when one of the methods changes its thickness most."
            }
            ul.verdicts {
                @for verdict in &verdicts {
                    li {
                        b { (named(&verdict.title)) } ": " (verdict.sentence) " "
                        small { (verdict.when) }
                    }
                }
            }
            @match self.findings.left_out {
                0 => {}
                1 => p { "One more joint changes too, but less, or is one of many in a hand." }
                count => p {
                    (count) " more joints change too, but less, or are among many in a hand."
                }
            }
            h3 { "Where the skin suffers" }
            p {
                "The worst joints up close, at the very moments of the sentences above, each seen \
                 by the same camera in every method. Colour shows what happens to the area of the \
                 skin: where it keeps its size it is pale."
            }
            div.scale { span { "squeezed to half" } i {} span { "stretched to double" } }
            @for close_up in &close_ups { (close_up) }
        })
    }
    fn verdicts(&self) -> Vec<Verdict<'_>> {
        let mut verdicts: Vec<Verdict<'_>> = Vec::new();
        for JointFinding { at, sentence, .. } in &self.findings.joints {
            let title = &self.study.comparison.regions[at.region].title;
            let when = self.when(at);
            let same = |verdict: &&mut Verdict<'_>| {
                verdict.when.0 == when.0 && verdict.sentence == sentence.as_str()
            };
            let other = verdicts.iter_mut().find(same);
            // Left and right often fare alike.
            match other.and_then(|other| Some((both_sides(&other.title, title)?, other))) {
                Some((both, other)) => other.title = both,
                None => verdicts.push(Verdict {
                    title: title.clone(),
                    when,
                    sentence,
                }),
            }
        }
        verdicts
    }

    /// "in ‘Walk’, 0.75 s".
    fn when(&self, at: &JointMoment) -> Markup {
        let shown = &self.study.shown[at.clip];
        let clip = named(&clip_title(&shown.clip.name));
        html! { "in ‘" (clip) "’, " (shown.moment(at.frame)) }
    }

    /// A joint at the moment at which it is judged, by all methods.
    fn close_up(&self, at: &JointMoment) -> Result<Markup, ReportError> {
        let comparison = &self.study.comparison;
        let shown = &self.study.shown[at.clip];
        let region = &comparison.regions[at.region];
        let motion = &shown.samples.motions[at.frame][at.region];
        let pose = shown.pose(comparison.asset, at.frame);
        let posed = Posed::new(comparison, &pose);
        let aspect = self.settings.aspect();
        let framing = pictures::frame_region(comparison, &posed, region, aspect, motion);
        let mut tiles = Vec::new();
        if let Some(framing) = &framing {
            for method in 0..self.entries.len() {
                let drawn = comparison.pose(method, &pose, |player| {
                    pictures::stretched(comparison, player, &self.look, framing, &self.settings)
                });
                let measures = shown.samples.frames[method][at.frame].as_ref().ok();
                let under = measures.map(|measures| {
                    let measures = &measures.regions[at.region];
                    let lengths = table::plain_percent(measures.distortion);
                    let thickness = measures.thickness.map(thickness_words);
                    thickness.unwrap_or(format!("lengths change by {lengths}"))
                });
                tiles.push(self.tile(method, drawn, under.as_deref())?);
            }
        }
        Ok(html! {
            div.region {
                h4 { (named(&region.title)) }
                p {
                    @if let Some(how) = motion_words(&region.title, motion) { (how) ", " }
                    (self.when(at))
                    @if !region.name.is_empty() { " · joint " code { (named(&region.name)) } }
                }
                @if framing.is_some() {
                    div.tiles { @for tile in &tiles { (tile) } }
                }
            }
        })
    }
}
