//! Arguments of `supple bench`.

use super::common::{Device, DeviceArgument};
use super::method::MethodParser;
use super::{file_help, file_summary};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use supple::Method;

/// How long things take on this machine: baking centers of rotation and direct delta mush,
/// computing weights, brush strokes, frames
#[derive(Args)]
#[command(after_help = "\
Without FILE, built-in characters of the sizes in the papers, whose times stand beside. Every time
is the best of several runs: on all cores for bakes, weights and strokes, on one thread for frames.
Direct delta mush starts from a rigid bind, with the default options, and with --radius-from-bones
off. Weights are computed for the joints with the longest bones where the table says fewer than there
are. The tables are Markdown.

Examples:
  supple bench
  supple bench --only frames                 a frame of every method
  supple bench --only frames -m linear,dqs
  supple bench --device gpu -m linear,ddm    on the GPU, by its own clock, beside a copy of as many bytes
  supple bench --exact                       also the slow ways, and how far off the fast ones are
  supple bench hero.glb --json")]
pub(crate) struct BenchArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: Option<PathBuf>,
    /// Time only this; several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Topic>,
    /// The methods whose frames are timed, with commas; all that are direct if none is named
    #[arg(short, long = "methods", value_name = "METHODS", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) methods: Vec<Method>,
    /// Also time the direct sum of centers, and direct delta mush with every joint solved
    /// everywhere (minutes), and tell how far from them the bakes are; without FILE, also bake
    /// 200,000 vertices
    #[arg(long)]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
    /// One JSON array with an object per row, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

impl BenchArguments {
    /// What is timed, in order: on the GPU there are only frames.
    pub(crate) fn topics(&self) -> Result<Vec<Topic>, Failure> {
        let all = Topic::value_variants().iter().copied();
        let wanted = all.filter(|topic| self.only.is_empty() || self.only.contains(topic));
        if self.device.device == Device::Cpu {
            let wanted: Vec<Topic> = wanted.collect();
            let unused = |option: &str, users: &str| {
                let message = format!("{option} changes nothing about what --only asks for");
                Failure::usage(message).hint(format!("it is for --only {users}"))
            };
            if !self.methods.is_empty() && !wanted.contains(&Topic::Frames) {
                return Err(unused("--methods", "frames"));
            }
            let is_exact = |topic: &Topic| matches!(topic, Topic::Centers | Topic::Mush);
            if self.exact && !wanted.iter().any(is_exact) {
                return Err(unused("--exact", "centers,mush"));
            }
            return Ok(wanted);
        }
        if self.exact {
            return Err(
                Failure::usage("--exact is about bakes, which the GPU does not do")
                    .hint("leave out --exact, or take --device cpu"),
            );
        }
        if !self.only.is_empty() && self.only != [Topic::Frames] {
            return Err(Failure::usage("only frames are timed on the GPU")
                .hint("leave out --only, or take --device cpu"));
        }
        Ok(vec![Topic::Frames])
    }
}

/// What can be timed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// A frame by every direct method, with and without normals, on one thread and on all
    Frames,
    /// Baking centers of rotation, and following a brush
    Centers,
    /// Baking direct delta mush, and a frame of its variants
    Mush,
    /// Computing weights and editing them
    Weights,
    /// Keeping a surface rigid
    Arap,
}
