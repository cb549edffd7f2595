// A blend of linear and dual quaternion skinning, by a share per vertex.
fn frame_of(vertex: Vertex) -> Frame {
    let share = own_number(vertex, 0u);
    let linear = blended_frame(vertex, 0u);
    let dual = after_stretch(motion_frame(blended_motion(vertex, 3u)), stretch_of(vertex), vertex);
    return add_scaled(linear, add_scaled(dual, linear, -1.0), share);
}
