//! GIF animations: one colour table for all frames, and a dither that stays in place so that
//! nothing flickers.

use crate::comment::GIF_COMMENT;
use crate::image::Image;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;
use supple::exec;
use thiserror::Error;

/// Colours of a palette; one more index says "as in the frame before".
const COLORS: usize = 255;

/// The index that keeps the pixel of the frame before.
const UNCHANGED: u8 = 255;

/// Colours that a dithered pixel chooses from.
const CANDIDATES: usize = 16;

/// The strength of the dither's correction: less than one keeps stray colours out.
const CORRECTION: f32 = 0.75;

/// The order in which a 4 × 4 block of pixels switches from one colour to the next.
const THRESHOLDS: [[usize; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A reason why an animation could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GifError {
    /// There is no frame.
    #[error("a moving picture needs at least one frame")]
    NoFrames,
    /// The frames have no pixels, or more than the format can hold.
    #[error("frames of {width} × {height} pixels cannot be stored as GIF (1 to 65535 each way)")]
    Size {
        /// Pixels per row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A frame differs in size from the first.
    #[error(
        "frame {frame} has {found_width} × {found_height} pixels, the first {width} × {height}"
    )]
    FrameSize {
        /// The frame.
        frame: usize,
        /// Its pixels per row.
        found_width: usize,
        /// Its rows.
        found_height: usize,
        /// Pixels per row of the first frame.
        width: usize,
        /// Rows of the first frame.
        height: usize,
    },
    /// Encoding or writing failed.
    #[error("the moving picture could not be written as GIF: {0}")]
    Gif(#[from] gif::EncodingError),
}

/// Writes frames as a GIF that repeats forever.
///
/// # Errors
///
/// If there is no frame, frames differ in size or are too large, or writing fails.
pub fn write_gif(
    out: impl Write,
    frames: &[Image],
    frames_per_second: f64,
) -> Result<(), GifError> {
    let first = frames.first().ok_or(GifError::NoFrames)?;
    let palette = ColorTable::of(frames);
    let mut writer = GifWriter::new(
        out,
        first.width(),
        first.height(),
        palette,
        frames_per_second,
    )?;
    for frame in frames {
        writer.push(frame)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a GIF frame by frame, for clips too long to hold.
pub struct GifWriter<W: Write> {
    encoder: gif::Encoder<W>,
    palette: ColorTable,
    width: usize,
    height: usize,
    frames_per_second: f64,
    frame_count: usize,
    previous: Vec<u8>,
}

impl<W: Write> GifWriter<W> {
    /// Starts a file that repeats forever. Delays are stored in hundredths of a second, which are
    /// shared out so that the whole clip keeps its length; at most 50 frames per second can be
    /// stored.
    ///
    /// # Errors
    ///
    /// If the size is more than a GIF can have, or writing fails.
    pub fn new(
        out: W,
        width: usize,
        height: usize,
        palette: ColorTable,
        frames_per_second: f64,
    ) -> Result<GifWriter<W>, GifError> {
        let size = (u16::try_from(width), u16::try_from(height));
        let (Ok(stored_width @ 1..), Ok(stored_height @ 1..)) = size else {
            return Err(GifError::Size { width, height });
        };
        let mut table = palette.colors.clone();
        table.resize(COLORS + 1, [0; 3]);
        let table = table.as_flattened();
        let mut encoder = gif::Encoder::new(out, stored_width, stored_height, table)?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        Ok(GifWriter {
            encoder,
            palette,
            width,
            height,
            frames_per_second: frames_per_second.clamp(0.01, 50.0),
            frame_count: 0,
            previous: Vec::new(),
        })
    }

    /// Adds a comment, which viewers don't show; see [`read_comments`]. Call it before the first
    /// frame.
    ///
    /// # Errors
    ///
    /// If writing fails.
    ///
    /// [`read_comments`]: crate::read_comments
    pub fn comment(&mut self, text: &str) -> Result<(), GifError> {
        let label = gif::AnyExtension(GIF_COMMENT);
        Ok(self
            .encoder
            .write_raw_extension(label, &[text.as_bytes()])?)
    }

    /// Adds the next frame.
    ///
    /// # Errors
    ///
    /// If the frame is of another size, or writing fails.
    pub fn push(&mut self, frame: &Image) -> Result<(), GifError> {
        if (frame.width(), frame.height()) != (self.width, self.height) {
            return Err(GifError::FrameSize {
                frame: self.frame_count,
                found_width: frame.width(),
                found_height: frame.height(),
                width: self.width,
                height: self.height,
            });
        }
        let indices = self.palette.dither(frame);
        let hundredths = |frame: usize| (frame as f64 * 100.0 / self.frames_per_second).round();
        let delay = hundredths(self.frame_count + 1) - hundredths(self.frame_count);
        let (left, top, right, bottom) = changed_rectangle(&self.previous, &indices, self.width);
        let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
        for row in top..bottom {
            let pixels = row * self.width + left..row * self.width + right;
            for (offset, &index) in indices[pixels.clone()].iter().enumerate() {
                let same = self.previous.get(pixels.start + offset) == Some(&index);
                buffer.push(if same { UNCHANGED } else { index });
            }
        }
        self.encoder.write_frame(&gif::Frame {
            delay: delay as u16,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: buffer.into(),
            ..gif::Frame::default()
        })?;
        self.previous = indices;
        self.frame_count += 1;
        Ok(())
    }

    /// Ends the file and gives back what it was written to.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn finish(self) -> Result<W, GifError> {
        Ok(self.encoder.into_inner()?)
    }
}

/// The left, top, right and bottom of what differs; one pixel where nothing does.
fn changed_rectangle(previous: &[u8], next: &[u8], width: usize) -> (usize, usize, usize, usize) {
    let height = next.len() / width;
    if previous.len() != next.len() {
        return (0, 0, width, height);
    }
    let (mut left, mut top, mut right, mut bottom) = (width, height, 0, 0);
    for (pixel, (a, b)) in previous.iter().zip(next).enumerate() {
        if a != b {
            let (column, row) = (pixel % width, pixel / width);
            left = left.min(column);
            right = right.max(column + 1);
            top = top.min(row);
            bottom = bottom.max(row + 1);
        }
    }
    if left < right {
        (left, top, right, bottom)
    } else {
        (0, 0, 1, 1)
    }
}

/// A palette of at most 255 colours.
#[derive(Clone, Debug, Default)]
pub struct ColorTable {
    colors: Vec<[u8; 3]>,
    /// The colours as distances are measured between them.
    weighted: Vec<[f32; 3]>,
    /// For colours met before: what a pixel chooses from, dark to bright.
    mixtures: ByColor<[u8; CANDIDATES]>,
}

/// A map from colours, packed into numbers.
type ByColor<T> = HashMap<u32, T, BuildHasherDefault<ColorHasher>>;

/// A quick hash of packed colours, which nobody chooses with bad intent: at worst a file of such
/// colours takes longer to write.
#[derive(Default)]
struct ColorHasher(u64);

impl Hasher for ColorHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        // The golden ratio in 64 bits: its multiples spread evenly, in their high bits.
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn packed([red, green, blue]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, red, green, blue])
}

fn unpacked(color: u32) -> [u8; 3] {
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue]
}

/// Colours of a palette-to-be that are still one.
struct Box {
    /// Colours with how often each occurs.
    colors: Vec<([u8; 3], f32)>,
    /// The sum of squared distances from the mean: what splitting can win.
    spread: f32,
}

impl ColorTable {
    /// The palette of some frames; a few spread over a clip are enough.
    pub fn of<'a>(frames: impl IntoIterator<Item = &'a Image>) -> ColorTable {
        let frames: Vec<&Image> = frames.into_iter().collect();
        let counted = exec::map(frames.len(), |frame| {
            let mut counts: ByColor<u64> = ByColor::default();
            for &pixel in frames[frame].pixels() {
                *counts.entry(packed(pixel)).or_default() += 1;
            }
            counts
        });
        let mut counts: ByColor<u64> = ByColor::default();
        for (color, count) in counted.into_iter().flatten() {
            *counts.entry(color).or_default() += count;
        }
        // A large plain backdrop must not take all entries, nor a small detail be lost: roots level
        // the counts.
        let mut colors: Vec<_> = counts
            .into_iter()
            .map(|(color, count)| (unpacked(color), (count as f32).sqrt()))
            .collect();
        colors.sort_unstable_by_key(|&(color, _)| color);
        let mut boxes = vec![Box::new(colors)];
        while boxes.len() < COLORS {
            let widest = boxes
                .iter()
                .enumerate()
                .filter(|(_, candidate)| candidate.colors.len() > 1)
                .max_by(|(_, a), (_, b)| a.spread.total_cmp(&b.spread))
                .map(|(index, _)| index);
            let Some(widest) = widest else { break };
            let (low, high) = boxes.swap_remove(widest).split();
            boxes.extend([low, high]);
        }
        let mut colors: Vec<_> = boxes
            .iter()
            .filter(|candidate| !candidate.colors.is_empty())
            .map(|candidate| candidate.mean().map(|value| (value + 0.5) as u8))
            .collect();
        colors.sort_unstable();
        colors.dedup();
        let weighted = colors
            .iter()
            .map(|color| distance_weights(color.map(f32::from)));
        ColorTable {
            weighted: weighted.collect(),
            colors,
            mixtures: ByColor::default(),
        }
    }

    /// The palette index of every pixel.
    fn dither(&mut self, image: &Image) -> Vec<u8> {
        self.find_mixtures(image);
        let lines = exec::map(image.height(), |row| {
            let pixels = row_of(image, row).iter().enumerate();
            let index = |(column, &color): (usize, &[u8; 3])| {
                let mixture = self.mixtures.get(&packed(color));
                mixture.map_or(0, |mixture| mixture[THRESHOLDS[row % 4][column % 4]])
            };
            pixels.map(index).collect::<Vec<u8>>()
        });
        lines.concat()
    }

    /// Finds mixtures for the colours of a picture that were not met before.
    fn find_mixtures(&mut self, image: &Image) {
        let unknown = exec::map(image.height(), |row| {
            let colors = row_of(image, row).iter().map(|&color| packed(color));
            let mut unknown: Vec<u32> = colors
                .filter(|color| !self.mixtures.contains_key(color))
                .collect();
            unknown.sort_unstable();
            unknown.dedup();
            unknown
        });
        let mut unknown = unknown.concat();
        unknown.sort_unstable();
        unknown.dedup();
        let mixtures = exec::map(unknown.len(), |index| {
            (unknown[index], self.mixture_of(unpacked(unknown[index])))
        });
        self.mixtures.extend(mixtures);
    }

    /// Entries of the table whose average is a colour, dark to bright.
    fn mixture_of(&self, color: [u8; 3]) -> [u8; CANDIDATES] {
        let wanted = color.map(f32::from);
        let mut error = [0.0f32; 3];
        let mut mixture = [0; CANDIDATES];
        for entry in &mut mixture {
            let aim = [0, 1, 2].map(|i| wanted[i] + error[i] * CORRECTION);
            let nearest = self.nearest(aim);
            *entry = nearest;
            let found = self
                .colors
                .get(usize::from(nearest))
                .copied()
                .unwrap_or_default();
            for i in 0..3 {
                error[i] += wanted[i] - f32::from(found[i]);
            }
        }
        mixture.sort_by(|&a, &b| {
            let brightness = |index: u8| {
                let color = self
                    .colors
                    .get(usize::from(index))
                    .copied()
                    .unwrap_or_default();
                distance_weights(color.map(f32::from)).iter().sum::<f32>()
            };
            brightness(a).total_cmp(&brightness(b))
        });
        mixture
    }

    fn nearest(&self, aim: [f32; 3]) -> u8 {
        let aim = distance_weights(aim);
        let mut best = (f32::INFINITY, 0);
        for (index, color) in self.weighted.iter().enumerate() {
            let distance: f32 = (0..3).map(|i| (aim[i] - color[i]).powi(2)).sum();
            if distance < best.0 {
                best = (distance, index as u8);
            }
        }
        best.1
    }
}

fn row_of(image: &Image, row: usize) -> &[[u8; 3]] {
    &image.pixels()[row * image.width()..(row + 1) * image.width()]
}

/// Scales channels by how much the eye notices them.
fn distance_weights(color: [f32; 3]) -> [f32; 3] {
    [color[0] * 0.55, color[1] * 0.77, color[2] * 0.33]
}

impl Box {
    fn new(colors: Vec<([u8; 3], f32)>) -> Box {
        let mut fresh = Box {
            colors,
            spread: 0.0,
        };
        fresh.spread = fresh.spread_by_channel().iter().sum();
        fresh
    }

    fn mean(&self) -> [f32; 3] {
        let mut sum = [0.0; 3];
        let mut total = 0.0;
        for (color, count) in &self.colors {
            for i in 0..3 {
                sum[i] += f32::from(color[i]) * count;
            }
            total += count;
        }
        sum.map(|value| value / total.max(f32::MIN_POSITIVE))
    }

    fn spread_by_channel(&self) -> [f32; 3] {
        let mean = distance_weights(self.mean());
        let mut spread = [0.0; 3];
        for (color, count) in &self.colors {
            let color = distance_weights(color.map(f32::from));
            for i in 0..3 {
                spread[i] += (color[i] - mean[i]).powi(2) * count;
            }
        }
        spread
    }

    /// Two boxes, cut at the mean across the channel that varies most.
    fn split(self) -> (Box, Box) {
        let spread = self.spread_by_channel();
        let channel = (0..3).fold(0, |best, i| if spread[i] > spread[best] { i } else { best });
        let middle = self.mean()[channel];
        let (mut low, mut high): (Vec<_>, Vec<_>) = self
            .colors
            .into_iter()
            .partition(|(color, _)| f32::from(color[channel]) < middle);
        // Rounding may put all colours on one side.
        if low.is_empty() {
            low.extend(high.pop());
        } else if high.is_empty() {
            high.extend(low.pop());
        }
        (Box::new(low), Box::new(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Image> {
        (0..3u8)
            .map(|frame| {
                let pixels = (0..64 * 48usize).map(|pixel| {
                    let (x, y) = (pixel % 64, pixel / 64);
                    let inside = x.abs_diff(20 + usize::from(frame) * 5) < 6 && y.abs_diff(20) < 6;
                    if inside {
                        [200, 30, 40]
                    } else {
                        [x as u8 * 2, y as u8 * 3, 128]
                    }
                });
                Image::new(64, pixels.collect())
            })
            .collect()
    }

    fn decode(file: &[u8]) -> Vec<Vec<[u8; 3]>> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(file).unwrap();
        let width = usize::from(decoder.width());
        let mut canvas = vec![[0; 3]; width * usize::from(decoder.height())];
        let mut shown = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            let colors = frame.buffer.chunks(4);
            for (pixel, color) in colors.enumerate().filter(|(_, color)| color[3] > 0) {
                let row = usize::from(frame.top) + pixel / usize::from(frame.width);
                let column = usize::from(frame.left) + pixel % usize::from(frame.width);
                canvas[row * width + column] = [color[0], color[1], color[2]];
            }
            shown.push(canvas.clone());
        }
        shown
    }

    #[test]
    fn gif_files_decode_to_the_same_frames_and_nearly_the_same_colours() {
        let frames = frames();
        let mut file = Vec::new();
        write_gif(&mut file, &frames, 25.0).unwrap();
        let decoded = decode(&file);
        assert_eq!(decoded.len(), 3);
        for (image, decoded) in frames.iter().zip(&decoded) {
            assert_eq!(image.pixels().len(), decoded.len());
            for (a, b) in image.pixels().iter().zip(decoded) {
                assert!((0..3).all(|i| a[i].abs_diff(b[i]) < 40), "{a:?} {b:?}");
            }
            let average = |pixels: &[[u8; 3]]| {
                pixels
                    .as_flattened()
                    .iter()
                    .map(|&v| f64::from(v))
                    .sum::<f64>()
                    / pixels.len() as f64
            };
            assert!((average(image.pixels()) - average(decoded)).abs() < 2.0);
        }
    }

    #[test]
    fn every_pixel_has_its_entry_of_the_mixture_of_its_colour() {
        let frames = frames();
        let mut palette = ColorTable::of(&frames);
        for frame in &frames {
            let indices = palette.dither(frame);
            for (pixel, (&color, index)) in frame.pixels().iter().zip(indices).enumerate() {
                let threshold = THRESHOLDS[pixel / 64 % 4][pixel % 64 % 4];
                assert_eq!(index, palette.mixture_of(color)[threshold]);
            }
        }
    }

    #[test]
    fn pixels_that_stay_keep_their_index_from_frame_to_frame() {
        let frames = frames();
        let mut palette = ColorTable::of(&frames);
        let (a, b) = (palette.dither(&frames[0]), palette.dither(&frames[1]));
        for pixel in 0..a.len() {
            if frames[0].pixels()[pixel] == frames[1].pixels()[pixel] {
                assert_eq!(a[pixel], b[pixel]);
            }
        }
    }

    #[test]
    fn the_whole_clip_keeps_its_length() {
        let frame = Image::new(4, vec![[9; 3]; 16]);
        let frames = vec![frame; 30];
        let mut file = Vec::new();
        write_gif(&mut file, &frames, 30.0).unwrap();
        let mut decoder = gif::DecodeOptions::new().read_info(&file[..]).unwrap();
        let mut total = 0;
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            total += u32::from(frame.delay);
        }
        assert_eq!(total, 100);
    }

    #[test]
    fn wrong_sizes_are_named() {
        let frames = [
            Image::new(4, vec![[0; 3]; 16]),
            Image::new(5, vec![[0; 3]; 10]),
        ];
        let error = write_gif(Vec::new(), &frames, 10.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "frame 1 has 5 × 2 pixels, the first 4 × 4"
        );
        assert!(matches!(
            write_gif(Vec::new(), &[], 10.0),
            Err(GifError::NoFrames)
        ));
    }
}
