//! Spurious maxima of weights.

use super::field::Fields;
use super::point_graph::PointGraph;
use crate::disjoint_sets::DisjointSets;
use std::collections::HashMap;

/// The smallest persistence of a maximum that counts: less is the rounding of painted weights.
const LEAST_PERSISTENCE: f64 = 0.02;

/// Monotonicity of weights: the number of spurious maxima.
///
/// On each connected piece of the surface, a joint's weight should have a single maximum, a point
/// or a plateau. Any other maximum is spurious if it *persists*: every path from it to a higher
/// place descends by at least 0.02. Skin that the joint does not hold has weight 0, so an island of
/// influence is a maximum as high as it is heavy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Monotonicity {
    /// The number of spurious maxima of all joints.
    pub spurious: usize,
    /// The number of joints with spurious maxima.
    pub joints: usize,
    /// The most persistent one.
    pub worst: Option<SpuriousMaximum>,
}

/// A spurious maximum of a joint's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SpuriousMaximum {
    /// The vertex at the maximum.
    pub vertex: usize,
    /// The joint.
    pub joint: usize,
    /// The descent on the path to a higher place.
    pub persistence: f64,
}

impl Monotonicity {
    pub(super) fn of(surface: &PointGraph, fields: &Fields) -> Monotonicity {
        let found = fields.map_joints(|joint, held, order| spurious(surface, joint, held, order));
        let all = || found.iter().flatten();
        Monotonicity {
            spurious: all().count(),
            joints: found.iter().filter(|maxima| !maxima.is_empty()).count(),
            worst: all()
                .copied()
                .reduce(|a, b| if b.persistence > a.persistence { b } else { a }),
        }
    }
}

/// The spurious maxima of a joint, by the merge tree of its weight: points are added in falling
/// order, and where two maxima meet, the lower one ends.
fn spurious(
    surface: &PointGraph,
    joint: usize,
    held: &[(u32, f64)],
    order_of_point: &mut [f64],
) -> Vec<SpuriousMaximum> {
    let mut falling = held.to_vec();
    falling.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // Sets are represented by their first member in this order, the maximum.
    let mut sets = DisjointSets::new(falling.len());
    let mut found = Vec::new();
    let mut end = |top: usize, level: f64| {
        let (point, height) = falling[top];
        if height - level >= LEAST_PERSISTENCE {
            found.push(SpuriousMaximum {
                vertex: surface.vertex_of(point as usize),
                joint,
                persistence: height - level,
            });
        }
    };
    for (order, &(point, weight)) in falling.iter().enumerate() {
        // Counted from one: zero marks points that are not held, or not yet added.
        order_of_point[point as usize] = (order + 1) as f64;
        for &other in surface.neighbours(point as usize) {
            let other = order_of_point[other as usize] as usize;
            if other == 0 {
                continue;
            }
            let (a, b) = (sets.find(order), sets.find(other - 1));
            if a != b {
                end(a.max(b), weight);
                sets.join(a, b);
            }
        }
    }
    for &(point, _) in held {
        order_of_point[point as usize] = 0.0;
    }
    // Remaining sets only meet where the joint holds nothing. The highest maximum of each piece,
    // which comes first, never ends.
    let mut top_of_piece: HashMap<u32, usize> = HashMap::new();
    for order in (0..falling.len()).filter(|&order| sets.find(order) == order) {
        let piece = surface.piece(falling[order].0 as usize);
        if *top_of_piece.entry(piece).or_insert(order) != order {
            end(order, 0.0);
        }
    }
    found
}
