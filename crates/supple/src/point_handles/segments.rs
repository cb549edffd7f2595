//! Segments: parts of a body with about equal thickness (`arap-point-handles.txt`, §3.3, "a
//! hard-clustering is performed on the raw SDF values").
//!
//! Thickness is clustered by its logarithm, so that a finger differs from a hand as a leg from a
//! trunk. A facet is weighted by its area divided by its diameter: a limb then counts by its
//! length, not by its skin, so that fingers matter, and the mesh resolution does not. The optimal
//! clusters of numbers on a line are found exactly (dynamic programming over a histogram), so that
//! the result does not depend on an initial guess.

use super::facets::Facets;
use crate::disjoint_sets::DisjointSets;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Segments of a surface, each connected and of about equal thickness.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Segments {
    /// The segment of every triangle of the mesh. None for triangles without area.
    pub of_triangles: Vec<Option<usize>>,
    /// The number of segments.
    pub count: usize,
    /// The thickness of each cluster, from thin to thick, in the model's unit.
    pub thicknesses: Vec<f64>,
    /// The cluster of every segment.
    pub clusters: Vec<usize>,
}

/// Segments by facet.
pub(super) struct FacetSegments {
    pub(super) of_facets: Vec<u32>,
    pub(super) count: usize,
    /// The cluster of every segment.
    pub(super) clusters: Vec<usize>,
    /// The mean logarithm of every cluster.
    pub(super) means: Vec<f64>,
}

/// The largest number of clusters that is chosen automatically.
const MOST_CLUSTERS: usize = 6;

/// The spread of thickness within clusters at which their number suffices: the root mean square of
/// logarithms.
const EVEN_THICKNESS: f64 = 0.16;

/// The smallest length of a segment, relative to its thickness; shorter segments are merged with a
/// neighbour.
const LEAST_LENGTH: f64 = 0.6;

/// The same relative to the model's extent: toes, lips and eyelids are not limbs, fingers are.
const LEAST_SPAN: f64 = 0.02;

/// The number of bins of the histogram.
const BINS: usize = 256;

impl FacetSegments {
    /// `logarithms` are those of diameters; `clusters` is their number, if it is known.
    pub(super) fn of(
        facets: &Facets,
        logarithms: &[f64],
        clusters: Option<usize>,
    ) -> FacetSegments {
        let sizes: Vec<f64> = (0..facets.len())
            .map(|facet| facets.areas[facet] / (2.0 * logarithms[facet]).exp())
            .collect();
        let lengths: Vec<f64> = (0..facets.len())
            .map(|facet| facets.areas[facet] / logarithms[facet].exp())
            .collect();
        let means = cluster(logarithms, &lengths, clusters);
        let nearest = |logarithm: &f64| {
            let away = |mean: &f64| (mean - logarithm).abs();
            let nearest =
                (0..means.len()).min_by(|&a, &b| away(&means[a]).total_cmp(&away(&means[b])));
            nearest.unwrap_or(0)
        };
        let mut labels: Vec<usize> = logarithms.iter().map(nearest).collect();
        let of_facets = merge_small(facets, &mut labels, &sizes, &lengths);
        let count = of_facets.iter().map(|&segment| segment as usize + 1).max();
        let count = count.unwrap_or(0);
        let mut clusters = vec![0; count];
        for (facet, &segment) in of_facets.iter().enumerate() {
            clusters[segment as usize] = labels[facet];
        }
        FacetSegments {
            of_facets,
            count,
            clusters,
            means,
        }
    }
}

/// The means of the optimal clusters, rising.
fn cluster(values: &[f64], sizes: &[f64], wanted: Option<usize>) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high <= low || !(high - low).is_finite() {
        return vec![if low.is_finite() { low } else { 0.0 }];
    }
    // Prefix sums of sizes, values and squares over the histogram, relative to its lower end.
    let mut sums = [[0.0; 3]; BINS + 1];
    for (value, size) in values.iter().zip(sizes) {
        let bin = ((value - low) / (high - low) * BINS as f64) as usize;
        let sum = &mut sums[bin.min(BINS - 1) + 1];
        let value = value - low;
        for (sum, power) in sum.iter_mut().zip([1.0, value, value * value]) {
            *sum += size * power;
        }
    }
    for bin in 0..BINS {
        let before = sums[bin];
        for (sum, before) in sums[bin + 1].iter_mut().zip(before) {
            *sum += before;
        }
    }
    let between =
        |from: usize, to: usize| [0, 1, 2].map(|power| sums[to][power] - sums[from][power]);
    let spread = |from: usize, to: usize| {
        let [size, sum, squares] = between(from, to);
        if size > 0.0 {
            (squares - sum * sum / size).max(0.0)
        } else {
            0.0
        }
    };
    let whole = sums[BINS][0];
    let most = wanted.unwrap_or(MOST_CLUSTERS).clamp(1, BINS);
    // The least spread of the first bins for each number of clusters, and the start of the last
    // cluster.
    let mut least: Vec<f64> = (0..=BINS).map(|to| spread(0, to)).collect();
    let mut begins: Vec<Vec<usize>> = vec![vec![0; BINS + 1]];
    let enough = |least: &[f64]| wanted.is_none() && (least[BINS] / whole).sqrt() <= EVEN_THICKNESS;
    while begins.len() < most && !enough(&least) {
        let mut next = vec![0.0; BINS + 1];
        let mut begin = vec![0; BINS + 1];
        for to in 1..=BINS {
            let from = |from: usize| least[from] + spread(from, to);
            let best = (0..to)
                .min_by(|&a, &b| from(a).total_cmp(&from(b)))
                .unwrap_or(0);
            next[to] = from(best);
            begin[to] = best;
        }
        least = next;
        begins.push(begin);
    }
    let mut means = Vec::new();
    let mut to = BINS;
    for begin in begins.iter().rev() {
        let from = begin[to];
        let [size, sum, _] = between(from, to);
        if size > 0.0 {
            means.push(low + sum / size);
        }
        to = from;
    }
    means.reverse();
    means
}

/// Merges segments that are too short with the neighbour of the longest shared border, the shortest
/// first; returns the segments of all facets.
///
/// The area of a tube is π times its length and its diameter. `sizes`, areas divided by squared
/// diameters, and `lengths`, areas divided by diameters, are compared with that.
fn merge_small(facets: &Facets, labels: &mut [usize], sizes: &[f64], lengths: &[f64]) -> Vec<u32> {
    loop {
        let mut sets = DisjointSets::new(labels.len());
        for border in &facets.borders {
            let [a, b] = border.facets.map(|facet| facet as usize);
            if labels[a] == labels[b] {
                sets.join(a, b);
            }
        }
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        let mut of_facets = Vec::with_capacity(labels.len());
        let mut size_of: Vec<f64> = Vec::new();
        let mut length_of: Vec<f64> = Vec::new();
        for (facet, size) in sizes.iter().enumerate() {
            let next = numbers.len() as u32;
            let segment = *numbers.entry(sets.find(facet)).or_insert(next);
            if segment == next {
                size_of.push(0.0);
                length_of.push(0.0);
            }
            size_of[segment as usize] += size;
            length_of[segment as usize] += lengths[facet];
            of_facets.push(segment);
        }
        let is_small = |segment: u32| {
            size_of[segment as usize] < PI * LEAST_LENGTH
                || length_of[segment as usize] < PI * LEAST_SPAN
        };
        let mut shared: HashMap<(u32, u32), f64> = HashMap::new();
        for border in &facets.borders {
            let [a, b] = border.facets.map(|facet| of_facets[facet as usize]);
            for (from, to) in [(a, b), (b, a)] {
                if from != to && is_small(from) {
                    *shared.entry((from, to)).or_insert(0.0) += border.length;
                }
            }
        }
        // For every small segment the neighbour of the longest border; the first of ties.
        let mut longest: HashMap<u32, (f64, u32)> = HashMap::new();
        for (&(from, to), &length) in &shared {
            let best = longest.entry(from).or_insert((length, to));
            if length > best.0 || (length == best.0 && to < best.1) {
                *best = (length, to);
            }
        }
        if longest.is_empty() {
            return of_facets;
        }
        let mut order: Vec<u32> = longest.keys().copied().collect();
        let size = |segment: &u32| size_of[*segment as usize];
        order.sort_by(|a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
        // A segment that receives another one is not merged in the same round: it may now be large
        // enough.
        let mut takes = vec![false; size_of.len()];
        let mut into: Vec<u32> = (0..size_of.len() as u32).collect();
        for segment in order {
            let (_, target) = longest[&segment];
            let target_stays = into[target as usize] == target;
            if !takes[segment as usize] && target_stays {
                into[segment as usize] = target;
                takes[target as usize] = true;
            }
        }
        let mut label_of = vec![0; size_of.len()];
        for (facet, &segment) in of_facets.iter().enumerate() {
            label_of[segment as usize] = labels[facet];
        }
        for (facet, &segment) in of_facets.iter().enumerate() {
            labels[facet] = label_of[into[segment as usize] as usize];
        }
    }
}
