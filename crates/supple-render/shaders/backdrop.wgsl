// What no surface covers, and the shadow on the ground: what `render.rs` does, pixel by pixel.

// The surfaces, as often as the picture was shifted.
@group(0) @binding(0) var surfaces: texture_2d_array<f32>;

@vertex
fn cover(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4(f32(index % 2u) * 4.0 - 1.0, f32(index / 2u) * 4.0 - 1.0, 0.0, 1.0);
}

// How much of the backdrop's light is left on the ground that is seen at a pixel.
fn dimming_at(pixel: vec2<f32>) -> vec3<f32> {
    let size = view.size_and_shift.xy;
    let x = (pixel.x / size.x * 2.0 - 1.0) * view.right.w;
    let y = (1.0 - pixel.y / size.y * 2.0) * view.up.w;
    let direction = unit(
        view.right.xyz * x + view.up.xyz * y - view.back.xyz, vec3(0.0, 0.0, -1.0)
    );
    let point = view.eye.xyz + direction * ((view.eye.w - view.eye.y) / direction.y);
    let far = length(point.xz);
    if view.back.w == 0.0 || !(direction.y < 0.0 && far < SHADOW_GONE_AT) {
        return vec3(1.0);
    }
    let light = arriving(point, vec3(0.0, 1.0, 0.0), GROUND_LIFT);
    let beyond = clamp((far - SHADOW_FADES_FROM) / (SHADOW_GONE_AT - SHADOW_FADES_FROM), 0.0, 1.0);
    let fade = 1.0 - beyond * beyond * (3.0 - 2.0 * beyond);
    let open = light.diffuse / max(light.unblocked, vec3(1e-6));
    return vec3(1.0) - (vec3(1.0) - open) * (SHADOW_STRENGTH * fade);
}

@fragment
fn fill(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = place.xy;
    var covered = vec4<f32>();
    let layers = textureNumLayers(surfaces);
    for (var layer = 0u; layer < layers; layer++) {
        covered += textureLoad(surfaces, vec2<i32>(pixel), i32(layer), 0) / f32(layers);
    }
    let free = clamp(1.0 - covered.a, 0.0, 1.0);
    let from_middle = (pixel / view.size_and_shift.xy - BACKDROP_MIDDLE) * 2.0;
    let outward = min(length(from_middle) / BACKDROP_REACH, 1.0);
    let backdrop = mix(view.center.rgb, view.corner.rgb, outward * outward * (1.5 - 0.5 * outward));
    var dimming = vec3(1.0);
    if free > 1e-3 {
        dimming = dimming_at(pixel);
    }
    let paled = mix(covered.rgb, backdrop * (1.0 - free), view.center.w);
    return vec4(paled + backdrop * dimming * free, 1.0);
}
