// The rest surface, laid out as the skin is: position, normal, and where there are tangents those. In 16 bits, positions are places in the box (the fourth number is the side of the tangent), and
// directions lie on an octahedron.
@group(0) @binding(5) var<storage, read> rest: array<vec2<u32>>;

fn rest_word(index: u32, word: u32) -> u32 {
    return rest[(index / LANES * (REST_WORDS / 2u) + word / 2u) * LANES + index % LANES][word % 2u];
}

fn rest_vector(index: u32, first: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3(rest_word(index, first), rest_word(index, first + 1u), rest_word(index, first + 2u)));
}

fn rest_position(index: u32) -> vec3<f32> {
    if SHORT_REST {
        let place = vec3(unpack2x16unorm(rest_word(index, 0u)), unpack2x16unorm(rest_word(index, 1u)).x);
        return call.box_low + place * call.box_size;
    }
    return rest_vector(index, 0u);
}

// A unit vector from its place on an octahedron that is folded flat.
fn unfolded(place: vec2<f32>) -> vec3<f32> {
    let height = 1.0 - abs(place.x) - abs(place.y);
    let below = max(-height, 0.0);
    return normalize(vec3(place - select(vec2(-below), vec2(below), place >= vec2(0.0)), height));
}

fn rest_normal(index: u32) -> vec3<f32> {
    if SHORT_REST {
        return unfolded(unpack2x16snorm(rest_word(index, 2u)));
    }
    return rest_vector(index, 3u);
}

fn rest_tangent(index: u32) -> vec4<f32> {
    if SHORT_REST {
        let side = select(-1.0, 1.0, unpack2x16unorm(rest_word(index, 1u)).y > 0.5);
        return vec4(unfolded(unpack2x16snorm(rest_word(index, 3u))), side);
    }
    return vec4(rest_vector(index, 6u), bitcast<f32>(rest_word(index, 9u)));
}
