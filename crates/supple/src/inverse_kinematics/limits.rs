//! Limits of joint rotations.

use super::two_bone::STRAIGHT;
use crate::rotation::swing_and_twist;
use crate::skeleton::{Skeleton, same_place};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// The limit of a joint's rotation, relative to its rest pose. Angles are in radians, axes in the
/// joint's own frame at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Limit {
    /// Rotation about one axis only, as in an elbow or a knee.
    Hinge {
        /// The axis of rotation.
        axis: DVec3,
        /// The least and the largest angle, each within half a turn.
        range: [f64; 2],
    },
    /// Swing within a cone, and twist about the bone, as in a shoulder or a neck.
    Cone {
        /// The direction of the bone.
        axis: DVec3,
        /// The largest angle between the bone and its rest direction.
        swing: f64,
        /// The least and the largest angle of the twist, each within half a turn.
        twist: [f64; 2],
    },
}

/// An angle this close to its bound counts as being at the bound.
const AT_BOUND: f64 = 1e-7;

/// One of three perpendicular directions of a joint's rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Direction {
    /// A unit axis in the joint's frame at rest.
    pub(super) axis: DVec3,
    /// The angles by which the joint can rotate up to its bounds, backwards and forwards, in
    /// radians.
    pub(super) room: [f64; 2],
    /// The curvature of the bound of the joint's first direction along this one: at that bound,
    /// a turn by `t` this way leaves it by `½ curvature t²`.
    pub(super) curvature_of_bound: f64,
}

impl Limit {
    /// A hinge about the axis of the bend at rest, between the bones before and behind a node:
    /// larger angles bend more, 0 is rest. None if the bones are in one line, so that there is no
    /// axis.
    ///
    /// `end` is a node below, in whose direction the bone behind lies.
    pub fn elbow(skeleton: &Skeleton, node: usize, end: usize, range: [f64; 2]) -> Option<Limit> {
        let resting = Resting::of(skeleton, node)?;
        let (above, below) = (resting.above()?, resting.toward(end)?);
        let bend = above.cross(below);
        let axis = axis_in_parent(resting.world_from_parent, bend.normalize());
        (bend.length() > STRAIGHT).then(|| Limit::Hinge {
            axis: resting.rotation.conjugate() * axis,
            range,
        })
    }

    /// A cone around the rest direction of the bone from a node towards `end`, a node below. None
    /// if there is no such bone.
    pub fn shoulder(
        skeleton: &Skeleton,
        node: usize,
        end: usize,
        swing: f64,
        twist: [f64; 2],
    ) -> Option<Limit> {
        let resting = Resting::of(skeleton, node)?;
        let bone = without_size(resting.world_from_parent).inverse() * resting.toward(end)?;
        let axis = resting.rotation.conjugate() * bone.try_normalize()?;
        Some(Limit::Cone { axis, swing, twist })
    }

    /// The problem of its numbers, if any.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let (axis, range, swing) = match self {
            Limit::Hinge { axis, range } => (axis, range, 0.0),
            Limit::Cone { axis, swing, twist } => (axis, twist, *swing),
        };
        let [least, most] = *range;
        if axis.try_normalize().is_none() {
            Some("its axis has no direction")
        } else if !(-PI..=PI).contains(&least) || !(-PI..=PI).contains(&most) {
            Some("its angles are not within a half turn each way")
        } else if least > most {
            Some("its range ends before it begins")
        } else if !(0.0..=PI).contains(&swing) {
            Some("the angle of its cone is not from zero to a half turn")
        } else {
            None
        }
    }

    /// The allowed rotation nearest to a rotation from rest: each angle is moved into its range
    /// separately.
    pub(super) fn nearest(&self, from_rest: DQuat) -> DQuat {
        match *self {
            Limit::Hinge { axis, range } => {
                let axis = axis.normalize_or_zero();
                let (_, angle) = swing_and_twist(from_rest, Some(axis));
                DQuat::from_axis_angle(axis, into_range(angle, range))
            }
            Limit::Cone { axis, swing, twist } => {
                let axis = axis.normalize_or_zero();
                let (leaning, angle) = swing_and_twist(from_rest, Some(axis));
                let turned = DQuat::from_axis_angle(axis, into_range(angle, twist));
                let leans_by = angle_of(leaning);
                let about = leaning.xyz() * leaning.w.signum();
                let leaning = match about.try_normalize() {
                    Some(about) if leans_by > swing => DQuat::from_axis_angle(about, swing),
                    _ => leaning,
                };
                leaning * turned
            }
        }
    }

    /// The directions of rotation from a rotation within the limit, and the room in each.
    ///
    /// With `a` the axis, `a'` its rotated direction, and a small rotation ω: the swing grows by `ω
    /// · (a × a')/|a × a'|`, and the twist by `ω · (a + a')/(1 + a·a')`, since rotations about
    /// either of `a` and `a'` are pure twist. These two and their cross product are perpendicular,
    /// so that each bound limits one direction and no other.
    ///
    /// Along the third direction, the axis moves around the cone, but in a straight line, and
    /// leaves it: with the swing φ, by `½ cot(φ/2)` per half of the square of the rotation. To
    /// second order the twist stays the same.
    pub(super) fn directions(&self, from_rest: DQuat) -> [Direction; 3] {
        let (axis, swing, [least, most]) = match *self {
            Limit::Hinge { axis, range } => (axis, 0.0, range),
            Limit::Cone { axis, swing, twist } => (axis, swing, twist),
        };
        let axis = axis.normalize_or(DVec3::X);
        let (leaning, angle) = swing_and_twist(from_rest, Some(axis));
        let leant = leaning * axis;
        let lean = axis
            .cross(leant)
            .try_normalize()
            .unwrap_or_else(|| axis.any_orthonormal_vector());
        let along = (axis + leant).reject_from_normalized(lean);
        let along = along
            .try_normalize()
            .unwrap_or_else(|| lean.any_orthonormal_vector());
        let around = lean.cross(along);
        let leans_by = angle_of(leaning);
        let (lean_room, around_room) = if swing <= AT_BOUND {
            ([0.0; 2], [0.0; 2])
        } else if swing < PI {
            ([f64::INFINITY, room(swing - leans_by)], UNBOUNDED)
        } else {
            (UNBOUNDED, UNBOUNDED)
        };
        let twist_room = if most - least >= TAU - AT_BOUND {
            UNBOUNDED
        } else {
            // A rotation by ω along the bisector of a and a' twists by ω / cos(φ/2).
            let turn_per_twist = (0.5 * leans_by).cos();
            [angle - least, most - angle].map(|twist| room(twist * turn_per_twist))
        };
        let curvature_of_bound = match lean_room[1].is_finite() && swing > AT_BOUND {
            true => 0.5 / (0.5 * swing).tan(),
            false => 0.0,
        };
        [
            (lean, lean_room, 0.0),
            (along, twist_room, 0.0),
            (around, around_room, curvature_of_bound),
        ]
        .map(|(axis, room, curvature_of_bound)| Direction {
            axis,
            room,
            curvature_of_bound,
        })
    }
}

const UNBOUNDED: [f64; 2] = [f64::INFINITY; 2];

/// The room up to a bound at this distance.
fn room(distance: f64) -> f64 {
    match distance <= AT_BOUND {
        true => 0.0,
        false => distance,
    }
}

/// A node and its bones in the rest pose.
struct Resting<'a> {
    skeleton: &'a Skeleton,
    node: usize,
    places: Vec<DVec3>,
    world_from_parent: DMat3,
    rotation: DQuat,
}

impl<'a> Resting<'a> {
    fn of(skeleton: &'a Skeleton, node: usize) -> Option<Resting<'a>> {
        let found = skeleton.nodes().get(node)?;
        let world = skeleton.rest_world();
        Some(Resting {
            skeleton,
            node,
            places: world.iter().map(|world| world.translation).collect(),
            world_from_parent: found
                .parent
                .map_or(DMat3::IDENTITY, |parent| world[parent].matrix3),
            rotation: found.rest.rotation(),
        })
    }

    /// The nodes above a node, upwards.
    fn up(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = |node: &usize| self.skeleton.nodes().get(*node)?.parent;
        std::iter::successors(parent(&node), parent)
    }

    /// The direction from the nearest node above that is apart from this one.
    fn above(&self) -> Option<DVec3> {
        let here = self.places[self.node];
        self.up(self.node)
            .find_map(|above| self.direction(self.places[above], here))
    }

    /// The direction to the nearest node that is apart from this one, on the way down to an end.
    fn toward(&self, end: usize) -> Option<DVec3> {
        let mut way: Vec<usize> = [end].into_iter().chain(self.up(end)).collect();
        let place = way.iter().position(|&node| node == self.node)?;
        way.truncate(place);
        let here = self.places[self.node];
        let mut down = way.into_iter().rev();
        down.find_map(|below| self.direction(here, self.places[below]))
    }

    fn direction(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        let apart = from.distance(to) > same_place(&self.places);
        (to - from).try_normalize().filter(|_| apart)
    }
}

impl Direction {
    /// The axes of a joint that turns freely.
    pub(super) const FREE: [Direction; 3] = [
        Direction::free(DVec3::X),
        Direction::free(DVec3::Y),
        Direction::free(DVec3::Z),
    ];

    const fn free(axis: DVec3) -> Direction {
        Direction {
            axis,
            room: UNBOUNDED,
            curvature_of_bound: 0.0,
        }
    }

    /// The room of the joint in the direction of a step.
    pub(super) fn room_toward(&self, step: f64) -> f64 {
        self.room[usize::from(step > 0.0)]
    }
}

/// A rotation axis in world space, converted to the frame of a parent. Exact unless the parent is
/// scaled non-uniformly.
pub(super) fn axis_in_parent(world_from_parent: DMat3, axis: DVec3) -> DVec3 {
    let world_from_parent = without_size(world_from_parent);
    let seen = (world_from_parent.transpose() * axis).normalize_or_zero();
    // Mirroring reverses the sense of rotations.
    seen * world_from_parent.determinant().signum()
}

/// A matrix divided by a power of two, so that its largest entry is between 1 and 2: products of
/// its entries neither overflow nor vanish, and no digit is lost.
pub(super) fn without_size(matrix: DMat3) -> DMat3 {
    matrix * size(matrix).recip()
}

/// The inverse of a map whose determinant may be beyond the range of numbers.
pub(super) fn inverse_of_any_size(map: DAffine3) -> DAffine3 {
    let matrix3 = without_size(map.matrix3).inverse() * size(map.matrix3).recip();
    DAffine3 {
        matrix3,
        translation: -(matrix3 * map.translation),
    }
}

/// The power of two just below the largest entry; one if there is no such power.
fn size(matrix: DMat3) -> f64 {
    const EXPONENT: u64 = 0x7FF << 52;
    let entries = matrix.to_cols_array().into_iter().map(f64::abs);
    let largest = entries.fold(0.0, f64::max);
    let power = f64::from_bits(largest.to_bits() & EXPONENT);
    if power > 0.0 && power.is_finite() {
        power
    } else {
        1.0
    }
}

/// The angle of a rotation, from 0 to π.
pub(super) fn angle_of(rotation: DQuat) -> f64 {
    2.0 * f64::atan2(rotation.xyz().length(), rotation.w.abs())
}

/// The nearest angle of a range, on the circle.
fn into_range(angle: f64, [least, most]: [f64; 2]) -> f64 {
    if (least..=most).contains(&angle) {
        return angle;
    }
    let away = |bound: f64| {
        (angle - bound)
            .rem_euclid(TAU)
            .min((bound - angle).rem_euclid(TAU))
    };
    if away(least) < away(most) {
        least
    } else {
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONE: Limit = Limit::Cone {
        axis: DVec3::X,
        swing: 0.5,
        twist: [-0.3, 0.2],
    };
    const HINGE: Limit = Limit::Hinge {
        axis: DVec3::Y,
        range: [0.0, 2.5],
    };

    #[test]
    fn axes_are_found_in_parents_of_any_size() {
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
        let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        for matrix in [turn, turn * mirror] {
            let expected = axis_in_parent(matrix, DVec3::Y);
            assert!((expected.length() - 1.0).abs() < 1e-12);
            for exponent in [-1000, -600, -300, 200, 300, 600, 1000] {
                let sized = matrix * 2f64.powi(exponent);
                assert_eq!(axis_in_parent(sized, DVec3::Y), expected, "2^{exponent}");
            }
        }
    }

    #[test]
    fn what_is_allowed_stays_and_what_is_not_comes_to_the_border() {
        let allowed = DQuat::from_rotation_z(0.4) * DQuat::from_rotation_x(-0.2);
        assert!(CONE.nearest(allowed).angle_between(allowed) < 1e-12);
        let far = DQuat::from_rotation_z(1.4) * DQuat::from_rotation_x(-2.0);
        let expected = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_x(-0.3);
        assert!(CONE.nearest(far).dot(expected).abs() > 1.0 - 1e-12);
        let bent = DQuat::from_rotation_y(3.0) * DQuat::from_rotation_z(0.1);
        let (_, angle) = swing_and_twist(HINGE.nearest(bent), Some(DVec3::Y));
        assert!((angle - 2.5).abs() < 1e-12, "{angle}");
        // Across half a turn, it is nearer to the far end.
        assert_eq!(into_range(-3.1, [0.0, 2.5]), 2.5);
        assert_eq!(into_range(-0.1, [0.0, 2.5]), 0.0);
    }

    #[test]
    fn directions_change_one_angle_each() {
        let wide = Limit::Cone {
            axis: DVec3::new(0.0, 3.0, 4.0),
            swing: 3.0,
            twist: [-3.0, 3.0],
        };
        let axis = DVec3::new(0.0, 0.6, 0.8);
        let measure = |rotation: DQuat| {
            let (leaning, twist) = swing_and_twist(rotation, Some(axis));
            [angle_of(leaning), twist]
        };
        for from_rest in [
            DQuat::from_rotation_x(0.9) * DQuat::from_axis_angle(axis, -1.2),
            DQuat::from_axis_angle(DVec3::new(1.0, -0.8, 0.6).normalize(), 2.0),
        ] {
            let step = 1e-6;
            let rates = wide.directions(from_rest).map(|direction| {
                let after = DQuat::from_axis_angle(direction.axis, step) * from_rest;
                let before = DQuat::from_axis_angle(direction.axis, -step) * from_rest;
                let (after, before) = (measure(after), measure(before));
                [0, 1].map(|angle| (after[angle] - before[angle]) / (2.0 * step))
            });
            let [lean, along, around] = rates;
            assert!((lean[0] - 1.0).abs() < 1e-5 && lean[1].abs() < 1e-5);
            assert!(along[0].abs() < 1e-5 && along[1] > 0.5);
            assert!(around[0].abs() < 1e-5 && around[1].abs() < 1e-5);
        }
    }

    #[test]
    fn around_the_cone_is_out_of_it_by_the_square() {
        let step = 1e-4;
        for lean in [0.5, 1.3, 2.6] {
            let cone = Limit::Cone {
                axis: DVec3::X,
                swing: lean,
                twist: [-0.3, 0.2],
            };
            let from_rest = DQuat::from_rotation_z(lean) * DQuat::from_rotation_x(-0.3);
            let around = cone.directions(from_rest)[2];
            let after = DQuat::from_axis_angle(around.axis, step) * from_rest;
            let (leaning, twist) = swing_and_twist(after, Some(DVec3::X));
            let curvature = 2.0 * (angle_of(leaning) - lean) / (step * step);
            let expected = around.curvature_of_bound;
            assert!(
                (curvature - expected).abs() < 1e-3,
                "{curvature} {around:?}"
            );
            assert!((twist + 0.3).abs() < 1e-10);
        }
    }

    #[test]
    fn the_room_ends_at_the_bounds() {
        let free = f64::INFINITY;
        let at_both = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_x(-0.3);
        let [lean, along, around] = CONE.directions(at_both);
        assert_eq!(lean.room, [free, 0.0]);
        assert_eq!((along.room[0], around.room), (0.0, [free; 2]));
        let bent = DQuat::from_rotation_y(1.0);
        let [lean, along, around] = HINGE.directions(bent);
        assert_eq!((lean.room, around.room), ([0.0; 2], [0.0; 2]));
        assert!((along.room_toward(-1.0) - 1.0).abs() < 1e-12);
        assert!((along.room_toward(1.0) - 1.5).abs() < 1e-12);
        assert!(along.axis.distance(DVec3::Y) < 1e-12);
        // To first order; the bounds of a cone are near here.
        let near = DQuat::from_rotation_z(0.499) * DQuat::from_rotation_x(0.199);
        let [lean, along, _] = CONE.directions(near);
        for (direction, expected) in [(lean, [0.5, 0.199]), (along, [0.499, 0.2])] {
            let turned = DQuat::from_axis_angle(direction.axis, direction.room[1]) * near;
            let (leaning, twist) = swing_and_twist(turned, Some(DVec3::X));
            let found = [angle_of(leaning), twist];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{direction:?}: {found}");
            }
        }
    }

    #[test]
    fn an_elbow_opens_with_its_bend_and_a_shoulder_leans_from_its_bone() {
        let arm = crate::characters::build(crate::characters::Character::Arm, 2_000).unwrap();
        let skeleton = arm.rig.skeleton();
        let named = |name: &str| {
            let mut nodes = skeleton.nodes().iter();
            nodes.position(|node| node.name == name).unwrap()
        };
        let (upper, elbow, hand) = (named("upper_arm"), named("forearm"), named("hand"));
        let Some(Limit::Hinge { axis, .. }) = Limit::elbow(skeleton, elbow, hand, [0.0, 2.0])
        else {
            panic!("the arm is bent a little");
        };
        // The hand moves to the front.
        let forearm = DQuat::from_axis_angle(axis, 1.0) * DVec3::X;
        assert!(forearm.z > 0.8, "{forearm}");
        let Some(Limit::Cone { axis, .. }) =
            Limit::shoulder(skeleton, upper, hand, 1.0, [-0.5, 0.5])
        else {
            panic!("there is an upper arm");
        };
        assert!(axis.x > 0.99, "{axis}");
        assert_eq!(Limit::elbow(skeleton, hand, elbow, [0.0, 1.0]), None);
        assert_eq!(Limit::elbow(skeleton, 999, 999, [0.0, 1.0]), None);
    }

    #[test]
    fn numbers_that_make_no_limit_are_told() {
        let hinge = |axis, range| Limit::Hinge { axis, range }.problem();
        assert_eq!(HINGE.problem(), None);
        assert_eq!(CONE.problem(), None);
        assert!(hinge(DVec3::ZERO, [0.0, 1.0]).is_some());
        assert!(hinge(DVec3::NAN, [0.0, 1.0]).is_some());
        assert!(hinge(DVec3::X, [1.0, 0.0]).is_some());
        assert!(hinge(DVec3::X, [0.0, f64::NAN]).is_some());
        assert!(hinge(DVec3::X, [0.0, 4.0]).is_some());
    }
}
