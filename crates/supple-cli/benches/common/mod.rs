//! Helpers shared by all benches: characters, timing, and counting of memory.

pub mod counting;

#[path = "../../src/commands/bench/scenes.rs"]
#[allow(
    dead_code,
    reason = "each bench and the command use some of the scenes"
)]
pub mod scenes;

use supple::Asset;
use supple::characters::{self, CharacterSpec};

/// A built-in character as the command line names it, without the `@`.
pub fn asset(spec: &str) -> Asset {
    let spec: CharacterSpec = spec.parse().unwrap();
    characters::build(spec.character, spec.vertices).unwrap()
}
