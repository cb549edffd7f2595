// Linear blend skinning, eq. (1) of the course: `(Σ w_j T_j) v`.
fn frame_of(vertex: Vertex) -> Frame {
    return blended_frame(vertex, 0u);
}
