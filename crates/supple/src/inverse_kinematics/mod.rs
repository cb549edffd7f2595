//! Inverse kinematics: finds a pose in which end effectors, such as hands and feet, reach targets
//! (`lecture-skinning.txt`, "Skeletal animation": end effector transformations as controls of a
//! pose, in addition to joint angles).
//!
//! [`reach`] changes a pose so that nodes reach targets: any number of them at once, over chains of
//! any length, within joint [limits](Limit). Joints rotate; they are not translated, and no bone
//! stretches.
//!
//! - **Two bones**, as in an arm or a leg, are solved in closed form ([`TwoBone`]); the elbow stays
//!   on its side, or bends towards a pole.
//! - **Other chains**, and two bones with limits, are solved by damped least squares over the exact
//!   derivatives of the kinematics, also under parents with non-uniform scale, shear or mirroring.
//! - **Targets that share joints** are solved together; others one after the other from the top of
//!   the skeleton down, so that a hand reaches its target after the spine has moved.
//!
//! A limb points at a target out of its reach, and [`Reached`] reports the remaining distance. The
//! same input gives the same bits. The solver starts from the current pose: an end that is already
//! at its target changes nothing.
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::inverse_kinematics::{Goal, ReachOptions, reach};
//! use glam::DVec3;
//!
//! let figure = characters::build(Character::Figure, 2_000)?;
//! let skeleton = figure.rig.skeleton();
//! let hand = skeleton.nodes().iter().position(|node| node.name == "hand.L").unwrap();
//! let mut pose = figure.rest_pose();
//! let goal = Goal::new(hand, DVec3::new(0.3, 1.3, 0.4));
//! let reached = reach(skeleton, &mut pose, &[goal], &ReachOptions::default())?;
//! assert!(reached[0].distance < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod limits;
mod solver;
mod two_bone;

pub use chain::Chain;
pub use limits::Limit;
pub use two_bone::{Bend, TwoBone};

use crate::disjoint_sets::DisjointSets;
use crate::option_error::{OptionError, check_option};
use crate::polar::Polar;
use crate::pose::Pose;
use crate::skeleton::Skeleton;
use chain::Turned;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use limits::{angle_of, axis_in_parent, without_size};
use solver::{Effort, Freedom, Tree, bend_axis};
use std::collections::{BTreeMap, HashMap, HashSet};
use thiserror::Error;

/// A target for a node, the end effector.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Goal {
    /// The index of the node in the skeleton.
    pub node: usize,
    /// The target position in world space.
    pub position: DVec3,
    /// The target orientation in world space, applied by rotating the node itself. By default the
    /// node follows its parent.
    pub orientation: Option<DQuat>,
    /// The pole: a position that the middle of the chain bends towards. Without one:
    ///
    /// - a bent chain keeps its direction of bending;
    /// - a chain that is straight now bends as it does at rest;
    /// - a chain that is straight at rest, too, bends to the front (+z) if it hangs like a leg, and
    ///   to the back if it is level like an arm.
    pub pole: Option<DVec3>,
    /// The joints that turn.
    pub chain: Chain,
}

impl Goal {
    /// A target position for a node, to be reached by the joints of its limb.
    pub fn new(node: usize, position: DVec3) -> Goal {
        Goal {
            node,
            position,
            orientation: None,
            pole: None,
            chain: Chain::Limb,
        }
    }
}

/// Joint limits, stiffness, and when to stop.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct ReachOptions {
    /// Joint limits by node. Nodes of a chain are kept within their limits, even if the pose was
    /// outside; other nodes are not changed.
    pub limits: BTreeMap<usize, Limit>,
    /// Stiffness by node, relative to the others of the chain: from 0 to 1, which does not turn at
    /// all.
    pub stiffness: BTreeMap<usize, f64>,
    /// The largest distance from a target that counts as reached, relative to the length of the
    /// chain.
    pub tolerance: f64,
    /// The largest number of steps per attempt.
    pub iterations: usize,
}

impl Default for ReachOptions {
    fn default() -> ReachOptions {
        ReachOptions {
            limits: BTreeMap::new(),
            stiffness: BTreeMap::new(),
            tolerance: 1e-8,
            iterations: 200,
        }
    }
}

/// The result for a goal.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Reached {
    /// The distance of the node from its target.
    pub distance: f64,
    /// The angle to the target orientation in radians; 0 without one.
    pub angle: f64,
    /// The number of steps of the solver; 0 for solutions in closed form.
    pub iterations: usize,
    /// The nodes of the chain, from the top down.
    pub chain: Vec<usize>,
    /// The length of the chain.
    pub span: f64,
    /// The distance of the target from the first joint of the chain.
    pub away: f64,
}

/// Error from solving inverse kinematics.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReachError {
    /// A goal names a node that does not exist.
    #[error("there is no node {node}: the skeleton has {nodes}")]
    NoSuchNode {
        /// The node named.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// The pose belongs to another skeleton.
    #[error("the pose has {found} nodes, but the skeleton has {expected}")]
    OtherSkeleton {
        /// Transforms in the pose.
        found: usize,
        /// Nodes of the skeleton.
        expected: usize,
    },
    /// A number is NaN, infinite, or so large that its square is.
    #[error("the {what} of '{joint}' is not finite")]
    NotFinite {
        /// Target, pole, orientation or position in the pose.
        what: &'static str,
        /// The joint.
        joint: String,
    },
    /// There are two goals for one node.
    #[error("'{joint}' has two targets")]
    Twice {
        /// The node.
        joint: String,
    },
    /// There is no joint above, or only one at which the skeleton branches.
    #[error("{}", nothing_to_turn(.joint, .above.as_deref()))]
    NothingToTurn {
        /// The end effector.
        joint: String,
        /// The joint above it.
        above: Option<String>,
    },
    /// All joints of the chain are at one point.
    #[error("the joints above '{joint}' are at the same position: turning them does not move it")]
    NoLength {
        /// The end effector.
        joint: String,
    },
    /// A limit is not valid.
    #[error("the limit of '{joint}' is not valid: {problem}")]
    Limit {
        /// The joint.
        joint: String,
        /// The problem.
        problem: &'static str,
    },
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A joint with a target orientation is turned for another goal.
    #[error(
        "'{joint}' cannot have an orientation, as it is turned so that '{end}' reaches its target"
    )]
    TurnedForAnother {
        /// The joint with a target orientation.
        joint: String,
        /// The end effector that it is turned for.
        end: String,
    },
    /// Too many goals share joints.
    #[error(
        "{goals} goals share {joints} joints, too many to solve together: goals times joints may \
         be at most {}",
        MOST_RATES
    )]
    TooLarge {
        /// The number of goals that share joints.
        goals: usize,
        /// The number of joints that turn for them.
        joints: usize,
    },
    /// A parent is scaled to zero, so that the node cannot reach a world position.
    #[error("'{joint}' cannot be moved: its parent is scaled to zero")]
    Crushed {
        /// The node to move.
        joint: String,
    },
}

fn nothing_to_turn(joint: &str, above: Option<&str>) -> String {
    match above {
        Some(above) => {
            format!("'{joint}' is the first joint of its limb: the skeleton branches at '{above}'")
        }
        None => format!("there is no joint above '{joint}' to turn"),
    }
}

/// A target farther away than this, in lengths of the chain, is replaced by one in its direction at
/// this distance: for farther targets, angles lose all their digits.
const FARTHEST: f64 = 1e3;

/// The largest number of goals solved together, times the joints that turn for them: each step sums
/// over all pairs of goals for every joint.
const MOST_RATES: usize = 200_000;

/// Columns that are perpendicular and of equal length up to this share make a similarity, allowing
/// for the rounding of files.
const SIMILAR: f64 = 1e-5;

/// A chain that leans at least this much, as the sine of the angle to the ground, hangs like a leg.
const HANGS: f64 = 0.7;

/// Rotations by a smaller angle are rounding errors and are not applied: joints that need not turn
/// stay bitwise unchanged.
const ROUNDING: f64 = 1e-14;

/// Changes a pose so that end effectors reach their targets, or get as near as possible. Returns
/// the result for each goal. If it fails, the pose stays unchanged.
///
/// # Errors
///
/// Fails if the pose has another number of nodes than the skeleton, a goal names a node that does
/// not exist or that no joint can move, goals contradict each other, or a number is not finite or
/// out of range.
pub fn reach(
    skeleton: &Skeleton,
    pose: &mut Pose,
    goals: &[Goal],
    options: &ReachOptions,
) -> Result<Vec<Reached>, ReachError> {
    check(skeleton, pose, goals, options)?;
    let mut posing = Posing::new(skeleton, pose.clone(), options);
    let world = posing.world();
    let heads: Vec<DVec3> = world.iter().map(|world| world.translation).collect();
    for goal in goals {
        if !world[goal.node].is_finite() {
            return Err(ReachError::NotFinite {
                what: "position in the pose",
                joint: label(skeleton, goal.node),
            });
        }
    }
    let mut tasks = Vec::with_capacity(goals.len());
    for goal in goals {
        let turned = Turned::of(skeleton, &heads, goal.node, goal.chain)?;
        let span: f64 = lengths(&world, &turned.nodes, goal.node).sum();
        let joint = || label(skeleton, goal.node);
        if !span.is_finite() {
            return Err(ReachError::NotFinite {
                what: "length of the limb",
                joint: joint(),
            });
        }
        if span <= 0.0 {
            return Err(ReachError::NoLength { joint: joint() });
        }
        tasks.push(Task {
            goal: *goal,
            turned,
            span,
            iterations: 0,
        });
    }
    for task in tasks.iter().filter(|task| task.goal.orientation.is_some()) {
        let mut others = tasks.iter();
        let turned_for = others.find(|other| other.turned.nodes.contains(&task.goal.node));
        if let Some(other) = turned_for {
            return Err(ReachError::TurnedForAnother {
                joint: label(skeleton, task.goal.node),
                end: label(skeleton, other.goal.node),
            });
        }
    }
    let groups = groups(&tasks);
    for group in &groups {
        check_size(&tasks, group)?;
    }
    for &node in tasks.iter().flat_map(|task| &task.turned.nodes) {
        posing.keep_limit(node);
    }
    for group in groups {
        match group[..] {
            [alone] => posing.solve_alone(&mut tasks[alone]),
            _ => posing.solve_together(&mut tasks, &group),
        }
        for index in group {
            posing.orient(&tasks[index].goal);
        }
    }
    let world = posing.world();
    let outcome: Vec<Reached> = tasks.iter().map(|task| task.outcome(&world)).collect();
    for (task, reached) in tasks.iter().zip(&outcome) {
        let mut turned = task.turned.nodes.iter().chain([&task.goal.node]);
        let is_finite = turned.all(|&node| posing.pose.locals[node].is_finite());
        if !(is_finite && reached.distance.is_finite() && reached.away.is_finite()) {
            return Err(ReachError::NotFinite {
                what: "position in the pose",
                joint: label(skeleton, task.goal.node),
            });
        }
    }
    *pose = posing.pose;
    Ok(outcome)
}

/// Translates a node to a world position. Its children follow, and the bone above it stretches.
///
/// # Errors
///
/// Fails if the pose has another number of nodes than the skeleton, there is no such node, the
/// position is not finite, or a parent of the node is scaled to zero.
pub fn move_to(
    skeleton: &Skeleton,
    pose: &mut Pose,
    node: usize,
    position: DVec3,
) -> Result<(), ReachError> {
    check(
        skeleton,
        pose,
        &[Goal::new(node, position)],
        &ReachOptions::default(),
    )?;
    let mut world = Vec::new();
    skeleton.place_nodes(&pose.locals, &mut world);
    let parent = skeleton.nodes()[node].parent;
    let place = match parent.map(|parent| world[parent]) {
        Some(above) => limits::inverse_of_any_size(above).transform_point3(position),
        None => position,
    };
    if !place.is_finite() {
        return Err(ReachError::Crushed {
            joint: label(skeleton, node),
        });
    }
    pose.locals[node] = pose.locals[node].moved_to(place);
    Ok(())
}

/// The name of a node in messages.
fn label(skeleton: &Skeleton, node: usize) -> String {
    match skeleton.nodes().get(node).map(|node| node.name.as_str()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("node {node}"),
    }
}

fn check(
    skeleton: &Skeleton,
    pose: &Pose,
    goals: &[Goal],
    options: &ReachOptions,
) -> Result<(), ReachError> {
    let nodes = skeleton.nodes().len();
    if pose.locals.len() != nodes {
        return Err(ReachError::OtherSkeleton {
            found: pose.locals.len(),
            expected: nodes,
        });
    }
    let named = goals.iter().map(|goal| goal.node);
    let named = named.chain(options.limits.keys().copied());
    let mut named = named.chain(options.stiffness.keys().copied());
    if let Some(node) = named.find(|&node| node >= nodes) {
        return Err(ReachError::NoSuchNode { node, nodes });
    }
    if let Some(node) = pose.locals.iter().position(|local| !local.is_finite()) {
        return Err(ReachError::NotFinite {
            what: "position in the pose",
            joint: label(skeleton, node),
        });
    }
    let mut named = HashSet::new();
    for goal in goals {
        let joint = label(skeleton, goal.node);
        let measurable = |place: DVec3| place.length_squared().is_finite();
        let turns = |rotation: DQuat| rotation.is_finite() && rotation.length_squared() > 0.0;
        let what = if !measurable(goal.position) {
            "target"
        } else if goal.pole.is_some_and(|pole| !measurable(pole)) {
            "pole"
        } else if goal.orientation.is_some_and(|rotation| !turns(rotation)) {
            "orientation"
        } else if !named.insert(goal.node) {
            return Err(ReachError::Twice { joint });
        } else {
            continue;
        };
        return Err(ReachError::NotFinite { what, joint });
    }
    check_option(
        options.tolerance >= 0.0 && options.tolerance.is_finite(),
        "the tolerance",
        options.tolerance,
        "at least 0",
    )?;
    check_option(
        options.iterations > 0,
        "the number of iterations",
        0.0,
        "at least 1",
    )?;
    for (&node, limit) in &options.limits {
        if let Some(problem) = limit.problem() {
            let joint = label(skeleton, node);
            return Err(ReachError::Limit { joint, problem });
        }
    }
    for (&node, &value) in &options.stiffness {
        if !(0.0..=1.0).contains(&value) {
            return Err(ReachError::Option(OptionError {
                option: format!("the stiffness of '{}'", label(skeleton, node)).into(),
                value,
                allowed: "from 0 to 1",
            }));
        }
    }
    Ok(())
}

/// A goal and the joints that turn for it.
struct Task {
    goal: Goal,
    turned: Turned,
    span: f64,
    iterations: usize,
}

impl Task {
    fn outcome(&self, world: &[DAffine3]) -> Reached {
        let end = &world[self.goal.node];
        let first = world[self.turned.nodes[0]].translation;
        let angle = self.goal.orientation.map_or(0.0, |wanted| {
            angle_of(wanted.normalize() * Polar::of(end.matrix3).rotation.conjugate())
        });
        Reached {
            distance: end.translation.distance(self.goal.position),
            angle,
            iterations: self.iterations,
            chain: self.turned.nodes.clone(),
            span: self.span,
            away: first.distance(self.goal.position),
        }
    }
}

/// The lengths of the bones of a chain, from joint to joint and to the end.
fn lengths(world: &[DAffine3], nodes: &[usize], end: usize) -> impl Iterator<Item = f64> {
    let nexts = nodes.iter().skip(1).copied().chain([end]);
    let pairs = nodes.iter().copied().zip(nexts);
    pairs.map(|(node, next)| world[node].translation.distance(world[next].translation))
}

/// Groups goals whose chains share joints; groups higher up in the skeleton come first.
///
/// Chains are unbroken. So if a joint of one group is above an end of another group but is not
/// turned for it, it is above the whole chain, and comes first in the order of the skeleton.
fn groups(tasks: &[Task]) -> Vec<Vec<usize>> {
    let mut sets = DisjointSets::new(tasks.len());
    let mut first_to_turn: HashMap<usize, usize> = HashMap::new();
    for (index, task) in tasks.iter().enumerate() {
        for &node in &task.turned.nodes {
            sets.join(*first_to_turn.entry(node).or_insert(index), index);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in 0..tasks.len() {
        groups.entry(sets.find(index)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    let top = |group: &Vec<usize>| {
        let firsts = group.iter().map(|&index| tasks[index].turned.nodes[0]);
        firsts.min()
    };
    groups.sort_by_key(top);
    groups
}

/// Checks that goals do not share too many joints: the table of rates, by joint and end, would
/// become too large.
fn check_size(tasks: &[Task], group: &[usize]) -> Result<(), ReachError> {
    let nodes = group.iter().flat_map(|&index| &tasks[index].turned.nodes);
    let joints = nodes.collect::<HashSet<_>>().len();
    let goals = group.len();
    if goals > 1 && joints * goals > MOST_RATES {
        return Err(ReachError::TooLarge { goals, joints });
    }
    Ok(())
}

/// A pose while it is changed.
struct Posing<'a> {
    skeleton: &'a Skeleton,
    pose: Pose,
    options: &'a ReachOptions,
    rest_world: Vec<DAffine3>,
}

impl<'a> Posing<'a> {
    fn new(skeleton: &'a Skeleton, pose: Pose, options: &'a ReachOptions) -> Posing<'a> {
        Posing {
            skeleton,
            pose,
            options,
            rest_world: skeleton.rest_world(),
        }
    }

    fn world(&self) -> Vec<DAffine3> {
        let mut world = Vec::with_capacity(self.pose.locals.len());
        self.skeleton.place_nodes(&self.pose.locals, &mut world);
        world
    }

    fn is_reached(&self, task: &Task) -> bool {
        let place = self.world()[task.goal.node].translation;
        place.distance(task.goal.position) <= self.options.tolerance * task.span
    }

    fn solve_alone(&mut self, task: &mut Task) {
        let nodes = task.turned.nodes.clone();
        let within_reach = self.is_reached(task) && task.goal.pole.is_none();
        if task.turned.has_collar && !within_reach {
            task.iterations += self.solve_chain(task, &nodes[1..]);
            if self.is_reached(task) {
                return;
            }
        }
        task.iterations += self.solve_chain(task, &nodes);
    }

    /// Solves one goal by turning some nodes. Returns the number of steps.
    fn solve_chain(&mut self, task: &Task, nodes: &[usize]) -> usize {
        let goal = &task.goal;
        if let (&[upper, lower], true) = (nodes, goal.pole.is_some() || !self.is_reached(task)) {
            self.bend_two(goal, upper, lower);
        } else {
            self.turn_to_pole(goal, nodes);
        }
        let iterations = self.solve_tree(&[(goal, nodes)], task.span);
        // The chain may have turned about its own line in the meantime.
        if nodes.len() > 2 && goal.pole.is_some() {
            let (before, was_reached) = (self.pose.clone(), self.is_reached(task));
            self.turn_to_pole(goal, nodes);
            let more = self.solve_tree(&[(goal, nodes)], task.span);
            if was_reached && !self.is_reached(task) {
                self.pose = before;
            }
            return iterations + more;
        }
        iterations
    }

    fn solve_together(&mut self, tasks: &mut [Task], group: &[usize]) {
        for &index in group {
            let Task { goal, turned, .. } = &tasks[index];
            self.turn_to_pole(goal, &turned.nodes);
        }
        let chains: Vec<(&Goal, &[usize])> = group
            .iter()
            .map(|&index| (&tasks[index].goal, &tasks[index].turned.nodes[..]))
            .collect();
        let spans = group.iter().map(|&index| tasks[index].span);
        let span = spans.fold(0.0, f64::max);
        let iterations = self.solve_tree(&chains, span);
        for &index in group {
            tasks[index].iterations += iterations;
        }
    }

    /// Solves two bones in closed form, if they move rigidly in world space and neither is stiff.
    fn bend_two(&mut self, goal: &Goal, upper: usize, lower: usize) {
        let world = self.world();
        let above = |node: usize| {
            let parent = self.skeleton.nodes()[node].parent;
            parent.map_or(DMat3::IDENTITY, |parent| world[parent].matrix3)
        };
        let stiff = |node: &usize| self.stiffness(*node) > 0.0;
        let rigid = is_similarity(above(upper)) && is_similarity(above(lower));
        if !rigid || [upper, lower].iter().any(stiff) {
            return;
        }
        let bones = bones(&world, upper, lower, goal.node);
        let side = self.side_when_straight(&world, upper, lower, goal.node);
        let Some(bend) = bones.reach(goal.position, goal.pole, side) else {
            return;
        };
        self.turn_in_world(upper, bend.upper, above(upper));
        // The parent's axes after the rotation of the upper bone.
        let carried = DMat3::from_quat(bend.upper) * above(lower);
        self.turn_in_world(lower, bend.lower, carried);
    }

    /// Rotates a node about its own position, by a rotation in world space.
    fn turn_in_world(&mut self, node: usize, turn: DQuat, world_from_parent: DMat3) {
        let by = axis_in_parent(world_from_parent, turn.to_scaled_axis().normalize_or_zero());
        let angle = turn.to_scaled_axis().length();
        let turn = DQuat::from_scaled_axis(by * angle);
        self.pose.locals[node] = self.pose.locals[node].turned(turn);
    }

    /// The side to which the middle of a straight chain bends: as at rest; if the chain is straight
    /// at rest, too, as arms and legs of a character that faces +z bend.
    fn side_when_straight(
        &self,
        world: &[DAffine3],
        first: usize,
        middle: usize,
        end: usize,
    ) -> DVec3 {
        let rest = bones(&self.rest_world, first, middle, end);
        let turned = |world: &DAffine3| Polar::of(world.matrix3).rotation;
        if !rest.is_straight() {
            let line = rest.end - rest.root;
            let side = (rest.middle - rest.root).reject_from(line);
            let from_rest = turned(&world[first]) * turned(&self.rest_world[first]).conjugate();
            if side.is_finite() {
                return from_rest * side;
            }
        }
        let now = bones(world, first, middle, end);
        let line = (now.end - now.root).normalize_or_zero();
        if line.y.abs() > HANGS {
            DVec3::Z
        } else if line.z.abs() > HANGS {
            DVec3::Y
        } else {
            DVec3::NEG_Z
        }
    }

    /// Rotates a whole chain about the line from its first joint to its end, so that the joint
    /// farthest from that line faces the pole.
    fn turn_to_pole(&mut self, goal: &Goal, nodes: &[usize]) {
        let Some((pole, &first)) = goal.pole.zip(nodes.first()) else {
            return;
        };
        let world = self.world();
        let root = world[first].translation;
        let line = (world[goal.node].translation - root).normalize_or_zero();
        let offset = |place: DVec3| (place - root).reject_from_normalized(line);
        let offsets = nodes.iter().map(|&node| offset(world[node].translation));
        let farthest = offsets.max_by(|one, other| one.length().total_cmp(&other.length()));
        let wanted = offset(pole);
        let Some(farthest) = farthest.filter(|_| line != DVec3::ZERO) else {
            return;
        };
        let small = 1e-6 * lengths(&world, nodes, goal.node).sum::<f64>();
        if farthest.length() <= small || wanted.length() <= small {
            return;
        }
        let angle = f64::atan2(farthest.cross(wanted).dot(line), farthest.dot(wanted));
        let parent = self.skeleton.nodes()[first].parent;
        let above = parent.map_or(DMat3::IDENTITY, |parent| world[parent].matrix3);
        self.turn_in_world(first, DQuat::from_axis_angle(line, angle), above);
    }

    fn stiffness(&self, node: usize) -> f64 {
        let stiffness = self.options.stiffness.get(&node);
        stiffness.copied().unwrap_or(0.0)
    }

    /// Runs the general solver over all nodes of some chains. Returns the number of steps.
    fn solve_tree(&mut self, chains: &[(&Goal, &[usize])], span: f64) -> usize {
        let world = self.world();
        let start = self.tree(&world, chains, span);
        let effort = Effort {
            tolerance: self.options.tolerance,
            iterations: self.options.iterations,
        };
        let enough = effort.tolerance * effort.tolerance;
        let mut best = start.clone();
        let mut iterations = best.solve(effort);
        let mut error = best.missing_squared();
        // A chain in one line with its target has no direction to start in, and limits and
        // non-uniform scale may lead into a corner. So the solver tries again, with the chain bent
        // to each of four sides.
        for (quarter, side) in [(false, 1.0), (false, -1.0), (true, 1.0), (true, -1.0)] {
            if error <= enough || self.is_plainly_out_of_reach(&world, chains) {
                break;
            }
            let mut bent = start.clone();
            for (goal, nodes) in chains {
                let axis = self.first_bend(&world, goal, nodes, quarter);
                bent.bend(nodes, axis * side);
            }
            iterations += bent.solve(effort);
            let then = bent.missing_squared();
            if then < error * (1.0 - 1e-6) {
                (best, error) = (bent, then);
            }
        }
        for (node, turn) in best.turns() {
            self.pose.locals[node] = self.pose.locals[node].turned(turn);
        }
        iterations
    }

    fn tree(&self, world: &[DAffine3], chains: &[(&Goal, &[usize])], span: f64) -> Tree {
        let mut on_the_way = BTreeMap::new();
        let mut turned = HashSet::new();
        for (goal, nodes) in chains {
            turned.extend(nodes.iter().copied());
            let mut node = Some(goal.node);
            while let Some(index) = node {
                let parent = self.skeleton.nodes()[index].parent;
                on_the_way.insert(index, parent);
                // The first joint of the chain is the last on the way up.
                node = parent.filter(|_| nodes.first() != Some(&index));
            }
        }
        let on_the_way: Vec<(usize, Option<usize>)> = on_the_way.into_iter().collect();
        let freedom = |node: usize| {
            turned.contains(&node).then(|| Freedom {
                rest: self.skeleton.nodes()[node].rest.rotation(),
                limit: self.options.limits.get(&node).copied(),
                give: 1.0 - self.stiffness(node),
            })
        };
        let mut tree = Tree::new(&on_the_way, &self.pose.locals, world, freedom, span);
        for (goal, nodes) in chains {
            let root = world[nodes[0]].translation;
            let away = goal.position - root;
            let target = root + away.clamp_length_max(FARTHEST * span);
            tree.add_end(goal.node, target);
        }
        tree
    }

    /// True if a chain without limits and stiffness is too short for its target, or cannot fold
    /// tightly enough.
    fn is_plainly_out_of_reach(&self, world: &[DAffine3], chains: &[(&Goal, &[usize])]) -> bool {
        let &[(goal, nodes)] = chains else {
            return false;
        };
        let bound = |node: &usize| {
            self.options.limits.contains_key(node) || self.options.stiffness.contains_key(node)
        };
        let away = world[nodes[0]].translation.distance(goal.position);
        let (span, longest) = lengths(world, nodes, goal.node)
            .fold((0.0, 0.0f64), |(sum, most), length| {
                (sum + length, most.max(length))
            });
        // The other bones together are shorter than the longest bone.
        let nearest = 2.0 * longest - span;
        (away >= span || away <= nearest) && !nodes.iter().any(bound)
    }

    /// The axis about which a straight chain is bent to get it started, or that axis after a
    /// quarter turn about the chain.
    fn first_bend(&self, world: &[DAffine3], goal: &Goal, nodes: &[usize], quarter: bool) -> DVec3 {
        let (first, middle) = (nodes[0], nodes[nodes.len() / 2]);
        let side = match goal.pole {
            Some(pole) => pole - world[first].translation,
            None => self.side_when_straight(world, first, middle, goal.node),
        };
        let bones = bones(world, first, middle, goal.node);
        let axis = bend_axis(&bones, side);
        match quarter {
            true => axis.cross((bones.end - bones.root).normalize_or(DVec3::X)),
            false => axis,
        }
    }

    /// Rotates the end of a chain to its target orientation, as far as its limit allows.
    fn orient(&mut self, goal: &Goal) {
        let Some(wanted) = goal.orientation.map(DQuat::normalize) else {
            return;
        };
        // Under non-uniform scale, a rotation of the node is not exactly that rotation in world
        // space: several rounds are needed.
        for _ in 0..8 {
            let world = self.world();
            let turn = wanted * Polar::of(world[goal.node].matrix3).rotation.conjugate();
            if angle_of(turn) < 1e-12 {
                break;
            }
            let parent = self.skeleton.nodes()[goal.node].parent;
            let above = parent.map_or(DMat3::IDENTITY, |parent| world[parent].matrix3);
            let turn = if turn.w < 0.0 { -turn } else { turn };
            self.turn_in_world(goal.node, turn, above);
        }
        self.keep_limit(goal.node);
    }

    /// Moves a rotation into the limit of its node, if it is outside.
    fn keep_limit(&mut self, node: usize) {
        let Some(limit) = self.options.limits.get(&node) else {
            return;
        };
        let rest = self.skeleton.nodes()[node].rest.rotation();
        let rotation = self.pose.locals[node].rotation();
        let allowed = rest * limit.nearest(rest.conjugate() * rotation);
        let turn = allowed * rotation.conjugate();
        if angle_of(turn) > ROUNDING {
            self.pose.locals[node] = self.pose.locals[node].turned(turn);
        }
    }
}

fn bones(world: &[DAffine3], root: usize, middle: usize, end: usize) -> TwoBone {
    TwoBone {
        root: world[root].translation,
        middle: world[middle].translation,
        end: world[end].translation,
    }
}

/// True if a matrix preserves angles: a rotation, uniform scale, mirroring.
fn is_similarity(matrix: DMat3) -> bool {
    let matrix = without_size(matrix);
    let gram = matrix.transpose() * matrix;
    let size = (gram.x_axis.x + gram.y_axis.y + gram.z_axis.z) / 3.0;
    let apart = gram - DMat3::from_diagonal(DVec3::splat(size));
    let largest = apart.to_cols_array().into_iter().map(f64::abs);
    size > 0.0 && largest.fold(0.0, f64::max) <= SIMILAR * size
}
