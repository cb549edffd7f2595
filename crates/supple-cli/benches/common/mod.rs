//! Helpers shared by all benches: characters, timing, and counting of memory.

pub mod counting;

#[path = "../../src/commands/bench/scenes.rs"]
#[allow(
    dead_code,
    reason = "each bench and the command use some of the scenes"
)]
pub mod scenes;

#[path = "../../src/args/character.rs"]
#[allow(unused_imports, reason = "benches run no unit tests")]
mod character;

use supple::Asset;
use supple::characters;

/// A built-in character as the command line names it, without the `@`.
pub fn asset(spec: &str) -> Asset {
    let (character, vertices) = character::parse_character(spec).unwrap();
    characters::build(character, vertices).unwrap()
}
