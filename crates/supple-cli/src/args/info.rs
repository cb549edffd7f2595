//! Arguments of `supple info`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// What is in a file, and what is odd about it
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple info hero.glb
  supple info @figure:40000
  supple info hero.glb --json | jq '.odd[].message'")]
pub(crate) struct InfoArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// One JSON object, for programs
    #[arg(long)]
    pub(crate) json: bool,
}
