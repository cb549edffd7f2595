//! Connectivity: welding, components, and edges that are open, crowded or turned around.

use glam::Vec3;
use std::collections::HashMap;

/// Which points of the surface the vertices of a file stand for.
///
/// Files split vertices along texture and normal seams; the surface does not know of that. Points are
/// numbered in the order of their first vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Weld {
    point_of_vertex: Vec<u32>,
    point_count: usize,
}

impl Weld {
    /// The point of a vertex.
    pub fn point_of(&self, vertex: usize) -> usize {
        self.point_of_vertex[vertex] as usize
    }

    /// How many distinct points there are.
    pub fn point_count(&self) -> usize {
        self.point_count
    }
}

/// Welds vertices whose positions are the same to the bit (`-0.0` counts as `0.0`).
pub fn weld_positions(positions: &[Vec3]) -> Weld {
    let mut points: HashMap<[u32; 3], u32> = HashMap::with_capacity(positions.len());
    let point_of_vertex = positions
        .iter()
        .map(|position| {
            let next = points.len() as u32;
            // Adding zero turns -0.0 into 0.0.
            let key = position.to_array().map(|x| (x + 0.0).to_bits());
            *points.entry(key).or_insert(next)
        })
        .collect();
    Weld {
        point_of_vertex,
        point_count: points.len(),
    }
}

/// What the edges of a welded surface say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Distinct points that some triangle uses.
    pub points: usize,
    /// Pieces connected through shared points.
    pub components: usize,
    /// Edges with one triangle.
    pub open_edges: usize,
    /// Edges with three triangles or more.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles run along it in the same direction.
    pub inconsistent_edges: usize,
    /// Triangles of no area: two equal corners, or all three on a line.
    pub degenerate_triangles: usize,
}

impl Topology {
    /// Counts over a triangle list. Triangles with two equal (welded) corners have no edges to count.
    pub fn of(positions: &[Vec3], triangles: &[[u32; 3]]) -> Topology {
        let weld = weld_positions(positions);
        // (lower point, higher point, runs upwards), sorted: equal edges become neighbours.
        let mut edges: Vec<(u32, u32, bool)> = Vec::with_capacity(triangles.len() * 3);
        let mut pieces = DisjointSets::new(weld.point_count());
        let mut used = vec![false; weld.point_count()];
        let mut degenerate_triangles = 0;
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| weld.point_of_vertex[corner as usize]);
            let [pa, pb, pc] = corners.map(|corner| positions[corner as usize].as_dvec3());
            if (pb - pa).cross(pc - pa) == glam::DVec3::ZERO {
                degenerate_triangles += 1;
            }
            for point in [a, b, c] {
                used[point as usize] = true;
            }
            pieces.join(a, b);
            pieces.join(a, c);
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
            match run {
                [_] => topology.open_edges += 1,
                [first, second] if first.2 == second.2 => topology.inconsistent_edges += 1,
                [_, _] => {}
                _ => topology.non_manifold_edges += 1,
            }
        }
        for (point, used) in used.into_iter().enumerate() {
            if used {
                topology.points += 1;
                topology.components += usize::from(pieces.find(point as u32) == point as u32);
            }
        }
        topology
    }

    /// True for a surface with an inside: no open, crowded or turned edge.
    pub fn is_closed_manifold(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }
}

/// Union-find whose representatives are the lowest member of each set.
struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    fn new(count: usize) -> DisjointSets {
        DisjointSets {
            parent: (0..count as u32).collect(),
        }
    }

    fn find(&mut self, mut item: u32) -> u32 {
        while self.parent[item as usize] != item {
            let grandparent = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = grandparent;
            item = grandparent;
        }
        item
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn corners() -> Vec<Vec3> {
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
    }

    #[test]
    fn a_tetrahedron_is_closed_also_when_every_triangle_has_its_own_vertices() {
        let expected = Topology {
            points: 4,
            components: 1,
            ..Topology::default()
        };
        assert_eq!(Topology::of(&corners(), &TETRAHEDRON), expected);
        let positions: Vec<Vec3> = TETRAHEDRON
            .iter()
            .flatten()
            .map(|&corner| corners()[corner as usize])
            .collect();
        let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];
        let split = Topology::of(&positions, &triangles);
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
        let topology = Topology::of(&positions, &triangles);
        assert_eq!(topology.points, 8);
        assert_eq!(topology.components, 2);
        assert_eq!(topology.non_manifold_edges, 1);
        assert_eq!(topology.open_edges, 2 + 3);
        assert_eq!(topology.inconsistent_edges, 3);
        assert_eq!(topology.degenerate_triangles, 1);
        assert!(!topology.is_closed_manifold());
    }

    #[test]
    fn negative_zero_welds_with_zero() {
        let weld = weld_positions(&[Vec3::ZERO, Vec3::new(-0.0, 0.0, -0.0), Vec3::X]);
        assert_eq!(weld.point_count(), 2);
        assert_eq!(weld.point_of(1), 0);
    }
}
