//! Odd files that must work: each is read, and what was repaired or ignored is reported.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use glam::{DAffine3, Vec3};
use serde_json::json;
use supple::deform::DUAL_SHARE;
use supple::{Asset, Method, Normals, Player};
use supple_io::gltf::{self, Loaded};
use tiny::{
    FLOAT, NORMAL, POSITION, Tiny, UNSIGNED_BYTE, UNSIGNED_SHORT, WEIGHTS, changed, exercise, load,
};

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

fn all_are_roots(loaded: &Loaded) -> bool {
    let joints = loaded.asset.rig.skeleton().joints();
    joints.iter().all(|joint| joint.parent.is_none())
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
    assert!(all_are_roots(&loaded));
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
    assert!(all_are_roots(&loaded));
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
    let palette = asset.rig.skeleton().rest_palette();
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
    assert!(DAffine3::from(tip).matrix3.determinant() < 0.0);
}

#[test]
fn a_painted_share_of_dual_quaternions_reaches_the_surface_also_in_bytes() {
    let loaded = changed(|file| {
        let share = file.append("SCALAR", UNSIGNED_BYTE, 4, &[0, 51, 255, 102]);
        file.json["accessors"][share]["normalized"] = json!(true);
        file.set_attribute(DUAL_SHARE, share);
    });
    let asset = loaded.unwrap().asset;
    let painted = asset.rig.mesh().painted(DUAL_SHARE).unwrap();
    assert_eq!(painted, [0.0, 0.2, 1.0, 0.4].map(Some));
    let linear = posed(&asset, &Method::Linear);
    let dual = posed(&asset, &"dual-quaternion".parse().unwrap());
    let mixed = posed(&asset, &"linear-dual-blend".parse().unwrap());
    for vertex in 0..4 {
        let share = painted[vertex].unwrap();
        let expected = linear[vertex].lerp(dual[vertex], share);
        assert!(mixed[vertex].distance(expected) < 1e-6);
    }
    tiny::refused("_DUAL_QUATERNION_SHARE", "elements", |file| {
        let share = file.floats("SCALAR", &[0.5]);
        file.set_attribute(DUAL_SHARE, share);
    });
}

fn posed(asset: &Asset, method: &Method) -> Vec<Vec3> {
    let mut player = Player::new(asset, method, Normals::Transported).unwrap();
    let clip = &asset.clips[0];
    player
        .pose(&asset.pose_at(clip, 0.5 * clip.duration()))
        .unwrap();
    player.positions().to_vec()
}
