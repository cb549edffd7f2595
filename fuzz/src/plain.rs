//! Readers written again, plainly, to compare with: they share no code with Supple.

use crate::tiny::Tiny;
use serde_json::Value;

/// The numbers of an accessor, element by element; none if something claims what is not there.
pub fn accessor(json: &Value, bin: &[u8], index: usize) -> Option<Vec<f64>> {
    let accessor = json.get("accessors")?.get(index)?;
    let kind = accessor["componentType"].as_u64()?;
    let width = match accessor["type"].as_str()? {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => return None,
    };
    let normalized = accessor["normalized"].as_bool().unwrap_or(false);
    let count = accessor["count"].as_u64()?;
    let size = size_of(kind)?;
    let read = |bytes: &[u8]| number(kind, normalized, bytes);
    let mut numbers = match accessor.get("bufferView") {
        None => vec![0.0; usize::try_from(count * width).ok()?],
        Some(view) => {
            let view = view.as_u64()? as usize;
            let mut numbers = Vec::new();
            for element in 0..count {
                for component in 0..width {
                    let offset = accessor["byteOffset"].as_u64().unwrap_or(0);
                    let at = u128::from(offset) + u128::from(component * size);
                    let strided = Some((element, width * size));
                    let bytes = bytes_of(json, bin, view, at, strided, size)?;
                    numbers.push(read(bytes));
                }
            }
            numbers
        }
    };
    let Some(sparse) = accessor.get("sparse") else {
        return Some(numbers);
    };
    let place = |part: &Value, at: u64, size: u64| {
        let view = part["bufferView"].as_u64()? as usize;
        let offset = part["byteOffset"].as_u64().unwrap_or(0);
        let at = u128::from(offset) + u128::from(at);
        bytes_of(json, bin, view, at, None, size)
    };
    let indices = &sparse["indices"];
    let index_kind = indices["componentType"].as_u64()?;
    let index_size = size_of(index_kind)?;
    for entry in 0..sparse["count"].as_u64()? {
        let bytes = place(indices, entry * index_size, index_size)?;
        let element = number(index_kind, false, bytes) as u64;
        for component in 0..width {
            let at = (entry * width + component) * size;
            let value = read(place(&sparse["values"], at, size)?);
            *numbers.get_mut((element * width + component) as usize)? = value;
        }
    }
    Some(numbers)
}

fn size_of(kind: u64) -> Option<u64> {
    match kind {
        5120 | 5121 => Some(1),
        5122 | 5123 => Some(2),
        5125 | 5126 => Some(4),
        _ => None,
    }
}

/// Bytes of a view that are in the view, and the view in its buffer.
fn bytes_of<'b>(
    json: &Value,
    bin: &'b [u8],
    view: usize,
    at: u128,
    strided: Option<(u64, u64)>,
    size: u64,
) -> Option<&'b [u8]> {
    let view = json.get("bufferViews")?.get(view)?;
    if view["buffer"].as_u64()? != 0 {
        return None;
    }
    let start = u128::from(view["byteOffset"].as_u64().unwrap_or(0));
    let length = u128::from(view["byteLength"].as_u64()?);
    let buffer = u128::from(json["buffers"][0]["byteLength"].as_u64()?);
    let step = strided.map_or(0, |(element, tight)| {
        let stride = view["byteStride"].as_u64().unwrap_or(tight);
        u128::from(element) * u128::from(stride)
    });
    let at = at + step;
    if at + u128::from(size) > length || start + length > buffer {
        return None;
    }
    let first = usize::try_from(start + at).ok()?;
    bin.get(first..first + size as usize)
}

fn number(kind: u64, normalized: bool, bytes: &[u8]) -> f64 {
    let short = || [bytes[0], bytes[1]];
    let long = || [bytes[0], bytes[1], bytes[2], bytes[3]];
    let (value, most) = match kind {
        5120 => (f64::from(bytes[0] as i8), 127.0),
        5121 => (f64::from(bytes[0]), 255.0),
        5122 => (f64::from(i16::from_le_bytes(short())), 32_767.0),
        5123 => (f64::from(u16::from_le_bytes(short())), 65_535.0),
        5125 => (f64::from(u32::from_le_bytes(long())), f64::from(u32::MAX)),
        _ => return f64::from(f32::from_le_bytes(long())),
    };
    match normalized {
        true => (value / most).max(-1.0),
        false => value,
    }
}

/// The positive weights of the first primitive's vertices for the joints of the first skin, summed
/// over all whole sets.
pub fn weights(file: &Tiny) -> Vec<Vec<f64>> {
    let attributes = &file.json["meshes"][0]["primitives"][0]["attributes"];
    let joints = file.json["skins"][0]["joints"].as_array();
    let mut rows = vec![vec![0.0; joints.map_or(0, Vec::len)]; 4];
    for set in 0..8 {
        let numbers = |name: &str, normalized: bool| {
            let index = attributes[format!("{name}_{set}")].as_u64()? as usize;
            let mut json = file.json.clone();
            // Whole numbers are always fractions here, whatever the accessor says.
            json["accessors"][index]["normalized"] = normalized.into();
            accessor(&json, &file.bin, index)
        };
        let (Some(joints), Some(weights)) = (numbers("JOINTS", false), numbers("WEIGHTS", true))
        else {
            continue;
        };
        for (at, (joint, weight)) in joints.iter().zip(&weights).enumerate() {
            let row = &mut rows[at / 4];
            if *weight > 0.0
                && let Some(sum) = row.get_mut(*joint as usize)
            {
                *sum += f64::from(*weight as f32);
            }
        }
    }
    rows
}

/// A surface as a file has it.
#[derive(Debug, PartialEq)]
pub struct WrittenSurface {
    pub positions: Vec<[u32; 3]>,
    pub normals: Vec<[u32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// Reads OBJ; numbers as the bits of floats.
pub fn obj(text: &str) -> WrittenSurface {
    let mut surface = WrittenSurface {
        positions: Vec::new(),
        normals: Vec::new(),
        triangles: Vec::new(),
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, a, b, c] = words[..] else {
            panic!("the line '{line}'");
        };
        let bits = |word: &str| word.parse::<f32>().expect("a number").to_bits();
        let corner = |word: &str| {
            let mut parts = word.split("//");
            let place = parts.next().expect("a corner");
            assert!(parts.all(|normal| normal == place), "{word}");
            place.parse::<u32>().expect("a vertex") - 1
        };
        match kind {
            "v" => surface.positions.push([a, b, c].map(bits)),
            "vn" => surface.normals.push([a, b, c].map(bits)),
            "f" => surface.triangles.push([a, b, c].map(corner)),
            _ => panic!("the line '{line}'"),
        }
    }
    surface
}

/// Reads binary PLY of the kind that Supple writes.
pub fn ply(bytes: &[u8]) -> WrittenSurface {
    let end = b"end_header\n";
    let header = bytes.windows(end.len()).position(|window| window == end);
    let header = header.expect("a header") + end.len();
    let text = std::str::from_utf8(&bytes[..header]).expect("text");
    let count = |element: &str| {
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix(&format!("element {element} ")));
        count.expect("a count").parse::<usize>().expect("a number")
    };
    let with_normals = text.contains("property float nx");
    let mut words = &bytes[header..];
    let mut surface = WrittenSurface {
        positions: Vec::new(),
        normals: Vec::new(),
        triangles: Vec::new(),
    };
    for _ in 0..count("vertex") {
        surface.positions.push(three(&mut words));
        if with_normals {
            surface.normals.push(three(&mut words));
        }
    }
    for _ in 0..count("face") {
        let (corners, rest) = words.split_first().expect("a count of corners");
        assert_eq!(*corners, 3);
        words = rest;
        surface.triangles.push(three(&mut words));
    }
    assert!(words.is_empty(), "{} bytes are left", words.len());
    surface
}

/// Takes three little-endian words.
fn three(bytes: &mut &[u8]) -> [u32; 3] {
    let (words, rest) = bytes.split_at(12);
    *bytes = rest;
    let (words, _) = words.as_chunks::<4>();
    [0, 1, 2].map(|at| u32::from_le_bytes(words[at]))
}

/// Reads an n×3 array of little-endian `float32`, as bits.
pub fn npy(bytes: &[u8]) -> Vec<[u32; 3]> {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let (length, start) = match bytes[6] {
        1 => (usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 10),
        _ => {
            let length = bytes[8..12].try_into().expect("four bytes");
            (u32::from_le_bytes(length) as usize, 12)
        }
    };
    let header = std::str::from_utf8(&bytes[start..start + length]).expect("text");
    assert!(
        header.contains("'<f4'") && header.contains("False"),
        "{header}"
    );
    let (_, shape) = header.split_once('(').expect("a shape");
    let (rows, _) = shape.split_once(',').expect("two sides");
    let mut numbers = &bytes[start + length..];
    let rows: usize = rows.parse().expect("a count");
    assert_eq!(numbers.len(), 12 * rows);
    (0..rows).map(|_| three(&mut numbers)).collect()
}
