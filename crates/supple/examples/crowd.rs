//! Deforms a hundred walking figures in one call, on all cores.
//!
//! `cargo run --release --example crowd`

#![allow(clippy::print_stdout)]

use std::error::Error;
use supple::characters::{self, Character};
use supple::glam::Vec3;
use supple::{Method, Normals, Output, Palette, Skin, Workspace};

const FIGURES: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let asset = characters::build(Character::Figure, 2_000)?;
    let walk = asset.clips.iter().find(|clip| clip.name == "walk");
    let walk = walk.ok_or("no clip 'walk'")?;
    let skin = Skin::bake(&asset.rig, &Method::Linear, Normals::Transported)?;

    // Every figure is at its own moment of the clip.
    let phase = |figure: usize| walk.duration() * figure as f64 / FIGURES as f64;
    let posed = |figure| asset.palette_at(walk, phase(figure));
    let palettes: Vec<Palette> = (0..FIGURES).map(posed).collect();

    // The surfaces of all figures, one after another. Workspace and output are reused.
    let mut workspace = Workspace::default();
    let mut positions = vec![Vec3::ZERO; FIGURES * skin.vertex_count()];
    let mut normals = positions.clone();
    for frame in 0..3 {
        let output = Output {
            positions: &mut positions,
            normals: Some(&mut normals),
            tangents: None,
        };
        skin.deform_crowd(&palettes, &mut workspace, output)?;
        println!("frame {frame}: {} vertices", positions.len());
    }
    Ok(())
}
