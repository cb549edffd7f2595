//! The reference: eq. (4) summed over every triangle, in double precision.
//!
//! Only triangles that carry both joints of a pair count for that pair in eq. (1), so the sum is taken pair by pair, which leaves nothing out. It still takes
//! as many steps as a pair has vertices times triangles: for tests, tables, and for parameters too fine for the grid.

use super::holdings::Holdings;
use super::pieces::{Piece, Place, each_piece, weight_distances};
use super::{CenterError, CenterOptions, PLACES, check, mean_of};
use crate::exec;
use crate::mesh::Mesh;
use crate::weights::Weights;
use glam::DVec3;
use std::collections::BTreeMap;

/// The centers of a surface by direct summation, `None` where a vertex has none.
pub fn exact(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Result<Vec<Option<DVec3>>, CenterError> {
    check(mesh, weights, options)?;
    let sums = vertex_sums::<PLACES>(mesh, weights, options);
    Ok(sums.iter().map(mean_of).collect())
}

/// A piece of the surface, in the eyes of a pair of joints.
struct Source<const C: usize> {
    /// Its weight for the lower joint.
    low: f64,
    /// Its weight for the higher joint.
    high: f64,
    /// What it adds to the sums, for a vertex as similar as can be: with both weights and the area.
    moments: [f64; C],
}

/// The sums of eq. (4) for every vertex.
pub(super) fn vertex_sums<const C: usize>(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Vec<[f64; C]> {
    let holdings = Holdings::of(weights, mesh.triangles());
    let mut sums = vec![[0.0; C]; mesh.vertex_count()];
    for joint in 0..holdings.joint_count() {
        let sources = sources_of::<C>(mesh, weights, options, &holdings, joint);
        let held = &holdings.vertices[joint];
        let chunks = exec::map_chunks(held.len(), |chunk| {
            let vertices = held[chunk].iter();
            let sums = vertices.map(|&vertex| sum_over(&sources, weights, options, joint, vertex));
            sums.collect::<Vec<_>>()
        });
        for (&vertex, added) in held.iter().zip(chunks.iter().flatten()) {
            for (sum, added) in sums[vertex as usize].iter_mut().zip(added) {
                *sum += added;
            }
        }
    }
    sums
}

/// Every pair's sources in which the joint is the lower one, by the higher one.
fn sources_of<const C: usize>(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
    holdings: &Holdings,
    joint: usize,
) -> BTreeMap<u16, Vec<Source<C>>> {
    let mut table = vec![0.0; holdings.joint_count()];
    let mut sources: BTreeMap<u16, Vec<Source<C>>> = BTreeMap::new();
    for &triangle in &holdings.triangles[joint] {
        let triangle = triangle as usize;
        let corners = mesh.triangles()[triangle];
        let place = Place::of(mesh, triangle);
        // The weights of the three corners, joint by joint.
        let mut of_joint: BTreeMap<u16, DVec3> = BTreeMap::new();
        for (corner, vertex) in corners.into_iter().enumerate() {
            for influence in weights.of(vertex as usize) {
                let row = of_joint.entry(influence.joint as u16).or_default();
                row[corner] = f64::from(influence.weight);
            }
        }
        let own = of_joint[&(joint as u16)];
        let distances = weight_distances(weights, corners, &mut table);
        each_piece(distances, options.epsilon.powi(2), &mut |piece: &Piece| {
            let middle = piece.middle();
            let low = own.dot(middle);
            for (&other, theirs) in of_joint.range(joint as u16 + 1..) {
                let high = theirs.dot(middle);
                let factor = low * high * place.area * piece.share;
                sources.entry(other).or_default().push(Source {
                    low,
                    high,
                    moments: place.moments(piece).map(|moment: f64| moment * factor),
                });
            }
        });
    }
    sources
}

/// What the pairs with `joint` as the lower one add to a vertex's sums: eq. (1), half of it, as every pair counts twice there.
fn sum_over<const C: usize>(
    sources: &BTreeMap<u16, Vec<Source<C>>>,
    weights: &Weights,
    options: &CenterOptions,
    joint: usize,
    vertex: u32,
) -> [f64; C] {
    let mut sum = [0.0; C];
    let row = || weights.of(vertex as usize);
    let own = row().find(|influence| influence.joint == joint);
    let low = own.map_or(0.0, |influence| f64::from(influence.weight));
    for influence in row().filter(|influence| influence.joint > joint) {
        let high = f64::from(influence.weight);
        for source in sources.get(&(influence.joint as u16)).into_iter().flatten() {
            let distance = (low * source.high - high * source.low) / options.sigma;
            let similarity = low * high * (-distance * distance).exp();
            for (sum, moment) in sum.iter_mut().zip(&source.moments) {
                *sum += similarity * moment;
            }
        }
    }
    sum
}
