//! Arguments of `supple compare`.

use super::common::parse_size;
use super::method::MethodParser;
use super::mush::MushArguments;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;
use supple::Method;

/// Show methods side by side on one page: pictures, plots, numbers, and which one holds up
/// where
#[derive(Args)]
#[command(after_help = "\
DIR/index.html needs no other file. Without --clip the clips that tell most are chosen; a file
without clips has its joints bent and twisted. With --reach or --move that one pose is compared.

Examples:
  supple compare hero.glb -o report
  supple compare hero.glb -m linear,dual-quaternion --clip Run,Jump -o report
  supple compare @figure --reach hand.L=0.2,1.2,0.4 -o reach-report
  supple compare @figure -o figure-report")]
pub(crate) struct CompareArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The methods to compare, separated by commas [default: all that differ]
    #[arg(short, long = "method", value_name = "METHOD", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) method: Vec<Method>,
    /// Which clips, by name or number from 0, separated by commas [default: those that tell most]
    #[arg(long, value_name = "CLIP", conflicts_with_all = ["reach", "shift"])]
    pub(crate) clip: Vec<String>,
    /// Pixels of one picture
    #[arg(long, value_name = "WxH", default_value = "300x320", value_parser = parse_size)]
    pub(crate) size: (usize, usize),
    /// The folder to write into; made if it is not there
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}
