//! Frames of a method, for tools that count instructions: `frames METHOD [normals]`.
//!
//! `.ci/instructions` runs it in callgrind, which counts what happens within `run_frames`, and compares with what was counted before.

#![allow(clippy::unwrap_used, reason = "an example may stop")]

use glam::Vec3;
use supple::characters::{self, Character};
use supple::{Method, Normals, Output, Palette, Skin, Workspace};

const VERTICES: usize = 2000;
const FRAMES: usize = 10;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let method: Method = arguments.next().unwrap().parse().unwrap();
    let with_normals = arguments.next().is_some();
    let asset = characters::build(Character::Figure, VERTICES).unwrap();
    let clip = &asset.clips[0];
    let pose = asset.pose_at(clip, clip.start() + 0.5 * clip.duration());
    let palette = asset.rig.skeleton().palette(&pose);
    let skin = Skin::bake(&asset.rig, &method, Normals::Transported).unwrap();
    let mut workspace = Workspace::default();
    // The first frame makes room.
    run_frames(&skin, &palette, &mut workspace, with_normals, 1);
    run_frames(&skin, &palette, &mut workspace, with_normals, FRAMES);
}

#[inline(never)]
fn run_frames(
    skin: &Skin,
    palette: &Palette,
    workspace: &mut Workspace,
    with_normals: bool,
    frames: usize,
) {
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let mut normals = vec![Vec3::ZERO; skin.vertex_count()];
    for _ in 0..frames {
        let output = Output {
            positions: &mut positions,
            normals: with_normals.then_some(&mut normals),
            tangents: None,
        };
        skin.deform(palette, workspace, output).unwrap();
    }
    std::hint::black_box((positions, normals));
}
