//! The thickness of the surface around a joint, compared with rest: volume loss and bulging.
//!
//! The thickness is the distance to the bones that meet at the joint. They are two rays from it:
//! back along the parent's bone, and forward along the joint's own. In a pose each ray moves with
//! its own joint, as the artist sees the bones.

use super::region::JointRegion;
use super::surface::MeasuredSurface;
use crate::pose::Palette;
use crate::skeleton::BindBone;
use crate::transform::Affine;
use glam::DVec3;

/// Points closer to the bone than this share of the region's radius are ignored, as where a collar
/// bone lies under the skin: the bone is not inside the flesh there, and a small move makes a large
/// ratio that does not measure thickness.
const LEAST_DISTANCE: f64 = 0.25;

/// A region shorter than this share of the extent cannot be cut into stations.
const LEAST_LENGTH: f64 = 1e-6;

/// Cuts within this many radii of the joint are near the joint.
const NEAR_JOINT: f64 = 1.5;

/// The thickness around one joint in one pose, as ratios posed / rest: below 1 is thinner, above 1
/// is thicker.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct JointRadius {
    /// The joint.
    pub joint: usize,
    /// Mean distance from the bones at rest over the region's points, in the rig's units.
    pub rest_radius: f64,
    /// Cuts through the region along the bones, in rising order of [`Station::along`]. Never
    /// empty.
    pub stations: Vec<Station>,
    /// The least mean ratio of a station: at 0.26, the limb has lost three quarters of its radius
    /// at its thinnest.
    pub collapse: f64,
    /// The largest ratio of any point of the region: at 1.2, some point bulges by a fifth.
    pub bulge: f64,
    /// The mean ratio of the station nearest to the joint's own plane.
    pub at_joint: f64,
}

/// A plane cut through the rest surface, and the same line on the posed surface.
///
/// It runs over the triangles, not from vertex to vertex, so it measures the surface as rendered:
/// between two rings of vertices rotated by `α` against each other, the flat triangles lie inside,
/// by a factor of down to `cos(α/2)`, even if every vertex keeps its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Station {
    /// The distance of the cut from the joint along its axis (the middle direction of the two
    /// bones) in the rig's units at rest; negative on the parent's side.
    pub along: f64,
    /// The least ratio on the cut.
    pub least: f64,
    /// The mean ratio on the cut.
    pub mean: f64,
    /// The largest ratio on the cut.
    pub largest: f64,
}

impl JointRadius {
    /// The largest ratio of a cut, averaged over the cuts near the joint (within 1.5 radii), so
    /// that it does not depend on a single point; 1 if no cut is that near.
    pub fn mean_bulge(&self) -> f64 {
        let near = |station: &&Station| station.along.abs() <= NEAR_JOINT * self.rest_radius;
        let (sum, count) = self
            .stations
            .iter()
            .filter(near)
            .fold((0.0, 0), |(sum, count), station| {
                (sum + station.largest, count + 1)
            });
        if count > 0 {
            sum / f64::from(count)
        } else {
            1.0
        }
    }
}

/// Two rays, and the gap between their starts if a pose moves the joint out of its socket.
#[derive(Clone, Copy, Debug)]
struct Bones {
    parent_end: DVec3,
    towards_parent: DVec3,
    own_start: DVec3,
    towards_tail: DVec3,
}

impl Bones {
    fn distance(&self, point: DVec3) -> f64 {
        let gap = self.own_start - self.parent_end;
        let back = distance_to_line(point, self.parent_end, self.towards_parent, f64::INFINITY);
        let on = distance_to_line(point, self.own_start, self.towards_tail, f64::INFINITY);
        let between = distance_to_line(point, self.parent_end, gap, 1.0);
        back.min(on).min(between)
    }

    fn posed(parent: &Affine, own: &Affine, parent_bone: &BindBone, own_bone: &BindBone) -> Bones {
        let parent_end = map(parent, own_bone.head);
        let own_start = map(own, own_bone.head);
        Bones {
            parent_end,
            towards_parent: map(parent, parent_bone.head) - parent_end,
            own_start,
            towards_tail: map(own, own_bone.tail) - own_start,
        }
    }
}

/// A point on an edge, `(1 − t) a + t b`, and its distance from the bones at rest.
#[derive(Clone, Copy, Debug)]
struct Sample {
    a: usize,
    b: usize,
    t: f64,
    rest_distance: f64,
}

impl Sample {
    fn at(&self, points: &[DVec3]) -> DVec3 {
        points[self.a].lerp(points[self.b], self.t)
    }

    fn ratio(&self, points: &[DVec3], bones: &Bones) -> f64 {
        bones.distance(self.at(points)) / self.rest_distance
    }
}

/// The cuts of a region, computed once.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    joint: usize,
    parent: usize,
    own_bone: BindBone,
    parent_bone: BindBone,
    rest_radius: f64,
    /// (along, the points on the cut); none is empty.
    cuts: Vec<(f64, Vec<Sample>)>,
    /// Every point of the region.
    points: Vec<Sample>,
}

impl Sections {
    /// `None` if no plane cuts the region: no bone has a length, or no edge is entirely inside.
    pub(super) fn new(
        surface: &MeasuredSurface,
        region: &JointRegion,
        bones: &[BindBone],
    ) -> Option<Sections> {
        let own_bone = *bones.get(region.joint)?;
        let parent_bone = *bones.get(region.other)?;
        let head = own_bone.head;
        let rest_bones = Bones::posed(
            &Affine::IDENTITY,
            &Affine::IDENTITY,
            &parent_bone,
            &own_bone,
        );
        let on = rest_bones.towards_tail.normalize_or_zero();
        let back = rest_bones.towards_parent.normalize_or_zero();
        // Bones that fold back onto each other have no middle direction.
        let axis = (on - back).try_normalize().or(on.try_normalize())?;
        let along = |point: usize| (surface.rest[point] - head).dot(axis);
        let distance = |point: DVec3| rest_bones.distance(point);

        let distances = region.points.iter().map(|&p| distance(surface.rest[p]));
        let rest_radius = distances.sum::<f64>() / region.points.len() as f64;
        let sample = |a: usize, b: usize, t: f64| {
            let rest_distance = distance(surface.rest[a].lerp(surface.rest[b], t));
            let sample = Sample {
                a,
                b,
                t,
                rest_distance,
            };
            (rest_distance > LEAST_DISTANCE * rest_radius).then_some(sample)
        };

        let ends = region.points.iter().map(|&point| along(point));
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let length = high - low;
        // A length that is lost in the rounding of a very distant joint also counts as none.
        if !(length.is_finite() && length > LEAST_LENGTH * surface.extent) {
            return None;
        }
        // Two cuts per radius, including the joint's own plane, but neither a handful nor hundreds.
        let spacing = (0.5 * rest_radius).clamp(length / 30.0, length / 4.0);
        let first = (low / spacing).ceil();
        let count = ((high / spacing).floor() - first + 1.0) as usize;
        let cut = |index: usize| {
            let place = (first + index as f64) * spacing;
            let crossing = |&[a, b]: &[usize; 2]| {
                let (at_a, at_b) = (along(a), along(b));
                ((at_a < place) != (at_b < place))
                    .then(|| sample(a, b, (place - at_a) / (at_b - at_a)))
                    .flatten()
            };
            let samples: Vec<Sample> = region.edges.iter().filter_map(crossing).collect();
            (!samples.is_empty()).then_some((place, samples))
        };
        let cuts: Vec<_> = (0..count).filter_map(cut).collect();
        if cuts.is_empty() {
            return None;
        }
        let points = region.points.iter().filter_map(|&p| sample(p, p, 0.0));
        Some(Sections {
            joint: region.joint,
            parent: region.other,
            own_bone,
            parent_bone,
            rest_radius,
            cuts,
            points: points.collect(),
        })
    }

    pub(super) fn joint(&self) -> usize {
        self.joint
    }

    pub(super) fn measure(&self, points: &[DVec3], palette: &Palette) -> JointRadius {
        let posed_from_bind = |joint: usize| {
            let found = palette.posed_from_bind.get(joint);
            found.unwrap_or(&Affine::IDENTITY)
        };
        let bones = Bones::posed(
            posed_from_bind(self.parent),
            posed_from_bind(self.joint),
            &self.parent_bone,
            &self.own_bone,
        );
        let station = |(along, samples): &(f64, Vec<Sample>)| {
            let (mut least, mut sum, mut largest) = (f64::INFINITY, 0.0, 0.0f64);
            for ratio in samples.iter().map(|sample| sample.ratio(points, &bones)) {
                least = least.min(ratio);
                largest = largest.max(ratio);
                sum += ratio;
            }
            Station {
                along: *along,
                least,
                mean: sum / samples.len() as f64,
                largest,
            }
        };
        let stations: Vec<Station> = self.cuts.iter().map(station).collect();
        let ratios = self.points.iter().map(|point| point.ratio(points, &bones));
        let nearest = stations
            .iter()
            .min_by(|a, b| a.along.abs().total_cmp(&b.along.abs()));
        JointRadius {
            joint: self.joint,
            rest_radius: self.rest_radius,
            collapse: stations
                .iter()
                .fold(f64::INFINITY, |l, station| l.min(station.mean)),
            bulge: ratios.fold(0.0, f64::max),
            at_joint: nearest.map_or(1.0, |station| station.mean),
            stations,
        }
    }
}

/// The distance of a point from `start + t direction`, `0 ≤ t ≤ last`; from `start` if there is no
/// direction.
fn distance_to_line(point: DVec3, start: DVec3, direction: DVec3, last: f64) -> f64 {
    let length_squared = direction.length_squared();
    let t = if length_squared > 0.0 {
        ((point - start).dot(direction) / length_squared).clamp(0.0, last)
    } else {
        0.0
    };
    point.distance(start + direction * t)
}

/// Maps a point in double precision.
fn map(affine: &Affine, point: DVec3) -> DVec3 {
    let [x, y, z] = affine.rows.map(|row| row.as_dvec4().dot(point.extend(1.0)));
    DVec3::new(x, y, z)
}
