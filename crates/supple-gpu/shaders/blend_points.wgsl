// The first pass: where joints move the points of the rest surface, relative to the reference joint
// of their piece.

fn put_source(instance: u32, field: u32, point: u32, source: vec3<f32>) {
    let number = field_of(instance, field);
    put_field_vector(field_place(number, SOURCE, point), source);
    put_field_vector(field_place(number, CHANGE, point), vec3<f32>());
    put_sum(3u * (point_count() * number + point), source);
}

@compute @workgroup_size(LANES)
fn blend_points(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.x + group.z * point_row()) * LANES + lane;
    if index >= point_count() {
        return;
    }
    let instance = group.y;
    let point = point_of(index);
    let vertex = vertex_of(point_word(point, POINT_VERTEX), instance);
    let joint = piece_of(point).joint;
    var place = point_vector(point, POINT_PLACE);
    if call.stretches != 0u {
        let stretched = transform_point(stretch_of(vertex), place);
        put_source(
            instance,
            STRETCHED,
            index,
            stretched - transform_point(joint_stretch(vertex, joint), place),
        );
        place = stretched;
    }
    // `Σ w_j (T_j − T_ref)`, then turned back by the reference: `T_ref⁻¹ v − u`.
    let reference = joint_frame(vertex, joint, 0u);
    var beside = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let difference = add_scaled(joint_frame(vertex, influence.joint, 0u), reference, -1.0);
        beside = add_scaled(beside, difference, influence.weight);
    }
    let moved = transform_point(beside, place);
    put_source(instance, BESIDE, index, undone_rotation(reference) * moved);
}
