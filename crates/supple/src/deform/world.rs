//! Uniform scale and mirroring shared by all joints; removed before blending, reapplied after.
//!
//! A file may measure in centimetres, hang its skeleton under a scaled node, or store positions as
//! integers: then every joint's matrix holds the same large scale. Blended about each joint
//! (`rigid_motion.rs`), it would tear the joints apart. And a character may be mirrored as a whole.
//! Both are taken off the palette first, and put back onto the frame that a method gives: a method
//! that follows rigid motions then gives the same surface in any unit, and the mirror image in a
//! mirror.

use crate::rig::Rig;
use crate::transform::Affine;
use glam::{DAffine3, DMat3, DVec3};

/// What the common scale of a pose is found from.
#[derive(Clone, Debug)]
pub(super) struct CommonScale {
    /// Which joints hold some of the surface; the others have no say.
    holds: Vec<bool>,
    /// By how much the middle joint is scaled when no clip plays.
    rest_scale: f64,
}

/// A scale and a mirror of everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct World {
    scale: f64,
    /// The coordinate whose sign changes.
    mirror: Option<usize>,
}

impl Default for World {
    fn default() -> World {
        World {
            scale: 1.0,
            mirror: None,
        }
    }
}

/// Scales this close to one are one, up to the rounding of `f32`.
const NO_SCALE: f64 = 1e-5;

/// A joint scaled by less than this share of the largest has been made to vanish, and tells nothing
/// about the rest.
const VANISHED: f64 = 1e-6;

impl CommonScale {
    pub(super) fn of(rig: &Rig) -> CommonScale {
        let mut holds = vec![false; rig.skeleton().joints().len()];
        for vertex in 0..rig.weights().vertex_count() {
            for &joint in rig.weights().row(vertex).0 {
                holds[usize::from(joint)] = true;
            }
        }
        let rest = rig.skeleton().rest_palette();
        let maps = rest.posed_from_bind.iter().zip(&holds);
        let mut scales: Vec<f64> = maps
            .filter(|(_, holds)| **holds)
            .map(|(map, _)| scale(map))
            .collect();
        scales.sort_by(f64::total_cmp);
        let middle = scales.get(scales.len() / 2).copied();
        let usable = |scale: &f64| scale.is_finite() && *scale > 0.0;
        CommonScale {
            holds,
            rest_scale: middle.filter(usable).map_or(1.0, unless_noise),
        }
    }

    /// These joints, seen from a map that all of them are to be followed by: their maps are those
    /// of the rig after its inverse.
    pub(super) fn relative_to(self, map: &DAffine3) -> CommonScale {
        let scale = map.matrix3.determinant().abs().cbrt();
        CommonScale {
            rest_scale: unless_noise(self.rest_scale / scale),
            ..self
        }
    }

    /// The world of a palette.
    ///
    /// Its scale is that of the rest pose, times what all joints are scaled by beyond it: the
    /// factor nearest to one among theirs. So a joint that is scaled while others are not is
    /// left to the method, and a character that grows as a whole just grows.
    pub(super) fn world(&self, palette: &[Affine]) -> World {
        let held = || {
            let pairs = palette.iter().zip(&self.holds);
            pairs.filter(|(_, holds)| **holds).map(|(map, _)| map)
        };
        // As nearly always: nothing to find out by cube roots.
        let rigid = |map: &Affine| (map.determinant() - 1.0).abs() < NO_SCALE;
        if self.rest_scale == 1.0 && held().all(rigid) {
            return World::default();
        }
        let largest = held().map(scale).fold(0.0, f64::max);
        let scales = held()
            .map(scale)
            .filter(|&scale| scale > VANISHED * largest);
        let range = scales.fold(None, |range: Option<(f64, f64)>, scale| {
            let (low, high) = range.unwrap_or((scale, scale));
            Some((low.min(scale), high.max(scale)))
        });
        let (low, high) = range.unwrap_or((self.rest_scale, self.rest_scale));
        let beyond = unless_noise(1f64.clamp(low / self.rest_scale, high / self.rest_scale));
        let scale = self.rest_scale * beyond;
        let farthest = held().map(farthest_shift).fold(0.0, f64::max);
        let scale = if is_usable(scale, farthest) {
            scale
        } else {
            1.0
        };
        let lost = |map: &Affine| map.scale_factor() == 0.0;
        let mirrored = held().any(Affine::mirrors) && held().all(|map| map.mirrors() || lost(map));
        let diagonal = held().fold(DVec3::ZERO, |sum, map| {
            sum + DVec3::from_array([0, 1, 2].map(|axis| f64::from(map.rows[axis][axis])))
        });
        // Which coordinate is turned makes no difference to methods that follow rigid motions. For
        // the others: turning the least entry around leaves the largest trace, and the
        // joints nearest to where they rest.
        let axis = (0..3).min_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b]));
        World {
            scale,
            mirror: axis.filter(|_| mirrored),
        }
    }
}

/// Translations may become this large when a scale is divided out: `f32` holds their squares.
const FARTHEST: f64 = 1e18;

/// Whether a scale can be divided out of maps whose translations are at most this large. If not,
/// the scale crushes the character to a point, or is itself beyond the range of `f32`.
fn is_usable(scale: f64, farthest: f64) -> bool {
    let in_range = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    in_range.contains(&scale) && farthest <= FARTHEST * scale
}

/// The largest coordinate of a map's translation.
fn farthest_shift(map: &Affine) -> f64 {
    let shifts = map.rows.map(|row| f64::from(row.w.abs()));
    shifts.into_iter().fold(0.0, f64::max)
}

/// The factor of a joint's scale, mirrored or not.
fn scale(map: &Affine) -> f64 {
    map.scale_factor().abs()
}

fn unless_noise(scale: f64) -> f64 {
    if (scale - 1.0).abs() < NO_SCALE {
        1.0
    } else {
        scale
    }
}

impl World {
    /// A joint's map without what is the world's.
    pub(super) fn taken_off(&self, map: &Affine) -> DAffine3 {
        let map = map.to_f64();
        if self.is_plain() {
            return map;
        }
        let factors = self.factors().recip();
        DAffine3 {
            matrix3: DMat3::from_diagonal(factors) * map.matrix3,
            translation: factors * map.translation,
        }
    }

    /// A frame of the plain world, brought into this one.
    #[inline]
    pub(super) fn put_back(&self, frame: Affine) -> Affine {
        if self.is_plain() {
            return frame;
        }
        let factors = self.factors().as_vec3();
        let [x, y, z] = frame.rows;
        Affine {
            rows: [x * factors.x, y * factors.y, z * factors.z],
        }
    }

    /// True if there is nothing to put back.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        *self == World::default()
    }

    /// What each coordinate is multiplied by.
    pub(super) fn factors(&self) -> DVec3 {
        let mut factors = DVec3::splat(self.scale);
        if let Some(axis) = self.mirror {
            factors[axis] = -factors[axis];
        }
        factors
    }
}
