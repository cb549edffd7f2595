//! The error of an option out of range.

use std::borrow::Cow;
use thiserror::Error;

/// Error for an option that is out of range.
///
/// All modules share it, as the variant `Option` of their errors.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{option} is {value}, but must be {allowed}")]
#[non_exhaustive]
pub struct OptionError {
    /// The option, as in "the tolerance".
    pub option: Cow<'static, str>,
    /// Its value.
    pub value: f64,
    /// The allowed values, as in "at least 0".
    pub allowed: &'static str,
}

/// Checks an option; `is_allowed` says whether its value is in range.
pub(crate) fn check_option(
    is_allowed: bool,
    option: &'static str,
    value: f64,
    allowed: &'static str,
) -> Result<(), OptionError> {
    match is_allowed {
        true => Ok(()),
        false => Err(OptionError {
            option: Cow::Borrowed(option),
            value,
            allowed,
        }),
    }
}
