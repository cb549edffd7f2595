//! Repairs, and ignored parts of a file, found while reading.

use supple::weights::WeightsReport;

/// Repairs, and ignored parts of a file, found while loading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Weights that were normalised, replaced or ignored.
    pub weights: WeightsReport,
    /// True if the file has no skin, so that every mesh follows its own node.
    pub unskinned: bool,
    /// The number of animation channels that are not played: they have no node, or drive neither a
    /// transform nor morph weights.
    pub ignored_channels: usize,
    /// The number of primitives of points or lines, which are ignored.
    pub not_triangles: usize,
    /// Extensions that the file requires and Supple does not know.
    pub unknown_required_extensions: Vec<String>,
}
