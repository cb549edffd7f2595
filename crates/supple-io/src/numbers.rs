//! Checks that numbers in files are finite as 32-bit floats.

use glam::Vec3;
use std::fmt;
use std::io;
use thiserror::Error;

/// A number that is NaN, infinite, or beyond the range of 32-bit floats, and where it was found.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub struct NotFinite {
    /// The place of the number, such as "the position of vertex 3".
    pub place: String,
    /// The number that was refused.
    pub value: f64,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotFinite { place, value } = self;
        match value.is_finite() {
            true => write!(
                f,
                "{place} holds {value:e}, beyond the range of 32-bit floats"
            ),
            false => write!(f, "{place} holds {value}, which is not finite"),
        }
    }
}

impl From<NotFinite> for io::Error {
    fn from(error: NotFinite) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Refuses numbers that are not finite as 32-bit floats; `place` names what holds the number at an
/// index.
pub(crate) fn check(
    numbers: impl IntoIterator<Item = f64>,
    place: impl FnOnce(usize) -> String,
) -> Result<(), NotFinite> {
    let mut numbers = numbers.into_iter().enumerate();
    match numbers.find(|(_, number)| !(*number as f32).is_finite()) {
        None => Ok(()),
        Some((index, value)) => Err(NotFinite {
            place: place(index),
            value,
        }),
    }
}

/// Refuses vectors of vertices that are not finite; `what` names the vectors.
pub(crate) fn check_vectors(what: &str, vectors: &[Vec3]) -> Result<(), NotFinite> {
    let numbers = vectors.iter().flat_map(|vector| vector.to_array());
    check(numbers.map(f64::from), |index| {
        format!("the {what} of vertex {}", index / 3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_no_float_can_hold_is_named() {
        let refused = |number: f64| {
            let numbers = [0.0, -0.0, f64::from(f32::MAX), 1e-320, number, f64::NAN];
            let error = check(numbers, |index| format!("number {index}"));
            error.unwrap_err().to_string()
        };
        assert_eq!(
            refused(-1e39),
            "number 4 holds -1e39, beyond the range of 32-bit floats"
        );
        assert_eq!(
            refused(f64::INFINITY),
            "number 4 holds inf, which is not finite"
        );
        assert_eq!(
            refused(f64::from(f32::MIN_POSITIVE)),
            "number 5 holds NaN, which is not finite"
        );
        let vectors = [Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)];
        let error = check_vectors("normal", &vectors).unwrap_err();
        assert_eq!(error.place, "the normal of vertex 1");
    }
}
