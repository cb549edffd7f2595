//! Bind matrices that flatten space, or nearly do: what is wrong with them, and where the joints
//! that they bind are taken to be.
//!
//! A joint was bound at the point `p` that its bind matrix takes to the origin, `A p + t = 0`.
//! Along directions that `A` makes much shorter than other joints do, the solution is undetermined
//! or absurdly far away, while the surface that the joint moves is not: its matrix flattens those
//! directions. So the joint is never taken to be much farther away along them than the skeleton is
//! large. Everything that blends about joints stays bounded then, and changes continuously as an
//! axis is scaled to zero.

use crate::polar::symmetric_eigen;
use glam::{DAffine3, DMat3, DVec3};
use std::fmt;

/// Why a bind matrix does not tell where its joint was bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindFault {
    /// All columns are zero.
    Zero,
    /// The columns lie on a line.
    Line,
    /// The columns lie in a plane.
    Plane,
    /// The columns are so short that `f32` does not hold all their digits.
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

/// A direction shorter than this share of the longest is lost: what entries of `f32` round to, and
/// a little more.
const LOST: f64 = 1e-6;

/// What the bind matrices of a skeleton usually are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualBinds {
    /// How long the longest direction becomes: the median over joints.
    length: f64,
    /// Directions that become at least this share of the longest tell where a joint is, however
    /// far away that may be.
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
            // Where positions are stored in a flat box, all matrices are as uneven as that.
            trusted: (0.1 * median(&share)).clamp(1e-4, 1e-2),
        }
    }

    /// How many times the size of the skeleton a joint may be away along a direction that becomes
    /// this share of the longest. Grows without bound towards the shares that are trusted.
    fn reach(&self, share: f64) -> f64 {
        let trust = share / self.trusted;
        // Of a lost direction, rounding decides which way it goes.
        4.0 * (share / LOST).min(1.0) + 10.0 * trust / (1.0 - trust)
    }
}

/// The linear part of a bind matrix, along the directions that it stretches most, less and least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BindMatrix {
    map: DAffine3,
    directions: [DVec3; 3],
    /// What becomes of those directions, and how long that is; falling.
    images: [DVec3; 3],
    lengths: [f64; 3],
}

impl BindMatrix {
    pub(crate) fn of(map: &DAffine3) -> BindMatrix {
        let linear = map.matrix3;
        let columns = [linear.x_axis, linear.y_axis, linear.z_axis];
        let largest = columns.map(|column| column.abs().max_element());
        let size = largest.into_iter().fold(0.0, f64::max);
        // Squares of unit size, whatever the unit of the file is.
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

    /// The point that is taken to the origin, as far as the matrix tells it from a place in a
    /// skeleton of this size.
    pub(crate) fn head_near(&self, place: DVec3, skeleton_size: f64, usual: &UsualBinds) -> DVec3 {
        let longest = self.lengths[0].max(usual.length);
        let seen = self.map.transform_point3(place);
        // The joint is at least so far from the place.
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
            // Directions come from squares, which have twice as few digits.
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
            // Continuously, up to where the matrix is trusted.
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
