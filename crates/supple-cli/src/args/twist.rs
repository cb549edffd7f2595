//! Arguments of `supple twist`.

use super::common::parse_influences;
use super::{file_help, file_summary};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use supple::twist::TwistOf;

/// Split bones by a twist joint each, so that a twist runs along the bone instead of wringing a
/// joint
#[derive(Args)]
#[command(after_help = "\
A wrist that turns twists the whole forearm, not the skin at the wrist alone. Each joint named gets
one more joint in the middle of its bone. The skin of the bone is divided between the two by its
place along the bone, and in every clip the new joint takes half of the twist, so that any engine
and any method shows it. Poses without twist look as before; no other joint moves otherwise.

Which twist is spread:
  child   the one of the joint at the bone's end: name the forearm for the turning of the hand
  joint   the one of the joint itself: name the upper arm for an arm that rolls in the shoulder
Without --twist-of it is the one that is larger in the clips.

The new joint is named after the split one, with _twist behind. Its extras tell engines how to turn
it in poses that come from no clip (docs/twist-joints.md).

Examples:
  supple twist hero.glb --joint forearm.L --joint forearm.R -o hero-twist.glb
  supple twist hero.glb --joint upper_arm.L --twist-of joint -o hero-twist.glb
  supple twist hero.glb --joint LeftArm --toward LeftForeArm --max-influences 4 -o hero-twist.glb")]
pub(crate) struct TwistArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The joint at which the bone to split begins, by name, or by number in the file's own order;
    /// may be given again
    #[arg(short, long = "joint", value_name = "JOINT", required = true)]
    pub(crate) joints: Vec<String>,
    /// The joint at which the bone ends [default: the one below whose bone runs nearest to the
    /// skin]
    #[arg(long, value_name = "CHILD")]
    pub(crate) toward: Option<String>,
    /// Whose twist to spread [default: the one that is larger in the clips, else the child's]
    #[arg(long, value_name = "WHOSE", value_parser = twist_of_parser())]
    pub(crate) twist_of: Option<TwistOf>,
    /// What to call the new joint
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// At most this many joints per vertex, for engines that take no more; lighter ones fade out
    #[arg(long, value_name = "N", value_parser = parse_influences)]
    pub(crate) max_influences: Option<usize>,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

fn twist_of_parser() -> impl TypedValueParser<Value = TwistOf> {
    let child = PossibleValue::new("child").help("that of the joint at the end of the bone");
    let joint = PossibleValue::new("joint").help("that of the split joint against the one above");
    PossibleValuesParser::new([child, joint]).map(|name| match name.as_str() {
        "joint" => TwistOf::Joint,
        _ => TwistOf::Child,
    })
}
