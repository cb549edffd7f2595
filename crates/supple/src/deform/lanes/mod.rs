//! Eight vertices side by side: the vertex loop at memory speed.
//!
//! A blend of matrices takes twelve multiply-adds per joint of a vertex. Neighbouring vertices in a
//! file mostly have the same joints, so a group of eight iterates over the joints of all eight,
//! with each number of a joint's matrix in all lanes of a register; a lane that does not have a
//! joint has a weight of zero for it. No numbers are gathered individually.
//!
//! - `packing.rs` groups vertices and stores their weights in the order of the loop;
//! - `blend.rs` sums the records of joints, with signs for quaternions;
//! - `far_pairs.rs` finds the vertices whose joints are about half a turn apart;
//! - `frames.rs` applies eight affine frames to points and normals;
//! - `sines.rs` has sines and cosines of eight angles;
//! - `surface.rs` stores the rest surface in lanes;
//! - `wide_quaternions.rs` multiplies quaternions in double precision.
//!
//! The loop itself is in `vertex_loop/blocks.rs`.
//!
//! The joints of eight vertices are in rising order, so a vertex sums its own joints in that order,
//! whichever vertices are beside it: two vertices of a seam get the same bits.

mod blend;
mod far_pairs;
mod frames;
mod packing;
mod sines;
mod surface;
pub(super) mod wide_quaternions;

pub(super) use blend::{ChosenRecords, blend, weighted_sums};
pub(super) use far_pairs::{FarPairs, MOST_INFLUENCES, NeighbourPairs};
pub(super) use frames::{FrameLanes, Vec3Lanes, cross, dot, loaded, stored};
pub(super) use packing::{BLOCK, Group, GroupSlots, Packing};
pub(super) use sines::{MOST_ANGLE, short_sine_and_versine, sine_and_versine};
pub(super) use surface::{LaneSurface, RestBlock, RestSurface};

/// The number of vertices in a group. Sixteen, in the wide registers of AVX-512, were not faster:
/// their joints differ more.
pub(super) const LANES: usize = 8;

/// A number per vertex of a group.
pub(super) type Lane = [f32; LANES];

/// A bit per vertex of a group.
pub(super) const ALL: u64 = (1 << LANES) - 1;
