//! Any number of joints and targets at once: damped least squares within joint limits.
//!
//! With `e` the remaining vectors from the ends to their targets, and the Jacobian `J` of the ends
//! by the rotation of each joint, a step minimises `|J δ − e|² + μ |δ|²` (Wampler 1986; Nakamura
//! and Hanafusa 1986):
//!
//! `δ = Jᵀ (J Jᵀ + μ I)⁻¹ e`.
//!
//! Among all solutions, this step rotates joints least, and the damping μ keeps it small if a chain
//! is stretched or folded. μ follows Levenberg and Marquardt: it falls after a step that helped,
//! and grows after one that did not and is undone.
//!
//! For a target out of reach, `e` stays large. Then `J` alone does not describe the change of the
//! distance well enough, and steps become tiny. So after a step that gains little, the next one
//! includes the second derivatives `C`, which cost a walk over pairs of joints: `(JᵀJ − e·C + μ I)
//! δ = Jᵀe`. This converges in tens of steps instead of hundreds, with the chain stretched towards
//! the target.
//!
//! Limits leave each direction a certain room ([`Limit::directions`]). Directions without room on
//! the side that reduces the distance are excluded from the step, as in projected Newton methods
//! (Bertsekas 1982): the second derivatives along them would make the system indefinite. A step
//! that exceeds the room of a direction ends at its bound, and the other directions are solved
//! again with that step fixed. A joint that exceeds its limit nevertheless, to second order, is
//! moved back onto the bound.
//!
//! All computations use matrices instead of angles: `J` is exact even under parents with
//! non-uniform scale, where a rotation is not rigid in world space.

use super::ROUNDING;
use super::limits::{Direction, Limit, angle_of, axis_in_parent};
use super::two_bone::TwoBone;
use crate::transform::Local;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::collections::{HashMap, HashSet};

/// The largest rotation of a joint in one step, in radians: derivatives hold only locally.
const LARGEST_TURN: f64 = 0.6;

/// The initial damping. Lengths are in spans of the chain.
const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-12;
/// The largest damping: if even such short steps do not help, the solver has converged.
const MOST_DAMPING: f64 = 1e9;

/// A step that leaves more than this share of the distance gains little.
const SLOW: f64 = 0.8;

/// Smaller rates of the distance count as zero, relative to the distance.
const LEVEL: f64 = 1e-10;

/// The largest number of directions for second derivatives: the cost of their system grows with the
/// cube.
const MOST_FOR_CURVATURE: usize = 240;

/// The angle by which a straight chain is bent in total to get it started, in radians.
const FIRST_BEND: f64 = 1.0;

/// The nodes from the first turned joint down to the ends, with their rotations.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    links: Vec<Link>,
    ends: Vec<End>,
    /// The unit of length, of the size of the problem.
    span: f64,
}

/// A node on the way to an end.
#[derive(Clone, Debug)]
struct Link {
    node: usize,
    above: Above,
    /// The transform of the node relative to its parent.
    local: DAffine3,
    joint: Option<TurningJoint>,
}

#[derive(Clone, Copy, Debug)]
enum Above {
    /// Another link, with a lower index.
    Link(usize),
    /// A fixed frame: the world from the parent's frame.
    World(DAffine3),
}

impl Above {
    /// The world from the parent's frame, given the links before.
    fn world(self, world_from_link: &[DAffine3]) -> DAffine3 {
        match self {
            Above::Link(link) => world_from_link[link],
            Above::World(world) => world,
        }
    }
}

/// A joint that may be turned.
#[derive(Clone, Copy, Debug)]
struct TurningJoint {
    rotation: DQuat,
    rest: DQuat,
    limit: Option<Limit>,
    /// One minus the stiffness.
    give: f64,
    /// Its rotation so far, in its parent's axes.
    turn: DQuat,
}

/// An end effector and its target.
#[derive(Clone, Copy, Debug)]
struct End {
    link: usize,
    target: DVec3,
}

/// The options of a joint that turns.
pub(super) struct Freedom {
    pub(super) rest: DQuat,
    pub(super) limit: Option<Limit>,
    pub(super) give: f64,
}

/// The tolerance and the limit of steps.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// In spans.
    pub(super) tolerance: f64,
    pub(super) iterations: usize,
}

/// The derivatives of the ends' positions.
struct Rates {
    /// The joint of each direction, its axis in the parent's frame, and the room for steps along
    /// it.
    directions: Vec<(usize, Direction)>,
    /// For each direction, one vector per end.
    columns: Vec<DVec3>,
    /// The remaining vector to the target, per end.
    missing: Vec<DVec3>,
    /// `−e·C`, for each pair of directions; empty unless requested.
    curvature: Vec<f64>,
}

impl Tree {
    /// Builds the links of nodes, parents first; `freedom` contains the nodes that turn.
    pub(super) fn new(
        parents: &[(usize, Option<usize>)],
        locals: &[Local],
        world_from_node: &[DAffine3],
        mut freedom: impl FnMut(usize) -> Option<Freedom>,
        span: f64,
    ) -> Tree {
        let mut links: Vec<Link> = Vec::with_capacity(parents.len());
        let mut link_of_node = HashMap::with_capacity(parents.len());
        for &(node, parent) in parents {
            let within = parent.and_then(|parent| link_of_node.get(&parent));
            let above = match within {
                Some(&link) => Above::Link(link),
                None => Above::World(
                    parent.map_or(DAffine3::IDENTITY, |parent| world_from_node[parent]),
                ),
            };
            let joint = freedom(node).map(|freedom| TurningJoint {
                rotation: locals[node].rotation(),
                rest: freedom.rest,
                limit: freedom.limit,
                give: freedom.give,
                turn: DQuat::IDENTITY,
            });
            link_of_node.insert(node, links.len());
            links.push(Link {
                node,
                above,
                local: locals[node].to_affine(),
                joint,
            });
        }
        let mut tree = Tree {
            links,
            ends: Vec::new(),
            span,
        };
        for link in 0..tree.links.len() {
            tree.turn(link, DVec3::ZERO);
        }
        tree
    }

    /// Adds an end effector with its target.
    pub(super) fn add_end(&mut self, node: usize, target: DVec3) {
        let link = self.links.iter().position(|link| link.node == node);
        if let Some(link) = link {
            self.ends.push(End { link, target });
        }
    }

    /// The turned nodes and their rotations, in their parents' axes.
    pub(super) fn turns(&self) -> impl Iterator<Item = (usize, DQuat)> + '_ {
        let turned = |link: &Link| link.joint.map(|joint| (link.node, joint.turn));
        let turns = self.links.iter().filter_map(turned);
        turns.filter(|(_, turn)| *turn != DQuat::IDENTITY)
    }

    /// The squared remaining distance, in spans.
    pub(super) fn missing_squared(&self) -> f64 {
        let world = self.world_from_link();
        let missing = |end: &End| end.target.distance_squared(world[end.link].translation);
        self.ends.iter().map(missing).sum::<f64>() / (self.span * self.span)
    }

    fn world_from_link(&self) -> Vec<DAffine3> {
        let mut world: Vec<DAffine3> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            world.push(link.above.world(&world) * link.local);
        }
        world
    }

    /// Turns a joint by a rotation vector in its parent's axes, as far as its limit allows.
    fn turn(&mut self, link: usize, by: DVec3) {
        let link = &mut self.links[link];
        let Some(joint) = &mut link.joint else {
            return;
        };
        let wanted = DQuat::from_scaled_axis(by) * joint.rotation;
        let turned = match &joint.limit {
            Some(limit) => joint.rest * limit.nearest(joint.rest.conjugate() * wanted),
            None => wanted,
        };
        let turn = turned * joint.rotation.conjugate();
        if angle_of(turn) <= ROUNDING {
            return;
        }
        joint.rotation = turned.normalize();
        joint.turn = (turn * joint.turn).normalize();
        link.local.matrix3 = DMat3::from_quat(turn.normalize()) * link.local.matrix3;
    }

    /// Moves the ends to their targets, or as near as possible from here. Returns the number of
    /// steps.
    pub(super) fn solve(&mut self, effort: Effort) -> usize {
        let mut damping = FIRST_DAMPING;
        let mut error = self.missing_squared();
        let mut creeps = false;
        let enough = effort.tolerance * effort.tolerance;
        let mut iteration = 0;
        let mut rates = self.rates(creeps);
        while iteration < effort.iterations && error > enough && damping < MOST_DAMPING {
            if rates.are_level(error) {
                break;
            }
            iteration += 1;
            let Some(step) = rates.step(damping) else {
                damping *= 8.0;
                continue;
            };
            let mut tried = self.clone();
            tried.take(&rates.directions, &step);
            let then = tried.missing_squared();
            if then < error {
                creeps = then > SLOW * SLOW * error && step.len() <= MOST_FOR_CURVATURE;
                *self = tried;
                error = then;
                damping = (damping / 8.0).max(LEAST_DAMPING);
                rates = self.rates(creeps);
            } else {
                damping *= 8.0;
                if !creeps && step.len() <= MOST_FOR_CURVATURE {
                    creeps = true;
                    rates = self.rates(true);
                }
            }
        }
        iteration
    }

    /// Turns every joint by its share of a step, which is shortened if it is too long for the
    /// derivatives.
    fn take(&mut self, directions: &[(usize, Direction)], step: &[f64]) {
        let mut turns = vec![DVec3::ZERO; self.links.len()];
        for ((link, direction), by) in directions.iter().zip(step) {
            let give = self.links[*link].joint.map_or(0.0, |joint| joint.give);
            turns[*link] += direction.axis * (by * give);
        }
        let largest = turns.iter().map(|turn| turn.length()).fold(0.0, f64::max);
        let share = (LARGEST_TURN / largest).min(1.0);
        for (link, turn) in turns.into_iter().enumerate() {
            if turn != DVec3::ZERO {
                self.turn(link, turn * share);
            }
        }
    }

    /// The derivatives of the remaining vectors, by one walk from each end to the top.
    ///
    /// A joint with the rotation ω in its parent's axes moves a point at `v` relative to it to `v +
    /// ω × v`; its parent's frame maps that to the world. Of two joints, the upper one rotates the
    /// movement by the lower one.
    fn rates(&self, with_curvature: bool) -> Rates {
        let world = self.world_from_link();
        let mut directions = Vec::new();
        let mut first_of_link = vec![0; self.links.len()];
        for (index, link) in self.links.iter().enumerate() {
            first_of_link[index] = directions.len();
            if let Some(joint) = link.joint.filter(|joint| joint.give > 0.0) {
                directions.extend(joint.directions().map(|direction| (index, direction)));
            }
        }
        let (count, ends) = (directions.len(), self.ends.len());
        let mut rates = Rates {
            columns: vec![DVec3::ZERO; count * ends],
            missing: Vec::with_capacity(ends),
            curvature: vec![0.0; if with_curvature { count * count } else { 0 }],
            directions,
        };
        for (place, end) in self.ends.iter().enumerate() {
            let missing = (end.target - world[end.link].translation) / self.span;
            rates.missing.push(missing);
            // Relative to the link's parent.
            let mut seen = self.links[end.link].local.translation / self.span;
            let mut above = self.links[end.link].above;
            // The movement by the joints so far, by direction; stored for second derivatives only.
            let mut moved: Vec<(usize, DVec3)> = Vec::new();
            while let Above::Link(index) = above {
                let link = &self.links[index];
                above = link.above;
                let world_from_parent = above.world(&world).matrix3;
                let arm = link.local.matrix3 * seen;
                seen = arm + link.local.translation / self.span;
                for (_, vector) in &mut moved {
                    *vector = link.local.matrix3 * *vector;
                }
                let Some(joint) = link.joint.filter(|joint| joint.give > 0.0) else {
                    continue;
                };
                let missing_here = world_from_parent.transpose() * missing;
                let own = first_of_link[index]..first_of_link[index] + 3;
                for direction in own {
                    let axis = rates.directions[direction].1.axis * joint.give;
                    let moves = axis.cross(arm);
                    rates.columns[direction * ends + place] = world_from_parent * moves;
                    if !with_curvature {
                        continue;
                    }
                    moved.push((direction, moves));
                    for &(below, vector) in &moved {
                        let twice = axis.cross(vector);
                        let bends = if rates.directions[below].0 == index {
                            // The rotations of one joint count half in either order.
                            let other = rates.directions[below].1.axis * joint.give;
                            0.5 * (twice + other.cross(moves))
                        } else {
                            twice
                        };
                        let entry = missing_here.dot(bends);
                        rates.curvature[direction * count + below] -= entry;
                        if below != direction {
                            rates.curvature[below * count + direction] -= entry;
                        }
                    }
                }
            }
        }
        rates
    }

    /// Bends a straight chain a little, all joints alike, so that it can continue to bend; the
    /// first joint turns back by half of it.
    pub(super) fn bend(&mut self, nodes: &[usize], axis: DVec3) {
        let share = FIRST_BEND / nodes.len().max(1) as f64;
        let turned: HashSet<usize> = nodes.iter().copied().collect();
        let mut world = Vec::with_capacity(self.links.len());
        for index in 0..self.links.len() {
            let Link { node, above, .. } = self.links[index];
            let above = above.world(&world);
            if turned.contains(&node) {
                let is_first = nodes.first() == Some(&node);
                let by = if is_first { -0.5 * FIRST_BEND } else { share };
                self.turn(index, axis_in_parent(above.matrix3, axis) * by);
            }
            world.push(above * self.links[index].local);
        }
    }
}

/// An axis about which a chain through these positions can bend, with the middle one moving towards
/// `side`.
pub(super) fn bend_axis(bones: &TwoBone, side: DVec3) -> DVec3 {
    let line = (bones.end - bones.root).normalize_or(DVec3::X);
    let axis = side.cross(line);
    axis.try_normalize()
        .unwrap_or_else(|| line.any_orthonormal_vector())
}

impl TurningJoint {
    /// The directions of its rotation, in its parent's axes, and the room for steps along them.
    fn directions(&self) -> [Direction; 3] {
        let Some(limit) = &self.limit else {
            return Direction::FREE;
        };
        let directions = limit.directions(self.rest.conjugate() * self.rotation);
        // A step turns the joint only by its share.
        directions.map(|direction| Direction {
            axis: self.rest * direction.axis,
            room: direction.room.map(|room| room / self.give),
            curvature_of_bound: direction.curvature_of_bound * self.give,
        })
    }
}

impl Rates {
    fn column(&self, direction: usize) -> &[DVec3] {
        let ends = self.missing.len();
        &self.columns[direction * ends..(direction + 1) * ends]
    }

    /// The rate at which the distance falls along a direction.
    fn slope(&self, direction: usize) -> f64 {
        let pairs = self.column(direction).iter().zip(&self.missing);
        pairs.map(|(rate, missing)| rate.dot(*missing)).sum()
    }

    /// True if no open direction reduces the distance.
    fn are_level(&self, error: f64) -> bool {
        let open = (0..self.directions.len())
            .map(|direction| (direction, self.slope(direction)))
            .filter(|(direction, slope)| self.room_toward(*direction, *slope) > 0.0);
        let steepest = open.map(|(_, slope)| slope.abs()).fold(0.0, f64::max);
        steepest <= LEVEL * error.sqrt()
    }

    /// The largest step along a direction, towards one side.
    fn room_toward(&self, direction: usize, step: f64) -> f64 {
        self.directions[direction].1.room_toward(step)
    }

    /// A damped step within the room of the limits; none if the damping is too small for a
    /// solution.
    fn step(&self, damping: f64) -> Option<Vec<f64>> {
        let count = self.directions.len();
        let mut step = vec![0.0; count];
        let leads_nearer =
            |direction: usize| self.room_toward(direction, self.slope(direction)) > 0.0;
        let mut is_open: Vec<bool> = (0..count).map(leads_nearer).collect();
        loop {
            let open: Vec<usize> = (0..count).filter(|&direction| is_open[direction]).collect();
            let found = match self.curvature.is_empty() {
                true => self.least_squares(&open, &step, damping)?,
                false => self.second_order(&open, &step, damping)?,
            };
            if !found.iter().all(|by| by.is_finite()) {
                return None;
            }
            let mut exceeds = false;
            for (&direction, &by) in open.iter().zip(&found) {
                let room = self.room_toward(direction, by);
                if by.abs() > room {
                    step[direction] = room.copysign(by);
                    is_open[direction] = false;
                    exceeds = true;
                }
            }
            if !exceeds {
                for (direction, by) in open.into_iter().zip(found) {
                    step[direction] = by;
                }
                return Some(step);
            }
        }
    }

    /// `Jᵀ (J Jᵀ + μ I)⁻¹ e` over the open directions, with `e` reduced by the fixed steps along
    /// the others.
    fn least_squares(&self, open: &[usize], known: &[f64], damping: f64) -> Option<Vec<f64>> {
        let ends = self.missing.len();
        let size = 3 * ends;
        let mut system = vec![0.0; size * size];
        for &direction in open {
            let column = self.column(direction);
            for (a, one) in column.iter().enumerate() {
                for (b, other) in column[..=a].iter().enumerate() {
                    for i in 0..3 {
                        for j in 0..3 {
                            system[(3 * a + i) * size + 3 * b + j] += one[i] * other[j];
                        }
                    }
                }
            }
        }
        let mut missing = self.missing.clone();
        for (direction, &by) in known.iter().enumerate().filter(|(_, by)| **by != 0.0) {
            for (missing, rate) in missing.iter_mut().zip(self.column(direction)) {
                *missing -= *rate * by;
            }
        }
        let mut right: Vec<f64> = missing.iter().flat_map(DVec3::to_array).collect();
        solve_positive(&mut system, damping, &mut right)?;
        let step = |&direction: &usize| {
            let pairs = self.column(direction).iter().zip(right.as_chunks::<3>().0);
            pairs
                .map(|(rate, part)| rate.dot(DVec3::from_array(*part)))
                .sum()
        };
        Some(open.iter().map(step).collect())
    }

    /// `(JᵀJ − e·C + μ I)⁻¹ Jᵀe` over the open directions, with `Jᵀe` reduced by the fixed steps
    /// along the others.
    fn second_order(&self, open: &[usize], known: &[f64], damping: f64) -> Option<Vec<f64>> {
        let size = open.len();
        let mut system = vec![0.0; size * size];
        for (a, &one) in open.iter().enumerate() {
            for (b, &other) in open[..=a].iter().enumerate() {
                system[a * size + b] = self.second_derivative(one, other);
            }
            system[a * size + a] += self.loss_at_border(one, open);
        }
        let known = || known.iter().enumerate().filter(|(_, by)| **by != 0.0);
        let right = |&direction: &usize| {
            let taken = known().map(|(other, by)| self.second_derivative(direction, other) * by);
            self.slope(direction) - taken.sum::<f64>()
        };
        let mut right: Vec<f64> = open.iter().map(right).collect();
        solve_positive(&mut system, damping, &mut right)?;
        Some(right)
    }

    /// The second derivative of half the squared remaining distance along two directions: an entry
    /// of `JᵀJ − e·C`.
    fn second_derivative(&self, one: usize, other: usize) -> f64 {
        let pairs = self.column(one).iter().zip(self.column(other));
        let product: f64 = pairs.map(|(one, other)| one.dot(*other)).sum();
        product + self.curvature[one * self.directions.len() + other]
    }

    /// The loss at the bound of a cone. A joint that rotates along the bound is put back onto it,
    /// which undoes the gain of leaning farther, by the square of the rotation.
    fn loss_at_border(&self, around: usize, open: &[usize]) -> f64 {
        let curvature = self.directions[around].1.curvature_of_bound;
        if curvature == 0.0 {
            return 0.0;
        }
        // The lean is the first of the joint's three directions.
        let lean = around - 2;
        match open.contains(&lean) {
            true => 0.0,
            false => self.slope(lean).max(0.0) * curvature,
        }
    }
}

/// Solves `(A + μ I) x = b` in place by Cholesky's decomposition, from the lower half of `A`; none
/// if `A + μ I` is not positive definite.
fn solve_positive(matrix: &mut [f64], damping: f64, right: &mut [f64]) -> Option<()> {
    let size = right.len();
    for row in 0..size {
        matrix[row * size + row] += damping;
        for column in 0..=row {
            let (upper, lower) = matrix.split_at_mut(row * size);
            let before = match column == row {
                true => lower[..column]
                    .iter()
                    .map(|entry| entry * entry)
                    .sum::<f64>(),
                false => {
                    let other = &upper[column * size..column * size + column];
                    let pairs = lower[..column].iter().zip(other);
                    pairs.map(|(one, other)| one * other).sum::<f64>()
                }
            };
            let left = lower[column] - before;
            if column < row {
                lower[column] = left / upper[column * size + column];
            } else if left > 0.0 {
                lower[column] = left.sqrt();
            } else {
                return None;
            }
        }
        let known = (0..row).map(|column| matrix[row * size + column] * right[column]);
        right[row] = (right[row] - known.sum::<f64>()) / matrix[row * size + row];
    }
    for row in (0..size).rev() {
        let known = (row + 1..size).map(|below| matrix[below * size + row] * right[below]);
        right[row] = (right[row] - known.sum::<f64>()) / matrix[row * size + row];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Trs;
    use std::f64::consts::PI;

    /// Two ends on a shared stem, with non-uniform scale, mirroring, a stiff joint and limits in
    /// between.
    fn tree() -> Tree {
        let local = |translation: [f64; 3], turn: f64, scale: [f64; 3]| {
            Local::Trs(Trs {
                translation: DVec3::from_array(translation),
                rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), turn),
                scale: DVec3::from_array(scale),
            })
        };
        let locals = [
            local([0.1, 0.2, 0.3], 0.4, [1.0, 2.0, 0.7]),
            local([0.5, 0.1, 0.0], -0.8, [1.0; 3]),
            local([0.6, 0.0, 0.2], 1.1, [-1.0, 1.3, 0.8]),
            local([0.4, 0.3, 0.1], 0.2, [1.0; 3]),
            local([0.3, -0.5, 0.1], 0.9, [1.0, 1.0, 1.5]),
            local([0.2, 0.1, 0.6], 0.0, [1.0; 3]),
        ];
        let parents = [
            (1, Some(0)),
            (2, Some(1)),
            (3, Some(2)),
            (4, Some(1)),
            (5, Some(4)),
        ];
        let freedom = |node: usize| {
            let limit = match node {
                2 => Some(Limit::Cone {
                    axis: DVec3::X,
                    swing: 2.0,
                    twist: [-PI, PI],
                }),
                4 => Some(Limit::Hinge {
                    axis: DVec3::new(1.0, 2.0, -0.5),
                    range: [-3.0, 3.0],
                }),
                _ => None,
            };
            let give = if node == 1 { 0.5 } else { 1.0 };
            (node != 3 && node != 5).then_some(Freedom {
                rest: DQuat::IDENTITY,
                limit,
                give,
            })
        };
        let world = vec![locals[0].to_affine(); locals.len()];
        let mut tree = Tree::new(&parents, &locals, &world, freedom, 1.7);
        tree.add_end(3, DVec3::new(0.3, 2.0, -1.0));
        tree.add_end(5, DVec3::new(-0.5, 0.4, 1.0));
        tree
    }

    /// Half the squared remaining distance after rotations along directions.
    fn error_after(tree: &Tree, rates: &Rates, turns: &[(usize, f64)]) -> f64 {
        let mut tried = tree.clone();
        let mut by = vec![DVec3::ZERO; tree.links.len()];
        for &(direction, turn) in turns {
            let (link, direction) = rates.directions[direction];
            let give = tree.links[link].joint.map_or(0.0, |joint| joint.give);
            by[link] += direction.axis * turn * give;
        }
        for (link, by) in by.into_iter().enumerate() {
            tried.turn(link, by);
        }
        0.5 * tried.missing_squared()
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let tree = tree();
        let rates = tree.rates(true);
        let count = rates.directions.len();
        assert_eq!(count, 9);
        let open = |direction: &usize| rates.directions[*direction].1.room != [0.0; 2];
        let open: Vec<usize> = (0..count).filter(open).collect();
        assert_eq!(open.len(), 7, "a hinge has one direction");
        let step = 1e-4;
        for &a in &open {
            let after = error_after(&tree, &rates, &[(a, step)]);
            let before = error_after(&tree, &rates, &[(a, -step)]);
            let slope = (before - after) / (2.0 * step);
            assert!((slope - rates.slope(a)).abs() < 1e-6, "{a}");
            for &b in &open {
                let at = |one: f64, other: f64| {
                    error_after(&tree, &rates, &[(a, one * step), (b, other * step)])
                };
                let bends = (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0))
                    / (4.0 * step * step);
                let found = rates.second_derivative(a, b);
                assert!((bends - found).abs() < 1e-5, "{a} {b}: {bends} {found}");
            }
        }
    }

    #[test]
    fn systems_are_solved_and_indefinite_ones_refused() {
        let mut matrix = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, -1.0, 0.5, 3.0];
        let mut right = [1.0, 2.0, 3.0];
        solve_positive(&mut matrix, 0.5, &mut right).unwrap();
        let rows = [[4.5, 2.0, -1.0], [2.0, 5.5, 0.5], [-1.0, 0.5, 3.5]];
        for (row, expected) in rows.iter().zip([1.0, 2.0, 3.0]) {
            let found: f64 = row.iter().zip(right).map(|(entry, x)| entry * x).sum();
            assert!((found - expected).abs() < 1e-12);
        }
        assert!(solve_positive(&mut [-1.0], 0.5, &mut [1.0]).is_none());
    }
}
