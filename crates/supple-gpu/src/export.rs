//! Shaders for people who use another engine: what they read, in words, and the same in other
//! languages.

use crate::format::{Format, Width};
use crate::shader::{LANES, Pass, Stage, passes};
use naga::back;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use supple::deform::{Kernel, StreamLayout};
use thiserror::Error;

/// A language that shaders can be had in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// WebGPU's, which they are written in.
    Wgsl,
    /// OpenGL's, version 4.30.
    Glsl,
    /// Direct3D's.
    Hlsl,
    /// Metal's.
    Metal,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 4] = [
        Language::Wgsl,
        Language::Glsl,
        Language::Hlsl,
        Language::Metal,
    ];

    /// What its files end in.
    pub fn ending(self) -> &'static str {
        match self {
            Language::Wgsl => "wgsl",
            Language::Glsl => "glsl",
            Language::Hlsl => "hlsl",
            Language::Metal => "metal",
        }
    }
}

/// Why a shader could not be translated.
#[derive(Debug, Error)]
#[error("the shader cannot be had in .{}: {why}", .language.ending())]
pub struct ExportError {
    language: Language,
    why: String,
}

/// A shader in another language; the text in WGSL is that of [`crate::shader`] or of a [`Pass`].
///
/// # Errors
///
/// If the text is no valid WGSL, or the language cannot express it.
pub fn translate(wgsl: &str, language: Language) -> Result<String, ExportError> {
    let because = |why: String| ExportError { language, why };
    let module = naga::front::wgsl::parse_str(wgsl);
    let module = module.map_err(|error| because(error.emit_to_string(wgsl)))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module);
    let info = info.map_err(|error| because(error.emit_to_string(wgsl)))?;
    let entry_point = module.entry_points.first();
    let entry_point = entry_point.ok_or_else(|| because("it has no entry point".to_owned()))?;
    match language {
        Language::Wgsl => Ok(wgsl.to_owned()),
        Language::Glsl => {
            to_glsl(&module, &info, entry_point).map_err(|error| because(error.to_string()))
        }
        Language::Hlsl => {
            let mut text = String::new();
            let (options, pipeline) = Default::default();
            let written =
                back::hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None);
            written.map_err(|error| because(error.to_string()))?;
            Ok(text)
        }
        Language::Metal => {
            let places = places(&module);
            let sizes_buffer = Some(places.len() as u8);
            let resources = places.into_iter().map(|place| {
                let target = back::msl::BindTarget {
                    buffer: Some(place.number),
                    mutable: place.written,
                    ..Default::default()
                };
                (place.binding, target)
            });
            let resources = back::msl::EntryPointResources {
                resources: resources.collect(),
                sizes_buffer,
                ..Default::default()
            };
            let options = back::msl::Options {
                lang_version: METAL_VERSION,
                fake_missing_bindings: false,
                per_entry_point_map: [(entry_point.name.clone(), resources)].into(),
                ..Default::default()
            };
            let pipeline = Default::default();
            let written = back::msl::write_string(&module, &info, &options, &pipeline);
            let (text, about) = written.map_err(|error| because(error.to_string()))?;
            for entry_point in about.entry_point_names {
                entry_point.map_err(|error| because(error.to_string()))?;
            }
            Ok(text)
        }
    }
}

/// A binding where languages know no groups.
struct Place {
    binding: naga::ResourceBinding,
    number: u8,
    written: bool,
}

/// All bindings, those of the first group first. Behind them Metal looks for the sizes of buffers.
fn places(module: &naga::Module) -> Vec<Place> {
    let variables = module.global_variables.iter();
    let bound = variables.filter_map(|(_, variable)| Some((variable.binding?, variable.space)));
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(binding, _)| (binding.group, binding.binding));
    let place = |(number, (binding, space)): (u8, (naga::ResourceBinding, naga::AddressSpace))| {
        let written = match space {
            naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
            _ => false,
        };
        Place {
            binding,
            number,
            written,
        }
    };
    (0..).zip(bound).map(place).collect()
}

/// The oldest Metal that knows instances.
const METAL_VERSION: (u8, u8) = (2, 0);

fn to_glsl(
    module: &naga::Module,
    info: &ModuleInfo,
    entry_point: &naga::EntryPoint,
) -> Result<String, back::glsl::Error> {
    let options = back::glsl::Options {
        version: back::glsl::Version::Desktop(430),
        binding_map: places(module)
            .into_iter()
            .map(|place| (place.binding, place.number))
            .collect(),
        ..Default::default()
    };
    let pipeline = back::glsl::PipelineOptions {
        shader_stage: entry_point.stage,
        entry_point: entry_point.name.clone(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = naga::proc::BoundsCheckPolicies::default();
    back::glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies)?.write()?;
    Ok(text)
}

/// The numbers that a kernel reads, in words.
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
    let plain = Contents {
        vertex: "none",
        influence: "none",
        joint: MATRIX,
        shared: "none",
    };
    match kernel {
        Kernel::AnimationSpace => Contents {
            influence: "what the joint's own rest position differs by (3)",
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
            vertex: "the middle of its patch (3), the axes of the patch as a quaternion (x, y, z, w), its spread along each of them (3)",
            influence: "lever (3) and moments xx, xy, xz, yy, yz, zz (6), along these axes and in spreads",
            joint: TURN,
            ..plain
        },
        Kernel::MushQuaternions => Contents {
            vertex: "the middle of its patch (3), a length (1)",
            influence: "lever (3) in that length, share of the rotation (1)",
            joint: TURN,
            ..plain
        },
        Kernel::MushMatrices => Contents {
            vertex: "the middle of its patch (3), the delta from there to the vertex (3), the length that it is measured in (1)",
            influence: "lever (3) in that length, share of the rotation (1)",
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
            vertex: "which of the shared vectors is its center (1, u32)",
            joint: MOTION,
            shared: "the centers of all sets of joints",
            ..plain
        },
        Kernel::SwingTwist => Contents {
            shared: "for every hinge: the rows of the joint above and of the swing, both seen from the pivot; axis and angle; pivot",
            ..plain
        },
        Kernel::DeltaMush => Contents {
            vertex: "which point of the smoothed surface it is (1, u32)",
            joint: "the rows of its rigid motion",
            ..plain
        },
        Kernel::StretchTwist => Contents {
            influence: "the place along the bone, from 0 to 1 (1)",
            joint: "the rows of its bone, seen from its head; axis and twist; stretch; head",
            ..plain
        },
        _ => plain,
    }
}

/// The first bindings of the first group, which all shaders of a kernel read.
fn skin_inputs(layout: &StreamLayout, format: Format) -> String {
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
        Kernel::SwingTwist => {
            "u32: for each joint above times joints plus the joint below, the hinge between them counted from one, 0 if there is none".to_owned()
        }
        Kernel::DeltaMush => format!(
            "words of 32 bits, the surface that is smoothed:
//                 2 words: how many points it has, how many slices of {LANES} points a row of a dispatch has
//                 3 words for every slice of {LANES} points: its first word, and the most neighbours and the most triangles that one of them has
//                 4 words for every connected piece: a place in the middle of the smoothed piece (3 f32), the joint that is its reference
//                 word by word, the {LANES} points of a slice side by side:
//                   where it is at rest (3 f32), where smoothing takes it at rest from the middle of its piece (3 f32), what rounding has left of that (3 f32), its piece, a vertex that is there, the neighbour that gives its tangent
//                   for every neighbour its point and its share (f32) of the difference, as L takes it; the point itself and 0 where it has fewer
//                   for every triangle the two other corners, in their order; the point itself where it has fewer"
        ),
        _ => "nothing: any buffer will do".to_owned(),
    };
    let per_joint = layout.per_joint;
    let first_words = format.first_words(layout);
    let first_influences = format.first_influences(layout);
    let influence_words = format.influence_words(layout);
    format!(
        "// Group 0, what is read:
//   0  uniform  four u32: vertices, joints, vectors from one pose to the next, 1 if stretches are given; then twice four f32: the lowest corner of the box around the rest surface and the largest number of an influence; the size of the box, and as u32 the slices of a row
//   1  storage  poses as vec4<f32>, for every instance one after the other:
//                 1 vector, what the rows of every frame are multiplied by: 1, 1, 1, 0 unless the world is scaled or mirrored
//                 {per_joint} vectors for every joint: {joint}
//                 if stretches are given, 3 vectors for every joint: the rows of what it is stretched by first
//                 shared vectors: {shared}
//   2  storage  two u32 for every slice of {LANES} vertices: where its further influences start, in pairs of words, and the most influences that one of its vertices has
//   3  storage  pairs of words of 32 bits; pair by pair, the {LANES} vertices of a slice side by side. First, slice after slice, what every vertex has, in {first_words} words:
//                 numbers of the vertex, in whole pairs: {vertex}
//                 {first_influences} of its influences
//               then the further influences of every slice. For every influence, heaviest first, in {influence_words} words: {weights}, and: {influence}{numbers}
//                 where a vertex has fewer influences than there is room for: its first joint again, with a weight and numbers of zero
//   4  storage  {table}
"
    )
}

/// What is smoothed.
const FIELDS: &str = "f32; for every instance what joints do beside the reference of the piece, then, if stretches are given, what those do; each as three arrays of 3 f32 per point: x, which is smoothed; δ, what smoothing changes; L x";

/// What a shader reads and writes, as comments that may stand before its text.
pub fn description(name: &str, layout: &StreamLayout, format: Format, stage: Stage) -> String {
    let written = |wanted: bool, what: &str| match wanted {
        true => what.to_owned(),
        false => "nothing: any buffer will do".to_owned(),
    };
    let normals = written(format.normals, "normals, 3 f32 per vertex");
    let tangents = written(format.tangents, "tangents, 4 f32 per vertex");
    let rest = match (format.rest, format.normals, format.tangents) {
        (Width::Full, _, true) => "f32: position (3), normal (3), tangent (4)",
        (Width::Full, true, false) => "f32: position (3), normal (3)",
        (Width::Full, false, false) => "f32: position (3)",
        (Width::Short, _, true) => {
            "place in the box (2 words of two u16: x and y, z and the side of the tangent), normal and tangent on an octahedron (1 word of two i16 each)"
        }
        (Width::Short, true, false) => {
            "place in the box (2 words of two u16: x and y, z and nothing), normal on an octahedron (1 word of two i16)"
        }
        (Width::Short, false, false) => {
            "place in the box (2 words of two u16: x and y, z and nothing)"
        }
    };
    let before = passes(layout.kernel).iter().map(|pass| {
        let entry_point = pass.entry_point();
        format!("// The pass `{entry_point}` goes before it.\n")
    });
    let before: String = before.collect();
    let smoothed = match passes(layout.kernel) {
        [] => String::new(),
        _ => format!("//   6  storage  what those passes have left: {FIELDS}\n"),
    };
    let first = if smoothed.is_empty() { 6 } else { 7 };
    let use_and_places = match stage {
        Stage::Compute => {
            let (last, sizes) = (first + 2, first + 3);
            format!(
                "// Entry point `deform` (`main` in GLSL), in workgroups of {LANES}; dispatch (slices, instances, 1), with a slice for every {LANES} vertices. More slices than fit go on in further layers: dispatch (row, instances, layers). Where there are
// no groups (GLSL, Metal), the bindings of the second follow those of the first: {first} to {last}; Metal's {sizes} is for the sizes of all storage buffers in bytes, in this order. The function `frame_of` gives the frame of a vertex."
            )
        }
        Stage::Vertex => {
            let sizes = first + 1;
            format!(
                "// Entry point `draw` (`main` in GLSL), a vertex shader that needs no vertex buffers: the index of the vertex and of the instance say what is read. Where there are no groups (GLSL, Metal), the binding of the second follows
// those of the first: {first}; Metal's {sizes} is for the sizes of all storage buffers in bytes, in this order. The function `posed_vertex` gives position, normal and tangent of a vertex, for a vertex shader of your own."
            )
        }
    };
    let written = match stage {
        Stage::Compute => format!(
            "// Group 1, what is written, instance after instance:
//   0  storage  positions, 3 f32 per vertex
//   1  storage  {normals}
//   2  storage  {tangents}
"
        ),
        Stage::Vertex => "// Group 1, the picture:
//   0  uniform  clip_from_world, a matrix of 4 x 4 f32, column by column
"
        .to_owned(),
    };
    let inputs = skin_inputs(layout, format);
    format!(
        "// Skinning by Supple: {name}.
//
{before}{use_and_places}
//
{inputs}//   5  storage  the rest surface in pairs of words; pair by pair, the {LANES} vertices of a slice side by side: {rest}
{smoothed}//
{written}"
    )
}

/// The same for a pass that goes before.
pub fn pass_description(name: &str, pass: Pass, layout: &StreamLayout, format: Format) -> String {
    let entry_point = pass.entry_point();
    let (when, sums) = match pass {
        Pass::BlendPoints => (
            "First, once: joints take the points along.",
            "nothing: any buffer will do",
        ),
        Pass::SmoothPoints => (
            "After `blend_points`, once for each term of each series, with two buffers of β in turn: one step of smoothing.",
            "β after the term before, 3 f32 per point for every array of x; x itself after `blend_points`",
        ),
    };
    let inputs = skin_inputs(layout, format);
    format!(
        "// Skinning by Supple: {name}, the pass `{entry_point}`.
//
// {when}
// Entry point `{entry_point}` (`main` in GLSL), in workgroups of {LANES}; dispatch (slices, instances, 1), with a slice for every {LANES} points of the smoothed surface. More slices than fit go on in further layers: dispatch (row, instances, layers).
// Where there are no groups (GLSL, Metal), the bindings of the second follow those of the first: 5 to 8; Metal's 9 is for the sizes of all storage buffers in bytes, in this order.
//
{inputs}//
// Group 1, what is smoothed:
//   0  uniform  the term: f (f32); how much of it counts, 1, or 0.5 if it is the last of its series (f32); 1 if it is the first of its series (u32); 1 if it is the last and another series follows (u32)
//   1  storage  read and written: {FIELDS}
//   2  storage  {sums}
//   3  storage  written: the same after this pass
"
    )
}
