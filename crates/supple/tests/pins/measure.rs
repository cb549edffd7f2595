//! Numbers about characters and frames: metrics, quality of weights, findings, symmetry.

use crate::subject::{Subject, palette};
use supple::findings::Findings;
use supple::metrics::{Gauge, RmsDistance, TimeSmoothness};
use supple::quality::WeightQuality;
use supple::symmetry::Symmetry;
use supple::{Method, Normals, Player};
use supple_pins::{Numbers, Pins};

pub fn pin(pins: &mut Pins, subject: &Subject) {
    let rig = subject.rig();
    let quality = WeightQuality::of(rig);
    pins.pin(subject.name("measure/quality"), &Numbers(&quality));
    let findings = Findings::of(rig, &subject.asset.parts);
    pins.pin(subject.name("measure/findings"), &Numbers(&findings));
    let symmetry = Symmetry::of(rig.mesh(), rig.skeleton()).map(|symmetry| {
        let vertices = (0..rig.mesh().vertex_count()).map(|v| symmetry.vertex_partner(v));
        let joints = (0..rig.skeleton().joints().len()).map(|j| symmetry.joint_partner(j));
        let partners: (Vec<_>, Vec<_>) = (vertices.collect(), joints.collect());
        let matched = (symmetry.matched_points(), symmetry.matched_joints());
        let plane = symmetry.plane();
        (partners, matched, plane.normal, plane.offset)
    });
    pins.pin(subject.name("measure/symmetry"), &symmetry);
    pin_frames(pins, subject);
}

/// Measures of frames by linear blending.
fn pin_frames(pins: &mut Pins, subject: &Subject) {
    let gauge = Gauge::new(subject.rig());
    let rest = (gauge.rest_volume(), gauge.rest_area(), gauge.holes());
    pins.pin(subject.name("measure/rest"), &rest);
    let player =
        |method: &Method| Player::new(&subject.asset, method, Normals::Transported).unwrap();
    let mut linear = player(&Method::Linear);
    let mut dual = player(&"dual-quaternion".parse().unwrap());
    for (at, pose) in subject.poses.iter().enumerate() {
        linear.pose(pose).unwrap();
        let palette = palette(subject.skeleton(), pose);
        let (positions, normals) = (linear.positions(), linear.normals());
        let metrics = gauge.measure(positions, normals, &palette);
        pins.pin(
            subject.name(format!("measure/frame/{at}")),
            &Numbers(&metrics),
        );
        let of_vertices = (
            gauge.vertex_stretch(positions),
            gauge.vertex_distortion(positions),
        );
        pins.pin(subject.name(format!("measure/vertices/{at}")), &of_vertices);
    }
    let (mut distance, mut smoothness) = (RmsDistance::new(), TimeSmoothness::new());
    let clip = &subject.asset.clips[0];
    for frame in 0..8 {
        let pose = subject.asset.pose_at(clip, f64::from(frame) / 8.0);
        linear.pose(&pose).unwrap();
        dual.pose(&pose).unwrap();
        distance.add(linear.positions(), dual.positions());
        smoothness.add(dual.positions());
    }
    let over_time = (
        distance.value(),
        smoothness.rms_acceleration(1.0 / 8.0),
        smoothness.popping_frames(),
    );
    pins.pin(subject.name("measure/over-time"), &over_time);
    let worst = (distance.farthest(), smoothness.worst_pop());
    pins.pin(subject.name("measure/over-time/worst"), &Numbers(&worst));
}
