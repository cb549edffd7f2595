//! What can be said of numbers that a file stores beside its character.

/// Whether stored numbers, such as centers of rotation or a bake of direct delta mush, are of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredState {
    /// They were computed from this surface and these weights.
    Fit,
    /// The surface or the weights have changed since.
    Stale,
    /// Some of the character's primitives have none.
    Incomplete,
    /// The file does not say what they were computed from.
    UnknownOrigin,
    /// Some cannot be read.
    Broken {
        /// Where in the file: a JSON path.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}
