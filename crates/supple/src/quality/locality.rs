//! Locality of weights: how close to its own bone a joint's weight stays.

use super::field::Fields;
use super::point_graph::PointGraph;
use crate::disjoint_sets::DisjointSets;
use crate::exec;
use crate::merging::merge_by_key;
use crate::skeleton::BindBone;

/// The smallest weight that counts for connected skin: diffusion leaves traces everywhere.
const LEAST_WEIGHT: f64 = 0.01;

/// The smallest share of the surface for a joint to be named.
const LEAST_SHARE: f64 = 1e-3;

/// The largest number of distances between points and bones; for larger characters, points are
/// subsampled evenly.
const MOST_DISTANCES: usize = 100_000_000;

/// Locality of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Locality {
    /// The weighted mean distance of bones from the skin that they hold, relative to the nearest
    /// bones: `∫ Σ_j w_j d_j dA / ∫ min_j d_j dA`, with `d_j` the distance to the bone of joint `j`
    /// and the minimum over all joints that hold skin. 1 if the nearest bone holds everything, or
    /// if the skin lies on the bones.
    pub reach: f64,
    /// The joint with the largest reach of its own, among those that hold at least a thousandth of
    /// the surface and reach beyond 1.
    pub farthest: Option<FarJoint>,
    /// The share of the total weight, by area, on islands of influence: on the same connected piece
    /// of the surface as the joint's main region, but separated from it by skin that the joint does
    /// not hold (with a weight of at least 0.01).
    pub stray: f64,
    /// The joint with the largest share.
    pub most_stray: Option<StrayJoint>,
    /// The mean number of influences over the area.
    pub influences: f64,
}

/// A joint that holds skin far from its bone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FarJoint {
    /// The joint.
    pub joint: usize,
    /// The vertex with the largest weight times distance.
    pub vertex: usize,
    /// `∫ w_j d_j dA / ∫ w_j min d dA`.
    pub reach: f64,
}

/// A joint with islands of influence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StrayJoint {
    /// The joint.
    pub joint: usize,
    /// The heaviest vertex of the largest island.
    pub vertex: usize,
    /// Its share of the total weight.
    pub share: f64,
}

impl Locality {
    pub(super) fn of(surface: &PointGraph, fields: &Fields, bones: &[BindBone]) -> Locality {
        let (reach, farthest) = reach(surface, fields, bones);
        let (stray, most_stray) = stray(surface, fields);
        let (mut sum, mut area) = (0.0, 0.0);
        for point in 0..surface.point_count() {
            sum += surface.area(point) * fields.row(point).len() as f64;
            area += surface.area(point);
        }
        Locality {
            reach,
            farthest,
            stray,
            most_stray,
            influences: if area > 0.0 { sum / area } else { 0.0 },
        }
    }
}

/// The reach of a single joint.
#[derive(Clone, Copy, Default)]
struct Reach {
    held_area: f64,
    /// `∫ w min d dA`.
    least: f64,
    /// `∫ w (d − min d) dA`.
    beyond: f64,
    /// The largest `w (d − min d)`, and its point.
    most: (f64, usize),
}

/// The reach, and the joint with the largest reach.
fn reach(surface: &PointGraph, fields: &Fields, bones: &[BindBone]) -> (f64, Option<FarJoint>) {
    let holding: Vec<BindBone> = bones
        .iter()
        .zip(&fields.of_joint)
        .filter(|(_, held)| !held.is_empty())
        .map(|(bone, _)| *bone)
        .collect();
    let distances = surface.point_count().saturating_mul(holding.len());
    let step = distances.div_ceil(MOST_DISTANCES).max(1);
    let nearest = exec::map_chunks(surface.point_count().div_ceil(step), |chunk| {
        let nearest = |index: usize| {
            let place = surface.place(index * step);
            let squares = holding.iter().map(|bone| bone.distance_squared(place));
            squares.fold(f64::INFINITY, f64::min).sqrt()
        };
        chunk.map(nearest).collect::<Vec<f64>>()
    });
    let mut of_joint = vec![Reach::default(); bones.len()];
    for (index, nearest) in nearest.into_iter().flatten().enumerate() {
        let point = index * step;
        let area = surface.area(point);
        for &(joint, weight) in fields.row(point) {
            let bone = &bones[usize::from(joint)];
            let own = bone.distance_squared(surface.place(point)).sqrt();
            let beyond = weight * (own - nearest).max(0.0);
            let reach = &mut of_joint[usize::from(joint)];
            reach.held_area += area * weight;
            reach.least += area * weight * nearest;
            reach.beyond += area * beyond;
            if beyond > reach.most.0 {
                reach.most = (beyond, point);
            }
        }
    }
    let total = |part: fn(&Reach) -> f64| of_joint.iter().map(part).fold(0.0, |a, b| a + b);
    let (area, least) = (total(|r| r.held_area), total(|r| r.least));
    if least <= 0.0 {
        return (1.0, None);
    }
    let far = of_joint.iter().enumerate().filter(|(_, reach)| {
        let counts = reach.held_area >= LEAST_SHARE * area;
        counts && reach.beyond > 0.0 && reach.least > 0.0
    });
    let far = far.map(|(joint, reach)| FarJoint {
        joint,
        vertex: surface.vertex_of(reach.most.1),
        reach: 1.0 + reach.beyond / reach.least,
    });
    let farthest = far.reduce(|a, b| if b.reach > a.reach { b } else { a });
    (1.0 + total(|r| r.beyond) / least, farthest)
}

/// The share of weight on islands of influence.
fn stray(surface: &PointGraph, fields: &Fields) -> (f64, Option<StrayJoint>) {
    let found = fields.map_joints(|joint, held, numbers| islands(surface, joint, held, numbers));
    let all: f64 = found.iter().map(|(all, _)| all).sum();
    if all <= 0.0 {
        return (0.0, None);
    }
    let islands = || found.iter().filter_map(|(_, stray)| *stray);
    let stray = islands()
        .map(|stray| stray.share)
        .fold(0.0, |sum, share| sum + share)
        / all;
    let most = islands().reduce(|a, b| if b.share > a.share { b } else { a });
    let most = most.map(|most| StrayJoint {
        share: most.share / all,
        ..most
    });
    (stray, most)
}

/// A connected set of points that a joint holds.
struct Island {
    piece: u32,
    /// The identity of the island.
    number: usize,
    /// `∫ w dA`.
    mass: f64,
    heaviest: (u32, f64),
}

/// The total weight of a joint, the part on islands other than the largest one of each piece, and
/// the heaviest vertex there.
fn islands(
    surface: &PointGraph,
    joint: usize,
    held: &[(u32, f64)],
    number_of_point: &mut [f64],
) -> (f64, Option<StrayJoint>) {
    let mass = |&(point, weight): &(u32, f64)| surface.area(point as usize) * weight;
    let all = held.iter().map(mass).sum();
    let firm: Vec<(u32, f64)> = held
        .iter()
        .copied()
        .filter(|(_, weight)| *weight >= LEAST_WEIGHT)
        .collect();
    let mut sets = DisjointSets::new(firm.len());
    // Counted from one: zero marks points that are not held.
    for (number, &(point, _)) in firm.iter().enumerate() {
        number_of_point[point as usize] = (number + 1) as f64;
    }
    for (number, &(point, _)) in firm.iter().enumerate() {
        for &other in surface.neighbours(point as usize) {
            let other = number_of_point[other as usize] as usize;
            if other > 0 {
                sets.join(number, other - 1);
            }
        }
    }
    for &(point, _) in &firm {
        number_of_point[point as usize] = 0.0;
    }
    let island = |(number, entry): (usize, &(u32, f64))| Island {
        piece: surface.piece(entry.0 as usize),
        number: sets.find(number),
        mass: mass(entry),
        heaviest: *entry,
    };
    let mut islands: Vec<Island> = firm.iter().enumerate().map(island).collect();
    merge_by_key(
        &mut islands,
        |island| (island.piece, island.number),
        |kept, next| {
            kept.mass += next.mass;
            if next.heaviest.1 > kept.heaviest.1 {
                kept.heaviest = next.heaviest;
            }
        },
    );
    let mut stray: Option<StrayJoint> = None;
    let mut heaviest = 0.0;
    for piece in islands.chunk_by_mut(|a, b| a.piece == b.piece) {
        piece.sort_by(|a, b| b.mass.total_cmp(&a.mass));
        for island in piece.iter().skip(1).filter(|island| island.mass > 0.0) {
            let vertex = surface.vertex_of(island.heaviest.0 as usize);
            let known = stray.get_or_insert(StrayJoint {
                joint,
                vertex,
                share: 0.0,
            });
            known.share += island.mass;
            if island.mass > heaviest {
                heaviest = island.mass;
                known.vertex = vertex;
            }
        }
    }
    (all, stray)
}
