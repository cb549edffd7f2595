//! Transfers: onto itself, onto another resolution, over holes.

use super::sheet;
use glam::Vec3;
use std::sync::Arc;
use supple::characters::{self, Character};
use supple::edit::{Edit, EditError, EditRegion, Editor, Paint, Transfer, TransferReport};
use supple::skeleton::{Node, Skeleton};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Rig, Weights};

fn figure(vertices: usize) -> Rig {
    characters::build(Character::Figure, vertices).unwrap().rig
}

/// Everything on the first joint.
fn blank(rig: &Rig) -> Weights {
    let mut builder = WeightsBuilder::new(1).unwrap();
    for _ in 0..rig.mesh().vertex_count() {
        builder.push([(0, 1.0)], 0).unwrap();
    }
    builder.finish().0
}

fn transferred(from: &Rig, to: &Rig) -> (Weights, TransferReport) {
    let editor = Editor::new(to);
    let start = blank(to);
    let transfer = Transfer::new(Arc::new(from.clone()));
    let (change, report) = editor
        .transfer(&start, &transfer, &EditRegion::All)
        .unwrap();
    (change.redo(&start).unwrap(), report)
}

/// For every vertex, half the sum of differences: what share of it follows other joints.
fn differences(a: &Weights, b: &Weights) -> Vec<f64> {
    let difference = |vertex: usize| {
        let mut sum = 0.0;
        for influence in a.of(vertex) {
            let other = b.weight_of(vertex, influence.joint);
            sum += f64::from((influence.weight - other).max(0.0));
        }
        sum
    };
    (0..a.vertex_count()).map(difference).collect()
}

#[test]
fn onto_itself_nothing_changes() {
    let rig = figure(4_000);
    let (weights, report) = transferred(&rig, &rig);
    let worst = differences(&weights, rig.weights())
        .into_iter()
        .fold(0.0, f64::max);
    assert!(worst < 1e-6, "{worst}");
    assert_eq!((report.filled, report.regardless), (0, 0));
    assert!(report.unmatched.is_empty());
}

#[test]
fn onto_a_coarser_figure_weights_are_nearly_its_own() {
    let (from, to) = (figure(20_000), figure(5_000));
    let (weights, report) = transferred(&from, &to);
    let mut differences = differences(&weights, to.weights());
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    differences.sort_by(f64::total_cmp);
    let worst = differences[differences.len() - 1];
    let most = differences[differences.len() * 99 / 100];
    assert!(
        mean < 1e-3 && most < 0.02 && worst < 0.1,
        "{mean} {most} {worst}"
    );
    assert!(report.matched > 50 * report.filled, "{report:?}");
}

/// The weights of the sheet rise evenly along its columns.
fn rising() -> Rig {
    let rows = (0..sheet::COLUMNS * sheet::ROWS).map(|point| {
        let share = (point / sheet::ROWS) as f32 / (sheet::COLUMNS - 1) as f32;
        vec![(0, 1.0 - share), (1, share)]
    });
    sheet::rig(sheet::weights_of_points(&rows.collect::<Vec<_>>()))
}

#[test]
fn a_hole_is_filled_with_what_is_around() {
    // The source has its inner columns lifted out of reach, so that only the ends can be trusted.
    let rig = rising();
    let lifted = rig.mesh().positions().iter().map(|place| {
        let inner = place.x > 0.5 && place.x < sheet::COLUMNS as f32 - 1.5;
        *place + Vec3::Z * if inner { 50.0 } else { 0.0 }
    });
    let mesh = Mesh::new(
        lifted.collect(),
        None,
        None,
        rig.mesh().triangles().to_vec(),
    )
    .unwrap();
    let source = Rig::new(mesh, rig.skeleton().clone(), rig.weights().clone()).unwrap();
    let editor = Editor::new(&rig);
    let start = blank(&rig);
    let transfer = Transfer {
        reach: 1e-4,
        angle: std::f64::consts::PI,
        ..Transfer::new(Arc::new(source))
    };
    let (change, report) = editor
        .transfer(&start, &transfer, &EditRegion::All)
        .unwrap();
    let filled = change.redo(&start).unwrap();
    let worst = differences(&filled, rig.weights())
        .into_iter()
        .fold(0.0, f64::max);
    assert!(
        worst < 1e-6,
        "a harmonic fill of a linear field is that field, but {worst}"
    );
    assert_eq!(report.matched, 2 * sheet::ROWS);
    assert_eq!(report.filled, (sheet::COLUMNS - 2) * sheet::ROWS);
}

#[test]
fn what_faces_away_is_not_taken_unless_either_side_will_do() {
    let rig = rising();
    let turned = rig.mesh().triangles().iter().map(|&[a, b, c]| [a, c, b]);
    let positions = rig.mesh().positions().to_vec();
    let mesh = Mesh::new(positions, None, None, turned.collect()).unwrap();
    let source = Arc::new(Rig::new(mesh, rig.skeleton().clone(), rig.weights().clone()).unwrap());
    let editor = Editor::new(&rig);
    let report = |either_side: bool| {
        let transfer = Transfer {
            either_side,
            ..Transfer::new(source.clone())
        };
        editor
            .transfer(&blank(&rig), &transfer, &EditRegion::All)
            .unwrap()
            .1
    };
    assert_eq!(report(true).matched, sheet::COLUMNS * sheet::ROWS);
    assert_eq!(report(false).matched, 0);
    assert_eq!(report(false).regardless, sheet::COLUMNS * sheet::ROWS);
}

#[test]
fn joints_go_by_name_and_unknown_ones_to_those_above() {
    let rig = rising();
    let renamed = rig.skeleton().nodes().iter().map(|node| Node {
        name: node.name.replace("joint1", "other").to_uppercase(),
        ..node.clone()
    });
    let joints: Vec<usize> = (0..sheet::JOINTS).collect();
    let skeleton = Skeleton::bound_at_rest(renamed.collect(), &joints).unwrap();
    let source = Rig::new(rig.mesh().clone(), skeleton, rig.weights().clone()).unwrap();
    let (weights, report) = transferred(&source, &rig);
    assert_eq!(report.unmatched, ["OTHER"]);
    assert_eq!(
        weights.max_joint(),
        Some(0),
        "all that joint1 held goes to joint0"
    );
    let strange = rig.skeleton().nodes().iter().map(|node| Node {
        name: String::new(),
        ..node.clone()
    });
    let skeleton = Skeleton::bound_at_rest(strange.collect(), &joints).unwrap();
    let source = Rig::new(rig.mesh().clone(), skeleton, rig.weights().clone()).unwrap();
    let editor = Editor::new(&rig);
    let transfer = Edit::Transfer(Transfer::new(Arc::new(source)));
    let error = editor
        .apply(rig.weights(), &transfer, &EditRegion::All)
        .unwrap_err();
    assert!(matches!(error, EditError::NoCommonJoint { .. }));
}

#[test]
fn outside_of_the_region_nothing_changes_and_locks_hold() {
    let rig = rising();
    let mut editor = Editor::new(&rig);
    let flood = Edit::Flood(Paint::Set {
        joint: 4,
        value: 0.5,
    });
    let start = editor
        .apply(rig.weights(), &flood, &EditRegion::All)
        .unwrap();
    let start = start.redo(rig.weights()).unwrap();
    editor.set_locked(4, true).unwrap();
    let transfer = Edit::Transfer(Transfer::new(Arc::new(rig.clone())));
    let change = editor.apply(&start, &transfer, &EditRegion::All).unwrap();
    let worst = differences(&change.redo(&start).unwrap(), &start)
        .into_iter()
        .fold(0.0, f64::max);
    assert!(
        worst < 1e-6,
        "the others share the half that is left as in the source: {worst}"
    );
    editor.set_locked(4, false).unwrap();
    let change = editor
        .apply(&start, &transfer, &EditRegion::Vertices(vec![7]))
        .unwrap();
    assert_eq!(change.vertices(), [7]);
}
