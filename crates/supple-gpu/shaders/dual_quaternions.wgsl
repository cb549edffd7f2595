// A dual quaternion: a rigid motion that can be blended.
struct DualQuaternion {
    real: vec4<f32>,
    dual: vec4<f32>,
}

fn joint_motion(vertex: Vertex, joint: u32, first: u32) -> DualQuaternion {
    return DualQuaternion(
        joint_vector(vertex, joint, first), joint_vector(vertex, joint, first + 1u)
    );
}

fn with_motion(sum: DualQuaternion, next: DualQuaternion, weight: f32) -> DualQuaternion {
    let signed = weight * sign_beside(sum.real, next.real);
    return DualQuaternion(sum.real + next.real * signed, sum.dual + next.dual * signed);
}

fn with_pair_of_motions(
    sum: DualQuaternion,
    vertex: Vertex,
    influence: u32,
    first: u32,
) -> DualQuaternion {
    let pair = pair_of(vertex, influence);
    let a = joint_motion(vertex, pair.joints.x, first);
    let b = joint_motion(vertex, pair.joints.y, first);
    return with_motion(with_motion(sum, a, pair.weights.x), b, pair.weights.y);
}

// `⊕ w_j q_j`, where `first` is the real part in the vectors of a joint.
fn blended_motion(vertex: Vertex, first: u32) -> DualQuaternion {
    var sum = with_pair_of_motions(DualQuaternion(vec4<f32>(), vec4<f32>()), vertex, 0u, first);
    for (var i = 2u; i < vertex.influences; i += 2u) {
        sum = with_pair_of_motions(sum, vertex, i, first);
    }
    if !SIGNS_PER_VERTEX && dot(sum.real, sum.real) < CANCELLED {
        // Only signs chosen per joint can cancel out; the heaviest joint is used then.
        let heaviest = influence_of(vertex, 0u).joint;
        return joint_motion(vertex, heaviest, first);
    }
    return sum;
}

// The rigid motion nearest to a sum: both parts are divided by the length of the real one.
fn motion_frame(sum: DualQuaternion) -> Frame {
    let r = sum.real;
    let d = sum.dual;
    let shift = (d.xyz * r.w - r.xyz * d.w + cross(r.xyz, d.xyz)) * (2.0 / dot(r, r));
    return frame_from(rotation_of(r), shift);
}
