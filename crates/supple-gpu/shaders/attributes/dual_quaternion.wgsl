// A sum of dual quaternions.
struct SkinDual {
    rotation: vec4f,
    dual: vec4f,
}

// Adds the dual quaternions of four joints, times their weights.
fn skin_add_duals(sum: SkinDual, joints: vec4u, weights: vec4f) -> SkinDual {
    var next: SkinDual = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        let q: vec4f = skin_nearer(next.rotation, palette[2u * joints[i]]);
        let shift: vec3f = palette[2u * joints[i] + 1u].xyz;
        let dual: vec3f = q.w * shift + cross(shift, q.xyz);
        next.rotation += weights[i] * q;
        next.dual += 0.5 * weights[i] * vec4f(dual, -dot(shift, q.xyz));
    }
    return next;
}

// Dual quaternion skinning: the rigid motion nearest to the weighted mean of the joints'
// motions.
fn skin_dual_quaternion(
    rest: SkinVertex,
    joints_0: vec4u,
    weights_0: vec4f,
) -> SkinVertex {
    //+ // First, the weighted mean of the joints' stretches.
    //+ var stretch: SkinRows = skin_zero_rows();
    //+ stretch = skin_add_stretches(stretch, joints_0, weights_0);
    //+ let rest: SkinVertex = skin_moved(stretch, bind);
    var sum: SkinDual;
    sum.rotation = vec4f(0.0, 0.0, 0.0, 0.0);
    sum.dual = sum.rotation;
    sum = skin_add_duals(sum, joints_0, weights_0);

    let size: f32 = length(sum.rotation);
    let q: vec4f = sum.rotation / size;
    let d: vec4f = sum.dual / size;
    let shift: vec3f = 2.0 * (q.w * d.xyz - d.w * q.xyz + cross(q.xyz, d.xyz));
    let scale: f32 = palette[2u * joints_0.x + 1u].w;
    return skin_placed(rest, q, skin_turned(q, rest.position) + shift, scale);
}
