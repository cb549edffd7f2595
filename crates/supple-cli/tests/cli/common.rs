//! Runs the command as its users do, and reads what it wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn supple(arguments: &[&str], folder: &Path) -> Output {
    supple_with(arguments, folder, &[])
}

/// The same with variables of the environment.
pub fn supple_with(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    command.args(arguments).current_dir(folder);
    command.envs(variables.iter().copied());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    let mut output = command.output().expect("the binary runs");
    output.stderr = without_progress(&output.stderr);
    output
}

/// Standard error without the lines about progress, which come when work takes long.
pub fn without_progress(error: &[u8]) -> Vec<u8> {
    let lines = error.split_inclusive(|&byte| byte == b'\n');
    let told = lines.filter(|line| !line.starts_with(b"progress: "));
    told.flatten().copied().collect()
}

pub fn succeeds(arguments: &[&str], folder: &Path) -> String {
    let output = supple(arguments, folder);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    assert!(error.is_empty(), "no progress in a pipe, but: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The notes of a command that succeeds: its standard error.
pub fn notes_of(arguments: &[&str], folder: &Path) -> String {
    let output = supple(arguments, folder);
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {message}");
    message
}

/// Exit status and message of a command that fails, after checking that it left nothing behind.
pub fn fails(arguments: &[&str], folder: &Path) -> (i32, String) {
    let before = listing(folder);
    let output = supple(arguments, folder);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert_eq!(listing(folder), before, "{arguments:?} left a file behind");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().expect("no signal"), error)
}

pub fn listing(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths
}

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A file of the shared models; none if they are missing, which is a failure on a build server.
pub fn shared_model(name: &str) -> Option<String> {
    shared_file("models", name)
}

/// A hostile file of the shared ones; none if they are missing, which is a failure on a build
/// server.
pub fn hostile_file(name: &str) -> Option<String> {
    shared_file("hostile", name)
}

fn shared_file(folder: &str, name: &str) -> Option<String> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = shared.join(folder).join(name);
    let is_there = path.exists();
    assert!(
        is_there || std::env::var_os("CI").is_none(),
        "{} is not there",
        path.display()
    );
    is_there.then(|| path.to_str().expect("UTF-8").to_owned())
}

/// The rows of an n×3 float32 array, by the format's own definition.
pub fn npy_rows(path: &Path) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).expect("written");
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let header_length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..10 + header_length]);
    assert!(
        header.contains("'descr': '<f4'") && header.contains("'fortran_order': False"),
        "{header}"
    );
    let numbers: Vec<f32> = bytes[10 + header_length..]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|chunk| f32::from_le_bytes(*chunk))
        .collect();
    numbers.chunks(3).map(<[f32]>::to_vec).collect()
}

/// Moves the first vertex of a text file whose positions are the first thing in its buffer.
pub fn move_a_vertex(path: &Path, moved: &Path) {
    let text = std::fs::read_to_string(path).expect("written");
    let (head, numbers) = text.split_once("base64,").expect("a data URI");
    std::fs::write(moved, format!("{head}base64,AACA{}", &numbers[4..])).expect("writable");
}

/// A bar with centers, its JSON changed.
pub fn changed_bar(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let bake = ["bake", "@bar:2000", "-m", "cor", "-o", "bar.gltf"];
    notes_of(&bake, folder);
    change_json(&folder.join("bar.gltf"), change);
}

/// A built-in character as a text file without weights, as it would be before anyone bound it.
pub fn unbound(character: &str, folder: &Path, name: &str) {
    succeeds(&["convert", character, "-o", name], folder);
    change_json(&folder.join(name), |json| {
        for mesh in json["meshes"].as_array_mut().expect("meshes") {
            for primitive in mesh["primitives"].as_array_mut().expect("primitives") {
                let attributes = primitive["attributes"].as_object_mut().expect("attributes");
                attributes.retain(|name, _| {
                    !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_")
                });
            }
        }
    });
}

/// Changes the JSON of a text file.
pub fn change_json(path: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let text = std::fs::read_to_string(path).expect("written");
    let mut json = serde_json::from_str(&text).expect("JSON");
    change(&mut json);
    std::fs::write(path, json.to_string()).expect("writable");
}

/// The character of a file, after checking that the weights of every vertex are finite and sum to
/// one.
pub fn loaded_with_weights(path: &Path) -> supple_io::gltf::Loaded {
    let loaded = supple_io::gltf::load(path).expect("readable");
    let found = &loaded.notes.weights;
    assert_eq!(
        *found,
        supple::weights::WeightsReport::default(),
        "nothing to mend"
    );
    let weights = loaded.asset.rig.weights();
    for vertex in 0..weights.vertex_count() {
        let held = weights.of(vertex);
        let sum: f64 = held.map(|influence| f64::from(influence.weight)).sum();
        assert!((sum - 1.0).abs() < 1e-6, "vertex {vertex}: {sum}");
    }
    loaded
}
