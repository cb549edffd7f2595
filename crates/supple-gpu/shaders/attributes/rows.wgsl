// The rows of a matrix.
struct SkinRows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

fn skin_zero_rows() -> SkinRows {
    var m: SkinRows;
    m.x = vec4f(0.0, 0.0, 0.0, 0.0);
    m.y = m.x;
    m.z = m.x;
    return m;
}

// A direction, moved by a matrix.
fn skin_direction(m: SkinRows, v: vec3f) -> vec3f {
    return vec3f(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

// A point, moved by a matrix.
fn skin_point(m: SkinRows, v: vec3f) -> vec3f {
    return skin_direction(m, v) + vec3f(m.x.w, m.y.w, m.z.w);
}

// A vertex, moved by a matrix; its normal by the cofactors, which is right under scale and
// shear, too.
fn skin_moved(m: SkinRows, rest: SkinVertex) -> SkinVertex {
    let yz: vec3f = cross(m.y.xyz, m.z.xyz);
    let zx: vec3f = cross(m.z.xyz, m.x.xyz);
    let xy: vec3f = cross(m.x.xyz, m.y.xyz);
    let n: vec3f = rest.normal;
    // -1 where the matrix mirrors.
    let side: f32 = sign(dot(m.x.xyz, yz));
    let tangent: vec3f = normalize(skin_direction(m, rest.tangent.xyz));
    var moved: SkinVertex;
    moved.position = skin_point(m, rest.position);
    moved.normal = normalize(side * vec3f(dot(yz, n), dot(zx, n), dot(xy, n)));
    moved.tangent = vec4f(tangent, side * rest.tangent.w);
    return moved;
}
