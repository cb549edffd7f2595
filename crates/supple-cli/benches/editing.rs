//! Edits of weights: what a paint tool waits for, dab by dab, and what whole edits take.

#![allow(
    missing_docs,
    reason = "the macros of the harness write no documentation"
)]
#![allow(clippy::unwrap_used, reason = "a bench may stop")]

use criterion::{Criterion, criterion_group, criterion_main};
use glam::Vec3;
use std::hint::black_box;
use supple::characters::{self, Character};
use supple::weights::edit::{Brush, Edit, Editor, Falloff, Paint, Place, Region};

fn edits(criterion: &mut Criterion) {
    let rig = characters::build(Character::Figure, 100_000).unwrap().rig;
    let mut group = criterion.benchmark_group("figure of 100,000 vertices");
    group.sample_size(10);
    group.bench_function("editor", |bencher| bencher.iter(|| Editor::new(&rig)));
    let editor = Editor::new(&rig);
    let add = Paint::Add {
        joint: 1,
        amount: 0.1,
    };
    let smooth = Paint::Smooth { strength: 0.5 };
    for (what, paint) in [("add", add), ("smooth", smooth)] {
        for radius in [0.02, 0.05, 0.1] {
            let brush = Brush {
                paint,
                radius,
                falloff: Falloff::Smooth,
            };
            let mut stroke = editor.stroke(rig.weights()).unwrap();
            let place = Place::Near(Vec3::new(0.1, 1.3, 0.2));
            group.bench_function(format!("dab of {what}, {radius} m"), |bencher| {
                bencher.iter(|| stroke.dab(black_box(&brush), place).unwrap());
            });
        }
    }
    let smooth = Edit::Smooth {
        steps: 5,
        strength: 0.5,
        joints: Vec::new(),
    };
    for (what, edit) in [
        ("smooth 5", smooth),
        ("prune", Edit::Prune { below: 0.01 }),
        ("mirror", Edit::Mirror(Default::default())),
    ] {
        group.bench_function(what, |bencher| {
            bencher.iter(|| editor.apply(rig.weights(), &edit, &Region::All).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, edits);
criterion_main!(benches);
