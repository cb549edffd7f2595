//! `supple handles`.

use crate::common::{fails, folder, loaded_with_weights, succeeds, told};

#[test]
fn a_figure_gets_handles_that_other_commands_can_use() {
    let folder = folder();
    let handles = [
        "handles",
        "@figure:2000",
        "--weights",
        "geodesic",
        "-o",
        "figure.glb",
    ];
    let message = told(&handles, folder.path());
    for phrase in [
        " handles: ",
        " at ends of limbs",
        "bound by 'geodesic'",
        "replace the skin of 77 joints",
        "only morph targets are kept",
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

#[test]
fn handles_are_listed_and_drawn() {
    let folder = folder();
    told(
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
    told(&drawn, folder.path());
    let picture = std::fs::read(folder.path().join("bar.png")).expect("written");
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn places_and_edges_can_be_given() {
    let folder = folder();
    told(
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
    assert!(told(&given, folder.path()).contains("3 handles: 3 given"));
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
            "handles 0 and 1 are at the same place",
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
    let message = told(
        &["handles", "@cloth:2000", "-o", "cloth.glb"],
        folder.path(),
    );
    assert!(
        message.contains("no inside, so handles lie on it"),
        "{message}"
    );
    loaded_with_weights(&folder.path().join("cloth.glb"));
}
