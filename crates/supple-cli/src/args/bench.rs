//! Arguments of `supple bench`.

use super::common::{Device, DeviceArgument, MethodsArgument, methods_help};
use super::{file_help, file_summary};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Measure how long frames, bakes and weights take on this machine
#[derive(Args)]
#[command(after_help = "\
Without FILE, built-in characters of several sizes are measured. Every time is the best of several
runs. Bakes and weights use all cores. 'Of copy' is the time to copy as many bytes, as a share of
the frame: at 100 % a frame is as fast as the memory. Direct delta mush is baked from a rigid bind,
with --radius-from-bones off and on. The tables are Markdown.

Examples:
  supple bench
  supple bench --only frames                 a frame of every method
  supple bench --only frames -m linear,dqs   a frame of two methods
  supple bench --device gpu -m linear,ddm    frames on the GPU, measured by its own clock
  supple bench --exact                       also the slow exact computations, and the difference
  supple bench hero.glb --json")]
#[command(mut_arg("methods", |methods| methods_help(
    methods,
    "The methods whose frames are measured, separated by commas [default: all but delta-mush and \
     arap, which solve for the whole surface in every frame]"
)))]
pub(crate) struct BenchArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: Option<PathBuf>,
    /// The work to measure, separated by commas [default: everything]
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Topic>,
    #[command(flatten)]
    pub(crate) methods: MethodsArgument,
    /// Also measure the exact sum of centers and the bake of direct delta mush without pruning
    /// (minutes), and how far the fast results are from them; without FILE, also bake 200,000
    /// vertices
    #[arg(long)]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
    /// Print one JSON array with an object per measurement, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

impl BenchArguments {
    /// The topics to measure, in order; on the GPU only frames.
    pub(crate) fn topics(&self) -> Result<Vec<Topic>, Failure> {
        let all = Topic::value_variants().iter().copied();
        let wanted = all.filter(|topic| self.only.is_empty() || self.only.contains(topic));
        if self.device.device == Device::Cpu {
            let wanted: Vec<Topic> = wanted.collect();
            let unused = |option: &str, users: &str| {
                let message = format!("{option} changes nothing for the topics of --only");
                Failure::usage(message).hint(format!("it is for --only {users}"))
            };
            if !self.methods.methods.is_empty() && !wanted.contains(&Topic::Frames) {
                return Err(unused("--method", "frames"));
            }
            let is_exact = |topic: &Topic| matches!(topic, Topic::Centers | Topic::Mush);
            if self.exact && !wanted.iter().any(is_exact) {
                return Err(unused("--exact", "centers,mush"));
            }
            return Ok(wanted);
        }
        if self.exact {
            return Err(
                Failure::usage("--exact is for bakes, which run on the CPU only")
                    .hint("leave out --exact, or use --device cpu"),
            );
        }
        if !self.only.is_empty() && self.only != [Topic::Frames] {
            return Err(Failure::usage("only frames are measured on the GPU")
                .hint("leave out --only, or use --device cpu"));
        }
        Ok(vec![Topic::Frames])
    }
}

/// Work that can be measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// A frame of every direct method, with and without normals, on one thread and on all
    Frames,
    /// Baking centers of rotation
    Centers,
    /// Baking direct delta mush
    Mush,
    /// Computing weights by every method
    Weights,
}
