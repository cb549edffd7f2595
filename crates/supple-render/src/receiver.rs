//! Points that gather light, and the light that arrives there.

use glam::Vec3;

/// A point that gathers light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    pub position: Vec3,
    /// The normal, of unit length.
    pub normal: Vec3,
    /// The distance by which it is lifted off its surface before looking around, in texels of the
    /// maps.
    pub lift: f32,
}

/// Light that arrives at a point.
#[derive(Clone, Copy, Default)]
pub(crate) struct Arriving {
    /// From all lamps that see it, weighted by the cosine.
    pub diffuse: Vec3,
    /// The diffuse light there would be with nothing in the way.
    pub unblocked: Vec3,
    /// The share of the key light that sees it.
    pub key: f32,
}
