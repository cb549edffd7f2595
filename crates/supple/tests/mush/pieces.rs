//! Models of several pieces (Fig. 6): what is connected, and what comes of it.

use crate::common::palette;
use crate::surfaces::{Sheet, posed_by, row_of_joints, variant};
use glam::{DAffine3, DVec3};
use std::sync::Arc;
use supple::Rig;
use supple::deform::MushVariant;
use supple::mush::{Connections, Mush, MushOptions};

const AROUND: usize = 12;
const ALONG: usize = 16;
/// The length of the edges along a tube.
const EDGE: f64 = 2.0 / ALONG as f64;

/// Two tubes one above the other, each point held by the joint that `joint` says.
fn two_tubes(gap: f64, joint: impl Fn(DVec3) -> usize) -> Rig {
    let lower = Sheet::tube(ALONG, AROUND, 0.3);
    let upper = lower.clone();
    let both = lower.beside(upper, DVec3::Y * (2.0 + gap));
    both.bound(row_of_joints(4), |place| vec![(joint(place), 1.0)])
}

fn connections(rig: &Rig) -> Connections {
    Mush::bake(rig, &MushOptions::default())
        .unwrap()
        .connections
}

#[test]
fn close_pieces_of_the_same_joint_are_connected_and_others_are_not() {
    let apart = Connections {
        pieces: 2,
        pieces_left: 2,
        links: 0,
    };
    let close = 0.5 * EDGE;
    let connected = Connections {
        pieces: 2,
        pieces_left: 1,
        links: AROUND,
    };
    assert_eq!(connections(&two_tubes(close, |_| 1)), connected);
    assert_eq!(
        connections(&two_tubes(close, |place| if place.y > 1.0 + close / 2.0 {
            2
        } else {
            1
        })),
        apart
    );
    assert_eq!(connections(&two_tubes(4.0 * EDGE, |_| 1)), apart);
    // Held by the same joint below the gap and above it, whatever else they are held by.
    assert_eq!(
        connections(&two_tubes(close, |place| if place.y > 1.5 { 2 } else { 1 })),
        connected
    );
}

#[test]
fn loose_points_are_no_pieces() {
    let mut sheet = Sheet::tube(ALONG, AROUND, 0.3);
    sheet.places.push(DVec3::new(0.3, 0.01, 0.0));
    let rig = sheet.bound(row_of_joints(2), |_| vec![(0, 1.0)]);
    let one = Connections {
        pieces: 1,
        pieces_left: 1,
        links: 0,
    };
    assert_eq!(connections(&rig), one);
}

/// A seam is no gap: vertices at one place with the same weights are one point.
#[test]
fn seams_are_not_gaps() {
    let mut sheet = Sheet::tube(ALONG, AROUND, 0.3);
    let copies: Vec<u32> = (0..sheet.places.len() as u32).collect();
    let first = sheet.places.len() as u32;
    sheet.places.extend(sheet.places.clone());
    // The upper half is made of the copies.
    let half = sheet.triangles.len() / 2;
    for corners in &mut sheet.triangles[half..] {
        *corners = corners.map(|corner| copies[corner as usize] + first);
    }
    let rig = sheet.bound(row_of_joints(2), |_| vec![(0, 1.0)]);
    assert_eq!(connections(&rig).pieces, 1);
}

/// The upper tube ends a little above a bend: without a connection only it is smoothed there, and
/// comes away from the lower one.
#[test]
fn a_bend_near_the_gap_does_not_tear_it_open() {
    let gap = 0.5 * EDGE;
    let turned = DAffine3::from_translation(DVec3::Y)
        * DAffine3::from_rotation_z(1.0)
        * DAffine3::from_translation(-DVec3::Y);
    let palette = palette(&[DAffine3::IDENTITY, DAffine3::IDENTITY, turned, turned]);
    let rig = two_tubes(gap, |place| {
        if place.y > 1.0 + gap + 1.5 * EDGE {
            2
        } else {
            1
        }
    });
    let mush = Arc::new(Mush::bake(&rig, &MushOptions::default()).unwrap().mush);
    let posed = posed_by(&rig, &variant(&mush, MushVariant::V0), &palette);
    let top = ALONG * AROUND;
    let bottom = (ALONG + 1) * AROUND;
    for around in 0..AROUND {
        let gap_now = f64::from(posed[top + around].distance(posed[bottom + around]));
        let moved = f64::from(posed[top + around].distance(rig.mesh().positions()[top + around]));
        assert!(moved > 1e-3, "the lower tube feels nothing of the bend");
        assert!(gap_now < 2.0 * gap, "a gap of {gap} has become {gap_now}");
    }
}
