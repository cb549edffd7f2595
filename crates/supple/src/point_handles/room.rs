//! The space for handles: the inside of the body, or surfaces without an inside such as cloth,
//! capes and fins.

use super::facets::Facets;
use crate::bind::oriented_surface::OrientedSurface;
use crate::surface_tree::Nearest;
use glam::DVec3;

/// A handle within this distance of a sheet lies on it, at an extent of one: weights search for the
/// skin of an outside handle only within about two of their cells.
const ON_SHEET: f64 = 0.004;

/// The winding number just below the skin of a solid is about one, below a sheet one half.
const SOLID_WINDING: f64 = 0.75;

/// The distance below the surface.
const DEPTH_BELOW: f64 = 1e-4;

/// Winding number above which a given handle is inside: on the border of half a body, as artists
/// model before mirroring, it is about one half.
const INSIDE_WINDING: f64 = 0.3;

/// The space of a body for handles.
#[derive(Clone, Copy)]
pub(super) struct Room<'a> {
    pub(super) shape: &'a OrientedSurface,
    pub(super) facets: &'a Facets,
}

impl Room<'_> {
    /// True if a placed handle may be at a position.
    pub(super) fn has(&self, place: DVec3) -> bool {
        self.shape.is_inside(place) || self.is_on_sheet(place)
    }

    /// True if a given or moved handle may be at a position.
    pub(super) fn may_keep(&self, place: DVec3) -> bool {
        self.shape.tree.winding(place) > INSIDE_WINDING || self.is_on_sheet(place)
    }

    /// The nearest point of the surface.
    pub(super) fn nearest_skin(&self, place: DVec3) -> Option<Nearest> {
        let tree = &self.shape.tree;
        tree.nearest(place.as_vec3(), f32::INFINITY, |_| true)
    }

    fn is_on_sheet(&self, place: DVec3) -> bool {
        let tree = &self.shape.tree;
        let nearest = tree.nearest(place.as_vec3(), ON_SHEET as f32, |_| true);
        nearest.is_some_and(|nearest| {
            let facet = nearest.triangle as usize;
            let below = self.facets.centers[facet] - self.facets.normals[facet] * DEPTH_BELOW;
            tree.winding(below) < SOLID_WINDING
        })
    }
}
