// The rest surface, laid out like the skin: position, normal, and tangent if there is one. In 16
// bits, positions are relative to the box (the fourth number is the side of the tangent), and
// directions are on an octahedron.
@group(0) @binding(5) var<storage, read> rest: array<vec2<u32>>;

struct Rest {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec4<f32>,
}

// A unit vector from its octahedral coordinates.
fn unfolded(place: vec2<f32>) -> vec3<f32> {
    let height = 1.0 - abs(place.x) - abs(place.y);
    let below = max(-height, 0.0);
    return normalize(vec3(place - select(vec2(-below), vec2(below), place >= vec2(0.0)), height));
}

// A vertex of the rest surface; what is not deformed is zero. Each pair is read once.
fn rest_vertex(index: u32) -> Rest {
    let first = index / LANES * (REST_WORDS / 2u * LANES) + index % LANES;
    let a = rest[first];
    var found = Rest();
    if SHORT_REST {
        var b = vec2<u32>();
        if WITH_NORMALS || WITH_TANGENTS {
            b = rest[first + LANES];
        }
        let place_and_side = vec4(unpack2x16unorm(a.x), unpack2x16unorm(a.y));
        found.position = call.box_low + place_and_side.xyz * call.box_size;
        found.normal = unfolded(unpack2x16snorm(b.x));
        found.tangent = vec4(
            unfolded(unpack2x16snorm(b.y)), select(-1.0, 1.0, place_and_side.w > 0.5)
        );
        return found;
    }
    let b = rest[first + LANES];
    found.position = bitcast<vec3<f32>>(vec3(a, b.x));
    if WITH_NORMALS || WITH_TANGENTS {
        let c = rest[first + 2u * LANES];
        found.normal = bitcast<vec3<f32>>(vec3(b.y, c));
    }
    if WITH_TANGENTS {
        found.tangent = bitcast<vec4<f32>>(
            vec4(rest[first + 3u * LANES], rest[first + 4u * LANES])
        );
    }
    return found;
}
