//! The choice of clips, moments and joints that a report shows.

use crate::choose::{Candidate, pick};
use crate::comparison::{Comparison, Farthest, Samples};
use crate::methods::Entry;
use crate::names::{is_well_known, without_side};
use crate::regions::TitledRegion;
use glam::{DQuat, DVec3};
use std::borrow::Cow;
use supple::clip::{Channel, Curve, Interpolation, Track};
use supple::deform::BakedData;
use supple::{Asset, Clip, Method, Pose};

/// The least and most frames of a shown clip, and the most vertices to deform for all of them.
const SHOWN_FRAMES: (usize, usize) = (17, 33);
const SHOWN_VERTICES: usize = 40_000_000;

/// The least and most frames that are searched for pops, and the most vertices to deform for them.
const POP_FRAMES: (usize, usize) = (9, 301);
const POP_VERTICES: usize = 25_000_000;

/// The least and most frames of a brief look at a clip, and the most vertices to deform for them.
const SCOUT_FRAMES: (usize, usize) = (3, 17);
const SCOUT_VERTICES: usize = 25_000_000;

/// Methods look the same from afar if they are closer than this share of the character's size, and
/// close up if they are closer than this share of the size of a joint's region.
const SEEN: f64 = 0.004;
const SEEN_NEAR_BY: f64 = 0.03;

/// The most moments of one clip.
const MOST_MOMENTS: usize = 2;

/// Moments of one clip are at least this share of it apart.
const MOMENTS_APART: f64 = 0.15;

/// Regions of less severity are not mentioned.
const VISIBLE: f64 = 0.03;

/// The joints that are bent and twisted in a file without clips.
const TRIED_JOINTS: usize = 4;

/// The comparison of a character with the clips, moments and joints to show.
pub(crate) struct Study<'a> {
    pub comparison: Comparison<'a>,
    pub shown: Vec<Shown<'a>>,
    /// Clips without a visible difference between methods.
    pub quiet: Vec<String>,
    /// Clips without a large difference between methods.
    pub small: Vec<String>,
    /// Clips that show nothing new.
    pub left_out: Vec<String>,
    /// True if the clips are test poses, since the file has none.
    pub made_up: bool,
    /// Joint regions in which something happens, the worst first.
    pub worst: Vec<JointMoment>,
    /// Nanoseconds per vertex of every method.
    pub costs: Vec<Option<f64>>,
}

/// A clip on the page.
pub(crate) struct Shown<'a> {
    pub clip: Cow<'a, Clip>,
    pub samples: Samples,
    /// Frames to show, in the order of time.
    pub moments: Vec<usize>,
    pub difference: Difference,
    /// By method: the number of frames in which some of the skin jumps; `None` if the method fails
    /// in every pose.
    pub pops: Vec<Option<usize>>,
}

/// The visible difference between methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// None anywhere.
    None,
    /// Visible around a joint, but too small to be seen from afar.
    Small,
    Plain,
}

/// A region and the one moment at which it is judged: while its joint moves, when some method
/// changes its thickness most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JointMoment {
    pub region: usize,
    /// An index into the shown clips.
    pub clip: usize,
    pub frame: usize,
}

impl<'a> Study<'a> {
    /// Compares methods on the wished clips of an asset, or on those that show most.
    pub fn new(
        asset: &'a Asset,
        baked: &BakedData,
        entries: &[Entry],
        wished: &[usize],
        most_clips: usize,
        mut step: impl FnMut(f64),
    ) -> Study<'a> {
        let comparison = Comparison::new(asset, baked, entries);
        step(0.1);
        let made_up = asset.clips.is_empty();
        let clips: Vec<Cow<'a, Clip>> = if made_up {
            test_clips(asset, &comparison.regions)
                .into_iter()
                .map(Cow::Owned)
                .collect()
        } else if wished.is_empty() {
            asset.clips.iter().map(Cow::Borrowed).collect()
        } else {
            let wished = wished.iter().filter_map(|&index| asset.clips.get(index));
            wished.map(Cow::Borrowed).collect()
        };
        // Test poses move one joint each, so it takes more of them.
        let most_clips = if made_up {
            most_clips.saturating_add(2)
        } else {
            most_clips
        };
        let all = clips.len() <= most_clips || !wished.is_empty();
        let (chosen, scouted) = if all {
            ((0..clips.len()).collect(), Vec::new())
        } else {
            scout(&comparison, &clips, most_clips, |share| {
                step(0.1 + 0.5 * share)
            })
        };
        let names = |wanted: Difference| -> Vec<String> {
            let alike = scouted
                .iter()
                .filter(|(_, difference)| *difference == wanted);
            alike.map(|(clip, _)| clips[*clip].name.clone()).collect()
        };
        let mut quiet = names(Difference::None);
        let small = names(Difference::Small);
        let left_out = names(Difference::Plain);
        let frames = affordable(&comparison, chosen.len(), SHOWN_VERTICES, SHOWN_FRAMES);
        let pop_frames = affordable(&comparison, chosen.len(), POP_VERTICES, POP_FRAMES);
        let mut shown = Vec::new();
        for (done, &index) in chosen.iter().enumerate() {
            let samples = comparison.sample(&clips[index], frames, false);
            step(0.6 + 0.35 * (done + 1) as f64 / chosen.len() as f64);
            let difference = difference(&samples);
            if difference == Difference::None && chosen.len() > 1 && wished.is_empty() {
                quiet.push(clips[index].name.clone());
                continue;
            }
            let moments = moments(&comparison, &samples);
            let around = moments.first().map_or(0.0, |&frame| samples.times[frame]);
            shown.push(Shown {
                clip: clips[index].clone(),
                samples,
                pops: comparison.pops(&clips[index], around, pop_frames),
                moments,
                difference,
            });
        }
        let current = entries
            .iter()
            .position(|entry| entry.method == Method::Linear);
        let worst = worst_regions(&comparison.regions, &shown, current);
        // What a method cannot do at one moment, it may at another.
        let moments = shown.iter().flat_map(|shown| {
            let frames = shown.moments.iter();
            frames.map(|&frame| shown.pose(asset, frame))
        });
        let poses: Vec<Pose> = moments.chain([asset.rest_pose()]).collect();
        let costs = entries
            .iter()
            .map(|entry| poses.iter().find_map(|pose| comparison.cost(entry, pose)))
            .collect();
        step(1.0);
        Study {
            comparison,
            shown,
            quiet,
            small,
            left_out,
            made_up,
            worst,
            costs,
        }
    }
}

impl Shown<'_> {
    /// The length of the clip in seconds; zero for a single pose.
    pub fn length(&self) -> f64 {
        self.samples.times.last().copied().unwrap_or(0.0)
    }

    /// The time of a frame in words.
    pub fn moment(&self, frame: usize) -> String {
        if self.length() > 0.0 {
            format!("{:.2}\u{202f}s", self.samples.times[frame])
        } else {
            "single pose".to_owned()
        }
    }

    /// The pose of a frame.
    pub fn pose(&self, asset: &Asset, frame: usize) -> Pose {
        asset.pose_at(&self.clip, self.clip.start() + self.samples.times[frame])
    }
}

/// The number of frames of each clip within a budget; odd, so that the middle is one of them.
fn affordable(
    comparison: &Comparison<'_>,
    clips: usize,
    vertices: usize,
    (least, most): (usize, usize),
) -> usize {
    let per_frame = clips * comparison.method_count() * comparison.asset.rig.mesh().vertex_count();
    (vertices / per_frame.max(1)).clamp(least, most) | 1
}

/// The clips to show, and the visible differences in the others.
fn scout(
    comparison: &Comparison<'_>,
    clips: &[Cow<'_, Clip>],
    most: usize,
    mut step: impl FnMut(f64),
) -> (Vec<usize>, Vec<(usize, Difference)>) {
    let frames = affordable(comparison, clips.len(), SCOUT_VERTICES, SCOUT_FRAMES);
    let mut differences = Vec::new();
    let mut candidates = Vec::new();
    for (index, clip) in clips.iter().enumerate() {
        let samples = comparison.sample(clip, frames, true);
        step((index + 1) as f64 / clips.len() as f64);
        let best = samples
            .candidates(&comparison.regions)
            .into_iter()
            .reduce(|best, next| if next.score > best.score { next } else { best });
        differences.push(difference(&samples));
        candidates.push(best.unwrap_or(Candidate {
            score: 0.0,
            signature: Vec::new(),
        }));
    }
    let mut picked = pick(&candidates, most, |_, _| true);
    if differences.iter().any(|&other| other != Difference::None) {
        picked.retain(|&index| differences[index] != Difference::None);
    }
    let rest = differences.into_iter().enumerate();
    let rest = rest.filter(|(index, _)| !picked.contains(index)).collect();
    (picked, rest)
}

/// The visible difference between methods; plain for a single method, or if one fails.
fn difference(samples: &Samples) -> Difference {
    let failed = samples.frames.iter().flatten().any(Result::is_err);
    let most = |value: fn(&Farthest) -> f64| samples.farthest.iter().map(value).fold(0.0, f64::max);
    if samples.frames.len() < 2 || failed || most(|farthest| farthest.of_body) >= SEEN {
        Difference::Plain
    } else if most(|farthest| farthest.of_region) >= SEEN_NEAR_BY {
        Difference::Small
    } else {
        Difference::None
    }
}

fn moments(comparison: &Comparison<'_>, samples: &Samples) -> Vec<usize> {
    let candidates = samples.candidates(&comparison.regions);
    let apart = (MOMENTS_APART * samples.times.len() as f64) as usize;
    let mut moments = pick(&candidates, MOST_MOMENTS, |a, b| a.abs_diff(b) > apart);
    if moments.is_empty() {
        moments.push(samples.times.len() / 2);
    }
    moments.sort_unstable();
    moments
}

/// The regions in which something happens, the worst first: each at the moment at which `current`,
/// the method that the character uses now, is worst, else any method.
fn worst_regions(
    regions: &[TitledRegion],
    shown: &[Shown<'_>],
    current: Option<usize>,
) -> Vec<JointMoment> {
    let mut worst: Vec<(f64, JointMoment)> = Vec::new();
    for (index, region) in regions.iter().enumerate() {
        let moments = || {
            shown.iter().enumerate().flat_map(move |(clip, shown)| {
                let moves = move |&frame: &usize| shown.samples.moves_itself(frame, index);
                let frames = (0..shown.samples.times.len()).filter(moves);
                frames.map(move |frame| (clip, frame))
            })
        };
        // Where thickness cannot be measured at all, lengths on the skin must do.
        let thickness = moments().filter_map(|(clip, frame)| {
            let error = shown[clip].samples.thickness_error(frame, index)?;
            Some((error, clip, frame))
        });
        let lengths = moments().map(|(clip, frame)| {
            let distortion = shown[clip].samples.distortion(frame, index);
            (0.5 * distortion, clip, frame)
        });
        let later = |a: (f64, usize, usize), b: (f64, usize, usize)| if b.0 > a.0 { b } else { a };
        let now = current.and_then(|method| {
            let errors = moments().filter_map(|(clip, frame)| {
                let samples = &shown[clip].samples;
                Some((
                    samples.thickness_error_by(method, frame, index)?,
                    clip,
                    frame,
                ))
            });
            errors.reduce(later).filter(|(error, ..)| *error > VISIBLE)
        });
        let anyone = || thickness.reduce(later).or_else(|| lengths.reduce(later));
        let Some((error, clip, frame)) = now.or_else(anyone) else {
            continue;
        };
        let severity = moments()
            .map(|(clip, frame)| shown[clip].samples.severity(frame, index))
            .fold(0.0, f64::max);
        if severity.max(error) > VISIBLE {
            let region_of_body = region.skin.share.powf(0.25);
            worst.push((
                (severity + error) * region_of_body,
                JointMoment {
                    region: index,
                    clip,
                    frame,
                },
            ));
        }
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    worst.into_iter().map(|(_, worst)| worst).collect()
}

/// Clips for a file that has none: the joints with most skin, bent and twisted by 90°.
pub(crate) fn test_clips(asset: &Asset, regions: &[TitledRegion]) -> Vec<Clip> {
    let skeleton = asset.rig.skeleton();
    let bones = skeleton.bind_bones();
    let mut clips = Vec::new();
    // Of a left and a right joint one is enough; those that everyone knows come first.
    let mut tried: Vec<&TitledRegion> = Vec::new();
    let (known, others): (Vec<_>, Vec<_>) = regions
        .iter()
        .partition(|region| is_well_known(&region.title));
    for region in known.into_iter().chain(others) {
        let title = without_side(&region.title);
        let is_tried = |other: &&TitledRegion| {
            other.skin.joint == region.skin.joint || without_side(&other.title) == title
        };
        if !tried.iter().any(is_tried) {
            tried.push(region);
        }
    }
    for region in tried.into_iter().take(TRIED_JOINTS) {
        let bone = bones[region.skin.joint].axis().unwrap_or(DVec3::Y);
        let above = bones[region.skin.other].axis().unwrap_or(bone);
        // Bend on in the direction that the joint is already bent in, or else to the front.
        let across = above
            .cross(bone)
            .try_normalize()
            .filter(|_| above.angle_between(bone) > 0.1);
        let across = across
            .or(bone.cross(DVec3::Z).try_normalize())
            .unwrap_or(DVec3::X);
        for (what, axis) in [("bend", across), ("twist", bone)] {
            let name = format!("{what} {} by 90°", region.joint_title);
            clips.extend(turning_clip(asset, region.skin.joint, axis, name));
        }
    }
    clips
}

/// Turns a joint by 90° about an axis of the bind pose, there and back in two seconds.
fn turning_clip(asset: &Asset, joint: usize, axis: DVec3, name: String) -> Option<Clip> {
    let skeleton = asset.rig.skeleton();
    let node = skeleton.joints()[joint].node;
    // The axis in the joint's own frame.
    let own = skeleton.joints()[joint]
        .joint_from_bind
        .transform_vector3(axis)
        .try_normalize()?;
    let rest = skeleton.nodes()[node].rest.to_trs().rotation;
    let steps = 16;
    let mut times = Vec::new();
    let mut values = Vec::new();
    for step in 0..=steps {
        let share = f64::from(step) / f64::from(steps);
        let angle = std::f64::consts::FRAC_PI_2 * (std::f64::consts::PI * share).sin();
        let rotation = rest * DQuat::from_axis_angle(own, angle);
        times.push(2.0 * share as f32);
        values.extend(rotation.to_array().map(|value| value as f32));
    }
    let curve = Curve::new(times, values, 4, Interpolation::Linear).ok()?;
    let track = Track {
        channel: Channel::Rotation { node },
        curve,
    };
    Some(Clip {
        name,
        tracks: vec![track],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::Method;
    use supple::characters::{Character, build};

    fn entries() -> Vec<Entry> {
        [Method::Rigid, Method::Linear]
            .iter()
            .map(|method| Entry::of(method, method.to_string()))
            .collect()
    }

    #[test]
    fn the_bar_is_shown_where_it_bends_and_twists_most() {
        let bar = build(Character::Bar, 2000).unwrap();
        let study = Study::new(&bar, &BakedData::default(), &entries(), &[], 4, |_| ());
        assert!(
            (2..=4).contains(&study.shown.len()),
            "bends and twists differ"
        );
        let names: Vec<_> = study
            .shown
            .iter()
            .map(|shown| shown.clip.name.as_str())
            .collect();
        assert!(
            names.iter().any(|name| name.starts_with("twist")),
            "{names:?}"
        );
        assert!(
            names.iter().any(|name| name.starts_with("bend")),
            "{names:?}"
        );
        for shown in &study.shown {
            let time = shown.samples.times[shown.moments[0]];
            assert!((time - 1.0).abs() < 0.2, "{} at {time}", shown.clip.name);
        }
        assert_eq!(study.worst.len(), 1);
    }

    #[test]
    fn a_file_without_clips_is_bent_and_twisted() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.clear();
        let study = Study::new(&bar, &BakedData::default(), &entries(), &[], 4, |_| ());
        assert!(study.made_up);
        assert_eq!(study.shown.len(), 2);
        let motion = study.shown[0].samples.motions[16][0];
        assert!((motion.bend.to_degrees() - 90.0).abs() < 1.0, "{motion:?}");
        let motion = study.shown[1].samples.motions[16][0];
        assert!((motion.twist.to_degrees() - 90.0).abs() < 1.0, "{motion:?}");
        assert!(motion.bend < 0.01);
    }

    /// A cloth hangs on joints beside each other: the skin is between two of them, and one of them
    /// is turned.
    #[test]
    fn joints_beside_each_other_are_bent_by_their_names() {
        let mut cloth = build(Character::Cloth, 2000).unwrap();
        cloth.clips.clear();
        let study = Study::new(&cloth, &BakedData::default(), &entries(), &[], 4, |_| ());
        assert!(!study.comparison.regions.is_empty());
        let clips = test_clips(&cloth, &study.comparison.regions);
        let names: Vec<&str> = clips.iter().map(|clip| clip.name.as_str()).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(
                !name.contains("between") && !name.contains(" the "),
                "{name}"
            );
            assert!(!names[..at].contains(name), "{name} twice");
        }
    }

    #[test]
    fn a_second_in_ten_minutes_is_seen() {
        let mut bar = build(Character::Bar, 2000).unwrap();
        let node = bar.rig.skeleton().joints()[1].node;
        let rest = bar.rig.skeleton().nodes()[node].rest.to_trs().rotation;
        let bent = rest * DQuat::from_rotation_z(1.5);
        let values = [rest, rest, bent, rest, rest];
        let values = values
            .iter()
            .flat_map(|turn| turn.to_array().map(|value| value as f32));
        let times = vec![0.0, 310.0, 310.5, 311.0, 600.0];
        let curve = Curve::new(times, values.collect(), 4, Interpolation::Linear).unwrap();
        bar.clips = vec![Clip {
            name: "long".to_owned(),
            tracks: vec![Track {
                channel: Channel::Rotation { node },
                curve,
            }],
        }];
        let study = Study::new(&bar, &BakedData::default(), &entries(), &[], 4, |_| ());
        let shown = &study.shown[0];
        let times: Vec<f64> = shown
            .moments
            .iter()
            .map(|&at| shown.samples.times[at])
            .collect();
        assert!(
            times.iter().any(|time| (time - 310.5).abs() < 1e-3),
            "{times:?}"
        );
        let worst = study.worst[0];
        assert_eq!(shown.samples.times[worst.frame], 310.5);
    }

    #[test]
    fn a_clip_that_is_asked_for_is_shown() {
        let bar = build(Character::Bar, 2000).unwrap();
        let study = Study::new(&bar, &BakedData::default(), &entries(), &[2], 4, |_| ());
        assert_eq!(study.shown[0].clip.name, "twist-90");
        assert_eq!(study.shown.len(), 1);
    }
}
