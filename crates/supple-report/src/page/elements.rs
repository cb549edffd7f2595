//! Elements that several parts of a page share: names from files, pictures, figures.

use crate::ReportError;
use crate::names::{clean, cut};
use crate::pictures::Ring;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use maud::{Markup, html};
use supple_render::Image;

/// A name from a file: cut where it is very long, and kept from changing the direction of the text
/// around it.
pub(super) fn named(name: &str) -> Markup {
    html! { bdi { (cut(name)) } }
}

/// A sentence with names from a file, which cannot change the direction of the text around it.
pub(super) fn isolated(sentence: &str) -> Markup {
    html! { bdi { (clean(sentence)) } }
}

/// The quality of stills and of moving pictures: at 88 nobody sees that a still was compressed.
const STILL_QUALITY: u8 = 88;
const MOVING_QUALITY: u8 = 76;

/// A picture inside the page, which needs no other file.
pub(super) fn picture(image: &Image, alt: &str) -> Result<Markup, ReportError> {
    let source = jpeg(image, STILL_QUALITY)?;
    Ok(html! {
        img width=(image.width()) height=(image.height()) alt=(alt) decoding="async" src=(source);
    })
}

/// Frames of a short motion, one above the other in one picture; the style sheet plays them there
/// and back.
pub(super) fn strip(frames: &[Image], alt: &str) -> Result<Markup, ReportError> {
    let width = frames.first().map_or(0, Image::width);
    let height = frames.first().map_or(0, Image::height);
    let pixels = frames.iter().flat_map(|frame| frame.pixels()).copied();
    let source = jpeg(&Image::new(width, pixels.collect()), MOVING_QUALITY)?;
    let style = format!("--frames:{};aspect-ratio:{width}/{height}", frames.len());
    Ok(html! {
        div.strip role="img" aria-label=(alt) style=(style) {
            img alt="" decoding="async" src=(source);
        }
    })
}

/// A picture as the address of a JPEG file: a fifth of what a PNG file of a shaded surface takes.
fn jpeg(image: &Image, quality: u8) -> Result<String, ReportError> {
    let size = (u16::try_from(image.width()), u16::try_from(image.height()));
    let (Ok(width), Ok(height)) = size else {
        return Err(ReportError::PictureSize {
            width: image.width(),
            height: image.height(),
        });
    };
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, quality);
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.encode(image.pixels().as_flattened(), width, height, ColorType::Rgb)?;
    let mut source = String::with_capacity(file.len() * 4 / 3 + 32);
    source.push_str("data:image/jpeg;base64,");
    STANDARD.encode_string(&file, &mut source);
    Ok(source)
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
        assert!(tag.contains("src=\"data:image/jpeg;base64,/9j/"), "{tag}");
        assert!(tag.contains("alt=\"a &lt;bar&gt;\""), "{tag}");
    }
}
