// Direct delta mush, the full model (§3.5.1): the rotation nearest to the smoothed sum `[Q q] = Σ_j
// [R_j δ_j] Ω_ij` (eq. 7), about the middle of the patch.
fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    let heaviest = influence_of(vertex, 0u).joint;
    let first = joint_frame(vertex, heaviest, 1u);
    if is_alone(vertex) {
        return after_stretch(first, stretch, vertex);
    }
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let size = own_number(vertex, 3u);
    let linear = linear_part(stretch);
    let base = transform_point(first, center);
    // Rows of Q, with q as the fourth number, in sizes of the patch.
    var gathered = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let joint = joint_frame(vertex, influence.joint, 1u);
        let lever = linear * influence_vector(vertex, i, 0u);
        var moments = influence_moments(vertex, i);
        if call.stretches != 0u {
            moments = linear * moments * transpose(linear);
        }
        let shift = (transform_point(joint, center) - base) / size;
        gathered.x += vec4(
            moments * joint.x.xyz + lever * shift.x,
            dot(joint.x.xyz, lever) + shift.x * influence.weight,
        );
        gathered.y += vec4(
            moments * joint.y.xyz + lever * shift.y,
            dot(joint.y.xyz, lever) + shift.y * influence.weight,
        );
        gathered.z += vec4(
            moments * joint.z.xyz + lever * shift.z,
            dot(joint.z.xyz, lever) + shift.z * influence.weight,
        );
    }
    let middle = base + vec3(gathered.x.w, gathered.y.w, gathered.z.w) * size;
    let rotation = nearest_rotation(
        linear_part(gathered), rotation_of(joint_vector(vertex, heaviest, 0u))
    );
    return after_stretch(turned_about(center, rotation, middle), stretch, vertex);
}
