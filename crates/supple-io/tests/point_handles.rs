//! Point handles through files: with a skin or without one, the surface stays where it was, and
//! handles are joints beside each other.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use glam::DVec3;
use serde_json::{Value, json};
use supple::bind::{BindMethod, GeodesicOptions};
use supple::characters::{self, Character};
use supple::point_handles::{HandleOptions, place_handles};
use supple::{Method, Normals, Player};
use supple_io::gltf::{self, Document, Loaded};

fn bar() -> Loaded {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let document = Document::from_asset(&asset).unwrap();
    gltf::from_slice(&document.to_glb().unwrap(), "bar").unwrap()
}

/// The bar as a mesh that no skin holds, on a node that turns, scales and moves it; and a copy of
/// it beside.
fn two_bars_without_skin() -> Loaded {
    let mut json: Value = serde_json::from_slice(&bar().document.to_gltf()).unwrap();
    let root = json.as_object_mut().unwrap();
    root.remove("skins");
    root.remove("animations");
    json["nodes"] = json!([
        {
            "name": "lever", "rotation": [0.0, 0.0, 0.6, 0.8], "translation": [1.0, 2.0, 3.0],
            "children": [1, 2],
        },
        { "name": "one", "mesh": 0, "scale": [2.0, 2.0, 2.0] },
        { "name": "other", "mesh": 0, "translation": [0.0, 0.0, 5.0] },
    ]);
    json["scenes"] = json!([{ "nodes": [0] }]);
    for attributes in json["meshes"][0]["primitives"].as_array_mut().unwrap() {
        let attributes = attributes["attributes"].as_object_mut().unwrap();
        attributes.retain(|name, _| !name.starts_with("JOINTS") && !name.starts_with("WEIGHTS"));
    }
    gltf::from_slice(json.to_string().as_bytes(), "bars").unwrap()
}

fn with_handles(loaded: &Loaded) -> (Loaded, Vec<DVec3>, Vec<[usize; 2]>) {
    let rig = &loaded.asset.rig;
    let surface = loaded.document.surface_at_rest(rig).unwrap();
    let handles = place_handles(&surface, &HandleOptions::default()).unwrap();
    let method = BindMethod::Geodesic(GeodesicOptions {
        voxels: Some(600),
        ..GeodesicOptions::default()
    });
    let weights = handles.bind(&surface, &method, &|_| {}).unwrap().weights;
    let bound = loaded.document.with_point_handles(rig, &handles, &weights);
    (bound.unwrap(), handles.places, handles.edges)
}

fn check(before: &Loaded) {
    let (bound, places, edges) = with_handles(before);
    let read = gltf::from_slice(&bound.document.to_glb().unwrap(), "bound").unwrap();
    let rest = |loaded: &Loaded| {
        let mut player = Player::new(&loaded.asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(&loaded.asset.rest_pose()).unwrap();
        player.positions().to_vec()
    };
    let extent = before.asset.rig.mesh().extent();
    for (vertex, (was, is)) in rest(before).iter().zip(rest(&read)).enumerate() {
        assert!(
            was.distance(is) < 1e-5 * extent,
            "vertex {vertex}: {was} {is}"
        );
    }
    let skeleton = read.asset.rig.skeleton();
    let mut world_from_node = Vec::new();
    skeleton
        .forward_kinematics(&skeleton.rest_pose(), &mut world_from_node)
        .unwrap();
    // Joints of several skins on one handle are several; each is where its handle is.
    for joint in skeleton.joints() {
        let name = &skeleton.nodes()[joint.node].name;
        let number: usize = name.strip_prefix("handle_").unwrap().parse().unwrap();
        let place = world_from_node[joint.node].translation;
        assert!(place.distance(places[number]) < 1e-5 * f64::from(extent));
        let parent = skeleton.nodes()[joint.node].parent.unwrap();
        assert_eq!(skeleton.nodes()[parent].name, "handles");
        assert_eq!(skeleton.nodes()[parent].parent, None);
    }
    let number = |joint: usize| -> usize {
        let name = skeleton.joint_name(joint);
        name.strip_prefix("handle_").unwrap().parse().unwrap()
    };
    let mut found: Vec<[usize; 2]> = read
        .document
        .pseudo_edges()
        .iter()
        .map(|edge| edge.map(number))
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, edges);
    assert!(read.asset.clips.is_empty());
    assert!(!read.notes.unskinned);
}

#[test]
fn a_skin_is_replaced_and_the_surface_stays_where_it_was() {
    check(&bar());
}

#[test]
fn meshes_without_a_skin_are_bound_where_their_nodes_have_them() {
    check(&two_bars_without_skin());
}

/// A knight of six meshes in one skin, which different joints hold: that their bind matrices are
/// rounded makes no six skins.
#[test]
fn meshes_that_are_carried_alike_share_a_skin() {
    let knight = common::models()
        .into_iter()
        .find(|path| path.ends_with("KayKit_Knight.glb"));
    let Some(knight) = knight else { return };
    let (bound, places, _) = with_handles(&gltf::load(&knight).unwrap());
    let json: Value = serde_json::from_slice(&bound.document.to_gltf()).unwrap();
    assert_eq!(json["skins"].as_array().unwrap().len(), 1);
    let joints = bound.asset.rig.skeleton().joints().len();
    assert_eq!(joints, places.len());
}

/// The names of the nodes that a document would write.
fn node_names(loaded: &Loaded) -> Vec<String> {
    let json: Value = serde_json::from_slice(&loaded.document.to_gltf()).unwrap();
    let nodes = json["nodes"].as_array().unwrap().iter();
    nodes
        .map(|node| node["name"].as_str().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn handles_that_are_placed_again_take_the_place_of_those_before() {
    let (bound, places, _) = with_handles(&bar());
    let (again, places_again, _) = with_handles(&bound);
    assert_eq!(places, places_again);
    assert_eq!(again.asset.rig.skeleton().joints().len(), places.len());
    assert_eq!(node_names(&again), node_names(&bound));
    let json: Value = serde_json::from_slice(&again.document.to_gltf()).unwrap();
    let count = json["nodes"].as_array().unwrap().len() as u64;
    let shown = json["scenes"][0]["nodes"].as_array().unwrap().iter();
    let shown: Vec<u64> = shown.map(|node| node.as_u64().unwrap()).collect();
    assert!(shown.iter().all(|&node| node < count), "{shown:?}");
    assert_eq!(shown.iter().filter(|&&node| node == count - 1).count(), 1);
}

#[test]
fn former_handles_stay_where_something_hangs_on_them() {
    let (bound, ..) = with_handles(&bar());
    let mut json: Value = serde_json::from_slice(&bound.document.to_gltf()).unwrap();
    let nodes = json["nodes"].as_array_mut().unwrap();
    let hat = nodes.len();
    nodes.push(json!({ "name": "hat" }));
    let handle = nodes.iter_mut().find(|node| node["name"] == "handle_0");
    handle.unwrap()["children"] = json!([hat]);
    let worn = gltf::from_slice(json.to_string().as_bytes(), "worn").unwrap();
    let (again, ..) = with_handles(&worn);
    let names = node_names(&again);
    for name in ["hat", "handle_0", "handle_0_2", "handles", "handles_2"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
}

#[test]
fn edges_that_make_no_sense_are_passed_over_and_told() {
    let (bound, ..) = with_handles(&bar());
    let mut json: Value = serde_json::from_slice(&bound.document.to_gltf()).unwrap();
    json["skins"][0]["extras"]["supple"]["point_handles"]["edges"] =
        json!([[0, 1], [1, 0], [0, 99], [1, 1], "x", [-1, 2], [0], 3]);
    let read = gltf::from_slice(json.to_string().as_bytes(), "odd").unwrap();
    assert_eq!(read.document.pseudo_edges().len(), 1);
    let bad = read.document.bad_pseudo_edges();
    let edges: Vec<Option<usize>> = bad.iter().map(|bad| bad.edge).collect();
    assert_eq!(edges, [2, 3, 4, 5, 6, 7].map(Some));
    assert!(
        bad[0]
            .to_string()
            .starts_with("pseudo-edge 2 of skin 0: the skin has no joint 99")
    );
    json["skins"][0]["extras"]["supple"]["point_handles"]["edges"] = json!("x");
    let read = gltf::from_slice(json.to_string().as_bytes(), "odd").unwrap();
    assert_eq!(read.document.bad_pseudo_edges().len(), 1);
    assert!(bound.document.bad_pseudo_edges().is_empty());
}
