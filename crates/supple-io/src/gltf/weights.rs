//! Weights of a character, written into its meshes.

use super::skins::places_in_skin;
use super::store::{Accessor, UNSIGNED_BYTE, UNSIGNED_SHORT, of_primitive};
use super::{Document, SaveError};
use crate::NotFinite;
use serde_json::json;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use supple::Weights;

impl Document {
    /// Replaces the weights of the character, in as many `JOINTS_n` and `WEIGHTS_n` sets as they
    /// need.
    ///
    /// Nodes that share a mesh but now differ in their weights get a mesh each.
    ///
    /// # Errors
    ///
    /// If the number of vertices differs, or a vertex is bound to a joint that its skin does not
    /// list.
    pub fn set_weights(&mut self, weights: &Weights) -> Result<(), SaveError> {
        self.check_vertex_count("weights", weights.vertex_count())?;
        // All of them are made before anything is changed: on an error the document stays as it
        // was.
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
}

/// The influences of a primitive in glTF's sets of four; unused places hold joint 0 and weight 0.
#[derive(Clone, Debug, PartialEq)]
struct InfluenceSets {
    sets: Vec<InfluenceSet>,
}

/// A `JOINTS_n` attribute with its `WEIGHTS_n`.
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
