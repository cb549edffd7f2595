// The surface that is smoothed before the frames are computed. `table` holds its bake: the number
// of points, and of slices in a row (see `call.row`); for every LANES points the start of their
// words, and the largest number of neighbours and of triangles of one of them; for every piece its
// middle and its joint; then, word by word, the points of a slice side by side: the words below, a
// point and its share for every neighbour, two points for every triangle. Missing neighbours and
// triangles are the point itself.

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

// A connected piece: a point in its middle, and its reference joint.
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
    return bitcast<vec3<f32>>(
        vec3(point_word(point, first), point_word(point, first + 1u), point_word(point, first + 2u))
    );
}

fn piece_of(point: Point) -> Piece {
    let slices = (point_count() + LANES - 1u) / LANES;
    let first = SLICES + 3u * slices + 4u * point_word(point, POINT_PIECE);
    return Piece(
        bitcast<vec3<f32>>(vec3(table[first], table[first + 1u], table[first + 2u])),
        table[first + 3u],
    );
}

// The fields that are smoothed: for every instance the motion of points relative to the reference
// joint and, if there are stretches, their stretch relative to that of the reference joint.
const BESIDE = 0u;
const STRETCHED = 1u;

fn field_of(instance: u32, which: u32) -> u32 {
    return instance * (1u + call.stretches) + which;
}

// The arrays of every field, three numbers per point: `x`, which is smoothed; `δ`, its change; `y =
// L x`.
const SOURCE = 0u;
const CHANGE = 1u;
const DIFFERENCE = 2u;

fn field_place(field: u32, which: u32, point: u32) -> u32 {
    return 3u * ((3u * field + which) * point_count() + point);
}

// The inverse of a rotation is its transpose, whose columns are its rows.
fn undone_rotation(motion: Frame) -> mat3x3<f32> {
    return mat3x3(motion.x.xyz, motion.y.xyz, motion.z.xyz);
}

// The stretch of the reference joint.
fn joint_stretch(vertex: Vertex, joint: u32) -> Frame {
    if call.stretches == 0u {
        return IDENTITY;
    }
    let first = vertex.pose + 1u + call.joints * JOINT_VECTORS + joint * 3u;
    return Frame(poses[first], poses[first + 1u], poses[first + 2u]);
}
