//! The vertices and triangles that each joint influences, and the weights of triangles.

use crate::exec;
use crate::weights::Weights;
use glam::DVec3;
use std::collections::BTreeMap;

/// Per joint, in rising order: the vertices that it influences, and the triangles with such a
/// corner.
#[derive(Clone, Debug)]
pub(super) struct JointSupport {
    pub(super) vertices: Vec<Vec<u32>>,
    pub(super) triangles: Vec<Vec<u32>>,
}

impl JointSupport {
    pub(super) fn of(joint_count: usize, weights: &Weights, rows: &TriangleRows) -> JointSupport {
        let mut support = JointSupport {
            vertices: vec![Vec::new(); joint_count],
            triangles: vec![Vec::new(); joint_count],
        };
        for vertex in 0..weights.vertex_count() {
            for &joint in weights.row(vertex).0 {
                support.vertices[usize::from(joint)].push(vertex as u32);
            }
        }
        for triangle in 0..rows.spans.len() {
            for held in rows.of_triangle(triangle) {
                support.triangles[usize::from(held.joint)].push(triangle as u32);
            }
        }
        support
    }

    /// Adds joints that influence nothing yet.
    pub(super) fn make_room(&mut self, joint_count: usize) {
        self.vertices.resize(joint_count, Vec::new());
        self.triangles.resize(joint_count, Vec::new());
    }

    /// Updates the vertices after a change of weights at some of them, in rising order.
    pub(super) fn rebind_vertices(&mut self, old: &Weights, new: &Weights, vertices: &[u32]) {
        let of = |weights: &Weights, vertex: u32| weights.row(vertex as usize).0.to_vec();
        let changes = vertices.iter();
        let changes = changes.map(|&vertex| (vertex, of(old, vertex), of(new, vertex)));
        rebind(&mut self.vertices, changes);
    }

    /// Updates the triangles after a change of their rows. `before` are the old rows of
    /// `triangles`, in rising order.
    pub(super) fn rebind_triangles(
        &mut self,
        before: &[Vec<CornerWeights>],
        rows: &TriangleRows,
        triangles: &[u32],
    ) {
        let joints = |row: &[CornerWeights]| row.iter().map(|held| held.joint).collect();
        let changes = triangles.iter().zip(before);
        let changes = changes.map(|(&triangle, before)| {
            let now = rows.of_triangle(triangle as usize);
            (triangle, joints(before), joints(now))
        });
        rebind(&mut self.triangles, changes);
    }
}

/// Moves items, in rising order, from the lists of their old joints to those of their new joints.
fn rebind(lists: &mut [Vec<u32>], changes: impl Iterator<Item = (u32, Vec<u16>, Vec<u16>)>) {
    let mut lost: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    let mut gained: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    for (item, before, now) in changes {
        for &joint in before.iter().filter(|joint| !now.contains(joint)) {
            lost.entry(joint).or_default().push(item);
        }
        for &joint in now.iter().filter(|joint| !before.contains(joint)) {
            gained.entry(joint).or_default().push(item);
        }
    }
    for (joint, items) in lost {
        lists[usize::from(joint)].retain(|item| items.binary_search(item).is_err());
    }
    for (joint, items) in gained {
        let list = &mut lists[usize::from(joint)];
        list.extend(items);
        // Two rising runs: a merge.
        list.sort();
    }
}

/// A joint's weights at the corners of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CornerWeights {
    pub(super) joint: u16,
    weights: [f32; 3],
}

impl CornerWeights {
    #[inline(always)]
    pub(super) fn weights(&self) -> DVec3 {
        let [a, b, c] = self.weights;
        DVec3::new(f64::from(a), f64::from(b), f64::from(c))
    }
}

/// The weights of every triangle, joint by joint.
#[derive(Clone, Debug)]
pub(super) struct TriangleRows {
    /// The start and the length of each triangle's row.
    spans: Vec<(u32, u32)>,
    held: Vec<CornerWeights>,
    /// The number of entries that belong to some row.
    in_use: usize,
}

impl TriangleRows {
    pub(super) fn of(weights: &Weights, triangles: &[[u32; 3]]) -> TriangleRows {
        let chunks = exec::map_chunks(triangles.len(), |chunk| {
            let mut rows = TriangleRows {
                spans: Vec::with_capacity(chunk.len()),
                held: Vec::new(),
                in_use: 0,
            };
            for corners in &triangles[chunk] {
                let span = rows.append(weights, corners);
                rows.spans.push(span);
            }
            rows
        });
        let held = chunks.iter().map(|chunk| chunk.held.len()).sum();
        let mut rows = TriangleRows {
            spans: Vec::with_capacity(triangles.len()),
            held: Vec::with_capacity(held),
            in_use: held,
        };
        for chunk in chunks {
            let first = rows.held.len() as u32;
            let spans = chunk.spans.iter();
            rows.spans
                .extend(spans.map(|&(start, length)| (first + start, length)));
            rows.held.extend(chunk.held);
        }
        rows
    }

    /// The joints that influence a triangle, in rising order.
    #[inline(always)]
    pub(super) fn of_triangle(&self, triangle: usize) -> &[CornerWeights] {
        let (start, length) = self.spans[triangle];
        &self.held[start as usize..][..length as usize]
    }

    /// Replaces the weights of a triangle.
    ///
    /// The old row stays behind as a gap; once gaps are most of the list, it is packed.
    pub(super) fn replace(&mut self, triangle: usize, weights: &Weights, corners: &[u32; 3]) {
        self.in_use -= self.spans[triangle].1 as usize;
        let span = self.append(weights, corners);
        self.spans[triangle] = span;
        self.in_use += span.1 as usize;
        if self.held.len() > 2 * self.in_use + 1024 {
            self.pack();
        }
    }

    fn pack(&mut self) {
        let mut packed = Vec::with_capacity(self.in_use);
        for (start, length) in &mut self.spans {
            let row = &self.held[*start as usize..][..*length as usize];
            *start = packed.len() as u32;
            packed.extend_from_slice(row);
        }
        self.held = packed;
    }

    /// Appends the row of a triangle.
    fn append(&mut self, weights: &Weights, corners: &[u32; 3]) -> (u32, u32) {
        let start = self.held.len();
        for (corner, &vertex) in corners.iter().enumerate() {
            let (joints, values) = weights.row(vertex as usize);
            for (&joint, &value) in joints.iter().zip(values) {
                let row = &mut self.held[start..];
                match row.iter_mut().find(|held| held.joint == joint) {
                    Some(held) => held.weights[corner] = value,
                    None => {
                        let mut weights = [0.0; 3];
                        weights[corner] = value;
                        self.held.push(CornerWeights { joint, weights });
                    }
                }
            }
        }
        self.held[start..].sort_unstable_by_key(|held| held.joint);
        (start as u32, (self.held.len() - start) as u32)
    }
}

/// Squared distances of weights along a triangle's edges, each opposite to a corner.
pub(super) fn weight_distances(row: &[CornerWeights]) -> [f64; 3] {
    let mut squared = DVec3::ZERO;
    for held in row {
        let weights = held.weights();
        let along = DVec3::new(weights.y, weights.z, weights.x)
            - DVec3::new(weights.z, weights.x, weights.y);
        squared += along * along;
    }
    squared.to_array()
}
