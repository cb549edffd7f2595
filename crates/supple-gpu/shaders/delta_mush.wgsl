// Delta mush (§3.1): `x = ṽ + R d` (eq. 4), after smoothing. The frame moves `ũ` to `ṽ`, and turns
// as the smoothed surface does there.

// The result of the passes before.
@group(0) @binding(6) var<storage, read> smoothed: array<f32>;

// A vector before and after the joints move it relative to the reference joint; equal at rest. The
// first includes stretches.
struct Carried {
    before: vec3<f32>,
    after: vec3<f32>,
}

fn smoothed_vector(field: u32, which: u32, point: u32) -> vec3<f32> {
    let first = field_place(field, which, point);
    return vec3(smoothed[first], smoothed[first + 1u], smoothed[first + 2u]);
}

// The difference of two points of a smoothed field. `x` and `δ` are subtracted separately: where
// smoothing shrinks a patch, their sums would round its edges away.
fn field_edge(field: u32, start: u32, end: u32) -> vec3<f32> {
    let source = smoothed_vector(field, SOURCE, end) - smoothed_vector(field, SOURCE, start);
    let change = smoothed_vector(field, CHANGE, end) - smoothed_vector(field, CHANGE, start);
    return source + change;
}

// The edge between two points of the smoothed surface. Remainders of rounding are included, for the
// same reason.
fn edge_between(start: u32, end: u32, instance: u32, stretch: Frame) -> Carried {
    let first = point_of(start);
    let last = point_of(end);
    var before = point_vector(last, POINT_SMOOTH) - point_vector(first, POINT_SMOOTH);
    before += point_vector(last, POINT_SMOOTH_LEFT) - point_vector(first, POINT_SMOOTH_LEFT);
    if call.stretches != 0u {
        before = transform_vector(stretch, before)
            + field_edge(field_of(instance, STRETCHED), start, end);
    }
    return Carried(before, before + field_edge(field_of(instance, BESIDE), start, end));
}

// A point of the smoothed surface.
fn place_of(index: u32, point: Point, middle: vec3<f32>, instance: u32, stretch: Frame) -> Carried {
    var before = transform_point(stretch, middle + point_vector(point, POINT_SMOOTH));
    if call.stretches != 0u {
        let field = field_of(instance, STRETCHED);
        before += smoothed_vector(field, SOURCE, index) + smoothed_vector(field, CHANGE, index);
    }
    let field = field_of(instance, BESIDE);
    let beside = smoothed_vector(field, SOURCE, index) + smoothed_vector(field, CHANGE, index);
    return Carried(before, before + beside);
}

// The columns tangent, bitangent and normal. If the surface has collapsed, the first or the last is
// zero.
fn tangent_frame(normal: vec3<f32>, edge: vec3<f32>) -> mat3x3<f32> {
    let up = unit_or(normal, vec3<f32>());
    let along = unit_or(edge - up * dot(up, edge), vec3<f32>());
    return mat3x3(along, cross(up, along), up);
}

fn has_collapsed(frame: mat3x3<f32>) -> bool {
    return all(frame[0] == vec3<f32>()) || all(frame[2] == vec3<f32>());
}

fn frame_of(vertex: Vertex) -> Frame {
    let instance = vertex.pose / call.pose_stride;
    let index = own_word(vertex, 0u);
    let point = point_of(index);
    let piece = piece_of(point);
    let reference = joint_frame(vertex, piece.joint, 0u);
    let stretch = joint_stretch(vertex, piece.joint);
    // Twice the area-weighted sums of normals around the point.
    var normal = Carried();
    for (var i = 0u; i < point.triangles; i++) {
        let word = POINT_WORDS + 2u * (point.neighbours + i);
        let second = edge_between(index, point_word(point, word), instance, stretch);
        let third = edge_between(index, point_word(point, word + 1u), instance, stretch);
        normal.before += cross(second.before, third.before);
        normal.after += cross(second.after, third.after);
    }
    let towards = edge_between(index, point_word(point, POINT_TOWARDS), instance, stretch);
    let frame_before = tangent_frame(normal.before, towards.before);
    let frame_after = tangent_frame(normal.after, towards.after);
    var rotation = frame_after * transpose(frame_before);
    if has_collapsed(frame_before) || has_collapsed(frame_after) {
        // Then the vertex turns with its heaviest joint.
        let heaviest = joint_frame(vertex, influence_of(vertex, 0u).joint, 0u);
        rotation = undone_rotation(reference) * transpose(undone_rotation(heaviest));
    }
    let place = place_of(index, point, piece.middle, instance, stretch);
    let beside = turned_about(place.before, rotation, place.after);
    return after_stretch(after(reference, beside), stretch_of(vertex), vertex);
}
