//! Pictures in memory, and PNG files.

use crate::comment::PNG_COMMENT;
use std::io::Write;
use thiserror::Error;

/// A picture: sRGB, eight bits per channel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// A reason why a picture could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The picture has no pixels, or more than a file can hold.
    #[error("a picture of {width} × {height} pixels cannot be stored")]
    Size {
        /// Pixels per row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Encoding or writing failed.
    #[error("the picture could not be written as PNG: {0}")]
    Png(#[from] png::EncodingError),
}

/// The gap between tiled pictures: one pixel in this many of their shorter side.
const GAP_ONE_IN: usize = 100;
const GAP_COLOR: [u8; 3] = [255; 3];

/// The number of columns of tiled pictures.
fn columns(pictures: usize) -> usize {
    match pictures {
        0..=5 => pictures.max(1),
        _ => (pictures as f64).sqrt().ceil() as usize,
    }
}

impl Image {
    /// A picture of `width` pixels per row; an incomplete last row is filled up with black.
    pub fn new(width: usize, mut pixels: Vec<[u8; 3]>) -> Image {
        let height = pixels.len().div_ceil(width.max(1));
        pixels.resize(width * height, [0; 3]);
        Image {
            width,
            height,
            pixels,
        }
    }

    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// The pixel in a column and a row.
    pub(crate) fn pixel_mut(&mut self, (column, row): (usize, usize)) -> Option<&mut [u8; 3]> {
        let index = row.checked_mul(self.width)?.checked_add(column)?;
        self.pixels.get_mut(index)
    }

    /// Puts pictures of one size beside each other: up to five in one row, more in a grid.
    ///
    /// Pictures of another size than the first are cut off or filled up.
    pub fn tiled(pictures: &[Image]) -> Image {
        let Some(first) = pictures.first() else {
            return Image::new(0, Vec::new());
        };
        let columns = columns(pictures.len());
        let rows = pictures.len().div_ceil(columns);
        let gap = (first.width.min(first.height) / GAP_ONE_IN).max(1);
        let (across, down) = (first.width + gap, first.height + gap);
        let (width, height) = (columns * across - gap, rows * down - gap);
        let mut tiled = Image::new(width, vec![GAP_COLOR; width * height]);
        for (index, picture) in pictures.iter().enumerate() {
            let (left, top) = (index % columns * across, index / columns * down);
            let lines = picture.pixels.chunks(picture.width.max(1));
            for (row, line) in lines.take(first.height).enumerate() {
                let start = (top + row) * width + left;
                let line = &line[..line.len().min(first.width)];
                tiled.pixels[start..start + line.len()].copy_from_slice(line);
            }
        }
        tiled
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// If the image has no pixels, or writing fails.
    pub fn write_png(&self, out: impl Write) -> Result<(), ImageError> {
        self.encode_png(out, None)
    }

    /// Writes a PNG file with a comment, which viewers don't show; see [`read_comments`].
    ///
    /// # Errors
    ///
    /// If the image has no pixels, the comment has characters beyond Latin-1, or writing fails.
    ///
    /// [`read_comments`]: crate::read_comments
    pub fn write_png_with_comment(&self, out: impl Write, comment: &str) -> Result<(), ImageError> {
        self.encode_png(out, Some(comment))
    }

    fn encode_png(&self, out: impl Write, comment: Option<&str>) -> Result<(), ImageError> {
        let size = (u32::try_from(self.width), u32::try_from(self.height));
        let (Ok(width @ 1..), Ok(height @ 1..)) = size else {
            return Err(ImageError::Size {
                width: self.width,
                height: self.height,
            });
        };
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        // Filters turn the dither of the backdrop, which repeats, into noise: without them files
        // are a fifth smaller, and written three times as fast.
        encoder.set_filter(png::Filter::NoFilter);
        if let Some(comment) = comment {
            encoder.add_text_chunk(PNG_COMMENT.to_owned(), comment.to_owned())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn png_files_decode_to_the_same_pixels() {
        let pixels: Vec<_> = (0..35u8).map(|i| [i, i * 7, 255 - i]).collect();
        let image = Image::new(7, pixels.clone());
        let mut file = Vec::new();
        image.write_png(&mut file).unwrap();
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height), (7, 5));
        assert_eq!(info.color_type, png::ColorType::Rgb);
        assert_eq!(decoded, pixels.as_flattened());
    }

    #[test]
    fn tiled_pictures_keep_their_pixels() {
        for (count, columns, rows) in [(1, 1, 1), (2, 2, 1), (5, 5, 1), (6, 3, 2), (12, 4, 3)] {
            let colors = (0..count).map(|index| [index as u8; 3]);
            let pictures: Vec<_> = colors.map(|color| Image::new(6, vec![color; 30])).collect();
            let tiled = Image::tiled(&pictures);
            assert_eq!(
                (tiled.width(), tiled.height()),
                (7 * columns - 1, 6 * rows - 1)
            );
            for index in 0..count {
                let (left, top) = (index % columns * 7, index / columns * 6);
                for (x, y) in [(left, top), (left + 5, top + 4)] {
                    assert_eq!(tiled.pixels()[y * tiled.width() + x], [index as u8; 3]);
                }
            }
        }
        assert_eq!(Image::tiled(&[]).width(), 0);
    }

    #[test]
    fn pictures_without_pixels_are_refused_by_size() {
        let error = Image::new(0, vec![]).write_png(Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a picture of 0 × 0 pixels cannot be stored"
        );
    }
}
