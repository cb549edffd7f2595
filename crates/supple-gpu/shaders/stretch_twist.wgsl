// Stretchable, twistable bones (§5 of the course, Fig. 9): `Σ w_i [a'_i + R_i · Rot(axis_i, e_i
// θ_i) · (e_i s_i + v − a_i)]`.
fn frame_of(vertex: Vertex) -> Frame {
    var sum = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let end = influence_number(vertex, i, 0u);
        let bone = joint_frame(vertex, influence.joint, 0u);
        let axis = joint_vector(vertex, influence.joint, 3u);
        let stretch = joint_vector(vertex, influence.joint, 4u).xyz;
        let head = joint_vector(vertex, influence.joint, 5u).xyz;
        let twist = turn_about(axis.xyz, axis.w * end);
        let twisted = frame_from(twist, twist * (stretch * end - head));
        sum = add_scaled(sum, after(bone, twisted), influence.weight);
    }
    return after_stretch(sum, stretch_of(vertex), vertex);
}
