//! The recommended method for a character, and improvements for engines with linear blending only.

use crate::findings::{Effect, JointFinding, JointFindings};
use crate::methods::Entry;
use crate::names::{capitalised, plain_title, uncapitalised};
use crate::phrases::{both_sides, join_names};
use crate::study::Study;
use crate::thickness::Thickness;
use supple::deform::Normals;
use supple::twist::{self, TwistOptions};
use supple::{Asset, Method, Player};

/// Errors closer than this look alike: a limb that loses 5 % of its thickness can hardly be told
/// from one that loses none, even side by side.
const VISIBLE: f64 = 0.05;

/// Mean errors over all joints closer than this are alike: then the simpler method is recommended.
const ALIKE_ON_AVERAGE: f64 = 0.02;

/// A joint that twists by this much, and by more than it bends, calls for twist joints; in radians.
const TWISTED: f64 = 0.6;

/// The most joints for which twist joints are tried.
const MOST_TWIST_JOINTS: usize = 4;

/// The recommended method.
pub(crate) struct Recommendation {
    /// The method; linear blending where nothing is visibly better.
    pub best: usize,
    /// Linear blending, if it was compared.
    pub current: Option<usize>,
    /// Places in the list of findings of the joints at which `best` is visibly better than linear
    /// blending, largest improvement first.
    pub better_at: Vec<usize>,
    /// And of those at which it is visibly worse.
    pub worse_at: Vec<usize>,
    /// Improvements for an engine with linear blending only.
    pub for_linear: ForLinear,
}

/// Improvements for an engine with linear blending only.
#[derive(Default)]
pub(crate) struct ForLinear {
    /// A method whose result is a skin for linear blending, if it is visibly better.
    pub skin: Option<usize>,
    /// Bones that should get a twist joint.
    pub twist: Vec<TwistAdvice>,
}

/// A bone that should get a twist joint.
pub(crate) struct TwistAdvice {
    /// The name in the file of the joint whose bone is split.
    pub name: String,
    /// The bone, for people: "left forearm".
    pub title: String,
    /// The place of the joint that improves in the list of findings.
    pub finding: usize,
    /// The thickness that linear blending keeps with the twist joint.
    pub thickness: Thickness,
}

impl Recommendation {
    /// Weighs the findings at all joints; `None` without any.
    pub fn new(
        study: &Study<'_>,
        findings: &JointFindings,
        entries: &[Entry],
    ) -> Option<Recommendation> {
        let joints = &findings.joints;
        let current = entries
            .iter()
            .position(|entry| entry.method == Method::Linear);
        let weights: Vec<f64> = joints
            .iter()
            .map(|joint| {
                study.comparison.regions[joint.at.region]
                    .skin
                    .share
                    .powf(0.25)
            })
            .collect();
        let means: Vec<Option<f64>> = (0..entries.len())
            .map(|method| mean_error(joints, &weights, method))
            .collect();
        let best = simplest_of_the_best(&means, entries)?;
        let errors = |joint: &JointFinding, method: usize| joint.worst[method].error();
        let gain = |at: usize, method: usize| -> Option<f64> {
            Some(errors(&joints[at], current?)? - errors(&joints[at], method)?)
        };
        let sorted = |sign: f64, method: usize| -> Vec<usize> {
            let gain = |at: usize| gain(at, method).map_or(0.0, |gain| sign * gain);
            let mut places: Vec<usize> = (0..joints.len())
                .filter(|&at| gain(at) >= VISIBLE)
                .collect();
            places.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)));
            places
        };
        let is_better = |method: usize| !sorted(1.0, method).is_empty();
        let best = match current {
            Some(current) if !is_better(best) => current,
            _ => best,
        };
        let improves = |method: usize| -> bool {
            let mean = |method: usize| means[method];
            let gain = current.and_then(|current| Some(mean(current)? - mean(method)?));
            gain.is_some_and(|gain| gain >= ALIKE_ON_AVERAGE) && is_better(method)
        };
        let skin = (0..entries.len())
            .find(|&method| entries[method].method.name() == "ddm-v5" && improves(method));
        Some(Recommendation {
            best,
            current,
            better_at: sorted(1.0, best),
            worse_at: sorted(-1.0, best),
            for_linear: ForLinear {
                skin,
                twist: current
                    .map_or_else(Vec::new, |current| twist_advice(study, joints, current)),
            },
        })
    }
}

/// The mean error over all joints; `None` for a method that cannot do a pose of one.
fn mean_error(joints: &[JointFinding], weights: &[f64], method: usize) -> Option<f64> {
    let whole: f64 = weights.iter().sum();
    let mut sum = 0.0;
    for (joint, weight) in joints.iter().zip(weights) {
        sum += weight * joint.worst[method].error()?;
    }
    (whole > 0.0).then(|| sum / whole)
}

/// Of the methods that are about as good as the best, the one that is easiest to run.
fn simplest_of_the_best(means: &[Option<f64>], entries: &[Entry]) -> Option<usize> {
    let best = means.iter().flatten().copied().reduce(f64::min)?;
    let alike = means.iter().enumerate().filter_map(|(method, mean)| {
        let mean = (*mean)?;
        (mean <= best + ALIKE_ON_AVERAGE).then_some((effort(&entries[method].method), mean, method))
    });
    let simplest = alike.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    simplest.map(|(.., method)| method)
}

/// The effort of an engine for a method, from nothing to solving the skin in every frame.
fn effort(method: &Method) -> usize {
    const BY_EFFORT: [&[&str]; 4] = [
        &["linear", "ddm-v5"],
        &["dual-quaternion", "linear-dual-blend"],
        &["cor"],
        &["ddm", "ddm-v1", "ddm-v2", "ddm-v3", "ddm-v4"],
    ];
    let name = method.name();
    let found = BY_EFFORT.iter().position(|names| names.contains(&name));
    match name {
        "delta-mush" | "arap" => BY_EFFORT.len() + 1,
        _ => found.unwrap_or(BY_EFFORT.len()),
    }
}

/// Bones whose twist joints make a visible difference to linear blending: tried, not guessed.
fn twist_advice(study: &Study<'_>, joints: &[JointFinding], current: usize) -> Vec<TwistAdvice> {
    let comparison = &study.comparison;
    let skeleton = comparison.asset.rig.skeleton();
    let twisted = joints.iter().enumerate().filter_map(|(finding, joint)| {
        let motion = &study.shown[joint.at.clip].samples.motions[joint.at.frame][joint.at.region];
        let Effect::Thickness(thickness) = joint.effects[current] else {
            return None;
        };
        let collapses = motion.twist > TWISTED.max(motion.bend) && thickness.loss() > VISIBLE;
        collapses.then_some((finding, joint, thickness))
    });
    let advice = twisted
        .take(MOST_TWIST_JOINTS)
        .filter_map(|(finding, joint, before)| {
            let skin = &comparison.regions[joint.at.region].skin;
            // The bone that ends at the joint, or the joint's own.
            let child = (skin.other, Some(skin.joint));
            [child, (skin.joint, None)]
                .into_iter()
                .find_map(|(split, toward)| {
                    let options = TwistOptions {
                        toward,
                        ..TwistOptions::default()
                    };
                    let thickness = with_twist_joint(study, joint, split, &options)?;
                    (before.error() - thickness.error() >= VISIBLE).then(|| TwistAdvice {
                        name: skeleton.joint_name(split).to_owned(),
                        title: uncapitalised(&plain_title(skeleton.joint_name(split), split)),
                        finding,
                        thickness,
                    })
                })
        });
    let mut advice: Vec<TwistAdvice> = advice.collect();
    let mirrored: Vec<TwistAdvice> = advice
        .iter()
        .filter_map(|advice| other_side(comparison.asset, advice))
        .collect();
    advice.extend(mirrored);
    let mut names: Vec<String> = Vec::new();
    // A bone that is split for one joint is split for another, too.
    advice.retain(|advice| {
        let is_new = !names.contains(&advice.name) && !advice.name.is_empty();
        names.push(advice.name.clone());
        is_new
    });
    advice
}

/// The same bone on the other side of the body, which clips may move less, if it can be split.
fn other_side(asset: &Asset, advice: &TwistAdvice) -> Option<TwistAdvice> {
    let skeleton = asset.rig.skeleton();
    let title = match advice.title.split_once(' ')? {
        ("left", bone) => format!("right {bone}"),
        ("right", bone) => format!("left {bone}"),
        _ => return None,
    };
    let mut joints = 0..skeleton.joints().len();
    let joint = joints
        .find(|&joint| uncapitalised(&plain_title(skeleton.joint_name(joint), joint)) == title)?;
    twist::split(asset, joint, &TwistOptions::default()).ok()?;
    Some(TwistAdvice {
        name: skeleton.joint_name(joint).to_owned(),
        title,
        ..*advice
    })
}

/// The thickness of a joint that linear blending keeps if a bone is split.
fn with_twist_joint(
    study: &Study<'_>,
    joint: &JointFinding,
    split: usize,
    options: &TwistOptions,
) -> Option<Thickness> {
    let comparison = &study.comparison;
    let shown = &study.shown[joint.at.clip];
    // The clip may be a test pose, which the file does not have.
    let played = Asset {
        clips: vec![shown.clip.clone().into_owned()],
        ..comparison.asset.clone()
    };
    let twisted = twist::split(&played, split, options).ok()?.asset;
    let clip = twisted.clips.first()?;
    let since_start = shown.samples.times[joint.at.frame];
    let time = clip.start() + since_start;
    let mut player = Player::new(&twisted, &Method::Linear, Normals::Transported).ok()?;
    player.pose(&twisted.pose_at(clip, time)).ok()?;
    let palette = comparison
        .asset
        .palette_at(&shown.clip, shown.clip.start() + since_start);
    comparison.thickness(player.positions(), &palette, joint.at.region)
}

/// "both forearms", "the left forearm and the tail 2".
pub(crate) fn bones(advice: &[TwistAdvice]) -> String {
    let mut titles: Vec<String> = Vec::new();
    for TwistAdvice { title, .. } in advice {
        let capital = capitalised(title);
        let pair = titles.iter_mut().find_map(|other| {
            let both = both_sides(&capitalised(other), &capital)?;
            Some((other, both))
        });
        match pair {
            Some((other, both)) => *other = uncapitalised(&both),
            None => titles.push(title.clone()),
        }
    }
    join_names(
        titles
            .iter()
            .map(|title| match title.strip_prefix("left and right ") {
                Some(bone) => format!("both {bone}s"),
                None => format!("the {title}"),
            }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::default_methods;
    use supple::characters::{Character, build};
    use supple::deform::BakedData;

    fn recommend(asset: &Asset, methods: &[Method]) -> (Recommendation, Vec<Entry>) {
        let entries: Vec<Entry> = methods
            .iter()
            .map(|method| Entry::of(method, method.to_string()))
            .collect();
        let study = Study::new(asset, &BakedData::default(), &entries, &[], 4, |_| ());
        let findings = JointFindings::new(&study, &entries);
        let recommendation = Recommendation::new(&study, &findings, &entries);
        (recommendation.expect("the bar changes"), entries)
    }

    #[test]
    fn a_bar_that_twists_gets_a_method_that_does_not_collapse_and_a_twist_joint() {
        let bar = build(Character::Bar, 2000).unwrap();
        let (recommendation, entries) = recommend(&bar, &default_methods());
        let best = entries[recommendation.best].method.name();
        // Dual quaternions keep twists as well, but bulge in bends.
        assert_eq!(best, "cor");
        assert_eq!(recommendation.better_at, [0]);
        let [twist] = &recommendation.for_linear.twist[..] else {
            panic!("the bone that ends at the joint");
        };
        assert_eq!(twist.name, "first");
        assert!(twist.thickness.loss() < 0.3, "{:?}", twist.thickness);
    }

    #[test]
    fn linear_blending_stays_where_nothing_is_visibly_better() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.retain(|clip| clip.name == "bend-90");
        // Fully alike: no method is better than itself.
        let methods = [Method::Linear, Method::MultiWeight];
        let (recommendation, _) = recommend(&bar, &methods);
        assert_eq!(recommendation.best, 0);
        assert!(recommendation.better_at.is_empty() && recommendation.worse_at.is_empty());
        assert!(recommendation.for_linear.twist.is_empty(), "nothing twists");
    }

    #[test]
    fn a_pair_of_bones_is_named_once() {
        let advice = |title: &str| TwistAdvice {
            name: String::new(),
            title: title.to_owned(),
            finding: 0,
            thickness: Thickness {
                thinnest: 1.0,
                thickest: 1.0,
            },
        };
        let both = ["left forearm", "tail", "right forearm"].map(advice);
        assert_eq!(bones(&both), "both forearms and the tail");
        assert_eq!(bones(&both[..1]), "the left forearm");
    }
}
