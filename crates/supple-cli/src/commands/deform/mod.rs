//! `supple deform`: the surface of a pose, or of all frames of a clip, as a file.

mod sequence;

use crate::args::deform::DeformArguments;
use crate::console;
use crate::device::Gpu;
use crate::failure::Failure;
use crate::output::{DocumentKind, extension};
use crate::posing;
use crate::source::Source;
use crate::wording::many;
use sequence::{Frames, SequenceKind};
use std::path::Path;
use supple::deform::{BakedData, DirectDeltaMush, MultiWeights, MushVariant};
use supple::{Affine, Asset, Method, Palette, Player, Skin};
use supple_io::sequence::SequenceFormat;
use supple_io::whole_file::write_whole;
use supple_io::{npy, obj, ply};

pub(crate) fn run(options: &DeformArguments) -> Result<(), Failure> {
    let kind = OutputKind::of(options)?;
    let character = &options.character;
    let methods = std::slice::from_ref(&options.method.method);
    let (gpu, source) = posing::open(character, methods, &options.mush, &options.out)?;
    match kind {
        OutputKind::Pose(kind) => write_pose(options, kind, &source, gpu.as_ref())?,
        OutputKind::Sequence(kind) => {
            let frames = Frames::of(&source, options, kind)?;
            let (mut player, _) = bake(options, &source, gpu.as_ref())?;
            frames.write(kind, &source, &mut player, &options.out)?;
        }
    }
    report_props(kind, &source.asset);
    Ok(())
}

/// Bakes the method of the command line, with the options that it has for this character.
fn bake<'a>(
    options: &DeformArguments,
    source: &'a Source,
    gpu: Option<&Gpu>,
) -> Result<(Player<'a>, Method), Failure> {
    let character = &options.character;
    let mut method = options.method.method.clone();
    let learned = match &options.weights {
        Some(path) => learned_weights(&method, path, source)?,
        None => BakedData::default(),
    };
    let prepared = source.prepare(std::slice::from_mut(&mut method), &options.mush)?;
    let baked = BakedData {
        animation_space: learned.animation_space,
        multi_weight: learned.multi_weight,
        ..prepared
    };
    let normals = character.normals.normals;
    let skin = Skin::bake_with(&source.asset.rig, &method, normals, &baked)?;
    let player = posing::player(&source.asset, &method, skin, gpu)?;
    Ok((player, method))
}

fn write_pose(
    options: &DeformArguments,
    kind: PoseKind,
    source: &Source,
    gpu: Option<&Gpu>,
) -> Result<(), Failure> {
    let palette = options.palette.as_ref();
    let palette = palette.map(|path| read_palette(path, source)).transpose()?;
    let mut pose = posing::wanted_pose(&source.asset, &options.character.moment)?;
    options.reach.apply_and_report_misses(source, &mut pose)?;
    let (mut player, method) = bake(options, source, gpu)?;
    match &palette {
        Some(palette) => player.pose_with_palette(&pose, palette)?,
        None => player.pose(&pose)?,
    }
    posing::check_finite(&player)?;
    if let Method::DirectDeltaMush(DirectDeltaMush {
        variant: MushVariant::V1,
        ..
    }) = method
    {
        report_inverted(&mut player)?;
    }
    let (positions, normals, triangles) =
        (player.positions(), player.normals(), player.triangles());
    let out = &options.out;
    let written = match kind {
        PoseKind::Npy => write_whole(out, |out| npy::write_positions(out, positions)),
        PoseKind::Obj => write_whole(out, |out| obj::write(out, positions, normals, &triangles)),
        PoseKind::Ply => write_whole(out, |out| ply::write(out, positions, normals, &triangles)),
        PoseKind::Document(kind) => {
            let mut posed = source.document()?.posed(&player, &pose)?;
            return kind.write(&mut posed, out);
        }
    };
    written.map_err(|error| Failure::writing(out, error))
}

/// Prints a note about meshes without a skin, if the output does not hold them as they are posed.
fn report_props(kind: OutputKind, asset: &Asset) {
    let fate = match kind {
        OutputKind::Pose(PoseKind::Document(_)) => return,
        OutputKind::Sequence(SequenceKind::Document(_)) => "stay where the first frame has them",
        OutputKind::Pose(_) | OutputKind::Sequence(SequenceKind::Streamed(_)) => {
            "skipped; .glb keeps them"
        }
    };
    if !asset.props.is_empty() {
        let props = many(asset.props.len(), "mesh");
        console::eprint(&format!("note: {props} without a skin {fate}"));
    }
}

/// Prints a note about vertices that 'ddm-v1' turns inside out in this pose.
fn report_inverted(player: &mut Player<'_>) -> Result<(), Failure> {
    let inverted = player.inverted()?;
    if let Some(first) = inverted.first() {
        let count = many(inverted.len(), "vertex");
        console::eprint(&format!(
            "note: 'ddm-v1' turns {count} inside out in this pose (the first is vertex {first}); \
             'ddm' does not"
        ));
    }
    Ok(())
}

/// What is written.
#[derive(Clone, Copy)]
enum OutputKind {
    Pose(PoseKind),
    Sequence(SequenceKind),
}

/// A format for one pose.
#[derive(Clone, Copy)]
enum PoseKind {
    Npy,
    Obj,
    Ply,
    Document(DocumentKind),
}

/// Extensions of files that hold one pose or, but for `.obj` and `.ply`, a sequence.
const EXTENSIONS: &str = ".npy, .obj, .ply, .pc2, .mdd, .glb or .gltf";

impl OutputKind {
    /// A sequence if the extension has no other meaning, or --fps is given without a moment.
    fn of(options: &DeformArguments) -> Result<OutputKind, Failure> {
        let moment = &options.character.moment;
        let in_one_moment = moment.time.is_some() || moment.frame.is_some();
        let is_sequence = moment.fps.is_some() && !in_one_moment;
        let path = &options.out;
        let extension = extension(path);
        let pose = |kind| Ok(OutputKind::Pose(kind));
        let of_one_pose = match () {
            () if options.palette.is_some() => Some("--palette makes"),
            () if in_one_moment => Some("--time and --frame choose"),
            () if !options.reach.is_empty() => Some("--reach, --move and --turn make"),
            () => None,
        };
        let sequence = |kind| match of_one_pose {
            Some(options) => Err(one_pose(options, path)),
            None => Ok(OutputKind::Sequence(kind)),
        };
        let streamed = |format| sequence(SequenceKind::Streamed(format));
        match (extension.as_str(), is_sequence) {
            ("pc2", _) => streamed(SequenceFormat::Pc2),
            ("mdd", _) => streamed(SequenceFormat::Mdd),
            ("npy", true) => streamed(SequenceFormat::Npy),
            ("npy", false) => pose(PoseKind::Npy),
            ("obj" | "ply", true) => {
                let message = format!("a .{extension} holds one pose, but --fps asks for all");
                Err(Failure::usage(message).hint(
                    "write .npy, .pc2, .mdd or .glb; or choose a pose with --time or --frame",
                ))
            }
            ("obj", false) => pose(PoseKind::Obj),
            ("ply", false) => pose(PoseKind::Ply),
            _ => match DocumentKind::of(path) {
                Some(kind) if is_sequence => sequence(SequenceKind::Document(kind)),
                Some(kind) => pose(PoseKind::Document(kind)),
                None => Err(Failure::wrong_ending(path, EXTENSIONS)),
            },
        }
    }
}

/// The error for options of a single pose where a clip is written.
fn one_pose(options: &str, path: &Path) -> Failure {
    let message = format!("{options} one pose, but this output holds all frames of a clip");
    Failure::about(path, message)
        .into_usage()
        .hint("write one pose as .npy, .obj, .ply or .glb, without --fps")
}

/// Weights from a file for a multi-linear method.
fn learned_weights(method: &Method, path: &Path, source: &Source) -> Result<BakedData, Failure> {
    let wanted = match method {
        Method::AnimationSpace => 4,
        Method::MultiWeight => 12,
        _ => {
            let message = format!("the method '{method}' has no learned weights");
            return Err(Failure::usage(message)
                .hint("--weights is for -m animation-space and -m multi-weight"));
        }
    };
    let dense = npy::read_multi_weights(path)?;
    let order = source.joints_in_file_order();
    let vertices = source.asset.rig.mesh().vertex_count();
    let found = [dense.vertices, dense.joints, dense.numbers_each];
    let expected = [vertices, order.len(), wanted];
    if found != expected {
        let message = format!(
            "{}: {found:?} numbers, but {method} needs {expected:?} for this character",
            path.display()
        );
        return Err(Failure::new(message).hint("vertices × joints × numbers for each"));
    }
    let mut baked = BakedData::default();
    match method {
        Method::AnimationSpace => baked.animation_space = Some(sparse(&dense, &order).into()),
        _ => baked.multi_weight = Some(sparse(&dense, &order).into()),
    }
    Ok(baked)
}

/// The weights that are not zero, by joints of the skeleton.
fn sparse<const N: usize>(dense: &npy::DenseWeights, order: &[usize]) -> MultiWeights<N> {
    let mut weights = MultiWeights::default();
    for row in dense.numbers.chunks(dense.joints * N) {
        let numbers = row.as_chunks::<N>().0.iter().zip(order);
        let kept = numbers.filter(|(numbers, _)| **numbers != [0.0; N]);
        weights.push(kept.map(|(numbers, &joint)| (joint as u16, *numbers)));
    }
    weights
}

/// A palette read in the joint order of the file, in the order of the skeleton.
fn read_palette(path: &Path, source: &Source) -> Result<Palette, Failure> {
    let in_file_order = npy::read_palette(path)?;
    let order = source.joints_in_file_order();
    if in_file_order.len() != order.len() {
        let message = format!(
            "{}: {} matrices, but the character has {} joints",
            path.display(),
            in_file_order.len(),
            order.len()
        );
        return Err(Failure::new(message));
    }
    let mut posed_from_bind = vec![Affine::IDENTITY; order.len()];
    for (matrix, joint) in in_file_order.into_iter().zip(order) {
        posed_from_bind[joint] = matrix;
    }
    Ok(Palette { posed_from_bind })
}
