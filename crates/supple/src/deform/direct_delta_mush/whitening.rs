//! Patches in units of their own covariance, for vertex loops in single precision.
//!
//! v1 (§3.5.2) divides by the covariance of the patch, whose variance across a flat patch can be
//! ten thousand times smaller than along it: the rounding of moments in single precision would be
//! amplified as much. So the division happens here, in double precision and before any pose is
//! known. With `P = Z Λ Zᵀ` (eq. 8), a joint's lever becomes `Λ^−½ Zᵀ l` and its moments become
//! `Λ^−½ Zᵀ C Z Λ^−½`: coordinates along the axes of the patch, in units of the spread along each
//! axis. In these units every patch is a ball: the moments of its joints sum to one and none
//! exceeds one, so sixteen bits suffice for them as well.

use super::lanes::moment_sums;
use super::symmetric;
use crate::polar::symmetric_eigen;
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

/// The axes of a patch, and the spread along each.
pub(super) struct Whitening {
    /// `Z`.
    axes: DMat3,
    /// `|Λ|^½` with the signs of `Λ`: moments in a file may be invalid, with negative variances.
    /// Zero if a patch has no extent.
    spreads: DVec3,
}

impl Whitening {
    /// Computes the axes of a patch from levers and moments.
    pub(super) fn of(parts: &[[f32; 9]]) -> Whitening {
        let (variances, axes) = symmetric_eigen(&symmetric(moment_sums(parts)));
        Whitening {
            axes,
            spreads: variances.map(|variance| variance.abs().sqrt().copysign(variance)),
        }
    }

    /// The axes as a quaternion.
    pub(super) fn axes(&self) -> Quat {
        DQuat::from_mat3(&self.axes).normalize().as_quat()
    }

    /// The spreads in the unit of the levers.
    pub(super) fn spreads(&self) -> Vec3 {
        self.spreads.as_vec3()
    }

    /// Lever and moments along the axes, in units of the spreads.
    pub(super) fn part(&self, &[x, y, z, ref moments @ ..]: &[f32; 9]) -> [f32; 9] {
        // Zero without extent.
        let per_spread = self.spreads.map(|spread| match spread == 0.0 {
            true => 0.0,
            false => spread.recip(),
        });
        let along = DMat3::from_diagonal(per_spread) * self.axes.transpose();
        let lever = along * Vec3::new(x, y, z).as_dvec3();
        let m = along * symmetric(moments.map(f64::from)) * along.transpose();
        let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis];
        [lever.x, lever.y, lever.z, x.x, x.y, x.z, y.y, y.z, z.z].map(|number| number as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points close to a plane, some held by one joint and some by another.
    fn flat_patch() -> [[f32; 9]; 2] {
        let mut parts = [[0.0; 9]; 2];
        for at in 0..40 {
            let angle = f64::from(at);
            let (u, v) = (angle.cos(), 0.4 * (2.3 * angle).sin());
            let w = 0.01 * (3.1 * angle).sin();
            let turn = DQuat::from_axis_angle(DVec3::new(0.48, 0.6, 0.64), 0.9);
            let p = (turn * DVec3::new(u, v, w)).as_vec3();
            let numbers = [
                p.x,
                p.y,
                p.z,
                p.x * p.x,
                p.x * p.y,
                p.x * p.z,
                p.y * p.y,
                p.y * p.z,
                p.z * p.z,
            ];
            for (sum, number) in parts[at as usize % 2].iter_mut().zip(numbers) {
                *sum += number / 40.0;
            }
        }
        parts
    }

    #[test]
    fn in_its_own_measure_a_patch_is_a_ball() {
        let parts = flat_patch();
        let whitening = Whitening::of(&parts);
        assert!(whitening.spreads.z < 0.02 * whitening.spreads.x);
        let measured = parts.map(|part| whitening.part(&part));
        let sums = moment_sums(&measured);
        for (sum, expected) in sums.iter().zip([1.0, 0.0, 0.0, 1.0, 0.0, 1.0]) {
            assert!((sum - expected).abs() < 1e-6, "{sums:?}");
        }
        assert!(measured.iter().flatten().all(|number| number.abs() <= 1.0));
    }

    #[test]
    fn what_was_measured_comes_back() {
        let parts = flat_patch();
        let whitening = Whitening::of(&parts);
        let sides = DMat3::from_quat(whitening.axes().as_dquat())
            * DMat3::from_diagonal(whitening.spreads().as_dvec3());
        for part in parts {
            let measured = whitening.part(&part);
            let split = |[x, y, z, ref moments @ ..]: [f32; 9]| {
                let lever = Vec3::new(x, y, z).as_dvec3();
                (lever, symmetric(moments.map(f64::from)))
            };
            let ((lever, moments), (expected_lever, expected)) = (split(measured), split(part));
            assert!((sides * lever).abs_diff_eq(expected_lever, 1e-6));
            let moments = sides * moments * sides.transpose();
            assert!(
                moments.abs_diff_eq(expected, 1e-6),
                "{moments} for {expected}"
            );
        }
    }

    #[test]
    fn a_point_measures_nothing() {
        let whitening = Whitening::of(&[[0.0; 9]; 2]);
        assert_eq!(whitening.spreads(), Vec3::ZERO);
        assert_eq!(whitening.part(&[0.0; 9]), [0.0; 9]);
    }
}
