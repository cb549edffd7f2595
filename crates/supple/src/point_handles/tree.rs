//! Pseudo-edges between handles (`arap-point-handles.txt`, §3.2): rotations are computed from the
//! directions between handles, "as long as no one is isolated".
//!
//! The default is the minimum spanning tree of all handles, by distances inside the body: hands
//! beside the hips are close to them, but far away along the body.

use crate::bind::geodesic::InsideDistances;
use crate::exec;
use glam::DVec3;

/// The edges of a tree, and those of them without a path inside the body.
pub(super) struct Tree {
    pub(super) edges: Vec<[usize; 2]>,
    pub(super) across: Vec<[usize; 2]>,
}

/// The kind of connection between two positions, the better first: inside the body, through the
/// air, and, on a symmetric body, from side to side without a handle in between.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Connection {
    Inside(f64),
    Air(f64),
    OtherSide(f64),
}

/// A handle of a body that may be symmetric.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) place: DVec3,
    /// In front of the plane, behind it, or neither.
    pub(super) side: f64,
    /// Its image; itself if it has none.
    pub(super) image: usize,
}

/// The minimum spanning tree of handles, in the coordinates of the shape. Parts without a path
/// inside the body are connected at their nearest points.
///
/// On a symmetric body, handles on the plane are connected first, and then each side to them: so
/// both sides are connected alike, and one hip not to the other.
pub(super) fn shortest(inside: &InsideDistances, nodes: &[Node]) -> Tree {
    let rows = exec::map(nodes.len(), |from| {
        let distances = inside.away_from(&[nodes[from].place]);
        let to = |node: &Node| inside.at(&distances, node.place);
        nodes.iter().map(to).collect::<Vec<f64>>()
    });
    let has_middle = nodes.iter().any(|node| node.side == 0.0);
    let connection = |a: usize, b: usize| {
        let [one, other] = [nodes[a], nodes[b]];
        // Voxels are not exactly symmetric.
        let [from, to] = [one.image, other.image];
        let both = [rows[a][b], rows[b][a], rows[from][to], rows[to][from]];
        let inside = both.into_iter().fold(f64::INFINITY, f64::min);
        match inside.is_finite() {
            _ if has_middle && one.side * other.side < 0.0 => {
                Connection::OtherSide(one.place.distance(other.place))
            }
            true => Connection::Inside(inside),
            false => Connection::Air(one.place.distance(other.place)),
        }
    };
    let mut tree = Tree {
        edges: Vec::new(),
        across: Vec::new(),
    };
    let first = nodes.iter().position(|node| node.side == 0.0).unwrap_or(0);
    // Prim's algorithm: repeatedly adds the nearest handle outside of the tree. For each: the node
    // of the tree to connect to, and the kind of connection.
    let mut waiting: Vec<(usize, usize, Connection)> = (0..nodes.len())
        .filter(|&to| to != first)
        .map(|to| (to, first, connection(first, to)))
        .collect();
    while !waiting.is_empty() {
        let rank = |at: usize| (nodes[waiting[at].0].side != 0.0, waiting[at].2);
        let shorter = |best: usize, next: usize| match rank(next) < rank(best) {
            true => next,
            false => best,
        };
        let nearest = (1..waiting.len()).fold(0, shorter);
        let (added, tied_to, by) = waiting.remove(nearest);
        let edge = [added.min(tied_to), added.max(tied_to)];
        tree.edges.push(edge);
        if matches!(by, Connection::Air(_)) {
            tree.across.push(edge);
        }
        for (to, tied_to, known) in &mut waiting {
            let found = connection(added, *to);
            if found < *known {
                (*tied_to, *known) = (added, found);
            }
        }
    }
    tree.edges.sort_unstable();
    tree
}
