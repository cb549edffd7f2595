//! The joints that skins list: those that their vertices need, and each node once.

use super::document::Instance;
use super::store::Accessor;
use super::{Document, SaveError};
use crate::NotFinite;
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use supple::skeleton::{Joint, Skeleton};
use supple::{Rig, Weights};

/// The largest movement of a vertex by merging two joints of a node, as a share of the extent:
/// about the error of 16 bits. Skins may bind a node by matrices that differ by rounding.
pub(super) const ROUNDED_BIND: f64 = 5e-5;

impl Document {
    /// Refuses a character that is not the one of the file, and a file without skins.
    pub(super) fn check_character(&self, rig: &Rig) -> Result<(), SaveError> {
        self.check_vertex_count("a character", rig.mesh().vertex_count())?;
        self.check_skinned()?;
        self.check_skeleton(rig.skeleton())
    }

    /// Refuses a skeleton that lacks nodes or joints of the file.
    pub(super) fn check_skeleton(&self, skeleton: &Skeleton) -> Result<(), SaveError> {
        let mut listed = self.binding.file_joints.iter();
        let fits = skeleton.nodes().len() == self.binding.file_node.len()
            && listed.all(|&joint| joint < skeleton.joints().len());
        match fits {
            true => Ok(()),
            false => Err(SaveError::OtherSkeleton),
        }
    }

    /// Refuses a file without skins.
    pub(super) fn check_skinned(&self) -> Result<(), SaveError> {
        let mut instances = self.binding.instances.iter();
        match instances.any(|instance| instance.skinned) {
            true => Ok(()),
            false => Err(SaveError::NoSkin),
        }
    }

    /// The joints to use instead of others, by vertex and joint. A skin may list a node only once,
    /// and skins of several pieces may bind a node by matrices that differ by rounding; if they
    /// differ by more, this is an error. `influences` are joints and shares.
    pub(super) fn names_in_skins<Influences: Iterator<Item = (usize, f64)>>(
        &self,
        rig: &Rig,
        influences: impl Fn(usize) -> Influences,
    ) -> Result<HashMap<(usize, usize), usize>, SaveError> {
        let skeleton = rig.skeleton();
        let joints = skeleton.joints();
        let extent = rig.mesh().extent();
        let mut called: HashMap<(usize, usize), usize> = HashMap::new();
        for instance in &self.binding.instances {
            let listed: HashSet<usize> = instance.joint_of_skin.iter().copied().collect();
            let by_node: HashMap<usize, usize> = instance
                .joint_of_skin
                .iter()
                .rev()
                .map(|&joint| (joints[joint].node, joint))
                .collect();
            // Of several joints on a node that the skin does not list, the first is added.
            let mut added: HashMap<usize, usize> = HashMap::new();
            for vertex in instance.primitives.iter().cloned().flatten() {
                for (joint, share) in influences(vertex) {
                    if listed.contains(&joint) {
                        continue;
                    }
                    let node = joints[joint].node;
                    let known = by_node.get(&node).copied();
                    let name = known.unwrap_or_else(|| *added.entry(node).or_insert(joint));
                    if name == joint {
                        continue;
                    }
                    let place = rig.mesh().positions()[vertex];
                    if share * apart(&joints[name], &joints[joint], place, extent) > ROUNDED_BIND {
                        return Err(SaveError::NodeBoundTwice {
                            vertex,
                            joint: skeleton.joint_label(joint),
                            node: instance.node,
                        });
                    }
                    called.insert((vertex, joint), name);
                }
            }
        }
        Ok(called)
    }

    /// Adds the joints to each skin that its vertices need and it does not list. Smoothing carries
    /// influences from one piece of a character to another, whose skin may not list the joint, and
    /// a split bone has a new one.
    pub(super) fn list_joints(
        &mut self,
        skeleton: &Skeleton,
        weights: &Weights,
    ) -> Result<(), NotFinite> {
        // By skin, in the order of the instances, so that the same input gives the same file.
        let mut lists: Vec<(usize, Vec<usize>)> = Vec::new();
        for instance in self
            .binding
            .instances
            .iter()
            .filter(|instance| instance.skinned)
        {
            let Some(skin) = self.json["nodes"][instance.node]["skin"].as_u64() else {
                continue;
            };
            let skin = skin as usize;
            let known = lists.iter().position(|(known, _)| *known == skin);
            let known = known.unwrap_or_else(|| {
                lists.push((skin, instance.joint_of_skin.to_vec()));
                lists.len() - 1
            });
            let list = &mut lists[known].1;
            let mut listed: HashSet<usize> = list.iter().copied().collect();
            for vertex in instance.primitives.iter().cloned().flatten() {
                for influence in weights.of(vertex) {
                    if listed.insert(influence.joint) {
                        list.push(influence.joint);
                    }
                }
            }
        }
        for (skin, list) in lists {
            self.set_joints(skin, &list, skeleton)?;
        }
        Ok(())
    }

    /// Replaces a skin's list of joints by a longer one that starts as it did.
    fn set_joints(
        &mut self,
        skin: usize,
        list: &[usize],
        skeleton: &Skeleton,
    ) -> Result<(), NotFinite> {
        let joints = |instance: &Instance| instance.joint_of_skin.len();
        let is_of_skin = |json: &Value, instance: &Instance| {
            instance.skinned && json["nodes"][instance.node]["skin"].as_u64() == Some(skin as u64)
        };
        let instances = self.binding.instances.iter();
        let mut of_skin = instances.filter(|instance| is_of_skin(&self.json, instance));
        if of_skin.all(|instance| joints(instance) == list.len()) {
            return Ok(());
        }
        let nodes: Vec<usize> = list
            .iter()
            .map(|&joint| self.binding.file_node[skeleton.joints()[joint].node])
            .collect();
        let joints = list.iter().map(|&joint| &skeleton.joints()[joint]);
        let matrices = joints.map(|joint| joint.joint_from_bind);
        let matrices = Accessor::bind_matrices(matrices, |place| list[place])?;
        let matrices = self.append(matrices);
        let json = &mut self.json["skins"][skin];
        json["joints"] = json!(nodes);
        json["inverseBindMatrices"] = json!(matrices);
        let list: Arc<[usize]> = list.into();
        for instance in &mut self.binding.instances {
            if is_of_skin(&self.json, instance) {
                instance.joint_of_skin = list.clone();
            }
        }
        Ok(())
    }
}

/// The distance between the positions of a point under two joints of a node, as a share of a
/// length.
pub(super) fn apart(one: &Joint, other: &Joint, place: Vec3, length: f32) -> f64 {
    let (one, other) = (one.joint_from_bind, other.joint_from_bind);
    let place = place.as_dvec3();
    let distance = (one.transform_point3(place)).distance(other.transform_point3(place));
    // A joint may use other units than the mesh.
    let axes = [one.matrix3.x_axis, one.matrix3.y_axis, one.matrix3.z_axis].map(DVec3::length);
    let length = f64::from(length) * axes.into_iter().fold(0.0, f64::max);
    if distance == 0.0 {
        0.0
    } else {
        distance / length
    }
}

/// The index of each joint of the skeleton in a skin's list; the first one if it is listed twice.
pub(super) fn places_in_skin(joint_of_skin: &[usize]) -> HashMap<usize, u16> {
    let listed = joint_of_skin.iter().enumerate().rev();
    let place = |(place, &joint): (usize, &usize)| Some((joint, u16::try_from(place).ok()?));
    listed.filter_map(place).collect()
}
