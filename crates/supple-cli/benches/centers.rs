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
use supple::weights::WeightsBuilder;
use supple::{Mesh, Rig, Weights};

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
    for character in scenes::CENTERED {
        let rig = asset(character).rig;
        let bytes = bytes_per_element(&rig, rig.weights());
        println!("@{character}: {bytes:.0} bytes for each vertex and triangle at most");
        group.throughput(Throughput::Elements(rig.mesh().vertex_count() as u64));
        group.bench_function(format!("@{character}"), |bencher| {
            bencher.iter(|| bake(&rig, rig.weights()));
        });
    }
    let rig = asset(scenes::CENTERED[0]).rig;
    let crowded = scenes::crowded_weights(&rig).unwrap();
    let bytes = bytes_per_element(&rig, &crowded);
    println!("crowded weights: {bytes:.0} bytes for each vertex and triangle at most");
    group.throughput(Throughput::Elements(rig.mesh().vertex_count() as u64));
    group.bench_function("crowded weights", |bencher| {
        bencher.iter(|| bake(&rig, &crowded));
    });
    group.finish();
}

/// Weights after a stroke, and the vertices that it painted.
struct Stroke {
    /// All weights.
    weights: Weights,
    /// The painted vertices.
    painted: Vec<usize>,
}

/// The number of vertices that a stroke paints.
const PAINTED: usize = 200;

/// Strokes all over a character, each on its own weights: more of a joint that some of the painted
/// vertices have.
fn spread_strokes(rig: &Rig, count: usize) -> Vec<Stroke> {
    let vertices = rig.mesh().vertex_count();
    let place = |stroke: usize| stroke * vertices / count.max(1);
    (0..count).map(|index| stroke(rig, place(index))).collect()
}

fn stroke(rig: &Rig, at: usize) -> Stroke {
    let near = nearest(rig.mesh(), at);
    let radius = near.last().map_or(0.0, |&(distance, _)| distance);
    // A joint of a vertex near the edge of the brush.
    let edge = near[near.len() * 3 / 4].1;
    let joint = rig.weights().of(edge).last().map_or(0, |last| last.joint);
    let mut added = vec![0.0; rig.mesh().vertex_count()];
    for &(distance, vertex) in &near {
        added[vertex] = 0.01 + 0.3 * (1.0 - distance / radius.max(f32::MIN_POSITIVE));
    }
    let mut builder = WeightsBuilder::new(rig.skeleton().joints().len()).unwrap();
    for (vertex, &added) in added.iter().enumerate() {
        let row = rig.weights().of(vertex);
        let row = row.map(|influence| (influence.joint, influence.weight));
        builder.push(row.chain([(joint, added)]), 0).unwrap();
    }
    Stroke {
        weights: builder.finish().0,
        painted: near.into_iter().map(|(_, vertex)| vertex).collect(),
    }
}

/// The vertices nearest to one, with their distances.
fn nearest(mesh: &Mesh, at: usize) -> Vec<(f32, usize)> {
    let middle = mesh.positions()[at];
    let places = mesh.positions().iter().enumerate();
    let mut near: Vec<(f32, usize)> = places
        .map(|(vertex, place)| (place.distance(middle), vertex))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    near.truncate(PAINTED);
    near
}

/// Strokes all over the largest of the paper's models, one after another, each undone before the
/// next.
fn strokes(criterion: &mut Criterion) {
    let rig = asset(scenes::CENTERED[0]).rig;
    let options = CenterOptions::default();
    let mut live = LiveCenters::new(rig.mesh(), rig.weights(), &options).unwrap();
    let strokes = spread_strokes(&rig, 20);
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
