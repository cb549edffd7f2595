// A compute pass that writes the deformed surface of every instance into buffers.

// Three, three and four numbers per vertex, instance after instance.
@group(1) @binding(0) var<storage, read_write> positions: array<f32>;
@group(1) @binding(1) var<storage, read_write> normals: array<f32>;
@group(1) @binding(2) var<storage, read_write> tangents: array<vec4<f32>>;

@compute @workgroup_size(LANES)
fn deform(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = (group.x + group.z * call.row) * LANES + lane;
    if index >= call.vertices {
        return;
    }
    let instance = group.y;
    // The rest vertex is fetched first, since its address is known.
    let rest_of_vertex = rest_vertex(index);
    let frame = frame_of(vertex_of(index, instance));
    let at = instance * call.vertices + index;
    let position = transform_point(frame, rest_of_vertex.position);
    var normal = vec3<f32>();
    if WITH_NORMALS {
        normal = transform_normal(frame, rest_of_vertex.normal);
    }
    positions[3u * at] = position.x;
    positions[3u * at + 1u] = position.y;
    positions[3u * at + 2u] = position.z;
    if WITH_NORMALS {
        normals[3u * at] = normal.x;
        normals[3u * at + 1u] = normal.y;
        normals[3u * at + 2u] = normal.z;
    }
    if WITH_TANGENTS {
        tangents[at] = transform_tangent(frame, rest_of_vertex.tangent);
    }
}
