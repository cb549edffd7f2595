//! `supple handles`.

use crate::common::{change_json, fails, folder, loaded_with_weights, notes_of, succeeds};
use glam::{DAffine3, DQuat, DVec3};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn a_figure_gets_handles_that_other_commands_can_use() {
    let folder = folder();
    let handles = [
        "handles",
        "@figure:2000",
        "--method",
        "geodesic",
        "-o",
        "figure.glb",
    ];
    let message = notes_of(&handles, folder.path());
    for phrase in [
        " handles: ",
        " at ends of limbs",
        "bound by 'geodesic'",
        "replace the skin of 77 joints",
        "only the morph targets of ",
    ] {
        assert!(message.contains(phrase), "{phrase} in {message}");
    }
    let loaded = loaded_with_weights(&folder.path().join("figure.glb"));
    let joints = loaded.asset.rig.skeleton().joints().len();
    assert!((15..80).contains(&joints), "{joints}");
    assert!(loaded.asset.rig.weights().max_influences() <= 4);
    assert_eq!(loaded.document.pseudo_edges().len(), joints - 1);
    succeeds(
        &[
            "render",
            "figure.glb",
            "--size",
            "60x60",
            "-o",
            "figure.png",
        ],
        folder.path(),
    );
}

/// A handle is moved, and it and those that it is tied to turn as §3.2 of the paper has it.
#[test]
fn handles_that_are_moved_turn_by_themselves() {
    let folder = folder();
    let (bar, posed) = (
        folder.path().join("bar.glb"),
        folder.path().join("posed.glb"),
    );
    let handles = ["handles", "@bar:2000", "--count", "4", "-o", "bar.glb"];
    notes_of(&handles, folder.path());
    let moved = "handle_0+=0.1,0.2,-0.15";
    succeeds(
        &["pose", "bar.glb", "--move", moved, "-o", "posed.glb"],
        folder.path(),
    );
    let (before, after) = (loaded_with_weights(&bar), loaded_with_weights(&posed));
    let world = |loaded: &supple_io::gltf::Loaded| {
        let skeleton = loaded.asset.rig.skeleton();
        let world = skeleton.rest_world();
        let joints = skeleton.joints().iter();
        joints.map(|joint| world[joint.node]).collect::<Vec<_>>()
    };
    let (rest, posed) = (world(&before), world(&after));
    let edges = before.document.pseudo_edges();
    let places = |maps: &[glam::DAffine3]| maps.iter().map(|map| map.translation).collect();
    let (from, to): (Vec<glam::DVec3>, Vec<glam::DVec3>) = (places(&rest), places(&posed));
    let moved = from.iter().zip(&to).filter(|(a, b)| a.distance(**b) > 1e-6);
    assert_eq!(moved.count(), 1, "no handle moves another");
    let mean = supple::arap::RotationMean::Eigenvector;
    let turns = supple::arap::turns(&from, &to, &edges, mean).expect("finite");
    let mut turned = 0;
    for (posed, turn) in posed.iter().zip(turns) {
        let found = glam::DQuat::from_mat3(&posed.matrix3);
        assert!(found.dot(turn).abs() > 1.0 - 1e-6, "{found} for {turn}");
        turned += usize::from(turn.w < 0.999);
    }
    assert!(turned >= 2, "{turned}");
    let drawn = ["-m", "arap", "--size", "60x60", "-o", "posed.png"];
    let drawn: Vec<&str> = ["render", "posed.glb"].into_iter().chain(drawn).collect();
    notes_of(&drawn, folder.path());
}

/// The position and rotation of each handle, by the names of nodes.
fn handles_in(path: &Path) -> BTreeMap<String, DAffine3> {
    let loaded = loaded_with_weights(path);
    let skeleton = loaded.asset.rig.skeleton();
    let world = skeleton.rest_world();
    let nodes = skeleton.nodes().iter().zip(world);
    let named = nodes.map(|(node, world)| (node.name.clone(), world));
    named
        .filter(|(name, _)| name.starts_with("handle_"))
        .collect()
}

/// Two bars that no skin holds, on nodes that turn and scale them differently: a skin for each.
#[test]
fn a_handle_of_several_skins_turns_once() {
    let folder = folder();
    succeeds(&["convert", "@bar:2000", "-o", "bar.gltf"], folder.path());
    let path = folder.path().join("bar.gltf");
    let text = std::fs::read_to_string(&path).expect("written");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let root = json.as_object_mut().expect("an object");
    root.remove("skins");
    root.remove("animations");
    json["nodes"] = serde_json::json!([
        {
            "name": "lever", "rotation": [0.0, 0.0, 0.6, 0.8], "translation": [1.0, 2.0, 3.0],
            "children": [1, 2],
        },
        { "name": "one", "mesh": 0, "scale": [2.0, 2.0, 2.0] },
        {
            "name": "other", "mesh": 0, "rotation": [0.6, 0.0, 0.0, 0.8],
            "translation": [0.0, 0.0, 5.0],
        },
    ]);
    json["scenes"] = serde_json::json!([{ "nodes": [0] }]);
    for primitive in json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("some")
    {
        let attributes = primitive["attributes"].as_object_mut().expect("some");
        attributes.retain(|name, _| !name.starts_with("JOINTS") && !name.starts_with("WEIGHTS"));
    }
    std::fs::write(&path, json.to_string()).expect("writable");
    let handles = ["handles", "bar.gltf", "--method", "geodesic"];
    notes_of(&[&handles[..], &["-o", "bars.glb"]].concat(), folder.path());
    let bars = folder.path().join("bars.glb");
    let loaded = loaded_with_weights(&bars);
    let before = handles_in(&bars);
    let joints = loaded.asset.rig.skeleton().joints();
    assert_eq!(joints.len(), 2 * before.len(), "two skins");
    let moved = ["pose", "bars.glb", "--move", "handle_0+=0.3,0.5,-0.4"];
    succeeds(&[&moved[..], &["-o", "posed.glb"]].concat(), folder.path());
    let after = handles_in(&folder.path().join("posed.glb"));
    let place = |handles: &BTreeMap<String, DAffine3>, joint: usize| {
        let skeleton = loaded.asset.rig.skeleton();
        handles[skeleton.joint_name(joint)].translation
    };
    let all = |handles| -> Vec<DVec3> { (0..joints.len()).map(|at| place(handles, at)).collect() };
    let edges = loaded.document.pseudo_edges();
    let mean = supple::arap::RotationMean::Eigenvector;
    let turns = supple::arap::turns(&all(&before), &all(&after), &edges, mean).expect("finite");
    let mut turned = 0;
    for (joint, turn) in turns.into_iter().enumerate() {
        let name = loaded.asset.rig.skeleton().joint_name(joint);
        let found = DQuat::from_mat3(&after[name].matrix3);
        assert!(found.dot(turn).abs() > 1.0 - 1e-6, "{found} for {turn}");
        turned += usize::from(turn.w < 0.999);
    }
    assert!(turned >= 4, "{turned}");
}

/// Only the final positions of handles count, not the way there.
#[test]
fn a_handle_that_is_moved_away_and_back_is_as_it_was() {
    let folder = folder();
    let bar = ["handles", "@bar:2000", "--count", "4", "-o", "bar.glb"];
    notes_of(&bar, folder.path());
    let pose = |from: &str, by: &str, to: &str| {
        let moved = format!("handle_0+={by}");
        succeeds(&["pose", from, "--move", &moved, "-o", to], folder.path());
        handles_in(&folder.path().join(to))
    };
    let apart = |a: &BTreeMap<String, DAffine3>, b: &BTreeMap<String, DAffine3>| {
        let pairs = a.values().zip(b.values());
        let distances = pairs.flat_map(|(a, b)| {
            let [a, b] = [a, b].map(DAffine3::to_cols_array);
            (0..12).map(move |at| (a[at] - b[at]).abs())
        });
        distances.fold(0.0, f64::max)
    };
    let rest = handles_in(&folder.path().join("bar.glb"));
    let once = pose("bar.glb", "0.1,0.2,-0.15", "once.glb");
    assert!(apart(&once, &rest) > 0.1);
    let back = pose("once.glb", "-0.1,-0.2,0.15", "back.glb");
    assert!(apart(&back, &rest) < 1e-5, "{}", apart(&back, &rest));
    pose("bar.glb", "0.3,0.0,0.3", "half.glb");
    let twice = pose("half.glb", "-0.2,0.2,-0.45", "twice.glb");
    assert!(apart(&twice, &once) < 1e-5, "{}", apart(&twice, &once));
}

#[test]
fn handles_are_listed_and_drawn() {
    let folder = folder();
    notes_of(
        &["handles", "@bar:2000", "--count", "4", "-o", "bar.json"],
        folder.path(),
    );
    let text = std::fs::read_to_string(folder.path().join("bar.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let list = |key: &str| json[key].as_array().expect("a list").len();
    assert_eq!((list("handles"), list("edges")), (4, 3));
    assert_eq!(json["segments"]["count"], 1);
    let drawn = [
        "handles",
        "@bar:2000",
        "--size",
        "80x60",
        "--view",
        "front",
        "-o",
        "bar.png",
    ];
    notes_of(&drawn, folder.path());
    let picture = std::fs::read(folder.path().join("bar.png")).expect("written");
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn places_and_edges_can_be_given() {
    let folder = folder();
    notes_of(
        &["handles", "@bar:2000", "--count", "3", "-o", "places.json"],
        folder.path(),
    );
    let text = std::fs::read_to_string(folder.path().join("places.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let place = |handle: usize| {
        let place = json["handles"][handle]["place"]
            .as_array()
            .expect("a place");
        let numbers: Vec<String> = place.iter().map(|number| number.to_string()).collect();
        numbers.join(",")
    };
    let [a, b, c] = [place(0), place(1), place(2)];
    let given = [
        "handles",
        "@bar:2000",
        "--at",
        &a,
        "--at",
        &b,
        "--at",
        &c,
        "--edge",
        "0-1",
        "--edge",
        "2-1",
        "-o",
        "given.json",
    ];
    assert!(notes_of(&given, folder.path()).contains("3 handles: 3 given"));
    let text = std::fs::read_to_string(folder.path().join("given.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["edges"], serde_json::json!([[0, 1], [1, 2]]));

    let cases: [(i32, Vec<&str>, &str); 7] = [
        (
            1,
            vec!["--at", "0,9,0"],
            "handle 0 at 0, 9, 0 is outside of the body",
        ),
        (
            2,
            vec!["--at", &a, "--at", &a],
            "handles 0 and 1 are at the same position",
        ),
        (
            2,
            vec!["--at", &a, "--at", &b, "--edge", "0-2"],
            "an edge names handle 2, but there are 2",
        ),
        (
            2,
            vec!["--at", &a, "--at", &b, "--at", &c, "--edge", "0-1"],
            "handle 2 has no edge",
        ),
        (2, vec!["--count", "0"], "the number of handles is 0"),
        (2, vec!["--at", "1,2"], "expected three numbers"),
        (2, vec!["--at", &a, "--count", "3"], "cannot be used with"),
    ];
    for (status, options, phrase) in cases {
        let arguments = [&["handles", "@bar:2000", "-o", "no.glb"], &options[..]].concat();
        let (found, error) = fails(&arguments, folder.path());
        assert!(
            found == status && error.contains(phrase),
            "{found}: {error}"
        );
    }
    let (status, error) = fails(&["handles", "@bar", "-o", "no.obj"], folder.path());
    assert!(
        status == 2 && error.contains(".glb, .gltf, .json or .png"),
        "{error}"
    );
}

#[test]
fn a_sheet_has_its_handles_on_itself() {
    let folder = folder();
    let message = notes_of(
        &["handles", "@cloth:2000", "-o", "cloth.glb"],
        folder.path(),
    );
    assert!(
        message.contains("no inside, so handles lie on it"),
        "{message}"
    );
    loaded_with_weights(&folder.path().join("cloth.glb"));
}

/// A list of handles.
fn json_in(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn what_there_is_no_room_for_is_reported() {
    let folder = folder();
    let place = |also: &[&str]| {
        let arguments = [&["handles", "@bar:2000", "-o", "bar.json"], also].concat();
        let message = notes_of(&arguments, folder.path());
        let json = json_in(&folder.path().join("bar.json"));
        let placed = json["handles"].as_array().expect("a list").len();
        (message, placed, json["missing"].as_u64().expect("a number"))
    };
    for also in [
        &["--count", "400"][..],
        &["--count", "400", "--also-at", "0.1,0,0"],
    ] {
        let (message, placed, missing) = place(also);
        let note = format!("note: only {placed} of 400 handles fit");
        assert!(message.contains(&note), "{message}");
        assert_eq!(placed as u64 + missing, 400);
    }
    let (message, placed, missing) = place(&["--count", "4", "--also-at", "0.1,0,0"]);
    assert!(
        !message.contains("room") && (placed, missing) == (4, 0),
        "{message}"
    );
    let fewer = [
        "--count",
        "1",
        "--also-at",
        "0.1,0,0",
        "--also-at",
        "0.3,0,0",
    ];
    let fewer = [&["handles", "@bar:2000", "-o", "no.json"], &fewer[..]].concat();
    let (status, error) = fails(&fewer, folder.path());
    assert!(
        status == 2 && error.contains("is 1, but 2 are given"),
        "{error}"
    );
}

#[test]
fn handles_are_refused_where_they_cannot_be() {
    let folder = folder();
    let refused = |character: &str, given: &[&str]| {
        let arguments = [&["handles", character, "-o", "no.glb"], given].concat();
        fails(&arguments, folder.path())
    };
    for also in ["--at", "--also-at"] {
        let given = [also, "0.1,0,0", also, "-0.2,0,0", also, "0.1,0.0001,0"];
        let (status, error) = refused("@bar:2000", &given);
        let phrase = "handles 0 and 2 are at the same position: 0.000100 apart in a body of ";
        assert!(status == 2 && error.contains(phrase), "{error}");
    }
    let (status, error) = refused("@bar:2000", &["--at", "0.123456,7.5,0"]);
    let away = error
        .split("outside of the body, ")
        .nth(1)
        .expect("how far");
    let away = away.split(' ').next().expect("a number");
    assert!(status == 1 && away.len() <= 4, "{error}");
    let (status, error) = refused("@cloth:2000", &["--at", "0,9,0"]);
    let phrases = ["handle 0 at 0, 9, 0 is off the surface, ", "no inside"];
    let has_phrases = phrases.iter().all(|phrase| error.contains(phrase));
    assert!(status == 1 && has_phrases, "{error}");
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    for (out, option, value) in [
        ("no.png", "--method", "bbw"),
        ("no.png", "--max-influences", "4"),
        ("no.json", "--method", "geodesic"),
        ("no.json", "--max-influences", "none"),
        ("no.json", "--size", "20x20"),
        ("no.json", "--view", "front"),
        ("no.glb", "--size", "20x20"),
        ("no.gltf", "--view", "side"),
    ] {
        let arguments = ["handles", "@bar:2000", option, value, "-o", out];
        let (status, error) = fails(&arguments, folder.path());
        let phrase = format!("{out}: {option} is for ");
        assert!(status == 2 && error.contains(&phrase), "{error}");
    }
}

/// The device that is always full is there on Linux.
#[test]
#[cfg(target_os = "linux")]
fn a_picture_that_cannot_be_written_says_why() {
    let folder = folder();
    let full = folder.path().join("full.png");
    std::os::unix::fs::symlink("/dev/full", full).expect("a link");
    for arguments in [
        ["handles", "@bar:2000", "-o", "full.png"],
        ["render", "@bar:2000", "-o", "full.png"],
    ] {
        let (status, error) = fails(&arguments, folder.path());
        let reason = "cannot write full.png: the picture could not be written as PNG: ";
        assert!(status == 1 && error.contains(reason), "{error}");
        assert!(error.contains("No space left on device"), "{error}");
    }
}

/// Invalid edges of a file are reported, and the others are used.
#[test]
fn edges_of_a_file_that_make_no_sense_are_reported() {
    let folder = folder();
    let bar = ["handles", "@bar:2000", "--count", "3", "-o", "bar.gltf"];
    notes_of(&bar, folder.path());
    change_json(&folder.path().join("bar.gltf"), |json| {
        let record = &mut json["skins"][0]["extras"]["supple"]["point_handles"];
        record["edges"] = serde_json::json!([[0, 1], [1, 2], [1, 7], [2, 2], "x"]);
    });
    let moved = [
        "pose",
        "bar.gltf",
        "--move",
        "handle_0+=0,0.1,0",
        "-o",
        "posed.glb",
    ];
    let message = notes_of(&moved, folder.path());
    for phrase in [
        "pseudo-edge 2 of skin 0: the skin has no joint 7, only 3",
        "pseudo-edge 3 of skin 0: it connects joint 2 with itself",
        "pseudo-edge 4 of skin 0: \"x\" is not a pair of joint indices",
    ] {
        assert!(message.contains(phrase), "{message}");
    }
    let info = succeeds(&["info", "bar.gltf"], folder.path());
    assert!(
        info.contains("ignored: 3 pseudo-edges between point handles; pseudo-edge 2"),
        "{info}"
    );
}

/// Handles of a mesh on a node that scales it: its skin carries it there, and nothing is bent. A
/// handle that is moved bends it.
#[test]
fn a_body_that_is_carried_as_a_whole_is_nothing_odd() {
    let folder = folder();
    succeeds(&["convert", "@bar:2000", "-o", "bar.gltf"], folder.path());
    change_json(&folder.path().join("bar.gltf"), |json| {
        let root = json.as_object_mut().expect("an object");
        root.remove("skins");
        root.remove("animations");
        json["nodes"] = serde_json::json!([
            {
                "name": "bar", "mesh": 0, "scale": [30.0, 30.0, 30.0],
                "translation": [1.0, 2.0, 3.0],
            },
        ]);
        json["scenes"] = serde_json::json!([{ "nodes": [0] }]);
        let primitives = json["meshes"][0]["primitives"].as_array_mut();
        for primitive in primitives.expect("some") {
            let attributes = primitive["attributes"].as_object_mut().expect("some");
            attributes
                .retain(|name, _| !name.starts_with("JOINTS") && !name.starts_with("WEIGHTS"));
        }
    });
    notes_of(&["handles", "bar.gltf", "-o", "bars.glb"], folder.path());
    let odd = "the rest pose differs from the bind pose";
    let info = succeeds(&["info", "bars.glb"], folder.path());
    assert!(!info.contains(odd), "{info}");
    assert!(!info.contains(" roots"), "{info}");
    let moved = [
        "pose",
        "bars.glb",
        "--move",
        "handle_0+=0,3,0",
        "-o",
        "posed.glb",
    ];
    succeeds(&moved, folder.path());
    let info = succeeds(&["info", "posed.glb"], folder.path());
    assert!(info.contains(odd), "{info}");
}
