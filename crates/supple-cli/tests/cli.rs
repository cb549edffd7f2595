//! The command as its users meet it: what it prints, what it writes, how it ends.

#![allow(clippy::expect_used)] // in the helpers of the tests below

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use supple::characters::{self, Character};

/// Help texts and error messages, word for word, from `tests/cmd/*.toml`.
#[test]
fn help_and_errors_read_as_written_down() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .case("tests/cmd/*.toml");
}

fn supple(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    command.args(arguments).current_dir(folder);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.output().expect("the binary runs")
}

fn succeeds(arguments: &[&str], folder: &Path) -> String {
    let output = supple(arguments, folder);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    assert!(error.is_empty(), "no progress in a pipe, but: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Exit status and message of a command that fails, after checking that it left nothing behind.
fn fails(arguments: &[&str], folder: &Path) -> (i32, String) {
    let before = listing(folder);
    let output = supple(arguments, folder);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert_eq!(listing(folder), before, "{arguments:?} left a file behind");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().expect("no signal"), error)
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn deform_writes_every_format_and_the_numbers_agree() {
    let folder = folder();
    let moment = [
        "deform",
        "@bar:2000",
        "--clip",
        "bend-90",
        "--time",
        "1.0",
        "-o",
    ];
    for name in ["bar.npy", "bar.obj", "bar.ply", "bar.glb", "bar.gltf"] {
        succeeds(&[&moment[..], &[name]].concat(), folder.path());
    }
    let from_npy = npy_rows(&folder.path().join("bar.npy"));
    let obj = std::fs::read_to_string(folder.path().join("bar.obj")).expect("written");
    let from_obj: Vec<Vec<f32>> = obj
        .lines()
        .filter_map(|line| line.strip_prefix("v "))
        .map(|line| {
            line.split(' ')
                .map(|x| x.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(from_npy, from_obj);
    // The posed .glb is a static file: at rest it shows what the pose showed.
    succeeds(&["deform", "bar.glb", "-o", "again.npy"], folder.path());
    assert_eq!(npy_rows(&folder.path().join("again.npy")), from_npy);
    let ply = std::fs::read(folder.path().join("bar.ply")).expect("written");
    assert!(ply.starts_with(b"ply\n"));
}

/// The rows of an n×3 float32 array, by the format's own definition.
fn npy_rows(path: &Path) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).expect("written");
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let header_length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..10 + header_length]);
    assert!(
        header.contains("'descr': '<f4'") && header.contains("'fortran_order': False"),
        "{header}"
    );
    let numbers: Vec<f32> = bytes[10 + header_length..]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|chunk| f32::from_le_bytes(*chunk))
        .collect();
    numbers.chunks(3).map(<[f32]>::to_vec).collect()
}

/// An array of float64, by the format's own definition.
fn write_npy(path: &Path, shape: &[usize], values: &[f64]) {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sides}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    std::fs::write(path, &bytes).expect("writable");
}

#[test]
fn frames_are_times_and_clips_are_found_by_name_case_or_number() {
    let folder = folder();
    let deform = |wish: &[&str]| {
        let arguments = [&["deform", "@bar:2000", "-o", "out.npy"], wish].concat();
        succeeds(&arguments, folder.path());
        npy_rows(&folder.path().join("out.npy"))
    };
    let expected = deform(&["--clip", "bend-90", "--time", "0.5"]);
    assert_eq!(deform(&["--clip", "bend-90", "--frame", "15"]), expected);
    assert_eq!(
        deform(&["--clip", "Bend_90", "--frame", "5", "--fps", "10"]),
        expected
    );
    assert_eq!(deform(&["--clip", "0", "--time", "0.5"]), expected);
    assert_eq!(deform(&["--time", "0.5"]), expected, "the first clip");
    assert_ne!(deform(&[]), expected, "the rest pose");
}

#[test]
fn a_palette_moves_the_character_in_the_order_of_its_file() {
    let folder = folder();
    // Both joints moved by (1, 2, 3).
    let shift = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 3.0];
    let path = folder.path().join("palette.npy");
    write_npy(&path, &[2, 3, 4], &[shift, shift].concat());
    succeeds(&["deform", "@bar:2000", "-o", "rest.npy"], folder.path());
    succeeds(
        &[
            "deform",
            "@bar:2000",
            "--palette",
            "palette.npy",
            "-o",
            "moved.npy",
        ],
        folder.path(),
    );
    let rest = npy_rows(&folder.path().join("rest.npy"));
    let moved = npy_rows(&folder.path().join("moved.npy"));
    for (rest, moved) in rest.iter().zip(&moved) {
        for (axis, offset) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            assert!((moved[axis] - rest[axis] - offset).abs() < 1e-5);
        }
    }
    let (status, error) = fails(
        &["deform", "@arm", "--palette", "palette.npy", "-o", "no.npy"],
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(
        error.contains("2 matrices, but the character has"),
        "{error}"
    );
}

#[test]
fn learned_weights_that_are_those_of_linear_blending_give_its_result() {
    let folder = folder();
    let bar = characters::build(Character::Bar, 2_000).expect("builds");
    let vertices = bar.rig.mesh().vertex_count();
    let mut dense = vec![0.0; vertices * 2 * 12];
    for vertex in 0..vertices {
        for influence in bar.rig.weights().of(vertex) {
            let start = (vertex * 2 + influence.joint) * 12;
            dense[start..start + 12].fill(f64::from(influence.weight));
        }
    }
    write_npy(&folder.path().join("w.npy"), &[vertices, 2, 12], &dense);
    let deform = |method: &str, more: &[&str], out: &str| {
        let pose = ["--clip", "bend-90", "--time", "1", "-o", out];
        let arguments = [&["deform", "@bar:2000", "-m", method], more, &pose[..]].concat();
        succeeds(&arguments, folder.path());
        std::fs::read(folder.path().join(out)).expect("written")
    };
    let linear = deform("linear", &[], "linear.npy");
    let learned = deform("multi-weight", &["--weights", "w.npy"], "learned.npy");
    assert!(linear == learned);
    let arguments = ["deform", "@bar:2000", "--weights", "w.npy", "-o", "no.npy"];
    let (status, error) = fails(&arguments, folder.path());
    assert_eq!(status, 2);
    assert!(error.contains("'linear' has no learned weights"), "{error}");
    let small = [
        "deform",
        "@bar:5000",
        "-m",
        "multi-weight",
        "--weights",
        "w.npy",
        "-o",
        "no.npy",
    ];
    let (status, error) = fails(&small, folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("needs"), "{error}");
}

#[test]
fn pictures_are_the_same_to_the_bit_every_time() {
    let folder = folder();
    for name in ["a.png", "b.png"] {
        let arguments = [
            "render",
            "@bar:2000",
            "--size",
            "64x48",
            "--overlay",
            "skeleton,weights,wireframe,centers",
            "-o",
            name,
        ];
        succeeds(&arguments, folder.path());
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert_eq!(read("a.png"), read("b.png"));
    assert!(read("a.png").starts_with(b"\x89PNG"));
    succeeds(
        &[
            "render",
            "@bar:2000",
            "--clip",
            "twist-90",
            "--size",
            "40x40",
            "--fps",
            "4",
            "--overlay",
            "centers",
            "-o",
            "c.gif",
        ],
        folder.path(),
    );
    assert!(read("c.gif").starts_with(b"GIF89a"));
}

#[test]
fn a_built_in_character_survives_a_file() {
    let folder = folder();
    succeeds(&["convert", "@arm:2000", "-o", "arm.glb"], folder.path());
    for clip in ["0", "1"] {
        let at = |file: &str, out: &str| {
            succeeds(
                &["deform", file, "--clip", clip, "--time", "0.7", "-o", out],
                folder.path(),
            );
            npy_rows(&folder.path().join(out))
        };
        let (built, loaded) = (at("@arm:2000", "a.npy"), at("arm.glb", "b.npy"));
        let pairs = built.iter().flatten().zip(loaded.iter().flatten());
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-6, "{worst}");
    }
}

/// What a command that succeeds tells on standard error.
fn told(arguments: &[&str], folder: &Path) -> String {
    let output = supple(arguments, folder);
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {told}");
    told
}

/// Moves the first vertex of a text file whose positions are the first thing in its buffer.
fn move_a_vertex(path: &Path, moved: &Path) {
    let text = std::fs::read_to_string(path).expect("written");
    let (head, numbers) = text.split_once("base64,").expect("a data URI");
    std::fs::write(moved, format!("{head}base64,AACA{}", &numbers[4..])).expect("writable");
}

#[test]
fn baked_centers_are_used_as_long_as_they_fit() {
    let folder = folder();
    let bake = |more: &[&str]| {
        let arguments = [&["bake", "@bar:2000", "-m", "cor"], more].concat();
        told(&arguments, folder.path())
    };
    let said = bake(&["-o", "bar.gltf"]);
    assert!(said.contains("have a center of rotation"), "{said}");
    assert!(said.contains("_CENTER_OF_ROTATION"), "{said}");
    assert!(said.contains("follow one joint"), "{said}");
    bake(&["--sigma", "0.3", "-o", "wide.glb"]);
    let moved = folder.path().join("moved.gltf");
    move_a_vertex(&folder.path().join("bar.gltf"), &moved);

    let deform = |file: &str, method: &str| {
        let moment = ["--clip", "bend-120", "--time", "1", "-o", "out.npy"];
        let arguments = [&["deform", file, "-m", method], &moment[..]].concat();
        let said = told(&arguments, folder.path());
        (said, npy_rows(&folder.path().join("out.npy")))
    };
    let (said, expected) = deform("@bar:2000", "cor");
    assert_eq!(said, "");
    let (said, found) = deform("bar.gltf", "cor");
    assert_eq!(
        said,
        "note: using the centers of rotation stored in the file\n"
    );
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
    let (said, wide) = deform("wide.glb", "cor");
    assert_eq!(
        said,
        "note: using the centers of rotation stored in the file (sigma 0.3, epsilon 0.1, accuracy 0.00003)\n"
    );
    assert_ne!(wide, expected);
    let (said, _) = deform("moved.gltf", "cor");
    assert_eq!(said, stale("computed anew"));
    assert_eq!(deform("bar.gltf", "linear").0, "", "of no interest here");
    let options = "(sigma 0.3, epsilon 0.1, accuracy 0.00003)\n";
    let (said, wide) = deform("wide.glb", "cor-procrustes");
    assert!(said.ends_with(options), "{said}");
    let (said, narrow) = deform("bar.gltf", "cor-procrustes");
    assert_eq!(said, "", "the options are the usual ones");
    assert_ne!(wide, narrow);

    let using = "note: using the centers of rotation stored in the file\n";
    let render = [
        "render", "bar.gltf", "-m", "cor", "--size", "16x16", "-o", "bar.png",
    ];
    assert_eq!(told(&render, folder.path()), using);
    let methods = "linear,cor,cor:per-joint";
    let compare = [
        "compare", "bar.gltf", "-m", methods, "--size", "24x24", "-o", "page",
    ];
    assert_eq!(told(&compare, folder.path()), using);

    // Cleaning weights changes none; a pose has no use for centers.
    let convert = ["convert", "moved.gltf", "-o", "clean.glb"];
    assert_eq!(told(&convert, folder.path()), stale("kept as they are"));
    succeeds(&["convert", "bar.gltf", "-o", "clean.glb"], folder.path());
    assert_eq!(deform("clean.glb", "cor").0, using);
    let pose = ["deform", "bar.gltf", "--time", "1", "-o", "posed.gltf"];
    succeeds(&pose, folder.path());
    let posed = std::fs::read_to_string(folder.path().join("posed.gltf")).expect("written");
    assert!(!posed.contains("_CENTER_OF_ROTATION") && !posed.contains("centerOfRotation"));

    let info = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let text = succeeds(&["info", file], folder.path());
        (json["stored_centers"].clone(), text)
    };
    assert_eq!(info("@bar:2000").0, serde_json::Value::Null);
    let (json, text) = info("wide.glb");
    assert_eq!(
        (&json["state"], &json["sigma"]),
        (&"fit".into(), &0.3.into())
    );
    assert!(
        text.contains("they fit") && text.contains("sigma 0.3"),
        "{text}"
    );
    let (json, text) = info("moved.gltf");
    assert_eq!(json["state"], "stale");
    assert!(text.contains("stale, bake again"), "{text}");
    assert!(text.contains("centers of rotation are stale"), "{text}");
}

/// What is said of centers that do not fit any more.
fn stale(done: &str) -> String {
    format!(
        "note: the centers of rotation stored in the file are stale \
         (the surface or the weights have changed since they were computed); {done}; 'supple bake -m cor' stores new ones\n"
    )
}

#[test]
fn pictures_show_the_centers_that_are_stored() {
    let folder = folder();
    for (sigma, file) in [("0.1", "narrow.gltf"), ("3", "wide.glb")] {
        let bake = [
            "bake",
            "@arm:2000",
            "-m",
            "cor",
            "--sigma",
            sigma,
            "-o",
            file,
        ];
        told(&bake, folder.path());
    }
    move_a_vertex(
        &folder.path().join("narrow.gltf"),
        &folder.path().join("moved.gltf"),
    );
    let draw = |file: &str, method: &str| {
        let picture = ["--overlay", "centers", "--size", "96x96", "-o", "o.png"];
        let arguments = [&["render", file, "-m", method], &picture[..]].concat();
        let said = told(&arguments, folder.path());
        let picture = std::fs::read(folder.path().join("o.png")).expect("written");
        (said, picture)
    };
    for method in ["cor", "linear"] {
        let (said, narrow) = draw("narrow.gltf", method);
        assert!(said.starts_with("note: using the centers"), "{said}");
        assert_ne!(draw("wide.glb", method).1, narrow, "{method}");
        assert_eq!(draw("moved.gltf", method).0, stale("computed anew"));
    }
    assert_eq!(draw("@arm:2000", "linear").0, "");

    // The page shows them, too.
    let page = |file: &str| {
        let options = ["-m", "cor", "--clip", "0", "--size", "24x24", "-o", "page"];
        told(&[&["compare", file], &options[..]].concat(), folder.path());
        let page = std::fs::read_to_string(folder.path().join("page/index.html"));
        let page = page.expect("written");
        let (_, centers) = page.split_once("<h3>Centers of rotation").expect("told of");
        // At rest, where the surface is the same about any center.
        let (at_rest, _) = centers.split_once("</figure>").expect("a picture");
        at_rest.to_owned()
    };
    assert_ne!(page("narrow.gltf"), page("wide.glb"));
}

/// A bar with centers, its JSON changed.
fn changed_bar(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let bake = ["bake", "@bar:2000", "-m", "cor", "-o", "bar.gltf"];
    told(&bake, folder);
    let path = folder.join("bar.gltf");
    let text = std::fs::read_to_string(&path).expect("written");
    let mut json = serde_json::from_str(&text).expect("JSON");
    change(&mut json);
    std::fs::write(path, json.to_string()).expect("writable");
}

/// The accessor of an attribute of the first primitive.
fn accessor<'a>(json: &'a mut serde_json::Value, name: &str) -> &'a mut serde_json::Value {
    let index = json["meshes"][0]["primitives"][0]["attributes"][name].as_u64();
    &mut json["accessors"][index.expect("an index") as usize]
}

#[test]
fn broken_centers_do_not_make_a_file_unreadable() {
    let folder = folder();
    changed_bar(folder.path(), |json| {
        accessor(json, "_CENTER_OF_ROTATION")["type"] = "VEC2".into();
    });
    let info = succeeds(&["info", "bar.gltf"], folder.path());
    for phrase in ["broken, bake again", "are broken: accessors[", "Vec2"] {
        assert!(info.contains(phrase), "{info}");
    }
    let json = succeeds(&["info", "bar.gltf", "--json"], folder.path());
    assert!(json.contains("\"state\": \"broken\""), "{json}");
    succeeds(&["deform", "bar.gltf", "-o", "o.npy"], folder.path());
    let deform = ["deform", "bar.gltf", "-m", "cor", "-o", "o.npy"];
    let said = told(&deform, folder.path());
    assert!(
        said.contains("are broken (accessors[") && said.contains("computed anew"),
        "{said}"
    );
    told(
        &["bake", "bar.gltf", "-m", "cor", "-o", "mended.glb"],
        folder.path(),
    );
    let info = succeeds(&["info", "mended.glb"], folder.path());
    assert!(info.contains("they fit"), "{info}");
}

/// Makes all numbers of an attribute zero, which they are without a view.
fn zero(json: &mut serde_json::Value, name: &str) {
    let accessor = accessor(json, name).as_object_mut().expect("an object");
    accessor.remove("bufferView");
}

#[test]
fn where_there_is_no_center_the_reason_is_told() {
    type Change = fn(&mut serde_json::Value);
    let changes: [(Change, &str); 3] = [
        (
            |json| json["meshes"][0]["primitives"][0]["mode"] = 0.into(),
            "no area to compute centers from",
        ),
        (
            |json| zero(json, "POSITION"),
            "no area to compute centers from",
        ),
        (|json| zero(json, "JOINTS_0"), "each follows a single joint"),
    ];
    for (change, reason) in changes {
        let folder = folder();
        changed_bar(folder.path(), change);
        let bake = ["bake", "bar.gltf", "-m", "cor", "-o", "o.glb"];
        let said = told(&bake, folder.path());
        assert!(said.starts_with("note: 0 of "), "{said}");
        assert!(said.contains(reason), "{said}");
        let render = [
            "render",
            "o.glb",
            "--overlay",
            "centers",
            "--size",
            "9x9",
            "-o",
            "o.png",
        ];
        let said = told(&render, folder.path());
        let expected = "no vertex has a center of rotation to show: ";
        assert!(said.contains(expected) && said.contains(reason), "{said}");
    }
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
fn what_cannot_be_baked_is_explained() {
    let folder = folder();
    succeeds(&["deform", "@bar:2000", "-o", "static.glb"], folder.path());
    let cases: &[(i32, &[&str], &str)] = &[
        (
            2,
            &["@bar", "-m", "linear", "-o", "o.glb"],
            "'linear' has nothing to bake; those that have: cor, ddm, ddm-v1, ddm-v2, ddm-v3, ddm-v4, ddm-v5",
        ),
        (
            2,
            &["@bar", "-m", "wobbly", "-o", "o.glb"],
            "[possible values: cor, ddm, ddm-v1, ddm-v2, ddm-v3, ddm-v4, ddm-v5]",
        ),
        (
            2,
            &["@bar", "-m", "cor", "-o", "o.npy"],
            "the ending must be .glb or .gltf",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--sigma", "-1", "-o", "o.glb"],
            "sigma is -1, but must be from 0.001",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--accuracy", "nan", "-o", "o.glb"],
            "accuracy is NaN",
        ),
        (2, &["@bar", "-o", "o.glb"], "--method"),
        (
            2,
            &["@bar", "-m", "cor:per-joint", "-o", "o.glb"],
            "signs are chosen when deforming, which is not stored; bake with -m cor",
        ),
        (
            1,
            &["static.glb", "-m", "cor", "-o", "o.glb"],
            "no mesh of the file has a skin",
        ),
        (
            1,
            &["static.glb", "-m", "ddm", "-o", "o.glb"],
            "no mesh of the file has a skin",
        ),
        (
            2,
            &["@bar", "-m", "ddm", "--as-skin", "-o", "o.glb"],
            "--as-skin is for 'ddm-v5'",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--rigid", "-o", "o.glb"],
            "--rigid means nothing to 'cor'",
        ),
        (
            2,
            &["@bar", "-m", "ddm", "--alpha", "1", "-o", "o.glb"],
            "alpha is 1, but it must be from 0 up to, but not including, 1",
        ),
    ];
    for (expected, arguments, phrase) in cases {
        let arguments = [&["bake"], *arguments].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn a_baked_mush_is_used_as_long_as_it_fits() {
    let folder = folder();
    let bake = |more: &[&str]| {
        let arguments = [&["bake", "@bar:2000", "-m", "ddm", "--rigid"], more].concat();
        told(&arguments, folder.path())
    };
    let notes = bake(&["-o", "bar.gltf"]);
    for words in [
        "in the extension SUPPLE_direct_delta_mush",
        "numbers of 16 bits move the surface by at most 0.00",
        "16 poses of bend-90, bend-120, ",
        "the ordinary skin is now that of 'ddm-v5' with at most 2 joints per vertex",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
    let moment = ["--clip", "bend-120", "--time", "1.0", "-o"];
    let deform = |file: &str, more: &[&str], out: &str| {
        let arguments = [&["deform", file], more, &moment, &[out]].concat();
        let notes = told(&arguments, folder.path());
        (notes, npy_rows(&folder.path().join(out)))
    };
    let how = "20 iterations, lambda 3, kappa 1, alpha 0.8, radius from bones, from a rigid bind";
    let using = format!("note: using the bake of direct delta mush stored in the file ({how})\n");
    for variant in ["ddm", "ddm-v1", "ddm-v2", "ddm-v3", "ddm-v4", "ddm-v5"] {
        let (before, expected) = deform("@bar:2000", &["-m", variant, "--rigid"], "a.npy");
        let (notes, found) = deform("bar.gltf", &["-m", variant], "b.npy");
        assert_eq!(notes, format!("{using}{before}"), "{variant}");
        let pairs = expected.iter().flatten().zip(found.iter().flatten());
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 2e-4, "{variant}: {off}");
    }
    // The options that it was baked by, asked for by name.
    let (notes, _) = deform(
        "bar.gltf",
        &["-m", "ddm", "--radius-from-bones", "on"],
        "b.npy",
    );
    assert_eq!(notes, using);
    let (notes, _) = deform("bar.gltf", &["-m", "ddm", "--alpha", "0.5"], "b.npy");
    let other =
        format!("stored in the file is by other options ({how}); baked anew by those given\n");
    assert!(notes.ends_with(&other), "{notes}");
    // The ordinary skin is what any program shows.
    let (_, v5) = deform("bar.gltf", &["-m", "ddm-v5"], "v5.npy");
    let (notes, linear) = deform("bar.gltf", &["-m", "linear"], "linear.npy");
    assert_eq!((notes.as_str(), linear), ("", v5));
    // Baking it once more changes nothing that matters.
    let again = ["bake", "bar.gltf", "-m", "ddm", "-o", "again.gltf"];
    let notes = told(&again, folder.path());
    assert!(
        notes.contains("the file holds this bake already"),
        "{notes}"
    );

    move_a_vertex(
        &folder.path().join("bar.gltf"),
        &folder.path().join("moved.gltf"),
    );
    let stale = |done: &str| {
        format!(
            "note: the numbers of direct delta mush stored in the file are stale (the surface or the weights have changed since they were computed); {done}; 'supple bake -m ddm' stores new ones\n"
        )
    };
    let (notes, _) = deform("moved.gltf", &["-m", "ddm-v2"], "b.npy");
    assert_eq!(notes, stale(&format!("baked anew ({how})")));
    let convert = ["convert", "moved.gltf", "-o", "converted.glb"];
    assert_eq!(told(&convert, folder.path()), stale("kept as they are"));

    let info = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        (json["stored_mush"].clone(), json["odd"].clone())
    };
    let (mush, _) = info("bar.gltf");
    assert_eq!(mush["state"], "fit");
    assert_eq!(mush["options"]["rigid"], true);
    assert!(mush["bytes"].as_u64() > Some(10_000) && mush["mean_influences"].as_f64() > Some(1.0));
    let (mush, odd) = info("moved.gltf");
    assert_eq!(mush["state"], "stale");
    assert!(odd.to_string().contains("unusable_mush"), "{odd}");
    let text = succeeds(&["info", "bar.gltf"], folder.path());
    let row = format!("direct delta mush, baked ({how}): it fits; ");
    assert!(text.contains(&row), "{text}");
}

#[test]
fn the_skin_alone_is_baked_where_it_is_asked_for() {
    let folder = folder();
    let bake = ["bake", "@bar:2000", "-m", "ddm-v5", "--as-skin", "--rigid"];
    let notes = told(&[&bake[..], &["-o", "skin.glb"]].concat(), folder.path());
    assert_eq!(
        notes,
        "note: the skin is now that of 'ddm-v5' with at most 2 joints per vertex; nothing else is stored\n"
    );
    let moment = ["--clip", "bend-120", "--time", "1.0", "-o"];
    for (file, method, out) in [
        ("skin.glb", &["linear"][..], "a.npy"),
        ("@bar:2000", &["ddm-v5", "--rigid"], "b.npy"),
    ] {
        succeeds(
            &[&["deform", file, "-m"], method, &moment, &[out]].concat(),
            folder.path(),
        );
    }
    let rows = |name: &str| npy_rows(&folder.path().join(name)).concat();
    let off = rows("a.npy")
        .iter()
        .zip(rows("b.npy"))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
    let text = succeeds(&["info", "skin.glb", "--json"], folder.path());
    assert!(text.contains("\"stored_mush\": null"), "{text}");
}

#[test]
fn options_of_smoothing_are_explained_where_they_are_wrong() {
    let folder = folder();
    let takers = "delta-mush, ddm, ddm-v1, ddm-v2, ddm-v3, ddm-v4, ddm-v5";
    let cases: &[(i32, &[&str], &[&str])] = &[
        (
            2,
            &["-m", "linear", "--kappa", "1"],
            &["--kappa means nothing to 'linear'", takers],
        ),
        (2, &["-m", "ddm", "--lambda", "-1"], &["the lambda is -1"]),
        (
            2,
            &["-m", "ddm", "--max-influences", "0"],
            &["number of influences is 0"],
        ),
        (
            2,
            &["-m", "ddm", "--prune", "nan"],
            &["error of pruning is NaN"],
        ),
        (
            2,
            &["-m", "ddm", "--laplacian", "rough"],
            &["uniform, cotangent"],
        ),
        (
            2,
            &["-m", "ddm", "--alpha-at", "second=2"],
            &["share of alpha at a joint is 2"],
        ),
        (
            2,
            &["-m", "ddm", "--alpha-at", "second"],
            &["a joint and a share"],
        ),
        (
            2,
            &["-m", "ddm", "--alpha-at", "secund=0.5"],
            &["there is no joint 'secund'", "second"],
        ),
        (
            2,
            &["-m", "ddm", "--alpha-at", "7=0.5"],
            &["there is no joint '7'"],
        ),
        (
            1,
            &["-m", "ddm", "--smoothing", "explicit", "--lambda", "3"],
            &["steps of at most 1"],
        ),
        (
            1,
            &["-m", "ddm", "--lambda", "10000", "--iterations", "100"],
            &["100 steps of 10000", "too much smoothing", "at most 200000"],
        ),
    ];
    for (expected, options, phrases) in cases {
        let arguments = [&["deform", "@bar:2000", "-o", "o.npy"], *options].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        for phrase in *phrases {
            assert!(error.contains(phrase), "{arguments:?}: {error}");
        }
    }
    // By name and by number; all kinds together; a comparison takes them if one of its methods does.
    let good: &[&[&str]] = &[
        &[
            "deform",
            "@bar:2000",
            "-m",
            "ddm",
            "--alpha-at",
            "second=0.5",
            "--alpha-at",
            "0=0.1",
            "-o",
            "o.npy",
        ],
        &[
            "deform",
            "@bar:2000",
            "-m",
            "delta-mush",
            "--smoothing",
            "explicit",
            "--iterations",
            "9",
            "-o",
            "o.npy",
        ],
        &[
            "deform",
            "@bar:2000",
            "-m",
            "ddm-v3",
            "--laplacian",
            "cotangent",
            "--prune",
            "0",
            "-o",
            "o.npy",
        ],
        &[
            "render",
            "@bar:2000",
            "-m",
            "ddm",
            "--alpha",
            "0",
            "--size",
            "20x20",
            "-o",
            "o.png",
        ],
    ];
    for arguments in good {
        succeeds(arguments, folder.path());
    }
    // Nothing to smooth is no reason to fail; deform refuses what is not finite.
    let nothing: &[&[&str]] = &[
        &["--lambda", "0", "--radius-from-bones", "on"],
        &["--lambda", "0"],
        &["--kappa", "0"],
        &["--iterations", "0"],
        &["--iterations", "0", "--radius-from-bones", "on"],
    ];
    for options in nothing {
        for method in ["delta-mush", "ddm", "ddm-v1", "ddm-v3"] {
            let pose = ["--clip", "bend-90", "--time", "1", "-o", "o.npy"];
            let deform = ["deform", "@bar:2000", "-m", method];
            succeeds(&[&deform, *options, &pose].concat(), folder.path());
        }
    }
    let methods = [
        "-m",
        "linear,ddm,ddm-v4",
        "--clip",
        "bend-90",
        "--size",
        "20x20",
    ];
    let compare = [
        &["compare", "@bar:2000", "--rigid", "-o", "report"],
        &methods[..],
    ]
    .concat();
    succeeds(&compare, folder.path());
}

#[test]
fn one_piece_needs_no_words_and_what_is_turned_inside_out_is_told() {
    let folder = folder();
    // Two primitives with half of the triangles each: one piece, so that there is nothing to tell.
    succeeds(&["convert", "@bar:2000", "-o", "bar.gltf"], folder.path());
    let path = folder.path().join("bar.gltf");
    let text = std::fs::read_to_string(&path).expect("written");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let primitive = json["meshes"][0]["primitives"][0].clone();
    let indices = primitive["indices"].as_u64().expect("an accessor") as usize;
    let count = json["accessors"][indices]["count"]
        .as_u64()
        .expect("a count");
    let half = count / 6 * 3;
    let mut second = json["accessors"][indices].clone();
    json["accessors"][indices]["count"] = half.into();
    second["count"] = (count - half).into();
    second["byteOffset"] = (4 * half).into();
    let accessors = json["accessors"].as_array_mut().expect("a list");
    accessors.push(second);
    let mut other = primitive;
    other["indices"] = (accessors.len() - 1).into();
    json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("a list")
        .push(other);
    std::fs::write(folder.path().join("halves.gltf"), json.to_string()).expect("writable");
    let deform = ["deform", "halves.gltf", "-m", "ddm", "-o", "o.npy"];
    assert_eq!(told(&deform, folder.path()), "");

    let pose = ["--clip", "squat", "--time", "1.0", "-o", "o.npy"];
    let deform = [
        &["deform", "@figure:2000", "--rigid", "-m", "ddm-v1"],
        &pose[..],
    ]
    .concat();
    let notes = told(&deform, folder.path());
    let words = " inside out in this pose, the first is vertex ";
    assert!(
        notes.starts_with("note: 'ddm-v1' turns ") && notes.contains(words),
        "{notes}"
    );
    assert!(
        notes.ends_with("; 'ddm' does not have this flaw\n"),
        "{notes}"
    );
    let deform = [
        &["deform", "@figure:2000", "--rigid", "-m", "ddm"],
        &pose[..],
    ]
    .concat();
    assert_eq!(told(&deform, folder.path()), "");
}

#[test]
fn pieces_that_are_connected_are_counted() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    let knight = models.join("characters/KayKit_Knight.glb");
    if !knight.exists() {
        assert!(
            std::env::var_os("CI").is_none(),
            "{} is not there",
            knight.display()
        );
        return;
    }
    let folder = folder();
    let file = knight.to_str().expect("UTF-8");
    let notes = |method: &str| {
        let deform = ["deform", file, "-m", method, "-o", "o.npy"];
        told(&deform, folder.path())
    };
    assert_eq!(notes("delta-mush"), notes("ddm"));
    let notes = notes("ddm");
    let words = " pieces, ";
    assert!(
        notes.starts_with("note: ") && notes.contains(words),
        "{notes}"
    );
    assert!(
        notes.contains(" pairs of close points connected; "),
        "{notes}"
    );
}

#[test]
fn bench_tells_programs_what_it_tells_people() {
    let folder = folder();
    let rows = succeeds(&["bench", "@bar:2000", "--exact", "--json"], folder.path());
    let rows: serde_json::Value = serde_json::from_str(&rows).expect("JSON");
    let all = rows.as_array().expect("an array");
    let of = |bench: &str| -> Vec<_> { all.iter().filter(|row| row["bench"] == bench).collect() };
    let (rows, mush, weights) = (of("centers"), of("mush"), of("weights"));
    assert_eq!(rows.len() + mush.len() + weights.len(), all.len());
    fn whats_of<'a>(rows: &[&'a serde_json::Value]) -> Vec<Option<&'a str>> {
        rows.iter().map(|row| row["what"].as_str()).collect()
    }
    let whats = whats_of(&rows);
    let expected = ["bake", "crowded weights", "brush stroke"].map(Some);
    assert_eq!(whats, expected);
    let computed = ["rigid", "envelope", "heat", "geodesic", "bbw"];
    let edited = ["brush dab", "smooth, 10 steps", "limit to 4"];
    let expected: Vec<_> = computed.into_iter().chain(edited).map(Some).collect();
    assert_eq!(whats_of(&weights), expected);
    assert!(weights[4]["voxels"].as_u64() > Some(100));
    for row in all {
        assert!(row["ms"].as_f64().expect("a time") > 0.0);
        assert!(row["vertices"].as_u64().expect("a count") > 1000);
    }
    let number = |name: &str| rows[0][name].as_f64().expect("a number");
    assert!(number("largest_error") < 3e-5 && number("exact_ms") > 0.0);
    assert!(rows[2]["slowest_ms"].as_f64() >= rows[2]["ms"].as_f64());
    let (bakes, frames): (Vec<&serde_json::Value>, Vec<_>) =
        mush.into_iter().partition(|row| row["what"] == "bake");
    let radii: Vec<_> = bakes.iter().map(|row| &row["radius_from_bones"]).collect();
    assert_eq!(
        radii,
        [&false.into(), &true.into()] as [&serde_json::Value; 2]
    );
    for row in bakes {
        assert!(
            row["largest_difference"].as_f64().expect("a number") < 1e-5,
            "{row}"
        );
    }
    let methods: Vec<_> = frames.iter().map(|row| row["method"].as_str()).collect();
    let variants = ["ddm", "ddm-v1", "ddm-v2", "ddm-v3", "ddm-v4", "ddm-v5"];
    let expected: Vec<_> = ["linear"]
        .into_iter()
        .chain(variants)
        .chain(["delta-mush"])
        .map(Some)
        .collect();
    assert_eq!(methods, expected);

    let table = succeeds(&["bench", "@bar:2000"], folder.path());
    for what in whats.into_iter().chain(methods).flatten() {
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
fn info_judges_the_weights() {
    let folder = folder();
    let json = succeeds(&["info", "@bar:2000", "--json"], folder.path());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
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
        "  weights      smoothness: smooth, roughness ",
        "               locality: held from 1.01 times as far as the nearest bone",
        "               maxima: none beside the top of each joint\n",
        "               symmetry: the same on both sides of Z\n",
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
            "the ending must be",
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
            "the ending must be .png or .gif",
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

/// Every tag that needs an end has one, in the right order.
fn assert_well_formed(page: &str) {
    const WITHOUT_END: [&str; 7] = ["!doctype", "meta", "link", "img", "line", "path", "br"];
    let mut open: Vec<&str> = Vec::new();
    // What is between style and script tags is no HTML.
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, behind) = after.split_once('>').expect("a tag ends");
        rest = behind;
        let name = tag.split([' ', '/']).find(|part| !part.is_empty());
        let name = name.expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "…{}", &tag);
        } else if !WITHOUT_END.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        if matches!(tag, "style" | "script") {
            let end = format!("</{tag}>");
            rest = &rest[rest.find(&end).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
}

#[test]
fn compare_writes_one_page_that_needs_nothing_else() {
    let folder = folder();
    let arguments = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,rigid",
        "--size",
        "60x60",
        "-o",
        "report",
    ];
    let said = succeeds(&arguments, folder.path());
    let index = Path::new("report").join("index.html");
    assert_eq!(said, format!("open {}\n", index.display()));
    assert_eq!(listing(&folder.path().join("report")).len(), 1);

    let page = std::fs::read_to_string(folder.path().join(index)).expect("written");
    assert_well_formed(&page);
    for attribute in ["src=\"", "href=\""] {
        for (place, _) in page.match_indices(attribute) {
            let value = &page[place + attribute.len()..];
            assert!(value.starts_with("data:"), "{:.40}", value);
        }
    }
    assert!(
        !page.contains("http:")
            || page.matches("http:").count() == page.matches("http://www.w3.org/2000/svg").count()
    );
    for expected in [
        "Linear blending",
        "Rigid",
        "-m linear",
        "-m rigid",
        "Twist 150",
        "Second joint",
        "Time per vertex",
        "<svg",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    // Pictures may spell anything.
    let words = page.split("base64,");
    let words: String = words
        .map(|part| &part[part.find('"').unwrap_or(0)..])
        .collect();
    for unwanted in ["NaN", "inf ", "{{", "}}\"", "Dual quaternions</h3>"] {
        assert!(!words.contains(unwanted), "{unwanted}");
    }
}

#[test]
fn compare_shows_the_clips_that_are_asked_for() {
    let folder = folder();
    let arguments = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,dqs",
        "--clip",
        "Twist_90,0",
        "--size",
        "40x40",
        "-o",
        ".",
    ];
    succeeds(&arguments, folder.path());
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("written");
    let headings: Vec<&str> = page
        .match_indices("<h4><bdi>")
        .map(|(place, _)| &page[place + 9..place + 17])
        .collect();
    assert_eq!(headings[..2], ["Twist 90", "Bend 90<"]);

    let missing = ["compare", "@bar:2000", "--clip", "fly", "-o", "elsewhere"];
    let (status, error) = fails(&missing, folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("there is no clip 'fly'"), "{error}");
    assert!(!folder.path().join("elsewhere").exists());
    std::fs::write(folder.path().join("taken"), "").expect("written");
    let (status, error) = fails(&["compare", "@bar", "-o", "taken"], folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("cannot write taken"), "{error}");
}

#[test]
fn a_twisted_arm_keeps_its_hand_where_it_was() {
    let folder = folder();
    let twist = |more: &[&str]| {
        let arguments = [&["twist", "@figure:2000", "-o", "twist.glb"], more].concat();
        told(&arguments, folder.path())
    };
    let note = twist(&["--joint", "forearm.L", "--joint", "thigh.R"]);
    let expected = [
        "'forearm.L_twist' splits the bone from 'forearm.L' to 'forearm_twist.L'",
        "half of the twist of 'forearm_twist.L', up to 75.0° in the clip 'forearm-twist-150' at 1.00 s",
        "'thigh.R_twist' splits",
    ];
    for words in expected {
        assert!(note.contains(words), "{note}");
    }
    let rest = |file: &str| {
        told(&["deform", file, "-o", "out.npy"], folder.path());
        npy_rows(&folder.path().join("out.npy"))
    };
    for (found, expected) in rest("twist.glb").iter().zip(rest("@figure:2000")) {
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-6);
    }
    let own = twist(&[
        "--joint",
        "upper_arm.L",
        "--twist-of",
        "joint",
        "--name",
        "mine",
    ]);
    assert!(own.contains("'mine' splits"), "{own}");
    assert!(
        own.contains("takes back half of the twist of 'upper_arm.L'"),
        "{own}"
    );
    let few = twist(&["--joint", "spine1", "--max-influences", "2"]);
    assert!(!few.contains("--max-influences"), "{few}");
    // What was baked before is told of.
    told(
        &["bake", "@arm:2000", "-m", "cor", "-o", "cor.glb"],
        folder.path(),
    );
    let arguments = ["twist", "cor.glb", "--joint", "forearm", "-o", "twist.glb"];
    let note = told(&arguments, folder.path());
    assert!(
        note.contains("the centers of rotation in the file no longer fit"),
        "{note}"
    );
    let info = succeeds(&["info", "twist.glb"], folder.path());
    assert!(info.contains("  twist joints forearm_twist_2\n"), "{info}");
}

#[test]
fn what_cannot_be_twisted_is_explained() {
    let folder = folder();
    told(
        &["twist", "@arm:2000", "-j", "forearm", "-o", "twist.glb"],
        folder.path(),
    );
    let cases: &[(i32, &str, &[&str], &[&str])] = &[
        (
            2,
            "@arm:2000",
            &["-j", "forarm"],
            &["there is no joint 'forarm'", "forearm"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "-j", "forearm"],
            &["the joint 'forearm' is named twice"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "-j", "hand", "--name", "x"],
            &["--name is for one --joint"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "--name", "hand"],
            &["there is a node 'hand' already"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "--toward", "hand"],
            &["cannot end at 'hand'", "right below it: forearm_twist"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "--max-influences", "0"],
            &["expected a number of joints"],
        ),
        (2, "@arm:2000", &[], &["--joint"]),
        (
            1,
            "@bar:2000",
            &["-j", "second"],
            &[
                "'second' is the last of its chain",
                "at which the bone begins",
            ],
        ),
        (
            1,
            "@arm:2000",
            &["-j", "shoulder", "--twist-of", "joint"],
            &["no joint is above 'shoulder'"],
        ),
        (
            1,
            "twist.glb",
            &["-j", "forearm"],
            &["is split already, by 'forearm_twist_2'"],
        ),
    ];
    for (expected, file, wish, phrases) in cases {
        let arguments = [&["twist", file, "-o", "out.glb"], *wish].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        for phrase in *phrases {
            assert!(error.contains(phrase), "{arguments:?}: {error}");
        }
    }
}

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
