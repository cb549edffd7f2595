//! Files that once took too long or too much memory, or broke a checked build: commands end within
//! limits of the system. Limits are some times what is needed in the profile of tests, and far
//! below what was needed before.

use super::common::{fails, folder, hostile_file, succeeds};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The address space of a command that does little: the program, its stacks and arenas.
const LITTLE: usize = 400;

/// Runs the command on one thread, with so many seconds of processor time and megabytes of address
/// space.
#[track_caller]
fn succeeds_within(seconds: u32, megabytes: usize, arguments: &[&str], folder: &Path) {
    let limits = format!(
        "ulimit -t {seconds} && ulimit -v {} && exec \"$0\" \"$@\"",
        megabytes * 1024
    );
    let mut command = Command::new("sh");
    command.args(["-c", &limits, env!("CARGO_BIN_EXE_supple")]);
    command.args(arguments).current_dir(folder);
    command.env("RAYON_NUM_THREADS", "1");
    // The C library of Linux would reserve address space for each further thread, such as the one
    // that reports progress on a slow machine.
    command.env("MALLOC_ARENA_MAX", "1");
    let output = command.output().expect("a shell runs");
    let error = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    assert!(status.success(), "{arguments:?}: {status}: {error}");
}

#[test]
fn ten_thousand_joints_take_memory_and_time_in_proportion() {
    let Some(file) = hostile_file("j10k.glb") else {
        return;
    };
    let folder = folder();
    // 1,080 MB before, now 280.
    let heat = ["weights", &file, "-m", "heat", "-o", "o.glb"];
    succeeds_within(40, 700, &heat, folder.path());
    // 630 MB and all that a program needs before, now 420.
    let mush = ["deform", &file, "-m", "ddm", "-o", "o.npy"];
    succeeds_within(40, 760, &mush, folder.path());
    // Not done after 12 s in an optimised build before, now 0.6 s in this one.
    let reach = ["pose", &file, "--reach", "j9999+=0.1,0,0", "-o", "p.glb"];
    succeeds_within(8, LITTLE, &reach, folder.path());
}

/// Seven minutes before, now a tenth of a second.
#[test]
fn copies_of_one_triangle_take_time_in_proportion() {
    let Some(file) = hostile_file("same_triangle_60000_times.glb") else {
        return;
    };
    let folder = folder();
    let smooth = ["weights", "edit", &file, "--smooth", "5", "-o", "o.glb"];
    succeeds_within(8, LITTLE, &smooth, folder.path());
    let render = ["render", &file, "--size", "64x64", "-o", "o.png"];
    succeeds_within(8, LITTLE, &render, folder.path());
    let deform = ["deform", &file, "-o", "o.npy"];
    succeeds_within(8, LITTLE, &deform, folder.path());
    let measure = ["measure", "o.npy", "o.npy", "--mesh", &file];
    succeeds_within(8, LITTLE, &measure, folder.path());
    // The search for views drew each copy 36 times, in minutes.
    let methods = ["-m", "linear,dqs", "--size", "40x40", "-o", "o"];
    let compare = [&["compare", &file], &methods[..]].concat();
    succeeds_within(60, LITTLE, &compare, folder.path());
}

/// How the cost grows with the fan is for `proportional.rs`.
#[test]
fn a_fan_of_a_thousand_triangles_takes_seconds() {
    let Some(file) = hostile_file("fan_of_1000.glb") else {
        return;
    };
    let folder = folder();
    for method in ["geodesic", "bbw"] {
        let weights = ["weights", &file, "-m", method, "-o", "o.glb"];
        succeeds_within(20, LITTLE, &weights, folder.path());
    }
    let handles = ["handles", &file, "-o", "o.json"];
    succeeds_within(30, LITTLE, &handles, folder.path());
    let render = ["render", &file, "--size", "64x64", "-o", "o.png"];
    succeeds_within(8, LITTLE, &render, folder.path());
}

/// Tests run with overflow checks.
#[test]
fn byte_counts_whose_sum_overflows_are_told_to_programs() {
    let Some(file) = hostile_file("overflow_sum_mush_bytelength.glb") else {
        return;
    };
    let info = succeeds(&["info", &file, "--json"], folder().path());
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    assert!(info.is_object());
}

/// Tests run with debug assertions, of which one was about a ray from these joints.
#[test]
fn joints_that_cannot_be_bound_to_are_named() {
    let Some(file) = hostile_file("heat_ray_debug_assert.glb") else {
        return;
    };
    let heat = ["weights", &file, "-m", "heat", "-o", "o.glb"];
    let (status, error) = fails(&heat, folder().path());
    assert_eq!(status, 1);
    assert!(
        error.starts_with("error: there is no joint to bind to")
            && error.contains("2 joints with a bind matrix that cannot be inverted: 'root', 'tip'"),
        "{error}"
    );
}

/// Runs a program as a user who may have a single thread; none if this process may not do that.
fn on_the_only_thread(program: &str, arguments: &[&str], folder: &Path) -> Option<Output> {
    // A user with no other process: threads are counted for all of them.
    const USER: &str = "61347";
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
    command
        .args(["prlimit", "--nproc=1", program])
        .args(arguments);
    command.current_dir(folder).env_remove("RAYON_NUM_THREADS");
    let output = command.output().ok()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let is_forbidden = told.contains("setpriv:") || told.contains("prlimit:");
    (!is_forbidden).then_some(output)
}

#[test]
fn where_no_thread_can_be_started_the_output_is_the_same() {
    let folder = folder();
    let all = Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), all).expect("permitted");
    // A shell that cannot start a program shows that the limit works.
    let shell = on_the_only_thread("sh", &["-c", "true | true; echo done"], folder.path());
    let Some(shell) = shell.filter(|shell| !shell.stdout.starts_with(b"done")) else {
        let has_to_run = std::env::var_os("CI").is_some();
        assert!(!has_to_run, "processes cannot be limited here");
        eprintln!("skipped: processes cannot be limited here");
        return;
    };
    let told = String::from_utf8_lossy(&shell.stderr).to_lowercase();
    assert!(told.contains("fork"), "{told}");
    let commands: [(&[&str], &str); 4] = [
        (&["deform", "@bar:20000", "-m", "ddm", "-o"], "o.npy"),
        (&["weights", "@bar:2000", "-m", "heat", "-o"], "w.glb"),
        (&["render", "@bar:2000", "--size", "64x64", "-o"], "o.png"),
        (
            &["render", "@bar:2000", "--size", "32x32", "--fps", "1", "-o"],
            "o.gif",
        ),
    ];
    let program = env!("CARGO_BIN_EXE_supple");
    for (command, out) in commands {
        let arguments = [command, &[out]].concat();
        let output = on_the_only_thread(program, &arguments, folder.path()).expect("as before");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
        let threads = format!("threads-{out}");
        let arguments = [command, &[&threads]].concat();
        let output = Command::new(program)
            .args(&arguments)
            .current_dir(folder.path())
            .output();
        assert!(output.expect("the binary runs").status.success());
        let [one, many] =
            [out, &threads].map(|name| std::fs::read(folder.path().join(name)).expect("written"));
        assert!(one == many, "{arguments:?}: other bytes");
    }
}
