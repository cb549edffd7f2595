//! Every skinning method against its formula, written again in double precision and as plainly as
//! possible (`plain/`).

#![allow(clippy::unwrap_used, clippy::panic)]

#[cfg(feature = "arap")]
mod arap;
mod bar;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod formulas;
mod identities;
mod normals;
mod plain;
#[path = "../random/mod.rs"]
mod random;
mod scenes;
mod table;
