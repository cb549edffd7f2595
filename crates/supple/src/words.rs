//! Words for people that errors and commands share.

/// Formats a number with three significant digits.
pub fn measure(value: f64) -> String {
    let before_point = if value.abs() > 0.0 && value.is_finite() {
        value.abs().log10().floor() as i32 + 1
    } else {
        1
    };
    let after_point = (3 - before_point).clamp(0, 12) as usize;
    format!("{value:.after_point$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_tell_as_much_in_any_unit() {
        let written = [1234.5, 12.345, 0.0012345, 0.0].map(measure);
        assert_eq!(written, ["1234", "12.3", "0.00123", "0.00"]);
    }
}
