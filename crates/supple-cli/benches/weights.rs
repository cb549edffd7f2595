//! Weights: what computing them takes, in time and memory, and what a dab of a brush and whole
//! edits take.

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
use supple::weights::bind::bind_groups;
use supple::weights::edit::{Editor, Place, Region};

fn bindings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compute weights");
    group.sample_size(10);
    for binding in scenes::bindings() {
        let rig = asset(binding.character).rig;
        let held = [scenes::held_by(&rig, binding.joints)];
        let method = &binding.method;
        let bind = || bind_groups(rig.mesh(), rig.skeleton(), &held, method, &|_| {}).unwrap();
        let joints = held[0].joints.len();
        let name = format!("{}, @{}, {joints} joints", method.name(), binding.character);
        let bytes = counting::peak(|| {
            black_box(bind());
        });
        let mebibytes = bytes as f64 / f64::from(1 << 20);
        println!("{name}: {mebibytes:.0} MiB at most");
        group.throughput(Throughput::Elements(rig.mesh().vertex_count() as u64));
        group.bench_function(name, |bencher| bencher.iter(bind));
    }
    group.finish();
}

fn edits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("edit weights");
    group.sample_size(10);
    let rig = asset(scenes::EDITED).rig;
    let weights = scenes::crowded_weights(&rig).unwrap();
    let editor = Editor::new(&rig);
    let brush = scenes::brush(rig.mesh(), 0);
    let vertices = rig.mesh().vertex_count();
    let mut next = 0;
    group.bench_function("brush dab", |bencher| {
        bencher.iter_batched(
            || editor.stroke(&weights).unwrap(),
            |mut stroke| {
                next = (next + vertices / 40) % vertices;
                stroke.dab(&brush, Place::Vertex(next)).unwrap()
            },
            BatchSize::PerIteration,
        );
    });
    for (name, edit) in scenes::edits() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| editor.apply(&weights, &edit, &Region::All).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, bindings, edits);
criterion_main!(benches);
