//! Options keep their values through JSON, and reports can be written.

#![cfg(all(
    feature = "serde",
    feature = "arap",
    feature = "bind",
    feature = "ik",
    feature = "metrics"
))]
#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec3, Vec3};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use supple::arap::{Arap, ArapOptions};
use supple::bind::{BindGroup, BindMethod, bind_groups};
use supple::centers::CenterOptions;
use supple::characters::{self, Character};
use supple::deform::{
    Antipodality, DeltaMush, DualQuaternion, DualShare, LinearDualBlend, LocalFrames,
};
use supple::edit::{Axis, Brush, EditRegion, Falloff, Mirror, MirrorSource, Paint, StrokePoint};
use supple::findings::Findings;
use supple::inverse_kinematics::{Chain, Goal, Limit, ReachOptions};
use supple::mush::{MushOptions, Steps};
use supple::point_handles::HandleOptions;
use supple::quality::WeightQuality;
use supple::{Method, Normals};

fn assert_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(back, *value, "{text}");
}

#[test]
fn options_keep_their_values() {
    assert_kept(&MushOptions {
        steps: Steps::Explicit,
        ..MushOptions::default()
    });
    assert_kept(&CenterOptions::PAPER);
    assert_kept(&ArapOptions {
        follow: true,
        ..ArapOptions::default()
    });
    for method in BindMethod::all() {
        assert_kept(&method);
    }
    assert_kept(&HandleOptions::default());
    let hinge = Limit::Hinge {
        axis: glam::DVec3::X,
        range: [0.0, 2.5],
    };
    assert_kept(&ReachOptions {
        limits: [(3, hinge)].into(),
        ..ReachOptions::default()
    });
}

#[test]
fn methods_keep_their_options() {
    for method in Method::ALL {
        assert_kept(method);
    }
    assert_kept(&Method::DualQuaternion(DualQuaternion {
        antipodality: Antipodality::PerJoint,
    }));
    assert_kept(&Method::LinearDualBlend(LinearDualBlend {
        dual: DualShare::Everywhere(0.3),
    }));
    assert_kept(&Method::DeltaMush(DeltaMush {
        smoothing: MushOptions {
            alpha_at_joints: vec![(2, 0.1)],
            max_influences: Some(4),
            ..MushOptions::default()
        },
        frames: LocalFrames::BestFit,
    }));
    for normals in Normals::ALL {
        assert_kept(&normals);
    }
    for character in Character::ALL {
        assert_kept(character);
    }
}

#[test]
fn edits_goals_and_poses_keep_their_values() {
    assert_kept(&Mirror {
        axis: Axis::Z,
        source: MirrorSource::Heavier,
        plane: Some(-0.1),
    });
    assert_kept(&Brush {
        paint: Paint::Scale {
            joint: 3,
            factor: 0.7,
        },
        radius: 0.1,
        falloff: Falloff::Linear,
    });
    assert_kept(&StrokePoint::Near(Vec3::new(0.1, -2.0, 1e-7)));
    assert_kept(&EditRegion::HeldBy(vec![1, 5]));
    assert_kept(&Goal {
        orientation: Some(DQuat::from_rotation_x(0.3)),
        pole: Some(DVec3::Y),
        chain: Chain::Joints(3),
        ..Goal::new(7, DVec3::new(0.1, 0.2, 0.3))
    });
    let asset = characters::build(Character::Bar, 2_000).unwrap();
    assert_kept(&asset.pose_at(&asset.clips[0], 0.4));
}

/// Options saved by an earlier version lack the newer ones.
#[test]
fn missing_options_have_their_defaults() {
    let options: MushOptions = serde_json::from_str(r#"{ "lambda": 2.0 }"#).unwrap();
    let expected = MushOptions {
        lambda: 2.0,
        ..MushOptions::default()
    };
    assert_eq!(options, expected);
    let options: ReachOptions = serde_json::from_str("{}").unwrap();
    assert_eq!(options, ReachOptions::default());
}

#[test]
fn reports_have_their_fields() {
    let asset = characters::build(Character::Bar, 2_000).unwrap();
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let groups = [BindGroup::whole(mesh, skeleton)];
    let bound = bind_groups(mesh, skeleton, &groups, &BindMethod::Rigid, &|_| {}).unwrap();
    let report = serde_json::to_value(&bound.report).unwrap();
    assert_eq!(report["pieces"], bound.report.pieces);
    let quality = serde_json::to_value(WeightQuality::of(&asset.rig)).unwrap();
    assert!(quality.as_object().unwrap().len() > 3);
    let arap = Arap::new(&asset.rig, &ArapOptions::default()).unwrap();
    let report = serde_json::to_value(arap.report()).unwrap();
    assert_eq!(
        report["held"].as_array().unwrap().len(),
        skeleton.joints().len()
    );
    let findings = serde_json::to_value(Findings::of(&asset.rig, &asset.parts)).unwrap();
    assert!(findings.as_object().unwrap().len() > 3);
}
