//! Faults of a file, before its name is known.

use crate::LoadError;
use std::path::Path;

/// A fault and its place in a file; the caller adds the file's name.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) place: String,
    pub(super) problem: String,
}

impl Fault {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Fault {
        Fault {
            place: place.into(),
            problem: problem.into(),
        }
    }

    pub(super) fn in_file(self, path: &Path) -> LoadError {
        LoadError::Malformed {
            path: path.to_owned(),
            place: self.place,
            problem: self.problem,
        }
    }
}
