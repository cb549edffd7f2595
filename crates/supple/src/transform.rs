//! Transforms: [`Affine`] in the vertex loop, [`Local`] and [`Trs`] in poses.
//!
//! Poses and kinematics run in `f64` because there are few joints; the palette and the vertex loop
//! run in `f32`.

pub use crate::polar::Polar;

use glam::{Affine3A, DAffine3, DMat3, DMat4, DQuat, DVec3, Mat3, Mat4, Vec3, Vec4};

/// A 3×4 affine map in `f32`, stored as three rows.
///
/// The papers write it `T ∈ R^{3×4}`. With rows, a blend is twelve multiply-adds in three
/// registers. The matrices and affine types of `glam`, and arrays of rows, convert with `From`:
///
/// ```
/// use supple::Affine;
/// use supple::glam::{Affine3A, Mat4, Vec3};
///
/// let lifted = Affine::from(Mat4::from_translation(Vec3::Y));
/// assert_eq!(lifted, Affine3A::from_translation(Vec3::Y).into());
/// assert_eq!(lifted.transform_point(Vec3::X), Vec3::new(1.0, 1.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Affine {
    /// The three rows; the fourth column is the translation.
    pub rows: [Vec4; 3],
}

impl Affine {
    /// The identity.
    pub const IDENTITY: Affine = Affine {
        rows: [Vec4::X, Vec4::Y, Vec4::Z],
    };

    /// The zero map: the sum that a blend starts from.
    pub(crate) const ZERO: Affine = Affine {
        rows: [Vec4::ZERO; 3],
    };

    /// Combines a linear map and the translation that follows it.
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

    /// Returns the twelve numbers, row after row.
    #[inline]
    pub fn to_array(&self) -> [f32; 12] {
        let [x, y, z] = self.rows;
        [x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w, z.x, z.y, z.z, z.w]
    }

    /// Returns this map followed by a translation.
    #[inline]
    #[must_use]
    pub(crate) fn shifted(&self, by: Vec3) -> Affine {
        let [x, y, z] = self.rows;
        let shift = |row: Vec4, by: f32| row + Vec4::new(0.0, 0.0, 0.0, by);
        Affine {
            rows: [shift(x, by.x), shift(y, by.y), shift(z, by.z)],
        }
    }

    /// Rounds a map in double precision.
    pub(crate) fn from_f64(map: &DAffine3) -> Affine {
        let m = map.matrix3.transpose();
        let t = map.translation;
        let row = |r: DVec3, t: f64| r.extend(t).as_vec4();
        Affine {
            rows: [row(m.x_axis, t.x), row(m.y_axis, t.y), row(m.z_axis, t.z)],
        }
    }

    /// Computes `self + other * weight`: one term of eq. (1) of the course.
    #[inline]
    #[must_use]
    pub(crate) fn add_scaled(&self, other: &Affine, weight: f32) -> Affine {
        let w = Vec4::splat(weight);
        Affine {
            rows: [
                self.rows[0] + other.rows[0] * w,
                self.rows[1] + other.rows[1] * w,
                self.rows[2] + other.rows[2] * w,
            ],
        }
    }

    /// Interpolates linearly: `self` at a share of 0, `other` at 1. Between equal maps the result
    /// is the same map, to the bit.
    #[inline]
    #[must_use]
    pub(crate) fn lerp(&self, other: &Affine, share: f32) -> Affine {
        self.add_scaled(&other.add_scaled(self, -1.0), share)
    }

    /// Returns the product `self · other`, which applies `other` first.
    #[inline]
    #[must_use]
    pub(crate) fn after(&self, other: &Affine) -> Affine {
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

    /// Converts to double precision.
    pub(crate) fn to_f64(self) -> DAffine3 {
        let [a, b, c] = self.rows.map(|row| row.as_dvec4());
        DAffine3 {
            matrix3: DMat3::from_cols(a.truncate(), b.truncate(), c.truncate()).transpose(),
            translation: DVec3::new(a.w, b.w, c.w),
        }
    }

    /// Transforms a point: the translation is applied.
    #[inline]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::new(
            self.rows[0].dot(p),
            self.rows[1].dot(p),
            self.rows[2].dot(p),
        )
    }

    /// Transforms a direction: the translation is not applied.
    #[inline]
    pub(crate) fn transform_vector(&self, vector: Vec3) -> Vec3 {
        let v = vector.extend(0.0);
        Vec3::new(
            self.rows[0].dot(v),
            self.rows[1].dot(v),
            self.rows[2].dot(v),
        )
    }

    /// The determinant of the linear part, in double precision: for very small and very large maps
    /// it overflows or underflows `f32`.
    #[inline]
    pub(crate) fn determinant(&self) -> f64 {
        let [a, b, c] = self.rows.map(|row| row.truncate().as_dvec3());
        a.dot(b.cross(c))
    }

    /// Returns true if the map mirrors, at any scale.
    #[inline]
    pub(crate) fn mirrors(&self) -> bool {
        self.determinant() < 0.0
    }

    /// The factor of a uniform scale, or the geometric mean of a non-uniform one; negative if the
    /// map mirrors.
    pub fn scale_factor(&self) -> f64 {
        self.determinant().cbrt()
    }

    /// Transforms a unit normal by the inverse transpose of the linear part and normalises it.
    ///
    /// The inverse transpose of `A` is `cof(A) / det(A)`. Only its direction matters, so the
    /// cofactors with the sign of the determinant are enough: they need no division and stay finite
    /// if `A` is singular. If the cofactors vanish too (the surface is flattened to a line), the
    /// normal is transformed by `A` itself; if that vanishes, the normal is unchanged.
    #[inline]
    pub(crate) fn transform_normal(&self, normal: Vec3) -> Vec3 {
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

    /// Transforms a normal by a map so large, small or flat that the products overflow or underflow
    /// `f32`.
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

    /// Transforms a unit tangent and normalises it; `w` is the sign of the bitangent.
    #[inline]
    pub(crate) fn transform_tangent(&self, tangent: Vec4) -> Vec4 {
        let along = self.transform_vector(tangent.truncate());
        posed_tangent(tangent, along, self.mirrors())
    }
}

/// The linear blend of a palette: `Σ w_j T_j`.
#[inline]
pub(crate) fn linear_blend(joints: &[u16], weights: &[f32], palette: &[Affine]) -> Affine {
    let mut blend = Affine::ZERO;
    for (&joint, &weight) in joints.iter().zip(weights) {
        blend = blend.add_scaled(&palette[usize::from(joint)], weight);
    }
    blend
}

/// Normalises a posed tangent; a mirror flips the sign of the bitangent in `w`.
#[inline]
pub(crate) fn posed_tangent(rest: Vec4, along: Vec3, mirrored: bool) -> Vec4 {
    let side = if mirrored { -rest.w } else { rest.w };
    along.normalize_or(rest.truncate()).extend(side)
}

impl From<Mat4> for Affine {
    /// Takes the first three rows; the last row of an affine map is `(0, 0, 0, 1)`.
    #[inline]
    fn from(matrix: Mat4) -> Affine {
        let rows = matrix.transpose();
        Affine {
            rows: [rows.x_axis, rows.y_axis, rows.z_axis],
        }
    }
}

impl From<Affine3A> for Affine {
    #[inline]
    fn from(map: Affine3A) -> Affine {
        Affine::from_mat3_translation(map.matrix3.into(), map.translation.into())
    }
}

impl From<DAffine3> for Affine {
    /// Rounds to single precision.
    #[inline]
    fn from(map: DAffine3) -> Affine {
        Affine::from_f64(&map)
    }
}

impl From<[[f32; 4]; 3]> for Affine {
    /// Takes three rows.
    #[inline]
    fn from(rows: [[f32; 4]; 3]) -> Affine {
        Affine {
            rows: rows.map(Vec4::from_array),
        }
    }
}

impl From<[f32; 12]> for Affine {
    /// Takes twelve numbers, row after row, as [`Affine::to_array`] returns them.
    #[inline]
    fn from(numbers: [f32; 12]) -> Affine {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = numbers;
        Affine::from([[a, b, c, d], [e, f, g, h], [i, j, k, l]])
    }
}

impl From<Affine> for Mat4 {
    #[inline]
    fn from(map: Affine) -> Mat4 {
        let [x, y, z] = map.rows;
        Mat4::from_cols(x, y, z, Vec4::W).transpose()
    }
}

impl From<Affine> for Affine3A {
    #[inline]
    fn from(map: Affine) -> Affine3A {
        Affine3A::from_mat4(map.into())
    }
}

impl From<Affine> for DAffine3 {
    #[inline]
    fn from(map: Affine) -> DAffine3 {
        map.to_f64()
    }
}

impl From<Affine> for [[f32; 4]; 3] {
    /// Returns the three rows.
    #[inline]
    fn from(map: Affine) -> [[f32; 4]; 3] {
        map.rows.map(|row| row.to_array())
    }
}

/// Translation, rotation and scale: the scale is applied first, the translation last.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trs {
    /// Applied last.
    pub translation: DVec3,
    /// A unit quaternion.
    pub rotation: DQuat,
    /// Applied first, along the local axes; may be negative.
    pub scale: DVec3,
}

impl Trs {
    /// The identity.
    pub const IDENTITY: Trs = Trs {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// Creates a pure translation.
    pub fn from_translation(translation: DVec3) -> Trs {
        Trs {
            translation,
            ..Trs::IDENTITY
        }
    }

    /// Converts to an affine map.
    pub fn to_affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// The transform of a node relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Local {
    /// Translation, rotation and scale, which clips can animate.
    Trs(Trs),
    /// A matrix from a file, kept because it may contain shear, which a [`Trs`] cannot express.
    Matrix(DAffine3),
}

impl Local {
    /// Converts to an affine map.
    pub fn to_affine(&self) -> DAffine3 {
        match self {
            Local::Trs(trs) => trs.to_affine(),
            Local::Matrix(matrix) => *matrix,
        }
    }

    /// Converts to translation, rotation and scale: exact unless a matrix contains shear.
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

    /// The rotation relative to the parent; for a matrix with scale or shear, the rotation of its
    /// polar decomposition.
    pub fn rotation(&self) -> DQuat {
        match self {
            Local::Trs(trs) if trs.rotation.length_squared() > 0.0 => trs.rotation.normalize(),
            Local::Trs(_) => DQuat::IDENTITY,
            Local::Matrix(matrix) => Polar::of(matrix.matrix3).rotation,
        }
    }

    /// Returns the transform rotated about the node's own position, by a rotation in the parent's
    /// axes. Scale and shear rotate along with it.
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

    /// Returns the transform with another translation.
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

    /// Returns true if no entry is NaN or infinite.
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
    fn glam_types_and_arrays_convert_both_ways() {
        let map = Affine::from([1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 12., 11.]);
        let point = Vec3::new(1.0, -2.0, 0.5);
        let expected = map.transform_point(point);
        assert_eq!(Mat4::from(map).transform_point3(point), expected);
        assert_eq!(Affine3A::from(map).transform_point3(point), expected);
        assert_eq!(
            DAffine3::from(map).transform_point3(point.as_dvec3()),
            expected.as_dvec3()
        );
        let rows: [[f32; 4]; 3] = map.into();
        assert_eq!(rows[1], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(Affine::from(Mat4::from(map)), map);
        assert_eq!(Affine::from(Affine3A::from(map)), map);
        assert_eq!(Affine::from(DAffine3::from(map)), map);
        assert_eq!(Affine::from(rows), map);
        assert_eq!(Affine::from(map.to_array()), map);
    }

    #[cfg(feature = "bytemuck")]
    #[test]
    fn a_map_is_twelve_numbers_for_a_gpu() {
        let numbers: [f32; 12] = std::array::from_fn(|index| index as f32);
        let map = Affine::from(numbers);
        assert_eq!(
            bytemuck::bytes_of(&map),
            bytemuck::cast_slice::<f32, u8>(&numbers)
        );
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
