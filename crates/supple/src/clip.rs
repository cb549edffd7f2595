//! Clips: curves over time that move nodes and morph weights (`lecture-skinning.txt`, keyframe
//! animation).

use crate::pose::Pose;
use crate::transform::{Local, Trs};
use glam::{DQuat, DVec3};
use thiserror::Error;

/// A named animation.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// The name in the file.
    pub name: String,
    /// Curves of node transforms and morph weights.
    pub tracks: Vec<Track>,
}

/// A curve and its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The quantity that the curve animates.
    pub channel: Channel,
    /// The values over time.
    pub curve: Curve,
}

impl Track {
    /// True if the curve has as many values per key as the channel needs. One that has not moves
    /// nothing.
    pub fn fits(&self) -> bool {
        self.curve.width == self.channel.width()
    }
}

/// The quantity that a curve animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Three numbers.
    Translation {
        /// Index of the node.
        node: usize,
    },
    /// Four numbers: a quaternion as x, y, z, w.
    Rotation {
        /// Index of the node.
        node: usize,
    },
    /// Three numbers.
    Scale {
        /// Index of the node.
        node: usize,
    },
    /// A run of [`Pose::morph_weights`].
    MorphWeights {
        /// The first weight.
        first: usize,
        /// The number of weights.
        count: usize,
    },
}

impl Channel {
    /// The number of values per key.
    pub fn width(&self) -> usize {
        match self {
            Channel::Translation { .. } | Channel::Scale { .. } => 3,
            Channel::Rotation { .. } => 4,
            Channel::MorphWeights { count, .. } => *count,
        }
    }
}

/// Interpolation between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Each value holds until the next key.
    Step,
    /// Linear; rotations by spherical linear interpolation (slerp) along the shorter arc.
    Linear,
    /// Cubic Hermite with explicit tangents, (in-tangent, value, out-tangent) per key: glTF's
    /// CUBICSPLINE.
    CubicHermite,
    /// Cubic Hermite with tangents from the neighbouring keys: `(q[i+1] − q[i−1]) / (t[i+1] −
    /// t[i−1])`, one-sided at the ends.
    CatmullRom,
}

/// An animation curve: keys at non-decreasing times. Of several keys at the same time, the last one
/// counts, so such keys make a jump.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    times: Vec<f32>,
    values: Vec<f32>,
    width: usize,
    interpolation: Interpolation,
}

/// Error from building a [`Curve`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// There are no keys.
    #[error("a curve without keys")]
    Empty,
    /// A time is before the previous one, or NaN.
    #[error("key {key} is at {time} s, after a key at {before} s")]
    TimesFall {
        /// The key.
        key: usize,
        /// Its time.
        time: f32,
        /// The time before it.
        before: f32,
    },
    /// The number of values does not fit the number of keys.
    #[error("{values} numbers for {keys} keys, expected {expected}")]
    WrongLength {
        /// The number of values.
        values: usize,
        /// The number of keys.
        keys: usize,
        /// The expected number of values.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("the value of key {key} is not finite")]
    NotFinite {
        /// The key.
        key: usize,
    },
}

impl Curve {
    /// Builds a curve from keys of `width` numbers each (three times as many for
    /// [`Interpolation::CubicHermite`]).
    ///
    /// # Errors
    ///
    /// Fails if there are no keys, times decrease, there are not `width` values per key, or a
    /// number is not finite.
    pub fn new(
        times: Vec<f32>,
        values: Vec<f32>,
        width: usize,
        interpolation: Interpolation,
    ) -> Result<Curve, CurveError> {
        if times.is_empty() {
            return Err(CurveError::Empty);
        }
        for (key, &time) in times.iter().enumerate() {
            let before = if key == 0 {
                f32::NEG_INFINITY
            } else {
                times[key - 1]
            };
            if !time.is_finite() || time < before {
                return Err(CurveError::TimesFall { key, time, before });
            }
        }
        let per_key = match interpolation {
            Interpolation::CubicHermite => 3 * width,
            _ => width,
        };
        if values.len() != times.len() * per_key {
            return Err(CurveError::WrongLength {
                values: values.len(),
                keys: times.len(),
                expected: times.len() * per_key,
            });
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(CurveError::NotFinite {
                key: position / per_key.max(1),
            });
        }
        Ok(Curve {
            times,
            values,
            width,
            interpolation,
        })
    }

    /// Key times in seconds.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// The values of all keys, as given.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The interpolation between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Evaluates every component `c` of the curve, and passes each result to `put`.
    ///
    /// Before the first and after the last key the curve is constant. `sign` changes the sign of a
    /// key's values (for quaternions, whose two signs are the same rotation).
    fn sample(&self, time: f64, sign: impl Fn(usize) -> f64, mut put: impl FnMut(usize, f64)) {
        let (from, fraction) = self.locate(time);
        let value = |key: usize, c: usize| sign(key) * self.value(key, c);
        let last = self.times.len() - 1;
        if from == last || fraction <= 0.0 {
            (0..self.width).for_each(|c| put(c, value(from, c)));
            return;
        }
        let to = from + 1;
        let span = f64::from(self.times[to]) - f64::from(self.times[from]);
        match self.interpolation {
            Interpolation::Step => (0..self.width).for_each(|c| put(c, value(from, c))),
            Interpolation::Linear => (0..self.width).for_each(|c| {
                put(
                    c,
                    (1.0 - fraction) * value(from, c) + fraction * value(to, c),
                );
            }),
            Interpolation::CubicHermite => (0..self.width).for_each(|c| {
                let out_tangent = self.raw(from, 2, c) * sign(from);
                let in_tangent = self.raw(to, 0, c) * sign(to);
                let ends = [value(from, c), value(to, c)];
                put(
                    c,
                    hermite(fraction, ends, [out_tangent * span, in_tangent * span]),
                );
            }),
            Interpolation::CatmullRom => (0..self.width).for_each(|c| {
                let slope = |key: usize| self.neighbour_slope(key, |key| value(key, c));
                let ends = [value(from, c), value(to, c)];
                put(
                    c,
                    hermite(fraction, ends, [slope(from) * span, slope(to) * span]),
                );
            }),
        }
    }

    /// The lecture's tangent: `(q[i+1] − q[i−1]) / (t[i+1] − t[i−1])`, one-sided at the ends.
    fn neighbour_slope(&self, key: usize, value: impl Fn(usize) -> f64) -> f64 {
        let (before, after) = (key.saturating_sub(1), (key + 1).min(self.times.len() - 1));
        let elapsed = f64::from(self.times[after]) - f64::from(self.times[before]);
        if elapsed > 0.0 {
            (value(after) - value(before)) / elapsed
        } else {
            0.0
        }
    }

    /// Converts to explicit tangents, for formats without Catmull-Rom interpolation.
    ///
    /// The signs of quaternions (curves of width four) are changed to the side of the key before.
    #[must_use]
    pub fn to_hermite(&self) -> Curve {
        if self.interpolation != Interpolation::CatmullRom {
            return self.clone();
        }
        let mut signs = vec![1.0; self.times.len()];
        for key in 1..signs.len() {
            let turned =
                self.width == 4 && self.key_quaternion(key - 1).dot(self.key_quaternion(key)) < 0.0;
            signs[key] = if turned {
                -signs[key - 1]
            } else {
                signs[key - 1]
            };
        }
        let mut values = Vec::with_capacity(self.values.len() * 3);
        for key in 0..self.times.len() {
            let value = |key: usize, c: usize| signs[key] * self.value(key, c);
            let slope = |c: usize| self.neighbour_slope(key, |key| value(key, c)) as f32;
            values.extend((0..self.width).map(slope));
            values.extend((0..self.width).map(|c| value(key, c) as f32));
            values.extend((0..self.width).map(slope));
        }
        Curve {
            times: self.times.clone(),
            values,
            width: self.width,
            interpolation: Interpolation::CubicHermite,
        }
    }

    /// The key at or before a time, and the fraction of the span to the next key.
    fn locate(&self, time: f64) -> (usize, f64) {
        let after = self.times.partition_point(|&key| f64::from(key) <= time);
        if after == 0 {
            return (0, 0.0);
        }
        let from = after - 1;
        let fraction = match self.times.get(after) {
            Some(&end) => {
                let start = f64::from(self.times[from]);
                (time - start) / (f64::from(end) - start)
            }
            None => 0.0,
        };
        (from, fraction)
    }

    /// Component `c` of a key.
    fn value(&self, key: usize, c: usize) -> f64 {
        match self.interpolation {
            Interpolation::CubicHermite => self.raw(key, 1, c),
            _ => f64::from(self.values[key * self.width + c]),
        }
    }

    /// Component `c` of the in-tangent, value or out-tangent (`slot` 0, 1, 2) of a CUBICSPLINE key.
    fn raw(&self, key: usize, slot: usize, c: usize) -> f64 {
        f64::from(self.values[(key * 3 + slot) * self.width + c])
    }

    fn sample_vector(&self, time: f64) -> DVec3 {
        let mut result = DVec3::ZERO;
        self.sample(time, |_| 1.0, |c, value| result[c] = value);
        result
    }

    fn key_quaternion(&self, key: usize) -> DQuat {
        DQuat::from_array([0, 1, 2, 3].map(|c| self.value(key, c)))
    }

    /// A rotation: slerp for linear curves, the component-wise cubic, normalised, for the others.
    fn sample_rotation(&self, time: f64) -> DQuat {
        let normalized = |q: DQuat| {
            if q.length_squared() > 0.0 {
                q.normalize()
            } else {
                DQuat::IDENTITY
            }
        };
        let (from, fraction) = self.locate(time);
        if self.interpolation == Interpolation::Linear && fraction > 0.0 {
            let start = normalized(self.key_quaternion(from));
            return slerp(start, normalized(self.key_quaternion(from + 1)), fraction);
        }
        // Catmull-Rom keys may have either sign: each is changed to its neighbour's side, from the
        // first key of the segment on. (CUBICSPLINE tangents belong to the signs as stored.)
        let sign = |key: usize| {
            if self.interpolation != Interpolation::CatmullRom {
                return 1.0;
            }
            let side = |a: usize, b: usize| {
                if self.key_quaternion(a).dot(self.key_quaternion(b)) < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            };
            match key as i64 - from as i64 {
                -1 => side(from, key),
                1 => side(from, key),
                2 => side(from, from + 1) * side(from + 1, key),
                _ => 1.0,
            }
        };
        let mut result = [0.0; 4];
        self.sample(time, sign, |c, value| result[c] = value);
        normalized(DQuat::from_array(result))
    }
}

/// Cubic Hermite on the unit interval; `tangents` are per interval, not per second.
fn hermite(s: f64, ends: [f64; 2], tangents: [f64; 2]) -> f64 {
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * ends[0]
        + (s3 - 2.0 * s2 + s) * tangents[0]
        + (-2.0 * s3 + 3.0 * s2) * ends[1]
        + (s3 - s2) * tangents[1]
}

/// Spherical linear interpolation along the shorter arc, in full double precision at every angle.
///
/// glam uses a normalised blend for close quaternions, with an error of about 1e-8.
fn slerp(from: DQuat, to: DQuat, fraction: f64) -> DQuat {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    // The angle from chord and sum is accurate for small and large angles.
    let angle = 2.0 * (to - from).length().atan2((to + from).length());
    if angle < 1e-12 {
        return from;
    }
    let sine = angle.sin();
    let blend =
        from * (((1.0 - fraction) * angle).sin() / sine) + to * ((fraction * angle).sin() / sine);
    blend.normalize()
}

impl Clip {
    /// Makes a clip of one key from the differences between a pose and the pose it is played over.
    /// Shear is lost, since clips cannot store it. Nodes that only one of the poses has are
    /// skipped.
    ///
    /// # Errors
    ///
    /// Fails if a transform that differs, or a morph weight, is not finite in `f32`.
    pub fn of_pose(name: &str, pose: &Pose, over: &Pose) -> Result<Clip, CurveError> {
        let mut tracks = Vec::new();
        let mut add = |channel: Channel, values: Vec<f32>| {
            let curve = Curve::new(vec![0.0], values, channel.width(), Interpolation::Step)?;
            tracks.push(Track { channel, curve });
            Ok(())
        };
        let nodes = pose.locals.iter().zip(&over.locals).enumerate();
        for (node, (local, _)) in nodes.filter(|(_, (local, other))| local != other) {
            let trs = local.to_trs();
            let vector = |vector: DVec3| vector.as_vec3().to_array().to_vec();
            add(Channel::Translation { node }, vector(trs.translation))?;
            let rotation = trs.rotation.as_quat().to_array();
            add(Channel::Rotation { node }, rotation.to_vec())?;
            add(Channel::Scale { node }, vector(trs.scale))?;
        }
        let count = pose.morph_weights.len();
        if pose.morph_weights != over.morph_weights {
            let channel = Channel::MorphWeights { first: 0, count };
            add(channel, pose.morph_weights.clone())?;
        }
        Ok(Clip {
            name: name.to_owned(),
            tracks,
        })
    }

    /// The time of the last key of all tracks, in seconds.
    pub fn duration(&self) -> f64 {
        let ends = self
            .tracks
            .iter()
            .filter_map(|track| track.curve.times.last());
        ends.fold(0.0, |duration: f64, &end| duration.max(f64::from(end)))
    }

    /// The time of the first key of all tracks, in seconds; nothing moves before it.
    pub fn start(&self) -> f64 {
        let starts = self
            .tracks
            .iter()
            .filter_map(|track| track.curve.times.first());
        starts
            .fold(f64::INFINITY, |start, &time| start.min(f64::from(time)))
            .min(self.duration())
    }

    /// Writes the animated transforms and weights into `pose`, which should start as the rest pose.
    /// Allocates nothing.
    ///
    /// Times outside of the clip use the first or last key. Skips nodes and weights that the pose
    /// does not have, and tracks whose curve has the wrong number of values per key for its
    /// channel.
    pub fn sample(&self, time: f64, pose: &mut Pose) {
        for track in self.tracks.iter().filter(|track| track.fits()) {
            let curve = &track.curve;
            match track.channel {
                Channel::Translation { node } => {
                    set(pose, node, |trs| {
                        trs.translation = curve.sample_vector(time)
                    });
                }
                Channel::Rotation { node } => {
                    set(pose, node, |trs| trs.rotation = curve.sample_rotation(time));
                }
                Channel::Scale { node } => {
                    set(pose, node, |trs| trs.scale = curve.sample_vector(time));
                }
                Channel::MorphWeights { first, .. } => {
                    let weights = pose.morph_weights.get_mut(first..).unwrap_or_default();
                    curve.sample(
                        time,
                        |_| 1.0,
                        |c, value| {
                            if let Some(weight) = weights.get_mut(c) {
                                *weight = value as f32;
                            }
                        },
                    );
                }
            }
        }
    }
}

fn set(pose: &mut Pose, node: usize, change: impl FnOnce(&mut Trs)) {
    if let Some(local) = pose.locals.get_mut(node) {
        let mut trs = local.to_trs();
        change(&mut trs);
        *local = Local::Trs(trs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const UNEVEN: [f32; 4] = [0.0, 1.0, 3.0, 3.5];

    fn scalar(values: &[f32], interpolation: Interpolation) -> Curve {
        Curve::new(UNEVEN.to_vec(), values.to_vec(), 1, interpolation).unwrap()
    }

    fn at(curve: &Curve, time: f64) -> f64 {
        let mut result = f64::NAN;
        curve.sample(time, |_| 1.0, |_, value| result = value);
        result
    }

    #[test]
    fn keys_come_back_and_ends_hold() {
        for interpolation in [
            Interpolation::Step,
            Interpolation::Linear,
            Interpolation::CatmullRom,
        ] {
            let curve = scalar(&[5.0, -1.0, 2.0, 7.0], interpolation);
            for (time, value) in UNEVEN.iter().zip([5.0, -1.0, 2.0, 7.0]) {
                assert_eq!(at(&curve, f64::from(*time)), value, "{interpolation:?}");
            }
            assert_eq!(at(&curve, -9.0), 5.0);
            assert_eq!(at(&curve, 99.0), 7.0);
        }
    }

    #[test]
    fn a_clip_of_a_pose_plays_that_pose() {
        let rest = Pose {
            locals: vec![Local::Trs(Trs::IDENTITY); 3],
            morph_weights: vec![0.0, 0.25],
        };
        let mut pose = rest.clone();
        pose.locals[1] = Local::Trs(Trs {
            translation: DVec3::new(1.0, -2.0, 0.5),
            rotation: DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5),
            scale: DVec3::new(2.0, 1.0, 0.25),
        });
        pose.morph_weights[0] = 0.5;
        let clip = Clip::of_pose("pose", &pose, &rest).unwrap();
        assert_eq!((clip.tracks.len(), clip.duration()), (4, 0.0));
        for time in [0.0, 7.0] {
            let mut played = rest.clone();
            clip.sample(time, &mut played);
            assert_eq!(played, pose);
        }
        let still = Clip::of_pose("pose", &rest, &rest).unwrap();
        assert!(still.tracks.is_empty());
    }

    #[test]
    fn step_and_linear_follow_their_names() {
        let step = scalar(&[5.0, -1.0, 2.0, 7.0], Interpolation::Step);
        assert_eq!(at(&step, 2.999), -1.0);
        let linear = scalar(&[5.0, -1.0, 2.0, 7.0], Interpolation::Linear);
        assert!((at(&linear, 2.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn catmull_rom_reproduces_lines_on_uneven_keys_and_has_continuous_slope() {
        let line = scalar(&[1.0, 3.0, 7.0, 8.0], Interpolation::CatmullRom); // 1 + 2 t
        for step in 0..=35 {
            let time = f64::from(step) * 0.1;
            assert!((at(&line, time) - (1.0 + 2.0 * time)).abs() < 1e-6);
        }
        let curve = scalar(&[0.0, 4.0, -2.0, 1.0], Interpolation::CatmullRom);
        let h = 1e-6;
        for key in [1.0, 3.0] {
            let before = (at(&curve, key) - at(&curve, key - h)) / h;
            let after = (at(&curve, key + h) - at(&curve, key)) / h;
            assert!((before - after).abs() < 1e-4);
        }
        let slope = (at(&curve, 1.0 + h) - at(&curve, 1.0)) / h;
        assert!(
            (slope - (-2.0 - 0.0) / 3.0).abs() < 1e-4,
            "the lecture's tangent"
        );
    }

    #[test]
    fn hermite_curves_have_the_given_slopes_per_second() {
        // (in, value, out) per key; slopes are per second although the second span is two seconds
        // long.
        let values = [0.0, 1.0, 0.5, -2.0, 3.0, 4.0, 1.5, -1.0, 0.0, 0.0, 2.0, 0.0];
        let curve = scalar(&values, Interpolation::CubicHermite);
        let h = 1e-6;
        let slope_after = |t: f64| (at(&curve, t + h) - at(&curve, t)) / h;
        let slope_before = |t: f64| (at(&curve, t) - at(&curve, t - h)) / h;
        assert!((slope_after(0.0) - 0.5).abs() < 1e-4);
        assert!((slope_before(1.0) + 2.0).abs() < 1e-4);
        assert!((slope_after(1.0) - 4.0).abs() < 1e-4);
        assert!((slope_before(3.0) - 1.5).abs() < 1e-4);
    }

    fn rotations(angles: &[f64], signs: &[f32], interpolation: Interpolation) -> Curve {
        let values = angles
            .iter()
            .zip(signs)
            .flat_map(|(angle, sign)| {
                DQuat::from_rotation_y(*angle)
                    .to_array()
                    .map(|x| x as f32 * sign)
            })
            .collect();
        Curve::new(UNEVEN.to_vec(), values, 4, interpolation).unwrap()
    }

    #[test]
    fn linear_rotation_has_constant_speed_and_takes_the_short_way() {
        let angles = [0.0, 2.0, 2.5, 3.0];
        let curve = rotations(&angles, &[1.0, -1.0, 1.0, 1.0], Interpolation::Linear);
        for step in 0..=10 {
            let fraction = f64::from(step) / 10.0;
            let expected = DQuat::from_rotation_y(2.0 * fraction);
            let found = curve.sample_rotation(fraction);
            assert!(found.dot(expected).abs() > 1.0 - 1e-12, "at {fraction}");
        }
    }

    #[test]
    fn catmull_rom_rotation_does_not_care_for_the_signs_of_its_keys() {
        let angles = [0.0, 0.4 * PI, 0.7 * PI, PI];
        let plain = rotations(&angles, &[1.0; 4], Interpolation::CatmullRom);
        let signed = rotations(&angles, &[1.0, -1.0, -1.0, 1.0], Interpolation::CatmullRom);
        for step in 0..=35 {
            let time = f64::from(step) * 0.1;
            let dot = plain
                .sample_rotation(time)
                .dot(signed.sample_rotation(time));
            assert!(dot.abs() > 1.0 - 1e-9, "at {time}");
        }
    }

    #[test]
    fn written_out_tangents_give_the_same_curve() {
        let angles = [0.0, 0.4 * PI, 0.7 * PI, PI];
        let turns = rotations(&angles, &[1.0, -1.0, -1.0, 1.0], Interpolation::CatmullRom);
        let numbers = scalar(&[0.0, 4.0, -2.0, 1.0], Interpolation::CatmullRom);
        let (written_turns, written_numbers) = (turns.to_hermite(), numbers.to_hermite());
        assert_eq!(written_numbers.interpolation(), Interpolation::CubicHermite);
        for step in 0..=35 {
            let time = f64::from(step) * 0.1;
            assert!((at(&numbers, time) - at(&written_numbers, time)).abs() < 1e-6);
            let dot = turns
                .sample_rotation(time)
                .dot(written_turns.sample_rotation(time));
            assert!(dot.abs() > 1.0 - 1e-12, "at {time}");
        }
    }

    #[test]
    fn slerp_agrees_with_the_axis_angle_form_at_tiny_and_large_angles() {
        for angle in [1e-9, 1e-5, 0.1, 1.0, 3.0] {
            let to = DQuat::from_rotation_x(angle);
            let found = slerp(DQuat::IDENTITY, to, 0.3);
            let expected = DQuat::from_rotation_x(0.3 * angle);
            assert!((found - expected).length() < 1e-15, "{angle}");
        }
    }

    #[test]
    fn bad_curves_are_named() {
        let new = |times: &[f32], values: &[f32]| {
            Curve::new(times.to_vec(), values.to_vec(), 1, Interpolation::Linear)
        };
        assert_eq!(new(&[], &[]).unwrap_err(), CurveError::Empty);
        let error = new(&[1.0, 0.5], &[1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "key 1 is at 0.5 s, after a key at 1 s");
        let jump = new(&[0.0, 1.0, 1.0, 2.0], &[0.0, 2.0, 5.0, 6.0]).unwrap();
        assert_eq!(
            [at(&jump, 0.5), at(&jump, 1.0), at(&jump, 1.5)],
            [1.0, 5.0, 5.5]
        );
        assert!(matches!(
            new(&[0.0], &[1.0, 2.0]),
            Err(CurveError::WrongLength { .. })
        ));
        assert_eq!(
            new(&[0.0], &[f32::INFINITY]).unwrap_err(),
            CurveError::NotFinite { key: 0 }
        );
    }

    #[test]
    fn a_clip_moves_only_what_it_names() {
        let rest = Pose {
            locals: vec![Local::Trs(Trs::from_translation(DVec3::X)); 2],
            morph_weights: vec![0.0; 3],
        };
        let one_key = |values: &[f32]| {
            Curve::new(
                vec![0.5],
                values.to_vec(),
                values.len(),
                Interpolation::Step,
            )
            .unwrap()
        };
        let clip = Clip {
            name: "test".to_owned(),
            tracks: vec![
                Track {
                    channel: Channel::Scale { node: 1 },
                    curve: one_key(&[2.0, 3.0, 4.0]),
                },
                Track {
                    channel: Channel::MorphWeights { first: 1, count: 2 },
                    curve: one_key(&[0.25, 0.5]),
                },
                Track {
                    channel: Channel::Translation { node: 99 },
                    curve: one_key(&[1.0, 1.0, 1.0]),
                },
            ],
        };
        let mut pose = rest.clone();
        clip.sample(0.0, &mut pose);
        assert_eq!(pose.locals[0], rest.locals[0]);
        let moved = pose.locals[1].to_trs();
        assert_eq!(moved.translation, DVec3::X);
        assert_eq!(moved.scale, DVec3::new(2.0, 3.0, 4.0));
        assert_eq!(pose.morph_weights, [0.0, 0.25, 0.5]);
        assert_eq!((clip.start(), clip.duration()), (0.5, 0.5));
    }
}
