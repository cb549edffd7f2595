//! Uniform scale and mirroring shared by all joints; removed before blending, reapplied after.
//!
//! A file may measure in centimetres, have its skeleton under a scaled node, or store positions as
//! integers: then every joint's matrix contains the same large scale. Blended about each joint
//! (`rigid_motion.rs`), it would tear the joints apart. A character may also be mirrored as a
//! whole. Both are removed from the palette first and reapplied to the frame of the method. A
//! method that follows rigid motions then has the same result in any unit, and the mirror image
//! under mirroring.

use crate::rig::Rig;
use crate::transform::Affine;
use glam::{DAffine3, DMat3, DVec3};

/// The scale of the joints at rest, from which the common scale of a pose is computed.
#[derive(Clone, Debug)]
pub(super) struct RestScale {
    /// True for joints that hold some of the surface; the others are ignored.
    holds: Vec<bool>,
    /// The scale of the median joint in the rest pose.
    rest_scale: f64,
}

/// A uniform scale and mirroring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CommonScale {
    scale: f64,
    /// The coordinate whose sign changes.
    mirror: Option<usize>,
}

impl Default for CommonScale {
    fn default() -> CommonScale {
        CommonScale {
            scale: 1.0,
            mirror: None,
        }
    }
}

/// Scales this close to one are one, up to the rounding of `f32`.
const NO_SCALE: f64 = 1e-5;

/// A joint scaled by less than this share of the largest scale has collapsed and is ignored.
const VANISHED: f64 = 1e-6;

impl RestScale {
    pub(super) fn of(rig: &Rig) -> RestScale {
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
        RestScale {
            holds,
            rest_scale: middle.filter(usable).map_or(1.0, unless_noise),
        }
    }

    /// The common scale of these joints after the inverse of a map.
    pub(super) fn relative_to(self, map: &DAffine3) -> RestScale {
        let scale = map.matrix3.determinant().abs().cbrt();
        RestScale {
            rest_scale: unless_noise(self.rest_scale / scale),
            ..self
        }
    }

    /// The common scale of a palette.
    ///
    /// It is the scale of the rest pose, times the scale of all joints beyond it: the factor
    /// nearest to one among theirs. So a joint that is scaled while others are not is left to the
    /// method, and a character that is scaled as a whole grows as a whole.
    pub(super) fn common_scale(&self, palette: &[Affine]) -> CommonScale {
        let held = || {
            let pairs = palette.iter().zip(&self.holds);
            pairs.filter(|(_, holds)| **holds).map(|(map, _)| map)
        };
        // The usual case: avoids cube roots.
        let rigid = |map: &Affine| (map.determinant() - 1.0).abs() < NO_SCALE;
        if self.rest_scale == 1.0 && held().all(rigid) {
            return CommonScale::default();
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
        // Methods that follow rigid motions give the same result for any coordinate. For the
        // others, negating the smallest diagonal entry leaves the largest trace, and the joints
        // nearest to their rest rotation.
        let axis = (0..3).min_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b]));
        CommonScale {
            scale,
            mirror: axis.filter(|_| mirrored),
        }
    }
}

/// The largest translation after a scale is divided out, so that its square fits into `f32`.
const FARTHEST: f64 = 1e18;

/// True if a scale can be divided out of maps whose translations are at most this large. If not,
/// the scale collapses the character to a point, or is beyond the range of `f32`.
fn is_usable(scale: f64, farthest: f64) -> bool {
    let in_range = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    in_range.contains(&scale) && farthest <= FARTHEST * scale
}

/// The largest coordinate of a map's translation.
fn farthest_shift(map: &Affine) -> f64 {
    let shifts = map.rows.map(|row| f64::from(row.w.abs()));
    shifts.into_iter().fold(0.0, f64::max)
}

/// The uniform scale of a joint, with or without mirroring.
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

impl CommonScale {
    /// A joint's map without the common scale.
    pub(super) fn removed_from(&self, map: &Affine) -> DAffine3 {
        let map = map.to_f64();
        if self.is_identity() {
            return map;
        }
        let factors = self.factors().recip();
        DAffine3 {
            matrix3: DMat3::from_diagonal(factors) * map.matrix3,
            translation: factors * map.translation,
        }
    }

    /// Converts a frame without the common scale to one with it.
    #[inline]
    pub(super) fn reapplied_to(&self, frame: Affine) -> Affine {
        if self.is_identity() {
            return frame;
        }
        let factors = self.factors().as_vec3();
        let [x, y, z] = frame.rows;
        Affine {
            rows: [x * factors.x, y * factors.y, z * factors.z],
        }
    }

    /// True if there is nothing to reapply.
    #[inline]
    pub(super) fn is_identity(&self) -> bool {
        *self == CommonScale::default()
    }

    /// The factor of each coordinate.
    pub(super) fn factors(&self) -> DVec3 {
        let mut factors = DVec3::splat(self.scale);
        if let Some(axis) = self.mirror {
            factors[axis] = -factors[axis];
        }
        factors
    }
}
