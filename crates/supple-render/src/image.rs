//! Pictures in memory, and PNG files.

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

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// If the image has no pixels, or writing fails.
    pub fn write_png(&self, out: impl Write) -> Result<(), ImageError> {
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
    fn pictures_without_pixels_are_refused_by_size() {
        let error = Image::new(0, vec![]).write_png(Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a picture of 0 × 0 pixels cannot be stored"
        );
    }
}
