//! A given or placed handle.

use glam::DVec3;

/// The smallest distance of a placed handle from a given one, relative to the thickness.
const TAKEN: f64 = 0.5;

/// Reason for placing a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HandleKind {
    /// Between two segments of different thickness.
    Between,
    /// At the end of a limb.
    End,
    /// Along a long part of constant thickness.
    Along,
    /// Given by the caller.
    Given,
}

/// A handle, in the coordinates of the shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedHandle {
    pub(super) place: DVec3,
    pub(super) kind: HandleKind,
    /// Thickness of the body at the handle; zero if unknown.
    pub(super) thickness: f64,
    /// Weight when nearby handles are merged: the amount of surface that it stands for.
    pub(super) weight: f64,
}

impl PlacedHandle {
    /// A handle given by the caller.
    pub(super) fn given(place: DVec3) -> PlacedHandle {
        PlacedHandle {
            place,
            kind: HandleKind::Given,
            thickness: 0.0,
            weight: 0.0,
        }
    }

    /// True if a given handle among others is so near that this one would be redundant.
    pub(super) fn is_taken(&self, others: &[PlacedHandle]) -> bool {
        let mut given = others
            .iter()
            .filter(|other| other.kind == HandleKind::Given);
        given.any(|given| given.place.distance(self.place) <= TAKEN * self.thickness)
    }
}

/// The distance between two handles, in thicknesses of the body.
pub(super) fn apart(a: &PlacedHandle, b: &PlacedHandle) -> f64 {
    let thickness = 0.5 * (a.thickness + b.thickness);
    a.place.distance(b.place) / thickness.max(f64::MIN_POSITIVE)
}
