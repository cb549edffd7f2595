//! Connectivity: welding, components, and edges that are open, crowded or turned around.

use crate::mesh::Mesh;
use crate::weights::Weights;
use glam::{DVec3, I64Vec3, Vec3};
use std::collections::HashMap;
use std::hash::Hash;

/// Which points of the surface the vertices of a file stand for.
///
/// Files split vertices along texture and normal seams; the surface does not know of that. Points
/// are numbered in the order of their first vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Weld {
    point_of_vertex: Vec<u32>,
    point_count: usize,
}

impl Weld {
    /// The point of a vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    pub fn point_of(&self, vertex: usize) -> usize {
        self.point_of_vertex[vertex] as usize
    }

    /// The point of every vertex, in order.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        self.point_of_vertex.iter().map(|&point| point as usize)
    }

    /// The mean over all vertices of each point, for every vertex: what moves a surface must agree
    /// where vertices are one point, or seams open.
    pub(crate) fn average(&self, values: &[f32]) -> Vec<f32> {
        let mut sums = vec![(0.0, 0.0); self.point_count];
        for (&point, &value) in self.point_of_vertex.iter().zip(values) {
            let (sum, count) = &mut sums[point as usize];
            *sum += f64::from(value);
            *count += 1.0;
        }
        let mean = |&point: &u32| {
            let (sum, count) = sums[point as usize];
            (sum / count) as f32
        };
        self.point_of_vertex.iter().map(mean).collect()
    }

    /// The place of every point, from those of the vertices.
    pub(crate) fn places(&self, positions: &[Vec3]) -> Vec<DVec3> {
        let first = self.first_vertices().into_iter();
        first
            .map(|vertex| positions[vertex as usize].as_dvec3())
            .collect()
    }

    /// The first vertex of every point.
    pub(crate) fn first_vertices(&self) -> Vec<u32> {
        let mut first = Vec::with_capacity(self.point_count);
        for (&point, vertex) in self.point_of_vertex.iter().zip(0..) {
            if point as usize == first.len() {
                first.push(vertex);
            }
        }
        first
    }

    /// How many distinct points there are.
    pub fn point_count(&self) -> usize {
        self.point_count
    }
}

/// Welds vertices whose positions are the same to the bit (`-0.0` counts as `0.0`).
pub fn weld_positions(positions: &[Vec3]) -> Weld {
    weld_by(positions.len(), |vertex| position_bits(positions[vertex]))
}

/// Welds vertices whose positions and weights are the same: one point of the surface that moves as
/// one.
///
/// Two instances of a mesh in the same place, bound to different joints, stay apart.
pub(crate) fn weld_bound(positions: &[Vec3], weights: &Weights) -> Weld {
    weld_by(positions.len(), |vertex| {
        let (joints, values) = weights.row(vertex);
        let values: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        (position_bits(positions[vertex]), joints, values)
    })
}

/// Welds vertices of one position in one piece of the surface, whatever their weights: the sides of
/// a seam.
///
/// Pieces are what triangles connect through vertices that [`weld_bound`] welds. So the sides of a
/// seam are one point also where their weights differ, by a rounding or by a stroke of a brush, as
/// long as they agree somewhere; and two instances of a mesh in the same place, bound to different
/// joints, stay two.
pub(crate) fn weld_seams(mesh: &Mesh, weights: &Weights) -> Weld {
    let points = weld_bound(mesh.positions(), weights);
    let places = weld_positions(mesh.positions());
    let mut pieces = DisjointSets::new(points.point_count());
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|corner| points.point_of(corner as usize));
        pieces.join(a, b);
        pieces.join(a, c);
    }
    let piece_of_point: Vec<usize> = (0..points.point_count())
        .map(|point| pieces.find(point))
        .collect();
    weld_by(mesh.vertex_count(), |vertex| {
        let piece = piece_of_point[points.point_of(vertex)];
        (places.point_of(vertex), piece)
    })
}

/// Of a crowd of points in one box no more than this many are looked at, so that no arrangement of
/// points takes long: a surface has a few there.
const MOST_PER_BOX: usize = 256;

/// Welds points further that are within a distance of each other and `may` be welded: what a file's
/// rounding has torn open. None if there are no such.
pub(crate) fn weld_near(
    weld: &Weld,
    places: &[DVec3],
    may: impl Fn(usize) -> bool,
    distance: f64,
) -> Option<Weld> {
    // Boxes wide enough that most places have to look into their own alone.
    let width = 8.0 * distance;
    let mut boxes: HashMap<I64Vec3, Vec<usize>> = HashMap::new();
    let mut sets = DisjointSets::new(places.len());
    let mut any = false;
    for (point, &place) in places.iter().enumerate().filter(|(point, _)| may(*point)) {
        let low = ((place - distance) / width).floor().as_i64vec3();
        let high = ((place + distance) / width).floor().as_i64vec3();
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let around = boxes.get(&I64Vec3::new(x, y, z));
                    for &other in around.into_iter().flatten().take(MOST_PER_BOX) {
                        if places[other].distance_squared(place) <= distance * distance {
                            sets.join(other, point);
                            any = true;
                        }
                    }
                }
            }
        }
        let own = (place / width).floor().as_i64vec3();
        boxes.entry(own).or_default().push(point);
    }
    let first: Vec<usize> = (0..places.len()).map(|point| sets.find(point)).collect();
    let vertices = weld.point_of_vertex.len();
    any.then(|| weld_by(vertices, |vertex| first[weld.point_of(vertex)]))
}

/// Adding zero turns -0.0 into 0.0.
fn position_bits(position: Vec3) -> [u32; 3] {
    position.to_array().map(|x| (x + 0.0).to_bits())
}

fn weld_by<K: Eq + Hash>(count: usize, key: impl Fn(usize) -> K) -> Weld {
    let mut points: HashMap<K, u32> = HashMap::with_capacity(count);
    let point_of_vertex = (0..count)
        .map(|vertex| {
            let next = points.len() as u32;
            *points.entry(key(vertex)).or_insert(next)
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
    /// Edges along which several triangles run in the same direction (counted twice if in both
    /// directions).
    pub inconsistent_edges: usize,
    /// Triangles of no area: two equal corners, or all three on a line.
    pub degenerate_triangles: usize,
}

impl Topology {
    /// Counts over a mesh whose vertices are welded by position. Triangles with two equal (welded)
    /// corners have no edges to count.
    pub fn of(mesh: &Mesh) -> Topology {
        Topology::of_welded(mesh, &weld_positions(mesh.positions()))
    }

    /// Counts over a mesh that was welded otherwise.
    pub(crate) fn of_welded(mesh: &Mesh, weld: &Weld) -> Topology {
        let (positions, triangles) = (mesh.positions(), mesh.triangles());
        // (lower point, higher point, runs upwards), sorted: equal edges become neighbours.
        let mut edges: Vec<(u32, u32, bool)> = Vec::with_capacity(triangles.len() * 3);
        let mut pieces = DisjointSets::new(weld.point_count());
        let mut used = vec![false; weld.point_count()];
        let mut degenerate_triangles = 0;
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| weld.point_of_vertex[corner as usize]);
            let [pa, pb, pc] = corners.map(|corner| positions[corner as usize].as_dvec3());
            if (pb - pa).cross(pc - pa) == DVec3::ZERO {
                degenerate_triangles += 1;
            }
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

    /// True for a surface with an inside: no open, crowded or turned edge.
    pub fn is_closed_manifold(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }
}

/// Union-find whose representatives are the lowest member of each set.
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Sets of one member each.
    pub(crate) fn new(count: usize) -> DisjointSets {
        DisjointSets {
            parent: (0..count as u32).collect(),
        }
    }

    /// The representative of a member's set.
    pub(crate) fn find(&mut self, item: usize) -> usize {
        let mut item = item as u32;
        while self.parent[item as usize] != item {
            let grandparent = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = grandparent;
            item = grandparent;
        }
        item as usize
    }

    /// Makes two sets one.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::WeightsBuilder;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn corners() -> Vec<Vec3> {
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
    }

    fn by_position(positions: &[Vec3], triangles: &[[u32; 3]]) -> Topology {
        Topology::of(&Mesh::new(positions.to_vec(), None, None, triangles.to_vec()).unwrap())
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

    #[test]
    fn points_that_move_apart_are_not_welded() {
        let mut weights = WeightsBuilder::new(2).unwrap();
        for joint in [0, 0, 1] {
            weights.push([(joint, 1.0)], 0).unwrap();
        }
        let weld = weld_bound(&[Vec3::X; 3], &weights.finish().0);
        assert_eq!(weld.point_count(), 2);
        assert_eq!([0, 1, 2].map(|vertex| weld.point_of(vertex)), [0, 0, 1]);
    }

    #[test]
    fn vertices_of_a_point_agree_on_their_mean() {
        let weld = weld_positions(&[Vec3::X, Vec3::Y, Vec3::X]);
        assert_eq!(weld.average(&[0.25, 7.0, 0.75]), [0.5, 7.0, 0.5]);
        assert_eq!(weld.first_vertices(), [0, 1]);
    }

    #[test]
    fn negative_zero_welds_with_zero() {
        let weld = weld_positions(&[Vec3::ZERO, Vec3::new(-0.0, 0.0, -0.0), Vec3::X]);
        assert_eq!(weld.point_count(), 2);
        assert_eq!(weld.point_of(1), 0);
    }
}
