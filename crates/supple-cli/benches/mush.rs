//! Direct delta mush: what a bake takes, in time and memory, and what a frame takes.

#![allow(
    missing_docs,
    reason = "the macros of the harness write no documentation"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and may stop"
)]

mod common;

use common::{asset, counting, scenes};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;
use std::hint::black_box;
use std::sync::Arc;
use supple::deform::{BakedData, DeltaMush};
use supple::mush::Mush;
use supple::{Asset, Method, Normals, Output, Rig, Skin, Workspace};

fn bake(asset: &Asset, radius_from_bones: bool) -> Mush {
    let options = scenes::mush_options(radius_from_bones);
    Mush::bake(&asset.rig, &options).unwrap().mush
}

fn bakes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bake direct delta mush");
    group.sample_size(10);
    for character in scenes::MUSHED.into_iter().chain([scenes::LARGE]) {
        let asset = asset(character);
        group.throughput(Throughput::Elements(asset.rig.mesh().vertex_count() as u64));
        for (radius_from_bones, name) in [(false, "steps alike"), (true, "radius from bones")] {
            let bytes = counting::peak(|| {
                black_box(bake(&asset, radius_from_bones));
            });
            let mebibytes = bytes as f64 / f64::from(1 << 20);
            println!("@{character}, {name}: {mebibytes:.0} MiB at most");
            group.bench_function(format!("@{character}, {name}"), |bencher| {
                bencher.iter(|| bake(&asset, radius_from_bones));
            });
        }
    }
    group.finish();
}

/// The character whose frames are timed, as large as the Brute of the paper.
const POSED: &str = "figure:55000";

/// Linear blending with the weights of v5, every variant, and delta mush, which smooths in every
/// frame.
fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a frame of direct delta mush");
    let asset = asset(POSED);
    let rig = &asset.rig;
    let vertices = rig.mesh().vertex_count();
    group.throughput(Throughput::Elements(vertices as u64));
    let mush = Arc::new(bake(&asset, true));
    let weights = mush.weights().clone();
    let blended = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights).unwrap();
    let baked = BakedData {
        mush: Some(mush),
        ..BakedData::default()
    };
    let is_direct = |method: &&Method| matches!(method, Method::DirectDeltaMush(_));
    let variants = Method::ALL.iter().filter(is_direct);
    let variants = variants.map(|method| (rig, method.clone()));
    let smoothed = Method::DeltaMush(DeltaMush {
        smoothing: scenes::mush_options(true),
        ..DeltaMush::default()
    });
    let methods = std::iter::once((&blended, Method::Linear))
        .chain(variants)
        .chain([(rig, smoothed)]);
    let palette = scenes::poses(&asset).pop().unwrap();
    let mut positions = vec![Vec3::ZERO; vertices];
    for (rig, method) in methods {
        let skin = Skin::bake_with(rig, &method, Normals::Transported, &baked).unwrap();
        let mut workspace = Workspace::default();
        group.bench_function(method.name(), |bencher| {
            bencher.iter(|| {
                let output = Output {
                    positions: &mut positions,
                    normals: None,
                    tangents: None,
                };
                skin.deform(&palette, &mut workspace, output).unwrap();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bakes, frames);
criterion_main!(benches);
