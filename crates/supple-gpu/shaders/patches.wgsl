// The patch that smoothing gathers around a vertex.

// True if a single joint moves the patch and the vertex.
fn is_alone(vertex: Vertex) -> bool {
    return vertex.influences < 2u || influence_of(vertex, 1u).weight == 0.0;
}

// The second moments of an influence, which follow its lever: xx, xy, xz, yy, yz, zz.
fn influence_moments(vertex: Vertex, influence: u32) -> mat3x3<f32> {
    let xx_xy_xz = influence_vector(vertex, influence, 3u);
    let yy_yz_zz = influence_vector(vertex, influence, 6u);
    return mat3x3(xx_xy_xz, vec3(xx_xy_xz.y, yy_yz_zz.xy), vec3(xx_xy_xz.z, yy_yz_zz.yz));
}

// `q` of eq. (7), `Σ M_j (ω_j p + χ_j, ω_j)`, relative to the position to which the heaviest joint
// moves the middle. The first numbers of an influence are its lever, in units of the last number of
// the vertex.
fn gathered_middle(vertex: Vertex, stretch: Frame, center: vec3<f32>) -> vec3<f32> {
    let base = transform_point(joint_frame(vertex, influence_of(vertex, 0u).joint, 1u), center);
    let unit = own_number(vertex, VERTEX_NUMBERS - 1u);
    var sum = vec3<f32>();
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let joint = joint_frame(vertex, influence.joint, 1u);
        let lever = transform_vector(stretch, influence_vector(vertex, i, 0u) * unit);
        sum += transform_vector(joint, lever)
            + (transform_point(joint, center) - base) * influence.weight;
    }
    return base + sum;
}
