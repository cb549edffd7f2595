//! Trees over triangles that the usual builder is slow on: many in one place, or long thin ones
//! whose boxes overlap.
//!
//! The usual builder joins boxes that are each other's best neighbours. Where boxes are all alike,
//! or steadily grow, only one pair agrees in each pass, and both the time and the depth of the tree
//! get out of hand. Such triangles are halved by number instead: any triangles make a tree of
//! logarithmic depth. Thin triangles are cut into pieces first, since their boxes are mostly empty.

use glam::{DVec3, Vec3A};
use obvhs::aabb::Aabb;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::bvh2::{Bvh2, DEFAULT_MAX_STACK_DEPTH};
use obvhs::ploc::morton::morton_encode_u64_unorm;
use obvhs::triangle::Triangle;

/// Boxes of triangles that cover the box around all of them this often overlap too much: a body is
/// covered a few times.
const MOST_COVERED: f32 = 64.0;

/// The usual builder may look at each triangle this often; a body takes about three.
const MOST_LOOKS: usize = 16;

/// Fewer triangles than this are no problem for any builder.
const FEW: usize = 256;

/// At most so many triangles are a leaf.
const LEAF: usize = 4;

/// A thin triangle is cut in two this many times at most.
const MOST_CUTS: u32 = 4;

/// A triangle is thin if its box is this many times as large as itself.
const THIN: f32 = 4.0;

/// True if the usual builder, or a tree over whole triangles, would be slow for these triangles.
pub(super) fn is_hostile(triangles: &[Triangle]) -> bool {
    if triangles.len() < FEW {
        return false;
    }
    let boxes: Vec<Aabb> = triangles.iter().map(Triangle::aabb).collect();
    let all = around(&boxes);
    let sum: f64 = boxes.iter().map(|each| f64::from(each.half_area())).sum();
    sum > f64::from(MOST_COVERED) * f64::from(all.half_area()) || !clusters_soon(boxes, &all)
}

fn around(boxes: &[Aabb]) -> Aabb {
    let union = |all: Aabb, each: &Aabb| all.union(each);
    boxes.iter().fold(Aabb::empty(), union)
}

/// True if joining boxes that are each other's best neighbours ends in few passes: the passes of
/// `obvhs` without the tree.
fn clusters_soon(boxes: Vec<Aabb>, all: &Aabb) -> bool {
    let most = MOST_LOOKS * boxes.len();
    let scale = 1.0 / all.diagonal().as_dvec3();
    let code = |each: &Aabb| {
        let place = (each.center() - all.min).as_dvec3() * scale;
        morton_encode_u64_unorm(place)
    };
    let mut boxes = boxes;
    boxes.sort_by_cached_key(code);
    let mut looks = 0;
    let mut pass = 0;
    while boxes.len() > 1 {
        looks += boxes.len();
        if looks > most {
            return false;
        }
        let reach = if pass < 2 { 1 } else { 6 };
        pass += 1;
        let best: Vec<usize> = (0..boxes.len())
            .map(|at| best_neighbour(&boxes, at, reach))
            .collect();
        let mut next = Vec::with_capacity(boxes.len());
        for (at, &other) in best.iter().enumerate() {
            match best[other] == at {
                true if other < at => next.push(boxes[at].union(&boxes[other])),
                true => {}
                false => next.push(boxes[at]),
            }
        }
        boxes = next;
    }
    true
}

/// The box within reach that makes the smallest one together with a box; the last of several.
fn best_neighbour(boxes: &[Aabb], at: usize, reach: usize) -> usize {
    let mut best = (f32::INFINITY, at);
    for other in at.saturating_sub(reach)..(at + reach + 1).min(boxes.len()) {
        let area = boxes[at].union(&boxes[other]).half_area();
        if other != at && area <= best.0 {
            best = (area, other);
        }
    }
    best.1
}

/// Cuts thin triangles into pieces; each piece with the number of its triangle.
pub(super) fn cut(triangles: &[Triangle]) -> (Vec<Triangle>, Vec<u32>) {
    let boxes: Vec<Aabb> = triangles.iter().map(Triangle::aabb).collect();
    // So large that all triangles would cover the whole as often as they may.
    let large = MOST_COVERED * around(&boxes).half_area() / triangles.len() as f32;
    let (mut pieces, mut numbers) = (Vec::new(), Vec::new());
    for (number, triangle) in triangles.iter().enumerate() {
        let mut stack = vec![(*triangle, 0)];
        while let Some((piece, cuts)) = stack.pop() {
            let half_area = piece.aabb().half_area();
            let is_thin = half_area > THIN * 0.5 * across(&piece).length();
            if cuts < MOST_CUTS && half_area > large && is_thin {
                stack.extend(halves(&piece).map(|half| (half, cuts + 1)));
            } else {
                pieces.push(piece);
                numbers.push(number as u32);
            }
        }
    }
    (pieces, numbers)
}

/// The normal of a triangle, as long as twice its area.
#[inline]
pub(super) fn across(triangle: &Triangle) -> Vec3A {
    (triangle.v1 - triangle.v0).cross(triangle.v2 - triangle.v0)
}

/// A triangle cut across its longest side; both halves face as it does.
fn halves(triangle: &Triangle) -> [Triangle; 2] {
    let corners = [triangle.v0, triangle.v1, triangle.v2];
    let length = |side: &usize| corners[*side].distance_squared(corners[(side + 1) % 3]);
    let side = (0..3)
        .max_by(|a, b| length(a).total_cmp(&length(b)))
        .unwrap_or(0);
    let [v0, v1, v2] = [side, side + 1, side + 2].map(|corner| corners[corner % 3]);
    let middle = (v0 + v1) * 0.5;
    [
        Triangle { v0, v1: middle, v2 },
        Triangle { v0: middle, v1, v2 },
    ]
}

/// All points within a radius of a segment. Around a branch of thin triangles that lie across the
/// axes it is tight, where their box is mostly empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capsule {
    from: DVec3,
    to: DVec3,
    radius: f64,
}

impl Capsule {
    /// Around the longest side of a triangle.
    fn of(triangle: &Triangle) -> Capsule {
        let [a, b, c] = [triangle.v0, triangle.v1, triangle.v2].map(|corner| corner.as_dvec3());
        Capsule::around(&[a, b, c].map(|corner| Capsule {
            from: corner,
            to: corner,
            radius: 0.0,
        }))
    }

    /// Around others, along the line through the two of their ends that are farthest apart.
    fn around(parts: &[Capsule]) -> Capsule {
        let ends = || parts.iter().flat_map(|part| [part.from, part.to]);
        let pairs = ends().flat_map(|one| ends().map(move |other| (one, other)));
        let apart = |pair: &(DVec3, DVec3)| pair.0.distance_squared(pair.1);
        let farthest = pairs.max_by(|one, other| apart(one).total_cmp(&apart(other)));
        let (from, to) = farthest.unwrap_or_default();
        let mut around = Capsule {
            from,
            to,
            radius: 0.0,
        };
        // No end lies beyond the two that are farthest apart. What is within a distance of a
        // segment at both of its ends is so in between.
        let radius =
            |part: &Capsule| part.radius + around.distance(part.from).max(around.distance(part.to));
        around.radius = parts.iter().map(radius).fold(0.0, f64::max);
        around
    }

    /// The distance of a place, negative inside.
    pub(super) fn distance(&self, place: DVec3) -> f64 {
        let way = self.to - self.from;
        let square = way.length_squared();
        let share = if square > 0.0 {
            ((place - self.from).dot(way) / square).clamp(0.0, 1.0)
        } else {
            0.0
        };
        place.distance(self.from + way * share) - self.radius
    }
}

/// The capsules around the branches of a balanced tree, given the triangles in the order of its
/// leaves.
pub(super) fn capsules(bvh: &Bvh2, triangles: &[Triangle]) -> Vec<Capsule> {
    let mut capsules = vec![Capsule::around(&[]); bvh.nodes.len()];
    // Children come after their parents.
    for (index, node) in bvh.nodes.iter().enumerate().rev() {
        let first = node.first_index as usize;
        capsules[index] = if node.is_leaf() {
            let members = &triangles[first..first + node.prim_count as usize];
            let members: Vec<Capsule> = members.iter().map(Capsule::of).collect();
            Capsule::around(&members)
        } else {
            Capsule::around(&capsules[first..first + 2])
        };
    }
    capsules
}

/// A tree over any triangles, each node of which has half of those of its parent.
pub(super) fn balanced(triangles: &[Triangle]) -> Bvh2 {
    let mut indices: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut nodes = vec![Bvh2Node::default()];
    // What is left to do: a node, its part of the indices, its depth.
    let mut parts = vec![(0, 0..triangles.len(), 1)];
    let mut depth = 0;
    while let Some((node, part, level)) = parts.pop() {
        depth = depth.max(level);
        let members = &mut indices[part.clone()];
        let bounds = members
            .iter()
            .map(|&at| triangles[at as usize].aabb())
            .fold(Aabb::empty(), |all, each| all.union(&each));
        if members.len() <= LEAF {
            nodes[node] = Bvh2Node::new(bounds, members.len() as u32, part.start as u32);
            continue;
        }
        let center = |at: u32| triangles[at as usize].aabb().center();
        let centers = members
            .iter()
            .fold(Aabb::empty(), |mut all, &at| *all.extend(center(at)));
        let axis = centers.largest_axis();
        let half = members.len() / 2;
        members.select_nth_unstable_by(half, |&a, &b| {
            let order = center(a)[axis].total_cmp(&center(b)[axis]);
            order.then(a.cmp(&b))
        });
        let first = nodes.len();
        nodes[node] = Bvh2Node::new(bounds, 0, first as u32);
        nodes.extend([Bvh2Node::default(); 2]);
        let middle = part.start + half;
        parts.push((first, part.start..middle, level + 1));
        parts.push((first + 1, middle..part.end, level + 1));
    }
    Bvh2 {
        nodes,
        primitive_indices: indices,
        max_depth: DEFAULT_MAX_STACK_DEPTH.max(depth + 1),
        ..Bvh2::default()
    }
}
