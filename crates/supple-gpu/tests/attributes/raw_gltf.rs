//! The accessors of a `.glb`, as an engine without Supple reads them.

use serde_json::Value;

pub struct RawFile {
    pub json: Value,
    binary: Vec<u8>,
}

impl RawFile {
    pub fn parse(bytes: &[u8]) -> RawFile {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let json_end = 20 + word(12);
        RawFile {
            json: serde_json::from_slice(&bytes[20..json_end]).unwrap(),
            binary: bytes[json_end + 8..].to_vec(),
        }
    }

    /// The primitives of all meshes with a skin, in order.
    pub fn primitives(&self) -> Vec<&Value> {
        let nodes = self.json["nodes"].as_array().unwrap();
        let skinned = nodes.iter().filter(|node| node.get("skin").is_some());
        let meshes = skinned.map(|node| &self.json["meshes"][index(&node["mesh"])]);
        meshes
            .flat_map(|mesh| mesh["primitives"].as_array().unwrap())
            .collect()
    }

    /// The numbers of an accessor as they are stored.
    pub fn stored(&self, accessor: &Value) -> Vec<f64> {
        let accessor = &self.json["accessors"][index(accessor)];
        let numbers = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let kind = accessor["componentType"].as_u64().unwrap();
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let view = &self.json["bufferViews"][index(&accessor["bufferView"])];
        let offset = |value: &Value| value["byteOffset"].as_u64().unwrap_or(0) as usize;
        let stride = view["byteStride"].as_u64().unwrap_or(0) as usize;
        let stride = if stride == 0 { numbers * size } else { stride };
        let start = offset(view) + offset(accessor);
        let number = |at: usize| {
            let bytes = &self.binary[at..at + size];
            match kind {
                5120 => f64::from(bytes[0] as i8),
                5121 => f64::from(bytes[0]),
                5122 => f64::from(i16::from_le_bytes(bytes.try_into().unwrap())),
                5123 => f64::from(u16::from_le_bytes(bytes.try_into().unwrap())),
                5125 => f64::from(u32::from_le_bytes(bytes.try_into().unwrap())),
                _ => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            }
        };
        let elements = 0..accessor["count"].as_u64().unwrap() as usize;
        elements
            .flat_map(|element| {
                let number = &number;
                (0..numbers).map(move |n| number(start + element * stride + n * size))
            })
            .collect()
    }

    /// The numbers of an accessor as a vertex shader gets them: integers are fractions of the
    /// largest if the accessor is normalised.
    pub fn attribute(&self, accessor: &Value) -> Vec<f32> {
        let json = &self.json["accessors"][index(accessor)];
        let whole = match (json["normalized"].as_bool(), json["componentType"].as_u64()) {
            (Some(true), Some(5120)) => 127.0,
            (Some(true), Some(5121)) => 255.0,
            (Some(true), Some(5122)) => 32767.0,
            (Some(true), Some(5123)) => 65535.0,
            _ => 1.0,
        };
        let numbers = self.stored(accessor).into_iter();
        numbers.map(|number| (number / whole) as f32).collect()
    }
}

pub fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}
