//! Arguments of `supple render`.

use super::common::{MethodsArgument, PosedCharacter, methods_help, parse_size, parse_view};
use super::mush::MushArguments;
use super::reach::ReachArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use supple_render::View;

/// Draw a character: a PNG of one pose, or a GIF of a clip
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple render @figure --clip walk -o walk.gif
  supple render hero.glb --clip Run --time 0.4 --overlay skeleton -o run.png
  supple render @figure --clip fist --focus moving -o fist.gif
  supple render hero.glb -m cor --turn hand.L=0,150,0 --focus hand.L -o wrist.png
  supple render hero.glb -m linear,cor,ddm --clip Run --overlay stretch -o methods.gif
  supple render other.glb --camera wrist.png -o other.png
  supple render hero.glb -m cor --clip Run --device gpu -o run.gif
  supple render @figure --reach hand.L=0.2,1.2,0.4 -o reach.png
  supple render hero.glb --overlay weights,wireframe --view back --size 1200x1600 -o weights.png")]
#[command(mut_arg("methods", |methods| methods_help(
    methods.default_value("linear"),
    "The skinning method; several, separated by commas, are drawn beside each other and labelled"
)))]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(crate) methods: MethodsArgument,
    #[command(flatten)]
    pub(crate) character: PosedCharacter,
    /// Size of the picture in pixels; with several methods, of each
    #[arg(long, value_name = "WxH", default_value = "800x800", value_parser = parse_size)]
    pub(crate) size: (usize, usize),
    /// Overlays to draw on the surface, separated by commas
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(crate) overlay: Vec<Overlay>,
    /// Direction of view: front, side, back, three-quarter, or YAW,PITCH in degrees
    #[arg(
        long,
        value_name = "VIEW",
        default_value = "three-quarter",
        value_parser = parse_view,
        allow_hyphen_values = true
    )]
    pub(crate) view: View,
    /// The part that fills the picture: all, moving (the part that the clip moves), or a joint, by
    /// name or by number in the order of the file
    #[arg(long, value_name = "all|moving|JOINT", default_value = "all", value_parser = parse_focus)]
    pub(crate) focus: Focus,
    /// Use the camera of an earlier picture (.png or .gif) that this command drew, so that poses,
    /// methods or files can be compared pixel by pixel
    #[arg(long, value_name = "PICTURE", conflicts_with_all = ["view", "focus"])]
    pub(crate) camera: Option<PathBuf>,
    /// The file to write: .png for one pose, .gif for a clip
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

/// Overlays on a surface.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overlay {
    /// Bones, visible through the surface
    Skeleton,
    /// Weights: each vertex in the colours of its joints
    Weights,
    /// Stretch: area larger than at rest in red, smaller in blue
    Stretch,
    /// Edges of the triangles
    Wireframe,
    /// Centers of rotation of cor in red, inside a transparent body with joints and bones
    Centers,
}

/// The part that fills the picture.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Focus {
    /// The whole character.
    All,
    /// The part that the clip moves.
    Moving,
    /// The skin around a joint.
    Joint(String),
}

fn parse_focus(text: &str) -> Result<Focus, String> {
    match text {
        "all" => Ok(Focus::All),
        "moving" => Ok(Focus::Moving),
        "" => Err("expected all, moving, or the name of a joint".to_owned()),
        joint => Ok(Focus::Joint(joint.to_owned())),
    }
}
