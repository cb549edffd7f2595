//! §3.1: delta mush itself.

use super::dense::Dense;
use super::laplacian::Surface;
use super::variants::{NOTHING, Placed, Turn, looseness, outer};
use crate::plain::Posed;
use crate::plain::algebra::{nearest_rotation, weighted_sum};
use glam::{DAffine3, DMat3, DVec3};
use std::collections::BTreeSet;

/// The frames that rotate details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// The normal and one edge of the smoothed surface.
    Tangent,
    /// Eq. (5).
    BestFit,
}

/// Every vertex after eq. (1) to (4), with the rest surface stretched first where the pose
/// stretches.
pub fn delta_mush(
    surface: &Surface,
    smoother: &Dense,
    posed: &Posed,
    frames: Frames,
) -> Vec<Placed> {
    let points = 0..surface.len();
    let stretches: Vec<DAffine3> = points
        .clone()
        .map(|k| posed.phase_one(&surface.rows[k]))
        .collect();
    let rest: Vec<DVec3> = points
        .clone()
        .map(|k| stretches[k].transform_point3(surface.places[k]))
        .collect();
    let blended: Vec<DVec3> = points
        .clone()
        .map(|k| {
            let row = surface.rows[k].iter();
            let blend = weighted_sum(row.map(|&(joint, weight)| (weight, posed.motion(joint))));
            blend.transform_point3(rest[k])
        })
        .collect();
    let smooth = |places: &[DVec3]| -> Vec<DVec3> {
        let at = |i: usize| {
            (0..places.len())
                .map(|k| places[k] * smoother.at(k, i))
                .sum()
        };
        (0..places.len()).map(at).collect()
    };
    // The tangents go to the same neighbours in every pose: those of the surface as it was bound.
    let bound = Smooth {
        surface,
        places: &smooth(&surface.places),
    };
    let (before, after) = (smooth(&rest), smooth(&blended));
    let joints = 0..posed.transforms.len();
    let translations = joints.map(|joint| posed.motion(joint).translation.length());
    let size = translations.chain(blended.iter().map(|place| place.length()));
    let size = size.fold(0.0, f64::max);
    // Shares of joints are baked for tangent frames, and rounded: those of all joints in the patch.
    let joints_of_patch = |i: usize| {
        let members = points.clone().filter(|&k| smoother.at(k, i) != 0.0);
        let joints = members.flat_map(|k| &surface.rows[k]);
        joints
            .map(|&(joint, _)| joint)
            .collect::<BTreeSet<_>>()
            .len()
    };
    let place = |i: usize| {
        let (rotation, amplification) = match frames {
            Frames::Tangent => {
                let towards = bound.farthest_neighbour(i);
                let before = Smooth {
                    surface,
                    places: &before,
                };
                let after = Smooth {
                    surface,
                    places: &after,
                };
                let (from, shaky_before) = before.tangent_frame(i, towards);
                let (to, shaky_after) = after.tangent_frame(i, towards);
                let shaky = shaky_before + shaky_after;
                let amplification = Some(shaky * size).filter(|share| share.is_finite());
                (to * from.transpose(), amplification)
            }
            Frames::BestFit => {
                // Σ B_k (v_k − ṽ)(u_k − ũ)ᵀ, and the same at rest.
                let (mut products, mut covariance) = (DMat3::ZERO, DMat3::ZERO);
                let mut rotations = DMat3::ZERO;
                let mut spread = 0.0;
                for k in points.clone() {
                    let weight = smoother.at(k, i);
                    products += outer(blended[k] - after[i], rest[k] - before[i]) * weight;
                    let place = surface.places[k] - bound.places[i];
                    covariance += outer(place, place) * weight;
                    for &(joint, share) in &surface.rows[k] {
                        rotations += posed.motion(joint).matrix3 * (weight * share);
                    }
                    spread += weight.abs() * rest[k].distance(before[i]);
                }
                products += rotations * surface.missing_thickness(covariance);
                let (rotation, _) = nearest_rotation(products);
                let off = spread * size + NOTHING * size * size;
                let looseness = looseness(rotation, products);
                (rotation, looseness.map(|looseness| looseness * off))
            }
        };
        let turned = DAffine3 {
            matrix3: rotation,
            translation: after[i] - rotation * before[i],
        };
        Placed {
            map: turned * stretches[i],
            place: after[i] + rotation * (rest[i] - before[i]),
            middle: after[i],
            arm: rest[i].distance(before[i]),
            size: size.max(rest[i].length()),
            joints: joints_of_patch(i),
            turn: amplification.map(Turn::blended),
        }
    };
    let places: Vec<Placed> = points.clone().map(place).collect();
    surface
        .point_of
        .iter()
        .map(|&point| places[point])
        .collect()
}

/// A smoothed surface.
struct Smooth<'a> {
    surface: &'a Surface,
    places: &'a [DVec3],
}

impl Smooth<'_> {
    /// Twice the area vectors of the triangles around a point.
    fn normal(&self, point: usize) -> DVec3 {
        let around = self.surface.triangles.iter();
        let around = around.flat_map(|corners| {
            corners
                .iter()
                .filter(|&&corner| corner == point)
                .map(move |_| corners)
        });
        around
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| self.places[corner]);
                (b - a).cross(c - a)
            })
            .sum()
    }

    fn farthest_neighbour(&self, point: usize) -> usize {
        let normal = self.normal(point).normalize_or_zero();
        let along = |other: usize| {
            let edge = self.places[other] - self.places[point];
            (edge - normal * normal.dot(edge)).length()
        };
        let neighbours =
            (0..self.surface.len()).filter(|&other| self.surface.edges.at(point, other) > 0.0);
        neighbours
            .max_by(|&a, &b| along(a).total_cmp(&along(b)))
            .unwrap_or(point)
    }

    /// A tangent, what is perpendicular to it and the normal; and by how much the frame turns if
    /// all places are off by one.
    fn tangent_frame(&self, point: usize, towards: usize) -> (DMat3, f64) {
        let area = self.normal(point);
        let normal = area.normalize_or_zero();
        let edge = self.places[towards] - self.places[point];
        let along = edge - normal * normal.dot(edge);
        let tangent = along.normalize_or_zero();
        let corners = self
            .surface
            .triangles
            .iter()
            .filter(|corners| corners.contains(&point));
        let around: f64 = corners
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| self.places[corner]);
                a.distance(b) + b.distance(c) + c.distance(a)
            })
            .sum();
        let shaky =
            1.0 / along.length() + (edge.length() / along.length() + 1.0) * around / area.length();
        (
            DMat3::from_cols(tangent, normal.cross(tangent), normal),
            shaky,
        )
    }
}
