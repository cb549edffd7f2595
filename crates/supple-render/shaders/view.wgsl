// A camera that looks at the stage. Constants for how it is lit stand before this text.
struct View {
    // The middle of the stage in the world, and one over its radius.
    target_and_scale: vec4<f32>,
    // On the stage; the fourth number is the height of the ground.
    eye: vec4<f32>,
    // The axes of the camera. Beside the first two, half the picture's width and height at unit
    // distance; beside the third, whether there is a ground.
    right: vec4<f32>,
    up: vec4<f32>,
    back: vec4<f32>,
    // Pixels, and by how many of them the picture is shifted.
    size_and_shift: vec4<f32>,
    // Towards the middle of the key light; beside it, how high the highest lamp map reaches.
    key: vec4<f32>,
    // The backdrop in its middle and in its corners. Beside them, how much surfaces pale, and
    // unused.
    center: vec4<f32>,
    corner: vec4<f32>,
    // Lamps of the key light, all lamps, whether wires show, whether surfaces are of glass.
    counts: vec4<u32>,
}

@group(1) @binding(0) var<uniform> view: View;

struct Lamp {
    // Beside it, the length of a texel's side.
    toward: vec4<f32>,
    // Beside it, how far shadows blur.
    right: vec4<f32>,
    up: vec4<f32>,
    color: vec4<f32>,
}

fn on_stage(world: vec3<f32>) -> vec3<f32> {
    return (world - view.target_and_scale.xyz) * view.target_and_scale.w;
}

fn unit(vector: vec3<f32>, otherwise: vec3<f32>) -> vec3<f32> {
    let size = length(vector);
    if !(size > 1e-30) {
        return otherwise;
    }
    return vector / size;
}

// Texel coordinates and height of a point, as a lamp sees it.
fn place_in_map(lamp: Lamp, position: vec3<f32>) -> vec3<f32> {
    let flat = vec2(dot(position, lamp.right.xyz), dot(position, lamp.up.xyz)) / lamp.toward.w;
    return vec3(flat + f32(MAP_SIZE) * 0.5, dot(position, lamp.toward.xyz));
}
