//! Text for messages: counts, names from files, options.

use supple::centers::CenterOptions;
use supple::mush::EdgeWeights;
use supple::mush::MushOptions;
use supple::mush::Steps;
use supple::weights::WeightsReport;
use supple::{Rig, Skeleton, Weights};
use supple_io::gltf::StoredState;
use supple_io::text::{is_invisible, quoted, shortened, shortened_to};

pub(crate) use supple::words::measure;
pub(crate) use supple_io::text::escaped as printable;

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

/// The name of a joint, or its number in the order of the file.
pub(crate) fn joint_label(skeleton: &Skeleton, order: &[usize], joint: usize) -> String {
    match skeleton.joint_name(joint) {
        "" => {
            let number = order.iter().position(|&listed| listed == joint);
            format!("joint {}", number.unwrap_or(joint))
        }
        name => quoted(name),
    }
}

/// A list of names from a file: the first dozen, each shortened.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let hidden = names.len().saturating_sub(SHOWN);
    let list = names
        .take(SHOWN)
        .map(shortened)
        .collect::<Vec<_>>()
        .join(", ");
    if hidden == 0 {
        list
    } else {
        format!("{list} and {hidden} more")
    }
}

/// A fault of a file's weights that is repaired when it is read.
pub(crate) struct WeightFlaw {
    /// An identifier for programs.
    pub(crate) kind: &'static str,
    /// The number of faults.
    pub(crate) count: usize,
    /// The fault in the file.
    pub(crate) found: String,
    /// The repair.
    pub(crate) mended: &'static str,
}

/// The faults of a file's weights.
pub(crate) fn weight_flaws(weights: &WeightsReport, vertices: usize) -> Vec<WeightFlaw> {
    let mut flaws = Vec::new();
    let mut flaw = |kind, count: usize, found: String, mended| {
        if count > 0 {
            flaws.push(WeightFlaw {
                kind,
                count,
                found,
                mended,
            });
        }
    };
    if let Some((low, high)) = weights.sum_range {
        let range = if low == high {
            format!("{low:.4}")
        } else {
            format!("{low:.4} to {high:.4}")
        };
        let of = format!("{} of {}", weights.unnormalised, many(vertices, "vertex"));
        flaw(
            "unnormalised_weights",
            weights.unnormalised,
            format!("weights of {of} do not sum to 1 (sums {range})"),
            "; they were normalised",
        );
    }
    let without = weights.without_weights;
    let first = weights.first_without_weights.unwrap_or(0);
    flaw(
        "no_weights",
        without,
        format!(
            "{} without weights (the first is {first})",
            many(without, "vertex")
        ),
        " follow the root of their skin",
    );
    let negative = weights.negative;
    flaw(
        "negative_weights",
        negative,
        many(negative, "negative weight"),
        ", taken as zero",
    );
    let unused = weights.out_of_range_unused;
    flaw(
        "joints_out_of_range",
        unused,
        format!(
            "{} of weight zero name joints that do not exist",
            many(unused, "influence")
        ),
        "; they were ignored",
    );
    flaws
}

/// The number and name of a joint, as in errors of the library.
pub(crate) fn numbered_joint(skeleton: &Skeleton, joint: usize) -> String {
    match skeleton.joint_name(joint) {
        "" => format!("joint {joint}"),
        name => format!("joint {joint} {}", quoted(name)),
    }
}

/// Why a stored bake cannot be used: a word and a reason. None if it fits.
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

/// The reason why no vertex of a character has a center of rotation.
pub(crate) fn why_no_centers(rig: &Rig) -> &'static str {
    let mesh = rig.mesh();
    let corner = |corner: u32| mesh.positions()[corner as usize].as_dvec3();
    let has_area = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(corner);
        (b - a).cross(c - a).length_squared() > 0.0
    };
    if rig.weights().max_influences() < 2 {
        "each vertex follows a single joint"
    } else if !mesh.triangles().iter().any(has_area) {
        "the surface has no area to compute centers from"
    } else {
        "no triangle has weights similar to those of a vertex with several joints"
    }
}

/// The options of centers of rotation.
pub(crate) fn center_options(options: &CenterOptions) -> String {
    let CenterOptions {
        sigma,
        epsilon,
        accuracy,
    } = options;
    format!("sigma {sigma}, epsilon {epsilon}, accuracy {accuracy}")
}

/// The options of a bake of direct delta mush.
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
    if options.prune != MushOptions::default().prune {
        words.push(format!("pruned at {}", options.prune));
    }
    words.join(", ")
}

/// The number of influences, and their mean per vertex.
pub(crate) fn mush_influences(weights: &Weights) -> String {
    let (count, vertices) = (weights.influence_count(), weights.vertex_count());
    let mean = count as f64 / vertices.max(1) as f64;
    format!("{} ({mean:.1} per vertex)", many(count, "influence"))
}

/// A number of bytes with a unit.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..1_000_000 => format!("{} kB", count / 1000),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// A share of the character's size in percent.
pub(crate) fn share_of_size(share: f32) -> String {
    let percent = 100.0 * f64::from(share);
    match percent {
        0.0..0.001 => format!("{percent:.5} %"),
        0.001..0.1 => format!("{percent:.4} %"),
        _ => format!("{percent:.2} %"),
    }
}

/// The longest part of a sentence from a file that is shown.
const SENTENCE_LENGTH: usize = 400;

/// A sentence that may quote a file: on one line, escaped and shortened.
pub(crate) fn short_sentence(text: &str) -> String {
    shortened_to(SENTENCE_LENGTH, text)
}

/// JSON without control characters that a terminal would obey.
///
/// `serde_json` escapes only C0 controls; the others are in strings, where they can be escaped.
pub(crate) fn printable_json(json: &str) -> String {
    let mut result = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // Line breaks between the values of indented JSON.
            '\n' => result.push(character),
            _ if is_invisible(character) => result += &format!("\\u{:04x}", u32::from(character)),
            _ => result.push(character),
        }
    }
    result
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
    fn only_the_first_names_of_many_are_listed() {
        assert_eq!(listed(["a", "b"].into_iter()), "a, b");
        assert!(listed(["a"; 15].into_iter()).ends_with("a and 3 more"));
    }

    #[test]
    fn counts_read_as_one_would_say_them() {
        assert_eq!(many(1, "vertex"), "1 vertex");
        assert_eq!(many(2, "vertex"), "2 vertices");
    }
}
