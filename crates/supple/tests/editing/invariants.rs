//! Invariants of every edit: sums, order, locks, seams, and undoing.

use super::sheet::{self, JOINTS};
use crate::random::config;
use glam::Vec3;
use proptest::prelude::*;
use std::sync::Arc;
use supple::Weights;
use supple::edit::{
    Axis, Brush, Edit, EditError, EditRegion, Editor, Falloff, Mirror, MirrorSource, Paint,
    StrokePoint, Transfer,
};

fn paint() -> impl Strategy<Value = Paint> {
    let joint = 0..JOINTS;
    prop_oneof![
        (joint.clone(), -1.0..1.0).prop_map(|(joint, amount)| Paint::Add { joint, amount }),
        (joint.clone(), 0.0..4.0).prop_map(|(joint, factor)| Paint::Scale { joint, factor }),
        (joint, 0.0..1.0).prop_map(|(joint, value)| Paint::Set { joint, value }),
        (0.0..1.0).prop_map(|strength| Paint::Smooth { strength }),
    ]
}

fn stroke() -> impl Strategy<Value = Edit> {
    let place = prop_oneof![
        (0..sheet::places().len()).prop_map(StrokePoint::Vertex),
        prop::array::uniform3(-1.0f32..6.0).prop_map(|at| StrokePoint::Near(Vec3::from_array(at))),
    ];
    let falloff = prop_oneof![
        Just(Falloff::Smooth),
        Just(Falloff::Linear),
        Just(Falloff::Constant)
    ];
    let places = prop::collection::vec(place, 0..4);
    (paint(), 0.1..6.0, falloff, places).prop_map(|(paint, radius, falloff, places)| {
        let brush = Brush {
            paint,
            radius,
            falloff,
        };
        Edit::Stroke(brush, places)
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let some_joints = prop::collection::vec(0..JOINTS, 0..3);
    let source = prop_oneof![
        Just(MirrorSource::Positive),
        Just(MirrorSource::Negative),
        Just(MirrorSource::Heavier)
    ];
    prop_oneof![
        Just(Edit::CloseSeams),
        (0.0..1.0).prop_map(|below| Edit::Prune { below }),
        (1usize..6).prop_map(|most| Edit::Limit { most }),
        (0u32..6, 0.0..1.0, some_joints).prop_map(|(steps, strength, joints)| Edit::Smooth {
            steps,
            strength,
            joints
        }),
        // At the border of the sheet, along which the joints lie, so that every one is its own
        // counterpart.
        source.prop_map(|source| {
            Edit::Mirror(Mirror {
                axis: Axis::Y,
                source,
                plane: Some(0.0),
            })
        }),
        (sheet::weights(), 0.0..0.5).prop_map(|(weights, reach)| {
            Edit::Transfer(Transfer {
                reach,
                ..Transfer::new(Arc::new(sheet::rig(weights)))
            })
        }),
        paint().prop_map(Edit::Flood),
        stroke(),
    ]
}

fn region() -> impl Strategy<Value = EditRegion> {
    let vertices = 0..sheet::places().len() as u32;
    prop_oneof![
        Just(EditRegion::All),
        prop::collection::vec(0..JOINTS, 0..3).prop_map(EditRegion::HeldBy),
        prop::collection::vec(vertices, 0..20).prop_map(EditRegion::Vertices),
    ]
}

fn check_rows(weights: &Weights) {
    for vertex in 0..weights.vertex_count() {
        let (joints, values) = weights.row(vertex);
        assert_eq!(values.iter().sum::<f32>(), 1.0);
        assert_eq!(values.iter().rev().sum::<f32>(), 1.0);
        assert!(values.iter().all(|&value| value > 0.0));
        let order = |a: (f32, u16), b: (f32, u16)| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1);
        let entries: Vec<(f32, u16)> = values.iter().copied().zip(joints.iter().copied()).collect();
        assert!(entries.is_sorted_by(|&a, &b| order(a, b)), "{entries:?}");
    }
}

proptest! {
    #![proptest_config(config(400))]
    #[test]
    fn every_edit_keeps_sums_locks_and_seams_and_can_be_taken_back(
        weights in sheet::weights(),
        edits in prop::collection::vec((edit(), region()), 1..4),
        locked in prop::collection::vec(0..JOINTS, 0..4),
    ) {
        let mut editor = Editor::new(&sheet::rig(weights.clone()));
        for &joint in &locked {
            editor.set_locked(joint, true).unwrap();
        }
        let places = sheet::places();
        let mut now = weights.clone();
        let mut done = Vec::new();
        for (edit, region) in &edits {
            let change = match editor.apply(&now, edit, region) {
                Ok(change) => change,
                Err(EditError::Locked { .. }) => continue,
                Err(error) => panic!("{edit:?}: {error}"),
            };
            let next = change.redo(&now).unwrap();
            check_rows(&next);
            for vertex in 0..places.len() {
                for &joint in &locked {
                    prop_assert_eq!(next.weight_of(vertex, joint), now.weight_of(vertex, joint));
                }
                let twin = places.iter().position(|place| *place == places[vertex]).unwrap();
                prop_assert_eq!(next.row(vertex), next.row(twin), "{:?}", edit);
                let listed = change.vertices().binary_search(&(vertex as u32)).is_ok();
                prop_assert_eq!(listed, next.row(vertex) != now.row(vertex));
            }
            done.push((now, change));
            now = next;
        }
        for (before, change) in done.into_iter().rev() {
            let back = change.undo(&now).unwrap();
            prop_assert_eq!(&change.redo(&back).unwrap(), &now);
            prop_assert_eq!(&back, &before);
            now = back;
        }
        prop_assert_eq!(now, weights);
    }
}
