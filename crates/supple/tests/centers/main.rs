//! Centers of rotation: the precompute against a brute force that shares no code with it
//! (`../formulas/plain/`), what must hold by the formulas alone, and what the deformations that
//! come of it must look like.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod deformation;
mod identities;
#[allow(dead_code, reason = "only centers are looked at here")]
#[path = "../formulas/plain/mod.rs"]
mod plain;
mod precompute;
#[path = "../random/mod.rs"]
mod random;
mod surfaces;
