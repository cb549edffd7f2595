//! Broken files: each is refused, with its place and its problem named.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use supple_io::LoadError;
use supple_io::gltf::{self};
use tiny::{
    BIND, INDICES, JOINTS, NORMAL, POSITION, ROTATIONS, TIMES, Tiny, UNSIGNED_BYTE, WEIGHTS,
    changed, exercise, load, refused,
};

#[test]
fn indices_and_joints_out_of_range_are_named() {
    refused(
        "meshes[0].primitives[0].indices",
        "element 2 is vertex 9, but the primitive has 4",
        |file| {
            file.bytes(INDICES)[4] = 9;
        },
    );
    refused(
        "meshes[0].primitives[0]",
        "vertex 2 has the weight 0.75 for joint 7, but the skin has 2",
        |file| {
            file.bytes(JOINTS)[9] = 7;
        },
    );
    let loaded = changed(|file| file.bytes(JOINTS)[11] = 200).unwrap();
    assert_eq!(loaded.notes.weights.out_of_range_unused, 1);
    exercise(loaded);
}

#[test]
fn numbers_that_are_not_finite_are_refused_where_they_are() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (accessor, name) in [
            (POSITION, "POSITION"),
            (NORMAL, "NORMAL"),
            (WEIGHTS, "WEIGHTS_0"),
            (BIND, "skins[0].inverseBindMatrices"),
            (TIMES, "input"),
            (ROTATIONS, "output"),
        ] {
            let place = format!("accessors[{accessor}]");
            refused(&place, "element 1 holds", |file| {
                let second_element = file.bytes(accessor).len() / 4 - 1;
                let second_element = match accessor {
                    POSITION | NORMAL => 3,
                    WEIGHTS => 4,
                    _ => second_element,
                };
                file.set_float(accessor, second_element, bad);
            });
            refused(name, "holds", |file| file.set_float(accessor, 0, bad));
        }
    }
    // Larger than any f32, though JSON may say it.
    refused("nodes[1]", "beyond the range", |file| {
        file.json["nodes"][1]["translation"] = json!([0.0, 1e39, 0.0])
    });
    refused("nodes[0]", "beyond the range", |file| {
        let matrix: Vec<f64> = (0..16)
            .map(|entry| {
                if entry == 12 {
                    -1e39
                } else {
                    f64::from(entry % 5 == 0)
                }
            })
            .collect();
        file.json["nodes"][0]["matrix"] = json!(matrix);
    });
}

#[test]
fn morph_weights_that_are_not_finite_are_refused() {
    let mut file = Tiny::rich();
    file.json["nodes"][2]["weights"] = json!([1e39, 0.0]);
    let error = load(&file).expect_err("an infinite morph weight is refused");
    assert!(error.to_string().contains("weights"), "{error}");
}

#[test]
fn primitives_with_different_numbers_of_targets_are_refused() {
    let mut file = Tiny::rich();
    let mut second = file.primitive().clone();
    let third = second["targets"][0].clone();
    second["targets"].as_array_mut().unwrap().push(third);
    file.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(second);
    let error = load(&file).expect_err("the third target has no weight");
    assert!(error.to_string().contains("primitives[1]"), "{error}");
}

#[test]
fn nodes_that_are_no_tree_are_refused() {
    refused("nodes[", "cycle", |file| {
        file.json["nodes"][1]["children"] = json!([0])
    });
    refused("nodes[", "cycle", |file| {
        file.json["nodes"][2]["children"] = json!([2])
    });
    refused(
        "nodes[2].children",
        "node 1 is also a child of node 0",
        |file| {
            file.json["nodes"][2]["children"] = json!([1]);
        },
    );
    refused(
        "nodes[0].children",
        "node 1 is also a child of node 0",
        |file| {
            file.json["nodes"][0]["children"] = json!([1, 1]);
        },
    );
    refused(
        "nodes[1].children",
        "names node 17, but there are 3",
        |file| {
            file.json["nodes"][1]["children"] = json!([17]);
        },
    );
    refused("nodes[2]", "names mesh 5, but there are 1", |file| {
        file.json["nodes"][2]["mesh"] = json!(5)
    });
    refused("nodes[2]", "names skin 5, but there are 1", |file| {
        file.json["nodes"][2]["skin"] = json!(5)
    });
}

#[test]
fn accessors_that_claim_more_than_there_is_are_refused() {
    refused("accessors[0]", "claims 5 elements of 12 bytes", |file| {
        file.json["accessors"][0]["count"] = json!(5)
    });
    refused("accessors[0]", "buffer view 0 has 48 bytes", |file| {
        file.json["accessors"][0]["byteOffset"] = json!(4)
    });
    refused("bufferViews[3]", "but buffer 0 has", |file| {
        file.json["bufferViews"][3]["byteLength"] = json!(100_000)
    });
    refused("buffers[0].byteLength", "claims 1000000 bytes", |file| {
        file.json["buffers"][0]["byteLength"] = json!(1_000_000);
    });
    refused("accessors[0]", "names buffer view 99", |file| {
        file.json["accessors"][0]["bufferView"] = json!(99)
    });
    refused("bufferViews[0]", "names buffer 3", |file| {
        file.json["bufferViews"][0]["buffer"] = json!(3)
    });
    refused("POSITION", "names accessor 77", |file| {
        file.set_attribute("POSITION", 77)
    });
}

#[test]
fn malformed_accessors_and_views_are_refused() {
    refused(
        "bufferViews[0]",
        "a stride of 4 bytes for elements of 12",
        |file| {
            file.json["bufferViews"][0]["byteStride"] = json!(4);
        },
    );
    refused("accessors[0]", "componentType", |file| {
        file.json["accessors"][0]["componentType"] = json!(5124)
    });
    refused("accessors[0]", "type", |file| {
        file.json["accessors"][0]["type"] = json!("VEC7")
    });
    refused("accessors[0]", "is of type Vec2, expected Vec3", |file| {
        file.json["accessors"][0]["type"] = json!("VEC2")
    });
    refused("accessors[4]", "expected unsigned integers", |file| {
        file.json["accessors"][INDICES]["componentType"] = json!(5122);
    });
    refused("accessors[0]", "-1", |file| {
        file.json["accessors"][0]["count"] = json!(-1)
    });
    refused("NORMAL", "3 elements, but POSITION has 4", |file| {
        file.json["accessors"][NORMAL]["count"] = json!(3)
    });
    refused("meshes[0].primitives[0]", "no POSITION", |file| {
        let attributes = file.primitive()["attributes"].as_object_mut().unwrap();
        attributes.shift_remove("POSITION");
    });
    refused(
        "meshes[0].primitives[0]",
        "5 corners do not make whole triangles",
        |file| {
            file.json["accessors"][INDICES]["count"] = json!(5);
        },
    );
    refused("meshes[0].primitives[0]", "mode", |file| {
        file.primitive()["mode"] = json!(7)
    });
    refused(
        "accessors[0] (meshes[0].primitives[0].POSITION).sparse",
        "entry 0 replaces element 4",
        |file| {
            let indices = file.append("SCALAR", UNSIGNED_BYTE, 1, &[4]);
            let values = file.floats("VEC3", &[0.0; 3]);
            file.json["accessors"][0]["sparse"] = json!({
                "count": 1,
                "indices": { "bufferView": indices, "componentType": UNSIGNED_BYTE },
                "values": { "bufferView": values },
            });
        },
    );
}

#[test]
fn json_that_is_not_shaped_as_gltf_is_refused_by_its_path() {
    let cases = [
        ("/animations/0", json!(5), "animations[0]", "not an object"),
        (
            "/animations/0",
            json!("walk"),
            "animations[0]",
            "not an object",
        ),
        ("/animations", json!({}), "animations", "not an array"),
        ("/scenes/0", json!([0, 2]), "scenes[0]", "not an object"),
        (
            "/scenes/0/nodes",
            json!(0),
            "scenes[0].nodes",
            "not an array",
        ),
        (
            "/scenes/0/nodes/1",
            json!("hip"),
            "scenes[0].nodes[1]",
            "not a whole number",
        ),
        // Lists would do for the structures of many a JSON library.
        (
            "/bufferViews/0",
            json!([0, 48, 0]),
            "bufferViews[0]",
            "not an object",
        ),
        ("/buffers/0", json!([4]), "buffers[0]", "not an object"),
        ("/nodes/1", json!([]), "nodes[1]", "not an object"),
        ("/skins/0", json!([]), "skins[0]", "not an object"),
        (
            "/skins/0/joints/0",
            json!(-1),
            "skins[0].joints[0]",
            "not a whole number",
        ),
        (
            "/meshes/0/primitives/0",
            json!([]),
            "meshes[0].primitives[0]",
            "not an object",
        ),
        (
            "/animations/0/channels/0/target",
            json!([0]),
            "animations[0].channels[0].target",
            "not an object",
        ),
        (
            "/nodes/1/translation/2",
            json!("far"),
            "nodes[1].translation[2]",
            "not a number",
        ),
    ];
    for (pointer, value, expected_place, expected_problem) in cases {
        let error = changed(|file| *file.json.pointer_mut(pointer).unwrap() = value).unwrap_err();
        let LoadError::Malformed { place, problem, .. } = error else {
            panic!("{pointer}: {error}");
        };
        assert_eq!(
            (place.as_str(), problem.as_str()),
            (expected_place, expected_problem)
        );
    }
    for key in ["cameras", "images", "materials", "samplers", "textures"] {
        refused(key, "not an array", |file| file.json[key] = json!({}));
        let element = format!("{key}[1]");
        refused(&element, "not an object", |file| {
            file.json[key] = json!([{}, 1])
        });
    }
}

#[test]
fn errors_repeat_at_most_a_line_of_the_file() {
    let long = "n\n\u{1b}".repeat(100_000);
    let long = long.as_str();
    let changes: [&dyn Fn(&mut Tiny); 8] = [
        &|file| file.json["asset"]["version"] = json!(long),
        &|file| file.json["buffers"][0]["uri"] = json!(long),
        &|file| file.json["buffers"][0]["uri"] = json!(format!("http://{long}")),
        &|file| file.json["buffers"][0]["uri"] = json!(format!("data:{long}")),
        &|file| file.json["buffers"][0]["uri"] = json!(format!("data:;base64,{long}")),
        &|file| file.json["accessors"][0]["count"] = json!(long),
        &|file| file.json["animations"][0]["channels"][0]["sampler"] = json!(long),
        &|file| file.json["nodes"][0]["mesh"] = json!(long),
    ];
    for change in changes {
        let error = changed(change).unwrap_err().to_string();
        assert!(error.chars().count() < 240, "{} bytes", error.len());
        assert!(!error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn the_word_base64_may_be_in_capitals() {
    let file = Tiny::new();
    let payload = STANDARD.encode(&file.bin);
    let loaded = |header: &str| {
        let mut file = file.clone();
        file.json["buffers"][0]["uri"] = json!(format!("{header},{payload}"));
        gltf::from_slice(file.json.to_string().as_bytes(), "uri")
    };
    for header in [
        "data:;base64",
        "data:;BASE64",
        "DATA:application/octet-stream;Base64",
    ] {
        let loaded = loaded(header).unwrap();
        assert_eq!(loaded.asset.rig.mesh().vertex_count(), 4);
    }
    for header in ["data:base64", "data:;base64;charset=utf-8", "data:;base6é"] {
        let error = loaded(header).unwrap_err().to_string();
        assert!(error.contains("a data URI that is not base64"), "{error}");
    }
}

#[test]
fn uris_that_leave_the_folder_are_refused_in_files_and_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let mut file = Tiny::new();
    std::fs::write(folder.path().join("x.bin"), &file.bin).unwrap();
    std::fs::write(inside.join("x.bin"), &file.bin).unwrap();
    let path = inside.join("x.gltf");
    let mut load_with = |uri: &str| {
        file.json["buffers"][0]["uri"] = json!(uri);
        std::fs::write(&path, file.json.to_string()).unwrap();
        gltf::load(&path)
    };
    assert!(load_with("x.bin").is_ok());
    let absolute = folder.path().join("x.bin").display().to_string();
    for uri in [
        "../x.bin",
        "%2e%2e%2fx.bin",
        "./../x.bin",
        &absolute,
        "http://example.org/x.bin",
        &format!("file://{absolute}"),
        "data:application/octet-stream;base64,!!!!",
        "data:application/octet-stream;base64",
        "data:text/plain,abc",
        "missing.bin",
        ".",
        "",
    ] {
        let error = load_with(uri)
            .err()
            .unwrap_or_else(|| panic!("'{uri}' was read"));
        assert!(error.to_string().contains("buffers[0]"), "{uri}: {error}");
    }
    refused("buffers[0]", "cannot be read without a folder", |file| {
        file.json["buffers"][0]["uri"] = json!("x.bin")
    });
}

#[test]
fn clips_and_skins_that_name_missing_things_are_refused() {
    refused(
        "animations[0].channels[0].target",
        "names node 40, but there are 3",
        |file| {
            file.json["animations"][0]["channels"][0]["target"]["node"] = json!(40);
        },
    );
    refused(
        "animations[0].channels[0]",
        "names sampler 3, but there are 1",
        |file| {
            file.json["animations"][0]["channels"][0]["sampler"] = json!(3);
        },
    );
    refused(
        "animations[0].samplers[0].input",
        "names accessor 90",
        |file| {
            file.json["animations"][0]["samplers"][0]["input"] = json!(90);
        },
    );
    refused("animations[0].samplers[0]", "interpolation", |file| {
        file.json["animations"][0]["samplers"][0]["interpolation"] = json!("BOUNCE");
    });
    refused(
        "animations[0].samplers[0]",
        "key 1 is at 0 s, after a key at 0.5 s",
        |file| {
            file.set_float(TIMES, 0, 0.5);
            file.set_float(TIMES, 1, 0.0);
        },
    );
    refused(
        "animations[0].samplers[0]",
        "4 numbers for 2 keys, expected 8",
        |file| {
            file.json["accessors"][ROTATIONS]["count"] = json!(1);
        },
    );
    refused(
        "skins[0].inverseBindMatrices",
        "1 matrices for 2 joints",
        |file| {
            file.json["accessors"][BIND]["count"] = json!(1);
        },
    );
    refused("skins[0].joints", "without joints", |file| {
        file.json["skins"][0]["joints"] = json!([])
    });
    refused(
        "skins[0].joints",
        "names node 12, but there are 3",
        |file| {
            file.json["skins"][0]["joints"] = json!([0, 12]);
        },
    );
}

#[test]
fn files_that_are_something_else_are_refused() {
    for (bytes, words) in [
        (&b""[..], "does not look like a glTF file"),
        (b"\x89PNG\r\n\x1a\n", "does not look like a glTF file"),
        (b"{}", "asset.version"),
        (b"[]", "not an object"),
        (
            b"{\"asset\":{\"version\":\"1.0\"}}",
            "glTF 1.0 is not supported",
        ),
        (b"{\"asset\":{\"version\":\"2.0\"}}", "no node has a mesh"),
        (b"glTF\x01\0\0\0\x0c\0\0\0", "GLB version 1"),
        (b"glTF\x02\0\0\0\x0c\0\0\0", "no JSON chunk"),
        (
            b"glTF\x02\0\0\0\x14\0\0\0\0\0\0\0BIN\0",
            "the first chunk is not JSON",
        ),
    ] {
        let error = gltf::from_slice(bytes, "other").unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let deep = format!(
        "{{\"asset\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(gltf::from_slice(deep.as_bytes(), "deep").is_err());
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        gltf::load(folder.path()),
        Err(LoadError::Io { .. })
    ));
    refused("extensionsRequired", "export without compression", |file| {
        file.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    });
}
