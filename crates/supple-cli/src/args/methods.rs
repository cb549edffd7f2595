//! Arguments of `supple methods`.

use clap::Args;

/// List the skinning methods: what they are good and bad at, their papers, costs and options
#[derive(Args)]
#[command(after_help = "\
Bytes per vertex are the rest surface and weights that a frame reads, and the positions that it
writes, for four influences per vertex. Times are relative to linear, for positions on one thread at
10,000 vertices, as measured in docs/speed.md; 'supple bench --only frames' measures this machine.

Examples:
  supple methods
  supple methods --json | jq -r '.[].name'
  supple compare hero.glb -o report          which of them suits a character")]
pub(crate) struct MethodsArguments {
    /// Print one JSON array with an object per method, for programs
    #[arg(long)]
    pub(crate) json: bool,
}
