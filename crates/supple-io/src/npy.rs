//! Arrays for numpy: posed positions out, palettes in.

use crate::LoadError;
use glam::{Vec3, Vec4};
use npyz::{DType, NpyFile, WriterBuilder};
use std::io::{self, Write};
use std::path::Path;
use supple::Affine;

/// Writes positions as an n×3 array of `float32`.
///
/// # Errors
///
/// If writing fails.
pub fn write_positions(out: &mut dyn Write, positions: &[Vec3]) -> io::Result<()> {
    let mut writer = npyz::WriteOptions::<f32>::new()
        .default_dtype()
        .shape(&[positions.len() as u64, 3])
        .writer(out)
        .begin_nd()?;
    writer.extend(positions.iter().flat_map(|position| position.to_array()))?;
    writer.finish()
}

/// Reads an m×3×4 (or m×4×4) array of floats: `posed_from_bind` of each joint, in the file's own joint order.
///
/// # Errors
///
/// If the file cannot be read, is no array of floats of that shape, or holds a number that is not
/// finite.
pub fn read_palette(path: &Path) -> Result<Vec<Affine>, LoadError> {
    read(path, parse_palette)
}

/// Several numbers for every joint of every vertex, as a dense array.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseWeights {
    /// The number of vertices.
    pub vertices: usize,
    /// The number of joints.
    pub joints: usize,
    /// How many numbers each joint has at a vertex.
    pub numbers_each: usize,
    /// Vertex after vertex, joint after joint.
    pub numbers: Vec<f32>,
}

/// Reads an n×m×4 or n×m×12 array of floats: what multi-linear methods learn, joints in the file's own order.
///
/// # Errors
///
/// If the file cannot be read, is no array of floats of that shape, or holds a number that is not
/// finite.
pub fn read_multi_weights(path: &Path) -> Result<DenseWeights, LoadError> {
    read(path, parse_multi_weights)
}

/// Where something is wrong, and what.
type Problem = (String, String);

fn read<T>(path: &Path, parse: impl Fn(&[u8]) -> Result<T, Problem>) -> Result<T, LoadError> {
    let bytes = crate::read_whole(path)?;
    parse(&bytes).map_err(|(place, problem)| LoadError::Malformed {
        path: path.to_owned(),
        place,
        problem,
    })
}

fn parse_palette(bytes: &[u8]) -> Result<Vec<Affine>, Problem> {
    let array = Array::parse(
        bytes,
        |shape| matches!(shape, [_, 3 | 4, 4]),
        "(joints, 3, 4)",
    )?;
    let of_joint = array.shape[1] * 4;
    array.check_finite(|at| format!("the matrix of joint {}", at / of_joint))?;
    let row = |row: &[f64]| Vec4::from_slice(&[row[0], row[1], row[2], row[3]].map(|x| x as f32));
    let matrix = |matrix: &[f64]| Affine {
        rows: [row(&matrix[0..4]), row(&matrix[4..8]), row(&matrix[8..12])],
    };
    Ok(array.numbers.chunks_exact(of_joint).map(matrix).collect())
}

fn parse_multi_weights(bytes: &[u8]) -> Result<DenseWeights, Problem> {
    let expected = "(vertices, joints, 4) or (vertices, joints, 12)";
    let array = Array::parse(bytes, |shape| matches!(shape, [_, _, 4 | 12]), expected)?;
    let (joints, each) = (array.shape[1], array.shape[2]);
    array.check_finite(|at| {
        let (vertex, joint) = (at / (joints * each), at / each % joints);
        format!("vertex {vertex}, joint {joint}")
    })?;
    Ok(DenseWeights {
        vertices: array.shape[0],
        joints,
        numbers_each: each,
        numbers: array.numbers.iter().map(|&number| number as f32).collect(),
    })
}

/// Numbers in rows, rows in tables, and so on.
struct Array {
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

impl Array {
    /// Reads `float32` or `float64` of a shape that `fits`.
    fn parse(
        bytes: &[u8],
        fits: impl Fn(&[u64]) -> bool,
        expected: &str,
    ) -> Result<Array, Problem> {
        let header = |problem: String| ("header".to_owned(), problem);
        let file = NpyFile::new(bytes).map_err(|error| header(error.to_string()))?;
        let shape = file.shape().to_vec();
        if !fits(&shape) {
            let problem = format!("the shape is {shape:?}, expected {expected}");
            return Err(header(problem));
        }
        if file.order() != npyz::Order::C {
            return Err(header(
                "column-major (fortran_order); save it with numpy.ascontiguousarray".to_owned(),
            ));
        }
        let count = shape
            .iter()
            .try_fold(1u64, |product, &side| product.checked_mul(side));
        // No number is smaller than two bytes, so this bounds what the reader below allocates.
        let Some(count) = count.filter(|count| count.saturating_mul(2) <= bytes.len() as u64)
        else {
            return Err(header(format!(
                "the shape {shape:?} claims more numbers than the file has bytes"
            )));
        };
        let size = match file.dtype() {
            DType::Plain(kind) => kind.to_string(),
            other => {
                return Err(header(format!(
                    "the type is {}, expected float32 or float64",
                    other.descr()
                )));
            }
        };
        let content = |error: io::Error| ("data".to_owned(), error.to_string());
        let numbers: Vec<f64> = match size.trim_start_matches(['<', '>', '=', '|']) {
            "f4" => file
                .into_vec::<f32>()
                .map_err(content)?
                .into_iter()
                .map(f64::from)
                .collect(),
            "f8" => file.into_vec::<f64>().map_err(content)?,
            _ => {
                return Err(header(format!(
                    "the type is '{size}', expected float32 or float64"
                )));
            }
        };
        if numbers.len() as u64 != count {
            return Err((
                "data".to_owned(),
                format!("{} numbers, expected {count}", numbers.len()),
            ));
        }
        Ok(Array {
            shape: shape.iter().map(|&side| side as usize).collect(),
            numbers,
        })
    }

    fn check_finite(&self, place: impl Fn(usize) -> String) -> Result<(), Problem> {
        let finite = |&number: &f64| (number as f32).is_finite();
        match self.numbers.iter().position(|number| !finite(number)) {
            None => Ok(()),
            Some(at) => {
                let problem = format!("{} holds {}", place(at), self.numbers[at]);
                Err(("data".to_owned(), problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(shape: &[u64], values: &[f64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = npyz::WriteOptions::<f64>::new()
            .default_dtype()
            .shape(shape)
            .writer(&mut bytes)
            .begin_nd()
            .unwrap();
        writer.extend(values.iter().copied()).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn palettes_come_back_row_by_row() {
        let values: Vec<f64> = (0..24).map(f64::from).collect();
        let palette = parse_palette(&npy(&[2, 3, 4], &values)).unwrap();
        assert_eq!(palette.len(), 2);
        assert_eq!(palette[1].rows[2], Vec4::new(20.0, 21.0, 22.0, 23.0));
        let values: Vec<f64> = (0..16).map(f64::from).collect();
        let palette = parse_palette(&npy(&[1, 4, 4], &values)).unwrap();
        assert_eq!(palette[0].rows[2], Vec4::new(8.0, 9.0, 10.0, 11.0));
    }

    #[test]
    fn bad_palettes_are_named() {
        let problem = |bytes: &[u8]| parse_palette(bytes).unwrap_err().1;
        assert!(problem(&npy(&[2, 6], &[0.0; 12])).contains("[2, 6], expected (joints, 3, 4)"));
        let mut values = [0.0; 24];
        values[13] = f64::NAN;
        assert_eq!(
            problem(&npy(&[2, 3, 4], &values)),
            "the matrix of joint 1 holds NaN"
        );
        let whole = npy(&[2, 3, 4], &[0.0; 24]);
        assert!(parse_palette(&whole[..whole.len() - 3]).is_err());
        assert!(parse_palette(b"not numpy").is_err());
    }

    #[test]
    fn learned_weights_come_back_and_bad_ones_are_named() {
        let mut values: Vec<f64> = (0..24).map(f64::from).collect();
        let weights = parse_multi_weights(&npy(&[2, 3, 4], &values)).unwrap();
        assert_eq!((weights.vertices, weights.joints), (2, 3));
        assert_eq!(weights.numbers[13], 13.0);
        values[17] = f64::INFINITY;
        let problem = |bytes: &[u8]| parse_multi_weights(bytes).unwrap_err().1;
        assert_eq!(
            problem(&npy(&[2, 3, 4], &values)),
            "vertex 1, joint 1 holds inf"
        );
        assert!(problem(&npy(&[2, 4, 3], &[0.0; 24])).contains("(vertices, joints, 12)"));
    }

    #[test]
    fn positions_are_written_as_float32_rows() {
        let mut bytes = Vec::new();
        write_positions(&mut bytes, &[Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0)]).unwrap();
        let file = NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.shape(), [2, 3]);
        assert_eq!(
            file.into_vec::<f32>().unwrap(),
            [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]
        );
    }
}
