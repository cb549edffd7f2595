//! The state of numbers that a file stores beside its character.

/// The state of stored numbers, such as centers of rotation or a bake of direct delta mush: whether
/// they can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredState {
    /// They were computed from this surface and these weights.
    Fit,
    /// The surface or the weights have changed since they were computed.
    Stale,
    /// Some primitives of the character have none.
    Incomplete,
    /// The file does not say what they were computed from.
    UnknownOrigin,
    /// Some of them cannot be read.
    Broken {
        /// The place in the file: a JSON path.
        place: String,
        /// The problem.
        problem: String,
    },
}
