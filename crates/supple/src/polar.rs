//! The polar decomposition of a 3×3 matrix: a rotation after a stretch.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8, f64x8};
use glam::{DMat3, DQuat, DVec3};

/// `A = rotation · stretch`, exactly (the stretch is `rotationᵀ · A`).
///
/// The rotation is proper for any `A`:
///
/// - `A` with a positive determinant: the usual polar decomposition, with a symmetric positive
///   stretch.
///
/// - Mirroring (negative determinant): contained in the stretch, as a negative factor along the
///   direction that is stretched least. So a scale that runs from 1 through 0 to −1 stays
///   continuous. Of several directions that are stretched alike, the one that leaves the rotation
///   nearest to the identity is used.
///
/// - A lost dimension: the rotation of the remaining dimensions. For a line the shortest arc, for a
///   point the identity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polar {
    /// A proper rotation, of unit length.
    pub rotation: DQuat,
    /// The stretch, applied before the rotation.
    pub stretch: DMat3,
}

/// A matrix whose columns are orthonormal up to this is a rotation: the noise of `f32` entries is a
/// tenth of it.
const ROTATION_NOISE: f64 = 2e-6;

/// Singular values that differ by less than this share count as equal when a mirror must choose its
/// direction.
const ALIKE: f64 = 1e-4;

/// A singular value below this share of the largest is a lost dimension: the rounding of `f32`
/// entries, with a margin.
const LOST: f64 = 1e-6;

impl Polar {
    /// Decomposes any matrix. For non-finite input, the rotation is the identity and the stretch is
    /// the input.
    pub fn of(matrix: DMat3) -> Polar {
        let size = largest_entry(&matrix);
        if size == 0.0 || !size.is_finite() {
            return Polar {
                rotation: DQuat::IDENTITY,
                stretch: matrix,
            };
        }
        let gram = matrix.transpose() * matrix;
        if largest_entry(&(gram - DMat3::IDENTITY)) < ROTATION_NOISE && matrix.determinant() > 0.0 {
            return Polar {
                rotation: DQuat::from_mat3(&matrix).normalize(),
                stretch: DMat3::IDENTITY,
            };
        }
        let rotation = proper_rotation(&(matrix * (1.0 / size)));
        // Through the quaternion, so that the product of the two is the matrix to the last digit.
        let rotation = DQuat::from_mat3(&rotation).normalize();
        Polar {
            rotation,
            stretch: DMat3::from_quat(rotation).transpose() * matrix,
        }
    }
}

/// The rotation `R` for which `tr(RᵀM)` is greatest, by the eigenvectors of `MᵀM`.
struct Fitted {
    rotation: DMat3,
    /// The singular values, falling; zero along lost dimensions.
    singular: DVec3,
    axes: DMat3,
}

impl Fitted {
    /// For a matrix whose largest entry is 1.
    fn to(matrix: &DMat3) -> Fitted {
        let (squares, axes) = symmetric_eigen(&(matrix.transpose() * *matrix));
        let singular = squares.max(DVec3::ZERO).map(f64::sqrt);
        let Some(first) = (*matrix * axes.x_axis).try_normalize() else {
            return Fitted {
                rotation: DMat3::IDENTITY,
                singular: DVec3::ZERO,
                axes,
            };
        };
        let second = *matrix * axes.y_axis;
        let second = (second - first * first.dot(second)).try_normalize();
        let Some(second) = second.filter(|_| singular.y > LOST * singular.x) else {
            return Fitted {
                rotation: DMat3::from_quat(DQuat::from_rotation_arc(axes.x_axis, first)),
                singular: DVec3::X * singular.x,
                axes,
            };
        };
        let images = DMat3::from_cols(first, second, first.cross(second));
        Fitted {
            rotation: images * axes.transpose(),
            singular,
            axes,
        }
    }
}

/// The rotation of a matrix whose largest entry is 1.
fn proper_rotation(matrix: &DMat3) -> DMat3 {
    let Fitted {
        rotation,
        singular,
        axes,
    } = Fitted::to(matrix);
    let mirrors = matrix.determinant() < 0.0;
    let alike = |a: f64, b: f64| a - b <= ALIKE * singular.x;
    if !mirrors || singular.z <= LOST * singular.x || !alike(singular.y, singular.z) {
        return rotation;
    }
    // The orthogonal factor is rotation · (I − 2 n nᵀ) for any n among the directions that are
    // stretched alike; trace(rotation) is greatest where nᵀ Q n is least.
    let reflect = |n: DVec3| DMat3::IDENTITY - outer(n, n) * 2.0;
    let orthogonal = rotation * reflect(axes.z_axis);
    let symmetric = (orthogonal + orthogonal.transpose()) * 0.5;
    let choice = if alike(singular.x, singular.z) {
        symmetric
    } else {
        let within = DMat3::IDENTITY - outer(axes.x_axis, axes.x_axis);
        within * symmetric * within + outer(axes.x_axis, axes.x_axis) * 10.0
    };
    let direction = symmetric_eigen(&choice).1.z_axis;
    orthogonal * reflect(direction)
}

/// The rotation nearest to a matrix, `argmax tr(RᵀM)`: never a reflection, and continuous as the
/// smallest singular value passes through zero.
///
/// The largest root `λ` of the characteristic polynomial of Davenport's 4×4 matrix is the sum of
/// the singular values, the last one with the sign of the determinant. It gives the rotation in
/// closed form. If that is near 0/0, the rotation is barely determined and eigenvectors are used.
#[inline]
pub(crate) fn nearest_rotation(matrix: &DMat3) -> DMat3 {
    let norm = frobenius_squared(matrix).sqrt();
    let m = *matrix * norm.recip();
    let cofactors = cofactors(&m);
    let determinant = m.x_axis.dot(cofactors.x_axis);
    let cofactor_squares = frobenius_squared(&cofactors);
    // With unit norm: λ⁴ − 2λ² − 8 det λ + 1 − 4|cof|² = 0. Newton falls towards the largest root
    // from any bound above it, and λ² = 1 + 2(σ₁σ₂ + σ₂σ₃ + σ₃σ₁) is such a bound with √3|cof|
    // for the sum.
    let mut lambda = (1.0 + 2.0 * 3f64.sqrt() * cofactor_squares.sqrt()).sqrt();
    for _ in 0..40 {
        let square = lambda * lambda;
        let value =
            (square - 2.0) * square - 8.0 * determinant * lambda + 1.0 - 4.0 * cofactor_squares;
        let slope = 4.0 * (square - 1.0) * lambda - 8.0 * determinant;
        let step = value / slope;
        // An upward step is rounding only, which becomes arbitrarily large for a slope of nearly
        // zero: the root of a line is a double one.
        if step > 0.0 {
            lambda -= step;
        }
        // Newton doubles the digits.
        if step <= CLOSE_ENOUGH || step.is_nan() {
            break;
        }
    }
    let half = 0.5 * (lambda * lambda - 1.0);
    // (σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁)
    let gap = half * lambda - determinant;
    if is_doubtful(gap) {
        let size = largest_entry(matrix);
        return match size > 0.0 && size.is_finite() {
            true => Fitted::to(&(*matrix * size.recip())).rotation,
            false => DMat3::IDENTITY,
        };
    }
    let rotation = m * (half + 1.0) + cofactors * lambda - m * (m.transpose() * m);
    rotation * gap.recip()
}

/// A gap below which the closed form of a rotation has no more digits than `f32`: its root is
/// nearly a double one, so digits are lost twice as fast as the gap closes.
const UNDETERMINED: f64 = 1e-4;

/// True if a rotation is barely determined, or its numbers are not finite.
#[inline(always)]
fn is_doubtful(gap: f64) -> bool {
    gap <= UNDETERMINED || gap.is_nan()
}

/// A step of Newton's or Halley's method after which the next one would be lost in rounding.
const CLOSE_ENOUGH: f64 = 1e-10;

/// The matrix whose product with the transpose is the determinant.
#[inline]
pub(crate) fn cofactors(matrix: &DMat3) -> DMat3 {
    DMat3::from_cols(
        matrix.y_axis.cross(matrix.z_axis),
        matrix.z_axis.cross(matrix.x_axis),
        matrix.x_axis.cross(matrix.y_axis),
    )
}

/// Rotations side by side, row by row.
pub(crate) struct RotationLanes<S: Simd> {
    pub(crate) rotation: [f64x8<S>; 9],
    /// The lanes in which the closed form does not hold; use [`nearest_rotation`] instead.
    pub(crate) doubtful: [bool; 8],
}

/// The cofactors of matrices side by side, row by row.
#[inline(always)]
pub(crate) fn cofactor_lanes<S: Simd, V: SimdFloat<S>>(m: &[V; 9]) -> [V; 9] {
    let [a, b, c, d, e, f, g, h, i] = *m;
    [
        e.mul_sub(i, f * h),
        f.mul_sub(g, d * i),
        d.mul_sub(h, e * g),
        c.mul_sub(h, b * i),
        a.mul_sub(i, c * g),
        b.mul_sub(g, a * h),
        b.mul_sub(f, c * e),
        c.mul_sub(d, a * f),
        a.mul_sub(e, b * d),
    ]
}

/// Matrices side by side, in either precision, with the values that the closed form of
/// [`nearest_rotation`] needs.
struct Matrices<V> {
    matrix: [V; 9],
    cofactors: [V; 9],
    determinant: V,
    /// `‖M‖²` and `‖cof M‖²`.
    squares: V,
    cofactor_squares: V,
}

impl<V> Matrices<V> {
    #[inline(always)]
    fn of<S: Simd>(matrix: &[V; 9]) -> Matrices<V>
    where
        V: SimdFloat<S>,
    {
        let m = *matrix;
        let cofactors = cofactor_lanes(matrix);
        Matrices {
            matrix: m,
            determinant: m[0].mul_add(
                cofactors[0],
                m[1].mul_add(cofactors[1], m[2] * cofactors[2]),
            ),
            squares: sum_of_squares(&m),
            cofactor_squares: sum_of_squares(&cofactors),
            cofactors,
        }
    }

    /// The matrices, each divided by its norm.
    #[inline(always)]
    fn of_unit_norm<S: Simd>(simd: S, matrix: &[V; 9]) -> Matrices<V>
    where
        V: SimdFloat<S>,
        V::Element: From<f32>,
    {
        let per_norm = V::splat(simd, 1f32.into()) / sum_of_squares(matrix).sqrt();
        let mut unit = *matrix;
        for entry in &mut unit {
            *entry *= per_norm;
        }
        Matrices::of(&unit)
    }

    /// The rotations for the roots, and the gaps `(σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁)`.
    #[inline(always)]
    fn rotations<S: Simd>(&self, simd: S, lambda: V) -> ([V; 9], V)
    where
        V: SimdFloat<S>,
        V::Element: From<f32>,
    {
        let splat = |number: f32| V::splat(simd, number.into());
        let m = &self.matrix;
        let half = (lambda * lambda - self.squares) * splat(0.5);
        let gap = half.mul_sub(lambda, self.determinant);
        let per_gap = splat(1.0) / gap;
        let of_matrix = half + self.squares;
        let [xx, xy, xz, yy, yz, zz] = gram_lanes(m);
        let gram = [xx, xy, xz, xy, yy, yz, xz, yz, zz];
        let mut rotation = *m;
        for row in 0..3 {
            for column in 0..3 {
                let at = 3 * row + column;
                let cube = product_entry(m, &gram, row, column);
                let sum = m[at].mul_add(of_matrix, self.cofactors[at].mul_sub(lambda, cube));
                rotation[at] = sum * per_gap;
            }
        }
        (rotation, gap)
    }
}

/// The sum of squares of the entries of matrices; in three sums, to shorten the chain of
/// dependencies.
#[inline(always)]
fn sum_of_squares<S: Simd, V: SimdFloat<S>>(m: &[V; 9]) -> V {
    let row = |at: usize| m[at].mul_add(m[at], m[at + 1].mul_add(m[at + 1], m[at + 2] * m[at + 2]));
    row(0) + row(3) + row(6)
}

/// `λ⁴ − 2‖M‖²λ² − 8 det λ + ‖M‖⁴ − 4‖cof M‖²`, whose largest root is `λ = σ₁ + σ₂ + σ₃`.
#[derive(Clone, Copy)]
struct Quartics<V> {
    squares: V,
    determinant: V,
    cofactor_squares: V,
}

impl<V> Quartics<V> {
    #[inline(always)]
    fn of(matrices: &Matrices<V>) -> Quartics<V>
    where
        V: Copy,
    {
        Quartics {
            squares: matrices.squares,
            determinant: matrices.determinant,
            cofactor_squares: matrices.cofactor_squares,
        }
    }

    /// A bound above all roots, and near the largest.
    ///
    /// With `s = σ₁σ₂ + σ₂σ₃ + σ₃σ₁`, `λ² = ‖M‖² + 2s` and `s² = ‖cof M‖² + 2λ det`. On the right,
    /// `λ` is at most `√3 ‖M‖`, and at least `‖M‖`: so this is exact for a ball, and for any flat
    /// matrix.
    #[inline(always)]
    fn above_roots<S: Simd>(&self, simd: S) -> V
    where
        V: SimdFloat<S>,
        V::Element: From<f32>,
    {
        let splat = |number: f32| V::splat(simd, number.into());
        let most = self.determinant.max(self.determinant * splat(3f32.sqrt()));
        let square = (most * splat(2.0))
            .mul_add(self.squares.sqrt(), self.cofactor_squares)
            .max(splat(0.0));
        square.sqrt().mul_add(splat(2.0), self.squares).sqrt()
    }

    /// The next step of Halley's method. Each one triples the number of digits, for a single
    /// division.
    #[inline(always)]
    fn step<S: Simd>(&self, simd: S, lambda: V) -> V
    where
        V: SimdFloat<S>,
        V::Element: From<f32>,
    {
        let splat = |number: f32| V::splat(simd, number.into());
        let (two, three, four, eight) = (splat(2.0), splat(3.0), splat(4.0), splat(8.0));
        let constant = self
            .squares
            .mul_sub(self.squares, four * self.cofactor_squares);
        let square = lambda * lambda;
        let linear = constant - eight * self.determinant * lambda;
        let value = (square - two * self.squares).mul_add(square, linear);
        // A quarter of the slope, and half of the change of the slope.
        let slope = (square - self.squares).mul_sub(lambda, two * self.determinant);
        let bend = three.mul_sub(square, self.squares);
        let denominator = (eight * slope).mul_sub(slope, value * bend);
        two * value * slope / denominator
    }
}

/// The number of Halley's steps in single precision: after two from [`Quartics::above_roots`], the
/// root differs by rounding only, if the gap is wide.
const SINGLE_STEPS: usize = 2;

/// The largest roots up to the rounding of `f32`.
#[inline(always)]
fn single_roots<S: Simd, V: SimdFloat<S>>(simd: S, quartics: Quartics<V>) -> V
where
    V::Element: From<f32>,
{
    let mut lambda = quartics.above_roots(simd);
    for _ in 0..SINGLE_STEPS {
        lambda -= quartics.step(simd, lambda);
    }
    lambda
}

/// The same numbers in double precision.
#[inline(always)]
pub(crate) fn widened<S: Simd>(simd: S, single: f32x8<S>) -> f64x8<S> {
    let mut numbers = [0.0; 8];
    single.store_slice(&mut numbers);
    let mut wide = [0.0; 8];
    for at in 0..8 {
        wide[at] = f64::from(numbers[at]);
    }
    f64x8::from_slice(simd, &wide)
}

/// The same numbers in single precision.
#[inline(always)]
pub(crate) fn narrowed<S: Simd>(simd: S, wide: f64x8<S>) -> f32x8<S> {
    let mut numbers = [0.0; 8];
    wide.store_slice(&mut numbers);
    let mut single = [0.0; 8];
    for at in 0..8 {
        single[at] = numbers[at] as f32;
    }
    f32x8::from_slice(simd, &single)
}

/// [`nearest_rotation`] of eight matrices at once, row by row.
#[inline(always)]
pub(crate) fn nearest_rotations<S: Simd>(simd: S, matrix: &[f64x8<S>; 9]) -> RotationLanes<S> {
    let splat = |number: f64| f64x8::splat(simd, number);
    let unit = Matrices::of_unit_norm(simd, matrix);
    let quartics = Quartics::of(&unit);
    let start = Quartics {
        squares: narrowed(simd, quartics.squares),
        determinant: narrowed(simd, quartics.determinant),
        cofactor_squares: narrowed(simd, quartics.cofactor_squares),
    };
    let mut lambda = widened(simd, single_roots(simd, start));
    for _ in 0..40 {
        let step = quartics.step(simd, lambda);
        lambda -= step;
        // From either side, since the start is rounded. A NaN does not count as far: the gap
        // catches it.
        let far = step.simd_gt(splat(CLOSE_ENOUGH)) | step.simd_lt(splat(-CLOSE_ENOUGH));
        if !far.any_true() {
            break;
        }
    }
    let (rotation, gap) = unit.rotations(simd, lambda);
    let mut gaps = [0.0; 8];
    gap.store_slice(&mut gaps);
    RotationLanes {
        rotation,
        doubtful: gaps.map(is_doubtful),
    }
}

/// The narrowest gap `(σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁)` of a matrix of unit norm for which
/// [`single_rotations`] answers: its error grows with the reciprocal of the gap.
const WIDE_GAP: f32 = 0.2;

/// The range of squared norms for single precision: intermediate results go up to the seventh power
/// of the norm.
const USUAL_SQUARES: [f32; 2] = [1e-4, 1e4];

/// The largest `|tr(RᵀR) − 3|` with which the closed form counts as converged. A root that is off
/// by `δ` stretches the rotation by `δ (λ² − σᵢ²) / gap` along each axis, all with the same sign,
/// so the trace shows it.
const LARGEST_DEFECT: f32 = 1e-3;

/// Finds the nearest rotations in single precision, and the lanes in which its precision does not
/// suffice, as bits. Matrices should have about unit norm.
///
/// # Error
///
/// With the unit roundoff `u = 2⁻²⁴` and the gap of the matrix at unit norm, the result differs
/// from the nearest rotation of the given (rounded) matrix by `R (S + T)` to first order, with `S`
/// symmetric (lengths change) and `T` antisymmetric (a turn):
///
/// - `‖S‖ ≤ 6u`. Errors of scalars (`λ`, `‖M‖²`, the gap) only stretch: `R` has the singular
///   vectors of `M` for any `λ`. The last step of Newton and Schulz squares that stretch away, and
///   leaves its own rounding: three multiply-adds for `RᵀR`, three for the product.
/// - `‖T‖ ≤ (3 + 7 / gap) u`. Entries of `λ cof M` carry `3u` of terms of at most `½λ`, those of `M
///   MᵀM` carry `4u`; both are divided by the gap. Scaling by the reciprocal of the gap and the
///   last step add three roundings of a unit.
///
/// So the whole is below `44u = 2.6e-6` at the narrowest gap, and `12u` for round patches.
/// [`tests::single_rotations_keep_their_error_bound`] confirms both bounds on 100,000 matrices.
#[inline(always)]
pub(crate) fn single_rotations<S: Simd, V>(simd: S, matrix: &[V; 9]) -> ([V; 9], u64)
where
    V: SimdFloat<S, Element = f32>,
{
    let matrices = Matrices::of(matrix);
    let lambda = single_roots(simd, Quartics::of(&matrices));
    let (rotation, gap) = matrices.rotations(simd, lambda);
    let (rotation, trace) = orthonormalised(simd, &rotation);
    let squares = matrices.squares;
    let cube = squares * squares * squares;
    let wide = (gap * gap).simd_gt(cube * (WIDE_GAP * WIDE_GAP)) & gap.simd_gt(0.0);
    let usual = squares.simd_gt(USUAL_SQUARES[0]) & squares.simd_lt(USUAL_SQUARES[1]);
    let converged = trace.simd_gt(3.0 - LARGEST_DEFECT) & trace.simd_lt(3.0 + LARGEST_DEFECT);
    let unsure = !(wide & usual & converged).to_bitmask();
    (rotation, unsure)
}

/// One step of Newton and Schulz towards the rotation with the same singular vectors,
/// `R (3 − RᵀR) / 2`, and `tr(RᵀR)` from before it.
#[inline(always)]
fn orthonormalised<S: Simd, V>(simd: S, r: &[V; 9]) -> ([V; 9], V)
where
    V: SimdFloat<S, Element = f32>,
{
    let [xx, xy, xz, yy, yz, zz] = gram_lanes(r);
    let diagonal = V::splat(simd, 1.5);
    let minus_half = V::splat(simd, -0.5);
    let within = |square: V| square.mul_add(minus_half, diagonal);
    let across = |product: V| product * minus_half;
    let factor = [
        within(xx),
        across(xy),
        across(xz),
        across(xy),
        within(yy),
        across(yz),
        across(xz),
        across(yz),
        within(zz),
    ];
    let mut rotation = *r;
    for row in 0..3 {
        for column in 0..3 {
            rotation[3 * row + column] = product_entry(r, &factor, row, column);
        }
    }
    (rotation, xx + yy + zz)
}

/// The entries xx, xy, xz, yy, yz, zz of `MᵀM`.
#[inline(always)]
fn gram_lanes<S: Simd, V: SimdFloat<S>>(m: &[V; 9]) -> [V; 6] {
    let dot = |a: usize, b: usize| {
        let sum = m[a + 3].mul_add(m[b + 3], m[a + 6] * m[b + 6]);
        m[a].mul_add(m[b], sum)
    };
    [
        dot(0, 0),
        dot(0, 1),
        dot(0, 2),
        dot(1, 1),
        dot(1, 2),
        dot(2, 2),
    ]
}

/// An entry of the product of two matrices.
#[inline(always)]
fn product_entry<S: Simd, V: SimdFloat<S>>(a: &[V; 9], b: &[V; 9], row: usize, column: usize) -> V {
    let sum = a[3 * row + 1].mul_add(b[3 + column], a[3 * row + 2] * b[6 + column]);
    a[3 * row].mul_add(b[column], sum)
}

/// The sum of the squares of all entries.
#[inline]
pub(crate) fn frobenius_squared(matrix: &DMat3) -> f64 {
    matrix.x_axis.length_squared() + matrix.y_axis.length_squared() + matrix.z_axis.length_squared()
}

/// The sum of the eigenvalues.
pub(crate) fn trace(matrix: &DMat3) -> f64 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

/// The sum of the principal minors: of the products of two eigenvalues each.
pub(crate) fn minors(matrix: &DMat3) -> f64 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    x.x * y.y - x.y * y.x + y.y * z.z - y.z * z.y + z.z * x.x - z.x * x.z
}

/// `a bᵀ`.
#[inline]
pub(crate) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn largest_entry(matrix: &DMat3) -> f64 {
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    if columns.iter().any(|column| !column.is_finite()) {
        return f64::INFINITY;
    }
    let largest = columns.map(|column| column.abs().max_element());
    largest.into_iter().fold(0.0, f64::max)
}

/// Eigenvalues of a symmetric matrix, falling, and its eigenvectors as the columns of a rotation:
/// Jacobi's method.
pub(crate) fn symmetric_eigen(matrix: &DMat3) -> (DVec3, DMat3) {
    let mut m = matrix.to_cols_array_2d();
    let mut vectors = DMat3::IDENTITY.to_cols_array_2d();
    // Each sweep squares what is left off the diagonal; six reach the last digit, more cost
    // nothing.
    for _ in 0..12 {
        if m[0][1] == 0.0 && m[0][2] == 0.0 && m[1][2] == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if m[p][q] == 0.0 {
                continue;
            }
            let slope = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
            let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            for row in &mut m {
                let (a, b) = (row[p], row[q]);
                row[p] = cosine * a - sine * b;
                row[q] = sine * a + cosine * b;
            }
            for k in 0..3 {
                let (a, b) = (m[p][k], m[q][k]);
                m[p][k] = cosine * a - sine * b;
                m[q][k] = sine * a + cosine * b;
                let (a, b) = (vectors[p][k], vectors[q][k]);
                vectors[p][k] = cosine * a - sine * b;
                vectors[q][k] = sine * a + cosine * b;
            }
            m[p][q] = 0.0;
            m[q][p] = 0.0;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| m[b][b].total_cmp(&m[a][a]));
    let [x, y, z] = order.map(|index| DVec3::from_array(vectors[index]));
    let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    let values = order.map(|index| m[index][index]);
    (DVec3::from_array(values), DMat3::from_cols(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::InstructionSet;
    use fearless_simd::{dispatch, f32x16};
    use glam::{DVec4, Mat3};
    use proptest::prelude::*;
    use proptest::test_runner::TestRng;

    /// The unit roundoff of `f32`.
    const ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

    fn matrix() -> impl Strategy<Value = DMat3> {
        prop::array::uniform9(-2.0..2.0f64).prop_map(|entries| DMat3::from_cols_array(&entries))
    }

    fn rotation() -> impl Strategy<Value = DQuat> {
        prop::array::uniform4(-1.0..1.0f64)
            .prop_filter("a direction", |q| {
                q.iter().map(|x| x * x).sum::<f64>() > 0.01
            })
            .prop_map(|q| DQuat::from_array(q).normalize())
    }

    fn close(a: &DMat3, b: &DMat3, tolerance: f64) -> bool {
        largest_entry(&(*a - *b)) <= tolerance
    }

    /// `tr(Rᵀ M)`: how near a rotation is to a matrix.
    fn nearness(rotation: DQuat, m: DMat3) -> f64 {
        let r = DMat3::from_quat(rotation);
        r.x_axis.dot(m.x_axis) + r.y_axis.dot(m.y_axis) + r.z_axis.dot(m.z_axis)
    }

    proptest! {
        #[test]
        fn no_rotation_is_nearer(m in matrix(), axis in prop::array::uniform3(-3.0f64..3.0)) {
            let best = Polar::of(m).rotation;
            let other = DQuat::from_scaled_axis(DVec3::from_array(axis));
            prop_assert!(nearness(other, m) <= nearness(best, m) + 1e-9);
            // Also none close by, where a mere guess would be beaten.
            let near = DQuat::from_scaled_axis(DVec3::from_array(axis) * 1e-3) * best;
            prop_assert!(nearness(near, m) <= nearness(best, m) + 1e-9);
        }

        #[test]
        fn the_closed_form_finds_the_same_rotation(m in matrix()) {
            let found = nearest_rotation(&m);
            prop_assert!(close(&(found * found.transpose()), &DMat3::IDENTITY, 1e-9));
            prop_assert!(found.determinant() > 0.0);
            let best = Polar::of(m).rotation;
            prop_assert!(nearness(DQuat::from_mat3(&found), m) >= nearness(best, m) - 1e-9);
        }

        #[test]
        fn the_closed_form_stays_a_rotation_where_it_is_hardly_determined(
            left in rotation(),
            right in rotation(),
            middle in 0.01..0.99f64,
            least in -9.0..0.0f64,
            thin in any::<bool>(),
        ) {
            let least = 10f64.powf(least);
            let factors = if thin {
                DVec3::new(1.0, least, 0.3 * least)
            } else {
                DVec3::new(1.0, middle, least - middle)
            };
            let m =
                DMat3::from_quat(left) * DMat3::from_diagonal(factors) * DMat3::from_quat(right);
            let found = nearest_rotation(&m);
            prop_assert!(
                close(&(found * found.transpose()), &DMat3::IDENTITY, 1e-6),
                "{:?}",
                found
            );
            prop_assert!(found.determinant() > 0.0);
            let expected = DMat3::from_quat(left) * DMat3::from_quat(right);
            prop_assert!(
                least < 2e-6 || close(&found, &expected, 1e-6 + 1e-14 / least.powi(2)),
                "{found:?} for {expected:?}"
            );
        }

        #[test]
        fn the_closed_form_turns_a_line_along(
            left in rotation(),
            right in rotation(),
            least in -40.0..-6.0f64,
        ) {
            let factors = DVec3::new(1.0, 10f64.powf(least), 0.0);
            let m =
                DMat3::from_quat(left) * DMat3::from_diagonal(factors) * DMat3::from_quat(right);
            let found = nearest_rotation(&m);
            prop_assert!(
                close(&(found * found.transpose()), &DMat3::IDENTITY, 1e-9),
                "{:?}",
                found
            );
            prop_assert!(found.determinant() > 0.0);
            let [from, to] = [right.conjugate() * DVec3::X, left * DVec3::X];
            prop_assert!(
                (found * from).abs_diff_eq(to, 1e-5),
                "{} for {to}",
                found * from
            );
        }

        #[test]
        fn eigenvectors_are_those(matrix in matrix()) {
            let symmetric = matrix + matrix.transpose();
            let (values, vectors) = symmetric_eigen(&symmetric);
            prop_assert!(values.x >= values.y && values.y >= values.z);
            prop_assert!((vectors.determinant() - 1.0).abs() < 1e-12);
            prop_assert!(close(
                &(symmetric * vectors),
                &(vectors * DMat3::from_diagonal(values)),
                1e-12
            ));
        }

        #[test]
        fn rotation_times_stretch_is_the_matrix(matrix in matrix()) {
            let polar = Polar::of(matrix);
            let rotation = DMat3::from_quat(polar.rotation);
            prop_assert!(close(&(rotation * polar.stretch), &matrix, 1e-12));
            let stretch = polar.stretch;
            prop_assert!(close(&stretch, &stretch.transpose(), 1e-6), "symmetric: {stretch:?}");
            let (values, _) = symmetric_eigen(&stretch);
            // At most the least one is negative, and it is if and only if the matrix mirrors.
            prop_assert!(values.y > -1e-6);
            prop_assert!(values.z * matrix.determinant() > -1e-9);
            prop_assert!(values.z.abs() <= values.y + 1e-6);
        }

        #[test]
        fn rotations_and_stretches_come_back(
            rotation in rotation(),
            axes in rotation(),
            factors in prop::array::uniform3(0.05..3.0f64),
        ) {
            let axes = DMat3::from_quat(axes);
            let stretch =
                axes * DMat3::from_diagonal(DVec3::from_array(factors)) * axes.transpose();
            let polar = Polar::of(DMat3::from_quat(rotation) * stretch);
            prop_assert!(polar.rotation.dot(rotation).abs() > 1.0 - 1e-12);
            prop_assert!(close(&polar.stretch, &stretch, 1e-9));
        }

        #[test]
        fn a_turned_mirror_keeps_its_turn_where_no_direction_stands_out(
            rotation in rotation(),
            normal in rotation(),
        ) {
            prop_assume!(rotation.w.abs() > 0.05);
            let normal = normal * DVec3::X;
            let mirror = DMat3::IDENTITY - outer(normal, normal) * 2.0;
            // Q = R·M has a reflection axis of its own; the rotation that is left is never farther
            // than R is.
            let polar = Polar::of(DMat3::from_quat(rotation) * mirror);
            prop_assert!(polar.rotation.w.abs() >= rotation.w.abs() - 1e-9);
        }
    }

    fn norm(matrix: DMat3) -> f64 {
        frobenius_squared(&matrix).sqrt()
    }

    /// A rotation, uniformly distributed.
    fn uniform_rotation(rng: &mut TestRng) -> DMat3 {
        loop {
            let q = DVec4::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
            if (0.01..1.0).contains(&q.length_squared()) {
                return DMat3::from_quat(DQuat::from_vec4(q.normalize()));
            }
        }
    }

    /// A matrix of any shape from ball to line, also mirrored, and of a norm around one.
    fn patch_matrix(rng: &mut TestRng) -> Mat3 {
        let power = [0.3, 1.0, 3.0, 12.0][rng.random_range(0..4)];
        let factors = DVec3::from_array(std::array::from_fn(|_| rng.random_range(1e-6..1.0)));
        let mut factors = factors.powf(power);
        if rng.random() {
            factors.x = -factors.x;
        }
        let size = 10f64.powf(rng.random_range(-1.5..1.5));
        let stretch = DMat3::from_diagonal(factors / factors.length() * size);
        (uniform_rotation(rng) * stretch * uniform_rotation(rng)).as_mat3()
    }

    /// `(σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁)` of a matrix at unit norm, from its nearest rotation.
    fn gap(matrix: &DMat3, rotation: &DMat3) -> f64 {
        let stretch = rotation.transpose() * *matrix * norm(*matrix).recip();
        minors(&stretch) * trace(&stretch) - stretch.determinant()
    }

    proptest! {
        // 64 × 1,600 matrices.
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// On every instruction set; see [`single_rotations`].
        #[test]
        fn single_rotations_keep_their_error_bound(
            mut rng in Just(()).prop_perturb(|(), rng| rng),
        ) {
            for _ in 0..100 {
                let matrices: [Mat3; 16] = std::array::from_fn(|_| patch_matrix(&mut rng));
                let wide = matrices.map(|matrix| matrix.as_dmat3());
                let nearest =
                    wide.map(|matrix| Fitted::to(&(matrix / largest_entry(&matrix))).rotation);
                for level in InstructionSet::available().filter_map(InstructionSet::level) {
                    let (found, unsure) =
                        dispatch!(level, simd => single_rotations_of(simd, &matrices));
                    for lane in 0..16 {
                        let gap = gap(&wide[lane], &nearest[lane]);
                        if unsure >> lane & 1 != 0 {
                            prop_assert!(
                                gap < 1.001 * f64::from(WIDE_GAP),
                                "{:?} is refused",
                                wide[lane]
                            );
                            continue;
                        }
                        let off = nearest[lane].transpose() * found[lane].as_dmat3();
                        let stretched = norm((off + off.transpose()) * 0.5 - DMat3::IDENTITY);
                        let turned = norm((off - off.transpose()) * 0.5);
                        prop_assert!(
                            stretched <= 6.0 * ROUNDOFF,
                            "{:?}: {stretched:e}",
                            wide[lane]
                        );
                        prop_assert!(
                            turned <= (3.0 + 7.0 / gap) * ROUNDOFF,
                            "{:?}, gap {gap}: {turned:e}",
                            wide[lane]
                        );
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn single_rotations_of<S: Simd>(simd: S, matrices: &[Mat3; 16]) -> ([Mat3; 16], u64) {
        let rows = matrices.map(|matrix| matrix.transpose().to_cols_array());
        let entries: [f32x16<S>; 9] =
            std::array::from_fn(|entry| f32x16::from_slice(simd, &rows.map(|row| row[entry])));
        let (rotations, unsure) = single_rotations(simd, &entries);
        let mut lanes = [[0.0; 16]; 9];
        for (lanes, rotation) in lanes.iter_mut().zip(rotations) {
            rotation.store_slice(lanes);
        }
        let rotation =
            |lane: usize| Mat3::from_cols_array(&lanes.map(|entry| entry[lane])).transpose();
        (std::array::from_fn(rotation), unsure & 0xffff)
    }

    #[test]
    fn a_scale_through_zero_turns_nothing() {
        for factor in [1.0, 0.5, 1e-12, 0.0, -1e-12, -0.5, -1.0] {
            let matrix = DMat3::from_diagonal(DVec3::new(1.0, factor, 1.0));
            let polar = Polar::of(matrix);
            assert!(polar.rotation.w.abs() > 1.0 - 1e-12, "{factor}: {polar:?}");
            assert!(close(&polar.stretch, &matrix, 1e-12));
        }
    }

    #[test]
    fn a_line_is_turned_by_the_shortest_arc_also_when_its_matrix_is_rounded() {
        for step in 0..200 {
            let turn = |angle: f64, axis: DVec3| DQuat::from_axis_angle(axis.normalize(), angle);
            let before = turn(0.37 * f64::from(step), DVec3::new(1.0, 2.0, -0.5)) * DVec3::X;
            let after = turn(0.21 * f64::from(step), DVec3::new(0.3, -1.0, 2.0)) * DVec3::Y;
            let rounded = outer(after, before).as_mat3().as_dmat3();
            let found = Polar::of(rounded).rotation;
            let expected = DQuat::from_rotation_arc(before, after);
            if before.dot(after).abs() < 0.99 {
                assert!(found.dot(expected).abs() > 1.0 - 1e-9, "{step}");
            }
        }
    }

    #[test]
    fn lost_dimensions_have_an_answer() {
        assert_eq!(Polar::of(DMat3::ZERO).rotation, DQuat::IDENTITY);
        let turn = DMat3::from_rotation_z(1.0);
        let line = Polar::of(turn * DMat3::from_diagonal(DVec3::new(2.0, 0.0, 0.0)));
        assert!((line.rotation * DVec3::X).distance(turn * DVec3::X) < 1e-12);
        let plane = Polar::of(turn * DMat3::from_diagonal(DVec3::new(2.0, 0.5, 0.0)));
        assert!(close(&DMat3::from_quat(plane.rotation), &turn, 1e-12));
        assert!(
            Polar::of(DMat3::from_cols(DVec3::NAN, DVec3::X, DVec3::Y)).rotation == DQuat::IDENTITY
        );
        let tiny = Polar::of(turn * 1e-200);
        assert!(close(&DMat3::from_quat(tiny.rotation), &turn, 1e-12));
    }
}
