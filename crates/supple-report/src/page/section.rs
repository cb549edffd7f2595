//! One character's part of a page.

use super::answer::Answer;
use super::elements::picture;
use super::writer::Writer;
use super::{summary, table};
use crate::findings::JointFindings;
use crate::methods::Entry;
use crate::pictures;
use crate::recommendation::Recommendation;
use crate::study::Study;
use crate::{ReportError, ReportOptions, Subject};
use maud::{Markup, html};
use supple::Method;
use supple_render::{Look, Overlays};

/// Width and height of the picture at the top.
const HERO: usize = 520;

/// The part of a page that is about one character.
pub(crate) struct Section {
    pub facts: Markup,
    /// The recommended method, and the reasons.
    pub answer: Markup,
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
    let writer = writer(subject, study, entries, options);
    let moments = study.shown.iter().map(|shown| shown.moments.len());
    let steps = moments.sum::<usize>() + writer.close_ups.len() + 2;
    let mut done = 0;
    let mut tick = || {
        done += 1;
        step(done as f64 / steps as f64);
    };
    let hero = writer.hero()?;
    tick();
    let joints = writer.joints(&mut tick)?;
    let clips = writer.clips(&mut tick)?;
    let centers = writer.centers()?;
    let weights = writer.weights(&subject.weights_report)?;
    tick();
    Ok(Section {
        facts: summary::facts(subject.asset),
        answer: writer.answer(subject),
        body: html! {
            (writer.heat_map())
            (joints)
            (chapter("Side by side", &clips))
            (chapter("Centers of rotation", &centers))
            (chapter("The weights", &weights))
            (chapter("All numbers", &writer.numbers()))
        },
        hero,
    })
}

/// The findings about a character, and what the page advises.
pub(crate) struct Judgement {
    pub findings: JointFindings,
    pub recommendation: Option<Recommendation>,
    /// The advice in words; `None` without a recommendation.
    pub answer: Option<Answer>,
}

impl Judgement {
    /// Judges a study without drawing anything.
    pub fn new(
        subject: &Subject<'_>,
        study: &Study<'_>,
        entries: &[Entry],
        options: &ReportOptions,
    ) -> Judgement {
        let writer = writer(subject, study, entries, options);
        Judgement {
            answer: writer.answer_in_words(subject),
            findings: writer.findings,
            recommendation: writer.recommendation,
        }
    }
}

fn writer<'a, 'b>(
    subject: &Subject<'_>,
    study: &'a Study<'b>,
    entries: &'a [Entry],
    options: &ReportOptions,
) -> Writer<'a, 'b> {
    let findings = JointFindings::new(study, entries);
    Writer {
        study,
        entries,
        columns: table::columns(study, &findings),
        close_ups: findings.close_ups(study),
        recommendation: Recommendation::new(study, &findings, entries),
        findings,
        look: Look::new(subject.asset, Overlays::default()),
        settings: pictures::settings(options.picture_size),
    }
}

/// A chapter that is opened on demand; nothing if it is empty.
fn chapter(title: &str, body: &Markup) -> Markup {
    html! {
        @if !body.0.is_empty() {
            details.chapter {
                summary { h3 { (title) } }
                (body)
            }
        }
    }
}

impl Writer<'_, '_> {
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
        image.transpose()
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
                (self.summary())
                p {
                    "Over the clips above, at the worst moment. The best are marked where a \
                     difference shows. The columns are explained below the table."
                }
                (table::table(&self.columns, self.entries, &failures))
            }
        }
    }
}
