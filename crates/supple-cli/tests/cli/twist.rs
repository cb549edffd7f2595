//! `supple twist` as its users meet it.

use super::common::{fails, folder, notes_of, npy_rows, succeeds};

#[test]
fn a_twisted_arm_keeps_its_hand_where_it_was() {
    let folder = folder();
    let twist = |more: &[&str]| {
        let arguments = [&["twist", "@figure:2000", "-o", "twist.glb"], more].concat();
        notes_of(&arguments, folder.path())
    };
    let note = twist(&["--joint", "forearm.L", "--joint", "thigh.R"]);
    let expected = [
        "'forearm.L_twist' splits the bone from 'forearm.L' to 'forearm_twist.L'",
        "half of the twist of 'forearm_twist.L', up to 75.0° in the clip 'forearm-twist-150' at \
         1.00 s",
        "'thigh.R_twist' splits",
    ];
    for words in expected {
        assert!(note.contains(words), "{note}");
    }
    let rest = |file: &str| {
        notes_of(&["deform", file, "-o", "out.npy"], folder.path());
        npy_rows(&folder.path().join("out.npy"))
    };
    for (found, expected) in rest("twist.glb").iter().zip(rest("@figure:2000")) {
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-6);
    }
    let both = twist(&["--joint", "forearm.L", "--joint", "forearm.R"]);
    assert!(
        both.contains("note: both 'forearm.L' and 'forearm.R' spread the twist of their children"),
        "{both}"
    );
    assert!(!note.contains("both"), "{note}");
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
    // The old bake is reported.
    notes_of(
        &["bake", "@arm:2000", "-m", "cor", "-o", "cor.glb"],
        folder.path(),
    );
    let arguments = ["twist", "cor.glb", "--joint", "forearm", "-o", "twist.glb"];
    let note = notes_of(&arguments, folder.path());
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
    notes_of(
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
            &["--name is for a single --joint"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "--name", "hand"],
            &["a node named 'hand' already exists"],
        ),
        (
            2,
            "@arm:2000",
            &["-j", "forearm", "--toward", "hand"],
            &["cannot end at 'hand'", "its children: forearm_twist"],
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
                "at the start of the bone",
            ],
        ),
        (
            1,
            "@arm:2000",
            &["-j", "shoulder", "--twist-of", "joint"],
            &["joint 'shoulder' has no parent joint"],
        ),
        (
            1,
            "twist.glb",
            &["-j", "forearm"],
            &["is already split by 'forearm_twist_2'"],
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

#[test]
fn a_turned_wrist_turns_the_twist_joint() {
    let folder = folder();
    let run = |arguments: &[&str]| notes_of(arguments, folder.path());
    run(&[
        "twist",
        "@arm:2000",
        "--joint",
        "forearm_twist",
        "--twist-of",
        "child",
        "--name",
        "mine",
        "-o",
        "arm.glb",
    ]);
    let posed = |more: &[&str]| {
        run(&[&["deform", "arm.glb", "-o", "posed.npy"], more].concat());
        npy_rows(&folder.path().join("posed.npy"))
    };
    let followed = posed(&["--turn", "hand=100,0,0"]);
    // By hand: half of it, and none. The hand's own axis is not quite that of the bone.
    let by_hand = posed(&["--turn", "hand=100,0,0", "--turn", "mine=50,0,0"]);
    let still = posed(&["--turn", "hand=100,0,0", "--turn", "mine=0,0,0"]);
    let apart = |other: &[Vec<f32>]| {
        let rows = followed.iter().zip(other);
        let numbers = rows.flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
        numbers.fold(0.0, f32::max)
    };
    assert!(apart(&by_hand) < 2e-3, "{}", apart(&by_hand));
    assert!(apart(&still) > 1e-2, "{}", apart(&still));
}
