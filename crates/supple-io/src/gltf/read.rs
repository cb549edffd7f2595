//! Reading a character from the JSON of a file.

use super::centers;
use super::clips::clips;
use super::container::Container;
use super::document::{Binding, Instance, PropBinding};
use super::fault::Fault;
use super::file::{File, MeshNode};
use super::joints::Joints;
use super::mush;
use super::surface::{MorphWeights, SurfaceReader};
use super::tree::Tree;
use super::{Notes, StoredCenters, StoredMush};
use serde_json::Value;
use supple::{Asset, Prop, Rig, Skeleton};

/// A character as it was read, and how it corresponds to the file.
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
    let file = File::new(container)?;
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
            color: surface.parts.first().and_then(|part| part.color),
        });
    }

    let clips = clips(&file, &tree, &morph_weights, &mut notes)?;
    let clip_count = clips.len();
    let rig = Rig::new(surface.mesh, skeleton, surface.weights)
        .map_err(|error| Fault::new("meshes", error.to_string()))?;
    let stored_centers = centers::stored(&file, &bound, surface.centers, &rig)?;
    // Last, so that it leaves the budget for all else.
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

/// Refuses compressed geometry; returns the required extensions that are not known.
fn required_extensions(json: &Value) -> Result<Vec<String>, Fault> {
    let mut unknown = Vec::new();
    let required = json.get("extensionsRequired").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if UNREADABLE.contains(&name) {
            let problem = format!(
                "{name} is compressed geometry, which Supple cannot decode; export without \
                 compression"
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
