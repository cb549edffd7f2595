//! The twist over time in a clip, tracked from key to key.

use super::{TwistDriver, path_up};
use crate::clip::{Channel, Clip, Curve, Interpolation, Track};
use crate::pose::Pose;
use crate::skeleton::Skeleton;
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// The largest error of the stored twist between its keys: 0.15°. The joint rotates by half of it,
/// and stays within a tenth of a degree.
const TOLERANCE: f64 = 0.15 * PI / 180.0;

/// The largest number of bisections between two keys. Near a swing of half a turn, the twist is not
/// a smooth function.
const HALVINGS: u32 = 8;

/// The twist of a clip at its keys, with linear interpolation or steps.
pub(super) struct Turning {
    keys: Vec<(f32, f64)>,
    steps: bool,
}

/// The twist of a driver's source in a clip; none if the clip does not rotate it.
///
/// The twist of an interpolated rotation is not an interpolation of twists, so keys are added until
/// it is. It is tracked over time: a rotation by 350° is 350°, not −10°.
pub(super) fn turning(skeleton: &Skeleton, clip: &Clip, driver: &TwistDriver) -> Option<Turning> {
    let path: Vec<usize> = path_up(skeleton, driver.against, driver.source).collect();
    let turns = |track: &&Track| match track.channel {
        Channel::Rotation { node } => path.contains(&node),
        _ => false,
    };
    let tracks: Vec<Track> = clip.tracks.iter().filter(turns).cloned().collect();
    let mut times: Vec<f32> = Vec::new();
    for track in &tracks {
        times.extend(track.curve.times());
    }
    times.sort_by(f32::total_cmp);
    // Also if one is −0 and the other 0.
    times.dedup_by(|next, kept| *next == *kept);
    let (&first, rest) = times.split_first()?;
    let steps = tracks
        .iter()
        .all(|track| track.curve.interpolation() == Interpolation::Step);
    let mut follower = Follower {
        skeleton,
        driver,
        source: Clip {
            name: String::new(),
            tracks,
        },
        pose: skeleton.rest_pose(),
        keys: Vec::new(),
    };
    let start = follower.twist_near(0.0, first);
    follower.keys.push((first, start));
    for &time in rest {
        if steps {
            follower.add(time);
        } else {
            follower.follow_until(time);
        }
    }
    Some(Turning {
        keys: follower.keys,
        steps,
    })
}

/// Samples a clip and records the twist.
struct Follower<'a> {
    skeleton: &'a Skeleton,
    driver: &'a TwistDriver,
    /// The clip without irrelevant tracks.
    source: Clip,
    pose: Pose,
    keys: Vec<(f32, f64)>,
}

impl Follower<'_> {
    /// The twist at a time; of all equivalent angles, the one nearest to a given angle.
    fn twist_near(&mut self, near: f64, time: f32) -> f64 {
        self.source.sample(f64::from(time), &mut self.pose);
        let twist = self.driver.twist(self.skeleton, &self.pose);
        twist + TAU * ((near - twist) / TAU).round()
    }

    fn last(&self) -> (f32, f64) {
        self.keys.last().copied().unwrap_or_default()
    }

    fn add(&mut self, time: f32) {
        let twist = self.twist_near(self.last().1, time);
        self.keys.push((time, twist));
    }

    /// Adds the keys needed up to a key of the clip. A curve may jump there, so the moment before
    /// is sampled as well, and kept if it differs.
    fn follow_until(&mut self, key: f32) {
        let (start, _) = self.last();
        let before = key.next_down();
        if before > start {
            self.follow_smooth(before, HALVINGS);
        }
        let (_, arrived) = self.last();
        let twist = self.twist_near(arrived, key);
        let jumps = (twist - arrived).abs() > TOLERANCE;
        if before > start && !jumps {
            self.keys.pop();
        }
        self.keys.push((key, twist));
    }

    fn follow_smooth(&mut self, end: f32, halvings: u32) {
        let (start, from) = self.last();
        let at = |share: f32| start + share * (end - start);
        let mut twists = [from; 5];
        for quarter in 1..=4 {
            let time = if quarter == 4 {
                end
            } else {
                at(0.25 * quarter as f32)
            };
            twists[quarter] = self.twist_near(twists[quarter - 1], time);
        }
        let to = twists[4];
        let off = |quarter: usize| twists[quarter] - (from + 0.25 * quarter as f64 * (to - from));
        let is_straight = (1..4).all(|quarter| off(quarter).abs() < TOLERANCE);
        // Far steps might have gone around the other way.
        let is_followed = twists
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs() < PI / 3.0);
        let middle = at(0.5);
        let can_halve = halvings > 0 && start < middle && middle < end;
        if (is_straight && is_followed) || !can_halve {
            self.keys.push((end, to));
            return;
        }
        self.follow_smooth(middle, halvings - 1);
        self.follow_smooth(end, halvings - 1);
    }
}

impl Turning {
    /// The largest twist of a share, as the time and the angle.
    pub(super) fn largest(&self, share: f64) -> (f64, f64) {
        let keys = self.keys.iter();
        let turns = keys.map(|&(time, twist)| (f64::from(time), share * twist));
        let farther = |one: (f64, f64), other: (f64, f64)| match other.1.abs() > one.1.abs() {
            true => other,
            false => one,
        };
        turns.fold((0.0, 0.0), farther)
    }

    /// A share of the twist as rotations about an axis. There are always keys, and all are finite.
    pub(super) fn curve(&self, axis: DVec3, share: f64) -> Option<Curve> {
        let times = self.keys.iter().map(|(time, _)| *time).collect();
        let rotations = self.keys.iter().map(|(_, twist)| {
            let rotation = DQuat::from_axis_angle(axis, share * twist);
            rotation.to_array().map(|number| number as f32)
        });
        let values = rotations.flatten().collect();
        let interpolation = match self.steps {
            true => Interpolation::Step,
            false => Interpolation::Linear,
        };
        Curve::new(times, values, 4, interpolation).ok()
    }
}
