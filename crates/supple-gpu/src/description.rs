//! Descriptions of the inputs and outputs of shaders, as comments before their text.

use crate::format::{Format, Width};
use crate::shader::{LANES, Pass, Stage, passes};
use supple::deform::{Kernel, StreamLayout};

/// The width of the comments.
const COLUMNS: usize = 100;

/// The numbers that a kernel reads.
struct Contents {
    vertex: &'static str,
    influence: &'static str,
    joint: &'static str,
    shared: &'static str,
}

fn contents(kernel: Kernel) -> Contents {
    const MATRIX: &str = "the rows of its matrix (posed from bind)";
    const TURN: &str =
        "its rotation as a quaternion (x, y, z, w), and the rows of its rigid motion";
    const MOTION: &str = "its rotation as a quaternion (x, y, z, w), and its shift (x, y, z, 0)";
    const LEVER_AND_SHARE: &str = "lever (3) in that length, share of the rotation (1)";
    let plain = Contents {
        vertex: "none",
        influence: "none",
        joint: MATRIX,
        shared: "none",
    };
    match kernel {
        Kernel::AnimationSpace => Contents {
            influence: "the offset of the joint's own rest position (3)",
            ..plain
        },
        Kernel::DualQuaternion => Contents {
            joint: "the real and the dual part of its rigid motion (x, y, z, w)",
            ..plain
        },
        Kernel::LinearDualBlend => Contents {
            vertex: "the share of dual quaternions (1)",
            joint: "the rows of its matrix, the real and the dual part of its rigid motion",
            ..plain
        },
        Kernel::CentersOfRotation => Contents {
            vertex: "its center of rotation (3)",
            joint: MOTION,
            ..plain
        },
        Kernel::MushNearest => Contents {
            vertex: "the middle of its patch (3), the size of the patch (1)",
            influence: "lever (3) and moments xx, xy, xz, yy, yz, zz (6), in sizes of the patch",
            joint: TURN,
            ..plain
        },
        Kernel::MushCofactors => Contents {
            vertex: "the middle of its patch (3), the axes of the patch as a quaternion \
                     (x, y, z, w), its spread along each of them (3)",
            influence: "lever (3) and moments xx, xy, xz, yy, yz, zz (6), along these axes and in \
                        spreads",
            joint: TURN,
            ..plain
        },
        Kernel::MushQuaternions => Contents {
            vertex: "the middle of its patch (3), a length (1)",
            influence: LEVER_AND_SHARE,
            joint: TURN,
            ..plain
        },
        Kernel::MushMatrices => Contents {
            vertex: "the middle of its patch (3), the delta from there to the vertex (3), its \
                     unit of length (1)",
            influence: LEVER_AND_SHARE,
            joint: TURN,
            ..plain
        },
        Kernel::MushCenters => Contents {
            vertex: "the middle of its patch (3)",
            influence: "share of the rotation (1)",
            joint: TURN,
            ..plain
        },
        Kernel::Spherical => Contents {
            vertex: "the index of its center among the shared vectors (1, u32)",
            joint: MOTION,
            shared: "the centers of all sets of joints",
            ..plain
        },
        Kernel::SwingTwist => Contents {
            shared: "for every hinge: the rows of the joint above and of the swing, both relative \
                     to the pivot; axis and angle; pivot",
            ..plain
        },
        Kernel::DeltaMush => Contents {
            vertex: "the index of its point on the smoothed surface (1, u32)",
            joint: "the rows of its rigid motion",
            ..plain
        },
        Kernel::StretchTwist => Contents {
            influence: "the position along the bone, from 0 to 1 (1)",
            joint: "the rows of its bone, relative to its head; axis and twist; stretch; head",
            ..plain
        },
        _ => plain,
    }
}

const NOTHING: &str = "nothing: any buffer can be bound";

/// A binding of group 0.
pub(crate) struct Binding {
    /// Its name in WGSL.
    pub(crate) name: &'static str,
    /// Whether it is a uniform or a storage buffer.
    pub(crate) usage: &'static str,
    /// The type of its elements, in WGSL.
    pub(crate) element: &'static str,
    /// The number of bytes from one element to the next.
    pub(crate) stride: usize,
    /// What it holds.
    pub(crate) content: String,
}

/// The bindings of group 0 that are filled from a skin and its poses: those that all shaders of a
/// kernel read, and the rest surface.
pub(crate) fn bindings(layout: &StreamLayout, format: Format) -> [Binding; 6] {
    let [call, poses, slices, skin, table] = skin_contents(layout, format);
    let storage = |name, element, stride, content| Binding {
        name,
        usage: "storage",
        element,
        stride,
        content,
    };
    [
        Binding {
            usage: "uniform",
            ..storage("call", "Call", 48, call)
        },
        storage("poses", "vec4<f32>", 16, poses),
        storage("slices", "vec2<u32>", 8, slices),
        storage("skin", "vec2<u32>", 8, skin),
        storage("table", "u32", 4, table),
        storage("rest", "vec2<u32>", 8, rest_content(format)),
    ]
}

/// Bindings as lines of a description, numbered in order.
fn lines(bindings: &[Binding]) -> String {
    let bindings = bindings.iter().enumerate();
    let lines = bindings.map(|(number, Binding { usage, content, .. })| {
        format!("   {number}  {usage}  {content}\n")
    });
    lines.collect()
}

/// What the first bindings of group 0 hold, which all shaders of a kernel read.
fn skin_contents(layout: &StreamLayout, format: Format) -> [String; 5] {
    let Contents {
        vertex,
        influence,
        joint,
        shared,
    } = contents(layout.kernel);
    let weights = match format.has_short_weights(layout.kernel) {
        true => "joint and weight in one word (u16 each, the weight in steps of 1/65535)",
        false => "joint (u32), weight (f32)",
    };
    let numbers = match format.numbers {
        Width::Short if layout.per_influence > 0 => {
            ", two to a word (i16 each, in steps of 1/32767 of the largest)"
        }
        _ => "",
    };
    let table = match layout.kernel {
        Kernel::SwingTwist => "u32: for each joint above times joints plus the joint below, the \
             hinge between them, counted from one; 0 if there is none"
            .to_owned(),
        Kernel::DeltaMush => format!(
            "words of 32 bits, the surface that is smoothed:
                 2 words: the number of points, the number of slices of {LANES} points in a row of \
                     a dispatch
                 3 words for every slice of {LANES} points: its first word, and the largest number \
                     of neighbours and of triangles of one of them
                 4 words for every connected piece: a point in the middle of the smoothed piece (3 \
                     f32), its reference joint
                 word by word, the {LANES} points of a slice side by side:
                   its rest position (3 f32), the smoothed rest position from the middle of its \
                       piece (3 f32), the rounding error of that (3 f32), its piece, a vertex at \
                       the point, the neighbour for its tangent
                   for every neighbour its point and its share (f32) of the difference, as in L; \
                       the point itself and 0 if it is missing
                   for every triangle the two other corners, in their order; the point itself if \
                       it is missing"
        ),
        _ => NOTHING.to_owned(),
    };
    let per_joint = layout.per_joint;
    let first_words = format.first_words(layout);
    let first_influences = format.first_influences(layout);
    let influence_words = format.influence_words(layout);
    let call = "\
four u32: vertices, joints, vectors from one pose to the next, 1 if stretches are given; then \
       twice four f32: the lowest corner of the box around the rest surface and the largest number \
       of an influence; the size of the box, and as u32 the slices in a row"
        .to_owned();
    let poses = format!(
        "poses as vec4<f32>, instance after instance:
                 1 vector, the factors of the rows of every frame: 1, 1, 1, 0 unless the world is \
                     scaled or mirrored
                 {per_joint} vectors for every joint: {joint}
                 if stretches are given, 3 vectors for every joint: the rows of its stretch, which \
                     is applied first
                 shared vectors: {shared}"
    );
    let slices = format!(
        "two u32 for every slice of {LANES} vertices: the start of its further influences, in \
         pairs of words, and the largest number of influences of one of its vertices"
    );
    let skin = format!(
        "pairs of words of 32 bits; pair by pair, the {LANES} vertices of a slice side by side. \
         First, slice after slice, the data of every vertex, in {first_words} words:
                 numbers of the vertex, in whole pairs: {vertex}
                 {first_influences} of its influences
               then the further influences of every slice. For every influence, heaviest first, in \
                   {influence_words} words: {weights}, and: {influence}{numbers}
                 missing influences name the first joint of the vertex again, with a weight and \
                     numbers of zero"
    );
    [call, poses, slices, skin, table]
}

/// What the binding of the rest surface holds.
fn rest_content(format: Format) -> String {
    let rest = match (format.rest, format.normals, format.tangents) {
        (Width::Full, _, true) => "f32: position (3), normal (3), tangent (4)",
        (Width::Full, true, false) => "f32: position (3), normal (3)",
        (Width::Full, false, false) => "f32: position (3)",
        (Width::Short, _, true) => {
            "position in the box (2 words of two u16: x and y, z and the side of the tangent), \
             normal and tangent on an octahedron (1 word of two i16 each)"
        }
        (Width::Short, true, false) => {
            "position in the box (2 words of two u16: x and y, z and nothing), normal on an \
             octahedron (1 word of two i16)"
        }
        (Width::Short, false, false) => {
            "position in the box (2 words of two u16: x and y, z and nothing)"
        }
    };
    format!(
        "the rest surface in pairs of words; pair by pair, the {LANES} vertices of a slice side by \
         side: {rest}"
    )
}

/// The fields that are smoothed.
const FIELDS: &str = "f32; for every instance the motion of points relative to the reference joint \
    of the piece, then, if stretches are given, their stretch relative to that joint; each as \
    three arrays of 3 f32 per point: x, which is smoothed; δ, its change; L x";

/// Describes the bindings and the dispatch of a shader, as comments to put before its text.
pub fn description(name: &str, layout: &StreamLayout, format: Format, stage: Stage) -> String {
    let written = |wanted: bool, what: &'static str| if wanted { what } else { NOTHING };
    let normals = written(format.normals, "normals, 3 f32 per vertex");
    let tangents = written(format.tangents, "tangents, 4 f32 per vertex");
    let before = passes(layout.kernel).iter().map(|pass| {
        let entry_point = pass.entry_point();
        format!("The pass `{entry_point}` goes before it.\n")
    });
    let before: String = before.collect();
    let smoothed = match passes(layout.kernel) {
        [] => String::new(),
        _ => format!("   6  storage  the result of those passes: {FIELDS}\n"),
    };
    let first = if smoothed.is_empty() { 6 } else { 7 };
    let use_and_places = match stage {
        Stage::Compute => {
            let (last, sizes) = (first + 2, first + 3);
            format!(
                "Entry point `deform` (`main` in GLSL), in workgroups of {LANES}. Dispatch \
                 (slices, instances, 1), with a slice for every {LANES} vertices; if there are \
                 more slices than fit, (row, instances, layers). Without groups (GLSL, Metal), \
                 the bindings of group 1 follow those of group 0: {first} to {last}. Metal's \
                 {sizes} is for the sizes of all storage buffers in bytes, in this order. The \
                 function `frame_of` gives the frame of a vertex."
            )
        }
        Stage::Vertex => {
            let sizes = first + 1;
            format!(
                "Entry point `draw` (`main` in GLSL), a vertex shader without vertex buffers: it \
                 reads by the indices of the vertex and of the instance. Without groups (GLSL, \
                 Metal), the binding of group 1 follows those of group 0: {first}. Metal's \
                 {sizes} is for the sizes of all storage buffers in bytes, in this order. The \
                 function `posed_vertex` gives position, normal and tangent of a vertex, for your \
                 own vertex shader."
            )
        }
    };
    let written = match stage {
        Stage::Compute => format!(
            "Group 1, written, instance after instance:
   0  storage  positions, 3 f32 per vertex
   1  storage  {normals}
   2  storage  {tangents}"
        ),
        Stage::Vertex => "Group 1, the camera:
   0  uniform  clip_from_world, a matrix of 4 x 4 f32, column by column"
            .to_owned(),
    };
    let inputs = lines(&bindings(layout, format));
    comments(&format!(
        "Skinning by Supple: {name}.

{before}{use_and_places}

Group 0, read:
{inputs}{smoothed}
{written}"
    ))
}

/// Describes the bindings and the dispatch of a pass that goes before a shader, as
/// [`description`] does.
pub fn pass_description(name: &str, pass: Pass, layout: &StreamLayout, format: Format) -> String {
    let entry_point = pass.entry_point();
    let (when, sums) = match pass {
        Pass::BlendPoints => ("First, once: joints move the points.", NOTHING),
        Pass::SmoothPoints => (
            "After `blend_points`, once for each term of each series, with two buffers of β that \
             alternate: one step of smoothing.",
            "β after the term before, 3 f32 per point for every array of x; x itself after \
             `blend_points`",
        ),
    };
    let [call, poses, slices, skin, table, _] = bindings(layout, format);
    let inputs = lines(&[call, poses, slices, skin, table]);
    comments(&format!(
        "Skinning by Supple: {name}, the pass `{entry_point}`.

{when}
Entry point `{entry_point}` (`main` in GLSL), in workgroups of {LANES}. Dispatch (slices, \
    instances, 1), with a slice for every {LANES} points of the smoothed surface; if there are \
    more slices than fit, (row, instances, layers). Without groups (GLSL, Metal), the bindings of \
    group 1 follow those of group 0: 5 to 8. Metal's 9 is for the sizes of all storage buffers in \
    bytes, in this order.

Group 0, read:
{inputs}
Group 1, smoothed:
   0  uniform  the term: f (f32); its share, 1, or 0.5 for the last of its series (f32); 1 for the \
       first of its series (u32); 1 for the last of its series if another one follows (u32)
   1  storage  read and written: {FIELDS}
   2  storage  {sums}
   3  storage  written: the same after this pass"
    ))
}

/// Text as line comments. Long lines are wrapped, and go on below their first word; those of a
/// binding below its content.
pub(crate) fn comments(text: &str) -> String {
    let mut comments = String::new();
    for line in text.lines() {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let hanging = match words.starts_with(|first: char| first.is_ascii_digit()) && indent == 3 {
            true => "   0  storage  ".len(),
            false => indent,
        };
        let mut row = format!("// {}", &line[..indent]);
        // The spaces within a line are a part of it.
        for word in words.split_inclusive(' ') {
            if row.chars().count() + word.trim_end().chars().count() > COLUMNS {
                comments.push_str(row.trim_end());
                comments.push('\n');
                row = format!("// {}", " ".repeat(hanging));
            }
            row.push_str(word);
        }
        comments.push_str(row.trim_end());
        comments.push('\n');
    }
    comments
}
