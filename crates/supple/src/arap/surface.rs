//! The energy of eq. (1), and one step of its minimisation.
//!
//! `E(v', R) = Σ_i Σ_j ω_ij |(v'_i − v'_j) − R_i (v_i − v_j)|²`. With positions fixed, each
//! rotation has its own optimum; with rotations fixed, positions solve the linear system
//! `Σ_j ω_ij (v'_i − v'_j) = Σ_j ω_ij ½ (R_i + R_j)(v_i − v_j)`, whose matrix never changes.
//! Neither step raises the energy, with one exception: a share of 2e-6 of every patch turns as its
//! heaviest handle does, so that degenerate patches have a rotation; a patch that is nearly a line
//! may turn a little away from its optimum.

use super::ArapError;
use crate::exec;
use crate::mesh::Mesh;
use crate::polar::{nearest_rotation, nearest_rotations, outer};
use crate::sparse::{Cholesky, Pattern};
use crate::surface::{CotangentPolicy, EdgeWeights, Edges, Rows, Weld};
use fearless_simd::{Level, Simd, SimdBase, dispatch, f64x8};
use glam::{DMat3, DVec3};

/// Weight of the handle's rotation in a patch that is a line, relative to the patch's spread …
const BALL: f64 = 2e-6;
/// … and in a patch that is a single point, relative to the squared extent of the surface.
const NO_PATCH: f64 = 1e-12;

/// A surface prepared for the energy.
#[derive(Debug)]
pub(super) struct RigidSurface {
    pub(super) rest: Vec<DVec3>,
    neighbours: Rows<u32>,
    /// `ω` of each neighbour: [`CotangentPolicy::RIGID`].
    omegas: Vec<f64>,
    /// The edges in the order of the pattern, each once.
    edges: Vec<([u32; 2], f64)>,
    pattern: Pattern,
    /// The piece that each point is in.
    pub(super) piece_of: Vec<u32>,
    pub(super) pieces: usize,
    no_patch: f64,
}

impl RigidSurface {
    pub(super) fn of(mesh: &Mesh, weld: &Weld, extent: f64) -> Result<RigidSurface, ArapError> {
        let edges = Edges::of(
            mesh.positions(),
            mesh.triangles(),
            weld,
            EdgeWeights::Cotangent,
        );
        let rest = edges.points().to_vec();
        let mut piece_of = edges.pieces();
        let pieces = number_in_order(&mut piece_of);
        let median = edges.median_weight();
        let omega = |weight| CotangentPolicy::RIGID.of_median(weight, median);
        let edges = edges.iter().map(|edge| (edge.ends, omega(edge.weight)));
        let edges: Vec<([u32; 2], f64)> = edges.collect();
        let places: Vec<[u32; 2]> = edges.iter().map(|(ends, _)| *ends).collect();
        let pattern = Pattern::of(rest.len(), &places)?;
        let weighted = edges.iter().map(|&([a, b], omega)| (a, b, omega));
        let (neighbours, omegas) = Rows::of_neighbours(rest.len(), weighted).unzip();
        Ok(RigidSurface {
            rest,
            neighbours,
            omegas,
            edges,
            pattern,
            piece_of,
            pieces,
            no_patch: NO_PATCH * extent * extent,
        })
    }

    pub(super) fn point_count(&self) -> usize {
        self.rest.len()
    }

    /// The neighbours of a point, with the weights of the edges to them.
    pub(super) fn around(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let neighbours = self.neighbours.row(point).iter();
        let pairs = neighbours.zip(&self.omegas[self.neighbours.range(point)]);
        pairs.map(|(&other, &omega)| (other as usize, omega))
    }

    /// The neighbours of a point, without weights.
    pub(super) fn neighbours(&self, point: usize) -> &[u32] {
        self.neighbours.row(point)
    }

    /// Factors the system with some points held. The pattern of its entries does not depend on
    /// which; only their values are computed here.
    pub(super) fn factor(&self, held: &[bool]) -> Result<Cholesky, ArapError> {
        let mut diagonal: Vec<f64> = held.iter().map(|&held| f64::from(held)).collect();
        let entries = self.edges.iter().map(|&([a, b], omega)| {
            let (a, b) = (a as usize, b as usize);
            // A held point has the equation `v' = v'`.
            for point in [a, b] {
                if !held[point] {
                    diagonal[point] += omega;
                }
            }
            if held[a] || held[b] { 0.0 } else { -omega }
        });
        let entries: Vec<f64> = entries.collect();
        Ok(self.pattern.factor(&diagonal, &entries)?)
    }

    /// Computes the best rotation of every point for posed positions, `R_i = argmin Σ_j ω_ij |e'_ij
    /// − R_i e_ij|²`. A patch that is a line or a single point does not determine its rotation,
    /// which `else_by` then supplies.
    pub(super) fn fit_rotations(
        &self,
        rest: &[DVec3],
        posed: &[DVec3],
        else_by: impl Fn(usize) -> DMat3 + Sync,
        rotations: &mut [DMat3],
    ) {
        exec::for_each_chunk_mut(rotations, |first, rotations| {
            let level = Level::new();
            dispatch!(level, simd => self.fit_chunk(simd, rest, posed, &else_by, first, rotations));
        });
    }

    #[inline(always)]
    fn fit_chunk<S: Simd>(
        &self,
        simd: S,
        rest: &[DVec3],
        posed: &[DVec3],
        else_by: &impl Fn(usize) -> DMat3,
        first: usize,
        rotations: &mut [DMat3],
    ) {
        for (eight, rotations) in rotations.chunks_mut(8).enumerate() {
            let mut entries = [[1.0; 8]; 9];
            let mut matrices = [DMat3::IDENTITY; 8];
            for lane in 0..rotations.len() {
                let point = first + 8 * eight + lane;
                let matrix = self.covariance(rest, posed, point);
                let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
                let spread = x.length() + y.length() + z.length();
                let ball = BALL * spread + self.no_patch;
                let matrix = matrix + else_by(point) * ball;
                matrices[lane] = matrix;
                for (entry, value) in entries.iter_mut().zip(matrix.transpose().to_cols_array()) {
                    entry[lane] = value;
                }
            }
            let lanes = entries.map(|entry| f64x8::from_slice(simd, &entry));
            let fitted = nearest_rotations(simd, &lanes);
            let mut rows = [[0.0; 8]; 9];
            for (row, lanes) in rows.iter_mut().zip(fitted.rotation) {
                lanes.store_slice(row);
            }
            for (lane, rotation) in rotations.iter_mut().enumerate() {
                *rotation = match fitted.doubtful[lane] {
                    true => nearest_rotation(&matrices[lane]),
                    false => DMat3::from_cols_array(&rows.map(|row| row[lane])).transpose(),
                };
            }
        }
    }

    /// `Σ_j ω_ij e'_ij e_ijᵀ`, to which the rotation of a point is fitted.
    #[inline(always)]
    fn covariance(&self, rest: &[DVec3], posed: &[DVec3], point: usize) -> DMat3 {
        let (from, to) = (rest[point], posed[point]);
        let mut sum = DMat3::ZERO;
        for (other, omega) in self.around(point) {
            sum += outer(to - posed[other], (from - rest[other]) * omega);
        }
        sum
    }

    /// The right-hand side for the rotations, `Σ_j ω_ij ½ (R_i + R_j)(v_i − v_j)`, plus the terms
    /// of held neighbours; for a held point, its position.
    pub(super) fn right_hand_side(
        &self,
        rest: &[DVec3],
        posed: &[DVec3],
        rotations: &[DMat3],
        held: &[bool],
        right: &mut [DVec3],
    ) {
        exec::for_each_chunk_mut(right, |first, right| {
            for (at, right) in right.iter_mut().enumerate() {
                let point = first + at;
                if held[point] {
                    *right = posed[point];
                    continue;
                }
                let own = &rotations[point];
                let mut sum = DVec3::ZERO;
                for (other, omega) in self.around(point) {
                    let edge = rest[point] - rest[other];
                    sum += (*own + rotations[other]) * edge * (0.5 * omega);
                    if held[other] {
                        sum += posed[other] * omega;
                    }
                }
                *right = sum;
            }
        });
    }

    /// The energy `E` of eq. (1).
    pub(super) fn energy(&self, rest: &[DVec3], posed: &[DVec3], rotations: &[DMat3]) -> f64 {
        let sums = exec::map_chunks(self.point_count(), |points| {
            let each = points.map(|point| {
                let rotation = &rotations[point];
                let terms = self.around(point).map(|(other, omega)| {
                    let edge = *rotation * (rest[point] - rest[other]);
                    omega * (posed[point] - posed[other]).distance_squared(edge)
                });
                terms.sum::<f64>()
            });
            each.sum::<f64>()
        });
        sums.iter().sum()
    }
}

/// Renumbers pieces from zero in the order of their first points. Returns the number of pieces.
fn number_in_order(piece_of: &mut [u32]) -> usize {
    let mut numbers = vec![u32::MAX; piece_of.len()];
    let mut pieces = 0;
    for piece in piece_of {
        let number = &mut numbers[*piece as usize];
        if *number == u32::MAX {
            *number = pieces;
            pieces += 1;
        }
        *piece = *number;
    }
    pieces as usize
}
