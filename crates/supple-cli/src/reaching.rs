//! Poses by inverse kinematics, for `pose`, `render`, `deform` and `compare`.

use crate::args::reach::{LimitSetting, Orientation, Placed, ReachArguments};
use crate::console;
use crate::failure::Failure;
use crate::joints::find_node;
use crate::source::Source;
use crate::wording::{measure, short_sentence};
use glam::{DAffine3, DQuat, DVec3, EulerRot};
use std::f64::consts::PI;
use supple::NodeCountError;
use supple::arap::{RotationMean, turns};
use supple::inverse_kinematics::{Chain, Goal, Limit, ReachOptions, Reached, move_to, reach};
use supple::transform::Polar;
use supple::{Pose, Skeleton};
use supple_io::text::{quoted, shortened};

/// A target counts as reached within this share of the length of its chain.
const THERE: f64 = 1e-6;

/// Orientations count as reached within a hundredth of a degree.
const TURNED: f64 = 0.01 * PI / 180.0;

/// A line about the outcome for one joint.
pub(crate) struct Outcome {
    pub(crate) text: String,
    is_missed: bool,
}

impl ReachArguments {
    /// True if none of `--reach`, `--move` and `--turn` is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.reach.is_empty() && self.shift.is_empty() && self.turn.is_empty()
    }

    /// Poses a character, and prints the targets that were missed.
    pub(crate) fn apply_and_report_misses(
        &self,
        source: &Source,
        pose: &mut Pose,
    ) -> Result<(), Failure> {
        let notes = self.apply(source, pose)?;
        for line in notes.iter().filter(|line| line.is_missed) {
            console::eprint(&format!("note: {}", line.text));
        }
        Ok(())
    }

    /// Poses a character; returns a line for each reaching joint.
    pub(crate) fn apply(&self, source: &Source, pose: &mut Pose) -> Result<Vec<Outcome>, Failure> {
        let skeleton = source.asset.rig.skeleton();
        self.check_given_once(source)?;
        // Relative targets refer to the pose before anything moves.
        let mut before = Vec::new();
        skeleton.forward_kinematics(pose, &mut before)?;
        let goals = self.goals(source, &before)?;
        let options = self.options(source, &goals)?;
        for (joint, degrees) in &self.turn {
            let local = &mut pose.locals[find_node(source, joint)?];
            let [x, y, z] = degrees.map(f64::to_radians);
            let own = DQuat::from_euler(EulerRot::XYZ, x, y, z);
            let rotation = local.rotation();
            *local = local.turned(rotation * own * rotation.inverse());
        }
        for shift in &self.shift {
            let node = find_node(source, &shift.joint)?;
            move_to(skeleton, pose, node, shift.from(before[node].translation))?;
        }
        if !self.shift.is_empty() {
            turn_handles(source, pose)?;
        }
        let reached = reach(skeleton, pose, &goals, &options)?;
        self.report_unused_settings(source, &goals, &reached)?;
        report_unused_poles(skeleton, pose, &goals, &reached)?;
        if !self.is_empty() {
            self.turn_twist_joints(source, pose)?;
        }
        let outcomes = goals.iter().zip(&reached);
        Ok(outcomes
            .map(|(goal, reached)| outcome_of(skeleton, goal, reached))
            .collect())
    }

    /// Lets twist joints follow the pose, but for those that `--turn` names.
    fn turn_twist_joints(&self, source: &Source, pose: &mut Pose) -> Result<(), Failure> {
        let turned = self.turn.iter().map(|(joint, _)| find_node(source, joint));
        let turned: Vec<usize> = turned.collect::<Result<_, Failure>>()?;
        let drivers = source.twist_drivers();
        for (node, driver) in drivers.iter().filter(|(node, _)| !turned.contains(node)) {
            driver.turn(*node, source.asset.rig.skeleton(), pose);
        }
        Ok(())
    }

    fn goals(&self, source: &Source, before: &[DAffine3]) -> Result<Vec<Goal>, Failure> {
        let mut goals = Vec::with_capacity(self.reach.len());
        for placed in &self.reach {
            let node = find_node(source, &placed.joint)?;
            goals.push(Goal::new(node, placed.from(before[node].translation)));
        }
        // A number for all joints comes first, so that others override it.
        let (of_joints, of_all): (Vec<_>, Vec<_>) =
            self.chain.iter().partition(|(joint, _)| joint.is_some());
        for (joint, count) in of_all.into_iter().chain(of_joints) {
            let chain = Chain::Joints(*count);
            match joint {
                Some(joint) => goal_of(source, &mut goals, "--chain", joint)?.chain = chain,
                None => goals.iter_mut().for_each(|goal| goal.chain = chain),
            }
        }
        for placed in &self.pole {
            let goal = goal_of(source, &mut goals, "--pole", &placed.joint)?;
            goal.pole = Some(placed.from(before[goal.node].translation));
        }
        let skeleton = source.asset.rig.skeleton();
        let rest = skeleton.rest_world();
        for (joint, orientation) in &self.orient {
            let goal = goal_of(source, &mut goals, "--orient", joint)?;
            let turned = |world: &[DAffine3]| Polar::of(world[goal.node].matrix3).rotation;
            goal.orientation = Some(match orientation {
                Orientation::Keep => turned(before),
                Orientation::FromRest(degrees) => {
                    let [x, y, z] = degrees.map(f64::to_radians);
                    DQuat::from_euler(EulerRot::ZYX, z, y, x) * turned(&rest)
                }
            });
        }
        Ok(goals)
    }

    /// Refuses an option that is given twice for a joint.
    fn check_given_once(&self, source: &Source) -> Result<(), Failure> {
        fn places(placed: &[Placed]) -> Vec<&str> {
            placed.iter().map(|placed| placed.joint.as_str()).collect()
        }
        fn joints<T>(wishes: &[(String, T)]) -> Vec<&str> {
            wishes.iter().map(|(joint, _)| joint.as_str()).collect()
        }
        let chains = self.chain.iter();
        let said = [
            ("--reach", places(&self.reach)),
            ("--move", places(&self.shift)),
            ("--pole", places(&self.pole)),
            ("--orient", joints(&self.orient)),
            (
                "--chain",
                chains.filter_map(|(joint, _)| joint.as_deref()).collect(),
            ),
            ("--limit", joints(&self.limit)),
            ("--stiff", joints(&self.stiff)),
        ];
        for (option, names) in said {
            let mut known: Vec<(usize, &str)> = Vec::new();
            for name in names {
                let node = find_node(source, name)?;
                if let Some((_, before)) = known.iter().find(|(known, _)| *known == node) {
                    let also = match *before == name {
                        true => String::new(),
                        false => format!(", which is also '{before}'"),
                    };
                    let message = format!("{option} is given twice for '{name}'{also}");
                    return Err(Failure::usage(message));
                }
                known.push((node, name));
            }
        }
        let for_all = self.chain.iter().filter(|(joint, _)| joint.is_none());
        match for_all.count() {
            0 | 1 => Ok(()),
            _ => Err(Failure::usage(
                "--chain is given twice for all reaching joints",
            )),
        }
    }

    /// Prints notes about limits and stiffness of joints that do not turn.
    fn report_unused_settings(
        &self,
        source: &Source,
        goals: &[Goal],
        reached: &[Reached],
    ) -> Result<(), Failure> {
        let in_chain = |node: usize| reached.iter().any(|reached| reached.chain.contains(&node));
        // A joint that is oriented turns itself, within its limit.
        let is_oriented = |node: usize| {
            let mut goals = goals.iter().filter(|goal| goal.node == node);
            goals.any(|goal| goal.orientation.is_some())
        };
        let limits = self.limit.iter().map(|(joint, _)| ("--limit", joint));
        let stiff = self.stiff.iter().map(|(joint, _)| ("--stiff", joint));
        for (option, joint) in limits.chain(stiff) {
            let node = find_node(source, joint)?;
            let is_heard = in_chain(node) || (option == "--limit" && is_oriented(node));
            if !is_heard {
                console::eprint(&format!(
                    "note: {option} of '{}' has no effect: no reaching joint turns it; \
                     --chain makes more joints turn",
                    shortened(joint)
                ));
            }
        }
        Ok(())
    }

    fn options(&self, source: &Source, goals: &[Goal]) -> Result<ReachOptions, Failure> {
        let skeleton = source.asset.rig.skeleton();
        let mut options = ReachOptions::default();
        for (joint, setting) in &self.limit {
            let node = find_node(source, joint)?;
            options
                .limits
                .insert(node, limit(skeleton, goals, joint, node, setting)?);
        }
        for (joint, share) in &self.stiff {
            options.stiffness.insert(find_node(source, joint)?, *share);
        }
        Ok(options)
    }
}

/// Prints notes about poles without effect: those on the line from shoulder to hand, which give the
/// elbow no side, and those of single joints.
fn report_unused_poles(
    skeleton: &Skeleton,
    pose: &Pose,
    goals: &[Goal],
    reached: &[Reached],
) -> Result<(), NodeCountError> {
    let mut world = Vec::new();
    skeleton.forward_kinematics(pose, &mut world)?;
    for (goal, reached) in goals.iter().zip(reached) {
        let Some(pole) = goal.pole else {
            continue;
        };
        let is_in_line = |&node: &usize| {
            let from = world[node].translation;
            let line = (goal.position - from).normalize_or_zero();
            (pole - from).reject_from_normalized(line).length() <= THERE * reached.span
        };
        // The last joint of the chain is the one that goes to a side. A collar bone before the arm
        // may help or not.
        let why = match reached.chain.split_last() {
            None | Some((_, [])) => "only one joint turns",
            Some((_, above)) if above.iter().all(is_in_line) => {
                "it is in line with the limb and the target"
            }
            Some(_) => continue,
        };
        let joint = node_label(skeleton, goal.node);
        console::eprint(&format!("note: --pole of {joint} has no effect: {why}"));
    }
    Ok(())
}

/// The name of a node, or its number.
fn node_label(skeleton: &Skeleton, node: usize) -> String {
    match skeleton.nodes()[node].name.as_str() {
        "" => format!("node {node}"),
        name => quoted(name),
    }
}

/// Rotates point handles with their pseudo-edges, if the file has any; handles are only moved.
///
/// The rotations depend on the bind positions and the current ones, not on the way between: a
/// handle that is moved away and back is as before.
fn turn_handles(source: &Source, pose: &mut Pose) -> Result<(), Failure> {
    let edges = source.pseudo_edges();
    for bad in source.bad_pseudo_edges() {
        console::eprint(&format!(
            "note: ignored: {}",
            short_sentence(&bad.to_string())
        ));
    }
    let joints = source.asset.rig.skeleton().joints();
    // Handles are beside each other and rest unturned, so that `joint_from_bind` ends in a shift by
    // minus their place; what else it holds is the same for all of a skin, and edges are
    // differences.
    let rest: Vec<DVec3> = joints
        .iter()
        .map(|joint| -joint.joint_from_bind.translation)
        .collect();
    let places = joints.iter().map(|joint| &pose.locals[joint.node]);
    let places: Vec<DVec3> = places.map(|local| local.to_affine().translation).collect();
    let turns = turns(&rest, &places, &edges, RotationMean::Eigenvector);
    let turns = turns.map_err(|error| Failure::usage(error.to_string()))?;
    // A handle is a joint of every skin that lists it, and turned alike by each.
    for handle in edges.into_flattened() {
        let local = &mut pose.locals[joints[handle].node];
        *local = local.turned(turns[handle] * local.rotation().inverse());
    }
    Ok(())
}

/// The goal of a joint named by another option.
fn goal_of<'a>(
    source: &Source,
    goals: &'a mut [Goal],
    option: &str,
    joint: &str,
) -> Result<&'a mut Goal, Failure> {
    let node = find_node(source, joint)?;
    let goal = goals.iter_mut().find(|goal| goal.node == node);
    goal.ok_or_else(|| {
        let message = format!("{option} names '{joint}', which has no target");
        Failure::usage(message).hint(format!("--reach '{joint}=X,Y,Z' gives it one"))
    })
}

fn limit(
    skeleton: &Skeleton,
    goals: &[Goal],
    joint: &str,
    node: usize,
    setting: &LimitSetting,
) -> Result<Limit, Failure> {
    let parent = |node: &usize| skeleton.nodes()[*node].parent;
    let is_above =
        |goal: &&Goal| std::iter::successors(Some(goal.node), parent).any(|up| up == node);
    let Some(goal) = goals.iter().find(is_above) else {
        let message = format!("--limit names '{joint}', which is not above a reaching joint");
        return Err(Failure::usage(message));
    };
    let straight = || {
        let message = format!(
            "the axis of '{joint}' is unknown: its bones rest in one line, or there is only one"
        );
        Failure::usage(message).hint(format!(
            "give an axis in the frame of the joint: --limit '{joint}=hinge:0..150@1,0,0'"
        ))
    };
    match *setting {
        LimitSetting::Hinge {
            range,
            axis: Some(axis),
        } => Ok(Limit::Hinge { axis, range }),
        LimitSetting::Hinge { range, axis: None } => {
            Limit::elbow(skeleton, node, goal.node, range).ok_or_else(straight)
        }
        LimitSetting::Cone { swing, twist } => {
            Limit::shoulder(skeleton, node, goal.node, swing, twist)
                .ok_or_else(|| Failure::usage(format!("'{joint}' has no bone for a cone")))
        }
    }
}

fn outcome_of(skeleton: &Skeleton, goal: &Goal, reached: &Reached) -> Outcome {
    let name = |node: usize| node_label(skeleton, node);
    let joint = name(goal.node);
    let is_missed = reached.distance > THERE * reached.span;
    let mut text = if !is_missed {
        format!("{joint} is at its target")
    } else {
        let off = measure(reached.distance);
        let from = name(reached.chain[0]);
        let (away, span) = (measure(reached.away), measure(reached.span));
        if reached.away > reached.span {
            format!(
                "{joint} is {off} short of its target, which is {away} from {from}; \
                 the chain is {span} long"
            )
        } else {
            format!(
                "{joint} is {off} away from its target: \
                 the chain from {from} cannot bend that way"
            )
        }
    };
    if reached.angle > TURNED {
        let degrees = reached.angle.to_degrees();
        text += &format!("; its limit keeps it {degrees:.1}° away from its orientation");
    }
    Outcome {
        text,
        is_missed: is_missed || reached.angle > TURNED,
    }
}
