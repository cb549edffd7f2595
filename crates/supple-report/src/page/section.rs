//! One character's part of a page, and what its chapters share.

use super::elements::{key, picture};
use super::table::{self, Column};
use super::{centers::CenterPictures, summary};
use crate::findings::JointFindings;
use crate::methods::Entry;
use crate::names::clean;
use crate::phrases::join_names;
use crate::pictures;
use crate::study::{JointMoment, Shown, Study};
use crate::verdict;
use crate::{ReportError, ReportOptions, Subject};
use maud::{Markup, html};
use supple::{Method, Pose};
use supple_render::{Camera, Image, Lamps, Look, Overlays, Settings, Silhouette, View, render};

/// Width and height of pictures that come in pairs.
pub(super) const PORTRAIT: usize = 460;

/// Width and height of the picture at the top.
const HERO: usize = 520;

/// The part of a page that is about one character.
pub(crate) struct Section {
    pub facts: Markup,
    pub summary: Markup,
    pub body: Markup,
    /// A picture for the top.
    pub hero: Option<Markup>,
}

/// Draws and describes one character.
pub(crate) fn section(
    subject: &Subject<'_>,
    study: &Study<'_>,
    entries: &[Entry],
    options: &ReportOptions,
    mut step: impl FnMut(f64),
) -> Result<Section, ReportError> {
    let findings = JointFindings::new(study, entries);
    let look = Look::new(subject.asset, Overlays::default());
    let writer = Writer {
        study,
        entries,
        columns: table::columns(study, &findings),
        close_ups: findings.close_ups(study),
        findings,
        centers: CenterPictures::of(subject.asset, &look, entries),
        look,
        settings: pictures::settings(options.picture_size),
    };
    let moments = study.shown.iter().map(|shown| shown.moments.len());
    let steps = moments.sum::<usize>() + writer.close_ups.len() + 2;
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
        facts: summary::facts(subject.asset),
        summary: writer.summary(),
        body: html! { (clips) (joints) (centers) (weights) (writer.numbers()) },
        hero,
    })
}

/// Writes the chapters about one character.
pub(super) struct Writer<'a, 'b> {
    pub study: &'a Study<'b>,
    pub entries: &'a [Entry],
    pub findings: JointFindings,
    pub close_ups: Vec<JointMoment>,
    pub columns: Vec<Column>,
    pub look: Look,
    pub centers: Option<CenterPictures>,
    pub settings: Settings,
}

impl Writer<'_, '_> {
    /// The names of methods in running text.
    pub fn names(&self, methods: &[usize]) -> String {
        let name = |&method: &usize| self.entries[method].title_in_text.as_str();
        join_names(methods.iter().map(name))
    }

    /// A verb that agrees with some methods: "lose", "loses".
    pub fn verb(&self, methods: &[usize], stem: &str) -> String {
        let plural = methods.len() > 1 || methods.iter().any(|&method| self.entries[method].plural);
        verdict::verb(stem, plural)
    }

    /// The moment in which the body moves most, since a picture of a small finger says nothing from
    /// afar.
    pub fn liveliest(&self) -> Option<(&Shown<'_>, usize)> {
        let shown = self.study.shown.iter();
        let moments =
            shown.flat_map(|shown| shown.moments.iter().map(move |&frame| (shown, frame)));
        let regions = &self.study.comparison.regions;
        let moved = |(shown, frame): &(&Shown<'_>, usize)| -> f64 {
            let motions = regions.iter().zip(&shown.samples.motions[*frame]);
            motions
                .map(|(region, motion)| region.skin.share * motion.amount())
                .sum()
        };
        moments.max_by(|a, b| moved(a).total_cmp(&moved(b)))
    }

    /// The whole character in a pose.
    pub fn portrait(
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
        self.study.comparison.pose(method, pose, |player| {
            let mut whole = Silhouette::default();
            whole.add(player);
            let camera = Camera::framing(whole.points(), View::THREE_QUARTER, settings.aspect());
            render(&look.scene(player, whole.ground()), &camera, &settings)
        })
    }

    /// A picture of the character at its liveliest moment.
    fn hero(&self) -> Result<Option<Markup>, ReportError> {
        let asset = self.study.comparison.asset;
        let pose = match self.liveliest() {
            Some((shown, frame)) => shown.pose(asset, frame),
            None => asset.rest_pose(),
        };
        let mut entries = self.entries.iter();
        let linear = entries.position(|entry| entry.method == Method::Linear);
        let drawn = linear
            .into_iter()
            .chain(0..self.entries.len())
            .find_map(|method| self.portrait(method, &pose, &self.look, HERO).ok());
        let image = drawn.map(|image| picture(&image, "The character in motion"));
        Ok(image.transpose()?)
    }

    /// A picture under its method's name, or why there is none.
    pub fn tile(
        &self,
        method: usize,
        drawn: Result<Image, String>,
        under: Option<&str>,
    ) -> Result<Markup, ReportError> {
        let title = &self.entries[method].title;
        let image = match drawn {
            Ok(image) => picture(&image, title)?,
            Err(reason) => html! { div.cannot { "cannot do this pose: " (clean(&reason)) } },
        };
        Ok(html! {
            figure.tile {
                figcaption { (key(method)) span { (title) } }
                (image)
                @if let Some(under) = under { p.under { (under) } }
            }
        })
    }

    fn numbers(&self) -> Markup {
        let failures = |method: usize| {
            let clips = self.study.shown.iter();
            let frames = clips.flat_map(|shown| &shown.samples.frames[method]);
            frames.filter(|frame| frame.is_err()).count()
        };
        let failures: Vec<usize> = (0..self.entries.len()).map(failures).collect();
        html! {
            @if !self.columns.is_empty() {
                h3 { "All numbers" }
                p {
                    "Over the clips above, at the worst moment; the best of each column is \
                     marked. What each column means is said below the table."
                }
                (table::table(&self.columns, self.entries, &failures))
            }
        }
    }
}
