//! `supple shaders` as its users meet it.

use super::common::{fails, folder, listing, notes_of, npy_rows, succeeds};
use serde_json::Value;
use std::path::Path;

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let files = listing(folder);
    let names = files.iter().filter_map(|file| file.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn functions_are_written_in_every_language_with_the_header_that_fills_their_palette() {
    let folder = folder();
    let message = succeeds(&["shaders", "-m", "cor", "-o", "made/here"], folder.path());
    let made = folder.path().join("made/here");
    let expected = [
        "cor.330.glsl",
        "cor.450.glsl",
        "cor.es300.glsl",
        "cor.hlsl",
        "cor.metal",
        "cor.wgsl",
        "skin_palette.h",
    ];
    assert_eq!(names(&made), expected);
    for name in expected {
        assert!(message.contains(name), "{message}");
        let text = std::fs::read_to_string(made.join(name)).expect("readable");
        assert!(text.contains("skin_rigid_palette("), "{name}: {text}");
        assert_eq!(
            text.contains("skin_cor("),
            name != "skin_palette.h",
            "{name}"
        );
        assert!(!text.contains("joints_1"), "{name}");
    }
}

#[test]
fn functions_take_eight_influences_and_are_written_for_chosen_languages() {
    let folder = folder();
    succeeds(
        &[
            "shaders",
            "--language",
            "hlsl,glsl-es-300",
            "--max-influences",
            "8",
            "-o",
            "all",
        ],
        folder.path(),
    );
    let all = folder.path().join("all");
    let names = names(&all);
    assert_eq!(names.len(), 17, "{names:?}");
    for method in [
        "linear",
        "dual-quaternion",
        "linear-dual-blend",
        "cor",
        "ddm-v5",
    ] {
        let text = std::fs::read_to_string(all.join(format!("{method}.hlsl"))).expect("written");
        assert!(text.contains("    uint4 joints_1,\n"), "{text}");
        assert!(text.contains("joints_1, weights_1);"), "{text}");
    }
}

#[test]
fn joints_that_stretch_have_a_larger_palette() {
    let folder = folder();
    let arguments = ["shaders", "--stretch", "--language", "wgsl", "-o", "all"];
    succeeds(&arguments, folder.path());
    let all = folder.path().join("all");
    assert!(!names(&all).contains(&"linear-dual-blend.wgsl".to_owned()));
    for (method, filler) in [
        ("cor", "skin_stretch_palette()"),
        ("ddm", "skin_stretch_palette()"),
        ("linear", "skin_matrix_palette()"),
    ] {
        let text = std::fs::read_to_string(all.join(format!("{method}.wgsl"))).expect("written");
        assert!(text.contains(filler), "{text}");
    }
    let mix = ["shaders", "--stretch", "-m", "ldb", "-o", "none"];
    let (_, error) = fails(&mix, folder.path());
    assert!(
        error.contains("has linear, dual-quaternion, cor"),
        "{error}"
    );
}

#[test]
fn methods_that_attributes_do_not_suffice_for_are_refused_with_those_they_do() {
    let folder = folder();
    for method in ["swing-twist", "ddm-v1", "dqs:per-joint", "log-matrix"] {
        let (status, error) = fails(&["shaders", "-m", method, "-o", "none"], folder.path());
        assert_eq!(status, 1);
        let listed = "--layout attributes has linear, dual-quaternion, linear-dual-blend, cor, ddm";
        assert!(error.contains(listed), "{error}");
        assert!(error.contains("--layout packed"), "{error}");
    }
}

#[test]
fn options_of_the_other_layout_are_errors() {
    let folder = folder();
    for option in [
        &["--stage", "vertex"][..],
        &["--tangents"],
        &["--positions-only"],
        &["--short"],
        &["--buffers", "@bar"],
    ] {
        let arguments = [&["shaders", "-o", "none"], option].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, 2, "{error}");
        let expected = format!("{} is an option of --layout packed", option[0]);
        assert!(error.contains(&expected), "{error}");
    }
    let packed = ["shaders", "--layout", "packed", "-m", "cor", "-o", "none"];
    for (option, expected) in [
        (
            &["--max-influences", "8"][..],
            "--max-influences is an option of --layout attributes",
        ),
        (&["--language", "glsl-es-300"], "have no storage buffers"),
        (
            &["--stretch"],
            "--stretch is an option of --layout attributes",
        ),
        (&["--clip", "0"], "needs --buffers FILE"),
    ] {
        let (status, error) = fails(&[&packed[..], option].concat(), folder.path());
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_method_is_written_packed_in_every_language() {
    let folder = folder();
    let message = succeeds(
        &[
            "shaders",
            "--layout",
            "packed",
            "-m",
            "cor,ddm",
            "-o",
            "made/here",
        ],
        folder.path(),
    );
    let made = folder.path().join("made/here");
    assert_eq!(names(&made).len(), 8);
    for name in names(&made) {
        assert!(message.contains(&name), "{message}");
        let text = std::fs::read_to_string(made.join(&name)).expect("readable");
        assert!(text.contains("// Group 0, read:"), "{name}");
        assert!(
            text.contains("deform") || text.contains("void main()"),
            "{name}"
        );
    }
    let glsl = std::fs::read_to_string(made.join("cor.glsl")).expect("readable");
    assert!(glsl.starts_with("#version 430"), "{}", &glsl[..40]);
}

#[test]
fn all_methods_with_a_packed_shader_are_written_without_any_named() {
    let folder = folder();
    succeeds(
        &["shaders", "--layout", "packed", "--tangents", "-o", "all"],
        folder.path(),
    );
    let files = names(&folder.path().join("all"));
    for name in [
        "linear.wgsl",
        "ddm-v4.metal",
        "swing-twist.hlsl",
        "spherical.glsl",
    ] {
        assert!(files.iter().any(|file| file == name), "{files:?}");
    }
}

#[test]
fn passes_that_go_before_are_written_beside_the_method() {
    let folder = folder();
    let packed = ["shaders", "--layout", "packed", "-m"];
    succeeds(
        &[&packed[..], &["delta-mush", "-o", "mush"]].concat(),
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
    let best_fit = [&packed[..], &["delta-mush:best-fit", "-o", "none"]].concat();
    let (_, error) = fails(&best_fit, folder.path());
    assert!(error.contains("ddm bakes best-fit frames"), "{error}");
    let buffers = ["delta-mush", "--buffers", "@bar:2000", "-o", "none"];
    let (_, error) = fails(&[&packed[..], &buffers].concat(), folder.path());
    assert!(error.contains("smooths in passes"), "{error}");
}

#[test]
fn a_method_without_a_packed_shader_is_reported() {
    let folder = folder();
    let (status, error) = fails(
        &[
            "shaders",
            "--layout",
            "packed",
            "-m",
            "log-matrix",
            "-o",
            "none",
        ],
        folder.path(),
    );
    assert_eq!(status, 1);
    assert!(error.contains("'log-matrix' has no shader"), "{error}");
}

/// The dumped buffers of a method, as a program finds them that knows only the description.
struct Buffers {
    folder: std::path::PathBuf,
    description: Value,
}

impl Buffers {
    fn bytes(&self, name: &str) -> Vec<u8> {
        let buffers = self.description["buffers"].as_array().expect("buffers");
        let buffer = buffers
            .iter()
            .find(|buffer| buffer["name"] == name)
            .expect(name);
        let file = buffer["file"].as_str().expect("a file");
        let bytes = std::fs::read(self.folder.join(file)).expect("written");
        let number = |key: &str| buffer[key].as_u64().expect(key) as usize;
        assert_eq!(bytes.len(), number("bytes"), "{name}");
        assert_eq!(bytes.len(), number("length") * number("stride"), "{name}");
        assert!(
            buffer["meaning"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        bytes
    }

    fn words(&self, name: &str) -> Vec<u32> {
        let bytes = self.bytes(name);
        let words = bytes.as_chunks::<4>().0.iter();
        words.map(|&word| u32::from_le_bytes(word)).collect()
    }
}

fn rotated([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let across = cross([x, y, z], v).map(|number| 2.0 * number);
    let further = cross([x, y, z], across);
    [0, 1, 2].map(|axis| v[axis] + w * across[axis] + further[axis])
}

/// The dump is enough to deform by: Algorithm 1 of the paper on the words of its buffers.
#[test]
fn dumped_buffers_deform_as_the_command_does() {
    let folder = folder();
    let moment = ["--clip", "0", "--time", "0.4"];
    let dump = [
        "shaders",
        "--layout",
        "packed",
        "-m",
        "cor",
        "--language",
        "wgsl",
    ];
    let dump = [
        &dump[..],
        &["--buffers", "@figure:2000", "-o", "dump"],
        &moment,
    ]
    .concat();
    notes_of(&dump, folder.path());
    let deform = ["deform", "@figure:2000", "-m", "cor", "-o", "expected.npy"];
    notes_of(&[&deform[..], &moment].concat(), folder.path());
    let expected = npy_rows(&folder.path().join("expected.npy"));

    let dumped = folder.path().join("dump");
    let text = std::fs::read_to_string(dumped.join("cor-buffers.json")).expect("written");
    let description: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(description["vertices"], expected.len());
    assert_eq!(names(&dumped).len(), 8);
    let slice_count = expected.len().div_ceil(64);
    assert_eq!(
        description["dispatch"],
        serde_json::json!([slice_count, 1, 1])
    );
    let buffers = Buffers {
        folder: dumped,
        description,
    };
    let call = buffers.words("call");
    assert_eq!(call[0] as usize, expected.len());
    assert_eq!(call[3], 0, "no joint stretches");
    let (poses, slices) = (buffers.words("poses"), buffers.words("slices"));
    let (skin, rest) = (buffers.words("skin"), buffers.words("rest"));
    let number = |word: u32| f64::from(f32::from_bits(word));
    let vector = |index: usize| [0, 1, 2, 3].map(|n| number(poses[4 * index + n]));
    // 4 words of the vertex, then joint and weight of two influences.
    let (own_words, first_words) = (4, 8);
    let place = |word: usize, lane: usize| (word / 2 * 64 + lane) * 2 + word % 2;
    for (vertex, expected) in expected.iter().enumerate() {
        let (slice, lane) = (vertex / 64, vertex % 64);
        let word = |word: usize| {
            if word < first_words {
                skin[slice * first_words * 64 + place(word, lane)]
            } else {
                skin[2 * slices[2 * slice] as usize + place(word - first_words, lane)]
            }
        };
        let center = [0, 1, 2].map(|axis| number(word(axis)));
        let (mut q, mut carried) = ([0.0; 4], [0.0; 3]);
        for influence in 0..slices[2 * slice + 1] as usize {
            let joint = word(own_words + 2 * influence) as usize;
            let weight = number(word(own_words + 2 * influence + 1));
            let (rotation, shift) = (vector(1 + 2 * joint), vector(2 + 2 * joint));
            let along: f64 = q.iter().zip(rotation).map(|(a, b)| a * b).sum();
            let sign = if along < 0.0 { -weight } else { weight };
            q = [0, 1, 2, 3].map(|n| q[n] + sign * rotation[n]);
            let moved = rotated(rotation, center);
            carried = [0, 1, 2].map(|axis| carried[axis] + weight * (moved[axis] + shift[axis]));
        }
        let length = q.iter().map(|number| number * number).sum::<f64>().sqrt();
        let rest_words = 6;
        let position = [0, 1, 2]
            .map(|axis| number(rest[slice * rest_words * 64 + place(axis, lane)]) - center[axis]);
        let turned = rotated(q.map(|number| number / length), position);
        for axis in 0..3 {
            let off = carried[axis] + turned[axis] - f64::from(expected[axis]);
            assert!(off.abs() < 2e-6, "vertex {vertex}: off by {off}");
        }
    }
}
