//! Smoothness of weights.

use super::field::Fields;
use super::point_graph::PointGraph;

/// Smoothness of weights.
///
/// The roughness of a joint's weight is `b_j = ∫ |Δw_j| dA` over the surface, with the cotangent
/// Laplacian `Δ`. It has no unit: where a limb of girth `g` changes from one joint to the next over
/// a length `l`, each of the two has a roughness of about `3 g/l`; where the weight jumps between
/// points at a distance `h`, `2 g/h`. At open edges the weight is extended as a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Smoothness {
    /// The mean of `b_j` over the joints, weighted by the area `∫ w_j dA` that each holds. 0 if
    /// weights are constant; 5 to 20 is smooth.
    pub roughness: f64,
    /// The roughness if every point followed its heaviest joint alone: about the largest roughness
    /// possible on this mesh. Unlike the roughness of smooth weights, it grows with the resolution
    /// of the mesh.
    pub rigid_roughness: f64,
    /// The largest difference of a weight from its surroundings, if any.
    pub worst: Option<Kink>,
}

/// A weight that differs from its surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Kink {
    /// The vertex.
    pub vertex: usize,
    /// The joint.
    pub joint: usize,
    /// The weight minus the mean of its neighbours, weighted by the cotangents of the edges.
    pub size: f64,
}

impl Smoothness {
    /// A rating in one word. On a coarse mesh any weights are rough, so the comparison with rigid
    /// weights decides.
    pub fn word(&self) -> &'static str {
        let share = self.roughness / self.rigid_roughness.max(f64::MIN_POSITIVE);
        match share {
            0.0..0.4 => "smooth",
            0.4..0.6 => "somewhat smooth",
            0.6..0.98 => "hardly smoother than rigid",
            _ => "rigid",
        }
    }

    /// Compares weights with the `rigid` weights derived from them.
    pub(super) fn of(surface: &PointGraph, fields: &Fields, rigid: &Fields) -> Smoothness {
        let bends = bends(surface, fields);
        let kinks = bends.iter().filter_map(|bend| bend.worst);
        Smoothness {
            roughness: mean(&bends),
            rigid_roughness: mean(&self::bends(surface, rigid)),
            worst: kinks.reduce(|a, b| if b.size.abs() > a.size.abs() { b } else { a }),
        }
    }
}

/// The roughness of a joint's weight.
struct Bend {
    /// `∫ w dA`.
    held_area: f64,
    /// `∫ |Δw| dA`.
    bend: f64,
    worst: Option<Kink>,
}

fn mean(bends: &[Bend]) -> f64 {
    let area: f64 = bends.iter().map(|bend| bend.held_area).sum();
    let sum: f64 = bends.iter().map(|bend| bend.held_area * bend.bend).sum();
    if area > 0.0 { sum / area } else { 0.0 }
}

fn bends(surface: &PointGraph, fields: &Fields) -> Vec<Bend> {
    fields.map_joints(|joint, held, weights| bend(surface, joint, held, weights))
}

/// The Laplacian at a point, times its area, is `Σ c (w' − w)` over its neighbours with their
/// cotangent weights `c`. It is nonzero only where the joint has weight, and directly beside.
fn bend(surface: &PointGraph, joint: usize, held: &[(u32, f64)], weights: &mut [f64]) -> Bend {
    let mut found = Bend {
        held_area: 0.0,
        bend: 0.0,
        worst: None,
    };
    let mut around: Vec<u32> = Vec::with_capacity(8 * held.len());
    for &(point, weight) in held {
        weights[point as usize] = weight;
        found.held_area += weight * surface.area(point as usize);
        around.push(point);
        around.extend_from_slice(surface.neighbours(point as usize));
    }
    around.sort_unstable();
    around.dedup();
    for point in around.into_iter().map(|point| point as usize) {
        let (mut above, mut total) = (0.0, 0.0);
        let cotangents = surface.cotangents(point);
        for (&other, &cotangent) in surface.neighbours(point).iter().zip(cotangents) {
            above += cotangent * (weights[point] - weights[other as usize]);
            total += cotangent.abs();
        }
        found.bend += above.abs();
        let size = if total > 0.0 { above / total } else { 0.0 };
        if size.abs() > found.worst.map_or(0.0, |worst| worst.size.abs()) {
            found.worst = Some(Kink {
                vertex: surface.vertex_of(point),
                joint,
                size,
            });
        }
    }
    for &(point, _) in held {
        weights[point as usize] = 0.0;
    }
    found
}
