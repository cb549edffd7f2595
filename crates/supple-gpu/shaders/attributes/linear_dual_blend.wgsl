// Sums of the joints' motions: of their dual quaternions, and of their matrices, column by
// column.
struct SkinBlend {
    rotation: vec4f,
    dual: vec4f,
    x: vec3f,
    y: vec3f,
    z: vec3f,
    shift: vec3f,
}

// Adds the motions of four joints, times their weights.
fn skin_add_blend(sum: SkinBlend, joints: vec4u, weights: vec4f) -> SkinBlend {
    var next: SkinBlend = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        let q: vec4f = skin_nearer(next.rotation, palette[2u * joints[i]]);
        let shift: vec3f = palette[2u * joints[i] + 1u].xyz;
        let dual: vec3f = q.w * shift + cross(shift, q.xyz);
        next.rotation += weights[i] * q;
        next.dual += 0.5 * weights[i] * vec4f(dual, -dot(shift, q.xyz));
        next.x += weights[i] * skin_turned(q, vec3f(1.0, 0.0, 0.0));
        next.y += weights[i] * skin_turned(q, vec3f(0.0, 1.0, 0.0));
        next.z += weights[i] * skin_turned(q, vec3f(0.0, 0.0, 1.0));
        next.shift += weights[i] * shift;
    }
    return next;
}

// A mix of linear blending (share 0) and dual quaternion skinning (share 1).
fn skin_linear_dual_blend(
    rest: SkinVertex,
    share: f32,
    joints_0: vec4u,
    weights_0: vec4f,
) -> SkinVertex {
    var sum: SkinBlend;
    sum.rotation = vec4f(0.0, 0.0, 0.0, 0.0);
    sum.dual = sum.rotation;
    sum.x = vec3f(0.0, 0.0, 0.0);
    sum.y = sum.x;
    sum.z = sum.x;
    sum.shift = sum.x;
    sum = skin_add_blend(sum, joints_0, weights_0);

    let size: f32 = length(sum.rotation);
    let q: vec4f = sum.rotation / size;
    let d: vec4f = sum.dual / size;
    let dual_shift: vec3f = 2.0 * (q.w * d.xyz - d.w * q.xyz + cross(q.xyz, d.xyz));
    let x: vec3f = mix(sum.x, skin_turned(q, vec3f(1.0, 0.0, 0.0)), share);
    let y: vec3f = mix(sum.y, skin_turned(q, vec3f(0.0, 1.0, 0.0)), share);
    let z: vec3f = mix(sum.z, skin_turned(q, vec3f(0.0, 0.0, 1.0)), share);
    let shift: vec3f = mix(sum.shift, dual_shift, share);

    // Normals by the cofactors, since a mean of matrices shears.
    let p: vec3f = rest.position;
    let n: vec3f = rest.normal;
    let t: vec3f = rest.tangent.xyz;
    let scale: f32 = palette[2u * joints_0.x + 1u].w;
    let side: f32 = sign(scale * dot(x, cross(y, z)));
    let normal: vec3f = n.x * cross(y, z) + n.y * cross(z, x) + n.z * cross(x, y);
    let tangent: vec3f = sign(scale) * normalize(t.x * x + t.y * y + t.z * z);
    var skinned: SkinVertex;
    skinned.position = scale * (p.x * x + p.y * y + p.z * z + shift);
    skinned.normal = side * normalize(normal);
    skinned.tangent = vec4f(tangent, side * rest.tangent.w);
    return skinned;
}
