//! Bakes of direct delta mush in files: they come back, differ from stale ones, and an
//! engine that follows the page gets the same surface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
#[path = "../../supple/tests/random/mod.rs"]
mod random;
#[allow(dead_code, reason = "other tests use the rest")]
mod tiny;

use common::some_pose;
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use supple::characters::{self, Character};
use supple::deform::{BakedData, DirectDeltaMush, MushVariant};
use supple::mush::{ALPHA_SHARE, Mush, MushOptions};
use supple::{Asset, Bounds, Method, Normals, Player, Pose, Rig, Skin};
use supple_io::gltf::{self, Document, Loaded, MUSH_EXTENSION, SaveError, StoredMush, StoredState};
use tiny::{POSITION, Tiny, WEIGHTS, load, open_glb};

/// The number of influences that every engine supports.
const SKIN_INFLUENCES: usize = 4;

fn rigid() -> MushOptions {
    MushOptions {
        rigid: true,
        ..MushOptions::default()
    }
}

fn baked(rig: &Rig, options: &MushOptions) -> Arc<Mush> {
    Arc::new(Mush::bake(rig, options).unwrap().mush)
}

fn store(document: &mut Document, rig: &Rig, options: &MushOptions) -> Arc<Mush> {
    let mush = baked(rig, options);
    document
        .set_mush(rig, &mush, options, SKIN_INFLUENCES)
        .unwrap();
    mush
}

fn stored(loaded: &Loaded) -> &StoredMush {
    loaded.stored_mush.as_ref().unwrap()
}

/// The surface by a variant with stored patches.
fn posed_by(asset: &Asset, variant: MushVariant, mush: &Arc<Mush>, pose: &Pose) -> Vec<Vec3> {
    let method = Method::DirectDeltaMush(DirectDeltaMush {
        variant,
        ..DirectDeltaMush::default()
    });
    let baked = BakedData {
        mush: Some(mush.clone()),
        ..BakedData::default()
    };
    let skin = Skin::bake_with(&asset.rig, &method, Normals::Transported, &baked).unwrap();
    let mut player = Player::with_skin(asset, skin).unwrap();
    player.pose(pose).unwrap();
    player.positions().to_vec()
}

fn posed(asset: &Asset, method: &Method, pose: &Pose) -> Vec<Vec3> {
    let mut player = Player::new(asset, method, Normals::Transported).unwrap();
    player.pose(pose).unwrap();
    player.positions().to_vec()
}

/// The largest distance of two surfaces, as a share of the size.
fn apart(one: &[Vec3], other: &[Vec3]) -> f32 {
    assert_eq!(one.len(), other.len());
    let extent = Bounds::around(one.iter().copied()).unwrap().extent();
    let distances = one.iter().zip(other).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f32::max) / extent
}

/// Stores a bake, reads it back and runs every variant by it: nearly as if it had just been baked.
fn check_round_trip(asset: &Asset, document: &Document) {
    let name = &asset.name;
    let options = rigid();
    let mut document = document.clone();
    let exact = baked(&asset.rig, &options);
    let written = document
        .set_mush(&asset.rig, &exact, &options, SKIN_INFLUENCES)
        .unwrap();
    let mut again = gltf::from_slice(&document.to_glb().unwrap(), name).unwrap();
    let kept = stored(&again).clone();
    assert_eq!(kept.state, StoredState::Fit, "{name}");
    assert!(written == kept, "{name}: what is read is what was stored");
    assert!(kept.is_by(&options), "{name}: {:?}", kept.options);
    let text = gltf::from_slice(&document.to_gltf(), name).unwrap();
    assert!(*stored(&text) == kept, "{name}");
    let kept = kept.fitting().unwrap();
    assert!(again.asset.rig.weights().max_influences() <= SKIN_INFLUENCES);
    assert!(*again.asset.rig.weights() == kept.weights().limited(SKIN_INFLUENCES));
    let pose = some_pose(&again.asset);
    for variant in MushVariant::ALL {
        let found = posed_by(&again.asset, variant, kept, &pose);
        let expected = posed_by(asset, variant, &exact, &pose);
        let error = apart(&expected, &found);
        // v1 divides by a determinant.
        let allowed = if variant == MushVariant::V1 {
            3e-4
        } else {
            3e-5
        };
        assert!(error <= allowed, "{name}, {variant:?}: {error}");
    }
    // Clean weights are the weights that were loaded.
    let weights = again.asset.rig.weights().clone();
    again.document.set_weights(&weights).unwrap();
    let converted = gltf::from_slice(&again.document.to_glb().unwrap(), name).unwrap();
    assert_eq!(stored(&converted).state, StoredState::Fit, "{name}");
}

#[test]
fn bakes_of_every_model_come_back_and_fit() {
    for path in common::models() {
        let loaded = gltf::load(&path).unwrap();
        assert_eq!(loaded.stored_mush, None);
        if !loaded.notes.unskinned {
            check_round_trip(&loaded.asset, &loaded.document);
        }
    }
}

/// A built-in character, rounded as files round.
fn built_in(character: Character) -> Loaded {
    let asset = characters::build(character, 2_000).unwrap();
    let bytes = Document::from_asset(&asset).unwrap().to_glb().unwrap();
    gltf::from_slice(&bytes, &asset.name).unwrap()
}

#[test]
fn bakes_of_built_in_characters_come_back_and_fit() {
    for character in Character::ALL {
        let loaded = built_in(*character);
        check_round_trip(&loaded.asset, &loaded.document);
    }
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// The stored data of a file as the documentation describes it, read by hand.
struct PageRows {
    counts: Vec<usize>,
    centers: Vec<DVec3>,
    scales: Vec<[f64; 4]>,
    joints: Vec<usize>,
    shares: Vec<[u16; 2]>,
    patches: Vec<[i16; 9]>,
    /// The bytes of the accessors that are per influence, and of the others.
    bytes: [usize; 2],
}

impl PageRows {
    fn read(json: &Value, bin: &[u8], primitive: &Value) -> PageRows {
        let extension = &primitive["extensions"][MUSH_EXTENSION];
        let mut bytes_of = std::collections::HashMap::new();
        let mut bytes = |name: &'static str, kind: &str, components: &[u64]| {
            let accessor = &json["accessors"][index(&extension[name])];
            assert_eq!(accessor["type"], kind, "{name}");
            let component = accessor["componentType"].as_u64().unwrap();
            assert!(components.contains(&component), "{name}: {component}");
            assert!(accessor.get("byteOffset").is_none());
            let fractions = [5122, 5123].contains(&components[0]);
            assert_eq!(accessor.get("normalized").is_some(), fractions, "{name}");
            let view = &json["bufferViews"][index(&accessor["bufferView"])];
            assert_eq!(index(&view["byteOffset"]) % 4, 0, "{name}");
            assert!(view.get("byteStride").is_none() && view.get("target").is_none());
            bytes_of.insert(name, index(&view["byteLength"]));
            let bytes = &bin[index(&view["byteOffset"])..][..index(&view["byteLength"])];
            (component, bytes.to_vec())
        };
        let whole = |(component, bytes): (u64, Vec<u8>)| -> Vec<usize> {
            match component {
                5121 => bytes.iter().map(|&byte| usize::from(byte)).collect(),
                _ => {
                    let pairs = bytes.as_chunks::<2>().0.iter();
                    pairs
                        .map(|pair| usize::from(u16::from_le_bytes(*pair)))
                        .collect()
                }
            }
        };
        let floats = |bytes: Vec<u8>| -> Vec<f64> {
            let fours = bytes.as_chunks::<4>().0.iter();
            fours
                .map(|four| f64::from(f32::from_le_bytes(*four)))
                .collect()
        };
        let counts = whole(bytes("counts", "SCALAR", &[5121, 5123]));
        let joints = whole(bytes("joints", "SCALAR", &[5121, 5123]));
        let centers = floats(bytes("centers", "VEC3", &[5126]).1);
        let scales = floats(bytes("scales", "VEC4", &[5126]).1);
        let shares = bytes("shares", "VEC2", &[5123]).1;
        let patches = bytes("patches", "SCALAR", &[5122]).1;
        let two = |pair: &[u8; 2]| u16::from_le_bytes(*pair);
        let shares: Vec<u16> = shares.as_chunks::<2>().0.iter().map(two).collect();
        let two = |pair: &[u8; 2]| i16::from_le_bytes(*pair);
        let patches: Vec<i16> = patches.as_chunks::<2>().0.iter().map(two).collect();
        let sum = |names: &[&str]| names.iter().map(|name| bytes_of[name]).sum();
        PageRows {
            counts,
            joints,
            centers: centers
                .as_chunks::<3>()
                .0
                .iter()
                .map(|p| DVec3::from(*p))
                .collect(),
            scales: scales.as_chunks::<4>().0.to_vec(),
            shares: shares.as_chunks::<2>().0.to_vec(),
            patches: patches.as_chunks::<9>().0.to_vec(),
            bytes: [
                sum(&["joints", "shares", "patches"]),
                sum(&["counts", "centers", "scales"]),
            ],
        }
    }
}

/// A small file with a bake.
fn baked_tiny() -> Tiny {
    let mut loaded = load(&Tiny::new()).unwrap();
    store(
        &mut loaded.document,
        &loaded.asset.rig,
        &MushOptions::default(),
    );
    Tiny::of(&loaded.document)
}

fn extension(file: &mut Tiny) -> &mut Value {
    &mut file.primitive()["extensions"][MUSH_EXTENSION]
}

#[test]
fn sums_are_exact_and_an_influence_takes_no_more_than_24_bytes() {
    let mut files = vec![built_in(Character::Figure), built_in(Character::Cloth)];
    for file in &mut files {
        store(&mut file.document, &file.asset.rig, &rigid());
        let bytes = file.document.to_glb().unwrap();
        let (json, bin) = open_glb(&bytes);
        assert_eq!(json["extensionsUsed"], json!([MUSH_EXTENSION]));
        assert!(json.get("extensionsRequired").is_none());
        let rows = PageRows::read(&json, bin, &json["meshes"][0]["primitives"][0]);
        assert!(rows.bytes[0] <= 24 * rows.joints.len());
        assert!(rows.bytes[1] <= 30 * rows.counts.len());
        let all: usize = rows.bytes.iter().sum();
        let again = gltf::from_slice(&bytes, "again").unwrap();
        assert_eq!(stored(&again).byte_count, all as u64);
        let mut start = 0;
        for &count in &rows.counts {
            assert!(count > 0);
            let row = start..start + count;
            for number in 0..2 {
                let shares = rows.shares[row.clone()].iter();
                let sum: u32 = shares.map(|share| u32::from(share[number])).sum();
                assert_eq!(sum, 65535);
            }
            assert!(rows.shares[row.clone()].iter().all(|share| share[0] > 0));
            for axis in 0..3 {
                let patches = rows.patches[row.clone()].iter();
                let sum: i32 = patches.map(|patch| i32::from(patch[axis])).sum();
                assert_eq!(sum, 0);
            }
            start += count;
        }
        assert_eq!(start, rows.joints.len());
        // Unused places of the ordinary skin hold joint 0, as the format asks.
        let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
        assert!(attributes.get("JOINTS_1").is_none());
    }
}

/// The rotation nearest to a matrix, as the eigenvector of a quaternion form (Horn 1987), by
/// Jacobi's method: nothing that Supple does.
#[allow(
    clippy::needless_range_loop,
    reason = "rows and columns, as the method has them"
)]
fn nearest_rotation(m: &DMat3) -> DMat3 {
    let s = |row: usize, column: usize| m.col(column)[row];
    let mut k = [
        [
            s(0, 0) + s(1, 1) + s(2, 2),
            s(2, 1) - s(1, 2),
            s(0, 2) - s(2, 0),
            s(1, 0) - s(0, 1),
        ],
        [
            0.0,
            s(0, 0) - s(1, 1) - s(2, 2),
            s(0, 1) + s(1, 0),
            s(2, 0) + s(0, 2),
        ],
        [0.0, 0.0, s(1, 1) - s(0, 0) - s(2, 2), s(1, 2) + s(2, 1)],
        [0.0, 0.0, 0.0, s(2, 2) - s(0, 0) - s(1, 1)],
    ];
    for row in 0..4 {
        for column in 0..row {
            k[row][column] = k[column][row];
        }
    }
    let mut vectors = [[0.0; 4]; 4];
    for (index, vector) in vectors.iter_mut().enumerate() {
        vector[index] = 1.0;
    }
    for _ in 0..60 {
        for p in 0..4 {
            for q in p + 1..4 {
                if k[p][q] == 0.0 {
                    continue;
                }
                let angle = 0.5 * (2.0 * k[p][q]).atan2(k[q][q] - k[p][p]);
                let (sine, cosine) = angle.sin_cos();
                for row in &mut k {
                    (row[p], row[q]) = (
                        cosine * row[p] - sine * row[q],
                        sine * row[p] + cosine * row[q],
                    );
                }
                for column in 0..4 {
                    let (a, b) = (k[p][column], k[q][column]);
                    (k[p][column], k[q][column]) = (cosine * a - sine * b, sine * a + cosine * b);
                }
                for row in &mut vectors {
                    (row[p], row[q]) = (
                        cosine * row[p] - sine * row[q],
                        sine * row[p] + cosine * row[q],
                    );
                }
            }
        }
    }
    let best = (0..4).max_by(|&a, &b| k[a][a].total_cmp(&k[b][b])).unwrap();
    let [w, x, y, z] = vectors.map(|row| row[best]);
    DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `docs/ddm-in-gltf.md`, step by step in double precision, with what any engine reads from the
/// file: the surface in a pose.
fn by_the_page(file: &Loaded, bytes: &[u8], pose: &Pose, variant: MushVariant) -> Vec<DVec3> {
    let (json, bin) = open_glb(bytes);
    let rows = PageRows::read(&json, bin, &json["meshes"][0]["primitives"][0]);
    let palette = file.asset.rig.skeleton().palette(pose).unwrap();
    let joints = file.document.joints_in_file_order().iter();
    let matrices = joints.map(|&joint| DMat4::from(DAffine3::from(palette.posed_from_bind[joint])));
    let matrices: Vec<DMat4> = matrices.collect();
    // What all joints share.
    let determinant = matrices[0].determinant();
    let scale = determinant.abs().cbrt();
    let common = DVec3::new(scale * determinant.signum(), scale, scale);
    let rigid = |matrix: &DMat4| DMat4::from_scale(common.recip()) * *matrix;
    let m: Vec<DMat4> = matrices.iter().map(rigid).collect();
    let r: Vec<DMat3> = m.iter().map(|matrix| DMat3::from_mat4(*matrix)).collect();
    let rotation: Vec<DQuat> = m.iter().map(DQuat::from_mat4).collect();

    let mut start = 0;
    let positions = file.asset.rig.mesh().positions().iter();
    let surface = positions.enumerate().map(|(vertex, u)| {
        let u = u.as_dvec3();
        let p = rows.centers[vertex];
        let [lever_scale, sx, sy, sz] = rows.scales[vertex];
        let axes = DMat3::from_diagonal(DVec3::new(sx, sy, sz));
        let row = start..start + rows.counts[vertex];
        start = row.end;
        let trace = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        let mut influences: Vec<(usize, f64, f64, DVec3, DMat3)> = row
            .map(|i| {
                let [omega, psi] = rows.shares[i].map(|share| f64::from(share) / 65535.0);
                let numbers = rows.patches[i].map(|number| f64::from(number) / 32767.0);
                let [x, y, z, xx, xy, xz, yy, yz, zz] = numbers;
                let moments = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
                let lever = DVec3::new(x, y, z) * lever_scale;
                (rows.joints[i], omega, psi, lever, axes * moments * axes)
            })
            .collect();
        let mut covariance: DMat3 = influences.iter().map(|influence| influence.4).sum();
        if variant == MushVariant::V1 {
            let [x, y, z] = [covariance.x_axis, covariance.y_axis, covariance.z_axis];
            let minors = x.x * y.y - x.y * y.x + y.y * z.z - y.z * z.y + z.z * x.x - z.x * x.z;
            let missing = 0.0001 * trace(&covariance) - covariance.determinant() / minors;
            let ball = DMat3::IDENTITY * missing.max(0.0);
            for influence in &mut influences {
                influence.4 += ball * influence.2;
            }
            covariance += ball;
        }
        let base = m[influences[0].0].transform_point3(p);
        let (mut gathered, mut q, mut linear) = (DMat3::ZERO, DVec3::ZERO, DVec3::ZERO);
        let (mut sum, mut blend, mut skin) = ([0.0; 4], DMat3::ZERO, DVec3::ZERO);
        for (joint, omega, psi, lever, moments) in influences {
            let d = m[joint].transform_point3(p) - base;
            gathered += r[joint] * moments + outer(d, lever);
            q += r[joint] * lever + omega * d;
            linear += omega * d;
            let own = rotation[joint].to_array();
            let dot: f64 = sum.iter().zip(own).map(|(sum, own)| sum * own).sum();
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum += if dot < 0.0 { -psi } else { psi } * own;
            }
            blend += r[joint] * psi;
            skin += omega * m[joint].transform_point3(u);
        }
        let quaternion = DMat3::from_quat(DQuat::from_array(sum).normalize());
        let position = match variant {
            MushVariant::V0 => base + q + nearest_rotation(&gathered) * (u - p),
            MushVariant::V1 => {
                let cofactors = DMat3::from_cols(
                    gathered.y_axis.cross(gathered.z_axis),
                    gathered.z_axis.cross(gathered.x_axis),
                    gathered.x_axis.cross(gathered.y_axis),
                );
                let turn = cofactors * covariance * (1.0 / covariance.determinant());
                base + q + turn * (u - p)
            }
            MushVariant::V2 => base + q + quaternion * (u - p),
            MushVariant::V3 => {
                let delta = blend * (u - p);
                let factor = (u - p).length() / delta.length();
                base + q + delta * if factor < 1e4 { factor } else { 1.0 }
            }
            MushVariant::V4 => base + linear + quaternion * (u - p),
            MushVariant::V5 => skin,
        };
        common * position
    });
    surface.collect()
}

#[test]
fn an_engine_that_follows_the_page_gets_the_same_surface() {
    let bar = built_in(Character::Bar);
    let plain = bar.document.to_glb().unwrap();
    let mut files = vec![bar, built_in(Character::Arm)];
    for scale in [[100.0; 3], [-0.01, 0.01, 0.01]] {
        let scaled = Tiny::opened(&plain).under_a_scaled_node(scale);
        files.push(load(&scaled).unwrap());
    }
    files.extend(common::quantized_model().map(|path| gltf::load(&path).unwrap()));
    for mut file in files {
        store(&mut file.document, &file.asset.rig, &rigid());
        let bytes = file.document.to_glb().unwrap();
        let file = gltf::from_slice(&bytes, &file.asset.name).unwrap();
        let asset = &file.asset;
        let kept = stored(&file).fitting().unwrap();
        let pose = asset.pose_at(&asset.clips[0], 0.4 * asset.clips[0].duration());
        for variant in MushVariant::ALL {
            let found = by_the_page(&file, &bytes, &pose, variant);
            let found: Vec<Vec3> = found.iter().map(|place| place.as_vec3()).collect();
            let expected = posed_by(asset, variant, kept, &pose);
            let error = apart(&expected, &found);
            let allowed = if variant == MushVariant::V1 {
                1e-4
            } else {
                5e-6
            };
            assert!(error < allowed, "{}, {variant:?}: {error}", asset.name);
        }
    }
}

#[test]
fn the_rest_pose_comes_back_also_where_patches_are_flat_or_lines() {
    // The square has no thickness; drawn together it is a line.
    let mut line = Tiny::new();
    for at in [3, 6] {
        line.set_float(POSITION, at, 0.0);
    }
    line.json["accessors"][POSITION]["max"] = json!([0.0, 2.0, 0.0]);
    for file in [Tiny::new(), line] {
        let mut loaded = load(&file).unwrap();
        store(&mut loaded.document, &loaded.asset.rig, &rigid());
        let loaded = load(&Tiny::of(&loaded.document)).unwrap();
        let kept = stored(&loaded).fitting().unwrap();
        let pose = loaded.asset.rest_pose();
        for variant in MushVariant::ALL {
            let found = posed_by(&loaded.asset, variant, kept, &pose);
            let error = apart(loaded.asset.rig.mesh().positions(), &found);
            assert!(error < 1e-6, "{variant:?}: {error}");
        }
    }
}

type Change = fn(&mut Tiny);

#[test]
fn a_bake_is_stale_once_anything_changed_that_it_depends_on() {
    let changes: [(&str, Change); 9] = [
        ("a position", |file| file.set_float(POSITION, 3, 1.0001)),
        ("a weight", |file| {
            let weights = index(&file.primitive()["attributes"]["WEIGHTS_0"]);
            file.set_float(weights, 8, 0.26);
        }),
        ("a triangle", |file| {
            let indices = index(&file.primitive()["indices"]);
            file.bytes(indices)[0] = 1;
        }),
        ("a bone", |file| {
            let bind = index(&file.json["skins"][0]["inverseBindMatrices"]);
            file.set_float(bind, 16 + 13, -1.5);
        }),
        ("the options", |file| {
            extension(file)["options"]["kappa"] = json!(1.5);
        }),
        ("the source", |file| extension(file)["source"] = json!("no")),
        ("what is painted", |file| {
            let painted = file.floats("SCALAR", &[0.5; 4]);
            file.set_attribute(ALPHA_SHARE, painted);
        }),
        ("another mesh", Tiny::repeat_mesh),
        ("the numbers of joints", |file| {
            // As a tool renumbers them that does not know the extension.
            file.json["skins"][0]["joints"] = json!([1, 0]);
            let bind = index(&file.json["skins"][0]["inverseBindMatrices"]);
            file.bytes(bind).rotate_left(64);
            let joints = index(&file.primitive()["attributes"]["JOINTS_0"]);
            let weights = index(&file.primitive()["attributes"]["WEIGHTS_0"]);
            let numbers: Vec<[u8; 4]> = file.bytes(weights).as_chunks::<4>().0.to_vec();
            for (joint, weight) in file.bytes(joints).iter_mut().zip(numbers) {
                *joint = u8::from(*joint == 0 && f32::from_le_bytes(weight) > 0.0);
            }
        }),
    ];
    for (what, change) in changes {
        let mut file = baked_tiny();
        assert_eq!(stored(&load(&file).unwrap()).state, StoredState::Fit);
        change(&mut file);
        let loaded = load(&file).unwrap();
        assert_eq!(stored(&loaded).state, StoredState::Stale, "{what}");
        assert!(stored(&loaded).fitting().is_none());
    }
    // What it does not depend on.
    let mut file = baked_tiny();
    file.json["nodes"][1]["translation"] = json!([0.0, 3.0, 0.0]);
    file.json["animations"] = json!([]);
    assert_eq!(stored(&load(&file).unwrap()).state, StoredState::Fit);
}

#[test]
fn options_come_back_with_the_joints_that_they_name() {
    let mut loaded = load(&Tiny::new()).unwrap();
    let options = MushOptions {
        lambda: 0.1,
        prune: 1e-4,
        max_influences: Some(3),
        alpha_at_joints: vec![(1, 0.3)],
        radius_from_bones: false,
        ..MushOptions::default()
    };
    store(&mut loaded.document, &loaded.asset.rig, &options);
    let mut file = Tiny::of(&loaded.document);
    let written = extension(&mut file)["options"].clone();
    assert_eq!(written["alphaAt"], json!([{ "joint": 1, "share": 0.3 }]));
    let again = load(&file).unwrap();
    assert_eq!(stored(&again).options, Some(options.clone()));
    assert_eq!(stored(&again).state, StoredState::Fit);
    // Files may keep no more than 32 bits of a number.
    let rounded = MushOptions {
        lambda: f64::from(0.1f32),
        ..options.clone()
    };
    assert!(stored(&again).is_by(&rounded));
    // The last counts where a joint is given twice.
    let twice = MushOptions {
        alpha_at_joints: vec![(1, 0.9), (0, 0.5), (1, 0.3)],
        ..options.clone()
    };
    let mut loaded = load(&Tiny::new()).unwrap();
    store(&mut loaded.document, &loaded.asset.rig, &twice);
    let read = load(&Tiny::of(&loaded.document)).unwrap();
    assert_eq!(stored(&read).state, StoredState::Fit);
    assert!(stored(&read).is_by(&twice));
    let once = stored(&read).options.clone().unwrap();
    assert_eq!(once.alpha_at_joints, [(0, 0.5), (1, 0.3)]);
    let rig = &load(&Tiny::new()).unwrap().asset.rig;
    assert!(baked(rig, &once) == baked(rig, &twice));
    for other in [
        MushOptions {
            rigid: true,
            ..options.clone()
        },
        MushOptions {
            alpha_at_joints: Vec::new(),
            ..options
        },
    ] {
        assert!(!stored(&again).is_by(&other));
    }
}

#[test]
fn nodes_that_share_a_mesh_share_rows_unless_these_differ() {
    let mut loaded = load(&Tiny::twins()).unwrap();
    let mush = store(&mut loaded.document, &loaded.asset.rig, &rigid());
    let file = Tiny::of(&loaded.document);
    assert_eq!(file.json["meshes"].as_array().unwrap().len(), 1);
    assert_eq!(stored(&load(&file).unwrap()).state, StoredState::Fit);

    let mut loaded = load(&Tiny::twins()).unwrap();
    let centers = (0..8).map(|vertex| Vec3::splat(vertex as f32)).collect();
    let parts = (0..8)
        .flat_map(|vertex| mush.parts(vertex).to_vec())
        .collect();
    let mush = Mush::from_parts(mush.weights().clone(), parts, centers).unwrap();
    let rig = &loaded.asset.rig;
    loaded
        .document
        .set_mush(rig, &mush, &rigid(), SKIN_INFLUENCES)
        .unwrap();
    let file = Tiny::of(&loaded.document);
    assert_eq!(file.json["meshes"].as_array().unwrap().len(), 2);
    let again = load(&file).unwrap();
    assert_eq!(stored(&again).state, StoredState::Fit);
    assert_eq!(stored(&again).fitting().unwrap().centers(), mush.centers());
}

#[test]
fn primitives_that_share_vertices_share_their_rows() {
    let mut file = Tiny::new();
    let primitive = file.primitive().clone();
    file.json["meshes"][0]["primitives"] = json!([primitive, primitive]);
    let mut loaded = load(&file).unwrap();
    store(&mut loaded.document, &loaded.asset.rig, &rigid());
    let file = Tiny::of(&loaded.document);
    let primitives = &file.json["meshes"][0]["primitives"];
    assert!(primitives[0]["extensions"][MUSH_EXTENSION]["joints"].is_u64());
    assert_eq!(primitives[0]["extensions"], primitives[1]["extensions"]);
    assert_eq!(stored(&load(&file).unwrap()).state, StoredState::Fit);

    let mut file = baked_tiny();
    let mut bare = file.primitive().clone();
    bare.as_object_mut().unwrap().shift_remove("extensions");
    for bare_first in [false, true] {
        let mut file = file.clone();
        let baked = file.primitive().clone();
        file.json["meshes"][0]["primitives"] = match bare_first {
            true => json!([bare, baked]),
            false => json!([baked, bare]),
        };
        let loaded = load(&file).unwrap();
        assert_eq!(stored(&loaded).state, StoredState::Incomplete);
        assert_eq!(stored(&loaded).mush, None);
    }
}

/// Two squares that touch, each with a skin of its own: the second knows the tip and one joint
/// more.
fn two_skins(bind_of_the_second: [f32; 16]) -> Tiny {
    let mut file = Tiny::new();
    let mesh = file.json["meshes"][0].clone();
    file.json["meshes"].as_array_mut().unwrap().push(mesh);
    let above = file.floats(
        "VEC3",
        &[0.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0, 4.0, 0.0, 0.0, 4.0, 0.0],
    );
    file.json["accessors"][above]["min"] = json!([0.0, 2.0, 0.0]);
    file.json["accessors"][above]["max"] = json!([1.0, 4.0, 0.0]);
    file.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = json!(above);
    let top = glam::Mat4::from_translation(glam::Vec3::NEG_Y * 3.0).to_cols_array();
    let bind = file.floats("MAT4", &[bind_of_the_second, top].concat());
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    nodes[1]["children"] = json!([4]);
    nodes.push(json!({ "name": "hat", "mesh": 1, "skin": 1 }));
    nodes.push(json!({ "name": "top", "translation": [0.0, 2.0, 0.0] }));
    file.json["scenes"][0]["nodes"] = json!([0, 2, 3]);
    let skins = file.json["skins"].as_array_mut().unwrap();
    skins.push(json!({ "joints": [1, 4], "inverseBindMatrices": bind }));
    file
}

/// A bake as if smoothing had carried every joint everywhere.
fn spread_everywhere(rig: &Rig) -> Mush {
    let joints = rig.skeleton().joints().len();
    let plain = baked(rig, &rigid());
    let mut weights = supple::weights::WeightsBuilder::new(joints).unwrap();
    let mut parts = Vec::new();
    for vertex in 0..rig.mesh().vertex_count() {
        let share = 1.0 / joints as f32;
        weights
            .push((0..joints).map(|joint| (joint, share)), 0)
            .unwrap();
        let part = plain.parts(vertex)[0];
        parts.extend((0..joints).map(|_| supple::mush::PatchPart {
            rotation_weight: share,
            lever: Vec3::ZERO,
            ..part
        }));
    }
    let centers = plain.centers().to_vec();
    Mush::from_parts(weights.finish().0, parts, centers).unwrap()
}

#[test]
fn skins_learn_the_joints_that_smoothing_brings_and_list_no_node_twice() {
    let down = glam::Mat4::from_translation(Vec3::NEG_Y);
    let nearly = glam::Mat4::from_translation(Vec3::new(0.0, -1.0, 1e-7));
    for bind in [down, nearly] {
        let mut loaded = load(&two_skins(bind.to_cols_array())).unwrap();
        let rig = &loaded.asset.rig;
        let mush = spread_everywhere(rig);
        let mut as_skin = loaded.document.clone();
        loaded
            .document
            .set_mush(rig, &mush, &rigid(), SKIN_INFLUENCES)
            .unwrap();
        as_skin
            .set_skin_of_mush(rig, &mush, SKIN_INFLUENCES)
            .unwrap();
        for file in [Tiny::of(&loaded.document), Tiny::of(&as_skin)] {
            for skin in file.json["skins"].as_array().unwrap() {
                let mut listed: Vec<usize> = skin["joints"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(index)
                    .collect();
                let count = listed.len();
                listed.sort_unstable();
                listed.dedup();
                assert_eq!((listed.len(), count), (3, 3), "{skin}");
                let bind = &file.json["accessors"][index(&skin["inverseBindMatrices"])];
                assert_eq!(bind["count"], 3);
            }
            let again = load(&file).unwrap();
            let pose = again.asset.rest_pose();
            let rest = again.asset.rig.mesh().positions();
            assert!(apart(rest, &posed(&again.asset, &Method::Linear, &pose)) < 1e-6);
            if let Some(stored) = &again.stored_mush {
                assert_eq!(stored.state, StoredState::Fit);
            } else {
                assert!(!file.json.to_string().contains(MUSH_EXTENSION));
            }
        }
    }
}

#[test]
fn a_node_that_two_skins_bind_differently_is_refused() {
    let shifted = glam::Mat4::from_translation(Vec3::new(0.0, -1.0, 1e-2));
    let turned = glam::Mat4::from_rotation_z(1e-2) * glam::Mat4::from_translation(Vec3::NEG_Y);
    for bind in [shifted, turned] {
        let mut loaded = load(&two_skins(bind.to_cols_array())).unwrap();
        let rig = &loaded.asset.rig;
        let mush = spread_everywhere(rig);
        let document = &mut loaded.document;
        let before = document.to_glb().unwrap();
        let errors = [
            document
                .set_mush(rig, &mush, &rigid(), SKIN_INFLUENCES)
                .map(drop),
            document.set_skin_of_mush(rig, &mush, SKIN_INFLUENCES),
        ];
        for error in errors {
            let Err(SaveError::NodeBoundTwice { joint, .. }) = error else {
                panic!("{error:?}");
            };
            assert_eq!(joint, "tip");
        }
        assert!(document.to_glb().unwrap() == before);
    }
}

#[test]
fn painted_shares_of_every_primitive_are_read() {
    let mut file = Tiny::new();
    let painted = file.floats("SCALAR", &[0.25, 0.5, 0.75, 1.0]);
    let plain = file.primitive().clone();
    let mut with = plain.clone();
    with["attributes"][ALPHA_SHARE] = json!(painted);
    file.json["meshes"][0]["primitives"] = json!([plain, with, plain, with]);
    let loaded = load(&file).unwrap();
    let found = loaded.asset.rig.mesh().painted(ALPHA_SHARE).unwrap();
    let none = [None; 4];
    let some = [0.25, 0.5, 0.75, 1.0].map(Some);
    assert_eq!(found, [none, some, none, some].concat());
}

#[test]
fn a_posed_file_and_a_plain_skin_hold_no_bake() {
    let mut loaded = load(&baked_tiny()).unwrap();
    let pose = loaded.asset.rest_pose();
    let mut player = Player::new(&loaded.asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(&pose).unwrap();
    let posed = loaded.document.posed(&player, &pose).unwrap();
    let rig = &loaded.asset.rig;
    let mush = baked(rig, &rigid());
    loaded.document.set_skin_of_mush(rig, &mush, 2).unwrap();
    for document in [posed, loaded.document] {
        let file = Tiny::of(&document);
        assert!(!file.json.to_string().contains("SUPPLE"), "{}", file.json);
        assert!(file.json.get("extensionsUsed").is_none());
        // Nothing is left of its numbers either.
        let views = file.json["bufferViews"].as_array().unwrap().len();
        assert!(views <= tiny::ROTATIONS + 1, "{views}");
        assert_eq!(load(&file).unwrap().stored_mush, None);
    }
}

#[test]
fn baking_again_leaves_nothing_of_the_first_time() {
    let mut loaded = load(&Tiny::rich()).unwrap();
    let sizes = |document: &Document| {
        let file = Tiny::of(document);
        (
            file.json["accessors"].as_array().unwrap().len(),
            file.bin.len(),
        )
    };
    store(&mut loaded.document, &loaded.asset.rig, &rigid());
    let once = sizes(&loaded.document);
    let other = MushOptions {
        kappa: 2.0,
        ..rigid()
    };
    store(&mut loaded.document, &loaded.asset.rig, &other);
    assert_eq!(sizes(&loaded.document), once);
    let file = Tiny::of(&loaded.document);
    let again = load(&file).unwrap();
    assert_eq!(stored(&again).state, StoredState::Fit);
    assert!(stored(&again).is_by(&other));
    let used = json!(["KHR_materials_unlit", MUSH_EXTENSION]);
    assert_eq!(file.json["extensionsUsed"], used);
    let primitive = &file.json["meshes"][0]["primitives"][0];
    assert_eq!(primitive["extensions"]["ACME_mark"]["on"], "primitive");
}

#[test]
fn a_bake_of_unknown_origin_is_told_of() {
    let without: [fn(&mut Value); 6] = [
        |json| drop(json.as_object_mut().unwrap().shift_remove("source")),
        |json| drop(json.as_object_mut().unwrap().shift_remove("options")),
        |json| json["source"] = json!(5),
        |json| json["options"]["alpha"] = json!(1.5),
        |json| json["options"]["laplacian"] = json!("rough"),
        |json| json["options"]["alphaAt"] = json!([{ "joint": 99, "share": 0.5 }]),
    ];
    for change in without {
        let mut file = baked_tiny();
        change(extension(&mut file));
        let loaded = load(&file).unwrap();
        assert_eq!(stored(&loaded).state, StoredState::UnknownOrigin);
        assert!(stored(&loaded).fitting().is_none());
        tiny::exercise(loaded);
    }
}

#[test]
fn a_broken_bake_is_told_by_name_and_the_file_is_read() {
    let replaced = |name: &str, kind: &str, numbers: &[f32]| {
        let mut file = baked_tiny();
        let accessor = file.floats(kind, numbers);
        extension(&mut file)[name] = json!(accessor);
        file
    };
    let at = |name: &str| index(&extension(&mut baked_tiny())[name]);
    let poked = |name: &str, byte: usize, value: u8| {
        let mut file = baked_tiny();
        file.bytes(at(name))[byte] = value;
        file
    };
    let named = |name: &str, value: Value| {
        let mut file = baked_tiny();
        extension(&mut file)[name] = value;
        file
    };
    let influences = {
        let file = baked_tiny();
        file.json["accessors"][at("joints")]["count"]
            .as_u64()
            .unwrap() as usize
    };
    let mut negative_share = vec![0.5; 2 * influences];
    negative_share[0] = -0.5;
    let cases = [
        (named("counts", json!(99)), "counts", "names accessor 99"),
        (named("counts", json!(-1)), "counts", "names no accessor"),
        (named("joints", json!("x")), "joints", "names no accessor"),
        (named("scales", Value::Null), "scales", "names no accessor"),
        (
            named("centers", json!(POSITION + 1e9 as usize)),
            "centers",
            "names accessor",
        ),
        (named("centers", json!(WEIGHTS)), "centers", "expected Vec3"),
        (
            named("counts", json!(POSITION)),
            "counts",
            "expected Scalar",
        ),
        (poked("counts", 0, 0), "counts", "vertex 0 has no joint"),
        (
            poked("counts", 1, 255),
            "joints",
            "as many as the counts add up to",
        ),
        (
            poked("joints", 0, 77),
            "joints",
            "vertex 0 names joint 77, but the skin has 2 joints",
        ),
        (
            replaced("joints", "SCALAR", &[0.0; 8]),
            "joints",
            "expected unsigned integers",
        ),
        (
            replaced("shares", "VEC2", &vec![0.0; 2 * influences]),
            "shares",
            "sum to 0",
        ),
        (
            replaced("shares", "VEC2", &negative_share),
            "shares",
            "negative share",
        ),
        (
            replaced("shares", "VEC2", &[0.5; 2]),
            "shares",
            "1 elements, expected",
        ),
        (
            replaced("patches", "SCALAR", &vec![f32::NAN; 9 * influences]),
            "patches",
            "holds NaN",
        ),
        (
            replaced("patches", "SCALAR", &[0.0; 9]),
            "patches",
            "nine for each influence",
        ),
        (
            replaced("scales", "VEC4", &[-1.0; 16]),
            "scales",
            "negative scale",
        ),
        (
            replaced("scales", "VEC4", &[f32::INFINITY; 16]),
            "scales",
            "holds inf",
        ),
        (
            replaced("centers", "VEC3", &[0.0; 9]),
            "centers",
            "3 elements, expected 4",
        ),
    ];
    let whole = load(&baked_tiny()).unwrap();
    for (file, place_word, expected) in cases {
        let loaded = load(&file).unwrap();
        assert!(loaded.asset == whole.asset);
        match &stored(&loaded).state {
            StoredState::Broken { place, problem } => {
                let path =
                    format!("meshes[0].primitives[0].extensions.{MUSH_EXTENSION}.{place_word}");
                assert!(place.contains(&path), "{place}: {problem}");
                assert!(problem.contains(expected), "{expected}: {problem}");
            }
            other => panic!("{expected}: {other:?}"),
        }
        assert!(stored(&loaded).fitting().is_none());
        tiny::exercise(loaded);
    }
    // Finite numbers whose product is not.
    let mut file = replaced("patches", "SCALAR", &vec![1e30; 9 * influences]);
    let scales = file.floats("VEC4", &[1e30; 16]);
    extension(&mut file)["scales"] = json!(scales);
    let loaded = load(&file).unwrap();
    assert!(matches!(stored(&loaded).state, StoredState::Broken { .. }));
    // Finite numbers that no surface of this size has.
    for (name, kind, number) in [("centers", "VEC3", 1e30), ("scales", "VEC4", 1e9)] {
        let numbers = vec![number; if kind == "VEC3" { 12 } else { 16 }];
        let loaded = load(&replaced(name, kind, &numbers)).unwrap();
        let StoredState::Broken { problem, .. } = &stored(&loaded).state else {
            panic!("{name} are not broken");
        };
        assert!(problem.contains("larger than the character"), "{problem}");
    }
    // A joint twice.
    let mut file = baked_tiny();
    let joints = at("joints");
    file.bytes(joints).fill(0);
    let StoredState::Broken { problem, .. } = &stored(&load(&file).unwrap()).state.clone() else {
        panic!("not broken");
    };
    assert!(problem.contains("names a joint twice"), "{problem}");
}

#[test]
fn an_extension_that_is_no_object_is_no_reason_to_refuse_a_file() {
    for odd in [json!(1), json!([]), json!("x"), json!({}), Value::Null] {
        let mut file = baked_tiny();
        *extension(&mut file) = odd.clone();
        let loaded = load(&file).unwrap();
        let state = &stored(&loaded).state;
        assert!(
            matches!(state, StoredState::Broken { .. }),
            "{odd}: {state:?}"
        );
        let mut document = loaded.document.clone();
        store(&mut document, &loaded.asset.rig, &rigid());
        assert_eq!(
            stored(&load(&Tiny::of(&document)).unwrap()).state,
            StoredState::Fit
        );
        tiny::exercise(loaded);
    }
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let mut file = baked_tiny();
    let nodes = file.json["nodes"].as_array_mut().unwrap();
    for _ in 0..2_000 {
        nodes.push(json!({ "mesh": 0, "skin": 0 }));
    }
    // However it ends, it ends soon, and a bake that is too much for the budget is reported.
    if let Ok(loaded) = load(&file) {
        assert_ne!(stored(&loaded).state, StoredState::Fit);
    }
}

proptest! {
    #![proptest_config(random::config(300))]
    #[test]
    fn no_change_of_the_stored_bytes_makes_reading_panic_or_the_surface_infinite(
        name in 0usize..6, at in 0usize..1000, value in any::<u8>(), count in 0u32..40
    ) {
        let mut file = baked_tiny();
        let name = ["counts", "joints", "shares", "patches", "centers", "scales"][name];
        let accessor = index(&extension(&mut file)[name]);
        let bytes = file.bytes(accessor);
        let at = at % bytes.len();
        bytes[at] = value;
        if count > 0 {
            file.json["accessors"][accessor]["count"] = json!(count);
        }
        let loaded = load(&file).unwrap();
        if let Some(mush) = stored(&loaded).fitting() {
            let pose = some_pose(&loaded.asset);
            for variant in MushVariant::ALL {
                let surface = posed_by(&loaded.asset, variant, mush, &pose);
                let is_finite = surface.iter().all(|position| position.is_finite());
                prop_assert!(is_finite, "{variant:?}: {surface:?}");
            }
        }
        tiny::exercise(loaded);
    }
}

#[test]
fn what_cannot_hold_a_bake_is_refused_and_stays_as_it_was() {
    let mut file = Tiny::new();
    file.json["nodes"][2]
        .as_object_mut()
        .unwrap()
        .shift_remove("skin");
    let mut loaded = load(&file).unwrap();
    let rig = &loaded.asset.rig;
    let mush = baked(rig, &rigid());
    let before = loaded.document.to_glb().unwrap();
    let error = loaded
        .document
        .set_mush(rig, &mush, &rigid(), SKIN_INFLUENCES);
    assert_eq!(error, Err(SaveError::NoSkin));
    let error = loaded
        .document
        .set_skin_of_mush(rig, &mush, SKIN_INFLUENCES);
    assert_eq!(error, Err(SaveError::NoSkin));
    assert!(loaded.document.to_glb().unwrap() == before);

    let mut tiny = load(&Tiny::new()).unwrap();
    let bar = built_in(Character::Bar).asset.rig;
    let mush = baked(&bar, &rigid());
    let before = tiny.document.to_glb().unwrap();
    let error = tiny
        .document
        .set_mush(&bar, &mush, &rigid(), SKIN_INFLUENCES);
    assert!(matches!(
        error,
        Err(SaveError::VertexCount { expected: 4, .. })
    ));
    assert!(tiny.document.to_glb().unwrap() == before);
}
