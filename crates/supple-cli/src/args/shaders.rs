//! Arguments of `supple shaders`.

use super::common::{MethodsArgument, Moment, methods_help};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Write skinning methods as shaders, for your engine
#[derive(Args)]
#[command(after_help = "\
--layout attributes writes one short function per method and language, to paste into a vertex or
compute shader of yours: METHOD.wgsl, .450.glsl, .330.glsl, .es300.glsl (WebGL2), .hlsl and .metal.
It takes what a glTF has (POSITION, NORMAL, TANGENT, JOINTS_n, WEIGHTS_n, and for cor and ddm what
'supple bake' stores) and reads a palette of matrices or quaternions. skin_palette.h, plain C, fills
that palette from your joint matrices. Methods: linear, dual-quaternion, linear-dual-blend, cor,
ddm, ddm-v2, ddm-v4, ddm-v5.

--layout packed writes the whole shaders that --device gpu runs, for more methods and speed: per
method .wgsl, .glsl (4.30), .hlsl and .metal. Each file needs no other and starts with a description
of its bindings. They read buffers that only Supple fills: on wgpu, the crate supple-gpu does all of
this; --buffers FILE writes those of a character, with a description, for code that isn't Rust.

Examples:
  supple shaders -m cor -o shaders                   every language, and skin_palette.h
  supple shaders -m cor,ddm --language hlsl -o shaders
  supple shaders -m linear --language glsl-es-300 --max-influences 8 -o shaders
  supple shaders -m cor --stretch -o shaders         for clips that stretch joints
  supple shaders -m ddm --layout packed --tangents -o shaders
  supple shaders -m cor --layout packed --buffers hero.glb --clip Run --time 0.4 -o shaders")]
#[command(mut_arg("methods", |methods| methods_help(
    methods,
    "The methods, separated by commas [default: all that the layout has]"
)))]
pub(crate) struct ShadersArguments {
    #[command(flatten)]
    pub(crate) methods: MethodsArgument,
    /// What the shaders read
    #[arg(long, value_name = "LAYOUT", value_enum, default_value_t = ShaderLayout::Attributes)]
    pub(crate) layout: ShaderLayout,
    /// The languages, separated by commas [default: all that the layout has]
    #[arg(long, value_name = "LANGUAGE", value_enum, value_delimiter = ',')]
    pub(crate) language: Vec<ShaderLanguage>,
    /// The folder to write into, created if needed
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The most influences per vertex: 4 (JOINTS_0) or 8 (JOINTS_1 as well) [default: 4]
    #[arg(
        long = "max-influences",
        value_name = "N",
        value_enum,
        help_heading = "Options of --layout attributes"
    )]
    pub(crate) influences: Option<InfluenceCount>,
    /// Also for joints that stretch one by one: the palette is larger, and stretches are blended
    /// first. linear and ddm-v5 stretch anyway
    #[arg(long, help_heading = "Options of --layout attributes")]
    pub(crate) stretch: bool,
    #[command(flatten)]
    pub(crate) packed: PackedArguments,
}

/// Options of the packed layout.
#[derive(Args)]
#[command(next_help_heading = "Options of --layout packed")]
pub(crate) struct PackedArguments {
    /// The kind of shader [default: compute]
    #[arg(long, value_name = "STAGE", value_enum)]
    pub(crate) stage: Option<ShaderStage>,
    /// Deform positions only, without normals
    #[arg(long, conflicts_with = "tangents")]
    pub(crate) positions_only: bool,
    /// Deform tangents as well
    #[arg(long)]
    pub(crate) tangents: bool,
    /// Read weights, baked data and the rest surface as 16-bit numbers
    #[arg(long)]
    pub(crate) short: bool,
    /// A file, or a built-in character such as @figure: also write the buffers of this character in
    /// a pose, METHOD-NAME.bin for each binding, and METHOD-buffers.json, which describes them
    #[arg(long = "buffers", value_name = "FILE")]
    pub(crate) character: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) moment: Moment,
}

/// What shaders read.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderLayout {
    /// Vertex attributes as in glTF, and a palette: short functions to paste into your shaders
    Attributes,
    /// Buffers packed by Supple, for speed: complete shaders
    Packed,
}

/// A language of shaders.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderLanguage {
    /// WebGPU
    Wgsl,
    /// OpenGL and Vulkan with storage buffers: version 4.50; 4.30 in the packed layout
    Glsl,
    /// OpenGL 3.30, with textures for buffers; attributes only
    #[value(name = "glsl-330")]
    Glsl330,
    /// WebGL2 (GLSL ES 3.00), with textures for buffers; attributes only
    #[value(name = "glsl-es-300")]
    GlslEs300,
    /// Direct3D
    Hlsl,
    /// Metal
    Metal,
}

/// The number of influences that vertex attributes have room for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfluenceCount {
    #[value(name = "4")]
    Four,
    #[value(name = "8")]
    Eight,
}

/// The kind of shader that deforms.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderStage {
    /// A compute pass that writes into buffers
    Compute,
    /// A vertex shader that deforms while drawing
    Vertex,
}
