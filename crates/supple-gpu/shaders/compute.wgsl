// A compute pass: the deformed surface of every instance into buffers that a renderer then reads.

// The rest surface, laid out as the skin is: position, normal, and where there are tangents those.
@group(1) @binding(0) var<storage, read> rest: array<f32>;
// Three numbers per vertex, three, and four; instance after instance.
@group(1) @binding(1) var<storage, read_write> positions: array<f32>;
@group(1) @binding(2) var<storage, read_write> normals: array<f32>;
@group(1) @binding(3) var<storage, read_write> tangents: array<f32>;

fn rest_vector(index: u32, first: u32) -> vec3<f32> {
    let words = (index / LANES) * REST_NUMBERS * LANES + index % LANES + first * LANES;
    return vec3(rest[words], rest[words + LANES], rest[words + 2u * LANES]);
}

@compute @workgroup_size(LANES)
fn deform(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    // More slices than one dimension has room for go on along the third.
    let index = (group.x + group.z * groups.x) * LANES + lane;
    if index >= call.vertices {
        return;
    }
    let instance = group.y;
    let frame = frame_of(vertex_of(index, instance));
    let at = instance * call.vertices + index;
    let position = transform_point(frame, rest_vector(index, 0u));
    positions[3u * at] = position.x;
    positions[3u * at + 1u] = position.y;
    positions[3u * at + 2u] = position.z;
    if WITH_NORMALS {
        let normal = transform_normal(frame, rest_vector(index, 3u));
        normals[3u * at] = normal.x;
        normals[3u * at + 1u] = normal.y;
        normals[3u * at + 2u] = normal.z;
    }
    if WITH_TANGENTS {
        let side = rest[(index / LANES) * REST_NUMBERS * LANES + index % LANES + 9u * LANES];
        let tangent = transform_tangent(frame, vec4(rest_vector(index, 6u), side));
        tangents[4u * at] = tangent.x;
        tangents[4u * at + 1u] = tangent.y;
        tangents[4u * at + 2u] = tangent.z;
        tangents[4u * at + 3u] = tangent.w;
    }
}
