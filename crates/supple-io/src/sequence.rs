//! Posed surfaces over time: arrays for numpy, and point caches for 3D programs.
//!
//! All formats hold the positions of the same vertices in every frame, in the order of the file
//! that the character came from, and nothing else. Frames are written one by one, so that memory
//! does not grow with their number.

use crate::{npy, numbers};
use glam::Vec3;
use std::io::{self, Write};

/// The first bytes of a PC2 file.
const PC2_MAGIC: &[u8; 12] = b"POINTCACHE2\0";

/// The version of the PC2 format.
const PC2_VERSION: i32 = 1;

/// A file format for positions over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceFormat {
    /// An array of numpy: frames × vertices × 3 little-endian `float32`.
    Npy,
    /// Point cache 2, little-endian: `"POINTCACHE2\0"`, then as `int32` the version 1 and the
    /// number of points, as `float32` the first frame 0 and the sampling rate 1 (one sample per
    /// frame), as `int32` the number of samples, then frames × vertices × 3 `float32`. Frames have
    /// no times.
    Pc2,
    /// LightWave's MDD, big-endian: as `int32` the number of frames and of points, as `float32` the
    /// time of each frame in seconds, then frames × vertices × 3 `float32`.
    Mdd,
}

/// Writes positions frame by frame.
pub struct SequenceWriter<'a> {
    out: &'a mut dyn Write,
    format: SequenceFormat,
    vertices: usize,
    frames: usize,
    written: usize,
}

impl<'a> SequenceWriter<'a> {
    /// Writes the header of a file of `frames` frames, `fps` of them in a second.
    ///
    /// # Errors
    ///
    /// If writing fails, or a point cache has more frames or vertices than its 32-bit numbers can
    /// count.
    pub fn new(
        out: &'a mut dyn Write,
        format: SequenceFormat,
        frames: usize,
        vertices: usize,
        fps: f64,
    ) -> io::Result<SequenceWriter<'a>> {
        match format {
            SequenceFormat::Npy => npy::write_header(out, &[frames, vertices, 3])?,
            SequenceFormat::Pc2 => {
                out.write_all(PC2_MAGIC)?;
                out.write_all(&PC2_VERSION.to_le_bytes())?;
                out.write_all(&count(vertices, "vertices")?.to_le_bytes())?;
                let (first_frame, sampling_rate) = (0.0f32, 1.0f32);
                out.write_all(&first_frame.to_le_bytes())?;
                out.write_all(&sampling_rate.to_le_bytes())?;
                out.write_all(&count(frames, "frames")?.to_le_bytes())?;
            }
            SequenceFormat::Mdd => {
                out.write_all(&count(frames, "frames")?.to_be_bytes())?;
                out.write_all(&count(vertices, "vertices")?.to_be_bytes())?;
                for frame in 0..frames {
                    let time = (frame as f64 / fps) as f32;
                    out.write_all(&time.to_be_bytes())?;
                }
            }
        }
        Ok(SequenceWriter {
            out,
            format,
            vertices,
            frames,
            written: 0,
        })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    ///
    /// If writing fails; or, before anything of the frame is written, if it has another number of
    /// vertices, a number is [not finite](crate::NotFinite), or all frames are written already.
    pub fn push(&mut self, positions: &[Vec3]) -> io::Result<()> {
        if positions.len() != self.vertices || self.written == self.frames {
            return Err(invalid(format!(
                "frame {} of {} with {} vertices, expected {}",
                self.written,
                self.frames,
                positions.len(),
                self.vertices
            )));
        }
        numbers::check_vectors("position", positions)?;
        let to_bytes = match self.format {
            SequenceFormat::Npy | SequenceFormat::Pc2 => f32::to_le_bytes,
            SequenceFormat::Mdd => f32::to_be_bytes,
        };
        for number in positions.iter().flat_map(|position| position.to_array()) {
            self.out.write_all(&to_bytes(number))?;
        }
        self.written += 1;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// If frames are missing.
    pub fn finish(self) -> io::Result<()> {
        match self.frames - self.written {
            0 => Ok(()),
            missing => Err(invalid(format!("{missing} frames are missing"))),
        }
    }
}

/// A count as point caches store it.
fn count(number: usize, what: &str) -> io::Result<i32> {
    let stored = i32::try_from(number);
    stored.map_err(|_| {
        invalid(format!(
            "{number} {what} are more than a point cache can hold"
        ))
    })
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: [[Vec3; 2]; 3] = [
        [Vec3::ZERO, Vec3::X],
        [Vec3::Y, Vec3::new(1.0, -2.5, 3.0)],
        [Vec3::Z, Vec3::NEG_X],
    ];

    fn written(format: SequenceFormat) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = SequenceWriter::new(&mut out, format, 3, 2, 10.0).unwrap();
        for frame in &FRAMES {
            writer.push(frame).unwrap();
        }
        writer.finish().unwrap();
        out
    }

    /// The numbers of a file, four bytes each.
    fn words(bytes: &[u8]) -> Vec<[u8; 4]> {
        assert_eq!(bytes.len() % 4, 0);
        bytes.as_chunks::<4>().0.to_vec()
    }

    fn expected() -> Vec<f32> {
        let vectors = FRAMES.iter().flatten();
        vectors.flat_map(|vector| vector.to_array()).collect()
    }

    #[test]
    fn a_pc2_file_is_laid_out_as_its_format_says() {
        let bytes = written(SequenceFormat::Pc2);
        let (magic, rest) = bytes.split_at(12);
        assert_eq!(magic, b"POINTCACHE2\0");
        let words = words(rest);
        let integers = [words[0], words[1], words[4]].map(i32::from_le_bytes);
        assert_eq!(integers, [1, 2, 3], "version, points, samples");
        let floats = [words[2], words[3]].map(f32::from_le_bytes);
        assert_eq!(floats, [0.0, 1.0], "first frame, sampling rate");
        let numbers: Vec<f32> = words[5..].iter().copied().map(f32::from_le_bytes).collect();
        assert_eq!(numbers, expected());
    }

    #[test]
    fn an_mdd_file_is_laid_out_as_its_format_says() {
        let words = words(&written(SequenceFormat::Mdd));
        let counts = [words[0], words[1]].map(i32::from_be_bytes);
        assert_eq!(counts, [3, 2], "frames, points");
        let numbers: Vec<f32> = words[2..].iter().copied().map(f32::from_be_bytes).collect();
        assert_eq!(numbers[..3], [0.0, 0.1, 0.2], "seconds");
        assert_eq!(numbers[3..], expected());
    }

    #[test]
    fn an_array_of_frames_comes_back() {
        let bytes = written(SequenceFormat::Npy);
        let header = String::from_utf8_lossy(&bytes[10..128]);
        assert!(header.contains("'shape': (3, 2, 3, )"), "{header}");
        let data: Vec<u8> = expected().into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(bytes[128..], data);
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let mut out = Vec::new();
        let mut writer = SequenceWriter::new(&mut out, SequenceFormat::Pc2, 1, 2, 10.0).unwrap();
        let wrong = writer.push(&[Vec3::ZERO]).unwrap_err().to_string();
        assert_eq!(wrong, "frame 0 of 1 with 1 vertices, expected 2");
        let wrong = writer.push(&[Vec3::ZERO, Vec3::NAN]).unwrap_err();
        assert!(wrong.to_string().contains("position of vertex 1 holds NaN"));
        writer.push(&FRAMES[0]).unwrap();
        assert!(writer.push(&FRAMES[1]).is_err());
        writer.finish().unwrap();
        let writer = SequenceWriter::new(&mut out, SequenceFormat::Mdd, 1, 2, 10.0).unwrap();
        assert_eq!(
            writer.finish().unwrap_err().to_string(),
            "1 frames are missing"
        );
        for (frames, vertices) in [(1 << 31, 2), (2, 1 << 31)] {
            let mut out = Vec::new();
            let format = SequenceFormat::Pc2;
            let refused = SequenceWriter::new(&mut out, format, frames, vertices, 10.0);
            let refused = refused.err().unwrap().to_string();
            assert!(
                refused.contains("more than a point cache can hold"),
                "{refused}"
            );
        }
    }
}
