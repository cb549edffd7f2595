// The bindings of the smoothing passes (see `field_place`).

struct Term {
    // `f`, the factor of `y`.
    factor: f32,
    // The share of this term: one, and half for the last one.
    share: f32,
    // 1 for the first term of a series, which makes `y`.
    is_first: u32,
    // 1 for the last term of a series that is followed by another one, which smooths its result.
    goes_on: u32,
}

// The term of this pass.
@group(1) @binding(0) var<uniform> term: Term;
@group(1) @binding(1) var<storage, read_write> fields: array<f32>;
// `β` before and after this term, three numbers per point and field. Before the first term it is
// `x`.
@group(1) @binding(2) var<storage, read> sums: array<f32>;
@group(1) @binding(3) var<storage, read_write> next_sums: array<f32>;

fn field_vector(at: u32) -> vec3<f32> {
    return vec3(fields[at], fields[at + 1u], fields[at + 2u]);
}

fn put_field_vector(at: u32, vector: vec3<f32>) {
    fields[at] = vector.x;
    fields[at + 1u] = vector.y;
    fields[at + 2u] = vector.z;
}

fn put_sum(at: u32, vector: vec3<f32>) {
    next_sums[at] = vector.x;
    next_sums[at + 1u] = vector.y;
    next_sums[at + 2u] = vector.z;
}
