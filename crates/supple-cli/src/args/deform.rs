//! Arguments of `supple deform`.

use super::common::{MethodArgument, PosedCharacter};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use clap::Args;
use std::path::PathBuf;

/// Pose a character and write its deformed surface
#[derive(Args)]
#[command(after_help = "\
The extension of OUT chooses the format:
  .npy          n×3 float32: vertices in the order of the file, one primitive after another
  .obj, .ply    positions, normals and triangles
  .glb, .gltf   the file with the posed surface in place of the skin; materials and images are kept

Examples:
  supple deform hero.glb --clip Run --time 0.4 -o run.obj
  supple deform @figure --clip squat --frame 24 -o squat.glb
  supple deform hero.glb --palette pose.npy -o posed.npy
  supple deform hero.glb -m ddm --clip Run --time 0.4 --device gpu -o run.npy")]
pub(crate) struct DeformArguments {
    #[command(flatten)]
    pub(crate) method: MethodArgument,
    #[command(flatten)]
    pub(crate) character: PosedCharacter,
    /// Joint matrices instead of a clip: m×3×4 floats, posed from bind space, joints in the order
    /// of the file
    #[arg(
        long,
        value_name = "P.npy",
        conflicts_with_all = ["clip", "time", "frame", "reach", "shift", "turn"]
    )]
    pub(crate) palette: Option<PathBuf>,
    /// Learned weights: n×m×4 floats for animation-space, n×m×12 for multi-weight, joints in the
    /// order of the file
    #[arg(long, value_name = "W.npy")]
    pub(crate) weights: Option<PathBuf>,
    /// The file to write; its extension chooses the format
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}
