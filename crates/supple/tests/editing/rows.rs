//! Every edit of rows, and smoothing, against its plain version; and what is refused.

use super::plain;
use super::sheet::{self, JOINTS, dense};
use crate::random::config;
use glam::Vec3;
use proptest::prelude::*;
use supple::edit::{Brush, Edit, EditError, EditRegion, Editor, Falloff, Paint, StrokePoint};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Rig, Weights};

fn editor(weights: &Weights) -> Editor {
    Editor::new(&sheet::rig(weights.clone()))
}

fn edited(weights: &Weights, edit: &Edit) -> Weights {
    let change = editor(weights)
        .apply(weights, edit, &EditRegion::All)
        .unwrap();
    change.redo(weights).unwrap()
}

fn assert_rows(found: &Weights, expected: impl Fn(usize) -> plain::Dense, what: &Edit) {
    for vertex in 0..found.vertex_count() {
        let (found, expected) = (dense(found, vertex), expected(vertex));
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 2e-7,
                "{what:?} at vertex {vertex}: {found} for {expected}"
            );
        }
    }
}

proptest! {
    #![proptest_config(config(48))]
    #[test]
    fn rows_are_edited_as_defined(
        weights in sheet::weights(),
        below in 0.0..0.6f64,
        most in 1..JOINTS + 1,
        joint in 0..JOINTS,
        value in 0.0..1.0f64,
        factor in 0.0..3.0f64,
    ) {
        let before = |vertex: usize| dense(&weights, vertex);
        let edit = Edit::Prune { below };
        assert_rows(&edited(&weights, &edit), |vertex| plain::pruned(before(vertex), below), &edit);
        let edit = Edit::Limit { most };
        let limited = edited(&weights, &edit);
        assert_rows(&limited, |vertex| plain::limited(before(vertex), most), &edit);
        prop_assert_eq!(&limited, &weights.limited(most));
        let paints: [(Paint, &dyn Fn(f64) -> f64); 3] = [
            (Paint::Set { joint, value }, &|_| value),
            (Paint::Add { joint, amount: value - 0.5 }, &|weight| weight + value - 0.5),
            (Paint::Scale { joint, factor }, &|weight| weight * factor),
        ];
        for (paint, weight) in paints {
            let edit = Edit::Flood(paint);
            let expected = |vertex: usize| {
                let row = before(vertex);
                plain::with_weight(row, joint, weight(row[joint]))
            };
            assert_rows(&edited(&weights, &edit), expected, &edit);
        }
    }

    #[test]
    fn smoothing_is_steps_towards_the_mean(
        weights in sheet::weights(),
        steps in 0u32..5,
        strength in 0.0..1.0f64,
    ) {
        let places = sheet::places();
        let mut rows = vec![[0.0; JOINTS]; sheet::COLUMNS * sheet::ROWS];
        for (vertex, &place) in places.iter().enumerate() {
            rows[sheet::point(place)] = dense(&weights, vertex);
        }
        for _ in 0..steps {
            rows = plain::smoothed(&rows, strength);
        }
        let edit = Edit::Smooth { steps, strength, joints: Vec::new() };
        assert_rows(&edited(&weights, &edit), |vertex| rows[sheet::point(places[vertex])], &edit);
    }

    #[test]
    fn smoothing_some_joints_leaves_the_proportions_of_the_others(
        weights in sheet::weights(),
        strength in 0.1..1.0f64,
    ) {
        let places = sheet::places();
        let mut rows = vec![[0.0; JOINTS]; sheet::COLUMNS * sheet::ROWS];
        for (vertex, &place) in places.iter().enumerate() {
            rows[sheet::point(place)] = dense(&weights, vertex);
        }
        let smoothed = plain::smoothed(&rows, strength);
        let edit = Edit::Smooth { steps: 1, strength, joints: vec![2] };
        let expected = |vertex: usize| {
            let point = sheet::point(places[vertex]);
            // Where it was alone, nobody can fill up.
            let alone = 1.0 - rows[point][2] < 1e-9;
            plain::with_weight(rows[point], 2, if alone { 1.0 } else { smoothed[point][2] })
        };
        assert_rows(&edited(&weights, &edit), expected, &edit);
    }
}

#[test]
fn a_region_is_all_that_changes() {
    let rows = (0..sheet::COLUMNS * sheet::ROWS).map(|point| match point % 2 {
        0 => vec![(0, 0.5), (1, 0.5)],
        _ => vec![(2, 1.0)],
    });
    let weights = sheet::weights_of_points(&rows.collect::<Vec<_>>());
    let flood = Edit::Flood(Paint::Set {
        joint: 3,
        value: 0.25,
    });
    let editor = editor(&weights);
    let held = editor
        .apply(&weights, &flood, &EditRegion::HeldBy(vec![1]))
        .unwrap();
    let holds = |&vertex: &u32| {
        weights
            .of(vertex as usize)
            .any(|influence| influence.joint == 1)
    };
    let vertices = 0..weights.vertex_count() as u32;
    assert!(vertices.filter(holds).eq(held.vertices().iter().copied()));
    assert_eq!(held.largest_difference(), 0.25);
    // Vertex 20 is on the seam: its other side comes along.
    let listed = editor
        .apply(&weights, &flood, &EditRegion::Vertices(vec![20, 3, 20]))
        .unwrap();
    assert_eq!(listed.vertices(), [3, 20, 25]);
}

#[test]
fn a_seam_that_is_open_is_closed() {
    let mut builder = WeightsBuilder::new(JOINTS).unwrap();
    for vertex in 0..sheet::places().len() {
        let joint = usize::from(vertex == 25);
        builder.push([(joint, 1.0)], 0).unwrap();
    }
    let weights = builder.finish().0;
    let closed = edited(&weights, &Edit::CloseSeams);
    assert_eq!(dense(&closed, 20), [0.5, 0.5, 0.0, 0.0, 0.0]);
    assert_eq!(closed.row(20), closed.row(25));
}

#[test]
fn a_vertex_is_never_left_to_nobody() {
    let rows = vec![vec![(2, 1.0)]; sheet::COLUMNS * sheet::ROWS];
    let weights = sheet::weights_of_points(&rows);
    let off = Edit::Flood(Paint::Set {
        joint: 2,
        value: 0.0,
    });
    let mut editor = editor(&weights);
    let result = |editor: &Editor| {
        let change = editor.apply(&weights, &off, &EditRegion::All).unwrap();
        dense(&change.redo(&weights).unwrap(), 0)
    };
    assert_eq!(
        result(&editor),
        [0.0, 1.0, 0.0, 0.0, 0.0],
        "the joint above"
    );
    for joint in [0, 1] {
        editor.set_locked(joint, true).unwrap();
    }
    assert_eq!(
        result(&editor),
        [0.0, 0.0, 0.0, 1.0, 0.0],
        "the joint below"
    );
    for joint in [3, 4] {
        editor.set_locked(joint, true).unwrap();
    }
    assert_eq!(result(&editor), [0.0, 0.0, 1.0, 0.0, 0.0], "nobody else");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let weights = sheet::weights_of_points(&vec![vec![(0, 1.0)]; sheet::COLUMNS * sheet::ROWS]);
    let mut editor = editor(&weights);
    editor.set_locked(4, true).unwrap();
    let refused = |edit: Edit| editor.apply(&weights, &edit, &EditRegion::All).unwrap_err();
    let set = |joint: usize, value: f64| Paint::Set { joint, value };
    let brush = |radius: f64| Brush {
        paint: set(1, 0.5),
        radius,
        falloff: Falloff::Smooth,
    };
    for edit in [
        Edit::Prune { below: f64::NAN },
        Edit::Limit { most: 0 },
        Edit::Smooth {
            steps: 1,
            strength: 1.5,
            joints: Vec::new(),
        },
        Edit::Smooth {
            steps: u32::MAX,
            strength: 0.5,
            joints: Vec::new(),
        },
        Edit::Flood(set(1, -0.5)),
        Edit::Flood(Paint::Scale {
            joint: 1,
            factor: f64::INFINITY,
        }),
        Edit::Flood(Paint::Smooth { strength: f64::NAN }),
        Edit::Stroke(brush(f64::NAN), vec![StrokePoint::Vertex(0)]),
        Edit::Stroke(brush(0.0), vec![StrokePoint::Vertex(0)]),
        Edit::Stroke(brush(1.0), vec![StrokePoint::Near(Vec3::NAN)]),
    ] {
        let error = refused(edit.clone());
        assert!(matches!(error, EditError::Option(_)), "{edit:?}: {error}");
    }
    let error = refused(Edit::Flood(set(9, 0.5)));
    assert_eq!(error.to_string(), "there is no joint 9: the skeleton has 5");
    let error = refused(Edit::Smooth {
        steps: 1,
        strength: 0.5,
        joints: vec![5],
    });
    assert_eq!(error.to_string(), "there is no joint 5: the skeleton has 5");
    let error = refused(Edit::Flood(set(4, 0.5)));
    assert_eq!(error.to_string(), "'joint4' is locked");
    let error = refused(Edit::Stroke(brush(1.0), vec![StrokePoint::Vertex(99)]));
    assert_eq!(error.to_string(), "there is no vertex 99: the mesh has 45");
    let few = WeightsBuilder::new(1).unwrap().finish().0;
    let error = editor
        .apply(&few, &Edit::CloseSeams, &EditRegion::All)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are weights for 0 vertices, but the mesh has 45"
    );
    let change = editor
        .apply(&weights, &Edit::CloseSeams, &EditRegion::All)
        .unwrap();
    assert!(change.vertices().is_empty() && change.undo(&few).is_err());
}

#[test]
fn two_pieces_in_one_place_stay_two() {
    let mesh = sheet::mesh();
    let count = mesh.vertex_count();
    let positions = mesh.positions().repeat(2);
    let shifted = mesh.triangles().iter();
    let shifted = shifted.map(|corners| corners.map(|corner| corner + count as u32));
    let triangles = mesh.triangles().iter().copied().chain(shifted).collect();
    let mesh = Mesh::new(positions, None, None, triangles).unwrap();
    let mut builder = WeightsBuilder::new(JOINTS).unwrap();
    for vertex in 0..2 * count {
        builder.push([(vertex / count, 1.0)], 0).unwrap();
    }
    let weights = builder.finish().0;
    let rig = Rig::new(mesh, sheet::skeleton(), weights.clone()).unwrap();
    let editor = Editor::new(&rig);
    let smooth = Edit::Smooth {
        steps: 3,
        strength: 0.5,
        joints: Vec::new(),
    };
    for edit in [Edit::CloseSeams, smooth] {
        let change = editor.apply(&weights, &edit, &EditRegion::All).unwrap();
        assert!(change.vertices().is_empty(), "{edit:?}");
    }
    // The sides of their own seams belong together all the same.
    let flood = Edit::Flood(Paint::Set {
        joint: 3,
        value: 0.5,
    });
    let seam = EditRegion::Vertices(vec![20]);
    let change = editor.apply(&weights, &flood, &seam).unwrap();
    assert_eq!(change.vertices(), [20, 25]);
}
