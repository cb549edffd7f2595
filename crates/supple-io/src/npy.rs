//! Arrays for numpy: posed positions out and in, palettes and learned weights in.
//!
//! The header of a file is a Python literal. Only the one form that arrays of plain numbers have is
//! read, by a parser of its own: it takes time proportional to the header's length and does not
//! recurse, so a file of a few hundred bytes cannot keep it busy or overflow the stack.

use crate::numbers::{self, NotFinite};
use crate::read::{LoadError, read_whole};
use crate::text::shortened;
use glam::{Vec3, Vec4};
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use supple::Affine;

/// The first bytes of a file; the version follows.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read, as in numpy.
const LONGEST_HEADER: usize = 10_000;

/// The alignment of the data in written files.
const ALIGNMENT: usize = 64;

/// Writes positions as an n×3 array of `float32`.
///
/// # Errors
///
/// If writing fails, or, before anything is written, if a number is [not finite](NotFinite).
pub fn write_positions(out: &mut dyn Write, positions: &[Vec3]) -> io::Result<()> {
    numbers::check_vectors("position", positions)?;
    write_header(out, &[positions.len(), 3])?;
    for number in positions.iter().flat_map(|position| position.to_array()) {
        out.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// Writes the header of an array of little-endian `float32`.
pub(crate) fn write_header(out: &mut dyn Write, shape: &[usize]) -> io::Result<()> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sides}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before - 1;
    header = format!("{header:padded$}\n");
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    // Much shorter than 64 KiB: only the numbers of the shape vary.
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// Reads an n×3 array of floats, as [`write_positions`] writes it.
///
/// # Errors
///
/// If the file cannot be read, is no array of floats of that shape, or holds a number that is not
/// finite.
pub fn read_positions(path: &Path) -> Result<Vec<Vec3>, LoadError> {
    read(path, parse_positions)
}

/// Positions of the same vertices in one frame or in several, kept as the bytes of their file.
#[derive(Clone, Debug)]
pub struct Sequence {
    bytes: Vec<u8>,
    layout: Layout,
    frames: usize,
    vertices: usize,
}

impl Sequence {
    /// The number of frames; at least one.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// The number of vertices of each frame; at least one.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// The sides of the array, as it was stored: (vertices, 3) or (frames, vertices, 3).
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The positions of a frame.
    ///
    /// # Panics
    ///
    /// Panics if there is no such frame.
    pub fn frame(&self, frame: usize) -> Vec<Vec3> {
        let Layout { kind, data, .. } = &self.layout;
        let each = 3 * kind.size();
        let of_frame = each * self.vertices;
        let frame = &self.bytes[data.clone()][frame * of_frame..][..of_frame];
        let vectors = frame.chunks_exact(each);
        let position = |vector: &[u8]| {
            let mut numbers = vector
                .chunks_exact(kind.size())
                .map(|bytes| kind.number(bytes));
            let mut next = || numbers.next().unwrap_or(f64::NAN) as f32;
            Vec3::new(next(), next(), next())
        };
        vectors.map(position).collect()
    }
}

/// Reads an n×3 array of floats as one frame, or a frames×n×3 array, as
/// [`SequenceWriter`](crate::sequence::SequenceWriter) writes it.
///
/// # Errors
///
/// If the file cannot be read, is no array of floats of that shape, has no frame or no vertex, or
/// holds a number that is not finite.
pub fn read_sequence(path: &Path) -> Result<Sequence, LoadError> {
    let bytes = read_whole(path)?;
    sequence(bytes).map_err(|problem| problem.of_file(path))
}

/// Reads a palette from an m×3×4 or m×4×4 array of floats: `posed_from_bind` of each joint, in the
/// joint order of the character's file.
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
    /// The number of weights that each joint has at a vertex.
    pub numbers_each: usize,
    /// The weights, vertex after vertex, joint after joint.
    pub numbers: Vec<f32>,
}

/// Reads the weights of a multi-linear method from an n×m×4 or n×m×12 array of floats, with joints
/// in the order of the character's file.
///
/// # Errors
///
/// If the file cannot be read, is no array of floats of that shape, or holds a number that is not
/// finite.
pub fn read_multi_weights(path: &Path) -> Result<DenseWeights, LoadError> {
    read(path, parse_multi_weights)
}

/// A problem and its place.
#[derive(Debug)]
struct Problem {
    place: &'static str,
    what: String,
}

impl Problem {
    fn header(what: impl Into<String>) -> Problem {
        let (place, what) = ("header", what.into());
        Problem { place, what }
    }

    fn data(what: impl Into<String>) -> Problem {
        let (place, what) = ("data", what.into());
        Problem { place, what }
    }

    fn of_file(self, path: &Path) -> LoadError {
        LoadError::Malformed {
            path: path.to_owned(),
            place: self.place.to_owned(),
            problem: self.what,
        }
    }
}

impl From<NotFinite> for Problem {
    fn from(error: NotFinite) -> Problem {
        Problem::data(error.to_string())
    }
}

fn read<T>(path: &Path, parse: impl Fn(&[u8]) -> Result<T, Problem>) -> Result<T, LoadError> {
    let bytes = read_whole(path)?;
    parse(&bytes).map_err(|problem| problem.of_file(path))
}

fn parse_positions(bytes: &[u8]) -> Result<Vec<Vec3>, Problem> {
    let array = Array::parse(bytes, |shape| matches!(shape, [_, 3]), "(vertices, 3)")?;
    array.check_finite(|at| format!("the position of vertex {}", at / 3))?;
    let position = |&[x, y, z]: &[f64; 3]| Vec3::new(x as f32, y as f32, z as f32);
    Ok(array.numbers.as_chunks().0.iter().map(position).collect())
}

fn parse_palette(bytes: &[u8]) -> Result<Vec<Affine>, Problem> {
    let fits = |shape: &[usize]| matches!(shape, [_, 3 | 4, 4]);
    let array = Array::parse(bytes, fits, "(joints, 3, 4)")?;
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

fn sequence(bytes: Vec<u8>) -> Result<Sequence, Problem> {
    let fits = |shape: &[usize]| matches!(shape, [_, 3] | [_, _, 3]);
    let layout = Layout::parse(&bytes, fits, "(vertices, 3) or (frames, vertices, 3)")?;
    let (frames, vertices) = match layout.shape[..] {
        [frames, vertices, _] => (frames, vertices),
        _ => (1, layout.shape[0]),
    };
    if frames == 0 || vertices == 0 {
        let shape = ArrayShape(&layout.shape);
        return Err(Problem::header(format!(
            "the shape {shape} has no positions"
        )));
    }
    numbers::check(layout.numbers(&bytes), |at| {
        let (frame, vertex) = (at / 3 / vertices, at / 3 % vertices);
        format!("the position of vertex {vertex} in frame {frame}")
    })?;
    Ok(Sequence {
        bytes,
        layout,
        frames,
        vertices,
    })
}

/// The place and the type of the numbers of a file.
#[derive(Clone, Debug)]
struct Layout {
    kind: Kind,
    shape: Vec<usize>,
    /// The bytes of the numbers.
    data: Range<usize>,
}

impl Layout {
    /// Finds `float32` or `float64` of a shape that `fits`. Bytes after the array are ignored, as
    /// numpy ignores them.
    fn parse(
        bytes: &[u8],
        fits: impl Fn(&[usize]) -> bool,
        expected: &str,
    ) -> Result<Layout, Problem> {
        let (header, data) = split(bytes)?;
        let Header { kind, shape } = Header::parse(header)?;
        if !fits(&shape) {
            let problem = format!("the shape is {}, expected {expected}", ArrayShape(&shape));
            return Err(Problem::header(problem));
        }
        let mut sides = shape.iter();
        let count = sides.try_fold(1usize, |product, &side| product.checked_mul(side));
        let needed = count.and_then(|count| count.checked_mul(kind.size()));
        let Some(needed) = needed.filter(|&needed| needed <= data.len()) else {
            return Err(Problem::header(format!(
                "the shape {} claims more numbers than the {} bytes after the header hold",
                ArrayShape(&shape),
                data.len()
            )));
        };
        let start = bytes.len() - data.len();
        Ok(Layout {
            kind,
            shape,
            data: start..start + needed,
        })
    }

    fn numbers<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = f64> + use<'a> {
        let kind = self.kind;
        let numbers = bytes[self.data.clone()].chunks_exact(kind.size());
        numbers.map(move |number| kind.number(number))
    }
}

/// Numbers in rows, rows in tables, and so on.
struct Array {
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

impl Array {
    /// Reads the numbers of a [`Layout`].
    fn parse(
        bytes: &[u8],
        fits: impl Fn(&[usize]) -> bool,
        expected: &str,
    ) -> Result<Array, Problem> {
        let layout = Layout::parse(bytes, fits, expected)?;
        let numbers = layout.numbers(bytes).collect();
        let shape = layout.shape;
        Ok(Array { shape, numbers })
    }

    fn check_finite(&self, place: impl Fn(usize) -> String) -> Result<(), NotFinite> {
        numbers::check(self.numbers.iter().copied(), place)
    }
}

/// Splits a file into the text of its header and the bytes after it.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    let other = || Problem::header("this does not look like an .npy file");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(other)?;
    let cut = || Problem::header("the file ends inside of it");
    let (&[major, minor], rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => {
            let problem = format!("version {major}.{minor} of the format is not known");
            return Err(Problem::header(problem));
        }
    };
    if length > LONGEST_HEADER {
        let problem = format!("{length} bytes long; at most {LONGEST_HEADER} are read");
        return Err(Problem::header(problem));
    }
    rest.split_at_checked(length).ok_or_else(cut)
}

/// The type and the shape of an array.
struct Header {
    kind: Kind,
    shape: Vec<usize>,
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}`, in any order.
    fn parse(text: &[u8]) -> Result<Header, Problem> {
        let mut literal = Literal { text, at: 0 };
        let (mut kind, mut is_fortran, mut shape) = (None, None, None);
        literal.expect(b'{')?;
        while !literal.takes(b'}') {
            let key = literal.string()?;
            literal.expect(b':')?;
            let is_new = match key {
                b"descr" => kind.replace(literal.kind()?).is_none(),
                b"fortran_order" => is_fortran.replace(literal.boolean()?).is_none(),
                b"shape" => shape.replace(literal.shape()?).is_none(),
                _ => false,
            };
            if !is_new {
                let key = shortened(&String::from_utf8_lossy(key));
                let problem = format!("the key '{key}' is not known, or comes twice");
                return Err(Problem::header(problem));
            }
            if !literal.takes(b',') {
                literal.expect(b'}')?;
                break;
            }
        }
        literal.end()?;
        let missing = |key: &str| Problem::header(format!("the key '{key}' is missing"));
        if is_fortran.ok_or_else(|| missing("fortran_order"))? {
            let problem = "column-major (fortran_order); save it with numpy.ascontiguousarray";
            return Err(Problem::header(problem));
        }
        Ok(Header {
            kind: kind.ok_or_else(|| missing("descr"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// A parser for the Python literals that are headers of plain arrays.
struct Literal<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Literal<'a> {
    /// The remaining text, from the next byte that is not a space.
    fn rest(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        let spaces = spaces.count();
        self.at += spaces;
        &rest[spaces..]
    }

    fn unexpected(&mut self, expected: &str) -> Problem {
        let rest = String::from_utf8_lossy(self.rest());
        let found = match rest.trim_end() {
            "" => "its end".to_owned(),
            rest => format!("'{}'", shortened(rest)),
        };
        Problem::header(format!("expected {expected}, found {found}"))
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.rest().first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        match self.takes(byte) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{}'", char::from(byte)))),
        }
    }

    fn end(&mut self) -> Result<(), Problem> {
        match self.rest() {
            [] => Ok(()),
            _ => Err(self.unexpected("nothing more")),
        }
    }

    /// A string without escapes.
    fn string(&mut self) -> Result<&'a [u8], Problem> {
        if let [quote @ (b'\'' | b'"'), text @ ..] = self.rest()
            && let Some(length) = text.iter().position(|byte| byte == quote)
            && !text[..length].contains(&b'\\')
        {
            self.at += length + 2;
            return Ok(&text[..length]);
        }
        Err(self.unexpected("a string"))
    }

    fn kind(&mut self) -> Result<Kind, Problem> {
        let start = self.rest();
        let known = |name: &[u8]| {
            let mut kinds = Kind::ALL.into_iter();
            kinds.find(|kind| kind.name().as_bytes() == name)
        };
        let kind = self.string().ok().and_then(known);
        kind.ok_or_else(|| {
            let found = String::from_utf8_lossy(start);
            let found = shortened(found.split(',').next().unwrap_or_default());
            Problem::header(format!("the type is {found}, expected float32 or float64"))
        })
    }

    fn boolean(&mut self) -> Result<bool, Problem> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.rest().starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    /// A tuple of whole numbers.
    fn shape(&mut self) -> Result<Vec<usize>, Problem> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.takes(b')') {
            let rest = self.rest();
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&rest[..digits]).ok();
            let Some(number) = number.and_then(|digits| digits.parse().ok()) else {
                return Err(self.unexpected("a side of the shape"));
            };
            shape.push(number);
            self.at += digits;
            if !self.takes(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}

/// The types of numbers that are read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    F32Little,
    F32Big,
    F64Little,
    F64Big,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::F32Little, Kind::F32Big, Kind::F64Little, Kind::F64Big];

    /// The name in a header.
    fn name(self) -> &'static str {
        match self {
            Kind::F32Little => "<f4",
            Kind::F32Big => ">f4",
            Kind::F64Little => "<f8",
            Kind::F64Big => ">f8",
        }
    }

    fn size(self) -> usize {
        match self {
            Kind::F32Little | Kind::F32Big => 4,
            Kind::F64Little | Kind::F64Big => 8,
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Kind::F32Little, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
            (Kind::F32Big, &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).into(),
            (Kind::F64Little, &[a, b, c, d, e, f, g, h]) => {
                f64::from_le_bytes([a, b, c, d, e, f, g, h])
            }
            (Kind::F64Big, &[a, b, c, d, e, f, g, h]) => {
                f64::from_be_bytes([a, b, c, d, e, f, g, h])
            }
            // Slices of a number are as long as the number.
            _ => f64::NAN,
        }
    }
}

/// A shape in messages, shortened if it has many sides.
struct ArrayShape<'a>(&'a [usize]);

impl fmt::Display for ArrayShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortened(&format!("{:?}", self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of version 1.0.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), data].concat()
    }

    fn npy(shape: &[u64], values: &[f64]) -> Vec<u8> {
        let sides: Vec<String> = shape.iter().map(u64::to_string).collect();
        let sides = sides.join(", ");
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sides}), }}\n");
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        file(&header, &data)
    }

    #[track_caller]
    fn problem(bytes: &[u8]) -> String {
        parse_palette(bytes).unwrap_err().what
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
        assert!(problem(&npy(&[2, 6], &[0.0; 12])).contains("[2, 6], expected (joints, 3, 4)"));
        let mut values = [0.0; 24];
        values[13] = f64::NAN;
        assert_eq!(
            problem(&npy(&[2, 3, 4], &values)),
            "the matrix of joint 1 holds NaN, which is not finite"
        );
        values[13] = 1e300;
        assert_eq!(
            problem(&npy(&[2, 3, 4], &values)),
            "the matrix of joint 1 holds 1e300, beyond the range of 32-bit floats"
        );
        let whole = npy(&[2, 3, 4], &[0.0; 24]);
        assert!(problem(&whole[..whole.len() - 3]).contains("than the 189 bytes after the header"));
        assert!(problem(b"not numpy").contains("does not look like an .npy file"));
        for length in 6..whole.len() {
            assert!(parse_palette(&whole[..length]).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn learned_weights_come_back_and_bad_ones_are_named() {
        let mut values: Vec<f64> = (0..24).map(f64::from).collect();
        let weights = parse_multi_weights(&npy(&[2, 3, 4], &values)).unwrap();
        assert_eq!((weights.vertices, weights.joints), (2, 3));
        assert_eq!(weights.numbers[13], 13.0);
        values[17] = f64::INFINITY;
        let problem = |bytes: &[u8]| parse_multi_weights(bytes).unwrap_err().what;
        assert_eq!(
            problem(&npy(&[2, 3, 4], &values)),
            "vertex 1, joint 1 holds inf, which is not finite"
        );
        assert!(problem(&npy(&[2, 4, 3], &[0.0; 24])).contains("(vertices, joints, 12)"));
    }

    #[test]
    fn headers_are_read_in_every_form_that_numpy_writes() {
        let one = [0.0f32; 12].map(f32::to_be_bytes);
        let forms = [
            "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3, 4), }      \n",
            "{'shape': (1, 3, 4,), \"fortran_order\": False, 'descr': \">f4\"}",
            " { 'shape':(1,3,4),'descr':'>f4','fortran_order':False } ",
        ];
        for form in forms {
            assert_eq!(
                parse_palette(&file(form, one.as_flattened()))
                    .unwrap()
                    .len(),
                1
            );
        }
        let version_2 = |version: u8, header: &str| {
            let length = (header.len() as u32).to_le_bytes();
            let start = [b"\x93NUMPY", &[version, 0][..], &length].concat();
            [&start, header.as_bytes(), one.as_flattened()].concat()
        };
        assert!(parse_palette(&version_2(2, forms[0])).is_ok());
        assert!(parse_palette(&version_2(3, forms[0])).is_ok());
        assert!(problem(&version_2(4, forms[0])).contains("version 4.0 of the format"));
    }

    #[test]
    fn headers_of_other_things_are_refused_in_a_line() {
        let header = |descr: &str, order: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
        };
        let most = u64::MAX;
        let cases = [
            (
                header("'<i4'", "False", "(1, 3, 4)"),
                "the type is '<i4', expected",
            ),
            (
                header("'|O'", "False", "(1, 3, 4)"),
                "the type is '|O', expected",
            ),
            (
                header("[('x', '<f4')]", "False", "(1, 3, 4)"),
                "the type is [('x', expected",
            ),
            (header("'<f4'", "True", "(1, 3, 4)"), "column-major"),
            (header("'<f4'", "0", "(1, 3, 4)"), "expected True or False"),
            (header("'<f4'", "False", "[1, 3, 4]"), "expected '('"),
            (
                header("'<f4'", "False", "(1, (3), 4)"),
                "a side of the shape",
            ),
            (
                header("'<f4'", "False", "(-1, 3, 4)"),
                "a side of the shape",
            ),
            (
                header("'<f4'", "False", &format!("({most}, 3, 4)")),
                "claims more numbers",
            ),
            (
                header("'<f4'", "False", &format!("({most}9, 3, 4)")),
                "a side of the shape",
            ),
            (
                header("'<f4'", "False", "(1, 3, 4), 'shape': (1, 3, 4)"),
                "comes twice",
            ),
            (
                header("'<f4'", "False", "(1, 3, 4), 'a': 1"),
                "'a' is not known",
            ),
            (header("'<f4'", "False", "(1, 3, 4)") + "{}", "nothing more"),
            ("{'descr': '<f4'}".to_owned(), "'fortran_order' is missing"),
            ("{".to_owned(), "expected a string, found its end"),
            (String::new(), "expected '{', found its end"),
            (format!("{{'{}': 1}}", "k".repeat(9_000)), "is not known"),
            ("x".repeat(10_001), "10001 bytes long; at most 10000"),
            ("é".repeat(5_000), "expected '{', found 'éé"),
            (
                header("'<f4'", "False", &format!("({})", "1, ".repeat(3_000))),
                "expected (joints, 3, 4)",
            ),
        ];
        for (header, words) in cases {
            let problem = problem(&file(&header, &[0; 48]));
            assert!(problem.contains(words), "{problem}");
            let length = problem.chars().count();
            assert!(length < 160 && !problem.contains('\n'), "{problem}");
        }
    }

    #[test]
    fn nested_headers_are_refused_at_once() {
        for (open, close) in [
            ("[", "]"),
            ("(", ",)"),
            ("{", "}"),
            ("{0:", "}"),
            ("[(", ",)]"),
        ] {
            for depth in [20, 2_000] {
                let nested = format!("{}0{}", open.repeat(depth), close.repeat(depth));
                let header =
                    format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {nested}}}");
                assert!(parse_palette(&file(&header, &[0; 48])).is_err());
                let header =
                    format!("{{'descr': {nested}, 'fortran_order': False, 'shape': (1, 3, 4)}}");
                assert!(parse_palette(&file(&header, &[0; 48])).is_err());
                assert!(parse_palette(&file(&nested, &[0; 48])).is_err());
            }
        }
    }

    #[test]
    fn one_frame_or_several_are_read() {
        let values: Vec<f64> = (0..18).map(f64::from).collect();
        let several = sequence(npy(&[3, 2, 3], &values)).unwrap();
        assert_eq!((several.frames(), several.vertices()), (3, 2));
        let last = [Vec3::new(12.0, 13.0, 14.0), Vec3::new(15.0, 16.0, 17.0)];
        assert_eq!(several.frame(2), last);
        let one = sequence(npy(&[6, 3], &values)).unwrap();
        assert_eq!(
            (one.frames(), one.vertices(), one.shape()),
            (1, 6, &[6, 3][..])
        );
        assert_eq!(one.frame(0)[4..], last);
        let refused =
            |shape: &[u64], values: &[f64]| sequence(npy(shape, values)).unwrap_err().what;
        let mut broken = values.clone();
        broken[10] = f64::NAN;
        assert_eq!(
            refused(&[3, 2, 3], &broken),
            "the position of vertex 1 in frame 1 holds NaN, which is not finite"
        );
        for empty in [&[0, 3][..], &[0, 2, 3], &[u64::MAX >> 1, 0, 3]] {
            assert!(refused(empty, &values).ends_with("has no positions"));
        }
        assert!(refused(&[6, 2], &values).contains("(frames, vertices, 3)"));
    }

    #[test]
    fn positions_are_written_as_float32_rows_and_come_back() {
        let positions = [
            Vec3::ZERO,
            Vec3::new(1.0, 2.0, 3.0),
            Vec3::new(f32::MAX, -0.0, 1e-45),
        ];
        for count in 0..positions.len() {
            let mut bytes = Vec::new();
            write_positions(&mut bytes, &positions[..count]).unwrap();
            let data = count * 12;
            assert_eq!((bytes.len() - data) % ALIGNMENT, 0);
            assert_eq!(bytes[bytes.len() - data - 1], b'\n');
            assert_eq!(parse_positions(&bytes).unwrap(), positions[..count]);
        }
        let mut bytes = Vec::new();
        let error = write_positions(&mut bytes, &[Vec3::ZERO, Vec3::INFINITY]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the position of vertex 1 holds inf, which is not finite"
        );
        assert!(bytes.is_empty());
    }
}
