//! Legs that put their feet where they should be.

use super::bones::Bones;
use super::lower_limb::LegJoints;
use super::motion::Move;
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// The angles of a leg about −X that put the ankle somewhere, with the sole level.
pub(super) struct LegBend {
    pub(super) thigh: f64,
    pub(super) knee: f64,
    pub(super) foot: f64,
}

/// Two bones in a plane across X: from a hip to an ankle, below a pelvis that is turned by `pitch`
/// about −X.
pub(super) fn reach(
    bones: &Bones,
    leg: &LegJoints,
    hip: DVec3,
    ankle: DVec3,
    pitch: f64,
) -> LegBend {
    let rest = [leg.thigh, leg.shin, leg.foot].map(|joint| bones.positions[joint]);
    let flat = |v: DVec3| DVec2::new(v.z, v.y);
    let (upper, lower) = (flat(rest[1] - rest[0]), flat(rest[2] - rest[1]));
    let wanted = flat(ankle - hip);
    let (a, b) = (upper.length(), lower.length());
    let distance = wanted.length().min(0.9999 * (a + b));
    let corner = |opposite: f64, x: f64, y: f64| {
        ((x * x + y * y - opposite * opposite) / (2.0 * x * y))
            .clamp(-1.0, 1.0)
            .acos()
    };
    // Angles in the (z, y) plane, counter-clockwise: the thigh swings forwards of the line from hip
    // to ankle.
    let line = wanted.to_angle();
    let thigh = line + corner(b, distance, a) - upper.to_angle();
    let shin = line - corner(a, distance, b) - lower.to_angle();
    let wrapped = |angle: f64| (angle + PI).rem_euclid(TAU) - PI;
    let (thigh, shin) = (wrapped(thigh), wrapped(shin));
    LegBend {
        thigh: thigh - pitch,
        knee: shin - thigh,
        foot: -shin,
    }
}

/// About −X a turn is counter-clockwise in the (z, y) plane: forwards for what hangs down.
pub(super) fn pitch_of(joint: usize, angle: f64) -> Move {
    Move::Turn(joint, -DVec3::X, angle)
}
