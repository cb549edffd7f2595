//! Text that comes from files: it cannot steer a terminal, and takes no more than a line.

use super::common::{change_json, fails, folder, succeeds, supple};
use std::path::Path;

/// A bar whose names all end in a text.
fn renamed_bar(folder: &Path, text: &str) {
    succeeds(&["convert", "@bar:2000", "-o", "bar.gltf"], folder);
    change_json(&folder.join("bar.gltf"), |json| {
        for list in ["nodes", "meshes", "animations", "skins"] {
            for item in json[list].as_array_mut().into_iter().flatten() {
                let name = item["name"].as_str().unwrap_or_default();
                item["name"] = format!("{name}{text}").into();
            }
        }
        json["extensionsUsed"] = serde_json::json!([text]);
        json["extensionsRequired"] = serde_json::json!([text]);
    });
}

/// Commands that show names, whether they succeed or not.
const SHOWING: [&[&str]; 7] = [
    &["info", "bar.gltf"],
    &["deform", "bar.gltf", "--clip", "tango", "-o", "o.npy"],
    &[
        "weights",
        "bar.gltf",
        "-m",
        "envelope",
        "--falloff",
        "0.1",
        "-o",
        "o.glb",
    ],
    &[
        "weights", "edit", "bar.gltf", "--within", "mesh:x", "--smooth", "1", "-o", "o.glb",
    ],
    &[
        "weights", "edit", "bar.gltf", "--lock", "x", "--smooth", "1", "-o", "o.glb",
    ],
    &["twist", "bar.gltf", "--joint", "0", "-o", "o.glb"],
    &["pose", "bar.gltf", "--reach", "1=9,9,9", "-o", "o.glb"],
];

#[test]
fn no_command_shows_characters_that_steer_a_terminal() {
    let folder = folder();
    let steering = "\u{9b}31m\u{202e}\nerror: \
                    x\u{1b}]0;x\u{7}\u{7f}\u{61c}\u{200e}\u{200f}\u{202a}\u{2028}\u{2066}\u{2069}";
    renamed_bar(folder.path(), steering);
    let is_plain = |character: char| character.is_ascii_graphic() || " \n".contains(character);
    let is_steering = |character: char| steering.contains(character) && !is_plain(character);
    for arguments in SHOWING {
        let output = supple(arguments, folder.path());
        for shown in [output.stdout, output.stderr] {
            let shown = String::from_utf8(shown).expect("UTF-8");
            assert!(!shown.contains(is_steering), "{arguments:?}: {shown:?}");
            assert!(!shown.contains("\nerror: x"), "{arguments:?}: {shown:?}");
        }
    }
    let info = succeeds(&["info", "bar.gltf"], folder.path());
    assert!(
        info.contains("\\u{9b}31m") && info.contains("\\u{202e}"),
        "{info}"
    );
}

#[test]
fn json_escapes_what_steers_a_terminal_and_means_the_same() {
    let folder = folder();
    let steering = "\u{1b}\u{7f}\u{9b}31m\u{202e}\u{2069}";
    renamed_bar(folder.path(), steering);
    let info = succeeds(&["info", "bar.gltf", "--json"], folder.path());
    let bind = [
        "weights", "bar.gltf", "-m", "rigid", "--json", "-o", "o.glb",
    ];
    let weights = succeeds(&bind, folder.path());
    for json in [&info, &weights] {
        assert!(!json.contains(['\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2069}']));
        let _: serde_json::Value = serde_json::from_str(json).expect("JSON");
    }
    assert!(info.contains("\\u009b31m\\u202e"), "{info}");
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    let name = info["clips"][0]["name"].as_str().expect("a name");
    assert!(name.ends_with(steering), "{name:?}");
}

#[test]
fn long_names_are_shortened() {
    let folder = folder();
    renamed_bar(folder.path(), &"long".repeat(25_000));
    for arguments in SHOWING {
        let output = supple(arguments, folder.path());
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert!(
            shown.contains("longlong") && shown.contains('…'),
            "{arguments:?}: {shown}"
        );
        for line in shown.lines() {
            assert!(line.chars().count() < 1000, "{arguments:?}: {line}");
        }
    }
    change_json(&folder.path().join("bar.gltf"), |json| {
        json["asset"]["version"] = "long".repeat(25_000).into();
    });
    let (_, error) = fails(&["info", "bar.gltf"], folder.path());
    assert!(
        error.contains("bar.gltf: asset.version") && error.len() < 1000,
        "{error}"
    );
}
