//! Phrases for numbers, names and motions.

use crate::names::{has_socket, uncapitalised};
use supple::metrics::JointMotion;

/// "Left hip" and "Right hip" are "Left and right hip".
pub(crate) fn both_sides(a: &str, b: &str) -> Option<String> {
    let side = |title: &str, side: &str| title.strip_prefix(side).map(str::to_owned);
    let (left, right) = match (side(a, "Left "), side(b, "Right ")) {
        (Some(left), Some(right)) => (left, right),
        _ => (side(b, "Left ")?, side(a, "Right ")?),
    };
    (left == right).then(|| format!("Left and right {left}"))
}

/// "a, b and c".
pub(crate) fn join_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let mut names: Vec<T> = names.into_iter().collect();
    let Some(last) = names.pop() else {
        return String::new();
    };
    let before: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match before.is_empty() {
        true => last.as_ref().to_owned(),
        false => format!("{} and {}", before.join(", "), last.as_ref()),
    }
}

/// "Left elbow bent by 118°".
pub(crate) fn moved(title: &str, motion: &JointMotion) -> Option<String> {
    motion_words(title, motion).map(|how| format!("{} {how}", uncapitalised(title)))
}

/// "bent by 118° and twisted by 20°".
pub(crate) fn motion_words(title: &str, motion: &JointMotion) -> Option<String> {
    let (bend, twist) = (motion.bend.to_degrees(), motion.twist.to_degrees());
    let mut words = Vec::new();
    if bend > 10.0 {
        words.push(format!("bent by {bend:.0}°"));
    }
    if twist > 10.0 && twist > 0.2 * bend {
        words.push(format!("twisted by {twist:.0}°"));
    }
    if motion.shift > 0.1 {
        let how = match has_socket(title) {
            true => "pulled from its socket",
            false => "shifted",
        };
        words.push(how.to_owned());
    }
    (!words.is_empty()).then(|| join_names(&words))
}

pub(crate) fn singular(plural: &'static str) -> &'static str {
    match plural {
        "vertices" => "vertex",
        other => other.strip_suffix('s').unwrap_or(other),
    }
}

/// A number with thousands separators: 39,158.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut result = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers() {
        assert_eq!(grouped(39158), "39,158");
        assert_eq!(grouped(7), "7");
        assert_eq!(singular("vertices"), "vertex");
        let motion = JointMotion {
            bend: 2.0,
            twist: 0.0,
            ..JointMotion::default()
        };
        assert_eq!(
            moved("Left elbow", &motion).unwrap(),
            "left elbow bent by 115°"
        );
        assert_eq!(motion_words("Left elbow", &JointMotion::default()), None);
        let shifted = JointMotion {
            shift: 0.5,
            ..JointMotion::default()
        };
        assert_eq!(moved("Jaw", &shifted).unwrap(), "jaw shifted");
        assert_eq!(
            moved("Left hip", &shifted).unwrap(),
            "left hip pulled from its socket"
        );
        assert_eq!(join_names(["a", "b", "c"]), "a, b and c");
        assert_eq!(join_names(["a"]), "a");
    }
}
