//! `supple deform`: a posed surface as a file.

use crate::args::DeformOptions;
use crate::convert::{DocumentKind, ending};
use crate::failure::Failure;
use crate::posing;
use crate::source::Source;
use crate::wording::many;
use std::path::Path;
use supple::{Affine, Palette, Player};
use supple_io::{npy, obj, ply, write_whole};

pub(crate) fn run(options: &DeformOptions) -> Result<(), Failure> {
    let kind = OutputKind::of(&options.out)?;
    let source = Source::open(&options.file)?;
    let pose = posing::wanted_pose(&source.asset, &options.moment)?;
    let mut player = Player::new(
        &source.asset,
        &options.method.method,
        options.normals.normals,
    )?;
    player.pose(&pose)?;
    if let Some(path) = &options.palette {
        player.pose_by_palette(&read_palette(path, &source)?)?;
    }
    posing::check_finite(&player)?;
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
        crate::tell(&format!(
            "note: without {props} that have no skin; .glb keeps them"
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
        match ending(path).as_str() {
            "npy" => Ok(OutputKind::Npy),
            "obj" => Ok(OutputKind::Obj),
            "ply" => Ok(OutputKind::Ply),
            _ => DocumentKind::of(path)
                .map(OutputKind::Document)
                .ok_or_else(|| {
                    let message = format!(
                        "{}: the ending must be .npy, .obj, .ply, .glb or .gltf",
                        path.display()
                    );
                    Failure::usage(message)
                }),
        }
    }
}

/// A palette in the file's joint order, brought into the skeleton's.
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
