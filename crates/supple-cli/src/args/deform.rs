//! Arguments of `supple deform`.

use super::common::{DeviceArgument, MethodArgument, Moment, NormalsArgument};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Pose a character and write the deformed surface
#[derive(Args)]
#[command(after_help = "\
The ending of OUT chooses the format:
  .npy          n×3 float32, the vertices in the file's own order, primitives one after another
  .obj, .ply    positions, normals and triangles
  .glb, .gltf   the same file frozen in the pose: materials, images and props stay

Examples:
  supple deform hero.glb --clip Run --time 0.4 -o run.obj
  supple deform @figure --clip squat --frame 24 -o squat.glb
  supple deform hero.glb --palette pose.npy -o posed.npy
  supple deform hero.glb -m ddm --clip Run --time 0.4 --device gpu -o run.npy")]
pub(crate) struct DeformArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) method: MethodArgument,
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// m×3×4 floats, posed_from_bind in the file's own joint order, instead of a clip
    #[arg(long, value_name = "P.npy", conflicts_with_all = ["clip", "time", "frame", "reach", "shift"])]
    pub(crate) palette: Option<PathBuf>,
    /// n×m×4 floats for animation-space, n×m×12 for multi-weight: learned weights, joints in the
    /// file's own order
    #[arg(long, value_name = "W.npy")]
    pub(crate) weights: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) normals: NormalsArgument,
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
    /// Where to write; the ending chooses the format
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}
