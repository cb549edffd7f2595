//! `supple deform --fps`: all frames of a clip in one file.

use super::common::{fails, folder, npy_rows, succeeds};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const WALK: [&str; 6] = ["deform", "@figure:2000", "-m", "cor", "--clip", "walk"];

fn walk(more: &[&str], folder: &Path) {
    succeeds(&[&WALK[..], more].concat(), folder);
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).expect("written")
}

#[test]
fn a_clip_is_written_frame_by_frame_in_every_format() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for name in ["walk.npy", "walk.pc2", "walk.mdd", "walk.glb"] {
        walk(&["--fps", "10", "-o", name], folder.path());
    }
    let array = bytes(folder.path(), "walk.npy");
    let header = String::from_utf8_lossy(&array[..128]).into_owned();
    let rows = npy_rows(&at("walk.npy"));
    walk(
        &["--frame", "0", "--fps", "10", "-o", "pose.npy"],
        folder.path(),
    );
    let vertices = npy_rows(&at("pose.npy")).len();
    assert_eq!(rows.len() % vertices, 0);
    let frames = rows.len() / vertices;
    assert!(
        header.contains(&format!("'shape': ({frames}, {vertices}, 3, )")),
        "{header}"
    );

    // Each frame is that of --frame.
    let frame = |frame: usize| &rows[frame * vertices..][..vertices];
    for number in [0, 5, frames - 1] {
        let text = number.to_string();
        walk(
            &["--frame", &text, "--fps", "10", "-o", "pose.npy"],
            folder.path(),
        );
        assert!(npy_rows(&at("pose.npy")) == frame(number), "frame {number}");
    }

    // The caches hold the same numbers after their headers.
    let numbers: Vec<f32> = rows.iter().flatten().copied().collect();
    let little: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let big: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect();
    assert_eq!(bytes(folder.path(), "walk.pc2")[32..], little);
    assert_eq!(bytes(folder.path(), "walk.mdd")[8 + 4 * frames..], big);

    // The .glb plays the frames back, by the library and by name.
    for number in [0, 1, 7, frames - 1] {
        let time = format!("{}", number as f64 / 10.0);
        let play = ["deform", "walk.glb", "--clip", "walk", "--time", &time];
        succeeds(&[&play[..], &["-o", "again.npy"]].concat(), folder.path());
        let again = npy_rows(&at("again.npy"));
        for (found, expected) in again.iter().flatten().zip(frame(number).iter().flatten()) {
            assert!((found - expected).abs() < 1e-6, "{found} and {expected}");
        }
        assert_eq!(again.len(), vertices);
    }
}

#[test]
fn point_caches_hold_whole_clips_at_30_frames_per_second() {
    let folder = folder();
    for name in ["usual.mdd", "given.mdd"] {
        let fps: &[&str] = if name == "usual.mdd" {
            &[]
        } else {
            &["--fps", "30"]
        };
        walk(&[fps, &["-o", name]].concat(), folder.path());
    }
    let usual = bytes(folder.path(), "usual.mdd");
    assert_eq!(usual, bytes(folder.path(), "given.mdd"));
    let word = |at: usize| [usual[at], usual[at + 1], usual[at + 2], usual[at + 3]];
    let frames = i32::from_be_bytes(word(0)) as usize;
    let last = f32::from_be_bytes(word(8 + 4 * (frames - 1)));
    assert_eq!(last, (frames - 1) as f32 / 30.0);
    // Without --clip it is the first one.
    succeeds(&["deform", "@bar:2000", "-o", "bar.pc2"], folder.path());
    let header = bytes(folder.path(), "bar.pc2");
    assert_eq!(&header[..12], b"POINTCACHE2\0");
    assert_eq!(
        header[28..32],
        61i32.to_le_bytes(),
        "two seconds and both ends"
    );
    // The last frame is the end of the clip.
    succeeds(
        &["deform", "@bar:2000", "--time", "1e9", "-o", "end.npy"],
        folder.path(),
    );
    let end = npy_rows(&folder.path().join("end.npy")).concat();
    let end: Vec<u8> = end.into_iter().flat_map(f32::to_le_bytes).collect();
    assert!(header.ends_with(&end));
}

#[test]
fn methods_that_continue_from_the_last_frame_do_so() {
    let folder = folder();
    let follow = [
        "deform",
        "@bar:2000",
        "--clip",
        "twist-90",
        "-m",
        "arap:1:follow",
    ];
    let run = |more: &[&str]| succeeds(&[&follow[..], more].concat(), folder.path());
    run(&["--fps", "8", "-o", "all.npy"]);
    run(&["--frame", "7", "--fps", "8", "-o", "one.npy"]);
    let all = npy_rows(&folder.path().join("all.npy"));
    let one = npy_rows(&folder.path().join("one.npy"));
    assert_ne!(
        all[7 * one.len()..][..one.len()],
        one,
        "it starts from frame 6"
    );
}

/// Where standard error is no terminal, long work prints a line after two seconds.
#[test]
fn long_work_tells_how_far_it_is() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    let long = [
        "deform",
        "@figure:40000",
        "-m",
        "arap:60",
        "--clip",
        "walk",
        "--fps",
        "60",
    ];
    command
        .args(long)
        .args(["-o", "long.npy"])
        .current_dir(folder.path());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let error = child.stderr.take().expect("a pipe");
    let mut lines = BufReader::new(error).lines().map_while(Result::ok);
    let told = lines.find(|line| line.starts_with("progress: deforming, "));
    let told = told.expect("it takes longer than two seconds");
    assert!(told.ends_with(" s") && told.contains(" % after "), "{told}");
    child.kill().expect("it runs still");
    let output = child.wait_with_output().expect("it has ended");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_is_no_sequence_is_refused_in_words() {
    let folder = folder();
    let cases: [(i32, &[&str], &str); 8] = [
        (
            2,
            &["--fps", "24", "-o", "o.obj"],
            "a .obj holds one pose, but --fps asks for all",
        ),
        (
            2,
            &["--time", "0.5", "-o", "o.pc2"],
            "--time and --frame choose one pose",
        ),
        (
            2,
            &["--frame", "2", "-o", "o.mdd"],
            "o.mdd: --time and --frame choose one pose",
        ),
        (
            2,
            &["--turn", "second=0,0,9", "--fps", "9", "-o", "o.npy"],
            "--turn make one pose",
        ),
        (
            2,
            &["--palette", "p.npy", "-o", "o.pc2"],
            "--palette makes one pose",
        ),
        (
            2,
            &["--palette", "p.npy", "--fps", "9", "-o", "o.npy"],
            "cannot be used with",
        ),
        (
            1,
            &["--fps", "1000", "-o", "o.glb"],
            "makes 2001 frames, more than 2000",
        ),
        (
            2,
            &["-o", "o.abc"],
            ".npy, .obj, .ply, .pc2, .mdd, .glb or .gltf",
        ),
    ];
    for (expected, options, phrase) in cases {
        let deform = ["deform", "@bar:2000"];
        let (status, error) = fails(&[&deform[..], options].concat(), folder.path());
        assert_eq!(status, expected, "{options:?}: {error}");
        assert!(error.contains(phrase), "{options:?}: {error}");
    }
    let large = ["deform", "@bar:40000", "--fps", "500", "-o", "o.glb"];
    let (status, error) = fails(&large, folder.path());
    assert_eq!(status, 1);
    assert!(
        error.contains("1001 frames of ") && error.contains("more than 500.0 MB"),
        "{error}"
    );
}
