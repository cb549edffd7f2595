//! A flat sheet of squares, cut in the middle as along a seam of textures, and held by a chain of
//! joints.

use glam::{DVec3, Vec3};
use proptest::prelude::*;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Rig, Weights};

pub const COLUMNS: usize = 8;
pub const ROWS: usize = 5;
pub const JOINTS: usize = 5;
/// The column that is there twice.
const SEAM: usize = 4;

/// The column and row of every vertex: first those left of the seam, then those right of it, the
/// seam in both.
pub fn places() -> Vec<(usize, usize)> {
    let columns = (0..=SEAM).chain(SEAM..COLUMNS);
    columns
        .flat_map(|column| (0..ROWS).map(move |row| (column, row)))
        .collect()
}

/// The number of a vertex among the points, as if there was no seam.
pub fn point((column, row): (usize, usize)) -> usize {
    column * ROWS + row
}

pub fn mesh() -> Mesh {
    let positions = places().into_iter();
    let positions = positions.map(|(column, row)| Vec3::new(column as f32, row as f32, 0.0));
    let mut triangles = Vec::new();
    // Strips of columns; the seam's second copy starts a strip of its own.
    for strip in (0..COLUMNS).filter(|&strip| strip != SEAM) {
        for row in 0..ROWS - 1 {
            let a = (strip * ROWS + row) as u32;
            let b = a + ROWS as u32;
            triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
        }
    }
    Mesh::new(positions.collect(), None, None, triangles).unwrap()
}

/// A chain of joints along the columns.
pub fn skeleton() -> Skeleton {
    let node = |joint: usize| Node {
        name: format!("joint{joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::X)),
    };
    let joints: Vec<usize> = (0..JOINTS).collect();
    Skeleton::bound_at_rest((0..JOINTS).map(node).collect(), &joints).unwrap()
}

/// Weights by point, the same on both sides of the seam.
pub fn weights_of_points(rows: &[Vec<(usize, f32)>]) -> Weights {
    let mut builder = WeightsBuilder::new(JOINTS).unwrap();
    for place in places() {
        let row = &rows[point(place)];
        builder.push(row.iter().copied(), 0).unwrap();
    }
    builder.finish().0
}

pub fn weights() -> impl Strategy<Value = Weights> {
    let row = prop::collection::vec((0..JOINTS, 0.015625f32..1.0), 1..5);
    prop::collection::vec(row, COLUMNS * ROWS).prop_map(|rows| weights_of_points(&rows))
}

pub fn rig(weights: Weights) -> Rig {
    Rig::new(mesh(), skeleton(), weights).unwrap()
}

/// The weights of a vertex, joint by joint.
pub fn dense(weights: &Weights, vertex: usize) -> [f64; JOINTS] {
    let mut row = [0.0; JOINTS];
    for influence in weights.of(vertex) {
        row[influence.joint] = f64::from(influence.weight);
    }
    row
}
