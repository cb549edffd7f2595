// Quaternions as (x, y, z, w); `q` and `−q` are the same rotation.

// The squared length of a sum below which it has no rotation.
const CANCELLED = 1e-12;

// The cosine below which a sum and the next quaternion count as perpendicular (joints half a turn
// apart). The next one then keeps its sign, so that rounding doesn't decide.
const TIE = 2e-6;

// The sign with which the next unit quaternion is added to a sum (⊕): that nearer to the sum,
// unless signs were chosen per joint.
fn sign_beside(sum: vec4<f32>, next: vec4<f32>) -> f32 {
    let along = dot(sum, next);
    let turned = along < 0.0 && along * along > TIE * TIE * dot(sum, sum);
    return select(1.0, -1.0, SIGNS_PER_VERTEX && turned);
}

// The rotation of a quaternion of any length.
fn rotation_of(q: vec4<f32>) -> mat3x3<f32> {
    let s = 2.0 / dot(q, q);
    let v = q.xyz * s;
    let xx = q.x * v.x;
    let yy = q.y * v.y;
    let zz = q.z * v.z;
    let xy = q.x * v.y;
    let xz = q.x * v.z;
    let yz = q.y * v.z;
    let w = q.w * v;
    return mat3x3(
        vec3(1.0 - (yy + zz), xy + w.z, xz - w.y),
        vec3(xy - w.z, 1.0 - (xx + zz), yz + w.x),
        vec3(xz + w.y, yz - w.x, 1.0 - (xx + yy)),
    );
}

// The rotation about a unit axis.
fn turn_about(axis: vec3<f32>, angle: f32) -> mat3x3<f32> {
    let across = mat3x3(
        vec3(0.0, axis.z, -axis.y),
        vec3(-axis.z, 0.0, axis.x),
        vec3(axis.y, -axis.x, 0.0),
    );
    let even = mat3x3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    return even + across * sin(angle) + across * across * (1.0 - cos(angle));
}
