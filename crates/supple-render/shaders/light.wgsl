// Light of many lamps, each with a map of what it sees: what `light.rs` does, point by point.
@group(2) @binding(0) var<storage, read> lamps: array<Lamp>;
@group(2) @binding(1) var maps: texture_depth_2d_array;
@group(2) @binding(2) var<storage, read> nearest_around: array<f32>;

// Light that arrives at a point: from all lamps that see it, what there would be with nothing in
// the way, and the share of the key light that sees it.
struct Arriving {
    diffuse: vec3<f32>,
    unblocked: vec3<f32>,
    key: f32,
}

fn height_of(depth: f32) -> f32 {
    return select((1.0 - 2.0 * depth) * view.key.w, -1e30, depth >= 1.0);
}

fn height_above(layer: u32, at: vec3<f32>, slope: vec2<f32>, offset: vec2<f32>) -> f32 {
    let texel = textureLoad(maps, vec2<i32>(at.xy + offset), i32(layer), 0);
    return height_of(texel) - dot(slope, offset) - at.z;
}

// How much of a lamp a point sees. Shadows blur with the distance of what casts them, just enough
// to run into those of the next lamps.
fn visible(
    layer: u32,
    lamp: Lamp,
    position: vec3<f32>,
    normal: vec3<f32>,
    lift: f32,
    cosine: f32,
) -> f32 {
    let texel = lamp.toward.w;
    let spacing = lamp.right.w;
    let at = place_in_map(lamp, position + normal * (lift * texel));
    let border = f32(BLOCK);
    let limit = f32(MAP_SIZE - BLOCK);
    if !(at.x >= border && at.y >= border && at.x < limit && at.y < limit) {
        return 1.0;
    }
    let block = vec2<u32>(at.xy) / BLOCK;
    let above = height_of(nearest_around[(layer * BLOCKS + block.y) * BLOCKS + block.x]) - at.z;
    // The surface itself continues along its plane; only what stands above that plane casts a
    // shadow.
    let tilt = vec2(dot(normal, lamp.right.xyz), dot(normal, lamp.up.xyz));
    let slope = tilt * (-texel / max(cosine, 0.2));
    let widest = max(min(above * spacing / texel, MAX_BLUR), MIN_BLUR);
    if above < -(abs(slope.x) + abs(slope.y)) * widest {
        return 1.0;
    }
    var casters = 0.0;
    var distance = 0.0;
    for (var i = 0u; i < SEARCH_TAPS; i++) {
        let height = height_above(layer, at, slope, search[i] * widest);
        if height > 0.0 {
            casters += 1.0;
            distance += height;
        }
    }
    if casters == 0.0 {
        return 1.0;
    }
    let radius = clamp(distance / casters * spacing / texel, MIN_BLUR, widest);
    var blocked = 0.0;
    for (var i = 0u; i < BLUR_TAPS; i++) {
        if height_above(layer, at, slope, blur[i] * radius) > 0.0 {
            blocked += 1.0;
        }
    }
    return 1.0 - blocked / f32(BLUR_TAPS);
}

fn arriving(position: vec3<f32>, normal: vec3<f32>, lift: f32) -> Arriving {
    var sum = Arriving(vec3<f32>(), vec3<f32>(), 0.0);
    for (var i = 0u; i < view.counts.y; i++) {
        let lamp = lamps[i];
        let cosine = dot(normal, lamp.toward.xyz);
        if cosine <= 0.0 {
            continue;
        }
        let seen = visible(i, lamp, position, normal, lift, cosine);
        sum.diffuse += lamp.color.rgb * (cosine * seen);
        sum.unblocked += lamp.color.rgb * cosine;
        if i < view.counts.x {
            sum.key += seen / f32(view.counts.x);
        }
    }
    return sum;
}
