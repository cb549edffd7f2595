//! The configuration of every randomised suite.

use proptest::test_runner::{Config, FileFailurePersistence, contextualize_config};

/// The file of the suite: cargo runs tests in the folder of their package. Without it, proptest
/// derives a name from the source file, and suites with a `formulas.rs` each would share one.
const FAILED: &str = concat!(
    "tests/proptest-regressions/",
    env!("CARGO_CRATE_NAME"),
    ".txt"
);

/// A number of random cases, after those that failed once: their seeds are in
/// `tests/proptest-regressions/SUITE.txt`. A new failure adds its seed, to be committed with the
/// fix. The environment overrides the number (`PROPTEST_CASES`) and the file
/// (`PROPTEST_DISABLE_FAILURE_PERSISTENCE`).
pub fn config(cases: u32) -> Config {
    contextualize_config(Config {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(FAILED))),
        ..Config::default()
    })
}
