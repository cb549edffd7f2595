// The rows of a matrix.
struct SkinRows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

// Adds the matrices of four joints, times their weights.
fn skin_add_matrices(sum: SkinRows, joints: vec4u, weights: vec4f) -> SkinRows {
    var rows: SkinRows = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        let first: u32 = 3u * joints[i];
        rows.x += weights[i] * palette[first];
        rows.y += weights[i] * palette[first + 1u];
        rows.z += weights[i] * palette[first + 2u];
    }
    return rows;
}

// Linear blend skinning: the weighted mean of the joints' matrices moves the vertex.
fn skin_linear(
    rest: SkinVertex,
    joints_0: vec4u,
    weights_0: vec4f,
) -> SkinVertex {
    var m: SkinRows;
    m.x = vec4f(0.0, 0.0, 0.0, 0.0);
    m.y = m.x;
    m.z = m.x;
    m = skin_add_matrices(m, joints_0, weights_0);

    // Normals by the cofactors, which is right under scale and shear, too.
    let yz: vec3f = cross(m.y.xyz, m.z.xyz);
    let zx: vec3f = cross(m.z.xyz, m.x.xyz);
    let xy: vec3f = cross(m.x.xyz, m.y.xyz);
    let n: vec3f = rest.normal;
    let t: vec3f = rest.tangent.xyz;
    let p: vec4f = vec4f(rest.position, 1.0);
    // -1 where the matrix mirrors.
    let side: f32 = sign(dot(m.x.xyz, yz));
    let tangent: vec3f = vec3f(dot(m.x.xyz, t), dot(m.y.xyz, t), dot(m.z.xyz, t));
    var skinned: SkinVertex;
    skinned.position = vec3f(dot(m.x, p), dot(m.y, p), dot(m.z, p));
    skinned.normal = normalize(side * vec3f(dot(yz, n), dot(zx, n), dot(xy, n)));
    skinned.tangent = vec4f(normalize(tangent), side * rest.tangent.w);
    return skinned;
}
