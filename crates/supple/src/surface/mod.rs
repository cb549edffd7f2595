//! Welded surfaces: vertices that a file split along seams, joined into points; the topology of
//! those points, and Laplacians over them.
//!
//! Everything here works on plain positions and triangles. Meshes and rigs are built on top of it.

mod areas;
mod edges;
mod laplacian;
mod normals;
mod rows;
mod topology;
mod weld;

#[cfg(any(feature = "bind", feature = "metrics"))]
pub(crate) use areas::{double_area_normal, point_areas};
#[cfg(any(feature = "bind", feature = "metrics"))]
pub(crate) use edges::{CotangentPolicy, Edge, cotangent_edges};
pub use laplacian::EdgeWeights;
pub(crate) use laplacian::{Edges, Laplacian};
pub(crate) use normals::{corner_normal, is_cancelled, smooth_normals};
pub(crate) use rows::Rows;
pub use topology::Topology;
#[cfg(feature = "bind")]
pub(crate) use weld::weld_near;
pub(crate) use weld::{Weld, position_bits, weld_by, weld_positions};
