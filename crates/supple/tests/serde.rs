//! Options keep their values through JSON, and reports can be written.

#![cfg(all(
    feature = "serde",
    feature = "arap",
    feature = "bind",
    feature = "ik",
    feature = "metrics"
))]
#![allow(clippy::unwrap_used)]

use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use supple::arap::ArapOptions;
use supple::bind::{BindGroup, BindMethod, bind_groups};
use supple::centers::CenterOptions;
use supple::characters::{self, Character};
use supple::findings::Findings;
use supple::inverse_kinematics::{Limit, ReachOptions};
use supple::mush::{MushOptions, Steps};
use supple::point_handles::HandleOptions;
use supple::quality::WeightQuality;

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
        ..ArapOptions::DEFAULT
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
fn reports_have_their_fields() {
    let asset = characters::build(Character::Bar, 2_000).unwrap();
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let groups = [BindGroup::whole(mesh, skeleton)];
    let bound = bind_groups(mesh, skeleton, &groups, &BindMethod::Rigid, &|_| {}).unwrap();
    let report = serde_json::to_value(&bound.report).unwrap();
    assert_eq!(report["pieces"], bound.report.pieces);
    let quality = serde_json::to_value(WeightQuality::of(&asset.rig)).unwrap();
    assert!(quality.as_object().unwrap().len() > 3);
    let findings = serde_json::to_value(Findings::of(&asset.rig, &asset.parts)).unwrap();
    assert!(findings.as_object().unwrap().len() > 3);
}
