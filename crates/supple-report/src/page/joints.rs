//! The worst joints up close: the current state and the recommended method under a slider, the same
//! in motion, and all methods.

use super::answer::against;
use super::elements::{named, picture, strip};
use super::table;
use super::writer::Writer;
use crate::ReportError;
use crate::findings::{Effect, JointFinding};
use crate::names::clip_title;
use crate::phrases::motion_words;
use crate::pictures::{self, Framing, Posed};
use crate::study::{JointMoment, Shown};
use crate::verdict::thickness_words;
use maud::{Markup, html};
use supple::exec;
use supple_render::{Image, Settings};

/// Close-ups are larger than other pictures by this factor, and frames of a loop smaller; the
/// latter have at most so many rows.
const CLOSE_UP: f64 = 1.6;
const LOOP: f64 = 0.8;
const LOOP_ROWS: f64 = 400.0;

/// A loop shows this many frames of at most so many seconds around the moment.
const LOOP_FRAMES: usize = 10;
const LOOP_SECONDS: f64 = 1.2;

impl Writer<'_, '_> {
    /// The worst joints.
    pub fn joints(&self, tick: &mut impl FnMut()) -> Result<Markup, ReportError> {
        let mut close_ups = Vec::new();
        for at in &self.close_ups {
            let joint = self.findings.joints.iter().find(|joint| joint.at == *at);
            if let Some(joint) = joint {
                close_ups.push(self.close_up(joint)?);
            }
            tick();
        }
        if close_ups.is_empty() {
            return Ok(Markup::default());
        }
        Ok(html! {
            h3 { "The worst joints up close" }
            p {
                "Each at its worst moment, seen by the same camera in every method. Colour shows \
                 the change of the skin’s area: pale skin keeps its size."
            }
            div.scale { span { "squeezed to half" } i {} span { "stretched to double" } }
            @for close_up in &close_ups { (close_up) }
        })
    }

    /// "left elbow", in running text.
    pub fn joint_title(&self, joint: &JointFinding) -> String {
        crate::names::uncapitalised(self.region_title(joint))
    }

    /// "Left elbow".
    pub fn region_title(&self, joint: &JointFinding) -> &str {
        &self.study.comparison.regions[joint.at.region].title
    }

    /// "bent by 118°, in ‘Walk’, 0.75 s".
    pub fn motion(&self, joint: &JointFinding) -> Markup {
        let shown = &self.study.shown[joint.at.clip];
        let motion = &shown.samples.motions[joint.at.frame][joint.at.region];
        html! {
            @if let Some(how) = motion_words(self.region_title(joint), motion) { (how) ", " }
            (self.when(&joint.at))
        }
    }

    /// "in ‘Walk’, 0.75 s".
    fn when(&self, at: &JointMoment) -> Markup {
        let shown = &self.study.shown[at.clip];
        let clip = named(&clip_title(&shown.clip.name));
        html! { "in ‘" (clip) "’, " (shown.moment(at.frame)) }
    }

    /// A joint at the moment at which it is judged, by all methods.
    fn close_up(&self, joint: &JointFinding) -> Result<Markup, ReportError> {
        let at = &joint.at;
        let comparison = &self.study.comparison;
        let shown = &self.study.shown[at.clip];
        let region = &comparison.regions[at.region];
        let motion = &shown.samples.motions[at.frame][at.region];
        let pose = shown.pose(comparison.asset, at.frame);
        let posed = Posed::new(comparison, &pose);
        let settings = scaled(&self.settings, CLOSE_UP);
        let framing = pictures::frame_region(comparison, &posed, region, settings.aspect(), motion);
        let Some(framing) = framing else {
            return Ok(Markup::default());
        };
        let drawn: Vec<Result<Image, String>> = exec::map(self.entries.len(), |method| {
            comparison.pose(method, &pose, |player| {
                pictures::stretched(comparison, player, &self.look, &framing, &settings)
            })
        });
        let side_by_side = match self.pair(joint) {
            Some(pair) => self.side_by_side(joint, pair, &drawn, &framing)?,
            None => Markup::default(),
        };
        let mut tiles = Vec::new();
        for (method, drawn) in drawn.into_iter().enumerate() {
            let under = match joint.effects[method] {
                Effect::Fails => None,
                Effect::Thickness(thickness) => Some(thickness_words(thickness)),
                Effect::Distortion(distortion) => {
                    let lengths = table::plain_percent(distortion);
                    Some(format!("lengths change by {lengths}"))
                }
            };
            tiles.push(self.tile(method, drawn, under.as_deref())?);
        }
        Ok(html! {
            div.region {
                h4 { (named(&region.title)) }
                p {
                    (crate::names::capitalised(&joint.sentence)) " "
                    small {
                        (self.motion(joint))
                        @if !region.name.is_empty() { " · joint " code { (named(&region.name)) } }
                    }
                }
                (side_by_side)
                div.tiles.enlarged { @for tile in &tiles { (tile) } }
            }
        })
    }

    /// Linear blending and what to compare it with at a joint: the recommended method, or if that
    /// is linear blending itself, the one that does best there.
    fn pair(&self, joint: &JointFinding) -> Option<[usize; 2]> {
        let recommendation = self.recommendation.as_ref()?;
        let current = recommendation.current?;
        let best = match recommendation.best == current {
            false => recommendation.best,
            true => {
                let others = (0..self.entries.len()).filter(|&method| method != current);
                let known =
                    others.filter_map(|method| Some((joint.effects[method].error()?, method)));
                known.min_by(|a, b| a.0.total_cmp(&b.0))?.1
            }
        };
        Some([current, best])
    }

    /// Two methods under a slider, and the motion by both.
    fn side_by_side(
        &self,
        joint: &JointFinding,
        pair: [usize; 2],
        drawn: &[Result<Image, String>],
        framing: &Framing,
    ) -> Result<Markup, ReportError> {
        let [Ok(left), Ok(right)] = pair.map(|method| &drawn[method]) else {
            return Ok(Markup::default());
        };
        let titles = pair.map(|method| &self.entries[method].title);
        let (left, right) = (picture(left, titles[0])?, picture(right, titles[1])?);
        let label = against(
            &self.entries[pair[0]].title_in_text,
            &self.entries[pair[1]].title_in_text,
        );
        let shown = &self.study.shown[joint.at.clip];
        let loops = match shown.length() > 0.0 {
            true => self.loops(joint, shown, pair, framing)?,
            false => Markup::default(),
        };
        Ok(html! {
            div.versus {
                figure.wipe {
                    div.stack {
                        (left)
                        div.over { (right) }
                        i.edge {}
                    }
                    input type="range" min="0" max="100" value="50" aria-label=(label) hidden;
                    figcaption { span { (titles[0]) } span { (titles[1]) } }
                }
                (loops)
            }
        })
    }

    /// A short piece of the clip around the moment, by two methods.
    fn loops(
        &self,
        joint: &JointFinding,
        shown: &Shown<'_>,
        pair: [usize; 2],
        framing: &Framing,
    ) -> Result<Markup, ReportError> {
        let comparison = &self.study.comparison;
        let most = LOOP_ROWS / self.settings.height.max(1) as f64;
        let settings = scaled(&self.settings, LOOP.min(most));
        let length = shown.length();
        let span = LOOP_SECONDS.min(length);
        let middle = shown.samples.times[joint.at.frame];
        let from = (middle - 0.5 * span).clamp(0.0, length - span);
        let poses: Vec<_> = (0..LOOP_FRAMES)
            .map(|frame| {
                let share = frame as f64 / (LOOP_FRAMES - 1) as f64;
                let time = shown.clip.start() + from + share * span;
                comparison.asset.pose_at(&shown.clip, time)
            })
            .collect();
        let region = &comparison.regions[joint.at.region];
        let travel = pictures::travel(comparison, &poses, pair[0]);
        let camera = pictures::camera_over(
            comparison,
            &poses,
            &travel,
            pair[0],
            region,
            framing,
            settings.aspect(),
        );
        let strips: Vec<Result<Vec<Image>, String>> = exec::map(2, |side| {
            let frames = poses.iter().zip(&travel).map(|(pose, &travel)| {
                let camera = camera.moved_by(travel);
                let framing = Framing { camera, ..*framing };
                comparison.pose(pair[side], pose, |player| {
                    pictures::stretched(comparison, player, &self.look, &framing, &settings)
                })
            });
            frames.collect()
        });
        let mut tiles = Vec::new();
        for (method, frames) in pair.into_iter().zip(strips) {
            // A pose that cannot be done is said elsewhere.
            let Ok(frames) = frames else {
                return Ok(Markup::default());
            };
            tiles.push(html! {
                figure.tile {
                    figcaption {
                        (super::elements::key(method)) span { (self.entries[method].title) }
                    }
                    (strip(&frames, &self.entries[method].title)?)
                }
            });
        }
        Ok(html! { div.loops { @for tile in &tiles { (tile) } } })
    }
}

/// Settings for pictures larger or smaller by a factor.
fn scaled(settings: &Settings, factor: f64) -> Settings {
    let scaled = |pixels: usize| ((pixels as f64 * factor) as usize).max(1);
    Settings {
        width: scaled(settings.width),
        height: scaled(settings.height),
        ..*settings
    }
}
