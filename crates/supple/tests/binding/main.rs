//! Binding: bodies that are hard to bind, each by every method; methods against their formulas; and
//! what holds for any soup of triangles.

#![cfg(feature = "bind")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod bones;
mod clothes;
mod damage;
mod heat;
mod odd_meshes;
mod properties;
#[path = "../random/mod.rs"]
mod random;
mod scene;
mod sizes;
