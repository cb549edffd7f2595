//! Arguments of `supple handles`.

use super::common::{Limit, parse_limit, parse_size, parse_view};
use super::{file_help, file_summary};
use clap::{Args, ValueEnum};
use glam::DVec3;
use std::path::PathBuf;
use supple_render::View;

/// Place point handles inside a character and bind it to them, to pose it without bones
#[derive(Args)]
#[command(after_help = "\
Handles are placed where the thickness of the body changes (between trunk and leg, hand and finger),
at the ends of limbs, and along long even parts such as an arm. In the file they are joints under
one node, none above another, with point weights. Pseudo-edges between handles, from which their
rotations follow, are in the extras of the skin (docs/point-handles.md). Replaces the skin of the
file; of its clips, morph targets are kept.

The extension of OUT chooses what is written:
  .glb, .gltf   the file, bound to the handles
  .json         handles, edges, and the segment of every triangle
  .png          a picture: segments in colours, handles as balls, edges as lines

Examples:
  supple handles hero.glb -o hero-handles.png
  supple handles hero.glb -o hero-handles.glb
  supple handles hero.glb --count 20 -m geodesic -o hero-handles.glb
  supple handles @bar --at -0.4,0,0 --at 0,0,0 --at 0.4,0,0 --edge 0-1 --edge 1-2 -o bar.glb")]
pub(crate) struct HandlesArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// Number of handles in all, as far as there is room [default: from the shape of the body]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// Number of thickness classes of the segments [default: from the shape of the body]
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// Place no handles at the ends of limbs, as in the paper
    #[arg(long)]
    pub(crate) no_ends: bool,
    /// Position of a handle, in the unit of the file, instead of automatic ones. May be given
    /// several times
    #[arg(
        long,
        value_name = "X,Y,Z",
        value_parser = parse_point,
        allow_hyphen_values = true,
        conflicts_with_all = ["also_at", "count", "clusters", "no_ends"]
    )]
    pub(crate) at: Vec<DVec3>,
    /// Position of a handle in addition to automatic ones; these handles come first
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    pub(crate) also_at: Vec<DVec3>,
    /// A pseudo-edge between two handles, by number from 0. May be given several times [default:
    /// the shortest tree inside the body]
    #[arg(
        long = "edge",
        alias = "edges",
        value_name = "A-B",
        value_delimiter = ',',
        value_parser = parse_edge
    )]
    pub(crate) edges: Vec<[usize; 2]>,
    /// The method that computes the weights of a .glb or .gltf [default: bbw]
    #[arg(short, long, alias = "weights", value_name = "METHOD", value_enum)]
    pub(crate) method: Option<PointWeights>,
    /// Largest number of influences per vertex of a .glb or .gltf, or 'none'; lighter ones fade out
    /// without a crease [default: 4]
    #[arg(long, alias = "limit", value_name = "N", value_parser = parse_limit)]
    pub(crate) max_influences: Option<Limit>,
    /// Size of a .png in pixels [default: 800x800]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub(crate) size: Option<(usize, usize)>,
    /// Direction of view of a .png: front, side, back, three-quarter, or YAW,PITCH in degrees
    /// [default: three-quarter]
    #[arg(long, value_name = "VIEW", value_parser = parse_view, allow_hyphen_values = true)]
    pub(crate) view: Option<View>,
    /// The file to write; its extension chooses what
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

/// A method that computes point weights.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointWeights {
    /// Bounded biharmonic weights, the smoothest
    Bbw,
    /// By distances inside the body, fast
    Geodesic,
}

fn parse_point(text: &str) -> Result<DVec3, String> {
    let coordinates = text.split(',').map(|part| part.trim().parse::<f64>().ok());
    let coordinates: Option<Vec<f64>> = coordinates.collect();
    let point: Option<[f64; 3]> = coordinates.and_then(|list| list.try_into().ok());
    let point = point
        .map(DVec3::from_array)
        .filter(|point| point.is_finite());
    point.ok_or_else(|| "expected three numbers, such as 0,1.5,-0.2".to_owned())
}

fn parse_edge(text: &str) -> Result<[usize; 2], String> {
    let ends = text.split_once('-');
    let ends = ends.and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    ends.ok_or_else(|| "expected the numbers of two handles, such as 0-1".to_owned())
}
