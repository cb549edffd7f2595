//! Hostile files: nothing panics, and memory and time stay in proportion to the file.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
#[path = "../../supple/tests/random/mod.rs"]
mod random;
#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use supple_io::gltf;
use tiny::{
    BIND, INDICES, JOINTS, NORMAL, POSITION, ROTATIONS, TIMES, Tiny, UNSIGNED_BYTE, WEIGHTS,
    changed, exercise, load, refused,
};

/// Loads bytes and uses the result; nothing may panic.
fn survives(bytes: &[u8]) {
    if let Ok(loaded) = gltf::from_slice(bytes, "hostile") {
        exercise(loaded);
    }
}

#[test]
fn the_files_to_be_broken_are_whole() {
    let loaded = load(&Tiny::new()).unwrap();
    assert_eq!(loaded.asset.rig.mesh().vertex_count(), 4);
    assert_eq!(loaded.asset.rig.skeleton().joints().len(), 2);
    assert_eq!(loaded.asset.clips.len(), 1);
    assert_eq!(loaded.notes, gltf::Notes::default());
    exercise(loaded);
    let rich = load(&Tiny::rich()).unwrap();
    assert_eq!((rich.asset.morphs.len(), rich.asset.props.len()), (1, 1));
    exercise(rich);
}

#[test]
fn a_file_cut_anywhere_is_refused_without_a_panic() {
    let whole = Tiny::rich().glb();
    for length in 0..whole.len() {
        let cut = &whole[..length];
        assert!(
            gltf::from_slice(cut, "cut").is_err(),
            "cut to {length} bytes"
        );
    }
    let text = Tiny::rich().json.to_string();
    for length in 0..text.len() {
        assert!(
            gltf::from_slice(&text.as_bytes()[..length], "cut").is_err(),
            "cut to {length} bytes"
        );
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_nodes_loads() {
    let mut file = Tiny::new();
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    for index in 3..100_000 {
        nodes.push(json!({ "children": [index + 1] }));
    }
    nodes.push(json!({}));
    assert_eq!(
        load(&file).unwrap().asset.rig.skeleton().nodes().len(),
        100_001
    );
}

#[test]
fn counts_and_offsets_beyond_all_reason_are_refused_at_once() {
    for count in [4_000_000_000u64, 1_000_000_000_000_000_000, u64::MAX] {
        for accessor in [
            POSITION, NORMAL, JOINTS, WEIGHTS, INDICES, BIND, TIMES, ROTATIONS,
        ] {
            refused(&format!("accessors[{accessor}]"), "claims", |file| {
                file.json["accessors"][accessor]["count"] = json!(count);
                let accessor = file.json["accessors"][accessor].as_object_mut().unwrap();
                accessor.shift_remove("bufferView");
            });
        }
        refused("accessors[0]", "claims", |file| {
            file.json["accessors"][0]["count"] = json!(count)
        });
    }
    for offset in [u64::MAX, u64::MAX - 47, i64::MAX as u64] {
        refused("accessors[0]", "claims", |file| {
            file.json["accessors"][0]["byteOffset"] = json!(offset)
        });
        refused("bufferViews[0]", "claims", |file| {
            file.json["bufferViews"][0]["byteOffset"] = json!(offset)
        });
    }
    refused("accessors[0]", "claims", |file| {
        file.json["bufferViews"][0]["byteStride"] = json!(u64::MAX / 2);
    });
}

#[test]
fn the_same_data_named_thousands_of_times_does_not_multiply_in_memory() {
    refused("accessors[", "out of proportion", |file| {
        let square: Vec<f32> = vec![0.0; 3 * 4096];
        let positions = file.floats("VEC3", &square);
        let node = json!({ "mesh": 1 });
        file.json["meshes"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "primitives": vec![
            json!({ "attributes": { "POSITION": positions }, "mode": 0 }); 100] }));
        file.json["nodes"]
            .as_array_mut()
            .unwrap()
            .extend(vec![node; 1000]);
    });
}

#[test]
fn views_that_overlap_do_not_multiply_when_written() {
    let loaded = changed(|file| {
        let picture = file.append("SCALAR", UNSIGNED_BYTE, 0x10000, &[7; 0x10000]);
        let view = file.json["bufferViews"][picture].clone();
        let views = file.json["bufferViews"].as_array_mut().unwrap();
        let first = views.len();
        views.extend(vec![view; 500]);
        let image = |view: usize| json!({ "bufferView": view, "mimeType": "image/png" });
        file.json["images"] = (first..first + 500).map(image).collect();
    });
    let mut loaded = loaded.unwrap();
    let before = loaded.document.to_glb().unwrap().len();
    let weights = loaded.asset.rig.weights().clone();
    loaded.document.set_weights(&weights).unwrap();
    let after = loaded.document.to_glb().unwrap().len();
    assert!(after < 2 * before, "{before} bytes became {after}");
}

/// Calls `visit` with the path of every value below this one.
fn paths(value: &Value, path: &mut String, visit: &mut dyn FnMut(&str)) {
    let length = path.len();
    let mut below = |step: &str, value: &Value, path: &mut String| {
        path.push('/');
        path.push_str(step);
        visit(path);
        paths(value, path, visit);
        path.truncate(length);
    };
    match value {
        Value::Array(list) => {
            for (index, element) in list.iter().enumerate() {
                below(&index.to_string(), element, path);
            }
        }
        Value::Object(map) => {
            for (key, element) in map {
                below(key, element, path);
            }
        }
        _ => {}
    }
}

#[test]
fn no_value_anywhere_in_the_json_makes_the_reader_or_the_writer_panic() {
    let hostile = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2.5),
        json!(-1),
        json!(1_000_000),
        json!(u64::MAX),
        json!(1e39),
        json!(""),
        json!("../x"),
        json!([]),
        json!([0, 0, 0]),
        json!([[]]),
        json!({}),
        json!({ "bufferView": u64::MAX }),
    ];
    let file = Tiny::rich();
    let mut all = Vec::new();
    paths(&file.json, &mut String::new(), &mut |path| {
        all.push(path.to_owned())
    });
    assert!(all.len() > 300, "{} values", all.len());
    let mut panicked = Vec::new();
    for path in &all {
        for value in &hostile {
            let mut broken = file.clone();
            *broken.json.pointer_mut(path).unwrap() = value.clone();
            let bytes = broken.glb();
            if catch_unwind(AssertUnwindSafe(|| survives(&bytes))).is_err() {
                panicked.push(format!("{path} = {value}"));
            }
        }
    }
    assert!(
        panicked.is_empty(),
        "{} panics:\n{}",
        panicked.len(),
        panicked.join("\n")
    );
}

proptest! {
    #![proptest_config(random::config(2000))]

    #[test]
    fn overwritten_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
    ) {
        let mut bytes = Tiny::rich().glb();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn overwritten_characters_of_the_json_never_panic(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), "[-0-9eE.,\"{}\\[\\] a-z]"),
            1..4,
        )
    ) {
        let file = Tiny::rich();
        let mut text = file.json.to_string().into_bytes();
        for (at, character) in changes {
            let at = at.index(text.len());
            text[at] = character.as_bytes()[0];
        }
        let whole = file.glb();
        let bin_chunk = &whole[whole.len() - file.bin.len().next_multiple_of(4) - 8..];
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend_from_slice(&((20 + text.len() + bin_chunk.len()) as u32).to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(b"JSON");
        bytes.extend_from_slice(&text);
        bytes.extend_from_slice(bin_chunk);
        survives(&bytes);
    }
}

proptest! {
    #![proptest_config(random::config(300))]

    #[test]
    fn overwritten_bytes_of_real_files_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)
    ) {
        for bytes in real_files() {
            let mut bytes = bytes.clone();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            survives(&bytes);
        }
    }
}

/// Small files with skins, sparse data, morph targets and data URIs; read once.
fn real_files() -> &'static [Vec<u8>] {
    static FILES: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    FILES.get_or_init(|| {
        let small = [
            "RiggedSimple_sparse.glb",
            "AnimatedMorphCube.glb",
            "SimpleSkin.gltf",
        ];
        let mut files = common::models();
        files.retain(|path| small.iter().any(|name| path.ends_with(name)));
        files
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect()
    })
}

/// Files that name the same thing over and over, so that a small file stands for a huge character.
#[test]
fn repetition_beyond_all_proportion_is_refused() {
    // A primitive of no vertices, a hundred thousand times.
    refused("primitives", "out of proportion", |file| {
        file.json["accessors"][POSITION]["count"] = json!(0);
        let empty = json!({ "attributes": { "POSITION": POSITION } });
        file.json["meshes"][0]["primitives"] = json!(vec![empty; 2_000]);
        let nodes = file.json["nodes"].as_array_mut().unwrap();
        nodes.extend(vec![json!({ "mesh": 0 }); 2_000]);
    });
    // Morph targets that hold nothing.
    refused("primitives[0]", "out of proportion", |file| {
        file.primitive()["targets"] = json!(vec![json!({}); 20_000]);
        let nodes = file.json["nodes"].as_array_mut().unwrap();
        nodes.extend(vec![json!({ "mesh": 0 }); 2_000]);
    });
    // A long name for every instance.
    refused("primitives[0]", "out of proportion", |file| {
        file.json["meshes"][0]["name"] = json!("n".repeat(100_000));
        let nodes = file.json["nodes"].as_array_mut().unwrap();
        nodes.extend(vec![json!({ "mesh": 0 }); 10_000]);
    });
}

#[test]
fn names_and_replacements_are_not_free() {
    // A mesh without primitives, with a long name, shown over and over.
    refused("meshes[1]", "out of proportion", |file| {
        let empty = json!({ "name": "n".repeat(200_000), "primitives": [] });
        file.json["meshes"].as_array_mut().unwrap().push(empty);
        let nodes = file.json["nodes"].as_array_mut().unwrap();
        nodes.extend(vec![json!({ "mesh": 1 }); 10_000]);
    });
    refused("sparse.count", "replaces 1000 elements of 4", |file| {
        let view = file.json["accessors"][POSITION]["bufferView"].clone();
        file.json["accessors"][POSITION]["sparse"] = json!({
            "count": 1000,
            "indices": { "bufferView": view, "componentType": 5121 },
            "values": { "bufferView": view },
        });
    });
}

#[test]
fn a_skin_that_many_nodes_share_is_held_once() {
    let mut file = Tiny::new();
    file.json["skins"][0]["joints"] = json!(vec![0; 100_000]);
    file.json["skins"][0]
        .as_object_mut()
        .unwrap()
        .shift_remove("inverseBindMatrices");
    let mesh_node = json!({ "mesh": 0, "skin": 0 });
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    nodes.extend(vec![mesh_node; 5_000]);
    // A hundred thousand places times five thousand nodes would be gigabytes.
    let mut loaded = load(&file).unwrap();
    assert_eq!(loaded.asset.rig.skeleton().joints().len(), 1);
    // And looked through once, not for every node.
    let weights = loaded.asset.rig.weights();
    loaded.document.set_weights(weights).unwrap();
}

#[test]
fn buffers_and_images_that_name_one_file_count_and_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("big.png"), vec![7u8; 100_000]).unwrap();
    let mut file = Tiny::new();
    let alias = json!({ "uri": "big.png", "byteLength": 100_000 });
    file.json["buffers"]
        .as_array_mut()
        .unwrap()
        .extend(vec![alias; 1_000]);
    file.json["images"] = json!(vec![json!({ "uri": "big.png" }); 1_000]);
    file.json["extensionsUsed"] = json!(["VENDOR_unknown"]); // so that nothing is dropped
    let path = folder.path().join("aliases.glb");
    std::fs::write(&path, file.glb()).unwrap();
    let written = gltf::load(&path).unwrap().document.to_glb().unwrap();
    assert!(written.len() < 700_000, "{} bytes", written.len());
}

#[cfg(unix)]
#[test]
fn a_pipe_as_a_buffer_is_refused_without_waiting_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.bin");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: no mkfifo here");
        return;
    }
    let mut file = Tiny::new();
    let buffers = file.json["buffers"].as_array_mut().unwrap();
    buffers.push(json!({ "uri": "pipe.bin", "byteLength": 4 }));
    let path = folder.path().join("pipe.glb");
    std::fs::write(&path, file.glb()).unwrap();
    let error = gltf::load(&path).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn many_skins_over_many_nodes_take_no_time() {
    let mut file = Tiny::new();
    let skin = file.json["skins"][0].clone();
    file.json["skins"] = json!(vec![skin; 3_000]);
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    nodes.extend(vec![json!({}); 60_000]);
    nodes.extend((0..3_000).map(|skin| json!({ "mesh": 0, "skin": skin })));
    let loaded = load(&file).unwrap();
    assert_eq!(loaded.asset.rig.skeleton().joints().len(), 2);
}
