//! Words for people: counts, and text that came from files.

use supple::Rig;
use supple::centers::CenterOptions;
use supple_io::gltf::CenterState;

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

/// What is wrong with stored centers of rotation: a word, and why. Nothing if they fit.
pub(crate) fn unusable_centers(state: &CenterState) -> Option<(&'static str, String)> {
    let (word, why) = match state {
        CenterState::Fit => return None,
        CenterState::Stale => (
            "stale",
            "the surface or the weights have changed since they were computed",
        ),
        CenterState::Incomplete => ("incomplete", "some of the meshes have none"),
        CenterState::UnknownOrigin => (
            "of unknown origin",
            "nothing says what they were computed from",
        ),
        CenterState::Broken { place, problem } => {
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
