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
use glam::DVec3;
use std::hint::black_box;
use supple::bind::{
    BindGroup, BindMethod, BoundedBiharmonicOptions, GeodesicOptions, Handle, HeatOptions,
    bind_groups,
};
use supple::edit::{Brush, Edit, EditRegion, Editor, Falloff, Paint, StrokePoint};
use supple::{Mesh, Rig};

/// Weights that are computed.
struct Binding {
    /// The built-in character.
    character: &'static str,
    /// The number of joints that hold it; all joints if there are fewer.
    joints: usize,
    /// The method.
    method: BindMethod,
}

/// Each method on a whole figure, and some of them at other sizes.
fn selected_bindings() -> Vec<Binding> {
    let heat = || BindMethod::Heat(HeatOptions::default());
    let bounded = |voxels| {
        BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
            voxels,
            ..BoundedBiharmonicOptions::default()
        })
    };
    let geodesic = BindMethod::Geodesic(GeodesicOptions::default());
    let envelope = BindMethod::Envelope(Default::default());
    let all = usize::MAX;
    let bindings = [
        ("figure:20000", 30, heat()),
        ("figure:40000", 30, heat()),
        ("figure:200000", 30, heat()),
        ("figure:20000", 8, bounded(Some(17_000))),
        ("figure:20000", all, bounded(None)),
        ("figure:100000", all, geodesic),
        ("figure:100000", all, heat()),
        ("figure:100000", all, BindMethod::Rigid),
        ("figure:100000", all, envelope),
    ];
    let binding = |(character, joints, method)| Binding {
        character,
        joints,
        method,
    };
    bindings.map(binding).into()
}

/// A whole character, held by those of its joints that hold something already and have the longest
/// bones: no fingers and toes where few are asked for.
fn held_by(rig: &Rig, most: usize) -> BindGroup {
    let skeleton = rig.skeleton();
    let mut group = BindGroup::whole(rig.mesh(), skeleton);
    if most >= group.joints.len() {
        return group;
    }
    let mut lengths = vec![0.0; group.joints.len()];
    for handle in Handle::of_joints(skeleton, &group.joints) {
        let bones = handle.bones.iter();
        let spans = bones.map(|bone| DVec3::distance(bone.head, bone.tail));
        lengths[handle.joint] = spans.fold(0.0, f64::max);
    }
    let weights = rig.weights();
    let mut holds = vec![false; group.joints.len()];
    for influence in (0..weights.vertex_count()).flat_map(|vertex| weights.of(vertex)) {
        holds[influence.joint] = true;
    }
    group.joints.retain(|&joint| holds[joint]);
    group
        .joints
        .sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    group.joints.truncate(most);
    group.joints.sort_unstable();
    group
}

fn bindings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compute weights");
    group.sample_size(10);
    for binding in selected_bindings() {
        let rig = asset(binding.character).rig;
        let held = [held_by(&rig, binding.joints)];
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

/// The character whose weights are edited.
const EDITED: &str = "figure:100000";

/// Edits that visit every vertex, and what they are called.
fn whole_edits() -> [(&'static str, Edit); 2] {
    let smooth = Edit::Smooth {
        steps: 10,
        strength: 0.5,
        joints: Vec::new(),
    };
    [
        ("smooth, 10 steps", smooth),
        ("limit to 4", Edit::Limit { most: 4 }),
    ]
}

/// More of a joint, on a fiftieth of the extent around a place: about as wide as a wrist.
fn brush(mesh: &Mesh, joint: usize) -> Brush {
    Brush {
        paint: Paint::Add { joint, amount: 0.2 },
        radius: 0.02 * f64::from(mesh.extent()),
        falloff: Falloff::Smooth,
    }
}

fn edits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("edit weights");
    group.sample_size(10);
    let rig = asset(EDITED).rig;
    let weights = scenes::crowded_weights(&rig).unwrap();
    let editor = Editor::new(&rig);
    let brush = brush(rig.mesh(), 0);
    let vertices = rig.mesh().vertex_count();
    let mut next = 0;
    group.bench_function("brush dab", |bencher| {
        bencher.iter_batched(
            || editor.stroke(&weights).unwrap(),
            |mut stroke| {
                next = (next + vertices / 40) % vertices;
                stroke.dab(&brush, StrokePoint::Vertex(next)).unwrap()
            },
            BatchSize::PerIteration,
        );
    });
    for (name, edit) in whole_edits() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| editor.apply(&weights, &edit, &EditRegion::All).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, bindings, edits);
criterion_main!(benches);
