// The surface that is smoothed before frames can be had. All that was baked for it is in `table`:
// how many points there are, and how many slices of them a row has (see `call.row`); for every LANES points, where their words start, and the most neighbours and triangles that one of them has; for
// every piece its middle and its joint; then, word by word, the points of a slice side by side: the words below, a point and its share for every neighbour, two points for every triangle.
// A neighbour or a triangle that a point does not have is the point itself.

const SLICES = 2u;

const POINT_PLACE = 0u;
const POINT_SMOOTH = 3u;
const POINT_SMOOTH_LEFT = 6u;
const POINT_PIECE = 9u;
const POINT_VERTEX = 10u;
const POINT_TOWARDS = 11u;
const POINT_WORDS = 12u;

struct Point {
    words: u32,
    neighbours: u32,
    triangles: u32,
}

// A connected piece: a place in its middle, and the joint that is its reference.
struct Piece {
    middle: vec3<f32>,
    joint: u32,
}

fn point_count() -> u32 {
    return table[0];
}

fn point_row() -> u32 {
    return table[1];
}

fn point_of(index: u32) -> Point {
    let slice = SLICES + 3u * (index / LANES);
    return Point(table[slice] + index % LANES, table[slice + 1u], table[slice + 2u]);
}

fn point_word(point: Point, word: u32) -> u32 {
    return table[point.words + word * LANES];
}

fn point_vector(point: Point, first: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3(point_word(point, first), point_word(point, first + 1u), point_word(point, first + 2u)));
}

fn piece_of(point: Point) -> Piece {
    let slices = (point_count() + LANES - 1u) / LANES;
    let first = SLICES + 3u * slices + 4u * point_word(point, POINT_PIECE);
    return Piece(bitcast<vec3<f32>>(vec3(table[first], table[first + 1u], table[first + 2u])), table[first + 3u]);
}

// What is smoothed: for every instance what joints do beside the reference and, if there are stretches, what those do beside the reference's.
const BESIDE = 0u;
const STRETCHED = 1u;

fn field_of(instance: u32, which: u32) -> u32 {
    return instance * (1u + call.stretches) + which;
}

// Of every field three arrays, three numbers per point: `x`, which is smoothed; `δ`, what smoothing changes; `y = L x`.
const SOURCE = 0u;
const CHANGE = 1u;
const DIFFERENCE = 2u;

fn field_place(field: u32, which: u32, point: u32) -> u32 {
    return 3u * ((3u * field + which) * point_count() + point);
}

// A rotation is undone by its transpose, whose columns are its rows.
fn undone_rotation(motion: Frame) -> mat3x3<f32> {
    return mat3x3(motion.x.xyz, motion.y.xyz, motion.z.xyz);
}

// How the reference is stretched.
fn joint_stretch(vertex: Vertex, joint: u32) -> Frame {
    if call.stretches == 0u {
        return IDENTITY;
    }
    let first = vertex.pose + 1u + call.joints * JOINT_VECTORS + joint * 3u;
    return Frame(poses[first], poses[first + 1u], poses[first + 2u]);
}
