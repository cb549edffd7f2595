// Optimized centers of rotation, Algorithm 1: a blended rotation about the baked center, which
// moves by linear blending (eq. 3b).
fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    let center = transform_point(stretch, own_vector(vertex, 0u));
    return after_stretch(turned_by_joints(vertex, center), stretch, vertex);
}
