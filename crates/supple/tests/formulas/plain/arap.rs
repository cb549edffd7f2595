//! As rigid as the points near joints let it be: eq. (1) and (2) of the paper on point handles,
//! with full matrices.
//!
//! Unlike other formulas it needs the whole surface at once, so it gives the frames of all
//! vertices.

use super::algebra::nearest_rotation;
use super::{Frame, Posed};
use glam::{DAffine3, DMat3, DVec3};
use supple::arap::{ArapOptions, HandleSmoothing};

/// An edge counts for at least and at most this many middling ones.
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e3;

/// A handle without weights above the threshold holds the points with at least this share of its
/// greatest.
const NEARLY_MOST: f64 = 0.97;

/// The surface at rest. No two vertices share a place.
pub struct Body {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[usize; 3]>,
    /// The influences of every vertex, heaviest first.
    pub influences: Vec<Vec<(usize, f64)>>,
}

/// A full, symmetric matrix of what neighbours count; zero between others.
fn omegas(body: &Body) -> Vec<Vec<f64>> {
    let count = body.positions.len();
    let mut sums = vec![vec![0.0; count]; count];
    let mut beside = vec![vec![false; count]; count];
    for &[a, b, c] in &body.triangles {
        for [i, j, opposite] in [[a, b, c], [b, c, a], [c, a, b]] {
            let corner = body.positions[opposite];
            let (p, q) = (body.positions[i] - corner, body.positions[j] - corner);
            let cotangent = p.dot(q) / p.cross(q).length();
            for (i, j) in [(i, j), (j, i)] {
                sums[i][j] += 0.5 * cotangent;
                beside[i][j] = true;
            }
        }
    }
    let mut counting: Vec<f64> = Vec::new();
    for i in 0..count {
        counting.extend(sums[i][..i].iter().filter(|sum| **sum > 0.0));
    }
    counting.sort_by(f64::total_cmp);
    let middling = counting[counting.len() / 2];
    for i in 0..count {
        let lost = sums[i].iter().all(|sum| *sum <= 0.0);
        assert!(!lost, "no edge of {i} counts");
        for j in 0..count {
            sums[i][j] = match beside[i][j] {
                true => (sums[i][j] / middling).clamp(LEAST, MOST),
                false => 0.0,
            };
        }
    }
    sums
}

/// The points near a handle, and the points that linear blending moves: those, and all points of
/// pieces without any.
fn held(body: &Body, omegas: &[Vec<f64>], options: &ArapOptions) -> (Vec<bool>, Vec<bool>) {
    let heaviest: Vec<(usize, f64)> = body.influences.iter().map(|row| row[0]).collect();
    let most = |handle: usize| {
        let weights = heaviest.iter().filter(|own| own.0 == handle);
        weights.map(|own| own.1).fold(0.0, f64::max)
    };
    let near = heaviest.iter().map(|&(handle, weight)| {
        let most = most(handle);
        let unheard = most <= options.threshold && options.every_handle;
        weight > options.threshold || (unheard && weight >= NEARLY_MOST * most)
    });
    let near: Vec<bool> = near.collect();
    // What is connected to something near spreads until nothing changes.
    let mut reached = near.clone();
    for _ in 0..near.len() {
        for i in 0..near.len() {
            let mut beside = (0..near.len()).filter(|&j| omegas[i][j] > 0.0);
            reached[i] = reached[i] || beside.any(|j| reached[j]);
        }
    }
    let held = near.iter().zip(&reached);
    let held = held.map(|(near, reached)| *near || !*reached).collect();
    (near, held)
}

/// Solves `matrix · x = right` by elimination, for places.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<DVec3>) -> Vec<DVec3> {
    let count = right.len();
    for step in 0..count {
        let larger =
            |&a: &usize, &b: &usize| matrix[a][step].abs().total_cmp(&matrix[b][step].abs());
        let pivot = (step..count).max_by(larger).unwrap();
        matrix.swap(step, pivot);
        right.swap(step, pivot);
        let pivot = matrix[step].clone();
        for row in step + 1..count {
            let factor = matrix[row][step] / pivot[step];
            for (value, of_pivot) in matrix[row].iter_mut().zip(&pivot) {
                *value -= factor * of_pivot;
            }
            let of_pivot = right[step] * factor;
            right[row] -= of_pivot;
        }
    }
    for row in (0..count).rev() {
        for column in row + 1..count {
            let known = right[column] * matrix[row][column];
            right[row] -= known;
        }
        right[row] *= 1.0 / matrix[row][row];
    }
    right
}

/// The best rotation of every point, and how well the worst of them is determined.
fn rotations(rest: &[DVec3], places: &[DVec3], omegas: &[Vec<f64>]) -> (Vec<DMat3>, f64) {
    let mut margin = 1.0f64;
    let fitted = (0..rest.len()).map(|i| {
        let mut covariance = DMat3::ZERO;
        for j in 0..rest.len() {
            let (from, to) = (rest[i] - rest[j], (places[i] - places[j]) * omegas[i][j]);
            covariance += DMat3::from_cols(to * from.x, to * from.y, to * from.z);
        }
        let (rotation, own) = nearest_rotation(covariance);
        margin = margin.min(own);
        rotation
    });
    let fitted = fitted.collect();
    (fitted, margin)
}

/// The frame of every vertex.
pub fn arap(posed: &Posed, body: &Body, options: &ArapOptions) -> Vec<Frame> {
    let count = body.positions.len();
    let omegas = omegas(body);
    let (near, held) = held(body, &omegas, options);
    let stretches: Vec<DAffine3> = body
        .influences
        .iter()
        .map(|row| posed.phase_one(row))
        .collect();
    let rest: Vec<DVec3> = (0..count)
        .map(|i| stretches[i].transform_point3(body.positions[i]))
        .collect();
    let blended = |i: usize| -> DVec3 {
        let row = body.influences[i].iter();
        row.map(|&(joint, weight)| posed.motion(joint).transform_point3(rest[i]) * weight)
            .sum()
    };
    let mut places: Vec<DVec3> = (0..count).map(blended).collect();
    let (mut turns, mut margin) = rotations(&rest, &places, &omegas);
    for _ in 0..options.iterations {
        let mut matrix = vec![vec![0.0; count]; count];
        let mut right = vec![DVec3::ZERO; count];
        for i in 0..count {
            if held[i] {
                matrix[i][i] = 1.0;
                right[i] = places[i];
                continue;
            }
            for j in 0..count {
                let omega = omegas[i][j];
                matrix[i][i] += omega;
                matrix[i][j] -= omega;
                right[i] += (turns[i] + turns[j]) * (rest[i] - rest[j]) * (0.5 * omega);
            }
        }
        places = solve(matrix, right);
        let (fitted, own) = rotations(&rest, &places, &omegas);
        turns = fitted;
        margin = margin.min(own);
    }
    let smoothed = |i: usize| {
        if !near[i] || options.smoothing == HandleSmoothing::None {
            return places[i];
        }
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for j in 0..count {
            let detail = match options.smoothing {
                HandleSmoothing::Detailed => (turns[i] + turns[j]) * (rest[i] - rest[j]) * 0.5,
                _ => DVec3::ZERO,
            };
            sum += (places[j] + detail) * omegas[i][j];
            total += omegas[i][j];
        }
        sum * (1.0 / total)
    };
    let frame = |i: usize| Frame {
        map: DAffine3 {
            matrix3: turns[i],
            translation: smoothed(i) - turns[i] * rest[i],
        } * stretches[i],
        margin,
    };
    (0..count).map(frame).collect()
}
