//! Poses of hands.

use super::arm_placement::ArmPlacement;
use super::hand::HandJoints;
use super::motion::Move;
use glam::{DQuat, DVec3};

/// All fingers of a left hand curled into the palm, the thumb across them.
pub(super) fn fist(hand: &HandJoints, arm: &ArmPlacement, share: f64) -> Vec<Move> {
    /// Degrees at the knuckle and the two joints beyond it.
    const CURL: [f64; 3] = [78.0, 96.0, 58.0];
    /// Degrees by which index, middle, ring and little finger close up at the knuckle.
    const CLOSE: [f64; 4] = [5.0, 1.0, -4.0, -9.0];
    let radians = |degrees: f64| (degrees * share).to_radians();
    let mut moves = Vec::new();
    for ([_, bones @ ..], close) in hand.fingers.iter().zip(CLOSE) {
        let [knuckle, second, third] = CURL.map(|curl| DQuat::from_rotation_z(-radians(curl)));
        let closed = DQuat::from_axis_angle(arm.up(), radians(close));
        let turns = [knuckle * closed, second, third];
        moves.extend(
            bones
                .iter()
                .zip(turns)
                .map(|(&joint, turn)| Move::Rotate(joint, turn)),
        );
    }
    let across = arm.axis() * 0.8 - DVec3::Z * 0.3 + arm.up() * 0.55;
    let thumb = hand.thumb.iter().zip([32.0, 28.0, 42.0]);
    moves.extend(thumb.map(|(&joint, curl)| Move::Turn(joint, across, radians(curl))));
    moves
}
