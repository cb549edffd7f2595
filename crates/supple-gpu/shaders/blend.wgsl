// `Σ w_j T_j`, of the matrices that start with a vector of each joint.
fn blended_frame(vertex: Vertex, first: u32) -> Frame {
    var sum = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        sum = add_scaled(sum, joint_frame(vertex, influence.joint, first), influence.weight);
    }
    return sum;
}
