//! The measures of a clip by all methods, and how severe its artifacts are.

use super::measures::{FrameMeasures, SlowMeasures};
use crate::choose::Candidate;
use crate::regions::TitledRegion;
use crate::thickness::TORN;
use supple::metrics::JointMotion;

/// One in this many frames gets the slow measures.
pub(super) const SLOW_EVERY: usize = 4;

/// Bends, twists and shifts below this count as none; in radians, or sizes of the region.
pub(super) const STILL: f64 = 0.02;

/// A joint is judged while this share of the motion around it is its own, and the motion is at
/// least this large, in radians.
const OWN_DOING: f64 = 0.5;
const TURNS: f64 = 0.17;

/// The measures of a clip by all methods.
pub(crate) struct Samples {
    /// Seconds from the clip's first key.
    pub times: Vec<f64>,
    /// Seconds between the evenly spaced ones among them.
    pub spacing: f64,
    /// By method, then by frame; an error where the method cannot do the pose.
    pub frames: Vec<Vec<Result<FrameMeasures, String>>>,
    /// By method, of every fourth frame.
    pub slow: Vec<Vec<Option<SlowMeasures>>>,
    /// By frame, then by region: how far apart the methods are, as a share of the region's size.
    pub spread: Vec<Vec<f64>>,
    /// By frame: the largest distance between methods, as a share of the character's size.
    pub apart: Vec<f64>,
    /// By frame: the distance of the outlying method from the others.
    pub farthest: Vec<Farthest>,
    /// By frame, then by region.
    pub motions: Vec<Vec<JointMotion>>,
    /// By frame, then by region: 1 if the joint itself moves, towards 0 if a neighbour moves much
    /// more and carries it along.
    pub activity: Vec<Vec<f64>>,
    /// By method: root mean square of the distance from linear blending, as a share of the size;
    /// none where that is not compared.
    pub from_linear: Vec<Option<f64>>,
}

/// The distance of the method that is farthest from the others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Farthest {
    /// Anywhere, as a share of the character's size.
    pub of_body: f64,
    /// Around a joint, as a share of the region's size.
    pub of_region: f64,
}

/// The largest of up to three values, and the second largest of more, so that a single method that
/// fails does not decide.
pub(crate) fn telling(values: impl Iterator<Item = f64>) -> f64 {
    let (mut first, mut second, mut count) = (0.0, 0.0, 0);
    for value in values {
        if value > first {
            (first, second) = (value, first);
        } else if value > second {
            second = value;
        }
        count += 1;
    }
    if count >= 4 { second } else { first }
}

impl Samples {
    fn known(&self, frame: usize) -> impl Iterator<Item = &FrameMeasures> {
        let frames = self.frames.iter();
        frames.filter_map(move |frames| frames[frame].as_ref().ok())
    }

    /// The slow measures of a frame; `None` if it has none, or the method cannot do the pose.
    pub fn slow_at(&self, method: usize, frame: usize) -> Option<SlowMeasures> {
        let measured = frame.is_multiple_of(SLOW_EVERY);
        let slow = self.slow[method].get(frame / SLOW_EVERY);
        slow.copied().flatten().filter(|_| measured)
    }

    /// True if the motion around a joint is its own, and large enough to judge it.
    pub fn moves_itself(&self, frame: usize, region: usize) -> bool {
        self.activity[frame][region] >= OWN_DOING && self.motions[frame][region].amount() > TURNS
    }

    /// The error of the thickness in a region by the worst method, plus a thousandth of the mean
    /// error to break ties; `None` where it cannot be measured. Errors of torn skin are capped.
    pub fn thickness_error(&self, frame: usize, region: usize) -> Option<f64> {
        let errors: Vec<f64> = self
            .known(frame)
            .filter_map(|numbers| numbers.regions[region].thickness)
            .map(|thickness| thickness.error().min(TORN))
            .collect();
        let worst = errors.iter().copied().reduce(f64::max)?;
        Some(worst + 1e-3 * errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// The error of the thickness in a region by one method; `None` where it cannot be measured.
    pub fn thickness_error_by(&self, method: usize, frame: usize, region: usize) -> Option<f64> {
        let numbers = self.frames[method][frame].as_ref().ok()?;
        let thickness = numbers.regions[region].thickness?;
        Some(thickness.error().min(TORN))
    }

    /// The change of lengths in a region by the worst method.
    pub fn distortion(&self, frame: usize, region: usize) -> f64 {
        telling(
            self.known(frame)
                .map(|numbers| numbers.regions[region].distortion),
        )
    }

    /// The severity of artifacts around a region in a frame: the distance between methods, and the
    /// distortion beyond that of the best method.
    pub fn severity(&self, frame: usize, region: usize) -> f64 {
        let common = match self.frames.len() {
            1 => 0.0,
            _ => self
                .known(frame)
                .map(|numbers| numbers.regions[region].distortion)
                .fold(f64::INFINITY, f64::min),
        };
        let distortion = (self.distortion(frame, region) - common).max(0.0);
        let wrong = 3.0 * self.spread[frame][region] + 0.4 * distortion;
        wrong * self.activity[frame][region]
    }

    /// The severity, weighted by the size of the region so that a large one counts for more, but a
    /// hand still counts next to a hip.
    pub fn importance(&self, frame: usize, index: usize, region: &TitledRegion) -> f64 {
        self.severity(frame, index) * region.skin.share.powf(0.25)
    }

    /// The frames as candidates for pictures.
    pub fn candidates(&self, regions: &[TitledRegion]) -> Vec<Candidate> {
        let frame = |frame: usize| {
            let mut signature = Vec::with_capacity(regions.len() * 3);
            let mut score: f64 = 0.0;
            for (index, region) in regions.iter().enumerate() {
                let severity = self.importance(frame, index, region);
                let motion = &self.motions[frame][index];
                let kinds = [motion.bend, motion.twist, motion.shift];
                let sum: f64 = kinds.iter().sum::<f64>().max(STILL);
                signature.extend(kinds.iter().map(|kind| severity * kind / sum));
                score = severity.max(score);
            }
            let score = score + self.apart[frame];
            if regions.is_empty() {
                signature.push(score);
            }
            Candidate { score, signature }
        };
        (0..self.times.len()).map(frame).collect()
    }
}
