//! Methods as functions of vertex attributes and a palette, to paste into an engine's own shaders.
//!
//! Each is written once, in a plain part of WGSL (`shaders/attributes/`): types are always named,
//! there are no matrices, and structs are filled field by field. So a few substitutions turn it
//! into the other languages, and it stays readable.

use crate::c_like::{Dialect, translated};
use crate::description::comments;
use supple::Method;
use supple::deform::{Antipodality, MushVariant};

/// A language of functions that read vertex attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FunctionLanguage {
    /// The language of WebGPU.
    Wgsl,
    /// OpenGL 4.50 and Vulkan, with storage buffers.
    Glsl450,
    /// OpenGL 3.30, with textures instead of storage buffers.
    Glsl330,
    /// WebGL2 and OpenGL ES 3.0, with textures instead of storage buffers.
    GlslEs300,
    /// Direct3D.
    Hlsl,
    /// Metal.
    Metal,
}

impl FunctionLanguage {
    /// All languages.
    pub const ALL: [FunctionLanguage; 6] = [
        FunctionLanguage::Wgsl,
        FunctionLanguage::Glsl450,
        FunctionLanguage::Glsl330,
        FunctionLanguage::GlslEs300,
        FunctionLanguage::Hlsl,
        FunctionLanguage::Metal,
    ];

    /// The name in comments.
    pub fn name(self) -> &'static str {
        match self {
            FunctionLanguage::Wgsl => "WGSL",
            FunctionLanguage::Glsl450 => "GLSL 4.50",
            FunctionLanguage::Glsl330 => "GLSL 3.30",
            FunctionLanguage::GlslEs300 => "GLSL ES 3.00 (WebGL2)",
            FunctionLanguage::Hlsl => "HLSL",
            FunctionLanguage::Metal => "Metal",
        }
    }

    /// The extension of its files.
    pub fn ending(self) -> &'static str {
        match self {
            FunctionLanguage::Wgsl => "wgsl",
            FunctionLanguage::Glsl450 => "450.glsl",
            FunctionLanguage::Glsl330 => "330.glsl",
            FunctionLanguage::GlslEs300 => "es300.glsl",
            FunctionLanguage::Hlsl => "hlsl",
            FunctionLanguage::Metal => "metal",
        }
    }

    fn dialect(self) -> Option<Dialect> {
        Some(match self {
            FunctionLanguage::Wgsl => return None,
            FunctionLanguage::Glsl450 => Dialect::GLSL,
            FunctionLanguage::Glsl330 | FunctionLanguage::GlslEs300 => Dialect::GLSL_WITH_TEXTURES,
            FunctionLanguage::Hlsl => Dialect::HLSL,
            FunctionLanguage::Metal => Dialect::METAL,
        })
    }
}

/// The number of influences that a vertex has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InfluenceSets {
    /// `JOINTS_0` and `WEIGHTS_0`.
    #[default]
    Four,
    /// Those, and `JOINTS_1` and `WEIGHTS_1`.
    Eight,
}

/// What joints do in the poses of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JointMotions {
    /// They move rigidly, besides a scale that all of them share.
    #[default]
    Rigid,
    /// They may stretch one by one: the palette is larger, and stretches are blended first.
    Stretching,
}

/// The header in C that fills what the functions read.
pub const PALETTE_HEADER: &str = include_str!("../shaders/attributes/skin_palette.h");

/// The name of [`PALETTE_HEADER`] as a file.
pub const PALETTE_HEADER_NAME: &str = "skin_palette.h";

const VERTEX: &str = include_str!("../shaders/attributes/vertex.wgsl");
const RIGID: &str = include_str!("../shaders/attributes/rigid.wgsl");
const ROWS: &str = include_str!("../shaders/attributes/rows.wgsl");
const STRETCH: &str = include_str!("../shaders/attributes/stretch.wgsl");
const LINEAR: &str = include_str!("../shaders/attributes/linear.wgsl");

/// What begins a line of a source that is only there if joints stretch.
const IF_STRETCHING: &str = "//+ ";

/// A method as a function of vertex attributes.
struct Function {
    name: &'static str,
    title: &'static str,
    /// Parts of the text after the vertex; the last one is its own.
    parts: &'static [&'static str],
    source: Source,
    /// True if it stretches vertices first.
    stretches: bool,
    /// What is passed besides the vertex and its influences, by name.
    own: &'static str,
    /// Lines that say where that comes from.
    about_own: &'static str,
}

/// Where the influences of a vertex are.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// In vertex attributes, to be used with matrices.
    Matrices,
    /// In vertex attributes, to be used with rigid motions.
    Motions,
    /// In `mush`, to be used with rigid motions.
    Mush,
}

/// The function for a method; none if the method needs more than attributes and a palette.
fn function_of(method: &Method) -> Option<Function> {
    let linear = Function {
        name: "skin_linear",
        title: "Linear blend skinning",
        parts: &[ROWS, LINEAR],
        source: Source::Matrices,
        stretches: false,
        own: "",
        about_own: "",
    };
    let mush = |name, title, parts| Function {
        name,
        title,
        parts,
        source: Source::Mush,
        stretches: false,
        own: "center, influences",
        about_own: "center: the accessor `centers` of the extension SUPPLE_direct_delta_mush, \
                    which `supple bake -m ddm` writes.\ninfluences: two numbers from \
                    skin_mush_rows(), the first influence of the vertex and how many it has.\n",
    };
    Some(match method {
        Method::Linear => linear,
        Method::DualQuaternion(options) if options.antipodality == Antipodality::PerVertex => {
            Function {
                name: "skin_dual_quaternion",
                title: "Dual quaternion skinning",
                parts: &[
                    RIGID,
                    include_str!("../shaders/attributes/dual_quaternion.wgsl"),
                ],
                source: Source::Motions,
                ..linear
            }
        }
        Method::LinearDualBlend(_) => Function {
            name: "skin_linear_dual_blend",
            title: "A mix of linear and dual quaternion skinning",
            parts: &[
                RIGID,
                include_str!("../shaders/attributes/linear_dual_blend.wgsl"),
            ],
            source: Source::Motions,
            stretches: false,
            own: "share",
            about_own: "share: 0 is linear, 1 is dual quaternions; a constant, or the painted \
                        attribute _DUAL_QUATERNION_SHARE.\n",
        },
        Method::CentersOfRotation(options) if options.antipodality == Antipodality::PerVertex => {
            Function {
                name: "skin_cor",
                title: "Skinning with optimized centers of rotation",
                parts: &[
                    RIGID,
                    include_str!("../shaders/attributes/centers_of_rotation.wgsl"),
                ],
                source: Source::Motions,
                stretches: false,
                own: "center",
                about_own: "center: the attribute _CENTER_OF_ROTATION, which `supple bake -m \
                            cor` writes.\n",
            }
        }
        Method::DirectDeltaMush(options) => match options.variant {
            MushVariant::V0 => mush(
                "skin_ddm",
                "Direct delta mush",
                &[RIGID, include_str!("../shaders/attributes/mush_v0.wgsl")],
            ),
            MushVariant::V2 => mush(
                "skin_ddm_v2",
                "Direct delta mush v2",
                &[RIGID, include_str!("../shaders/attributes/mush_v2.wgsl")],
            ),
            MushVariant::V4 => mush(
                "skin_ddm_v4",
                "Direct delta mush v4",
                &[RIGID, include_str!("../shaders/attributes/mush_v4.wgsl")],
            ),
            MushVariant::V5 => Function {
                title: "Direct delta mush v5: linear blend skinning",
                about_own: "These joints and weights are those that `supple bake -m ddm-v5 \
                            --as-skin` writes.\n",
                ..linear
            },
            MushVariant::V1 | MushVariant::V3 => return None,
        },
        _ => return None,
    })
}

/// Writes a method as a function of vertex attributes and a palette: short, with comments, and
/// without an entry point. None if the method needs more than those.
///
/// [`PALETTE_HEADER`] fills the palette.
pub fn attribute_function(
    method: &Method,
    language: FunctionLanguage,
    sets: InfluenceSets,
    motions: JointMotions,
) -> Option<String> {
    let mut function = function_of(method)?;
    if motions == JointMotions::Stretching {
        function.stretches = match (function.source, method) {
            // Matrices stretch anyway.
            (Source::Matrices, _) => false,
            // A mix with linear blending doesn't stretch first.
            (_, Method::LinearDualBlend(_)) => return None,
            _ => true,
        };
    }
    let before: &[&str] = match function.stretches {
        true => &[ROWS, STRETCH],
        false => &[],
    };
    let parts = before.iter().chain(function.parts).map(|part| {
        let part = with_stretches(part, function.stretches);
        match sets {
            InfluenceSets::Four => part,
            InfluenceSets::Eight => with_second_set(&part),
        }
    });
    let body = parts.collect::<Vec<_>>().join("\n");
    let comment = comment(&function, language, sets);
    let inputs = inputs(&function, language);
    Some(match language.dialect() {
        None => format!("{comment}\n{VERTEX}\n{inputs}\n{body}"),
        Some(dialect) => {
            let vertex = translated(VERTEX, &dialect);
            let body = translated(&body, &dialect);
            match language {
                FunctionLanguage::Metal => {
                    let body = indented(&format!("{inputs}\n{body}"));
                    format!(
                        "{comment}\n#include <metal_stdlib>\nusing namespace metal;\n\n{vertex}\n\
                         // Buffers are members, since Metal has none that functions share.\n\
                         struct Skin {{\n{body}}};\n"
                    )
                }
                _ => format!("{comment}\n{vertex}\n{inputs}\n{body}"),
            }
        }
    })
}

/// Keeps the lines about stretches, or leaves them out. With stretches, what a function gets is at
/// bind, and what it goes on with is stretched; a joint has five vectors instead of two.
fn with_stretches(text: &str, stretches: bool) -> String {
    let lines = text.lines().filter_map(|line| match stretches {
        false if line.contains(IF_STRETCHING) => None,
        false => Some(format!("{line}\n")),
        true => {
            let line = match line {
                "    rest: SkinVertex," => "    bind: SkinVertex,".to_owned(),
                "    center: vec3f," => "    bind_center: vec3f,".to_owned(),
                line => line.replacen(IF_STRETCHING, "", 1),
            };
            Some(line.replace("2u * ", "5u * ") + "\n")
        }
    });
    lines.collect()
}

/// Repeats for the second set what a text does with the first.
fn with_second_set(text: &str) -> String {
    let is_about_set = |line: &str| {
        ["    joints_0: ", "    weights_0: "]
            .iter()
            .any(|start| line.starts_with(start))
            || line.contains("joints_0, weights_0")
    };
    let mut all = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut set = vec![line];
        while is_about_set(line) && lines.peek().is_some_and(|next| is_about_set(next)) {
            set.extend(lines.next());
        }
        for line in &set {
            all.extend([line, "\n"]);
        }
        if is_about_set(line) {
            for line in set {
                all.extend([&line.replace("s_0", "s_1"), "\n"]);
            }
        }
    }
    all
}

/// The declarations of what a function reads besides its arguments.
fn inputs(function: &Function, language: FunctionLanguage) -> String {
    let names = match function.source {
        Source::Mush => &["palette", "mush"][..],
        _ => &["palette"],
    };
    let declare = |(number, name): (usize, &&str)| match language {
        FunctionLanguage::Wgsl => {
            format!("@group(0) @binding({number}) var<storage, read> {name}: array<vec4f>;\n")
        }
        FunctionLanguage::Glsl450 => {
            let block = match *name {
                "palette" => "SkinPalette",
                _ => "SkinMush",
            };
            format!(
                "layout(std430, binding = {number}) readonly buffer {block} {{ vec4 {name}[]; }};\n"
            )
        }
        FunctionLanguage::Glsl330 | FunctionLanguage::GlslEs300 => {
            format!("uniform sampler2D {name};\n")
        }
        FunctionLanguage::Hlsl => {
            format!("StructuredBuffer<float4> {name} : register(t{number});\n")
        }
        FunctionLanguage::Metal => format!("device const float4 *{name};\n"),
    };
    let declared: String = names.iter().enumerate().map(declare).collect();
    let fetch = "
// The texel at an index, counted row by row.
vec4 skin_texel(sampler2D data, uint index) {
    uint width = uint(textureSize(data, 0).x);
    return texelFetch(data, ivec2(index % width, index / width), 0);
}
";
    match language {
        FunctionLanguage::Glsl330 => declared + fetch,
        FunctionLanguage::GlslEs300 => {
            let precision = "precision highp sampler2D;\n\n";
            [precision, &declared, fetch].concat()
        }
        _ => declared,
    }
}

/// What a function reads, and how to call it.
fn comment(function: &Function, language: FunctionLanguage, sets: InfluenceSets) -> String {
    let &Function {
        name,
        title,
        source,
        stretches,
        own,
        about_own,
        ..
    } = function;
    let place = match language {
        FunctionLanguage::Glsl330 | FunctionLanguage::GlslEs300 => {
            "an RGBA32F texture of any width, row after row, sampled with NEAREST"
        }
        _ => "a buffer",
    };
    let (attributes, influences) = match (source, sets) {
        (Source::Mush, _) => ("", ""),
        (_, InfluenceSets::Four) => (", JOINTS_0, WEIGHTS_0", "joints_0, weights_0"),
        (_, InfluenceSets::Eight) => (
            ", JOINTS_0, WEIGHTS_0, JOINTS_1, WEIGHTS_1",
            "joints_0, weights_0, joints_1, weights_1",
        ),
    };
    let order = match source {
        Source::Mush => "JOINTS_n and WEIGHTS_n aren't read",
        _ => "the heaviest joint comes first, and weights sum to 1",
    };
    let palette = match (source, stretches) {
        (Source::Matrices, _) => "three vectors per joint, from skin_matrix_palette()",
        (_, false) => "two vectors per joint, from skin_rigid_palette()",
        (_, true) => "five vectors per joint, from skin_stretch_palette()",
    };
    let (mush, buffers) = match source {
        Source::Mush => (
            format!("mush: {place}; three vectors per influence, from skin_mush_rows().\n"),
            "palette, mush",
        ),
        Source::Matrices | Source::Motions => (String::new(), "palette"),
    };
    let arguments = ["rest", own, influences].into_iter();
    let arguments: Vec<&str> = arguments.filter(|names| !names.is_empty()).collect();
    let arguments = arguments.join(", ");
    let call = format!("SkinVertex skinned = {name}({arguments});");
    let call = match language {
        FunctionLanguage::Wgsl => format!(
            "    let rest = SkinVertex(position, normal, tangent);
    let skinned = {name}({arguments});"
        ),
        FunctionLanguage::Hlsl => format!(
            "    SkinVertex rest = {{ position, normal, tangent }};
    {call}"
        ),
        FunctionLanguage::Metal => format!(
            "    Skin skin = {{ {buffers} }};
    SkinVertex rest = {{ position, normal, tangent }};
    SkinVertex skinned = skin.{name}({arguments});"
        ),
        _ => format!(
            "    SkinVertex rest = SkinVertex(position, normal, tangent);
    {call}"
        ),
    };
    let language = language.name();
    comments(&format!(
        "{title}, in {language}. Written by Supple; {PALETTE_HEADER_NAME} fills what it reads.

Vertex attributes of glTF: POSITION, NORMAL, TANGENT{attributes}; {order}.
{about_own}palette: {place}; {palette}.
{mush}
In your shader:
{call}"
    ))
}

/// A text, one level further to the right.
fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}
