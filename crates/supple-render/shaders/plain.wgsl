// Vertices that are where they are: props, and surfaces that were deformed before.
@group(0) @binding(0) var<storage, read> plain_positions: array<f32>;
@group(0) @binding(1) var<storage, read> plain_normals: array<f32>;

struct Posed {
    position: vec3<f32>,
    normal: vec3<f32>,
}

fn posed_vertex(index: u32, instance: u32) -> Posed {
    let at = 3u * index;
    return Posed(
        vec3(plain_positions[at], plain_positions[at + 1u], plain_positions[at + 2u]),
        vec3(plain_normals[at], plain_normals[at + 1u], plain_normals[at + 2u]),
    );
}
