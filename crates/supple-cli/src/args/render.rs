//! Arguments of `supple render`.

use super::common::{
    DeviceArgument, MethodArgument, Moment, NormalsArgument, parse_size, parse_view,
};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use supple_render::View;

/// Draw a character: a PNG of one moment, or a GIF of a clip
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple render @figure --clip walk -o walk.gif
  supple render hero.glb --clip Run --time 0.4 --overlay skeleton -o run.png
  supple render @figure --clip fist --focus moving -o fist.gif
  supple render hero.glb -m cor --clip Run --device gpu -o run.gif
  supple render @figure --reach hand.L=0.2,1.2,0.4 -o reach.png
  supple render hero.glb --overlay weights,wireframe --view back --size 1200x1600 -o weights.png")]
pub(crate) struct RenderArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) method: MethodArgument,
    #[command(flatten)]
    pub(crate) normals: NormalsArgument,
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// Pixels
    #[arg(long, value_name = "WxH", default_value = "800x800", value_parser = parse_size)]
    pub(crate) size: (usize, usize),
    /// What to draw over the surface, separated by commas
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(crate) overlay: Vec<Overlay>,
    /// From where to look: front, side, back, three-quarter, or degrees as YAW,PITCH
    #[arg(long, value_name = "VIEW", default_value = "three-quarter", value_parser = parse_view, allow_hyphen_values = true)]
    pub(crate) view: View,
    /// What to show
    #[arg(long, value_name = "WHAT", value_enum, default_value = "all")]
    pub(crate) focus: Focus,
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
    /// Where to write: .png for one moment, .gif for a clip
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

/// What can be drawn over a surface.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overlay {
    /// The bones, seen through the surface
    Skeleton,
    /// Each vertex in the colours of its joints
    Weights,
    /// The edges of the triangles
    Wireframe,
    /// The centers of rotation of cor, red, in a body of glass, with joints and bones
    Centers,
}

/// What the camera frames.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Focus {
    /// The whole character
    All,
    /// What the clip moves
    Moving,
}
