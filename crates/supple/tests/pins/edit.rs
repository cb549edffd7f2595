//! Weights after every kind of edit.

use crate::subject::{Subject, rows};
use glam::Vec3;
use std::sync::Arc;
use supple::bind::{BindGroup, BindMethod, bind_groups};
use supple::characters::{self, Character};
use supple::edit::{
    Axis, Brush, Edit, EditRegion, Editor, Falloff, Mirror, MirrorSource, Paint, StrokePoint,
    Transfer,
};
use supple::{Rig, Weights};
use supple_pins::{Numbers, Pins};

pub fn pin(pins: &mut Pins, subject: &Subject) {
    let rig = subject.rig();
    let mut editor = Editor::new(rig);
    let start = lopsided(rig);
    for (name, edit) in edits(subject) {
        // A mirror needs a counterpart of every joint, which an arm does not have.
        let changed = editor.apply(&start, &edit, &EditRegion::All);
        let changed = changed
            .map(|change| rows(&change.redo(&start).unwrap()))
            .ok();
        pins.pin(subject.name(format!("edit/{name}")), &changed);
    }
    let transfer = Transfer::new(Arc::new(donor(subject)));
    let (change, report) = editor
        .transfer(&start, &transfer, &EditRegion::All)
        .unwrap();
    let changed = rows(&change.redo(&start).unwrap());
    pins.pin(subject.name("edit/transfer"), &changed);
    pins.pin(subject.name("edit/transfer/report"), &Numbers(&report));
    // With a joint locked, and within a region.
    editor.set_locked(1, true).unwrap();
    let region = EditRegion::HeldBy(vec![0, 1]);
    for (name, edit) in edits(subject) {
        let changed = editor.apply(&start, &edit, &region);
        let changed = changed
            .map(|change| rows(&change.redo(&start).unwrap()))
            .ok();
        pins.pin(subject.name(format!("edit/{name}/locked")), &changed);
    }
}

/// Weights whose two sides differ: envelopes, with one joint favoured.
fn lopsided(rig: &Rig) -> Weights {
    let whole = [BindGroup::whole(rig.mesh(), rig.skeleton())];
    let envelope = BindMethod::Envelope(Default::default());
    let bound = bind_groups(rig.mesh(), rig.skeleton(), &whole, &envelope, &|_| {}).unwrap();
    let favour = Edit::Flood(Paint::Scale {
        joint: 1,
        factor: 1.5,
    });
    let editor = Editor::new(rig);
    let half: Vec<u32> = (0..rig.mesh().vertex_count() as u32).step_by(2).collect();
    let change = editor.apply(&bound.weights, &favour, &EditRegion::Vertices(half));
    change.unwrap().redo(&bound.weights).unwrap()
}

/// The same character with another number of vertices.
fn donor(subject: &Subject) -> Rig {
    let vertices = match subject.character {
        Character::Bar => 2_600,
        _ => 3_000,
    };
    characters::build(subject.character, vertices).unwrap().rig
}

fn edits(subject: &Subject) -> Vec<(String, Edit)> {
    let smooth = Edit::Smooth {
        steps: 5,
        strength: 0.6,
        joints: Vec::new(),
    };
    let smooth_one = Edit::Smooth {
        steps: 2,
        strength: 1.0,
        joints: vec![1],
    };
    let mut edits = vec![
        ("close-seams".to_owned(), Edit::CloseSeams),
        ("prune".to_owned(), Edit::Prune { below: 0.1 }),
        ("limit".to_owned(), Edit::Limit { most: 2 }),
        ("smooth".to_owned(), smooth),
        ("smooth-one".to_owned(), smooth_one),
    ];
    for source in [
        MirrorSource::Positive,
        MirrorSource::Negative,
        MirrorSource::Heavier,
    ] {
        let mirror = Mirror {
            axis: Axis::X,
            source,
            plane: None,
        };
        let name = format!("mirror/{source:?}").to_lowercase();
        edits.push((name, Edit::Mirror(mirror)));
    }
    let joint = 0;
    let paints = [
        ("add", Paint::Add { joint, amount: 0.3 }),
        ("scale", Paint::Scale { joint, factor: 1.7 }),
        ("set", Paint::Set { joint, value: 0.4 }),
        ("smooth", Paint::Smooth { strength: 0.8 }),
    ];
    let bounds = subject.rig().mesh().bounds().unwrap();
    let places = vec![
        StrokePoint::Vertex(17),
        StrokePoint::Near(bounds.center()),
        StrokePoint::Near(bounds.max + Vec3::splat(0.1)),
    ];
    for (name, paint) in paints {
        edits.push((format!("flood/{name}"), Edit::Flood(paint)));
        for falloff in [Falloff::Smooth, Falloff::Linear, Falloff::Constant] {
            let brush = Brush {
                paint,
                radius: f64::from(0.15 * bounds.extent()),
                falloff,
            };
            let name = format!("brush/{name}/{falloff:?}").to_lowercase();
            edits.push((name, Edit::Stroke(brush, places.clone())));
        }
    }
    edits
}
