//! The reference: eq. (4) summed over every triangle, in double precision.
//!
//! Only triangles that carry both joints of a pair count for that pair in eq. (1), so the sum is
//! taken pair by pair, which leaves nothing out. It still takes as many steps as a pair has
//! vertices of different weights times triangles: for tests, for tables, for very small surfaces,
//! for parameters too fine for the grid, and for the few vertices that would drown in its errors.

use super::joint_support::weight_distances;
use super::pieces::{Cutter, TriangleCorners};
use super::surface::WeightedSurface;
use super::{CenterError, CenterOptions, PLACES, check, mean_of};
use crate::exec;
use crate::mesh::Mesh;
use crate::weights::Weights;
use glam::DVec3;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// The centers of a surface by direct summation, `None` where a vertex has none.
///
/// # Errors
///
/// If mesh and weights differ in their number of vertices, or an option is out of its range.
pub fn exact(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Result<Vec<Option<DVec3>>, CenterError> {
    check(mesh, weights, options)?;
    let surface = WeightedSurface::new(Cow::Borrowed(mesh), Cow::Borrowed(weights), options);
    let sums = vertex_sums::<PLACES>(&surface, &surface.vertices());
    Ok(sums.iter().map(mean_of).collect())
}

/// A piece of the surface, in the eyes of a pair of joints.
struct Source<const C: usize> {
    /// Its weight for the lower joint.
    low: f64,
    /// Its weight for the higher joint.
    high: f64,
    /// Its contribution to the sums for a vertex of perfect similarity, including both weights and
    /// the area.
    moments: [f64; C],
}

/// The sums of eq. (4) for some vertices.
pub(super) fn vertex_sums<const C: usize>(
    surface: &WeightedSurface<'_>,
    vertices: &[u32],
) -> Vec<[f64; C]> {
    let (distinct, index_of) = distinct_rows(surface, vertices);
    // Which of them each joint moves.
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); surface.joint_count];
    for (index, &vertex) in distinct.iter().enumerate() {
        for &joint in surface.weights.row(vertex as usize).0 {
            held[usize::from(joint)].push(index);
        }
    }
    let mut sums = vec![[0.0; C]; distinct.len()];
    for (joint, held) in held.iter().enumerate().filter(|(_, held)| !held.is_empty()) {
        each_block(surface, joint, |sources: &Sources<C>| {
            let chunks = exec::map_chunks(held.len(), |chunk| {
                let vertices = held[chunk].iter().map(|&index| distinct[index]);
                let sums = vertices.map(|vertex| sum_over(sources, surface, joint, vertex));
                sums.collect::<Vec<_>>()
            });
            for (&index, added) in held.iter().zip(chunks.iter().flatten()) {
                for (sum, added) in sums[index].iter_mut().zip(added) {
                    *sum += added;
                }
            }
        });
    }
    index_of.into_iter().map(|index| sums[index]).collect()
}

/// One vertex for each row of weights that some vertices have, and which of them stands for each
/// vertex.
fn distinct_rows(surface: &WeightedSurface<'_>, vertices: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let mut known: HashMap<(&[u16], Vec<u32>), usize> = HashMap::new();
    let mut distinct = Vec::new();
    let index_of = vertices.iter().map(|&vertex| {
        let (joints, values) = surface.weights.row(vertex as usize);
        let values = values.iter().map(|value| value.to_bits()).collect();
        *known.entry((joints, values)).or_insert_with(|| {
            distinct.push(vertex);
            distinct.len() - 1
        })
    });
    let index_of = index_of.collect();
    (distinct, index_of)
}

/// The sources of each pair, by its higher joint.
type Sources<const C: usize> = BTreeMap<u16, Vec<Source<C>>>;

/// Sources are handed on once there are this many: a large surface in small pieces has more than
/// memory holds.
const BLOCK: usize = 1 << 18;

/// Goes through the sources of every pair in which the joint is the lower one, a block at a time.
fn each_block<const C: usize>(
    surface: &WeightedSurface<'_>,
    joint: usize,
    mut sum: impl FnMut(&Sources<C>),
) {
    let mut cutter = Cutter::new(surface.options.epsilon);
    let mut sources = Sources::new();
    let mut count = 0;
    for &triangle in &surface.support.triangles[joint] {
        let place = TriangleCorners::of(&surface.mesh, triangle as usize);
        let row = surface.rows.of_triangle(triangle as usize);
        let (mut own, mut partners) = (DVec3::ZERO, Vec::new());
        for held in row {
            match usize::from(held.joint).cmp(&joint) {
                Ordering::Less => {}
                Ordering::Equal => own = held.weights(),
                Ordering::Greater => partners.push((held.joint, held.weights())),
            }
        }
        cutter.start(weight_distances(row));
        while let Some(piece) = cutter.next_piece() {
            let middle = piece.middle();
            let low = own.dot(middle);
            for &(partner, theirs) in &partners {
                let high = theirs.dot(middle);
                let factor = low * high * place.area * piece.share;
                sources.entry(partner).or_default().push(Source {
                    low,
                    high,
                    moments: place.moments(&piece).map(|moment: f64| moment * factor),
                });
            }
            count += partners.len();
            if count >= BLOCK {
                sum(&sources);
                sources.clear();
                count = 0;
            }
        }
    }
    sum(&sources);
}

/// The contribution of the pairs with `joint` as the lower one to a vertex's sums: half of eq. (1),
/// which counts every pair twice.
fn sum_over<const C: usize>(
    sources: &Sources<C>,
    surface: &WeightedSurface<'_>,
    joint: usize,
    vertex: u32,
) -> [f64; C] {
    let mut sum = [0.0; C];
    let row = || surface.weights.of(vertex as usize);
    let own = row().find(|influence| influence.joint == joint);
    let low = own.map_or(0.0, |influence| f64::from(influence.weight));
    for influence in row().filter(|influence| influence.joint > joint) {
        let high = f64::from(influence.weight);
        for source in sources.get(&(influence.joint as u16)).into_iter().flatten() {
            let distance = (low * source.high - high * source.low) / surface.options.sigma;
            let similarity = low * high * (-distance * distance).exp();
            for (sum, moment) in sum.iter_mut().zip(&source.moments) {
                *sum += similarity * moment;
            }
        }
    }
    sum
}
