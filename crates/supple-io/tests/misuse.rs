//! Documents that are given parts of another character, or parts that contradict each other: an
//! error, never a panic.

#![allow(clippy::unwrap_used)]

use glam::{DVec3, Vec3};
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::mesh::{Morph, MorphTarget, Part};
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, PlacedHandles, place_handles};
use supple::twist::{TwistOptions, Twisted, split};
use supple::weights::WeightsBuilder;
use supple::{Asset, Method, Normals, Player, Pose, Rig, Weights};
use supple_io::gltf::{Document, Loaded, MushErrors, SaveError};

/// A character as a file of its own holds it.
fn loaded(character: Character) -> Loaded {
    let asset = characters::build(character, 2_000).unwrap();
    let document = Document::from_asset(&asset).unwrap();
    document.read("a character").unwrap()
}

/// All vertices on one joint.
fn on_joint(joint: usize, joints: usize, vertices: usize) -> Weights {
    let mut builder = WeightsBuilder::new(joints).unwrap();
    for _ in 0..vertices {
        builder.push([(joint, 1.0)], 0).unwrap();
    }
    builder.finish().0
}

/// The surface of one character on the skeleton of another, all of it on the last joint.
fn on_another_skeleton(surface: &Asset, other: &Asset) -> Rig {
    let mesh = surface.rig.mesh().clone();
    let skeleton = other.rig.skeleton().clone();
    let joints = skeleton.joints().len();
    let weights = on_joint(joints - 1, joints, mesh.vertex_count());
    Rig::new(mesh, skeleton, weights).unwrap()
}

/// Rigs that are not the bar's: another surface, and its surface on another skeleton.
fn other_rigs(bar: &Loaded) -> [Rig; 2] {
    let arm = loaded(Character::Arm).asset;
    let mixed = on_another_skeleton(&bar.asset, &arm);
    [arm.rig, mixed]
}

#[test]
fn rigs_of_another_file_are_refused() {
    let mut bar = loaded(Character::Bar);
    let before = bar.document.to_gltf();
    for rig in other_rigs(&bar) {
        let document = &mut bar.document;
        assert!(document.bind_groups(rig.mesh(), rig.skeleton()).is_err());
        assert!(document.set_binding(&rig).is_err());
        assert!(document.set_weights(rig.weights()).is_err());
        let options = MushOptions::default();
        let mush = Mush::bake(&rig, &options).unwrap().mush;
        assert!(document.set_mush(&rig, &mush, &options, 4).is_err());
        assert!(document.set_skin_of_mush(&rig, &mush, 4).is_err());
        // The right rig with a bake that names joints which it does not have.
        let own = &bar.asset.rig;
        assert!(document.set_mush(own, &mush, &options, 4).is_err());
        assert!(document.set_skin_of_mush(own, &mush, 4).is_err());
    }
    let [arm, _] = other_rigs(&bar);
    let centers = Centers::bake(arm.mesh(), arm.weights(), &CenterOptions::PAPER).unwrap();
    let document = &mut bar.document;
    assert!(
        document
            .set_centers(&arm, &centers, &CenterOptions::PAPER)
            .is_err()
    );
    assert!(document.surface_at_rest(&arm).is_err());
    assert_eq!(document.to_gltf(), before, "changed by what was refused");
}

#[test]
fn parts_that_bind_groups_compares_are_checked_one_by_one() {
    let bar = loaded(Character::Bar);
    let arm = loaded(Character::Arm);
    let (mesh, skeleton) = (bar.asset.rig.mesh(), bar.asset.rig.skeleton());
    assert_eq!(bar.document.bind_groups(mesh, skeleton).unwrap().len(), 1);
    let other = arm.asset.rig.mesh();
    let found = bar.document.bind_groups(other, skeleton).unwrap_err();
    assert!(matches!(found, SaveError::VertexCount { .. }), "{found}");
    let other = arm.asset.rig.skeleton();
    let found = bar.document.bind_groups(mesh, other).unwrap_err();
    assert_eq!(found, SaveError::OtherSkeleton);
}

#[test]
fn point_handles_for_another_character_are_refused() {
    let bar = loaded(Character::Bar);
    let rig = &bar.asset.rig;
    let vertices = rig.mesh().vertex_count();
    let surface = bar.document.surface_at_rest(rig).unwrap();
    let handles = place_handles(&surface, &HandleOptions::default()).unwrap();
    let count = handles.places.len();
    let weights = on_joint(count - 1, count, vertices);
    let with = |rig: &Rig, handles: &PlacedHandles, weights: &Weights| {
        bar.document.with_point_handles(rig, handles, weights)
    };
    with(rig, &handles, &weights).unwrap();
    let few = on_joint(0, count, 3);
    assert!(with(rig, &handles, &few).is_err());
    let [arm, _] = other_rigs(&bar);
    let found = with(&arm, &handles, &weights).unwrap_err();
    assert!(matches!(found, SaveError::VertexCount { .. }), "{found}");
    // Weights on a handle that does not exist.
    let beyond = on_joint(count, count + 1, vertices);
    let found = with(rig, &handles, &beyond).unwrap_err();
    assert!(matches!(found, SaveError::JointNotInSkin { .. }), "{found}");
    // Edges of handles that do not exist are in the file, and reported as it is read.
    let mut odd = handles.clone();
    odd.edges = vec![[0, usize::MAX]];
    odd.kinds.clear();
    let again = with(rig, &odd, &weights).unwrap();
    assert_eq!(again.document.pseudo_edges(), Vec::<[usize; 2]>::new());
    assert_eq!(again.document.bad_pseudo_edges().len(), 1);
    odd.places[0] = DVec3::NAN;
    let found = with(rig, &odd, &weights).unwrap_err();
    assert!(matches!(found, SaveError::NotFinite(_)), "{found}");
}

#[test]
fn characters_with_other_parts_are_not_posed() {
    let bar = loaded(Character::Bar);
    let posed = |asset: &Asset, pose: &Pose| {
        let player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
        bar.document.posed(&player, pose).map(|_| ())
    };
    let rest = bar.asset.rest_pose();
    posed(&bar.asset, &rest).unwrap();
    let vertices = bar.asset.rig.mesh().vertex_count();
    let triangles = bar.asset.rig.mesh().triangles().len();
    let whole = &bar.asset.parts[0];
    let part = |vertices, triangles| Part {
        vertices,
        triangles,
        ..whole.clone()
    };
    for parts in [
        vec![],
        vec![part(0..vertices, 0..triangles + 1)],
        vec![part(0..vertices + 1, 0..triangles)],
        vec![part(1..vertices, 0..triangles)],
        vec![part(0..usize::MAX, 0..usize::MAX)],
        vec![whole.clone(), whole.clone()],
    ] {
        let asset = Asset {
            parts,
            ..bar.asset.clone()
        };
        assert_eq!(posed(&asset, &rest), Err(SaveError::OtherParts));
    }
    let arm = loaded(Character::Arm).asset;
    assert!(posed(&arm, &arm.rest_pose()).is_err());
    let mut short = rest.clone();
    short.locals.pop();
    assert_eq!(posed(&bar.asset, &short), Err(SaveError::OtherSkeleton));
}

#[test]
fn morphs_beyond_the_weights_of_a_pose_are_skipped() {
    let mut bar = loaded(Character::Bar);
    let pose = Pose {
        morph_weights: vec![0.5; 3],
        ..bar.asset.rest_pose()
    };
    for first_weight in [0, 2, 3, 4, usize::MAX] {
        let asset = Asset {
            morphs: vec![Morph {
                first_vertex: 0,
                first_weight,
                targets: vec![MorphTarget::default(); 2],
            }],
            ..bar.asset.clone()
        };
        bar.document.set_pose(&asset, &pose).unwrap();
    }
    let arm = loaded(Character::Arm).asset;
    let found = bar.document.set_pose(&arm, &arm.rest_pose()).unwrap_err();
    assert_eq!(found, SaveError::OtherSkeleton);
}

#[test]
fn twist_joints_of_another_character_are_refused() {
    let mut bar = loaded(Character::Bar);
    let arm = loaded(Character::Arm).asset;
    let twisted = |asset: &Asset| {
        let joints = 0..asset.rig.skeleton().joints().len();
        let options = TwistOptions::default();
        let mut found = joints.filter_map(|joint| split(asset, joint, &options).ok());
        found.next().unwrap()
    };
    assert!(bar.document.add_twist_joint(&twisted(&arm)).is_err());
    let own = twisted(&bar.asset);
    let changes: [fn(&mut Twisted); 5] = [
        |own| own.added.node = usize::MAX,
        |own| own.added.split = usize::MAX,
        |own| own.added.driver.source = usize::MAX,
        |own| own.added.driver.against = usize::MAX,
        |own| own.asset.clips.clear(),
    ];
    for change in changes {
        let mut odd = own.clone();
        change(&mut odd);
        let found = bar.document.add_twist_joint(&odd);
        assert_eq!(found, Err(SaveError::NotOneMoreJoint));
    }
    bar.document.add_twist_joint(&own).unwrap();
}

#[test]
fn curves_that_do_not_fit_their_channel_are_not_written() {
    let mut asset = characters::build(Character::Bar, 2_000).unwrap();
    let curve = Curve::new(vec![0.0], vec![0.5; 3], 3, Interpolation::Linear).unwrap();
    let track = |channel| Track {
        channel,
        curve: curve.clone(),
    };
    asset.clips = vec![Clip {
        name: "odd".to_owned(),
        tracks: vec![
            track(Channel::Rotation { node: 0 }),
            track(Channel::Scale { node: 0 }),
            track(Channel::Translation { node: usize::MAX }),
        ],
    }];
    let again = Document::from_asset(&asset).unwrap().read("odd").unwrap();
    let tracks = &again.asset.clips[0].tracks;
    assert_eq!(tracks.len(), 1, "{tracks:?}");
    assert_eq!(tracks[0].channel, Channel::Scale { node: 0 });
}

#[test]
fn errors_of_a_bake_are_measured_only_on_its_character() {
    let bar = loaded(Character::Bar);
    let mush = |rig: &Rig| {
        let baked = Mush::bake(rig, &MushOptions::default()).unwrap();
        std::sync::Arc::new(baked.mush)
    };
    let [arm, mixed] = other_rigs(&bar);
    let own = mush(&bar.asset.rig);
    let measure =
        |stored: &Rig, skinned: &Rig| MushErrors::measure(&bar.asset, &own, &mush(stored), skinned);
    measure(&bar.asset.rig, &bar.asset.rig).unwrap();
    assert!(measure(&arm, &bar.asset.rig).is_err());
    assert!(measure(&bar.asset.rig, &arm).is_err());
    assert!(measure(&bar.asset.rig, &mixed).is_err());
}

#[test]
fn surfaces_that_contradict_themselves_are_not_written() {
    let places = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let writers = [supple_io::obj::write, supple_io::ply::write];
    for write in writers {
        let mut out = Vec::new();
        write(&mut out, &places, &[], &[[0, 1, 3]]).unwrap_err();
        write(&mut out, &places, &[Vec3::Z], &[[0, 1, 2]]).unwrap_err();
        write(&mut out, &[Vec3::NAN], &[], &[]).unwrap_err();
        assert!(out.is_empty());
        write(&mut out, &[], &[], &[]).unwrap();
    }
}
