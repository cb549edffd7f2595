//! From the JSON of a file to a character.

use super::accessor::Accessors;
use super::centers;
use super::clips::clips;
use super::container::Container;
use super::joints::Joints;
use super::mush;
use super::surface::{MorphWeights, SurfaceReader};
use super::tree::Tree;
use super::{Binding, Fault, Instance, Notes, PropBinding, StoredCenters, StoredMush};
use crate::shortened;
use glam::Vec3;
use gltf_json::{Mesh as FileMesh, Node as FileNode, Skin as FileSkin};
use serde::de::DeserializeOwned;
use serde_json::Value;
use supple::mesh::CLAY;
use supple::{Asset, Prop, Rig, Skeleton};

/// What reading gives.
pub(super) struct Character {
    pub(super) asset: Asset,
    pub(super) stored_centers: Option<StoredCenters>,
    pub(super) stored_mush: Option<StoredMush>,
    pub(super) notes: Notes,
    pub(super) binding: Binding,
}

/// Extensions that change how geometry is stored, which Supple cannot decode.
const UNREADABLE: [&str; 3] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
];

/// Reads the character of a file.
pub(super) fn character(container: &Container, name: &str) -> Result<Character, Fault> {
    let json = &container.json;
    let file = File {
        accessors: Accessors::new(container)?,
        nodes: section(json, "nodes")?,
        meshes: section(json, "meshes")?,
        skins: section(json, "skins")?,
        json,
    };
    let mut notes = Notes {
        unknown_required_extensions: required_extensions(json)?,
        ..Notes::default()
    };
    let tree = Tree::new(&file.nodes, json)?;
    let mesh_nodes = file.mesh_nodes()?;
    notes.unskinned = mesh_nodes.iter().all(|node| node.skin.is_none());
    let (bound, hung): (Vec<&MeshNode>, Vec<&MeshNode>) = mesh_nodes
        .iter()
        .partition(|node| notes.unskinned || node.skin.is_some());
    if bound.is_empty() {
        return Err(Fault::new(
            "nodes",
            "no node has a mesh: there is no character here",
        ));
    }

    let joints = Joints::new(&file, &tree, &bound)?;
    let skeleton = Skeleton::new(tree.nodes.clone(), joints.sorted.clone())
        .map_err(|error| Fault::new("nodes", error.to_string()))?;

    let mut surface = SurfaceReader::new(&file, joints.sorted.len())?;
    let mut morph_weights = MorphWeights::default();
    let mut instances = Vec::new();
    for (index, node) in bound.iter().enumerate() {
        let weights = morph_weights.add(&file, node)?;
        let skin_joints = &joints.of_mesh_node[index];
        let primitives = surface.add(node, Some(skin_joints), weights.start, &mut notes)?;
        instances.push(Instance {
            node: node.node,
            mesh: node.mesh,
            skinned: node.skin.is_some(),
            joint_of_skin: skin_joints.joints.clone(),
            primitives,
        });
    }
    let surface = surface.finish(&mut notes)?;

    let mut props = Vec::new();
    let mut prop_bindings = Vec::new();
    for node in &hung {
        let weights = morph_weights.add(&file, node)?;
        let mut surface = SurfaceReader::new(&file, 1)?;
        surface.add(node, None, weights.start, &mut notes)?;
        prop_bindings.push(PropBinding {
            node: node.node,
            morph_weights: weights,
        });
        let surface = surface.finish(&mut Notes::default())?;
        props.push(Prop {
            name: file.node_name(node),
            node: tree.order_of[node.node],
            mesh: surface.mesh,
            morphs: surface.morphs,
            color: surface.parts.first().map_or(CLAY, |part| part.color),
        });
    }

    let clips = clips(&file, &tree, &morph_weights, &mut notes)?;
    let clip_count = clips.len();
    let rig = Rig::new(surface.mesh, skeleton, surface.weights)
        .map_err(|error| Fault::new("meshes", error.to_string()))?;
    let stored_centers = centers::stored(&file, &bound, surface.centers, &rig)?;
    // Last: what it takes of the budget is missed by nothing else.
    let stored_mush = mush::stored(&file, &instances, &rig);
    Ok(Character {
        asset: Asset {
            name: name.to_owned(),
            rig,
            parts: surface.parts,
            morphs: surface.morphs,
            rest_morph_weights: morph_weights.rest,
            clips,
            props,
        },
        stored_centers,
        stored_mush,
        notes,
        binding: Binding {
            file_node: tree.file_node,
            file_joints: joints.in_file_order,
            instances,
            props: prop_bindings,
            animation_of_clip: (0..clip_count).map(Some).collect(),
        },
    })
}

/// The elements of a top-level array; none if it is absent. Errors name the element.
pub(super) fn section<T: DeserializeOwned>(json: &Value, key: &str) -> Result<Vec<T>, Fault> {
    let elements = match json.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(Fault::new(key, "not an array")),
    };
    let typed = |(index, element): (usize, &Value)| {
        T::deserialize(element)
            .map_err(|error| Fault::new(format!("{key}[{index}]"), shortened(&error.to_string())))
    };
    elements.iter().enumerate().map(typed).collect()
}

/// Refuses compressed geometry, and lists required extensions that nobody here knows.
fn required_extensions(json: &Value) -> Result<Vec<String>, Fault> {
    let mut unknown = Vec::new();
    let required = json.get("extensionsRequired").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if UNREADABLE.contains(&name) {
            let problem = format!(
                "{name} is compressed geometry, which Supple cannot decode; export without compression"
            );
            return Err(Fault::new("extensionsRequired", problem));
        }
        let harmless = name == "KHR_mesh_quantization"
            || name.starts_with("KHR_materials_")
            || name.starts_with("KHR_texture_")
            || name.starts_with("EXT_texture_");
        if !harmless {
            unknown.push(name.to_owned());
        }
    }
    Ok(unknown)
}

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
    fn mesh_nodes(&self) -> Result<Vec<MeshNode>, Fault> {
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

    /// What the file calls a node with a mesh.
    pub(super) fn node_name(&self, node: &MeshNode) -> String {
        let names = [&self.nodes[node.node].name, &self.meshes[node.mesh].name];
        let given = names.into_iter().flatten().find(|name| !name.is_empty());
        given
            .cloned()
            .unwrap_or_else(|| format!("mesh {}", node.mesh))
    }

    /// The colour of a material, or clay where it is white or comes from a texture.
    pub(super) fn material_color(&self, material: Option<usize>) -> Vec3 {
        let path = |index: usize| format!("/materials/{index}/pbrMetallicRoughness");
        let Some(pbr) = material.and_then(|index| self.json.pointer(&path(index))) else {
            return CLAY;
        };
        let factor = pbr.get("baseColorFactor").and_then(Value::as_array);
        let channel = |i: usize| factor?.get(i)?.as_f64().map(|x| x.clamp(0.0, 1.0) as f32);
        match (channel(0), channel(1), channel(2)) {
            (Some(r), Some(g), Some(b))
                if pbr.get("baseColorTexture").is_none() && r.min(g).min(b) < 0.95 =>
            {
                Vec3::new(r, g, b)
            }
            _ => CLAY,
        }
    }

    /// How many morph targets a mesh has: as many as its first primitive (all must have the same).
    pub(super) fn morph_count(&self, mesh: usize) -> usize {
        let first = self.meshes[mesh].primitives.first();
        first
            .and_then(|primitive| primitive.targets.as_ref())
            .map_or(0, Vec::len)
    }
}

/// Checks an index from the file.
pub(super) fn in_range(index: usize, count: usize, what: &str, place: &str) -> Result<(), Fault> {
    if index < count {
        return Ok(());
    }
    Err(Fault::new(
        place,
        format!("names {what} {index}, but there are {count}"),
    ))
}
