//! Pins: hashes of outputs, committed as text, so that no output changes unnoticed.
//!
//! A test computes [`Pins`] on several numbers of threads and compares them with a file of lines
//! `name  hash  [instruction sets]`. With `SUPPLE_ACCEPT_PINS=1` in the environment it rewrites the
//! file instead:
//!
//! ```text
//! SUPPLE_ACCEPT_PINS=1 cargo test --workspace --test pins
//! ```

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking"
)]

mod bits;
mod file;
mod platform;

pub use bits::{Bits, Hash, Numbers};

use file::PinFile;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::thread::ScopedJoinHandle;

/// The environment variable that accepts changed pins.
const ACCEPT: &str = "SUPPLE_ACCEPT_PINS";

/// Hashes of outputs, by name and by the instruction set that they were computed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    by_name: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The key of an output that is the same on every instruction set.
const ANY_SET: &str = "";

impl Pins {
    /// Computes pins once for every number of threads, concurrently, and checks that all are the
    /// same.
    ///
    /// # Panics
    ///
    /// If outputs depend on the number of threads; the message names them.
    pub fn on_threads(counts: &[usize], compute: impl Fn(usize) -> Pins + Sync) -> Pins {
        let found: Vec<Pins> = std::thread::scope(|scope| {
            let compute = &compute;
            let start = |&threads: &usize| scope.spawn(move || compute(threads));
            let running: Vec<_> = counts.iter().map(start).collect();
            running.into_iter().map(joined).collect()
        });
        let mut all = Pins::default();
        let mut differing = Vec::new();
        for (&threads, found) in counts.iter().zip(found) {
            for (name, sets) in found.by_name {
                for (set, hash) in sets {
                    let known = all.by_name.entry(name.clone()).or_default();
                    let before = *known.entry(set.clone()).or_insert(hash);
                    if before != hash {
                        differing.push(format!("{name} {set} on {threads} threads"));
                    }
                }
            }
        }
        assert!(
            differing.is_empty(),
            "outputs that depend on the number of threads:\n{}",
            differing.join("\n")
        );
        all
    }

    /// Pins an output that does not depend on the instruction set.
    ///
    /// # Panics
    ///
    /// If the name is taken, or contains white space.
    pub fn pin<T: Bits + ?Sized>(&mut self, name: impl Display, output: &T) {
        self.pin_on(ANY_SET, name, output);
    }

    /// Pins an output that was computed on one instruction set.
    ///
    /// # Panics
    ///
    /// If the name is taken on that set, or contains white space.
    pub fn pin_on<T: Bits + ?Sized>(&mut self, set: impl Display, name: impl Display, output: &T) {
        let (name, set) = (name.to_string(), set.to_string());
        assert!(
            !name.is_empty() && !format!("{name}{set}").contains(char::is_whitespace),
            "'{name}' is no name of a pin"
        );
        let sets = self.by_name.entry(name.clone()).or_default();
        let before = sets.insert(set, Hash::of(output).value());
        assert!(before.is_none(), "two outputs are pinned as '{name}'");
    }

    /// Adds other pins.
    ///
    /// # Panics
    ///
    /// If a name is taken.
    pub fn extend(&mut self, other: Pins) {
        for (name, sets) in other.by_name {
            let before = self.by_name.insert(name.clone(), sets);
            assert!(before.is_none(), "two outputs are pinned as '{name}'");
        }
    }

    /// Compares the pins with those in a file, or rewrites the file if changes are accepted.
    ///
    /// Only lines for instruction sets that the machine has are compared and rewritten. On a
    /// processor or system with other arithmetic than where pins come from (`platform.rs`), nothing
    /// is compared, which is a failure if `CI` is set.
    ///
    /// # Panics
    ///
    /// If outputs changed, appeared or disappeared; the message lists them and says what to do.
    pub fn check(&self, path: &Path) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let known = PinFile::parse(&text).unwrap_or_else(|problem| {
            panic!("{}: {problem}", path.display());
        });
        if let Some(difference) = platform::difference() {
            let skipped = format!("{} is not for this machine: {difference}", path.display());
            assert!(std::env::var_os("CI").is_none(), "{skipped}");
            eprintln!("skipped: {skipped}");
            return;
        }
        if std::env::var_os(ACCEPT).is_some_and(|value| value != "0" && !value.is_empty()) {
            let accepted = known.accepting(self).to_string();
            if accepted != text {
                std::fs::write(path, accepted)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            return;
        }
        let differences = known.differences(self);
        assert!(
            differences.is_empty(),
            "{} outputs are not as pinned in {}:\n{}\n\
             If that is intended, say so in CHANGELOG.md and accept it by\n  \
             {ACCEPT}=1 cargo test --workspace --test pins",
            differences.len(),
            path.display(),
            differences.join("\n"),
        );
    }
}

/// The result of a thread; if it panicked, so does the caller.
fn joined<T>(running: ScopedJoinHandle<'_, T>) -> T {
    let outcome = running.join();
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
