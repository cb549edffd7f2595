//! Poses by where joints should be, from the command line.

use super::common::{fails, folder, succeeds, supple};
use glam::DVec3;
use std::path::Path;
use supple::characters::{self, Character};
use supple::{Asset, Pose};

/// The position of a joint in a pose.
fn place(asset: &Asset, pose: &Pose, name: &str) -> DVec3 {
    let skeleton = asset.rig.skeleton();
    let node = skeleton.nodes().iter().position(|node| node.name == name);
    let mut world = Vec::new();
    skeleton
        .forward_kinematics(pose, &mut world)
        .expect("a pose of this skeleton");
    world[node.expect("the joint exists")].translation
}

fn rest_place(asset: &Asset, name: &str) -> DVec3 {
    place(asset, &asset.rest_pose(), name)
}

#[test]
fn a_joint_turns_about_its_own_axes_in_order() {
    let folder = folder();
    let turn = ["--turn", "forearm.L=30,-40,50", "--turn", "head=0,20,0"];
    let pose = [&["pose", "@figure:2000"], &turn[..], &["-o", "turned.glb"]].concat();
    succeeds(&pose, folder.path());
    let turned = supple_io::gltf::load(&folder.path().join("turned.glb"))
        .unwrap()
        .asset;
    let figure = characters::build(Character::Figure, 2_000).unwrap();
    let nodes = [&turned, &figure].map(|asset| asset.rig.skeleton().nodes());
    // First about x, then about y as x has turned it, then about z as both have.
    let [x, y, z] = [30.0f64, -40.0, 50.0].map(f64::to_radians);
    let forearm = glam::DMat3::from_rotation_x(x)
        * glam::DMat3::from_rotation_y(y)
        * glam::DMat3::from_rotation_z(z);
    for node in nodes[1] {
        let own = match node.name.as_str() {
            "forearm.L" => forearm,
            "head" => glam::DMat3::from_rotation_y(20f64.to_radians()),
            _ => glam::DMat3::IDENTITY,
        };
        let expected = node.rest.to_affine().matrix3 * own;
        let found = nodes[0].iter().find(|other| other.name == node.name);
        let found = found.expect("all joints are kept").rest.to_affine().matrix3;
        assert!(found.abs_diff_eq(expected, 1e-6), "{}", node.name);
    }

    let (status, error) = fails(
        &["pose", "@figure:2000", "--turn", "head=0,1", "-o", "no.glb"],
        folder.path(),
    );
    assert!(status == 2 && error.contains("three angles"), "{error}");
}

/// Turns of one joint add up, in every command that poses; `deform` shows what they all use.
#[test]
fn turns_of_one_joint_follow_each_other() {
    let folder = folder();
    let deformed = |file: &str, turns: &[&str], out: &str| {
        let turns = turns.iter().flat_map(|turn| ["--turn", turn]);
        let arguments: Vec<&str> = ["deform", file, "-o", out]
            .into_iter()
            .chain(turns)
            .collect();
        succeeds(&arguments, folder.path());
        numbers(&folder.path().join(out))
    };
    let at_once = deformed("@arm:2000", &["hand=30,-40,50"], "once.npy");
    let turns = ["hand=30,0,0", "hand=0,-40,0", "hand=0,0,50"];
    let in_turn = deformed("@arm:2000", &turns, "turns.npy");
    let rest = deformed("@arm:2000", &[], "rest.npy");
    let far = |a: &[f32], b: &[f32]| {
        let distances = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        distances.fold(0.0, f32::max)
    };
    assert!(far(&at_once, &in_turn) < 1e-5 && far(&at_once, &rest) > 0.02);
    let turns = ["--turn", turns[0], "--turn", turns[1], "--turn", turns[2]];
    let pose = [&["pose", "@arm:2000", "-o", "posed.glb"], &turns[..]].concat();
    succeeds(&pose, folder.path());
    assert!(far(&deformed("posed.glb", &[], "posed.npy"), &at_once) < 1e-5);
}

#[test]
fn a_posed_file_opens_with_the_hand_at_its_place_and_all_else_kept() {
    let folder = folder();
    let reach = [
        "--reach",
        "hand.L=0.2,1.2,0.4",
        "--reach",
        "hand.R+=0,0.3,0.1",
    ];
    let pose = [&["pose", "@figure:2000"], &reach[..], &["-o", "posed.glb"]].concat();
    let message = succeeds(&pose, folder.path());
    assert_eq!(
        message,
        "'hand.L' is at its target\n'hand.R' is at its target\n"
    );
    let posed = supple_io::gltf::load(&folder.path().join("posed.glb"))
        .unwrap()
        .asset;
    let left = rest_place(&posed, "hand.L");
    assert!(left.distance(DVec3::new(0.2, 1.2, 0.4)) < 1e-6, "{left}");
    let figure = characters::build(Character::Figure, 2_000).unwrap();
    let right = rest_place(&figure, "hand.R") + DVec3::new(0.0, 0.3, 0.1);
    assert!(rest_place(&posed, "hand.R").distance(right) < 1e-6);
    assert_eq!(posed.clips.len(), figure.clips.len(), "clips are kept");
    assert_eq!(
        posed.rig.mesh().positions(),
        figure.rig.mesh().positions(),
        "the bind is kept"
    );
    // The same from 'deform', and from the file.
    let deform = [&["deform", "@figure:2000"], &reach[..], &["-o", "a.npy"]].concat();
    succeeds(&deform, folder.path());
    succeeds(&["deform", "posed.glb", "-o", "b.npy"], folder.path());
    let [direct, from_file] = ["a.npy", "b.npy"].map(|name| numbers(&folder.path().join(name)));
    let farthest = direct.iter().zip(&from_file).map(|(a, b)| (a - b).abs());
    assert!(farthest.fold(0.0, f32::max) < 1e-5);
}

/// The numbers behind the header of an .npy file.
fn numbers(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("written");
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let numbers = bytes[10 + header..].as_chunks::<4>().0.iter();
    numbers.map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

#[test]
fn a_squat_keeps_the_feet_where_they_are() {
    let folder = folder();
    let message = succeeds(
        &[
            "pose",
            "@figure:2000",
            "--move",
            "pelvis+=0,-0.25,-0.1",
            "--reach",
            "foot.L+=0,0,0",
            "--reach",
            "foot.R+=0,0,0",
            "--orient",
            "foot.L=keep",
            "--orient",
            "foot.R=keep",
            "-o",
            "squat.gltf",
        ],
        folder.path(),
    );
    assert_eq!(message.lines().count(), 2);
    let posed = supple_io::gltf::load(&folder.path().join("squat.gltf"))
        .unwrap()
        .asset;
    let figure = characters::build(Character::Figure, 2_000).unwrap();
    for joint in ["foot.L", "toes.L", "foot.R", "toes.R"] {
        let moved = rest_place(&posed, joint).distance(rest_place(&figure, joint));
        assert!(moved < 1e-6, "{joint} moved by {moved}");
    }
    let sunk = rest_place(&figure, "head") - rest_place(&posed, "head");
    assert!(sunk.distance(DVec3::new(0.0, 0.25, 0.1)) < 1e-6, "{sunk}");
}

#[test]
fn what_is_missed_is_told_and_limits_are_kept() {
    let folder = folder();
    let message = succeeds(
        &[
            "pose",
            "@figure:2000",
            "--reach",
            "hand.L=0,3,0",
            "--chain",
            "2",
            "-o",
            "far.glb",
        ],
        folder.path(),
    );
    assert!(message.starts_with("'hand.L' is 1.0"), "{message}");
    assert!(message.contains("short of its target"), "{message}");
    assert!(
        message.contains("from 'upper_arm.L'; the chain is 0.531 long"),
        "{message}"
    );
    let message = succeeds(
        &[
            "pose",
            "@figure:2000",
            "--clip",
            "squat",
            "--time",
            "1",
            "--reach",
            "hand.L+=-0.3,0.2,0",
            "--chain",
            "2",
            "--limit",
            "forearm.L=hinge:0..30",
            "--limit",
            "upper_arm.L=cone:40,-20..20",
            "-o",
            "stiff.glb",
        ],
        folder.path(),
    );
    assert!(message.contains("cannot bend that way"), "{message}");
    // A picture tells of what is missed beside what it draws.
    let output = supple(
        &[
            "render",
            "@figure:2000",
            "--reach",
            "hand.L=0,3,0",
            "--size",
            "40x40",
            "-o",
            "far.png",
        ],
        folder.path(),
    );
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    assert!(error.starts_with("note: 'hand.L' is 0.8"), "{error}");
}

#[test]
fn wishes_about_joints_that_nothing_turns_are_reported() {
    let folder = folder();
    let pose = |wishes: &[&str]| {
        let reach = ["pose", "@figure:2000", "--reach", "hand.L=0.2,1.2,0.4"];
        let arguments = [&reach[..], wishes, &["-o", "out.glb"]].concat();
        let output = supple(&arguments, folder.path());
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let idle = |option: &str, joint: &str| {
        format!(
            "note: {option} of '{joint}' has no effect: no reaching joint turns it; --chain makes \
             more joints turn\n"
        )
    };
    let far = ["--limit", "spine1=cone:20", "--stiff", "pelvis=0.5"];
    let expected = idle("--limit", "spine1") + &idle("--stiff", "pelvis");
    assert_eq!(pose(&far), expected);
    let hinge = ["--limit", "hand.L=hinge:0..20@1,0,0"];
    assert_eq!(pose(&hinge), idle("--limit", "hand.L"));
    let oriented = [&hinge[..], &["--orient", "hand.L=keep"]].concat();
    assert_eq!(pose(&oriented), "");
    let near = [
        "--limit",
        "forearm.L=hinge:0..150",
        "--stiff",
        "upper_arm.L=0.5",
    ];
    assert_eq!(pose(&near), "");
}

#[test]
fn wishes_that_fit_nothing_are_explained() {
    let folder = folder();
    let refused = |wishes: &[&str]| {
        let arguments = [&["pose", "@bar:2000", "-o", "out.glb"], wishes].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, 2, "{error}");
        error
    };
    assert!(refused(&[]).contains("there is no pose to write"));
    assert!(refused(&["--reach", "elbow=1,2,3"]).contains("there is no joint 'elbow'"));
    assert!(refused(&["--reach", "second=1,2,inf"]).contains("expected a joint and three numbers"));
    assert!(
        refused(&["--reach", "second=1e300,0,0"]).contains("the target of 'second' is not finite")
    );
    assert!(refused(&["--pole", "second=1,2,3"]).contains("--reach"));
    let pole = ["--reach", "second=0,1,0", "--pole", "first=0,0,1"];
    assert!(refused(&pole).contains("'first', which has no target"));
    let limit = [
        "--reach",
        "second=0,1,0",
        "--limit",
        "first=hinge:0..400@1,0,0",
    ];
    assert!(refused(&limit).contains("the limit of 'first' is not valid"));
    let limit = ["--reach", "second=0,1,0", "--limit", "first=hinge:0..40"];
    assert!(refused(&limit).contains("give an axis"));
}

/// An option that is given twice for a joint, by whatever names, is an error.
#[test]
fn a_joint_is_told_once_what_to_do() {
    let folder = folder();
    let refused = |wishes: &[&str]| {
        let arguments = [&["pose", "@figure:2000", "-o", "out.glb"], wishes].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, 2, "{error}");
        error
    };
    let twice = |option: &'static str, [one, other]: [&'static str; 2]| {
        let reach = match option {
            "--reach" | "--move" => &[][..],
            _ => &["--reach", "hand.L=0.2,1.2,0.4"],
        };
        refused(&[reach, &[option, one, option, other]].concat())
    };
    for (option, wishes) in [
        ("--move", ["hand.L=0,1,0", "hand.L+=0,1,0"]),
        ("--reach", ["hand.L=0,1,0", "hand.L=0,2,0"]),
        ("--pole", ["hand.L=0,1,0", "hand.L=0,2,0"]),
        ("--orient", ["hand.L=keep", "hand.L=0,90,0"]),
        ("--chain", ["hand.L=2", "hand.L=3"]),
        ("--limit", ["hand.L=cone:20", "hand.L=cone:30"]),
        ("--stiff", ["hand.L=0.2", "hand.L=0.3"]),
    ] {
        let error = twice(option, wishes);
        let expected = format!("{option} is given twice for 'hand.L'\n");
        assert!(error.contains(&expected), "{error}");
    }
    let error = twice("--move", ["root=0,1,0", "0=0,2,0"]);
    assert!(
        error.contains("--move is given twice for '0', which is also 'root'"),
        "{error}"
    );
    let error = twice("--chain", ["2", "3"]);
    assert!(
        error.contains("--chain is given twice for all reaching joints"),
        "{error}"
    );
}

#[test]
fn a_pole_in_line_with_the_limb_is_reported() {
    let folder = folder();
    let pole = |place: &str| {
        let pole = format!("hand.L={place}");
        let arguments = [
            "pose",
            "@figure:2000",
            "--reach",
            "hand.L=0.2,1.2,0.4",
            "--pole",
            &pole,
            "-o",
            "out.glb",
        ];
        let output = supple(&arguments, folder.path());
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let note = "note: --pole of 'hand.L' has no effect: it is in line with the limb";
    assert!(
        pole("0.2,1.2,0.4").starts_with(note),
        "{}",
        pole("0.2,1.2,0.4")
    );
    assert_eq!(pole("1.5,1.9,0"), "");
}
