//! Changing a document, and writing it as a file. What is not changed stays as it was.

use super::container::{self, CHUNK_BIN, CHUNK_JSON, MAGIC};
use super::{Document, Instance};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use glam::{Vec3, Vec4};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use supple::transform::Local;
use supple::{Asset, Pose, Weights};
use thiserror::Error;

pub(super) const FLOAT: u32 = 5126;
pub(super) const UNSIGNED_INT: u32 = 5125;
pub(super) const UNSIGNED_SHORT: u32 = 5123;
pub(super) const UNSIGNED_BYTE: u32 = 5121;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Why a document could not be changed or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SaveError {
    /// Something has another number of vertices than the character.
    #[error("{what} for {found} vertices, but the character in the file has {expected}")]
    VertexCount {
        /// What.
        what: &'static str,
        /// Its vertices.
        found: usize,
        /// The character's.
        expected: usize,
    },
    /// A vertex is bound to a joint that its skin does not list.
    #[error(
        "vertex {vertex} is bound to joint {joint}, which the skin of node {node} does not list"
    )]
    JointNotInSkin {
        /// Which vertex of the character.
        vertex: usize,
        /// Which joint of the skeleton.
        joint: usize,
        /// The file's node with the skin.
        node: usize,
    },
    /// GLB lengths are 32-bit.
    #[error("the file would have {0} bytes, more than the 4 GiB that a .glb can hold")]
    TooLarge(u64),
}

/// A deformed surface, one entry per vertex of the character.
#[derive(Clone, Copy, Debug)]
pub struct PosedSurface<'a> {
    /// World positions.
    pub positions: &'a [Vec3],
    /// Unit normals.
    pub normals: &'a [Vec3],
    /// Unit tangents, where the character has them.
    pub tangents: Option<&'a [Vec4]>,
}

impl Document {
    /// Replaces the weights of the character, in as many JOINTS_n/WEIGHTS_n sets as they need.
    ///
    /// Nodes that share a mesh but now differ in their weights get a mesh each.
    pub fn set_weights(&mut self, weights: &Weights) -> Result<(), SaveError> {
        self.check_vertex_count("weights", weights.vertex_count())?;
        let instances = self.binding.instances.clone();
        // All of them before anything is changed: on an error the document stays as it was.
        let mut all_sets = Vec::with_capacity(instances.len());
        for instance in &instances {
            let primitives = instance.primitives.iter();
            let sets = primitives.map(|vertices| InfluenceSets::new(weights, vertices, instance));
            all_sets.push(match instance.skinned {
                true => Some(sets.collect::<Result<Vec<_>, _>>()?),
                false => None,
            });
        }
        // The versions of each mesh written so far: (index of the mesh, its influences).
        let mut written: HashMap<usize, Vec<(usize, Vec<InfluenceSets>)>> = HashMap::new();
        for ((position, instance), sets) in instances.iter().enumerate().zip(all_sets) {
            let Some(sets) = sets else {
                continue;
            };
            let versions = written.entry(instance.mesh).or_default();
            let same = versions.iter().find(|(_, other)| *other == sets);
            let mesh = match same {
                Some((mesh, _)) => *mesh,
                None => {
                    let mesh = match versions.is_empty() {
                        true => instance.mesh,
                        false => self.duplicate("meshes", instance.mesh),
                    };
                    for (primitive, sets) in sets.iter().enumerate() {
                        self.write_influences(mesh, primitive, sets);
                    }
                    versions.push((mesh, sets));
                    mesh
                }
            };
            self.json["nodes"][instance.node]["mesh"] = json!(mesh);
            self.binding.instances[position].mesh = mesh;
        }
        self.drop_unused();
        Ok(())
    }

    /// The same file frozen in a pose: deformed meshes at the top of the scene, everything else where the pose puts it,
    /// no skins, morph targets or animations.
    pub fn posed(
        &self,
        asset: &Asset,
        pose: &Pose,
        surface: PosedSurface<'_>,
    ) -> Result<Document, SaveError> {
        self.check_vertex_count("positions", surface.positions.len())?;
        self.check_vertex_count("normals", surface.normals.len())?;
        let mut posed = self.clone();
        posed.freeze_nodes(asset, pose);
        let mut taken: HashSet<usize> = posed.meshes_of_props();
        let roots = self.roots_of_nodes(asset);
        for (index, instance) in self.binding.instances.iter().enumerate() {
            // The first to come keeps the mesh's place; props and other instances need it as it was.
            let mesh = if taken.insert(instance.mesh) {
                instance.mesh
            } else {
                posed.push("meshes", self.json["meshes"][instance.mesh].clone())
            };
            posed.freeze_mesh(mesh, instance, surface);
            posed.hang_on_top(instance.node, roots[instance.node], mesh);
            posed.binding.instances[index].mesh = mesh;
        }
        if let Some(root) = posed.json.as_object_mut() {
            root.shift_remove("animations");
            root.shift_remove("skins");
        }
        posed.drop_unused();
        Ok(posed)
    }

    /// As a `.glb`: one buffer, images embedded.
    pub fn to_glb(&self) -> Result<Vec<u8>, SaveError> {
        let (mut json, bin) = self.self_contained();
        if !bin.is_empty() {
            json["buffers"][0]["byteLength"] = json!(bin.len());
        }
        let text = json.to_string().into_bytes();
        let mut chunks = vec![(CHUNK_JSON, padded(text, b' '))];
        if !bin.is_empty() {
            chunks.push((CHUNK_BIN, padded(bin, 0)));
        }
        let extra = self.extra_chunks.iter().cloned();
        chunks.extend(extra.map(|(kind, content)| (kind, padded(content, 0))));
        let length = 12
            + chunks
                .iter()
                .map(|(_, content)| 8 + content.len() as u64)
                .sum::<u64>();
        let length = u32::try_from(length).map_err(|_| SaveError::TooLarge(length))?;
        let mut out = Vec::with_capacity(length as usize);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&2u32.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        for (kind, content) in chunks {
            out.extend_from_slice(&(content.len() as u32).to_le_bytes());
            out.extend_from_slice(&kind.to_le_bytes());
            out.extend_from_slice(&content);
        }
        Ok(out)
    }

    /// As a `.gltf` that needs no other file: the buffer is a data URI, images are embedded.
    pub fn to_gltf(&self) -> Vec<u8> {
        let (mut json, bin) = self.self_contained();
        if !bin.is_empty() {
            json["buffers"][0]["byteLength"] = json!(bin.len());
            let encoded = STANDARD.encode(bin);
            json["buffers"][0]["uri"] =
                json!(format!("data:application/octet-stream;base64,{encoded}"));
        }
        format!("{json:#}\n").into_bytes()
    }

    fn check_vertex_count(&self, what: &'static str, found: usize) -> Result<(), SaveError> {
        let primitives = self
            .binding
            .instances
            .iter()
            .flat_map(|instance| &instance.primitives);
        let expected = primitives.map(|vertices| vertices.end).max().unwrap_or(0);
        if found == expected {
            return Ok(());
        }
        Err(SaveError::VertexCount {
            what,
            found,
            expected,
        })
    }

    /// Copies an element of a top-level array to its end.
    fn duplicate(&mut self, key: &str, index: usize) -> usize {
        let copy = self.json[key][index].clone();
        self.push(key, copy)
    }

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

    fn write_influences(&mut self, mesh: usize, primitive: usize, sets: &InfluenceSets) {
        self.remove_attributes(mesh, primitive, &["JOINTS_", "WEIGHTS_"]);
        for (set, InfluenceSet { joints, weights }) in sets.sets.iter().enumerate() {
            let fits_byte = joints.iter().flatten().all(|&joint| joint <= 255);
            let joints: Accessor = if fits_byte {
                let bytes = joints.iter().flatten().map(|&joint| joint as u8).collect();
                Accessor::new("VEC4", UNSIGNED_BYTE, joints.len(), bytes)
            } else {
                let bytes = joints
                    .iter()
                    .flatten()
                    .flat_map(|joint| joint.to_le_bytes())
                    .collect();
                Accessor::new("VEC4", UNSIGNED_SHORT, joints.len(), bytes)
            };
            let floats: Vec<f32> = weights.iter().flatten().copied().collect();
            let joints = self.append(joints.vertex_data());
            let weights = self.append(Accessor::floats("VEC4", 4, &floats).vertex_data());
            let attributes = &mut self.json["meshes"][mesh]["primitives"][primitive]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
    }

    fn remove_attributes(&mut self, mesh: usize, primitive: usize, prefixes: &[&str]) {
        let primitive = &mut self.json["meshes"][mesh]["primitives"][primitive];
        if let Some(attributes) = primitive["attributes"].as_object_mut() {
            attributes.retain(|name, _| !prefixes.iter().any(|prefix| name.starts_with(prefix)));
        }
    }

    /// Writes the pose into the nodes that it moves, and prop's morph weights beside them.
    fn freeze_nodes(&mut self, asset: &Asset, pose: &Pose) {
        let nodes = asset.rig.skeleton().nodes();
        for ((node, local), &file_node) in
            nodes.iter().zip(&pose.locals).zip(&self.binding.file_node)
        {
            if *local == node.rest {
                continue;
            }
            let Some(json) = self.json["nodes"][file_node].as_object_mut() else {
                continue;
            };
            for key in ["matrix", "translation", "rotation", "scale"] {
                json.shift_remove(key);
            }
            write_local(json, local);
        }
        for prop in &self.binding.props {
            let weights = pose.morph_weights.get(prop.morph_weights.clone());
            if let Some(weights) = weights.filter(|weights| !weights.is_empty()) {
                self.json["nodes"][prop.node]["weights"] = json!(weights);
            }
        }
    }

    /// The topmost node above (or at) each of the file's nodes.
    fn roots_of_nodes(&self, asset: &Asset) -> Vec<usize> {
        let file_node = &self.binding.file_node;
        let mut roots = vec![0; file_node.len()];
        for (node, &here) in asset.rig.skeleton().nodes().iter().zip(file_node) {
            roots[here] = node.parent.map_or(here, |parent| roots[file_node[parent]]);
        }
        // The mesh node of a built-in character stands beside its skeleton.
        let nodes = self.json["nodes"].as_array().map_or(0, Vec::len);
        roots.extend(file_node.len()..nodes);
        roots
    }

    fn meshes_of_props(&self) -> HashSet<usize> {
        let meshes = self.binding.props.iter().filter_map(|prop| {
            let mesh = self.json["nodes"][prop.node]["mesh"].as_u64()?;
            Some(mesh as usize)
        });
        meshes.collect()
    }

    /// Replaces a mesh's vertex data by the deformed surface.
    fn freeze_mesh(&mut self, mesh: usize, instance: &Instance, surface: PosedSurface<'_>) {
        if let Some(json) = self.json["meshes"][mesh].as_object_mut() {
            json.shift_remove("weights");
        }
        for (primitive, vertices) in instance.primitives.iter().enumerate() {
            self.remove_attributes(mesh, primitive, &["JOINTS_", "WEIGHTS_"]);
            let json = &mut self.json["meshes"][mesh]["primitives"][primitive];
            if let Some(json) = json.as_object_mut() {
                json.shift_remove("targets");
            }
            let has_tangents = json["attributes"].get("TANGENT").is_some();
            let positions = &surface.positions[vertices.clone()];
            self.set_attribute(mesh, primitive, "POSITION", Accessor::positions(positions));
            let normals: Vec<f32> = flatten(&surface.normals[vertices.clone()]);
            self.set_attribute(
                mesh,
                primitive,
                "NORMAL",
                Accessor::floats("VEC3", 3, &normals),
            );
            if let Some(tangents) = surface.tangents.filter(|_| has_tangents) {
                let tangents = tangents[vertices.clone()].iter().flat_map(|t| t.to_array());
                let tangents: Vec<f32> = tangents.collect();
                self.set_attribute(
                    mesh,
                    primitive,
                    "TANGENT",
                    Accessor::floats("VEC4", 4, &tangents),
                );
            }
        }
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

    /// Moves the mesh of a node to a new node without a parent, in every scene that shows the old one.
    fn hang_on_top(&mut self, node: usize, root: usize, mesh: usize) {
        let mut shown = json!({ "mesh": mesh });
        if let Some(old) = self.json["nodes"][node].as_object_mut() {
            if let Some(name) = old.get("name") {
                shown["name"] = name.clone();
            }
            for key in ["mesh", "skin", "weights"] {
                old.shift_remove(key);
            }
        }
        let top = self.push("nodes", shown);
        let scenes = self.json["scenes"].as_array_mut();
        for scene in scenes.into_iter().flatten() {
            let nodes = scene.get_mut("nodes").and_then(Value::as_array_mut);
            if let Some(nodes) = nodes.filter(|nodes| nodes.contains(&json!(root))) {
                nodes.push(json!(top));
            }
        }
    }

    /// Stores an accessor at the end of the last buffer; returns its index.
    pub(super) fn append(&mut self, accessor: Accessor) -> usize {
        if self.buffers.is_empty() {
            self.buffers.push(Arc::default());
            self.json["buffers"] = json!([{ "byteLength": 0 }]);
        }
        let buffer = self.buffers.len() - 1;
        let declared = self.json["buffers"][buffer]["byteLength"]
            .as_u64()
            .unwrap_or(0) as usize;
        let bytes = Arc::make_mut(&mut self.buffers[buffer]);
        bytes.truncate(declared);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let offset = bytes.len();
        bytes.extend_from_slice(&accessor.bytes);
        self.json["buffers"][buffer]["byteLength"] = json!(bytes.len());
        let mut view =
            json!({ "buffer": buffer, "byteOffset": offset, "byteLength": accessor.bytes.len() });
        if let Some(target) = accessor.target {
            view["target"] = json!(target);
        }
        let view = self.push("bufferViews", view);
        let mut json = accessor.json;
        json["bufferView"] = json!(view);
        self.push("accessors", json)
    }

    /// JSON and one buffer that need no other file, as far as images can be found.
    fn self_contained(&self) -> (Value, Vec<u8>) {
        let mut whole = self.clone();
        whole.embed_images();
        let mut bin: Vec<u8> = Vec::new();
        let mut starts = Vec::with_capacity(whole.buffers.len());
        for (index, buffer) in whole.buffers.iter().enumerate() {
            bin.resize(bin.len().next_multiple_of(4), 0);
            starts.push(bin.len() as u64);
            let declared = whole.json["buffers"][index]["byteLength"]
                .as_u64()
                .unwrap_or(0);
            bin.extend_from_slice(&buffer[..declared as usize]);
        }
        let mut json = whole.json;
        let views = json["bufferViews"].as_array_mut();
        for view in views.into_iter().flatten() {
            let buffer = view["buffer"].as_u64().unwrap_or(0) as usize;
            let start = starts.get(buffer).copied().unwrap_or(0);
            let offset = view["byteOffset"]
                .as_u64()
                .unwrap_or(0)
                .saturating_add(start);
            view["buffer"] = json!(0);
            if offset > 0 {
                view["byteOffset"] = json!(offset);
            }
        }
        if let Some(buffers) = json["buffers"].as_array_mut() {
            buffers.truncate(1);
            if let Some(first) = buffers.first_mut().and_then(Value::as_object_mut) {
                first.shift_remove("uri");
            }
        }
        // Indexing a missing key for reading left nothing behind, but for writing it leaves null.
        if let Some(root) = json.as_object_mut() {
            root.retain(|_, value| !value.is_null());
        }
        (json, bin)
    }

    /// Takes image files that lie beside the original into the buffer: the new file may lie elsewhere.
    fn embed_images(&mut self) {
        let count = self.json["images"].as_array().map_or(0, Vec::len);
        for index in 0..count {
            let uri = self.json["images"][index]["uri"].as_str();
            let Some(uri) = uri.filter(|uri| !container::is_data_uri(uri)) else {
                continue;
            };
            let given = self.json["images"][index]["mimeType"].as_str();
            let Some(mime) = given.or_else(|| image_type(uri)).map(str::to_owned) else {
                continue;
            };
            let path = container::resolve_uri(uri, self.folder.as_deref());
            let Some(bytes) = path.ok().and_then(|path| crate::read_whole(&path).ok()) else {
                continue;
            };
            let accessor = self.append(Accessor::new("SCALAR", UNSIGNED_BYTE, bytes.len(), bytes));
            // Only the view is wanted: an image is not numbers.
            let view = self.json["accessors"][accessor]["bufferView"].clone();
            if let Some(accessors) = self.json["accessors"].as_array_mut() {
                accessors.pop();
            }
            if let Some(image) = self.json["images"][index].as_object_mut() {
                image.shift_remove("uri");
                image.insert("mimeType".to_owned(), json!(mime));
                image.insert("bufferView".to_owned(), view);
            }
        }
    }
}

fn image_type(uri: &str) -> Option<&'static str> {
    let extension = Path::new(uri).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ktx2" => "image/ktx2",
        _ => return None,
    })
}

fn padded(mut bytes: Vec<u8>, with: u8) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), with);
    bytes
}

/// The transform of a node, in the keys that glTF has for it.
pub(super) fn write_local(json: &mut Map<String, Value>, local: &Local) {
    match local {
        Local::Trs(trs) => {
            json.insert("translation".to_owned(), json!(trs.translation.to_array()));
            json.insert("rotation".to_owned(), json!(trs.rotation.to_array()));
            json.insert("scale".to_owned(), json!(trs.scale.to_array()));
        }
        Local::Matrix(matrix) => {
            let columns = glam::DMat4::from(*matrix).to_cols_array();
            json.insert("matrix".to_owned(), json!(columns));
        }
    }
}

pub(super) fn flatten(vectors: &[Vec3]) -> Vec<f32> {
    vectors
        .iter()
        .flat_map(|vector| vector.to_array())
        .collect()
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

/// The influences of a primitive in glTF's sets of four; unused places hold joint 0 and weight 0.
#[derive(Clone, Debug, PartialEq)]
struct InfluenceSets {
    sets: Vec<InfluenceSet>,
}

/// One JOINTS_n with its WEIGHTS_n.
#[derive(Clone, Debug, PartialEq)]
struct InfluenceSet {
    joints: Vec<[u16; 4]>,
    weights: Vec<[f32; 4]>,
}

impl InfluenceSets {
    fn new(
        weights: &Weights,
        vertices: &Range<usize>,
        instance: &Instance,
    ) -> Result<InfluenceSets, SaveError> {
        let local_of: HashMap<usize, u16> = instance
            .joint_of_skin
            .iter()
            .enumerate()
            .rev() // of a joint that is listed twice, the first place counts
            .map(|(local, &joint)| (joint, local as u16))
            .collect();
        let most = vertices
            .clone()
            .map(|vertex| weights.of(vertex).len())
            .max();
        let set_count = most.unwrap_or(0).div_ceil(4).max(1);
        let empty = InfluenceSet {
            joints: vec![[0; 4]; vertices.len()],
            weights: vec![[0.0; 4]; vertices.len()],
        };
        let mut sets = vec![empty; set_count];
        for (row, vertex) in vertices.clone().enumerate() {
            for (slot, influence) in weights.of(vertex).enumerate() {
                let Some(&local) = local_of.get(&influence.joint) else {
                    return Err(SaveError::JointNotInSkin {
                        vertex,
                        joint: influence.joint,
                        node: instance.node,
                    });
                };
                sets[slot / 4].joints[row][slot % 4] = local;
                sets[slot / 4].weights[row][slot % 4] = influence.weight;
            }
        }
        Ok(InfluenceSets { sets })
    }
}
