//! A new document from a character that did not come from a file.

use super::document::{Binding, Instance};
use super::store::{Accessor, json_numbers, node_place, of_vertex, write_local};
use super::{Document, SaveError};
use crate::NotFinite;
use glam::Vec3;
use serde_json::{Map, Value, json};
use supple::Asset;
use supple::clip::{Channel, Clip, Interpolation, Track};

impl Document {
    /// Creates a document with the mesh, skeleton, weights and clips of a character that did not
    /// come from a file.
    ///
    /// It is made for the built-in characters: morph targets, tangents and props are not written,
    /// and several parts become one, in the colour of the first.
    ///
    /// # Errors
    ///
    /// If a number of the character is not finite, or it has more joints than a skin can number.
    pub fn from_asset(asset: &Asset) -> Result<Document, SaveError> {
        let mesh = asset.rig.mesh();
        let skeleton = asset.rig.skeleton();
        let joints: Vec<usize> = skeleton.joints().iter().map(|joint| joint.node).collect();
        let roots =
            (0..skeleton.nodes().len()).filter(|&node| skeleton.nodes()[node].parent.is_none());
        let mesh_node = skeleton.nodes().len();
        let scene: Vec<usize> = roots.chain([mesh_node]).collect();
        let color = asset
            .parts
            .first()
            .and_then(|part| part.color)
            .unwrap_or(Vec3::ONE)
            .to_array();
        let color = color.into_iter().chain([1.0]).map(f64::from);
        let color = json_numbers(color, || "the colour of the first part".to_owned())?;
        let mut document = Document {
            json: json!({
                "asset": { "version": "2.0", "generator": "Supple" },
                "scene": 0,
                "scenes": [{ "nodes": scene }],
                "nodes": nodes(asset)?,
                "materials": [{
                    "name": asset.name,
                    "pbrMetallicRoughness": {
                        "baseColorFactor": color,
                        "metallicFactor": 0.0,
                        "roughnessFactor": 0.8,
                    },
                }],
                "meshes": [{
                    "name": asset.name,
                    "primitives": [{ "attributes": {}, "material": 0 }],
                }],
                "skins": [{ "joints": joints }],
            }),
            buffers: Vec::new(),
            extra_chunks: Vec::new(),
            folder: None,
            binding: Binding {
                file_node: (0..skeleton.nodes().len()).collect(),
                file_joints: (0..joints.len()).collect(),
                instances: vec![Instance {
                    node: mesh_node,
                    mesh: 0,
                    skinned: true,
                    joint_of_skin: (0..joints.len()).collect(),
                    primitives: std::iter::once(0..mesh.vertex_count()).collect(),
                }],
                props: Vec::new(),
                animation_of_clip: Vec::new(),
            },
        };
        let positions = Accessor::positions(mesh.positions(), 0)?;
        document.set_attribute(0, 0, "POSITION", positions);
        let normals = Accessor::vectors(mesh.normals(), of_vertex("normal", 0))?;
        document.set_attribute(0, 0, "NORMAL", normals);
        document.set_triangles(0, 0, 0, mesh.triangles());
        let matrices = skeleton.joints().iter().map(|joint| joint.joint_from_bind);
        let matrices = document.append(Accessor::bind_matrices(matrices, |joint| joint)?);
        document.json["skins"][0]["inverseBindMatrices"] = json!(matrices);
        for clip in &asset.clips {
            let animation = document.animation(asset, clip)?;
            // The format has no animation without channels.
            let moves = animation["channels"]
                .as_array()
                .is_some_and(|channels| !channels.is_empty());
            let animation = moves.then(|| document.push("animations", animation));
            document.binding.animation_of_clip.push(animation);
        }
        document.set_weights(asset.rig.weights())?;
        Ok(document)
    }

    fn animation(&mut self, asset: &Asset, clip: &Clip) -> Result<Value, NotFinite> {
        let mut channels = Vec::new();
        let mut samplers = Vec::new();
        for track in clip.tracks.iter().filter(|track| track.fits()) {
            let (node, path, kind) = match track.channel {
                Channel::Translation { node } => (node, "translation", "VEC3"),
                Channel::Rotation { node } => (node, "rotation", "VEC4"),
                Channel::Scale { node } => (node, "scale", "VEC3"),
                Channel::MorphWeights { .. } => continue,
            };
            // A track of a missing node moves nothing.
            let Some(driven) = asset.rig.skeleton().nodes().get(node) else {
                continue;
            };
            channels.push(
                json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }),
            );
            let place = node_place(path, node, &driven.name);
            samplers.push(self.append_sampler(kind, track, &place)?);
        }
        Ok(json!({ "name": clip.name, "channels": channels, "samplers": samplers }))
    }

    /// Stores the curve of a track; returns its sampler. `kind` is the type of its values, and
    /// `what` names for errors what they move.
    pub(super) fn append_sampler(
        &mut self,
        kind: &str,
        track: &Track,
        what: &str,
    ) -> Result<Value, NotFinite> {
        let times = track.curve.times();
        let time = |key: usize| format!("the time of key {key} of {what}");
        let input = self.append(Accessor::times(times, time)?);
        let curve = track.curve.to_hermite();
        let interpolation = match curve.interpolation() {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicHermite | Interpolation::CatmullRom => "CUBICSPLINE",
        };
        let width = track.channel.width();
        // Each key of a cubic curve has three elements: tangents around its value.
        let of_key = curve.values().len() / width.max(1) / times.len().max(1);
        let key = |element: usize| format!("key {} of {what}", element / of_key.max(1));
        let values = Accessor::floats(kind, width, curve.values(), key)?;
        let output = self.append(values);
        Ok(json!({ "input": input, "output": output, "interpolation": interpolation }))
    }
}

fn nodes(asset: &Asset) -> Result<Vec<Value>, NotFinite> {
    let skeleton = asset.rig.skeleton();
    let mut nodes: Vec<Map<String, Value>> = Vec::with_capacity(skeleton.nodes().len());
    for (index, node) in skeleton.nodes().iter().enumerate() {
        let mut json = Map::new();
        json.insert("name".to_owned(), json!(node.name));
        write_local(&mut json, &node.rest, index, &node.name)?;
        nodes.push(json);
    }
    for (child, node) in skeleton.nodes().iter().enumerate() {
        if let Some(parent) = node.parent {
            let children = nodes[parent].entry("children").or_insert_with(|| json!([]));
            children
                .as_array_mut()
                .into_iter()
                .for_each(|list| list.push(json!(child)));
        }
    }
    let mut nodes: Vec<Value> = nodes.into_iter().map(Value::Object).collect();
    nodes.push(json!({ "name": asset.name, "mesh": 0, "skin": 0 }));
    Ok(nodes)
}
