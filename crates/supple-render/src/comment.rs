//! Comments in picture files.

use gif::streaming_decoder::{Decoded, OutputBuffer, StreamingDecoder};
use std::io::Cursor;

/// The keyword of comments in PNG files.
pub(crate) const PNG_COMMENT: &str = "Comment";

/// The label of comments in GIF files.
pub(crate) const GIF_COMMENT: u8 = 0xFE;

/// Reads the comments of a PNG or GIF file; none from other or broken files.
///
/// Of a GIF, only those before the first frame are read.
pub fn read_comments(file: &[u8]) -> Vec<String> {
    match file.starts_with(b"GIF8") {
        true => gif_comments(file),
        false => png_comments(file),
    }
}

fn png_comments(file: &[u8]) -> Vec<String> {
    let Ok(reader) = png::Decoder::new(Cursor::new(file)).read_info() else {
        return Vec::new();
    };
    let texts = reader.info().uncompressed_latin1_text.iter();
    let comments = texts.filter(|text| text.keyword == PNG_COMMENT);
    comments.map(|text| text.text.clone()).collect()
}

fn gif_comments(mut file: &[u8]) -> Vec<String> {
    let mut decoder = StreamingDecoder::new();
    let mut comments = Vec::new();
    let mut comment = Vec::new();
    while let Ok((read, decoded)) = decoder.update(file, &mut OutputBuffer::None) {
        file = file.get(read..).unwrap_or_default();
        match decoded {
            Decoded::SubBlock { ext, is_last } if ext.0 == GIF_COMMENT => {
                comment.extend_from_slice(decoder.last_ext_sub_block());
                if is_last {
                    comments.push(String::from_utf8_lossy(&comment).into_owned());
                    comment.clear();
                }
            }
            Decoded::FrameMetadata(_) => break,
            _ if file.is_empty() => break,
            _ => {}
        }
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColorTable, GifWriter, Image};

    #[test]
    fn comments_come_back_from_both_formats() {
        let image = Image::new(4, vec![[9; 3]; 16]);
        for comment in ["view 1,2".to_owned(), "long ".repeat(200)] {
            let mut png = Vec::new();
            image.write_png_with_comment(&mut png, &comment).unwrap();
            let mut gif = GifWriter::new(Vec::new(), 4, 4, ColorTable::of([&image]), 9.0).unwrap();
            gif.comment(&comment).unwrap();
            gif.push(&image).unwrap();
            let gif = gif.finish().unwrap();
            for file in [&png, &gif] {
                assert_eq!(read_comments(file), [comment.as_str()]);
                for length in 0..file.len() {
                    read_comments(&file[..length]);
                }
            }
        }
    }

    #[test]
    fn files_without_comments_have_none() {
        let image = Image::new(4, vec![[9; 3]; 16]);
        let (mut png, mut gif) = (Vec::new(), Vec::new());
        image.write_png(&mut png).unwrap();
        crate::write_gif(&mut gif, &[image], 9.0).unwrap();
        for file in [&png[..], &gif, b"", b"GIF89a", b"hello"] {
            assert!(read_comments(file).is_empty());
        }
    }
}
