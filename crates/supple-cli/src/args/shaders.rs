//! Arguments of `supple shaders`.

use super::common::{MethodsArgument, methods_help};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Write skinning methods as shaders, for your engine
#[derive(Args)]
#[command(after_help = "\
Writes each method in four languages: METHOD.wgsl, .glsl (4.30), .hlsl and .metal. Each file needs
no other and starts with a description of its bindings. Two functions of the library fill the
buffers: Skin::stream_pose the joint vectors of a pose, Skin::stream_vertex the data of a vertex. On
wgpu, the crate supple-gpu does all of this.

Examples:
  supple shaders -m linear -o shaders
  supple shaders -m cor,ddm --tangents -o shaders
  supple shaders -o shaders                  every method that has a shader")]
#[command(mut_arg("methods", |methods| methods_help(
    methods,
    "The methods, separated by commas [default: all that have a shader]"
)))]
pub(crate) struct ShadersArguments {
    #[command(flatten)]
    pub(crate) methods: MethodsArgument,
    /// The kind of shader
    #[arg(long, value_name = "STAGE", value_enum, default_value_t = ShaderStage::Compute)]
    pub(crate) stage: ShaderStage,
    /// Deform positions only, without normals
    #[arg(long, conflicts_with = "tangents")]
    pub(crate) positions_only: bool,
    /// Deform tangents as well
    #[arg(long)]
    pub(crate) tangents: bool,
    /// Read weights, baked data and the rest surface as 16-bit numbers
    #[arg(long)]
    pub(crate) short: bool,
    /// The folder to write into, created if needed
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// The kind of shader that deforms.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderStage {
    /// A compute pass that writes into buffers
    Compute,
    /// A vertex shader that deforms while drawing
    Vertex,
}
