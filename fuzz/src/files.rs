//! Targets over glTF files: whatever loads must be written so that it loads again, the same.

use crate::input::Input;
use crate::{bindings, documents, methods, plain, rigs};
use crate::tiny::Tiny;
use serde_json::json;
use supple::centers::{CenterOptions, Centers};
use supple::deform::{BakedData, DirectDeltaMush, MushVariant};
use supple::findings::Findings;
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, place_handles};
use supple::twist::{TwistOptions, split};
use supple::bind::{BindMethod, bind_groups};
use supple::{Asset, Method, Normals, Player, Pose, Rig, Skin};
use supple_io::gltf::{self, Document, Loaded, StoredCenters, StoredMush, StoredState};

/// The name that files are read under; what is written is read under the same.
const NAME: &str = "fuzz";

/// Characters with fewer vertices than this are bound and posed by any method.
const SMALL: usize = 100;

/// Any bytes as a file.
pub fn file(data: &[u8]) {
    let Ok(loaded) = gltf::from_slice(data, NAME) else {
        return;
    };
    // Nothing in the bytes says what to do with the file: their hash decides.
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let choices = [hash, hash.rotate_left(17), hash.rotate_left(41)].map(u64::to_le_bytes);
    use_loaded(loaded, &mut Input::new(choices.as_flattened()));
}

/// Mutations of small valid documents.
pub fn json(data: &[u8]) {
    let mut input = Input::new(data);
    let base = input.pick(documents::all());
    let bytes = documents::mutated(&mut input, base);
    use_file(&bytes, &mut input);
}

/// The same of documents with stored centers of rotation and stored bakes of direct delta mush.
pub fn stored(data: &[u8]) {
    let mut input = Input::new(data);
    let base = input.pick(documents::stored());
    let bytes = documents::mutated(&mut input, base);
    let Ok(loaded) = gltf::from_slice(&bytes, NAME) else {
        return;
    };
    let (centers, mush) = (&loaded.stored_centers, &loaded.stored_mush);
    let baked = BakedData {
        centers: centers.as_ref().and_then(StoredCenters::fitting).cloned(),
        mush: mush.as_ref().and_then(StoredMush::fitting).cloned(),
        ..BakedData::default()
    };
    let methods = [
        loaded.stored_centers.as_ref().map(|stored| {
            let method = input.pick(Method::ALL);
            stored.with_stored_options(method)
        }),
        baked.mush.as_ref().map(|_| {
            Method::DirectDeltaMush(DirectDeltaMush {
                variant: *input.pick(&MushVariant::ALL),
                ..DirectDeltaMush::default()
            })
        }),
    ];
    for method in methods.into_iter().flatten() {
        let skin = Skin::bake_with(&loaded.asset.rig, &method, Normals::Transported, &baked);
        if let Ok(mut player) = skin.and_then(|skin| Player::with_skin(&loaded.asset, skin)) {
            let _ = player.pose(&some_pose(&mut input, &loaded.asset));
        }
    }
    use_loaded(loaded, &mut input);
}

fn use_file(bytes: &[u8], input: &mut Input) {
    if let Ok(loaded) = gltf::from_slice(bytes, NAME) {
        use_loaded(loaded, input);
    }
}

/// Writes what was loaded as it is, then changes it in one of the ways there are.
fn use_loaded(loaded: Loaded, input: &mut Input) {
    let written = match input.rarely(4) {
        true => loaded.document.to_gltf(),
        false => loaded.document.to_glb().expect("a small file"),
    };
    let again = gltf::from_slice(&written, NAME).expect("what was written unchanged");
    assert_eq!(again.asset, loaded.asset);
    assert_eq!(again.notes, loaded.notes);
    assert_eq!(again.stored_centers, loaded.stored_centers);
    assert_eq!(again.stored_mush, loaded.stored_mush);
    change(loaded, input);
}

/// Reads what was written after a change; none if it was refused on writing.
#[track_caller]
fn read_changed(document: &Document) -> Option<Loaded> {
    let written = document.to_glb().ok()?;
    Some(gltf::from_slice(&written, NAME).expect("what was written after a change"))
}

fn some_pose(input: &mut Input, asset: &Asset) -> Pose {
    match asset.clips.get(input.below(4)) {
        Some(clip) => {
            let time = match input.below(3) {
                0 => 0.5 * (clip.start() + clip.duration()),
                1 => clip.duration() / 3.0,
                _ => input.any_double(),
            };
            asset.pose_at(clip, time)
        }
        None => asset.rest_pose(),
    }
}

fn change(loaded: Loaded, input: &mut Input) {
    let Loaded {
        asset,
        mut document,
        notes,
        ..
    } = loaded;
    let rig = &asset.rig;
    let joints = rig.skeleton().joints().len();
    match input.below(10) {
        0 => {
            let weights = match input.below(5) {
                0 => rig.weights().clone(),
                most => rig.weights().limited(most),
            };
            document.set_weights(&weights).expect("the file's joints");
            if let Some(again) = read_changed(&document).filter(|_| !notes.unskinned) {
                assert_eq!(*again.asset.rig.weights(), weights);
            }
        }
        1 => {
            let method = match rig.mesh().vertex_count() {
                0..SMALL => methods::method(input),
                _ => input.pick(&[Method::Linear, Method::Spherical]).clone(),
            };
            let pose = some_pose(input, &asset);
            let Ok(mut player) = Player::new(&asset, &method, Normals::Transported) else {
                return;
            };
            if player.pose(&pose).is_err() {
                return;
            }
            if player.first_not_finite().is_none() {
                surfaces(&player);
            }
            if let Ok(posed) = document.posed(&player, &pose) {
                read_changed(&posed);
            }
        }
        2 => {
            let pose = some_pose(input, &asset);
            if document.set_pose(&asset, &pose).is_ok() {
                read_changed(&document);
            }
        }
        3 => {
            let (mesh, weights) = (rig.mesh(), rig.weights());
            let centers = match input.flag() {
                true => Centers::bake(mesh, weights, &CenterOptions::PAPER),
                false => Centers::from_points(mesh.positions(), mesh, weights),
            };
            let centers = centers.expect("options of the paper");
            let options = CenterOptions::PAPER;
            if document.set_centers(rig, &centers, &options).is_ok()
                && let Some(again) = read_changed(&document)
                && rig.mesh().vertex_count() > 0
            {
                let stored = again.stored_centers.expect("centers were stored");
                assert_eq!(stored.state, StoredState::Fit);
            }
        }
        4 => {
            let options = MushOptions {
                iterations: input.below(4) as u32,
                rigid: input.flag(),
                ..MushOptions::default()
            };
            let Ok(baked) = Mush::bake(rig, &options) else {
                return;
            };
            let most = 1 + input.below(5);
            let set = match input.rarely(4) {
                true => document.set_skin_of_mush(rig, &baked.mush, most),
                false => {
                    let stored = document.set_mush(rig, &baked.mush, &options, most);
                    stored.map(|stored| assert_eq!(stored.state, StoredState::Fit))
                }
            };
            if set.is_ok() {
                read_changed(&document);
            }
        }
        5 => {
            if rig.mesh().vertex_count() > SMALL {
                return;
            }
            let Ok(surface) = document.surface_at_rest(rig) else {
                return;
            };
            let vertices = surface.positions().len().max(1);
            let given = (0..1 + input.below(3)).filter_map(|_| {
                let place = surface.positions().get(input.below(vertices))?;
                Some(place.as_dvec3())
            });
            let options = HandleOptions {
                automatic: false,
                given: given.collect(),
                ..HandleOptions::default()
            };
            let Ok(handles) = place_handles(&surface, &options) else {
                return;
            };
            let Ok(bound) = handles.bind(&surface, &BindMethod::Rigid, &|_| {}) else {
                return;
            };
            if let Ok(with) = document.with_point_handles(rig, &handles, &bound.weights) {
                read_changed(&with.document);
            }
        }
        6 => {
            let Ok(twisted) = split(&asset, input.below(joints.max(1)), &TwistOptions::default())
            else {
                return;
            };
            if document.add_twist_joint(&twisted).is_ok()
                && let Some(again) = read_changed(&document)
            {
                assert_eq!(again.asset.rig.weights(), twisted.asset.rig.weights());
            }
        }
        7 => {
            let groups = document.bind_groups(rig.mesh(), rig.skeleton());
            let groups = groups.expect("the file's own character");
            let method = match rig.mesh().vertex_count() {
                0..SMALL => bindings::method(input),
                _ => BindMethod::Rigid,
            };
            let bound = bind_groups(rig.mesh(), rig.skeleton(), &groups, &method, &|_| {});
            let Ok(bound) = bound else {
                return;
            };
            let (mesh, skeleton) = (rig.mesh().clone(), rig.skeleton().clone());
            let Ok(bound) = Rig::new(mesh, skeleton, bound.weights) else {
                return;
            };
            if document.set_binding(&bound).is_ok() {
                read_changed(&document);
            }
        }
        8 => {
            document.embed_images();
            document.twist_joints();
            document.pseudo_edges();
            document.bad_pseudo_edges();
            Findings::of(rig, &asset.parts);
            supple::quality::WeightQuality::of(rig);
        }
        _ => {
            let written = Document::from_asset(&asset);
            if let Some(again) = written.ok().as_ref().and_then(read_changed) {
                assert_eq!(again.asset.rig.mesh().positions(), rig.mesh().positions());
                assert_eq!(again.asset.rig.mesh().triangles(), rig.mesh().triangles());
                if !rigs::binds_a_node_twice(rig.skeleton()) {
                    assert_eq!(again.asset.rig.weights(), rig.weights());
                }
            }
        }
    }
}

/// Every format for surfaces holds what it was given.
fn surfaces(player: &Player) {
    let (positions, normals) = (player.positions(), player.normals());
    let triangles = player.triangles();
    crate::writers::check(positions, normals, &triangles);
}

/// Any description of an accessor, over any bytes.
pub fn accessors(data: &[u8]) {
    let mut input = Input::new(data);
    let mut file = Tiny {
        json: json!({
            "asset": { "version": "2.0" },
            "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "mode": 0 }] }],
            "accessors": [accessor(&mut input)],
            "bufferViews": (0..3).map(|_| view(&mut input)).collect::<Vec<_>>(),
            "buffers": [{ "byteLength": 0 }],
        }),
        bin: Vec::new(),
    };
    let claimed = input.below(4);
    file.bin = input.rest().to_vec();
    file.bin.truncate(512);
    // Now and then less than is there, or more.
    let length = (file.bin.len() + usize::from(claimed == 2)) >> usize::from(claimed == 3);
    file.json["buffers"][0]["byteLength"] = json!(length);
    let bytes = file.glb();
    if let Ok(loaded) = gltf::from_slice(&bytes, NAME) {
        let numbers = plain::accessor(&file.json, &file.bin, 0).expect("what was read is there");
        let positions = loaded.asset.rig.mesh().positions();
        let found: Vec<u32> = (positions.iter())
            .flat_map(|place| place.to_array().map(f32::to_bits))
            .collect();
        let expected: Vec<u32> = numbers
            .iter()
            .map(|&number| (number as f32).to_bits())
            .collect();
        assert_eq!(found, expected);
        use_loaded(loaded, &mut Input::new(&[]));
    }
}

fn count(input: &mut Input) -> u64 {
    match input.below(16) {
        0 => input.word(),
        1 => u64::MAX - input.below(16) as u64,
        2 => input.below(1 << 18) as u64,
        _ => input.below(48) as u64,
    }
}

fn component(input: &mut Input) -> u32 {
    *input.pick(&[5126, 5120, 5121, 5122, 5123, 5125, 5126, 5124])
}

fn accessor(input: &mut Input) -> serde_json::Value {
    let mut json = json!({
        "componentType": component(input),
        "count": count(input),
        "type": *input.pick(&["VEC3", "VEC3", "VEC3", "VEC3", "VEC3", "SCALAR", "VEC4", "MAT3"]),
    });
    if !input.rarely(8) {
        json["bufferView"] = json!(input.below(4));
    }
    if input.flag() {
        json["byteOffset"] = json!(count(input));
    }
    if input.flag() {
        json["normalized"] = json!(input.flag());
    }
    if input.flag() {
        json["sparse"] = json!({
            "count": count(input),
            "indices": {
                "bufferView": input.below(4), "byteOffset": count(input),
                "componentType": component(input),
            },
            "values": { "bufferView": input.below(4), "byteOffset": count(input) },
        });
    }
    json
}

fn view(input: &mut Input) -> serde_json::Value {
    let mut json = json!({ "buffer": 0, "byteLength": count(input).saturating_mul(8) });
    if input.flag() {
        json["byteOffset"] = json!(count(input));
    }
    if input.rarely(3) {
        json["byteStride"] = json!(count(input));
    }
    if input.rarely(16) {
        json["buffer"] = json!(1);
    }
    json
}

/// Sets of joints and weights, of every type.
pub fn weights(data: &[u8]) {
    let mut input = Input::new(data);
    let mut file = Tiny::new();
    let sets = 1 + input.below(3);
    for set in 0..sets {
        let kind = *input.pick(&[5121, 5123, 5125]);
        let joints = numbers(&mut input, kind, |input| match input.rarely(16) {
            true => input.any_number(),
            false => input.below(3) as f32,
        });
        let joints = file.append("VEC4", kind, 4, &joints);
        let kind = *input.pick(&[5126, 5126, 5121, 5123, 5120, 5122]);
        let weights = numbers(&mut input, kind, |input| match input.rarely(8) {
            true => input.any_number(),
            false => f32::from(input.byte()) / 255.0,
        });
        let weights = file.append("VEC4", kind, 4, &weights);
        file.json["accessors"][weights]["normalized"] = json!(!input.rarely(4));
        // Now and then a gap in the numbering, or one half of a set.
        let set = set + usize::from(input.rarely(16));
        if !input.rarely(16) {
            file.set_attribute(&format!("JOINTS_{set}"), joints);
        }
        if !input.rarely(16) {
            file.set_attribute(&format!("WEIGHTS_{set}"), weights);
        }
    }
    let Ok(loaded) = gltf::from_slice(&file.glb(), NAME) else {
        return;
    };
    let expected = plain::weights(&file);
    let weights = loaded.asset.rig.weights();
    for vertex in 0..4 {
        crate::methods::check_row(weights, vertex);
        let expected = &expected[vertex];
        let sum: f64 = expected.iter().sum();
        if sum < 1e-30 {
            continue;
        }
        for (joint, &weight) in expected.iter().enumerate() {
            let found = f64::from(weights.weight_of(vertex, joint));
            let off = (found - weight / sum).abs();
            assert!(
                off < 2e-7,
                "vertex {vertex}, joint {joint}: {found}, {weight} of {sum}"
            );
        }
    }
    use_loaded(loaded, &mut input);
}

/// Sixteen numbers in a component type.
fn numbers(input: &mut Input, kind: u32, mut number: impl FnMut(&mut Input) -> f32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..16 {
        let number = number(input);
        match kind {
            5120 | 5121 => bytes.push(match number > 0.0 && number < 1.0 {
                true => (number * 255.0) as u8,
                false => number as u8,
            }),
            5122 | 5123 => {
                let whole = match number > 0.0 && number < 1.0 {
                    true => (number * 65_535.0) as u16,
                    false => number as u16,
                };
                bytes.extend_from_slice(&whole.to_le_bytes());
            }
            5125 => bytes.extend_from_slice(&(number as u32).to_le_bytes()),
            _ => bytes.extend_from_slice(&number.to_le_bytes()),
        }
    }
    bytes
}
