//! What reading a file had to mend or pass over.

use supple::weights::WeightsReport;

/// What had to be mended or passed over while loading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Weights that were normalised, made up or ignored.
    pub weights: WeightsReport,
    /// True where the file has no skin, so that meshes follow their own nodes.
    pub unskinned: bool,
    /// Animation channels that Supple does not play (no node, or not a transform or morph
    /// weights).
    pub ignored_channels: usize,
    /// Primitives of points or lines.
    pub not_triangles: usize,
    /// Extensions that the file calls required and Supple does not know.
    pub unknown_required_extensions: Vec<String>,
}
