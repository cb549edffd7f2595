//! Skeletal skinning: a character's mesh, skeleton, weights and clips, and the methods that deform
//! it.
//!
//! One direction, each step one call, nothing earlier is changed:
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::{Method, Normals, Output, Skin, Workspace};
//!
//! let asset = characters::build(Character::Bar, 2_000)?;
//! let skin = Skin::bake(&asset.rig, &Method::Linear, Normals::Transported)?;
//! let mut workspace = Workspace::default();
//!
//! let clip = &asset.clips[0];
//! let palette = asset.palette_at(clip, 1.0);
//!
//! let mut positions = asset.rig.mesh().positions().to_vec();
//! let mut normals = asset.rig.mesh().normals().to_vec();
//! skin.deform(
//!     &palette,
//!     &mut workspace,
//!     Output { positions: &mut positions, normals: Some(&mut normals), tangents: None },
//! )?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The library does no input or output and keeps no global state; `supple-io` reads and writes
//! files.

// Some helpers serve only one feature; dead code is found with all of them on.
#![cfg_attr(
    not(all(
        feature = "arap",
        feature = "bind",
        feature = "ik",
        feature = "metrics"
    )),
    allow(dead_code)
)]

pub mod polar;
pub mod transform;

pub mod adjacency;
pub mod mesh;
pub mod normals;
#[cfg(feature = "bind")]
mod surface_tree;

pub mod bind_matrix;
pub mod clip;
#[cfg(feature = "ik")]
pub mod inverse_kinematics;
pub mod pose;
pub mod skeleton;

pub mod weights;

pub mod rig;

pub mod laplacian;
pub mod smoothing;
#[cfg(any(feature = "arap", feature = "bind"))]
mod sparse;

#[cfg(feature = "arap")]
pub mod arap;
pub mod centers;
pub mod deform;
pub mod exec;
mod fingerprint;
mod merging;
pub mod mush;
pub mod player;
#[cfg(feature = "bind")]
pub mod point_handles;
pub mod twist;

#[cfg(feature = "metrics")]
pub mod metrics;

#[cfg(feature = "metrics")]
pub mod findings;
#[cfg(feature = "metrics")]
pub mod quality;
#[cfg(any(feature = "bind", feature = "metrics"))]
pub mod symmetry;

#[cfg(feature = "characters")]
pub mod characters;
pub mod words;

pub use clip::Clip;
pub use deform::{Method, Normals, Output, Skin, Workspace};
pub use mesh::{Bounds, Mesh};
pub use player::{Player, VertexLoop};
pub use pose::{Palette, Pose};
pub use rig::{Asset, Prop, Rig};
pub use skeleton::Skeleton;
pub use transform::{Affine, Local, Trs};
pub use weights::Weights;
