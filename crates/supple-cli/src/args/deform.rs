//! Arguments of `supple deform`.

use super::common::{MethodArgument, PosedCharacter};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use clap::Args;
use std::path::PathBuf;

/// Pose a character and write its deformed surface: one pose, or all frames of a clip
#[derive(Args)]
#[command(after_help = "\
The extension of OUT chooses the format of one pose:
  .npy          n×3 float32: vertices in the order of the file, one primitive after another
  .obj, .ply    positions, normals and triangles
  .glb, .gltf   the file with the posed surface in place of the skin; materials and images are kept

--fps without --time or --frame writes the whole clip, baked once: from frame 0 to the one nearest
to the end of the clip, round(duration × fps) + 1 of them. Frame N is that of --frame N.
  .npy          frames×n×3 float32
  .pc2          point cache 2, little-endian: \"POINTCACHE2\\0\", int32 version 1, int32 n, float32
                first frame 0, float32 sampling rate 1, int32 frames, frames×n×3 float32
  .mdd          big-endian: int32 frames, int32 n, float32 seconds of each frame, frames×n×3 float32
  .glb, .gltf   morph targets, and an animation that fades from frame to frame; all frames are in
                memory, so that 2,000 frames and 500 MB of them are the most
.pc2 and .mdd always hold a whole clip, at 30 frames per second without --fps. Positions are as in
the file, in metres with Y up.

Examples:
  supple deform hero.glb --clip Run --time 0.4 -o run.obj
  supple deform @figure --clip squat --frame 24 -o squat.glb
  supple deform hero.glb -m cor --clip Run --fps 30 -o run.npy
  supple deform hero.glb -m cor --clip Run --fps 24 -o run.pc2
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
        conflicts_with_all = ["clip", "time", "frame", "fps", "reach", "shift", "turn"]
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
