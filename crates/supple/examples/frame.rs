//! One frame of a method, for counting what it takes (`.ci/instructions`): `cargo run --release -p
//! supple --example frame -- cor`.

use glam::Vec3;
use std::error::Error;
use supple::characters::{self, Character};
use supple::{Method, Normals, Output, Skin, Workspace};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("which method?")?;
    let method: Method = name.parse()?;
    let asset = characters::build(Character::Figure, 2000)?;
    let clip = asset.clips.iter().find(|clip| clip.name == "squat");
    let clip = clip.ok_or("no squat")?;
    let palette = asset.palette_at(clip, 1.0);
    let skin = Skin::bake(&asset.rig, &method, Normals::Transported)?;
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let mut normals = positions.clone();
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    skin.deform(&palette, &mut Workspace::default(), output)?;
    Ok(())
}
