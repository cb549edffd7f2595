//! Arguments of `supple pose`.

use super::common::Moment;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Pose a character by inverse kinematics: hands and feet reach for positions
#[derive(Args)]
#[command(after_help = "\
The joints of a limb turn until its end reaches a target. Targets are world positions in the unit of
the file. The nodes of the file are posed; skins, weights and animations are kept. A target out of
reach is pointed at, and the remaining distance is printed.

A target is JOINT=X,Y,Z, or JOINT+=X,Y,Z relative to the joint's position before anything moves:
foot.L+=0,0,0 keeps a foot where it is, and --orient foot.L=keep keeps it flat on the ground. A plus
before a single number makes only that coordinate relative.

By default the joints of the limb turn, up to where the skeleton branches: a hand moves the arm, a
foot the leg, a fingertip the finger, the chest the spine. The collar bone only helps where the arm
is too short. Twist joints follow.

Limits are in degrees from the rest pose: hinge:FROM..TO for an elbow or knee, where larger angles
bend more; cone:SWING or cone:SWING,FROM..TO for a shoulder, where FROM..TO is the twist. A hinge
whose bones rest in one line needs its axis in the joint's frame: hinge:FROM..TO@X,Y,Z.

Examples:
  supple pose @figure --reach hand.L=0.2,1.2,0.4 -o reach.glb
  supple pose hero.glb --reach LeftHand=0.3,1.2,0.4 --pole LeftHand=1,0,-1 -o reach.glb
  supple pose hero.glb --clip Walk --time 0.4 --reach head+=0,0,0.1 --chain head=6 -o lean.glb
  supple pose hero.glb --reach hand.R=0,1.9,0.2 --limit forearm.R=hinge:0..150 -o up.glb
  supple pose @figure --move pelvis+=0,-0.2,0 --reach foot.L+=0,0,0 --reach foot.R+=0,0,0 -o low.glb

render, deform and compare have the same options:
  supple render @figure --reach hand.L=0.2,1.2,0.4 -o reach.png")]
pub(crate) struct PoseArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
}
