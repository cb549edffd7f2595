use super::*;
use crate::clip::{Curve, Interpolation};
use crate::mesh::{Mesh, Part};
use crate::rig::Prop;
use crate::{Method, Normals, Player, Weights};
use glam::{DMat3, Vec3};
use std::f64::consts::{FRAC_PI_2, TAU};

const SHOULDER: usize = 1;
const ELBOW: usize = 2;
const WRIST: usize = 3;

/// An arm along +X, a metre from joint to joint, with rotated frames and some scales: a plain root
/// node, then shoulder, elbow, wrist, and the node of a watch.
fn nodes() -> Vec<Node> {
    let turned = |angle: f64| DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), angle);
    let node = |name: &str, parent, translation: DVec3, rotation, scale: f64| Node {
        name: name.to_owned(),
        parent,
        rest: Local::Trs(Trs {
            translation,
            rotation,
            scale: DVec3::splat(scale),
        }),
    };
    // Each joint takes back the rotation of its parent, in whose frame the next joint lies.
    let along = |angle: f64, length: f64| turned(angle).inverse() * DVec3::X * length;
    vec![
        node("top", None, DVec3::Y, DQuat::IDENTITY, 1.0),
        node("shoulder", Some(0), DVec3::ZERO, turned(0.4), 2.0),
        node("elbow", Some(1), along(0.4, 0.5), turned(0.3), 1.0),
        node("wrist", Some(2), along(0.7, 0.5), turned(-1.1), 1.0),
        node("watch", Some(3), DVec3::Y, DQuat::IDENTITY, 1.0),
        node("beside", Some(0), DVec3::Z, DQuat::IDENTITY, 1.0),
    ]
}

/// A tube around the arm, held by smooth weights.
fn skin(joints: usize) -> (Mesh, Weights) {
    let mut positions = Vec::new();
    let mut weights = WeightsBuilder::new(joints).unwrap();
    let rings = 61;
    for ring in 0..rings {
        let x = -0.5 + 3.5 * ring as f32 / (rings - 1) as f32;
        for side in 0..8 {
            let angle = side as f32 * std::f32::consts::FRAC_PI_4;
            positions.push(Vec3::new(x, 1.0 + 0.2 * angle.cos(), 0.2 * angle.sin()));
            let smooth = |at: f32| ((x - at) / 0.4 + 0.5).clamp(0.0, 1.0);
            let (elbow, wrist) = (smooth(1.0), smooth(2.0));
            weights
                .push([(0, 1.0 - elbow), (1, elbow - wrist), (2, wrist)], 0)
                .unwrap();
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..rings as u32 - 1 {
        for side in 0..8 {
            let [a, b] = [8 * ring + side, 8 * ring + (side + 1) % 8];
            triangles.extend([[a, a + 8, b], [b, a + 8, b + 8]]);
        }
    }
    let mesh = Mesh::new(positions, None, None, triangles).unwrap();
    (mesh, weights.finish().0)
}

fn asset(nodes: Vec<Node>, joints: &[usize], clips: Vec<Clip>) -> Asset {
    let (mesh, weights) = skin(joints.len());
    let parts = vec![Part {
        name: "arm".to_owned(),
        vertices: 0..mesh.vertex_count(),
        triangles: 0..mesh.triangles().len(),
        color: None,
    }];
    let skeleton = Skeleton::bound_at_rest(nodes, joints).unwrap();
    let prop = Prop {
        name: "watch".to_owned(),
        node: 4,
        mesh: mesh.clone(),
        morphs: Vec::new(),
        color: None,
    };
    Asset {
        name: "arm".to_owned(),
        rig: Rig::new(mesh, skeleton, weights).unwrap(),
        parts,
        morphs: Vec::new(),
        rest_morph_weights: vec![0.5],
        clips,
        props: vec![prop],
    }
}

fn arm(clips: Vec<Clip>) -> Asset {
    asset(nodes(), &[SHOULDER, ELBOW, WRIST], clips)
}

/// The direction of the arm in the frame of a node at rest.
fn axis_in(node: usize) -> DVec3 {
    let skeleton = Skeleton::new(nodes(), Vec::new()).unwrap();
    let mut world = Vec::new();
    skeleton
        .forward_kinematics(&skeleton.rest_pose(), &mut world)
        .unwrap();
    rotation_of(world[node].matrix3).inverse() * DVec3::X
}

fn rotation_of(matrix: DMat3) -> DQuat {
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(DVec3::normalize);
    DQuat::from_mat3(&DMat3::from_cols_array_2d(&columns.map(|c| c.to_array())))
}

/// A clip that rotates nodes by (twist about the arm, then swing about another axis) at evenly
/// spaced keys.
fn clip(node: usize, interpolation: Interpolation, turns: &[(f64, f64)]) -> Clip {
    let rest = nodes()[node].rest.to_trs().rotation;
    let axis = axis_in(node);
    let across = axis.any_orthonormal_vector();
    let times = (0..turns.len()).map(|key| 0.5 * key as f32).collect();
    let mut values = Vec::new();
    for &(twist, swing) in turns {
        let swung = DQuat::from_axis_angle(across, swing);
        let key = rest * swung * DQuat::from_axis_angle(axis, twist);
        let key = key.to_array().map(|x| x as f32);
        match interpolation {
            Interpolation::CubicHermite => {
                let slope = [0.3, -0.4, 0.2, 0.1];
                values.extend([slope, key, slope].concat());
            }
            _ => values.extend(key),
        }
    }
    Clip {
        name: format!("{interpolation:?}"),
        tracks: vec![Track {
            channel: Channel::Rotation { node },
            curve: Curve::new(times, values, 4, interpolation).unwrap(),
        }],
    }
}

fn degrees(twist: f64, swing: f64) -> (f64, f64) {
    (twist.to_radians(), swing.to_radians())
}

fn worlds(asset: &Asset, pose: &Pose) -> Vec<DAffine3> {
    let mut world = Vec::new();
    asset
        .rig
        .skeleton()
        .forward_kinematics(pose, &mut world)
        .unwrap();
    world
}

fn places(asset: &Asset, pose: &Pose) -> Vec<Vec3> {
    let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(pose).unwrap();
    player.positions().to_vec()
}

#[track_caller]
fn assert_same_places(found: &[Vec3], expected: &[Vec3]) {
    let extent = crate::Bounds::around(expected.iter().copied())
        .unwrap()
        .extent();
    let pairs = found.iter().zip(expected);
    let worst = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(worst < 1e-6 * extent, "{worst}");
}

/// Properties of any split: old nodes move as before, the rest pose is unchanged, and the new joint
/// rotates by its share of the twist, which is tracked here in tiny steps from world transforms
/// alone.
#[track_caller]
fn assert_spreads(old: &Asset, twisted: &Twisted) {
    let (new, added) = (&twisted.asset, &twisted.added);
    assert_same_places(
        &places(new, &new.rest_pose()),
        &places(old, &old.rest_pose()),
    );
    let rest = worlds(new, &new.rest_pose());
    let (against, source) = (added.driver.against, added.driver.source);
    let relative = |worlds: &[DAffine3]| {
        rotation_of(worlds[against].matrix3).inverse() * rotation_of(worlds[source].matrix3)
    };
    let axis_in_source = rotation_of(rest[source].matrix3).inverse() * DVec3::X;
    for (old_clip, clip) in old.clips.iter().zip(&new.clips) {
        let mut followed = 0.0;
        // Also past the end, and away from the keys, where steps jump.
        let steps = 4001;
        for step in 0..steps {
            let time = (f64::from(step) + 0.3) / f64::from(steps) * (clip.duration() + 0.1);
            let (old_pose, mut pose) = (old.pose_at(old_clip, time), new.pose_at(clip, time));
            let world = worlds(new, &pose);
            let turn = relative(&rest).inverse() * relative(&world);
            let twist = swing_and_twist(turn, Some(axis_in_source)).1;
            followed = twist + TAU * ((followed - twist) / TAU).round();
            let expected = DQuat::from_axis_angle(added.driver.axis, added.driver.share * followed);
            let found = pose.locals[added.node].to_trs().rotation;
            let off = 2.0 * found.dot(expected).abs().min(1.0).acos().to_degrees();
            assert!(off < 0.1, "{} at {time}: {off}°", clip.name);
            if step % 200 == 0 {
                let mut kept = worlds(new, &pose);
                kept.remove(added.node);
                assert_eq!(kept, worlds(old, &old_pose));
                // Without the rotation of the new joint, everything is unchanged, including bends.
                pose.locals[added.node] = new.rig.skeleton().nodes()[added.node].rest;
                assert_same_places(&places(new, &pose), &places(old, &old_pose));
            }
        }
    }
}

fn spread(asset: &Asset, joint: usize, twist_of: TwistOf) -> Twisted {
    let options = TwistOptions {
        twist_of: Some(twist_of),
        ..TwistOptions::default()
    };
    let twisted = split(asset, joint, &options).unwrap();
    assert_spreads(asset, &twisted);
    twisted
}

#[test]
fn a_wrist_twists_the_forearm_however_its_keys_are_joined() {
    let turns = [(0.0, 0.0), (100.0, 40.0), (150.0, -60.0), (-70.0, 100.0)];
    let turns = turns.map(|(twist, swing)| degrees(twist, swing));
    let clips = [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicHermite,
        Interpolation::CatmullRom,
    ];
    let arm = arm(clips.map(|how| clip(WRIST, how, &turns)).into());
    let twisted = spread(&arm, 1, TwistOf::Child);
    let (new, added) = (&twisted.asset, &twisted.added);
    let skeleton = new.rig.skeleton();
    assert_eq!(skeleton.nodes()[added.node].name, "elbow_twist");
    assert_eq!(skeleton.nodes()[added.node].parent, Some(ELBOW));
    assert_eq!((added.split, added.toward), (ELBOW, WRIST));
    let largest = added.largest.unwrap();
    assert!(largest.angle.to_degrees().abs() >= 75.0 - 1e-4);
    // Steps stay steps, and a bend alone has no keys in between.
    let last = |clip: &Clip| clip.tracks.last().unwrap().clone();
    assert_eq!(
        last(&new.clips[0]).curve.interpolation(),
        Interpolation::Step
    );
    assert_eq!(last(&new.clips[0]).curve.times().len(), 4);
    assert!(last(&new.clips[1]).curve.times().len() > 4);
}

#[test]
fn a_plain_twist_needs_no_keys_in_between_and_goes_on_beyond_half_a_turn() {
    let turns: Vec<(f64, f64)> = (0..=7)
        .map(|key| degrees(50.0 * f64::from(key), 0.0))
        .collect();
    let arm = arm(vec![clip(WRIST, Interpolation::Linear, &turns)]);
    let twisted = spread(&arm, 1, TwistOf::Child);
    let largest = twisted.added.largest.unwrap();
    assert!((largest.angle.to_degrees() - 175.0).abs() < 1e-4);
    assert_eq!((largest.clip, largest.time), (0, 3.5));
    let track = twisted.asset.clips[0].tracks.last().unwrap();
    assert_eq!(track.curve.times().len(), turns.len());
}

#[test]
fn a_shoulder_that_rolls_is_held_back_where_it_begins() {
    let turns = [degrees(0.0, 0.0), degrees(90.0, 30.0), degrees(120.0, 80.0)];
    let arm = arm(vec![clip(ELBOW, Interpolation::Linear, &turns)]);
    // Without options: the elbow rolls, not the wrist.
    let twisted = split(&arm, 1, &TwistOptions::default()).unwrap();
    assert_eq!(twisted.added.driver.twist_of, TwistOf::Joint);
    assert_spreads(&arm, &twisted);
    assert!(twisted.added.driver.share < 0.0);
    // Skin near the elbow follows the new joint, skin near the wrist the old one.
    let near = |x: f32| {
        let positions = twisted.asset.rig.mesh().positions().iter();
        let vertex = positions
            .enumerate()
            .find(|(_, p)| (p.x - x).abs() < 0.03)
            .unwrap()
            .0;
        let new = twisted.asset.rig.skeleton().joints().iter();
        let new = new
            .enumerate()
            .find(|(_, joint)| joint.node == twisted.added.node)
            .unwrap()
            .0;
        let mut row = twisted.asset.rig.weights().of(vertex);
        row.find(|influence| influence.joint == new)
            .map_or(0.0, |influence| influence.weight)
    };
    assert!(near(1.25) > 0.7 && near(1.75) < 0.3);
    // A clip without the joint leaves the default choice, and does not move the joint.
    let still = Asset {
        clips: vec![clip(SHOULDER, Interpolation::Linear, &turns)],
        ..arm
    };
    let twisted = split(&still, 1, &TwistOptions::default()).unwrap();
    assert_eq!(twisted.added.driver.twist_of, TwistOf::Child);
    assert_eq!(twisted.added.largest, None);
    assert_eq!(twisted.asset.clips[0].tracks.len(), 1);
}

#[test]
fn rounding_does_not_choose_which_twist_is_spread() {
    // Swings whose twist is only rounding to f32, and equal twists of both.
    let swings = [degrees(0.0, 0.0), degrees(0.0, 50.0), degrees(0.0, 80.0)];
    let twists = [degrees(0.0, 0.0), degrees(60.0, 0.0), degrees(40.0, 0.0)];
    for (of_elbow, of_wrist, turns) in [
        (&swings, None, false),
        (&swings, Some(&swings), false),
        (&twists, Some(&twists), true),
    ] {
        let clip_of = |node, turns: &[(f64, f64)]| clip(node, Interpolation::Linear, turns);
        let mut clips = vec![clip_of(ELBOW, of_elbow)];
        clips.extend(of_wrist.map(|turns| clip_of(WRIST, turns)));
        let twisted = split(&arm(clips), 1, &TwistOptions::default()).unwrap();
        assert_eq!(twisted.added.driver.twist_of, TwistOf::Child);
        assert_eq!(twisted.added.largest.is_some(), turns);
    }
}

#[test]
fn the_weights_of_the_bone_are_divided_along_it() {
    let arm = arm(Vec::new());
    let twisted = split(&arm, 1, &TwistOptions::default()).unwrap();
    let (old, new) = (arm.rig.weights(), twisted.asset.rig.weights());
    let added = (0..4)
        .find(|&joint| twisted.asset.rig.skeleton().joints()[joint].node == twisted.added.node);
    let added = added.unwrap();
    let mut followers = 0;
    for (vertex, position) in arm.rig.mesh().positions().iter().enumerate() {
        let weight = |weights: &Weights, joint: usize| {
            let mut row = weights.of(vertex);
            row.find(|influence| influence.joint == joint)
                .map_or(0.0, |found| found.weight)
        };
        let along = (position.x - 1.0).clamp(0.0, 1.0);
        let whole = weight(old, 1);
        let given = weight(new, added);
        assert!((given - whole * along).abs() < 1e-6);
        assert_eq!(given + weight(new, 1), whole, "to the bit");
        assert_eq!(
            new.of(vertex)
                .map(|influence| influence.weight)
                .sum::<f32>(),
            1.0
        );
        followers += usize::from(given > 0.0);
    }
    assert_eq!(twisted.added.vertex_count, followers);
}

#[test]
fn what_comes_behind_the_new_joint_is_renumbered() {
    let arm = arm(vec![Clip {
        name: "beside".to_owned(),
        tracks: vec![
            clip(5, Interpolation::Linear, &[degrees(0.0, 10.0)])
                .tracks
                .remove(0),
            clip(WRIST, Interpolation::Linear, &[degrees(0.0, 10.0)])
                .tracks
                .remove(0),
        ],
    }]);
    let twisted = split(&arm, 0, &TwistOptions::default()).unwrap();
    let nodes = twisted.asset.rig.skeleton().nodes();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let expected = [
        "top",
        "shoulder",
        "elbow",
        "wrist",
        "watch",
        "shoulder_twist",
        "beside",
    ];
    assert_eq!(names, expected);
    let tracks = &twisted.asset.clips[0].tracks;
    assert_eq!(tracks[0].channel, Channel::Rotation { node: 6 });
    assert_eq!(tracks[1].channel, Channel::Rotation { node: WRIST });
    assert_eq!(twisted.asset.props[0].node, 4);
    assert_spreads(&arm, &twisted);
    // Then the next one, on top of it.
    let again = split(&twisted.asset, 1, &TwistOptions::default()).unwrap();
    assert_eq!(again.added.node, 5);
    assert_spreads(&twisted.asset, &again);
}

#[test]
fn nodes_that_are_no_joints_may_lie_between() {
    // The elbow is not a joint here: the bone runs from the shoulder to the wrist, and both nodes
    // rotate its end.
    let turns = [degrees(0.0, 0.0), degrees(80.0, 10.0)];
    let mut both = clip(ELBOW, Interpolation::Linear, &turns);
    both.tracks.extend(
        clip(
            WRIST,
            Interpolation::Step,
            &[degrees(0.0, 0.0), degrees(50.0, 0.0), degrees(90.0, 0.0)],
        )
        .tracks,
    );
    let mut arm = asset(nodes(), &[SHOULDER, ELBOW, WRIST], vec![both]);
    let joints = arm.rig.skeleton().joints();
    let bound = [0, 2].map(|joint: usize| (joints[joint].node, joints[joint].joint_from_bind));
    let skeleton = Skeleton::new(nodes(), bound.into()).unwrap();
    let mut weights = WeightsBuilder::new(2).unwrap();
    for vertex in 0..arm.rig.weights().vertex_count() {
        let row = arm.rig.weights().of(vertex);
        weights
            .push(
                row.map(|influence| (influence.joint / 2, influence.weight)),
                0,
            )
            .unwrap();
    }
    arm.rig = Rig::new(arm.rig.mesh().clone(), skeleton, weights.finish().0).unwrap();
    let twisted = spread(&arm, 0, TwistOf::Child);
    assert_eq!(twisted.added.toward, WRIST);
    // Steps are jumps in a smooth curve: two keys a moment apart.
    let times = twisted.asset.clips[0]
        .tracks
        .last()
        .unwrap()
        .curve
        .times()
        .to_vec();
    assert!(times.windows(2).any(|pair| pair[0].next_up() == pair[1]));
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_node_that_is_bound_twice_gets_a_joint_for_each() {
    let arm = arm(vec![clip(
        WRIST,
        Interpolation::Linear,
        &[degrees(0.0, 0.0), degrees(90.0, 0.0)],
    )]);
    let joints = arm.rig.skeleton().joints();
    let elsewhere = DAffine3::from_translation(DVec3::new(0.1, 0.0, 0.0));
    let bound = vec![
        (SHOULDER, joints[0].joint_from_bind),
        (ELBOW, joints[1].joint_from_bind),
        (ELBOW, joints[1].joint_from_bind * elsewhere),
        (WRIST, joints[2].joint_from_bind),
    ];
    let mut weights = WeightsBuilder::new(4).unwrap();
    for vertex in 0..arm.rig.weights().vertex_count() {
        let row = arm.rig.weights().of(vertex);
        let other = vertex % 2;
        let joint = |joint: usize| [0, 1 + other, 3][joint];
        weights
            .push(
                row.map(|influence| (joint(influence.joint), influence.weight)),
                0,
            )
            .unwrap();
    }
    let mut twice = arm.clone();
    let skeleton = Skeleton::new(nodes(), bound).unwrap();
    twice.rig = Rig::new(arm.rig.mesh().clone(), skeleton, weights.finish().0).unwrap();
    let twisted = spread(&twice, 2, TwistOf::Child);
    let on_new = twisted.asset.rig.skeleton().joints().iter();
    assert_eq!(
        on_new
            .filter(|joint| joint.node == twisted.added.node)
            .count(),
        2
    );
}

#[test]
fn of_several_bones_the_one_in_the_skin_is_split() {
    let mut nodes = nodes();
    let off = |length: f64| {
        let place = axis_in(ELBOW) * 0.25 * length;
        Local::Trs(Trs::from_translation(place))
    };
    // A helper joint a quarter of the way to the wrist, and one behind the elbow.
    for (name, length) in [("helper", 0.5), ("behind", -1.0)] {
        nodes.push(Node {
            name: name.to_owned(),
            parent: Some(ELBOW),
            rest: off(length),
        });
    }
    let arm = asset(nodes, &[SHOULDER, ELBOW, WRIST, 6, 7], Vec::new());
    let by_itself = split(&arm, 1, &TwistOptions::default()).unwrap();
    assert_eq!(by_itself.added.toward, WRIST);
    let options = TwistOptions {
        toward: Some(3),
        name: Some("mine".to_owned()),
        ..TwistOptions::default()
    };
    let wanted = split(&arm, 1, &options).unwrap();
    assert_eq!(wanted.added.toward, 6);
    assert_eq!(
        wanted.asset.rig.skeleton().nodes()[wanted.added.node].name,
        "mine"
    );
    let options = TwistOptions {
        toward: Some(2),
        ..options
    };
    let error = split(&arm, 0, &options).unwrap_err().to_string();
    assert_eq!(
        error,
        "the bone of joint 'shoulder' cannot end at 'wrist', which is not its child"
    );
}

#[test]
fn what_cannot_be_split_is_named() {
    let arm = arm(Vec::new());
    let plain = TwistOptions::default();
    let refused = |asset: &Asset, joint: usize, options: &TwistOptions| {
        split(asset, joint, options).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&arm, 9, &plain),
        "there is no joint 9: the skeleton has 3"
    );
    assert_eq!(
        refused(&arm, 2, &plain),
        "joint 'wrist' is the last of its chain: it has no bone to split"
    );
    let own = TwistOptions {
        twist_of: Some(TwistOf::Joint),
        ..TwistOptions::default()
    };
    assert_eq!(
        refused(&arm, 0, &own),
        "joint 'shoulder' has no parent joint, so it has no twist of its own to spread"
    );
    let taken = TwistOptions {
        name: Some("watch".to_owned()),
        ..TwistOptions::default()
    };
    assert_eq!(
        refused(&arm, 0, &taken),
        "a node named 'watch' already exists"
    );
    let twisted = split(&arm, 1, &plain).unwrap().asset;
    assert_eq!(
        refused(&twisted, 1, &plain),
        "the bone from 'elbow' to 'wrist' is already split by 'elbow_twist'"
    );
    assert_eq!(
        refused(&twisted, 3, &plain),
        "joint 'elbow_twist' is the last of its chain: it has no bone to split"
    );
    let mut nodes = nodes();
    nodes[WRIST].rest = Local::Trs(Trs::from_translation(DVec3::X * 1e-9));
    let short = asset(nodes, &[SHOULDER, ELBOW, WRIST], Vec::new());
    assert_eq!(
        refused(&short, 1, &plain),
        "joints 'elbow' and 'wrist' are at the same position: there is no bone to split"
    );
    let mut bare = arm.clone();
    let mut weights = WeightsBuilder::new(3).unwrap();
    for _ in 0..bare.rig.mesh().vertex_count() {
        weights.push([(2, 1.0)], 0).unwrap();
    }
    let skeleton = bare.rig.skeleton().clone();
    bare.rig = Rig::new(bare.rig.mesh().clone(), skeleton, weights.finish().0).unwrap();
    assert_eq!(
        refused(&bare, 1, &plain),
        "joint 'elbow' holds no skin along its bone: there is nothing to divide"
    );
}

#[test]
fn a_pose_that_comes_from_no_clip_can_be_followed() {
    let arm = arm(vec![clip(
        WRIST,
        Interpolation::Linear,
        &[degrees(0.0, 0.0), degrees(120.0, 70.0)],
    )]);
    let twisted = spread(&arm, 1, TwistOf::Child);
    let new = &twisted.asset;
    let by_clip = new.pose_at(&new.clips[0], 0.5);
    let mut by_hand = by_clip.clone();
    by_hand.locals[twisted.added.node] = new.rig.skeleton().nodes()[twisted.added.node].rest;
    twisted.added.follow(new.rig.skeleton(), &mut by_hand);
    let rotation = |pose: &Pose| pose.locals[twisted.added.node].to_trs().rotation;
    assert!(rotation(&by_clip).dot(rotation(&by_hand)).abs() > 1.0 - 1e-9);
    assert!((rotation(&by_hand).to_axis_angle().1 - 120f64.to_radians() / 2.0).abs() < 1e-3);
}

#[test]
fn wild_rotations_need_no_end_of_keys() {
    let turns: Vec<(f64, f64)> = (0..40)
        .map(|key| (f64::from(key * key) * 1.7, f64::from(key) * FRAC_PI_2))
        .collect();
    let arm = arm(vec![
        clip(WRIST, Interpolation::Linear, &turns),
        clip(WRIST, Interpolation::CubicHermite, &turns),
    ]);
    let twisted = split(&arm, 1, &TwistOptions::default()).unwrap();
    for clip in &twisted.asset.clips {
        let times = clip.tracks.last().unwrap().curve.times();
        assert!(times.len() < 40 * 260, "{}", times.len());
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
