//! The chapter that shows the clips: rows of pictures, and lines over time.

use super::elements::{key, named, picture, ringed};
use super::plot::Plot;
use super::table;
use super::writer::Writer;
use crate::ReportError;
use crate::comparison::FrameMeasures;
use crate::names::{capitalised, clean, clip_title, uncapitalised};
use crate::phrases::moved;
use crate::pictures::{self, Posed};
use crate::study::{Difference, Shown};
use crate::verdict::thickness_words;
use maud::{Markup, html};
use supple::{Player, Pose};
use supple_render::View;

/// So many clip names are listed; then they are only counted.
const MOST_NAMES: usize = 12;

impl Writer<'_, '_> {
    pub fn clips(&self, tick: &mut impl FnMut()) -> Result<Markup, ReportError> {
        let study = self.study;
        let mut clips = Vec::new();
        for shown in &study.shown {
            clips.push(self.clip(shown, tick)?);
        }
        Ok(html! {
            @if study.made_up && study.comparison.regions.is_empty() {
                p {
                    "The file has no clips, and no joints with skin between them that could be \
                     bent instead."
                }
            } @else if study.made_up {
                p {
                    "The file has no clips, so the joints with most skin were bent and twisted by \
                     90°, one at a time."
                }
            }
            @if clips.is_empty() {
                p { "No clip shows a difference between the methods." }
            }
            @for clip in &clips { (clip) }
            @if !study.quiet.is_empty() {
                p { "The methods look alike in " (clip_list(&study.quiet)) "." }
            }
            @if !study.small.is_empty() {
                p {
                    "The differences are too small to be seen from afar in "
                    (clip_list(&study.small)) "."
                }
            }
            @if !study.left_out.is_empty() {
                p {
                    "Skipped because they show nothing new: "
                    (clip_list(&study.left_out)) "."
                    @if !study.made_up {
                        " Ask for any of them with " code { "--clip" } "."
                    }
                }
            }
        })
    }

    fn clip(&self, shown: &Shown<'_>, tick: &mut impl FnMut()) -> Result<Markup, ReportError> {
        let mut moments = Vec::new();
        for &frame in &shown.moments {
            moments.push(self.moment(shown, frame)?);
            tick();
        }
        Ok(html! {
            div.clip {
                h4 { (named(&clip_title(&shown.clip.name))) }
                @if shown.difference == Difference::None { p { "All methods look alike here." } }
                @for moment in &moments { (moment) }
                @if shown.length() > 0.0 { (self.plots(shown)) }
            }
        })
    }

    /// One row of pictures: all methods at a moment.
    fn moment(&self, shown: &Shown<'_>, frame: usize) -> Result<Markup, ReportError> {
        let comparison = &self.study.comparison;
        let regions = &comparison.regions;
        let pose = shown.pose(comparison.asset, frame);
        let posed = Posed::new(comparison, &pose);
        let affected = self.affected(shown, frame, &posed);
        let importance = |region: usize| shown.samples.importance(frame, region, &regions[region]);
        let worst = (0..regions.len()).max_by(|&a, &b| importance(a).total_cmp(&importance(b)));
        let motion = worst.map(|region| shown.samples.motions[frame][region]);
        let what = worst
            .zip(motion)
            .and_then(|(region, motion)| moved(&regions[region].title, &motion));
        let head = html! {
            p.moment {
                b { (capitalised(&shown.moment(frame))) }
                @if let Some(what) = what { " · " (what) }
            }
        };
        let aspect = self.settings.aspect();
        let framing =
            pictures::frame_difference(comparison, &posed, &affected, aspect, motion.as_ref());
        let Some(framing) = framing else {
            let mut reasons = posed.positions.into_iter().filter_map(Result::err);
            let reason = clean(&reasons.next().unwrap_or_default());
            return Ok(html! { (head) p { "No method can do this pose: " (reason) "." } });
        };
        let where_to_look = match framing.is_part {
            true => self.where_to_look(&pose, &affected, framing.view)?,
            false => None,
        };
        let mut tiles = Vec::new();
        for method in 0..self.entries.len() {
            let drawn = comparison.pose(method, &pose, |player| {
                pictures::shaded(player, &self.look, &framing, &self.settings)
            });
            let measures = shown.samples.frames[method][frame].as_ref().ok();
            let thickness = worst
                .filter(|_| framing.is_part)
                .and_then(|region| Some(thickness_words(measures?.regions[region].thickness?)));
            let volume = || {
                let change = measures?.volume_change?;
                Some(format!("volume {}", table::signed_percent(change)))
            };
            let under = thickness.or_else(volume);
            tiles.push(self.tile(method, drawn, under.as_deref())?);
        }
        Ok(html! {
            (head)
            div.tiles {
                @if let Some(tile) = where_to_look { (tile) }
                @for tile in &tiles { (tile) }
            }
        })
    }

    /// The relevance of each vertex for a row of pictures, from 0 to 1.
    fn affected(&self, shown: &Shown<'_>, frame: usize, posed: &Posed) -> Vec<f32> {
        let comparison = &self.study.comparison;
        let spread = posed.spread();
        let farthest = spread.iter().copied().fold(0.0, f32::max);
        if f64::from(farthest) > 1e-4 * comparison.extent() {
            return spread.iter().map(|spread| spread / farthest).collect();
        }
        // All methods agree, or there is only one: what is out of shape.
        let regions = &comparison.regions;
        let mut affected = vec![0.0f32; comparison.asset.rig.mesh().vertex_count()];
        let severity = |region: usize| shown.samples.severity(frame, region);
        let most = (0..regions.len()).map(severity).fold(1e-9, f64::max);
        for (index, region) in regions.iter().enumerate() {
            let share = (severity(index) / most) as f32;
            let vertices = region.skin.vertices.iter().zip(&region.skin.blends);
            for (&vertex, blend) in vertices {
                let affected = &mut affected[vertex];
                *affected = affected.max(share * blend);
            }
        }
        affected
    }

    /// The whole character, and where on it the row of pictures is.
    fn where_to_look(
        &self,
        pose: &Pose,
        affected: &[f32],
        view: View,
    ) -> Result<Option<Markup>, ReportError> {
        let comparison = &self.study.comparison;
        let draw = |player: &Player<'_>| {
            pictures::whereabouts(player, &self.look, affected, view, &self.settings)
        };
        let mut methods = 0..self.entries.len();
        let drawn = methods.find_map(|method| comparison.pose(method, pose, draw).ok());
        let Some((image, ring)) = drawn else {
            return Ok(None);
        };
        let alt = "The whole character; where methods differ is coloured";
        let image = picture(&image, alt)?;
        Ok(Some(html! {
            figure.tile.aside {
                figcaption { "Where to look" }
                (ringed(&image, ring.as_ref(), "ring"))
            }
        }))
    }

    fn plots(&self, shown: &Shown<'_>) -> Markup {
        let samples = &shown.samples;
        let marks: Vec<f64> = shown
            .moments
            .iter()
            .map(|&frame| samples.times[frame])
            .collect();
        let lines = |value: &dyn Fn(&FrameMeasures) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            let line = |frames: &Vec<Result<FrameMeasures, String>>| {
                frames
                    .iter()
                    .map(|frame| Some(100.0 * value(frame.as_ref().ok()?)?))
                    .collect()
            };
            samples.frames.iter().map(line).collect()
        };
        let plot = |title: &str, caption, lines: Vec<Vec<Option<f64>>>, ranges: [(f64, f64); 2]| {
            let plot = Plot {
                title,
                caption,
                times: &samples.times,
                lines,
                marks: &marks,
                least_range: ranges[0],
                most_range: ranges[1],
            };
            let has_values = plot.lines.iter().flatten().any(Option::is_some);
            has_values.then(|| plot.to_svg())
        };
        let volume = plot(
            "Volume",
            "how much the body gains or loses",
            lines(&|measures| measures.volume_change),
            [(-1.0, 1.0), (-60.0, 60.0)],
        );
        let stretch = plot(
            "Worst stretch",
            "of the most pulled hundredth of the skin",
            lines(&|measures| Some(measures.stretched)),
            [(0.0, 10.0), (0.0, 400.0)],
        );
        let thickness = self.worst_thickness(shown).and_then(|region| {
            let title = &self.study.comparison.regions[region].title;
            plot(
                &format!("Thickness: {}", uncapitalised(title)),
                "where the loss is largest",
                lines(&|measures| Some(measures.regions[region].thickness?.thinnest - 1.0)),
                [(-10.0, 0.0), (-100.0, 20.0)],
            )
        });
        html! {
            ul.legend {
                @for (index, entry) in self.entries.iter().enumerate() {
                    li data-method=(index) { (key(index)) (entry.title) }
                }
            }
            div.plots {
                @for plot in [volume, stretch, thickness].iter().flatten() { (plot) }
            }
            p.note { (spacing(&samples.times, samples.spacing)) }
        }
    }

    /// The region of the strongest severity whose thickness can be measured.
    fn worst_thickness(&self, shown: &Shown<'_>) -> Option<usize> {
        let samples = &shown.samples;
        let measured = |region: &usize| {
            let mut frames = samples.frames.iter().flatten().flatten();
            frames.any(|measures| measures.regions[*region].thickness.is_some())
        };
        let worst = |region: usize| {
            let frames = 0..samples.times.len();
            frames
                .map(|frame| samples.severity(frame, region))
                .fold(0.0, f64::max)
        };
        (0..self.study.comparison.regions.len())
            .filter(measured)
            .max_by(|&a, &b| worst(a).total_cmp(&worst(b)))
    }
}

/// "Measured every 0.06 s, and at 3 moments between."
fn spacing(times: &[f64], spacing: f64) -> String {
    let even = (times.last().unwrap_or(&0.0) / spacing).round() as usize + 1;
    let keys = match times.len().saturating_sub(even) {
        0 => String::new(),
        1 => ", and at one moment between".to_owned(),
        count => format!(", and at {count} moments between"),
    };
    format!("Measured every {spacing:.2}\u{202f}s{keys}.")
}

/// "‘Walk’, ‘Run’ and ‘Jump’", from the names of clips.
fn clip_list(names: &[String]) -> Markup {
    let shown = names.len().min(MOST_NAMES);
    let rest = names.len() - shown;
    let separator = |index: usize| match index {
        0 => "",
        _ if index + 1 == shown && rest == 0 => " and ",
        _ => ", ",
    };
    html! {
        @for (index, name) in names[..shown].iter().enumerate() {
            (separator(index)) "‘" (named(&clip_title(name))) "’"
        }
        @if rest > 0 { " and " (rest) " more" }
    }
}
