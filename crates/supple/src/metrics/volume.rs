//! The volume inside a surface, with its holes closed.

use super::surface::{Surface, corners};
use glam::DVec3;
use std::collections::HashMap;

/// The loops around the holes of a surface, each as points in the order in which a lid would run along them.
#[derive(Clone, Debug)]
pub(super) struct Lids {
    loops: Vec<Vec<usize>>,
}

impl Lids {
    /// Walks the half-edges that nothing runs against.
    ///
    /// The boundary of any heap of triangles has as many half-edges into a point as out of it (the boundary of a boundary
    /// is empty), also where edges are crowded or triangles turned around: so the walk always comes back to where it has
    /// been, and every half-edge ends in one loop. Loops are cut off wherever the walk meets itself, so that two holes
    /// that touch in a point get two lids.
    pub(super) fn find(surface: &Surface) -> Lids {
        let mut surplus: HashMap<[usize; 2], i64> = HashMap::new();
        for &[a, b, c] in &surface.triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                let direction = if from < to { 1 } else { -1 };
                *surplus.entry([from.min(to), from.max(to)]).or_default() += direction;
            }
        }
        let mut onwards: Vec<Vec<usize>> = vec![Vec::new(); surface.rest.len()];
        // In the order of the edges, not of the map, so that the same surface always gives the same loops.
        for &[low, high] in &surface.edges {
            let surplus = surplus.get(&[low, high]).copied().unwrap_or(0);
            // A lid runs against the surface.
            let (from, to) = if surplus > 0 {
                (high, low)
            } else {
                (low, high)
            };
            onwards[from].extend((0..surplus.unsigned_abs()).map(|_| to));
        }
        let mut loops = Vec::new();
        let mut place_in_path: Vec<Option<usize>> = vec![None; onwards.len()];
        for start in 0..onwards.len() {
            let mut path = vec![start];
            place_in_path[start] = Some(0);
            while let Some(next) = path.last().and_then(|&last| onwards[last].pop()) {
                if let Some(place) = place_in_path[next] {
                    let closed: Vec<usize> = path.drain(place + 1..).collect();
                    for &point in &closed {
                        place_in_path[point] = None;
                    }
                    loops.push(std::iter::once(next).chain(closed).collect());
                } else {
                    place_in_path[next] = Some(path.len());
                    path.push(next);
                }
            }
            for point in path {
                place_in_path[point] = None;
            }
        }
        Lids { loops }
    }

    pub(super) fn count(&self) -> usize {
        self.loops.len()
    }

    /// The signed volume: Σ a·(b×c)/6 over triangles and lids (the divergence theorem).
    pub(super) fn volume(&self, surface: &Surface, points: &[DVec3]) -> f64 {
        // Any origin gives the same sum; one near the surface loses the fewest digits.
        let origin = points.first().copied().unwrap_or(DVec3::ZERO);
        let six_fold = |[a, b, c]: [DVec3; 3]| (a - origin).dot((b - origin).cross(c - origin));
        let walls: f64 = surface
            .triangles
            .iter()
            .map(|&triangle| six_fold(corners(points, triangle)))
            .sum();
        let lid = |rim: &Vec<usize>| -> f64 {
            let middle = rim.iter().map(|&point| points[point]).sum::<DVec3>() / rim.len() as f64;
            let next = rim.iter().cycle().skip(1);
            rim.iter()
                .zip(next)
                .map(|(&from, &to)| six_fold([points[from], points[to], middle]))
                .sum()
        };
        (walls + self.loops.iter().map(lid).sum::<f64>()) / 6.0
    }
}
