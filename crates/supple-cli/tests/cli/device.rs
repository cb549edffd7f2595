//! `--device gpu` as its users meet it. Without a GPU or Mesa's lavapipe, it is only seen that this
//! is said.

use super::common::{fails, folder, notes_of, supple, supple_with};
use std::path::Path;

/// True if there is a GPU; on a build server there must be one.
fn has_gpu(folder: &Path) -> bool {
    let arguments = ["deform", "@bar:2000", "--device", "gpu", "-o", "probe.npy"];
    let output = supple_with(&arguments, folder, &[]);
    let there = output.status.success();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(there || std::env::var_os("CI").is_none(), "{error}");
    assert!(
        there || error.contains("no GPU can be used here"),
        "{error}"
    );
    there
}

#[test]
fn without_a_driver_it_is_said_what_is_missing() {
    let folder = folder();
    let nowhere = [
        ("VK_DRIVER_FILES", "nowhere.json"),
        ("VK_ICD_FILENAMES", "nowhere.json"),
        ("WGPU_BACKEND", "vulkan"),
    ];
    for command in [
        &["deform", "@bar:2000", "-o", "bar.npy"][..],
        &["render", "@bar:2000", "-o", "bar.png"],
        &["bench", "@bar:2000", "-m", "linear"],
    ] {
        let arguments = [command, &["--device", "gpu"]].concat();
        let output = supple_with(&arguments, folder.path(), &nowhere);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("libvulkan.so.1"), "{error}");
        assert!(error.contains("--device cpu"), "{error}");
    }
}

#[test]
fn the_gpu_is_named_and_drivers_without_a_display_are_silent() {
    let folder = folder();
    if !has_gpu(folder.path()) {
        return;
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_supple"));
    let arguments = ["deform", "@bar:2000", "--device", "gpu", "-o", "o.npy"];
    command.args(arguments).current_dir(folder.path());
    let output = command
        .env_remove("XDG_RUNTIME_DIR")
        .output()
        .expect("the binary runs");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{error}"
    );
    let is_told = |line: &str| {
        line.starts_with("note: using the GPU '")
            || line.starts_with("warning: the GPU '")
                && line.ends_with("runs on the processor; --device cpu is faster")
    };
    assert!(
        error.lines().count() == 1 && error.lines().all(is_told),
        "{error}"
    );
    let here = supple(&["deform", "@bar:2000", "-o", "o.npy"], folder.path());
    assert!(here.stderr.is_empty(), "only of the GPU");
}

#[test]
fn the_gpu_deforms_and_draws_as_the_cpu_does() {
    let folder = folder();
    if !has_gpu(folder.path()) {
        return;
    }
    let at = |name: &str| folder.path().join(name);
    for (device, name) in [("cpu", "here.npy"), ("gpu", "there.npy")] {
        let pose = [
            "deform",
            "@arm:2000",
            "-m",
            "cor",
            "--clip",
            "fist",
            "--time",
            "0.4",
        ];
        notes_of(
            &[&pose[..], &["--device", device, "-o", name]].concat(),
            folder.path(),
        );
    }
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = std::fs::read(at(name)).expect("readable");
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let numbers = bytes[header..].as_chunks::<4>().0.iter();
        numbers.map(|&number| f32::from_le_bytes(number)).collect()
    };
    let (here, there) = (numbers("here.npy"), numbers("there.npy"));
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        assert!((here - there).abs() < 2e-5, "{here} and {there}");
    }
    let picture = [
        "render",
        "@arm:2000",
        "--clip",
        "fist",
        "--time",
        "0.4",
        "--size",
        "64x48",
        "--device",
        "gpu",
    ];
    let several = ["-m", "linear,cor", "--overlay", "stretch"];
    for extra in [&[][..], &several] {
        let arguments = [&picture[..], extra, &["-o", "arm.png"]].concat();
        notes_of(&arguments, folder.path());
        let png = std::fs::read(at("arm.png")).expect("readable");
        assert!(png.starts_with(b"\x89PNG"));
    }
}

#[test]
fn what_has_no_shader_is_reported() {
    let folder = folder();
    if !has_gpu(folder.path()) {
        return;
    }
    let gpu = ["--device", "gpu", "-o", "out.npy"];
    let refused = |arguments: &[&str]| {
        let (status, error) = fails(&[arguments, &gpu].concat(), folder.path());
        assert_eq!(status, 1);
        error
    };
    let error = refused(&["deform", "@bar:2000", "-m", "arap"]);
    assert!(error.contains("the method 'arap' has no shader"), "{error}");
    let (status, error) = fails(
        &["bench", "@bar:2000", "--device", "gpu", "-m", "linear,arap"],
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(error.contains("the method 'arap' has no shader"), "{error}");
    let error = refused(&["deform", "@bar:2000", "--normals", "gradient"]);
    assert!(error.contains("'gradient'"), "{error}");
    let (status, error) = fails(
        &["bench", "--device", "gpu", "--only", "centers"],
        folder.path(),
    );
    assert_eq!(status, 2);
    assert!(error.contains("only frames"), "{error}");
}
