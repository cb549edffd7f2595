// What a kernel reads. Constants of its packing precede this text.

struct Call {
    // Vertices of one instance.
    vertices: u32,
    joints: u32,
    // Vectors from the pose of one instance to that of the next.
    pose_stride: u32,
    // 1 if stretches follow the joints of every pose.
    stretches: u32,
    // The box around the rest surface, for positions in 16 bits, and the largest number of an
    // influence.
    box_low: vec3<f32>,
    number_range: f32,
    box_size: vec3<f32>,
    // Slices along the first dimension of a dispatch; further ones follow along the third.
    row: u32,
}

@group(0) @binding(0) var<uniform> call: Call;
// For every instance: the factors of the world, the joints, their stretches, and shared vectors.
@group(0) @binding(1) var<storage, read> poses: array<vec4<f32>>;
// For every LANES vertices: the start of their further influences, in pairs of words, and the
// largest number of influences of one of them.
@group(0) @binding(2) var<storage, read> slices: array<vec2<u32>>;
// Pairs of words, with the vertices of a slice side by side, so that neighbouring threads read
// neighbouring words. First, slice after slice, what every vertex has, at an offset that needs no
// lookup: its own numbers, and its heaviest influences with joint, weight and numbers. Then the
// further influences of each slice. In 16 bits, joint and weight share a word, and so do two
// numbers.
@group(0) @binding(3) var<storage, read> skin: array<vec2<u32>>;
// A table for some kernels: the hinge between each two joints, counted from one; or the surface
// that delta mush smooths.
@group(0) @binding(4) var<storage, read> table: array<u32>;

// The pairs of words that every vertex has.
const FIRST_PAIRS = (VERTEX_WORDS + FIRST_INFLUENCES * INFLUENCE_WORDS) / 2u;

// A vertex of an instance.
struct Vertex {
    // The index of its first pair, and what that would be if its further influences followed it.
    first: u32,
    further: u32,
    influences: u32,
    pose: u32,
}

// An influence that a vertex does not have has a weight of zero, and numbers of zero.
struct Influence {
    joint: u32,
    weight: f32,
}

fn vertex_of(index: u32, instance: u32) -> Vertex {
    let slice = slices[index / LANES];
    let lane = index % LANES;
    let first = index / LANES * (FIRST_PAIRS * LANES) + lane;
    return Vertex(
        first, slice.x + lane - FIRST_PAIRS * LANES, slice.y, instance * call.pose_stride
    );
}

fn own_word(vertex: Vertex, word: u32) -> u32 {
    return skin[vertex.first + word / 2u * LANES][word % 2u];
}

fn own_number(vertex: Vertex, number: u32) -> f32 {
    return bitcast<f32>(own_word(vertex, number));
}

fn own_vector(vertex: Vertex, first: u32) -> vec3<f32> {
    return vec3(
        own_number(vertex, first), own_number(vertex, first + 1u), own_number(vertex, first + 2u)
    );
}

fn influence_word(vertex: Vertex, influence: u32, word: u32) -> u32 {
    let place = VERTEX_WORDS + influence * INFLUENCE_WORDS + word;
    let first = select(vertex.further, vertex.first, influence < FIRST_INFLUENCES);
    return skin[first + place / 2u * LANES][place % 2u];
}

fn influence_of(vertex: Vertex, influence: u32) -> Influence {
    if SHORT_WEIGHTS {
        let word = influence_word(vertex, influence, 0u);
        return Influence(word & 0xffffu, f32(word >> 16u) / 65535.0);
    }
    return Influence(
        influence_word(vertex, influence, 0u), bitcast<f32>(influence_word(vertex, influence, 1u))
    );
}

// Two influences, of which the second may be absent. They are fetched together to keep memory busy.
struct Pair {
    joints: vec2<u32>,
    weights: vec2<f32>,
}

// The pair that starts at an even index.
fn pair_of(vertex: Vertex, first: u32) -> Pair {
    let a = influence_of(vertex, first);
    if first + 1u < FIRST_INFLUENCES {
        let b = influence_of(vertex, first + 1u);
        return Pair(vec2(a.joint, b.joint), vec2(a.weight, b.weight));
    }
    let last = vertex.influences - 1u;
    let b = influence_of(vertex, min(first + 1u, last));
    return Pair(vec2(a.joint, b.joint), vec2(a.weight, select(0.0, b.weight, first < last)));
}

fn influence_number(vertex: Vertex, influence: u32, number: u32) -> f32 {
    let first = select(2u, 1u, SHORT_WEIGHTS);
    if SHORT_NUMBERS {
        let pair = unpack2x16snorm(influence_word(vertex, influence, first + number / 2u));
        return pair[number % 2u] * call.number_range;
    }
    return bitcast<f32>(influence_word(vertex, influence, first + number));
}

fn influence_vector(vertex: Vertex, influence: u32, first: u32) -> vec3<f32> {
    return vec3(
        influence_number(vertex, influence, first),
        influence_number(vertex, influence, first + 1u),
        influence_number(vertex, influence, first + 2u),
    );
}

fn shared_vector(vertex: Vertex, vector: u32) -> vec4<f32> {
    return poses[vertex.pose + 1u + call.joints * (JOINT_VECTORS + 3u * call.stretches) + vector];
}

fn shared_frame(vertex: Vertex, first: u32) -> Frame {
    return Frame(
        shared_vector(vertex, first),
        shared_vector(vertex, first + 1u),
        shared_vector(vertex, first + 2u),
    );
}

fn joint_vector(vertex: Vertex, joint: u32, vector: u32) -> vec4<f32> {
    return poses[vertex.pose + 1u + joint * JOINT_VECTORS + vector];
}

fn joint_frame(vertex: Vertex, joint: u32, first: u32) -> Frame {
    return Frame(
        joint_vector(vertex, joint, first),
        joint_vector(vertex, joint, first + 1u),
        joint_vector(vertex, joint, first + 2u),
    );
}

// The blended stretches, which are applied first.
fn stretch_of(vertex: Vertex) -> Frame {
    if call.stretches == 0u {
        return IDENTITY;
    }
    var sum = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let first = vertex.pose + 1u + call.joints * JOINT_VECTORS + influence.joint * 3u;
        sum = add_scaled(
            sum, Frame(poses[first], poses[first + 1u], poses[first + 2u]), influence.weight
        );
    }
    return sum;
}

// A rigid frame after the stretch, in the world of the palette.
fn after_stretch(frame: Frame, stretch: Frame, vertex: Vertex) -> Frame {
    let factors = poses[vertex.pose];
    var whole = frame;
    if call.stretches != 0u {
        whole = after(frame, stretch);
    }
    return Frame(whole.x * factors.x, whole.y * factors.y, whole.z * factors.z);
}
