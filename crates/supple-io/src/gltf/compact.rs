//! Dropping the parts of a document that nothing uses any more.

use super::mush::mush_accessors;
use super::{Document, MUSH_EXTENSION};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// The beginnings of the names of extensions that do not refer to accessors or buffer views.
const WITHOUT_REFERENCES: [&str; 7] = [
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_punctual",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "VRMC_",
];

impl Document {
    /// Removes accessors and buffer views that nothing refers to, and their bytes.
    ///
    /// An unknown extension may refer to anything, so a file that uses one is left as it is.
    pub(super) fn drop_unused(&mut self) {
        let used = self.json.get("extensionsUsed").and_then(Value::as_array);
        let harmless = |name: &str| {
            name == MUSH_EXTENSION
                || WITHOUT_REFERENCES
                    .iter()
                    .any(|known| name.starts_with(known))
        };
        let mut names = used.into_iter().flatten().filter_map(Value::as_str);
        if !names.all(harmless) {
            return;
        }
        let mut json = std::mem::take(&mut self.json);
        keep_used(&mut json, "accessors", accessor_references);
        keep_used(&mut json, "bufferViews", view_references);
        self.repack(&mut json);
        self.json = json;
    }

    /// Moves the bytes of the buffer views together, in their order, buffer by buffer.
    fn repack(&mut self, json: &mut Value) {
        // Views may overlap; moving them apart would make the file larger.
        let length = |view: &mut Value| view["byteLength"].as_u64().unwrap_or(0);
        let views = elements(json, "bufferViews").map(length);
        let claimed = views.fold(0, u64::saturating_add);
        // Buffers that name the same file share its bytes.
        let mut seen = HashSet::new();
        let buffers = self.buffers.iter();
        let distinct = buffers.filter(|bytes| seen.insert(Arc::as_ptr(bytes)));
        let stored = distinct.map(|bytes| bytes.len() as u64);
        if claimed > stored.fold(0, u64::saturating_add) {
            return;
        }
        let old = std::mem::take(&mut self.buffers);
        let mut packed: Vec<Vec<u8>> = vec![Vec::new(); old.len()];
        for view in elements(json, "bufferViews") {
            let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
            let (buffer, offset, length) =
                (number("buffer"), number("byteOffset"), number("byteLength"));
            let bytes = old
                .get(buffer)
                .and_then(|bytes| bytes.get(offset..offset.checked_add(length)?));
            let (Some(bytes), Some(packed)) = (bytes, packed.get_mut(buffer)) else {
                continue;
            };
            packed.resize(packed.len().next_multiple_of(4), 0);
            view["byteOffset"] = json!(packed.len());
            packed.extend_from_slice(bytes);
        }
        for (buffer, packed) in elements(json, "buffers").zip(&packed) {
            buffer["byteLength"] = json!(packed.len());
        }
        self.buffers = packed.into_iter().map(Arc::new).collect();
    }
}

/// Hands every reference to one kind of element to a visitor.
type References = fn(&mut Value, &mut dyn FnMut(&mut Value));

/// Removes the unused elements of a top-level array and renumbers what refers to it.
fn keep_used(json: &mut Value, key: &str, references: References) {
    let count = elements(json, key).count();
    let mut used = vec![false; count];
    references(json, &mut |reference| {
        if let Some(slot) = reference
            .as_u64()
            .and_then(|index| used.get_mut(index as usize))
        {
            *slot = true;
        }
    });
    let mut next = 0;
    let renumbered: Vec<usize> = used
        .iter()
        .map(|&used| {
            next += usize::from(used);
            next.saturating_sub(1)
        })
        .collect();
    references(json, &mut |reference| {
        if let Some(index) = reference
            .as_u64()
            .and_then(|index| renumbered.get(index as usize))
        {
            *reference = json!(index);
        }
    });
    if let Some(array) = json.get_mut(key).and_then(Value::as_array_mut) {
        let mut used = used.into_iter();
        array.retain(|_| used.next().unwrap_or(true));
        // The format has no empty lists.
        if array.is_empty()
            && let Some(root) = json.as_object_mut()
        {
            root.shift_remove(key);
        }
    }
}

fn accessor_references(json: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    for mesh in elements(json, "meshes") {
        for primitive in elements(mesh, "primitives") {
            members(primitive, "attributes").for_each(&mut *visit);
            primitive
                .get_mut("indices")
                .into_iter()
                .for_each(&mut *visit);
            mush_accessors(primitive).for_each(&mut *visit);
            for target in elements(primitive, "targets") {
                let offsets = target
                    .as_object_mut()
                    .into_iter()
                    .flat_map(|target| target.values_mut());
                offsets.for_each(&mut *visit);
            }
        }
    }
    for skin in elements(json, "skins") {
        skin.get_mut("inverseBindMatrices")
            .into_iter()
            .for_each(&mut *visit);
    }
    for animation in elements(json, "animations") {
        for sampler in elements(animation, "samplers") {
            for key in ["input", "output"] {
                sampler.get_mut(key).into_iter().for_each(&mut *visit);
            }
        }
    }
}

fn view_references(json: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    for accessor in elements(json, "accessors") {
        accessor
            .get_mut("bufferView")
            .into_iter()
            .for_each(&mut *visit);
        for part in ["/sparse/indices/bufferView", "/sparse/values/bufferView"] {
            accessor.pointer_mut(part).into_iter().for_each(&mut *visit);
        }
    }
    for image in elements(json, "images") {
        image
            .get_mut("bufferView")
            .into_iter()
            .for_each(&mut *visit);
    }
}

fn elements<'a>(json: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let array = json.get_mut(key).and_then(Value::as_array_mut);
    array.into_iter().flatten()
}

fn members<'a>(json: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let object = json.get_mut(key).and_then(Value::as_object_mut);
    object.into_iter().flat_map(|object| object.values_mut())
}
