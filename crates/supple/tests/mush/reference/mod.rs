//! `direct-delta-mush.txt` once more, as its equations stand: dense matrices, homogeneous
//! coordinates about the origin, double precision.

mod dense;
mod laplacian;
mod smoothed;
mod variants;

pub use laplacian::Surface;
pub use smoothed::{Frames, delta_mush};
pub use variants::{Mush, Placed, ROUNDOFF, Turn, rounding};
