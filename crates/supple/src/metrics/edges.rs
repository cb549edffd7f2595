//! Changes of edge lengths.

use super::surface::MeasuredSurface;
use glam::DVec3;

/// Relative change of edge lengths, each edge of the welded surface counted once; 0.1 is ten per
/// cent longer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EdgeChange {
    /// Root of the mean square.
    pub rms: f64,
    /// Signed mean: below zero, edges have become shorter on average.
    pub mean: f64,
    /// The largest change (below zero if all edges are shorter).
    pub largest: f64,
    /// The least change; −1 is an edge of no length (above zero if all edges are longer).
    pub least: f64,
}

pub(super) fn edge_change(surface: &MeasuredSurface, points: &[DVec3]) -> EdgeChange {
    let change = |&[a, b]: &[usize; 2]| {
        let rest = (surface.rest[b] - surface.rest[a]).length();
        // An edge between two points at one position has no length to compare with.
        (rest > 0.0).then(|| (points[b] - points[a]).length() / rest - 1.0)
    };
    let changes: Vec<f64> = surface.edges.iter().filter_map(change).collect();
    if changes.is_empty() {
        return EdgeChange::default();
    }
    let count = changes.len() as f64;
    EdgeChange {
        rms: (changes.iter().map(|change| change * change).sum::<f64>() / count).sqrt(),
        mean: changes.iter().sum::<f64>() / count,
        largest: changes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        least: changes.iter().copied().fold(f64::INFINITY, f64::min),
    }
}
