//! Swing-twist deformers (Kavan and Sorkine 2012): between an ancestor and a descendant the twist
//! about the bone is blended as an angle, the swing as a matrix; several joints by pairs.

use super::algebra::weighted_sum;
use super::{Frame, Influences, Posed, swing_after_twist};
use glam::{DAffine3, DMat3, DVec3};

/// `Σ w_j M_j + Σ p_ab (Γ_ab − (1 − s) M_a − s M_b)` over all pairs of a vertex's joints, `p_ab =
/// w_a w_b / Σ w_a w_b`.
pub fn swing_twist(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    if let [(joint, _)] = influences {
        return Frame::safe(posed.transforms[*joint]);
    }
    let mut margin: f64 = 1.0;
    let (mut total, mut beyond) = (0.0, Vec::new());
    for (index, &first) in influences.iter().enumerate() {
        for &second in &influences[..index] {
            total += first.1 * second.1;
            let below = posed.is_above(second.0, first.0);
            let (a, b) = if below {
                (second, first)
            } else {
                (first, second)
            };
            if posed.is_above(a.0, b.0) {
                let share = b.1 / (a.1 + b.1);
                let (gamma, pair_margin) = deformer(posed, a.0, b.0, share);
                margin = margin.min(pair_margin);
                beyond.push((a.1 * b.1, gamma));
                beyond.push((-a.1 * b.1 * (1.0 - share), posed.motion(a.0)));
                beyond.push((-a.1 * b.1 * share, posed.motion(b.0)));
            }
        }
    }
    let linear = influences
        .iter()
        .map(|&(joint, weight)| (weight, posed.motion(joint)));
    let beyond = beyond
        .into_iter()
        .map(|(weight, map)| (weight / total, map));
    let blended = weighted_sum(linear.chain(beyond));
    Frame {
        map: blended * posed.phase_one(influences),
        margin,
    }
}

/// `Γ(y) = M_a( x_b + s (D x_b − x_b) + ((1 − s) I + s Swing) Rot(u_b, s θ) (y − x_b) )`.
fn deformer(posed: &Posed, a: usize, b: usize, share: f64) -> (DAffine3, f64) {
    let between = posed.motion_between(a, b);
    let head = posed.heads[b];
    let (angle, swing, margin) = match posed.axis(b) {
        Some(axis) => swing_after_twist(between.matrix3, axis),
        None => (0.0, between.matrix3, 1.0),
    };
    let mut margin = margin;
    let (mut winding, mut from) = (0.0, a);
    for joint in posed.path(b) {
        if posed.is_above(a, joint) {
            if let Some(axis) = posed.axis(joint) {
                let step = swing_after_twist(posed.motion_between(from, joint).matrix3, axis);
                winding += step.0;
                margin = margin.min(step.2);
            }
            from = joint;
        }
    }
    // Full turns that the joints between have made; half of one more or less is a toss-up.
    let turns = (winding - angle) / std::f64::consts::TAU;
    margin = margin.min(0.5 - (turns - turns.round()).abs());
    let angle = angle + std::f64::consts::TAU * turns.round();
    let axis = posed.axis(b).unwrap_or(DVec3::X);
    let half_swing = DMat3::IDENTITY * (1.0 - share) + swing * share;
    let linear = half_swing * DMat3::from_axis_angle(axis, share * angle);
    let moved_head = head.lerp(between.transform_point3(head), share);
    let local = DAffine3 {
        matrix3: linear,
        translation: moved_head - linear * head,
    };
    (posed.motion(a) * local, margin)
}
