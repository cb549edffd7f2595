// An affine map, row by row: `posed_from_bind` of a vertex or of a joint.
struct Frame {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

const ZERO = Frame(vec4<f32>(), vec4<f32>(), vec4<f32>());
const IDENTITY = Frame(
    vec4(1.0, 0.0, 0.0, 0.0), vec4(0.0, 1.0, 0.0, 0.0), vec4(0.0, 0.0, 1.0, 0.0)
);

fn add_scaled(frame: Frame, other: Frame, weight: f32) -> Frame {
    return Frame(
        frame.x + other.x * weight, frame.y + other.y * weight, frame.z + other.z * weight
    );
}

fn transform_point(frame: Frame, point: vec3<f32>) -> vec3<f32> {
    return transform_vector(frame, point) + vec3(frame.x.w, frame.y.w, frame.z.w);
}

fn transform_vector(frame: Frame, vector: vec3<f32>) -> vec3<f32> {
    return vec3(dot(frame.x.xyz, vector), dot(frame.y.xyz, vector), dot(frame.z.xyz, vector));
}

// Rows to columns.
fn linear_part(frame: Frame) -> mat3x3<f32> {
    return transpose(mat3x3(frame.x.xyz, frame.y.xyz, frame.z.xyz));
}

// `other` first, then `frame`.
fn after(frame: Frame, other: Frame) -> Frame {
    return Frame(row_after(frame.x, other), row_after(frame.y, other), row_after(frame.z, other));
}

fn row_after(row: vec4<f32>, other: Frame) -> vec4<f32> {
    return other.x * row.x + other.y * row.y + other.z * row.z + vec4(0.0, 0.0, 0.0, row.w);
}

// Columns to rows.
fn frame_from(linear: mat3x3<f32>, shift: vec3<f32>) -> Frame {
    let rows = transpose(linear);
    return Frame(vec4(rows[0], shift.x), vec4(rows[1], shift.y), vec4(rows[2], shift.z));
}

// A rotation, and the shift that moves `center` to `carried`.
fn turned_about(center: vec3<f32>, rotation: mat3x3<f32>, carried: vec3<f32>) -> Frame {
    return frame_from(rotation, carried - rotation * center);
}

// A vector at unit length, or `otherwise` if it has no direction.
fn unit_or(vector: vec3<f32>, otherwise: vec3<f32>) -> vec3<f32> {
    let squares = dot(vector, vector);
    if squares > 1e-30 && squares < 1e30 {
        return vector * inverseSqrt(squares);
    }
    // Otherwise divide by its largest number first, so that squares neither underflow nor overflow.
    let size = max(abs(vector.x), max(abs(vector.y), abs(vector.z)));
    if !(size > 1e-37 && size < 3e38) {
        return otherwise;
    }
    return normalize(vector / size);
}

// Normals transform by the inverse transpose. The cofactors are that up to a factor, which has the
// sign of the determinant.
fn transform_normal(frame: Frame, normal: vec3<f32>) -> vec3<f32> {
    let first = cross(frame.y.xyz, frame.z.xyz);
    let mapped = vec3(
        dot(first, normal),
        dot(cross(frame.z.xyz, frame.x.xyz), normal),
        dot(cross(frame.x.xyz, frame.y.xyz), normal),
    );
    let side = select(1.0, -1.0, dot(frame.x.xyz, first) < 0.0);
    return unit_or(mapped * side, normal);
}

// Tangents stay in the surface. The fourth number is the side of the bitangent, which mirroring
// changes.
fn transform_tangent(frame: Frame, tangent: vec4<f32>) -> vec4<f32> {
    let side = select(1.0, -1.0, dot(frame.x.xyz, cross(frame.y.xyz, frame.z.xyz)) < 0.0);
    return vec4(unit_or(transform_vector(frame, tangent.xyz), tangent.xyz), tangent.w * side);
}
