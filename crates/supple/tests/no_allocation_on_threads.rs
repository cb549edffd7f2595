//! A frame that is shared out to threads allocates nothing on any of them, as long as the caller is
//! one of the pool's.
//!
//! From a thread that is not, the pool's queue takes a block about every sixty frames. Alone in its
//! file, so that no other test allocates meanwhile.

#![allow(clippy::unwrap_used)]

mod counting;

use counting::allocations_on_all_threads;
use glam::Vec3;
use supple::characters::{self, Character};
use supple::{Method, Normals, Output, Palette, Skin, Workspace};

#[test]
fn a_frame_on_several_threads_allocates_nothing_on_any() {
    let asset = characters::build(Character::Figure, 40_000).unwrap();
    let clip = &asset.clips[0];
    let pose = |step: usize| asset.pose_at(clip, clip.start() + 0.01 * step as f64);
    let palettes: Vec<Palette> = (0..200)
        .map(|step| asset.rig.skeleton().palette(&pose(step)).unwrap())
        .collect();
    let methods = ["linear", "dual-quaternion", "cor", "ddm", "spherical"];
    let skins = methods.map(|name| {
        let method: Method = name.parse().unwrap();
        Skin::bake(&asset.rig, &method, Normals::Transported).unwrap()
    });
    let mut positions = vec![Vec3::ZERO; skins[0].vertex_count()];
    let mut normals = positions.clone();
    // The thread that deforms belongs to the pool, as an engine would have it.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .use_current_thread()
        .build();
    pool.unwrap().install(|| {
        // Each thread allocates once, when it first looks for work; a busy machine starts it late.
        rayon::broadcast(|_| ());
        for (method, skin) in methods.iter().zip(&skins) {
            let mut workspace = Workspace::default();
            let mut frame = |palette: &Palette| {
                let output = Output {
                    positions: &mut positions,
                    normals: Some(&mut normals),
                    tangents: None,
                };
                skin.deform(palette, &mut workspace, output).unwrap();
            };
            // The workspace grows in the first frames.
            palettes.iter().for_each(&mut frame);
            let allocations = allocations_on_all_threads(|| palettes.iter().for_each(&mut frame));
            assert_eq!(allocations, 0, "by {method}");
        }
    });
}
