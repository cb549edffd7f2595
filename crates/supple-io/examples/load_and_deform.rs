//! Loads a `.glb`, deforms it in the middle of its first clip and writes an `.obj`.
//!
//! `cargo run --example load_and_deform -- hero.glb posed.obj`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use supple::{Normals, Output, Skin, Workspace};
use supple_io::{gltf, obj};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: load_and_deform FILE.glb POSED.obj".into());
    };
    // Names as on the command line: linear, dual-quaternion, cor, ddm, …
    let method = "dual-quaternion".parse()?;

    let asset = gltf::load(input.as_ref())?.asset;
    let mesh = asset.rig.mesh();
    let skin = Skin::bake(&asset.rig, &method, Normals::Transported)?;
    let pose = match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, clip.duration() / 2.0),
        None => asset.rest_pose(),
    };
    let palette = asset.rig.skeleton().palette(&pose)?;

    let mut positions = mesh.positions().to_vec();
    let mut normals = mesh.normals().to_vec();
    let posed = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    skin.deform(&palette, &mut Workspace::default(), posed)?;

    let mut file = BufWriter::new(File::create(&output)?);
    obj::write(&mut file, &positions, &normals, mesh.triangles())?;
    println!("{} vertices in {output}", positions.len());
    Ok(())
}
