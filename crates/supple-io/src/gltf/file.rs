//! The typed JSON of a file, for everything that reads it.

use super::accessor::Accessors;
use super::container::Container;
use super::elements::{in_range, section};
use super::fault::Fault;
use glam::Vec3;
use gltf_json::{Mesh as FileMesh, Node as FileNode, Skin as FileSkin};
use serde_json::Value;

/// The parts of a file that a character is made of.
pub(super) struct File<'a> {
    pub(super) accessors: Accessors<'a>,
    pub(super) nodes: Vec<FileNode>,
    pub(super) meshes: Vec<FileMesh>,
    pub(super) skins: Vec<FileSkin>,
    pub(super) json: &'a Value,
}

/// A node with a mesh, both in range.
pub(super) struct MeshNode {
    pub(super) node: usize,
    pub(super) mesh: usize,
    pub(super) skin: Option<usize>,
}

impl File<'_> {
    pub(super) fn new(container: &Container) -> Result<File<'_>, Fault> {
        let json = &container.json;
        Ok(File {
            accessors: Accessors::new(container)?,
            nodes: section(json, "nodes")?,
            meshes: section(json, "meshes")?,
            skins: section(json, "skins")?,
            json,
        })
    }

    /// The nodes that have a mesh.
    pub(super) fn mesh_nodes(&self) -> Result<Vec<MeshNode>, Fault> {
        let mut result = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(mesh) = node.mesh.map(|mesh| mesh.value()) else {
                continue;
            };
            let place = format!("nodes[{index}]");
            in_range(mesh, self.meshes.len(), "mesh", &place)?;
            let skin = node.skin.map(|skin| skin.value());
            if let Some(skin) = skin {
                in_range(skin, self.skins.len(), "skin", &place)?;
            }
            result.push(MeshNode {
                node: index,
                mesh,
                skin,
            });
        }
        Ok(result)
    }

    /// The name of a node with a mesh.
    pub(super) fn node_name(&self, node: &MeshNode) -> String {
        let names = [&self.nodes[node.node].name, &self.meshes[node.mesh].name];
        let given = names.into_iter().flatten().find(|name| !name.is_empty());
        given
            .cloned()
            .unwrap_or_else(|| format!("mesh {}", node.mesh))
    }

    /// The colour of a material; none if it is white or comes from a texture.
    pub(super) fn material_color(&self, material: Option<usize>) -> Option<Vec3> {
        let path = |index: usize| format!("/materials/{index}/pbrMetallicRoughness");
        let pbr = self.json.pointer(&path(material?))?;
        let factor = pbr.get("baseColorFactor").and_then(Value::as_array);
        let channel = |i: usize| factor?.get(i)?.as_f64().map(|x| x.clamp(0.0, 1.0) as f32);
        let color = Vec3::new(channel(0)?, channel(1)?, channel(2)?);
        let is_plain = pbr.get("baseColorTexture").is_none() && color.min_element() < 0.95;
        is_plain.then_some(color)
    }

    /// The number of morph targets of a mesh, which all its primitives share.
    pub(super) fn morph_count(&self, mesh: usize) -> usize {
        let first = self.meshes[mesh].primitives.first();
        first
            .and_then(|primitive| primitive.targets.as_ref())
            .map_or(0, Vec::len)
    }
}
