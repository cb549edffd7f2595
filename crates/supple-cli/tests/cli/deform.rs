//! `supple deform` and `supple convert` as their users meet them.

use super::common::{fails, folder, notes_of, npy_rows, shared_model, succeeds};
use std::path::Path;
use supple::arap::{ArapOptions, HandleSmoothing};
use supple::characters::{self, Character};
use supple::{Method, Normals, Output, Palette, Player, Skin, Workspace};
use supple_io::{gltf, npy};

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

/// Deforms a file of the shared hostile ones by a method: the notes, and the farthest vertex.
fn deformed_hostile(name: &str, method: &str) -> Option<(String, f32)> {
    let file = shared_model(&format!("../hostile/{name}"))?;
    let folder = folder();
    let arguments = ["deform", &file, "-m", method, "-o", "out.npy"];
    let message = notes_of(&arguments, folder.path());
    let rows = npy_rows(&folder.path().join("out.npy"));
    let farthest = rows
        .iter()
        .flatten()
        .fold(0.0, |far: f32, x| far.max(x.abs()));
    Some((message, farthest))
}

#[test]
fn singular_and_subnormal_bind_matrices_are_warned_of_and_stay_bounded() {
    for (file, fault) in [
        ("singular_bind_explodes.glb", " is singular (its columns "),
        (
            "denormal_bind_nonfinite_dqs.glb",
            " is inaccurate (its columns are shorter than 1.2e-38, ",
        ),
    ] {
        let Some((_, linear)) = deformed_hostile(file, "linear") else {
            return;
        };
        for method in ["linear", "dqs", "cor", "cor-procrustes", "spline", "ddm"] {
            let Some((message, farthest)) = deformed_hostile(file, method) else {
                return;
            };
            assert!(farthest <= 20.0 * linear, "{file} {method}: {farthest}");
            assert!(
                message.contains("warning: the bind matrix of joint "),
                "{message}"
            );
            assert!(message.contains(fault), "{message}");
        }
    }
}

#[test]
fn surfaces_are_kept_rigid_as_the_words_of_the_method_say() {
    let folder = folder();
    let figure = characters::build(Character::Figure, 2_000).expect("built in");
    let clip = &figure.clips[0];
    let pose = figure.pose_at(clip, 0.4);
    let mut seen: Vec<Vec<Vec<f32>>> = Vec::new();
    let rounds = |iterations| ArapOptions {
        iterations,
        ..ArapOptions::default()
    };
    for (method, options) in [
        ("arap", ArapOptions::default()),
        ("arap:0", rounds(0)),
        ("arap:8", rounds(8)),
        (
            "arap:l=0.7:strict",
            ArapOptions {
                threshold: 0.7,
                every_handle: false,
                ..ArapOptions::default()
            },
        ),
        (
            "arap:unsmoothed",
            ArapOptions {
                smoothing: HandleSmoothing::None,
                ..ArapOptions::default()
            },
        ),
        (
            "arap:2:plain",
            ArapOptions {
                smoothing: HandleSmoothing::Plain,
                ..rounds(2)
            },
        ),
        (
            "as-rigid-as-possible:tolerance=0.1:9",
            ArapOptions {
                tolerance: 0.1,
                ..rounds(9)
            },
        ),
    ] {
        let moment = ["deform", "@figure:2000", "--time", "0.4", "-m", method];
        notes_of(&[&moment[..], &["-o", "out.npy"]].concat(), folder.path());
        let found = npy_rows(&folder.path().join("out.npy"));
        let player = Player::new(&figure, &Method::Arap(options), Normals::Transported);
        let mut player = player.expect("baked");
        player.pose(&pose).expect("posed");
        let expected: Vec<_> = player.positions().iter().map(|p| p.to_array()).collect();
        assert_eq!(found, expected, "{method}");
        assert!(!seen.contains(&found), "{method} is like another");
        seen.push(found);
    }
    // One frame follows none.
    let follow = [
        "deform",
        "@figure:2000",
        "--time",
        "0.4",
        "-m",
        "arap:follow",
    ];
    notes_of(&[&follow[..], &["-o", "out.npy"]].concat(), folder.path());
    assert_eq!(npy_rows(&folder.path().join("out.npy")), seen[0]);
    for (method, phrase) in [
        (
            "arap:l=1",
            "the method 'arap' does not accept 'l=1': the threshold l is 1, but must be at least \
             0 and below 1",
        ),
        (
            "arap:99999",
            "the number of iterations is 99999, but must be at most 10000",
        ),
        (
            "arap:tolerance=-1",
            "the tolerance is -1, but must be at least 0",
        ),
        (
            "arap:l=x",
            "has no option 'l=x'; known: a number of rounds, l=THRESHOLD",
        ),
        ("arap:faster", "has no option 'faster'"),
        (
            "arap:plain:unsmoothed",
            "'plain' and 'unsmoothed' exclude each other",
        ),
        ("arap:strict:strict", "'strict' is given twice"),
    ] {
        let arguments = ["deform", "@bar:2000", "-m", method, "-o", "no.npy"];
        let (status, error) = fails(&arguments, folder.path());
        assert!(status == 2 && error.contains(phrase), "{error}");
    }
}

/// Commands that keep a surface rigid tell what of it they cannot.
#[test]
fn what_no_joint_holds_is_reported() {
    let folder = folder();
    let idle = "note: 'arap' finds no vertices for ";
    let figure = ["@figure:2000", "-m", "arap", "-o"];
    let deformed = notes_of(
        &[&["deform"], &figure[..], &["out.npy"]].concat(),
        folder.path(),
    );
    assert!(deformed.starts_with(idle), "{deformed}");
    assert_eq!(deformed.lines().count(), 1, "{deformed}");
    let drawn = [&["render"], &figure[..], &["out.png", "--size", "20x20"]].concat();
    assert_eq!(notes_of(&drawn, folder.path()), deformed);
    // No weight of a tentacle is above the threshold, so that all of it is blended linearly.
    let tentacle = ["deform", "@tentacle:2000", "-m", "arap:l=0.9999999:strict"];
    let tentacle = notes_of(&[&tentacle[..], &["-o", "out.npy"]].concat(), folder.path());
    let loose = "no joint holds 1 piece of the surface; 'arap:l=0.9999999:strict' uses linear \
                 blending there (the first piece has vertex 0 of 'tentacle')\n";
    assert!(tentacle.contains(loose), "{tentacle}");
    assert!(
        tentacle.ends_with("; the first is 'tentacle.1'\n"),
        "{tentacle}"
    );
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

/// `arap:follow` starts from the surface deformed last, so a rest pose deformed before the palette
/// would show in the file.
#[test]
fn a_palette_deforms_the_surface_once() {
    let folder = folder();
    let clip = ["--clip", "bend-90", "--time", "1"];
    let bend = [&["pose", "@bar:2000", "-o", "bent.glb"], &clip[..]].concat();
    succeeds(&bend, folder.path());
    let bent = gltf::load(&folder.path().join("bent.glb")).expect("written");
    let rig = &bent.asset.rig;
    // The first joint stays; the second turns by a quarter.
    let stays = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let turns = [0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let path = folder.path().join("palette.npy");
    write_npy(&path, &[2, 3, 4], &[stays, turns].concat());
    let command = ["deform", "bent.glb", "-m", "arap:1:follow", "-o", "out.npy"];
    let arguments = [&command[..], &["--palette", "palette.npy"]].concat();
    succeeds(&arguments, folder.path());
    let found = npy_rows(&folder.path().join("out.npy"));

    let follow = Method::Arap(ArapOptions {
        iterations: 1,
        follow: true,
        ..ArapOptions::default()
    });
    let palette = npy::read_palette(&path).expect("written");
    let palette = Palette {
        posed_from_bind: palette,
    };
    let skin = Skin::bake(rig, &follow, Normals::Transported).expect("baked");
    let mut positions = rig.mesh().positions().to_vec();
    let output = Output {
        positions: &mut positions,
        normals: None,
        tangents: None,
    };
    skin.deform(&palette, &mut Workspace::default(), output)
        .expect("deformed");
    let expected: Vec<_> = positions.iter().map(|p| p.to_array()).collect();
    assert_eq!(found, expected);
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

#[test]
fn options_of_smoothing_are_explained_where_they_are_wrong() {
    let folder = folder();
    let takers = "delta-mush, ddm, ddm-v1, ddm-v2, ddm-v3, ddm-v4, ddm-v5";
    let cases: &[(i32, &[&str], &[&str])] = &[
        (
            2,
            &["-m", "linear", "--lambda", "1"],
            &["--lambda has no effect on 'linear'", takers],
        ),
        (2, &["-m", "ddm", "--lambda", "-1"], &["lambda is -1"]),
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
    // By name and by number; all kinds together; a comparison takes them if one of its methods
    // does.
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
        let all = ["ddm", "ddm-v1", "ddm-v3", "delta-mush"];
        // Delta mush has no κ.
        let takers = match options[0] {
            "--kappa" => &all[..3],
            _ => &all[..],
        };
        for &method in takers {
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
fn one_piece_needs_no_words_and_what_is_turned_inside_out_is_reported() {
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
    assert_eq!(notes_of(&deform, folder.path()), "");

    let pose = ["--clip", "squat", "--time", "1.0", "-o", "o.npy"];
    let deform = [
        &["deform", "@figure:2000", "--rigid", "-m", "ddm-v1"],
        &pose[..],
    ]
    .concat();
    let notes = notes_of(&deform, folder.path());
    let words = " inside out in this pose (the first is vertex ";
    assert!(
        notes.starts_with("note: 'ddm-v1' turns ") && notes.contains(words),
        "{notes}"
    );
    assert!(notes.ends_with("); 'ddm' does not\n"), "{notes}");
    let deform = [
        &["deform", "@figure:2000", "--rigid", "-m", "ddm"],
        &pose[..],
    ]
    .concat();
    assert_eq!(notes_of(&deform, folder.path()), "");
}

#[test]
fn pieces_that_are_connected_are_counted() {
    let Some(file) = shared_model("characters/KayKit_Knight.glb") else {
        return;
    };
    let folder = folder();
    let notes = |method: &str| {
        let deform = ["deform", &file, "-m", method, "-o", "o.npy"];
        notes_of(&deform, folder.path())
    };
    assert_eq!(notes("delta-mush"), notes("ddm"));
    let notes = notes("ddm");
    let words = " pieces; ";
    assert!(
        notes.starts_with("note: ") && notes.contains(words),
        "{notes}"
    );
    assert!(
        notes.contains(" pairs of close points connected, which leaves "),
        "{notes}"
    );
}
