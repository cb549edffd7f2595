//! Arguments of `supple twist`.

use super::common::parse_influences;
use super::{file_help, file_summary};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use supple::twist::TwistOf;

/// Add twist joints, which spread the twist of a wrist or shoulder along the bone
#[derive(Args)]
#[command(after_help = "\
Prevents the candy-wrapper artifact in every engine and with every method: a turning wrist twists
the whole forearm instead of collapsing the skin at the wrist. Each --joint gets a twist joint in
the middle of its bone; the weights of the bone are divided between the two, and in every clip the
twist joint takes half of the twist. Poses without twist look as before, and no other joint moves.

--twist-of chooses the twist that is spread [default: the one that is larger in the clips]:
  child   the twist of the joint at the end of the bone: name the forearm for a turning hand
  joint   the twist of the joint itself: name the upper arm for an arm that rolls in the shoulder
The default is the same for a joint and its mirror image.

The twist joint is named after the split one with _twist appended. Its extras tell engines how to
turn it in poses that come from no clip (docs/twist-joints.md).

Examples:
  supple twist hero.glb --joint forearm.L --joint forearm.R -o hero-twist.glb
  supple twist hero.glb --joint upper_arm.L --twist-of joint -o hero-twist.glb
  supple twist hero.glb --joint LeftArm --toward LeftForeArm --max-influences 4 -o hero-twist.glb")]
pub(crate) struct TwistArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The joint at the start of the bone to split, by name or by number in the order of the file.
    /// May be given several times
    #[arg(short, long = "joint", value_name = "JOINT", required = true)]
    pub(crate) joints: Vec<String>,
    /// The joint at the end of the bone [default: the child whose bone is nearest to the skin]
    #[arg(long, value_name = "CHILD")]
    pub(crate) toward: Option<String>,
    /// The twist to spread [default: the larger one in the clips, else the child's]
    #[arg(long, value_name = "WHICH", value_parser = twist_of_parser())]
    pub(crate) twist_of: Option<TwistOf>,
    /// Name of the twist joint
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Largest number of influences per vertex; lighter ones fade out without a crease [default: no
    /// limit]
    #[arg(long, value_name = "N", value_parser = parse_influences)]
    pub(crate) max_influences: Option<usize>,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

fn twist_of_parser() -> impl TypedValueParser<Value = TwistOf> {
    let child = PossibleValue::new("child").help("The twist of the joint at the end of the bone");
    let joint = PossibleValue::new("joint").help("The twist of the joint itself");
    PossibleValuesParser::new([child, joint]).map(|name| match name.as_str() {
        "joint" => TwistOf::Joint,
        _ => TwistOf::Child,
    })
}
