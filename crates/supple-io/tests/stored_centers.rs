//! Centers of rotation in files: they come back, are told apart from stale ones, and nothing else
//! changes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use glam::{DAffine3, Mat4, Quat, Vec3};
use serde_json::{Value, json};
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::deform::{BakedData, CentersOfRotation};
use supple::weights::WeightsBuilder;
use supple::{Asset, Bounds, Method, Normals, Player, Pose, Rig, Skin};
use supple_io::gltf::{self, CENTER_ATTRIBUTE, Document, Loaded, SaveError, StoredState};
use tiny::{INDICES, POSITION, Tiny, UNSIGNED_BYTE, WEIGHTS, changed, load, open_glb};

const PAPER: CenterOptions = CenterOptions::PAPER;

fn centers_of(rig: &Rig, options: &CenterOptions) -> Centers {
    Centers::bake(rig.mesh(), rig.weights(), options).unwrap()
}

fn bake(document: &mut Document, rig: &Rig, options: &CenterOptions) {
    let centers = centers_of(rig, options);
    document.set_centers(rig, &centers, options).unwrap();
}

fn state(loaded: &Loaded) -> Option<StoredState> {
    Some(loaded.stored_centers.as_ref()?.state.clone())
}

/// The first clip somewhere inside, or the rest pose.
fn posed(asset: &Asset, method: &Method, baked: &BakedData) -> Vec<Vec3> {
    let pose = match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, 0.37 * clip.duration()),
        None => asset.rest_pose(),
    };
    let skin = Skin::bake_with(&asset.rig, method, Normals::Transported, baked).unwrap();
    let mut player = Player::with_skin(asset, skin).unwrap();
    player.pose(&pose).unwrap();
    player.positions().to_vec()
}

/// Stores centers, reads them back and turns about them: as if they had just been computed.
fn check_round_trip(asset: &Asset, document: &Document) {
    let name = &asset.name;
    let mut baked = document.clone();
    bake(&mut baked, &asset.rig, &PAPER);
    let cor: Method = "cor".parse().unwrap();
    let extent = asset.rig.mesh().extent();
    let expected = posed(asset, &cor, &BakedData::default());
    for bytes in [baked.to_glb().unwrap(), baked.to_gltf()] {
        let mut again = gltf::from_slice(&bytes, name).unwrap();
        let stored = again.stored_centers.clone().unwrap();
        assert_eq!(stored.state, StoredState::Fit, "{name}");
        assert_eq!(stored.options, Some(PAPER), "{name}");
        let data = BakedData {
            centers: stored.fitting().cloned(),
            ..BakedData::default()
        };
        assert!(data.centers.is_some());
        for (found, expected) in posed(&again.asset, &cor, &data).iter().zip(&expected) {
            assert!(found.distance(*expected) <= 1e-6 * extent, "{name}");
        }
        // Clean weights are the weights that were loaded.
        again
            .document
            .set_weights(again.asset.rig.weights())
            .unwrap();
        let converted = gltf::from_slice(&again.document.to_glb().unwrap(), name).unwrap();
        assert_eq!(state(&converted), Some(StoredState::Fit), "{name}");
        // Once more: nothing is left of the first time.
        let mut twice = gltf::from_slice(&bytes, name).unwrap().document;
        bake(&mut twice, &again.asset.rig, &PAPER);
        assert_eq!(twice.to_glb().unwrap(), baked.to_glb().unwrap(), "{name}");
    }
}

#[test]
fn centers_of_every_model_come_back_and_fit() {
    for path in common::models() {
        let loaded = gltf::load(&path).unwrap();
        assert_eq!(loaded.stored_centers, None);
        if !loaded.notes.unskinned {
            check_round_trip(&loaded.asset, &loaded.document);
        }
    }
}

#[test]
fn centers_of_built_in_characters_come_back_and_fit() {
    for character in Character::ALL {
        let asset = characters::build(*character, 2_000).unwrap();
        check_round_trip(&asset, &Document::from_asset(&asset).unwrap());
    }
}

/// A small file with centers.
fn baked_tiny() -> Tiny {
    let mut loaded = load(&Tiny::new()).unwrap();
    bake(&mut loaded.document, &loaded.asset.rig, &PAPER);
    Tiny::of(&loaded.document)
}

#[test]
fn the_attribute_is_three_floats_and_the_extras_say_from_what() {
    let mut file = baked_tiny();
    let accessor = file.primitive()["attributes"][CENTER_ATTRIBUTE]
        .as_u64()
        .unwrap() as usize;
    let accessor = &file.json["accessors"][accessor];
    let expected = json!({
        "componentType": 5126, "count": 4, "type": "VEC3", "bufferView": accessor["bufferView"],
    });
    assert_eq!(accessor, &expected);
    let loaded = load(&file).unwrap();
    let rig = &loaded.asset.rig;
    let source = format!("{:016x}", PAPER.fingerprint(rig));
    let record = json!({ "sigma": 0.1, "epsilon": 0.1, "accuracy": 3e-5, "source": source });
    let extras = json!({ "supple": { "centerOfRotation": record } });
    assert_eq!(file.json["meshes"][0]["extras"], extras);
    // Two vertices follow one joint, two have a center.
    let stored = loaded.stored_centers.unwrap();
    let found: Vec<bool> = stored
        .centers
        .points()
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(found, [false, false, true, true]);
    assert!(*stored.centers == centers_of(rig, &PAPER));
}

/// `docs/centers-in-gltf.md`, step by step, with what any engine reads from the file: the surface
/// in a pose.
fn by_the_page(asset: &Asset, bytes: &[u8], pose: &Pose) -> Vec<Vec3> {
    let (json, bin) = open_glb(bytes);
    let index = |value: &Value| value.as_u64().unwrap() as usize;
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    let accessor = &json["accessors"][index(&attributes[CENTER_ATTRIBUTE])];
    let view = &json["bufferViews"][index(&accessor["bufferView"])];
    let bytes = &bin[index(&view["byteOffset"])..][..12 * index(&accessor["count"])];
    let numbers = bytes.as_chunks::<4>().0.iter();
    let numbers: Vec<f32> = numbers.map(|four| f32::from_le_bytes(*four)).collect();
    let centers = numbers
        .as_chunks::<3>()
        .0
        .iter()
        .map(|three| Vec3::from(*three));

    let palette = asset.rig.skeleton().palette(pose).unwrap();
    let matrices = palette.posed_from_bind.iter();
    let matrices: Vec<Mat4> = matrices
        .map(|joint| Mat4::from(DAffine3::from(*joint).as_affine3a()))
        .collect();
    // What all joints share.
    let determinant = matrices[0].determinant();
    let scale = determinant.abs().cbrt();
    let common = Vec3::new(scale * determinant.signum(), scale, scale);
    let matrices = matrices
        .iter()
        .map(|matrix| Mat4::from_scale(common.recip()) * *matrix);
    let matrices: Vec<Mat4> = matrices.collect();
    let rotations: Vec<Quat> = matrices.iter().map(Quat::from_mat4).collect();

    let vertices = asset.rig.mesh().positions().iter().zip(centers).enumerate();
    let surface = vertices.map(|(vertex, (&position, center))| {
        let (mut q, mut m) = (Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Mat4::ZERO);
        for influence in asset.rig.weights().of(vertex) {
            let rotation = rotations[influence.joint];
            let sign = if q.dot(rotation) < 0.0 { -1.0 } else { 1.0 };
            q += rotation * (sign * influence.weight);
            m += matrices[influence.joint] * influence.weight;
        }
        common * (q.normalize() * (position - center) + m.transform_point3(center))
    });
    surface.collect()
}

#[test]
fn an_engine_that_follows_the_page_gets_the_same_surface() {
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let plain = Document::from_asset(&bar).unwrap().to_glb().unwrap();
    let mut files = vec![gltf::from_slice(&plain, "bar").unwrap()];
    for scale in [[100.0; 3], [-0.01, 0.01, 0.01]] {
        let scaled = Tiny::opened(&plain).under_a_scaled_node(scale);
        files.push(load(&scaled).unwrap());
    }
    files.extend(common::quantized_model().map(|path| gltf::load(&path).unwrap()));
    for mut file in files {
        bake(&mut file.document, &file.asset.rig, &PAPER);
        let asset = &file.asset;
        let clip = &asset.clips[0];
        let pose = asset.pose_at(clip, 0.4 * clip.duration());
        let bytes = file.document.to_glb().unwrap();
        let found = by_the_page(asset, &bytes, &pose);
        let mut player = Player::new(asset, &"cor".parse().unwrap(), Normals::Transported).unwrap();
        player.pose(&pose).unwrap();
        assert_eq!(found.len(), player.positions().len());
        let extent = Bounds::around(found.iter().copied()).unwrap().extent();
        for (vertex, (found, expected)) in found.iter().zip(player.positions()).enumerate() {
            assert!(
                found.distance(*expected) < 3e-6 * extent,
                "{}, vertex {vertex}: {found}, {expected}",
                asset.name
            );
        }
    }
}

type Change = fn(&mut Tiny);

#[test]
fn centers_are_stale_once_anything_changed_that_they_depend_on() {
    let changes: [(&str, Change); 6] = [
        ("a position", |file| file.set_float(POSITION, 3, 1.0001)),
        ("a weight", |file| file.set_float(WEIGHTS, 8, 0.26)),
        ("a triangle", |file| file.bytes(INDICES)[0] = 1),
        ("the options", |file| {
            file.json["meshes"][0]["extras"]["supple"]["centerOfRotation"]["sigma"] = json!(0.11);
        }),
        ("the source", |file| {
            file.json["meshes"][0]["extras"]["supple"]["centerOfRotation"]["source"] = json!("no");
        }),
        ("another mesh", Tiny::repeat_mesh),
    ];
    for (what, change) in changes {
        let mut file = baked_tiny();
        assert_eq!(state(&load(&file).unwrap()), Some(StoredState::Fit));
        change(&mut file);
        assert_eq!(
            state(&load(&file).unwrap()),
            Some(StoredState::Stale),
            "{what}"
        );
    }
    // What they do not depend on.
    let mut file = baked_tiny();
    file.json["nodes"][1]["translation"] = json!([0.0, 3.0, 0.0]);
    file.json["animations"] = json!([]);
    assert_eq!(state(&load(&file).unwrap()), Some(StoredState::Fit));
    // Other weights, written by Supple itself.
    let mut loaded = load(&baked_tiny()).unwrap();
    let mut builder = WeightsBuilder::new(2).unwrap();
    for vertex in 0..4 {
        let row = [(0, 0.25 * vertex as f32), (1, 0.5)];
        builder.push(row, 0).unwrap();
    }
    loaded.document.set_weights(&builder.finish().0).unwrap();
    let again = gltf::from_slice(&loaded.document.to_glb().unwrap(), "tiny").unwrap();
    assert_eq!(state(&again), Some(StoredState::Stale));
}

#[test]
fn a_method_takes_stored_centers_only_if_they_serve_it() {
    let stored = |file: &Tiny| load(file).unwrap().stored_centers.unwrap();
    let cor: Method = "cor:per-joint".parse().unwrap();
    let of = |centers: CenterOptions| match cor.clone() {
        Method::CentersOfRotation(options) => {
            Method::CentersOfRotation(CentersOfRotation { centers, ..options })
        }
        other => panic!("{other}"),
    };
    let fit = stored(&baked_tiny());
    assert_eq!(fit.fitting(), Some(&fit.centers));
    for method in Method::ALL {
        assert_eq!(fit.with_stored_options(method), *method, "{method}");
    }
    let others = of(CenterOptions {
        sigma: 0.3,
        ..PAPER
    });
    // Stale: computed by the options of the file.
    let stale = stored(&Tiny::rich());
    assert_eq!(stale.state, StoredState::Stale);
    let options = stale.options.unwrap();
    assert_eq!(stale.fitting(), None);
    assert_ne!(options, PAPER);
    assert_eq!(stale.with_stored_options(&cor), of(options));
    assert_eq!(stale.with_stored_options(&others), others, "asked for");
    // What never is in a file is computed by its options, too.
    let fitted: Method = "cor-procrustes".parse().unwrap();
    let computed = stale.with_stored_options(&fitted);
    assert_eq!(computed, Method::CorProcrustes(options));
}

#[test]
fn baking_again_replaces_centers_and_options_and_keeps_other_extras() {
    let mut loaded = load(&Tiny::rich()).unwrap();
    let accessors = |document: &Document| {
        let bytes = document.to_glb().unwrap();
        let (json, bin) = open_glb(&bytes);
        (json["accessors"].as_array().unwrap().len(), bin.len())
    };
    bake(&mut loaded.document, &loaded.asset.rig, &PAPER);
    let once = accessors(&loaded.document);
    let wider = CenterOptions {
        sigma: 0.3,
        ..PAPER
    };
    bake(&mut loaded.document, &loaded.asset.rig, &wider);
    assert_eq!(accessors(&loaded.document), once);
    let bytes = loaded.document.to_glb().unwrap();
    let again = gltf::from_slice(&bytes, "rich").unwrap();
    assert_eq!(state(&again), Some(StoredState::Fit));
    let stored = again.stored_centers.unwrap();
    assert_eq!(stored.options, Some(wider));
    assert!(*stored.centers == centers_of(&loaded.asset.rig, &wider));
    let extras = &open_glb(&bytes).0["meshes"][0]["extras"];
    assert_eq!(extras["targetNames"], json!(["up", "corner"]));
    assert_eq!(extras["supple"]["what"], "a later release may write");
}

#[test]
fn a_posed_file_holds_no_centers() {
    for (file, extras) in [
        (baked_tiny(), Value::Null),
        (
            Tiny::rich(),
            json!({
                "targetNames": ["up", "corner"],
                "supple": { "what": "a later release may write" },
            }),
        ),
    ] {
        let loaded = load(&file).unwrap();
        let pose = loaded.asset.rest_pose();
        let mut player = Player::new(&loaded.asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(&pose).unwrap();
        let posed = loaded.document.posed(&player, &pose).unwrap();
        let bytes = posed.to_glb().unwrap();
        let (json, _) = open_glb(&bytes);
        assert!(!json.to_string().contains(CENTER_ATTRIBUTE));
        assert_eq!(json["meshes"][0]["extras"], extras);
    }
    // Extras that were empty before are none of our business.
    let mut file = Tiny::new();
    file.json["meshes"][0]["extras"] = json!({});
    let loaded = load(&file).unwrap();
    let mut player = Player::new(&loaded.asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(&loaded.asset.rest_pose()).unwrap();
    let posed = loaded.document.posed(&player, &loaded.asset.rest_pose());
    let bytes = posed.unwrap().to_glb().unwrap();
    assert_eq!(open_glb(&bytes).0["meshes"][0]["extras"], json!({}));
}

#[test]
fn nodes_that_share_a_mesh_share_centers_unless_these_differ() {
    let mut loaded = load(&Tiny::twins()).unwrap();
    bake(&mut loaded.document, &loaded.asset.rig, &PAPER);
    let bytes = loaded.document.to_glb().unwrap();
    assert_eq!(open_glb(&bytes).0["meshes"].as_array().unwrap().len(), 1);
    assert_eq!(
        state(&gltf::from_slice(&bytes, "twins").unwrap()),
        Some(StoredState::Fit)
    );

    let mut loaded = load(&Tiny::twins()).unwrap();
    let rig = &loaded.asset.rig;
    let points: Vec<Vec3> = (0..8).map(|vertex| Vec3::splat(vertex as f32)).collect();
    let centers = Centers::from_points(&points, rig.mesh(), rig.weights()).unwrap();
    loaded.document.set_centers(rig, &centers, &PAPER).unwrap();
    let bytes = loaded.document.to_glb().unwrap();
    assert_eq!(open_glb(&bytes).0["meshes"].as_array().unwrap().len(), 2);
    let again = gltf::from_slice(&bytes, "twins").unwrap();
    assert!(again.asset.rig == loaded.asset.rig);
    let stored = again.stored_centers.unwrap();
    assert_eq!(stored.state, StoredState::Fit);
    assert!(*stored.centers == centers);
}

#[test]
fn primitives_that_share_vertices_share_their_centers() {
    let mut file = Tiny::new();
    let primitive = file.primitive().clone();
    file.json["meshes"][0]["primitives"] = json!([primitive, primitive]);
    let mut loaded = load(&file).unwrap();
    bake(&mut loaded.document, &loaded.asset.rig, &PAPER);
    let bytes = loaded.document.to_glb().unwrap();
    let primitives = &open_glb(&bytes).0["meshes"][0]["primitives"];
    let accessor = |primitive: usize| &primitives[primitive]["attributes"][CENTER_ATTRIBUTE];
    assert!(accessor(0).is_u64());
    assert_eq!(accessor(0), accessor(1));

    let mut file = baked_tiny();
    let mut bare = file.primitive().clone();
    bare["attributes"]
        .as_object_mut()
        .unwrap()
        .shift_remove(CENTER_ATTRIBUTE);
    for bare_first in [false, true] {
        let mut file = file.clone();
        let baked = file.primitive().clone();
        file.json["meshes"][0]["primitives"] = match bare_first {
            true => json!([bare, baked]),
            false => json!([baked, bare]),
        };
        assert_eq!(state(&load(&file).unwrap()), Some(StoredState::Incomplete));
    }
}

#[test]
fn broken_centers_are_told_by_name_and_replaced_and_the_file_is_read() {
    let numbers = |file: &mut Tiny, kind: &str, numbers: &[f32]| {
        let centers = file.floats(kind, numbers);
        file.set_attribute(CENTER_ATTRIBUTE, centers);
    };
    let with = |bad: f32| {
        let mut numbers = [0.0; 12];
        numbers[4] = bad;
        numbers
    };
    let mut files = [(); 5].map(|()| baked_tiny());
    numbers(&mut files[0], "VEC4", &[0.0; 16]);
    numbers(&mut files[1], "VEC3", &[0.0; 9]);
    numbers(&mut files[2], "VEC3", &with(f32::NAN));
    numbers(&mut files[3], "VEC3", &with(f32::INFINITY));
    files[4].set_attribute(CENTER_ATTRIBUTE, 99);
    let problems = [
        "Vec4, expected Vec3",
        "3 elements, but POSITION has 4",
        "element 1 holds NaN",
        "element 1 holds inf",
        "names accessor 99",
    ];
    let whole = load(&baked_tiny()).unwrap();
    for (file, expected) in files.iter().zip(problems) {
        let mut loaded = load(file).unwrap();
        assert!(loaded.asset == whole.asset);
        let stored = loaded.stored_centers.as_ref().unwrap();
        match &stored.state {
            StoredState::Broken { place, problem } => {
                assert!(
                    place.contains("meshes[0].primitives[0]._CENTER_OF_ROTATION"),
                    "{place}"
                );
                assert!(problem.contains(expected), "{problem}");
            }
            other => panic!("{expected}: {other:?}"),
        }
        assert_eq!(stored.fitting(), None);
        bake(&mut loaded.document, &loaded.asset.rig, &PAPER);
        assert_eq!(
            loaded.document.to_glb().unwrap(),
            whole.document.to_glb().unwrap()
        );
        tiny::exercise(load(file).unwrap());
    }
}

#[test]
fn centers_from_elsewhere_are_read_but_of_unknown_origin() {
    let plain = |file: &mut Tiny| {
        let centers = file.append(
            "VEC3",
            UNSIGNED_BYTE,
            4,
            &[0, 0, 0, 51, 102, 0, 51, 102, 0, 255, 255, 0],
        );
        file.json["accessors"][centers]["normalized"] = json!(true);
        file.set_attribute(CENTER_ATTRIBUTE, centers);
    };
    let loaded = changed(plain).unwrap();
    let stored = loaded.stored_centers.unwrap();
    assert_eq!(
        (stored.state, stored.options),
        (StoredState::UnknownOrigin, None)
    );
    assert_eq!(stored.centers.of(2), Some(Vec3::new(0.2, 0.4, 0.0)));

    let record =
        json!({ "sigma": 0.1, "epsilon": 0.1, "accuracy": 3e-5, "source": "0123456789abcdef" });
    let without = |key: &str| {
        let mut record = record.clone();
        record.as_object_mut().unwrap().shift_remove(key);
        record
    };
    let with = |key: &str, value: Value| {
        let mut record = record.clone();
        record[key] = value;
        record
    };
    let mut odd: Vec<Value> = ["sigma", "epsilon", "accuracy", "source"]
        .map(without)
        .to_vec();
    odd.extend([
        json!(null),
        json!(7),
        json!([record]),
        json!("record"),
        with("sigma", json!(-1.0)),
        with("epsilon", json!(1e300)),
        with("accuracy", json!("fine")),
        with("source", json!(5)),
    ]);
    let odd = odd
        .into_iter()
        .map(|record| json!({ "supple": { "centerOfRotation": record } }));
    let odder = [
        json!("extras"),
        json!([]),
        json!(1),
        json!({ "supple": [1] }),
        Value::Null,
    ];
    for extras in odd.chain(odder) {
        let loaded = changed(|file| {
            plain(file);
            file.json["meshes"][0]["extras"] = extras.clone();
        });
        assert_eq!(
            state(&loaded.unwrap()),
            Some(StoredState::UnknownOrigin),
            "{extras}"
        );
    }
    let loaded = changed(|file| {
        plain(file);
        file.json["meshes"][0]["extras"] = json!({ "supple": { "centerOfRotation": record } });
    });
    assert_eq!(state(&loaded.unwrap()), Some(StoredState::Stale));
}

#[test]
fn what_cannot_hold_centers_is_refused_and_stays_as_it_was() {
    let mut file = Tiny::new();
    file.json["meshes"][0]["extras"] = json!("a word");
    let mut loaded = load(&file).unwrap();
    let before = loaded.document.to_glb().unwrap();
    let rig = &loaded.asset.rig;
    let centers = centers_of(rig, &PAPER);
    let error = loaded
        .document
        .set_centers(rig, &centers, &PAPER)
        .unwrap_err();
    assert_eq!(error, SaveError::ExtrasNotAnObject { mesh: 0 });
    assert!(loaded.document.to_glb().unwrap() == before);

    // Not even stored ones count where nothing is skinned.
    let loaded = changed(|file| {
        let centers = file.floats("VEC3", &[0.0; 12]);
        file.set_attribute(CENTER_ATTRIBUTE, centers);
        file.json["nodes"][2]
            .as_object_mut()
            .unwrap()
            .shift_remove("skin");
    });
    let mut loaded = loaded.unwrap();
    assert_eq!(loaded.stored_centers, None);
    let rig = &loaded.asset.rig;
    let centers = centers_of(rig, &PAPER);
    let error = loaded
        .document
        .set_centers(rig, &centers, &PAPER)
        .unwrap_err();
    assert_eq!(error, SaveError::NoSkin);

    let mut tiny = load(&Tiny::new()).unwrap();
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let centers = centers_of(&bar.rig, &PAPER);
    let error = tiny
        .document
        .set_centers(&bar.rig, &centers, &PAPER)
        .unwrap_err();
    assert!(
        matches!(error, SaveError::VertexCount { expected: 4, .. }),
        "{error}"
    );
}
