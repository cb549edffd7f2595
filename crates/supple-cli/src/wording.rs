//! Words for people: counts, and text that came from files.

use supple::centers::CenterOptions;
use supple::laplacian::EdgeWeights;
use supple::mush::MushOptions;
use supple::smoothing::Steps;
use supple::{Rig, Skeleton, Weights};
use supple_io::gltf::StoredState;

pub(crate) use supple::words::measure;

/// "1 vertex", "2 vertices".
pub(crate) fn many(count: usize, noun: &str) -> String {
    let plural = match noun {
        "vertex" => "vertices".to_owned(),
        "mesh" => "meshes".to_owned(),
        _ => format!("{noun}s"),
    };
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {plural}")
    }
}

/// A joint by its name, or by the number that commands know it by; `order` is that of the file.
pub(crate) fn joint_label(skeleton: &Skeleton, order: &[usize], joint: usize) -> String {
    match skeleton.joint_name(joint) {
        "" => {
            let number = order.iter().position(|&listed| listed == joint);
            format!("joint {}", number.unwrap_or(joint))
        }
        name => format!("'{}'", short_name(name)),
    }
}

/// What is wrong with stored numbers: a word, and why. Nothing if they fit.
pub(crate) fn unusable(state: &StoredState) -> Option<(&'static str, String)> {
    let (word, why) = match state {
        StoredState::Fit => return None,
        StoredState::Stale => (
            "stale",
            "the surface or the weights have changed since they were computed",
        ),
        StoredState::Incomplete => ("incomplete", "some of the meshes have none"),
        StoredState::UnknownOrigin => (
            "of unknown origin",
            "nothing says what they were computed from",
        ),
        StoredState::Broken { place, problem } => {
            return Some(("broken", short_sentence(&format!("{place}: {problem}"))));
        }
    };
    Some((word, why.to_owned()))
}

/// Why no vertex of a character has a center of rotation.
pub(crate) fn why_no_centers(rig: &Rig) -> &'static str {
    let mesh = rig.mesh();
    let corner = |corner: u32| mesh.positions()[corner as usize].as_dvec3();
    let has_area = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(corner);
        (b - a).cross(c - a).length_squared() > 0.0
    };
    if rig.weights().max_influences() < 2 {
        "each follows a single joint"
    } else if !mesh.triangles().iter().any(has_area) {
        "the surface has no area to compute centers from"
    } else {
        "those that follow several joints have weights unlike those of any triangle"
    }
}

/// How centers of rotation are computed.
pub(crate) fn center_options(options: &CenterOptions) -> String {
    let CenterOptions {
        sigma,
        epsilon,
        accuracy,
    } = options;
    format!("sigma {sigma}, epsilon {epsilon}, accuracy {accuracy}")
}

/// How direct delta mush is baked.
pub(crate) fn mush_options(options: &MushOptions) -> String {
    let MushOptions {
        iterations,
        lambda,
        kappa,
        alpha,
        ..
    } = options;
    let mut words = vec![format!(
        "{iterations} iterations, lambda {lambda}, kappa {kappa}, alpha {alpha}"
    )];
    let mut word_if = |is_so: bool, word: &str| words.extend(is_so.then(|| word.to_owned()));
    word_if(options.radius_from_bones, "radius from bones");
    word_if(options.rigid, "from a rigid bind");
    word_if(options.edge_weights == EdgeWeights::Cotangent, "cotangent");
    word_if(options.steps == Steps::Explicit, "explicit");
    word_if(!options.alpha_at_joints.is_empty(), "alpha set at joints");
    if let Some(most) = options.max_influences {
        words.push(format!("at most {}", many(most, "joint")));
    }
    if options.prune != MushOptions::DEFAULT.prune {
        words.push(format!("pruned at {}", options.prune));
    }
    words.join(", ")
}

/// How many influences there are, and per vertex.
pub(crate) fn mush_influences(weights: &Weights) -> String {
    let (count, vertices) = (weights.influence_count(), weights.vertex_count());
    let mean = count as f64 / vertices.max(1) as f64;
    format!("{} ({mean:.1} per vertex)", many(count, "influence"))
}

/// A number of bytes that can be read at a glance.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..1_000_000 => format!("{} kB", count / 1000),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// A share of the size of a character, in percent.
pub(crate) fn share_of_size(share: f32) -> String {
    let percent = 100.0 * f64::from(share);
    match percent {
        0.0..0.001 => format!("{percent:.5} %"),
        0.001..0.1 => format!("{percent:.4} %"),
        _ => format!("{percent:.2} %"),
    }
}

/// As many characters of a name as are shown.
const NAME_LENGTH: usize = 60;

/// As many characters as are shown of a sentence that quotes a file.
const SENTENCE_LENGTH: usize = 400;

/// Escapes what could change how a terminal shows other text.
pub(crate) fn printable(text: &str) -> String {
    shortened(text, usize::MAX)
}

/// A name from a file, on one line: escaped, and cut where it is long.
pub(crate) fn short_name(name: &str) -> String {
    shortened(name, NAME_LENGTH)
}

/// A sentence that quotes a file, on one line: escaped, and cut where it is long.
pub(crate) fn short_sentence(text: &str) -> String {
    shortened(text, SENTENCE_LENGTH)
}

/// Escapes a text, and ends it with an ellipsis where it is longer than so many characters.
fn shortened(text: &str, most: usize) -> String {
    let mut result = String::new();
    let mut length = 0;
    // Where the text is cut if more follows: an ellipsis needs room.
    let mut cut = 0;
    for character in text.chars() {
        let shown = match is_invisible(character) {
            true => character.escape_default().to_string(),
            false => character.to_string(),
        };
        length += shown.chars().count();
        if length > most {
            result.truncate(cut);
            result.push('…');
            break;
        }
        result += &shown;
        if length < most {
            cut = result.len();
        }
    }
    result
}

/// True for characters that steer how text is shown instead of being shown: control characters (C0,
/// DEL and C1), separators of lines, and those that turn the direction of writing.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// JSON whose strings hold nothing that a terminal would obey.
///
/// The JSON itself is that of `serde_json`, which escapes only C0 controls; all others stand in
/// strings, where an escape means the same.
pub(crate) fn printable_json(json: &str) -> String {
    let mut result = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // Between the values of indented JSON.
            '\n' => result.push(character),
            _ if is_invisible(character) => result += &format!("\\u{:04x}", u32::from(character)),
            _ => result.push(character),
        }
    }
    result
}

/// Names from a file in a row, the first dozen of them.
pub(crate) fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let hidden = names.len().saturating_sub(SHOWN);
    let list: Vec<String> = names.take(SHOWN).map(short_name).collect();
    match hidden {
        0 => list.join(", "),
        _ => format!("{} and {hidden} more", list.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_cannot_speak_to_the_terminal() {
        assert_eq!(printable("Läufer\n\u{1b}[31m"), "Läufer\\n\\u{1b}[31m");
        assert_eq!(printable("a\u{9b}31m\u{7f}"), "a\\u{9b}31m\\u{7f}");
        let directions = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{2028}";
        for direction in directions.chars() {
            let expected = format!("a\\u{{{:x}}}b", u32::from(direction));
            assert_eq!(printable(&format!("a{direction}b")), expected);
        }
        assert_eq!(printable("אבג, שלום"), "אבג, שלום");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let text = "a\u{1b}b\u{7f}c\u{9b}d\u{202e}e\u{2069}f\"\\\n";
        let json = serde_json::json!({ text: [text, 1] });
        for written in [format!("{json}"), format!("{json:#}")] {
            let escaped = printable_json(&written);
            let visible = |character: char| character == '\n' || !is_invisible(character);
            assert!(escaped.chars().all(visible), "{escaped}");
            let read: serde_json::Value = serde_json::from_str(&escaped).unwrap();
            assert_eq!(read, json);
        }
    }

    #[test]
    fn long_names_end_with_an_ellipsis() {
        let long = "ä".repeat(NAME_LENGTH);
        assert_eq!(short_name(&long), long);
        let longer = short_name(&format!("{long}ä"));
        assert_eq!(longer.chars().count(), NAME_LENGTH);
        assert!(longer.ends_with("ää…"));
        let escaped = short_name(&"\n".repeat(NAME_LENGTH));
        assert!(escaped.chars().count() <= NAME_LENGTH && escaped.ends_with("\\n…"));
        assert_eq!(names(["a", "b"].into_iter()), "a, b");
        assert!(names(["a"; 15].into_iter()).ends_with("a and 3 more"));
    }

    #[test]
    fn counts_read_as_one_would_say_them() {
        assert_eq!(many(1, "vertex"), "1 vertex");
        assert_eq!(many(2, "vertex"), "2 vertices");
    }
}
