//! Broken, odd and hostile files: each is refused with its place named, or read with what was mended reported.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
mod tiny;

use glam::Vec3;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use supple::{Method, Player};
use supple_io::LoadError;
use supple_io::gltf::{self, Loaded, SaveError};
use tiny::{
    BIND, FLOAT, INDICES, JOINTS, NORMAL, POSITION, ROTATIONS, TIMES, Tiny, UNSIGNED_BYTE,
    UNSIGNED_SHORT, WEIGHTS,
};

fn load(file: &Tiny) -> Result<Loaded, LoadError> {
    gltf::from_slice(&file.glb(), "tiny")
}

/// Loads a file after a change.
fn changed(change: impl FnOnce(&mut Tiny)) -> Result<Loaded, LoadError> {
    let mut file = Tiny::new();
    change(&mut file);
    load(&file)
}

/// Asserts that a changed file is refused, at a place and for a reason that hold these words.
#[track_caller]
fn refused(place_words: &str, problem_words: &str, change: impl FnOnce(&mut Tiny)) {
    match changed(change) {
        Err(LoadError::Malformed { place, problem, .. }) => {
            assert!(
                place.contains(place_words),
                "the place is '{place}' ({problem})"
            );
            assert!(
                problem.contains(problem_words),
                "at {place} the problem is '{problem}'"
            );
        }
        Err(LoadError::Io { source, .. }) => panic!("refused by the file system: {source}"),
        Ok(_) => panic!("was loaded, expected an error at {place_words}"),
    }
}

/// Deforms, changes and writes what was loaded, in every way there is.
fn exercise(loaded: Loaded) {
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded;
    document.to_glb().unwrap();
    document.to_gltf();
    let pose = match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, 0.5 * clip.duration()),
        None => asset.rest_pose(),
    };
    let mut player = Player::new(&asset, &Method::Linear);
    player.pose(&pose);
    match document.posed(&player, &pose) {
        Ok(posed) => drop(posed.to_glb().unwrap()),
        Err(error) => assert!(matches!(error, SaveError::NotFinite(_)), "{error}"),
    }
    document.set_weights(asset.rig.weights()).unwrap();
    let written = document.to_glb().unwrap();
    gltf::from_slice(&written, "what was written").unwrap();
}

/// Loads bytes, and uses what was loaded; all that matters is that nothing panics.
fn survives(bytes: &[u8]) {
    if let Ok(loaded) = gltf::from_slice(bytes, "hostile") {
        exercise(loaded);
    }
}

impl Tiny {
    /// The bytes of an accessor of this module.
    fn bytes(&mut self, accessor: usize) -> &mut [u8] {
        let view = &self.json["bufferViews"][accessor];
        let number = |key: &str| view[key].as_u64().unwrap() as usize;
        let start = number("byteOffset");
        &mut self.bin[start..start + number("byteLength")]
    }

    fn set_float(&mut self, accessor: usize, at: usize, value: f32) {
        self.bytes(accessor)[at * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }

    fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// Points an attribute at new numbers.
    fn set_attribute(&mut self, name: &str, accessor: usize) {
        self.primitive()["attributes"][name] = json!(accessor);
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
fn a_clip_that_moves_what_is_not_known_is_passed_over_and_counted() {
    let loaded = changed(|file| {
        let channels = file.json["animations"][0]["channels"]
            .as_array_mut()
            .unwrap();
        channels.push(json!({ "sampler": 0, "target": { "path": "pointer" } }));
        channels.push(json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } }));
    });
    let loaded = loaded.unwrap();
    assert_eq!(loaded.notes.ignored_channels, 2);
    assert_eq!(loaded.asset.clips[0].tracks.len(), 1);
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

#[test]
fn weights_that_do_not_sum_to_one_are_normalised_and_reported() {
    let loaded = changed(|file| {
        file.set_float(WEIGHTS, 0, 0.77);
        file.set_float(WEIGHTS, 4, 1.75);
    });
    let loaded = loaded.unwrap();
    let report = &loaded.notes.weights;
    assert_eq!(report.unnormalised, 2);
    let (low, high) = report.sum_range.unwrap();
    assert!(
        (low - 0.77).abs() < 1e-7 && (high - 1.75).abs() < 1e-7,
        "{low} to {high}"
    );
    for vertex in 0..4 {
        assert_eq!(
            loaded.asset.rig.weights().row(vertex).1.iter().sum::<f32>(),
            1.0
        );
    }
}

#[test]
fn a_vertex_without_weights_follows_the_root_and_is_reported() {
    let loaded = changed(|file| {
        // Listed before its parent, the tip is not the root all the same.
        file.json["skins"][0]["joints"] = json!([1, 0]);
        file.set_float(WEIGHTS, 4, 0.0);
    });
    let loaded = loaded.unwrap();
    assert_eq!(loaded.notes.weights.without_weights, 1);
    assert_eq!(loaded.notes.weights.first_without_weights, Some(1));
    let followed = loaded.asset.rig.weights().of(1).next().unwrap().joint;
    assert_eq!(loaded.asset.rig.skeleton().joint_name(followed), "root");
}

#[test]
fn negative_weights_count_as_zero_and_are_reported() {
    let loaded = changed(|file| file.set_float(WEIGHTS, 1, -0.5)).unwrap();
    assert_eq!(loaded.notes.weights.negative, 1);
    assert_eq!(
        loaded.asset.rig.weights().row(0),
        (&[0u16][..], &[1.0f32][..])
    );
}

/// (joint name, weight) of a vertex, heaviest first.
fn influences(loaded: &Loaded, vertex: usize) -> Vec<(String, f32)> {
    let rig = &loaded.asset.rig;
    let named = |influence: supple::weights::Influence| {
        (
            rig.skeleton().joint_name(influence.joint).to_owned(),
            influence.weight,
        )
    };
    rig.weights().of(vertex).map(named).collect()
}

fn pairs(expected: &[(&str, f32)]) -> Vec<(String, f32)> {
    expected
        .iter()
        .map(|&(name, weight)| (name.to_owned(), weight))
        .collect()
}

#[test]
fn joints_listed_before_their_parents_are_sorted_and_keep_their_weights() {
    let loaded = changed(|file| file.json["skins"][0]["joints"] = json!([1, 0])).unwrap();
    let skeleton = loaded.asset.rig.skeleton();
    assert_eq!(
        [skeleton.joint_name(0), skeleton.joint_name(1)],
        ["root", "tip"]
    );
    assert_eq!(skeleton.joints()[1].parent, Some(0));
    assert_eq!(loaded.document.joints_in_file_order(), [1, 0]);
    assert_eq!(
        influences(&loaded, 2),
        pairs(&[("root", 0.75), ("tip", 0.25)])
    );
    // Bind matrices stay with the joint that the file gave them to.
    assert_eq!(
        skeleton.joints()[0].joint_from_bind.translation,
        glam::DVec3::NEG_Y
    );
}

#[test]
fn several_roots_and_siblings_without_hierarchy_load() {
    let loaded = changed(|file| {
        file.json["nodes"][0]
            .as_object_mut()
            .unwrap()
            .shift_remove("children");
    });
    let loaded = loaded.unwrap();
    assert!(
        loaded
            .asset
            .rig
            .skeleton()
            .joints()
            .iter()
            .all(|joint| joint.parent.is_none())
    );
    let loaded = changed(|file| {
        file.json["nodes"][0]
            .as_object_mut()
            .unwrap()
            .shift_remove("children");
        file.json["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "name": "above", "children": [0, 1] }));
    });
    let loaded = loaded.unwrap();
    assert!(
        loaded
            .asset
            .rig
            .skeleton()
            .joints()
            .iter()
            .all(|joint| joint.parent.is_none())
    );
    let nodes = loaded.asset.rig.skeleton().nodes();
    for joint in loaded.asset.rig.skeleton().joints() {
        assert_eq!(nodes[nodes[joint.node].parent.unwrap()].name, "above");
    }
}

#[test]
fn three_hundred_joints_load_and_write_with_wide_indices() {
    let mut file = Tiny::new();
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    nodes.extend((0..295).map(|joint| json!({ "name": format!("joint {}", joint + 2) })));
    file.json["skins"][0] =
        json!({ "joints": (0..297).map(|j| if j < 2 { j } else { j + 1 }).collect::<Vec<_>>() });
    let joints: Vec<u8> = [0u16, 296, 0, 0]
        .repeat(4)
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    let joints = file.append("VEC4", UNSIGNED_SHORT, 4, &joints);
    file.set_attribute("JOINTS_0", joints);
    let mut loaded = load(&file).unwrap();
    assert_eq!(loaded.asset.rig.skeleton().joints().len(), 297);
    assert_eq!(
        influences(&loaded, 2),
        pairs(&[("joint 296", 0.75), ("root", 0.25)])
    );
    loaded
        .document
        .set_weights(loaded.asset.rig.weights())
        .unwrap();
    let again = gltf::from_slice(&loaded.document.to_glb().unwrap(), "tiny").unwrap();
    assert_eq!(again.asset.rig.weights(), loaded.asset.rig.weights());
}

#[test]
fn integer_weights_mean_fractions() {
    let narrow: Vec<u8> = [51, 204, 0, 0].repeat(4);
    let wide: Vec<u8> = [13_107u16, 52_428, 0, 0]
        .repeat(4)
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (component, bytes) in [(UNSIGNED_BYTE, narrow), (UNSIGNED_SHORT, wide)] {
        for declared in [true, false] {
            let loaded = changed(|file| {
                let weights = file.append("VEC4", component, 4, &bytes);
                file.json["accessors"][weights]["normalized"] = json!(declared);
                file.set_attribute("WEIGHTS_0", weights);
            });
            let loaded = loaded.unwrap();
            let found = influences(&loaded, 0);
            assert_eq!(found[0].0, "tip");
            assert!(
                (found[0].1 - 0.8).abs() < 1e-7 && (found[1].1 - 0.2).abs() < 1e-7,
                "{found:?}"
            );
            assert_eq!(loaded.notes.weights.unnormalised, 0);
        }
    }
}

#[test]
fn second_sets_of_joints_and_weights_are_read() {
    let mut file = Tiny::new();
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    nodes.extend((0..4).map(|joint| json!({ "name": format!("extra {joint}") })));
    file.json["skins"][0] = json!({ "joints": [0, 1, 3, 4, 5, 6] });
    let first = file.append("VEC4", UNSIGNED_BYTE, 4, &[0, 1, 2, 3].repeat(4));
    let second = file.append("VEC4", UNSIGNED_BYTE, 4, &[4, 5, 0, 0].repeat(4));
    let first_weights = file.floats("VEC4", &[0.25, 0.125, 0.125, 0.0625].repeat(4));
    let second_weights = file.floats("VEC4", &[0.375, 0.0625, 0.0, 0.0].repeat(4));
    file.set_attribute("JOINTS_0", first);
    file.set_attribute("WEIGHTS_0", first_weights);
    file.set_attribute("JOINTS_1", second);
    file.set_attribute("WEIGHTS_1", second_weights);
    let loaded = load(&file).unwrap();
    let expected = [
        ("extra 2", 0.375),
        ("root", 0.25),
        ("tip", 0.125),
        ("extra 0", 0.125),
        ("extra 1", 0.0625),
        ("extra 3", 0.0625),
    ];
    assert_eq!(influences(&loaded, 3), pairs(&expected));
    assert_eq!(
        loaded.notes.weights,
        supple::weights::WeightsReport::default()
    );
}

#[test]
fn interleaved_attributes_are_read() {
    let plain = load(&Tiny::new()).unwrap();
    let interleaved = changed(|file| {
        let (positions, normals) = (file.bytes(POSITION).to_vec(), file.bytes(NORMAL).to_vec());
        let pairs = positions.chunks(12).zip(normals.chunks(12));
        let bytes: Vec<u8> = pairs
            .flat_map(|(position, normal)| [position, normal].concat())
            .collect();
        let view = file.append("VEC3", FLOAT, 4, &bytes);
        file.json["bufferViews"][view]["byteStride"] = json!(24);
        for (accessor, offset) in [(POSITION, 0), (NORMAL, 12)] {
            file.json["accessors"][accessor]["bufferView"] = json!(view);
            file.json["accessors"][accessor]["byteOffset"] = json!(offset);
        }
    });
    let interleaved = interleaved.unwrap();
    assert!(interleaved.asset == plain.asset);
    exercise(interleaved);
}

#[test]
fn strips_and_fans_keep_the_winding_of_their_triangles() {
    let expected = [(5, [[0, 1, 2], [1, 3, 2]]), (6, [[1, 2, 0], [2, 3, 0]])];
    for (mode, triangles) in expected {
        let loaded = changed(|file| {
            file.primitive()["mode"] = json!(mode);
            file.primitive()
                .as_object_mut()
                .unwrap()
                .shift_remove("indices");
        });
        assert_eq!(loaded.unwrap().asset.rig.mesh().triangles(), triangles);
    }
    let lines = changed(|file| file.primitive()["mode"] = json!(1)).unwrap();
    assert_eq!(
        (
            lines.notes.not_triangles,
            lines.asset.rig.mesh().triangles().len()
        ),
        (1, 0)
    );
}

#[test]
fn missing_normals_are_computed() {
    let loaded = changed(|file| {
        let attributes = file.primitive()["attributes"].as_object_mut().unwrap();
        attributes.shift_remove("NORMAL");
    });
    assert_eq!(loaded.unwrap().asset.rig.mesh().normals(), [Vec3::Z; 4]);
}

#[test]
fn matrices_and_negative_scales_on_nodes_are_kept() {
    let loaded = changed(|file| {
        // Shear, which no translation, rotation and scale can say.
        let matrix = [
            1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0, 4.0, 5.0, 1.0,
        ];
        file.json["nodes"][0]["matrix"] = json!(matrix);
        file.json["nodes"][1]["scale"] = json!([-1.0, 1.0, 1.0]);
    });
    let asset = loaded.unwrap().asset;
    let palette = asset.rig.skeleton().palette(&asset.rest_pose());
    let root = palette.posed_from_bind[0];
    assert_eq!(
        root.transform_point(Vec3::new(0.0, 2.0, 0.0)),
        Vec3::new(4.0, 6.0, 5.0)
    );
    let tip = palette.posed_from_bind[1];
    assert_eq!(
        tip.transform_point(Vec3::new(1.0, 2.0, 0.0)),
        Vec3::new(3.0, 6.0, 5.0)
    );
    assert!(tip.determinant() < 0.0);
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
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

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
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9eE.,\"{}\\[\\] a-z]"), 1..4)
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
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

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
