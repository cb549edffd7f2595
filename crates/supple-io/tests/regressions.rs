//! Inputs on which a fuzz target failed once, each named after what broke (`fuzz/README.md`).

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use serde_json::json;
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple_io::gltf::{self, Document};
use tiny::Tiny;

#[test]
fn views_of_no_bytes_keep_the_empty_buffer_that_they_name() {
    let file = Tiny {
        json: json!({
            "asset": { "version": "2.0" },
            "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
            "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 0, "type": "VEC3" }],
            "bufferViews": [{ "buffer": 0, "byteLength": 0 }],
            "buffers": [{ "byteLength": 0 }],
        }),
        bin: Vec::new(),
    };
    let loaded = tiny::load(&file).unwrap();
    let document = &loaded.document;
    for written in [document.to_glb().unwrap(), document.to_gltf()] {
        let again = gltf::from_slice(&written, "tiny").unwrap();
        assert_eq!(again.asset, loaded.asset);
    }
}

/// It would come to hold whatever is written behind the buffer's end.
#[test]
fn a_view_past_the_end_of_its_buffer_is_refused_even_if_nothing_reads_it() {
    let mut file = Tiny::new();
    let end = file.bin.len();
    file.json["bufferViews"]
        .as_array_mut()
        .unwrap()
        .push(json!({
            "buffer": 0, "byteOffset": end - 2, "byteLength": 4,
        }));
    // In the chunk, but not in the buffer: chunks are padded to a multiple of four bytes.
    file.bin.extend([0; 4]);
    let text = format!("but buffer 0 has {end}");
    let error = gltf::from_slice(&file.glb(), "tiny").unwrap_err();
    assert!(error.to_string().contains(&text), "{error}");
}

#[test]
fn tracks_of_nodes_that_are_not_there_are_not_written() {
    let mut asset = tiny::load(&Tiny::new()).unwrap().asset;
    let nodes = asset.rig.skeleton().nodes().len();
    let track = |node: usize| Track {
        channel: Channel::Translation { node },
        curve: Curve::new(vec![0.0], vec![1.0, 2.0, 3.0], 3, Interpolation::Linear).unwrap(),
    };
    let clip = |tracks: Vec<Track>| Clip {
        name: "moves".to_owned(),
        tracks,
    };
    asset.clips = vec![clip(vec![track(nodes), track(1)]), clip(vec![track(nodes)])];
    let written = Document::from_asset(&asset).unwrap().to_glb().unwrap();
    let again = gltf::from_slice(&written, "tiny").unwrap().asset;
    assert_eq!(again.clips, [clip(vec![track(1)])]);
}
