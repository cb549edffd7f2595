//! Words for people: counts, and text that came from files.

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
