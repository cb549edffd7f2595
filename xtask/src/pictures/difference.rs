//! Pictures compared: what is drawn now, and what is in the repository.

use crate::Outcome;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

/// The largest mean difference of two pictures, in levels of 255. The renderer gives the same bits
/// on every processor with fused multiplication; this leaves room for other mathematical libraries.
const MEAN: f64 = 0.1;

/// A pixel is off if a channel differs by more levels than this.
const OFF: u8 = 24;

/// The largest share of pixels that may be off.
const SHARE_OFF: f64 = 1e-3;

/// The pixels of a picture, or of all frames of a GIF, as red, green, blue and opacity.
struct Pixels {
    size: (usize, usize),
    bytes: Vec<u8>,
}

/// The width and height of a picture in pixels.
pub(super) fn size(path: &Path) -> Outcome<(usize, usize)> {
    Ok(read(path)?.size)
}

/// The difference between the picture in the repository and the one that is drawn now, in words;
/// `None` if they agree.
pub(super) fn of_files(kept: &Path, drawn: &Path) -> Option<String> {
    if !kept.is_file() {
        return Some("it is not in the repository".to_owned());
    }
    if kept.extension().is_some_and(|extension| extension == "svg") {
        let same = fs::read(kept).ok() == fs::read(drawn).ok();
        return (!same).then(|| "its text differs".to_owned());
    }
    match (read(kept), read(drawn)) {
        (Ok(kept), Ok(drawn)) => of_pixels(&kept, &drawn),
        (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
    }
}

fn of_pixels(kept: &Pixels, drawn: &Pixels) -> Option<String> {
    if kept.size != drawn.size || kept.bytes.len() != drawn.bytes.len() {
        let ((width, height), (now_width, now_height)) = (kept.size, drawn.size);
        return Some(format!(
            "it has {width}×{height} pixels, and {now_width}×{now_height} are drawn, or another \
             number of frames"
        ));
    }
    let pixels = (kept.bytes.len() / 4).max(1) as f64;
    let bytes = kept.bytes.iter().zip(&drawn.bytes);
    let total: u64 = bytes.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let pairs = kept.bytes.chunks_exact(4).zip(drawn.bytes.chunks_exact(4));
    let is_off = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > OFF);
    let off = pairs.filter(is_off).count() as f64 / pixels;
    let mean = total as f64 / (4.0 * pixels);
    (mean > MEAN || off > SHARE_OFF).then(|| {
        let percent = 100.0 * off;
        format!("it differs by {mean:.2} levels in the mean; {percent:.2} % of pixels are off")
    })
}

fn read(path: &Path) -> Outcome<Pixels> {
    let file = BufReader::new(File::open(path)?);
    match path.extension().is_some_and(|extension| extension == "gif") {
        true => read_gif(file),
        false => read_png(file),
    }
}

fn read_png(file: BufReader<File>) -> Outcome<Pixels> {
    let mut decoder = png::Decoder::new(file);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![
        0;
        reader
            .output_buffer_size()
            .ok_or("the picture is too large")?
    ];
    let info = reader.next_frame(&mut bytes)?;
    bytes.truncate(info.buffer_size());
    if info.color_type == png::ColorType::Rgb {
        bytes = bytes
            .chunks_exact(3)
            .flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 255])
            .collect();
    }
    Ok(Pixels {
        size: (info.width as usize, info.height as usize),
        bytes,
    })
}

fn read_gif(file: BufReader<File>) -> Outcome<Pixels> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(file)?;
    let size = (usize::from(decoder.width()), usize::from(decoder.height()));
    let mut bytes = Vec::new();
    while let Some(frame) = decoder.read_next_frame()? {
        bytes.extend_from_slice(&frame.buffer);
    }
    Ok(Pixels { size, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(level: u8) -> Pixels {
        Pixels {
            size: (100, 100),
            bytes: vec![level; 40_000],
        }
    }

    #[test]
    fn rounding_is_allowed_and_other_pictures_are_not() {
        assert_eq!(of_pixels(&grey(100), &grey(100)), None);
        let mut rounded = grey(100);
        rounded
            .bytes
            .iter_mut()
            .step_by(16)
            .for_each(|byte| *byte += 1);
        assert_eq!(of_pixels(&grey(100), &rounded), None);
        assert!(of_pixels(&grey(100), &grey(101)).is_some());
        let mut moved = grey(100);
        moved.bytes[..80].fill(160);
        assert!(of_pixels(&grey(100), &moved).is_some_and(|fault| fault.contains("0.20 %")));
        let smaller = Pixels {
            size: (50, 50),
            bytes: vec![100; 10_000],
        };
        assert!(of_pixels(&grey(100), &smaller).is_some_and(|fault| fault.contains("50×50")));
    }
}
