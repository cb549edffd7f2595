//! `supple weights edit` as its users meet it.

use super::common::{changed_bar, fails, folder, loaded_with_weights, succeeds, supple, unbound};
use std::path::Path;
use supple::characters::{self, Character};

/// Edits weights. Returns them as they are in the file, and the notes.
fn weights_edited(arguments: &[&str], folder: &Path) -> (supple::Weights, String) {
    let arguments = [&["weights", "edit"], arguments, &["-o", "edited.glb"]].concat();
    let output = supple(&arguments, folder);
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {message}");
    let loaded = supple_io::gltf::load(&folder.join("edited.glb")).expect("readable");
    (loaded.asset.rig.weights().clone(), message)
}

#[test]
fn weights_are_edited_in_the_order_given() {
    let folder = folder();
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let (limited, message) = edited(&["@arm:2000", "--smooth", "2", "--max-influences", "1"]);
    assert_eq!(limited.max_influences(), 1);
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("note: smooth 2: "), "{message}");
    assert!(
        lines[1].starts_with("note: max-influences 1: "),
        "{message}"
    );
    assert!(
        lines[1].contains("vertices changed, by at most 0."),
        "{message}"
    );
    let (smoothed, _) = edited(&["@arm:2000", "--max-influences=1", "--smooth=2:0.5"]);
    assert!(smoothed.max_influences() > 1);
    let (pruned, message) = edited(&["@arm:2000", "--max-influences", "1", "--prune", "0.9"]);
    assert!(
        message.contains("note: prune 0.9: nothing changed"),
        "{message}"
    );
    assert_eq!(pruned.max_influences(), 1);
    // What is written is read back, and edited again, as a file.
    std::fs::rename(
        folder.path().join("edited.glb"),
        folder.path().join("arm.glb"),
    )
    .expect("there");
    let (again, message) = edited(&["arm.glb", "--normalise"]);
    assert_eq!(again, pruned);
    assert!(
        message.contains("all weights of the file sum to one"),
        "{message}"
    );
    assert!(message.contains("normalise: nothing changed"), "{message}");
}

#[test]
fn weights_are_painted_where_they_are_not_locked() {
    let folder = folder();
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let asset = characters::build(Character::Arm, 2_000).expect("built");
    let skeleton = asset.rig.skeleton();
    let name = |joint: usize| skeleton.joint_name(joint);
    let flood = format!("{}=0.5", name(3));
    let (flooded, message) = edited(&["@arm:2000", "--lock", name(1), "--flood", &flood]);
    assert!(
        message.contains(&format!("note: flood {flood}: ")),
        "{message}"
    );
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
    let (weights, message) = edited(&["bar.gltf", "--flood", "first=1"]);
    assert!(
        message.contains("the centers of rotation in the file no longer fit"),
        "{message}"
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
    let (weights, message) = weights_edited(&arguments, folder.path());
    assert!(
        message.contains("took the weights of the closest point"),
        "{message}"
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
        error.contains("has the name of a joint of the target"),
        "{error}"
    );
}

#[test]
fn weights_are_mirrored_and_smoothed_where_it_is_asked_for() {
    let folder = folder();
    let asymmetry = |arguments: &[&str]| {
        weights_edited(arguments, folder.path());
        loaded_with_weights(&folder.path().join("edited.glb"));
        let json = succeeds(&["info", "edited.glb", "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let most = json["weight_quality"]["asymmetry"]["most"].as_f64();
        most.expect("a figure is symmetric")
    };
    let uneven = [
        "@figure:2000",
        "--within",
        "forearm.L",
        "--flood",
        "forearm.L*=0.5",
        "--within",
        "all",
    ];
    assert!(asymmetry(&uneven) > 0.1);
    assert!(asymmetry(&[&uneven[..], &["--mirror", "-x"]].concat()) < 1e-3);
    // A brush that smooths changes what is below it, and nothing else.
    let asset = characters::build(Character::Arm, 2_000).expect("built");
    let positions = asset.rig.mesh().positions();
    let (x, y, z) = positions[100].into();
    let brush = format!("1@{x},{y},{z}:0.1");
    let arguments = [
        "@arm:2000",
        "--max-influences",
        "1",
        "--brush-smooth",
        &brush,
    ];
    let (smoothed, said) = weights_edited(&arguments, folder.path());
    assert_eq!(said.lines().count(), 2, "{said}");
    for (vertex, position) in positions.iter().enumerate() {
        let far = position.distance(positions[100]) > 0.1;
        assert!(!far || smoothed.of(vertex).len() == 1, "vertex {vertex}");
    }
    assert!(smoothed.max_influences() > 1, "{said}");
}

#[test]
fn what_cannot_be_edited_is_explained() {
    let folder = folder();
    succeeds(&["deform", "@arm:2000", "-o", "static.glb"], folder.path());
    let cases: &[(i32, &[&str], &str)] = &[
        (2, &["@arm:2000", "--prune", "2"], "but must be from 0 to 1"),
        (
            2,
            &["@arm:2000", "--max-influences", "0"],
            "but must be at least 1",
        ),
        (
            2,
            &["@arm:2000", "--max-influences", "few"],
            "a number of influences",
        ),
        (
            2,
            &["@arm:2000", "--smooth", "3:2"],
            "but must be from 0 to 1",
        ),
        (2, &["@arm:2000", "--smooth", "3=elbo"], "no joint 'elbo'"),
        (2, &["@arm:2000", "--lock", "elbo"], "no joint 'elbo'"),
        (2, &["@arm:2000", "--within", "mesh:hat"], "no mesh 'hat'"),
        (
            2,
            &["@arm:2000", "--mirror", "left"],
            "expected +x, -x or x",
        ),
        (
            2,
            &["@arm:2000", "--brush", "hand=1@v99999999:1"],
            "no vertex 99999999",
        ),
        (
            2,
            &["@arm:2000", "--brush", "hand=1@v0:0"],
            "but must be more than 0",
        ),
        (1, &["@arm:2000", "--transfer", "no.glb"], "no.glb"),
        (1, &["missing.glb", "--smooth", "2"], "missing.glb"),
        (
            1,
            &["static.glb", "--smooth", "2"],
            "no mesh of the file has a skin",
        ),
    ];
    for (expected, arguments, phrase) in cases {
        // What came before is undone, too: a file is written whole or not at all.
        let arguments = [
            &["weights", "edit", "-o", "out.glb", "--normalise"],
            *arguments,
        ]
        .concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn a_file_without_weights_is_not_edited_as_if_it_had_some() {
    let folder = folder();
    unbound("@arm:2000", folder.path(), "bare.gltf");
    let cases: &[&[&str]] = &[
        &["--normalise"],
        &["--lock", "hand", "--smooth", "2"],
        &["--brush", "hand=1@v0:1"],
        &["--prune", "0.1", "--transfer", "@arm:2000"],
    ];
    for operations in cases {
        let arguments = [
            &["weights", "edit", "bare.gltf", "-o", "out.glb"],
            *operations,
        ]
        .concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, 1, "{error}");
        for phrase in [
            "the file has no weights for --",
            "'supple weights' computes",
        ] {
            assert!(error.contains(phrase), "{error}");
        }
    }
    let arguments = ["bare.gltf", "--transfer", "@arm:2000", "--smooth", "1"];
    weights_edited(&arguments, folder.path());
    loaded_with_weights(&folder.path().join("edited.glb"));
    // As a source it has nothing to give, nor has a mesh without a skin.
    succeeds(&["deform", "@arm:2000", "-o", "static.glb"], folder.path());
    for source in ["bare.gltf", "static.glb"] {
        let transfer = ["weights", "edit", "@arm:2000", "--transfer", source];
        let (status, error) = fails(&[&transfer[..], &["-o", "out.glb"]].concat(), folder.path());
        assert_eq!(status, 1, "{error}");
        let expected = format!("{source} has no weights to take");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_limit_that_locks_stand_against_is_reported() {
    let folder = folder();
    let edited = |arguments: &[&str]| weights_edited(arguments, folder.path());
    let (weights, said) = edited(&["@arm:2000", "--lock", "forearm", "--max-influences", "1"]);
    let beyond = (0..weights.vertex_count()).filter(|&vertex| weights.of(vertex).len() > 1);
    let expected = format!(
        "note: max-influences 1: {} vertices keep more, as locked joints are not dropped\n",
        beyond.count()
    );
    assert!(said.ends_with(&expected), "{said}");
    let (_, said) = edited(&["@arm:2000", "--max-influences", "1"]);
    assert!(!said.contains("keep more"), "{said}");
}

#[test]
fn a_brush_that_is_far_from_the_surface_tells_how_far() {
    let folder = folder();
    let edited = |brush: &str| weights_edited(&["@arm:2000", "--brush", brush], folder.path()).1;
    let said = edited("hand+=0.5@v0@0,100,0:0.1");
    assert!(
        said.contains("from the surface, more than the radius; painted at the nearest point"),
        "{said}"
    );
    assert_eq!(
        said.lines().count(),
        2,
        "only of the one that is far: {said}"
    );
    assert_eq!(edited("hand+=0.5@0,0,0:1000").lines().count(), 1);
}
