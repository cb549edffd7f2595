//! `supple weights` as its users meet it.

use super::common::{
    fails, folder, listing, loaded_with_weights, notes_of, shared_model, succeeds, supple, unbound,
};

const METHODS: [&str; 5] = ["rigid", "envelope", "heat", "geodesic", "bbw"];

#[test]
fn a_character_is_bound_by_every_method_and_reads_back() {
    let folder = folder();
    for character in ["@bar:2000", "@figure:2000"] {
        for method in METHODS {
            let arguments = ["weights", character, "-m", method, "-o", "bound.glb"];
            let said = notes_of(&arguments, folder.path());
            assert!(
                said.contains(&format!(" by '{method}', at most ")),
                "{said}"
            );
            let loaded = loaded_with_weights(&folder.path().join("bound.glb"));
            let weights = loaded.asset.rig.weights();
            let most = if method == "rigid" { 1 } else { 4 };
            assert!(weights.max_influences() <= most, "{character}, {method}");
            let vertices = format!("{} vertices bound to ", weights.vertex_count());
            assert!(said.starts_with(&vertices), "{said}");
        }
    }
    // Nothing but the result is left, and it is bound again, as text.
    assert_eq!(listing(folder.path()).len(), 1);
    let again = ["weights", "bound.glb", "-m", "heat", "-o", "again.gltf"];
    notes_of(&again, folder.path());
    loaded_with_weights(&folder.path().join("again.gltf"));
}

#[test]
fn a_file_without_weights_gets_those_of_the_same_file_with_them() {
    let folder = folder();
    unbound("@arm:2000", folder.path(), "bare.gltf");
    succeeds(&["convert", "@arm:2000", "-o", "whole.gltf"], folder.path());
    for method in ["rigid", "heat", "bbw"] {
        let bound = ["bare", "whole"].map(|name| {
            let (file, out) = (format!("{name}.gltf"), format!("{name}.glb"));
            let arguments = ["weights", &file, "-m", method, "--json", "-o", &out];
            succeeds(&arguments, folder.path());
            loaded_with_weights(&folder.path().join(out)).asset
        });
        assert_eq!(bound[0].rig.weights(), bound[1].rig.weights(), "{method}");
        assert_eq!(bound[0].clips, bound[1].clips, "all else stays");
    }
    let used = [
        "weights",
        "bare.gltf",
        "-m",
        "heat",
        "--used",
        "-o",
        "out.glb",
    ];
    let (status, error) = fails(&used, folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("--used needs weights"), "{error}");
}

#[test]
fn json_tells_programs_all_about_it() {
    let folder = folder();
    let bound = |more: &[&str]| -> serde_json::Value {
        let arguments = ["weights", "@arm:2000", "--json", "-o", "arm.glb", "-m"];
        let text = succeeds(&[&arguments, more].concat(), folder.path());
        serde_json::from_str(&text).expect("one object")
    };
    let json = bound(&["bbw", "--voxels", "1000"]);
    assert_eq!(json["method"], "bbw");
    assert!(json["voxels"].as_u64() > Some(100));
    assert!(json["cells"].as_u64() >= json["voxels"].as_u64());
    assert!(json["convergence"]["sweeps"].as_u64() > Some(0));
    assert!(json["max_influences"].as_u64() <= Some(4));
    assert!(json["unreached"].is_array() && json["weight_quality"].is_object());
    let json = bound(&["rigid"]);
    assert!(json["convergence"].is_null());
    assert_eq!(json["max_influences"], 1);
    let json = bound(&["geodesic", "--max-influences", "none"]);
    assert!(json["max_influences"].as_u64() > Some(4), "{json}");
}

#[test]
fn what_cannot_be_bound_is_explained() {
    let folder = folder();
    succeeds(&["deform", "@bar:2000", "-o", "static.glb"], folder.path());
    std::fs::write(folder.path().join("text.glb"), "hello").expect("writable");
    let cases: &[(i32, &[&str], &[&str])] = &[
        (
            2,
            &["@bar", "-m", "rigid", "--strength", "2"],
            &["--strength is not an option of 'rigid'"],
        ),
        (
            2,
            &["@bar", "-m", "heat", "--falloff", "2"],
            &["--falloff is not an option of 'heat'"],
        ),
        (
            2,
            &["@bar", "-m", "bbw", "--radius", "first=2"],
            &["--radius is not an option of 'bbw'"],
        ),
        (
            2,
            &["@bar", "-m", "heat", "--voxels", "1000"],
            &["--voxels is not an option of 'heat'"],
        ),
        (
            2,
            &["@bar", "-m", "heat", "--strength", "0"],
            &["strength is 0, but must be above zero"],
        ),
        (
            2,
            &["@bar", "-m", "bbw", "--voxels", "5"],
            &["between 100 and 2000000"],
        ),
        (
            2,
            &["@bar", "-m", "heat", "--max-influences", "0"],
            &["above zero, or 'none'"],
        ),
        (
            2,
            &["@bar", "-m", "envelope", "--radius", "first"],
            &["such as spine=0.2"],
        ),
        (
            2,
            &["@bar", "-m", "wobbly"],
            &["[possible values: rigid, envelope, heat, geodesic, bbw]"],
        ),
        (2, &["@bar"], &["--method"]),
        (
            2,
            &["@bar", "-m", "heat", "--without", "secnd"],
            &["there is no joint 'secnd'", "second"],
        ),
        (
            2,
            &["@bar", "-m", "envelope", "--radius", "third=1"],
            &["there is no joint 'third'"],
        ),
        (
            1,
            &[
                "@bar",
                "-m",
                "heat",
                "--without",
                "first",
                "--without",
                "second",
            ],
            &["no joint is left for vertex 0", "leave out fewer joints"],
        ),
        (
            1,
            &["static.glb", "-m", "heat"],
            &["no mesh of the file has a skin"],
        ),
        (1, &["missing.glb", "-m", "heat"], &["missing.glb"]),
        (1, &["text.glb", "-m", "heat"], &["text.glb", "JSON line 1"]),
    ];
    for (expected, arguments, phrases) in cases {
        let arguments = [&["weights", "-o", "out.glb"], *arguments].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        for phrase in *phrases {
            assert!(error.contains(phrase), "{arguments:?}: {error}");
        }
    }
    for (out, expected, phrase) in [
        ("out.obj", 2, "the extension must be .glb or .gltf"),
        ("no/out.glb", 1, "there is no folder no"),
    ] {
        let arguments = ["weights", "@bar", "-m", "heat", "-o", out];
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, expected, "{error}");
        assert!(error.contains(phrase), "{error}");
    }
}

#[test]
fn joints_are_left_out_by_name() {
    let folder = folder();
    let arguments = [
        "weights",
        "@bar:2000",
        "-m",
        "heat",
        "--without",
        "second",
        "-o",
        "out.glb",
    ];
    let said = notes_of(&arguments, folder.path());
    assert!(said.contains("bound to 1 joint by 'heat'"), "{said}");
    let rig = loaded_with_weights(&folder.path().join("out.glb"))
        .asset
        .rig;
    for vertex in 0..rig.weights().vertex_count() {
        let mut held = rig.weights().of(vertex);
        assert!(held.all(|influence| rig.skeleton().joint_name(influence.joint) == "first"));
    }
}

#[test]
fn joints_whose_bind_matrix_cannot_be_inverted_are_reported() {
    let folder = folder();
    succeeds(&["convert", "@arm:2000", "-o", "arm.glb"], folder.path());
    let whole = std::fs::read(folder.path().join("arm.glb")).expect("written");
    let loaded = loaded_with_weights(&folder.path().join("arm.glb"));
    let odd = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        json["odd"].to_string()
    };
    assert!(!odd("arm.glb").contains("singular_binds"));
    let bind = |file: &str, more: &[&str]| {
        let arguments = ["weights", file, "-m", "heat", "-o", "out.glb"];
        supple(&[&arguments, more].concat(), folder.path())
    };
    // The first axis of one matrix becomes nothing.
    let (mut flat, start) = (whole.clone(), bind_matrices(&whole));
    flat[start + 64 * 3..][..16].fill(0);
    std::fs::write(folder.path().join("flat.glb"), &flat).expect("writable");
    let joint = loaded.document.joints_in_file_order()[3];
    let name = loaded.asset.rig.skeleton().joint_name(joint);
    let expected = format!("1 joint with a bind matrix that cannot be inverted: '{name}'");
    assert!(odd("flat.glb").contains(&expected), "{}", odd("flat.glb"));
    let said = String::from_utf8(bind("flat.glb", &[]).stderr).expect("UTF-8");
    assert!(said.contains(&format!("warning: {expected}\n")), "{said}");
    let json: serde_json::Value =
        serde_json::from_slice(&bind("flat.glb", &["--json"]).stdout).expect("JSON");
    assert_eq!(json["singular_binds"], serde_json::json!([name]));
    loaded_with_weights(&folder.path().join("out.glb"));
    // All of them.
    let count = loaded.asset.rig.skeleton().joints().len();
    flat[start..start + 64 * count].fill(0);
    std::fs::write(folder.path().join("flat.glb"), &flat).expect("writable");
    let output = bind("flat.glb", &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    let hint = format!("{count} joints with a bind matrix that cannot be inverted");
    assert!(
        said.contains("no joint to bind to") && said.contains(&hint),
        "{said}"
    );
}

/// The position of the first skin's bind matrices in a binary file.
fn bind_matrices(file: &[u8]) -> usize {
    let text_length = u32::from_le_bytes([file[12], file[13], file[14], file[15]]) as usize;
    let text = &file[20..20 + text_length];
    let json: serde_json::Value = serde_json::from_slice(text).expect("JSON");
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as usize;
    let accessor = &json["accessors"][number(&json["skins"][0]["inverseBindMatrices"])];
    let view = &json["bufferViews"][number(&accessor["bufferView"])];
    20 + text_length + 8 + number(&view["byteOffset"]) + number(&accessor["byteOffset"])
}

#[test]
fn what_follows_others_is_told_with_its_mesh() {
    let folder = folder();
    let Some(knight) = shared_model("characters/KayKit_Knight.glb") else {
        return;
    };
    let arguments = ["weights", &knight, "-m", "heat", "-o", "out.glb"];
    let said = notes_of(&arguments, folder.path());
    let (_, follow) = said.split_once("without a bone follow").expect("some do");
    assert!(follow.contains(" of mesh 'Knight_"), "{said}");
}
