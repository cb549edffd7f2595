// Spherical blend skinning (§4 of the course): a blended rotation about the center that the joints
// of the vertex agree on best.
fn frame_of(vertex: Vertex) -> Frame {
    let center = shared_vector(vertex, own_word(vertex, 0u)).xyz;
    return after_stretch(turned_by_joints(vertex, center), stretch_of(vertex), vertex);
}
