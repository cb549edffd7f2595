//! Names of joints and clips in files, as titles for people.

/// Longer names are cut.
const LONGEST_NAME: usize = 60;

/// Joints whose bend everyone knows by another name than the bone below it.
const JOINTS: &[(&[&str], &str)] = &[
    (
        &["forearm", "lowerarm", "elbow", "lower arm", "fore arm"],
        "elbow",
    ),
    (&["upperarm", "upper arm", "arm"], "shoulder"),
    (&["hand", "wrist"], "wrist"),
    (
        &["thigh", "upperleg", "upper leg", "upleg", "up leg", "hip"],
        "hip",
    ),
    (
        &["shin", "calf", "lowerleg", "lower leg", "leg", "knee"],
        "knee",
    ),
    (&["foot", "ankle"], "ankle"),
    (&["toe", "toes", "toe base", "ball"], "ball of the foot"),
    (&["pelvis", "hips"], "hips"),
];

/// Words that files write as one.
const COMPOUNDS: &[(&str, &str)] = &[
    ("lowerarm", "lower arm"),
    ("upperarm", "upper arm"),
    ("lowerleg", "lower leg"),
    ("upperleg", "upper leg"),
];

/// A joint's name for people: `forearm.L` is the left elbow, `mixamorig:LeftLeg` the left knee.
pub(crate) fn joint_title(name: &str, index: usize) -> String {
    let (_, words) = parts(name);
    let plain = words.join(" ");
    // Numbered bones along a limb: the first one carries the joint that people know.
    let unnumbered = plain.strip_suffix(" 1").unwrap_or(&plain);
    let known = JOINTS
        .iter()
        .find(|(names, _)| names.contains(&unnumbered))
        .map(|(_, title)| (*title).to_owned());
    match known {
        Some(known) => with_side(name, &known),
        None => plain_title(name, index),
    }
}

/// A joint's title with regard to the joints above and below: of two legs in a row, the upper one
/// hangs from the hip.
pub(crate) fn joint_title_between<'a>(
    name: &str,
    index: usize,
    above: Option<&str>,
    mut below: impl Iterator<Item = &'a str>,
) -> String {
    let words = |name: &str| {
        let words = parts(name).1;
        let named = words.into_iter().filter(|word| !is_number(word));
        named.collect::<Vec<String>>()
    };
    let is_leg = |name: &str| words(name) == ["leg"];
    if !is_leg(name) {
        return joint_title(name, index);
    }
    let leg_above = above.is_some_and(is_leg);
    let leg_below = below.any(|name| {
        let words = words(name);
        words.iter().any(|word| LEGS.contains(&word.as_str()))
    });
    match (leg_above, leg_below) {
        (false, true) => with_side(name, "hip"),
        (true, true) => plain_title(name, index),
        _ => joint_title(name, index),
    }
}

const LEGS: [&str; 5] = ["leg", "lowerleg", "shin", "calf", "knee"];

/// A joint's name in words, without knowing what it is a joint of: `forearm.L` is the left forearm.
pub(crate) fn plain_title(name: &str, index: usize) -> String {
    let (_, words) = parts(name);
    let plain = words.join(" ");
    let title = finger_title(&words).unwrap_or(match plain.as_str() {
        "" => format!("joint {index}"),
        _ if words.iter().all(|word| is_number(word)) => format!("joint {plain}"),
        "first" | "second" | "third" | "fourth" => format!("{plain} joint"),
        _ => COMPOUNDS
            .iter()
            .fold(plain, |title, (one, two)| title.replace(one, two)),
    });
    with_side(name, &title)
}

fn with_side(name: &str, title: &str) -> String {
    capitalised(&match parts(name).0 {
        Some(side) => format!("{side} {title}"),
        None => title.to_owned(),
    })
}

const FINGERS: [&str; 6] = ["index", "middle", "ring", "little", "pinky", "pinkie"];

/// `index 3` is a joint of the index finger.
fn finger_title(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let of = match first.as_str() {
        "thumb" | "finger" => first.clone(),
        finger if FINGERS.contains(&finger) => format!("{finger} finger"),
        _ => return None,
    };
    match rest {
        [finger, number] if first == "finger" => Some(format!("{of} {finger}, joint {number}")),
        [] => Some(of),
        [number] if is_number(number) => Some(format!("{of}, joint {number}")),
        _ => None,
    }
}

/// A title without its side, for joints that come in pairs.
pub(crate) fn without_side(title: &str) -> String {
    let title = title
        .strip_prefix("Left ")
        .or(title.strip_prefix("Right "))
        .unwrap_or(title);
    title.to_lowercase()
}

/// True if a title is that of a well-known joint, which everyone would bend first.
pub(crate) fn is_well_known(title: &str) -> bool {
    ["shoulder", "elbow", "hip", "knee"].contains(&without_side(title).as_str())
}

/// True if a title is that of a joint that sits in a socket.
pub(crate) fn has_socket(title: &str) -> bool {
    ["shoulder", "hip"].contains(&without_side(title).as_str())
}

/// True if a title is that of a joint in a hand.
pub(crate) fn is_finger(title: &str) -> bool {
    let title = title.to_lowercase();
    title.contains("finger") || title.contains("thumb") || title.contains("metacarpal")
}

/// Replaces control characters, which a page must not hold, by a mark.
pub(crate) fn clean(text: &str) -> String {
    let visible = |character: char| match character {
        '\t' | '\n' => ' ',
        control if control.is_control() => '\u{fffd}',
        other => other,
    };
    text.chars().map(visible).collect()
}

/// A name from a file for a page, cut where it is very long.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", clean(name[..end].trim_end())),
        None => clean(name),
    }
}

/// A clip's name for people.
pub(crate) fn clip_title(name: &str) -> String {
    let name = without_copy_number(name);
    let plain: String = name
        .chars()
        .map(|c| if matches!(c, '_' | '-' | '.') { ' ' } else { c })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.is_empty() {
        return "Unnamed clip".to_owned();
    }
    cut(&capitalised(&words.join(" ")))
}

/// The first letter large.
pub(crate) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// The first letter small, unless the word is an abbreviation.
pub(crate) fn uncapitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    let second_is_large = characters.clone().next().is_some_and(char::is_uppercase);
    match first {
        Some(first) if !second_is_large => first.to_lowercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}

/// `run.001` is Blender's way of saying that there was a `run` already.
fn without_copy_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((before, number)) if number.len() == 3 && is_number(number) && !before.is_empty() => {
            before
        }
        _ => name,
    }
}

/// The side in a name, and its other words in lower case.
fn parts(name: &str) -> (Option<&'static str>, Vec<String>) {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let name = without_copy_number(name);
    let mut side = None;
    let mut words = Vec::new();
    for word in split_words(name) {
        let found = match word.as_str() {
            "l" | "left" => Some("left"),
            "r" | "right" => Some("right"),
            _ => None,
        };
        if found.is_some() && side.is_none() {
            side = found;
        } else {
            words.push(word);
        }
    }
    // Exporters put "b", "bip", "def" before a name and its number in the file behind. Before a
    // mere number it is the name.
    if words.iter().skip(1).any(|word| !is_number(word))
        && matches!(
            words[0].as_str(),
            "armature" | "b" | "bip" | "bip1" | "def" | "j" | "bone" | "jnt"
        )
    {
        words.remove(0);
    }
    if words.len() > 1 && name.contains('_') && ends_in_file_number(name) {
        words.pop();
    }
    (side, words)
}

/// `b_LeftForeArm_010`: a number after an underscore that is written with a leading zero and two
/// digits or more.
fn ends_in_file_number(name: &str) -> bool {
    let Some((before, last)) = name.rsplit_once('_') else {
        return false;
    };
    before.contains('_') && last.len() >= 2 && is_number(last) && last.starts_with('0')
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Cuts at punctuation, before capitals that follow small letters, and between letters and digits.
fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for character in name.chars() {
        let boundary = previous.is_some_and(|previous| {
            (previous.is_lowercase() && character.is_uppercase())
                || previous.is_ascii_digit() != character.is_ascii_digit()
        });
        if (boundary || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        previous = Some(character);
    }
    if !word.is_empty() {
        words.push(word);
    }
    for word in &mut words {
        if is_number(word) {
            let short = word.trim_start_matches('0');
            *word = if short.is_empty() { "0" } else { short }.to_owned();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_called_what_people_call_them() {
        for (name, expected) in [
            ("forearm.L", "Left elbow"),
            ("lowerarm01.R", "Right elbow"),
            ("lowerarm02.R", "Right lower arm 2"),
            ("mixamorig:LeftLeg", "Left knee"),
            ("mixamorig:LeftUpLeg", "Left hip"),
            ("b_LeftForeArm_010", "Left elbow"),
            ("b_Spine02_03", "Spine 2"),
            ("forearm_twist.L", "Left forearm twist"),
            ("finger1-2.L", "Left finger 1, joint 2"),
            ("second", "Second joint"),
            ("index_3.L", "Left index finger, joint 3"),
            ("thumb_02.r", "Right thumb, joint 2"),
            ("index_metacarpal.L", "Left index metacarpal"),
            ("", "Joint 7"),
            ("骨", "骨"),
            ("upperleg.l", "Left hip"),
            ("bone1", "Bone 1"),
            ("Bone.001", "Bone"),
            ("Bone_02", "Bone 2"),
            ("12", "Joint 12"),
        ] {
            assert_eq!(joint_title(name, 7), expected, "{name}");
        }
        let between = |name, above, below: &[&'static str]| {
            joint_title_between(name, 7, Some(above), below.iter().copied())
        };
        let (upper, lower) = ("b_LeftLeg01_015", "b_LeftLeg02_016");
        assert_eq!(between(upper, "b_Hip_01", &[lower]), "Left hip");
        assert_eq!(between(lower, upper, &["b_LeftFoot01_017"]), "Left leg 2");
        assert_eq!(between("LeftLeg", "LeftUpLeg", &["LeftFoot"]), "Left knee");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut("knee"), "knee");
        assert_eq!(cut(&"ä".repeat(60)), "ä".repeat(60));
        assert_eq!(cut(&"ä".repeat(61)), format!("{}…", "ä".repeat(60)));
    }

    #[test]
    fn clips_are_words() {
        assert_eq!(clip_title("elbow-bend-120"), "Elbow bend 120");
        assert_eq!(clip_title("run_root.001"), "Run root");
        assert_eq!(clip_title("__"), "Unnamed clip");
        assert_eq!(uncapitalised("Left elbow"), "left elbow");
        assert_eq!(uncapitalised("LBS"), "LBS");
    }
}
