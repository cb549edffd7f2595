//! The joints that the report judges, each at one moment.

use crate::comparison::FrameMeasures;
use crate::methods::Entry;
use crate::names::{is_finger, without_side};
use crate::study::{JointMoment, Study};
use crate::thickness::{TORN, Thickness};
use crate::verdict::{Outcome, sentence, winners};
use supple::Method;

/// The most joints that get a sentence, those that get a close-up, and fingers among them.
const MOST_SENTENCES: usize = 10;
const MOST_CLOSE_UPS: usize = 4;
const MOST_FINGERS: usize = 2;

/// The findings about all joints.
pub(crate) struct JointFindings {
    /// The worst first.
    pub joints: Vec<JointFinding>,
    /// The number of further joints with a finding.
    pub left_out: usize,
}

/// The finding about one joint.
pub(crate) struct JointFinding {
    /// The moment at which it is judged.
    pub at: JointMoment,
    pub sentence: String,
    /// The methods that keep the thickness best; empty where all do alike.
    pub winners: Vec<usize>,
    /// The effect of every method on the joint at that moment.
    pub effects: Vec<Effect>,
    /// The effect of every method on it at the method's worst moment in all clips shown, while the
    /// joint moves.
    pub worst: Vec<Effect>,
}

/// The effect of a method on a joint at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// There are poses of the joint that the method cannot do.
    Fails,
    /// The remaining thickness.
    Thickness(Thickness),
    /// If no thickness can be measured: the mean change of lengths on the skin.
    Distortion(f64),
}

impl Effect {
    /// The difference of the skin from its rest shape, from 0 to 1; `None` if the method fails.
    pub fn error(self) -> Option<f64> {
        match self {
            Effect::Fails => None,
            Effect::Thickness(thickness) => Some(thickness.error().min(TORN)),
            // Bending changes lengths even where the thickness stays: half of it counts.
            Effect::Distortion(distortion) => Some((0.5 * distortion).min(TORN)),
        }
    }

    /// At the moment of the clips at which a method is worst.
    fn worst(study: &Study<'_>, method: usize, region: usize) -> Effect {
        let frames = study.shown.iter().flat_map(|shown| {
            let frames = shown.samples.frames[method].iter().enumerate();
            frames.filter(move |(frame, _)| shown.samples.moves_itself(*frame, region))
        });
        let mut worst = Effect::Distortion(0.0);
        for (_, measures) in frames {
            let Ok(measures) = measures else {
                return Effect::Fails;
            };
            let measures = &measures.regions[region];
            let effect = match measures.thickness {
                Some(thickness) => Effect::Thickness(thickness),
                None => Effect::Distortion(measures.distortion),
            };
            // A thickness says more than what stands in where there is none.
            let rank = |effect: Effect| (matches!(effect, Effect::Thickness(_)), effect.error());
            if rank(effect) > rank(worst) {
                worst = effect;
            }
        }
        worst
    }

    fn of(outcome: &Outcome<'_>) -> Effect {
        match outcome.thickness {
            _ if outcome.failed => Effect::Fails,
            Some(thickness) => Effect::Thickness(thickness),
            None => Effect::Distortion(outcome.distortion),
        }
    }
}

impl JointFindings {
    /// Judges every joint of a study.
    pub fn new(study: &Study<'_>, entries: &[Entry]) -> JointFindings {
        let mut findings = JointFindings {
            joints: Vec::new(),
            left_out: 0,
        };
        let mut fingers = 0;
        for &worst in &study.worst {
            let outcomes = outcomes(study, entries, worst);
            let Some(sentence) = sentence(&outcomes) else {
                continue;
            };
            // A hand has so many joints that it would crowd out everything else.
            let is_finger = is_finger(&study.comparison.regions[worst.region].title);
            fingers += usize::from(is_finger);
            if findings.joints.len() >= MOST_SENTENCES || (is_finger && fingers > MOST_FINGERS) {
                findings.left_out += 1;
                continue;
            }
            findings.joints.push(JointFinding {
                at: worst,
                sentence,
                winners: winners(&outcomes),
                effects: outcomes.iter().map(Effect::of).collect(),
                worst: (0..entries.len())
                    .map(|method| Effect::worst(study, method, worst.region))
                    .collect(),
            });
        }
        findings
    }

    /// The joints that get a close-up: the worst, but of a left and a right one only the worse, and
    /// of the numbered ones of a chain one in every clip.
    pub fn close_ups(&self, study: &Study<'_>) -> Vec<JointMoment> {
        let family = |worst: &JointMoment| {
            let title = &study.comparison.regions[worst.region].title;
            let both_sides = without_side(title);
            let chain = both_sides.trim_end_matches(|c: char| c.is_ascii_digit());
            match is_finger(title) {
                true => ("finger".to_owned(), None),
                false => (
                    chain.to_owned(),
                    (chain != both_sides).then_some(worst.clip),
                ),
            }
        };
        let mut chosen: Vec<JointMoment> = Vec::new();
        for worst in self.joints.iter().map(|joint| joint.at) {
            if chosen.iter().all(|other| family(other) != family(&worst)) {
                chosen.push(worst);
            }
        }
        chosen.truncate(MOST_CLOSE_UPS);
        chosen
    }

    /// The number of joints at which methods differ, and for each method at how many it wins.
    pub fn wins(&self, methods: usize) -> (usize, Vec<usize>) {
        let differ = self.joints.iter().filter(|joint| !joint.winners.is_empty());
        let wins = |method| {
            let won = differ
                .clone()
                .filter(|joint| joint.winners.contains(&method));
            won.count()
        };
        (differ.clone().count(), (0..methods).map(wins).collect())
    }
}

/// The measures of a method where a joint is judged; `None` if it cannot do the pose.
pub(crate) fn measures_at<'a>(
    study: &'a Study<'_>,
    method: usize,
    at: JointMoment,
) -> Option<&'a FrameMeasures> {
    study.shown[at.clip].samples.frames[method][at.frame]
        .as_ref()
        .ok()
}

/// The outcome of every method in a region at the moment at which it is judged.
fn outcomes<'a>(study: &Study<'_>, entries: &'a [Entry], worst: JointMoment) -> Vec<Outcome<'a>> {
    let judged = |(method, entry): (usize, &'a Entry)| {
        let fails = study.shown.iter().any(|shown| {
            let mut frames = shown.samples.frames[method].iter().enumerate();
            frames.any(|(frame, numbers)| {
                numbers.is_err() && shown.samples.moves_itself(frame, worst.region)
            })
        });
        let numbers =
            measures_at(study, method, worst).map(|numbers| &numbers.regions[worst.region]);
        Outcome {
            method: &entry.title_in_text,
            plural: entry.plural,
            is_current: entry.method == Method::Linear,
            thickness: numbers.and_then(|numbers| numbers.thickness),
            distortion: numbers.map_or(0.0, |numbers| numbers.distortion),
            failed: fails,
        }
    };
    entries.iter().enumerate().map(judged).collect()
}
