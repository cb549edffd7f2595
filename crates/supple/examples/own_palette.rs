//! Deforms a mesh by your own matrices: for engines that animate their skeletons themselves.
//!
//! `cargo run --example own_palette`

#![allow(clippy::print_stdout)]

use std::error::Error;
use supple::glam::{DVec3, Mat4, Vec3};
use supple::skeleton::Node;
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Output, Palette, Rig, Skeleton, Skin, Workspace};

fn main() -> Result<(), Box<dyn Error>> {
    // A strip of three steps along x, bound to a root and a tip at x = 1.5.
    let corner = |i: usize| Vec3::new((i / 2) as f32, (i % 2) as f32 * 0.5, 0.0);
    let triangles = [0, 2, 4]
        .map(|i| [[i, i + 2, i + 1], [i + 1, i + 2, i + 3]])
        .concat();
    let mesh = Mesh::new((0..8).map(corner).collect(), None, None, triangles)?;
    let node = |name: &str, parent, x| Node {
        name: name.to_owned(),
        parent,
        rest: Local::Trs(Trs::from_translation(DVec3::X * x)),
    };
    let nodes = vec![node("root", None, 0.0), node("tip", Some(0), 1.5)];
    let skeleton = Skeleton::bound_at_rest(nodes, &[0, 1])?;
    let mut weights = WeightsBuilder::new(2)?;
    for position in mesh.positions() {
        let tip = position.x / 3.0;
        weights.push([(0, 1.0 - tip), (1, tip)], 0)?;
    }
    let rig = Rig::new(mesh, skeleton, weights.finish().0)?;
    let method = Method::DualQuaternion(Default::default());
    let skin = Skin::bake(&rig, &method, Normals::Transported)?;

    // One matrix per joint, from the bind pose to the posed world: the tip turns about x = 1.5.
    let elbow = Mat4::from_translation(Vec3::X * 1.5);
    let palette = Palette::from_matrices([
        Mat4::IDENTITY,
        elbow * Mat4::from_rotation_z(1.0) * elbow.inverse(),
    ]);
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let output = Output {
        positions: &mut positions,
        normals: None,
        tangents: None,
    };
    skin.deform(&palette, &mut Workspace::default(), output)?;
    println!("{positions:.2?}");
    Ok(())
}
