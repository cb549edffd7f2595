//! The placement of an arm, shared by the modules of the arm, the hand and their poses.

use glam::DVec3;

/// Metres from the shoulder to the wrist.
pub(super) const WRIST: f64 = 0.530;

/// The placement of an arm: straight out to the left, tilted down by an angle.
#[derive(Clone, Copy)]
pub(super) struct ArmPlacement {
    pub(super) shoulder: DVec3,
    /// Radians below the horizontal.
    pub(super) drop: f64,
}

impl ArmPlacement {
    /// From the shoulder to the hand.
    pub(super) fn axis(&self) -> DVec3 {
        DVec3::new(self.drop.cos(), -self.drop.sin(), 0.0)
    }

    /// The side of the arm that the back of the hand is on.
    pub(super) fn up(&self) -> DVec3 {
        DVec3::new(self.drop.sin(), self.drop.cos(), 0.0)
    }

    /// A point of the arm: metres from the shoulder, towards the back of the hand, and to the
    /// front.
    pub(super) fn at(&self, along: f64, up: f64, front: f64) -> DVec3 {
        self.shoulder + self.axis() * along + self.up() * up + DVec3::Z * front
    }
}
