// Optimized centers of rotation, Algorithm 1: turned by blended rotations about the baked center, which goes where linear blending takes it (eq. 3b).
fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let turn = blended_turn(vertex);
    let carried = transform_point(turn.blend, center);
    return after_stretch(turned_about(center, turn.rotation, carried), stretch, vertex);
}
