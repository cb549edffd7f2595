// Spherical blend skinning (§4 of the course): turned by blended rotations about the center that the joints of the vertex agree on best.
fn frame_of(vertex: Vertex) -> Frame {
    let center = shared_vector(vertex, own_word(vertex, 0u)).xyz;
    var rotation = vec4<f32>();
    var shift = vec3<f32>();
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let own = joint_vector(vertex, influence.joint, 0u);
        rotation += own * (influence.weight * sign_beside(rotation, own));
        shift += (transform_point(joint_frame(vertex, influence.joint, 1u), center) - center) * influence.weight;
    }
    return after_stretch(turned_about(center, rotation_of(rotation), center + shift), stretch_of(vertex), vertex);
}
