//! Public functions with input that is too short, too long, empty or out of range: an error, never
//! a panic.

#![cfg(all(
    feature = "arap",
    feature = "bind",
    feature = "ik",
    feature = "metrics"
))]
#![allow(clippy::unwrap_used)]

use glam::{DAffine3, DQuat, DVec3, Vec3};
use supple::NodeCountError;
use supple::RigError;
use supple::arap::{Arap, ArapOptions, ArapState, TurnError, handle_palette, turns};
use supple::bind::{BindError, BindGroup, BindMethod, Handle, bind, bind_groups};
use supple::centers::{CenterError, CenterOptions, Centers, LiveCenters, exact};
use supple::characters::{self, Character};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::deform::{
    AnimationSpaceWeights, BakedData, CentersOfRotation, DeformError, DirectDeltaMush,
    LinearDualBlend, MatrixWeights,
};
use supple::edit::Editor;
use supple::findings::Findings;
use supple::inverse_kinematics::{Goal, Limit, ReachError, ReachOptions, move_to, reach};
use supple::mesh::{MeshError, MorphedShape, Part};
use supple::metrics::{Gauge, RmsDistance, TimeSmoothness};
use supple::mush::{Mush, MushError, MushOptions};
use supple::normals::vertex_normals;
use supple::symmetry::Symmetry;
use supple::twist::{TwistOptions, split};
use supple::weights::WeightsBuilder;
use supple::{
    Asset, Mesh, Method, Normals, Output, Palette, Player, Pose, Rig, Skin, Weights, Workspace,
};

fn bar() -> Asset {
    characters::build(Character::Bar, 2_000).unwrap()
}

/// One vertex on the first of three joints.
fn small_weights() -> Weights {
    let mut builder = WeightsBuilder::new(3).unwrap();
    builder.push([(0, 1.0)], 0).unwrap();
    builder.finish().0
}

fn small_mesh() -> Mesh {
    Mesh::new(vec![Vec3::X], None, None, vec![]).unwrap()
}

/// A pose with one node less, with none, and with one more.
fn wrong_poses(asset: &Asset) -> [Pose; 3] {
    let mut short = asset.rest_pose();
    short.locals.pop();
    let mut empty = asset.rest_pose();
    empty.locals.clear();
    let mut long = asset.rest_pose();
    long.locals.push(long.locals[0]);
    [short, empty, long]
}

#[test]
fn poses_of_another_skeleton_are_refused() {
    let asset = bar();
    let skeleton = asset.rig.skeleton();
    let expected = skeleton.nodes().len();
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    let before = player.positions().to_vec();
    for mut pose in wrong_poses(&asset) {
        let found = pose.locals.len();
        let error = NodeCountError { found, expected };
        assert_eq!(skeleton.palette(&pose), Err(error));
        let mut world = vec![DAffine3::IDENTITY];
        assert_eq!(skeleton.forward_kinematics(&pose, &mut world), Err(error));
        assert_eq!(world, [DAffine3::IDENTITY]);
        let refused = DeformError::from(error);
        assert_eq!(player.pose(&pose), Err(refused));
        assert_eq!(player.positions(), before);
        assert_eq!(player.world_from_node().len(), expected);
        let goal = Goal::new(0, DVec3::X);
        assert!(reach(skeleton, &mut pose, &[goal], &ReachOptions::default()).is_err());
        assert!(move_to(skeleton, &mut pose, 0, DVec3::X).is_err());
    }
    for length in [0, expected - 1, expected + 1] {
        let world = vec![DAffine3::IDENTITY; length];
        let mut palette = Palette::identity(1);
        let found = skeleton.fill_palette(&world, &mut palette);
        assert_eq!(found.unwrap_err().found, length);
        assert_eq!(palette, Palette::identity(1));
    }
    assert_eq!(
        NodeCountError { found: 2, expected }.to_string(),
        format!("the pose has 2 nodes, but the skeleton has {expected}")
    );
}

#[test]
fn morph_weights_that_are_missing_count_as_zero() {
    let asset = bar();
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    let mut pose = asset.rest_pose();
    pose.morph_weights = vec![1.0; 7];
    player.pose(&pose).unwrap();
    pose.morph_weights.clear();
    player.pose(&pose).unwrap();
}

#[test]
fn nodes_and_joints_that_do_not_exist_are_refused() {
    let asset = bar();
    let skeleton = asset.rig.skeleton();
    let (nodes, joints) = (skeleton.nodes().len(), skeleton.joints().len());
    let mut pose = asset.rest_pose();
    let error = move_to(skeleton, &mut pose, nodes, DVec3::X).unwrap_err();
    assert!(matches!(error, ReachError::NoSuchNode { .. }), "{error}");
    let goal = Goal::new(usize::MAX, DVec3::X);
    assert!(reach(skeleton, &mut pose, &[goal], &ReachOptions::default()).is_err());
    let mut options = ReachOptions::default();
    options.stiffness.insert(nodes, 0.5);
    let goal = Goal::new(nodes - 1, DVec3::X);
    let _ = reach(skeleton, &mut pose, &[goal], &options);
    assert!(Limit::elbow(skeleton, nodes, 0, [0.0, 1.0]).is_none());
    assert!(Limit::elbow(skeleton, 0, nodes, [0.0, 1.0]).is_none());
    assert!(split(&asset, joints, &TwistOptions::default()).is_err());
    let toward = TwistOptions {
        toward: Some(joints),
        ..TwistOptions::default()
    };
    assert!(split(&asset, 0, &toward).is_err());
    let mut editor = Editor::new(&asset.rig);
    assert!(editor.set_locked(joints, true).is_err());
    assert!(!editor.is_locked(joints));
}

#[test]
fn palettes_and_outputs_of_the_wrong_size_are_refused() {
    let asset = bar();
    let vertices = asset.rig.mesh().vertex_count();
    let joints = asset.rig.skeleton().joints().len();
    for method in Method::ALL {
        let skin = Skin::bake(&asset.rig, method, Normals::Gradient).unwrap();
        let mut workspace = Workspace::default();
        let mut run = |palette: usize, positions: usize, normals: usize| {
            let (mut positions, mut normals) =
                (vec![Vec3::ZERO; positions], vec![Vec3::ZERO; normals]);
            let output = Output {
                positions: &mut positions,
                normals: Some(&mut normals),
                tangents: None,
            };
            skin.deform(&Palette::identity(palette), &mut workspace, output)
        };
        run(joints, vertices, vertices).unwrap();
        for palette in [0, joints - 1, joints + 1] {
            assert!(run(palette, vertices, vertices).is_err(), "{method}");
        }
        for size in [0, vertices - 1, vertices + 1] {
            assert!(run(joints, size, vertices).is_err(), "{method}");
            assert!(run(joints, vertices, size).is_err(), "{method}");
        }
        let short = Palette::identity(joints - 1);
        assert!(skin.inverted(&short, &mut workspace).is_err());
        let mut stream = Default::default();
        assert!(
            skin.stream_pose(&short, &mut workspace, &mut stream)
                .is_err()
        );
        let nothing = Output {
            positions: &mut [],
            normals: None,
            tangents: None,
        };
        skin.deform_crowd(&[], &mut workspace, nothing).unwrap();
    }
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    assert!(
        player
            .pose_with_palette(&asset.rest_pose(), &Palette::default())
            .is_err()
    );
}

#[test]
fn bakes_of_another_character_are_refused() {
    let asset = bar();
    let other = characters::build(Character::Bar, 4_000).unwrap();
    let refused = |method: Method, baked: BakedData| {
        Skin::bake(&asset.rig, &method, Normals::Transported).unwrap();
        Skin::bake_with(&asset.rig, &method, Normals::Transported, &baked).unwrap_err()
    };
    let weights = MatrixWeights::linear(&other.rig);
    let mesh = other.rig.mesh();
    let centers = Centers::bake(mesh, other.rig.weights(), &CenterOptions::PAPER).unwrap();
    let mush = Mush::bake(&other.rig, &MushOptions::default())
        .unwrap()
        .mush;
    let baked = BakedData {
        centers: Some(centers.into()),
        mush: Some(mush.into()),
        animation_space: Some(AnimationSpaceWeights::linear(&other.rig).into()),
        multi_weight: Some(weights.into()),
        endpoint_weights: Some([0.5; 3].into()),
        dual_shares: Some([0.5; 3].into()),
    };
    for method in [
        Method::MultiWeight,
        Method::AnimationSpace,
        Method::StretchTwist,
        Method::LinearDualBlend(LinearDualBlend::default()),
    ] {
        let error = refused(method, baked.clone());
        assert!(matches!(error, DeformError::SizeMismatch { .. }), "{error}");
    }
    let cor = Method::CentersOfRotation(CentersOfRotation::default());
    let error = refused(cor, baked.clone());
    assert!(matches!(error, DeformError::Centers(_)), "{error}");
    let ddm = Method::DirectDeltaMush(DirectDeltaMush::default());
    let error = refused(ddm, baked);
    assert!(matches!(error, DeformError::Mush(_)), "{error}");
}

#[test]
fn meshes_and_weights_that_do_not_belong_together_are_refused() {
    let asset = bar();
    let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
    let few = small_weights();
    let options = CenterOptions::PAPER;
    let skeleton = asset.rig.skeleton().clone();
    assert!(matches!(
        Rig::new(mesh.clone(), skeleton, few.clone()),
        Err(RigError::VertexCount { .. })
    ));
    assert!(Centers::bake(mesh, &few, &options).is_err());
    assert!(LiveCenters::new(mesh, &few, &options).is_err());
    assert!(exact(mesh, &few, &options).is_err());
    let mut live = LiveCenters::new(mesh, weights, &options).unwrap();
    assert!(live.update(&few, &[]).is_err());
    assert!(live.update(weights, &[mesh.vertex_count()]).is_err());
    assert!(Centers::from_points(&[], mesh, weights).is_err());
    assert!(Centers::from_points(mesh.positions(), mesh, &few).is_err());
    let centers = Centers::bake(mesh, weights, &options).unwrap();
    assert_eq!(centers.of(mesh.vertex_count()), None);
    assert_eq!(centers.points_or_places(&small_mesh()).len(), 1);
    let error = centers.carried(weights, &Palette::default()).unwrap_err();
    assert!(matches!(error, CenterError::NoSuchJoint { .. }), "{error}");
    assert!(centers.carried(&few, &Palette::identity(3)).is_err());
    let number = |_, joint| joint;
    let options = MushOptions::default();
    let found = options.fingerprint(mesh, asset.rig.skeleton(), &few, number);
    assert!(matches!(found, Err(MushError::VertexCount { .. })));
    assert!(Mush::from_parts(few, vec![], vec![]).is_err());
    let symmetry = Symmetry::along(mesh, asset.rig.skeleton(), DVec3::X).unwrap();
    assert_eq!(symmetry.vertex_partner(usize::MAX), None);
    assert_eq!(symmetry.joint_partner(usize::MAX), None);
}

#[test]
fn triangles_and_morphs_that_do_not_fit_are_refused() {
    assert!(matches!(
        vertex_normals(&[Vec3::ZERO], &[[0, 0, 1]]),
        Err(MeshError::IndexOutOfRange { triangle: 0, .. })
    ));
    assert_eq!(vertex_normals(&[], &[]), Ok(vec![]));
    let asset = bar();
    let mut shape = MorphedShape::new(&small_mesh());
    let before = shape.clone();
    assert!(shape.apply(asset.rig.mesh(), &[], &[]).is_err());
    assert_eq!(shape.shape().positions, before.shape().positions);
    shape.apply(&small_mesh(), &asset.morphs, &[]).unwrap();
}

#[test]
fn curves_that_do_not_fit_their_channel_move_nothing() {
    let asset = bar();
    let curve = |width: usize| {
        Curve::new(vec![0.0], vec![0.5; width], width, Interpolation::Linear).unwrap()
    };
    for channel in [
        Channel::Translation { node: 0 },
        Channel::Rotation { node: 0 },
        Channel::Scale { node: 0 },
        Channel::MorphWeights {
            first: usize::MAX,
            count: 3,
        },
    ] {
        for width in (0..9).filter(|&width| width != channel.width()) {
            let curve = curve(width);
            let clip = Clip {
                name: String::new(),
                tracks: vec![Track { channel, curve }],
            };
            let mut pose = asset.rest_pose();
            clip.sample(0.3, &mut pose);
            assert_eq!(pose, asset.rest_pose(), "{channel:?} {width}");
        }
    }
    let channel = Channel::Scale { node: usize::MAX };
    let clip = Clip {
        name: String::new(),
        tracks: vec![Track {
            channel,
            curve: curve(3),
        }],
    };
    assert_eq!(asset.pose_at(&clip, 0.0), asset.rest_pose());
    assert!(Curve::new(vec![], vec![], 3, Interpolation::Linear).is_err());
    assert!(Curve::new(vec![0.0], vec![1.0], 3, Interpolation::Step).is_err());
}

#[test]
fn handles_that_do_not_pair_up_are_refused() {
    let places = [DVec3::ZERO, DVec3::X];
    let turned = [DQuat::IDENTITY; 2];
    assert!(handle_palette(&places, &places, &turned).is_ok());
    assert_eq!(
        handle_palette(&places, &places[..1], &turned),
        Err(TurnError::Unpaired { rest: 2, moved: 1 })
    );
    assert_eq!(
        handle_palette(&places, &places, &turned[..1]),
        Err(TurnError::TurnCount {
            handles: 2,
            turns: 1
        })
    );
    assert!(turns(&places, &places, &[[0, 2]], Default::default()).is_err());
    assert!(turns(&places, &[], &[], Default::default()).is_err());
    let asset = bar();
    let mut arap = Arap::new(&asset.rig, &ArapOptions::default()).unwrap();
    assert!(arap.set_active(usize::MAX, false).is_err());
    let mut state = ArapState::default();
    let palette = Palette::identity(asset.rig.skeleton().joints().len());
    assert!(arap.deform(&palette, &mut state, &mut []).is_err());
    assert!(arap.energies(&Palette::default(), &mut state).is_err());
    assert!(
        Arap::of(
            asset.rig.mesh(),
            asset.rig.weights(),
            0,
            &ArapOptions::default()
        )
        .is_err()
    );
}

#[test]
fn groups_of_vertices_and_joints_that_do_not_exist_are_refused() {
    let asset = bar();
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let (vertices, joints) = (mesh.vertex_count(), skeleton.joints().len());
    let bound = |group: BindGroup| {
        let groups = [group];
        bind_groups(mesh, skeleton, &groups, &BindMethod::Rigid, &|_| {})
    };
    let whole = BindGroup::whole(mesh, skeleton);
    bound(whole.clone()).unwrap();
    let group = BindGroup {
        vertices: vec![0..vertices, vertices..vertices + 1],
        ..whole.clone()
    };
    let error = bound(group).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("a group names vertex {vertices}, but the mesh has {vertices} vertices")
    );
    let group = BindGroup {
        joints: vec![0, joints],
        ..whole.clone()
    };
    assert!(matches!(bound(group), Err(BindError::NoSuchJoint { .. })));
    let group = BindGroup {
        vertices: vec![],
        ..whole
    };
    assert!(matches!(bound(group), Err(BindError::InNoGroup(0))));
    let handle = Handle::point(joints, DVec3::ZERO);
    assert!(bind(mesh, &[handle], joints, &BindMethod::Rigid, &|_| {}).is_err());
    assert!(bind(mesh, &[], joints, &BindMethod::Rigid, &|_| {}).is_err());
    assert!(Handle::of_joints(skeleton, &[joints]).is_empty());
}

#[test]
fn measures_take_what_is_missing_as_unmoved() {
    let asset = bar();
    let gauge = Gauge::new(&asset.rig);
    let rest = asset.rig.mesh().positions();
    let metrics = gauge.measure(&rest[..3], &[], &Palette::default());
    assert!(metrics.area_change.abs() < 1e-6);
    assert!(gauge.region_of_joint(usize::MAX).is_none());
    let mut distance = RmsDistance::new();
    distance.add(rest, &rest[..2]);
    assert_eq!(distance.value(), 0.0);
    let mut smoothness = TimeSmoothness::new();
    for frame in [rest, &rest[..2], &[], rest] {
        smoothness.add(frame);
    }
    assert_eq!(smoothness.popping_frames(), 0);
}

#[test]
fn parts_beyond_the_surface_are_cut() {
    let asset = bar();
    let mut parts = asset.parts.clone();
    let vertices = asset.rig.mesh().vertex_count();
    for part in &mut parts {
        *part = Part {
            vertices: vertices - 1..vertices + 5,
            ..part.clone()
        };
    }
    let _ = Findings::of(&asset.rig, &parts);
}
