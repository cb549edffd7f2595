//! Characters from and to files.
//!
//! [`gltf::load`] reads a character from a `.glb` or `.gltf` file, together with the
//! [`gltf::Document`] that it came from. Change the document and write it again: what Supple does
//! not understand in a file is kept.
//!
//! ```no_run
//! use std::path::Path;
//! use supple_io::whole_file::write_whole;
//! use supple_io::{gltf, obj};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gltf::Loaded { asset, mut document, .. } = gltf::load(Path::new("hero.glb"))?;
//!
//! // The surface as it is bound, for other programs:
//! let mesh = asset.rig.mesh();
//! write_whole(Path::new("hero.obj"), |out| {
//!     obj::write(out, mesh.positions(), mesh.normals(), mesh.triangles())
//! })?;
//!
//! // The same file with at most four influences per vertex:
//! document.set_weights(&asset.rig.weights().limited(4))?;
//! let bytes = document.to_glb()?;
//! write_whole(Path::new("hero-4.glb"), |out| out.write_all(&bytes))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Overview
//!
//! | for | use |
//! | --- | --- |
//! | characters in and out | [`gltf`] |
//! | posed surfaces out | [`obj`], [`ply`], [`npy::write_positions`] |
//! | posed surfaces over time out | [`sequence`], [`gltf::MorphSequence`] |
//! | posed surfaces in, one or over time | [`npy::read_positions`], [`npy::read_sequence`] |
//! | palettes and learned weights in | [`npy::read_palette`], [`npy::read_multi_weights`] |
//! | files that are written completely or not at all | [`whole_file`] |
//! | text from files in messages | [`text`] |
//!
//! # Features
//!
//! `bind`, on by default, adds point handles and what automatic weights need of a file. Without it,
//! and with `supple` without its default features, a program that loads a `.glb` and deforms it
//! needs 42 crates instead of 86.
//!
//! # Untrusted files
//!
//! Files are hostile until proven otherwise: every count, index and number is checked against the
//! bytes that are there before it is used, and [`LoadError`] names the place in the file. Messages
//! repeat no more of a file than [`text::shortened`] leaves.
//!
//! Nothing is written that could not be read again: a number that is [`NotFinite`] as a 32-bit
//! float refuses the whole file.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod gltf;
pub mod npy;
mod numbers;
pub mod obj;
pub mod ply;
mod read;
pub mod sequence;
mod surface;
pub mod text;
pub mod whole_file;

pub use numbers::NotFinite;
pub use read::LoadError;
