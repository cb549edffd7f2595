//! The transforms of the library: [`Affine`] at run time, [`Local`] and [`Trs`] in poses.
//!
//! Poses and kinematics run in `f64` (there are few joints), the palette and the vertex loop in
//! `f32`.

use crate::polar::Polar;
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Mat3, Vec3, Vec4};

/// A 3×4 affine map in `f32`, stored as three rows, as the papers write `T ∈ R^{3×4}`.
///
/// Rows make a blend twelve multiply-adds in three registers, and are the order of `--palette`
/// files.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Affine {
    /// The three rows; the fourth column is the translation.
    pub rows: [Vec4; 3],
}

impl Affine {
    /// The map that moves nothing.
    pub const IDENTITY: Affine = Affine {
        rows: [Vec4::X, Vec4::Y, Vec4::Z],
    };

    /// The zero map, from which blends start.
    pub const ZERO: Affine = Affine {
        rows: [Vec4::ZERO; 3],
    };

    /// A linear map, then a translation.
    #[inline]
    pub fn from_mat3_translation(linear: Mat3, translation: Vec3) -> Affine {
        let rows = linear.transpose();
        Affine {
            rows: [
                rows.x_axis.extend(translation.x),
                rows.y_axis.extend(translation.y),
                rows.z_axis.extend(translation.z),
            ],
        }
    }

    /// The numbers, row after row.
    #[inline]
    pub fn to_array(&self) -> [f32; 12] {
        let [x, y, z] = self.rows;
        [x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w, z.x, z.y, z.z, z.w]
    }

    /// A map of these numbers, row after row.
    #[inline]
    pub fn from_array(numbers: [f32; 12]) -> Affine {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = numbers;
        Affine {
            rows: [
                Vec4::new(a, b, c, d),
                Vec4::new(e, f, g, h),
                Vec4::new(i, j, k, l),
            ],
        }
    }

    /// This map, then a translation.
    #[inline]
    #[must_use]
    pub fn shifted(&self, by: Vec3) -> Affine {
        let [x, y, z] = self.rows;
        let shift = |row: Vec4, by: f32| row + Vec4::new(0.0, 0.0, 0.0, by);
        Affine {
            rows: [shift(x, by.x), shift(y, by.y), shift(z, by.z)],
        }
    }

    /// Rounds a double precision map.
    pub fn from_f64(map: &DAffine3) -> Affine {
        let m = map.matrix3.transpose();
        let t = map.translation;
        let row = |r: DVec3, t: f64| r.extend(t).as_vec4();
        Affine {
            rows: [row(m.x_axis, t.x), row(m.y_axis, t.y), row(m.z_axis, t.z)],
        }
    }

    /// `self + other * weight`: one term of eq. (1) of the course.
    #[inline]
    #[must_use]
    pub fn add_scaled(&self, other: &Affine, weight: f32) -> Affine {
        let w = Vec4::splat(weight);
        Affine {
            rows: [
                self.rows[0] + other.rows[0] * w,
                self.rows[1] + other.rows[1] * w,
                self.rows[2] + other.rows[2] * w,
            ],
        }
    }

    /// `self` where `share` is 0, `other` where it is 1; between equal maps the same map, to the
    /// bit.
    #[inline]
    #[must_use]
    pub fn lerp(&self, other: &Affine, share: f32) -> Affine {
        self.add_scaled(&other.add_scaled(self, -1.0), share)
    }

    /// `other` first, then `self`.
    #[inline]
    #[must_use]
    pub fn after(&self, other: &Affine) -> Affine {
        let [x, y, z] = other.rows;
        let row = |row: Vec4| {
            x * Vec4::splat(row.x)
                + y * Vec4::splat(row.y)
                + z * Vec4::splat(row.z)
                + Vec4::new(0.0, 0.0, 0.0, row.w)
        };
        Affine {
            rows: self.rows.map(row),
        }
    }

    /// The same in double precision.
    pub fn to_f64(&self) -> DAffine3 {
        let [a, b, c] = self.rows.map(|row| row.as_dvec4());
        DAffine3 {
            matrix3: DMat3::from_cols(a.truncate(), b.truncate(), c.truncate()).transpose(),
            translation: DVec3::new(a.w, b.w, c.w),
        }
    }

    /// Maps a point (the translation counts).
    #[inline]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::new(
            self.rows[0].dot(p),
            self.rows[1].dot(p),
            self.rows[2].dot(p),
        )
    }

    /// Maps a direction (the translation does not count).
    #[inline]
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        let v = vector.extend(0.0);
        Vec3::new(
            self.rows[0].dot(v),
            self.rows[1].dot(v),
            self.rows[2].dot(v),
        )
    }

    /// The determinant of the linear part, in double precision: of small and large maps it would
    /// not fit into `f32`.
    #[inline]
    pub(crate) fn determinant(&self) -> f64 {
        let [a, b, c] = self.rows.map(|row| row.truncate().as_dvec3());
        a.dot(b.cross(c))
    }

    /// True if the map mirrors, whatever its size.
    #[inline]
    pub fn mirrors(&self) -> bool {
        self.determinant() < 0.0
    }

    /// The factor of a uniform scale, or the geometric mean of an uneven one; negative where the
    /// map mirrors.
    pub fn scale_factor(&self) -> f64 {
        self.determinant().cbrt()
    }

    /// Maps a unit normal by the inverse transpose of the linear part, and normalises it.
    ///
    /// The inverse transpose of `A` is `cof(A) / det(A)`, and only its direction matters, so the
    /// cofactors with the sign of the determinant do: they need no division and stay finite where
    /// `A` has lost a dimension. Where even the cofactors vanish (the surface was crushed to a
    /// line) the normal follows `A` itself, and where that vanishes too it stays as it was.
    #[inline]
    pub fn transform_normal(&self, normal: Vec3) -> Vec3 {
        let [a, b, c] = self.rows.map(|row| row.truncate());
        // Rows of the cofactor matrix of a matrix with rows a, b, c.
        let (ca, cb, cc) = (b.cross(c), c.cross(a), a.cross(b));
        let determinant = a.dot(ca);
        let mapped = Vec3::new(ca.dot(normal), cb.dot(normal), cc.dot(normal));
        let squared = mapped.length_squared();
        if !(1e-24..1e24).contains(&squared) {
            return self.transform_extreme_normal(normal);
        }
        let side = if determinant < 0.0 { -1.0 } else { 1.0 };
        mapped * (side / squared.sqrt())
    }

    /// The same for maps so large, small or crushed that `f32` cannot hold the products.
    #[cold]
    fn transform_extreme_normal(&self, normal: Vec3) -> Vec3 {
        let [a, b, c] = self.rows.map(|row| row.truncate().as_dvec3());
        let n = normal.as_dvec3();
        let (ca, cb, cc) = (b.cross(c), c.cross(a), a.cross(b));
        let mapped = DVec3::new(ca.dot(n), cb.dot(n), cc.dot(n));
        let mapped = if a.dot(ca) < 0.0 { -mapped } else { mapped };
        let carried = || DVec3::new(a.dot(n), b.dot(n), c.dot(n)).try_normalize();
        let direction = mapped.try_normalize().or_else(carried);
        direction.map_or(normal, |direction| direction.as_vec3())
    }

    /// Maps a unit tangent along the surface, and normalises it; `w` tells the side of the
    /// bitangent.
    #[inline]
    pub fn transform_tangent(&self, tangent: Vec4) -> Vec4 {
        let along = self.transform_vector(tangent.truncate());
        posed_tangent(tangent, along, self.mirrors())
    }
}

/// A tangent of unit length; a mirror turns the bitangent around, which `w` tells.
#[inline]
pub(crate) fn posed_tangent(rest: Vec4, along: Vec3, mirrored: bool) -> Vec4 {
    let side = if mirrored { -rest.w } else { rest.w };
    along.normalize_or(rest.truncate()).extend(side)
}

/// Translation, rotation and scale, applied as scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Applied last.
    pub translation: DVec3,
    /// A unit quaternion.
    pub rotation: DQuat,
    /// Applied first, along the local axes; may be negative.
    pub scale: DVec3,
}

impl Trs {
    /// The transform that moves nothing.
    pub const IDENTITY: Trs = Trs {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// A pure translation.
    pub fn from_translation(translation: DVec3) -> Trs {
        Trs {
            translation,
            ..Trs::IDENTITY
        }
    }

    /// As an affine map.
    pub fn to_affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// The transform of a node relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// What clips can move.
    Trs(Trs),
    /// A matrix as a file gave it; kept as it is, since it may hold shear that no [`Trs`] can
    /// express.
    Matrix(DAffine3),
}

impl Local {
    /// As an affine map.
    pub fn to_affine(&self) -> DAffine3 {
        match self {
            Local::Trs(trs) => trs.to_affine(),
            Local::Matrix(matrix) => *matrix,
        }
    }

    /// The closest translation, rotation and scale: exact unless a matrix holds shear.
    pub fn to_trs(&self) -> Trs {
        match self {
            Local::Trs(trs) => *trs,
            Local::Matrix(matrix) => {
                let (scale, rotation, translation) =
                    DMat4::from(*matrix).to_scale_rotation_translation();
                let rotation = if rotation.is_finite() {
                    rotation
                } else {
                    DQuat::IDENTITY
                };
                Trs {
                    translation,
                    rotation,
                    scale,
                }
            }
        }
    }

    /// How the node is turned against its parent: of a matrix with scale or shear, the rotation of
    /// its polar decomposition.
    pub fn rotation(&self) -> DQuat {
        match self {
            Local::Trs(trs) if trs.rotation.length_squared() > 0.0 => trs.rotation.normalize(),
            Local::Trs(_) => DQuat::IDENTITY,
            Local::Matrix(matrix) => Polar::of(matrix.matrix3).rotation,
        }
    }

    /// The same turned about the node's own place, by a rotation in the parent's axes. Scale and
    /// shear are turned along.
    pub fn turned(&self, by: DQuat) -> Local {
        match self {
            Local::Trs(trs) => Local::Trs(Trs {
                rotation: by * trs.rotation,
                ..*trs
            }),
            Local::Matrix(matrix) => Local::Matrix(DAffine3 {
                matrix3: DMat3::from_quat(by) * matrix.matrix3,
                translation: matrix.translation,
            }),
        }
    }

    /// The same at another place in its parent.
    pub fn moved_to(&self, translation: DVec3) -> Local {
        match self {
            Local::Trs(trs) => Local::Trs(Trs {
                translation,
                ..*trs
            }),
            Local::Matrix(matrix) => Local::Matrix(DAffine3 {
                translation,
                ..*matrix
            }),
        }
    }

    /// True if no entry is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        match self {
            Local::Trs(trs) => {
                trs.translation.is_finite() && trs.rotation.is_finite() && trs.scale.is_finite()
            }
            Local::Matrix(matrix) => matrix.is_finite(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_follows_the_inverse_transpose_also_under_mirroring() {
        let maps = [
            DAffine3::from_scale(DVec3::new(2.0, 0.5, 3.0)),
            DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0)),
            DAffine3 {
                matrix3: DMat3::from_cols_array(&[1.0, 0.3, -0.2, 0.7, -1.4, 0.1, 0.0, 0.6, 0.9]),
                translation: DVec3::new(5.0, 6.0, 7.0),
            },
        ];
        for map in maps {
            let normal = DVec3::new(0.48, -0.6, 0.64);
            let expected = (map.matrix3.inverse().transpose() * normal).normalize();
            let found = Affine::from_f64(&map).transform_normal(normal.as_vec3());
            assert!((found.as_dvec3() - expected).length() < 1e-6, "{map:?}");
        }
    }

    #[test]
    fn a_crushed_normal_stays_finite() {
        let plane = Affine::from_f64(&DAffine3::from_scale(DVec3::new(1.0, 1.0, 0.0)));
        assert_eq!(plane.transform_normal(Vec3::Z), Vec3::Z);
        let line = Affine::from_f64(&DAffine3::from_scale(DVec3::new(1.0, 0.0, 0.0)));
        assert_eq!(line.transform_normal(Vec3::X), Vec3::X);
        assert_eq!(Affine::ZERO.transform_normal(Vec3::Y), Vec3::Y);
    }

    #[test]
    fn normals_do_not_care_for_the_size_of_a_map() {
        let turned = DAffine3::from_rotation_x(0.7);
        for size in [1e-18, 1e-9, 1.0, 1e9, 1e18] {
            let scaled = turned * DAffine3::from_scale(DVec3::new(size, 2.0 * size, -size));
            let expected =
                (scaled.matrix3.inverse().transpose() * DVec3::new(0.6, 0.8, 0.0)).normalize();
            assert!(Affine::from_f64(&scaled).mirrors(), "{size}");
            let found = Affine::from_f64(&scaled).transform_normal(Vec3::new(0.6, 0.8, 0.0));
            assert!((found.as_dvec3() - expected).length() < 1e-6, "{size}");
        }
    }

    #[test]
    fn rows_are_the_rows_of_the_matrix() {
        let map = DAffine3 {
            matrix3: DMat3::from_cols_array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0]),
            translation: DVec3::new(10.0, 11.0, 12.0),
        };
        let affine = Affine::from_f64(&map);
        assert_eq!(affine.rows[0].to_array(), [1.0, 4.0, 7.0, 10.0]);
        assert_eq!(affine.determinant(), -3.0);
        assert!((affine.scale_factor() + 3f64.cbrt()).abs() < 1e-12);
        let point = DVec3::new(0.5, -1.0, 2.0);
        assert_eq!(
            affine.transform_point(point.as_vec3()).as_dvec3(),
            map.transform_point3(point)
        );
        assert_eq!(affine.to_f64(), map);
        let turn = DAffine3::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let found = affine.after(&Affine::from_f64(&turn)).to_f64();
        assert!(found.abs_diff_eq(map * turn, 1e-6));
    }
}
