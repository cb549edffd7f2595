// Animation space, eq. (10) of the course: linear blending, plus the offset of each joint's own
// rest position.
fn frame_of(vertex: Vertex) -> Frame {
    var sum = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let joint = joint_frame(vertex, influence.joint, 0u);
        let added = transform_vector(joint, influence_vector(vertex, i, 0u));
        sum = add_scaled(sum, joint, influence.weight);
        sum.x.w += added.x;
        sum.y.w += added.y;
        sum.z.w += added.z;
    }
    return sum;
}
