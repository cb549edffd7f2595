//! Words of commands that users copy.

use std::path::Path;

/// The name of a file or built-in character without folder and extension: "hero".
pub fn stem(file: &str) -> String {
    let name = match file.strip_prefix('@') {
        Some(character) => character.split(':').next(),
        None => Path::new(file).file_stem().and_then(|stem| stem.to_str()),
    };
    name.unwrap_or("character").to_owned()
}

/// A word of a command line, quoted for a shell where necessary.
pub fn argument(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@:._-/+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('-') {
        return word.to_owned();
    }
    let word = match word.starts_with('-') {
        true => format!("./{word}"),
        false => word.to_owned(),
    };
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive_any_file_name() {
        assert_eq!(argument("hero.glb"), "hero.glb");
        assert_eq!(argument("@figure:8000"), "@figure:8000");
        assert_eq!(argument("my hero.glb"), "'my hero.glb'");
        assert_eq!(argument("it's; rm -r.glb"), r"'it'\''s; rm -r.glb'");
        assert_eq!(argument("-m.glb"), "'./-m.glb'");
        assert_eq!(stem("folder/hero.v2.glb"), "hero.v2");
        assert_eq!(stem("@figure:8000"), "figure");
    }
}
