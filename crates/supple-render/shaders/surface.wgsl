// Surfaces of clay or glass: what `fragment.rs` and `shade.rs` do, fragment by fragment.
@group(1) @binding(1) var<storage, read> triangles: array<u32>;
// Linear colours of vertices; the fourth number is 0 where facets shall show.
@group(1) @binding(2) var<storage, read> colors: array<vec4<f32>>;

struct Fragment {
    @builtin(position) clip: vec4<f32>,
    // Of the second and of the third corner.
    @location(0) @interpolate(perspective, centroid) shares: vec2<f32>,
    @location(1) @interpolate(perspective, centroid) color: vec3<f32>,
    @location(2) @interpolate(flat) a: vec3<f32>,
    @location(3) @interpolate(flat) b: vec3<f32>,
    @location(4) @interpolate(flat) c: vec3<f32>,
    @location(5) @interpolate(flat) normal_a: vec3<f32>,
    @location(6) @interpolate(flat) normal_b: vec3<f32>,
    @location(7) @interpolate(flat) normal_c: vec3<f32>,
}

// Homogeneous pixel coordinates: the pixel is (x / z, y / z), and z the distance along the view.
fn pixel_of(point: vec3<f32>) -> vec3<f32> {
    let from_eye = point - view.eye.xyz;
    let distance = -dot(view.back.xyz, from_eye);
    let half = 0.5 * view.size_and_shift.xy;
    return vec3(
        half.x * (distance + dot(view.right.xyz, from_eye) / view.right.w),
        half.y * (distance - dot(view.up.xyz, from_eye) / view.up.w),
        distance,
    );
}

// All corners go along with each, so that a fragment knows its triangle.
@vertex
fn draw_surface(@builtin(vertex_index) index: u32) -> Fragment {
    let first = index / 3u * 3u;
    let a = posed_vertex(triangles[first], 0u);
    let b = posed_vertex(triangles[first + 1u], 0u);
    let c = posed_vertex(triangles[first + 2u], 0u);
    let corner = index % 3u;
    let color = colors[triangles[index]];
    let own = select(select(c.position, b.position, corner == 1u), a.position, corner == 0u);
    let pixel = pixel_of(on_stage(own))
        + vec3(view.size_and_shift.zw, 0.0) * pixel_of(on_stage(own)).z;
    let flat = pixel.xy / (0.5 * view.size_and_shift.xy) - vec2(pixel.z);
    return Fragment(
        // Nearness, so that what is near has the most digits.
        vec4(flat.x, -flat.y, NEAR, pixel.z),
        vec2(f32(corner == 1u), f32(corner == 2u)),
        color.rgb,
        on_stage(a.position),
        on_stage(b.position),
        on_stage(c.position),
        unit(a.normal, vec3<f32>()) * color.w,
        unit(b.normal, vec3<f32>()) * color.w,
        unit(c.normal, vec3<f32>()) * color.w,
    );
}

// A flat triangle lies below the smooth surface that its normals describe, and would be shadowed
// by itself where that surface is still in the light: a point lifted onto the plane of a corner.
fn lifted(position: vec3<f32>, corner: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    return position - normal * min(dot(position - corner, normal), 0.0);
}

fn across(a: vec2<f32>, b: vec2<f32>) -> f32 {
    return a.x * b.y - a.y * b.x;
}

// How dark the wires of a triangle are at the origin.
fn ink_at(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> f32 {
    if a.z < NEAR || b.z < NEAR || c.z < NEAR {
        return 0.0;
    }
    let points = array(a.xy / a.z, b.xy / b.z, c.xy / c.z);
    var nearest = 1e30;
    var longest = 0.0;
    for (var i = 0u; i < 3u; i++) {
        let from_point = points[i];
        let to_point = points[(i + 1u) % 3u];
        let side = distance(from_point, to_point);
        if side > 0.0 {
            nearest = min(nearest, abs(across(from_point, to_point)) / side);
            longest = max(longest, side);
        }
    }
    if longest == 0.0 {
        return 0.0;
    }
    let doubled_area = abs(across(points[1] - points[0], points[2] - points[0]));
    // Where triangles are only a few pixels high, full lines would turn the surface black.
    let crowding = clamp((doubled_area / longest - 0.5) / 5.0, 0.1, 1.0);
    return clamp(WIRE_HALF_WIDTH + 0.5 - nearest, 0.0, 1.0) * crowding;
}

// A gentle film curve: straight in the middle so that colours stay true, soft at the top.
fn bend(value: vec3<f32>) -> vec3<f32> {
    let room = 1.0 - SHOULDER;
    let bent = SHOULDER + room * (1.0 - exp(-(value - SHOULDER) / room));
    return select(bent, value, value <= vec3(SHOULDER));
}

@fragment
fn shade(fragment: Fragment) -> @location(0) vec4<f32> {
    // A sample may lie a little outside of a sliver.
    var shares = max(
        vec3(1.0 - fragment.shares.x - fragment.shares.y, fragment.shares), vec3<f32>()
    );
    shares /= shares.x + shares.y + shares.z;
    let position = fragment.a * shares.x + fragment.b * shares.y + fragment.c * shares.z;
    let toward_eye = unit(view.eye.xyz - position, vec3(0.0, 0.0, 1.0));
    var facet = unit(cross(fragment.b - fragment.a, fragment.c - fragment.a), toward_eye);
    facet = select(facet, -facet, dot(facet, toward_eye) < 0.0);
    let blended = fragment.normal_a * shares.x + fragment.normal_b * shares.y
        + fragment.normal_c * shares.z;
    let smooth_normal = unit(blended, facet);
    // Normals may point inwards (mirrored models) or belong to the other side of a sheet.
    let flip = select(1.0, -1.0, dot(smooth_normal, facet) < 0.0);
    let normal = smooth_normal * flip;
    let receiver = lifted(position, fragment.a, fragment.normal_a * flip) * shares.x
        + lifted(position, fragment.b, fragment.normal_b * flip) * shares.y
        + lifted(position, fragment.c, fragment.normal_c * flip) * shares.z;
    let light = arriving(receiver, normal, SURFACE_LIFT);

    let halfway = unit(view.key.xyz + toward_eye, view.key.xyz);
    let gloss = pow(max(dot(normal, halfway), 0.0), 24.0);
    let facing = clamp(dot(normal, toward_eye), 0.0, 1.0);
    // Grazing views of any rough material catch light from behind.
    let rim = mix(fragment.color, vec3(1.0), 0.4) * light.diffuse * (0.22 * pow(1.0 - facing, 3.0));
    var color = bend(fragment.color * light.diffuse + vec3(0.06 * gloss * light.key) + rim);

    var ink = 0.0;
    if view.counts.z != 0u {
        let here = pixel_of(position);
        let at = here.xy / here.z;
        let corners = array(pixel_of(fragment.a), pixel_of(fragment.b), pixel_of(fragment.c));
        ink = ink_at(
            vec3(corners[0].xy - at * corners[0].z, corners[0].z),
            vec3(corners[1].xy - at * corners[1].z, corners[1].z),
            vec3(corners[2].xy - at * corners[2].z, corners[2].z),
        );
    }
    color = mix(color, INK, ink * INK_STRENGTH);
    var opacity = 1.0;
    if view.counts.w != 0u {
        // Glass: faint where it faces the viewer, plain along its outlines.
        let away = 1.0 - facing;
        color = mix(color, fragment.color * GLASS_DARK, GLASS_OUTLINE * pow(away, 4.0));
        opacity = max(GLASS_FACING + (GLASS_EDGE - GLASS_FACING) * away * away, ink * INK_STRENGTH);
    }
    return vec4(color * opacity, opacity);
}
