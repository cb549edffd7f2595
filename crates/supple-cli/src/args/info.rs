//! Arguments of `supple info`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Show what a file holds and what is wrong with it
#[derive(Args)]
#[command(after_help = "\
Lists the mesh, skeleton, influences, weight quality, stored bakes and clips, and then the problems
found: weights that do not sum to 1, holes, non-manifold edges, bad normals, unused joints.

Examples:
  supple info hero.glb
  supple info @figure:40000
  supple info hero.glb --json | jq '.odd[].message'")]
pub(crate) struct InfoArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// Print one JSON object, for programs
    #[arg(long)]
    pub(crate) json: bool,
}
