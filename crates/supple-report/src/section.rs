//! What a page says about one character.

use crate::cast::Numbers;
use crate::html::{escape, named, picture};
use crate::methods::Entry;
use crate::names::{capitalised, clip_title, uncapitalised};
use crate::phrases::{
    both_sides, clip_list, grouped, join_names, motion_words, moved, singular, thickness_words,
};
use crate::pictures::{self, Framing, Posed, Ring};
use crate::plot::Plot;
use crate::study::{Difference, Shown, Study, Worst};
use crate::table::{Column, known_values};
use crate::told::{Joint, Told};
use crate::weights::{self, WorstPlace};
use crate::{ReportError, ReportOptions, Subject, table, verdict};
use std::fmt::Write;
use supple::quality::WeightQuality;
use supple::weights::WeightsReport;
use supple::{Asset, Method, Player, Pose};
use supple_render::{Camera, Image, Lamps, Look, Overlays, Settings, Silhouette, View, render};

/// A change of volume below this is none.
const LITTLE_VOLUME: f64 = 0.005;

/// Width and height of pictures that come in pairs.
const PORTRAIT: usize = 460;

/// The part of a page that is about one character.
pub(crate) struct Section {
    pub facts: String,
    pub summary: String,
    pub body: String,
    /// A picture for the top.
    pub hero: Option<String>,
}

/// Draws and describes one character.
pub(crate) fn section(
    subject: &Subject<'_>,
    study: &Study<'_>,
    entries: &[Entry],
    options: &ReportOptions,
    mut step: impl FnMut(f64),
) -> Result<Section, ReportError> {
    let told = Told::new(study, entries);
    let close_ups = told.close_ups(study);
    let look = Look::new(subject.asset, Overlays::default());
    let writer = Writer {
        study,
        entries,
        columns: table::columns(study, &told),
        told,
        close_ups,
        centers: CenterPictures::of(subject.asset, &look, entries),
        look,
        settings: pictures::settings(options.picture_size),
    };
    let steps: usize = study
        .shown
        .iter()
        .map(|shown| shown.moments.len())
        .sum::<usize>()
        + writer.close_ups.len()
        + 2;
    let mut done = 0;
    let mut tick = || {
        done += 1;
        step(done as f64 / steps as f64);
    };
    let hero = writer.hero()?;
    tick();
    let clips = writer.clips(&mut tick)?;
    let joints = writer.joints(&mut tick)?;
    let centers = writer.centers()?;
    let weights = writer.weights(&subject.weights_report)?;
    tick();
    Ok(Section {
        facts: writer.facts(),
        summary: writer.summary(),
        body: format!("{clips}{joints}{centers}{weights}{}", writer.numbers()),
        hero,
    })
}

struct Writer<'a, 'b> {
    study: &'a Study<'b>,
    entries: &'a [Entry],
    told: Told,
    close_ups: Vec<Worst>,
    columns: Vec<Column>,
    look: Look,
    centers: Option<CenterPictures>,
    settings: Settings,
}

/// What is needed to show centers of rotation, where a method that has them is among those
/// compared.
struct CenterPictures {
    method: usize,
    look: Look,
}

impl CenterPictures {
    fn of(asset: &Asset, look: &Look, entries: &[Entry]) -> Option<CenterPictures> {
        let mut methods = entries.iter().enumerate();
        methods.find_map(|(method, entry)| match &entry.method {
            Method::CentersOfRotation(options) => Some(CenterPictures {
                method,
                look: look.clone().with_centers(asset, &options.centers),
            }),
            _ => None,
        })
    }
}

fn ring_tag(ring: &Ring, class: &str) -> String {
    let [x, y, width] = [ring.x, ring.y, ring.width].map(|share| share * 100.0);
    format!("<i class=\"{class}\" style=\"left:{x:.1}%;top:{y:.1}%;width:{width:.1}%\"></i>")
}

impl<'a> Writer<'a, '_> {
    fn facts(&self) -> String {
        let asset = self.study.cast.asset;
        let facts = [
            (asset.rig.mesh().vertex_count(), "vertices"),
            (asset.rig.mesh().triangles().len(), "triangles"),
            (asset.rig.skeleton().joints().len(), "joints"),
            (asset.clips.len(), "clips"),
        ];
        let items = facts.map(|(count, what)| {
            let what = if count == 1 { singular(what) } else { what };
            format!("<li><b>{}</b> {what}</li>", grouped(count))
        });
        format!("<ul class=\"facts\">{}</ul>", items.concat())
    }

    /// A few sentences on the whole.
    fn summary(&self) -> String {
        let mut points: Vec<String> = Vec::new();
        let find = |title: &str| self.columns.iter().find(|column| column.title == title);
        if let Some(text) = find("Volume").and_then(|column| self.volume(column)) {
            points.push(format!("<b>Volume:</b> {text}"));
        }
        let tally = self.tally();
        if let Some(text) = tally {
            points.push(format!("<b>Joints:</b> {}", escape(&text)));
        }
        if let Some(text) = find("Time per vertex").and_then(|column| self.cost_sentence(column)) {
            points.push(format!("<b>Cost:</b> {}", escape(&text)));
        }
        if points.is_empty() {
            return String::new();
        }
        let items: String = points
            .iter()
            .map(|point| format!("<li>{point}</li>"))
            .collect();
        format!("<div class=\"short\"><b class=\"head\">In short</b><ul>{items}</ul></div>")
    }

    /// "linear blending changes it most (−31 % in ‘Squat’), dual quaternions least (+2 %)".
    fn volume(&self, column: &Column) -> Option<String> {
        let known = known_values(column);
        let by = |a: &&(usize, f64), b: &&(usize, f64)| a.1.abs().total_cmp(&b.1.abs());
        let (least, most) = (*known.iter().min_by(by)?, *known.iter().max_by(by)?);
        if most.1.abs() < LITTLE_VOLUME {
            let limit = table::plain_percent(LITTLE_VOLUME);
            return Some(format!("no method changes it by as much as {limit}."));
        }
        // A number, and the clip that it was found in.
        let written = |(method, value): (usize, f64)| {
            let clip = self.study.shown.iter().find(|shown| {
                let mut frames = shown.samples.numbers[method].iter().flatten();
                frames.any(|numbers| numbers.volume_change == Some(value))
            });
            let clip = clip.map(|shown| format!(" in ‘{}’", named(&clip_title(&shown.clip.name))));
            format!("{}{}", (column.write)(value), clip.unwrap_or_default())
        };
        let alike = |one: (usize, f64)| -> Vec<usize> {
            let same = known
                .iter()
                .filter(|other| written(**other) == written(one));
            same.map(|(method, _)| *method).collect()
        };
        let (best, worst) = (alike(least), alike(most));
        let who = |methods: &[usize]| match methods.len() {
            count if count == known.len() && count > 1 => "all methods".to_owned(),
            _ => escape(&self.names(methods)),
        };
        let change = self.verb(&worst, "change");
        if worst.len() == known.len() {
            return Some(format!(
                "{} {change} it by up to {}.",
                who(&worst),
                written(most)
            ));
        }
        Some(format!(
            "{} {change} it most at the worst moment ({}), {} least ({}).",
            who(&worst),
            written(most),
            who(&best),
            written(least)
        ))
    }

    /// The names of methods in running text.
    fn names(&self, methods: &[usize]) -> String {
        let name = |&method: &usize| self.entries[method].title_in_text.as_str();
        join_names(methods.iter().map(name))
    }

    fn verb(&self, methods: &[usize], stem: &str) -> String {
        let plural = methods.len() > 1 || methods.iter().any(|&method| self.entries[method].plural);
        verdict::verb(stem, plural)
    }

    /// In how many regions each method holds up best.
    fn tally(&self) -> Option<String> {
        let (joints, wins) = self.told.wins(self.entries.len());
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
        Some(format!(
            "{} {keep} the thickness best {of}.",
            self.names(&winners)
        ))
    }

    fn cost_sentence(&self, column: &Column) -> Option<String> {
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

    /// The moment in which the body moves most, since a picture of a small finger says nothing from
    /// afar.
    fn liveliest(&self) -> Option<(&Shown<'_>, usize)> {
        let shown = self.study.shown.iter();
        let moments =
            shown.flat_map(|shown| shown.moments.iter().map(move |&frame| (shown, frame)));
        let moved = |(shown, frame): &(&Shown<'_>, usize)| -> f64 {
            let motions = self
                .study
                .cast
                .regions
                .iter()
                .zip(&shown.samples.motions[*frame]);
            motions
                .map(|(region, motion)| region.share * motion.amount())
                .sum()
        };
        moments.max_by(|a, b| moved(a).total_cmp(&moved(b)))
    }

    /// The whole character in a pose.
    fn portrait(
        &self,
        method: usize,
        pose: &Pose,
        look: &Look,
        side: usize,
    ) -> Result<Image, String> {
        let settings = Settings {
            width: side,
            height: side,
            lamps: Lamps::MANY,
            ..self.settings
        };
        self.study.cast.pose(method, pose, |player| {
            let mut whole = Silhouette::default();
            whole.add(player);
            let camera = Camera::framing(whole.points(), View::THREE_QUARTER, settings.aspect());
            render(&look.scene(player, whole.ground()), &camera, &settings)
        })
    }

    /// A picture of the character at the moment that tells most.
    fn hero(&self) -> Result<Option<String>, ReportError> {
        let asset = self.study.cast.asset;
        let pose = match self.liveliest() {
            Some((shown, frame)) => shown.pose(asset, frame),
            None => asset.rest_pose(),
        };
        let linear = self
            .entries
            .iter()
            .position(|entry| entry.method == Method::Linear);
        let drawn = linear
            .into_iter()
            .chain(0..self.entries.len())
            .find_map(|method| self.portrait(method, &pose, &self.look, 520).ok());
        Ok(drawn
            .map(|image| picture(&image, "The character in motion"))
            .transpose()?)
    }

    fn clips(&self, tick: &mut impl FnMut()) -> Result<String, ReportError> {
        let study = self.study;
        let mut html = "<h3>Side by side</h3>".to_owned();
        if study.made_up && study.cast.regions.is_empty() {
            html.push_str("<p>The file has no clips, and no joints with skin between them that could be bent instead.</p>");
        } else if study.made_up {
            html.push_str("<p>The file has no clips. So its joints with most skin were bent and twisted by 90°, one at a time.</p>");
        }
        if study.shown.is_empty() {
            html.push_str("<p>Nothing moves here in a way that any of the methods would show differently.</p>");
        }
        for shown in &study.shown {
            html += &self.clip(shown, tick)?;
        }
        if !study.quiet.is_empty() {
            let _ = write!(
                html,
                "<p>No difference to see between the methods in {}.</p>",
                clip_list(&study.quiet)
            );
        }
        if !study.small.is_empty() {
            let _ = write!(
                html,
                "<p>The differences are too small to see from afar in {}.</p>",
                clip_list(&study.small)
            );
        }
        if !study.left_out.is_empty() {
            let ask = match study.made_up {
                true => "",
                false => " Any of them can be asked for with <code>--clip</code>.",
            };
            let _ = write!(
                html,
                "<p>Not shown, since they tell less, or the same again: {}.{ask}</p>",
                clip_list(&study.left_out)
            );
        }
        Ok(html)
    }

    fn clip(&self, shown: &Shown<'_>, tick: &mut impl FnMut()) -> Result<String, ReportError> {
        let mut html = format!(
            "<div class=\"clip\"><h4>{}</h4>",
            named(&clip_title(&shown.clip.name))
        );
        if shown.difference == Difference::None {
            html.push_str("<p>All methods look alike here.</p>");
        }
        for &frame in &shown.moments {
            html += &self.moment(shown, frame)?;
            tick();
        }
        if shown.length() > 0.0 {
            html += &self.plots(shown);
        }
        html.push_str("</div>");
        Ok(html)
    }

    /// One row of pictures: all methods at a moment.
    fn moment(&self, shown: &Shown<'_>, frame: usize) -> Result<String, ReportError> {
        let cast = &self.study.cast;
        let pose = shown.pose(cast.asset, frame);
        let posed = Posed::new(cast, &pose);
        let affected = self.affected(shown, frame, &posed);
        let importance = |region: usize| {
            shown
                .samples
                .importance(frame, region, &cast.regions[region])
        };
        let worst =
            (0..cast.regions.len()).max_by(|&a, &b| importance(a).total_cmp(&importance(b)));
        let motion = worst.map(|region| shown.samples.motions[frame][region]);
        let what = worst
            .zip(motion)
            .and_then(|(region, motion)| moved(&cast.regions[region].title, &motion));
        let mut html = format!(
            "<p class=\"moment\"><b>{}</b>{}</p>",
            capitalised(&shown.moment(frame)),
            what.map(|what| format!(" · {}", escape(&what)))
                .unwrap_or_default()
        );
        let aspect = self.settings.aspect();
        let Some(framing) =
            pictures::frame_difference(cast, &posed, &affected, aspect, motion.as_ref())
        else {
            let reason = posed
                .positions
                .into_iter()
                .find_map(Result::err)
                .unwrap_or_default();
            let _ = write!(
                html,
                "<p>No method can do this pose: {}.</p>",
                escape(&reason)
            );
            return Ok(html);
        };
        html.push_str("<div class=\"tiles\">");
        if framing.is_part {
            html += &self.where_tile(&pose, &affected, framing.view)?;
        }
        for method in 0..self.entries.len() {
            let drawn = cast.pose(method, &pose, |player| {
                pictures::shaded(player, &self.look, &framing, &self.settings)
            });
            let numbers = shown.samples.numbers[method][frame].as_ref().ok();
            let thickness = worst
                .filter(|_| framing.is_part)
                .and_then(|region| thickness_words(&numbers?.regions[region]));
            let volume = || {
                let change = numbers?.volume_change?;
                Some(format!("volume {}", table::signed_percent(change)))
            };
            let under = thickness.or_else(volume);
            html += &self.tile(method, drawn, under.as_deref())?;
        }
        html.push_str("</div>");
        Ok(html)
    }

    /// How much a row of pictures is about each vertex, from 0 to 1.
    fn affected(&self, shown: &Shown<'_>, frame: usize, posed: &Posed) -> Vec<f32> {
        let cast = &self.study.cast;
        let spread = posed.spread();
        let farthest = spread.iter().copied().fold(0.0, f32::max);
        if f64::from(farthest) > 1e-4 * cast.extent() {
            return spread.iter().map(|spread| spread / farthest).collect();
        }
        // All methods agree, or there is only one: what is out of shape.
        let mut affected = vec![0.0f32; cast.asset.rig.mesh().vertex_count()];
        let severity = |region: usize| shown.samples.severity(frame, region);
        let most = (0..cast.regions.len()).map(severity).fold(1e-9, f64::max);
        for (index, region) in cast.regions.iter().enumerate() {
            let share = (severity(index) / most) as f32;
            for &(vertex, blend) in &region.vertices {
                let affected = &mut affected[vertex as usize];
                *affected = affected.max(share * blend);
            }
        }
        affected
    }

    /// The whole character, and where on it the row of pictures is.
    fn where_tile(&self, pose: &Pose, affected: &[f32], view: View) -> Result<String, ReportError> {
        let cast = &self.study.cast;
        let draw = |player: &Player<'_>| {
            pictures::whereabouts(player, &self.look, affected, view, &self.settings)
        };
        let drawn = (0..self.entries.len()).find_map(|method| cast.pose(method, pose, draw).ok());
        let Some((image, ring)) = drawn else {
            return Ok(String::new());
        };
        let image = picture(
            &image,
            "The whole character; where methods differ is coloured",
        )?;
        let ring = ring.map(|ring| ring_tag(&ring, "ring"));
        Ok(format!(
            "<figure class=\"tile aside\"><figcaption>Where to look</figcaption><div class=\"whole\">{image}{}</div></figure>",
            ring.unwrap_or_default()
        ))
    }

    /// A picture under its method's name, or why there is none.
    fn tile(
        &self,
        method: usize,
        drawn: Result<Image, String>,
        under: Option<&str>,
    ) -> Result<String, ReportError> {
        let title = &self.entries[method].title;
        let image = match drawn {
            Ok(image) => picture(&image, title)?,
            Err(reason) => format!(
                "<div class=\"cannot\">cannot do this pose: {}</div>",
                escape(&reason)
            ),
        };
        let under = under
            .map(|under| format!("<p class=\"under\">{}</p>", escape(under)))
            .unwrap_or_default();
        Ok(format!(
            "<figure class=\"tile\"><figcaption><i class=\"key k{method}\"></i><span>{}</span></figcaption>{image}{under}</figure>",
            escape(title)
        ))
    }

    fn plots(&self, shown: &Shown<'_>) -> String {
        let samples = &shown.samples;
        let marks: Vec<f64> = shown
            .moments
            .iter()
            .map(|&frame| samples.times[frame])
            .collect();
        let lines = |value: &dyn Fn(&Numbers) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            let line = |frames: &Vec<Result<Numbers, String>>| {
                frames
                    .iter()
                    .map(|frame| Some(100.0 * value(frame.as_ref().ok()?)?))
                    .collect()
            };
            samples.numbers.iter().map(line).collect()
        };
        let mut plots = String::new();
        let mut add =
            |title: &str, caption: &str, lines: Vec<Vec<Option<f64>>>, ranges: [(f64, f64); 2]| {
                if lines.iter().flatten().flatten().next().is_some() {
                    let plot = Plot {
                        title,
                        caption,
                        times: &samples.times,
                        lines,
                        marks: &marks,
                        least_range: ranges[0],
                        most_range: ranges[1],
                    };
                    plots += &plot.to_svg();
                }
            };
        let volume = lines(&|numbers| numbers.volume_change);
        let stretch = lines(&|numbers| Some(numbers.stretched));
        add(
            "Volume",
            "how much the body gains or loses",
            volume,
            [(-1.0, 1.0), (-60.0, 60.0)],
        );
        add(
            "Worst stretch",
            "of the most pulled hundredth of the skin",
            stretch,
            [(0.0, 10.0), (0.0, 400.0)],
        );
        let measured = |region: &usize| {
            let mut numbers = samples.numbers.iter().flatten().flatten();
            numbers.any(|numbers| numbers.regions[*region].thickness.is_some())
        };
        let worst = |region: usize| {
            let frames = 0..samples.times.len();
            frames
                .map(|frame| samples.severity(frame, region))
                .fold(0.0, f64::max)
        };
        let regions = &self.study.cast.regions;
        let most = (0..regions.len())
            .filter(measured)
            .max_by(|&a, &b| worst(a).total_cmp(&worst(b)));
        if let Some(region) = most {
            let title = format!("Thickness: {}", uncapitalised(&regions[region].title));
            let thinnest = lines(&|numbers| Some(numbers.regions[region].thickness?.0 - 1.0));
            add(
                &title,
                "where it caves in most",
                thinnest,
                [(-10.0, 0.0), (-100.0, 20.0)],
            );
        }
        let even = (samples.times.last().unwrap_or(&0.0) / samples.spacing).round() as usize + 1;
        let keys = match samples.times.len().saturating_sub(even) {
            0 => String::new(),
            1 => ", and at one moment between".to_owned(),
            count => format!(", and at {count} moments between"),
        };
        let legend: String = self
            .entries
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                format!(
                    "<li data-method=\"{index}\"><i class=\"key k{index}\"></i>{}</li>",
                    escape(&entry.title)
                )
            })
            .collect();
        format!(
            "<ul class=\"legend\">{legend}</ul><div class=\"plots\">{plots}</div><p class=\"note\">Measured every {:.2}\u{202f}s{keys}.</p>",
            samples.spacing
        )
    }

    fn joints(&self, tick: &mut impl FnMut()) -> Result<String, ReportError> {
        let regions = &self.study.cast.regions;
        // Title, when, and what is said.
        let mut told: Vec<(String, String, &str)> = Vec::new();
        for Joint {
            worst, sentence, ..
        } in &self.told.joints
        {
            let title = &regions[worst.region].title;
            let when = self.when(worst);
            let other = told
                .iter_mut()
                .find(|told| told.1 == when && told.2 == sentence);
            // Left and right often fare alike.
            match other.and_then(|told| Some((both_sides(&told.0, title)?, told))) {
                Some((both, told)) => told.0 = both,
                None => told.push((title.clone(), when, sentence)),
            }
        }
        if told.is_empty() {
            return Ok(String::new());
        }
        let verdict = |(title, when, sentence): &(String, String, &str)| {
            format!(
                "<li><b>{}</b>: {} <small>{when}</small></li>",
                named(title),
                escape(sentence)
            )
        };
        let verdicts: String = told.iter().map(verdict).collect();
        let mut html = format!(
            "<h3>Joint by joint</h3><p>Which method holds up where. Each joint is judged at one moment of the clips above: while it \
             moves, when one of the methods changes its thickness most.</p><ul class=\"verdicts\">{verdicts}</ul>"
        );
        match self.told.left_out {
            0 => (),
            1 => html.push_str(
                "<p>One more joint changes too, but less, or is one of many in a hand.</p>",
            ),
            count => {
                let _ = write!(
                    html,
                    "<p>{count} more joints change too, but less, or are among many in a hand.</p>"
                );
            }
        }
        html.push_str(
            "<h3>Where the skin suffers</h3><p>The worst joints up close, at the very moments of the sentences above, each seen by the \
             same camera in every method. Colour shows what happens to the area of the skin: where it keeps its size it is pale.</p>\
             <div class=\"scale\"><span>squeezed to half</span><i></i><span>stretched to double</span></div>",
        );
        for worst in &self.close_ups {
            html += &self.close_up(worst)?;
            tick();
        }
        Ok(html)
    }

    /// "in ‘Walk’, 0.75 s".
    fn when(&self, at: &Worst) -> String {
        let shown = &self.study.shown[at.clip];
        format!(
            "in ‘{}’, {}",
            named(&clip_title(&shown.clip.name)),
            shown.moment(at.frame)
        )
    }

    fn close_up(&self, worst: &Worst) -> Result<String, ReportError> {
        let cast = &self.study.cast;
        let shown = &self.study.shown[worst.clip];
        let region = &cast.regions[worst.region];
        let motion = &shown.samples.motions[worst.frame][worst.region];
        let pose = shown.pose(cast.asset, worst.frame);
        let posed = Posed::new(cast, &pose);
        let how = motion_words(&region.title, motion)
            .map(|how| format!("{how}, "))
            .unwrap_or_default();
        let mut html = format!(
            "<div class=\"region\"><h4>{}</h4><p>{how}{}{}</p>",
            named(&region.title),
            self.when(worst),
            match region.name.as_str() {
                "" => String::new(),
                name => format!(" · joint <code>{}</code>", named(name)),
            },
        );
        let framing: Option<Framing> =
            pictures::frame_region(cast, &posed, region, self.settings.aspect(), motion);
        let Some(framing) = framing else {
            return Ok(html + "</div>");
        };
        html.push_str("<div class=\"tiles\">");
        for method in 0..self.entries.len() {
            let drawn = cast.pose(method, &pose, |player| {
                pictures::stretched(cast, player, &self.look, &framing, &self.settings)
            });
            let numbers = shown.samples.numbers[method][worst.frame].as_ref().ok();
            let under = numbers.map(|numbers| {
                let numbers = &numbers.regions[worst.region];
                let lengths = table::plain_percent(numbers.distortion);
                thickness_words(numbers).unwrap_or(format!("lengths change by {lengths}"))
            });
            html += &self.tile(method, drawn, under.as_deref())?;
        }
        html.push_str("</div></div>");
        Ok(html)
    }

    /// Where the centers of rotation are, at rest and at the moment that tells most.
    fn centers(&self) -> Result<String, ReportError> {
        let Some(CenterPictures { method, look }) = &self.centers else {
            return Ok(String::new());
        };
        let Some(centers) = look.centers() else {
            return Ok(String::new());
        };
        let asset = self.study.cast.asset;
        let count = centers.points().iter().flatten().count();
        if count == 0 {
            return Ok(
                "<h3>Centers of rotation</h3><p>No vertex has one: each follows a single joint, or nothing is similar to it.</p>"
                    .to_owned(),
            );
        }
        let mut html = format!(
            "<h3>Centers of rotation</h3><p>Each red dot is the point about which the method <code>cor</code> turns some of the skin, seen through \
             the body; joints are green, bones yellow. {} of {} vertices have such a center. The others follow \
             a single joint, or nothing is similar to them. The bones carry the centers as linear blending would.</p><div class=\"tiles pair\">",
            grouped(count),
            grouped(asset.rig.mesh().vertex_count()),
        );
        let posed = self.liveliest().map(|(shown, frame)| {
            let when = format!("{}, {}", clip_title(&shown.clip.name), shown.moment(frame));
            (when, shown.pose(asset, frame))
        });
        let rest = ("At rest".to_owned(), asset.rest_pose());
        for (when, pose) in std::iter::once(rest).chain(posed) {
            if let Ok(image) = self.portrait(*method, &pose, look, PORTRAIT) {
                let image = picture(&image, "The centers of rotation inside of the character")?;
                let _ = write!(
                    html,
                    "<figure class=\"tile aside\"><figcaption><span>{}</span></figcaption>{image}</figure>",
                    named(&when)
                );
            }
        }
        Ok(html + "</div>")
    }

    /// How good the weights are that all methods share, and where they are worst.
    fn weights(&self, found: &WeightsReport) -> Result<String, ReportError> {
        let asset = self.study.cast.asset;
        let quality = WeightQuality::of(&asset.rig).as_found(found);
        let look = Look::new(
            asset,
            Overlays {
                weights: true,
                ..Overlays::default()
            },
        );
        let rest = asset.rest_pose();
        let whole = (0..self.entries.len())
            .find_map(|method| self.portrait(method, &rest, &look, PORTRAIT).ok());
        let mut tiles = String::new();
        if let Some(image) = whole {
            let image = picture(&image, "The character in the colours of its joints")?;
            let _ = write!(
                tiles,
                "<figure class=\"tile aside\"><figcaption><span>Every joint in its own colour</span></figcaption>{image}</figure>"
            );
        }
        if let Some(place) = WorstPlace::of(&quality, &asset.rig) {
            tiles += &self.worst_place(&place, &rest)?;
        }
        Ok(format!(
            "<h3>The weights</h3><p>They say how much each joint holds of each vertex. All methods share them, and no method makes up for bad ones.</p>\
             <div class=\"tiles pair\">{tiles}</div>{}",
            weights::figures(&quality, asset.rig.skeleton())
        ))
    }

    /// The weight of one joint where it goes wrong most.
    fn worst_place(&self, place: &WorstPlace, rest: &Pose) -> Result<String, ReportError> {
        let cast = &self.study.cast;
        let settings = Settings {
            width: PORTRAIT,
            height: PORTRAIT,
            ..self.settings
        };
        let held = place.weights(&cast.asset.rig);
        let draw = |player: &Player<'_>| {
            pictures::close_up_of_vertex(player, &self.look, &held, place.vertex, &settings)
        };
        let drawn = (0..self.entries.len()).find_map(|method| cast.pose(method, rest, draw).ok());
        let Some((image, ring)) = drawn.flatten() else {
            return Ok(String::new());
        };
        let image = picture(&image, "One joint's weight where it goes wrong most")?;
        Ok(format!(
            "<figure class=\"tile aside\"><figcaption><span>{}</span></figcaption><div class=\"whole\">{image}{}</div></figure>",
            place.caption(cast.asset.rig.skeleton()),
            ring_tag(&ring, "ring dark")
        ))
    }

    fn numbers(&self) -> String {
        if self.columns.is_empty() {
            return String::new();
        }
        let failures: Vec<usize> = (0..self.entries.len())
            .map(|method| {
                self.study
                    .shown
                    .iter()
                    .flat_map(|shown| &shown.samples.numbers[method])
                    .filter(|frame| frame.is_err())
                    .count()
            })
            .collect();
        format!(
            "<h3>All numbers</h3><p>Over the clips above, at the worst moment; the best of each column is marked. \
             What each column means is said below the table.</p>{}",
            table::to_html(&self.columns, self.entries, &failures)
        )
    }
}
