//! Poses written into files: the file opens in the pose, and is otherwise what it was.

#![allow(clippy::unwrap_used)]

mod common;

use common::worlds;
use glam::{DAffine3, DVec3};
use supple::Asset;
use supple::characters::{self, Character};
use supple::inverse_kinematics::{Goal, ReachOptions, reach};
use supple_io::gltf::{self, SaveError};

#[test]
fn every_limb_of_every_shared_model_reaches_and_the_file_opens_so() {
    for path in common::models() {
        let loaded = gltf::load(&path).unwrap();
        let asset = &loaded.asset;
        let skeleton = asset.rig.skeleton();
        let mut pose = match asset.clips.first() {
            Some(clip) => asset.pose_at(clip, 0.3 * clip.duration()),
            None => asset.rest_pose(),
        };
        for joint in skeleton.joints() {
            let here = worlds(asset, &pose)[joint.node].translation;
            let mut tried = pose.clone();
            // Where a chain is, it pulls a little toward the origin: within reach, but for folded
            // ones.
            let goal = Goal::new(joint.node, here * 0.97);
            let outcome = reach(skeleton, &mut tried, &[goal], &ReachOptions::default());
            let Ok(reached) = outcome else {
                continue;
            };
            let before = here.distance(goal.position);
            assert!(
                reached[0].distance <= before * (1.0 + 1e-9),
                "{path:?} {reached:?}"
            );
            if reached[0].away < 0.9 * reached[0].span && reached[0].chain.len() > 2 {
                let left = reached[0].distance / reached[0].span;
                assert!(left < 1e-6, "{path:?} {reached:?}");
            }
            pose = tried;
        }
        let mut document = loaded.document.clone();
        document.set_pose(asset, &pose).unwrap();
        let again = gltf::from_slice(&document.to_glb().unwrap(), "again").unwrap();
        let expected = worlds(asset, &pose);
        let size = expected.iter().map(|world| world.translation.length());
        let size = size.fold(0.0, f64::max);
        for (found, expected) in worlds(&again.asset, &again.asset.rest_pose())
            .iter()
            .zip(&expected)
        {
            let apart = found.translation.distance(expected.translation);
            assert!(apart <= 1e-5 * size, "{path:?}: {apart} of {size}");
        }
        let morphs = pose
            .morph_weights
            .iter()
            .zip(&again.asset.rest_morph_weights);
        for (wanted, found) in morphs {
            assert!((wanted - found).abs() < 1e-6, "{path:?}");
        }
        assert_eq!(again.asset.rig.weights(), asset.rig.weights(), "{path:?}");
        assert_eq!(again.asset.clips, asset.clips, "{path:?}");
        let binds = |asset: &Asset| -> Vec<DAffine3> {
            let joints = asset.rig.skeleton().joints().iter();
            joints.map(|joint| joint.joint_from_bind).collect()
        };
        assert_eq!(binds(&again.asset), binds(asset), "{path:?}");
    }
}

#[test]
fn a_pose_of_another_skeleton_is_refused() {
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let mut document = gltf::Document::from_asset(&bar).unwrap();
    let mut pose = bar.rest_pose();
    pose.locals.pop();
    let refused = document.set_pose(&bar, &pose);
    assert_eq!(refused, Err(SaveError::OtherSkeleton));
    let mut pose = bar.rest_pose();
    pose.locals[1] = pose.locals[1].moved_to(DVec3::ONE);
    document.set_pose(&bar, &pose).unwrap();
}
