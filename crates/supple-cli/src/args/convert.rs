//! Arguments of `supple convert`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Write a character with its weights cleaned, everything else as it was
#[derive(Args)]
#[command(after_help = "\
Weights are normalised, sorted and packed; materials, images, animations, extras and
unknown extensions stay. Also the way to take a built-in character elsewhere.

Examples:
  supple convert @figure:20000 -o figure.glb
  supple convert hero.gltf -o hero.glb")]
pub(crate) struct ConvertArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}
