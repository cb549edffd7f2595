//! `supple deform`: the surface of a pose as a file.

use crate::args::deform::DeformArguments;
use crate::console;
use crate::failure::Failure;
use crate::output::{DocumentKind, extension};
use crate::posing;
use crate::source::Source;
use crate::wording::many;
use std::path::Path;
use supple::deform::{BakedData, DirectDeltaMush, MultiWeights, MushVariant};
use supple::{Affine, Method, Palette, Player, Skin};
use supple_io::whole_file::write_whole;
use supple_io::{npy, obj, ply};

pub(crate) fn run(options: &DeformArguments) -> Result<(), Failure> {
    let kind = OutputKind::of(&options.out)?;
    let character = &options.character;
    let mut method = options.method.method.clone();
    let methods = std::slice::from_mut(&mut method);
    let (gpu, source) = posing::open(character, methods, &options.mush, &options.out)?;
    let palette = options.palette.as_ref();
    let palette = palette
        .map(|path| read_palette(path, &source))
        .transpose()?;
    let mut pose = posing::wanted_pose(&source.asset, &character.moment)?;
    options.reach.apply_and_report_misses(&source, &mut pose)?;
    let learned = match &options.weights {
        Some(path) => learned_weights(&method, path, &source)?,
        None => BakedData::default(),
    };
    let prepared = source.prepare(std::slice::from_mut(&mut method), &options.mush)?;
    let baked = BakedData {
        animation_space: learned.animation_space,
        multi_weight: learned.multi_weight,
        ..prepared
    };
    let skin = Skin::bake_with(
        &source.asset.rig,
        &method,
        character.normals.normals,
        &baked,
    )?;
    let mut player = posing::player(&source.asset, &method, skin, gpu.as_ref())?;
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
        OutputKind::Npy => write_whole(out, |out| npy::write_positions(out, positions)),
        OutputKind::Obj => write_whole(out, |out| obj::write(out, positions, normals, &triangles)),
        OutputKind::Ply => write_whole(out, |out| ply::write(out, positions, normals, &triangles)),
        OutputKind::Document(kind) => {
            let mut posed = source.document()?.posed(&player, &pose)?;
            return kind.write(&mut posed, out);
        }
    };
    written.map_err(|error| Failure::writing(out, error))?;
    if !source.asset.props.is_empty() {
        let props = many(source.asset.props.len(), "mesh");
        console::eprint(&format!(
            "note: {props} without a skin skipped; .glb keeps them"
        ));
    }
    Ok(())
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

enum OutputKind {
    Npy,
    Obj,
    Ply,
    Document(DocumentKind),
}

impl OutputKind {
    fn of(path: &Path) -> Result<OutputKind, Failure> {
        match extension(path).as_str() {
            "npy" => Ok(OutputKind::Npy),
            "obj" => Ok(OutputKind::Obj),
            "ply" => Ok(OutputKind::Ply),
            _ => DocumentKind::of(path)
                .map(OutputKind::Document)
                .ok_or_else(|| Failure::wrong_ending(path, ".npy, .obj, .ply, .glb or .gltf")),
        }
    }
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
