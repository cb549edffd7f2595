//! Eight vertices side by side: the vertex loop at the speed of memory.
//!
//! A blend of matrices is twelve multiply-adds per joint of a vertex. Vertices that stand side by
//! side in a file mostly follow the same joints, so eight of them go through the joints of all
//! eight, each number of a joint's matrix spread over the lanes of a register; a lane that does not
//! have a joint holds a weight of zero for it. Nothing is gathered number by number.
//!
//! - `packing.rs` says which vertices go side by side, and holds their weights as the loop reads
//!   them;
//! - `blend.rs` sums what a method blends, with the signs that quaternions want;
//! - `frames.rs` are eight affine frames, and what they do to points and normals;
//! - `surface.rs` is the rest surface in lanes.
//!
//! The loop itself is in `vertex_loop/blocks.rs`.
//!
//! The joints of eight vertices come in rising order, so a vertex adds its own in that order
//! whatever stands beside it: two vertices of a seam get the same bits.

mod blend;
mod frames;
mod packing;
mod surface;

pub(super) use blend::{ChosenRecords, blend};
pub(super) use frames::{FrameLanes, loaded, stored};
pub(super) use packing::{BLOCK, Group, GroupSlots, Packing};
pub(super) use surface::{LaneSurface, RestBlock, RestSurface};

/// How many vertices go side by side. Sixteen in the wide registers of AVX-512 were not faster:
/// their joints differ more.
pub(super) const LANES: usize = 8;

/// A number of each of them.
pub(super) type Lane = [f32; LANES];

/// A bit for each of them.
pub(super) const ALL: u64 = (1 << LANES) - 1;
