//! Boxes around surfaces, and units in which numbers depend neither on the model's unit of length
//! nor on its place.
//!
//! One rule: the middle of a box is the origin, and its diagonal, the *extent*, is one. A box
//! without an extent keeps the model's unit of length.
//!
//! Two boxes: what is stored per vertex uses the box around all vertices (`Mesh::bounds`), as
//! unused vertices are deformed, too. What searches space, as automatic weights and point handles
//! do, uses the box around triangles with an area (`Mesh::surface_bounds`): beside a stray vertex
//! far away the body would be a dot.

use glam::{DVec3, Vec3};

/// An axis-aligned box; by default the origin alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The smallest coordinates.
    pub min: Vec3,
    /// The largest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// The smallest box around some points; `None` without points.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Option<Bounds> {
        points.into_iter().fold(None, |bounds, point| {
            let bounds = bounds.unwrap_or(Bounds {
                min: point,
                max: point,
            });
            Some(Bounds {
                min: bounds.min.min(point),
                max: bounds.max.max(point),
            })
        })
    }

    /// The length of the diagonal: the *extent*, to which tolerances are relative.
    pub fn extent(&self) -> f32 {
        // In double precision, as the square of a far coordinate may be more than `f32` holds.
        (self.max.as_dvec3() - self.min.as_dvec3()).length() as f32
    }

    /// The middle.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }
}

/// Units of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// The origin, in the model's coordinates.
    middle: DVec3,
    /// The unit of length, in the model's.
    extent: f64,
}

impl Units {
    /// The units of a surface in a box; the model's own without a box.
    pub(crate) fn of(bounds: Option<Bounds>) -> Units {
        let Bounds { min, max } = bounds.unwrap_or_default();
        let [low, high] = [min, max].map(|corner| corner.as_dvec3());
        Units {
            middle: (low + high) * 0.5,
            extent: positive_or_one((high - low).length()),
        }
    }

    /// The length in these units of the model's unit of length.
    pub(crate) fn scale(&self) -> f64 {
        1.0 / self.extent
    }

    /// Converts a position of the model.
    pub(crate) fn to_unit(self, place: DVec3) -> DVec3 {
        (place - self.middle) * self.scale()
    }

    /// Converts a position to the model's coordinates.
    pub(crate) fn to_model(self, place: DVec3) -> DVec3 {
        place / self.scale() + self.middle
    }

    /// The units of data that are stored in single precision.
    pub(crate) fn stored(&self) -> StoredUnits {
        StoredUnits {
            middle: self.middle.as_vec3(),
            extent: self.extent as f32,
        }
    }
}

/// Units in single precision, for baked data: so that what is stored of a position varies over the
/// surface about as much as weights do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredUnits {
    middle: Vec3,
    extent: f32,
}

impl StoredUnits {
    /// The origin, in the model's coordinates.
    pub(crate) fn middle(&self) -> Vec3 {
        self.middle
    }

    /// The unit of length, in the model's.
    #[inline]
    pub(crate) fn extent(&self) -> f32 {
        self.extent
    }

    /// Converts a position of the model.
    pub(crate) fn store(&self, place: Vec3) -> [f32; 3] {
        ((place - self.middle) / self.extent).to_array()
    }

    /// Converts a stored position to the model's coordinates.
    #[inline]
    pub(crate) fn restore(&self, stored: [f32; 3]) -> Vec3 {
        self.middle + Vec3::from_array(stored) * self.extent
    }
}

/// A size as a unit: one if nothing has any.
pub(crate) fn positive_or_one(size: f64) -> f64 {
    if size > 0.0 { size } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_of_extent_one_around_the_origin_and_a_point_keeps_its_unit() {
        let corners = [Vec3::new(3.0, -1.0, 2.0), Vec3::new(6.0, 3.0, 14.0)];
        let units = Units::of(Bounds::around(corners));
        let [low, high] = corners.map(|corner| units.to_unit(corner.as_dvec3()));
        assert!((low + high).length() < 1e-15 && ((high - low).length() - 1.0).abs() < 1e-15);
        assert!(units.to_model(low).distance(corners[0].as_dvec3()) < 1e-14);
        let stored = units.stored();
        let back = stored.restore(stored.store(corners[1]));
        assert!(back.distance(corners[1]) < 1e-6);
        for lonely in [None, Bounds::around([Vec3::X])] {
            let units = Units::of(lonely);
            assert_eq!(
                units.to_unit(DVec3::X * 3.0) - units.to_unit(DVec3::ZERO),
                DVec3::X * 3.0
            );
        }
    }
}
