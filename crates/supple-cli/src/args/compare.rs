//! Arguments of `supple compare`.

use super::common::{MethodsArgument, methods_help, parse_size};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Say which skinning method suits a character, on a page with pictures, measures and commands
#[derive(Args)]
#[command(after_help = "\
Writes DIR/index.html, a page that needs no other file. Without --clip, the clips with the largest
differences are chosen; in a file without clips, joints are bent and twisted. With --reach or
--move, that one pose is compared.

--json and --csv print the measures instead of writing the page, those of every method, clip, time
and joint at full precision; with -o they write DIR/compare.json or DIR/compare.csv. JSON also has
the recommendation and the definition of every measure. CSV has a row per number: method, clip,
time, joint, joint_index, measure, value.

Examples:
  supple compare hero.glb -o report
  supple compare hero.glb -m linear,dual-quaternion --clip Run,Jump -o report
  supple compare @figure --reach hand.L=0.2,1.2,0.4 -o reach-report
  supple compare hero.glb --json | jq -r .recommendation.headline
  supple compare hero.glb --all --csv -o report
  supple compare @figure -o figure-report")]
#[command(mut_arg("methods", |methods| methods_help(
    methods,
    "The methods to compare, separated by commas [default: linear, ddm-v5, dual-quaternion, cor \
     and ddm]"
)))]
pub(crate) struct CompareArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) methods: MethodsArgument,
    /// Compare all methods that can differ from linear blending, not only linear, ddm-v5,
    /// dual-quaternion, cor and ddm
    #[arg(long, conflicts_with = "methods")]
    pub(crate) all: bool,
    /// The clips, by name or by number from 0, separated by commas [default: those with the largest
    /// differences]
    #[arg(long, value_name = "CLIP", conflicts_with_all = ["reach", "shift", "turn"])]
    pub(crate) clip: Vec<String>,
    /// Size of one picture in pixels
    #[arg(long, value_name = "WxH", default_value = "300x320", value_parser = parse_size)]
    pub(crate) size: (usize, usize),
    /// Print one JSON object with every measure instead of writing the page, for programs
    #[arg(long, conflicts_with = "size")]
    pub(crate) json: bool,
    /// Print a table with a row per number instead of writing the page, for programs
    #[arg(long, conflicts_with_all = ["size", "json"])]
    pub(crate) csv: bool,
    /// The folder to write into, created if needed [default: --json and --csv print]
    #[arg(
        short,
        long = "out",
        value_name = "DIR",
        required_unless_present_any = ["json", "csv"]
    )]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}
