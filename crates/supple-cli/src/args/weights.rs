//! Arguments of `supple weights`.

use super::common::{Limit, parse_limit};
use super::weights_edit::WeightsEditArguments;
use super::{file_help, file_summary};
use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use supple::bind::BindMethod;

/// Compute weights for a character from its mesh and skeleton, or edit those it has
#[derive(Args)]
#[command(after_help = "\
What is printed in the end: how rough the weights are, with what one bone per vertex would have beside
it; from how far vertices are held, 1 being the nearest bone; weight that lies apart from the rest of its
joint; tops of a joint's weight beside the highest; how far both sides differ. Less is better.

Any mesh will do: several shells, holes, crossing and doubled faces, faces turned the wrong way, any
unit. What no bone holds by itself (a button, a jacket over the body) follows the nearest surface that
is held; joints that came to hold nothing are named. Weights of the file are replaced, all else
stays. A bone runs from each joint to those below it; what of it is outside of the body does not count.

  heat       quick, smooth, the usual choice for a closed body
  geodesic   does not mind holes and shells, keeps weights from crossing gaps between limbs
  bbw        the smoothest deformation; takes seconds
  envelope   capsules that can be set joint by joint; rigid for robots, or as a start for 'bake -m ddm'

Examples:
  supple weights hero.glb -m heat -o hero-heat.glb
  supple weights hero.glb -m bbw --limit none -o hero-bbw.glb
  supple weights hero.glb -m geodesic --without weapon_slot --without IK_foot.L -o bound.glb
  supple render hero-heat.glb --overlay weights -o weights.png
  supple weights edit hero-heat.glb --smooth 5 --mirror +x --limit 4 -o hero-even.glb
  supple weights edit --help                 all that can be done to weights by hand")]
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
    /// How to compute them
    #[arg(short, long = "method", value_name = "METHOD")]
    pub(crate) method: BindKind,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// At most so many influences per vertex, faded out so that no crease appears; or 'none'. Four
    /// is what every engine reads
    #[arg(long, value_name = "N", default_value = "4", value_parser = parse_limit)]
    pub(crate) limit: Limit,
    /// A joint that shall hold nothing, such as a weapon's place or a control; may be given again
    #[arg(long, value_name = "JOINT")]
    pub(crate) without: Vec<String>,
    /// Use only the joints that hold something in the file now
    #[arg(long, conflicts_with = "all_joints")]
    pub(crate) used: bool,
    /// Use also joints whose names say that they are controls (IK, ctrl, pole, target, slot,
    /// socket)
    #[arg(long)]
    pub(crate) all_joints: bool,
    /// heat: how strongly bones heat what they see; more keeps weights nearer to their bones
    /// [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) strength: Option<f64>,
    /// envelope, geodesic: how far weights reach beyond the nearest bone's, as a share of the
    /// limb's radius
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) falloff: Option<f64>,
    /// envelope: the radius of a joint's capsules, in the units of the file; may be given again
    /// [default: fitted to the body]
    #[arg(long, value_name = "JOINT=RADIUS", value_parser = parse_radius)]
    pub(crate) radius: Vec<(String, f64)>,
    /// geodesic, bbw: about how many voxels fill the body [default: so that short bones are a few
    /// voxels long]
    #[arg(long, value_name = "N")]
    pub(crate) voxels: Option<usize>,
    /// One JSON object about the result on standard output, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_radius(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=');
    let parts = parts.and_then(|(joint, radius)| Some((joint.to_owned(), radius.parse().ok()?)));
    parts.ok_or_else(|| "expected a joint and a number, such as spine=0.2".to_owned())
}

/// The ways of computing weights.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindKind {
    Rigid,
    Envelope,
    Heat,
    Geodesic,
    Bbw,
}

impl BindKind {
    /// The method, with its usual options.
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
