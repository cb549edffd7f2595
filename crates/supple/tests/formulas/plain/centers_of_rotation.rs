//! Skinning with optimized centers of rotation (§3 of the paper, Algorithm 1), and with rotations
//! by least squares (its §5).
//!
//! The surface is cut as §3.2 says into triangles that are all kept, each with a weight for every
//! joint, and a center is the sum over all of them.

use super::algebra::{nearest_rotation, weighted_sum};
use super::dual_quaternion::{DualQuat, signed_per_joint, sum_of_shorter};
use super::{Frame, Influences, Posed};
use glam::{DAffine3, DMat3, DVec3};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use supple::{Mesh, Weights};

/// σ and ε of the paper.
pub const SIGMA: f64 = 0.1;
pub const EPSILON: f64 = 0.1;

/// A corner of a triangle, with its weight for every joint.
#[derive(Clone, Debug)]
struct Corner {
    place: DVec3,
    weights: Vec<f64>,
}

impl Corner {
    fn distance(&self, other: &Corner) -> f64 {
        let pairs = self.weights.iter().zip(&other.weights);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    fn middle(&self, other: &Corner) -> Corner {
        let pairs = self.weights.iter().zip(&other.weights);
        Corner {
            place: (self.place + other.place) / 2.0,
            weights: pairs.map(|(a, b)| (a + b) / 2.0).collect(),
        }
    }
}

/// A triangle over which weights hardly vary.
#[derive(Clone, Debug)]
pub struct Piece {
    pub corners: [DVec3; 3],
    /// The mean of the corners' weights.
    pub weights: Vec<f64>,
    pub area: f64,
}

impl Piece {
    fn of(corners: &[Corner; 3]) -> Piece {
        let [a, b, c] = corners;
        let joints = 0..a.weights.len();
        Piece {
            corners: [a.place, b.place, c.place],
            weights: joints
                .map(|joint| (a.weights[joint] + b.weights[joint] + c.weights[joint]) / 3.0)
                .collect(),
            area: (b.place - a.place).cross(c.place - a.place).length() / 2.0,
        }
    }

    fn centroid(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        (a + b + c) / 3.0
    }

    /// The mean of `(v − p)(v − p)ᵀ`: for squares, that over the middles of the edges is exact.
    fn mean_square(&self, p: DVec3) -> DMat3 {
        let [a, b, c] = self.corners;
        let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0];
        let squares = middles.map(|middle| square(middle - p));
        (squares[0] + squares[1] + squares[2]) * (1.0 / 3.0)
    }
}

/// `v vᵀ`.
fn square(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Bisects the edge whose weights differ most, while they differ by ε or more.
fn cut(corners: [Corner; 3], epsilon: f64, pieces: &mut Vec<Piece>) {
    let [a, b, c] = &corners;
    let opposite = [b.distance(c), c.distance(a), a.distance(b)];
    let mut apex = 0;
    for corner in [1, 2] {
        if opposite[corner] > opposite[apex] {
            apex = corner;
        }
    }
    if opposite[apex] < epsilon {
        return pieces.push(Piece::of(&corners));
    }
    let (left, right) = ((apex + 1) % 3, (apex + 2) % 3);
    let middle = corners[left].middle(&corners[right]);
    for replaced in [left, right] {
        let mut half = corners.clone();
        half[replaced] = middle.clone();
        cut(half, epsilon, pieces);
    }
}

pub fn pieces_of(mesh: &Mesh, weights: &Weights, epsilon: f64) -> Vec<Piece> {
    let joints = weights.max_joint().map_or(0, |joint| joint + 1);
    let corner = |vertex: u32| {
        let mut row = vec![0.0; joints];
        for influence in weights.of(vertex as usize) {
            row[influence.joint] = f64::from(influence.weight);
        }
        Corner {
            place: mesh.positions()[vertex as usize].as_dvec3(),
            weights: row,
        }
    };
    let mut pieces = Vec::new();
    for triangle in mesh.triangles() {
        cut(triangle.map(corner), epsilon, &mut pieces);
    }
    pieces
}

/// Eq. (1).
pub fn similarity(p: Influences<'_>, v: &[f64], sigma: f64) -> f64 {
    let mut sum = 0.0;
    for &(j, w_pj) in p {
        for &(k, w_pk) in p {
            let shared = w_pj * w_pk * v[j] * v[k];
            if j == k || shared == 0.0 {
                continue;
            }
            let apart = w_pj * v[k] - w_pk * v[j];
            sum += shared * (-apart * apart / (sigma * sigma)).exp();
        }
    }
    sum
}

/// The similar surface of a vertex.
#[derive(Clone, Copy, Debug)]
pub struct Similar {
    pub center: DVec3,
    /// `C = ∫ s (v − p*)(v − p*)ᵀ`.
    pub spread: DMat3,
}

/// The similar part of all pieces for some weights, if any: eq. (4).
pub fn similar_to(pieces: &[Piece], influences: Influences<'_>, sigma: f64) -> Option<Similar> {
    let measure = |piece: &Piece| similarity(influences, &piece.weights, sigma) * piece.area;
    let measures: Vec<f64> = pieces.iter().map(measure).collect();
    let all: f64 = measures.iter().sum();
    if all <= 0.0 {
        return None;
    }
    let (mut center, mut spread) = (DVec3::ZERO, DMat3::ZERO);
    for (piece, measure) in pieces.iter().zip(&measures) {
        center += piece.centroid() * *measure / all;
    }
    for (piece, measure) in pieces.iter().zip(&measures) {
        spread += piece.mean_square(center) * *measure;
    }
    Some(Similar { center, spread })
}

/// The rest surface of a rig, cut on demand.
#[derive(Debug)]
pub struct RestSurface {
    mesh: Mesh,
    weights: Weights,
    pieces: OnceCell<Vec<Piece>>,
    known: RefCell<Known>,
}

/// Earlier answers, by the bits of the weights.
type Known = HashMap<Vec<(usize, u64)>, Option<Similar>>;

impl RestSurface {
    pub fn new(mesh: &Mesh, weights: &Weights) -> RestSurface {
        RestSurface {
            mesh: mesh.clone(),
            weights: weights.clone(),
            pieces: OnceCell::new(),
            known: RefCell::default(),
        }
    }

    /// The surface similar to these weights, if any.
    pub fn similar(&self, influences: Influences<'_>) -> Option<Similar> {
        let key = influences.iter().map(|&(joint, w)| (joint, w.to_bits()));
        let key: Vec<_> = key.collect();
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let cut = || pieces_of(&self.mesh, &self.weights, EPSILON);
        let found = similar_to(self.pieces.get_or_init(cut), influences, SIGMA);
        self.known.borrow_mut().insert(key, found);
        found
    }
}

/// `t = R̃ p* + t̃ − R p*`, after the stretch.
fn about_center(
    posed: &Posed,
    influences: Influences<'_>,
    stretched_center: DVec3,
    rotation: DMat3,
) -> DAffine3 {
    let moved = linear_blend(posed, influences).transform_point3(stretched_center);
    let turned = DAffine3 {
        matrix3: rotation,
        translation: moved - rotation * stretched_center,
    };
    turned * posed.phase_one(influences)
}

/// `[R̃ t̃]`.
fn linear_blend(posed: &Posed, influences: Influences<'_>) -> DAffine3 {
    let terms = influences.iter();
    weighted_sum(terms.map(|&(joint, weight)| (weight, posed.motion(joint))))
}

/// The center after the first phase; the vertex itself where nothing is similar to it.
fn stretched_center(posed: &Posed, position: DVec3, influences: Influences<'_>) -> DVec3 {
    let similar = posed.surface.similar(influences);
    let center = similar.map_or(position, |similar| similar.center);
    posed.phase_one(influences).transform_point3(center)
}

/// Algorithm 1.
pub fn centers_of_rotation(posed: &Posed, position: DVec3, influences: Influences<'_>) -> Frame {
    let terms = influences.iter();
    let terms = terms.map(|&(joint, weight)| (weight, DualQuat::of(&posed.motion(joint))));
    let (sum, margin) = sum_of_shorter(terms);
    let center = stretched_center(posed, position, influences);
    Frame {
        map: about_center(posed, influences, center, sum.motion().matrix3),
        margin,
    }
}

/// The same with signs once per joint.
pub fn centers_of_rotation_per_joint(
    posed: &Posed,
    position: DVec3,
    influences: Influences<'_>,
) -> Frame {
    let (sum, margin) = signed_per_joint(posed, influences);
    let center = stretched_center(posed, position, influences);
    Frame {
        map: about_center(posed, influences, center, sum.motion().matrix3),
        margin,
    }
}

/// §5: `R` is the rotation nearest to `R̃ C`. About a vertex that stands alone all directions are
/// alike.
pub fn cor_procrustes(posed: &Posed, position: DVec3, influences: Influences<'_>) -> Frame {
    let similar = posed.surface.similar(influences);
    let spread = similar.map_or(DMat3::IDENTITY, |similar| similar.spread);
    let stretch = posed.phase_one(influences).matrix3;
    let spread = stretch * spread * stretch.transpose();
    let goal = linear_blend(posed, influences).matrix3 * spread;
    let (rotation, margin) = nearest_rotation(goal);
    let center = stretched_center(posed, position, influences);
    Frame {
        map: about_center(posed, influences, center, rotation),
        margin,
    }
}
