//! Helpers that test files share.

#![allow(dead_code, reason = "no test uses all of it")]

use glam::DAffine3;
use std::io::Write;
use std::path::{Path, PathBuf};
use supple::{Asset, Pose};

/// A folder beside the repository. Without it, the test is skipped with a message; on a build
/// server, it fails.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared")
        .join(folder);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is not there",
        folder.display()
    );
    // Directly to the terminal: the test runner hides the output of passing tests.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: {} is not there",
        folder.display()
    );
    None
}

/// Every `.glb` and `.gltf` file of the shared models, in a fixed order; none if they are missing.
pub fn models() -> Vec<PathBuf> {
    let Some(folder) = shared("models") else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            files.extend(entry.read_dir().unwrap().map(|file| file.unwrap().path()));
        }
    }
    files.retain(|file| {
        file.extension()
            .is_some_and(|ending| ending == "glb" || ending == "gltf")
    });
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

/// The shared model that stores its surface as integers, if it is there.
pub fn quantized_model() -> Option<PathBuf> {
    let is_quantized = |path: &PathBuf| path.ends_with("Fox_quantized.glb");
    models().into_iter().find(is_quantized)
}

/// A pose within the first clip, or the rest pose.
pub fn some_pose(asset: &Asset) -> Pose {
    match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, 0.37 * clip.duration()),
        None => asset.rest_pose(),
    }
}

/// The world transform of every node in a pose.
pub fn worlds(asset: &Asset, pose: &Pose) -> Vec<DAffine3> {
    let mut world = Vec::new();
    let skeleton = asset.rig.skeleton();
    skeleton.forward_kinematics(pose, &mut world).unwrap();
    world
}
