//! Adding to a document: elements, bytes, numbers.
//!
//! Every float that is added passes [`Accessor::floats`], for buffers, or [`json_numbers`], for
//! JSON: nothing is stored that is not finite as a 32-bit float, so that every written file can be
//! read.

use super::Document;
use crate::text::quoted;
use crate::{NotFinite, numbers};
use glam::{DAffine3, DMat4, Vec3};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use supple::transform::Local;

pub(super) const FLOAT: u32 = 5126;
pub(super) const UNSIGNED_INT: u32 = 5125;
pub(super) const UNSIGNED_SHORT: u32 = 5123;
pub(super) const SHORT: u32 = 5122;
pub(super) const UNSIGNED_BYTE: u32 = 5121;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

impl Document {
    /// Appends to a top-level array, creating it if needed; returns the index.
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

    /// Elements of `width` floats each; `place` names what holds an element.
    pub(super) fn floats(
        kind: &str,
        width: usize,
        values: &[f32],
        place: impl FnOnce(usize) -> String,
    ) -> Result<Accessor, NotFinite> {
        let width = width.max(1);
        let numbers = values.iter().copied().map(f64::from);
        numbers::check(numbers, |index| place(index / width))?;
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let count = values.len() / width;
        Ok(Accessor::new(kind, FLOAT, count, bytes.collect()))
    }

    /// Vectors; `place` names what holds one.
    pub(super) fn vectors(
        vectors: &[Vec3],
        place: impl FnOnce(usize) -> String,
    ) -> Result<Accessor, NotFinite> {
        let numbers: Vec<f32> = vectors
            .iter()
            .flat_map(|vector| vector.to_array())
            .collect();
        Accessor::floats("VEC3", 3, &numbers, place)
    }

    /// The inverse bind matrices of joints; `joint` numbers them for errors.
    pub(super) fn bind_matrices(
        joint_from_bind: impl Iterator<Item = DAffine3>,
        joint: impl FnOnce(usize) -> usize,
    ) -> Result<Accessor, NotFinite> {
        let columns = joint_from_bind.map(|matrix| DMat4::from(matrix).as_mat4().to_cols_array());
        let columns: Vec<f32> = columns.flatten().collect();
        let place = |index: usize| format!("the bind matrix of joint {}", joint(index));
        Accessor::floats("MAT4", 16, &columns, place)
    }

    /// Positions with their bounds, which the format requires. The first one is that of vertex
    /// `first`.
    pub(super) fn positions(positions: &[Vec3], first: usize) -> Result<Accessor, NotFinite> {
        let mut accessor = Accessor::vectors(positions, of_vertex("position", first))?;
        if let Some(bounds) = supple::Bounds::around(positions.iter().copied()) {
            accessor.json["min"] = json!(bounds.min.to_array());
            accessor.json["max"] = json!(bounds.max.to_array());
        }
        Ok(accessor)
    }

    /// Times with their range, which the format requires.
    pub(super) fn times(
        times: &[f32],
        place: impl FnOnce(usize) -> String,
    ) -> Result<Accessor, NotFinite> {
        let mut accessor = Accessor::floats("SCALAR", 1, times, place)?;
        accessor.json["min"] = json!([times.first()]);
        accessor.json["max"] = json!([times.last()]);
        Ok(accessor)
    }

    /// Its type and its bytes, to find equal ones.
    pub(super) fn content(&self) -> (String, Vec<u8>) {
        (self.json.to_string(), self.bytes.clone())
    }

    /// The number of bytes.
    pub(super) fn byte_count(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Marks integers as normalised fractions.
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

/// A list of numbers in JSON; `place` names what holds them.
pub(super) fn json_numbers(
    values: impl IntoIterator<Item = f64, IntoIter: Clone>,
    place: impl FnOnce() -> String,
) -> Result<Value, NotFinite> {
    let values = values.into_iter();
    numbers::check(values.clone(), |_| place())?;
    Ok(values.collect())
}

/// Writes the transform of a node as glTF stores it. The index and the name of the node are for
/// errors.
pub(super) fn write_local(
    json: &mut Map<String, Value>,
    local: &Local,
    node: usize,
    name: &str,
) -> Result<(), NotFinite> {
    let mut write = |key: &str, numbers: &[f64]| {
        let place = || node_place(key, node, name);
        let numbers = json_numbers(numbers.iter().copied(), place)?;
        json.insert(key.to_owned(), numbers);
        Ok(())
    };
    match local {
        Local::Trs(trs) => {
            write("translation", &trs.translation.to_array())?;
            write("rotation", &trs.rotation.to_array())?;
            write("scale", &trs.scale.to_array())
        }
        Local::Matrix(matrix) => write("matrix", &DMat4::from(*matrix).to_cols_array()),
    }
}

/// Names a number of a node, for errors.
pub(super) fn node_place(what: &str, node: usize, name: &str) -> String {
    match name {
        "" => format!("the {what} of node {node}"),
        name => format!("the {what} of node {node} ({})", quoted(name)),
    }
}

/// Names a value of a vertex for errors, counted from the first vertex of a part.
pub(super) fn of_vertex(what: &str, first: usize) -> impl FnOnce(usize) -> String {
    move |vertex| format!("the {what} of vertex {}", first + vertex)
}

/// Names a value of a vertex for errors, by its primitive.
pub(super) fn of_primitive(
    what: &str,
    mesh: usize,
    primitive: usize,
) -> impl FnOnce(usize) -> String {
    move |vertex| format!("the {what} of vertex {vertex} of meshes[{mesh}].primitives[{primitive}]")
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
