//! Round trips: the character is read as it was written, and everything else in the file is kept.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
#[allow(
    dead_code,
    reason = "the accessors' names are for the tests that break them"
)]
mod tiny;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{some_pose, worlds};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use std::path::Path;
use supple::bind::{BindMethod, GeodesicOptions, bind_groups};
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::mesh::MorphedShape;
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, place_handles};
use supple::skeleton::Node;
use supple::transform::{Local, Trs};
use supple::twist::{TwistOptions, split};
use supple::weights::{WeightsBuilder, WeightsReport};
use supple::{Asset, Method, Normals, Player, Pose, Rig, Skeleton, Weights};
use supple_io::gltf::{self, CENTER_ATTRIBUTE, Document, Loaded, SaveError};
use tiny::{Tiny, open_glb};

#[track_caller]
fn assert_same(found: &Asset, expected: &Asset, what: &str) {
    assert_eq!(found.name, expected.name, "{what}: name");
    let (mesh, other) = (found.rig.mesh(), expected.rig.mesh());
    assert!(mesh.positions() == other.positions(), "{what}: positions");
    assert!(mesh.normals() == other.normals(), "{what}: normals");
    assert!(mesh.tangents() == other.tangents(), "{what}: tangents");
    assert!(mesh.triangles() == other.triangles(), "{what}: triangles");
    assert!(
        found.rig.weights() == expected.rig.weights(),
        "{what}: weights"
    );
    assert!(
        found.rig.skeleton() == expected.rig.skeleton(),
        "{what}: skeleton"
    );
    assert_eq!(found.parts, expected.parts, "{what}: parts");
    assert!(found.morphs == expected.morphs, "{what}: morphs");
    assert_eq!(
        found.rest_morph_weights, expected.rest_morph_weights,
        "{what}: morph weights"
    );
    assert!(found.clips == expected.clips, "{what}: clips");
    assert!(found.props == expected.props, "{what}: props");
}

fn load_and_set_weights(path: &Path) -> Loaded {
    let mut loaded = gltf::load(path).unwrap();
    loaded
        .document
        .set_weights(loaded.asset.rig.weights())
        .unwrap();
    loaded
}

#[test]
fn every_model_comes_back_the_same_from_glb_and_gltf() {
    for path in common::models() {
        let loaded = load_and_set_weights(&path);
        let (glb, gltf) = (loaded.document.to_glb().unwrap(), loaded.document.to_gltf());
        let in_memory = loaded.document.clone().read(&loaded.asset.name).unwrap();
        assert_same(&in_memory.asset, &loaded.asset, "in memory");
        for (bytes, kind) in [(glb, "glb"), (gltf, "gltf")] {
            let what = format!("{} as .{kind}", path.display());
            let again = gltf::from_slice(&bytes, &loaded.asset.name).unwrap();
            assert_same(&again.asset, &loaded.asset, &what);
            assert_eq!(again.notes.weights, WeightsReport::default(), "{what}");
            assert_eq!(
                again.document.joints_in_file_order(),
                loaded.document.joints_in_file_order(),
                "{what}"
            );
        }
    }
}

#[test]
fn writing_a_written_model_again_changes_no_byte() {
    for path in common::models() {
        let loaded = load_and_set_weights(&path);
        let first = loaded.document.to_glb().unwrap();
        let mut again = gltf::from_slice(&first, &loaded.asset.name).unwrap();
        again
            .document
            .set_weights(again.asset.rig.weights())
            .unwrap();
        assert!(
            again.document.to_glb().unwrap() == first,
            "{}",
            path.display()
        );
    }
}

/// The asset in a pose.
fn posed_player<'a>(asset: &'a Asset, pose: &Pose) -> Player<'a> {
    let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(pose).unwrap();
    player
}

/// The positions of the props in a pose, one after another.
fn posed_props(asset: &Asset, pose: &Pose) -> Vec<DVec3> {
    let world_from_node = worlds(asset, pose);
    let mut positions = Vec::new();
    for prop in &asset.props {
        let mut morphed = MorphedShape::new(&prop.mesh);
        morphed
            .apply(&prop.mesh, &prop.morphs, &pose.morph_weights)
            .unwrap();
        let world = world_from_node[prop.node];
        positions.extend(
            morphed
                .shape()
                .positions
                .iter()
                .map(|p| world.transform_point3(p.as_dvec3())),
        );
    }
    positions
}

#[track_caller]
fn assert_posed(posed: &Document, pose: &Pose, player: &Player<'_>, what: &str) {
    let asset = player.asset();
    let again = gltf::from_slice(&posed.to_glb().unwrap(), "posed").unwrap();
    assert!(again.notes.unskinned, "{what}");
    assert!(again.asset.clips.is_empty(), "{what}");
    // In an unskinned file everything is the character. New nodes are the last, so the props come
    // first.
    let found = posed_player(&again.asset, &again.asset.rest_pose());
    let props = posed_props(asset, pose);
    let (found_props, found_surface) = found.positions().split_at(props.len());
    assert!(found_surface == player.positions(), "{what}: positions");
    let largest = props
        .iter()
        .fold(0.0, |largest: f64, p| largest.max(p.abs().max_element()));
    for (found, expected) in found_props.iter().zip(&props) {
        let error = found.as_dvec3().distance(*expected);
        assert!(
            error <= 1e-6 * largest,
            "{what}: a prop is off by {error} of {largest}"
        );
    }
    for (found, expected) in found.normals()[props.len()..].iter().zip(player.normals()) {
        assert!(
            found.distance(*expected) < 3e-7,
            "{what}: normals {found} and {expected}"
        );
    }
    let triangles = again.asset.rig.mesh().triangles();
    let prop_triangles: usize = asset
        .props
        .iter()
        .map(|prop| prop.mesh.triangles().len())
        .sum();
    let shifted = |corners: &[u32; 3]| corners.map(|corner| corner - props.len() as u32);
    let surface_triangles: Vec<[u32; 3]> =
        triangles[prop_triangles..].iter().map(shifted).collect();
    assert!(
        surface_triangles == *player.triangles(),
        "{what}: triangles"
    );
}

#[test]
fn every_model_frozen_in_a_pose_loads_as_a_static_file_in_that_pose() {
    for path in common::models() {
        let Loaded {
            asset, document, ..
        } = gltf::load(&path).unwrap();
        let pose = some_pose(&asset);
        let player = posed_player(&asset, &pose);
        let posed = document.posed(&player, &pose).unwrap();
        assert_posed(&posed, &pose, &player, &path.display().to_string());
    }
}

/// The file with a bake of direct delta mush, unless it has no skin.
fn with_mush(document: &Document, asset: &Asset) -> Option<Document> {
    let options = MushOptions {
        rigid: true,
        ..MushOptions::default()
    };
    let mush = Mush::bake(&asset.rig, &options).unwrap().mush;
    let mut baked = document.clone();
    match baked.set_mush(&asset.rig, &mush, &options, 4) {
        Ok(_) => Some(baked),
        Err(error) => {
            assert_eq!(error, SaveError::NoSkin);
            None
        }
    }
}

/// The document with centers of rotation, if the character has a skin.
fn with_centers(document: &Document, asset: &Asset) -> Option<Document> {
    let options = CenterOptions::PAPER;
    let centers = Centers::bake(asset.rig.mesh(), asset.rig.weights(), &options).unwrap();
    let mut document = document.clone();
    match document.set_centers(&asset.rig, &centers, &options) {
        Ok(()) => Some(document),
        Err(error) => {
            assert_eq!(error, SaveError::NoSkin);
            None
        }
    }
}

/// The document with a bone split by a twist joint, if the character has a skin and a bone to
/// split.
fn with_twist_joint(document: &Document, asset: &Asset) -> Option<Document> {
    // From the last one: the joints of one shared model have two roots, which the validator
    // overlooks only where the roots' joints are not listed by turns.
    let joints = (0..asset.rig.skeleton().joints().len()).rev();
    let mut splits = joints.map(|joint| split(asset, joint, &TwistOptions::default()));
    let twisted = splits.find_map(Result::ok)?;
    let mut document = document.clone();
    match document.add_twist_joint(&twisted) {
        Ok(()) => Some(document),
        Err(error) => {
            assert_eq!(error, SaveError::NoSkin);
            None
        }
    }
}

/// The document bound anew, if the character has a skin. What is tested is the way through the
/// file, so few voxels do.
fn with_binding(document: &Document, asset: &Asset) -> Option<Document> {
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let groups = document.bind_groups(mesh, skeleton).unwrap();
    if groups.is_empty() {
        return None;
    }
    let method = BindMethod::Geodesic(GeodesicOptions {
        voxels: Some(600),
        ..GeodesicOptions::default()
    });
    let bound = bind_groups(mesh, skeleton, &groups, &method, &|_| {}).unwrap();
    let rig = Rig::new(mesh.clone(), skeleton.clone(), bound.weights).unwrap();
    let mut document = document.clone();
    document.set_binding(&rig).unwrap();
    Some(document)
}

/// The document with point handles instead of a skin. What is tested is the way through the file,
/// so few of them and few voxels do.
fn with_handles(document: &Document, asset: &Asset) -> Document {
    let surface = document.surface_at_rest(&asset.rig).unwrap();
    let options = HandleOptions {
        count: Some(6),
        ..HandleOptions::default()
    };
    let handles = place_handles(&surface, &options).unwrap();
    let method = BindMethod::Geodesic(GeodesicOptions {
        voxels: Some(600),
        ..GeodesicOptions::default()
    });
    let weights = handles.bind(&surface, &method, &|_| {}).unwrap().weights;
    let bound = document.with_point_handles(&asset.rig, &handles, &weights);
    bound.unwrap().document
}

/// Times of the frames that are written as morph targets, in shares of the clip.
const FRAMES: [f64; 3] = [0.2, 0.5, 0.9];

/// The poses of some frames of the first clip, or the rest pose and one turned away from it.
fn frame_poses(asset: &Asset) -> Vec<Pose> {
    match asset.clips.first() {
        Some(clip) => {
            let times = FRAMES.map(|share| share * clip.duration());
            times.map(|time| asset.pose_at(clip, time)).to_vec()
        }
        None => vec![asset.rest_pose(), some_pose(asset), asset.rest_pose()],
    }
}

/// The document with frames of the character as morph targets.
fn as_morph_targets(document: &Document, asset: &Asset) -> Document {
    let poses = frame_poses(asset);
    let mut player = posed_player(asset, &poses[0]);
    let mut morphs = document.morph_sequence(&player, &poses[0]).unwrap();
    for pose in &poses[1..] {
        player.pose(pose).unwrap();
        morphs.push(&player).unwrap();
    }
    morphs.finish("frames", 10.0).unwrap()
}

#[test]
fn frames_as_morph_targets_play_back() {
    let models = common::models()
        .into_iter()
        .map(|path| gltf::load(&path).unwrap());
    let models = models.map(|loaded| (loaded.asset, loaded.document));
    let built_in = built_in_characters().map(|asset| {
        let document = Document::from_asset(&asset).unwrap();
        (asset, document)
    });
    for (asset, document) in models.chain(built_in) {
        let written = as_morph_targets(&document, &asset).to_glb().unwrap();
        let again = gltf::from_slice(&written, "frames").unwrap().asset;
        let clip = again.clips.first().expect("an animation of weights");
        assert_eq!((again.clips.len(), clip.name.as_str()), (1, "frames"));
        let extent = asset.rig.mesh().extent();
        let mut expected: Vec<(f64, Vec<Vec3>, Vec<Vec3>)> = Vec::new();
        for (frame, pose) in frame_poses(&asset).iter().enumerate() {
            let player = posed_player(&asset, pose);
            let (positions, normals) = (player.positions().to_vec(), player.normals().to_vec());
            expected.push((frame as f64 / 10.0, positions, normals));
        }
        // Between two frames the surface fades.
        let middle = |a: &[Vec3], b: &[Vec3]| -> Vec<Vec3> {
            a.iter().zip(b).map(|(a, b)| (*a + *b) * 0.5).collect()
        };
        let faded = middle(&expected[1].1, &expected[2].1);
        expected.push((0.15, faded, Vec::new()));
        for (time, positions, normals) in expected {
            let player = posed_player(&again, &again.pose_at(clip, time));
            // Without a skin, the props belong to the character; their nodes are before its own.
            let props = player.positions().len() - positions.len();
            assert!((props == 0) == asset.props.is_empty(), "{}", asset.name);
            for (found, expected) in player.positions()[props..].iter().zip(&positions) {
                let apart = found.distance(*expected);
                let most = 1e-5 * extent.max(expected.length());
                assert!(apart <= most, "{}: {apart}", asset.name);
            }
            for (found, expected) in player.normals()[props..].iter().zip(&normals) {
                let apart = found.distance(*expected);
                assert!(apart < 1e-3, "{}: {found} {expected}", asset.name);
            }
        }
    }
}

/// For the validator of `.ci/validate-gltf`: writes every model in both ways, and the list of what
/// belongs together.
#[test]
fn models_are_written_out_where_a_folder_is_given() {
    let Some(folder) = std::env::var_os("SUPPLE_ROUNDTRIP_DIR") else {
        return;
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder).unwrap();
    let mut list = String::new();
    for path in common::models() {
        let Loaded {
            asset, document, ..
        } = gltf::load(&path).unwrap();
        let pose = some_pose(&asset);
        let player = posed_player(&asset, &pose);
        let posed = document.posed(&player, &pose).unwrap();
        let frames = as_morph_targets(&document, &asset);
        let rewritten = load_and_set_weights(&path).document;
        let original = path.canonicalize().unwrap();
        let mut documents = vec![
            (rewritten, "glb"),
            (posed, "posed.glb"),
            (frames, "frames.glb"),
        ];
        documents.extend(with_centers(&document, &asset).map(|baked| (baked, "baked.glb")));
        documents.extend(with_mush(&document, &asset).map(|baked| (baked, "mush.glb")));
        documents.extend(with_twist_joint(&document, &asset).map(|split| (split, "twist.glb")));
        documents.extend(with_binding(&document, &asset).map(|bound| (bound, "bound.glb")));
        documents.push((with_handles(&document, &asset), "handles.glb"));
        for (document, ending) in documents {
            let written = folder.join(format!("{}.{ending}", asset.name));
            std::fs::write(&written, document.to_glb().unwrap()).unwrap();
            list += &format!("{}\t{}\n", original.display(), written.display());
            let text = written.with_extension("gltf");
            std::fs::write(&text, document.to_gltf()).unwrap();
            list += &format!("{}\t{}\n", original.display(), text.display());
        }
    }
    for asset in built_in_characters() {
        let pose = some_pose(&asset);
        let player = posed_player(&asset, &pose);
        let new = Document::from_asset(&asset).unwrap();
        let posed = new.posed(&player, &pose).unwrap();
        let frames = as_morph_targets(&new, &asset);
        let baked = with_centers(&new, &asset).unwrap();
        let mush = with_mush(&new, &asset).unwrap();
        let split = with_twist_joint(&new, &asset);
        let bound = with_binding(&new, &asset).unwrap();
        let handles = with_handles(&new, &asset);
        let mut documents = vec![
            (new, "glb"),
            (posed, "posed.glb"),
            (frames, "frames.glb"),
            (baked, "baked.glb"),
            (mush, "mush.glb"),
            (bound, "bound.glb"),
            (handles, "handles.glb"),
        ];
        documents.extend(split.map(|split| (split, "twist.glb")));
        for (document, ending) in documents {
            let written = folder.join(format!("built-in-{}.{ending}", asset.name));
            std::fs::write(&written, document.to_glb().unwrap()).unwrap();
            list += &format!("-\t{}\n", written.display());
        }
    }
    std::fs::write(folder.join("pairs.txt"), list).unwrap();
}

fn built_in_characters() -> impl Iterator<Item = Asset> {
    Character::ALL
        .iter()
        .map(|character| characters::build(*character, 2_000).unwrap())
}

/// (joint, weight) of every vertex, in the order of names: loading puts the joints into another
/// order.
fn named_weights(asset: &Asset) -> Vec<Vec<(&str, f32)>> {
    let rig = &asset.rig;
    let of = |vertex: usize| {
        let influences = rig.weights().of(vertex);
        let named = influences.map(|i| (rig.skeleton().joint_name(i.joint), i.weight));
        let mut named: Vec<_> = named.collect();
        named.sort_by_key(|(name, _)| *name);
        named
    };
    (0..rig.mesh().vertex_count()).map(of).collect()
}

/// Curves that a file cannot hold are written as others that run the same way, so shapes are
/// compared, not clips.
#[test]
fn built_in_characters_come_back_from_new_files() {
    for asset in built_in_characters() {
        let document = Document::from_asset(&asset).unwrap();
        let bytes = document.to_glb().unwrap();
        let again = gltf::from_slice(&bytes, &asset.name).unwrap().asset;
        let in_memory = document.clone().read(&asset.name).unwrap();
        assert_same(&in_memory.asset, &again, "in memory");
        assert!(in_memory.document.to_glb().unwrap() == bytes);
        let (mesh, other) = (again.rig.mesh(), asset.rig.mesh());
        assert!(mesh == other, "{}: mesh", asset.name);
        assert_eq!(
            named_weights(&again),
            named_weights(&asset),
            "{}",
            asset.name
        );
        assert_eq!(again.clips.len(), asset.clips.len(), "{}", asset.name);
        let extent = asset.rig.mesh().extent();
        for (found, expected) in again.clips.iter().zip(&asset.clips) {
            assert_eq!(found.name, expected.name);
            for fraction in [0.0, 0.123, 0.5, 0.77, 1.0, 1.5] {
                let time = fraction * expected.duration();
                let found = posed_player(&again, &again.pose_at(found, time));
                let expected = posed_player(&asset, &asset.pose_at(expected, time));
                for (found, expected) in found.positions().iter().zip(expected.positions()) {
                    let error = found.distance(*expected) / extent;
                    assert!(
                        error < 1e-6,
                        "{} at {time} s is off by {error} of its extent",
                        asset.name
                    );
                }
            }
        }
        let pose = some_pose(&asset);
        let player = posed_player(&asset, &pose);
        let posed = document.posed(&player, &pose).unwrap();
        assert_posed(&posed, &pose, &player, &asset.name);
    }
}

/// The JSON of a file with every reference to numbers or images replaced by what it refers to.
fn resolved(json: &Value, bin: &[u8]) -> Value {
    let view = |index: &Value| {
        let mut view = json["bufferViews"][index.as_u64().unwrap() as usize].clone();
        let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
        let range = number("byteOffset")..number("byteOffset") + number("byteLength");
        let buffer = &json["buffers"][number("buffer")];
        let content = match buffer["uri"].as_str() {
            Some(uri) => STANDARD.decode(uri.split_once(',').unwrap().1).unwrap()[range].to_vec(),
            None => bin[range].to_vec(),
        };
        let object = view.as_object_mut().unwrap();
        object.shift_remove("byteOffset");
        object.shift_remove("buffer");
        object.insert("content".to_owned(), json!(content));
        view
    };
    let accessor = |index: &Value| {
        let mut accessor = json["accessors"][index.as_u64().unwrap() as usize].clone();
        for pointer in [
            "/bufferView",
            "/sparse/indices/bufferView",
            "/sparse/values/bufferView",
        ] {
            if let Some(reference) = accessor.pointer_mut(pointer) {
                *reference = view(reference);
            }
        }
        accessor
    };
    let mut result = json.clone();
    let each = |value: &mut Value, key: &str, change: &mut dyn FnMut(&mut Value)| {
        let list = value.get_mut(key).and_then(Value::as_array_mut);
        list.into_iter().flatten().for_each(change);
    };
    each(&mut result, "meshes", &mut |mesh| {
        each(mesh, "primitives", &mut |primitive| {
            let attributes = primitive["attributes"].as_object_mut().unwrap();
            attributes
                .retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
            attributes
                .values_mut()
                .for_each(|index| *index = accessor(index));
            if let Some(indices) = primitive.get_mut("indices") {
                *indices = accessor(indices);
            }
            each(primitive, "targets", &mut |target| {
                let attributes = target.as_object_mut().unwrap();
                attributes
                    .values_mut()
                    .for_each(|index| *index = accessor(index));
            });
        });
    });
    each(&mut result, "skins", &mut |skin| {
        skin["inverseBindMatrices"] = accessor(&skin["inverseBindMatrices"]);
    });
    each(&mut result, "animations", &mut |animation| {
        each(animation, "samplers", &mut |sampler| {
            for key in ["input", "output"] {
                sampler[key] = accessor(&sampler[key]);
            }
        });
    });
    each(&mut result, "images", &mut |image| {
        if let Some(index) = image.get_mut("bufferView") {
            *index = view(index);
        }
    });
    let root = result.as_object_mut().unwrap();
    for key in ["accessors", "bufferViews", "buffers"] {
        root.shift_remove(key);
    }
    result
}

#[track_caller]
fn assert_same_json(found: &Value, expected: &Value) {
    let (found, expected) = (found.as_object().unwrap(), expected.as_object().unwrap());
    let keys: Vec<_> = found.keys().collect();
    assert_eq!(keys, expected.keys().collect::<Vec<_>>());
    for (key, expected) in expected {
        assert_eq!(&found[key], expected, "{key}");
    }
}

/// Weights that the square does not have.
fn other_weights() -> Weights {
    let mut builder = WeightsBuilder::new(2).unwrap();
    for vertex in 0..4 {
        builder
            .push([(0, 0.25 * vertex as f32), (1, 0.5)], 0)
            .unwrap();
    }
    builder.finish().0
}

#[test]
fn setting_weights_keeps_everything_else_in_the_file() {
    // A file whose extensions are known is tidied; one with an unknown extension is only added to.
    for used in [
        json!(["KHR_materials_unlit"]),
        json!(["KHR_materials_unlit", "ACME_mark"]),
    ] {
        let mut file = Tiny::rich();
        file.json["extensionsUsed"] = used;
        let before = resolved(&file.json, &file.bin);
        let mut loaded = gltf::from_slice(&file.glb(), "rich").unwrap();
        loaded.document.set_weights(&other_weights()).unwrap();
        let bytes = loaded.document.to_glb().unwrap();
        let (json, bin) = open_glb(&bytes);
        assert_same_json(&resolved(&json, bin), &before);
        let buffers = json["buffers"].as_array().unwrap();
        assert_eq!(buffers.len(), 1);
        assert_eq!(buffers[0]["name"], "numbers");
        assert_eq!(buffers[0]["extras"], json!({ "kept": "yes" }));
        let gltf: Value = serde_json::from_slice(&loaded.document.to_gltf()).unwrap();
        assert_same_json(&resolved(&gltf, &[]), &before);
        let again = gltf::from_slice(&bytes, "rich").unwrap();
        assert!(again.asset.rig.weights() == &other_weights());
    }
}

#[test]
fn storing_centers_keeps_everything_else_in_the_file() {
    let forget_centers = |json: &mut Value| {
        let mesh = &mut json["meshes"][0];
        let attributes = mesh["primitives"][0]["attributes"].as_object_mut().unwrap();
        attributes.shift_remove(CENTER_ATTRIBUTE).unwrap();
        mesh["extras"]["supple"]
            .as_object_mut()
            .unwrap()
            .shift_remove("centerOfRotation")
            .unwrap();
    };
    for used in [
        json!(["KHR_materials_unlit"]),
        json!(["KHR_materials_unlit", "ACME_mark"]),
    ] {
        let mut file = Tiny::rich();
        file.json["extensionsUsed"] = used;
        let mut before = resolved(&file.json, &file.bin);
        forget_centers(&mut before);
        let loaded = gltf::from_slice(&file.glb(), "rich").unwrap();
        let baked = with_centers(&loaded.document, &loaded.asset).unwrap();
        let bytes = baked.to_glb().unwrap();
        let (json, bin) = open_glb(&bytes);
        let mut after = resolved(&json, bin);
        forget_centers(&mut after);
        assert_same_json(&after, &before);
        let again = gltf::from_slice(&bytes, "rich").unwrap();
        assert_same(&again.asset, &loaded.asset, "rich");
    }
}

#[test]
fn numbers_that_nothing_refers_to_are_dropped_unless_an_unknown_extension_might() {
    let unused = |used: Value| {
        let mut file = Tiny::rich();
        file.json["extensionsUsed"] = used;
        let mut loaded = gltf::from_slice(&file.glb(), "rich").unwrap();
        loaded.document.set_weights(&other_weights()).unwrap();
        let bytes = loaded.document.to_glb().unwrap();
        let accessors = open_glb(&bytes).0["accessors"].clone();
        let named = |accessor: &&Value| accessor["name"] == "nothing refers to this";
        accessors.as_array().unwrap().iter().filter(named).count()
    };
    assert_eq!(unused(json!(["KHR_materials_unlit"])), 0);
    assert_eq!(unused(json!(["KHR_materials_unlit", "ACME_mark"])), 1);
}

#[test]
fn chunks_of_other_kinds_are_kept() {
    let mut bytes = Tiny::rich().glb();
    let extra = b"\x04\0\0\0ACMEabcd";
    bytes.extend_from_slice(extra);
    let length = (bytes.len() as u32).to_le_bytes();
    bytes[8..12].copy_from_slice(&length);
    let written = gltf::from_slice(&bytes, "rich")
        .unwrap()
        .document
        .to_glb()
        .unwrap();
    assert!(written.ends_with(extra));
}

#[test]
fn files_beside_a_gltf_are_taken_into_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = Tiny::rich();
    let before = resolved(&file.json, &file.bin);
    file.json["buffers"][0]["uri"] = json!("rich%20numbers.bin");
    file.json["images"] = json!([
        { "name": "beside", "uri": "my%20picture.png", "extras": { "size": 3 } },
        { "name": "told by its type", "uri": "picture", "mimeType": "image/jpeg" },
        { "name": "lost", "uri": "lost.png" },
    ]);
    std::fs::write(folder.path().join("rich numbers.bin"), &file.bin).unwrap();
    std::fs::write(folder.path().join("my picture.png"), b"pixels").unwrap();
    std::fs::write(folder.path().join("picture"), b"more pixels").unwrap();
    let path = folder.path().join("rich.gltf");
    std::fs::write(&path, file.json.to_string()).unwrap();
    let mut loaded = gltf::load(&path).unwrap();
    loaded
        .document
        .set_weights(loaded.asset.rig.weights())
        .unwrap();
    drop(file);
    let bytes = loaded.document.to_glb().unwrap();
    let (json, bin) = open_glb(&bytes);
    let mut after = resolved(&json, bin);
    let images = after["images"].take();
    after["images"] = before["images"].clone();
    assert_same_json(&after, &before);
    let content = |index: usize| images[index]["bufferView"]["content"].clone();
    assert_eq!(content(0), json!(b"pixels"));
    assert_eq!(
        (&images[0]["mimeType"], &images[0]["name"]),
        (&json!("image/png"), &json!("beside"))
    );
    assert_eq!(images[0]["extras"], json!({ "size": 3 }));
    assert_eq!(images[0].get("uri"), None);
    assert_eq!(images[2], json!({ "name": "lost", "uri": "lost.png" }));
    assert_eq!(
        content(1),
        json!(b"more pixels"),
        "the type was given, if not by the name"
    );
    assert_eq!(images[1]["mimeType"], "image/jpeg");
}

#[test]
fn a_frozen_file_keeps_what_is_not_the_character() {
    let file = Tiny::rich();
    let before = resolved(&file.json, &file.bin);
    let Loaded {
        asset, document, ..
    } = gltf::from_slice(&file.glb(), "rich").unwrap();
    let pose = some_pose(&asset);
    let player = posed_player(&asset, &pose);
    let posed = document.posed(&player, &pose).unwrap();
    assert_posed(&posed, &pose, &player, "rich");
    let bytes = posed.to_glb().unwrap();
    let (json, bin) = open_glb(&bytes);
    let after = resolved(&json, bin);
    for key in [
        "asset",
        "scene",
        "cameras",
        "materials",
        "textures",
        "images",
        "samplers",
        "extras",
        "extensions",
    ] {
        assert_eq!(after[key], before[key], "{key}");
    }
    for gone in ["skins", "animations"] {
        assert_eq!(json.get(gone), None);
    }
    assert_eq!(
        after["meshes"][1], before["meshes"][1],
        "the mesh of a prop"
    );
    let (primitive, old) = (
        &after["meshes"][0]["primitives"][0],
        &before["meshes"][0]["primitives"][0],
    );
    for key in ["TEXCOORD_0", "COLOR_0", "_CUSTOM"] {
        assert_eq!(
            primitive["attributes"][key], old["attributes"][key],
            "{key}"
        );
    }
    for key in ["indices", "material", "extras", "extensions"] {
        assert_eq!(primitive[key], old[key], "{key}");
    }
    assert_eq!(primitive.get("targets"), None);
    assert_eq!(
        after["scenes"][1], before["scenes"][1],
        "a scene without nodes"
    );
    assert_eq!(after["scenes"][0]["nodes"], json!([0, 2, 3, 5]));
    assert_eq!(after["scenes"][0]["extras"], before["scenes"][0]["extras"]);
    assert_eq!(after["nodes"][3], before["nodes"][3], "the camera's node");
}

#[test]
fn nodes_that_share_a_mesh_are_frozen_each_in_its_own_shape() {
    let mut with_prop = Tiny::rich();
    with_prop.json["nodes"][4] = json!({ "name": "hat", "mesh": 0, "scale": [2.0, 2.0, 2.0] });
    let mut two_skinned = Tiny::rich();
    two_skinned.json["nodes"][4] = json!({ "name": "twin", "mesh": 0, "skin": 0 });
    let mut without_skin = Tiny::rich();
    let nodes = &mut without_skin.json["nodes"];
    nodes[2].as_object_mut().unwrap().shift_remove("skin");
    nodes[4] = json!({ "name": "twin", "mesh": 0, "translation": [0.0, 0.0, 1.0] });
    for (file, what) in [
        (with_prop, "a prop"),
        (two_skinned, "a twin"),
        (without_skin, "no skin"),
    ] {
        let Loaded {
            asset, document, ..
        } = gltf::from_slice(&file.glb(), what).unwrap();
        let pose = some_pose(&asset);
        let player = posed_player(&asset, &pose);
        let posed = document.posed(&player, &pose).unwrap();
        assert_posed(&posed, &pose, &player, what);
    }
}

#[test]
fn nodes_that_share_a_mesh_can_get_different_weights() {
    let mut file = Tiny::new();
    file.json["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "twin", "mesh": 0, "skin": 0 }));
    let mut loaded = gltf::from_slice(&file.glb(), "twins").unwrap();
    let mut builder = WeightsBuilder::new(2).unwrap();
    for vertex in 0..8 {
        builder.push([(vertex / 4, 1.0)], 0).unwrap();
    }
    let (weights, _) = builder.finish();
    loaded.document.set_weights(&weights).unwrap();
    let bytes = loaded.document.to_glb().unwrap();
    let again = gltf::from_slice(&bytes, "twins").unwrap();
    assert!(again.asset.rig.weights() == &weights);
    assert_eq!(open_glb(&bytes).0["meshes"].as_array().unwrap().len(), 2);
    // Back to the same weights: two meshes stay, and each is right.
    loaded
        .document
        .set_weights(loaded.asset.rig.weights())
        .unwrap();
    let again = gltf::from_slice(&loaded.document.to_glb().unwrap(), "twins").unwrap();
    assert_same(&again.asset, &loaded.asset, "twins");
}

/// Weights that bind every vertex to one joint.
fn all_on(joint: usize, joint_count: usize, vertices: usize) -> Weights {
    let mut builder = WeightsBuilder::new(joint_count).unwrap();
    for _ in 0..vertices {
        builder.push([(joint, 1.0)], 0).unwrap();
    }
    builder.finish().0
}

#[test]
fn weights_of_another_character_are_refused() {
    let mut loaded = gltf::from_slice(&Tiny::new().glb(), "tiny").unwrap();
    let error = loaded.document.set_weights(&all_on(8, 9, 1)).unwrap_err();
    assert!(
        matches!(
            error,
            SaveError::VertexCount {
                found: 1,
                expected: 4,
                ..
            }
        ),
        "{error}"
    );
    let error = loaded.document.set_weights(&all_on(8, 9, 4)).unwrap_err();
    assert!(
        matches!(
            error,
            SaveError::JointNotInSkin {
                vertex: 0,
                joint: 8,
                ..
            }
        ),
        "{error}"
    );
}

/// A second mesh, whose skin does not list the tip.
fn twins() -> Loaded {
    let mut file = Tiny::new();
    file.json["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "twin", "mesh": 0, "skin": 1 }));
    file.json["skins"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "joints": [0] }));
    let mesh = file.json["meshes"][0].clone();
    file.json["meshes"].as_array_mut().unwrap().push(mesh);
    file.json["nodes"][3]["mesh"] = json!(1);
    let alone = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(4));
    file.json["meshes"][1]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(alone);
    gltf::from_slice(&file.glb(), "twins").unwrap()
}

#[test]
fn refused_weights_leave_the_document_as_it_was() {
    let mut loaded = twins();
    let before = loaded.document.to_glb().unwrap();
    let tip = loaded.asset.rig.weights().of(2).next().unwrap().joint;
    let weights = all_on(tip, 3, 8);
    assert!(
        loaded.document.set_weights(&weights).is_err(),
        "the second skin does not list the tip"
    );
    assert!(loaded.document.to_glb().unwrap() == before);
}

#[test]
fn skins_come_to_list_what_a_new_binding_needs() {
    let mut loaded = twins();
    let rig = &loaded.asset.rig;
    let tip = rig.weights().of(2).next().unwrap().joint;
    let weights = all_on(tip, rig.skeleton().joints().len(), 8);
    let bound = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights).unwrap();
    loaded.document.set_binding(&bound).unwrap();
    let glb = loaded.document.to_glb().unwrap();
    let skins = open_glb(&glb).0["skins"].clone();
    assert_eq!(skins[1]["joints"], json!([0, 1]), "{skins}");
    let again = gltf::from_slice(&glb, "twins").unwrap().asset.rig;
    assert_eq!(again.weights(), bound.weights());
    assert_eq!(again.skeleton(), bound.skeleton());
}

#[test]
fn a_binding_of_another_character_is_refused() {
    let mut loaded = twins();
    let before = loaded.document.to_glb().unwrap();
    let mesh = loaded.asset.rig.mesh().clone();
    let node = |parent| Node {
        name: String::new(),
        parent,
        rest: Local::Trs(Trs::from_translation(DVec3::ZERO)),
    };
    let nodes = (0..9usize)
        .map(|index| node(index.checked_sub(1)))
        .collect();
    let skeleton = Skeleton::bound_at_rest(nodes, &[7, 8]).unwrap();
    let other = Rig::new(mesh, skeleton, all_on(1, 2, 8)).unwrap();
    let refused = loaded.document.set_binding(&other);
    assert_eq!(refused, Err(SaveError::OtherSkeleton));
    assert!(loaded.document.to_glb().unwrap() == before);
}

#[test]
fn a_new_document_gives_the_character_back() {
    let Loaded { asset, .. } = gltf::from_slice(&Tiny::new().glb(), "tiny").unwrap();
    let document = Document::from_asset(&asset).unwrap();
    let again = gltf::from_slice(&document.to_glb().unwrap(), "tiny")
        .unwrap()
        .asset;
    assert!(again.rig.mesh() == asset.rig.mesh());
    assert!(again.rig.weights() == asset.rig.weights());
    assert!(again.clips == asset.clips);
    let names = |asset: &Asset| {
        let joints = 0..asset.rig.skeleton().joints().len();
        joints
            .map(|joint| asset.rig.skeleton().joint_name(joint).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&again), names(&asset));
    let (posed, expected) = (some_pose(&again), some_pose(&asset));
    assert!(
        again.rig.skeleton().palette(&posed).unwrap()
            == asset.rig.skeleton().palette(&expected).unwrap()
    );
}

#[test]
fn a_scene_that_lists_a_node_below_the_top_still_shows_the_frozen_mesh() {
    let mut file = Tiny::new();
    let character = file.json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .position(|node| node["mesh"].is_u64());
    let character = character.unwrap();
    let above = json!({ "name": "above", "children": [character] });
    file.json["nodes"].as_array_mut().unwrap().push(above);
    file.json["scenes"] = json!([{ "nodes": [character] }]);
    let Loaded {
        asset, document, ..
    } = gltf::from_slice(&file.glb(), "listed").unwrap();
    let pose = asset.rest_pose();
    let posed = document.posed(&posed_player(&asset, &pose), &pose).unwrap();
    let bytes = posed.to_glb().unwrap();
    let (json, _) = open_glb(&bytes);
    let shown: Vec<u64> = json["scenes"][0]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    assert!(
        shown
            .iter()
            .any(|&node| json["nodes"][node as usize]["mesh"].is_u64()),
        "{json}"
    );
}

#[test]
fn lists_that_become_empty_are_left_out() {
    // An unskinned triangle whose positions are all zero: nothing is stored at all.
    let json = json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [
            {
                "componentType": 5126, "count": 3, "type": "VEC3",
                "min": [0, 0, 0], "max": [0, 0, 0],
            },
            { "componentType": 5126, "count": 1, "type": "SCALAR", "bufferView": 0 },
        ],
        "bufferViews": [{ "buffer": 0, "byteLength": 4 }],
        "buffers": [{ "byteLength": 4, "uri": "data:application/octet-stream;base64,AAAAAA==" }],
    });
    let mut loaded = gltf::from_slice(json.to_string().as_bytes(), "zeros").unwrap();
    loaded
        .document
        .set_weights(loaded.asset.rig.weights())
        .unwrap();
    let written: Value = serde_json::from_slice(&loaded.document.to_gltf()).unwrap();
    assert_eq!(written["accessors"].as_array().unwrap().len(), 1);
    for gone in ["bufferViews", "buffers"] {
        assert_eq!(written.get(gone), None, "{gone}");
    }
}
