//! A frame by every direct method: the same as `supple bench --only frames`, with the harness'
//! statistics.

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
use supple::{Normals, Output, Rig, Skin, Workspace, exec};

fn frames(criterion: &mut Criterion) {
    for character in scenes::CARRIED {
        let asset = asset(character);
        let palette = &scenes::poses(&asset)[0];
        for most in scenes::INFLUENCES {
            let (mesh, skeleton) = (asset.rig.mesh().clone(), asset.rig.skeleton().clone());
            let weights = scenes::limited(&asset.rig, most).unwrap();
            let mut scene =
                scenes::FrameScene::new(Rig::new(mesh, skeleton, weights).unwrap(), most);
            let mut group = criterion.benchmark_group(format!("@{character}, {most} influences"));
            group.sample_size(10);
            group.throughput(Throughput::Elements(scene.rig.mesh().vertex_count() as u64));
            for method in scenes::direct_methods() {
                let baked = scene.baked_for(&method).unwrap().clone();
                let normals = Normals::Transported;
                let bake = || Skin::bake_with(&scene.rig, &method, normals, &baked).unwrap();
                let bytes = counting::peak(|| drop(black_box(bake())));
                let skin = bake();
                let bytes = bytes / skin.vertex_count().max(1);
                println!(
                    "{}: {bytes} bytes per vertex at most in the bake",
                    method.name()
                );
                let mut workspace = Workspace::default();
                let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
                let mut normals = vec![Vec3::ZERO; skin.vertex_count()];
                for threads in [1, exec::threads()] {
                    for with_normals in [false, true] {
                        let what = if with_normals {
                            "with normals"
                        } else {
                            "positions"
                        };
                        let name = format!("{}, {what}, {threads} threads", method.name());
                        group.bench_function(name, |bencher| {
                            exec::on_threads(threads, || {
                                bencher.iter(|| {
                                    let output = Output {
                                        positions: &mut positions,
                                        normals: with_normals.then_some(&mut normals),
                                        tangents: None,
                                    };
                                    skin.deform(palette, &mut workspace, output).unwrap();
                                });
                            });
                        });
                    }
                }
            }
            group.finish();
        }
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
