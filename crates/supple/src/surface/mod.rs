//! Welded surfaces: vertices that a file split along seams, joined into points; the topology of
//! those points, and Laplacians over them.
//!
//! Everything here works on plain positions and triangles. Meshes and rigs are built on top of it.

mod laplacian;
mod normals;
mod topology;
mod weld;

pub use laplacian::EdgeWeights;
#[cfg(feature = "metrics")]
pub(crate) use laplacian::cotangent;
pub(crate) use laplacian::{Edges, Laplacian};
pub(crate) use normals::{corner_normal, is_cancelled, smooth_normals};
pub use topology::Topology;
#[cfg(feature = "bind")]
pub(crate) use weld::weld_near;
pub use weld::{Weld, weld_positions};
pub(crate) use weld::{position_bits, weld_by};
