//! Every written file can be read: all writers, over files with the most extreme numbers that the
//! reader accepts.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "../../supple/tests/random/mod.rs"]
mod random;
#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use glam::{DVec3, Vec3};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use supple::centers::{CenterOptions, Centers};
use supple::clip::Interpolation;
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleKind, PlacedHandles, Segments};
use supple::transform::{Local, Trs};
use supple::twist::{TwistOptions, split};
use supple::weights::WeightsBuilder;
use supple::{Asset, Method, Normals, Player, Pose, Rig, Weights};
use supple_io::gltf::{self, Document, Loaded, SaveError};
use supple_io::{NotFinite, npy, obj, ply};
use tiny::{BIND, NORMAL, POSITION, ROTATIONS, TIMES, Tiny, WEIGHTS};

/// Numbers at the ends of the range of `f32`, at its finest, and plain ones.
fn extreme() -> impl Strategy<Value = f32> {
    let smallest = f32::from_bits(1);
    let edge = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MAX,
        -f32::MAX,
        f32::MAX / 2.0,
        1e30,
        -1e30,
        1e19,
        1e-19,
        f32::MIN_POSITIVE,
        smallest,
        -smallest,
    ]);
    prop_oneof![3 => edge, 1 => -10.0f32..10.0]
}

/// A file with everything that glTF has, such as tangents and a cubic curve.
fn rich() -> Tiny {
    let mut file = Tiny::rich();
    // The view of an image has no accessor, and those of later accessors are to have their numbers.
    let image = json!({ "componentType": 5121, "count": 1, "type": "SCALAR" });
    file.json["accessors"].as_array_mut().unwrap().push(image);
    let tangents = file.floats("VEC4", &[1.0, 0.0, 0.0, 1.0].repeat(4));
    file.set_attribute("TANGENT", tangents);
    // In-tangent, value and out-tangent of two keys.
    let moves = file.floats("VEC3", &[0.0; 18]);
    let animation = &mut file.json["animations"][0];
    let sampler = json!({ "input": TIMES, "output": moves, "interpolation": "CUBICSPLINE" });
    animation["samplers"].as_array_mut().unwrap().push(sampler);
    let channel = json!({ "sampler": 1, "target": { "node": 0, "path": "translation" } });
    animation["channels"].as_array_mut().unwrap().push(channel);
    for node in 0..3 {
        file.json["nodes"][node]["translation"] = json!([0.0, f64::from(node as u32), 0.0]);
        file.json["nodes"][node]["rotation"] = json!([0.0, 0.0, 0.0, 1.0]);
        file.json["nodes"][node]["scale"] = json!([1.0, 1.0, 1.0]);
    }
    file
}

/// The place of a number in a file.
#[derive(Clone, Debug)]
enum Place {
    /// A float of an accessor.
    Accessor(Index, Index),
    /// A transform of a node: which node, which key, which number.
    Node(usize, &'static str, usize),
    /// A morph weight of the character.
    Morph(usize),
}

fn place() -> impl Strategy<Value = Place> {
    let keys = prop::sample::select(vec!["translation", "rotation", "scale"]);
    prop_oneof![
        4 => (any::<Index>(), any::<Index>())
            .prop_map(|(accessor, at)| Place::Accessor(accessor, at)),
        2 => (0..3usize, keys, 0..3usize).prop_map(|(node, key, at)| Place::Node(node, key, at)),
        1 => (0..2usize).prop_map(Place::Morph),
    ]
}

fn put(file: &mut Tiny, place: &Place, number: f32) {
    match place {
        Place::Accessor(accessor, at) => {
            let tangents = file.primitive()["attributes"]["TANGENT"].as_u64().unwrap() as usize;
            let raised = file.primitive()["targets"][0]["POSITION"].as_u64().unwrap() as usize;
            let floats = [
                POSITION,
                NORMAL,
                WEIGHTS,
                BIND,
                TIMES,
                ROTATIONS,
                tangents,
                tangents + 1,
                raised,
            ];
            let accessor = *accessor.get(&floats);
            let count = file.bytes(accessor).len() / 4;
            file.set_float(accessor, at.index(count), number);
        }
        Place::Node(node, key, at) => file.json["nodes"][node][key][at] = json!(number),
        Place::Morph(at) => file.json["nodes"][2]["weights"][at] = json!(number),
    }
}

/// Checks that a document, if it could be made, can be read in both forms, with all its vertices.
fn comes_back(what: &str, document: &Result<Document, SaveError>, vertices: usize) {
    let Ok(document) = document else {
        return;
    };
    for bytes in [document.to_glb().unwrap(), document.to_gltf()] {
        match gltf::from_slice(&bytes, what) {
            // Frozen in a pose, props become part of the character.
            Ok(read) => assert!(read.asset.rig.mesh().vertex_count() >= vertices, "{what}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A change of a document as a document of its own.
fn changed(
    document: &Document,
    change: impl FnOnce(&mut Document) -> Result<(), SaveError>,
) -> Result<Document, SaveError> {
    let mut changed = document.clone();
    let before = changed.to_glb().unwrap();
    let done = change(&mut changed);
    if done.is_err() {
        assert_eq!(
            changed.to_glb().unwrap(),
            before,
            "an error changes nothing"
        );
    }
    done.map(|()| changed)
}

/// Writes a character in every way there is, in a pose, and reads it again.
fn write_in_every_way(loaded: &Loaded, pose: &Pose) {
    let Loaded {
        asset, document, ..
    } = loaded;
    let rig = &asset.rig;
    let vertices = rig.mesh().vertex_count();
    let check = |what: &str, written: Result<Document, SaveError>| {
        comes_back(what, &written, vertices);
    };
    check("as it is", Ok(document.clone()));
    check("anew", Document::from_asset(asset));
    check(
        "weights",
        changed(document, |document| document.set_weights(rig.weights())),
    );
    check(
        "binding",
        changed(document, |document| document.set_binding(rig)),
    );
    check(
        "pose",
        changed(document, |document| document.set_pose(asset, pose)),
    );
    if let Ok(centers) = Centers::from_points(rig.mesh().positions(), rig.mesh(), rig.weights()) {
        let options = CenterOptions::PAPER;
        check(
            "centers",
            changed(document, |document| {
                document.set_centers(rig, &centers, &options)
            }),
        );
    }
    let options = MushOptions::default();
    if let Ok(baked) = Mush::bake(rig, &options) {
        check(
            "mush",
            changed(document, |document| {
                document.set_mush(rig, &baked.mush, &options, 4).map(drop)
            }),
        );
        check(
            "skin of mush",
            changed(document, |document| {
                document.set_skin_of_mush(rig, &baked.mush, 4)
            }),
        );
    }
    if let Ok(twisted) = split(asset, 0, &TwistOptions::default()) {
        check(
            "twist",
            changed(document, |document| document.add_twist_joint(&twisted)),
        );
    }
    let (handles, weights) = two_handles(rig);
    let bound = document.with_point_handles(rig, &handles, &weights);
    check("handles", bound.map(|bound| bound.document));
    for method in [Method::Linear, Method::DualQuaternion(Default::default())] {
        let mut player = Player::new(asset, &method, Normals::Transported).unwrap();
        if player.pose(pose).is_err() {
            continue;
        }
        check("posed", document.posed(&player, pose));
        check_surfaces(player.positions(), player.normals(), &player.triangles());
    }
}

/// Handles at the first and the last vertex, each with half of every vertex.
fn two_handles(rig: &Rig) -> (PlacedHandles, Weights) {
    let positions = rig.mesh().positions();
    let ends = [positions.first(), positions.last()];
    let places = ends.map(|place| place.map_or(DVec3::ZERO, |place| place.as_dvec3()));
    let mut weights = WeightsBuilder::new(2).unwrap();
    for _ in positions {
        weights.push([(0, 0.5), (1, 0.5)], 0).unwrap();
    }
    let handles = PlacedHandles {
        places: places.to_vec(),
        kinds: vec![HandleKind::Given; 2],
        edges: vec![[0, 1]],
        segments: Segments {
            of_triangles: Vec::new(),
            count: 0,
            thicknesses: Vec::new(),
            clusters: Vec::new(),
        },
        report: Default::default(),
    };
    (handles, weights.finish().0)
}

/// Writes a surface in every form, and finds the same bits in it, or is told of a number that is
/// not finite.
fn check_surfaces(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]]) {
    let finite = |vectors: &[Vec3]| vectors.iter().all(|vector| vector.is_finite());
    let both = finite(positions) && finite(normals);
    let bits = |vectors: &[Vec3]| -> Vec<[u32; 3]> {
        let vectors = vectors.iter();
        vectors
            .map(|vector| vector.to_array().map(f32::to_bits))
            .collect()
    };
    let mut out = Vec::new();
    assert_eq!(
        obj::write(&mut out, positions, normals, triangles).is_ok(),
        both
    );
    if both {
        let text = String::from_utf8(out).unwrap();
        let of = |kind: &str| -> Vec<Vec3> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(kind));
            let number = |word: &str| word.parse::<f32>().unwrap();
            let vector = |line: &str| line.split(' ').map(number).collect::<Vec<f32>>();
            lines.map(|line| Vec3::from_slice(&vector(line))).collect()
        };
        assert_eq!(bits(&of("v ")), bits(positions));
        assert_eq!(bits(&of("vn ")), bits(normals));
    }
    let mut out = Vec::new();
    assert_eq!(
        ply::write(&mut out, positions, normals, triangles).is_ok(),
        both
    );
    if both {
        let header = b"end_header\n";
        let end = out
            .windows(header.len())
            .position(|window| window == header)
            .unwrap();
        let numbers = out[end + header.len()..].as_chunks::<4>().0;
        let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let numbers: Vec<f32> = numbers.take(6 * positions.len()).collect();
        let of = |first: usize| -> Vec<Vec3> {
            let rows = numbers.chunks(6);
            rows.map(|row| Vec3::from_slice(&row[first..])).collect()
        };
        assert_eq!(bits(&of(0)), bits(positions));
        assert_eq!(bits(&of(3)), bits(normals));
    }
    let mut out = Vec::new();
    let written = npy::write_positions(&mut out, positions);
    assert_eq!(written.is_ok(), finite(positions));
    if written.is_ok() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("positions.npy");
        std::fs::write(&path, &out).unwrap();
        assert_eq!(bits(&npy::read_positions(&path).unwrap()), bits(positions));
    }
}

/// A pose of the file's clip, or with one node far away.
fn pose_of(asset: &Asset, time: f64, moved: Option<f64>) -> Pose {
    let mut pose = match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, time),
        None => asset.rest_pose(),
    };
    if let (Some(by), Some(local)) = (moved, pose.locals.first_mut()) {
        *local = local.moved_to(DVec3::new(0.0, 0.0, by));
    }
    pose
}

proptest! {
    #![proptest_config(random::config(100))]

    #[test]
    fn files_of_extreme_numbers_come_back_from_every_writer(
        numbers in prop::collection::vec((place(), extreme()), 1..5),
        share in 0.0..1.0f64,
        moved in prop::option::of(prop::sample::select(
            vec![1e39, -1e300, f64::NAN, 1e38, 5e-324, -0.0],
        )),
    ) {
        let mut file = rich();
        for (place, number) in &numbers {
            put(&mut file, place, *number);
        }
        if let Ok(loaded) = tiny::load(&file) {
            let time = loaded.asset.clips[0].duration() * share;
            write_in_every_way(&loaded, &pose_of(&loaded.asset, time, moved));
        }
    }
}

#[test]
fn files_with_any_value_anywhere_come_back_from_every_writer_if_they_are_read() {
    let values = [json!(null), json!(0), json!([])];
    let file = rich();
    let mut pointers = Vec::new();
    pointers_below(&file.json, String::new(), &mut pointers);
    let mut failed = Vec::new();
    for pointer in &pointers {
        for value in &values {
            let mut broken = file.clone();
            *broken.json.pointer_mut(pointer).unwrap() = value.clone();
            let Ok(loaded) = tiny::load(&broken) else {
                continue;
            };
            let write = || write_in_every_way(&loaded, &pose_of(&loaded.asset, 0.5, None));
            if catch_unwind(AssertUnwindSafe(write)).is_err() {
                failed.push(format!("{pointer} = {value}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn pointers_below(json: &Value, pointer: String, all: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match json {
        Value::Array(list) => {
            let elements = list.iter().enumerate();
            elements
                .map(|(index, element)| (index.to_string(), element))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, member)| (name.clone(), member))
                .collect()
        }
        _ => Vec::new(),
    };
    for (step, value) in below {
        let pointer = format!("{pointer}/{step}");
        all.push(pointer.clone());
        pointers_below(value, pointer, all);
    }
}

#[track_caller]
fn not_finite<T>(written: Result<T, SaveError>) -> NotFinite {
    match written {
        Err(SaveError::NotFinite(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("was written"),
    }
}

#[test]
fn numbers_beyond_the_range_of_floats_are_refused_with_their_place() {
    let loaded = tiny::load(&rich()).unwrap();
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded;
    let before = document.to_glb().unwrap();
    let pose = pose_of(&asset, 0.0, Some(1e39));
    let refused = not_finite(document.set_pose(&asset, &pose));
    assert_eq!(
        refused.to_string(),
        "the translation of node 0 ('root') holds 1e39, beyond the range of 32-bit floats"
    );
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(&asset.rest_pose()).unwrap();
    let refused = not_finite(document.posed(&player, &pose));
    assert_eq!(refused.place, "the translation of node 0 ('root')");

    let mut pose = asset.rest_pose();
    pose.morph_weights = vec![0.0, f32::INFINITY];
    let refused = not_finite(document.set_pose(&asset, &pose));
    assert_eq!(
        refused.to_string(),
        "a morph weight of node 2 holds inf, which is not finite"
    );
    assert_eq!(
        document.to_glb().unwrap(),
        before,
        "an error changes nothing"
    );

    let mut pose = asset.rest_pose();
    pose.locals[0] = Local::Trs(Trs {
        scale: DVec3::splat(3e38),
        ..Trs::IDENTITY
    });
    player.pose(&pose).unwrap();
    let refused = not_finite(document.posed(&player, &pose));
    assert_eq!(refused.place, "the position of vertex 2");
}

/// Catmull-Rom tangents of keys that are close in time and far apart in space.
#[test]
fn a_curve_whose_tangents_are_infinite_is_refused_by_its_key() {
    let mut asset = tiny::load(&rich()).unwrap().asset;
    let track = &mut asset.clips[0].tracks[1];
    let times = vec![0.0, 1e-30, 1.0];
    let values = [[0.0; 3], [1e30, 0.0, 0.0], [0.0; 3]].concat();
    track.curve = supple::clip::Curve::new(times, values, 3, Interpolation::CatmullRom).unwrap();
    let refused = not_finite(Document::from_asset(&asset));
    assert_eq!(
        refused.to_string(),
        "key 0 of the translation of node 0 ('root') holds inf, which is not finite"
    );
}

/// Files that were written so that they could not be read.
#[test]
fn hostile_files_are_written_readably_or_not_at_all() {
    let Some(folder) = common::shared("hostile") else {
        return;
    };
    for (name, time) in [
        ("cubic_tangent.glb", 50.0),
        ("deform_writes_unreadable_glb.glb", 1.7e38),
        ("deform_writes_inf_tangent.glb", 5.46e30),
        ("singular_bind_explodes.glb", 0.5),
        ("denormal_bind_nonfinite_dqs.glb", 0.5),
        ("overflow_sum_mush_bytelength.glb", 0.5),
    ] {
        let loaded = gltf::load(&folder.join(name)).unwrap();
        let pose = pose_of(&loaded.asset, time, None);
        let vertices = loaded.asset.rig.mesh().vertex_count();
        let posed = changed(&loaded.document, |document| {
            document.set_pose(&loaded.asset, &pose)
        });
        comes_back(name, &posed, vertices);
        let mut player = Player::new(&loaded.asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(&pose).unwrap();
        comes_back(name, &loaded.document.posed(&player, &pose), vertices);
        check_surfaces(player.positions(), player.normals(), &player.triangles());
    }
    for name in [
        "animations_number",
        "animations_string",
        "handles_panic_scenes",
    ] {
        let error = gltf::load(&folder.join(format!("{name}.glb"))).unwrap_err();
        assert!(error.to_string().ends_with("]: not an object"), "{error}");
    }
}
