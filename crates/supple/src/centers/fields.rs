//! The sums that each pair of joints adds at any weights, and what vertices read from them.

use super::grid::WeightGrid;
use super::spread::PairSpread;
use super::surface::{MomentUnits, WeightedSurface};
use super::{SPREADS, exact};
use crate::exec;
use fearless_simd::{Simd, SimdBase, SimdFloat, dispatch, f32x16};
use std::borrow::Borrow;

/// The pairs of one joint in which it is the lower one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JointFields<const C: usize> {
    /// The higher joints, rising.
    partners: Vec<u16>,
    /// The field of each pair.
    fields: Vec<PairField<C>>,
}

impl<const C: usize> JointFields<C> {
    /// From pairs with one lower joint.
    pub(super) fn new(mut pairs: Vec<(u16, PairField<C>)>) -> JointFields<C> {
        pairs.sort_unstable_by_key(|&(partner, _)| partner);
        let (partners, fields) = pairs.into_iter().unzip();
        JointFields { partners, fields }
    }

    /// Puts fresh fields in the place of those of some partners; a partner that has none any more
    /// is gone.
    pub(super) fn replace(&mut self, partners: &[u16], fresh: Vec<(u16, PairField<C>)>) {
        let own = std::mem::take(self);
        let kept = own.partners.into_iter().zip(own.fields);
        let kept = kept.filter(|(partner, _)| !partners.contains(partner));
        *self = JointFields::new(kept.chain(fresh).collect());
    }
}

/// The sums that one pair of joints adds at any weights: coefficients of the grid's splines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PairField<const C: usize> {
    /// The first node that is kept.
    first_node: usize,
    /// In the surface's units, for a pair whose measure is one in all.
    nodes: Vec<[f32; C]>,
    /// The measure of all triangles of the pair, as a share of the whole surface.
    measure: f64,
}

impl<const C: usize> PairField<C> {
    /// Builds the fields from sums on the nodes; none if the sums are empty or not needed.
    pub(super) fn new(
        grid: &WeightGrid,
        units: &MomentUnits,
        pair: &PairSpread<C>,
    ) -> Option<PairField<C>> {
        let (spread, sums) = (&pair.nodes, pair.sums.clone());
        let measure: f64 = spread.iter().map(|moments| moments[0]).sum();
        let scale = measure.recip();
        if sums.start > sums.end || !(measure > 0.0 && scale.is_finite()) {
            return None;
        }
        let sources = spread.iter().enumerate();
        // What strokes took away may leave its rounding behind.
        let sources = sources.filter(|(_, moments)| moments[0].abs() > ROUNDING * measure);
        let sources: Vec<(usize, [f32; C])> = sources
            .map(|(node, moments)| (node, units.shrink(moments, scale)))
            .collect();
        let targets = grid.nodes_for(sums);
        Some(PairField {
            first_node: targets.start,
            nodes: grid.multiply(&sources, targets),
            measure: units.share(measure),
        })
    }

    /// The values of four nodes side by side, rows mixed by their shares, in as many registers as
    /// they need.
    #[inline(always)]
    fn mixed_rows<S: Simd>(&self, simd: S, nodes: [usize; 4], rows: [f64; 4]) -> Registers<S> {
        let mut mixed = [f32x16::splat(simd, 0.0); SPREADS / 4];
        for (first, row) in nodes.into_iter().zip(rows) {
            let Some(nodes) = self.nodes[first - self.first_node..].first_chunk::<4>() else {
                continue;
            };
            let row = f32x16::splat(simd, row as f32);
            let values = nodes.as_flattened().chunks_exact(16);
            for (mixed, values) in mixed.iter_mut().zip(values) {
                *mixed = f32x16::from_slice(simd, values).mul_add(row, *mixed);
            }
        }
        mixed
    }
}

/// A node with less than this share of a pair has nothing but rounding.
const ROUNDING: f64 = 1e-15;

/// All moments of four nodes: one register of sixteen for four moments each, three for twelve.
type Registers<S> = [f32x16<S>; SPREADS / 4];

/// The sums of eq. (4) for some vertices, from the fields of their pairs. `fields` has the pairs of
/// each joint as the lower one.
///
/// A vertex to which little is similar, beside much that is not, would drown in the errors of the
/// latter: it is summed directly.
pub(super) fn vertex_sums<const C: usize>(
    surface: &WeightedSurface<'_>,
    grid: &WeightGrid,
    fields: &[impl Borrow<JointFields<C>> + Sync],
    vertices: &[u32],
) -> Vec<[f64; C]> {
    let chunks = exec::map_chunks(vertices.len(), |chunk| {
        let vertices = &vertices[chunk];
        dispatch!(grid.level(), simd => read_each(simd, grid, fields, surface, vertices))
    });
    let thin = chunks
        .iter()
        .flat_map(|chunk| &chunk.thin)
        .copied()
        .collect::<Vec<u32>>();
    let mut sums = chunks
        .into_iter()
        .flat_map(|chunk| chunk.sums)
        .collect::<Vec<_>>();
    if !thin.is_empty() {
        let direct = exact::vertex_sums(surface, &thin);
        let mut direct = thin.iter().zip(direct).peekable();
        for (vertex, sum) in vertices.iter().zip(&mut sums) {
            if let Some((_, direct)) = direct.next_if(|(thin, _)| *thin == vertex) {
                *sum = direct;
            }
        }
    }
    sums
}

/// Sums as they were read.
struct Read<const C: usize> {
    sums: Vec<[f64; C]>,
    /// The vertices to which too little is similar.
    thin: Vec<u32>,
}

/// The least share of the surface similar to a vertex, relative to all surface with its joints.
const THIN: f64 = 1e-2;

#[inline(always)]
fn read_each<S: Simd, const C: usize>(
    simd: S,
    grid: &WeightGrid,
    fields: &[impl Borrow<JointFields<C>>],
    surface: &WeightedSurface<'_>,
    vertices: &[u32],
) -> Read<C> {
    let (weights, units) = (&surface.weights, &surface.units);
    let mut row: Vec<(u16, f64)> = Vec::new();
    // Vertices near each other mostly have the same joints, and so the same fields.
    let mut known: Vec<u16> = Vec::new();
    let mut pairs: Vec<Option<&PairField<C>>> = Vec::new();
    let mut all = Read {
        sums: Vec::with_capacity(vertices.len()),
        thin: Vec::new(),
    };
    for &vertex in vertices {
        let (joints, values) = weights.row(vertex as usize);
        row.clear();
        for (&joint, &value) in joints.iter().zip(values) {
            row.push((joint, f64::from(value)));
        }
        row.sort_unstable_by_key(|&(joint, _)| joint);
        if !known.iter().eq(row.iter().map(|(joint, _)| joint)) {
            known.clear();
            known.extend(row.iter().map(|(joint, _)| joint));
            find_pairs(fields, &known, &mut pairs);
        }
        let mut sums = [f32x16::splat(simd, 0.0); SPREADS / 4];
        let mut most = 0.0;
        let mut pairs = pairs.iter();
        for (index, &(_, low)) in row.iter().enumerate() {
            let column = grid.between(low);
            let [a, b, c, d] = column.shares;
            let columns = [[a as f32; C], [b as f32; C], [c as f32; C], [d as f32; C]];
            let columns = columns.as_flattened().chunks_exact(16);
            for (&(_, high), field) in row[index + 1..].iter().zip(&mut pairs) {
                let Some(field) = field else {
                    continue;
                };
                let between = grid.between(low + high);
                let nodes = grid.nodes(between.cell, column.cell);
                let mixed = field.mixed_rows(simd, nodes, between.shares);
                let factor = low * high * field.measure;
                most += factor;
                let factor = f32x16::splat(simd, factor as f32);
                for ((sum, mixed), columns) in sums.iter_mut().zip(mixed).zip(columns.clone()) {
                    let share = f32x16::from_slice(simd, columns) * factor;
                    *sum = mixed.mul_add(share, *sum);
                }
            }
        }
        let mut nodes = [[0.0; C]; 4];
        for (nodes, sum) in nodes.as_flattened_mut().chunks_exact_mut(16).zip(sums) {
            sum.store_slice(nodes);
        }
        let [a, b, c, d] = nodes;
        let mut sums = a;
        for (moment, sum) in sums.iter_mut().enumerate() {
            *sum = (*sum + b[moment]) + (c[moment] + d[moment]);
        }
        let sums = units.grow(&sums);
        if sums[0] < THIN * most {
            all.thin.push(vertex);
        }
        all.sums.push(sums);
    }
    all
}

/// The fields of all pairs of some joints, which rise: those with the first, then those with the
/// second, …
fn find_pairs<'f, const C: usize>(
    fields: &'f [impl Borrow<JointFields<C>>],
    joints: &[u16],
    pairs: &mut Vec<Option<&'f PairField<C>>>,
) {
    pairs.clear();
    for (index, &lower) in joints.iter().enumerate() {
        let own = fields[usize::from(lower)].borrow();
        pairs.extend(joints[index + 1..].iter().map(|higher| {
            let found = own.partners.binary_search(higher);
            found.ok().map(|found| &own.fields[found])
        }));
    }
}
