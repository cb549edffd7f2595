//! Computes weights for a mesh that has none, from its skeleton.
//!
//! `cargo run --release --example bind_mesh`

#![allow(clippy::print_stdout)]

use std::error::Error;
use supple::bind::{BindMethod, Handle, HeatOptions, bind};
use supple::characters::{self, Character};
use supple::{Method, Normals, Rig, Skin};

fn main() -> Result<(), Box<dyn Error>> {
    // The mesh and the skeleton of a figure; its own weights are not looked at.
    let asset = characters::build(Character::Figure, 10_000)?;
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());

    // One handle per joint: the bones that lead to its children.
    let joints: Vec<usize> = (0..skeleton.joints().len()).collect();
    let handles = Handle::of_joints(skeleton, &joints);
    let method = BindMethod::Heat(HeatOptions::default());
    let bound = bind(mesh, &handles, joints.len(), &method, &|_share_done| {})?;
    for &joint in &bound.report.unreached {
        println!("joint '{}' holds no vertex", skeleton.joint_name(joint));
    }
    // Four influences per vertex, as most engines take them.
    let weights = bound.weights.limited(4);
    println!("{} influences", weights.influence_count());

    let rig = Rig::new(mesh.clone(), skeleton.clone(), weights)?;
    let skin = Skin::bake(&rig, &Method::Linear, Normals::Transported)?;
    println!("ready to deform {} vertices", skin.vertex_count());
    Ok(())
}
