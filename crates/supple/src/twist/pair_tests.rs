//! Both sides of a character are decided about together.

use super::*;
use crate::characters::{self, Character};
use crate::clip::{Curve, Interpolation};
use crate::mesh::Mesh;
use glam::Vec3;

const ARM: [usize; 2] = [1, 4];
const HAND: [usize; 2] = [2, 5];
const PAD: [usize; 2] = [3, 6];

/// Two arms, each with two children: a hand at the front and a pad behind it. The skin between
/// them lies along X; how much of it the arms hold differs from side to side.
fn two_arms(names: [&str; 7], clips: Vec<Clip>) -> Asset {
    let node = |joint: usize, parent, place: [f64; 3]| Node {
        name: names[joint].to_owned(),
        parent,
        rest: Local::Trs(Trs::from_translation(DVec3::from(place))),
    };
    let nodes = vec![
        node(0, None, [0.0; 3]),
        node(1, Some(0), [1.0, 0.0, 0.0]),
        node(2, Some(1), [1.0, 0.0, 0.3]),
        node(3, Some(1), [1.0, 0.0, -0.3]),
        node(4, Some(0), [-1.0, 0.0, 0.0]),
        node(5, Some(4), [-1.0, 0.0, 0.3]),
        node(6, Some(4), [-1.0, 0.0, -0.3]),
    ];
    let mut positions = Vec::new();
    let mut weights = WeightsBuilder::new(7).unwrap();
    for side in [0, 1] {
        let sign = [1.0, -1.0][side];
        for step in 0..12 {
            for depth in [-0.2f32, 0.2] {
                positions.push(Vec3::new(sign * (1.0 + step as f32 / 12.0), 0.0, depth));
                // The left arm holds a little more at the front, the right one more behind.
                let more = if side == 0 { 0.01 } else { -0.03 };
                let held = 0.8 + more * depth.signum();
                weights
                    .push([(ARM[side], held), (0, 1.0 - held)], 0)
                    .unwrap();
            }
        }
    }
    let mesh = Mesh::new(positions, None, None, vec![]).unwrap();
    let skeleton = Skeleton::bound_at_rest(nodes, &[0, 1, 2, 3, 4, 5, 6]).unwrap();
    Asset {
        name: "arms".to_owned(),
        rig: Rig::new(mesh, skeleton, weights.finish().0).unwrap(),
        parts: vec![],
        morphs: vec![],
        rest_morph_weights: vec![],
        clips,
        props: vec![],
    }
}

const NAMES: [&str; 7] = [
    "chest", "arm.L", "hand.L", "pad.L", "arm.R", "hand.R", "pad.R",
];
const UNNAMED: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// A clip that turns nodes about the axis to the pads.
fn turns(nodes: &[(usize, f64)]) -> Clip {
    let track = |&(node, angle): &(usize, f64)| {
        let sign = if ARM[1] <= node { -1.0 } else { 1.0 };
        let axis = DVec3::new(sign, 0.0, -0.3).normalize();
        let turned = DQuat::from_axis_angle(axis, angle);
        let keys = [DQuat::IDENTITY, turned].map(|key| key.to_array().map(|x| x as f32));
        let curve = Curve::new(vec![0.0, 1.0], keys.concat(), 4, Interpolation::Linear);
        Track {
            channel: Channel::Rotation { node },
            curve: curve.unwrap(),
        }
    };
    Clip {
        name: "turns".to_owned(),
        tracks: nodes.iter().map(track).collect(),
    }
}

fn decided(asset: &Asset, joint: usize) -> TwistDecision {
    decide(asset, joint, &TwistOptions::default()).unwrap()
}

#[test]
fn two_sides_that_differ_a_little_are_split_alike() {
    for names in [NAMES, UNNAMED] {
        // On the left the pad turns more than the arm, on the right the arm turns most of all.
        let clips = vec![turns(&[(PAD[0], 0.5), (ARM[0], 0.4), (ARM[1], 0.9)])];
        let asset = two_arms(names, clips);
        // On its own, the left arm would end at the hand and follow its child.
        let alone = Bone::at(&asset.rig, ARM[0], None).unwrap();
        assert_eq!(alone.toward, HAND[0]);
        let to_pad = Bone::at(&asset.rig, ARM[0], Some(PAD[0])).unwrap();
        assert_eq!(larger_twist(&asset, &[to_pad]), TwistOf::Child);
        for side in [0, 1] {
            let expected = TwistDecision {
                toward: PAD[side],
                twist_of: TwistOf::Joint,
                partner: Some(ARM[1 - side]),
            };
            assert_eq!(decided(&asset, ARM[side]), expected, "{names:?}");
            let added = split(&asset, ARM[side], &TwistOptions::default())
                .unwrap()
                .added;
            assert_eq!(added.driver.twist_of, TwistOf::Joint);
            assert_eq!(added.driver.share, -SHARE);
        }
    }
}

#[test]
fn the_second_side_is_split_like_the_first() {
    let clips = vec![turns(&[(PAD[0], 0.5), (ARM[0], 0.4), (ARM[1], 0.9)])];
    let asset = two_arms(NAMES, clips);
    let first = split(&asset, ARM[0], &TwistOptions::default()).unwrap();
    let second = ARM[1] + 1;
    assert_eq!(first.asset.rig.skeleton().joint_name(second), "arm.R");
    let second = split(&first.asset, second, &TwistOptions::default()).unwrap();
    assert_eq!(second.added.driver.twist_of, first.added.driver.twist_of);
    let skeleton = second.asset.rig.skeleton();
    assert_eq!(skeleton.nodes()[second.added.toward].name, "pad.R");
}

#[test]
fn given_options_and_joints_without_partners_are_left_as_they_are() {
    let asset = two_arms(NAMES, vec![turns(&[(ARM[1], 0.9)])]);
    let given = TwistOptions {
        toward: Some(HAND[0]),
        twist_of: Some(TwistOf::Child),
        name: None,
    };
    let decision = decide(&asset, ARM[0], &given).unwrap();
    assert_eq!(
        (decision.toward, decision.twist_of),
        (HAND[0], TwistOf::Child)
    );
    let bar = characters::build(Character::Bar, 2000).unwrap();
    assert_eq!(decided(&bar, 0).partner, None);
}

#[test]
fn both_sides_of_the_figure_get_the_same_numbers() {
    let figure = characters::build(Character::Figure, 3000).unwrap();
    let (mesh, skeleton) = (figure.rig.mesh(), figure.rig.skeleton());
    let symmetry = crate::symmetry::Symmetry::of(mesh, skeleton).unwrap();
    let mut pairs = 0;
    for joint in 0..skeleton.joints().len() {
        let Some(partner) = symmetry.joint_partner(joint).filter(|&other| other > joint) else {
            continue;
        };
        let both = [joint, partner];
        let split = both.map(|joint| split(&figure, joint, &TwistOptions::default()));
        let [Ok(one), Ok(other)] = split else {
            assert_eq!(split[0].is_ok(), split[1].is_ok());
            continue;
        };
        pairs += 1;
        let decisions = both.map(|joint| decided(&figure, joint));
        assert_eq!(decisions[0].twist_of, decisions[1].twist_of);
        assert_eq!(
            symmetry.joint_partner(decisions[0].toward),
            Some(decisions[1].toward)
        );
        assert_eq!(decisions[0].partner, Some(partner));
        assert_eq!(one.added.driver.share, other.added.driver.share);
        let given = |twisted: &Twisted, vertex: usize| {
            let joints = twisted.asset.rig.skeleton().joints();
            let weights = twisted.asset.rig.weights().of(vertex);
            let own = weights.filter(|held| joints[held.joint].node == twisted.added.node);
            own.map(|held| held.weight).sum::<f32>()
        };
        for vertex in 0..mesh.vertex_count() {
            let image = symmetry.vertex_partner(vertex).unwrap();
            let apart = (given(&one, vertex) - given(&other, image)).abs();
            // The weights of the figure itself differ by as much.
            assert!(apart < 2e-4, "vertex {vertex}: {apart}");
        }
    }
    assert!(pairs >= 20, "{pairs}");
}
