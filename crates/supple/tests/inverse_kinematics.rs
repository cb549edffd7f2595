//! Inverse kinematics against forward kinematics and angles written again, plainly, and what must
//! hold for any skeleton.

#![cfg(feature = "ik")]
#![allow(clippy::unwrap_used)] // in the helpers of the tests below

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::f64::consts::PI;
use supple::characters::{self, Character};
use supple::inverse_kinematics::{
    Chain, Goal, Limit, ReachError, ReachOptions, Reached, move_to, reach,
};
use supple::skeleton::Node;
use supple::{Local, Pose, Skeleton, Trs};

/// The world position of a node, by rows of plain numbers.
fn place(skeleton: &Skeleton, pose: &Pose, node: usize) -> DVec3 {
    let mut point = [0.0; 3];
    let mut here = Some(node);
    while let Some(index) = here {
        let trs = pose.locals[index].to_trs();
        let [x, y, z, w] = trs.rotation.to_array();
        let rows = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - w * z),
                2.0 * (x * z + w * y),
            ],
            [
                2.0 * (x * y + w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - w * x),
            ],
            [
                2.0 * (x * z - w * y),
                2.0 * (y * z + w * x),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        let scale = trs.scale.to_array();
        let shift = trs.translation.to_array();
        point = [0, 1, 2].map(|row| {
            let turned: f64 = (0..3)
                .map(|column| rows[row][column] * scale[column] * point[column])
                .sum();
            turned + shift[row]
        });
        here = skeleton.nodes()[index].parent;
    }
    DVec3::from_array(point)
}

/// A single chain; each joint at an offset from the one before.
fn chain_of(offsets: &[DVec3]) -> Skeleton {
    let node = |(index, offset): (usize, &DVec3)| Node {
        name: format!("joint{index}"),
        parent: index.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(*offset)),
    };
    let nodes: Vec<Node> = offsets.iter().enumerate().map(node).collect();
    let all: Vec<usize> = (0..nodes.len()).collect();
    Skeleton::bound_at_rest(nodes, &all).unwrap()
}

fn straight(bones: usize) -> Skeleton {
    let mut offsets = vec![DVec3::X; bones + 1];
    offsets[0] = DVec3::ZERO;
    chain_of(&offsets)
}

fn figure() -> Skeleton {
    let figure = characters::build(Character::Figure, 2_000).unwrap();
    figure.rig.skeleton().clone()
}

fn named(skeleton: &Skeleton, name: &str) -> usize {
    let mut nodes = skeleton.nodes().iter();
    nodes.position(|node| node.name == name).unwrap()
}

fn reach_one(skeleton: &Skeleton, pose: &mut Pose, goal: Goal, options: &ReachOptions) -> Reached {
    let reached = reach(skeleton, pose, &[goal], options).unwrap();
    let distance = place(skeleton, pose, goal.node).distance(goal.position);
    assert!((distance - reached[0].distance).abs() < 1e-9 * (1.0 + distance));
    reached.into_iter().next().unwrap()
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
}

fn rotation(largest: f64) -> impl Strategy<Value = DQuat> {
    (vector(1.0), -largest..largest).prop_map(|(axis, angle)| {
        DQuat::from_axis_angle(axis.try_normalize().unwrap_or(DVec3::Z), angle)
    })
}

/// A chain with turned joints, scaled evenly or not, and a pose of it.
fn posed_chain(uneven: bool) -> impl Strategy<Value = (Skeleton, Pose, Vec<DQuat>)> {
    let size = 0.5..2.0f64;
    let scale = (size.clone(), size.clone(), size).prop_map(move |(x, y, z)| match uneven {
        true => DVec3::new(x, y, z),
        false => DVec3::splat(x),
    });
    let joint = (
        vector(1.0),
        rotation(PI),
        scale,
        rotation(1.0),
        rotation(1.2),
    );
    prop::collection::vec(joint, 3..9).prop_map(|joints| {
        let node =
            |(index, (offset, rotation, scale, ..)): (usize, &(DVec3, DQuat, DVec3, _, _))| {
                Node {
                    name: String::new(),
                    parent: index.checked_sub(1),
                    rest: Local::Trs(Trs {
                        // No joint is on top of the one before.
                        translation: *offset + offset.normalize_or(DVec3::X) * 0.2,
                        rotation: *rotation,
                        scale: *scale,
                    }),
                }
            };
        let nodes: Vec<Node> = joints.iter().enumerate().map(node).collect();
        let all: Vec<usize> = (0..nodes.len()).collect();
        let skeleton = Skeleton::bound_at_rest(nodes, &all).unwrap();
        let mut pose = skeleton.rest_pose();
        for (local, joint) in pose.locals.iter_mut().zip(&joints) {
            *local = local.turned(joint.3);
        }
        let turns = joints.iter().map(|joint| joint.4).collect();
        (skeleton, pose, turns)
    })
}

/// The position of the end after additional rotations of all joints.
fn reachable(skeleton: &Skeleton, pose: &Pose, turns: &[DQuat]) -> DVec3 {
    let mut other = pose.clone();
    for (local, turn) in other.locals.iter_mut().zip(turns) {
        *local = local.turned(*turn);
    }
    place(skeleton, &other, turns.len() - 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_can_be_reached_is((skeleton, mut pose, turns) in posed_chain(false)) {
        let target = reachable(&skeleton, &pose, &turns);
        let goal = Goal::new(turns.len() - 1, target);
        let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        prop_assert!(reached.distance <= 1e-7 * reached.span, "{reached:?}");
    }

    /// There the distance to the target may have more than one minimum.
    #[test]
    fn under_uneven_scale_too_or_no_small_step_leads_nearer(
        (skeleton, mut pose, turns) in posed_chain(true),
        steps in small_steps(),
    ) {
        let end = turns.len() - 1;
        let goal = Goal::new(end, reachable(&skeleton, &pose, &turns));
        let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        for (joint, by) in steps {
            let joint = joint.index(end);
            let nearer = gain(&skeleton, &pose, (joint, by), &goal, &reached);
            prop_assert!(nearer < 1e-5 * reached.span, "{nearer} by joint {joint}, {reached:?}");
        }
    }

    #[test]
    fn nothing_but_rotations_of_the_chain_changes(
        (skeleton, pose, turns) in posed_chain(true),
        target in vector(5.0),
        pole in vector(5.0),
    ) {
        let end = turns.len() - 1;
        let goal = Goal {
            pole: Some(pole),
            chain: Chain::Joints(2),
            ..Goal::new(end, target)
        };
        let mut posed = pose.clone();
        let reached = reach_one(&skeleton, &mut posed, goal, &ReachOptions::default());
        prop_assert_eq!(&reached.chain, &[end - 2, end - 1]);
        for (node, (before, after)) in pose.locals.iter().zip(&posed.locals).enumerate() {
            let (before, after) = (before.to_trs(), after.to_trs());
            prop_assert_eq!(before.translation, after.translation);
            prop_assert_eq!(before.scale, after.scale);
            prop_assert!((after.rotation.length() - 1.0).abs() < 1e-9);
            if !reached.chain.contains(&node) {
                prop_assert_eq!(before.rotation, after.rotation);
            }
        }
        let mut again = pose.clone();
        reach(&skeleton, &mut again, &[goal], &ReachOptions::default()).unwrap();
        prop_assert_eq!(again, posed, "the same bits every time");
    }

    #[test]
    fn an_end_that_is_there_changes_nothing((skeleton, pose, turns) in posed_chain(true)) {
        let end = turns.len() - 1;
        let mut posed = pose.clone();
        let goal = Goal::new(end, place(&skeleton, &pose, end));
        let reached = reach_one(&skeleton, &mut posed, goal, &ReachOptions::default());
        prop_assert_eq!(reached.iterations, 0);
        prop_assert_eq!(posed, pose);
    }

    #[test]
    fn two_bones_in_closed_form_and_by_steps_end_alike(
        lengths in (0.2..1.0f64, 0.2..1.0f64),
        bend in rotation(1.5),
        target in vector(1.5),
    ) {
        let skeleton = chain_of(&[DVec3::ZERO, DVec3::X * lengths.0, DVec3::Y * lengths.1]);
        let mut by_hand = skeleton.rest_pose();
        by_hand.locals[1] = by_hand.locals[1].turned(bend);
        let mut by_steps = by_hand.clone();
        let goal = Goal::new(2, target);
        let closed = reach_one(&skeleton, &mut by_hand, goal, &ReachOptions::default());
        // Any stiffness at all leaves the closed form out.
        let stiff = ReachOptions {
            stiffness: [(0, 1e-9)].into(),
            ..ReachOptions::default()
        };
        let stepped = reach_one(&skeleton, &mut by_steps, goal, &stiff);
        prop_assert_eq!(closed.iterations, 0);
        let away = target.length();
        let expected = (away - lengths.0 - lengths.1)
            .max((lengths.0 - lengths.1).abs() - away)
            .max(0.0);
        prop_assert!(
            (closed.distance - expected).abs() < 1e-9,
            "{} {}",
            closed.distance,
            expected
        );
        prop_assert!(
            (stepped.distance - expected).abs() < 1e-6,
            "{} {}",
            stepped.distance,
            expected
        );
    }
}

/// Small turns of any joints.
fn small_steps() -> impl Strategy<Value = Vec<(Index, DVec3)>> {
    prop::collection::vec((any::<Index>(), vector(1e-3)), 40)
}

/// How much nearer the target is when one joint is turned further.
fn gain(
    skeleton: &Skeleton,
    pose: &Pose,
    turn: (usize, DVec3),
    goal: &Goal,
    reached: &Reached,
) -> f64 {
    let mut tried = pose.clone();
    let (joint, by) = turn;
    tried.locals[joint] = tried.locals[joint].turned(DQuat::from_scaled_axis(by));
    reached.distance - place(skeleton, &tried, goal.node).distance(goal.position)
}

#[test]
fn under_uneven_scale_nearly_everything_is_reached() {
    let mut runner = TestRunner::deterministic();
    let mut reached = 0;
    for _ in 0..2_000 {
        let case = posed_chain(true).new_tree(&mut runner).unwrap();
        let (skeleton, mut pose, turns) = case.current();
        let goal = Goal::new(turns.len() - 1, reachable(&skeleton, &pose, &turns));
        let found = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        reached += usize::from(found.distance <= 1e-7 * found.span);
    }
    assert!(reached >= 1_995, "{reached} of 2000");
}

/// The rotation of a joint from rest.
fn from_rest(skeleton: &Skeleton, pose: &Pose, node: usize) -> DQuat {
    skeleton.nodes()[node].rest.rotation().conjugate() * pose.locals[node].rotation()
}

/// The angle by which a rotation exceeds a limit, in radians, by vectors.
fn beyond(limit: &Limit, rotation: DQuat) -> f64 {
    let (axis, swing, [least, most]) = match *limit {
        Limit::Hinge { axis, range } => (axis, 0.0, range),
        Limit::Cone { axis, swing, twist } => (axis, swing, twist),
    };
    let axis = axis.normalize();
    let leant = rotation * axis;
    let lean = axis.cross(leant).length().atan2(axis.dot(leant));
    // Undo the lean by the shortest turn back, and see where a vector beside the axis has gone.
    let upright = DQuat::from_rotation_arc(leant, axis) * rotation;
    let beside = axis.any_orthonormal_vector();
    let carried = upright * beside;
    let twist = beside.cross(carried).dot(axis).atan2(beside.dot(carried));
    (lean - swing).max(least - twist).max(twist - most)
}

fn limit() -> impl Strategy<Value = Limit> {
    let range = (-2.5..0.3f64, 0.0..2.0f64).prop_map(|(least, width)| [least, least + width]);
    (vector(1.0), 0.0..1.5f64, range, any::<bool>()).prop_map(|(axis, swing, range, hinge)| {
        let axis = axis.normalize_or(DVec3::X);
        match hinge {
            true => Limit::Hinge { axis, range },
            false => Limit::Cone {
                axis,
                swing,
                twist: range,
            },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn limits_are_kept_and_no_small_step_within_them_leads_nearer(
        (skeleton, mut pose, turns) in posed_chain(false),
        limits in prop::collection::vec(prop::option::of(limit()), 9),
        target in vector(4.0),
        steps in small_steps(),
    ) {
        let end = turns.len() - 1;
        let limits = limits.into_iter().take(end).enumerate();
        let options = ReachOptions {
            limits: limits
                .filter_map(|(node, limit)| Some((node, limit?)))
                .collect(),
            ..ReachOptions::default()
        };
        let goal = Goal::new(end, target);
        let reached = reach_one(&skeleton, &mut pose, goal, &options);
        let within = |pose: &Pose, slack: f64| {
            options
                .limits
                .iter()
                .all(|(&node, limit)| beyond(limit, from_rest(&skeleton, pose, node)) <= slack)
        };
        prop_assert!(within(&pose, 1e-6));
        for (joint, by) in steps {
            let joint = joint.index(end);
            let mut tried = pose.clone();
            tried.locals[joint] = tried.locals[joint].turned(DQuat::from_scaled_axis(by));
            if within(&tried, 0.0) {
                let nearer = gain(&skeleton, &pose, (joint, by), &goal, &reached);
                prop_assert!(
                    nearer < 1e-5 * reached.span,
                    "{nearer} by joint {joint}, {reached:?}"
                );
            }
        }
    }
}

#[test]
fn a_chain_points_at_what_is_too_far() {
    let skeleton = chain_of(&[
        DVec3::new(0.1, 0.2, 0.3),
        DVec3::X,
        DVec3::new(0.5, 0.5, 0.0),
        DVec3::new(0.0, 0.0, -0.7),
        DVec3::Y * 0.4,
        DVec3::Z * 0.3,
    ]);
    for target in [DVec3::new(3.0, -2.0, 4.0), DVec3::new(-1e6, 2e6, 3e5)] {
        let mut pose = skeleton.rest_pose();
        let goal = Goal::new(5, target);
        let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        let root = place(&skeleton, &pose, 0);
        let expected = root + (target - root).normalize() * reached.span;
        let end = place(&skeleton, &pose, 5);
        assert!(end.distance(expected) < 1e-5, "{end} {expected}");
        assert!(reached.away > reached.span);
    }
}

#[test]
fn straight_chains_bend() {
    for bones in [2, 3, 5, 8] {
        let skeleton = straight(bones);
        let mut pose = skeleton.rest_pose();
        let target = DVec3::X * (0.6 * bones as f64);
        let goal = Goal::new(bones, target);
        let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        assert!(reached.distance < 1e-6, "{bones}: {reached:?}");
        let middle = place(&skeleton, &pose, bones / 2);
        assert!(middle.z < -0.1, "level, so to the back: {middle}");
    }
}

#[test]
fn a_pole_turns_long_chains_too() {
    let skeleton = straight(6);
    for pole in [DVec3::Y * 3.0, DVec3::new(1.0, -2.0, 1.0)] {
        let mut pose = skeleton.rest_pose();
        let target = DVec3::new(3.0, 0.0, 1.0);
        let goal = Goal {
            pole: Some(pole),
            ..Goal::new(6, target)
        };
        let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
        assert!(reached.distance < 1e-6, "{reached:?}");
        let line = target.normalize();
        let middle = place(&skeleton, &pose, 3).reject_from(line).normalize();
        let wanted = pole.reject_from(line).normalize();
        assert!(middle.dot(wanted) > 0.98, "{middle} {wanted}");
    }
}

#[test]
fn a_stiff_joint_leaves_the_work_to_others() {
    let turned = |stiffness: f64| {
        let skeleton = straight(3);
        let mut pose = skeleton.rest_pose();
        let options = ReachOptions {
            stiffness: [(1, stiffness)].into(),
            ..ReachOptions::default()
        };
        let goal = Goal::new(3, DVec3::new(1.5, 1.5, 0.0));
        let reached = reach_one(&skeleton, &mut pose, goal, &options);
        assert!(reached.distance < 1e-6, "{reached:?}");
        let rotation = pose.locals[1].rotation();
        rotation.angle_between(DQuat::IDENTITY)
    };
    assert!(turned(0.9) < 0.5 * turned(0.0));
    assert_eq!(turned(1.0), 0.0);
}

#[test]
fn an_elbow_keeps_its_side_and_the_collar_bone_helps_only_where_it_must() {
    let skeleton = figure();
    let node = |name| named(&skeleton, name);
    let hand = node("hand.L");
    let mut pose = skeleton.rest_pose();
    let near = Goal::new(hand, DVec3::new(0.25, 1.3, 0.35));
    let reached = reach_one(&skeleton, &mut pose, near, &ReachOptions::default());
    assert!(
        reached.distance < 1e-9 && reached.iterations == 0,
        "{reached:?}"
    );
    let rest = skeleton.rest_pose();
    let same = |pose: &Pose, name| pose.locals[node(name)] == rest.locals[node(name)];
    assert!(same(&pose, "clavicle.L") && same(&pose, "forearm_twist.L"));
    let elbow = place(&skeleton, &pose, node("forearm.L"));
    let shoulder = place(&skeleton, &pose, node("upper_arm.L"));
    let line = (near.position - shoulder).normalize();
    assert!(
        (elbow - shoulder).reject_from(line).y < -0.05,
        "the elbow hangs: {elbow}"
    );
    let mut pose = skeleton.rest_pose();
    let arm = place(&skeleton, &rest, node("upper_arm.L"));
    let far = Goal::new(hand, arm + DVec3::new(0.0, 0.45, 0.33));
    let reached = reach_one(&skeleton, &mut pose, far, &ReachOptions::default());
    assert!(
        reached.distance < 1e-8 && !same(&pose, "clavicle.L"),
        "{reached:?}"
    );
}

#[test]
fn a_squat_by_three_goals() {
    let skeleton = figure();
    let node = |name| named(&skeleton, name);
    let rest = skeleton.rest_pose();
    let mut pose = rest.clone();
    let pelvis = node("pelvis");
    let low = place(&skeleton, &rest, pelvis) + DVec3::new(0.0, -0.3, -0.1);
    move_to(&skeleton, &mut pose, pelvis, low).unwrap();
    assert!(place(&skeleton, &pose, pelvis).distance(low) < 1e-12);
    let pinned = |name| Goal {
        orientation: Some(DQuat::IDENTITY),
        ..Goal::new(node(name), place(&skeleton, &rest, node(name)))
    };
    let goals = [pinned("foot.L"), pinned("foot.R")];
    let reached = reach(&skeleton, &mut pose, &goals, &ReachOptions::default()).unwrap();
    for (goal, reached) in goals.iter().zip(&reached) {
        assert!(
            reached.distance < 1e-9 && reached.angle < 1e-9,
            "{reached:?}"
        );
        assert!(place(&skeleton, &pose, goal.node).distance(goal.position) < 1e-9);
    }
    for knee in ["shin.L", "shin.R"] {
        assert!(
            place(&skeleton, &pose, node(knee)).z > 0.1,
            "knees go forward"
        );
    }
    let toes = place(&skeleton, &pose, node("toes.L"));
    assert!(toes.distance(place(&skeleton, &rest, node("toes.L"))) < 1e-9);
}

#[test]
fn goals_that_share_joints_are_solved_together_and_those_below_afterwards() {
    let skeleton = figure();
    let node = |name| named(&skeleton, name);
    let mut pose = skeleton.rest_pose();
    let whole_back = |name, position| Goal {
        chain: Chain::Joints(8),
        ..Goal::new(node(name), position)
    };
    let goals = [
        Goal::new(node("index_3.L"), DVec3::new(0.33, 1.27, 0.52)),
        whole_back("hand.L", DVec3::new(0.3, 1.2, 0.5)),
        whole_back("hand.R", DVec3::new(-0.25, 0.8, 0.5)),
        Goal::new(node("head"), DVec3::new(0.0, 1.5, 0.15)),
    ];
    let reached = reach(&skeleton, &mut pose, &goals, &ReachOptions::default()).unwrap();
    for (goal, reached) in goals.iter().zip(&reached).skip(1).take(2) {
        assert!(reached.distance < 1e-6, "{reached:?}");
        assert!(place(&skeleton, &pose, goal.node).distance(goal.position) < 1e-6);
        assert_eq!(reached.chain.len(), 8);
    }
    // The others are solved from where these have left them: there, or pointing there.
    for reached in [&reached[0], &reached[3]] {
        let expected = (reached.away - reached.span).max(0.0);
        assert!((reached.distance - expected).abs() < 1e-6, "{reached:?}");
    }
}

#[test]
fn limits_of_an_elbow_hold_where_the_closed_form_would_not() {
    let skeleton = chain_of(&[DVec3::ZERO, DVec3::X, DVec3::new(0.99, 0.0, 0.1)]);
    // Positive about −y takes the hand forward, to +z.
    let limit = Limit::Hinge {
        axis: DVec3::NEG_Y,
        range: [0.0, 1.0],
    };
    let options = ReachOptions {
        limits: [(1, limit)].into(),
        ..ReachOptions::default()
    };
    let mut pose = skeleton.rest_pose();
    let goal = Goal::new(2, DVec3::new(0.0, 0.3, 0.0));
    let reached = reach_one(&skeleton, &mut pose, goal, &options);
    assert!(beyond(&limit, from_rest(&skeleton, &pose, 1)) < 1e-9);
    // As near as an elbow gets that stays open: the third side of the triangle.
    let open = place(&skeleton, &pose, 2).length();
    let mut bent = skeleton.rest_pose();
    bent.locals[1] = bent.locals[1].turned(DQuat::from_axis_angle(DVec3::NEG_Y, 1.0));
    let nearest = place(&skeleton, &bent, 2).length();
    assert!((open - nearest).abs() < 1e-6, "{open} {nearest}");
    assert!(
        (reached.distance - (nearest - 0.3)).abs() < 1e-6,
        "{reached:?}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_named() {
    let skeleton = chain_of(&[DVec3::ZERO, DVec3::X, DVec3::X]);
    let rest = skeleton.rest_pose();
    let refused = |goals: &[Goal], options: &ReachOptions| {
        let mut pose = rest.clone();
        let error = reach(&skeleton, &mut pose, goals, options).unwrap_err();
        assert_eq!(pose, rest, "an error changes nothing");
        error.to_string()
    };
    let plain = ReachOptions::default();
    let goal = Goal::new(2, DVec3::Y);
    for position in [DVec3::NAN, DVec3::INFINITY, DVec3::X * 1e200] {
        let message = refused(&[Goal { position, ..goal }], &plain);
        assert_eq!(message, "the target of 'joint2' is not finite");
    }
    let pole = Some(DVec3::NAN);
    let message = refused(&[Goal { pole, ..goal }], &plain);
    assert_eq!(message, "the pole of 'joint2' is not finite");
    let orientation = Some(DQuat::from_array([0.0; 4]));
    let message = refused(
        &[Goal {
            orientation,
            ..goal
        }],
        &plain,
    );
    assert_eq!(message, "the orientation of 'joint2' is not finite");
    assert_eq!(refused(&[goal, goal], &plain), "'joint2' has two targets");
    let message = refused(&[Goal::new(0, DVec3::Y)], &plain);
    assert_eq!(message, "there is no joint above 'joint0' to turn");
    let message = refused(&[Goal::new(7, DVec3::Y)], &plain);
    assert_eq!(message, "there is no node 7: the skeleton has 3");
    let oriented = Goal {
        orientation: Some(DQuat::IDENTITY),
        ..Goal::new(1, DVec3::Y)
    };
    let message = refused(&[goal, oriented], &plain);
    assert!(
        message.starts_with("'joint1' cannot have an orientation"),
        "{message}"
    );
    let stiff = ReachOptions {
        stiffness: [(1, 1.5)].into(),
        ..plain.clone()
    };
    assert!(refused(&[goal], &stiff).starts_with("the stiffness of 'joint1' is 1.5"));
    for tolerance in [f64::NAN, -1e-9, f64::INFINITY] {
        let odd = ReachOptions {
            tolerance,
            ..ReachOptions::default()
        };
        let expected = format!("the tolerance is {tolerance}, but must be at least 0");
        assert_eq!(refused(&[goal], &odd), expected);
    }
    let none = ReachOptions {
        iterations: 0,
        ..ReachOptions::default()
    };
    let expected = "the number of iterations is 0, but must be at least 1";
    assert_eq!(refused(&[goal], &none), expected);
    let limit = Limit::Hinge {
        axis: DVec3::ZERO,
        range: [0.0, 1.0],
    };
    let limited = ReachOptions {
        limits: [(1, limit)].into(),
        ..plain.clone()
    };
    assert!(refused(&[goal], &limited).starts_with("the limit of 'joint1' is not valid"));
    let spot = chain_of(&[DVec3::ONE, DVec3::ZERO, DVec3::ZERO]);
    let mut pose = spot.rest_pose();
    let error = reach(&spot, &mut pose, &[goal], &plain).unwrap_err();
    assert!(matches!(error, ReachError::NoLength { joint } if joint == "joint2"));
    let mut broken = rest.clone();
    broken.locals[1] = Local::Trs(Trs::from_translation(DVec3::NAN));
    let error = reach(&skeleton, &mut broken, &[goal], &plain).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the position in the pose of 'joint1' is not finite"
    );
    broken.locals.pop();
    let error = reach(&skeleton, &mut broken, &[goal], &plain).unwrap_err();
    assert!(matches!(error, ReachError::OtherSkeleton { found: 2, .. }));
}

#[test]
fn one_bone_without_length_does_not_keep_the_other_from_turning() {
    let skeleton = chain_of(&[DVec3::ZERO, DVec3::ZERO, DVec3::X]);
    let mut pose = skeleton.rest_pose();
    let goal = Goal::new(2, DVec3::Y);
    let reached = reach_one(&skeleton, &mut pose, goal, &ReachOptions::default());
    assert!(reached.distance < 1e-7, "{reached:?}");
}

#[test]
fn crushed_and_mirrored_parents_do_no_harm() {
    for scale in [
        DVec3::ZERO,
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::new(-1.0, 1.0, 1.0),
    ] {
        let mut nodes = straight(3).nodes().to_vec();
        nodes[0].rest = Local::Trs(Trs {
            scale,
            ..Trs::IDENTITY
        });
        let skeleton = Skeleton::bound_at_rest(nodes, &[]).unwrap();
        let joints: Vec<(usize, glam::DAffine3)> = (0..4)
            .map(|node| (node, glam::DAffine3::IDENTITY))
            .collect();
        let skeleton = Skeleton::new(skeleton.nodes().to_vec(), joints).unwrap();
        let mut pose = skeleton.rest_pose();
        let target = DVec3::new(-1.2, 0.0, 0.9);
        let goal = Goal {
            chain: Chain::Joints(2),
            ..Goal::new(3, target)
        };
        match reach(&skeleton, &mut pose, &[goal], &ReachOptions::default()) {
            Ok(reached) => assert!(scale.y == 0.0 || reached[0].distance < 1e-7, "{reached:?}"),
            Err(error) => assert_eq!(scale, DVec3::ZERO, "{error}"),
        }
        assert!(pose.locals.iter().all(Local::is_finite));
        let moved = move_to(&skeleton, &mut pose, 1, DVec3::ONE);
        assert_eq!(moved.is_err(), scale.min_element() == 0.0, "{moved:?}");
    }
}

/// A chain along y whose nodes have a scale and are turned by half a radian about x.
fn scaled_chain(nodes: usize, step: f64, scale: f64) -> Skeleton {
    let node = |index: usize| Node {
        name: format!("joint{index}"),
        parent: index.checked_sub(1),
        rest: Local::Trs(Trs {
            translation: DVec3::new(0.0, step, 1.0),
            rotation: DQuat::from_rotation_x(0.5),
            scale: DVec3::splat(scale),
        }),
    };
    let joints = (0..nodes).map(|node| (node, glam::DAffine3::IDENTITY));
    Skeleton::new((0..nodes).map(node).collect(), joints.collect()).unwrap()
}

/// The determinant of what is above a node is beyond the range of numbers, up or down, though the
/// places are not.
#[test]
fn very_large_and_very_small_parents_are_no_trouble() {
    let (mut solved, mut refused) = (0, 0);
    for scale in [1e38, -1e38, 1e-38, -1e-38, 1e75, 1e150, 1e154, 1e300] {
        for step in [1.0, 1e20] {
            for (nodes, joints) in [(4, 1), (4, 2), (5, 2), (6, 2), (6, 3), (6, 5)] {
                let skeleton = scaled_chain(nodes, step, scale);
                let mut pose = skeleton.rest_pose();
                let goal = Goal {
                    chain: Chain::Joints(joints),
                    pole: Some(DVec3::new(1.0, 2.0, 3.0)),
                    orientation: (joints == 2).then_some(DQuat::from_rotation_y(1.0)),
                    ..Goal::new(nodes - 1, DVec3::new(1e30, -1e20, 3.0))
                };
                match reach(&skeleton, &mut pose, &[goal], &ReachOptions::default()) {
                    Ok(reached) => {
                        assert!(reached[0].distance.is_finite() && reached[0].away.is_finite());
                        solved += 1;
                    }
                    Err(error) => {
                        let message = error.to_string();
                        assert!(
                            message.ends_with("not finite") || message.contains("same position"),
                            "{message}"
                        );
                        refused += 1;
                    }
                }
                let turned = |local: &Local| (local.rotation().length() - 1.0).abs() < 1e-9;
                assert!(
                    pose.locals
                        .iter()
                        .all(|local| local.is_finite() && turned(local))
                );
            }
        }
    }
    assert!(
        solved >= 10 && refused > 10,
        "{solved} solved, {refused} refused"
    );
}

#[test]
fn a_node_moves_to_its_place_under_a_parent_of_any_scale() {
    let position = DVec3::new(1.0, -2.0, 3.0);
    for scale in [1e-120, 1e-38, 1.0, 1e38, 1e103, 1e120] {
        let skeleton = scaled_chain(2, 0.5, scale);
        let mut pose = skeleton.rest_pose();
        move_to(&skeleton, &mut pose, 1, position).unwrap();
        let found = place(&skeleton, &pose, 1);
        assert!(
            found.distance(position) < 1e-9,
            "scaled by {scale:e}: {found}"
        );
    }
}

#[test]
fn too_many_goals_over_too_many_joints_are_refused_with_their_numbers() {
    let skeleton = chain_of(&[DVec3::Y; 3000]);
    let goals: Vec<Goal> = (2900..3000)
        .map(|node| Goal {
            chain: Chain::Joints(3000),
            ..Goal::new(node, DVec3::X)
        })
        .collect();
    let mut pose = skeleton.rest_pose();
    let error = reach(&skeleton, &mut pose, &goals, &ReachOptions::default()).unwrap_err();
    let expected = ReachError::TooLarge {
        goals: 100,
        joints: 2999,
    };
    assert_eq!(error, expected);
    assert!(error.to_string().ends_with("at most 200000"), "{error}");
}
