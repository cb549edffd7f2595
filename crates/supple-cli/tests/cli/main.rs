//! The command as its users meet it: its help, how it ends, what it tells of a character.

#![allow(clippy::expect_used)] // in the helpers of the tests below

mod bake;
mod common;
mod deform;
mod device;
mod handles;
#[cfg(target_os = "linux")]
mod hostile;
mod numbers;
mod outputs;
mod pictures;
mod pose;
mod readable;
mod sequence;
mod shaders;
mod twist;
mod untrusted_text;
mod unused_options;
mod weights;
mod weights_edit;

use common::{fails, folder, succeeds};
use std::process::Command;

/// Help texts and error messages, word for word, from `tests/cmd/*.toml`.
#[test]
fn help_and_errors_read_as_written_down() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .case("tests/cmd/*.toml");
}

#[test]
fn what_cannot_be_written_is_known_before_the_work() {
    let folder = folder();
    let cases: [&[&str]; 6] = [
        &["bake", "missing.glb", "-m", "cor", "-o", "no/out.glb"],
        &["deform", "missing.glb", "-o", "no/out.npy"],
        &["convert", "missing.glb", "-o", "no/out.glb"],
        &["render", "missing.glb", "-o", "no/out.png"],
        &["render", "missing.glb", "-o", "no/out.gif"],
        &["deform", "missing.glb", "-o", "no/out.gltf"],
    ];
    for arguments in cases {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, 1);
        let expected = "there is no folder no\n";
        assert!(
            error.contains("cannot write no/out.") && error.ends_with(expected),
            "{error}"
        );
    }
}

#[test]
fn bench_tells_programs_what_it_tells_people() {
    let folder = folder();
    let rows = succeeds(&["bench", "@bar:2000", "--exact", "--json"], folder.path());
    let rows: serde_json::Value = serde_json::from_str(&rows).expect("JSON");
    let all = rows.as_array().expect("an array");
    let of = |bench: &str| -> Vec<_> { all.iter().filter(|row| row["bench"] == bench).collect() };
    let [centers, mush, weights, frames] = ["centers", "mush", "weights", "frame"].map(of);
    let counts = [&centers, &mush, &weights, &frames].map(|rows| rows.len());
    assert_eq!(counts.iter().sum::<usize>(), all.len());
    // All but the two that solve for the whole surface, with and without normals, on one thread
    // and, if there are more, on all.
    let direct = supple::Method::ALL.len() - 2;
    let threads = frames.iter().map(|row| row["threads"].as_u64());
    let several = threads.max() > Some(Some(1));
    assert_eq!(frames.len(), direct * if several { 4 } else { 2 });
    for row in &frames {
        assert!(row["bytes_per_vertex"].as_f64().expect("bytes") >= 24.0);
        assert!(row["copy_share"].as_f64().expect("a share") > 0.0);
        assert!(row["method"].is_string() && row["normals"].is_boolean());
        assert_eq!(row["influences"], frames[0]["influences"]);
    }
    let whats = weights.iter().map(|row| row["what"].as_str());
    let methods = ["rigid", "envelope", "heat", "geodesic", "bbw"];
    assert!(whats.eq(methods.map(Some)));
    assert!(weights[4]["voxels"].as_u64() > Some(100));
    for row in all {
        let is_frame = row["bench"] == "frame";
        let time = if is_frame { "ns_per_vertex" } else { "ms" };
        assert!(row[time].as_f64().expect("a time") > 0.0);
        assert!(row["vertices"].as_u64().expect("a count") > 1000);
    }
    let [center] = centers[..] else {
        panic!("one bake of centers");
    };
    assert!(center["largest_error"].as_f64().expect("an error") < 3e-5);
    assert!(center["exact_ms"].as_f64().expect("a time") > 0.0);
    let radii: Vec<_> = mush
        .iter()
        .map(|row| row["radius_from_bones"].as_bool())
        .collect();
    assert_eq!(radii, [Some(false), Some(true)]);
    for row in mush {
        assert!(
            row["largest_difference"].as_f64().expect("a number") < 1e-5,
            "{row}"
        );
        assert!(row["unpruned_ms"].as_f64().expect("a time") > 0.0);
    }

    let table = succeeds(&["bench", "@bar:2000"], folder.path());
    let names = supple::Method::ALL[..3].iter().map(supple::Method::name);
    let bakes = ["centers of rotation", "direct delta mush"];
    for what in names.chain(bakes).chain(methods) {
        assert!(table.contains(&format!("| {what} ")), "{table}");
    }
}

#[test]
fn info_tells_programs_what_it_tells_people() {
    let folder = folder();
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(&["info", "@cloth", "--json"], folder.path()))
            .expect("JSON");
    assert_eq!(json["joint_count"], 9);
    assert_eq!(json["topology"]["components"], 1);
    let kinds: Vec<_> = json["odd"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|odd| &odd["kind"])
        .collect();
    assert!(kinds.iter().any(|kind| *kind == "open_edges"), "{kinds:?}");
    let text = succeeds(&["info", "@cloth"], folder.path());
    assert!(text.contains("9 joints"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn info_names_the_commands_that_improve_weights() {
    let folder = folder();
    common::unbound("@bar:2000", folder.path(), "my bar.gltf");
    common::notes_of(
        &["weights", "@bar:2000", "-m", "rigid", "-o", "rigid.glb"],
        folder.path(),
    );
    let rated = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let rating = &json["weight_rating"];
        let worst = &rating["reasons"][0];
        let words = [&rating["rating"], &worst["kind"], &worst["command"]];
        words.map(|word| word.as_str().unwrap_or_default().to_owned())
    };
    let unbound = "supple weights 'my bar.gltf' -m heat -o 'my bar-heat.glb'";
    assert_eq!(rated("my bar.gltf"), ["poor", "no_weights", unbound]);
    let rigid = "supple weights rigid.glb -m heat -o rigid-heat.glb";
    assert_eq!(rated("rigid.glb"), ["fair", "rigid", rigid]);
    let text = succeeds(&["info", "rigid.glb"], folder.path());
    let expected = "  weights      fair\n               - every vertex follows one joint";
    assert!(
        text.contains(expected) && text.contains(&format!("    {rigid}\n")),
        "{text}"
    );
    // The commands work, and help.
    let words: Vec<&str> = rigid.split(' ').skip(1).collect();
    common::notes_of(&words, folder.path());
    assert_eq!(rated("rigid-heat.glb")[0], "good");
}

#[test]
fn info_judges_the_weights() {
    let folder = folder();
    let json = succeeds(&["info", "@bar:2000", "--json"], folder.path());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["weight_rating"]["rating"], "good");
    assert_eq!(json["weight_rating"]["reasons"], serde_json::json!([]));
    let held: Vec<_> = json["joints"].as_array().expect("joints").iter().collect();
    assert_eq!((held.len(), &held[1]["parent"]), (2, &0.into()));
    assert!(
        held.iter()
            .all(|joint| joint["vertices"].as_u64() > Some(100))
    );
    let quality = &json["weight_quality"];
    let smoothness = &quality["smoothness"];
    let [roughness, rigid] = ["roughness", "rigid_roughness"].map(|key| smoothness[key].as_f64());
    assert!(roughness > Some(1.0) && rigid > roughness, "{smoothness}");
    assert!(quality["locality"]["reach"].as_f64() >= Some(1.0));
    assert_eq!(quality["monotonicity"]["spurious"], 0);
    assert_eq!(quality["asymmetry"]["matched"], 1.0);
    assert_eq!(quality["partition_of_unity"]["vertices"], 0);
    let text = succeeds(&["info", "@bar:2000"], folder.path());
    for line in [
        "  joints       with the number of vertices that each influences\n               first ",
        "\n                 second ",
        "  weights      good: smooth, and close to their bones\n",
        "  measures     smoothness: smooth, roughness ",
        "               locality: joints on average 1.01 times as far as the nearest bone",
        "               maxima: one for each joint\n",
        "               symmetry: equal on both sides of Z\n",
        "               sums: 1\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn colours_come_when_forced_and_go_when_unwanted() {
    let folder = folder();
    let info = |variables: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
        command.args(["info", "@cloth"]).current_dir(folder.path());
        command
            .env_remove("NO_COLOR")
            .envs(variables.iter().map(|name| (name, "1")));
        String::from_utf8(command.output().expect("the binary runs").stdout).expect("UTF-8")
    };
    assert!(info(&["CLICOLOR_FORCE"]).contains('\u{1b}'));
    assert!(!info(&["NO_COLOR"]).contains('\u{1b}'));
}

#[test]
fn wrong_command_lines_end_with_2_and_failures_with_1() {
    let folder = folder();
    let cases: &[(i32, &[&str], &str)] = &[
        (
            2,
            &["deform", "@bar", "-o", "out.xyz"],
            "the extension must be",
        ),
        (
            2,
            &["deform", "@blob", "-o", "out.npy"],
            "there is no character 'blob'",
        ),
        (2, &["deform", "@bar:7", "-o", "out.npy"], "2000"),
        (
            2,
            &["deform", "@bar", "-m", "wobbly", "-o", "out.npy"],
            "linear",
        ),
        (
            2,
            &[
                "deform", "@bar", "--time", "1", "--frame", "2", "-o", "out.npy",
            ],
            "cannot be used with",
        ),
        (
            2,
            &["render", "@bar", "--size", "0x0", "-o", "out.png"],
            "expected WIDTHxHEIGHT",
        ),
        (
            2,
            &["render", "@bar", "-o", "out.jpg"],
            "the extension must be .png or .gif",
        ),
        (
            1,
            &["deform", "missing.glb", "-o", "out.npy"],
            "missing.glb",
        ),
        (
            1,
            &["deform", "@bar", "--clip", "tango", "-o", "out.npy"],
            "bend-90",
        ),
        (
            1,
            &["deform", "@bar", "-o", "no/such/folder/out.npy"],
            "cannot write",
        ),
        (1, &["info", "."], "not a regular file"),
    ];
    for (expected, arguments, phrase) in cases {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn broken_files_give_one_clear_error_and_no_output() {
    let folder = folder();
    succeeds(&["convert", "@bar:2000", "-o", "bar.glb"], folder.path());
    let whole = std::fs::read(folder.path().join("bar.glb")).expect("written");
    std::fs::write(folder.path().join("cut.glb"), &whole[..whole.len() / 2]).expect("writable");
    std::fs::write(folder.path().join("text.glb"), "hello").expect("writable");
    for (file, phrase) in [
        ("cut.glb", "byte 8: the header claims"),
        ("text.glb", "JSON line 1"),
    ] {
        for command in [
            &["deform", file, "-o", "out.npy"][..],
            &["render", file, "-o", "out.png"],
            &["convert", file, "-o", "out.glb"],
            &["info", file],
        ] {
            let (status, error) = fails(command, folder.path());
            assert_eq!(status, 1);
            assert!(error.contains(file) && error.contains(phrase), "{error}");
            assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        }
    }
}
