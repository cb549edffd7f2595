//! Centers of rotation: what a bake takes, in time and memory, and what a brush stroke takes.

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
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use supple::centers::{CenterOptions, Centers, LiveCenters};
use supple::{Rig, Weights};

fn bake(rig: &Rig, weights: &Weights) -> Centers {
    Centers::bake(rig.mesh(), weights, &CenterOptions::default()).unwrap()
}

/// The most memory that a bake holds at any time, for each vertex and triangle.
fn bytes_per_element(rig: &Rig, weights: &Weights) -> f64 {
    let bytes = counting::peak(|| {
        black_box(bake(rig, weights));
    });
    bytes as f64 / (rig.mesh().vertex_count() + rig.mesh().triangles().len()) as f64
}

fn bakes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bake centers");
    group.sample_size(10);
    let scaling = ["figure:10000", "figure:100000", "figure:1000000"];
    let paper = scenes::PAPER.iter().map(|model| model.character);
    for character in paper.chain(scaling) {
        let rig = asset(character).rig;
        let bytes = bytes_per_element(&rig, rig.weights());
        println!("@{character}: {bytes:.0} bytes for each vertex and triangle at most");
        group.throughput(Throughput::Elements(rig.mesh().vertex_count() as u64));
        group.bench_function(format!("@{character}"), |bencher| {
            bencher.iter(|| bake(&rig, rig.weights()));
        });
    }
    let rig = asset(scenes::PAPER[0].character).rig;
    let crowded = scenes::crowded_weights(&rig).unwrap();
    let bytes = bytes_per_element(&rig, &crowded);
    println!("crowded weights: {bytes:.0} bytes for each vertex and triangle at most");
    group.throughput(Throughput::Elements(rig.mesh().vertex_count() as u64));
    group.bench_function("crowded weights", |bencher| {
        bencher.iter(|| bake(&rig, &crowded));
    });
    group.finish();
}

/// Strokes all over the largest of the paper's models, one after another, each undone before the
/// next.
fn strokes(criterion: &mut Criterion) {
    let rig = asset(scenes::PAPER[0].character).rig;
    let options = CenterOptions::default();
    let mut live = LiveCenters::new(rig.mesh(), rig.weights(), &options).unwrap();
    let strokes = scenes::strokes(&rig, 20).unwrap();
    let mut next = 0;
    criterion.bench_function(
        "brush stroke over 200 vertices, and its undoing",
        |bencher| {
            bencher.iter_batched(
                || {
                    next = (next + 1) % strokes.len();
                    &strokes[next]
                },
                |stroke| {
                    live.update(&stroke.weights, &stroke.painted).unwrap();
                    live.update(rig.weights(), &stroke.painted).unwrap();
                },
                BatchSize::PerIteration,
            );
        },
    );
}

criterion_group!(benches, bakes, strokes);
criterion_main!(benches);
