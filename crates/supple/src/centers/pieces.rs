//! Triangles in pieces over which weights hardly vary (§3.2), without building a mesh.
//!
//! Weights are linear over a triangle, so in the space of weights it is a flat triangle too, known
//! by the lengths of its edges alone. Its longest edge is bisected until none is as long as ε.
//! Every bisection halves the area, and where a corner lies is told by its barycentric coordinates,
//! so that weights and places of a piece are mixed from those of the three corners.

use super::{PLACES, SPREADS, SQUARES};
use crate::mesh::Mesh;
use crate::surface::double_area_normal;
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
    #[inline(always)]
    pub(super) fn middle(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        (a + b + c) * (1.0 / 3.0)
    }
}

/// Cuts triangles, one after another.
#[derive(Debug)]
pub(super) struct Cutter {
    epsilon_squared: f64,
    /// The rest of the triangle, with the squared lengths of its edges, each opposite to a corner.
    left: Vec<(Piece, [f64; 3])>,
}

impl Cutter {
    pub(super) fn new(epsilon: f64) -> Cutter {
        Cutter {
            epsilon_squared: epsilon * epsilon,
            left: Vec::new(),
        }
    }

    /// True if a triangle with these squared lengths of edges in the space of weights is more than
    /// one piece.
    pub(super) fn must_cut(&self, opposite: [f64; 3]) -> bool {
        opposite.iter().any(|&edge| edge >= self.epsilon_squared)
    }

    /// Begins with a triangle whose edges, opposite to its corners, have these squared lengths in
    /// the space of weights.
    pub(super) fn start(&mut self, opposite: [f64; 3]) {
        self.left.clear();
        self.left.push((Piece::WHOLE, opposite));
    }

    /// The next piece of it.
    pub(super) fn next_piece(&mut self) -> Option<Piece> {
        loop {
            let (piece, opposite) = self.left.pop()?;
            if !self.must_cut(opposite) {
                return Some(piece);
            }
            // The corner whose opposite edge is longest; the first among equals.
            let mut apex = 0;
            for corner in 1..3 {
                if opposite[corner] > opposite[apex] {
                    apex = corner;
                }
            }
            let (left, right) = ((apex + 1) % 3, (apex + 2) % 3);
            let middle = (piece.corners[left] + piece.corners[right]) * 0.5;
            // The median of a triangle, squared.
            let median = (2.0 * opposite[left] + 2.0 * opposite[right] - opposite[apex]) / 4.0;
            for (kept, replaced) in [(right, left), (left, right)] {
                let mut half = piece;
                half.corners[replaced] = middle;
                half.share *= 0.5;
                let mut edges = opposite;
                edges[apex] = opposite[apex] / 4.0;
                edges[kept] = median;
                self.left.push((half, edges));
            }
        }
    }
}

/// A triangle's area and corners, in double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct TriangleCorners {
    corners: [DVec3; 3],
    pub(super) area: f64,
}

impl TriangleCorners {
    #[inline(always)]
    pub(super) fn of(mesh: &Mesh, triangle: usize) -> TriangleCorners {
        let corners = mesh.corners(&mesh.triangles()[triangle]);
        TriangleCorners {
            corners,
            area: double_area_normal(corners).length() * 0.5,
        }
    }

    /// The contribution of a piece to the sums of eq. (4), per area: its measure, its position and,
    /// if needed, the squares of its position. Similarity is taken as constant over the piece; all
    /// else is exact: the mean position is the centroid, and squares are integrated.
    #[inline(always)]
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
            for (moment, (row, column)) in moments[PLACES..].iter_mut().zip(SQUARES) {
                *moment = product(row, column);
            }
        }
        moments
    }
}
