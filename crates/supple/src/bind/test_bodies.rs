//! Small bodies for the tests of this folder, and their bindings.

use super::cells::{Cells, Seed};
use super::handles::{Bone, Handle, Hold};
use super::oriented_surface::OrientedSurface;
use crate::mesh::Mesh;
use glam::{DVec3, Vec3};

/// A body, its bones and its cells.
pub(super) struct Filled {
    pub(super) shape: OrientedSurface,
    pub(super) holds: Vec<Hold>,
    pub(super) cells: Cells,
    pub(super) seeds: Vec<Vec<Seed>>,
}

impl Filled {
    pub(super) fn new(mesh: &Mesh, handles: &[Handle], voxels: usize) -> Filled {
        let shape = OrientedSurface::of(mesh);
        let holds = Hold::all_of(handles, &shape);
        let cells = Cells::of(&shape, &holds, Some(voxels), usize::MAX);
        let seeds = cells.seeds(&shape, &holds);
        Filled {
            shape,
            holds,
            cells,
            seeds,
        }
    }
}

/// One bone for every joint.
pub(super) fn bones(ends: &[([f64; 3], [f64; 3])]) -> Vec<Handle> {
    let handle = |(joint, (head, tail)): (usize, &([f64; 3], [f64; 3]))| Handle {
        joint,
        bones: vec![Bone {
            head: DVec3::from_array(*head),
            tail: DVec3::from_array(*tail),
            open_ended: false,
            last_of_chain: false,
        }],
        topmost: false,
    };
    ends.iter().enumerate().map(handle).collect()
}

pub(super) fn points(places: &[[f64; 3]]) -> Vec<Handle> {
    bones(
        &places
            .iter()
            .map(|&place| (place, place))
            .collect::<Vec<_>>(),
    )
}

/// Boxes between corners. Overlapping boxes are one body.
pub(super) fn boxes(corners: &[([f32; 3], [f32; 3])]) -> Mesh {
    const QUADS: [[u32; 4]; 6] = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for (low, high) in corners {
        let first = positions.len() as u32;
        let corner = |at: usize, axis: usize| {
            if at >> axis & 1 == 1 {
                high[axis]
            } else {
                low[axis]
            }
        };
        let place = |at: usize| Vec3::from_array([0, 1, 2].map(|axis| corner(at, axis)));
        positions.extend((0..8).map(place));
        let quads = QUADS.iter().map(|quad| quad.map(|at| at + first));
        triangles.extend(quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]));
    }
    Mesh::new(positions, None, None, triangles).unwrap()
}

/// A flat sheet of squares, one per column in width.
pub(super) fn sheet(columns: u32, rows: u32) -> Mesh {
    let places = (0..=rows).flat_map(|y| (0..=columns).map(move |x| (x, y)));
    let positions = places.map(|(x, y)| Vec3::new(x as f32, y as f32, 0.0));
    let squares = (0..rows).flat_map(|y| (0..columns).map(move |x| y * (columns + 1) + x));
    let triangles = squares.flat_map(|a| {
        let b = a + columns + 1;
        [[a, a + 1, b + 1], [a, b + 1, b]]
    });
    Mesh::new(positions.collect(), None, None, triangles.collect()).unwrap()
}
