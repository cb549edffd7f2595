//! The work of the fuzz targets, one function per target; `fuzz_targets/` only passes the bytes.
//!
//! Every function takes any bytes. It builds an input from them, runs Supple on it, and panics if
//! something that must hold does not hold; libFuzzer reports panics, hangs and exhausted memory.

pub mod bindings;
pub mod clips;
pub mod documents;
pub mod edits;
pub mod files;
pub mod handles;
pub mod input;
pub mod measures;
pub mod methods;
pub mod npy;
pub mod pictures;
pub mod plain;
pub mod reach;
pub mod rigs;
pub mod twists;
pub mod writers;

#[allow(dead_code, reason = "the tests of supple-io use the rest")]
#[path = "../../crates/supple-io/tests/tiny/mod.rs"]
mod tiny;

/// Runs everything on the thread of the fuzzer: inputs are too small to share out, and handing
/// them to another thread takes longer than most of them do.
pub fn start() {
    const { assert!(cfg!(debug_assertions), "fuzzing needs debug assertions") };
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1);
    let _ = threads.use_current_thread().build_global();
}
