//! Memory and time of reading, changing and writing files grow with the file and not with its
//! square: joints, vertices, copies of a triangle, clips, meshes.

#![allow(clippy::unwrap_used)]

#[path = "../../supple/tests/counting/mod.rs"]
mod counting;

use counting::grows_with_its_input;
use glam::{DVec3, Vec3};
use supple::centers::{CenterOptions, Centers};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::mesh::Part;
use supple::mush::{Mush, MushOptions};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Asset, Mesh, Method, Normals, Player, Rig, exec};
use supple_io::gltf::{self, Document, Loaded};

fn chain(joints: usize) -> Skeleton {
    let node = |joint: usize| Node {
        name: format!("joint{joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y * 0.01)),
    };
    let all: Vec<usize> = (0..joints).collect();
    Skeleton::bound_at_rest((0..joints).map(node).collect(), &all).unwrap()
}

/// A ribbon along a chain, with two vertices for each joint; each turns in a clip of its own.
fn ribbon(joints: usize) -> Asset {
    let place = |vertex: usize| Vec3::new((vertex % 2) as f32, (vertex / 2) as f32 * 0.01, 0.0);
    let corners = (0..2 * joints as u32 - 2).map(|a| match a % 2 {
        0 => [a, a + 1, a + 2],
        _ => [a, a + 2, a + 1],
    });
    let mut asset = bound(
        (0..2 * joints).map(place).collect(),
        corners.collect(),
        joints,
        |vertex| vertex / 2,
    );
    let turn = glam::Quat::from_rotation_z(0.5).to_array();
    let values = [[0.0, 0.0, 0.0, 1.0], turn].concat();
    let curve = Curve::new(vec![0.0, 1.0], values, 4, Interpolation::Linear).unwrap();
    let clip = |node: usize| Clip {
        name: format!("clip{node}"),
        tracks: vec![Track {
            channel: Channel::Rotation { node },
            curve: curve.clone(),
        }],
    };
    asset.clips = (0..joints).map(clip).collect();
    asset
}

fn copies(count: usize) -> Asset {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    bound(corners, vec![[0, 1, 2]; count], 2, |_| 0)
}

fn loose(count: usize) -> Asset {
    let place = |vertex: usize| Vec3::new(vertex as f32, 0.0, 1.0);
    bound(
        (0..count).map(place).collect(),
        vec![[0, 1, 2]],
        2,
        |vertex| vertex % 2,
    )
}

fn bound(
    places: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    joints: usize,
    joint_of: impl Fn(usize) -> usize,
) -> Asset {
    let mut weights = WeightsBuilder::new(joints).unwrap();
    for vertex in 0..places.len() {
        let joint = joint_of(vertex);
        let next = (joint + 1).min(joints - 1);
        weights.push([(joint, 0.6), (next, 0.4)], 0).unwrap();
    }
    let mesh = Mesh::new(places, None, None, triangles).unwrap();
    let whole = Part {
        name: String::new(),
        vertices: 0..mesh.vertex_count(),
        triangles: 0..mesh.triangles().len(),
        color: None,
    };
    Asset {
        name: String::new(),
        rig: Rig::new(mesh, chain(joints), weights.finish().0).unwrap(),
        parts: vec![whole],
        morphs: Vec::new(),
        rest_morph_weights: Vec::new(),
        clips: Vec::new(),
        props: Vec::new(),
    }
}

fn loaded(asset: &Asset) -> Loaded {
    Document::from_asset(asset).unwrap().read("file").unwrap()
}

/// A name, how to make a character of some size, and the smaller size.
type Kind = (&'static str, fn(usize) -> Asset, usize);

/// What is done to a file.
type Change = fn(&Asset, &mut Document);

const CHANGES: [(&str, Change); 6] = [
    ("binding", |asset, document| {
        let rig = &asset.rig;
        document.bind_groups(rig.mesh(), rig.skeleton()).unwrap();
        document.set_binding(rig).unwrap();
    }),
    ("centers", |asset, document| {
        let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
        let centers = Centers::from_points(mesh.positions(), mesh, weights).unwrap();
        let options = CenterOptions::PAPER;
        document
            .set_centers(&asset.rig, &centers, &options)
            .unwrap();
    }),
    ("a bake of direct delta mush", |asset, document| {
        let options = MushOptions::default();
        let mush = Mush::bake(&asset.rig, &options).unwrap().mush;
        document.set_mush(&asset.rig, &mush, &options, 4).unwrap();
    }),
    ("a pose", |asset, document| {
        document.set_pose(asset, &asset.rest_pose()).unwrap();
    }),
    ("a frozen surface", |asset, document| {
        let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
        let rest = asset.rest_pose();
        player.pose(&rest).unwrap();
        document.posed(&player, &rest).unwrap();
    }),
    ("the surface at rest", |asset, document| {
        document.surface_at_rest(&asset.rig).unwrap();
    }),
];

/// One test, since memory is counted for all threads; and on one thread.
#[test]
fn files_take_memory_and_time_in_proportion() {
    let kinds: [Kind; 3] = [
        ("joints and clips", ribbon, 400),
        ("copies of a triangle", copies, 3000),
        ("loose vertices", loose, 3000),
    ];
    exec::on_threads(1, || {
        for (kind, make, size) in kinds {
            let written = |size| loaded(&make(size)).document;
            for (form, bytes_of) in [
                (
                    "glb",
                    (|file| file.to_glb().unwrap()) as fn(&Document) -> Vec<u8>,
                ),
                ("gltf", Document::to_gltf),
            ] {
                let what = format!("writing {form} of {kind}");
                grows_with_its_input(&what, size, written, |file| drop(bytes_of(file)));
                let what = format!("reading {form} of {kind}");
                let bytes = |size| bytes_of(&written(size));
                grows_with_its_input(&what, size, bytes, |bytes| {
                    gltf::from_slice(bytes, "file").unwrap();
                });
            }
            for (change, apply) in CHANGES {
                let what = format!("{change} of {kind}");
                let file = |size| loaded(&make(size));
                grows_with_its_input(&what, size, file, |file| {
                    apply(&file.asset, &mut file.document.clone());
                });
            }
        }
    });
}
