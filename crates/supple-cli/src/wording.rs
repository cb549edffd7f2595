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
        name => format!("'{}'", printable(name)),
    }
}

/// A joint by its number and its name, as errors of the library name it.
pub(crate) fn numbered_joint(skeleton: &Skeleton, joint: usize) -> String {
    format!("joint {joint} '{}'", printable(skeleton.joint_name(joint)))
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
            return Some(("broken", printable(&format!("{place}: {problem}"))));
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

/// Text that may come from a file, with its control characters made visible, so that it cannot speak to the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            result.extend(character.escape_default());
        } else {
            result.push(character);
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
        assert_eq!(many(1, "vertex"), "1 vertex");
        assert_eq!(many(2, "vertex"), "2 vertices");
    }
}
