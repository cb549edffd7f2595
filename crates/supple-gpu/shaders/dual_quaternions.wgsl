// Dual quaternions: rigid motions that can be added.
struct DualQuaternion {
    real: vec4<f32>,
    dual: vec4<f32>,
}

// `⊕ w_j q_j` of the parts that start with a vector of each joint.
fn blended_motion(vertex: Vertex, first: u32) -> DualQuaternion {
    var sum = DualQuaternion(vec4<f32>(), vec4<f32>());
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let real = joint_vector(vertex, influence.joint, first);
        let weight = influence.weight * sign_beside(sum.real, real);
        sum.real += real * weight;
        sum.dual += joint_vector(vertex, influence.joint, first + 1u) * weight;
    }
    if !SIGNS_PER_VERTEX && dot(sum.real, sum.real) < CANCELLED {
        // Only signs from elsewhere can cancel out; then the heaviest joint decides.
        let heaviest = influence_of(vertex, 0u).joint;
        return DualQuaternion(joint_vector(vertex, heaviest, first), joint_vector(vertex, heaviest, first + 1u));
    }
    return sum;
}

// The rigid motion nearest to a sum: both parts by the length of the real one.
fn motion_frame(sum: DualQuaternion) -> Frame {
    let r = sum.real;
    let d = sum.dual;
    let shift = (d.xyz * r.w - r.xyz * d.w + cross(r.xyz, d.xyz)) * (2.0 / dot(r, r));
    return frame_from(rotation_of(r), shift);
}
