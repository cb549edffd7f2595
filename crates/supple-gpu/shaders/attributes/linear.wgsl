// Adds the matrices of four joints, times their weights.
fn skin_add_matrices(sum: SkinRows, joints: vec4u, weights: vec4f) -> SkinRows {
    var rows: SkinRows = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        let first: u32 = 3u * joints[i];
        rows.x += weights[i] * palette[first];
        rows.y += weights[i] * palette[first + 1u];
        rows.z += weights[i] * palette[first + 2u];
    }
    return rows;
}

// Linear blend skinning: the weighted mean of the joints' matrices moves the vertex.
fn skin_linear(
    rest: SkinVertex,
    joints_0: vec4u,
    weights_0: vec4f,
) -> SkinVertex {
    var sum: SkinRows = skin_zero_rows();
    sum = skin_add_matrices(sum, joints_0, weights_0);
    return skin_moved(sum, rest);
}
