//! Triangles in pieces over which weights hardly vary (§3.2), without building a mesh.
//!
//! Weights are linear over a triangle, so in the space of weights it is a flat triangle too, known by the lengths of its edges alone. Its longest edge is
//! bisected until none is as long as ε. Every bisection halves the area, and where a corner lies is told by its barycentric coordinates, so that
//! weights and places of a piece are mixed from those of the three corners.

use super::{PLACES, SPREADS};
use crate::mesh::Mesh;
use crate::weights::Weights;
use glam::DVec3;

/// A part of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Its corners, in barycentric coordinates of the triangle.
    pub(super) corners: [DVec3; 3],
    /// Its share of the triangle's area.
    pub(super) share: f64,
}

impl Piece {
    /// All of it.
    pub(super) const WHOLE: Piece = Piece {
        corners: [DVec3::X, DVec3::Y, DVec3::Z],
        share: 1.0,
    };

    /// The middle, in barycentric coordinates.
    pub(super) fn middle(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        (a + b + c) / 3.0
    }
}

/// Visits the pieces of a triangle whose edges opposite to its corners have these squared lengths in the space of weights.
pub(super) fn each_piece(
    opposite: [f64; 3],
    epsilon_squared: f64,
    visit: &mut impl FnMut(&Piece),
) {
    bisect(Piece::WHOLE, opposite, epsilon_squared, visit);
}

fn bisect(
    piece: Piece,
    opposite: [f64; 3],
    epsilon_squared: f64,
    visit: &mut impl FnMut(&Piece),
) {
    // The corner whose opposite edge is longest; the first among equals.
    let mut apex = 0;
    for corner in 1..3 {
        if opposite[corner] > opposite[apex] {
            apex = corner;
        }
    }
    if opposite[apex] < epsilon_squared {
        return visit(&piece);
    }
    let (left, right) = ((apex + 1) % 3, (apex + 2) % 3);
    let middle = (piece.corners[left] + piece.corners[right]) * 0.5;
    // The median of a triangle, squared.
    let median = (2.0 * opposite[left] + 2.0 * opposite[right] - opposite[apex]) / 4.0;
    for (kept, replaced) in [(left, right), (right, left)] {
        let mut half = piece;
        half.corners[replaced] = middle;
        half.share *= 0.5;
        let mut edges = opposite;
        edges[apex] = opposite[apex] / 4.0;
        edges[kept] = median;
        bisect(half, edges, epsilon_squared, visit);
    }
}

/// Squared distances of weights along a triangle's edges, each opposite to a corner.
///
/// `table` has a zero for every joint and is given back so.
pub(super) fn weight_distances(
    weights: &Weights,
    corners: [u32; 3],
    table: &mut [f64],
) -> [f64; 3] {
    let mut between = |from: u32, to: u32| {
        let (joints, values) = weights.row(from as usize);
        for (&joint, &value) in joints.iter().zip(values) {
            table[usize::from(joint)] = f64::from(value);
        }
        let (others, theirs) = weights.row(to as usize);
        let mut sum = 0.0;
        for (&joint, &value) in others.iter().zip(theirs) {
            let here = std::mem::take(&mut table[usize::from(joint)]);
            sum += (here - f64::from(value)).powi(2);
        }
        for &joint in joints {
            sum += std::mem::take(&mut table[usize::from(joint)]).powi(2);
        }
        sum
    };
    let [a, b, c] = corners;
    [between(b, c), between(c, a), between(a, b)]
}

/// A triangle's area and corners, in double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    corners: [DVec3; 3],
    pub(super) area: f64,
}

impl Place {
    pub(super) fn of(mesh: &Mesh, triangle: usize) -> Place {
        let corners = mesh.triangles()[triangle];
        let corners = corners.map(|corner| mesh.positions()[corner as usize].as_dvec3());
        let [a, b, c] = corners;
        Place {
            corners,
            area: (b - a).cross(c - a).length() * 0.5,
        }
    }

    /// What a piece adds to the sums of eq. (4), per area: its measure, its place, and if wanted the squares of its place. Similarity is
    /// taken as constant over the piece, and all else is exact: places average to the centroid's, and squares are integrated.
    pub(super) fn moments<const C: usize>(&self, piece: &Piece) -> [f64; C] {
        let mixed = |weights: DVec3| {
            let [a, b, c] = self.corners;
            a * weights.x + b * weights.y + c * weights.z
        };
        let middle = mixed(piece.middle());
        let mut moments = [0.0; C];
        moments[0] = 1.0;
        moments[1..PLACES].copy_from_slice(&middle.to_array());
        if C == SPREADS {
            let product = |row: usize, column: usize| {
                let corners = piece.corners.map(mixed);
                let corners: f64 = corners.iter().map(|at| at[row] * at[column]).sum();
                (corners + 9.0 * middle[row] * middle[column]) / 12.0
            };
            let products = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
            for (moment, (row, column)) in moments[PLACES..].iter_mut().zip(products) {
                *moment = product(row, column);
            }
        }
        moments
    }
}
