// A sum of rotations, and the place that joints move a center to.
struct SkinTurn {
    rotation: vec4f,
    place: vec3f,
}

// Adds the motions of four joints, times their weights.
fn skin_add_turns(sum: SkinTurn, center: vec3f, joints: vec4u, weights: vec4f) -> SkinTurn {
    var next: SkinTurn = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        let q: vec4f = palette[2u * joints[i]];
        let shift: vec3f = palette[2u * joints[i] + 1u].xyz;
        next.rotation += weights[i] * skin_nearer(next.rotation, q);
        next.place += weights[i] * (skin_turned(q, center) + shift);
    }
    return next;
}

// Centers of rotation: the vertex turns by the mean rotation of its joints, about a center of
// its own that moves by linear blending.
fn skin_cor(
    rest: SkinVertex,
    center: vec3f,
    joints_0: vec4u,
    weights_0: vec4f,
) -> SkinVertex {
    //+ // First, the weighted mean of the joints' stretches.
    //+ var stretch: SkinRows = skin_zero_rows();
    //+ stretch = skin_add_stretches(stretch, joints_0, weights_0);
    //+ let rest: SkinVertex = skin_moved(stretch, bind);
    //+ let center: vec3f = skin_point(stretch, bind_center);
    var sum: SkinTurn;
    sum.rotation = vec4f(0.0, 0.0, 0.0, 0.0);
    sum.place = vec3f(0.0, 0.0, 0.0);
    sum = skin_add_turns(sum, center, joints_0, weights_0);

    let q: vec4f = normalize(sum.rotation);
    let scale: f32 = palette[2u * joints_0.x + 1u].w;
    return skin_placed(rest, q, sum.place + skin_turned(q, rest.position - center), scale);
}
