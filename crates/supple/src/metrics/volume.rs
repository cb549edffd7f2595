//! The volume inside a surface, with its holes closed.

use super::surface::{MeasuredSurface, corners};
use glam::DVec3;
use std::collections::HashMap;

/// Caps that close the holes of a surface: the loop around each hole, as points in the cap's
/// orientation.
#[derive(Clone, Debug)]
pub(super) struct HoleCaps {
    loops: Vec<Vec<usize>>,
}

impl HoleCaps {
    /// Walks along boundary half-edges, those without an opposite one.
    ///
    /// The boundary of any set of triangles has as many half-edges into a point as out of it (the
    /// boundary of a boundary is empty), even where edges are non-manifold or triangles are
    /// flipped. So the walk always returns to where it has been, and every half-edge ends up in one
    /// loop. Loops are cut off wherever the walk meets itself, so that two holes that touch in a
    /// point get two caps.
    pub(super) fn find(surface: &MeasuredSurface) -> HoleCaps {
        let mut surplus: HashMap<[usize; 2], i64> = HashMap::new();
        for &[a, b, c] in &surface.triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                let direction = if from < to { 1 } else { -1 };
                *surplus.entry([from.min(to), from.max(to)]).or_default() += direction;
            }
        }
        let mut onwards: Vec<Vec<usize>> = vec![Vec::new(); surface.rest.len()];
        // In the order of the edges, not of the map, so that loops are deterministic.
        for &[low, high] in &surface.edges {
            let surplus = surplus.get(&[low, high]).copied().unwrap_or(0);
            // A cap runs against the surface.
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
        HoleCaps { loops }
    }

    pub(super) fn count(&self) -> usize {
        self.loops.len()
    }

    /// The signed volume: Σ a·(b×c)/6 over triangles and caps (the divergence theorem).
    pub(super) fn volume(&self, surface: &MeasuredSurface, points: &[DVec3]) -> f64 {
        // Any origin gives the same sum; one near the surface loses the fewest digits.
        let origin = points.first().copied().unwrap_or(DVec3::ZERO);
        let six_fold = |[a, b, c]: [DVec3; 3]| (a - origin).dot((b - origin).cross(c - origin));
        let walls: f64 = surface
            .triangles
            .iter()
            .map(|&triangle| six_fold(corners(points, triangle)))
            .sum();
        let cap = |rim: &Vec<usize>| -> f64 {
            let middle = rim.iter().map(|&point| points[point]).sum::<DVec3>() / rim.len() as f64;
            let next = rim.iter().cycle().skip(1);
            rim.iter()
                .zip(next)
                .map(|(&from, &to)| six_fold([points[from], points[to], middle]))
                .sum()
        };
        (walls + self.loops.iter().map(cap).sum::<f64>()) / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rig_of;
    use super::*;
    use crate::surface::double_area_normal;
    use glam::Vec3;
    use proptest::prelude::*;

    fn caps_of(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> (MeasuredSurface, HoleCaps) {
        let surface = MeasuredSurface::new(&rig_of(positions, None, triangles));
        let caps = HoleCaps::find(&surface);
        (surface, caps)
    }

    #[test]
    fn holes_that_touch_in_a_point_get_a_cap_each() {
        // Two tetrahedra tip to tip, two of the three faces at the tip missing from each: two rims
        // of four edges that share the tip.
        let positions = vec![
            Vec3::ZERO,
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::new(-1.0, 1.0, 1.0),
            Vec3::new(-1.0, -1.0, 1.0),
            Vec3::new(1.0, 0.0, -1.0),
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::new(-1.0, -1.0, -1.0),
        ];
        let triangles = vec![[1, 2, 3], [0, 2, 1], [4, 6, 5], [0, 4, 5]];
        let (_, caps) = caps_of(positions, triangles);
        let mut rims = caps.loops.clone();
        for rim in &mut rims {
            rim.sort_unstable();
        }
        rims.sort_unstable();
        assert_eq!(rims, [[0, 1, 2, 3], [0, 4, 5, 6]]);
    }

    proptest! {
        /// The area vectors of the faces of a closed surface sum to zero, and only of a closed one.
        #[test]
        fn any_heap_of_triangles_is_closed(
            points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 9),
            triangles in prop::collection::vec(prop::array::uniform3(0u32..9), 0..30),
        ) {
            let positions = points.into_iter().map(Vec3::from_array).collect();
            let (surface, caps) = caps_of(positions, triangles);
            let face = |&triangle| double_area_normal(corners(&surface.rest, triangle));
            let walls: DVec3 = surface.triangles.iter().map(face).sum();
            // The same as a fan around any middle.
            let cap = |rim: &Vec<usize>| -> DVec3 {
                let next = rim.iter().cycle().skip(1);
                rim.iter().zip(next).map(|(&a, &b)| surface.rest[a].cross(surface.rest[b])).sum()
            };
            let all = walls + caps.loops.iter().map(cap).sum::<DVec3>();
            prop_assert!(all.length() < 1e-9, "{all}");
        }
    }
}
