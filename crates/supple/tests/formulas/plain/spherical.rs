//! Spherical blend skinning (Kavan and Žára 2005): rotations are blended as quaternions about a
//! center that the joints agree on best.

use super::algebra::weighted_sum;
use super::dual_quaternion::{DualQuat, sum_of_shorter};
use super::{Frame, Influences, Posed};
use glam::{DAffine3, DMat3, DVec3};

/// `v' = Q (y − r) + Σ w_j M_j r`.
pub fn spherical(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let motions: Vec<DAffine3> = influences
        .iter()
        .map(|&(joint, _)| posed.motion(joint))
        .collect();
    let heads = influences.iter().map(|&(joint, _)| posed.heads[joint]);
    let mean = heads.sum::<DVec3>() / influences.len() as f64;
    let (center, center_margin) = rotation_center(&motions, mean);
    let weights = influences.iter().map(|&(_, weight)| weight);
    let (sum, sum_margin) = sum_of_shorter(weights.clone().zip(motions.iter().map(DualQuat::of)));
    let rotation = sum.motion().matrix3;
    let moved_center = weighted_sum(weights.zip(motions)).transform_point3(center);
    let about_center = DAffine3 {
        matrix3: rotation,
        translation: moved_center - rotation * center,
    };
    Frame {
        map: about_center * posed.phase_one(influences),
        margin: center_margin.min(sum_margin),
    }
}

/// The point nearest to `start` that minimises `Σ |M_i r − M_j r|²` over all pairs.
///
/// With `N` and `g` of the normal equations `N r = g`, repeated Tikhonov steps `r ← r + (N + ε)⁻¹
/// (g − N r)` leave what `N` cannot see as it was.
pub fn rotation_center(motions: &[DAffine3], start: DVec3) -> (DVec3, f64) {
    let (mut normal, mut goal) = (DMat3::ZERO, DVec3::ZERO);
    for (index, a) in motions.iter().enumerate() {
        for b in &motions[..index] {
            let turned = a.matrix3 - b.matrix3;
            normal += turned.transpose() * turned;
            goal += turned.transpose() * (b.translation - a.translation);
        }
    }
    // Rough eigenvalues from the invariants, falling. One that is neither of a turn nor of none is
    // a matter of taste.
    let trace = normal.x_axis.x + normal.y_axis.y + normal.z_axis.z;
    let square = normal * normal;
    let minors = 0.5 * (trace * trace - (square.x_axis.x + square.y_axis.y + square.z_axis.z));
    let turns = [
        trace,
        minors / trace.max(1e-30),
        normal.determinant() / minors.max(1e-30),
    ]
    .map(|eigenvalue| eigenvalue.max(0.0).sqrt());
    let mut margin: f64 = 1.0;
    for turn in turns.into_iter().filter(|&turn| turn > 1e-5) {
        margin = margin.min(if turn < 0.02 { 0.0 } else { turn });
    }
    const SMALL: f64 = 1e-8;
    let damped = (normal + DMat3::from_diagonal(DVec3::splat(SMALL))).inverse();
    let mut center = start;
    for _ in 0..5 {
        center += damped * (goal - normal * center);
    }
    (center, margin)
}
