//! Arguments of `supple handles`.

use super::common::{Limit, parse_limit, parse_size, parse_view};
use super::{file_help, file_summary};
use clap::{Args, ValueEnum};
use glam::DVec3;
use std::path::PathBuf;
use supple_render::View;

/// Place point handles inside of a character, to pose it without bones, and bind it to them
#[derive(Args)]
#[command(after_help = "\
Handles go where the thickness of the body changes (between trunk and leg, hand and finger), to the
ends of limbs, and along what is long and even, such as an arm. All lie inside. None moves another: in
the file they are joints beside each other under one node, bound by point weights, which vary all the
way from one handle to the next. Pseudo-edges between handles, from which turns are read off, are in
the extras of the skin (docs/point-handles.md). What skin the file has is replaced; of its clips only
morph targets are kept.

The ending of OUT chooses what is written:
  .glb, .gltf   the file, bound to the handles
  .json         places, edges, and the segment of every triangle
  .png          a picture: segments in colours, handles as balls, edges as lines

Examples:
  supple handles hero.glb -o hero-handles.png
  supple handles hero.glb -o hero-handles.glb
  supple handles hero.glb --count 20 --weights geodesic -o hero-handles.glb
  supple handles @bar --at -0.4,0,0 --at 0,0,0 --at 0.4,0,0 --edge 0-1 --edge 1-2 -o bar.glb")]
pub(crate) struct HandlesArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// How many handles there shall be in all, as far as there is room for them [default: as many
    /// as the body asks for]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// How many kinds of thickness are told apart [default: as many as the body asks for]
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// No handles at the ends of limbs, as in the paper
    #[arg(long)]
    pub(crate) no_ends: bool,
    /// A place for a handle, in the units of the file, instead of automatic ones; may be given
    /// again
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true, conflicts_with_all = ["also_at", "count", "clusters", "no_ends"])]
    pub(crate) at: Vec<DVec3>,
    /// The same, beside automatic ones; these handles come first
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    pub(crate) also_at: Vec<DVec3>,
    /// A pseudo-edge between two handles, by number from 0; may be given again [default: the
    /// shortest tree inside of the body]
    #[arg(long = "edge", visible_alias = "edges", value_name = "A-B", value_delimiter = ',', value_parser = parse_edge)]
    pub(crate) edges: Vec<[usize; 2]>,
    /// How point weights are computed, of a .glb or .gltf [default: bbw]
    #[arg(long, value_name = "METHOD", value_enum)]
    pub(crate) weights: Option<PointWeights>,
    /// At most so many influences per vertex, of a .glb or .gltf, faded out so that no crease
    /// appears; or 'none'. Four is what every engine reads [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<Limit>,
    /// Pixels of a .png [default: 800x800]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub(crate) size: Option<(usize, usize)>,
    /// From where a .png is seen: front, side, back, three-quarter, or degrees as YAW,PITCH
    /// [default: three-quarter]
    #[arg(long, value_name = "VIEW", value_parser = parse_view, allow_hyphen_values = true)]
    pub(crate) view: Option<View>,
    /// Where to write; the ending chooses what
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

/// The ways of computing weights for points.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointWeights {
    /// Bounded biharmonic weights: the smoothest
    Bbw,
    /// By distances inside of the body: quick
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
