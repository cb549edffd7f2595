// Dual quaternion skinning (§4 of the course), after stretches (two phases).
fn frame_of(vertex: Vertex) -> Frame {
    return after_stretch(motion_frame(blended_motion(vertex, 0u)), stretch_of(vertex), vertex);
}
