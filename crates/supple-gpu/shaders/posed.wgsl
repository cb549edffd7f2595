// A deformed vertex of an instance, for vertex shaders.
struct Posed {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec4<f32>,
}

fn posed_vertex(index: u32, instance: u32) -> Posed {
    let at_rest = rest_vertex(index);
    let frame = frame_of(vertex_of(index, instance));
    var posed = Posed(transform_point(frame, at_rest.position), vec3<f32>(), vec4<f32>());
    if WITH_NORMALS {
        posed.normal = transform_normal(frame, at_rest.normal);
    }
    if WITH_TANGENTS {
        posed.tangent = transform_tangent(frame, at_rest.tangent);
    }
    return posed;
}
