//! Arguments of `supple pose`.

use super::common::Moment;
use super::reach::ReachArguments;
use super::{file_help, file_summary};
use clap::Args;
use std::path::PathBuf;

/// Pose a character by where its hands and feet should be
#[derive(Args)]
#[command(after_help = "\
Joints turn so that others get to places: inverse kinematics. Places are in the world, in the unit
of the file. The nodes of the file are changed; its skins, weights and animations are not. What
cannot be reached is pointed at, and told.

A place is JOINT=X,Y,Z, or JOINT+=X,Y,Z counted from where the joint is before anything moves: so
foot.L+=0,0,0 keeps a foot on the ground, and --orient foot.L=keep keeps it flat there. A plus
before a single number counts that one so.

Which joints turn: those of the limb, up to where the skeleton branches. A hand moves the arm, a
foot the leg, a fingertip the finger, the chest the spine. Of collar bone and arm the collar bone
only helps where the arm is too short. Twist joints are carried along.

A limit is hinge:FROM..TO for an elbow or knee, more being a tighter bend, or cone:SWING or
cone:SWING,FROM..TO for a shoulder, the range being the twist; in degrees from rest. A hinge of
bones that rest in one line needs its axis, in the frame of the joint: hinge:FROM..TO@X,Y,Z.

Examples:
  supple pose @figure --reach hand.L=0.2,1.2,0.4 -o reach.glb
  supple pose hero.glb --reach LeftHand=0.3,1.2,0.4 --pole LeftHand=1,0,-1 -o reach.glb
  supple pose hero.glb --clip Walk --time 0.4 --reach head+=0,0,0.1 --chain head=6 -o lean.glb
  supple pose hero.glb --reach hand.R=0,1.9,0.2 --limit forearm.R=hinge:0..150 -o up.glb
  supple pose @figure --move pelvis+=0,-0.2,0 --reach foot.L+=0,0,0 --reach foot.R+=0,0,0 -o low.glb

render, deform and compare take the same options:
  supple render @figure --reach hand.L=0.2,1.2,0.4 -o reach.png")]
pub(crate) struct PoseArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
}
