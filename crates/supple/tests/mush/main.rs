//! Delta mush and direct delta mush: against their formulas with dense matrices in double precision
//! (`reference/`, no code shared with the library), what must hold by the formulas alone, what a
//! bake promises, and what must not happen where patches and poses are degenerate.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bake;
#[path = "../common/mod.rs"]
mod common;
mod degenerate;
mod formulas;
mod identities;
mod normals;
mod pieces;
#[allow(
    dead_code,
    reason = "only polar factors and split poses are needed here"
)]
#[path = "../formulas/plain/mod.rs"]
mod plain;
#[path = "../random/mod.rs"]
mod random;
mod reference;
mod surfaces;
