// Direct delta mush v4 (§3.5.4): rotations from quaternions blended by ψ, about the middle of the
// patch, which moves by linear blending.
fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    if is_alone(vertex) {
        return after_stretch(
            joint_frame(vertex, influence_of(vertex, 0u).joint, 1u), stretch, vertex
        );
    }
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let turn = blended_turn(vertex);
    let carried = transform_point(turn.blend, center);
    return after_stretch(turned_about(center, turn.rotation, carried), stretch, vertex);
}
