//! Changing a document, and writing it as a file. What is not changed stays as it was.

use super::Document;
use super::centers::forget_centers;
use super::mush::forget_mush;
use super::store::{
    Accessor, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT, json_numbers, of_primitive, of_vertex,
    remove_extensions,
};
use crate::{NotFinite, quoted};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use supple::mesh::Part;
use supple::mush::MushError;
use supple::transform::Local;
use supple::weights::WeightsError;
use supple::{Asset, Player, Pose, Weights};
use thiserror::Error;

/// Why a document could not be changed or written.
#[derive(Clone, Debug, PartialEq, Error)]
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
    /// A vertex is bound to a node otherwise than its skin binds that node.
    #[error(
        "vertex {vertex} would follow {} by another matrix than the skin of node {node} has for it, and a skin can list a joint only once",
        quoted(joint)
    )]
    NodeBoundTwice {
        /// Which vertex of the character.
        vertex: usize,
        /// The name of the joint.
        joint: String,
        /// The file's node with the skin.
        node: usize,
    },
    /// No mesh has a skin.
    #[error("no mesh of the file has a skin: nothing follows joints")]
    NoSkin,
    /// There is no place to keep something in.
    #[error(
        "meshes[{mesh}].extras is not an object, so there is no place to say what its centers were computed from"
    )]
    ExtrasNotAnObject {
        /// The file's mesh.
        mesh: usize,
    },
    /// Numbers that are no weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Numbers of a bake that make no sense.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// A character has another skeleton than the file's.
    #[error("the character does not have the nodes and joints of the file")]
    OtherSkeleton,
    /// A character is not this file's with one more joint.
    #[error("the character does not have the file's nodes and joints with one more among them")]
    NotOneMoreJoint,
    /// A number that no file can hold, such as that of a vertex which a pose carries to infinity.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// What was changed is no character any more.
    #[error("the changed file could not be read: {place}: {problem}")]
    NotReadable {
        /// Where in the file.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// GLB lengths are 32-bit.
    #[error("the file would have {0} bytes, more than the 4 GiB that a .glb can hold")]
    TooLarge(u64),
}

impl Document {
    /// Replaces the weights of the character, in as many JOINTS_n/WEIGHTS_n sets as they need.
    ///
    /// Nodes that share a mesh but now differ in their weights get a mesh each.
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices, or name a joint that the skin of a vertex
    /// does not list.
    pub fn set_weights(&mut self, weights: &Weights) -> Result<(), SaveError> {
        self.check_vertex_count("weights", weights.vertex_count())?;
        // All of them before anything is changed: on an error the document stays as it was.
        let mut all_sets = Vec::with_capacity(self.binding.instances.len());
        let mut places_of_skin: HashMap<*const [usize], HashMap<usize, u16>> = HashMap::new();
        for instance in &self.binding.instances {
            let places = places_of_skin
                .entry(Arc::as_ptr(&instance.joint_of_skin))
                .or_insert_with(|| places_in_skin(&instance.joint_of_skin));
            let primitives = instance.primitives.iter();
            let sets = primitives
                .map(|vertices| InfluenceSets::new(weights, vertices, instance.node, places));
            all_sets.push(match instance.skinned {
                true => Some(sets.collect::<Result<Vec<_>, _>>()?),
                false => None,
            });
        }
        // Weights are finite, so this does not fail halfway.
        self.write_versions(all_sets, PartialEq::eq, |document, mesh, sets| {
            for (primitive, sets) in sets.iter().enumerate() {
                document.write_influences(mesh, primitive, sets)?;
            }
            Ok(())
        })?;
        self.drop_unused();
        Ok(())
    }

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

    /// Puts the nodes of the file where a pose has them, so that it opens in that pose. Skins,
    /// weights and animations stay as they are: what is bound is still bound, and a clip that plays
    /// takes over.
    ///
    /// # Errors
    ///
    /// If the asset is not the character of this file, or the pose has another number of nodes.
    pub fn set_pose(&mut self, asset: &Asset, pose: &Pose) -> Result<(), SaveError> {
        let nodes = asset.rig.skeleton().nodes().len();
        if nodes != self.binding.file_node.len() || nodes != pose.locals.len() {
            return Err(SaveError::OtherSkeleton);
        }
        // On an error the document stays as it was.
        let mut changed = self.clone();
        changed.freeze_nodes(asset, pose)?;
        for instance in &self.binding.instances {
            let Some(vertices) = instance.primitives.first() else {
                continue;
            };
            // All primitives of a mesh share its weights.
            let mut morphs = asset.morphs.iter();
            let morph = morphs.find(|morph| vertices.contains(&morph.first_vertex));
            let weights = morph.and_then(|morph| {
                let last = morph.first_weight + morph.targets.len();
                pose.morph_weights.get(morph.first_weight..last)
            });
            if let Some(weights) = weights.filter(|weights| !weights.is_empty()) {
                changed.set_morph_weights(instance.node, weights)?;
            }
        }
        *self = changed;
        Ok(())
    }

    /// The same file frozen in a pose: deformed meshes at the top of the scene, everything else
    /// where the pose puts it, no skins, morph targets or animations.
    ///
    /// `player` must play this file's character, and be in that pose (or moved by a palette from
    /// there).
    ///
    /// # Errors
    ///
    /// If the player plays another character, the pose has another number of nodes, or a posed
    /// vertex is not finite.
    pub fn posed(&self, player: &Player<'_>, pose: &Pose) -> Result<Document, SaveError> {
        self.check_vertex_count("positions", player.positions().len())?;
        let asset = player.asset();
        let nodes = asset.rig.skeleton().nodes().len();
        if nodes != self.binding.file_node.len() || nodes != pose.locals.len() {
            return Err(SaveError::OtherSkeleton);
        }
        let facing = player.triangles();
        let mut posed = self.clone();
        posed.freeze_nodes(asset, pose)?;
        let mut taken: HashSet<usize> = posed.meshes_of_props();
        let mut frozen = Vec::with_capacity(self.binding.instances.len());
        let mut parts = asset.parts.iter();
        for (index, instance) in self.binding.instances.iter().enumerate() {
            // The first to come keeps the mesh's place; props and other instances need it as it
            // was.
            let mesh = if taken.insert(instance.mesh) {
                instance.mesh
            } else {
                posed.push("meshes", self.json["meshes"][instance.mesh].clone())
            };
            for (primitive, part) in parts.by_ref().take(instance.primitives.len()).enumerate() {
                posed.freeze_primitive(mesh, primitive, part, player)?;
                let stored = &asset.rig.mesh().triangles()[part.triangles.clone()];
                let facing = &facing[part.triangles.clone()];
                if facing != stored {
                    posed.set_triangles(mesh, primitive, part.vertices.start, facing);
                }
            }
            if let Some(json) = posed.json["meshes"][mesh].as_object_mut() {
                json.shift_remove("weights");
            }
            frozen.push((instance.node, mesh));
            posed.binding.instances[index].mesh = mesh;
        }
        for mesh in posed.json["meshes"].as_array_mut().into_iter().flatten() {
            forget_centers(mesh);
            forget_mush(mesh);
        }
        posed.list_mush_extension();
        posed.hang_on_top(asset, &frozen);
        if let Some(root) = posed.json.as_object_mut() {
            root.shift_remove("animations");
            root.shift_remove("skins");
        }
        let nodes = posed.json["nodes"].as_array_mut().into_iter().flatten();
        for node in nodes.filter_map(Value::as_object_mut) {
            node.shift_remove("skin");
        }
        posed.drop_unused();
        Ok(posed)
    }

    pub(super) fn check_vertex_count(
        &self,
        what: &'static str,
        found: usize,
    ) -> Result<(), SaveError> {
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

    fn write_influences(
        &mut self,
        mesh: usize,
        primitive: usize,
        sets: &InfluenceSets,
    ) -> Result<(), NotFinite> {
        self.forget_attributes(mesh, primitive, &["JOINTS_", "WEIGHTS_"]);
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
            let place = of_primitive("weights", mesh, primitive);
            let weights = Accessor::floats("VEC4", 4, &floats, place)?;
            let joints = self.append(joints.vertex_data());
            let weights = self.append(weights.vertex_data());
            let attributes = &mut self.json["meshes"][mesh]["primitives"][primitive]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        Ok(())
    }

    /// Removes attributes by the beginnings of their names, and with them a compressed twin of the
    /// whole primitive.
    fn forget_attributes(&mut self, mesh: usize, primitive: usize, beginnings: &[&str]) {
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

    /// Removes a compressed twin of a primitive: it knows nothing of what was changed.
    pub(super) fn forget_compressed(&mut self, mesh: usize, primitive: usize) {
        let primitive = &mut self.json["meshes"][mesh]["primitives"][primitive];
        remove_extensions(primitive, &["KHR_draco_mesh_compression"]);
    }

    /// Writes the pose into the nodes that it moves, and prop's morph weights beside them.
    fn freeze_nodes(&mut self, asset: &Asset, pose: &Pose) -> Result<(), NotFinite> {
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
            write_local(json, local, file_node, &node.name)?;
        }
        for prop in self.binding.props.clone() {
            let weights = pose.morph_weights.get(prop.morph_weights);
            if let Some(weights) = weights.filter(|weights| !weights.is_empty()) {
                self.set_morph_weights(prop.node, weights)?;
            }
        }
        Ok(())
    }

    fn set_morph_weights(&mut self, node: usize, weights: &[f32]) -> Result<(), NotFinite> {
        let weights = weights.iter().copied().map(f64::from);
        let place = || format!("a morph weight of node {node}");
        self.json["nodes"][node]["weights"] = json_numbers(weights, place)?;
        Ok(())
    }

    fn meshes_of_props(&self) -> HashSet<usize> {
        let meshes = self.binding.props.iter().filter_map(|prop| {
            let mesh = self.json["nodes"][prop.node]["mesh"].as_u64()?;
            Some(mesh as usize)
        });
        meshes.collect()
    }

    /// Replaces a primitive's vertex data by the deformed surface.
    fn freeze_primitive(
        &mut self,
        mesh: usize,
        primitive: usize,
        part: &Part,
        player: &Player<'_>,
    ) -> Result<(), NotFinite> {
        self.forget_attributes(mesh, primitive, &["JOINTS_", "WEIGHTS_"]);
        let json = &mut self.json["meshes"][mesh]["primitives"][primitive];
        if let Some(json) = json.as_object_mut() {
            json.shift_remove("targets");
        }
        let has_tangents = json["attributes"].get("TANGENT").is_some();
        let vertices = part.vertices.clone();
        let first = vertices.start;
        let positions = Accessor::positions(&player.positions()[vertices.clone()], first)?;
        self.set_attribute(mesh, primitive, "POSITION", positions);
        let normals = &player.normals()[vertices.clone()];
        let normals = Accessor::vectors(normals, of_vertex("normal", first))?;
        self.set_attribute(mesh, primitive, "NORMAL", normals);
        if let Some(tangents) = player.tangents().filter(|_| has_tangents) {
            let tangents = tangents[vertices].iter();
            let tangents: Vec<f32> = tangents.flat_map(|tangent| tangent.to_array()).collect();
            let tangents = Accessor::floats("VEC4", 4, &tangents, of_vertex("tangent", first))?;
            self.set_attribute(mesh, primitive, "TANGENT", tangents);
        }
        Ok(())
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

    /// Moves meshes from their nodes to new nodes without a parent, in every scene that shows the
    /// old ones.
    fn hang_on_top(&mut self, asset: &Asset, frozen: &[(usize, usize)]) {
        let mut tops = Vec::with_capacity(frozen.len());
        for &(node, mesh) in frozen {
            let mut top = json!({ "mesh": mesh });
            if let Some(old) = self.json["nodes"][node].as_object_mut() {
                if let Some(name) = old.get("name") {
                    top["name"] = name.clone();
                }
                for key in ["mesh", "weights"] {
                    old.shift_remove(key);
                }
            }
            tops.push(self.push("nodes", top));
        }
        let count = self.json["nodes"].as_array().map_or(0, Vec::len);
        let file_node = &self.binding.file_node;
        let scenes = self.json["scenes"].as_array_mut();
        for scene in scenes.into_iter().flatten() {
            let Some(listed) = scene.get_mut("nodes").and_then(Value::as_array_mut) else {
                continue;
            };
            let mut shown = vec![false; count];
            for node in listed.iter().filter_map(Value::as_u64) {
                if let Some(shown) = shown.get_mut(node as usize) {
                    *shown = true;
                }
            }
            // A scene shows whatever is below the nodes that it lists; parents come first.
            for (node, &here) in asset.rig.skeleton().nodes().iter().zip(file_node) {
                shown[here] |= node.parent.is_some_and(|parent| shown[file_node[parent]]);
            }
            for (&(node, _), &top) in frozen.iter().zip(&tops) {
                if shown[node] {
                    listed.push(json!(top));
                }
            }
        }
    }
}

/// Writes the transform of a node, in the keys that glTF has for it. The number and the name of the
/// node are for errors.
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
        Local::Matrix(matrix) => write("matrix", &glam::DMat4::from(*matrix).to_cols_array()),
    }
}

/// A number of a node, for errors.
pub(super) fn node_place(what: &str, node: usize, name: &str) -> String {
    match name {
        "" => format!("the {what} of node {node}"),
        name => format!("the {what} of node {node} ({})", quoted(name)),
    }
}

/// Where a skin lists each joint of the skeleton; of a joint that is listed twice, the first place.
pub(super) fn places_in_skin(joint_of_skin: &[usize]) -> HashMap<usize, u16> {
    let listed = joint_of_skin.iter().enumerate().rev();
    let place = |(place, &joint): (usize, &usize)| Some((joint, u16::try_from(place).ok()?));
    listed.filter_map(place).collect()
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
        node: usize,
        places: &HashMap<usize, u16>,
    ) -> Result<InfluenceSets, SaveError> {
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
                let Some(&place) = places.get(&influence.joint) else {
                    return Err(SaveError::JointNotInSkin {
                        vertex,
                        joint: influence.joint,
                        node,
                    });
                };
                sets[slot / 4].joints[row][slot % 4] = place;
                sets[slot / 4].weights[row][slot % 4] = influence.weight;
            }
        }
        Ok(InfluenceSets { sets })
    }
}
