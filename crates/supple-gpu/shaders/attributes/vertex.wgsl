// A vertex, at rest or skinned. The fourth number of its tangent is the side of the bitangent.
struct SkinVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}
