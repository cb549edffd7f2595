//! Surfaces of several pieces: close points of different pieces with the same joint become
//! neighbours (Fig. 6), so that smoothing continues across gaps.

use super::{MushError, MushOptions, MushSurface};
use crate::rig::Rig;
use crate::surface::Edges;
use glam::DVec3;
use std::collections::BTreeMap;

/// Connections between pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Connections {
    /// The number of pieces of the surface.
    pub pieces: usize,
    /// The number of pieces after close ones are connected.
    pub pieces_left: usize,
    /// The number of connected pairs of points.
    pub links: usize,
}

impl Connections {
    /// The connections that delta mush and a bake make in a character.
    ///
    /// # Errors
    ///
    /// Fails if an option or a painted number is out of range.
    pub fn of(rig: &Rig, options: &MushOptions) -> Result<Connections, MushError> {
        Ok(MushSurface::of(rig, options)?.connections)
    }
}

/// Connects each point to the nearest point of another piece with the same heaviest joint, if that
/// is no farther than the point's own neighbours.
pub(super) fn connect(edges: &mut Edges, heaviest: impl Fn(usize) -> u16) -> Connections {
    let pieces = edges.pieces();
    let reach = edges.mean_lengths();
    // Points without edges are not part of a surface.
    let on_surface = || (0..reach.len()).filter(|&point| reach[point] > 0.0);
    let count = |pieces: &[u32]| {
        let first = |&point: &usize| pieces[point] as usize == point;
        on_surface().filter(first).count()
    };
    let mut connections = Connections {
        pieces: count(&pieces),
        pieces_left: count(&pieces),
        links: 0,
    };
    let mut of_joint: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    for point in on_surface() {
        let points = of_joint.entry(heaviest(point)).or_default();
        points.push(point as u32);
    }
    let mut links = Vec::new();
    for points in of_joint.values_mut() {
        link_nearest(edges.points(), &pieces, &reach, points, &mut links);
    }
    links.sort_unstable();
    links.dedup();
    edges.link(&links);
    connections.links = links.len();
    connections.pieces_left = count(&edges.pieces());
    connections
}

/// Connects points to the nearest point of another piece within their reach; the first of ties.
fn link_nearest(
    places: &[DVec3],
    pieces: &[u32],
    reach: &[f64],
    points: &mut [u32],
    links: &mut Vec<(u32, u32)>,
) {
    let of_one_piece = |pair: &[u32]| pieces[pair[0] as usize] == pieces[pair[1] as usize];
    if points.windows(2).all(of_one_piece) {
        return;
    }
    let tree = PointTree::over(places, pieces, points);
    for &point in tree.points {
        let nearest = tree.nearest_of_other_piece(point, reach[point as usize]);
        links.extend(nearest.map(|other| (point.min(other), point.max(other))));
    }
}

/// Points of several pieces in a balanced bounding box tree.
struct PointTree<'p> {
    places: &'p [DVec3],
    pieces: &'p [u32],
    /// In the order of the leaves.
    points: &'p [u32],
    /// The first child of a node directly follows it.
    nodes: Vec<Node>,
}

struct Node {
    low: DVec3,
    high: DVec3,
    /// The piece of all points below, if they have the same.
    piece: Option<u32>,
    first: u32,
    end: u32,
    /// Zero for a leaf.
    second_child: u32,
}

/// The largest number of points in a leaf.
const LEAF: usize = 8;

impl<'p> PointTree<'p> {
    /// Builds a tree over some points, which are reordered.
    fn over(places: &'p [DVec3], pieces: &'p [u32], points: &'p mut [u32]) -> PointTree<'p> {
        let mut nodes = Vec::new();
        if !points.is_empty() {
            add_node(&mut nodes, places, pieces, points, 0);
        }
        PointTree {
            places,
            pieces,
            points,
            nodes,
        }
    }

    fn nearest_of_other_piece(&self, point: u32, reach: f64) -> Option<u32> {
        let (place, piece) = (self.places[point as usize], self.pieces[point as usize]);
        let mut nearest = None;
        let mut closest = reach;
        let mut stack = vec![0usize; usize::from(!self.nodes.is_empty())];
        let away = |node: &Node| place.clamp(node.low, node.high).distance(place);
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index];
            // With a margin for rounding: ties are decided by index.
            if node.piece == Some(piece) || away(node) * (1.0 - 1e-12) > closest {
                continue;
            }
            if node.second_child != 0 {
                let children = [index + 1, node.second_child as usize];
                let [a, b] = children.map(|child| away(&self.nodes[child]));
                let [one, other] = children;
                stack.extend(if a <= b { [other, one] } else { [one, other] });
                continue;
            }
            for &other in &self.points[node.first as usize..node.end as usize] {
                let distance = place.distance(self.places[other as usize]);
                let first = nearest.is_none_or(|nearest| other < nearest);
                let nearer = distance < closest || (distance == closest && first);
                if self.pieces[other as usize] != piece && nearer {
                    (nearest, closest) = (Some(other), distance);
                }
            }
        }
        nearest
    }
}

/// Adds the node of some points, the first of which has the index `first`, and the nodes below it.
fn add_node(
    nodes: &mut Vec<Node>,
    places: &[DVec3],
    pieces: &[u32],
    points: &mut [u32],
    first: usize,
) {
    let all = || points.iter().map(|&point| places[point as usize]);
    let piece_of = |point: &u32| pieces[*point as usize];
    let (low, high) = (
        all().fold(DVec3::INFINITY, DVec3::min),
        all().fold(DVec3::NEG_INFINITY, DVec3::max),
    );
    let piece = points.first().map(piece_of);
    let index = nodes.len();
    nodes.push(Node {
        low,
        high,
        piece: piece.filter(|piece| points.iter().all(|point| piece_of(point) == *piece)),
        first: first as u32,
        end: (first + points.len()) as u32,
        second_child: 0,
    });
    if points.len() <= LEAF {
        return;
    }
    let axis = (high - low).max_position();
    let at = |point: u32| places[point as usize][axis];
    let half = points.len() / 2;
    points.select_nth_unstable_by(half, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    let (one, other) = points.split_at_mut(half);
    add_node(nodes, places, pieces, one, first);
    nodes[index].second_child = nodes.len() as u32;
    add_node(nodes, places, pieces, other, first + half);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_is_linked_with_the_nearest_of_another_piece() {
        let number = |at: usize, step: f64| (at as f64 * step).fract();
        let place = |at: usize| {
            // Some at one position, for ties.
            let at = at - at % 3;
            DVec3::from_array([0.618034, 0.7548777, 0.5698403].map(|step| number(at, step)))
        };
        let places: Vec<DVec3> = (0..500).map(place).collect();
        let pieces: Vec<u32> = (0..500).map(|at| at / 7 % 60).collect();
        let reach: Vec<f64> = (0..500).map(|at| 0.02 * (at % 11) as f64).collect();
        let mut points: Vec<u32> = (0..500).filter(|at| at % 5 != 0).collect();
        let mut expected = Vec::new();
        for &point in &points {
            let at = |other: u32| places[point as usize].distance(places[other as usize]);
            let others = points.iter().copied();
            let others = others.filter(|&other| pieces[other as usize] != pieces[point as usize]);
            let near = others.filter(|&other| at(other) <= reach[point as usize]);
            let nearest = near.min_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
            expected.extend(nearest.map(|other| (point.min(other), point.max(other))));
        }
        let mut links = Vec::new();
        link_nearest(&places, &pieces, &reach, &mut points, &mut links);
        expected.sort_unstable();
        links.sort_unstable();
        assert_eq!(links, expected);
        assert!(links.len() > 50);
    }

    #[test]
    fn nothing_below_a_node_of_the_own_piece_is_looked_at() {
        let places: Vec<DVec3> = (0..1000).map(|at| DVec3::X * f64::from(at)).collect();
        let pieces: Vec<u32> = (0..1000).map(|at| at / 500).collect();
        let mut points: Vec<u32> = (0..1000).collect();
        let tree = PointTree::over(&places, &pieces, &mut points);
        let of_one = tree.nodes.iter().filter(|node| node.piece.is_some());
        assert_eq!(tree.nodes.len() - of_one.count(), 1, "all but the first");
        assert_eq!(tree.nearest_of_other_piece(0, 1e9), Some(500));
        assert_eq!(tree.nearest_of_other_piece(0, 499.0), None);
    }
}
