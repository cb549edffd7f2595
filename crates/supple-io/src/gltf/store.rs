//! Putting new things into a document: elements, bytes, numbers.

use super::Document;
use glam::Vec3;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const FLOAT: u32 = 5126;
pub(super) const UNSIGNED_INT: u32 = 5125;
pub(super) const UNSIGNED_SHORT: u32 = 5123;
pub(super) const SHORT: u32 = 5122;
pub(super) const UNSIGNED_BYTE: u32 = 5121;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

impl Document {
    /// Appends to a top-level array, making it if need be; returns the index.
    pub(super) fn push(&mut self, key: &str, element: Value) -> usize {
        match self.json[key].as_array_mut() {
            Some(array) => {
                array.push(element);
                array.len() - 1
            }
            None => {
                self.json[key] = json!([element]);
                0
            }
        }
    }

    /// Stores an accessor at the end of the last buffer; returns its index.
    pub(super) fn append(&mut self, accessor: Accessor) -> usize {
        let mut json = accessor.json;
        json["bufferView"] = json!(self.append_bytes(&accessor.bytes, accessor.target));
        self.push("accessors", json)
    }

    /// Stores bytes at the end of the last buffer; returns the index of their view.
    pub(super) fn append_bytes(&mut self, content: &[u8], target: Option<u32>) -> usize {
        if self.buffers.is_empty() {
            self.buffers.push(Arc::default());
            self.json["buffers"] = json!([{ "byteLength": 0 }]);
        }
        let buffer = self.buffers.len() - 1;
        let bytes = Arc::make_mut(&mut self.buffers[buffer]);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let offset = bytes.len();
        bytes.extend_from_slice(content);
        self.json["buffers"][buffer]["byteLength"] = json!(bytes.len());
        let mut view =
            json!({ "buffer": buffer, "byteOffset": offset, "byteLength": content.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.push("bufferViews", view)
    }
}

/// Numbers on their way into a buffer.
pub(super) struct Accessor {
    json: Value,
    bytes: Vec<u8>,
    target: Option<u32>,
}

impl Accessor {
    pub(super) fn new(kind: &str, component: u32, count: usize, bytes: Vec<u8>) -> Accessor {
        Accessor {
            json: json!({ "componentType": component, "count": count, "type": kind }),
            bytes,
            target: None,
        }
    }

    pub(super) fn floats(kind: &str, width: usize, values: &[f32]) -> Accessor {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Accessor::new(kind, FLOAT, values.len() / width.max(1), bytes)
    }

    /// Positions carry their bounds, as the format asks.
    pub(super) fn positions(positions: &[Vec3]) -> Accessor {
        let mut accessor = Accessor::floats("VEC3", 3, &flatten(positions));
        if let Some(bounds) = supple::Bounds::around(positions.iter().copied()) {
            accessor.json["min"] = json!(bounds.min.to_array());
            accessor.json["max"] = json!(bounds.max.to_array());
        }
        accessor
    }

    /// Times carry their range, as the format asks.
    pub(super) fn times(times: &[f32]) -> Accessor {
        let mut accessor = Accessor::floats("SCALAR", 1, times);
        accessor.json["min"] = json!([times.first()]);
        accessor.json["max"] = json!([times.last()]);
        accessor
    }

    /// What tells it from others: its type and its bytes.
    pub(super) fn content(&self) -> (String, Vec<u8>) {
        (self.json.to_string(), self.bytes.clone())
    }

    /// Whole numbers that mean fractions.
    pub(super) fn normalized(mut self) -> Accessor {
        self.json["normalized"] = json!(true);
        self
    }

    /// Marks the data as vertex attributes.
    pub(super) fn vertex_data(mut self) -> Accessor {
        self.target = Some(ARRAY_BUFFER);
        self
    }

    /// Marks the data as triangle indices.
    pub(super) fn index_data(mut self) -> Accessor {
        self.target = Some(ELEMENT_ARRAY_BUFFER);
        self
    }
}

/// The numbers of vectors, one after another.
pub(super) fn flatten(vectors: &[Vec3]) -> Vec<f32> {
    vectors
        .iter()
        .flat_map(|vector| vector.to_array())
        .collect()
}

/// Removes extensions by name, and the list of extensions if none is left.
pub(super) fn remove_extensions(json: &mut Value, names: &[&str]) {
    let Some(object) = json.as_object_mut() else {
        return;
    };
    if let Some(extensions) = object.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.retain(|name, _| !names.contains(&name.as_str()));
        if extensions.is_empty() {
            object.shift_remove("extensions");
        }
    }
}
