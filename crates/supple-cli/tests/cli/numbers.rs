//! Numbers for programs: `supple measure`, `supple methods`, and `supple compare --json` and
//! `--csv`.

use super::common::{fails, folder, listing, shared_model, succeeds};
use serde_json::Value;
use std::path::Path;
use supple::Method;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Writes a bar twisted by two methods, in some frames, and one of these alone.
fn twisted_bars(folder: &Path) {
    let twist = ["deform", "@bar:2000", "--clip", "twist-150"];
    for (method, name) in [("linear", "linear.npy"), ("dqs", "dqs.npy")] {
        let all = ["-m", method, "--fps", "4", "-o", name];
        succeeds(&[&twist[..], &all].concat(), folder);
    }
    let one = ["--time", "1", "-o", "one.npy"];
    succeeds(&[&twist[..], &one].concat(), folder);
}

#[test]
fn errors_are_told_to_people_and_to_programs() {
    let folder = folder();
    twisted_bars(folder.path());
    let measure = ["measure", "linear.npy", "dqs.npy", "--mesh", "@bar:2000"];
    let text = succeeds(&measure, folder.path());
    let json = json(&succeeds(
        &[&measure[..], &["--json"]].concat(),
        folder.path(),
    ));
    assert_eq!(json["measured"]["shape"], serde_json::json!([9, 1978, 3]));
    assert_eq!(json["frames"].as_array().expect("frames").len(), 9);
    let all = &json["all_frames"];
    let extent = json["mesh"]["extent"].as_f64().expect("a number");
    for kind in ["surface_distance", "vertex_distance"] {
        let numbers = &all[kind];
        let [mean, rms, percentile, largest] = ["mean", "rms", "percentile_95", "largest"]
            .map(|key| numbers[key].as_f64().expect(key));
        assert!(
            0.0 < mean && mean < rms && rms < percentile && percentile < largest,
            "{numbers}"
        );
        let share = numbers["largest_of_extent"].as_f64().expect("a share");
        assert!((share * extent - largest).abs() < 1e-12);
        // The twist is largest in the middle of the clip.
        assert_eq!(numbers["worst_frame"], 4);
        let frame = &json["frames"][4][kind];
        assert_eq!(
            (&frame["largest"], &frame["frame"]),
            (&numbers["largest"], &Value::Null)
        );
        assert_eq!(json["frames"][4]["frame"], 4);
        assert!(["first", "second"].contains(&numbers["worst_joint"].as_str().expect("a name")));
        let vertex = numbers["worst_vertex"].as_u64().expect("a vertex");
        assert!(
            text.contains(&format!("vertex {vertex} in frame 4, held by '")),
            "{text}"
        );
        let shown = format!("{:.4} %", 100.0 * mean / extent);
        assert!(text.contains(&shown), "{shown} in {text}");
    }
    assert!(all["normal_degrees"]["largest"].as_f64() > Some(5.0));
    // Linear blending collapses the bar.
    let volume = &json["frames"][4]["volume"];
    assert!(volume["change"].as_f64() < Some(-0.02), "{volume}");
    assert!(text.contains("volume: at worst -"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 120),
        "{text}"
    );
}

#[test]
fn a_single_frame_is_compared_with_all() {
    let folder = folder();
    twisted_bars(folder.path());
    let measure = [
        "measure",
        "one.npy",
        "linear.npy",
        "--mesh",
        "@bar:2000",
        "--json",
    ];
    let json = json(&succeeds(&measure, folder.path()));
    let frames = json["frames"].as_array().expect("frames");
    assert_eq!(frames.len(), 9);
    assert_eq!(
        frames[4]["vertex_distance"]["largest"], 0.0,
        "the same frame"
    );
    assert!(frames[0]["vertex_distance"]["largest"].as_f64() > Some(0.1));
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let folder = folder();
    twisted_bars(folder.path());
    let other = [
        "deform",
        "@bar:2000",
        "--clip",
        "twist-150",
        "--fps",
        "3",
        "-o",
        "other.npy",
    ];
    succeeds(&other, folder.path());
    succeeds(&["deform", "@arm:2000", "-o", "arm.npy"], folder.path());
    std::fs::write(folder.path().join("text.npy"), "hello").expect("writable");
    for (a, b, mesh, phrase) in [
        (
            "linear.npy",
            "other.npy",
            "@bar:2000",
            "linear.npy [9, 1978, 3] and other.npy [7, 1978, 3]",
        ),
        (
            "one.npy",
            "arm.npy",
            "@bar:2000",
            "one.npy [1978, 3] and arm.npy [",
        ),
        (
            "one.npy",
            "linear.npy",
            "@arm:2000",
            "one.npy [1978, 3] does not fit the mesh of @arm",
        ),
        (
            "one.npy",
            "text.npy",
            "@bar:2000",
            "text.npy: header: this does not look like",
        ),
        ("one.npy", "missing.npy", "@bar:2000", "missing.npy: "),
    ] {
        let (status, error) = fails(&["measure", a, b, "--mesh", mesh], folder.path());
        assert_eq!(status, 1);
        assert!(error.contains(phrase), "{error}");
    }
}

#[test]
fn a_model_from_a_file_is_measured_in_its_own_order() {
    let Some(fox) = shared_model("khronos/Fox.glb") else {
        return;
    };
    let folder = folder();
    let frame = ["deform", &fox, "--clip", "Run", "--fps", "10"];
    for (method, out) in [("linear", "linear.npy"), ("cor", "cor.npy")] {
        succeeds(
            &[&frame[..], &["-m", method, "-o", out]].concat(),
            folder.path(),
        );
    }
    let measure = ["measure", "cor.npy", "linear.npy", "--mesh", &fox, "--json"];
    let json = json(&succeeds(&measure, folder.path()));
    let worst = &json["all_frames"]["vertex_distance"]["worst_joint"];
    assert!(
        worst.as_str().is_some_and(|joint| joint.starts_with("b_")),
        "{worst}"
    );
}

#[test]
fn methods_are_listed_with_papers_costs_and_options() {
    let folder = folder();
    let text = succeeds(&["methods"], folder.path());
    let json = json(&succeeds(&["methods", "--json"], folder.path()));
    let list = json.as_array().expect("a list");
    assert_eq!(list.len(), Method::ALL.len());
    for (method, listed) in Method::ALL.iter().zip(list) {
        assert_eq!(listed["name"], method.name());
        assert!(
            listed["bytes_per_vertex"].as_f64() >= Some(24.0),
            "{listed}"
        );
        assert!(
            listed["paper"]
                .as_str()
                .is_some_and(|paper| !paper.is_empty())
        );
        let solves = ["delta-mush", "arap"].contains(&method.name());
        assert_eq!(listed["relative_time"].is_null(), solves, "{listed}");
        let names = [&[method.name()], method.aliases()].concat().join(", ");
        assert!(text.lines().any(|line| line == names), "{names} in {text}");
    }
    let of = |name: &str| {
        list.iter()
            .find(|listed| listed["name"] == name)
            .expect("listed")
    };
    assert_eq!(of("linear")["relative_time"], 1.0);
    assert_eq!(of("linear")["options"], Value::Null);
    assert_eq!(of("cor")["options"], "per-vertex, per-joint");
    assert!(
        of("arap")["options"]
            .as_str()
            .expect("options")
            .contains("l=THRESHOLD")
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 160),
        "{text}"
    );
}

#[test]
fn a_comparison_is_written_as_numbers() {
    let folder = folder();
    let compare = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,cor",
        "--clip",
        "twist-150",
    ];
    let json = json(&succeeds(
        &[&compare[..], &["--json"]].concat(),
        folder.path(),
    ));
    let advice = &json["recommendation"];
    assert_eq!(advice["method"], "cor");
    let headline = advice["headline"].as_str().expect("a sentence");
    assert!(
        headline.starts_with("Use centers of rotation"),
        "{headline}"
    );
    let command = advice["commands"][0]["command"]
        .as_str()
        .expect("a command");
    assert_eq!(command, "supple bake @bar:2000 -m cor -o bar-cor.glb");
    assert!(listing(folder.path()).is_empty(), "printed, not written");

    let csv = succeeds(
        &[&compare[..], &["--csv", "-o", "report"]].concat(),
        folder.path(),
    );
    assert_eq!(csv, "");
    let files = listing(&folder.path().join("report"));
    assert_eq!(files, [folder.path().join("report/compare.csv")]);
    let csv = std::fs::read_to_string(&files[0]).expect("written");
    let of_clip = |line: &&str| line.starts_with("cor,twist-150,,,,rms_from_linear,");
    let line = csv
        .lines()
        .find(of_clip)
        .expect("the distance from linear blending");
    let value: f64 = line
        .rsplit(',')
        .next()
        .and_then(|value| value.parse().ok())
        .expect("a number");
    let rows = json["rows"].as_array().expect("rows");
    let same = rows
        .iter()
        .filter_map(|row| row["rms_from_linear"].as_f64());
    assert!(
        same.into_iter().any(|other| other == value),
        "the same in both"
    );

    let (status, error) = fails(&["compare", "@bar:2000"], folder.path());
    assert!(status == 2 && error.contains("--out <DIR>"), "{error}");
    let (status, _) = fails(&["compare", "@bar:2000", "--json", "--csv"], folder.path());
    assert_eq!(status, 2);
}

/// One name for one thing, in every command; older names work, but are not shown.
#[test]
fn options_have_the_same_names_everywhere() {
    let folder = folder();
    let help = |command: &[&str]| succeeds(&[command, &["--help"]].concat(), folder.path());
    let commands: [&[&str]; 17] = [
        &["demo"],
        &["info"],
        &["deform"],
        &["pose"],
        &["render"],
        &["compare"],
        &["measure"],
        &["methods"],
        &["convert"],
        &["bake"],
        &["weights"],
        &["weights", "edit"],
        &["twist"],
        &["handles"],
        &["shaders"],
        &["bench"],
        &["completions"],
    ];
    for command in commands {
        let help = help(command);
        for old in [
            "--methods",
            "--influences",
            "--output",
            "--clips",
            "--frames ",
            "[alias: --l",
        ] {
            assert!(!help.contains(old), "{command:?} shows {old}");
        }
        for (long, shown) in [
            ("--out", "-o, --out <"),
            ("--method", "-m, --method <METHOD>"),
        ] {
            let has = help
                .lines()
                .any(|line| line.trim_start().contains(&format!("{long} <")));
            assert!(
                !has || help.contains(shown),
                "{command:?} has another {long}"
            );
        }
        assert!(!help.contains("--max-influences") || help.contains("--max-influences <N>"));
    }
    for (command, old) in [
        (
            &["weights", "@bar:2000", "-m", "rigid", "-o", "o.glb"][..],
            ["--limit", "2"],
        ),
        (
            &["weights", "edit", "@bar:2000", "-o", "o.glb"],
            ["--limit", "2"],
        ),
        (&["shaders", "-o", "o"], ["--methods", "linear"]),
    ] {
        let output = super::common::supple(&[command, &old].concat(), folder.path());
        assert!(output.status.success(), "{command:?} {old:?}");
    }
}
