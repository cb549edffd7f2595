//! As-rigid-as-possible skinning: set-up, frames of one and three iterations, switching a handle.

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
use criterion::{Criterion, criterion_group, criterion_main};
use glam::Vec3;
use std::hint::black_box;
use supple::arap::{Arap, ArapOptions, ArapState};

fn arap(criterion: &mut Criterion) {
    for character in ["figure:3500", "figure:10000", "figure:40000"] {
        let mut group = criterion.benchmark_group(format!("arap, @{character}"));
        group.sample_size(10);
        let asset = asset(character);
        let prepared = |iterations: usize| {
            let options = ArapOptions {
                iterations,
                ..ArapOptions::default()
            };
            Arap::new(&asset.rig, &options).unwrap()
        };
        let bytes = counting::peak(|| drop(black_box(prepared(3))));
        println!("@{character}: set-up holds at most {} KiB", bytes >> 10);
        group.bench_function("set-up", |bencher| bencher.iter(|| prepared(3)));
        let palette = scenes::poses(&asset).pop().unwrap();
        for iterations in [1, 3] {
            let arap = prepared(iterations);
            let mut state = ArapState::default();
            let mut positions = vec![Vec3::ZERO; arap.vertex_count()];
            group.bench_function(format!("a frame, {iterations} iterations"), |bencher| {
                bencher.iter(|| arap.deform(&palette, &mut state, &mut positions).unwrap());
            });
        }
        let mut arap = prepared(3);
        let held = arap.report().held;
        let busiest = (0..held.len()).max_by_key(|&handle| held[handle]).unwrap();
        let mut active = true;
        group.bench_function("switch a handle", |bencher| {
            bencher.iter(|| {
                active = !active;
                arap.set_active(busiest, active).unwrap();
            });
        });
        group.finish();
    }
}

criterion_group!(benches, arap);
criterion_main!(benches);
