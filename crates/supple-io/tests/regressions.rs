//! Inputs on which a fuzz target failed once, each named after what broke (`fuzz/README.md`).

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use serde_json::json;
use supple_io::gltf;
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
