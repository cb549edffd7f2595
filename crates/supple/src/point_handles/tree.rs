//! Pseudo-edges between handles: `arap-point-handles.txt`, §3.2, reads rotations off the directions from handle to handle, "as long as no one is isolated".
//!
//! The default is the shortest tree over all handles, by distances through the inside of the body: hands that hang beside the hips are near to them, but far from them along the body.

use crate::exec;
use crate::weights::bind::geodesic::InsideDistances;
use glam::DVec3;

/// The edges of a tree, and those of them between which no way leads inside of the body.
pub(super) struct Tree {
    pub(super) edges: Vec<[usize; 2]>,
    pub(super) across: Vec<[usize; 2]>,
}

/// The way between two places: those inside of the body are all shorter than those through the air.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Way {
    Inside(f64),
    Air(f64),
}

/// The shortest tree over places, in the coordinates of the shape. What no way inside ties together is tied where it is nearest as the crow flies.
pub(super) fn shortest(inside: &InsideDistances, places: &[DVec3]) -> Tree {
    let rows = exec::map(places.len(), |from| {
        let distances = inside.away_from(&places[from..=from]);
        let to = |&place: &DVec3| inside.at(&distances, place);
        places.iter().map(to).collect::<Vec<f64>>()
    });
    let way = |a: usize, b: usize| {
        let inside = rows[a][b].min(rows[b][a]);
        match inside.is_finite() {
            true => Way::Inside(inside),
            false => Way::Air(places[a].distance(places[b])),
        }
    };
    let mut tree = Tree {
        edges: Vec::new(),
        across: Vec::new(),
    };
    // As Prim has it: again and again the nearest that is not in the tree yet. Of each: where in the tree it would be tied, and by which way.
    let mut waiting: Vec<(usize, usize, Way)> =
        (1..places.len()).map(|to| (to, 0, way(0, to))).collect();
    while !waiting.is_empty() {
        let shorter = |best: usize, next: usize| match waiting[next].2 < waiting[best].2 {
            true => next,
            false => best,
        };
        let nearest = (1..waiting.len()).fold(0, shorter);
        let (added, tied_to, by) = waiting.remove(nearest);
        let edge = [added.min(tied_to), added.max(tied_to)];
        tree.edges.push(edge);
        if matches!(by, Way::Air(_)) {
            tree.across.push(edge);
        }
        for (to, tied_to, known) in &mut waiting {
            let way = way(added, *to);
            if way < *known {
                (*tied_to, *known) = (added, way);
            }
        }
    }
    tree.edges.sort_unstable();
    tree
}
