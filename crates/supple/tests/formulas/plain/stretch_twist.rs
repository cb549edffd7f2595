//! Stretchable and twistable bones (Jacobson and Sorkine 2011): an endpoint weight along each bone
//! spreads its stretch and its twist.

use super::algebra::{shortest_arc, weighted_sum};
use super::{Frame, Influences, Posed, swing_after_twist};
use glam::{DAffine3, DMat3, DVec3};

/// Endpoint weights are where the vertex lies along each of its bones.
pub fn stretch_twist(posed: &Posed, position: DVec3, influences: Influences<'_>) -> Frame {
    let along =
        |&(bone, _): &(usize, f64)| endpoint_weight(position, posed.heads[bone], posed.tails[bone]);
    let weights: Vec<f64> = influences.iter().map(along).collect();
    stretch_twist_by(posed, influences, &weights)
}

/// `v' = Σ w_i [ a'_i + R̂_i Rot(u_i, e_i θ_i) (e_i s_i + y − a_i) ]` with given `e_i`.
pub fn stretch_twist_by(
    posed: &Posed,
    influences: Influences<'_>,
    endpoint_weights: &[f64],
) -> Frame {
    let mut margin: f64 = 1.0;
    let mut terms = Vec::new();
    for (&(bone, weight), &end_weight) in influences.iter().zip(endpoint_weights) {
        let (map, bone_margin) = bone_map(posed, bone, end_weight);
        margin = margin.min(bone_margin);
        terms.push((weight, map));
    }
    Frame {
        map: weighted_sum(terms) * posed.phase_one(influences),
        margin,
    }
}

/// The image of the point `y` of phase one under one bone.
fn bone_map(posed: &Posed, bone: usize, end_weight: f64) -> (DAffine3, f64) {
    let (a, b) = (posed.heads[bone], posed.tails[bone]);
    let motion = posed.motion(bone);
    let posed_a = motion.transform_point3(a);
    let along = posed.stretches[bone] * (b - a);
    if b == a || along == DVec3::ZERO {
        return (motion, 1.0);
    }
    let children: Vec<usize> = posed
        .children(bone)
        .into_iter()
        .filter(|&child| posed.heads[child] != a)
        .collect();
    let carried = children
        .iter()
        .map(|&child| posed.motion(child).transform_point3(posed.heads[child]));
    let posed_b = match children.len() {
        0 => motion.transform_point3(a + along),
        count => carried.sum::<DVec3>() / count as f64,
    };
    let posed_along = posed_b - posed_a;
    let ratio = posed_along.length() / along.length();
    let stretch = along * (ratio - 1.0);
    let turned = motion.matrix3 * along;
    let rotation = shortest_arc(turned, posed_along) * motion.matrix3;
    let arc_margin = 1.0 + turned.normalize().dot(posed_along.normalize());
    let axis = (b - a).normalize();
    let (angle, twist_margin) = match children[..] {
        [child] => {
            let (angle, _, margin) =
                swing_after_twist(posed.motion_between(bone, child).matrix3, axis);
            (angle, margin)
        }
        _ => (0.0, 1.0),
    };
    let linear = rotation * DMat3::from_axis_angle(axis, end_weight * angle);
    let map = DAffine3 {
        matrix3: linear,
        translation: posed_a + linear * (stretch * end_weight - a),
    };
    (map, arc_margin.min(twist_margin).min(ratio).min(1.0))
}

/// The position of a point along the bone from `a` to `b`, between 0 and 1.
fn endpoint_weight(position: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    if along == DVec3::ZERO {
        return 0.0;
    }
    ((position - a).dot(along) / along.length_squared()).clamp(0.0, 1.0)
}
