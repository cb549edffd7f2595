//! Outputs of all commands can be read: by `supple info`, or by the reader of their format.

use super::common::{fails, folder, hostile_file, notes_of, supple};
use std::path::Path;
use supple::characters::{self, Character};
use supple_io::gltf::Document;

/// Runs a command that writes `out`, last of its arguments. If it succeeds, what it wrote must be
/// readable; if not, it leaves nothing behind.
fn writes_readably(arguments: &[&str], out: &str, folder: &Path) -> bool {
    let path = folder.join(out);
    let written = supple(&[arguments, &["-o", out]].concat(), folder);
    let error = String::from_utf8_lossy(&written.stderr);
    assert!(
        matches!(written.status.code(), Some(0..=2)),
        "{arguments:?}: {error}"
    );
    if !written.status.success() {
        assert!(!path.exists(), "{arguments:?} left a file behind: {error}");
        let first = error.lines().next().unwrap_or_default();
        assert!(first.chars().count() < 400, "{arguments:?}: {error}");
        return false;
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    match ending.as_ref() {
        "glb" | "gltf" => {
            let read = supple(&["info", out], folder);
            let error = String::from_utf8_lossy(&read.stderr);
            assert!(read.status.success(), "{arguments:?}: {error}");
        }
        "npy" => drop(supple_io::npy::read_positions(&path).expect("readable")),
        "obj" => {
            let text = std::fs::read_to_string(&path).expect("text");
            for line in text.lines().filter(|line| line.starts_with('v')) {
                let mut numbers = line.split(' ').skip(1).map(str::parse::<f32>);
                let finite = numbers.all(|number| number.is_ok_and(f32::is_finite));
                assert!(finite, "{arguments:?}: {line}");
            }
        }
        _ => {
            let bytes = std::fs::read(&path).expect("written");
            assert!(bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n"));
        }
    }
    std::fs::remove_file(&path).expect("removable");
    true
}

/// Every command that writes a character or its surface, with what it needs beside a file.
fn every_command(file: &str, folder: &Path) -> usize {
    let commands: [(&[&str], &str); 13] = [
        (&["convert", file], "o.glb"),
        (&["convert", file], "o.gltf"),
        (&["bake", file, "-m", "cor"], "o.glb"),
        (&["bake", file, "-m", "ddm"], "o.glb"),
        (&["bake", file, "-m", "ddm-v5", "--as-skin"], "o.glb"),
        (&["pose", file, "--move", "0+=0,0.25,0"], "o.glb"),
        (&["weights", file, "-m", "rigid"], "o.glb"),
        (&["weights", "edit", file, "--max-influences", "2"], "o.glb"),
        (&["twist", file, "--joint", "0"], "o.glb"),
        (&["deform", file], "o.npy"),
        (&["deform", file], "o.obj"),
        (&["deform", file], "o.ply"),
        (&["deform", file], "o.gltf"),
    ];
    let written = commands.iter();
    let written = written.filter(|(arguments, out)| writes_readably(arguments, out, folder));
    written.count()
}

#[test]
fn what_every_command_writes_of_a_built_in_character_is_readable() {
    let folder = folder();
    let written = every_command("@bar:2000", folder.path());
    assert!(written >= 12, "only {written} were written");
    let handles = ["handles", "@bar:2000", "--weights", "geodesic"];
    assert!(writes_readably(&handles, "o.glb", folder.path()));
}

#[test]
fn what_every_command_writes_of_a_hostile_file_is_readable() {
    let folder = folder();
    let files = [
        ("overflow_sum_mush_bytelength.glb", 13),
        // Nothing in it follows joints.
        ("deform_writes_inf_tangent.glb", 7),
        // All but the binding.
        ("singular_bind_explodes.glb", 12),
    ];
    for (name, expected) in files {
        let Some(file) = hostile_file(name) else {
            return;
        };
        let written = every_command(&file, folder.path());
        assert_eq!(written, expected, "outputs of {name}");
    }
    // What does not fit into `f32` in that pose is refused: the skeleton, the surface, or its
    // tangents, which only glTF files have.
    let moments: [(&str, &[&str], &[&str]); 3] = [
        ("cubic_tangent.glb", &["--clip", "c", "--time", "50"], &[]),
        (
            "deform_writes_unreadable_glb.glb",
            &["--clip", "0", "--time", "1.7e38"],
            &["deform o.obj", "deform o.ply", "deform o.npy"],
        ),
        (
            "deform_writes_inf_tangent.glb",
            &["--clip", "0", "--time=5.46e30"],
            &["pose o.glb", "deform o.obj", "deform o.ply", "deform o.npy"],
        ),
    ];
    for (name, moment, expected) in moments {
        let Some(file) = hostile_file(name) else {
            return;
        };
        let mut written = vec![];
        for (command, out) in [
            ("pose", "o.glb"),
            ("deform", "o.glb"),
            ("deform", "o.obj"),
            ("deform", "o.ply"),
            ("deform", "o.npy"),
        ] {
            let arguments = [&[command, file.as_str()], moment].concat();
            if writes_readably(&arguments, out, folder.path()) {
                written.push(format!("{command} {out}"));
            }
        }
        assert_eq!(written, expected, "outputs of {name}");
    }
}

#[test]
fn a_place_beyond_the_range_of_floats_is_refused_by_its_joint() {
    let folder = folder();
    let pose = ["pose", "@bar:2000", "--move", "0=0,0,1e39", "-o", "o.glb"];
    let (status, error) = fails(&pose, folder.path());
    assert_eq!(status, 1);
    assert!(
        error.starts_with("error: the translation of node ")
            && error.ends_with("beyond the range of 32-bit floats\n"),
        "{error}"
    );
}

#[test]
fn files_whose_json_has_the_wrong_shape_are_refused_alike_by_every_command() {
    let folder = folder();
    for (name, expected) in [
        ("animations_number.glb", "animations[0]: not an object\n"),
        ("animations_string.glb", "animations[1]: not an object\n"),
        ("handles_panic_scenes.glb", "scenes[0]: not an object\n"),
    ] {
        let Some(file) = hostile_file(name) else {
            return;
        };
        let commands: [&[&str]; 4] = [
            &["info", &file],
            &["handles", &file, "-o", "o.glb"],
            &["deform", &file, "-o", "o.glb"],
            &["twist", &file, "--joint", "0", "-o", "o.glb"],
        ];
        for command in commands {
            let (status, error) = fails(command, folder.path());
            assert_eq!(status, 1);
            assert!(error.ends_with(expected), "{error}");
        }
    }
}

#[test]
fn arrays_with_hostile_headers_are_refused_in_a_line() {
    let folder = folder();
    for name in [
        "npy_hang_dicts_18.npy",
        "npy_hang_list-of-tuples_14.npy",
        "npy_hang_lists_20.npy",
        "npy_hang_sets_15.npy",
        "npy_stack_overflow_6000.npy",
    ] {
        let Some(file) = hostile_file(name) else {
            return;
        };
        let commands: [&[&str]; 2] = [
            &["--palette", &file],
            &["-m", "multi-weight", "--weights", &file],
        ];
        for command in commands {
            let deform = [&["deform", "@bar:2000"], command, &["-o", "o.npy"]].concat();
            let (status, error) = fails(&deform, folder.path());
            assert_eq!(status, 1);
            assert!(error.contains(": header: "), "{error}");
            assert!(error.len() < 300, "{error}");
        }
    }
}

/// A bar whose first vertex has weights that sum to three quarters, and whose last one names a
/// joint that is not there.
fn badly_weighted(path: &Path) {
    let bar = characters::build(Character::Bar, 2_000).expect("built");
    let document = Document::from_asset(&bar).expect("a file");
    let mut bytes = document.to_glb().expect("small enough");
    let length = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let json: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).expect("JSON");
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    let bytes_of = |name: &str| {
        let index = |value: &serde_json::Value| value.as_u64().expect("an index") as usize;
        let accessor = &json["accessors"][index(&attributes[name])];
        let view = &json["bufferViews"][index(&accessor["bufferView"])];
        let start = 28 + length + index(&view["byteOffset"]);
        start..start + index(&view["byteLength"])
    };
    let weights = &mut bytes[bytes_of("WEIGHTS_0")];
    weights[..16].fill(0);
    weights[..4].copy_from_slice(&0.75f32.to_le_bytes());
    // A byte for each joint; a bar of two bones has no fourth influence.
    if let Some(last) = bytes[bytes_of("JOINTS_0")].last_mut() {
        *last = 200;
    }
    std::fs::write(path, bytes).expect("writable");
}

#[test]
fn commands_that_keep_the_weights_of_a_file_warn_of_what_convert_repairs() {
    let folder = folder();
    badly_weighted(&folder.path().join("bad.glb"));
    let expected = "warning: faulty weights are kept as they are: weights of 1 of ";
    let also =
        "1 influence of weight zero name joints that do not exist; 'supple convert' repairs them\n";
    let keeping: [&[&str]; 2] = [
        &["bake", "bad.glb", "-m", "cor", "-o", "o.glb"],
        &["pose", "bad.glb", "--move", "0+=0,0.1,0", "-o", "o.glb"],
    ];
    for command in keeping {
        let message = notes_of(command, folder.path());
        assert!(
            message.contains(expected) && message.contains(also),
            "{message}"
        );
    }
    notes_of(&["convert", "bad.glb", "-o", "good.glb"], folder.path());
    for command in keeping {
        let repaired = command.iter().map(|word| match *word {
            "bad.glb" => "good.glb",
            word => word,
        });
        let message = notes_of(&repaired.collect::<Vec<_>>(), folder.path());
        assert!(!message.contains("warning"), "{message}");
    }
}
