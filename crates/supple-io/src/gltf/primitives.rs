//! Changing the meshes of a document, primitive by primitive.

use super::Document;
use super::store::{Accessor, UNSIGNED_INT, remove_extensions};
use crate::NotFinite;
use serde_json::json;
use std::collections::HashMap;

impl Document {
    /// Writes something into the mesh of every instance that has it. Instances that share a mesh,
    /// but not what is written, get a mesh each.
    pub(super) fn write_versions<T>(
        &mut self,
        contents: Vec<Option<T>>,
        same: impl Fn(&T, &T) -> bool,
        mut write: impl FnMut(&mut Document, usize, &T) -> Result<(), NotFinite>,
    ) -> Result<(), NotFinite> {
        // The versions of each mesh written so far: (index of the mesh, what it holds).
        let mut written: HashMap<usize, Vec<(usize, T)>> = HashMap::new();
        for (position, content) in contents.into_iter().enumerate() {
            let Some(content) = content else {
                continue;
            };
            let (node, shared) = {
                let instance = &self.binding.instances[position];
                (instance.node, instance.mesh)
            };
            let versions = written.entry(shared).or_default();
            let known = versions.iter().find(|(_, other)| same(other, &content));
            let mesh = match known {
                Some((mesh, _)) => *mesh,
                None => {
                    let mesh = match versions.is_empty() {
                        true => shared,
                        false => self.duplicate("meshes", shared),
                    };
                    write(self, mesh, &content)?;
                    versions.push((mesh, content));
                    mesh
                }
            };
            self.json["nodes"][node]["mesh"] = json!(mesh);
            self.binding.instances[position].mesh = mesh;
        }
        Ok(())
    }

    /// Copies an element of a top-level array to its end.
    fn duplicate(&mut self, key: &str, index: usize) -> usize {
        let copy = self.json[key][index].clone();
        self.push(key, copy)
    }

    pub(super) fn set_attribute(
        &mut self,
        mesh: usize,
        primitive: usize,
        name: &str,
        accessor: Accessor,
    ) {
        let accessor = self.append(accessor.vertex_data());
        self.json["meshes"][mesh]["primitives"][primitive]["attributes"][name] = json!(accessor);
    }

    /// Replaces a primitive's triangles, whose corners are counted from `first_vertex`.
    pub(super) fn set_triangles(
        &mut self,
        mesh: usize,
        primitive: usize,
        first_vertex: usize,
        triangles: &[[u32; 3]],
    ) {
        let corners = triangles.iter().flatten();
        let bytes: Vec<u8> = corners
            .flat_map(|corner| (corner - first_vertex as u32).to_le_bytes())
            .collect();
        let indices = Accessor::new("SCALAR", UNSIGNED_INT, bytes.len() / 4, bytes);
        let indices = self.append(indices.index_data());
        let json = &mut self.json["meshes"][mesh]["primitives"][primitive];
        json["indices"] = json!(indices);
        if let Some(json) = json.as_object_mut() {
            json.shift_remove("mode"); // triangles, whatever it was before
        }
    }

    /// Removes attributes by the beginnings of their names, and the compressed copy of the
    /// primitive.
    pub(super) fn forget_attributes(&mut self, mesh: usize, primitive: usize, beginnings: &[&str]) {
        self.forget_compressed(mesh, primitive);
        let primitive = &mut self.json["meshes"][mesh]["primitives"][primitive];
        if let Some(attributes) = primitive["attributes"].as_object_mut() {
            attributes.retain(|name, _| {
                !beginnings
                    .iter()
                    .any(|beginning| name.starts_with(beginning))
            });
        }
    }

    /// Removes the compressed copy of a primitive, which does not have the changes.
    pub(super) fn forget_compressed(&mut self, mesh: usize, primitive: usize) {
        let primitive = &mut self.json["meshes"][mesh]["primitives"][primitive];
        remove_extensions(primitive, &["KHR_draco_mesh_compression"]);
    }
}
