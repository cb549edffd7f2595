//! How edges change their lengths.

use super::surface::MeasuredSurface;
use glam::DVec3;

/// Relative change of the lengths of edges, each edge of the welded surface counted once; 0.1 is
/// ten per cent longer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EdgeChange {
    /// Root of the mean square.
    pub rms: f64,
    /// Mean with sign: below zero the surface has shrunk on the whole.
    pub mean: f64,
    /// Of the edge that has grown most (below zero where all have shrunk).
    pub largest: f64,
    /// Of the edge that has shrunk most; −1 is an edge of no length (above zero where all have
    /// grown).
    pub least: f64,
}

pub(super) fn edge_change(surface: &MeasuredSurface, points: &[DVec3]) -> EdgeChange {
    let change = |&[a, b]: &[usize; 2]| {
        let rest = (surface.rest[b] - surface.rest[a]).length();
        // Two points in one place that are bound differently have no length to compare with.
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
