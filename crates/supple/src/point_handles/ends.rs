//! The ends of limbs: fingertips, the top of the head, toes.
//!
//! The distance from the middle of the body along the surface has a local maximum at the end of
//! every limb. A maximum counts by its persistence in the merge tree of the distances, the descent
//! needed to reach a higher one: a limb ends where this is longer than the limb is thick. So noses,
//! knuckles and the corners of a box do not count, on a mesh of any resolution.

use crate::bind::oriented_surface::{OrientedSurface, Piece};
use crate::disjoint_sets::DisjointSets;
use crate::surface::Rows;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The smallest length of a limb, relative to its thickness.
const STICKS_OUT: f64 = 1.4;

/// The smallest length of a limb, relative to the model's extent: fingers are longer, toes and ears
/// are not.
const LEAST_SPAN: f64 = 0.02;

/// The end of a limb.
pub(super) struct End {
    /// The points within half a thickness of the tip.
    pub(super) points: Vec<u32>,
    /// The thickness of the limb.
    pub(super) thickness: f64,
}

/// The neighbours of each point, and their distances.
pub(super) struct Rings {
    neighbours: Rows<(u32, f64)>,
}

impl Rings {
    pub(super) fn of(shape: &OrientedSurface) -> Rings {
        let edges = shape.edges.iter().map(|edge| {
            let [a, b] = edge.ends;
            let length = shape.points[a as usize].distance(shape.points[b as usize]);
            (a, b, length)
        });
        Rings {
            neighbours: Rows::of_neighbours(shape.points.len(), edges),
        }
    }

    fn around(&self, point: u32) -> &[(u32, f64)] {
        self.neighbours.row(point as usize)
    }

    /// Distances from a point along edges; infinite on other pieces.
    fn distances(&self, from: u32) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; self.neighbours.len()];
        distances[from as usize] = 0.0;
        // The bits of nonnegative floats have the same order as the numbers.
        let mut front = BinaryHeap::from([Reverse((0u64, from))]);
        while let Some(Reverse((bits, point))) = front.pop() {
            let here = f64::from_bits(bits);
            if here > distances[point as usize] {
                continue;
            }
            for &(other, length) in self.around(point) {
                let away = here + length;
                if away < distances[other as usize] {
                    distances[other as usize] = away;
                    front.push(Reverse((away.to_bits(), other)));
                }
            }
        }
        distances
    }
}

/// The ends of the limbs of a piece, the farthest first.
pub(super) fn ends(
    shape: &OrientedSurface,
    rings: &Rings,
    piece: &Piece,
    thickness: &[f64],
) -> Vec<End> {
    let Some(&first) = piece.points.first() else {
        return Vec::new();
    };
    let farthest = |distances: &[f64]| {
        let farther =
            |best: u32, &next: &u32| match distances[next as usize] > distances[best as usize] {
                true => next,
                false => best,
            };
        piece.points.iter().fold(first, farther)
    };
    // The middle of the longest path.
    let one = rings.distances(farthest(&rings.distances(first)));
    let other = rings.distances(farthest(&one));
    let lopsided = |point: &u32| one[*point as usize].max(other[*point as usize]);
    let middle = piece.points.iter().copied();
    let middle = middle.min_by(|a, b| lopsided(a).total_cmp(&lopsided(b)));
    let distances = rings.distances(middle.unwrap_or(first));

    let mut order: Vec<u32> = piece.points.clone();
    let away = |point: u32| distances[point as usize];
    order.sort_by(|&a, &b| away(b).total_cmp(&away(a)).then(a.cmp(&b)));
    let mut sets = DisjointSets::new(shape.points.len());
    let mut seen = vec![false; shape.points.len()];
    // By the first point of each set: its maximum, and the area and the thickness of its part of
    // the surface.
    let mut limbs: Vec<Option<Limb>> = vec![None; shape.points.len()];
    let mut tops: Vec<(u32, f64)> = Vec::new();
    for &point in &order {
        seen[point as usize] = true;
        let area = shape.areas[point as usize];
        let mut limb = Limb {
            top: point,
            area,
            thick: area * thickness[point as usize],
        };
        for &(neighbour, _) in rings.around(point) {
            if !seen[neighbour as usize] {
                continue;
            }
            let root = sets.find(neighbour as usize);
            let Some(joining) = limbs[root].take() else {
                continue;
            };
            // The lower maximum ends here.
            let joined_is_higher = away(joining.top) > away(limb.top);
            let (higher, lower) = match joined_is_higher {
                true => (joining, limb),
                false => (limb, joining),
            };
            let sticks_out = (STICKS_OUT * lower.thickness()).max(LEAST_SPAN);
            if away(lower.top) - away(point) > sticks_out {
                tops.push((lower.top, lower.thickness()));
            }
            limb = Limb {
                top: higher.top,
                area: higher.area + lower.area,
                thick: higher.thick + lower.thick,
            };
            sets.join(root, point as usize);
        }
        limbs[sets.find(point as usize)] = Some(limb);
    }
    // The highest maximum never meets a higher one: it is as thick as its surroundings.
    if let Some(&top) = order.first() {
        let around = thickness[top as usize];
        let near = order
            .iter()
            .take_while(|&&point| away(point) > away(top) - 2.0 * around);
        let (area, thick) = near.fold((0.0, 0.0), |(area, thick), &point| {
            let own = shape.areas[point as usize];
            (area + own, thick + own * thickness[point as usize])
        });
        let thick = if area > 0.0 { thick / area } else { around };
        tops.insert(0, (top, thick.min(around * 1.5)));
    }
    let end = |(top, thick): (u32, f64)| End {
        points: connected(rings, &distances, top, away(top) - 0.5 * thick),
        thickness: thick,
    };
    tops.into_iter().map(end).collect()
}

/// The part of the surface that belongs to a maximum.
#[derive(Clone, Copy)]
struct Limb {
    top: u32,
    area: f64,
    /// The thickness, by area.
    thick: f64,
}

impl Limb {
    fn thickness(&self) -> f64 {
        if self.area > 0.0 {
            self.thick / self.area
        } else {
            0.0
        }
    }
}

/// The points connected to a maximum at or above a distance.
fn connected(rings: &Rings, distances: &[f64], top: u32, least: f64) -> Vec<u32> {
    let mut found = vec![top];
    let mut known = std::collections::HashSet::from([top]);
    let mut next = 0;
    while next < found.len() {
        for &(other, _) in rings.around(found[next]) {
            if distances[other as usize] >= least && known.insert(other) {
                found.push(other);
            }
        }
        next += 1;
    }
    found
}
