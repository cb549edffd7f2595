//! Arguments of `supple shaders`.

use super::method::MethodParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use supple::Method;

/// Write methods as shaders, to lift into an engine
#[derive(Args)]
#[command(after_help = "\
For each method a file in each language, with all that it needs: METHOD.wgsl, and the same as .glsl
(4.30), .hlsl and .metal. Each begins with what it reads and writes, binding by binding. What is
computed once per pose stays on the CPU: Skin::stream_pose of the library gives the vectors of the
joints, Skin::stream_vertex the numbers of the vertices. On wgpu, the crate supple-gpu does all of
this.

Examples:
  supple shaders -m linear -o shaders
  supple shaders -m cor,ddm --tangents -o shaders
  supple shaders -o shaders                  all that there are")]
pub(crate) struct ShadersArguments {
    /// The methods, with commas; all that have a shader if none is named
    #[arg(short, long = "methods", value_name = "METHODS", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) methods: Vec<Method>,
    /// Who deforms
    #[arg(long, value_name = "STAGE", value_enum, default_value_t = ShaderStage::Compute)]
    pub(crate) stage: ShaderStage,
    /// Deform positions alone
    #[arg(long, conflicts_with = "tangents")]
    pub(crate) positions_only: bool,
    /// Deform tangents, too
    #[arg(long)]
    pub(crate) tangents: bool,
    /// For weights, baked numbers and the rest surface in 16 bits
    #[arg(long)]
    pub(crate) short: bool,
    /// The folder to write into; it is made if it is not there
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Who calls the frame of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderStage {
    /// A compute pass, into buffers
    Compute,
    /// A vertex shader, straight into a picture
    Vertex,
}
