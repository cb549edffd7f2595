//! Arguments of `supple convert`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Write a character as glTF, with repaired weights
#[derive(Args)]
#[command(after_help = "\
Weights are normalised, sorted and packed; materials, images, animations, extras and unknown
extensions are kept. Also writes built-in characters, for use in other programs.

Examples:
  supple convert @figure:20000 -o figure.glb
  supple convert hero.gltf -o hero.glb")]
pub(crate) struct ConvertArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}
