//! Distances from a point along the surface.
//!
//! Dijkstra's algorithm with paths across triangles: once two corners of a triangle are known, the
//! third is at the end of a straight line in the plane of the unfolded triangles (`across`). Edges
//! alone overestimate by up to a third on a regular mesh, and a round brush would leave a polygon.
//! With unfolding, a flat part of the surface is exact except at obtuse triangles, where the line
//! may pass outside of the unfolded ones and an edge is used instead.
//!
//! Only connected surface within the given radius is visited: a finger that is close in space, but
//! not along the surface, is not reached.

use crate::mesh::Mesh;
use crate::surface::{Rows, Weld};
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The triangles around every point.
pub(super) struct Fans {
    places: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    around: Rows<u32>,
}

/// Search state, reused between searches, so that the time of a search depends on the points that
/// it reaches, not on the size of the surface.
pub(super) struct Reached {
    /// Infinite for unknown points.
    distances: Vec<f64>,
    /// True for points with their final distance.
    settled: Vec<bool>,
    /// The points to reset before the next search.
    known: Vec<u32>,
}

impl Reached {
    fn forget(&mut self) {
        for point in self.known.drain(..) {
            self.distances[point as usize] = f64::INFINITY;
            self.settled[point as usize] = false;
        }
    }
}

impl Fans {
    pub(super) fn of(mesh: &Mesh, weld: &Weld) -> Fans {
        let places = weld.places(mesh.positions());
        let triangles: Vec<[u32; 3]> = weld.triangles(mesh.triangles()).collect();
        Fans {
            around: Rows::of_triangles(places.len(), triangles.iter().copied()),
            places,
            triangles,
        }
    }

    /// The position of a point.
    pub(super) fn place(&self, point: usize) -> DVec3 {
        self.places[point]
    }

    /// The initial state: nothing is reached.
    pub(super) fn unreached(&self) -> Reached {
        Reached {
            distances: vec![f64::INFINITY; self.places.len()],
            settled: vec![false; self.places.len()],
            known: Vec::new(),
        }
    }

    /// The points within a radius and their distances, nearest first, starting from some points
    /// with known distances.
    pub(super) fn within(
        &self,
        radius: f64,
        starts: &[(usize, f64)],
        reached: &mut Reached,
    ) -> Vec<(u32, f64)> {
        reached.forget();
        // The bits of nonnegative floats have the same order as the numbers.
        let mut waiting: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        let mut found = Vec::new();
        let starts = starts.iter();
        let mut nearer: Vec<(u32, f64)> = starts
            .map(|&(point, distance)| (point as u32, distance))
            .collect();
        loop {
            for (point, distance) in nearer.drain(..) {
                let known = &mut reached.distances[point as usize];
                if distance <= radius && distance < *known {
                    if *known == f64::INFINITY {
                        reached.known.push(point);
                    }
                    *known = distance;
                    waiting.push(Reverse((distance.to_bits(), point)));
                }
            }
            let Some(Reverse((bits, point))) = waiting.pop() else {
                return found;
            };
            // A point is queued each time its distance falls; the first one popped counts.
            if std::mem::replace(&mut reached.settled[point as usize], true) {
                continue;
            }
            let distance = f64::from_bits(bits);
            found.push((point, distance));
            self.spread(point, distance, reached, &mut nearer);
        }
    }

    /// Updates the neighbours of a settled point that are not settled.
    fn spread(&self, point: u32, distance: f64, reached: &Reached, nearer: &mut Vec<(u32, f64)>) {
        let place = |point: u32| self.places[point as usize];
        let settled = |point: u32| reached.settled[point as usize];
        let here = place(point);
        for &triangle in self.around.row(point as usize) {
            let [a, b, c] = self.triangles[triangle as usize];
            let (a, b) = match point {
                _ if point == a => (b, c),
                _ if point == b => (c, a),
                _ => (a, b),
            };
            for (other, third) in [(a, b), (b, a)] {
                if settled(third) {
                    continue;
                }
                nearer.push((third, distance + here.distance(place(third))));
                if settled(other) && other != point {
                    let known = reached.distances[other as usize];
                    let straight = across([(here, distance), (place(other), known)], place(third));
                    nearer.extend(straight.map(|distance| (third, distance)));
                }
            }
        }
    }
}

/// The distance of a triangle's third corner through the edge between two known corners, if a
/// straight line crosses that edge.
///
/// With the first end at the origin, the second at `(l, 0)` and the third corner at `(x, y)`, what
/// has the distances `d₁` and `d₂` from the ends lies at `s = ((d₁² − d₂² + l²) / 2l, −√(d₁² −
/// s_x²))`.
fn across([(first, d1), (second, d2)]: [(DVec3, f64); 2], third: DVec3) -> Option<f64> {
    let length = first.distance(second);
    let along = (second - first).try_normalize()?;
    let x = (third - first).dot(along);
    let y = (first.distance_squared(third) - x * x).max(0.0).sqrt();
    let source_x = (d1 * d1 - d2 * d2 + length * length) / (2.0 * length);
    let below = d1 * d1 - source_x * source_x;
    if below < 0.0 {
        return None;
    }
    let below = below.sqrt();
    let crossing = source_x + (x - source_x) * below / (below + y);
    let passes = (0.0..=length).contains(&crossing);
    passes.then(|| (x - source_x).hypot(below + y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::weld_positions;
    use glam::Vec3;

    /// A flat grid of unit squares, each cut along the same diagonal.
    fn grid(side: usize) -> Fans {
        let places =
            (0..side * side).map(|at| Vec3::new((at % side) as f32, (at / side) as f32, 0.0));
        let places: Vec<Vec3> = places.collect();
        let mut triangles = Vec::new();
        for at in (0..side * (side - 1)).filter(|at| at % side + 1 < side) {
            let [a, b, c, d] = [at, at + 1, at + side, at + side + 1].map(|at| at as u32);
            triangles.extend([[a, b, d], [a, d, c]]);
        }
        let mesh = Mesh::new(places, None, None, triangles).unwrap();
        let weld = weld_positions(mesh.positions());
        Fans::of(&mesh, &weld)
    }

    #[test]
    fn on_a_flat_grid_distances_are_nearly_straight() {
        let side = 31;
        let fans = grid(side);
        let center = side * side / 2;
        let found = fans.within(12.0, &[(center, 0.0)], &mut fans.unreached());
        assert!(found.is_sorted_by(|a, b| a.1 <= b.1));
        let mut worst: f64 = 0.0;
        for &(point, distance) in &found {
            let straight = fans.place(point as usize).distance(fans.place(center));
            assert!(
                distance >= straight * (1.0 - 1e-9),
                "{distance} for {straight}"
            );
            worst = worst.max(distance / straight.max(1e-9) - 1.0);
        }
        // Along edges it would be up to 0.41 too far across the diagonals that are not there.
        assert!(worst < 0.03, "{worst}");
        let inside =
            (0..side * side).filter(|&at| fans.place(at).distance(fans.place(center)) <= 11.6);
        assert!(found.len() >= inside.count());
    }

    #[test]
    fn nothing_is_reached_beyond_the_radius_or_the_piece() {
        let fans = grid(5);
        let mut reached = fans.unreached();
        let mut within =
            |radius: f64, starts: &[(usize, f64)]| fans.within(radius, starts, &mut reached);
        assert_eq!(within(0.5, &[(12, 0.0)]), [(12, 0.0)]);
        assert_eq!(within(1.0, &[(12, 2.0)]), []);
        assert_eq!(within(1.0, &[]), []);
        assert_eq!(within(100.0, &[(0, 0.0)]).len(), 25);
        assert_eq!(
            within(0.5, &[(12, 0.0)]),
            [(12, 0.0)],
            "nothing is left of walks before"
        );
    }
}
