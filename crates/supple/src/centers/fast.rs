//! The fast path: the sums of eq. (4) pair of joints by pair of joints, over a grid in the space of
//! weights.
//!
//! Work is handed out by the lower joint of the pairs. Each goes through its triangles in order, so
//! sums come out the same for any number of threads.

use super::fields::{JointFields, PairField};
use super::grid::WeightGrid;
use super::surface::WeightedSurface;
use super::{CenterOptions, exact, fields};
use crate::exec;
use crate::mesh::Mesh;
use crate::weights::Weights;
use std::borrow::Cow;

/// The sums of eq. (4) for every vertex: by the grid, or directly where that serves better.
pub(super) fn vertex_sums<const C: usize>(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Vec<[f64; C]> {
    let surface = WeightedSurface::new(Cow::Borrowed(mesh), Cow::Borrowed(weights), options);
    let Some(grid) = grid_for(&surface) else {
        return exact::vertex_sums(&surface, &surface.vertices());
    };
    let fields = exec::map(surface.joint_count, |joint| {
        let spreads = surface.spreads::<C>(&grid, joint, |_| true);
        let pairs = spreads
            .iter()
            .filter_map(|pair| Some((pair.partner, PairField::new(&grid, &surface.units, pair)?)));
        JointFields::new(pairs.collect())
    });
    fields::vertex_sums(&surface, &grid, &fields, &surface.vertices())
}

/// The grid that reaches the accuracy; none if direct summation serves better, because the grid
/// would be too fine or the surface is so small.
pub(super) fn grid_for(surface: &WeightedSurface<'_>) -> Option<WeightGrid> {
    let cells = cells_for(&surface.options);
    let (vertices, triangles) = (surface.mesh.vertex_count(), surface.mesh.triangles().len());
    let small = vertices.saturating_mul(triangles) < LEAST_WORK;
    (cells <= WeightGrid::MOST_CELLS && !small)
        .then(|| WeightGrid::new(cells, surface.options.sigma))
}

/// Vertices times triangles, below which making a grid takes longer than doing without.
const LEAST_WORK: usize = 20_000;

/// The number of cells of the unit interval: the error falls with the fourth power of their size in
/// units of σ.
fn cells_for(options: &CenterOptions) -> usize {
    let in_sigma = (options.accuracy / ERROR_AT_SIGMA).powf(0.25);
    ((1.0 / (options.sigma * in_sigma)).ceil() as usize).max(LEAST_CELLS)
}

/// The error, as a share of the extent, if cells were as large as σ: measured over all characters
/// at hand.
const ERROR_AT_SIGMA: f64 = 3e-3;

const LEAST_CELLS: usize = 8;
