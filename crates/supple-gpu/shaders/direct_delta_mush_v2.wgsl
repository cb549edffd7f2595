// Direct delta mush v2 (§3.5.3): rotations from quaternions blended by ψ.
fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    if is_alone(vertex) {
        return after_stretch(
            joint_frame(vertex, influence_of(vertex, 0u).joint, 1u), stretch, vertex
        );
    }
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let middle = gathered_middle(vertex, stretch, center);
    return after_stretch(
        turned_about(center, blended_turn(vertex).rotation, middle), stretch, vertex
    );
}
