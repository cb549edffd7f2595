//! The target over inverse kinematics.

use crate::input::{Input, Range};
use crate::rigs;
use glam::DVec3;
use supple::inverse_kinematics::{Chain, Goal, Limit, ReachOptions, TwoBone, move_to, reach};

/// Goals for nodes of any skeleton, within limits. On success the pose is finite and the distance
/// is as reported; on an error the pose is as it was.
pub fn reaching(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(skeleton) = rigs::skeleton(&mut input, range) else {
        return;
    };
    let nodes = skeleton.nodes().len();
    let mut pose = rigs::pose(&mut input, &skeleton, range);
    let before = pose.clone();
    if input.rarely(8) {
        let node = input.below(nodes + 1);
        let target = input.wide_vector(range);
        match move_to(&skeleton, &mut pose, node, target) {
            Ok(()) => assert!(pose.locals.iter().all(|local| local.is_finite())),
            Err(_) => assert_eq!(pose, before),
        }
        return;
    }
    if input.rarely(8) {
        let [root, middle, end, target] = [0; 4].map(|_| input.wide_vector(range));
        let pole = input.flag().then(|| input.wide_vector(range));
        let bones = TwoBone { root, middle, end };
        if let Some(bend) = bones.reach(target, pole, DVec3::Z) {
            assert!(bend.upper.is_finite() && bend.lower.is_finite());
        }
        return;
    }
    // Now and then a node that is not there.
    let known = nodes + usize::from(input.rarely(32));
    let goals: Vec<Goal> = (0..1 + input.below(3))
        .map(|_| Goal {
            node: input.below(known),
            position: input.wide_vector(range),
            orientation: input.rarely(4).then(|| input.rotation()),
            pole: input.rarely(4).then(|| input.wide_vector(range)),
            chain: match input.below(3) {
                0 => Chain::Limb,
                _ => Chain::Joints(input.below(5)),
            },
        })
        .collect();
    let mut options = ReachOptions {
        iterations: input.below(24),
        tolerance: match input.rarely(16) {
            true => f64::from(input.any_number()),
            false => 1e-8,
        },
        ..ReachOptions::default()
    };
    for _ in 0..input.below(3) {
        let (node, end) = (input.below(nodes), input.below(nodes));
        let range = [0; 2].map(|_| f64::from(input.byte() as i8) / 40.0);
        let limit = match input.below(4) {
            0 => Limit::elbow(&skeleton, node, end, range),
            1 => Limit::shoulder(&skeleton, node, end, range[0].abs(), range),
            2 => Some(Limit::Hinge {
                axis: input.wide_vector(Range::Moderate),
                range,
            }),
            _ => Some(Limit::Cone {
                axis: input.wide_vector(Range::Moderate),
                swing: range[1],
                twist: range,
            }),
        };
        options.limits.extend(limit.map(|limit| (node, limit)));
    }
    if input.rarely(4) {
        let share = f64::from(input.byte()) / 250.0;
        options.stiffness.insert(input.below(nodes), share);
    }
    match reach(&skeleton, &mut pose, &goals, &options) {
        Err(_) => assert_eq!(pose, before),
        Ok(outcome) => {
            let mut world = Vec::new();
            let posed = skeleton.forward_kinematics(&pose, &mut world);
            posed.expect("a pose of this skeleton");
            for (node, local) in pose.locals.iter().enumerate() {
                assert!(local.is_finite(), "node {node}: {local:?}");
            }
            for (goal, reached) in goals.iter().zip(outcome) {
                let distance = world[goal.node].translation.distance(goal.position);
                let off = (distance - reached.distance).abs();
                let agrees = off <= 1e-9 * (1.0 + distance);
                assert!(agrees, "{distance} away, reported {}", reached.distance);
                assert!(reached.angle.is_finite() || range == Range::Extreme);
            }
        }
    }
}
