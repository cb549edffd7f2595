//! The thickness of the surface around a joint, and its error.

/// Skin that gains more than this has not bulged, but is torn away.
pub(crate) const TORN: f64 = 1.0;

/// The thickness around a joint as ratios posed / rest; 1 is unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thickness {
    pub thinnest: f64,
    pub thickest: f64,
}

impl Thickness {
    /// The share that is lost where the limb is thinnest.
    pub fn loss(self) -> f64 {
        (1.0 - self.thinnest).max(0.0)
    }

    /// The share that is gained where the limb is thickest.
    pub fn gain(self) -> f64 {
        (self.thickest - 1.0).max(0.0)
    }

    /// Loss and gain together.
    pub fn error(self) -> f64 {
        self.loss() + self.gain()
    }
}
