//! Options that the chosen method or mode does not use are errors, not silently ignored.

use super::common::{fails, folder, notes_of};

#[test]
fn options_that_the_method_does_not_use_are_errors() {
    let folder = folder();
    let mush = [
        ["--kappa", "0.5"],
        ["--alpha", "0.5"],
        ["--alpha-at", "0=0.5"],
        ["--max-influences", "4"],
        ["--prune", "0.001"],
    ];
    let commands: [&[&str]; 3] = [
        &["deform", "missing.glb", "-o", "out.npy"],
        &["render", "missing.glb", "-o", "out.png"],
        &["compare", "missing.glb", "-o", "out"],
    ];
    for command in commands {
        for option in mush {
            for method in ["delta-mush", "delta-mush:best-fit", "linear", "cor"] {
                let arguments = [command, &option, &["-m", method]].concat();
                let (status, error) = fails(&arguments, folder.path());
                assert_eq!(status, 2, "{arguments:?}");
                let expected = format!("{} has no effect on '{method}'", option[0]);
                assert!(error.contains(&expected), "{error}");
                assert!(error.contains("methods with this option: ddm, "), "{error}");
            }
        }
    }
}

#[test]
fn several_methods_share_the_options_of_any() {
    let folder = folder();
    let compare = ["compare", "missing.glb", "--alpha", "0.5", "-o", "out"];
    let (status, error) = fails(
        &[&compare[..], &["-m", "linear,delta-mush"]].concat(),
        folder.path(),
    );
    assert_eq!(status, 2);
    assert!(
        error.contains("--alpha has no effect on 'linear', 'delta-mush'"),
        "{error}"
    );
    let (status, error) = fails(
        &[&compare[..], &["-m", "delta-mush,ddm"]].concat(),
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(error.contains("missing.glb"), "{error}");
}

#[test]
fn options_that_the_mode_does_not_use_are_errors() {
    let folder = folder();
    let cases: &[(&[&str], &str)] = &[
        (
            &[
                "bake",
                "@bar:2000",
                "-m",
                "ddm",
                "--sigma",
                "0.2",
                "-o",
                "o.glb",
            ],
            "--sigma has no effect on 'ddm'",
        ),
        (
            &[
                "bake",
                "@bar:2000",
                "-m",
                "ddm-v5",
                "--accuracy",
                "0.1",
                "-o",
                "o.glb",
            ],
            "--accuracy has no effect on 'ddm-v5'",
        ),
        (
            &[
                "bake",
                "@bar:2000",
                "-m",
                "cor",
                "--alpha",
                "0.2",
                "-o",
                "o.glb",
            ],
            "--alpha has no effect on 'cor'",
        ),
        (
            &["bench", "@bar:2000", "--only", "centers", "-m", "linear"],
            "--method changes nothing",
        ),
        (
            &["bench", "@bar:2000", "--only", "frames,weights", "--exact"],
            "--exact changes nothing",
        ),
        (
            &[
                "deform",
                "@bar:2000",
                "--time",
                "1",
                "--fps",
                "24",
                "-o",
                "o.npy",
            ],
            "--fps has no effect",
        ),
        (
            &[
                "render",
                "@bar:2000",
                "--time",
                "1",
                "--fps",
                "24",
                "-o",
                "o.png",
            ],
            "--fps has no effect",
        ),
        (
            &["render", "@bar:2000", "--focus", "moving", "-o", "o.png"],
            "--focus moving needs a clip",
        ),
        (
            &[
                "weights",
                "edit",
                "@bar:2000",
                "--smooth",
                "1",
                "--reach",
                "0.1",
                "-o",
                "o.glb",
            ],
            "--reach has no effect without --transfer",
        ),
        (
            &[
                "weights",
                "edit",
                "@bar:2000",
                "--smooth",
                "1",
                "--falloff",
                "linear",
                "-o",
                "o.glb",
            ],
            "--falloff has no effect without --brush or --brush-smooth",
        ),
        (
            &[
                "weights",
                "@bar:2000",
                "-m",
                "heat",
                "--voxels",
                "99",
                "-o",
                "o.glb",
            ],
            "--voxels is not an option of 'heat'",
        ),
    ];
    for (arguments, phrase) in cases {
        let (status, error) = fails(arguments, folder.path());
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn delta_mush_takes_the_options_that_it_uses() {
    let folder = folder();
    let options: [&[&str]; 6] = [
        &["--iterations", "4"],
        &["--lambda", "0.5"],
        &["--laplacian", "cotangent"],
        &["--smoothing", "explicit"],
        &["--radius-from-bones", "off"],
        &["--rigid"],
    ];
    let deform = |options: &[&str]| {
        let deform = ["deform", "@bar:2000", "-m", "delta-mush", "--time", "1"];
        let arguments = [&deform[..], options, &["-o", "out.npy"]].concat();
        notes_of(&arguments, folder.path());
        std::fs::read(folder.path().join("out.npy")).expect("written")
    };
    let usual = deform(&[]);
    for option in options {
        assert_ne!(deform(option), usual, "{option:?} changes something");
    }
}
