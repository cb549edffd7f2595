//! Arguments of `supple measure`.

use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Measure how far posed surfaces are from a reference, such as a simulation or another method
#[derive(Args)]
#[command(after_help = "\
A and B hold positions of the vertices of FILE, in its order: n×3 or frames×n×3 floats, as
'supple deform' writes them. If one of them has a single frame, it is compared with every frame of
the other.

  surface   distance of each vertex of A to the nearest point of the surface of B: how far the
            shapes are apart, wherever the skin slides
  vertex    distance of each vertex of A to the same vertex of B
  normal    angle between the normals of both at each vertex, computed from the triangles of FILE

Means count vertices by the area around them in the rest pose of FILE, over all frames; 95 % of the
area is at most as far as the 95th percentile. Distances are shares of the diagonal of the bounding
box of FILE at rest; --json has them in its units as well, and every frame. Volumes are those inside
the surface, with holes closed.

Examples:
  supple deform hero.glb -m linear --clip Run --fps 30 -o linear.npy
  supple deform hero.glb -m cor --clip Run --fps 30 -o cor.npy
  supple measure linear.npy cor.npy --mesh hero.glb
  supple measure cor.npy simulated.npy --mesh hero.glb --json > errors.json")]
pub(crate) struct MeasureArguments {
    /// The positions to measure
    #[arg(value_name = "A.npy")]
    pub(crate) measured: PathBuf,
    /// The positions of the reference
    #[arg(value_name = "B.npy")]
    pub(crate) reference: PathBuf,
    #[arg(long, value_name = "FILE", help = mesh_summary(), long_help = mesh_help())]
    pub(crate) mesh: PathBuf,
    /// Print one JSON object with every number at full precision, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

fn mesh_summary() -> String {
    format!(
        "The character with the triangles and weights. {}",
        file_summary()
    )
}

fn mesh_help() -> String {
    format!(
        "The character with the triangles and weights. {}",
        file_help()
    )
}
