//! Welding: files split vertices along texture and normal seams; the surface itself has one point
//! there.

use crate::disjoint_sets::DisjointSets;
use glam::{DVec3, I64Vec3, Vec3};
use std::collections::HashMap;
use std::hash::Hash;

/// A map from the vertices of a mesh to distinct points of its surface.
///
/// Points are numbered in the order of their first vertex.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weld {
    point_of_vertex: Vec<u32>,
    point_count: usize,
}

impl Weld {
    /// The point of a vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    pub(crate) fn point_of(&self, vertex: usize) -> usize {
        self.point_of_vertex[vertex] as usize
    }

    /// The point of every vertex, in order.
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        self.point_of_vertex.iter().map(|&point| point as usize)
    }

    /// Replaces the value of each vertex by the mean over all vertices of its point. Values that
    /// move a surface must agree at a point, or seams open.
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

    /// Replaces the corners of triangles, which are vertices, by points.
    pub(crate) fn triangles<'t>(
        &'t self,
        triangles: &'t [[u32; 3]],
    ) -> impl ExactSizeIterator<Item = [u32; 3]> + Clone + 't {
        let point = |vertex: u32| self.point_of_vertex[vertex as usize];
        triangles.iter().map(move |corners| corners.map(point))
    }

    /// The position of every point: that of its first vertex.
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

    /// The number of distinct points.
    pub(crate) fn point_count(&self) -> usize {
        self.point_count
    }
}

/// Welds vertices whose positions are equal to the bit (`-0.0` equals `0.0`).
pub(crate) fn weld_positions(positions: &[Vec3]) -> Weld {
    weld_by(positions.len(), |vertex| position_bits(positions[vertex]))
}

/// Candidates compared per box of [`weld_near`]. A surface has a few; the limit bounds the time for
/// crowds of points.
const MOST_PER_BOX: usize = 256;

/// Welds points that `may` be welded and lie within a distance of each other: seams that a file's
/// rounding has torn open. `None` if there are no such points.
pub(crate) fn weld_near(
    weld: &Weld,
    places: &[DVec3],
    may: impl Fn(usize) -> bool,
    distance: f64,
) -> Option<Weld> {
    // Wide boxes: most points have to search their own box only.
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

/// The bits of a position, as a key. Adding zero turns -0.0 into 0.0.
pub(crate) fn position_bits(position: Vec3) -> [u32; 3] {
    position.to_array().map(|x| (x + 0.0).to_bits())
}

/// Welds vertices of equal keys.
pub(crate) fn weld_by<K: Eq + Hash>(count: usize, key: impl Fn(usize) -> K) -> Weld {
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

#[cfg(test)]
mod tests {
    use super::*;

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
