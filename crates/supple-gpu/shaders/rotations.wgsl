// A blended rotation and a linear blend, which read each joint once.
struct Turn {
    rotation: mat3x3<f32>,
    blend: Frame,
}

// `⊕ s_j q_j` of the quaternions of joints, and `Σ w_j T_j` of the matrices that follow them. The
// shares `s_j` are the weights, or the last number of each influence.
fn blended_turn(vertex: Vertex) -> Turn {
    var sum = vec4<f32>();
    var blend = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        var share = influence.weight;
        if INFLUENCE_NUMBERS > 0u {
            share = influence_number(vertex, i, INFLUENCE_NUMBERS - 1u);
        }
        let rotation = joint_vector(vertex, influence.joint, 0u);
        sum += rotation * (share * sign_beside(sum, rotation));
        blend = add_scaled(blend, joint_frame(vertex, influence.joint, 1u), influence.weight);
    }
    if !SIGNS_PER_VERTEX && dot(sum, sum) < CANCELLED {
        // Only signs chosen per joint can cancel out; the heaviest joint is used then.
        sum = joint_vector(vertex, influence_of(vertex, 0u).joint, 0u);
    }
    return Turn(rotation_of(sum), blend);
}
