//! Matrices: polar rotations, square roots, logarithms, exponentials; by iterations and series that can be checked at sight.

use glam::{DAffine3, DMat3, DMat4, DVec3};

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

/// The principal logarithm of an affine map: square roots until it is near the identity, then the series of `ln(1 + x)`.
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

/// The exponential of the logarithm of an affine map: Taylor's series of a small share of it, squared back.
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

/// The shortest rotation that takes the direction of `from` to that of `to`: Rodrigues' formula with `v = from × to`.
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
    fn an_arc_takes_one_direction_to_the_other() {
        let (from, to) = (DVec3::new(1.0, 2.0, -0.5), DVec3::new(-2.0, 0.3, 1.0));
        let arc = shortest_arc(from, to);
        assert!((arc * from.normalize()).distance(to.normalize()) < 1e-14);
        assert!((arc * from.cross(to)).distance(from.cross(to)) < 1e-14);
    }
}
