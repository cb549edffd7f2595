//! Clips as the characters' files write them down: what joints do, as a function of time.

use super::CharacterError;
use super::bones::Bones;
use super::cage::smooth_step;
use crate::clip::{Channel, Clip, Curve, Interpolation, Track};
use glam::{DQuat, DVec3};

/// The motion of a joint at one moment, relative to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    /// Turned about an axis through the joint, by radians.
    Turn(usize, DVec3, f64),
    /// Turned as a quaternion says.
    Rotate(usize, DQuat),
    /// Shifted, along the axes of its parent.
    Shift(usize, DVec3),
}

impl Move {
    fn joint(&self) -> usize {
        match *self {
            Move::Turn(joint, ..) | Move::Rotate(joint, _) | Move::Shift(joint, _) => joint,
        }
    }

    /// The numbers of a key.
    fn key(&self, bones: &Bones) -> Vec<f64> {
        let rotation = match *self {
            Move::Shift(joint, by) => {
                return (bones.rest_translation(joint) + by).to_array().into();
            }
            Move::Turn(_, axis, angle) => DQuat::from_axis_angle(axis.normalize(), angle),
            Move::Rotate(_, rotation) => rotation,
        };
        // Of the two signs that mean the same, always one: all poses here stay within half a turn
        // of rest.
        let rotation = if rotation.w < 0.0 {
            -rotation
        } else {
            rotation
        };
        rotation.to_array().into()
    }
}

/// A clip from rest to a full pose at one second and back at two; `pose` is asked with the share of
/// the full pose.
///
/// A pose that is more than one turn per joint (feet that must stay where they are) wants more keys
/// on the way.
pub(super) fn there_and_back(
    name: &str,
    bones: &Bones,
    keys_each_way: usize,
    pose: impl Fn(f64) -> Vec<Move>,
) -> Result<Clip, CharacterError> {
    let ease = |time: f64| smooth_step(1.0 - (1.0 - time).abs());
    sampled(name, bones, 2.0, 2 * keys_each_way, |time| pose(ease(time)))
}

/// A clip with evenly spaced keys of a smooth motion, whose slopes come from the motion itself.
///
/// The motion is asked a little before the start and after the end, too, so that loops close
/// smoothly.
pub(super) fn sampled(
    name: &str,
    bones: &Bones,
    duration: f64,
    intervals: usize,
    motion: impl Fn(f64) -> Vec<Move>,
) -> Result<Clip, CharacterError> {
    const MOMENT: f64 = 1e-4;
    let time_of = |key: usize| duration * key as f64 / intervals as f64;
    let times: Vec<f32> = (0..=intervals).map(|key| time_of(key) as f32).collect();
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); motion(0.0).len()];
    for key in 0..=intervals {
        let moments = [-MOMENT, 0.0, MOMENT].map(|offset| motion(time_of(key) + offset));
        for (track, values) in values.iter_mut().enumerate() {
            let [before, now, after] = moments.each_ref().map(|moves| moves[track].key(bones));
            let pairs = before.iter().zip(&after);
            let slope: Vec<f32> = pairs
                .map(|(before, after)| ((after - before) / (2.0 * MOMENT)) as f32)
                .collect();
            values.extend(&slope);
            values.extend(now.iter().map(|&value| value as f32));
            values.extend(&slope);
        }
    }
    let tracks = motion(0.0).into_iter().zip(values);
    let tracks = tracks.map(|(moved, values)| {
        let node = moved.joint();
        let channel = match moved {
            Move::Shift(..) => Channel::Translation { node },
            _ => Channel::Rotation { node },
        };
        let interpolation = Interpolation::CubicHermite;
        let curve = Curve::new(times.clone(), values, channel.width(), interpolation)?;
        Ok(Track { channel, curve })
    });
    Ok(Clip {
        name: name.to_owned(),
        tracks: tracks.collect::<Result<_, CharacterError>>()?,
    })
}

/// The same turn seen in a mirror at the plane x = 0.
pub(super) fn mirrored(axis: DVec3) -> DVec3 {
    DVec3::new(axis.x, -axis.y, -axis.z)
}
