// A vertex shader that draws deformed vertices.

@group(1) @binding(0) var<uniform> clip_from_world: mat4x4<f32>;

struct Drawn {
    @builtin(position) clip: vec4<f32>,
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
}

@vertex
fn draw(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Drawn {
    let posed = posed_vertex(index, instance);
    return Drawn(
        clip_from_world * vec4(posed.position, 1.0), posed.position, posed.normal, posed.tangent
    );
}
