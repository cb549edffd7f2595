//! Bind matrices that flatten space, or nearly do: the kinds of faults, and estimated positions of
//! joints that are bound by them.
//!
//! A joint was bound at the point `p` that its bind matrix maps to the origin, `A p + t = 0`. Along
//! directions that `A` shortens much more than other joints do, the solution is undetermined or
//! absurdly far away, although the surface that the joint moves is not: its matrix flattens those
//! directions. So the joint is limited to a distance along them that is proportional to the size of
//! the skeleton. Then all methods that blend about joints stay bounded, and change continuously as
//! an axis is scaled to zero.

use crate::polar::symmetric_eigen;
use glam::{DAffine3, DMat3, DVec3};
use std::fmt;

/// The reason why a bind matrix does not determine where its joint was bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum BindFault {
    /// All columns are zero.
    Zero,
    /// The columns lie on a line.
    Line,
    /// The columns lie in a plane.
    Plane,
    /// The columns are so short that `f32` loses digits (subnormal numbers).
    Subnormal,
}

impl BindFault {
    /// True if the matrix cannot be inverted, rather than being merely inaccurate.
    pub(crate) fn is_singular(self) -> bool {
        self != BindFault::Subnormal
    }
}

impl fmt::Display for BindFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            BindFault::Zero => "is singular (its columns are all zero)",
            BindFault::Line => "is singular (its columns lie on a line)",
            BindFault::Plane => "is singular (its columns lie in a plane)",
            BindFault::Subnormal => {
                "is inaccurate (its columns are shorter than 1.2e-38, the least that 32-bit floats \
                 hold in full)"
            }
        })
    }
}

/// A direction shorter than this share of the longest is lost: the rounding of `f32` entries, with
/// a margin.
const LOST: f64 = 1e-6;

/// Typical bind matrices of a skeleton.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualBinds {
    /// The length of the longest direction after mapping: the median over joints.
    length: f64,
    /// Directions that are mapped to at least this share of the longest determine the position of a
    /// joint, however far away it may be.
    trusted: f64,
}

impl UsualBinds {
    pub(crate) fn of(binds: &[BindMatrix]) -> UsualBinds {
        let median = |of: &dyn Fn(&BindMatrix) -> f64| {
            let mut values: Vec<f64> = binds.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        let share = |bind: &BindMatrix| match bind.lengths {
            [longest, _, shortest] if longest > 0.0 => shortest / longest,
            _ => 0.0,
        };
        UsualBinds {
            length: median(&|bind| bind.lengths[0]),
            // If positions are stored in a flat box, all matrices are equally uneven.
            trusted: (0.1 * median(&share)).clamp(1e-4, 1e-2),
        }
    }

    /// The largest distance of a joint, in sizes of the skeleton, along a direction that is mapped
    /// to this share of the longest. Grows without bound towards trusted shares.
    fn reach(&self, share: f64) -> f64 {
        let trust = share / self.trusted;
        // The sign of a lost direction is decided by rounding.
        4.0 * (share / LOST).min(1.0) + 10.0 * trust / (1.0 - trust)
    }
}

/// The linear part of a bind matrix, along the directions of its singular values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BindMatrix {
    map: DAffine3,
    directions: [DVec3; 3],
    /// The images of these directions, with falling lengths.
    images: [DVec3; 3],
    lengths: [f64; 3],
}

impl BindMatrix {
    pub(crate) fn of(map: &DAffine3) -> BindMatrix {
        let linear = map.matrix3;
        let columns = [linear.x_axis, linear.y_axis, linear.z_axis];
        let largest = columns.map(|column| column.abs().max_element());
        let size = largest.into_iter().fold(0.0, f64::max);
        // Scaled to unit size, whatever the unit of the file is.
        let unit = match size > 0.0 {
            true => DMat3::from_cols_array(&linear.to_cols_array().map(|entry| entry / size)),
            false => DMat3::ZERO,
        };
        let axes = symmetric_eigen(&(unit.transpose() * unit)).1;
        let directions = [axes.x_axis, axes.y_axis, axes.z_axis];
        let unit_images = directions.map(|direction| unit * direction);
        BindMatrix {
            map: *map,
            directions,
            images: unit_images.map(|image| image * size),
            lengths: unit_images.map(|image| image.length() * size),
        }
    }

    pub(crate) fn fault(&self) -> Option<BindFault> {
        let [longest, middle, shortest] = self.lengths;
        if longest == 0.0 {
            Some(BindFault::Zero)
        } else if middle <= LOST * longest {
            Some(BindFault::Line)
        } else if shortest <= LOST * longest {
            Some(BindFault::Plane)
        } else if longest < f64::from(f32::MIN_POSITIVE) {
            Some(BindFault::Subnormal)
        } else {
            None
        }
    }

    /// The bind position of the joint, if the matrix is well-conditioned enough to determine it.
    pub(crate) fn well_determined_head(&self, usual: &UsualBinds) -> Option<DVec3> {
        let [longest, _, shortest] = self.lengths;
        let is_determined = shortest >= usual.trusted * longest.max(usual.length);
        let head = self.map.inverse().translation;
        (is_determined && head.is_finite()).then_some(head)
    }

    /// The point mapped to the origin, as far as the matrix distinguishes it from a position in a
    /// skeleton of this size.
    pub(crate) fn head_near(&self, place: DVec3, skeleton_size: f64, usual: &UsualBinds) -> DVec3 {
        let longest = self.lengths[0].max(usual.length);
        let seen = self.map.transform_point3(place);
        // The joint is at least this far from the position.
        let size = skeleton_size.max(seen.length() / longest);
        let steps = (0..3).map(|at| {
            let length = self.lengths[at];
            let step = -self.images[at].dot(seen) / (length * length);
            let share = length / longest;
            let step = match share < usual.trusted {
                true => {
                    let farthest = usual.reach(share) * size;
                    step.max(-farthest).min(farthest)
                }
                false => step,
            };
            self.directions[at] * step
        });
        let steps = steps.filter(|step| step.is_finite());
        place + steps.sum::<DVec3>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    const USUAL: UsualBinds = UsualBinds {
        length: 1.0,
        trusted: 1e-2,
    };

    fn turned(scale: DVec3, head: DVec3) -> DAffine3 {
        let turn = |angle: f64, axis: DVec3| DQuat::from_axis_angle(axis.normalize(), angle);
        let scale = DAffine3::from_scale(scale);
        let before = DAffine3::from_quat(turn(0.7, DVec3::new(1.0, 2.0, 3.0)));
        let after = DAffine3::from_quat(turn(1.9, DVec3::new(-1.0, 0.5, 2.0)));
        after * scale * before * DAffine3::from_translation(-head)
    }

    #[test]
    fn lost_directions_are_counted_in_any_unit() {
        for unit in [1e-200, 1e-30, 1.0, 1e30, 1e150] {
            let fault = |x: f64, y: f64, z: f64| {
                BindMatrix::of(&turned(DVec3::new(x, y, z) * unit, DVec3::X)).fault()
            };
            let whole = (unit < 1e-40).then_some(BindFault::Subnormal);
            assert_eq!(fault(1.0, 2.0, -1.0), whole);
            assert_eq!(fault(1.0, 2.0, 1e-5), whole);
            assert_eq!(fault(1.0, 1e-7, 2.0), Some(BindFault::Plane));
            assert_eq!(fault(1e-9, 2.0, 0.0), Some(BindFault::Line));
            assert_eq!(fault(0.0, 0.0, 0.0), Some(BindFault::Zero));
        }
    }

    #[test]
    fn a_joint_within_the_skeleton_is_found_along_nearly_lost_directions() {
        let head = DVec3::new(0.5, -1.0, 2.0);
        for least in [1.0, 1e-2, 1e-4, 1e-6] {
            let matrix = BindMatrix::of(&turned(DVec3::new(1.0, least, 3.0), head));
            let found = matrix.head_near(DVec3::new(1.0, 1.0, 1.0), 2.0, &USUAL);
            // Directions come from squares, which have half the digits.
            let tolerance = 1e-9 + 1e-15 / (least * least);
            assert!(found.distance(head) < tolerance, "{least}: {found}");
        }
    }

    #[test]
    fn a_joint_is_never_far_along_a_lost_direction() {
        let mut before: Option<DVec3> = None;
        for step in 0..4000 {
            let least = 10f64.powf(-2.0 - f64::from(step) * 0.005);
            let mut map = turned(DVec3::new(1.0, least, 1.0), DVec3::ZERO);
            map.translation = DVec3::new(0.3, 0.4, 0.5);
            let found = BindMatrix::of(&map).head_near(DVec3::ZERO, 1.0, &USUAL);
            assert!(least > 1e-3 || found.length() < 6.0, "{least}: {found}");
            // Changes continuously, up to where the matrix is trusted.
            if let Some(before) = before.filter(|_| least < 5e-3) {
                assert!(before.distance(found) < 0.5, "{least}: {before} {found}");
            }
            before = Some(found);
        }
        let mut flat = turned(DVec3::new(1.0, 0.0, 1.0), DVec3::ZERO);
        flat.translation = DVec3::new(0.3, 0.4, 0.5);
        let flat = BindMatrix::of(&flat).head_near(DVec3::ZERO, 1.0, &USUAL);
        assert!(flat.length() < 6.0, "{flat}");
        let nothing = BindMatrix::of(&DAffine3::from_scale(DVec3::ZERO));
        assert_eq!(nothing.head_near(DVec3::X, 1.0, &USUAL), DVec3::X);
    }
}
