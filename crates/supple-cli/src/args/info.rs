//! Arguments of `supple info`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Show what a file holds and what is wrong with it
#[derive(Args)]
#[command(after_help = "\
Lists the mesh, the tree of joints with the number of vertices that each influences, stored bakes,
clips, and the problems found: weights that do not sum to 1, holes, non-manifold edges, bad normals,
unused joints. Rates the weights as good, fair or poor, with the reasons, and gives the commands
that would improve them.

Examples:
  supple info hero.glb
  supple info hero.glb --joints
  supple info @figure:40000
  supple info hero.glb --json | jq '.odd[].message'")]
pub(crate) struct InfoArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// List all joints of a large skeleton
    #[arg(long)]
    pub(crate) joints: bool,
    /// Print one JSON object, for programs
    #[arg(long)]
    pub(crate) json: bool,
}
