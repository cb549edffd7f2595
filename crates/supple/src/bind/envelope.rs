//! Envelopes: capsules around bones, fitted to the body, with a falloff.

use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use super::segment_tree::{Member, SegmentTree};
use super::{JointShares, rigid};
use crate::exec;
use crate::option_error::OptionError;
use glam::DVec3;

/// Options of envelope weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct EnvelopeOptions {
    /// The range of weights beyond a capsule, relative to its radius.
    pub falloff: f64,
    /// Radii of some joints, in the model's unit. All others are fitted to the body.
    pub radii: Vec<(usize, f64)>,
}

impl Default for EnvelopeOptions {
    fn default() -> EnvelopeOptions {
        EnvelopeOptions {
            falloff: 0.5,
            radii: Vec::new(),
        }
    }
}

impl EnvelopeOptions {
    pub(super) fn check(&self) -> Result<(), OptionError> {
        super::check_positive("the falloff", self.falloff)?;
        let mut radii = self.radii.iter();
        radii.try_for_each(|&(_, radius)| super::check_positive("the radius", radius))
    }
}

/// The share of the points nearest to a bone that its fitted capsule contains: a few distant points
/// (a bag, a collar) must not widen it.
const INSIDE: f64 = 0.8;

/// The capsule of a segment, with a linearly varying radius.
#[derive(Clone, Copy, Debug)]
struct Capsule {
    from: f64,
    to: f64,
}

impl Capsule {
    fn radius(&self, share: f64) -> f64 {
        self.from + (self.to - self.from) * share
    }
}

/// The weight is full within a capsule's radius, zero beyond the falloff, and smooth in between. A
/// point beyond all capsules follows the nearest one, in units of its radius.
pub(super) fn rows(
    shape: &OrientedSurface,
    holds: &[Hold],
    options: &EnvelopeOptions,
) -> JointShares {
    let capsules = fit(shape, holds, options);
    let tree = SegmentTree::over(holds);
    let ends = capsules.iter().flatten();
    let widest = ends.map(|capsule| capsule.from.max(capsule.to));
    let widest = widest.fold(0.0, f64::max);
    // The square of the largest distance for a number of radii, with a margin for rounding.
    let reach = |ratio: f64| (ratio * widest).powi(2) * (1.0 + 1e-9);
    let ratio = |member: Member, place: DVec3| {
        let (hold, at) = (member.hold as usize, member.segment as usize);
        let segment = &holds[hold].segments[at];
        let share = segment.share_nearest(place);
        segment.at(share).distance(place) / capsules[hold][at].radius(share)
    };
    let row = |point: usize| {
        let place = shape.points[point];
        let mut ratios: Vec<(u32, f64)> = Vec::new();
        tree.walk(place, reach(1.0 + options.falloff), |member, _, _, _| {
            ratios.push((member.hold, ratio(member, place)));
        });
        ratios.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        ratios.dedup_by_key(|(hold, _)| *hold);
        let mut row = Vec::new();
        for (hold, ratio) in ratios {
            let beyond = ((ratio - 1.0) / options.falloff).clamp(0.0, 1.0);
            let weight = 1.0 - beyond * beyond * (3.0 - 2.0 * beyond);
            if weight > 0.0 {
                row.push((holds[hold as usize].joint, weight));
            }
        }
        if row.is_empty() {
            let mut nearest = (f64::INFINITY, u32::MAX);
            tree.walk(place, f64::INFINITY, |member, _, _, within| {
                let found = (ratio(member, place), member.hold);
                // Of equal distances, the first.
                if found < nearest {
                    nearest = found;
                    *within = reach(found.0);
                }
            });
            let joint = holds.get(nearest.1 as usize).map_or(0, |hold| hold.joint);
            row.push((joint, 1.0));
        }
        row
    };
    exec::map_chunks(shape.points.len(), |points| {
        points.map(row).collect::<Vec<_>>()
    })
    .concat()
}

/// Distances to the two halves of a segment, each with the area around its point.
type Halves = [Vec<(f64, f64)>; 2];

/// Radii at both ends of every segment, from the distances of the points nearest to each half.
fn fit(shape: &OrientedSurface, holds: &[Hold], options: &EnvelopeOptions) -> Vec<Vec<Capsule>> {
    let nearest = rigid::nearest_holds(shape, holds);
    let mut distances: Vec<Vec<Halves>> = holds
        .iter()
        .map(|hold| hold.segments.iter().map(|_| Default::default()).collect())
        .collect();
    let mut of_all = Vec::with_capacity(nearest.len());
    for (point, &hold) in nearest.iter().enumerate() {
        let place = shape.points[point];
        let segments = holds[usize::from(hold)].segments.iter().enumerate();
        let near = segments.map(|(index, segment)| {
            let share = segment.share_nearest(place);
            (segment.at(share).distance(place), share, index)
        });
        let Some((distance, share, index)) = near.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        let half = usize::from(share >= 0.5);
        let sample = (distance, shape.areas[point]);
        distances[usize::from(hold)][index][half].push(sample);
        of_all.push(sample);
    }
    // If no point is nearest to a bone, its capsule has the radius of the others.
    let usual = percentile(&mut of_all).unwrap_or(1.0);
    let fitted = |(hold, halves): (&Hold, Vec<Halves>)| {
        let given = options
            .radii
            .iter()
            .rev()
            .find(|(joint, _)| *joint == usize::from(hold.joint));
        let given = given.map(|&(_, radius)| shape.length_to_unit(radius));
        let capsule = |mut halves: Halves| {
            let [from, to] = [0, 1].map(|half| percentile(&mut halves[half]));
            let from = given.or(from).or(to).unwrap_or(usual);
            let to = given.or(to).unwrap_or(from);
            Capsule { from, to }
        };
        halves.into_iter().map(capsule).collect()
    };
    holds.iter().zip(distances).map(fitted).collect()
}

/// The distance within which a share of the area lies; never zero.
fn percentile(samples: &mut [(f64, f64)]) -> Option<f64> {
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    let area: f64 = samples.iter().map(|sample| sample.1).sum();
    // Points without triangles have no area; if there are only such points, they count equally.
    let share = |of_point: f64| match area > 0.0 {
        true => of_point / area,
        false => 1.0 / samples.len() as f64,
    };
    let mut sum = 0.0;
    let within = samples.iter().find(|(_, of_point)| {
        sum += share(*of_point);
        sum >= INSIDE
    });
    within.map(|(distance, _)| distance.max(1e-6))
}
