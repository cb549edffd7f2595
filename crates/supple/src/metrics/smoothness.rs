//! Smoothness of the surface's motion over time: acceleration, and vertices that pop.

use crate::mesh::Bounds;
use glam::{DVec3, Vec3};
use std::collections::VecDeque;

/// A jump smaller than this share of the extent is invisible: half a pixel for a character a
/// thousand pixels tall.
const LEAST_JUMP: f64 = 5e-4;

/// A step pops if it differs from its neighbours by more than this many times their length. A
/// smooth motion stays far below 1; a sudden start reaches 1, a spike 3, a jump from standstill
/// infinity.
const OUT_OF_STEP: f64 = 2.0;

/// Smoothness of a surface's motion, from frames added in order at an even rate.
#[derive(Clone, Debug, Default)]
pub struct TimeSmoothness {
    /// The last four frames at most.
    recent: VecDeque<Vec<Vec3>>,
    frames: usize,
    extent: f64,
    sum_of_squares: f64,
    accelerations: usize,
    worst: Option<Pop>,
    popping_frames: usize,
}

/// A vertex that jumps from one frame to the next, unlike its motion before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pop {
    /// The frame after the jump, counted from 0.
    pub frame: usize,
    /// The vertex.
    pub vertex: usize,
    /// The length of the jump beyond the steps before and after, in the rig's units.
    pub size: f64,
    /// The mean length of these two steps, for comparison.
    pub usual_step: f64,
}

impl TimeSmoothness {
    /// Starts without any frame.
    pub fn new() -> TimeSmoothness {
        TimeSmoothness::default()
    }

    /// Adds the next frame. For a clip that repeats, add its first three frames again at the end,
    /// so that the seam is checked, too.
    pub fn add(&mut self, positions: &[Vec3]) {
        if self.frames == 0 {
            let bounds = Bounds::around(positions.iter().copied());
            self.extent = f64::from(bounds.unwrap_or_default().extent());
        }
        let mut frame = if self.recent.len() == 4 {
            self.recent.pop_front().unwrap_or_default()
        } else {
            Vec::with_capacity(positions.len())
        };
        frame.clear();
        frame.extend_from_slice(positions);
        self.recent.push_back(frame);
        self.frames += 1;
        self.add_accelerations();
        self.look_for_pops();
    }

    /// Root mean square of the acceleration over vertices and frames, `|p₊ − 2p + p₋| / dt²`, in
    /// units per second squared.
    ///
    /// `seconds_per_frame` is the time between frames. Zero before the third frame. The motion
    /// itself accelerates, so compare two methods on the same clip: the lower one moves more
    /// smoothly.
    pub fn rms_acceleration(&self, seconds_per_frame: f64) -> f64 {
        if self.accelerations == 0 || seconds_per_frame <= 0.0 {
            return 0.0;
        }
        let mean = self.sum_of_squares / self.accelerations as f64;
        mean.sqrt() / (seconds_per_frame * seconds_per_frame)
    }

    /// The longest jump; `None` if nothing pops. Needs four frames; the first and the last step
    /// have only one neighbour and are not checked.
    pub fn worst_pop(&self) -> Option<Pop> {
        self.worst
    }

    /// The number of frames in which something pops.
    pub fn popping_frames(&self) -> usize {
        self.popping_frames
    }

    fn add_accelerations(&mut self) {
        let mut latest = self.recent.iter().rev();
        if let (Some(c), Some(b), Some(a)) = (latest.next(), latest.next(), latest.next()) {
            for ((a, b), c) in a.iter().zip(b).zip(c) {
                let [a, b, c] = [a, b, c].map(|p| p.as_dvec3());
                self.sum_of_squares += (a - 2.0 * b + c).length_squared();
                self.accelerations += 1;
            }
        }
    }

    /// Checks the middle one of the last three steps, which should be about the mean of its
    /// neighbours.
    fn look_for_pops(&mut self) {
        let [a, b, c, d] = match self.recent.make_contiguous() {
            [a, b, c, d] => [a, b, c, d].map(|frame| frame.as_slice()),
            _ => return,
        };
        let mut farthest: Option<Pop> = None;
        for (vertex, (((a, b), c), d)) in a.iter().zip(b).zip(c).zip(d).enumerate() {
            let [a, b, c, d]: [DVec3; 4] = [a, b, c, d].map(|p| p.as_dvec3());
            let (before, step, after) = (b - a, c - b, d - c);
            let size = (step - 0.5 * (before + after)).length();
            let usual_step = 0.5 * (before.length() + after.length());
            let pops = size > LEAST_JUMP * self.extent && size > OUT_OF_STEP * usual_step;
            if pops && farthest.is_none_or(|known| size > known.size) {
                farthest = Some(Pop {
                    // The last of the frames so far is `d`.
                    frame: self.frames - 2,
                    vertex,
                    size,
                    usual_step,
                });
            }
        }
        if let Some(pop) = farthest {
            self.popping_frames += 1;
            if self.worst.is_none_or(|known| pop.size > known.size) {
                self.worst = Some(pop);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    /// A square of one metre with one swinging corner; `disturb` may move it in any frame.
    fn watch(frames: usize, disturb: impl Fn(usize, &mut Vec3)) -> TimeSmoothness {
        let mut smoothness = TimeSmoothness::new();
        for frame in 0..frames {
            let swing = 0.3 * (TAU * frame as f32 / 48.0).sin();
            let mut corner = Vec3::new(1.0, 1.0, swing);
            disturb(frame, &mut corner);
            smoothness.add(&[Vec3::ZERO, Vec3::X, corner, Vec3::Y]);
        }
        smoothness
    }

    #[test]
    fn a_smooth_swing_does_not_pop() {
        let smoothness = watch(97, |_, _| ());
        assert_eq!(smoothness.worst_pop(), None);
        assert_eq!(smoothness.popping_frames(), 0);
        assert_eq!(smoothness.frames, 97);
        // An invisible tremble does not pop.
        let trembling = watch(97, |frame, p| p.z += 1e-5 * (frame % 2) as f32);
        assert_eq!(trembling.worst_pop(), None);
        // A sudden start, which may be intended, does not pop.
        let started = watch(20, |frame, p| {
            p.z = 0.01 * frame.saturating_sub(10) as f32;
        });
        assert_eq!(started.worst_pop(), None);
    }

    #[test]
    fn a_jump_that_stays_is_found() {
        let smoothness = watch(60, |frame, p| {
            if frame >= 24 {
                p.x += 0.1;
            }
        });
        let pop = smoothness.worst_pop().unwrap();
        assert_eq!((pop.frame, pop.vertex), (24, 2));
        assert!((pop.size - 0.1).abs() < 1e-3, "{pop:?}");
        assert!(pop.usual_step < 0.05, "{pop:?}");
        assert_eq!(smoothness.popping_frames(), 1);
    }

    #[test]
    fn a_single_bad_frame_is_found() {
        let smoothness = watch(60, |frame, p| {
            if frame == 24 {
                p.x += 0.2;
            }
        });
        let pop = smoothness.worst_pop().unwrap();
        // It moves away in frame 24 and back in frame 25.
        assert!((24..=25).contains(&pop.frame) && pop.vertex == 2, "{pop:?}");
        assert_eq!(smoothness.popping_frames(), 2);
    }

    #[test]
    fn acceleration_is_that_of_the_motion() {
        let mut smoothness = TimeSmoothness::new();
        let dt = 0.125;
        for frame in 0..9 {
            // Two vertices, one of which falls by t²: 2 m/s².
            let time = frame as f32 * dt;
            smoothness.add(&[Vec3::ZERO, Vec3::Y * (time * time)]);
        }
        let found = smoothness.rms_acceleration(f64::from(dt));
        assert!((found - 2.0 / 2.0f64.sqrt()).abs() < 1e-6, "{found}");
        assert_eq!(TimeSmoothness::new().rms_acceleration(0.1), 0.0);
    }
}
