//! Outputs of all kinds: permissions, links, folders, devices; and few threads.

use super::common::{fails, folder, listing, npy_rows, succeeds, supple_with};

#[cfg(unix)]
#[test]
fn a_replaced_output_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("out.npy");
    std::fs::write(&path, "old").expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("allowed");
    succeeds(&["deform", "@bar:2000", "-o", "out.npy"], folder.path());
    assert!(npy_rows(&path).len() > 1000);
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_read_only_output_is_refused_before_the_work() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let read_only = std::fs::Permissions::from_mode(0o444);
    std::fs::create_dir(folder.path().join("report")).expect("writable");
    for name in ["out.npy", "out.gif", "out.glb", "report/index.html"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "old").expect("writable");
        std::fs::set_permissions(&path, read_only.clone()).expect("allowed");
    }
    let cases: [&[&str]; 4] = [
        &["deform", "missing.glb", "-o", "out.npy"],
        &["render", "missing.glb", "-o", "out.gif"],
        &["convert", "missing.glb", "-o", "out.glb"],
        &["compare", "missing.glb", "-o", "report"],
    ];
    for arguments in cases {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, 1);
        assert!(
            error.contains("the file is read-only; make it writable"),
            "{error}"
        );
    }
    let old = std::fs::read(folder.path().join("out.npy")).expect("readable");
    assert_eq!(old, b"old");
}

#[test]
fn a_folder_is_made_only_for_something_to_be_in_it() {
    let folder = folder();
    let cases: [&[&str]; 4] = [
        &["compare", "missing.glb", "-o", "new/report"],
        &["compare", "@bar:2000", "--clip", "tango", "-o", "new"],
        &["shaders", "-m", "arap", "-o", "new/shaders"],
        &["compare", "@bar:2000", "-m", "wobbly", "-o", "new"],
    ];
    for arguments in cases {
        fails(arguments, folder.path());
    }
    std::fs::write(folder.path().join("file"), "").expect("writable");
    for arguments in [
        &["demo", "-o", "file/report"][..],
        &["compare", "missing.glb", "-o", "file"],
        &["shaders", "-o", "file"],
    ] {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, 1);
        assert!(error.contains("file is not a folder"), "{error}");
    }
    let made = succeeds(&["shaders", "-m", "linear", "-o", "a/b"], folder.path());
    assert_eq!(
        listing(&folder.path().join("a/b")).len(),
        made.lines().count()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn pictures_that_cannot_be_written_say_why() {
    let folder = folder();
    for name in ["full.gif", "full.png", "full.obj"] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", link).expect("writable");
    }
    for arguments in [
        &[
            "render",
            "@bar:2000",
            "--size",
            "40x40",
            "--fps",
            "2",
            "-o",
            "full.gif",
        ][..],
        &["render", "@bar:2000", "--size", "40x40", "-o", "full.png"],
        &["deform", "@bar:2000", "-o", "full.obj"],
    ] {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, 1);
        assert!(error.contains("No space left on device"), "{error}");
    }
}

/// No thread can have a stack of this size, so none can be started.
#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_can_be_started_one_does_all_the_work() {
    let folder = folder();
    let no_threads = [("RUST_MIN_STACK", "1152921504606846976")];
    let deform = |name: &str, variables: &[(&str, &str)]| {
        let arguments = [
            "deform",
            "@bar:2000",
            "-m",
            "ddm",
            "--time",
            "0.5",
            "-o",
            name,
        ];
        let output = supple_with(&arguments, folder.path(), variables);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        std::fs::read(folder.path().join(name)).expect("written")
    };
    assert_eq!(deform("one.npy", &no_threads), deform("all.npy", &[]));
    let few = [("RAYON_NUM_THREADS", "3")];
    assert_eq!(deform("few.npy", &few), deform("all.npy", &[]));
    let info = supple_with(&["info", "@bar:2000"], folder.path(), &no_threads);
    assert!(info.status.success());
}
