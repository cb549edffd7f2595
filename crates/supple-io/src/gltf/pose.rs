//! Poses of a character, written into its file.

use super::centers::forget_centers;
use super::mush::forget_mush;
use super::store::{Accessor, json_numbers, of_vertex, write_local};
use super::{Document, SaveError};
use crate::NotFinite;
use serde_json::{Value, json};
use std::collections::HashSet;
use supple::mesh::Part;
use supple::{Asset, Player, Pose};

impl Document {
    /// Moves the nodes of the file into a pose, so that it opens in that pose. Skins, weights and
    /// animations stay as they are; a clip that plays replaces the pose.
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
                let weights = pose.morph_weights.get(morph.first_weight..)?;
                weights.get(..morph.targets.len())
            });
            if let Some(weights) = weights.filter(|weights| !weights.is_empty()) {
                changed.set_morph_weights(instance.node, weights)?;
            }
        }
        *self = changed;
        Ok(())
    }

    /// Freezes the file in a pose: deformed meshes at the top of the scene, everything else where
    /// the pose has it, without skins, morph targets or animations.
    ///
    /// `player` must play the character of this file, in that pose or in one that a palette has
    /// moved from there.
    ///
    /// # Errors
    ///
    /// If the player plays another character, its parts are not those of the file, the pose has
    /// another number of nodes, or a posed vertex is not finite.
    pub fn posed(&self, player: &Player<'_>, pose: &Pose) -> Result<Document, SaveError> {
        self.check_vertex_count("positions", player.positions().len())?;
        let asset = player.asset();
        let nodes = asset.rig.skeleton().nodes().len();
        if nodes != self.binding.file_node.len() || nodes != pose.locals.len() {
            return Err(SaveError::OtherSkeleton);
        }
        let facing = player.triangles();
        self.check_parts(asset)?;
        let mut posed = self.clone();
        posed.freeze_nodes(asset, pose)?;
        let mut taken: HashSet<usize> = posed.meshes_of_props();
        let mut frozen = Vec::with_capacity(self.binding.instances.len());
        let mut parts = asset.parts.iter();
        for (index, instance) in self.binding.instances.iter().enumerate() {
            // The first instance replaces the mesh; props and other instances need it as it was.
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

    /// Refuses a character whose parts are not the primitives of the file.
    fn check_parts(&self, asset: &Asset) -> Result<(), SaveError> {
        let triangles = asset.rig.mesh().triangles();
        let own = |part: &Part| {
            let of_part = triangles.get(part.triangles.clone());
            of_part.is_some_and(|of_part| {
                let mut corners = of_part.as_flattened().iter();
                corners.all(|&corner| part.vertices.contains(&(corner as usize)))
            })
        };
        let instances = self.binding.instances.iter();
        let primitives: Vec<_> = instances.flat_map(|one| &one.primitives).collect();
        let mut pairs = primitives.iter().zip(&asset.parts);
        let fits = primitives.len() == asset.parts.len()
            && pairs.all(|(vertices, part)| part.vertices == **vertices && own(part));
        match fits {
            true => Ok(()),
            false => Err(SaveError::OtherParts),
        }
    }

    /// Writes the pose into the nodes that it moves, and the morph weights of props.
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
        for (instance, &top) in self.binding.instances.iter_mut().zip(&tops) {
            instance.node = top;
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
