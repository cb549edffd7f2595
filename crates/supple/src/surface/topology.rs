//! Topology of a surface: points, components, and edges that are open, shared by too many triangles
//! or inconsistently oriented.

use super::{Weld, double_area_normal};
use crate::disjoint_sets::DisjointSets;
use glam::{DVec3, Vec3};

/// Counts that describe how a welded surface hangs together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Topology {
    /// Distinct points that some triangle uses.
    pub points: usize,
    /// Components connected through shared points.
    pub components: usize,
    /// Edges with one triangle.
    pub open_edges: usize,
    /// Edges with three triangles or more.
    pub non_manifold_edges: usize,
    /// Edges along which several triangles run in the same direction (counted twice if both
    /// directions occur).
    pub inconsistent_edges: usize,
    /// Triangles without area: two equal corners, or all three on a line.
    pub degenerate_triangles: usize,
}

impl Topology {
    /// Counts over triangles whose vertices are welded. Triangles with two equal (welded) corners
    /// have no edges to count.
    pub(crate) fn of(positions: &[Vec3], triangles: &[[u32; 3]], weld: &Weld) -> Topology {
        // (lower point, higher point, runs upwards), sorted: equal edges become neighbours.
        let mut edges: Vec<(u32, u32, bool)> = Vec::with_capacity(triangles.len() * 3);
        let mut pieces = DisjointSets::new(weld.point_count());
        let mut used = vec![false; weld.point_count()];
        let mut degenerate_triangles = 0;
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| weld.point_of(corner as usize) as u32);
            let places = corners.map(|corner| positions[corner as usize].as_dvec3());
            degenerate_triangles += usize::from(double_area_normal(places) == DVec3::ZERO);
            for point in [a, b, c] {
                used[point as usize] = true;
            }
            pieces.join(a as usize, b as usize);
            pieces.join(a as usize, c as usize);
            if a == b || b == c || c == a {
                continue;
            }
            for (from, to) in [(a, b), (b, c), (c, a)] {
                edges.push((from.min(to), from.max(to), from < to));
            }
        }
        edges.sort_unstable();
        let mut topology = Topology {
            degenerate_triangles,
            ..Topology::default()
        };
        for run in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            topology.open_edges += usize::from(run.len() == 1);
            topology.non_manifold_edges += usize::from(run.len() > 2);
            // Two triangles that face the same way run along their edge in opposite directions.
            let upwards = run.iter().filter(|edge| edge.2).count();
            let downwards = run.len() - upwards;
            topology.inconsistent_edges += usize::from(upwards > 1) + usize::from(downwards > 1);
        }
        for (point, used) in used.into_iter().enumerate() {
            if used {
                topology.points += 1;
                topology.components += usize::from(pieces.find(point) == point);
            }
        }
        topology
    }

    /// True if the surface encloses a volume: no open, non-manifold or inconsistent edge.
    pub fn is_closed_manifold(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::weld_positions;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn corners() -> Vec<Vec3> {
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
    }

    fn by_position(positions: &[Vec3], triangles: &[[u32; 3]]) -> Topology {
        Topology::of(positions, triangles, &weld_positions(positions))
    }

    #[test]
    fn a_tetrahedron_is_closed_also_when_every_triangle_has_its_own_vertices() {
        let expected = Topology {
            points: 4,
            components: 1,
            ..Topology::default()
        };
        assert_eq!(by_position(&corners(), &TETRAHEDRON), expected);
        let positions: Vec<Vec3> = TETRAHEDRON
            .iter()
            .flatten()
            .map(|&corner| corners()[corner as usize])
            .collect();
        let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];
        let split = by_position(&positions, &triangles);
        assert_eq!(split, expected);
        assert!(split.is_closed_manifold());
    }

    #[test]
    fn every_oddity_is_counted() {
        let mut positions = corners();
        positions.push(Vec3::splat(2.0)); // a fin on edge 0-1
        positions.extend([Vec3::splat(5.0), Vec3::splat(6.0), Vec3::splat(7.0)]); // on a line
        let mut triangles = TETRAHEDRON.to_vec();
        triangles[2] = [2, 1, 3]; // turned around
        triangles.push([0, 1, 4]);
        triangles.push([5, 6, 7]);
        let topology = by_position(&positions, &triangles);
        assert_eq!(topology.points, 8);
        assert_eq!(topology.components, 2);
        assert_eq!(topology.non_manifold_edges, 1);
        assert_eq!(topology.open_edges, 2 + 3);
        assert_eq!(
            topology.inconsistent_edges,
            3 + 1,
            "the turned triangle, and the fin"
        );
        assert_eq!(topology.degenerate_triangles, 1);
        assert!(!topology.is_closed_manifold());
    }
}
