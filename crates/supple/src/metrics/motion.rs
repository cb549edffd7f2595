//! The motion of a joint relative to the joint that it is blended with.

use super::region::JointRegion;
use crate::polar::Polar;
use crate::pose::Palette;
use crate::skeleton::BindBone;
use crate::transform::Affine;
use glam::{DQuat, DVec3};

/// The motion of a joint relative to another one since they were bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct JointMotion {
    /// Rotation across the bone, in radians.
    pub bend: f64,
    /// Rotation about the bone, in radians.
    pub twist: f64,
    /// The distance of the joint from its bind position, relative to the size of its region.
    pub shift: f64,
    /// The axis of the bend in the posed world; zero without a bend.
    pub bend_axis: DVec3,
    /// The direction of the bone in the posed world.
    pub bone: DVec3,
}

impl JointMotion {
    pub(super) fn of(region: &JointRegion, bone: &BindBone, palette: &Palette) -> JointMotion {
        let map = |joint: usize| {
            let found = palette.posed_from_bind.get(joint);
            found.copied().unwrap_or(Affine::IDENTITY)
        };
        let (own, other) = (map(region.joint), map(region.other));
        let (turn_own, turn_other) = (rotation(&own), rotation(&other));
        let between = turn_other.inverse() * turn_own;
        let axis = bone.axis().unwrap_or(DVec3::Y);
        let vector = DVec3::new(between.x, between.y, between.z);
        let along = vector.dot(axis);
        let across = vector - axis * along;
        let head = bone.head.as_vec3();
        let shift = own
            .transform_point(head)
            .distance(other.transform_point(head));
        JointMotion {
            bend: 2.0 * across.length().atan2(between.w.hypot(along)),
            twist: 2.0 * along.abs().atan2(between.w.abs()),
            shift: f64::from(shift) / region.size.max(f64::MIN_POSITIVE),
            bend_axis: turn_other * across.normalize_or_zero(),
            bone: turn_own * axis,
        }
    }

    /// The sum of bend, twist and shift: a shift by the size of the region counts as a radian.
    pub fn amount(&self) -> f64 {
        self.bend + self.twist + self.shift
    }
}

/// The rotation nearest to a map's linear part. For a mirrored map, to its negative, so that the
/// joints of a mirrored character can be compared.
fn rotation(affine: &Affine) -> DQuat {
    let linear = affine.to_f64().matrix3;
    Polar::of(if affine.mirrors() { -linear } else { linear }).rotation
}
