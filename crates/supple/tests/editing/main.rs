//! Editing weights: what holds for every edit over random weights, every edit against a plain
//! version of itself, and what mirrors, transfers and brushes must come to.

#![cfg(feature = "bind")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod brush;
mod invariants;
mod mirror;
mod plain;
#[path = "../random/mod.rs"]
mod random;
mod rows;
mod sheet;
mod transfer;
