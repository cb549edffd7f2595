//! Two bones in closed form: the law of cosines.
//!
//! With a shoulder at `a`, an elbow at `b`, a hand at `c`, bones of lengths `l₁` and `l₂`, and a
//! target at distance `d` from the shoulder, the triangle with these three sides is known:
//!
//! `cos α = (l₁² + d² − l₂²) / (2 l₁ d)` at the shoulder.
//!
//! Only its plane remains to be chosen, which contains the shoulder and the target: the elbow may
//! lie anywhere on a circle. It is the plane of the current pose, rotated by the shortest rotation
//! of the line from shoulder to hand, so that a small step of the target is a small step of the
//! pose; or the plane that contains a *pole*.

use glam::{DMat3, DQuat, DVec3};

/// The positions of three joints in a row, in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoBone {
    /// The shoulder or hip.
    pub root: DVec3,
    /// The elbow or knee.
    pub middle: DVec3,
    /// The hand or foot.
    pub end: DVec3,
}

/// Rotations of two bones about world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// About the root; it moves both bones.
    pub upper: DQuat,
    /// About the middle joint, applied after `upper`.
    pub lower: DQuat,
    /// The resulting position of the end: at the target, or as near as the bones allow.
    pub end: DVec3,
}

/// A chain is straight if the sine of its bend is below this: rounding of files then decides the
/// side.
pub(super) const STRAIGHT: f64 = 1e-3;

/// Lengths below this share of the chain's length count as zero.
const NOTHING: f64 = 1e-9;

impl TwoBone {
    /// Computes the rotations that move the end to a target. The chain is stretched towards a
    /// target that is too far, and folded for one that is too near.
    ///
    /// The middle joint bends towards `pole`, if given and not on the line to the target; otherwise
    /// it stays on its side; a straight chain bends in the direction `when_straight`.
    ///
    /// None if a bone has no length, or numbers are not finite.
    pub fn reach(&self, target: DVec3, pole: Option<DVec3>, when_straight: DVec3) -> Option<Bend> {
        let TwoBone { root, middle, end } = *self;
        let (upper_length, lower_length) = (root.distance(middle), middle.distance(end));
        let span = upper_length + lower_length;
        let shortest = upper_length.min(lower_length);
        if !(shortest > NOTHING * span && span.is_finite() && target.is_finite()) {
            return None;
        }
        let upper_now = (middle - root) / upper_length;
        let lower_now = (end - middle) / lower_length;
        let normal_now = self.normal(upper_now, lower_now, when_straight);
        // The line from root to end; for a chain folded onto itself, the upper bone.
        let line_now = direction(end - root, span).unwrap_or(upper_now);
        let line = direction(target - root, span).unwrap_or(line_now);
        let away = root.distance(target);
        let distance = away.clamp((upper_length - lower_length).abs(), span);
        let by_pole = pole.and_then(|pole| direction((pole - root).reject_from(line), span));
        let normal = match by_pole {
            Some(side) => side.cross(line),
            None => carried(normal_now, line_now, line),
        };
        let side = line.cross(normal);
        let cosine = (upper_length.powi(2) + distance.powi(2) - lower_length.powi(2))
            / (2.0 * upper_length * distance);
        // For bones of equal length with the end back at the root, any direction will do.
        let cosine = if cosine.is_finite() { cosine } else { 0.0 };
        // A stretched or folded chain is a line, regardless of rounding.
        let cosine = if distance == away {
            cosine
        } else {
            cosine.round()
        };
        let cosine = cosine.clamp(-1.0, 1.0);
        let upper_then = line * cosine + side * (1.0 - cosine * cosine).sqrt();
        let end = root + line * distance;
        let lower_then = (end - root - upper_then * upper_length) / lower_length;
        let upper = DQuat::from_mat3(
            &(frame(upper_then, normal) * frame(upper_now, normal_now).transpose()),
        );
        let carried = upper * lower_now;
        let angle = f64::atan2(
            carried.cross(lower_then).dot(normal),
            carried.dot(lower_then),
        );
        let lower = DQuat::from_axis_angle(normal, angle);
        let finite = upper.is_finite() && lower.is_finite();
        finite.then_some(Bend {
            upper: upper.normalize(),
            lower,
            end,
        })
    }

    /// The axis of the bend: with the root at the left, the end at the right and this axis pointing
    /// at the viewer's back, the middle joint is above the line.
    fn normal(&self, upper: DVec3, lower: DVec3, when_straight: DVec3) -> DVec3 {
        let bend = upper.cross(lower);
        if bend.length() > STRAIGHT {
            return bend.normalize();
        }
        let side = when_straight.reject_from_normalized(upper);
        let side = direction(side, when_straight.length());
        side.unwrap_or_else(|| upper.any_orthonormal_vector())
            .cross(upper)
    }

    /// True if the bones are in one line, so that they have no side.
    pub(crate) fn is_straight(&self) -> bool {
        let upper = (self.middle - self.root).normalize_or_zero();
        let lower = (self.end - self.middle).normalize_or_zero();
        upper.cross(lower).length() <= STRAIGHT
    }
}

/// The unit vector, if the vector is long enough to have a direction.
fn direction(vector: DVec3, size: f64) -> Option<DVec3> {
    let length = vector.length();
    (length > NOTHING * size && length.is_finite()).then(|| vector / length)
}

/// Rotates a normal of the line `from` by the shortest rotation to `to`. Among half turns, uses the
/// one in the plane.
fn carried(normal: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let axis = from.cross(to);
    let turned = match direction(axis, 1.0) {
        Some(unit) => {
            let angle = f64::atan2(axis.length(), from.dot(to));
            DQuat::from_axis_angle(unit, angle) * normal
        }
        None => normal,
    };
    // Removes the rounding error of the right angle.
    turned
        .reject_from_normalized(to)
        .try_normalize()
        .unwrap_or_else(|| to.any_orthonormal_vector())
}

/// Axes along a bone and along the normal of the bend.
fn frame(bone: DVec3, normal: DVec3) -> DMat3 {
    DMat3::from_cols(bone, normal, bone.cross(normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: TwoBone = TwoBone {
        root: DVec3::ZERO,
        middle: DVec3::new(1.0, 0.0, -0.1),
        end: DVec3::new(1.8, 0.0, 0.0),
    };

    /// The positions of middle and end after a bend.
    fn bent(bones: &TwoBone, bend: &Bend) -> [DVec3; 2] {
        let middle = bones.root + bend.upper * (bones.middle - bones.root);
        let end = middle + bend.lower * bend.upper * (bones.end - bones.middle);
        [middle, end]
    }

    #[test]
    fn the_end_comes_to_the_target_and_the_elbow_stays_on_its_side() {
        let target = DVec3::new(0.6, 0.3, 0.9);
        let bend = ARM.reach(target, None, DVec3::Y).unwrap();
        let [middle, end] = bent(&ARM, &bend);
        assert!(end.distance(target) < 1e-12 && bend.end.distance(target) < 1e-12);
        assert!((middle.length() - ARM.middle.length()).abs() < 1e-12);
        // Behind the line from shoulder to hand, as before.
        let offset = middle.reject_from(target);
        assert!(offset.z < -0.1, "{offset}");
    }

    #[test]
    fn a_pole_says_where_the_elbow_goes() {
        let target = DVec3::new(1.2, 0.0, 0.0);
        for pole in [DVec3::Y, -DVec3::Y, DVec3::new(0.3, 1.0, 1.0)] {
            let bend = ARM.reach(target, Some(pole), DVec3::Y).unwrap();
            let [middle, end] = bent(&ARM, &bend);
            assert!(end.distance(target) < 1e-12);
            let wanted = pole.reject_from(target).normalize();
            let found = middle.reject_from(target).normalize();
            assert!(found.distance(wanted) < 1e-9, "{found} {wanted}");
        }
        // A pole on the line to the target determines no plane.
        let on_the_line = ARM.reach(target, Some(DVec3::X * 3.0), DVec3::Y);
        assert_eq!(on_the_line, ARM.reach(target, None, DVec3::Y));
    }

    #[test]
    fn a_target_out_of_reach_is_pointed_at() {
        let upper = ARM.middle.length();
        let lower = ARM.end.distance(ARM.middle);
        for (target, distance) in [
            (DVec3::new(3.0, 4.0, 0.0), upper + lower),
            (DVec3::new(0.0, 1e-3, 0.0), upper - lower),
        ] {
            let bend = ARM.reach(target, None, DVec3::Y).unwrap();
            let [_, end] = bent(&ARM, &bend);
            assert!((end.length() - distance).abs() < 1e-12);
            assert!(end.normalize().distance(target.normalize()) < 1e-7);
        }
    }

    #[test]
    fn straight_bones_bend_as_told() {
        let leg = TwoBone {
            root: DVec3::Y,
            middle: DVec3::Y * 0.5,
            end: DVec3::ZERO,
        };
        assert!(leg.is_straight() && !ARM.is_straight());
        let target = DVec3::Y * 0.3;
        let bend = leg.reach(target, None, DVec3::Z).unwrap();
        let [middle, end] = bent(&leg, &bend);
        assert!(middle.z > 0.3 && middle.x.abs() < 1e-12, "{middle}");
        assert!(end.distance(target) < 1e-12);
    }

    #[test]
    fn the_target_where_the_end_is_turns_nothing() {
        let bend = ARM.reach(ARM.end, None, DVec3::Y).unwrap();
        assert!(bend.upper.angle_between(DQuat::IDENTITY) < 1e-7);
        assert!(bend.lower.angle_between(DQuat::IDENTITY) < 1e-7);
    }

    #[test]
    fn awkward_places_stay_finite_and_bones_without_length_are_refused() {
        let even = TwoBone {
            root: DVec3::ZERO,
            middle: DVec3::X,
            end: DVec3::ZERO,
        };
        for target in [DVec3::ZERO, DVec3::X, -DVec3::X * 2.0, DVec3::Y * 1e9] {
            for bones in [even, ARM] {
                let bend = bones.reach(target, Some(DVec3::ZERO), DVec3::ZERO).unwrap();
                let [_, end] = bent(&bones, &bend);
                assert!(end.distance(bend.end) < 1e-9, "{bones:?} {target}");
            }
        }
        let none = TwoBone {
            middle: DVec3::ZERO,
            ..ARM
        };
        assert_eq!(none.reach(DVec3::X, None, DVec3::Y), None);
        assert_eq!(ARM.reach(DVec3::NAN, None, DVec3::Y), None);
    }
}
