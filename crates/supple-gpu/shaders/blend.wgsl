// `Σ w_j T_j`, where `first` is the first row of a matrix in the vectors of a joint.
fn blended_frame(vertex: Vertex, first: u32) -> Frame {
    var sum = with_pair_of_frames(ZERO, vertex, 0u, first);
    for (var i = 2u; i < vertex.influences; i += 2u) {
        sum = with_pair_of_frames(sum, vertex, i, first);
    }
    return sum;
}

fn with_pair_of_frames(sum: Frame, vertex: Vertex, influence: u32, first: u32) -> Frame {
    let pair = pair_of(vertex, influence);
    let a = joint_frame(vertex, pair.joints.x, first);
    let b = joint_frame(vertex, pair.joints.y, first);
    return add_scaled(add_scaled(sum, a, pair.weights.x), b, pair.weights.y);
}
