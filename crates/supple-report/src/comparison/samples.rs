//! A clip as all methods play it, and what is most wrong in it.

use super::measures::{FrameMeasures, SlowMeasures};
use crate::choose::Candidate;
use crate::regions::Region;
use crate::thickness::TORN;
use supple::metrics::JointMotion;

/// A twist, bend or shift below this is none, in radians or radii.
pub(super) const STILL: f64 = 0.02;

/// A joint is judged while it does most of what happens around it, and turns by this much in
/// radians.
const OWN_DOING: f64 = 0.5;
const TURNS: f64 = 0.17;

/// A clip seen through all methods.
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
    /// By frame: how far any method is from the others.
    pub farthest: Vec<Farthest>,
    /// By frame, then by region.
    pub motions: Vec<Vec<JointMotion>>,
    /// By frame, then by region: from 0, carried along by a neighbour that moves much more, to 1,
    /// the joint itself moves.
    pub activity: Vec<Vec<f64>>,
    /// By method: root mean square of the distance from linear blending, as a share of the size;
    /// none where that is not compared.
    pub from_linear: Vec<Option<f64>>,
}

/// How far the method that is farthest from the others is from them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Farthest {
    /// Anywhere, as a share of the character's size.
    pub of_body: f64,
    /// Around a joint, as a share of the region's size.
    pub of_region: f64,
}

/// The largest value; of four or more the second largest, so that one method that fails does not
/// hide what the others do.
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

    /// Whether what happens around a joint is its own doing.
    pub fn moves_itself(&self, frame: usize, region: usize) -> bool {
        self.activity[frame][region] >= OWN_DOING && self.motions[frame][region].amount() > TURNS
    }

    /// How far the thickness of a region is from rest with the worst method, and a little for what
    /// the others do; none where nothing can be measured. Torn skin is all the same.
    pub fn thickness_error(&self, frame: usize, region: usize) -> Option<f64> {
        let errors: Vec<f64> = self
            .known(frame)
            .filter_map(|numbers| numbers.regions[region].thickness)
            .map(|thickness| thickness.error().min(TORN))
            .collect();
        let worst = errors.iter().copied().reduce(f64::max)?;
        Some(worst + 1e-3 * errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// How much lengths in a region change with the worst method.
    pub fn distortion(&self, frame: usize, region: usize) -> f64 {
        telling(
            self.known(frame)
                .map(|numbers| numbers.regions[region].distortion),
        )
    }

    /// How much is wrong around a region in a frame: methods far apart, or skin out of shape beyond
    /// what all methods have in common.
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

    /// The same by how much of the body it is: a large region counts for more, but hands are not
    /// forgotten over hips.
    pub fn importance(&self, frame: usize, index: usize, region: &Region) -> f64 {
        self.severity(frame, index) * region.skin.share.powf(0.25)
    }

    /// What each frame has to tell.
    pub fn candidates(&self, regions: &[Region]) -> Vec<Candidate> {
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
