//! Twist joints through files: the file read back is the character that the library made, and moves
//! as the original does.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[allow(
    dead_code,
    reason = "the accessors' names are for the tests that break them"
)]
mod tiny;

use common::{shared, worlds};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::mush::{Mush, MushOptions};
use supple::twist::{TwistError, TwistOf, TwistOptions, Twisted, decide, split};
use supple::{Asset, Method, Normals, Player, Pose};
use supple_io::gltf::{self, Document, Loaded, SaveError, StoredState};
use tiny::{ROTATIONS, Tiny, open_glb};

/// The first joint that can be split, and what comes of it.
fn some_split(asset: &Asset) -> Option<Twisted> {
    let joints = 0..asset.rig.skeleton().joints().len();
    let mut splits = joints.map(|joint| split(asset, joint, &TwistOptions::default()));
    splits.find_map(Result::ok)
}

fn read_back(document: &Document, name: &str) -> Loaded {
    gltf::from_slice(&document.to_glb().unwrap(), name).unwrap()
}

fn places(asset: &Asset, pose: &Pose) -> Vec<Vec3> {
    let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(pose).unwrap();
    player.positions().to_vec()
}

/// The distance between two surfaces, as a share of the size of one.
fn distance(found: &[Vec3], expected: &[Vec3]) -> f32 {
    let extent = supple::Bounds::around(expected.iter().copied()).unwrap();
    let pairs = found.iter().zip(expected);
    let worst = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    worst / extent.extent()
}

#[track_caller]
fn assert_spread(old: &Asset, twisted: &Twisted, what: &str) {
    let (new, added) = (&twisted.asset, &twisted.added);
    let rest = distance(
        &places(new, &new.rest_pose()),
        &places(old, &old.rest_pose()),
    );
    assert!(rest < 1e-6, "{what}: {rest} at rest");
    for (old_clip, clip) in old.clips.iter().zip(&new.clips) {
        let span = clip.duration() - clip.start();
        for moment in 0..7 {
            let time = clip.start() + span * f64::from(moment) / 6.3;
            let (old_pose, mut pose) = (old.pose_at(old_clip, time), new.pose_at(clip, time));
            let mut kept = worlds(new, &pose);
            kept.remove(added.node);
            assert!(kept == worlds(old, &old_pose), "{what}: {}", clip.name);
            // Half of what a single moment tells, or with a whole turn more or less: then half a
            // turn.
            let found = pose.locals[added.node].to_trs().rotation;
            let skeleton = new.rig.skeleton();
            let twist = added.driver.twist(skeleton, &pose);
            let turned = |angle: f64| DQuat::from_axis_angle(added.driver.axis, angle);
            let half = added.driver.share * twist;
            let off = [half, half + std::f64::consts::PI]
                .map(|angle| 2.0 * found.dot(turned(angle)).abs().min(1.0).acos().to_degrees());
            let off = off[0].min(off[1]);
            assert!(off < 0.1, "{what}: {} at {time}: {off}°", clip.name);
            // Without twist: as it was, in whatever pose.
            pose.locals[added.node] = skeleton.nodes()[added.node].rest;
            let apart = distance(&places(new, &pose), &places(old, &old_pose));
            assert!(apart < 1e-6, "{what}: {apart} in {}", clip.name);
        }
    }
}

#[track_caller]
fn assert_same(found: &Asset, expected: &Asset, what: &str) {
    assert!(found.rig.mesh() == expected.rig.mesh(), "{what}: mesh");
    let (skeleton, other) = (found.rig.skeleton(), expected.rig.skeleton());
    assert_eq!(skeleton.nodes(), other.nodes(), "{what}: nodes");
    assert_eq!(skeleton.joints(), other.joints(), "{what}: joints");
    assert!(
        found.rig.weights() == expected.rig.weights(),
        "{what}: weights"
    );
    assert!(found.clips == expected.clips, "{what}: clips");
    assert!(found == expected, "{what}");
}

/// The driver in the file turns the joint as the library's does, in a pose of no clip.
fn assert_same_driver(again: &Loaded, twisted: &Twisted, what: &str) {
    let drivers = again.document.twist_drivers();
    let [(node, driver)] = &drivers[..] else {
        panic!("{what}: {} drivers", drivers.len());
    };
    assert_eq!(*node, twisted.added.node, "{what}");
    let skeleton = again.asset.rig.skeleton();
    let mut pose = again.asset.rest_pose();
    let source = &mut pose.locals[driver.source];
    *source = source.turned(DQuat::from_rotation_x(1.2) * DQuat::from_rotation_z(0.4));
    let mut expected = pose.clone();
    driver.turn(*node, skeleton, &mut pose);
    twisted.added.follow(skeleton, &mut expected);
    let turned = |pose: &Pose| pose.locals[*node].rotation();
    let apart = turned(&pose).angle_between(turned(&expected));
    assert!(apart < 1e-6, "{what}: {apart}");
}

#[test]
fn drivers_that_make_no_sense_are_left_out() {
    let arm = characters::build(Character::Arm, 2_000).unwrap();
    let twisted = some_split(&arm).unwrap();
    let mut document = gltf::Document::from_asset(&arm).unwrap();
    document.add_twist_joint(&twisted).unwrap();
    let bytes = document.to_glb().unwrap();
    assert_eq!(document.twist_drivers().len(), 1);
    for (valid, broken) in [
        ("\"share\":0.5", "\"share\":9.5"),
        ("\"of\":\"child\"", "\"of\":\"aunts\""),
        ("\"axis\":[", "\"axes\":["),
        ("\"rest\":[", "\"nest\":["),
        ("\"against\":", "\"besides\":"),
    ] {
        let find = |window: &[u8]| window == valid.as_bytes();
        let at = bytes.windows(valid.len()).position(find);
        let at = at.unwrap_or_else(|| panic!("{valid} is not in the file"));
        let mut bytes = bytes.clone();
        bytes[at..at + valid.len()].copy_from_slice(broken.as_bytes());
        let document = gltf::from_slice(&bytes, "arm").unwrap().document;
        assert_eq!(document.twist_joints().len(), 1, "{broken}");
        assert_eq!(document.twist_drivers(), [], "{broken}");
    }
}

#[test]
fn every_skinned_model_comes_back_as_the_library_split_it() {
    let mut split_models = 0;
    for path in common::models() {
        let what = path.display().to_string();
        let loaded = gltf::load(&path).unwrap();
        let Some(twisted) = some_split(&loaded.asset).filter(|_| !loaded.notes.unskinned) else {
            continue;
        };
        split_models += 1;
        assert_spread(&loaded.asset, &twisted, &what);
        let mut document = loaded.document.clone();
        document.add_twist_joint(&twisted).unwrap();
        let again = read_back(&document, &loaded.asset.name);
        assert_same(&again.asset, &twisted.asset, &what);
        assert_eq!(
            again.document.twist_joints(),
            [twisted.added.node],
            "{what}"
        );
        assert_same_driver(&again, &twisted, &what);
        assert_eq!(
            again.document.joints_in_file_order(),
            document.joints_in_file_order(),
            "{what}"
        );
        // The document goes on as if it had been read anew.
        let joints = 0..twisted.asset.rig.skeleton().joints().len();
        let mut next = joints.map(|joint| split(&twisted.asset, joint, &TwistOptions::default()));
        if let Some(twice) = next.find_map(Result::ok) {
            document.add_twist_joint(&twice).unwrap();
            let again = read_back(&document, &loaded.asset.name);
            assert_same(&again.asset, &twice.asset, &what);
        }
    }
    assert!(
        split_models > 10 || common::models().is_empty(),
        "{split_models}"
    );
}

#[test]
fn built_in_characters_can_be_split() {
    let mut split_characters = 0;
    for &character in Character::ALL {
        let asset = characters::build(character, 2_000).unwrap();
        let document = Document::from_asset(&asset).unwrap();
        let Loaded {
            asset,
            mut document,
            ..
        } = read_back(&document, &asset.name);
        let Some(twisted) = some_split(&asset) else {
            continue;
        };
        assert_spread(&asset, &twisted, character.name());
        document.add_twist_joint(&twisted).unwrap();
        let again = read_back(&document, &asset.name);
        assert_same(&again.asset, &twisted.asset, character.name());
        split_characters += 1;
    }
    assert!(split_characters > 3, "{split_characters}");
}

/// The tiny file, in which the tip twists as well as bends.
fn tiny() -> Tiny {
    let mut tiny = Tiny::rich();
    let turn = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_y(1.5);
    for (at, number) in turn.to_array().into_iter().enumerate() {
        tiny.set_float(ROTATIONS, 4 + at, number as f32);
    }
    tiny
}

fn split_tiny(tiny: &Tiny, options: &TwistOptions) -> (Loaded, Twisted, Value) {
    let loaded = gltf::from_slice(&tiny.glb(), "tiny").unwrap();
    let twisted = split(&loaded.asset, 0, options).unwrap();
    let mut document = loaded.document.clone();
    document.add_twist_joint(&twisted).unwrap();
    let glb = document.to_glb().unwrap();
    let again = gltf::from_slice(&glb, "tiny").unwrap();
    assert_same(&again.asset, &twisted.asset, "tiny");
    (loaded, twisted, open_glb(&glb).0)
}

#[test]
fn the_new_joint_is_added_at_the_end_of_everything() {
    let tiny = tiny();
    let (loaded, twisted, json) = split_tiny(&tiny, &TwistOptions::default());
    assert_spread(&loaded.asset, &twisted, "tiny");
    let nodes = tiny.json["nodes"].as_array().unwrap().len();
    let node = &json["nodes"][nodes];
    assert_eq!(node["name"], "root_twist");
    assert_eq!(node["translation"], json!([0.0, 0.5, 0.0]));
    assert_eq!(json["nodes"][0]["children"], json!([1, nodes]));
    assert_eq!(json["skins"][0]["joints"], json!([0, 1, nodes]));
    let channel = json["animations"][0]["channels"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    assert_eq!(
        channel["target"],
        json!({ "node": nodes, "path": "rotation" })
    );
    assert_eq!(
        node["extras"],
        json!({ "supple": { "twist": {
            "of": "child", "source": "tip", "against": "root",
            "axis": [0.0, 1.0, 0.0], "share": 0.5, "rest": [0.0, 0.0, 0.0, 1.0],
        } } })
    );
    // What has nothing to do with it stays.
    for key in [
        "cameras",
        "materials",
        "textures",
        "scenes",
        "extras",
        "extensions",
    ] {
        assert_eq!(json[key], tiny.json[key], "{key}");
    }
    for index in 1..nodes {
        assert_eq!(json["nodes"][index], tiny.json["nodes"][index]);
    }
}

#[test]
fn the_extras_are_all_that_an_engine_needs() {
    let turned = [0.1, -0.3, 0.2, 0.9];
    let mut tiny = tiny();
    tiny.json["nodes"][1]["rotation"] = json!(DQuat::from_array(turned).normalize().to_array());
    let (_, twisted, json) = split_tiny(&tiny, &TwistOptions::default());
    let node = json["nodes"].as_array().unwrap().last().unwrap();
    let driver = &node["extras"]["supple"]["twist"];
    let numbers = |key: &str| -> Vec<f64> {
        let numbers = driver[key].as_array().unwrap().iter();
        numbers.map(|number| number.as_f64().unwrap()).collect()
    };
    let (axis, rest) = (
        DVec3::from_slice(&numbers("axis")),
        DQuat::from_slice(&numbers("rest")),
    );
    let asset = &twisted.asset;
    let pose = asset.pose_at(&asset.clips[0], 0.7);
    // By the page docs/twist-joints.md: of a child.
    assert_eq!(driver["of"], "child");
    let turn = pose.locals[1].to_trs().rotation * rest.conjugate();
    let twist = 2.0 * turn.xyz().dot(axis).atan2(turn.w);
    let expected = DQuat::from_axis_angle(axis, driver["share"].as_f64().unwrap() * twist);
    let found = pose.locals[twisted.added.node].to_trs().rotation;
    assert!(found.dot(expected).abs() > 1.0 - 1e-6);
}

#[test]
fn a_skin_without_matrices_gets_them() {
    let mut tiny = tiny();
    let skin = tiny.json["skins"][0].as_object_mut().unwrap();
    skin.remove("inverseBindMatrices");
    let (loaded, twisted, json) = split_tiny(&tiny, &TwistOptions::default());
    assert_spread(&loaded.asset, &twisted, "no matrices");
    assert!(json["skins"][0]["inverseBindMatrices"].is_u64());
    let joints = twisted.asset.rig.skeleton().joints();
    assert_eq!(joints[0].joint_from_bind, DAffine3::IDENTITY);
}

#[test]
fn names_that_tell_nothing_are_numbers() {
    let mut tiny = tiny();
    tiny.json["nodes"][1]["name"] = json!("root");
    let (_, _, json) = split_tiny(&tiny, &TwistOptions::default());
    let node = json["nodes"].as_array().unwrap().last().unwrap();
    let driver = &node["extras"]["supple"]["twist"];
    assert_eq!(
        (&driver["source"], &driver["against"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn every_skin_that_needs_the_joint_lists_it_and_no_other() {
    // A second skin that binds the same joints from elsewhere, and a third whose mesh the root does
    // not hold.
    let mut tiny = Tiny::new();
    let shifted = glam::Mat4::from_translation(Vec3::new(0.25, 0.0, 0.0));
    let down = glam::Mat4::from_translation(Vec3::NEG_Y) * shifted;
    let matrices = [shifted.to_cols_array(), down.to_cols_array()].concat();
    let matrices = tiny.floats("MAT4", &matrices);
    let all_tip = tiny.floats("VEC4", &[0.0, 1.0, 0.0, 0.0].repeat(4));
    let mut mesh = tiny.json["meshes"][0].clone();
    mesh["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(all_tip);
    tiny.json["meshes"].as_array_mut().unwrap().push(mesh);
    let skins = tiny.json["skins"].as_array_mut().unwrap();
    skins.push(json!({ "joints": [1, 0], "inverseBindMatrices": matrices, "skeleton": 0 }));
    skins.push(json!({ "joints": [0, 1] }));
    let nodes = tiny.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "name": "shifted", "mesh": 0, "skin": 1 }));
    nodes.push(json!({ "name": "shared", "mesh": 0, "skin": 0 }));
    nodes.push(json!({ "name": "tips", "mesh": 1, "skin": 2 }));
    tiny.json["scenes"][0]["nodes"] = json!([0, 2, 3, 4, 5]);
    let (loaded, twisted, json) = split_tiny(&tiny, &TwistOptions::default());
    assert_spread(&loaded.asset, &twisted, "three skins");
    let lists = [0, 1, 2].map(|skin: usize| json["skins"][skin]["joints"].clone());
    assert_eq!(lists, [json!([0, 1, 6]), json!([1, 0, 6]), json!([0, 1])]);
    assert_eq!(json["skins"][1]["skeleton"], 0);
    let new_joints = twisted.asset.rig.skeleton().joints().iter();
    let on_new = new_joints.filter(|joint| joint.node == twisted.added.node);
    assert_eq!(on_new.count(), 2, "bound in two ways");
}

#[test]
fn what_was_baked_before_is_stale_afterwards() {
    let asset = characters::build(Character::Arm, 2_000).unwrap();
    let mut document = Document::from_asset(&asset).unwrap();
    let loaded = read_back(&document, "arm");
    let options = CenterOptions::PAPER;
    let rig = &loaded.asset.rig;
    let centers = Centers::bake(rig.mesh(), rig.weights(), &options).unwrap();
    document.set_centers(rig, &centers, &options).unwrap();
    let options = MushOptions::default();
    let mush = Mush::bake(rig, &options).unwrap().mush;
    let mut with_mush = loaded.document.clone();
    with_mush.set_mush(rig, &mush, &options, 4).unwrap();
    for document in [document, with_mush] {
        let loaded = read_back(&document, "arm");
        let twisted = some_split(&loaded.asset).unwrap();
        let mut document = loaded.document.clone();
        document.add_twist_joint(&twisted).unwrap();
        let again = read_back(&document, "arm");
        let states = [
            (
                loaded.stored_centers.map(|stored| stored.state),
                again.stored_centers.map(|stored| stored.state),
            ),
            (
                loaded.stored_mush.map(|stored| stored.state),
                again.stored_mush.map(|stored| stored.state),
            ),
        ];
        let stale = states.iter().filter(|(before, after)| {
            *before == Some(StoredState::Fit) && *after == Some(StoredState::Stale)
        });
        assert_eq!(stale.count(), 1, "{states:?}");
    }
}

#[test]
fn a_change_that_does_not_fit_leaves_the_file_alone() {
    let loaded = gltf::from_slice(&tiny().glb(), "tiny").unwrap();
    let twisted = split(&loaded.asset, 0, &TwistOptions::default()).unwrap();
    let mut document = loaded.document.clone();
    document.add_twist_joint(&twisted).unwrap();
    let once = document.to_glb().unwrap();
    assert_eq!(
        document.add_twist_joint(&twisted),
        Err(SaveError::NotOneMoreJoint)
    );
    assert!(document.to_glb().unwrap() == once);
    let refused = split(&twisted.asset, 0, &TwistOptions::default());
    assert!(matches!(refused, Err(TwistError::AlreadySplit { .. })));
    let own = TwistOptions {
        twist_of: Some(TwistOf::Joint),
        ..TwistOptions::default()
    };
    let refused = split(&loaded.asset, 0, &own);
    assert!(matches!(refused, Err(TwistError::NothingAbove { .. })));
}

/// Its clips move the two arms and legs differently.
#[test]
fn both_sides_of_a_real_character_are_decided_about_together() {
    let Some(folder) = shared("models/characters") else {
        return;
    };
    let asset = gltf::load(&folder.join("mannequiny.glb")).unwrap().asset;
    let skeleton = asset.rig.skeleton();
    let joint = |name: &str| {
        let mut joints = 0..skeleton.joints().len();
        joints
            .find(|&joint| skeleton.joint_name(joint) == name)
            .unwrap()
    };
    for name in ["clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf"] {
        let [left, right] = ["l", "r"].map(|side| joint(&format!("{name}.{side}")));
        let [one, other] =
            [left, right].map(|joint| decide(&asset, joint, &TwistOptions::default()).unwrap());
        assert_eq!(one.twist_of, other.twist_of, "{name}");
        assert_eq!([one.partner, other.partner], [Some(right), Some(left)]);
        let ends = [one.toward, other.toward].map(|end| skeleton.joint_name(end));
        assert_eq!(ends[0].strip_suffix(".l"), ends[1].strip_suffix(".r"));
        let [one, other] = [left, right].map(|joint| {
            split(&asset, joint, &TwistOptions::default())
                .unwrap()
                .added
        });
        assert_eq!(one.driver.share, other.driver.share, "{name}");
        // The body is symmetric up to a few vertices.
        let [one, other] = [one, other].map(|added| added.vertex_count as f64);
        assert!(
            (one / other - 1.0).abs() < 0.02,
            "{name}: {one} and {other}"
        );
    }
}
