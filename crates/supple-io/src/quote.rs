//! Text from files in errors and warnings: one short line, however long the file has it.

/// The most characters of a file's text that a message repeats.
const MOST: usize = 80;

/// Quotes text from a file for a message: between single quotes, on one line, shortened.
///
/// ```
/// assert_eq!(supple_io::quoted("upper\narm"), r"'upper\narm'");
/// ```
pub fn quoted(text: &str) -> String {
    format!("'{}'", shortened(text))
}

/// Shortens text from a file to one line of at most 80 characters: control characters are escaped,
/// and of longer text the middle is left out. Also for messages of other crates, which may repeat
/// what the file says.
pub fn shortened(text: &str) -> String {
    let mut line: Vec<char> = Vec::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    if line.len() <= MOST {
        return line.into_iter().collect();
    }
    let tail = MOST / 3;
    let head = MOST - tail - 1;
    let start = line[..head].iter();
    let end = line[line.len() - tail..].iter();
    start.chain(&['…']).chain(end).collect()
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
