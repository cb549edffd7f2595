//! Text from files in messages: one short line, however long it is.

/// The most characters of a file's text that a message repeats.
const MOST: usize = 80;

/// Quotes text from a file for a message, between single quotes, [`shortened`].
///
/// ```
/// assert_eq!(supple_io::text::quoted("upper\narm"), r"'upper\narm'");
/// ```
pub fn quoted(text: &str) -> String {
    format!("'{}'", shortened(text))
}

/// Shortens text from a file to one line of at most 80 characters.
///
/// Control characters are [`escaped`], and the middle of longer text is left out. Messages of other
/// crates, which may repeat text from the file, should be shortened too.
pub fn shortened(text: &str) -> String {
    shortened_to(MOST, text)
}

/// Shortens text to one line of at most `most` characters, as [`shortened`] does.
pub fn shortened_to(most: usize, text: &str) -> String {
    let line: Vec<char> = escaped(text).chars().collect();
    if line.len() <= most {
        return line.into_iter().collect();
    }
    let tail = most / 3;
    let head = most.saturating_sub(tail + 1);
    let start = line[..head].iter();
    let end = line[line.len() - tail..].iter();
    start.chain(&['…']).chain(end).collect()
}

/// Escapes characters that could change how a terminal shows other text.
pub fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match is_invisible(character) {
            true => result.extend(character.escape_default()),
            false => result.push(character),
        }
    }
    result
}

/// True for characters that control how text is shown: control characters (C0, DEL and C1), line
/// separators, and marks of the writing direction.
pub fn is_invisible(character: char) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_loses_its_middle_and_keeps_one_line() {
        assert_eq!(quoted("Läufer"), "'Läufer'");
        assert_eq!(shortened(&"x".repeat(MOST)), "x".repeat(MOST));
        let long = format!("start{}end", "\n\u{1b}x".repeat(100_000));
        let short = shortened(&long);
        assert_eq!(short.chars().count(), MOST);
        assert!(!short.contains(char::is_control));
        assert!(short.starts_with("start") && short.ends_with("end") && short.contains('…'));
    }
}
