//! Arguments of `supple weights`.

use super::common::{Limit, parse_limit};
use super::weights_edit::WeightsEditArguments;
use super::{file_help, file_summary};
use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use supple::bind::BindMethod;

/// Compute automatic weights from the mesh and skeleton, or edit the weights of a file
#[derive(Args)]
#[command(after_help = "\
Replaces the weights of the file; everything else is kept. Any mesh works: several shells, holes,
intersections, flipped faces. Parts that no bone holds, such as a button or a jacket over the body,
follow the nearest surface; joints left without vertices are named. The part of a bone outside the
body is ignored.

Which method:
  heat       fast and smooth; the usual choice for a closed body
  geodesic   for holes and several shells; keeps weights from crossing gaps between limbs
  bbw        bounded biharmonic weights, the smoothest deformation; takes seconds
  envelope   capsules whose radius can be set joint by joint
  rigid      one joint per vertex: for robots, or to start from in 'bake -m ddm'

The report at the end measures the weights; smaller is better:
  smoothness   roughness, beside that of a rigid bind
  locality     distance from the joints that hold a vertex; 1 is the nearest bone
  stray        weight that is not connected to the rest of its joint's
  maxima       further peaks in the weights of a joint
  symmetry     difference between the left and right side

Examples:
  supple weights hero.glb -m heat -o hero-heat.glb
  supple weights hero.glb -m bbw --max-influences none -o hero-bbw.glb
  supple weights hero.glb -m geodesic --without weapon_slot --without IK_foot.L -o bound.glb
  supple render hero-heat.glb --overlay weights -o weights.png
  supple weights edit hero-heat.glb --smooth 5 --mirror +x --max-influences 4 -o hero-even.glb
  supple weights edit --help                 prune, smooth, mirror, transfer and paint")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct WeightsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<WeightsCommand>,
    #[command(flatten)]
    pub(crate) bind: Option<BindArguments>,
}

#[derive(Subcommand)]
pub(crate) enum WeightsCommand {
    Edit(Box<WeightsEditArguments>),
}

#[derive(Args)]
pub(crate) struct BindArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The method that computes the weights
    #[arg(short, long = "method", value_name = "METHOD")]
    pub(crate) method: BindKind,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Largest number of influences per vertex, or 'none'; lighter ones fade out without a crease.
    /// Every engine reads four
    #[arg(
        long,
        alias = "limit",
        value_name = "N",
        default_value = "4",
        value_parser = parse_limit
    )]
    pub(crate) max_influences: Limit,
    /// A joint to leave out, such as a weapon slot or a control. May be given several times
    #[arg(long, value_name = "JOINT")]
    pub(crate) without: Vec<String>,
    /// Use only the joints that have weights in the file now
    #[arg(long, conflicts_with = "all_joints")]
    pub(crate) used: bool,
    /// Include joints that look like controls by their names (IK, ctrl, pole, target, slot, socket)
    #[arg(long)]
    pub(crate) all_joints: bool,
    /// heat: strength of the heat from the bones; larger keeps weights closer to their bones
    /// [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) strength: Option<f64>,
    /// envelope, geodesic: width of the blend between neighbouring bones, as a share of the limb's
    /// radius
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) falloff: Option<f64>,
    /// envelope: radius of a joint's capsules, in the unit of the file. May be given several times
    /// [default: fitted to the body]
    #[arg(long, value_name = "JOINT=RADIUS", value_parser = parse_radius)]
    pub(crate) radius: Vec<(String, f64)>,
    /// geodesic, bbw: approximate number of voxels inside the body [default: a few voxels along
    /// short bones]
    #[arg(long, value_name = "N")]
    pub(crate) voxels: Option<usize>,
    /// Print one JSON object about the result, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_radius(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=');
    let parts = parts.and_then(|(joint, radius)| Some((joint.to_owned(), radius.parse().ok()?)));
    parts.ok_or_else(|| "expected a joint and a number, such as spine=0.2".to_owned())
}

/// A method that computes weights.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindKind {
    Rigid,
    Envelope,
    Heat,
    Geodesic,
    Bbw,
}

impl BindKind {
    /// The method with its default options.
    pub(crate) fn default_method(self) -> BindMethod {
        match self {
            BindKind::Rigid => BindMethod::Rigid,
            BindKind::Envelope => BindMethod::Envelope(Default::default()),
            BindKind::Heat => BindMethod::Heat(Default::default()),
            BindKind::Geodesic => BindMethod::Geodesic(Default::default()),
            BindKind::Bbw => BindMethod::BoundedBiharmonic(Default::default()),
        }
    }
}

impl ValueEnum for BindKind {
    fn value_variants<'a>() -> &'a [BindKind] {
        &[
            BindKind::Rigid,
            BindKind::Envelope,
            BindKind::Heat,
            BindKind::Geodesic,
            BindKind::Bbw,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let method = self.default_method();
        Some(PossibleValue::new(method.name()).help(method.summary()))
    }
}
