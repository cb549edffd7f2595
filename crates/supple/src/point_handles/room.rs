//! Where handles can be: inside of the body, or on what of it has no inside, as a cloth, a cape or
//! a fin.

use super::facets::Facets;
use crate::bind::oriented_surface::OrientedSurface;
use crate::surface_tree::Nearest;
use glam::DVec3;

/// A handle is on a sheet if it is no farther from it than this, the extent of the model being one:
/// methods of weights look for the skin of a handle that is outside no farther than about two of
/// their cells.
const ON_SHEET: f64 = 0.004;

/// Just below the skin of a solid the surface winds once around a place, below a sheet half a time.
const SOLID: f64 = 0.75;

/// What is just below.
const BELOW: f64 = 1e-4;

/// The surface has an inside around a given handle if it winds around it this often: on the border
/// of half a body, as artists model them before mirroring, it is about a half.
const AROUND_GIVEN: f64 = 0.3;

/// A body as the room that its handles have.
#[derive(Clone, Copy)]
pub(super) struct Room<'a> {
    pub(super) shape: &'a OrientedSurface,
    pub(super) facets: &'a Facets,
}

impl Room<'_> {
    /// Whether a handle that is looked for can be somewhere.
    pub(super) fn has(&self, place: DVec3) -> bool {
        self.shape.is_inside(place) || self.is_on_sheet(place)
    }

    /// Whether a handle can stay where someone wants it, or where it has come to be.
    pub(super) fn may_keep(&self, place: DVec3) -> bool {
        self.shape.tree.winding(place) > AROUND_GIVEN || self.is_on_sheet(place)
    }

    /// What of the surface is nearest to a place.
    pub(super) fn nearest_skin(&self, place: DVec3) -> Option<Nearest> {
        let tree = &self.shape.tree;
        tree.nearest(place.as_vec3(), f32::INFINITY, |_| true)
    }

    fn is_on_sheet(&self, place: DVec3) -> bool {
        let tree = &self.shape.tree;
        let nearest = tree.nearest(place.as_vec3(), ON_SHEET as f32, |_| true);
        nearest.is_some_and(|nearest| {
            let facet = nearest.triangle as usize;
            let below = self.facets.centers[facet] - self.facets.normals[facet] * BELOW;
            tree.winding(below) < SOLID
        })
    }
}
