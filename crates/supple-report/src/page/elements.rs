//! Elements that several parts of a page share: names from files, pictures, figures.

use crate::names::cut;
use crate::pictures::Ring;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use supple_render::{Image, ImageError};

/// A name from a file: cut where it is very long, and kept from changing the direction of the text
/// around it.
pub(super) fn named(name: &str) -> Markup {
    html! { bdi { (cut(name)) } }
}

/// A picture inside the page, which needs no other file.
pub(super) fn picture(image: &Image, alt: &str) -> Result<Markup, ImageError> {
    let mut file = Vec::new();
    image.write_png(&mut file)?;
    let mut source = String::with_capacity(file.len() * 4 / 3 + 32);
    source.push_str("data:image/png;base64,");
    STANDARD.encode_string(&file, &mut source);
    Ok(html! {
        img width=(image.width()) height=(image.height()) alt=(alt) decoding="async" src=(source);
    })
}

/// A picture with a ring over the place that it is about.
pub(super) fn ringed(picture: &Markup, ring: Option<&Ring>, class: &str) -> Markup {
    html! {
        div.whole {
            (picture)
            @if let Some(ring) = ring {
                i class=(class) style=(position(ring)) {}
            }
        }
    }
}

fn position(ring: &Ring) -> String {
    let [x, y, width] = [ring.x, ring.y, ring.width].map(|share| share * 100.0);
    format!("left:{x:.1}%;top:{y:.1}%;width:{width:.1}%")
}

/// A picture that belongs to no method, under its caption.
pub(super) fn aside(caption: &Markup, picture: &Markup) -> Markup {
    html! {
        figure.tile.aside {
            figcaption { span { (caption) } }
            (picture)
        }
    }
}

/// The mark in a method's colour.
pub(super) fn key(method: usize) -> Markup {
    html! { i.key.{ "k" (method) } {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_cannot_leave_their_place() {
        let hostile = "\"><script>alert('x')</script>&\u{0}\n";
        assert_eq!(
            named(hostile).into_string(),
            "<bdi>&quot;&gt;&lt;script&gt;alert('x')&lt;/script&gt;&amp;\u{fffd} </bdi>"
        );
    }

    #[test]
    fn pictures_are_part_of_the_page() {
        let image = Image::new(2, vec![[1, 2, 3]; 4]);
        let tag = picture(&image, "a <bar>").unwrap().into_string();
        assert!(tag.contains("src=\"data:image/png;base64,iVBOR"), "{tag}");
        assert!(tag.contains("alt=\"a &lt;bar&gt;\""), "{tag}");
    }
}
