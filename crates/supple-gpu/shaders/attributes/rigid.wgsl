// A vector, turned by a unit quaternion.
fn skin_turned(q: vec4f, v: vec3f) -> vec3f {
    let across: vec3f = 2.0 * cross(q.xyz, v);
    return v + q.w * across + cross(q.xyz, across);
}

// q or -q, which are the same rotation: the one on the side of a sum. Joints half a turn apart
// are on neither side; without the margin, rounding would decide for each vertex.
fn skin_nearer(sum: vec4f, q: vec4f) -> vec4f {
    if (dot(sum, q) < -0.000002 * length(sum)) {
        return -q;
    }
    return q;
}

// The skinned vertex, from its rotation and its position. The scale is that of all joints
// together, which was taken out of the palette; it is negative if the character is mirrored.
fn skin_placed(rest: SkinVertex, rotation: vec4f, position: vec3f, scale: f32) -> SkinVertex {
    let side: f32 = sign(scale);
    let tangent: vec3f = side * skin_turned(rotation, rest.tangent.xyz);
    var skinned: SkinVertex;
    skinned.position = scale * position;
    skinned.normal = side * skin_turned(rotation, rest.normal);
    skinned.tangent = vec4f(tangent, side * rest.tangent.w);
    return skinned;
}
