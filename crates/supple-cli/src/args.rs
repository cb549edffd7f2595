//! The command line.

use crate::bake::Bakeable;
use crate::failure::Failure;
use crate::mush::MushArguments;
use crate::reaching::ReachArguments;
use crate::weights_edit::WeightsEdit;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use glam::DVec3;
use std::ffi::OsStr;
use std::path::PathBuf;
use supple::characters::Character;
use supple::deform::UnknownMethod;
use supple::twist::TwistOf;
use supple::weights::bind::BindMethod;
use supple::{Method, Normals};
use supple_gpu::Gpu;
use supple_render::View;

/// What FILE may be.
pub(crate) fn file_summary() -> String {
    let names: Vec<String> = Character::ALL
        .iter()
        .map(|known| format!("@{}", known.name()))
        .collect();
    format!(
        "A .glb or .gltf file, or a built-in character: {}",
        names.join(", ")
    )
}

/// The same with all that there is to choose from.
pub(crate) fn file_help() -> String {
    let mut help = "A .glb or .gltf file, or a built-in character:\n".to_owned();
    for character in Character::ALL {
        help += &format!(
            "  {:<11}{}\n",
            format!("@{}", character.name()),
            character.summary()
        );
    }
    help + "@figure:40000 has about that many vertices, from 2,000 to 4,000,000"
}

/// Load a rigged character, pose it, deform it, look at it.
#[derive(Parser)]
#[command(
    name = "supple",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  supple demo                                a page of pictures to open in a browser
  supple info hero.glb                       what is in a file, and what is odd about it
  supple compare hero.glb -o report          every method on your character, side by side
  supple render hero.glb --clip Run -o run.gif

Exit status: 0 done, 1 it could not be done, 2 the command line was wrong, 128 + N on signal N.
Set NO_COLOR to do without colours."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Compare the methods on built-in characters, ending in a page to open
    #[command(after_help = "\
Examples:
  supple demo                     writes supple-demo/index.html
  supple demo -o /tmp/look        writes elsewhere")]
    Demo(DemoOptions),

    /// What is in a file, and what is odd about it
    #[command(after_help = "\
Examples:
  supple info hero.glb
  supple info @figure:40000
  supple info hero.glb --json | jq '.odd[].message'")]
    Info(InfoOptions),

    /// Pose a character and write the deformed surface
    #[command(after_help = "\
The ending of OUT chooses the format:
  .npy          n×3 float32, the vertices in the file's own order, primitives one after another
  .obj, .ply    positions, normals and triangles
  .glb, .gltf   the same file frozen in the pose: materials, images and props stay

Examples:
  supple deform hero.glb --clip Run --time 0.4 -o run.obj
  supple deform @figure --clip squat --frame 24 -o squat.glb
  supple deform hero.glb --palette pose.npy -o posed.npy
  supple deform hero.glb -m ddm --clip Run --time 0.4 --device gpu -o run.npy")]
    Deform(DeformOptions),

    /// Pose a character by where its hands and feet should be
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
    Pose(PoseOptions),

    /// Draw a character: a PNG of one moment, or a GIF of a clip
    #[command(after_help = "\
Examples:
  supple render @figure --clip walk -o walk.gif
  supple render hero.glb --clip Run --time 0.4 --overlay skeleton -o run.png
  supple render @figure --clip fist --focus moving -o fist.gif
  supple render hero.glb -m cor --clip Run --device gpu -o run.gif
  supple render @figure --reach hand.L=0.2,1.2,0.4 -o reach.png
  supple render hero.glb --overlay weights,wireframe --view back --size 1200x1600 -o weights.png")]
    Render(RenderOptions),

    /// Show methods side by side on one page: pictures, plots, numbers, and which one holds up
    /// where
    #[command(after_help = "\
DIR/index.html needs no other file. Without --clip the clips that tell most are chosen; a file
without clips has its joints bent and twisted. With --reach or --move that one pose is compared.

Examples:
  supple compare hero.glb -o report
  supple compare hero.glb -m linear,dual-quaternion --clip Run,Jump -o report
  supple compare @figure --reach hand.L=0.2,1.2,0.4 -o reach-report
  supple compare @figure -o figure-report")]
    Compare(CompareOptions),

    /// Write a character with its weights cleaned, everything else as it was
    #[command(after_help = "\
Weights are normalised, sorted and packed; materials, images, animations, extras and
unknown extensions stay. Also the way to take a built-in character elsewhere.

Examples:
  supple convert @figure:20000 -o figure.glb
  supple convert hero.gltf -o hero.glb")]
    Convert(ConvertOptions),

    /// Store what a method computes once per character in its file
    #[command(after_help = "\
-m cor stores centers of rotation as the vertex attribute _CENTER_OF_ROTATION: three floats in the
space of POSITION, which any engine can read. All else stays as it was, so that every viewer shows
the file as before. The extras of the mesh say how and from what the centers were computed: deform,
render and compare use them as long as they fit, and tell when they are stale.

-m ddm stores what direct delta mush computes, for all its variants, in the extension
SUPPLE_direct_delta_mush of the mesh primitives, about 24 bytes per joint of a vertex. The ordinary
skin becomes that of ddm-v5, at most 4 joints per vertex (or --max-influences), so that a program
that does not know the extension shows an approximation. Any skin will do to start from, also one
in which each vertex follows a single joint. Keep the original file: its weights are replaced.
-m ddm-v5 --as-skin stores the skin alone.

Examples:
  supple bake hero.glb -m cor -o hero-cor.glb
  supple bake @figure:20000 -m cor --sigma 0.2 -o figure.glb
  supple deform hero-cor.glb -m cor --clip Run --time 0.4 -o run.obj
  supple bake hero.glb -m ddm --rigid -o hero-ddm.glb
  supple bake hero.glb -m ddm-v5 --as-skin --rigid -o hero-smooth.glb")]
    Bake(BakeOptions),

    /// Compute weights for a character from its mesh and skeleton, or edit those it has
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
    Weights(WeightsOptions),
    /// Split bones by a twist joint each, so that a twist runs along the bone instead of wringing a
    /// joint
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
    Twist(TwistArguments),

    /// Place point handles inside of a character, to pose it without bones, and bind it to them
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
    Handles(HandleArguments),

    /// Write methods as shaders, to lift into an engine
    #[command(after_help = "\
For each method a file in each language, with all that it needs: METHOD.wgsl, and the same as .glsl
(4.30), .hlsl and .metal. Each begins with what it reads and writes, binding by binding. What is
computed once per pose stays on the CPU: Skin::stream_pose of the library gives the vectors of the
joints, Skin::stream_vertex the numbers of the vertices. On wgpu, the crate supple-gpu does all of
this.

Examples:
  supple shaders -m linear -o shaders
  supple shaders -m cor,ddm --tangents -o shaders
  supple shaders -o shaders                  all that there are")]
    Shaders(ShaderArguments),

    /// How long things take on this machine: baking centers of rotation and direct delta mush,
    /// computing weights, brush strokes, frames
    #[command(after_help = "\
Without FILE, built-in characters of the sizes in the papers, whose times stand beside. Every time
is the best of several runs: on all cores for bakes, weights and strokes, on one thread for frames.
Direct delta mush starts from a rigid bind, with the default options, and with --radius-from-bones
off. Weights are computed for the joints with the longest bones where the table says fewer than there
are. The tables are Markdown.

Examples:
  supple bench
  supple bench --only frames                 a frame of every method
  supple bench --only frames -m linear,dqs
  supple bench --device gpu -m linear,ddm    on the GPU, by its own clock, beside a copy of as many bytes
  supple bench --exact                       also the slow ways, and how far off the fast ones are
  supple bench hero.glb --json")]
    Bench(BenchOptions),

    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  supple completions bash > ~/.local/share/bash-completion/completions/supple
  supple completions zsh  > ~/.zfunc/_supple
  supple completions fish > ~/.config/fish/completions/supple.fish")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub(crate) struct DemoOptions {
    /// The folder to write into; made if it is not there
    #[arg(short, long = "out", value_name = "DIR", default_value = "supple-demo")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct InfoOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// One JSON object, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct DeformOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) method: MethodOption,
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// m×3×4 floats, posed_from_bind in the file's own joint order, instead of a clip
    #[arg(long, value_name = "P.npy", conflicts_with_all = ["clip", "time", "frame", "reach", "shift"])]
    pub(crate) palette: Option<PathBuf>,
    /// n×m×4 floats for animation-space, n×m×12 for multi-weight: learned weights, joints in the
    /// file's own order
    #[arg(long, value_name = "W.npy")]
    pub(crate) weights: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) normals: NormalsOption,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
    /// Where to write; the ending chooses the format
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

#[derive(Args)]
pub(crate) struct PoseOptions {
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

#[derive(Args)]
pub(crate) struct NormalsOption {
    /// How normals are made
    #[arg(long, value_name = "KIND", default_value = "transported", value_parser = normals_parser())]
    pub(crate) normals: Normals,
}

#[derive(Args)]
pub(crate) struct RenderOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) method: MethodOption,
    #[command(flatten)]
    pub(crate) normals: NormalsOption,
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
    pub(crate) device: DeviceOption,
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

#[derive(Args)]
pub(crate) struct CompareOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The methods to compare, separated by commas [default: all that differ]
    #[arg(short, long = "method", value_name = "METHOD", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) method: Vec<Method>,
    /// Which clips, by name or number from 0, separated by commas [default: those that tell most]
    #[arg(long, value_name = "CLIP", conflicts_with_all = ["reach", "shift"])]
    pub(crate) clip: Vec<String>,
    /// Pixels of one picture
    #[arg(long, value_name = "WxH", default_value = "300x320", value_parser = parse_size)]
    pub(crate) size: (usize, usize),
    /// The folder to write into; made if it is not there
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) reach: ReachArguments,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

#[derive(Args)]
pub(crate) struct ConvertOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct BakeOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The skinning method to bake for
    #[arg(short, long = "method", value_name = "METHOD", value_parser = BakeableParser)]
    pub(crate) method: Bakeable,
    #[command(flatten)]
    pub(crate) centers: CenterArguments,
    /// ddm-v5: store nothing but the weights, as the ordinary skin of the file
    #[arg(long)]
    pub(crate) as_skin: bool,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

#[derive(Args)]
pub(crate) struct WeightsOptions {
    #[command(subcommand)]
    pub(crate) command: Option<WeightsCommand>,
    #[command(flatten)]
    pub(crate) bind: Option<BindArguments>,
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

/// How many influences a vertex may have, if there is a limit.
pub(crate) type Limit = std::option::Option<usize>;

fn parse_limit(text: &str) -> Result<Limit, String> {
    match text.parse() {
        _ if text == "none" => Ok(None),
        Ok(most) if most > 0 => Ok(Some(most)),
        _ => Err("expected a number of influences above zero, or 'none'".to_owned()),
    }
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

#[derive(Subcommand)]
pub(crate) enum WeightsCommand {
    /// Prune, limit, smooth, mirror, transfer and paint weights; everything else stays as it was
    #[command(after_help = "\
Every operation may be given several times. Whatever is done, weights sum to one, vertices of one
place get the same weights, and a locked joint keeps what it has: what one joint gets is taken from
the others in proportion. A vertex that would be left to no joint goes to the one above.

Distances of a brush are measured along the surface, in the units of the file: a finger that is
near, but not along the skin, is not touched.

Examples:
  supple weights edit hero.glb --prune 0.01 --limit 4 -o hero-lean.glb
  supple weights edit hero.glb --lock head --smooth 10:0.5 -o hero-smooth.glb
  supple weights edit hero.glb --within mesh:Sleeve --smooth 5 --within all --limit 4 -o hero-2.glb
  supple weights edit hero.glb --mirror +x -o hero-even.glb
  supple weights edit coat.glb --transfer hero.glb --limit 4 -o coat-bound.glb
  supple weights edit hero.glb --within hand.L --flood 'forearm.L*=0.5' -o hero-hand.glb
  supple weights edit hero.glb --brush 'neck+=0.3@0,1.5,0.05@0.02,1.5,0.05:0.08' -o hero-neck.glb
  supple weights edit hero.glb --brush-smooth 0.5@0,1.5,0.05:0.1 -o hero-neck.glb")]
    Edit(Box<WeightsEdit>),
}

#[derive(Args)]
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

#[derive(Args)]
pub(crate) struct HandleArguments {
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

#[derive(Args)]
pub(crate) struct ShaderArguments {
    /// The methods, with commas; all that have a shader if none is named
    #[arg(short, long = "methods", value_name = "METHODS", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) methods: Vec<Method>,
    /// Who deforms
    #[arg(long, value_name = "STAGE", value_enum, default_value_t = ShaderStage::Compute)]
    pub(crate) stage: ShaderStage,
    /// Deform positions alone
    #[arg(long, conflicts_with = "tangents")]
    pub(crate) positions_only: bool,
    /// Deform tangents, too
    #[arg(long)]
    pub(crate) tangents: bool,
    /// For weights, baked numbers and the rest surface in 16 bits
    #[arg(long)]
    pub(crate) short: bool,
    /// The folder to write into; it is made if it is not there
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Who calls the frame of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaderStage {
    /// A compute pass, into buffers
    Compute,
    /// A vertex shader, straight into a picture
    Vertex,
}

#[derive(Args)]
pub(crate) struct BenchOptions {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: Option<PathBuf>,
    /// Time only this; several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Topic>,
    /// The methods whose frames are timed, with commas; all that are direct if none is named
    #[arg(short, long = "methods", value_name = "METHODS", value_delimiter = ',', value_parser = MethodParser)]
    pub(crate) methods: Vec<Method>,
    /// Also time the direct sum of centers, and direct delta mush with every joint solved
    /// everywhere (minutes), and tell how far from them the bakes are; without FILE, also bake
    /// 200,000 vertices
    #[arg(long)]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
    /// One JSON array with an object per row, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

impl BenchOptions {
    /// What is timed, in order: on the GPU there are only frames.
    pub(crate) fn topics(&self) -> Result<Vec<Topic>, Failure> {
        let all = Topic::value_variants().iter().copied();
        let wanted = all.filter(|topic| self.only.is_empty() || self.only.contains(topic));
        if self.device.device == Device::Cpu {
            let wanted: Vec<Topic> = wanted.collect();
            let unused = |option: &str, users: &str| {
                let message = format!("{option} changes nothing about what --only asks for");
                Failure::usage(message).hint(format!("it is for --only {users}"))
            };
            if !self.methods.is_empty() && !wanted.contains(&Topic::Frames) {
                return Err(unused("--methods", "frames"));
            }
            let is_exact = |topic: &Topic| matches!(topic, Topic::Centers | Topic::Mush);
            if self.exact && !wanted.iter().any(is_exact) {
                return Err(unused("--exact", "centers,mush"));
            }
            return Ok(wanted);
        }
        if self.exact {
            return Err(
                Failure::usage("--exact is about bakes, which the GPU does not do")
                    .hint("leave out --exact, or take --device cpu"),
            );
        }
        if !self.only.is_empty() && self.only != [Topic::Frames] {
            return Err(Failure::usage("only frames are timed on the GPU")
                .hint("leave out --only, or take --device cpu"));
        }
        Ok(vec![Topic::Frames])
    }
}

/// Where surfaces are deformed.
#[derive(Args)]
pub(crate) struct DeviceOption {
    /// Where surfaces are deformed, and drawn
    #[arg(long, value_name = "DEVICE", value_enum, default_value_t = Device::Cpu)]
    pub(crate) device: Device,
}

impl DeviceOption {
    /// The GPU, if one was asked for.
    pub(crate) fn gpu(&self) -> Result<Option<Gpu>, Failure> {
        match self.device {
            Device::Cpu => Ok(None),
            Device::Gpu => Ok(Some(Gpu::new()?)),
        }
    }
}

/// A processor.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// By the processor, on all of its threads
    Cpu,
    /// By shaders, on the fastest GPU that is there (Vulkan, Metal or Direct3D 12)
    Gpu,
}

/// What can be timed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// A frame by every direct method, with and without normals, on one thread and on all
    Frames,
    /// Baking centers of rotation, and following a brush
    Centers,
    /// Baking direct delta mush, and a frame of its variants
    Mush,
    /// Computing weights and editing them
    Weights,
    /// Keeping a surface rigid
    Arap,
}

/// How centers of rotation are computed.
#[derive(Args)]
pub(crate) struct CenterArguments {
    /// cor: how alike weights must be for a part of the surface to count; larger takes in more of
    /// it (the paper's σ) [default: 0.1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) sigma: Option<f64>,
    /// cor: triangles whose corners' weights differ by this much are cut into smaller ones (the
    /// paper's ε) [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// cor: how far centers may be from the exact sum, as a share of the character's size
    /// [default: 0.00003]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) accuracy: Option<f64>,
}

#[derive(Args)]
pub(crate) struct MethodOption {
    /// The skinning method; some take an option after a colon, as in dqs:per-joint or ldb:0.3
    #[arg(short, long = "method", value_name = "METHOD", default_value = "linear", value_parser = MethodParser)]
    pub(crate) method: Method,
}

/// A moment of a clip.
#[derive(Args)]
pub(crate) struct Moment {
    /// Which clip, by name or number from 0; without one, the first if a time is given, else the
    /// rest pose
    #[arg(long, value_name = "CLIP")]
    pub(crate) clip: Option<String>,
    /// Seconds into the clip [default: 0]
    #[arg(long, value_name = "S", conflicts_with = "frame", value_parser = parse_seconds, allow_hyphen_values = true)]
    pub(crate) time: Option<f64>,
    /// Frame of the clip, from 0, at --fps
    #[arg(long, value_name = "N")]
    pub(crate) frame: Option<u32>,
    /// Frames per second, for --frame and for GIFs [default: 30]
    #[arg(long, value_name = "F", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
}

fn normals_parser() -> impl TypedValueParser<Value = Normals> {
    let values = Normals::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Normals>())
}

fn twist_of_parser() -> impl TypedValueParser<Value = TwistOf> {
    let child = PossibleValue::new("child").help("that of the joint at the end of the bone");
    let joint = PossibleValue::new("joint").help("that of the split joint against the one above");
    PossibleValuesParser::new([child, joint]).map(|name| match name.as_str() {
        "joint" => TwistOf::Joint,
        _ => TwistOf::Child,
    })
}

/// Names of methods, with their options after a colon.
#[derive(Clone)]
pub(crate) struct MethodParser;

impl TypedValueParser for MethodParser {
    type Value = Method;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Method, clap::Error> {
        parse_method(Method::ALL.iter(), command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Method::ALL.iter().map(possible_method)))
    }
}

/// Names of methods that have something to bake.
#[derive(Clone)]
pub(crate) struct BakeableParser;

impl BakeableParser {
    fn offered() -> impl Iterator<Item = &'static Method> + Clone {
        let bakeable = |method: &&Method| Bakeable::of(method).is_some();
        Method::ALL.iter().filter(bakeable)
    }
}

impl TypedValueParser for BakeableParser {
    type Value = Bakeable;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Bakeable, clap::Error> {
        let offered = BakeableParser::offered();
        let method = parse_method(offered.clone(), command, argument, value)?;
        let Some(bakeable) = Bakeable::of(&method) else {
            let names: Vec<_> = offered.map(Method::name).collect();
            let names = names.join(", ");
            let message =
                format!("the method '{method}' has nothing to bake; those that have: {names}");
            return Err(wrong_method(command, &message));
        };
        match value.to_string_lossy().split_once(':') {
            None => Ok(bakeable),
            Some((name, option)) => {
                let message = format!(
                    "'{option}' says how signs are chosen when deforming, which is not stored; bake with -m {name}"
                );
                Err(wrong_method(command, &message))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BakeableParser::offered().map(possible_method)))
    }
}

/// Reads any method; the error of one that is not known names those that are offered.
fn parse_method(
    offered: impl Iterator<Item = &'static Method>,
    command: &clap::Command,
    argument: Option<&clap::Arg>,
    value: &OsStr,
) -> Result<Method, clap::Error> {
    match value.to_string_lossy().parse::<Method>() {
        Ok(method) => Ok(method),
        // The error of a plain list offers what is near.
        Err(UnknownMethod::Name(_)) => {
            let names = PossibleValuesParser::new(offered.map(Method::name));
            let refused = names.parse_ref(command, argument, value);
            Err(refused.err().unwrap_or_else(|| wrong_method(command, "")))
        }
        Err(error) => Err(wrong_method(command, &error.to_string())),
    }
}

fn possible_method(method: &Method) -> PossibleValue {
    PossibleValue::new(method.name())
        .aliases(method.aliases())
        .help(method.summary())
}

fn wrong_method(command: &clap::Command, message: &str) -> clap::Error {
    let kind = clap::error::ErrorKind::InvalidValue;
    clap::Error::raw(kind, format!("{message}\n")).with_cmd(command)
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(seconds),
        _ => Err("expected a number of seconds, such as 0.5".to_owned()),
    }
}

fn parse_fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fps) if (0.1..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("expected frames per second from 0.1 to 1000".to_owned()),
    }
}

fn parse_influences(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a number of joints, such as 4".to_owned())
}

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| {
        text.parse::<usize>()
            .ok()
            .filter(|side| (1..=8192).contains(side))
    };
    let sides = text.split_once(['x', 'X', '×']);
    sides
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| {
            "expected WIDTHxHEIGHT with sides from 1 to 8192, such as 800x600".to_owned()
        })
}

fn parse_view(text: &str) -> Result<View, String> {
    let degrees = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    match text {
        "front" => Ok(View::FRONT),
        "side" => Ok(View::SIDE),
        "back" => Ok(View::BACK),
        "three-quarter" => Ok(View::THREE_QUARTER),
        _ => {
            let pair = text.split_once(',');
            let view = pair.and_then(|(yaw, pitch)| {
                Some(View {
                    yaw_degrees: degrees(yaw)?,
                    pitch_degrees: degrees(pitch)?,
                })
            });
            view.ok_or_else(|| {
                "expected front, side, back, three-quarter or YAW,PITCH in degrees".to_owned()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_views_are_read_or_explained() {
        assert_eq!(parse_size("640x480"), Ok((640, 480)));
        for bad in ["640", "0x9", "x", "-1x5", "99999x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        let view = parse_view("-30, 15").unwrap();
        assert_eq!((view.yaw_degrees, view.pitch_degrees), (-30.0, 15.0));
        assert!(parse_view("above").is_err());
    }
}
