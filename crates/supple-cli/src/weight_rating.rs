//! A rating of weights in plain words, with the commands that would improve them.

use crate::joint_tree::vertex_counts;
use crate::source::Source;
use crate::wording::many;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;
use supple::Skeleton;
use supple::quality::{Locality, WeightQuality};
use supple::symmetry::{MirrorPlane, Symmetry};
use supple_report::command_line::{argument, stem};

/// Weights whose roughness is this share of that of the same weights made rigid have abrupt
/// transitions, or are as good as rigid. Painted characters have 0.2 to 0.5.
const ABRUPT: f64 = 0.6;
const NEARLY_RIGID: f64 = 0.9;

/// Below this roughness, transitions are soft whatever rigid weights would be: a coarse mesh leaves
/// no choice.
const SOFT: f64 = 20.0;

/// A weight that differs from its neighbours by this much shows as a dent; painted characters have
/// 0.1 to 0.4.
const SPIKE: f64 = 0.5;

/// Where this share of the joints has weights with several peaks, skin is bumpy in motion. A few
/// are in every character: the skin of a jaw parts that of the head.
const BUMPY: f64 = 0.5;

/// The share of weight that is separated from the rest of its joint's, from which on it is pulled
/// along visibly.
const STRAY: f64 = 0.01;

/// Mean distances of joints over those of the nearest bones: painted and automatic weights have
/// 1.05 to 1.25.
const FAR: f64 = 1.3;
const VERY_FAR: f64 = 1.5;

/// The mean share of weight that differs between the sides of a symmetric character, where poses
/// begin to look different, and from which on it was not meant to be symmetric.
const ASYMMETRIC: f64 = 0.02;
const NOT_SYMMETRIC: f64 = 0.5;

/// Joints are paired wrongly if one is farther than this share of the character's size from the
/// mirror image of its partner.
const MISPAIRED: f64 = 0.1;

/// Sums of weights that are off by more than this were not meant.
const UNNORMALISED: f64 = 0.01;

/// The influences that every engine reads.
const USUAL_INFLUENCES: usize = 4;

/// A rating of weights, or of one of their properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rating {
    Good,
    Fair,
    Poor,
}

impl fmt::Display for Rating {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Rating::Good => "good",
            Rating::Fair => "fair",
            Rating::Poor => "poor",
        })
    }
}

/// A reason for a rating, and the command that helps.
pub(crate) struct Reason {
    /// An identifier for programs.
    kind: &'static str,
    rating: Rating,
    pub(crate) text: String,
    pub(crate) command: Option<String>,
}

/// A rating of the weights of a character: that of its worst property.
pub(crate) struct WeightRating {
    pub(crate) rating: Rating,
    /// The worst first.
    pub(crate) reasons: Vec<Reason>,
}

impl WeightRating {
    /// Rates the weights of a character; commands name its `file`.
    pub(crate) fn of(source: &Source, quality: &WeightQuality, file: &str) -> WeightRating {
        let mut reasons = match source.has_no_weights() {
            true => vec![no_weights(source, file)],
            false => reasons(source, quality, file),
        };
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.rating));
        forget_repeated(&mut reasons);
        let worst = reasons.iter().map(|reason| reason.rating).max();
        WeightRating {
            rating: worst.unwrap_or(Rating::Good),
            reasons,
        }
    }

    /// The rating and the first reason on one line.
    pub(crate) fn headline(&self) -> String {
        match self.rating {
            Rating::Good => "good: smooth, and close to their bones".to_owned(),
            rating => rating.to_string(),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let reasons = self.reasons.iter().map(|reason| {
            json!({
                "kind": reason.kind,
                "rating": reason.rating.to_string(),
                "message": reason.text,
                "command": reason.command,
            })
        });
        json!({
            "rating": self.rating.to_string(),
            "reasons": reasons.collect::<Vec<_>>(),
        })
    }
}

/// Keeps only the first of commands with the same output: what is smoothed once is smooth.
fn forget_repeated(reasons: &mut [Reason]) {
    let mut known = HashSet::new();
    for reason in reasons {
        let output = reason
            .command
            .as_ref()
            .and_then(|command| command.rsplit(" -o ").next());
        if output.is_some_and(|output| !known.insert(output.to_owned())) {
            reason.command = None;
        }
    }
}

/// `supple VERB FILE OPTIONS -o STEM-NAME.glb`.
fn command(verb: &str, file: &str, options: &str, name: &str) -> String {
    let output = argument(&format!("{}-{name}.glb", stem(file)));
    let file = argument(file);
    match options {
        "" => format!("supple {verb} {file} -o {output}"),
        _ => format!("supple {verb} {file} {options} -o {output}"),
    }
}

fn bind(file: &str, method: &str) -> String {
    command("weights", file, &format!("-m {method}"), method)
}

fn edit(file: &str, options: &str, name: &str) -> String {
    command("weights edit", file, options, name)
}

/// The command that smooths away what is `rough`.
fn smooth(file: &str, rough: Rating, most: usize) -> String {
    let steps = match rough {
        Rating::Poor => 10,
        Rating::Good | Rating::Fair => 3,
    };
    let limit = most.max(USUAL_INFLUENCES);
    edit(
        file,
        &format!("--smooth {steps} --max-influences {limit}"),
        "smooth",
    )
}

fn no_weights(source: &Source, file: &str) -> Reason {
    let (text, command) = match source.notes.unskinned {
        true => (
            "there is no skin: add a skeleton in a 3D program first",
            None,
        ),
        false => (
            "there are none: no joint bends the surface",
            Some(bind(file, "heat")),
        ),
    };
    Reason {
        kind: "no_weights",
        rating: Rating::Poor,
        text: text.to_owned(),
        command,
    }
}

fn reasons(source: &Source, quality: &WeightQuality, file: &str) -> Vec<Reason> {
    let most = source.asset.rig.weights().max_influences();
    let counts = vertex_counts(&source.asset.rig);
    let joints = counts.iter().filter(|count| **count > 0).count();
    let joint = |joint| source.joint_label(joint);
    let mut reasons = Vec::new();
    let mut add = |kind, rating, text: String, command: Option<String>| {
        reasons.push(Reason {
            kind,
            rating,
            text,
            command,
        });
    };
    let without = quality.partition.without_weights;
    if without > 0 {
        let text = format!(
            "{} without weights stay with the root of their skin",
            many(without, "vertex")
        );
        add("no_weights", Rating::Poor, text, Some(bind(file, "heat")));
    }
    if quality.partition.most > UNNORMALISED {
        let text = format!(
            "the weights of {} don't sum to one; engines may tear or shrink them",
            many(quality.partition.vertices, "vertex")
        );
        let repaired = command("convert", file, "", "repaired");
        add("sums", Rating::Fair, text, Some(repaired));
    }
    let smoothness = &quality.smoothness;
    let share = smoothness.roughness / smoothness.rigid_roughness.max(f64::MIN_POSITIVE);
    if smoothness.roughness > 0.0 && most == 1 {
        let text = "every vertex follows one joint: right for a machine, but skin tears at joints";
        let heat = Some(bind(file, "heat"));
        add("rigid", Rating::Fair, text.to_owned(), heat);
    } else if share >= NEARLY_RIGID && smoothness.roughness >= SOFT {
        let text = "nearly rigid: joints hardly share any skin, which creases between them";
        let command = Some(smooth(file, Rating::Poor, most));
        add("rigid", Rating::Poor, text.to_owned(), command);
    } else if share >= ABRUPT && smoothness.roughness >= SOFT {
        let text = "abrupt: joints share little skin, which creases between them";
        let command = Some(smooth(file, Rating::Fair, most));
        add("abrupt", Rating::Fair, text.to_owned(), command);
    }
    let spike = smoothness.worst.filter(|kink| kink.size.abs() >= SPIKE);
    if let Some(kink) = spike.filter(|_| most > 1) {
        let than = if kink.size > 0.0 { "more" } else { "less" };
        let text = format!(
            "uneven: {} has {:.2} {than} at vertex {} than around it, which dents the skin",
            joint(kink.joint),
            kink.size.abs(),
            kink.vertex
        );
        let command = Some(smooth(file, Rating::Fair, most));
        add("uneven", Rating::Fair, text, command);
    }
    let locality = &quality.locality;
    if let Some(stray) = locality.most_stray.filter(|_| locality.stray >= STRAY) {
        let text = format!(
            "stray: {:.1} % of the weight is apart from the rest of its joint's, such as that of \
             {} at vertex {}",
            100.0 * locality.stray,
            joint(stray.joint),
            stray.vertex
        );
        add("stray", Rating::Fair, text, Some(bind(file, "heat")));
    }
    if let Some(rating) = rating_of_reach(locality) {
        let text = format!(
            "far: joints hold skin {:.1} times as far away as the nearest bone",
            locality.reach
        );
        add("far", rating, text, Some(bind(file, "heat")));
    }
    let peaks = &quality.monotonicity;
    if let Some(peak) = peaks
        .worst
        .filter(|_| peaks.joints as f64 >= BUMPY * joints as f64)
    {
        let text = format!(
            "bumpy: the weights of {} of {joints} joints have several peaks, such as that of {} \
             at vertex {}",
            peaks.joints,
            joint(peak.joint),
            peak.vertex
        );
        let command = Some(smooth(file, Rating::Fair, most));
        add("bumpy", Rating::Fair, text, command);
    }
    if let Some((mean, plane)) = asymmetry(source, quality) {
        let text = format!(
            "uneven sides: {:.0} % of the weight differs between left and right",
            100.0 * mean
        );
        let axis = plane.axis_name().to_lowercase();
        let mirrored = edit(file, &format!("--mirror +{axis}"), "even");
        add("asymmetric", Rating::Fair, text, Some(mirrored));
    }
    if most > USUAL_INFLUENCES {
        let text = format!(
            "up to {most} influences per vertex: engines that read {USUAL_INFLUENCES} drop the rest"
        );
        let limited = edit(
            file,
            &format!("--max-influences {USUAL_INFLUENCES}"),
            "lean",
        );
        add("influences", Rating::Good, text, Some(limited));
    }
    reasons
}

fn rating_of_reach(locality: &Locality) -> Option<Rating> {
    match locality.reach {
        reach if reach >= VERY_FAR => Some(Rating::Poor),
        reach if reach >= FAR => Some(Rating::Fair),
        _ => None,
    }
}

/// The asymmetry that mirroring would remove, and its plane.
fn asymmetry(source: &Source, quality: &WeightQuality) -> Option<(f64, MirrorPlane)> {
    let flawed = ASYMMETRIC..NOT_SYMMETRIC;
    let found = quality
        .asymmetry
        .filter(|found| flawed.contains(&found.mean))?;
    let rig = &source.asset.rig;
    let symmetry = Symmetry::of(rig.mesh(), rig.skeleton())?;
    let size = f64::from(rig.mesh().extent());
    is_well_paired(&symmetry, rig.skeleton(), size).then_some((found.mean, found.plane))
}

/// True if every joint has a partner, near its own mirror image: names alone may mislead.
fn is_well_paired(symmetry: &Symmetry, skeleton: &Skeleton, size: f64) -> bool {
    let MirrorPlane { normal, offset } = symmetry.plane();
    let bones = skeleton.bind_bones();
    bones.iter().enumerate().all(|(joint, bone)| {
        let image = bone.head - 2.0 * (normal.dot(bone.head) - offset) * normal;
        let partner = symmetry.joint_partner(joint);
        let partner = partner.and_then(|partner| bones.get(partner));
        partner.is_some_and(|partner| partner.head.distance(image) <= MISPAIRED * size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_file_and_where_the_result_goes() {
        assert_eq!(
            bind("folder/my hero.glb", "heat"),
            "supple weights 'folder/my hero.glb' -m heat -o 'my hero-heat.glb'"
        );
        assert_eq!(
            smooth("@figure:8000", Rating::Poor, 8),
            "supple weights edit @figure:8000 --smooth 10 --max-influences 8 -o figure-smooth.glb"
        );
        assert_eq!(
            command("convert", "hero.gltf", "", "repaired"),
            "supple convert hero.gltf -o hero-repaired.glb"
        );
    }

    #[test]
    fn what_is_smoothed_once_is_not_smoothed_again() {
        let reason = |rough| Reason {
            kind: "uneven",
            rating: rough,
            text: String::new(),
            command: Some(smooth("hero.glb", rough, 4)),
        };
        let mut reasons = [reason(Rating::Poor), reason(Rating::Fair)];
        forget_repeated(&mut reasons);
        assert!(reasons[0].command.is_some() && reasons[1].command.is_none());
    }

    #[test]
    fn reach_is_rated_by_distance() {
        let reach = |reach| {
            rating_of_reach(&Locality {
                reach,
                ..Locality::default()
            })
        };
        let ratings = [1.2, 1.35, 1.6].map(reach);
        assert_eq!(ratings, [None, Some(Rating::Fair), Some(Rating::Poor)]);
    }
}
