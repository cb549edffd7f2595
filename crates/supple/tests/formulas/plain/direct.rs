//! Methods that add up matrices: rigid binding; linear blend skinning, eq. (1) of the course;
//! animation space (Merry, Marais and Gain 2006); multi-weight enveloping (Wang and Phillips 2002);
//! and the blend of two results (Kavan and Sorkine 2012).

use super::algebra::weighted_sum;
use super::dual_quaternion::dual_quaternion;
use super::{Frame, Influences, Posed};
use glam::{DAffine3, DMat3, DVec3, DVec4};

/// `T` of the heaviest joint.
pub fn rigid(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    Frame::safe(posed.transforms[influences[0].0])
}

/// `Σ w_j T_j v`.
pub fn linear(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let terms = influences
        .iter()
        .map(|&(joint, weight)| (weight, posed.transforms[joint]));
    Frame::safe(weighted_sum(terms))
}

/// `(1 − d) · linear + d · dual quaternion`.
pub fn linear_dual_blend(
    posed: &Posed,
    position: DVec3,
    influences: Influences<'_>,
    dual_share: f64,
) -> Frame {
    let linear = linear(posed, position, influences).map;
    let dual = dual_quaternion(posed, position, influences);
    Frame {
        map: weighted_sum([(1.0 - dual_share, linear), (dual_share, dual.map)]),
        margin: dual.margin,
    }
}

/// `Σ_j T_j y_j` with a four-vector `y_j` per joint.
pub fn animation_space(posed: &Posed, joints: &[usize], weights: &[DVec4]) -> DVec3 {
    let terms = joints.iter().zip(weights).map(|(&joint, y)| {
        let transform = posed.transforms[joint];
        transform.matrix3 * y.truncate() + transform.translation * y.w
    });
    terms.sum()
}

/// `Σ_j (W_j ∘ T_j) v` with a weight for every entry of every 3×4 matrix, row by row.
pub fn multi_weight(posed: &Posed, joints: &[usize], weights: &[[f64; 12]]) -> DAffine3 {
    let terms = joints.iter().zip(weights).map(|(&joint, w)| {
        let transform = posed.transforms[joint];
        let columns = [
            transform.matrix3.x_axis,
            transform.matrix3.y_axis,
            transform.matrix3.z_axis,
            transform.translation,
        ];
        let column = |c: usize| DVec3::new(w[c], w[4 + c], w[8 + c]) * columns[c];
        let map = DAffine3 {
            matrix3: DMat3::from_cols(column(0), column(1), column(2)),
            translation: column(3),
        };
        (1.0, map)
    });
    weighted_sum(terms)
}
