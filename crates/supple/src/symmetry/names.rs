//! Joints paired by name: `.L` and `.R`, `_l` and `_r`, `Left` and `Right`, in any case and at any
//! position in the name.

use super::mutual;
use std::collections::HashMap;

/// The partner of every name with a side mark, if the name of the other side exists.
pub(super) fn partners(names: &[&str]) -> Vec<Option<u32>> {
    let folded: Vec<String> = names
        .iter()
        .map(|name| name.chars().map(in_lower_case).collect())
        .collect();
    let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
    let mut places = Vec::with_capacity(names.len());
    for (item, name) in folded.iter().enumerate() {
        let same = known.entry(name).or_default();
        places.push(same.len());
        same.push(item as u32);
    }
    let partner = |(item, name): (usize, &&str)| {
        // A node may be bound several times: the first joints are paired with each other.
        let place = places[item];
        let mut others = names_of_other_side(name).into_iter();
        others.find_map(|other| known.get(other.as_str())?.get(place).copied())
    };
    mutual(names.iter().enumerate().map(partner).collect())
}

/// For names with more side marks than this, only the first ones are replaced one by one: each
/// replacement makes a copy of the name.
const MOST_MARKS: usize = 8;

/// A letter in lower case, if that is a single letter.
fn in_lower_case(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => letter,
    }
}

/// Possible names of the counterpart in lower case: every side mark replaced, then each mark alone.
///
/// Any name may be tried, since only existing names count: "bright" finds no "bleft".
fn names_of_other_side(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let lower: Vec<char> = letters.iter().copied().map(in_lower_case).collect();
    // The start of each mark, its length, and its replacement.
    let mut marks: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = 0;
    while at < lower.len() {
        let words = [
            ("left", "right"),
            ("right", "left"),
            ("lft", "rgt"),
            ("rgt", "lft"),
        ];
        let word = words
            .into_iter()
            .find(|(word, _)| starts_with(&lower[at..], word));
        let single = match lower[at] {
            'l' if stands_alone(&letters, at) => Some(("l", "r")),
            'r' if stands_alone(&letters, at) => Some(("r", "l")),
            _ => None,
        };
        match word.or(single) {
            Some((mark, other)) => {
                marks.push((at, mark.len(), other));
                at += mark.len();
            }
            None => at += 1,
        }
    }
    let turned = |marks: &[(usize, usize, &str)]| {
        let mut turned = String::new();
        let mut next = 0;
        for &(at, length, other) in marks {
            turned.extend(&lower[next..at]);
            turned += other;
            next = at + length;
        }
        turned.extend(&lower[next..]);
        turned
    };
    match marks.len() {
        0 => Vec::new(),
        1 => vec![turned(&marks)],
        _ => std::iter::once(turned(&marks))
            .chain(marks.iter().take(MOST_MARKS).map(|&mark| turned(&[mark])))
            .collect(),
    }
}

fn starts_with(letters: &[char], word: &str) -> bool {
    letters.len() >= word.len() && word.chars().zip(letters).all(|(a, &b)| a == b)
}

/// True if a letter is a word by itself: between signs and digits, or at a change of case (`LArm`,
/// `armL`).
fn stands_alone(letters: &[char], at: usize) -> bool {
    let letter = letters[at];
    let before = at.checked_sub(1).map(|before| letters[before]);
    let after = letters.get(at + 1);
    let free_before = before.is_none_or(|before| {
        !before.is_alphabetic() || (before.is_lowercase() && letter.is_uppercase())
    });
    let free_after = after.is_none_or(|after| !after.is_alphabetic() || after.is_uppercase());
    free_before && free_after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_many_marks_has_few_counterparts() {
        let name = "l_".repeat(10_000);
        assert_eq!(names_of_other_side(&name).len(), 1 + MOST_MARKS);
        let other = name.replace('l', "r");
        assert_eq!(partners(&[&name, &other]), [Some(1), Some(0)]);
    }

    #[test]
    fn names_change_sides() {
        for (name, other) in [
            ("hand.L", "hand.r"),
            ("Arm_r", "arm_l"),
            ("mixamorig:LeftForeArm", "mixamorig:rightforearm"),
            ("l_thumb_01", "r_thumb_01"),
            ("thumb_L_01", "thumb_r_01"),
            ("arm.R.001", "arm.l.001"),
            ("shoulderR", "shoulderl"),
            ("RCalf", "lcalf"),
            ("Bip01 L Hand", "bip01 r hand"),
            ("eye.left.001", "eye.right.001"),
            ("RIGHT leg", "left leg"),
            ("lft_knee", "rgt_knee"),
            ("leg-R", "leg-l"),
            ("骨.L", "骨.r"),
            ("İ.L", "İ.r"),
        ] {
            assert_eq!(names_of_other_side(name)[0], other, "{name}");
        }
        for middle in ["spine", "Pelvis", "collar", "rib", "ball", "Lower", ""] {
            assert_eq!(names_of_other_side(middle), [""; 0], "{middle}");
        }
        assert_eq!(
            names_of_other_side("arm_L_right"),
            ["arm_r_left", "arm_r_right", "arm_l_left"]
        );
    }

    #[test]
    fn partners_are_mutual_and_names_that_repeat_are_paired_in_order() {
        let names = [
            "upright", "arm.L", "Arm.r", "arm.l", "ARM.R", "arm.R", "leg.L", "spine",
        ];
        let expected = [None, Some(2), Some(1), Some(4), Some(3), None, None, None];
        assert_eq!(partners(&names), expected);
    }
}
