//! The command ended at random moments while it works: by SIGINT, SIGTERM and SIGKILL.
//!
//! Afterwards the output must be absent, complete, or what it was before, and nothing else may be
//! in its folder. What SIGKILL alone may leave: an empty folder that was just made for the output,
//! and a file called `.supple-XXXXXX` where one is replaced or the file system has no files without
//! names.
//!
//! Each command is ended six times, or as often as the environment variable `SUPPLE_KILLS` says:
//! `SUPPLE_KILLS=50 cargo test -p supple-cli --test kills` is a thorough run. It includes `demo`,
//! which takes most of a minute each time and writes as `compare` does. The moments are random, but
//! no moment is right or wrong: a command that ends before its signal has to be complete.

#![cfg(unix)]
#![allow(clippy::expect_used)] // in the helpers of the tests below

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::KILL];

/// The content of a file before the command replaces it.
const OLD: &[u8] = b"old";

fn start(arguments: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    command.args(arguments).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the binary runs")
}

fn send(signal: Signal, child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Fails if it has ended already.
    let _ = kill_process(id.expect("a process"), signal);
}

/// How often each command is ended in a thorough run.
fn thorough_kills() -> Option<usize> {
    let count = std::env::var("SUPPLE_KILLS").ok()?;
    Some(count.parse().expect("SUPPLE_KILLS is a number"))
}

/// Every signal meets a folder with an old file and one without.
const KILLS: usize = 2 * SIGNALS.len();

/// When to end a command, as a share of how long it takes: at any moment, or, every second time,
/// around the end, when it writes.
fn random_moment() -> f64 {
    match random() < 0.5 {
        true => 1.1 * random(),
        false => 0.8 + 0.3 * random(),
    }
}

/// A number from 0 to 1, another one every time.
fn random() -> f64 {
    f64::from(RandomState::new().hash_one(0) as u32) / f64::from(u32::MAX)
}

/// Everything in a folder, by its path; folders hold nothing.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    add_content(folder, "", &mut found);
    found
}

fn add_content(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let entry = entry.expect("readable");
        let name = before.to_owned() + entry.file_name().to_str().expect("UTF-8");
        if entry.file_type().expect("known").is_dir() {
            add_content(&entry.path(), &format!("{name}/"), found);
            found.insert(name, Vec::new());
        } else {
            found.insert(name, fs::read(entry.path()).expect("readable"));
        }
    }
}

/// Ends a command that writes one file.
fn one_file(arguments: &[&str], output: &str) {
    survives_kills(arguments, output, &[output]);
}

/// Ends a command that writes files into a folder.
fn a_folder(arguments: &[&str], folder: &str, replaced: &str) {
    survives_kills(arguments, folder, &[replaced, folder]);
}

/// Ends a command, with nothing in the way of `output` or with an old file, `replaced[0]`, there.
fn survives_kills(arguments: &[&str], output: &str, replaced: &[&str]) {
    let arguments = &[arguments, &["-o", output]].concat();
    let whole = tempfile::tempdir().expect("a temporary folder");
    let begin = Instant::now();
    let status = start(arguments, whole.path()).wait().expect("it ran");
    let duration = begin.elapsed();
    assert!(status.success(), "{arguments:?}");
    let expected = content(whole.path());
    assert!(expected.contains_key(replaced[0]), "{:?}", expected.keys());
    for kill in 0..thorough_kills().unwrap_or(KILLS) {
        let signal = SIGNALS[kill % SIGNALS.len()];
        let folder = tempfile::tempdir().expect("a temporary folder");
        let replaces = kill % 2 == 1;
        if replaces {
            let old = folder.path().join(replaced[0]);
            fs::create_dir_all(old.parent().expect("a folder")).expect("writable");
            fs::write(old, OLD).expect("writable");
        }
        let delay = duration.mul_f64(random_moment());
        let mut child = start(arguments, folder.path());
        std::thread::sleep(delay);
        send(signal, &child);
        let status = child.wait().expect("it ran");
        let left = content(folder.path());
        let case = format!(
            "{arguments:?}, {signal:?} after {delay:?} of {duration:?}, replaces: {replaces}, \
             left: {:?}",
            left.keys()
        );
        check_status(status, signal, &case);
        if status.success() {
            assert_eq!(left.len(), expected.len(), "{case}");
        }
        if replaces {
            assert!(left.contains_key(replaced[0]), "{case}");
        }
        for (name, bytes) in &left {
            let is_old = replaces && name == replaced[0] && bytes == OLD;
            let is_whole = expected
                .get(name)
                .is_some_and(|expected| same(name, expected, bytes));
            let is_draft = name
                .rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with(".supple-"));
            let may_be_left =
                signal == Signal::KILL && (replaces || !has_unnamed_files(folder.path()));
            assert!(
                is_old || is_whole || (is_draft && may_be_left),
                "{name}: {case}"
            );
        }
        let is_empty = left.len() == 1 && left.contains_key(output) && replaced.len() > 1;
        assert!(!is_empty || signal == Signal::KILL, "{case}");
    }
}

fn check_status(status: ExitStatus, signal: Signal, case: &str) {
    let number = signal.as_raw();
    // Before the command has learnt to clean up, there is nothing to clean up.
    let ended = status.code() == Some(128 + number) || status.signal() == Some(number);
    assert!(status.success() || ended, "{status}: {case}");
}

/// Pages tell how long things took, so they are never the same twice.
fn same(name: &str, expected: &[u8], found: &[u8]) -> bool {
    match name.ends_with(".html") {
        true => found.trim_ascii_end().ends_with(b"</html>"),
        false => found == expected,
    }
}

#[cfg(target_os = "linux")]
fn has_unnamed_files(folder: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, open};
    open(folder, OFlags::TMPFILE | OFlags::WRONLY, Mode::RUSR).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_unnamed_files(_: &Path) -> bool {
    false
}

#[test]
fn deform_survives_kills() {
    for output in ["out.glb", "out.obj", "out.ply", "out.npy"] {
        one_file(&["deform", "@bar:2000", "--time", "0.3"], output);
    }
}

#[test]
fn pose_survives_kills() {
    one_file(&["pose", "@bar:2000", "--time", "0.3"], "out.glb");
}

#[test]
fn render_survives_kills() {
    let render = ["render", "@bar:2000", "--size", "48x48"];
    one_file(&render, "out.png");
    one_file(&[&render[..], &["--fps", "1"]].concat(), "out.gif");
}

#[test]
fn compare_survives_kills() {
    let compare = [
        "compare",
        "@bar:2000",
        "-m",
        "linear",
        "--clip",
        "0",
        "--size",
        "40x40",
    ];
    a_folder(&compare, "out", "out/index.html");
}

#[test]
fn demo_survives_kills() {
    if thorough_kills().is_some() {
        a_folder(&["demo"], "out", "out/index.html");
    }
}

#[test]
fn convert_survives_kills() {
    one_file(&["convert", "@bar:2000"], "out.glb");
    one_file(&["convert", "@bar:2000"], "out.gltf");
}

#[test]
fn bake_survives_kills() {
    one_file(&["bake", "@bar:2000", "-m", "cor"], "out.glb");
    one_file(&["bake", "@bar:2000", "-m", "ddm"], "out.glb");
}

#[test]
fn weights_survive_kills() {
    one_file(&["weights", "@bar:2000", "-m", "envelope"], "out.glb");
    one_file(
        &["weights", "edit", "@bar:2000", "--smooth", "2"],
        "out.glb",
    );
}

#[test]
fn handles_survive_kills() {
    let handles = ["handles", "@bar:2000"];
    let bound = [&handles[..], &["--weights", "geodesic"]].concat();
    one_file(&bound, "out.glb");
    one_file(&handles, "out.json");
}

#[test]
fn twist_survives_kills() {
    one_file(&["twist", "@bar:2000", "--joint", "0"], "out.glb");
}

#[test]
fn shaders_survive_kills() {
    a_folder(&["shaders", "-m", "linear,cor"], "out", "out/linear.wgsl");
}

/// Starts a command that writes into a pipe, and waits until it does.
fn writing_into_a_pipe(folder: &Path, shell: &str) -> (Child, fs::File) {
    let pipe = folder.join("out.obj");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$0\" \"$@\"")]);
    command.arg(env!("CARGO_BIN_EXE_supple"));
    command.args(["deform", "@bar:20000", "-o", "out.obj"]);
    command.current_dir(folder).stderr(Stdio::null());
    let child = command.spawn().expect("a shell runs");
    // Waits until it is opened for writing; a pipe holds less than the file.
    let mut reader = fs::File::open(&pipe).expect("readable");
    reader
        .read_exact(&mut [0; 1])
        .expect("something is written");
    (child, reader)
}

/// True if a signal was ignored when the tests were started, as in the background of a script: then
/// commands ignore it, too.
fn is_ignored_here(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

#[test]
fn signals_end_the_command_with_128_and_their_number() {
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        if is_ignored_here(signal) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (mut child, _reader) = writing_into_a_pipe(folder.path(), "");
        send(signal, &child);
        let status = child.wait().expect("it ran");
        assert_eq!(status.code(), Some(128 + signal.as_raw()), "{signal:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_from_the_start_stay_ignored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut child, mut reader) = writing_into_a_pipe(folder.path(), "trap '' HUP;");
    send(Signal::HUP, &child);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("UTF-8");
    assert!(child.wait().expect("it ran").success());
    assert!(text.lines().any(|line| line.starts_with("f ")), "no faces");
}
