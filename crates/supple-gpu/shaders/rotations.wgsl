// `⊕ s_j q_j` of the quaternions that start each joint, with shares that are weights.
fn blended_rotation(vertex: Vertex) -> mat3x3<f32> {
    var sum = vec4<f32>();
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let rotation = joint_vector(vertex, influence.joint, 0u);
        sum += rotation * (influence.weight * sign_beside(sum, rotation));
    }
    if !SIGNS_PER_VERTEX && dot(sum, sum) < CANCELLED {
        sum = joint_vector(vertex, influence_of(vertex, 0u).joint, 0u);
    }
    return rotation_of(sum);
}

// The same with shares that are the last number of each influence.
fn shared_rotation(vertex: Vertex) -> mat3x3<f32> {
    var sum = vec4<f32>();
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let rotation = joint_vector(vertex, influence.joint, 0u);
        let share = influence_number(vertex, i, INFLUENCE_NUMBERS - 1u);
        sum += rotation * (share * sign_beside(sum, rotation));
    }
    return rotation_of(sum);
}
