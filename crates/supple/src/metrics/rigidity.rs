//! As-rigid-as-possible energy: how far each point's surroundings are from having merely been turned.
//!
//! Sorkine and Alexa 2007, eq. (3): `Σ_i Σ_{j∈N(i)} c_ij |p'_i − p'_j − R_i (p_i − p_j)|²` with the best rotation `R_i` per point.

use super::surface::{Surface, corners};
use glam::{DMat3, DQuat, DVec3};

/// The cotangent of 3°: corners sharper than that weigh no more, or a single sliver would outweigh the rest of the surface.
const STEEPEST: f64 = 19.08;

/// Edges with their cotangent weights, and the edges around every point.
#[derive(Clone, Debug)]
pub(super) struct Springs {
    /// Half the sum of the cotangents opposite each edge, never negative; in the order of the surface's edges.
    stiffness: Vec<f64>,
    /// Σ_i Σ_j c_ij |p_i − p_j|².
    scale: f64,
}

impl Springs {
    pub(super) fn new(surface: &Surface) -> Springs {
        let mut stiffness = vec![0.0; surface.edges.len()];
        for &triangle in &surface.triangles {
            let points = corners(&surface.rest, triangle);
            for opposite in 0..3 {
                let [from, to] = [(opposite + 1) % 3, (opposite + 2) % 3];
                let edge = [triangle[from], triangle[to]];
                let edge = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                if let Ok(edge) = surface.edges.binary_search(&edge) {
                    let legs = [points[from], points[to]].map(|end| end - points[opposite]);
                    stiffness[edge] += 0.5 * cotangent(legs[0], legs[1]);
                }
            }
        }
        for value in &mut stiffness {
            *value = f64::max(*value, 0.0);
        }
        let squares = surface.edges.iter().zip(&stiffness).map(|(&[a, b], c)| {
            // Each edge belongs to both of its ends.
            2.0 * c * surface.rest[a].distance_squared(surface.rest[b])
        });
        Springs {
            scale: squares.sum(),
            stiffness,
        }
    }

    /// The energy over Σ_i Σ_j c_ij |p_i − p_j|², so that it knows no units: scaling by 1 + s gives s².
    pub(super) fn energy(&self, surface: &Surface, points: &[DVec3]) -> f64 {
        let springs = || surface.edges.iter().zip(&self.stiffness);
        let edge = |[a, b]: [usize; 2]| (surface.rest[b] - surface.rest[a], points[b] - points[a]);
        // Σ_j c_ij e'_ij e_ijᵀ; an edge seen from its other end gives the same product.
        let mut spread = vec![DMat3::ZERO; points.len()];
        for (&[a, b], &c) in springs() {
            let (rest, posed) = edge([a, b]);
            let product = outer(posed, rest) * c;
            spread[a] += product;
            spread[b] += product;
        }
        let turns: Vec<DQuat> = spread.into_iter().map(nearest_rotation).collect();
        let energy: f64 = springs()
            .map(|(&[a, b], &c)| {
                let (rest, posed) = edge([a, b]);
                let strain = |point: usize| (posed - turns[point] * rest).length_squared();
                c * (strain(a) + strain(b))
            })
            .sum();
        if self.scale > 0.0 {
            energy / self.scale
        } else {
            0.0
        }
    }
}

/// The cotangent of the angle between two vectors, no steeper than [`STEEPEST`] either way.
fn cotangent(a: DVec3, b: DVec3) -> f64 {
    let (along, across) = (a.dot(b), a.cross(b).length());
    if along.abs() < STEEPEST * across {
        along / across
    } else {
        STEEPEST * along.signum() * f64::from(along != 0.0)
    }
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The rotation `R` that maximises `tr(RᵀM)`: the nearest one to `M`, never a reflection.
///
/// Horn 1987: in quaternions the trace is a quadratic form, whose 4×4 matrix has the rotation as eigenvector of the
/// largest eigenvalue. Jacobi's method finds it also where `M` is singular, as around a flat point, or mirrors.
fn nearest_rotation(m: DMat3) -> DQuat {
    let largest = m.to_cols_array().iter().fold(0.0f64, |l, x| l.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return DQuat::IDENTITY;
    }
    let m = m * largest.recip();
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    // Entry (row, column) of M is the row of that column's vector. Order of the quaternion: x, y, z, w.
    let mut form = [
        [x.x - y.y - z.z, y.x + x.y, z.x + x.z, y.z - z.y],
        [y.x + x.y, y.y - x.x - z.z, z.y + y.z, z.x - x.z],
        [z.x + x.z, z.y + y.z, z.z - x.x - y.y, x.y - y.x],
        [y.z - z.y, z.x - x.z, x.y - y.x, x.x + y.y + z.z],
    ];
    let mut vectors = [[0.0; 4]; 4];
    for (axis, vector) in vectors.iter_mut().enumerate() {
        vector[axis] = 1.0;
    }
    // Converges quadratically: five sweeps are usual.
    for _ in 0..12 {
        let mut rest = 0.0;
        for p in 0..3 {
            for q in p + 1..4 {
                rest += form[p][q].abs();
                jacobi_turn(&mut form, &mut vectors, p, q);
            }
        }
        if rest < 1e-15 {
            break;
        }
    }
    let best = (0..4).max_by(|&a, &b| form[a][a].total_cmp(&form[b][b]));
    DQuat::from_array(vectors[best.unwrap_or(3)]).normalize()
}

/// Turns rows and columns `p` and `q` so that the entry between them vanishes; `vectors` holds eigenvectors as rows.
fn jacobi_turn(form: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], p: usize, q: usize) {
    if form[p][q] == 0.0 {
        return;
    }
    let slope = (form[q][q] - form[p][p]) / (2.0 * form[p][q]);
    let tangent = 1.0f64.copysign(slope) / (slope.abs() + slope.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    let sine = tangent * cosine;
    for row in form.iter_mut() {
        (row[p], row[q]) = (
            cosine * row[p] - sine * row[q],
            sine * row[p] + cosine * row[q],
        );
    }
    for table in [form, vectors] {
        let (old_p, old_q) = (table[p], table[q]);
        let mix = |a: [f64; 4], of_a: f64, b: [f64; 4], of_b: f64| {
            std::array::from_fn(|column| of_a * a[column] + of_b * b[column])
        };
        table[p] = mix(old_p, cosine, old_q, -sine);
        table[q] = mix(old_p, sine, old_q, cosine);
    }
}
