//! The fast path: what the surface adds to eq. (4), pair of joints by pair of joints, over a grid in the space of weights.
//!
//! Work is handed out by the lower joint of the pairs. Each goes through its triangles in order, so sums come out the same for any number of threads, and the
//! same whether all pairs are computed or only some.

use super::grid::{Stencil, WeightGrid};
use super::holdings::Holdings;
use super::pieces::{Piece, Place, each_piece, weight_distances};
use super::{CenterOptions, PLACES, SPREADS, exact};
use crate::exec;
use crate::mesh::Mesh;
use crate::weights::Weights;
use glam::DVec3;

/// The sums of eq. (4) for every vertex: by the grid, or directly where the grid would have to be too fine.
pub(super) fn vertex_sums<const C: usize>(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Vec<[f64; C]> {
    let Some(grid) = grid_for(options) else {
        return exact::vertex_sums(mesh, weights, options);
    };
    let surface = Surface::new(mesh, weights, options);
    let fields = exec::map(surface.holdings.joint_count(), |joint| {
        surface.fields_of_joint::<C>(&grid, joint, |_| true)
    });
    let chunks = exec::map_chunks(mesh.vertex_count(), |vertices| {
        vertices
            .map(|vertex| read_sums(&grid, &fields, weights, vertex))
            .collect::<Vec<_>>()
    });
    chunks.concat()
}

/// The grid that reaches the accuracy; none if direct summation serves better.
pub(super) fn grid_for(options: &CenterOptions) -> Option<WeightGrid> {
    let cells = cells_for(options);
    (cells <= WeightGrid::MOST_CELLS).then(|| WeightGrid::new(cells, options.sigma))
}

/// How many cells the unit interval needs: the error falls with the fourth power of their size in units of σ.
fn cells_for(options: &CenterOptions) -> usize {
    let in_sigma = (options.accuracy / ERROR_AT_SIGMA).powf(0.25);
    ((1.0 / (options.sigma * in_sigma)).ceil() as usize).max(LEAST_CELLS)
}

/// The error, as a share of the extent, if cells were as large as σ: measured over all characters at hand.
const ERROR_AT_SIGMA: f64 = 1e-3;

const LEAST_CELLS: usize = 8;

/// A bound surface, made ready to be gone through joint by joint.
#[derive(Clone, Debug)]
pub(super) struct Surface<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) weights: &'a Weights,
    pub(super) holdings: Holdings,
    /// Which triangles must be cut in pieces.
    pub(super) cut: Vec<bool>,
    pub(super) epsilon_squared: f64,
}

/// The sums that one pair of joints adds at any weights: node values of cubic B-splines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PairField<const C: usize> {
    /// The higher joint.
    pub(super) partner: u16,
    /// The first node that is kept.
    first_node: usize,
    /// Relative to `origin`, and for a pair whose measure is one in all.
    nodes: Vec<[f32; C]>,
    /// The measure of all triangles of the pair.
    measure: f64,
    /// Their mean place.
    origin: DVec3,
}

impl<'a> Surface<'a> {
    pub(super) fn new(
        mesh: &'a Mesh,
        weights: &'a Weights,
        options: &CenterOptions,
    ) -> Surface<'a> {
        let holdings = Holdings::of(weights, mesh.triangles());
        let epsilon_squared = options.epsilon.powi(2);
        let cut = exec::map_chunks(mesh.triangles().len(), |triangles| {
            let mut table = vec![0.0; holdings.joint_count()];
            let corners = mesh.triangles()[triangles].iter();
            corners
                .map(|&corners| must_cut(weights, corners, epsilon_squared, &mut table))
                .collect::<Vec<_>>()
        });
        Surface {
            mesh,
            weights,
            cut: cut.concat(),
            holdings,
            epsilon_squared,
        }
    }

    /// The fields of the wanted pairs in which `joint` is the lower one, by rising partner.
    pub(super) fn fields_of_joint<const C: usize>(
        &self,
        grid: &WeightGrid,
        joint: usize,
        wanted: impl Fn(u16) -> bool,
    ) -> Vec<PairField<C>> {
        let mut partners = Partners::new(self.holdings.joint_count());
        let mut table = vec![0.0; self.holdings.joint_count()];
        let mut spread: Vec<Vec<[f64; C]>> = Vec::new();
        let mut corner_weights: Vec<(usize, DVec3)> = Vec::new();
        for &triangle in &self.holdings.triangles[joint] {
            let triangle = triangle as usize;
            let corners = self.mesh.triangles()[triangle];
            let mut own = DVec3::ZERO;
            corner_weights.clear();
            for (corner, vertex) in corners.into_iter().enumerate() {
                let (joints, values) = self.weights.row(vertex as usize);
                for (&other, &value) in joints.iter().zip(values) {
                    let value = f64::from(value);
                    if usize::from(other) <= joint {
                        if usize::from(other) == joint {
                            own[corner] = value;
                        }
                        continue;
                    }
                    if !wanted(other) {
                        continue;
                    }
                    let slot = partners.slot(other);
                    match corner_weights.iter_mut().find(|(known, _)| *known == slot) {
                        Some((_, theirs)) => theirs[corner] = value,
                        None => {
                            let mut theirs = DVec3::ZERO;
                            theirs[corner] = value;
                            corner_weights.push((slot, theirs));
                        }
                    }
                }
            }
            if corner_weights.is_empty() {
                continue;
            }
            spread.resize_with(partners.found.len(), || vec![[0.0; C]; grid.node_count()]);
            let place = Place::of(self.mesh, triangle);
            let mut add = |piece: &Piece| {
                let middle = piece.middle();
                let low = own.dot(middle);
                let measure = low * place.area * piece.share;
                let moments: [f64; C] = place.moments(piece);
                for &(slot, theirs) in &corner_weights {
                    let high = theirs.dot(middle);
                    let stencil = grid.stencil(low + high, low);
                    let added = moments.map(|moment| moment * (measure * high));
                    spread_over(&stencil, &added, &mut spread[slot]);
                }
            };
            if self.cut[triangle] {
                let distances = weight_distances(self.weights, corners, &mut table);
                each_piece(distances, self.epsilon_squared, &mut add);
            } else {
                add(&Piece::WHOLE);
            }
        }
        let sums = self.sums_of_targets(joint, &partners);
        let mut fields = Vec::with_capacity(spread.len());
        for ((nodes, &partner), sums) in spread.iter().zip(&partners.found).zip(sums) {
            let (low, high) = sums;
            fields.extend(PairField::new(grid, partner, nodes, low..high));
        }
        fields.sort_unstable_by_key(|field| field.partner);
        fields
    }

    /// The least and the largest sum of both weights of each pair among the vertices.
    fn sums_of_targets(&self, joint: usize, partners: &Partners) -> Vec<(f64, f64)> {
        let mut ranges = vec![(f64::INFINITY, 0.0_f64); partners.found.len()];
        for &vertex in &self.holdings.vertices[joint] {
            let (joints, values) = self.weights.row(vertex as usize);
            let own = joints.iter().position(|&other| usize::from(other) == joint);
            let own = own.map_or(0.0, |index| f64::from(values[index]));
            for (&other, &value) in joints.iter().zip(values) {
                if let Some(slot) = partners.known(other) {
                    let sum = own + f64::from(value);
                    let (low, high) = &mut ranges[slot];
                    *low = low.min(sum);
                    *high = high.max(sum);
                }
            }
        }
        ranges
    }
}

/// True if weights differ too much over a triangle to take it as one.
pub(super) fn must_cut(
    weights: &Weights,
    corners: [u32; 3],
    epsilon_squared: f64,
    table: &mut [f64],
) -> bool {
    let distances = weight_distances(weights, corners, table);
    distances.iter().any(|&distance| distance >= epsilon_squared)
}

/// The joints that share triangles with one joint, numbered as they are met.
struct Partners {
    found: Vec<u16>,
    slot_of: Vec<u16>,
}

impl Partners {
    const NONE: u16 = u16::MAX;

    fn new(joints: usize) -> Partners {
        Partners {
            found: Vec::new(),
            slot_of: vec![Partners::NONE; joints],
        }
    }

    fn slot(&mut self, joint: u16) -> usize {
        let slot = &mut self.slot_of[usize::from(joint)];
        if *slot == Partners::NONE {
            *slot = self.found.len() as u16;
            self.found.push(joint);
        }
        usize::from(*slot)
    }

    fn known(&self, joint: u16) -> Option<usize> {
        let slot = self.slot_of[usize::from(joint)];
        (slot != Partners::NONE).then_some(usize::from(slot))
    }
}

#[inline]
fn spread_over<const C: usize>(stencil: &Stencil, added: &[f64; C], nodes: &mut [[f64; C]]) {
    for (&first, &row) in stencil.nodes.iter().zip(&stencil.rows) {
        if row == 0.0 {
            continue;
        }
        let added = added.map(|added| added * row);
        for (node, column) in nodes[first..first + 4].iter_mut().zip(stencil.columns) {
            for (sum, added) in node.iter_mut().zip(added) {
                *sum += column * added;
            }
        }
    }
}

impl<const C: usize> PairField<C> {
    /// From what was spread over the nodes; none if that was nothing, or nobody asks.
    fn new(
        grid: &WeightGrid,
        partner: u16,
        spread: &[[f64; C]],
        sums: std::ops::Range<f64>,
    ) -> Option<PairField<C>> {
        let mut total = [0.0; C];
        for node in spread {
            for (total, moment) in total.iter_mut().zip(node) {
                *total += moment;
            }
        }
        let measure = total[0];
        let origin = DVec3::new(total[1], total[2], total[3]) / measure;
        if sums.is_empty() && sums.start != sums.end || !origin.is_finite() {
            return None;
        }
        let sources: Vec<(usize, [f32; C])> = spread
            .iter()
            .enumerate()
            .filter(|(_, moments)| moments[0] != 0.0)
            .map(|(node, moments)| {
                let moved = moved_to(moments, -origin);
                (node, moved.map(|moment| (moment / measure) as f32))
            })
            .collect();
        let targets = grid.nodes_for(sums);
        Some(PairField {
            partner,
            first_node: targets.start,
            nodes: grid.multiply(&sources, targets),
            measure,
            origin,
        })
    }

    /// The sums at a stencil, for a vertex as similar as can be.
    #[inline]
    fn read(&self, stencil: &Stencil) -> [f64; C] {
        let mut sum = [0.0_f32; C];
        for (&first, &row) in stencil.nodes.iter().zip(&stencil.rows) {
            let first = first - self.first_node;
            for (node, column) in self.nodes[first..first + 4].iter().zip(stencil.columns) {
                let weight = (row * column) as f32;
                for (sum, value) in sum.iter_mut().zip(node) {
                    *sum += weight * value;
                }
            }
        }
        moved_to(&sum.map(f64::from), self.origin)
    }
}

/// Sums of a surface moved by `shift`.
#[inline]
fn moved_to<const C: usize>(moments: &[f64; C], shift: DVec3) -> [f64; C] {
    let mut moved = *moments;
    let mass = moments[0];
    for axis in 0..3 {
        moved[1 + axis] += mass * shift[axis];
    }
    if C == SPREADS {
        let products = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        for (index, (row, column)) in products.into_iter().enumerate() {
            let across = moments[1 + row] * shift[column] + moments[1 + column] * shift[row];
            moved[PLACES + index] += across + mass * shift[row] * shift[column];
        }
    }
    moved
}

/// The sums of a vertex, from the fields of its pairs. `fields` has the pairs of each joint as the lower one.
pub(super) fn read_sums<const C: usize>(
    grid: &WeightGrid,
    fields: &[Vec<PairField<C>>],
    weights: &Weights,
    vertex: usize,
) -> [f64; C] {
    let mut sums = [0.0; C];
    let (joints, values) = weights.row(vertex);
    for (index, (&joint, &value)) in joints.iter().zip(values).enumerate() {
        let rest = joints[index + 1..].iter().zip(&values[index + 1..]);
        for (&other, &theirs) in rest {
            let (low, high) = match joint < other {
                true => ((joint, value), (other, theirs)),
                false => ((other, theirs), (joint, value)),
            };
            let pairs = &fields[usize::from(low.0)];
            let Ok(found) = pairs.binary_search_by_key(&high.0, |field| field.partner) else {
                continue;
            };
            let (low, high) = (f64::from(low.1), f64::from(high.1));
            let stencil = grid.stencil(low + high, low);
            let factor = low * high * pairs[found].measure;
            let added = pairs[found].read(&stencil);
            for (sum, added) in sums.iter_mut().zip(added) {
                *sum += factor * added;
            }
        }
    }
    sums
}
