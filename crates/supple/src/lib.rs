//! Skeletal skinning: load or build a rigged character, bake it for a method, deform it every
//! frame.
//!
//! Supple implements the published direct skinning methods behind one call, from linear blend
//! skinning and dual quaternions to optimized centers of rotation and direct delta mush. Most of
//! them avoid the candy-wrapper artifact and the volume loss of linear blending. The library reads
//! no files, prints nothing and keeps no global state; the crate `supple-io` reads and writes glTF,
//! `supple-gpu` has the methods as shaders.
//!
//! # A complete example
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::{Method, Normals, Output, Skin, Workspace};
//!
//! // An asset is a rig with its clips: from a file by `supple_io::gltf::load`, or built in.
//! let asset = characters::build(Character::Bar, 2_000)?;
//!
//! // Once per character: bake the rig for a method.
//! let method = Method::DualQuaternion(Default::default());
//! let skin = Skin::bake(&asset.rig, &method, Normals::Transported)?;
//! let mut workspace = Workspace::default();
//! let mut positions = asset.rig.mesh().positions().to_vec();
//! let mut normals = asset.rig.mesh().normals().to_vec();
//!
//! // Every frame: one matrix per joint, then the whole surface. Nothing is allocated.
//! let palette = asset.palette_at(&asset.clips[0], 1.0);
//! let output = Output { positions: &mut positions, normals: Some(&mut normals), tangents: None };
//! skin.deform(&palette, &mut workspace, output)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What to read first
//!
//! 1. [`Rig`]: a [`Mesh`], a [`Skeleton`] and [`Weights`], validated once. An [`Asset`] adds clips,
//!    morph targets and props.
//! 2. [`Method`]: the skinning methods and their options.
//! 3. [`Skin`]: a rig baked for a method, immutable and shareable between threads.
//!    [`Skin::deform_crowd`] deforms many instances, [`Skin::deform_into_buffers`] writes vertex
//!    buffers.
//! 4. [`Pose`] and [`Palette`]: from clips, from inverse kinematics, or from your engine by
//!    [`Palette::from_matrices`].
//! 5. [`Player`]: plays a whole asset, with morph targets and props, in buffers of its own.
//!
//! The folder `examples/` has a program of a page for each: `own_palette`, `crowd`,
//! `vertex_buffers`, `bind_mesh` and `reach`; `load_and_deform` is in `supple-io`. Vectors and
//! matrices are those of [`glam`], which is re-exported.
//!
//! # Features
//!
//! The default features serve tools. A runtime that only deforms turns them off
//! (`default-features = false`) and keeps rigs, clips, every direct method, centers of rotation and
//! delta mush, with 14 dependencies in all.
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `arap` | the as-rigid-as-possible method | yes |
//! | `bind` | automatic weights, weight editing, point handles | yes |
//! | `characters` | built-in characters | yes |
//! | `ik` | inverse kinematics | yes |
//! | `metrics` | measures of deformations and weights, findings about rigs | yes |
//! | `serde` | `Serialize` for options, reports and measures, `Deserialize` for options | no |
//! | `bytemuck` | `Pod` for [`Affine`]: palettes as bytes for GPU buffers | no |

// On docs.rs, items show the feature that they need.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Some helpers serve only one feature; unused ones are found with all features on.
#![cfg_attr(
    not(all(
        feature = "arap",
        feature = "bind",
        feature = "ik",
        feature = "metrics"
    )),
    allow(dead_code, unused_imports)
)]

mod polar;
mod rotation;
pub mod transform;

pub mod mesh;
pub mod normals;
mod surface;
#[cfg(any(feature = "bind", feature = "metrics"))]
mod surface_tree;

mod bind_matrix;
pub mod clip;
#[cfg(feature = "ik")]
pub mod inverse_kinematics;
mod pose;
pub mod skeleton;

#[cfg(feature = "bind")]
pub mod bind;
#[cfg(feature = "bind")]
pub mod edit;
pub mod weights;

mod rig;

mod smoothing;
#[cfg(any(feature = "arap", feature = "bind"))]
mod sparse;

#[cfg(feature = "arap")]
pub mod arap;
pub mod centers;
pub mod deform;
mod disjoint_sets;
pub mod exec;
mod fingerprint;
mod merging;
pub mod mush;
mod option_error;
mod player;
#[cfg(feature = "bind")]
pub mod point_handles;
pub mod symmetry;
pub mod twist;

#[cfg(feature = "metrics")]
pub mod metrics;

#[cfg(feature = "metrics")]
pub mod findings;
#[cfg(feature = "metrics")]
pub mod quality;

#[cfg(feature = "characters")]
pub mod characters;
#[doc(hidden)]
pub mod words;

pub use glam;

pub use clip::Clip;
pub use deform::{Method, Normals, Output, Skin, Workspace};
pub use mesh::{Bounds, Mesh};
pub use option_error::OptionError;
pub use player::{AssetRef, Player, PosedProp, VertexLoop};
pub use pose::{NodeCountError, Palette, Pose};
pub use rig::{Asset, Prop, Rig, RigError};
pub use skeleton::Skeleton;
pub use transform::{Affine, Local, Trs};
pub use weights::Weights;
