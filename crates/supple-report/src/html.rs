//! Small helpers for pages: text made safe, pictures inside of the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use supple_render::{Image, ImageError};

/// Text for a page, between tags or inside quotes. Control characters, which pages must not hold,
/// become a mark.
pub(crate) fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            '\t' | '\n' => result.push(' '),
            control if control.is_control() => result.push('\u{fffd}'),
            other => result.push(other),
        }
    }
    result
}

/// Longer names are cut.
const LONGEST_NAME: usize = 60;

/// A name from a file, cut where it is very long.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", name[..end].trim_end()),
        None => name.to_owned(),
    }
}

/// A name from a file as a part of a page: cut, made safe, and kept from turning the text around
/// it.
pub(crate) fn named(name: &str) -> String {
    format!("<bdi>{}</bdi>", escape(&cut(name)))
}

/// Fills the places `{{name}}` of a template. What is filled in is not searched again.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut result = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        result.push_str(before);
        let Some((name, behind)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        let value = values.iter().find(|(known, _)| *known == name);
        debug_assert!(value.is_some(), "nothing to fill in for {name}");
        result.push_str(value.map_or("", |(_, value)| value));
        rest = behind;
    }
    result.push_str(rest);
    result
}

/// A picture as an `img` that needs no file beside the page.
pub(crate) fn picture(image: &Image, alt: &str) -> Result<String, ImageError> {
    let mut file = Vec::new();
    image.write_png(&mut file)?;
    let mut tag = String::with_capacity(file.len() * 4 / 3 + 200);
    // Writing to a string cannot fail.
    let _ = write!(
        tag,
        "<img width=\"{}\" height=\"{}\" alt=\"{}\" decoding=\"async\" src=\"data:image/png;base64,",
        image.width(),
        image.height(),
        escape(alt)
    );
    STANDARD.encode_string(&file, &mut tag);
    tag.push_str("\">");
    Ok(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_cannot_leave_their_place() {
        let hostile = "\"><script>alert('x')</script>&\u{0}\n";
        let safe = escape(hostile);
        assert_eq!(
            safe,
            "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\u{fffd} "
        );
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(named("knee"), "<bdi>knee</bdi>");
        assert_eq!(cut(&"ä".repeat(60)), "ä".repeat(60));
        assert_eq!(cut(&"ä".repeat(61)), format!("{}…", "ä".repeat(60)));
    }

    #[test]
    fn what_is_filled_in_is_not_searched_again() {
        let page = fill("<{{a}}|{{b}}>", &[("a", "{{b}}"), ("b", "2")]);
        assert_eq!(page, "<{{b}}|2>");
    }

    #[test]
    fn pictures_are_part_of_the_page() {
        let image = Image::new(2, vec![[1, 2, 3]; 4]);
        let tag = picture(&image, "a <bar>").unwrap();
        assert!(tag.contains("src=\"data:image/png;base64,iVBOR"), "{tag}");
        assert!(tag.contains("alt=\"a &lt;bar&gt;\""), "{tag}");
    }
}
