//! `supple weights edit` as its users meet it.

use super::common::{changed_bar, fails, folder, supple};
use std::path::Path;
use supple::characters::{self, Character};

/// Edits weights; gives them as they are in the file, and what was told.
fn weights_edited(arguments: &[&str], folder: &Path) -> (supple::Weights, String) {
    let arguments = [&["weights", "edit"], arguments, &["-o", "edited.glb"]].concat();
    let output = supple(&arguments, folder);
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {told}");
    let loaded = supple_io::gltf::load(&folder.join("edited.glb")).expect("readable");
    (loaded.asset.rig.weights().clone(), told)
}

#[test]
fn weights_are_edited_in_the_order_given() {
    let folder = folder();
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let (limited, told) = edited(&["@arm:2000", "--smooth", "2", "--limit", "1"]);
    assert_eq!(limited.max_influences(), 1);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("note: smooth 2: "), "{told}");
    assert!(lines[1].starts_with("note: limit 1: "), "{told}");
    assert!(
        lines[1].contains("vertices changed, by at most 0."),
        "{told}"
    );
    let (smoothed, _) = edited(&["@arm:2000", "--limit=1", "--smooth=2:0.5"]);
    assert!(smoothed.max_influences() > 1);
    let (pruned, told) = edited(&["@arm:2000", "--limit", "1", "--prune", "0.9"]);
    assert!(told.contains("note: prune 0.9: nothing changed"), "{told}");
    assert_eq!(pruned.max_influences(), 1);
    // What is written is read back, and edited again, as a file.
    std::fs::rename(
        folder.path().join("edited.glb"),
        folder.path().join("arm.glb"),
    )
    .expect("there");
    let (again, told) = edited(&["arm.glb", "--normalise"]);
    assert_eq!(again, pruned);
    assert!(
        told.contains("all weights of the file sum to one"),
        "{told}"
    );
    assert!(told.contains("normalise: nothing changed"), "{told}");
}

#[test]
fn weights_are_painted_where_they_are_not_locked() {
    let folder = folder();
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let asset = characters::build(Character::Arm, 2_000).expect("built");
    let skeleton = asset.rig.skeleton();
    let name = |joint: usize| skeleton.joint_name(joint);
    let flood = format!("{}=0.5", name(3));
    let (flooded, told) = edited(&["@arm:2000", "--lock", name(1), "--flood", &flood]);
    assert!(told.contains(&format!("note: flood {flood}: ")), "{told}");
    for vertex in 0..flooded.vertex_count() {
        let locked = asset.rig.weights().weight_of(vertex, 1);
        assert_eq!(flooded.weight_of(vertex, 1), locked);
        let painted = flooded.weight_of(vertex, 3);
        assert!((painted - f32::min(0.5, 1.0 - locked)).abs() < 1e-6);
    }
    let brush = format!("{}+=0.25@v100:0.05", name(0));
    let (painted, _) = edited(&["@arm:2000", "--brush", &brush, "--falloff", "constant"]);
    let before = asset.rig.weights().weight_of(100, 0);
    assert!((painted.weight_of(100, 0) - (before + 0.25)).abs() < 1e-6);
    let locked = ["--lock", name(0), "--brush", &brush, "-o", "out.glb"];
    let (status, error) = fails(
        &[&["weights", "edit", "@arm:2000"], &locked[..]].concat(),
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(
        error.contains(&format!("'{}' is locked", name(0))),
        "{error}"
    );
}

#[test]
fn weights_are_painted_for_the_joint_that_a_skin_knows() {
    let folder = folder();
    // The same mesh once more, by a skin that binds the same nodes in another way.
    changed_bar(folder.path(), |json| {
        let mut skin = json["skins"][0].clone();
        let joints = skin["joints"].as_array_mut().expect("joints");
        joints.reverse();
        let nodes = json["nodes"].as_array_mut().expect("nodes");
        let twin = nodes.len();
        nodes.push(serde_json::json!({ "name": "twin", "mesh": 0, "skin": 1 }));
        for (list, item) in [("/skins", skin), ("/scenes/0/nodes", twin.into())] {
            let list = json.pointer_mut(list).and_then(|list| list.as_array_mut());
            list.expect("a list").push(item);
        }
    });
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let (weights, told) = edited(&["bar.gltf", "--flood", "first=1"]);
    assert!(
        told.contains("the centers of rotation in the file no longer fit"),
        "{told}"
    );
    let path = folder.path().join("edited.glb");
    let rig = supple_io::gltf::load(&path).expect("readable").asset.rig;
    let half = weights.vertex_count() / 2;
    for vertex in 0..half {
        let [one, twin] = [vertex, vertex + half].map(|vertex| weights.row(vertex).0);
        assert_ne!(one, twin, "each as its own skin has it");
        for joints in [one, twin] {
            assert_eq!(joints.len(), 1);
            let name = rig.skeleton().joint_name(usize::from(joints[0]));
            assert_eq!(name, "first");
        }
    }
}

#[test]
fn weights_are_taken_from_another_character() {
    let folder = folder();
    let asset = characters::build(Character::Arm, 2_000).expect("built");
    let wiped = format!("{}=1", asset.rig.skeleton().joint_name(0));
    let arguments = ["@arm:2000", "--flood", &wiped, "--transfer", "@arm:6000"];
    let (weights, told) = weights_edited(&arguments, folder.path());
    assert!(
        told.contains("took the weights of the closest one"),
        "{told}"
    );
    let mut worst: f32 = 0.0;
    for vertex in 0..weights.vertex_count() {
        for influence in asset.rig.weights().of(vertex) {
            let found = weights.weight_of(vertex, influence.joint);
            worst = worst.max((found - influence.weight).abs());
        }
    }
    assert!(worst < 0.1, "{worst}");
    let stranger = [
        "weights",
        "edit",
        "@arm:2000",
        "--transfer",
        "@cloth",
        "-o",
        "out.glb",
    ];
    let (status, error) = fails(&stranger, folder.path());
    assert_eq!(status, 1);
    assert!(
        error.contains("has a name that the target knows"),
        "{error}"
    );
}
