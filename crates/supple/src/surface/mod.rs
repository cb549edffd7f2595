//! Welded surfaces: vertices that a file split along seams, joined into points; the topology of
//! those points, Laplacians over them, and units.
//!
//! Everything here works on plain positions and triangles. Meshes and rigs are built on top of it.

mod areas;
mod edges;
mod laplacian;
mod normals;
mod rows;
mod topology;
mod units;
mod weld;

pub(crate) use areas::double_area_normal;
#[cfg(any(feature = "bind", feature = "metrics"))]
pub(crate) use areas::point_areas;
pub(crate) use edges::CotangentPolicy;
#[cfg(any(feature = "bind", feature = "metrics"))]
pub(crate) use edges::{Edge, cotangent_edges, pieces_of};
pub use laplacian::EdgeWeights;
pub(crate) use laplacian::{Edges, Laplacian};
pub(crate) use normals::{corner_normal, is_cancelled, smooth_normals};
pub(crate) use rows::Rows;
pub use topology::Topology;
pub use units::Bounds;
pub(crate) use units::{StoredUnits, Units, positive_or_one};
#[cfg(feature = "bind")]
pub(crate) use weld::weld_near;
pub(crate) use weld::{Weld, position_bits, weld_by, weld_positions};
