//! Every shader against the CPU, on real characters.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../supple-io/tests/common/mod.rs"]
mod files;

use common::device::gpu;
use common::*;
use supple::Asset;
use supple::mush::{Mush, MushOptions};
use supple_gpu::Format;
use supple_io::gltf;

/// A file with very many clips is asked for some of them, spread over all.
const MOST_POSES: usize = 12;

/// Larger characters take minutes to bake, and have nothing that smaller ones do not have.
const MOST_VERTICES: usize = 15_000;

fn assert_same(asset: &Asset, name: &str) {
    let Some(gpu) = gpu() else { return };
    // Baked once for all variants.
    let mush = Mush::bake(&asset.rig, &MushOptions::default())
        .unwrap()
        .mush;
    let all = poses(asset, 1);
    let every = all.len().div_ceil(MOST_POSES);
    let poses: Vec<_> = all.into_iter().step_by(every).collect();
    let (methods, mut baked) = methods(&asset.rig);
    baked.mush = Some(mush.into());
    for method in methods {
        let skin = bake_with(&asset.rig, &method, &baked);
        let found = on_gpu(gpu, &skin, &poses, Format::default()).positions;
        for (pose, palette) in poses.iter().enumerate() {
            let expected = on_cpu(&skin, palette).positions;
            let own = pose * skin.vertex_count()..(pose + 1) * skin.vertex_count();
            let (off, vertex) = farthest(&found[own], &expected);
            let off = off / extent(&expected);
            assert!(
                off <= CLOSE,
                "{name}, {method}, pose {pose}, vertex {vertex}: off by {off:e} of the extent"
            );
        }
    }
}

#[test]
fn every_method_deforms_real_characters_as_the_cpu_does() {
    for file in files::models() {
        let asset = gltf::load(&file).unwrap().asset;
        if asset.rig.mesh().vertex_count() <= MOST_VERTICES {
            assert_same(&asset, &file.display().to_string());
        }
    }
}
