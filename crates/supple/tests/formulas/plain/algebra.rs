//! Matrices: polar rotations, square roots, logarithms, exponentials; by iterations and series that
//! can be checked at sight.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, DVec4};

/// `Σ w A`, entry by entry.
pub fn weighted_sum(terms: impl IntoIterator<Item = (f64, DAffine3)>) -> DAffine3 {
    let mut sum = DAffine3 {
        matrix3: DMat3::ZERO,
        translation: DVec3::ZERO,
    };
    for (weight, map) in terms {
        sum.matrix3 += map.matrix3 * weight;
        sum.translation += map.translation * weight;
    }
    sum
}

/// The rotation of a matrix with positive determinant: Newton's iteration `X ← (X + X⁻ᵀ) / 2`.
pub fn polar_rotation(matrix: DMat3) -> DMat3 {
    assert!(matrix.determinant() > 0.0, "{matrix:?} mirrors");
    let mut x = matrix;
    for _ in 0..100 {
        x = (x + x.inverse().transpose()) * 0.5;
    }
    x
}

/// The rotation `R` that maximises `tr(Rᵀ M)`, for any matrix; and how well it is determined: 1 for
/// a rotation, 0 where others serve as well.
///
/// As a quaternion it is the eigenvector of the largest eigenvalue of a symmetric 4×4 matrix (Horn
/// 1987), which is all that is left of a high power of it.
pub fn nearest_rotation(matrix: DMat3) -> (DMat3, f64) {
    let m = matrix * (1.0 / frobenius(matrix));
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis];
    let trace = x.x + y.y + z.z;
    // The axis of the antisymmetric part, and the symmetric part.
    let v = DVec3::new(y.z - z.y, z.x - x.z, x.y - y.x);
    let s = m + m.transpose() - DMat3::from_diagonal(DVec3::splat(trace));
    let horn = DMat4::from_cols(
        s.x_axis.extend(v.x),
        s.y_axis.extend(v.y),
        s.z_axis.extend(v.z),
        v.extend(trace),
    );
    // Its eigenvalues are within ±3, so that these are positive.
    let mut power = horn + DMat4::IDENTITY * 4.0;
    for _ in 0..24 {
        power *= power;
        let largest = power.to_cols_array().into_iter();
        power *= 1.0 / largest.fold(0.0, |a: f64, b| a.max(b.abs()));
    }
    let columns = [power.x_axis, power.y_axis, power.z_axis, power.w_axis];
    let longest =
        columns.into_iter().fold(
            DVec4::ZERO,
            |a, b| if b.length() > a.length() { b } else { a },
        );
    let rotation = DMat3::from_quat(DQuat::from_vec4(longest.normalize()));
    // Of a small turn x more, tr(Rᵀ M) loses xᵀ (tr P − P) x / 2 with the stretch P.
    let stretch = rotation.transpose() * m;
    let trace = stretch.x_axis.x + stretch.y_axis.y + stretch.z_axis.z;
    let stiffness = DMat3::from_diagonal(DVec3::splat(trace)) - stretch;
    let margin = 1.0 / frobenius(stiffness.inverse());
    (rotation, if margin > 0.0 { margin.min(1.0) } else { 0.0 })
}

fn frobenius(matrix: DMat3) -> f64 {
    let squares = matrix.to_cols_array().map(|entry| entry * entry);
    squares.into_iter().sum::<f64>().sqrt()
}

/// The principal square root: Denman and Beavers' iteration.
fn square_root(matrix: DMat4) -> DMat4 {
    let (mut y, mut z) = (matrix, DMat4::IDENTITY);
    for _ in 0..30 {
        (y, z) = ((y + z.inverse()) * 0.5, (z + y.inverse()) * 0.5);
    }
    y
}

fn largest_linear_entry(matrix: DMat4) -> f64 {
    let columns = DMat3::from_mat4(matrix).to_cols_array();
    columns.into_iter().fold(0.0, |a, b| b.abs().max(a))
}

/// The principal logarithm of an affine map: square roots until it is near the identity, then the
/// series of `ln(1 + x)`.
pub fn logarithm(map: DAffine3) -> DMat4 {
    let mut near = DMat4::from(map);
    let mut factor = 1.0;
    while largest_linear_entry(near - DMat4::IDENTITY) > 0.05 {
        near = square_root(near);
        factor *= 2.0;
        assert!(factor < 1e6, "{map:?} has no logarithm");
    }
    let x = near - DMat4::IDENTITY;
    let (mut sum, mut power) = (DMat4::ZERO, DMat4::IDENTITY);
    for k in 1..30 {
        power *= x;
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sum += power * (sign / f64::from(k));
    }
    sum * factor
}

/// The exponential of the logarithm of an affine map: Taylor's series of a small share of it,
/// squared back.
pub fn exponential(matrix: DMat4) -> DAffine3 {
    let mut squarings = 0;
    let mut small = matrix;
    while largest_linear_entry(small) > 0.1 {
        small *= 0.5;
        squarings += 1;
    }
    let (mut sum, mut term) = (DMat4::IDENTITY, DMat4::IDENTITY);
    for k in 1..20 {
        term = term * small * (1.0 / f64::from(k));
        sum += term;
    }
    for _ in 0..squarings {
        sum *= sum;
    }
    DAffine3::from_mat4(sum)
}

/// The shortest rotation that takes the direction of `from` to that of `to`: Rodrigues' formula
/// with `v = from × to`.
pub fn shortest_arc(from: DVec3, to: DVec3) -> DMat3 {
    let (from, to) = (from.normalize(), to.normalize());
    let v = from.cross(to);
    let cross = DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    );
    DMat3::IDENTITY + cross + cross * cross * (1.0 / (1.0 + from.dot(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_exponentials_are_inverse() {
        let turn = DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 2.3);
        let map = DAffine3::from_translation(DVec3::new(3.0, -7.0, 2.0))
            * turn
            * DAffine3::from_scale(DVec3::new(0.8, 1.3, 1.1));
        assert!(exponential(logarithm(map)).abs_diff_eq(map, 1e-12));
        // A turn about z by an angle is the exponential of that angle times J.
        let quarter = logarithm(DAffine3::from_rotation_z(1.0)).to_cols_array_2d();
        assert!((quarter[0][1] - 1.0).abs() < 1e-13 && (quarter[1][0] + 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_polar_rotation_leaves_a_symmetric_stretch() {
        let matrix = DMat3::from_cols_array(&[1.0, 0.3, -0.2, 0.7, 1.4, 0.1, 0.0, 0.6, 0.9]);
        let rotation = polar_rotation(matrix);
        let stretch = rotation.transpose() * matrix;
        assert!((rotation.transpose() * rotation).abs_diff_eq(DMat3::IDENTITY, 1e-14));
        assert!(stretch.abs_diff_eq(stretch.transpose(), 1e-14));
    }

    #[test]
    fn the_nearest_rotation_is_the_polar_one_and_survives_a_lost_dimension() {
        let matrix = DMat3::from_cols_array(&[1.0, 0.3, -0.2, 0.7, 1.4, 0.1, 0.0, 0.6, 0.9]);
        let (rotation, margin) = nearest_rotation(matrix);
        assert!(rotation.abs_diff_eq(polar_rotation(matrix), 1e-13));
        assert!(margin > 0.1);
        let turn = DMat3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 2.8);
        for factors in [DVec3::new(2.0, 1.0, 0.0), DVec3::new(2.0, -0.4, 1.0)] {
            let (rotation, _) = nearest_rotation(turn * DMat3::from_diagonal(factors));
            assert!(rotation.abs_diff_eq(turn, 1e-13), "{factors}");
        }
        let line = nearest_rotation(turn * DMat3::from_diagonal(DVec3::X));
        assert!(line.1 < 1e-6);
    }

    #[test]
    fn an_arc_takes_one_direction_to_the_other() {
        let (from, to) = (DVec3::new(1.0, 2.0, -0.5), DVec3::new(-2.0, 0.3, 1.0));
        let arc = shortest_arc(from, to);
        assert!((arc * from.normalize()).distance(to.normalize()) < 1e-14);
        assert!((arc * from.cross(to)).distance(from.cross(to)) < 1e-14);
    }
}
