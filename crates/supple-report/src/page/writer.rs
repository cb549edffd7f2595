//! Shared by the chapters about a character: the study, method names, portraits and tiles.

use super::elements::{key, picture};
use super::table::Column;
use crate::ReportError;
use crate::findings::JointFindings;
use crate::methods::Entry;
use crate::names::clean;
use crate::phrases::join_names;
use crate::recommendation::Recommendation;
use crate::study::{JointMoment, Shown, Study};
use crate::verdict;
use maud::{Markup, html};
use supple::Pose;
use supple_render::{Camera, Image, Lamps, Look, Settings, Silhouette, View, render};

/// Width and height of pictures that come in pairs.
pub(super) const PORTRAIT: usize = 460;

/// Writes the chapters about one character.
pub(super) struct Writer<'a, 'b> {
    pub study: &'a Study<'b>,
    pub entries: &'a [Entry],
    pub findings: JointFindings,
    pub recommendation: Option<Recommendation>,
    pub close_ups: Vec<JointMoment>,
    pub columns: Vec<Column>,
    pub look: Look,
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
}
