//! Built-in characters on the command line: `bar`, `figure:40000`.

use supple::characters::{Character, MAX_VERTICES, MIN_VERTICES};

/// Reads a character and its number of vertices.
pub(crate) fn parse_character(text: &str) -> Result<(Character, usize), String> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    let mut all = Character::ALL.iter().copied();
    let Some(character) = all.find(|known| known.name() == name) else {
        let names: Vec<_> = Character::ALL.iter().map(Character::name).collect();
        return Err(format!(
            "there is no character '{name}'; known: {}",
            names.join(", ")
        ));
    };
    let Some(number) = number else {
        return Ok((character, character.default_vertices()));
    };
    match number.parse() {
        Ok(vertices) if (MIN_VERTICES..=MAX_VERTICES).contains(&vertices) => {
            Ok((character, vertices))
        }
        Ok(vertices) => Err(format!(
            "a built-in character has from {MIN_VERTICES} to {MAX_VERTICES} vertices, not \
             {vertices}"
        )),
        Err(_) => Err(format!(
            "'{number}' is not a number of vertices; write a whole number from {MIN_VERTICES} to \
             {MAX_VERTICES}, as in '{name}:40000'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_a_size() {
        for &character in Character::ALL {
            let parsed = parse_character(character.name()).unwrap();
            assert_eq!(parsed, (character, character.default_vertices()));
        }
        let sized = parse_character("figure:40000").unwrap();
        assert_eq!(sized, (Character::Figure, 40_000));
        for (text, problem) in [
            (
                "robot:40000",
                "no character 'robot'; known: bar, arm, cloth, tentacle, figure",
            ),
            ("arm:many", "'many' is not a number of vertices"),
            ("bar:12", "from 2000 to 4000000 vertices, not 12"),
            ("figure:", "'' is not a number of vertices"),
        ] {
            let refused = parse_character(text).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
