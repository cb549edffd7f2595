//! Every shared model without its weights: bound anew by every method, written, and read back.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use serde_json::Value;
use std::path::Path;
use supple::Rig;
use supple::bind::{BindMethod, BoundedBiharmonicOptions, GeodesicOptions, bind_groups};
use supple::exec;
use supple::weights::{Weights, WeightsReport};
use supple_io::gltf::{self, Loaded, SaveError};

/// Few voxels: what is tested is the way through the file.
const VOXELS: Option<usize> = Some(600);

fn methods() -> impl Iterator<Item = BindMethod> {
    BindMethod::all().into_iter().map(|method| match method {
        BindMethod::Geodesic(options) => BindMethod::Geodesic(GeodesicOptions {
            voxels: VOXELS,
            ..options
        }),
        BindMethod::BoundedBiharmonic(options) => {
            BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
                voxels: VOXELS,
                ..options
            })
        }
        other => other,
    })
}

/// The file as it would be before anyone bound it: skins, but no weights.
fn without_weights(path: &Path) -> Loaded {
    let whole = gltf::load(path).unwrap();
    let mut json: Value = serde_json::from_slice(&whole.document.to_gltf()).unwrap();
    for mesh in json["meshes"].as_array_mut().unwrap() {
        for primitive in mesh["primitives"].as_array_mut().unwrap() {
            let attributes = primitive["attributes"].as_object_mut().unwrap();
            attributes
                .retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
        }
    }
    gltf::from_slice(json.to_string().as_bytes(), &whole.asset.name).unwrap()
}

/// (name, weight) of a vertex, in the order of names: files may list joints in another order.
fn row<'a>(loaded: &'a Loaded, weights: &'a Weights, vertex: usize) -> Vec<(&'a str, f32)> {
    let skeleton = loaded.asset.rig.skeleton();
    let influences = weights.of(vertex);
    let mut row: Vec<_> = influences
        .map(|held| (skeleton.joint_name(held.joint), held.weight))
        .collect();
    row.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
    row
}

fn check(path: &Path) {
    let bare = without_weights(path);
    let rig = &bare.asset.rig;
    let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
    let groups = bare.document.bind_groups(mesh, skeleton).unwrap();
    let name = path.file_name().unwrap().display();
    if groups.is_empty() {
        let refused = bare.document.clone().set_binding(rig);
        assert_eq!(refused, Err(SaveError::NoSkin), "{name}");
        return;
    }
    for method in methods() {
        let what = format!("{name} by {}", method.name());
        let bound = bind_groups(mesh, skeleton, &groups, &method, &|_| {}).unwrap();
        for group in &groups {
            for vertex in group.vertices.iter().cloned().flatten() {
                let mut held = bound.weights.of(vertex);
                let own = held.all(|held| group.joints.contains(&held.joint));
                assert!(own, "{what}: vertex {vertex} is held by joints of others");
            }
        }
        let mut document = bare.document.clone();
        let rebound = Rig::new(mesh.clone(), skeleton.clone(), bound.weights.clone()).unwrap();
        document.set_binding(&rebound).unwrap();
        let again = gltf::from_slice(&document.to_glb().unwrap(), &bare.asset.name).unwrap();
        assert_eq!(again.notes.weights, WeightsReport::default(), "{what}");
        assert_eq!(
            again.asset.rig.mesh().positions(),
            mesh.positions(),
            "{what}"
        );
        for vertex in 0..mesh.vertex_count() {
            let found = row(&again, again.asset.rig.weights(), vertex);
            let expected = row(&bare, &bound.weights, vertex);
            let sum: f64 = found.iter().map(|held| f64::from(held.1)).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{what}, vertex {vertex}: {sum}");
            assert_eq!(found, expected, "{what}, vertex {vertex}");
        }
    }
}

#[test]
fn every_model_is_bound_anew_and_comes_back() {
    let models = common::models();
    exec::map(models.len(), |index| check(&models[index]));
}

/// Groups part the character, however many skins a file has.
#[test]
fn every_skinned_vertex_is_in_one_group() {
    for path in common::models() {
        let loaded = gltf::load(&path).unwrap();
        let rig = &loaded.asset.rig;
        let groups = loaded
            .document
            .bind_groups(rig.mesh(), rig.skeleton())
            .unwrap();
        let mut vertices: Vec<usize> = groups
            .iter()
            .flat_map(|group| group.vertices.iter().cloned().flatten())
            .collect();
        vertices.sort_unstable();
        let count = vertices.len();
        vertices.dedup();
        assert_eq!(vertices.len(), count, "{}: in two groups", path.display());
        if !loaded.notes.unskinned {
            assert_eq!(count, loaded.asset.rig.mesh().vertex_count());
        }
    }
}
