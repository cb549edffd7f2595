//! `supple shaders` as its users meet it.

use super::common::{fails, folder, listing, succeeds};

#[test]
fn a_method_is_written_in_every_language() {
    let folder = folder();
    let message = succeeds(
        &["shaders", "-m", "cor,ddm", "-o", "made/here"],
        folder.path(),
    );
    let files = listing(&folder.path().join("made/here"));
    assert_eq!(files.len(), 8);
    for file in &files {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .expect("UTF-8");
        assert!(message.contains(name), "{message}");
        let text = std::fs::read_to_string(file).expect("readable");
        assert!(text.contains("// Group 0, read:"), "{name}");
        assert!(
            text.contains("deform") || text.contains("void main()"),
            "{name}"
        );
    }
    let glsl = std::fs::read_to_string(folder.path().join("made/here/cor.glsl")).expect("readable");
    assert!(glsl.starts_with("#version 430"), "{}", &glsl[..40]);
}

#[test]
fn all_methods_with_a_shader_are_written_without_any_named() {
    let folder = folder();
    succeeds(&["shaders", "--tangents", "-o", "all"], folder.path());
    let files = listing(&folder.path().join("all"));
    for name in [
        "linear.wgsl",
        "ddm-v4.metal",
        "swing-twist.hlsl",
        "spherical.glsl",
    ] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{files:?}");
    }
}

#[test]
fn passes_that_go_before_are_written_beside_the_method() {
    let folder = folder();
    succeeds(
        &["shaders", "-m", "delta-mush", "-o", "mush"],
        folder.path(),
    );
    let files = listing(&folder.path().join("mush"));
    assert_eq!(files.len(), 12);
    for (name, entry_point) in [
        ("delta-mush.wgsl", "fn deform("),
        ("delta-mush-blend-points.hlsl", "void blend_points("),
        (
            "delta-mush-smooth-points.metal",
            "kernel void smooth_points(",
        ),
    ] {
        let path = folder.path().join("mush").join(name);
        let text = std::fs::read_to_string(path).expect("readable");
        assert!(text.contains(entry_point), "{name}");
    }
    let (_, error) = fails(
        &["shaders", "-m", "delta-mush:best-fit", "-o", "none"],
        folder.path(),
    );
    assert!(error.contains("ddm bakes best-fit frames"), "{error}");
}

#[test]
fn a_method_without_a_shader_is_reported() {
    let folder = folder();
    let (status, error) = fails(
        &["shaders", "-m", "log-matrix", "-o", "none"],
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(error.contains("'log-matrix' has no shader"), "{error}");
}
