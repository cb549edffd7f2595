//! How evenly weights pass from joint to joint.

use super::field::Fields;
use super::point_graph::PointGraph;

/// How smooth weights are.
///
/// A joint's weight bends by `b_j = ∫ |Δw_j| dA` over the surface, with `Δ` the Laplacian of the
/// surface, by cotangents. That is a plain number: where a limb of girth `g` goes over from one
/// joint to the next within a length `l`, each of the two bends by about `3 g/l`; where it jumps
/// from point to point at a distance `h`, by `2 g/h`. At open edges the weight counts as going on
/// unchanged beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Smoothness {
    /// The mean of `b_j` over the joints, each by the area `∫ w_j dA` that it holds. 0 where
    /// weights are the same everywhere; 5 to 20 is smooth.
    pub roughness: f64,
    /// What that would be if every point followed its heaviest joint alone: about as rough as
    /// weights get on this mesh. Unlike the roughness of smooth weights, it grows as the mesh
    /// gets finer.
    pub rigid_roughness: f64,
    /// The place where a weight is least like those around it, if any differs.
    pub worst: Option<Kink>,
}

/// A weight that is unlike those around it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Kink {
    /// Which vertex.
    pub vertex: usize,
    /// Whose weight.
    pub joint: usize,
    /// The weight less the mean of those of its neighbours, by the cotangent weights of the edges
    /// between.
    pub size: f64,
}

impl Smoothness {
    /// In a word, for people. On a coarse mesh any weights are rough, so the comparison with rigid
    /// ones decides.
    pub fn word(&self) -> &'static str {
        let share = self.roughness / self.rigid_roughness.max(f64::MIN_POSITIVE);
        match share {
            0.0..0.4 => "smooth",
            0.4..0.6 => "somewhat smooth",
            0.6..0.98 => "hardly smoother than rigid",
            _ => "rigid",
        }
    }

    /// Compares weights with the `rigid` ones that are made of them.
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

/// How one joint's weight bends.
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

/// The Laplacian at a point, times the area around it, is `Σ c (w' − w)` over the neighbours with
/// their cotangent weights `c`. It differs from zero only where the joint holds something, and
/// right beside.
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
