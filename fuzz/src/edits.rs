//! The target over edits of weights.

use crate::input::{Input, Range};
use crate::methods::check_row;
use crate::rigs;
use std::sync::Arc;
use supple::edit::{
    Axis, Brush, Change, Edit, EditRegion, Editor, Falloff, Mirror, MirrorSource, Paint,
    StrokePoint, Transfer,
};
use supple::{Rig, Weights};

/// A sequence of edits, each of which must keep what edits promise, then all of them taken back.
pub fn edits(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(rig) = rigs::rig(&mut input, range) else {
        return;
    };
    let joints = rig.skeleton().joints().len();
    let mut editor = Editor::new(&rig);
    let mut weights = rig.weights().clone();
    let mut changes: Vec<Change> = Vec::new();
    for _ in 0..1 + input.below(6) {
        if input.rarely(4) {
            let locked = input.flag();
            let _ = editor.set_locked(input.below(joints + 1), locked);
        }
        let edit = edit(&mut input, &rig, range);
        let region = region(&mut input, &rig);
        let change = match &edit {
            Edit::Transfer(transfer) => {
                let change = editor.transfer(&weights, transfer, &region);
                change.map(|(change, _)| change)
            }
            edit => editor.apply(&weights, edit, &region),
        };
        let Ok(change) = change else {
            continue;
        };
        let after = change
            .redo(&weights)
            .expect("the weights that it was made for");
        check(&editor, &weights, &after, &change);
        assert_eq!(change.undo(&after).as_ref(), Ok(&weights));
        change.largest_difference();
        weights = after;
        changes.push(change);
    }
    for change in changes.iter().rev() {
        weights = change.undo(&weights).expect("the weights that it made");
    }
    assert_eq!(&weights, rig.weights());
}

/// Rows are whole, locked joints keep their weight to the bit, and the change lists what changed.
fn check(editor: &Editor, before: &Weights, after: &Weights, change: &Change) {
    assert_eq!(before.vertex_count(), after.vertex_count());
    for vertex in 0..after.vertex_count() {
        check_row(after, vertex);
        if before.row(vertex) != after.row(vertex) {
            assert!(change.vertices().contains(&(vertex as u32)));
        }
        let rows = [before, after].map(|weights| weights.row(vertex).0);
        let mut joints = rows.into_iter().flatten().map(|&joint| usize::from(joint));
        let kept = joints.all(|joint| {
            let weights = [before, after].map(|weights| weights.weight_of(vertex, joint));
            !editor.is_locked(joint) || weights[0] == weights[1]
        });
        assert!(kept, "vertex {vertex}: a locked joint has changed");
    }
}

fn share(input: &mut Input) -> f64 {
    match input.rarely(16) {
        true => f64::from(input.any_number()),
        false => f64::from(input.byte()) / 255.0,
    }
}

fn region(input: &mut Input, rig: &Rig) -> EditRegion {
    let vertices = rig.mesh().vertex_count();
    match input.below(4) {
        0 => {
            let listed = (0..input.below(5)).map(|_| input.below(vertices + 1) as u32);
            EditRegion::Vertices(listed.collect())
        }
        1 => {
            let joints = rig.skeleton().joints().len();
            let held = (0..input.below(3)).map(|_| input.below(joints));
            EditRegion::HeldBy(held.collect())
        }
        _ => EditRegion::All,
    }
}

fn paint(input: &mut Input, joints: usize) -> Paint {
    // Now and then one that is not there.
    let known = joints + usize::from(input.rarely(16));
    let joint = input.below(known);
    match input.below(4) {
        0 => Paint::Add {
            joint,
            amount: 2.0 * share(input) - 1.0,
        },
        1 => Paint::Scale {
            joint,
            factor: 3.0 * share(input),
        },
        2 => Paint::Set {
            joint,
            value: share(input),
        },
        _ => Paint::Smooth {
            strength: share(input),
        },
    }
}

fn edit(input: &mut Input, rig: &Rig, range: Range) -> Edit {
    let joints = rig.skeleton().joints().len();
    let vertices = rig.mesh().vertex_count();
    match input.below(8) {
        0 => Edit::CloseSeams,
        1 => Edit::Prune {
            below: share(input),
        },
        2 => Edit::Limit {
            most: input.below(5),
        },
        3 => Edit::Smooth {
            steps: input.below(6) as u32,
            strength: share(input),
            joints: (0..input.below(3)).map(|_| input.below(joints)).collect(),
        },
        4 => Edit::Mirror(Mirror {
            axis: *input.pick(&[Axis::X, Axis::Y, Axis::Z]),
            source: *input.pick(&[
                MirrorSource::Positive,
                MirrorSource::Negative,
                MirrorSource::Heavier,
            ]),
            plane: input.flag().then(|| f64::from(input.number(range))),
        }),
        5 => Edit::Transfer(Transfer {
            reach: share(input),
            angle: 4.0 * share(input),
            either_side: input.flag(),
            from: Arc::new(rigs::rig(input, range).unwrap_or_else(|| rig.clone())),
        }),
        6 => Edit::Flood(paint(input, joints)),
        _ => {
            let brush = Brush {
                paint: paint(input, joints),
                radius: f64::from(input.number(range)),
                falloff: *input.pick(&[Falloff::Smooth, Falloff::Linear, Falloff::Constant]),
            };
            let places = (0..1 + input.below(3)).map(|_| match input.flag() {
                true => StrokePoint::Vertex(input.below(vertices)),
                false => StrokePoint::Near(input.vector(range)),
            });
            Edit::Stroke(brush, places.collect())
        }
    }
}
