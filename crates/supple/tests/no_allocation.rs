//! A frame allocates nothing: sampling, kinematics, palette, morph targets and deformation, by
//! every method.

#![allow(clippy::unwrap_used)]

mod counting;

use counting::allocations_of;
use glam::{DVec3, Vec3, Vec4};
#[cfg(feature = "arap")]
use supple::arap::{Arap, ArapOptions, ArapState};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::mesh::{Morph, MorphTarget, MorphedShape};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Asset, Mesh, Method, Normals, Output, Palette, Player, Prop, Rig, Skin, Workspace};

const VERTICES: usize = 12_000;
const JOINTS: usize = 40;

/// A chain of joints through a cloud of points, each point on five joints.
fn rig() -> Rig {
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y)),
    };
    let all: Vec<usize> = (0..JOINTS).collect();
    let skeleton = Skeleton::bound_at_rest((0..JOINTS).map(node).collect(), &all).unwrap();
    let mut weights = WeightsBuilder::new(JOINTS).unwrap();
    for vertex in 0..VERTICES {
        let influences = (1..6).map(|step| ((vertex + step) % JOINTS, step as f32));
        weights.push(influences, 0).unwrap();
    }
    let point = |vertex: usize| {
        Vec3::new(
            (vertex % 7) as f32,
            (vertex % JOINTS) as f32,
            (vertex % 11) as f32,
        )
    };
    let positions = (0..VERTICES).map(point).collect();
    let triangles = (2..VERTICES as u32).map(|last| [last - 2, last - 1, last]);
    let mesh = Mesh::new(
        positions,
        Some(vec![Vec3::Z; VERTICES]),
        Some(vec![Vec4::X; VERTICES]),
        triangles.collect(),
    )
    .unwrap();
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

/// A clip with a track of every kind, in every interpolation.
fn clip() -> Clip {
    let kinds = [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicHermite,
        Interpolation::CatmullRom,
    ];
    let mut tracks = Vec::new();
    for (index, interpolation) in kinds.into_iter().cycle().take(JOINTS).enumerate() {
        let node = index;
        for channel in [
            Channel::Translation { node },
            Channel::Rotation { node },
            Channel::Scale { node },
            Channel::MorphWeights { first: 0, count: 2 },
        ] {
            let per_key = if interpolation == Interpolation::CubicHermite {
                3
            } else {
                1
            };
            let values = (0..3 * per_key * channel.width())
                .map(|i| 0.5 + 0.01 * i as f32)
                .collect();
            let curve =
                Curve::new(vec![0.0, 0.4, 1.0], values, channel.width(), interpolation).unwrap();
            tracks.push(Track { channel, curve });
        }
    }
    Clip {
        name: String::new(),
        tracks,
    }
}

/// The rig with a clip that moves all of it, two morph targets, and a prop that has one.
fn asset() -> Asset {
    let rig = rig();
    let target = |vertices: usize| MorphTarget {
        positions: vec![Vec3::X; vertices],
        normals: vec![Vec3::X; vertices],
        tangents: Vec::new(),
    };
    let morph = |vertices: usize, targets: usize| Morph {
        first_vertex: 0,
        first_weight: 0,
        targets: vec![target(vertices); targets],
    };
    let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let prop = Prop {
        name: String::new(),
        node: 3,
        mesh: Mesh::new(points, None, None, vec![[0, 1, 2]]).unwrap(),
        morphs: vec![morph(3, 1)],
        color: None,
    };
    Asset {
        name: String::new(),
        rig,
        parts: Vec::new(),
        morphs: vec![morph(VERTICES, 2)],
        rest_morph_weights: vec![0.0; 2],
        clips: vec![clip()],
        props: vec![prop],
    }
}

/// Runs a frame once to warm up, then at eleven times, of which none may allocate.
///
/// On a thread of a pool: where others hand work over to it, its queue grows by a block now and
/// then, which is nothing of a frame's. A pool of its own, so that it does no work of other tests
/// meanwhile.
fn assert_no_allocation(what: &str, mut frame: impl FnMut(f64) + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.unwrap().install(|| {
        frame(0.0);
        for step in 0..=10 {
            let allocations = allocations_of(|| frame(0.11 * f64::from(step)));
            assert_eq!(allocations, 0, "{what}, step {step}");
        }
    });
}

#[test]
fn allocations_are_counted() {
    assert_eq!(
        allocations_of(|| drop(std::hint::black_box(Box::new(1)))),
        1
    );
}

#[test]
fn a_frame_allocates_nothing() {
    let asset = asset();
    let (mesh, skeleton, clip) = (asset.rig.mesh(), asset.rig.skeleton(), &asset.clips[0]);
    let kinds = Normals::ALL;
    let all = Method::ALL
        .iter()
        .flat_map(|method| kinds.map(|kind| (method, kind)));
    for (method, kind) in all {
        let skin = Skin::bake(&asset.rig, method, kind).unwrap();
        let mut workspace = Workspace::default();
        let mut pose = asset.rest_pose();
        let mut world_from_node = Vec::new();
        let mut palette = Palette::default();
        let mut morphed = MorphedShape::new(mesh);
        let mut positions = mesh.positions().to_vec();
        let mut normals = mesh.normals().to_vec();
        let mut tangents = mesh.tangents().unwrap().to_vec();
        assert_no_allocation(&format!("{method}, {kind} normals"), |time| {
            clip.sample(time, &mut pose);
            skeleton
                .forward_kinematics(&pose, &mut world_from_node)
                .unwrap();
            skeleton
                .fill_palette(&world_from_node, &mut palette)
                .unwrap();
            morphed
                .apply(mesh, &asset.morphs, &pose.morph_weights)
                .unwrap();
            let output = Output {
                positions: &mut positions,
                normals: Some(&mut normals),
                tangents: Some(&mut tangents),
            };
            skin.deform_shape(morphed.shape(), &palette, &mut workspace, output)
                .unwrap();
        });
        assert!(
            positions != mesh.positions(),
            "{} moved nothing",
            method.name()
        );
    }
}

#[cfg(feature = "arap")]
#[test]
fn surfaces_that_are_kept_rigid_allocate_nothing() {
    let asset = asset();
    let skeleton = asset.rig.skeleton();
    let options = ArapOptions {
        follow: true,
        ..ArapOptions::default()
    };
    let arap = Arap::new(&asset.rig, &options).unwrap();
    let mut state = ArapState::default();
    let mut positions = vec![Vec3::ZERO; VERTICES];
    let mut pose = asset.rest_pose();
    let (mut world_from_node, mut palette) = (Vec::new(), Palette::default());
    assert_no_allocation("arap by itself", |time| {
        asset.clips[0].sample(time, &mut pose);
        skeleton
            .forward_kinematics(&pose, &mut world_from_node)
            .unwrap();
        skeleton
            .fill_palette(&world_from_node, &mut palette)
            .unwrap();
        arap.deform(&palette, &mut state, &mut positions).unwrap();
    });
}

#[test]
fn a_player_allocates_nothing() {
    let asset = asset();
    for method in Method::ALL {
        let mut player = Player::new(&asset, method, Normals::Transported).unwrap();
        let mut pose = asset.rest_pose();
        assert_no_allocation(method.name(), |time| {
            asset.clips[0].sample(time, &mut pose);
            player.pose(&pose).unwrap();
        });
        let palette = Palette::identity(JOINTS);
        let what = format!("{} by palette", method.name());
        assert_no_allocation(&what, |_| {
            player.pose_with_palette(&pose, &palette).unwrap();
        });
    }
}
