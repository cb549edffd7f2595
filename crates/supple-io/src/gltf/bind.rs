//! New weights for a file's character, whatever weights it had.

use super::mush::bound_alike;
use super::{Document, SaveError};
use std::collections::HashMap;
use supple::skeleton::Skeleton;
use supple::weights::bind::BindGroup;
use supple::weights::{Weights, WeightsBuilder};
use supple::{Bounds, Mesh};

impl Document {
    /// What of the character is bound together: the meshes of skins that bind nodes in common, in the same way but for rounding. Of the joints on one node, a group has one. Empty in a file
    /// without skins.
    pub fn bind_groups(&self, mesh: &Mesh, skeleton: &Skeleton) -> Vec<BindGroup> {
        let mut groups: Vec<BindGroup> = Vec::new();
        let skinned = self
            .binding
            .instances
            .iter()
            .filter(|instance| instance.skinned);
        for instance in skinned {
            let mut group = BindGroup {
                vertices: instance.primitives.clone(),
                joints: Vec::new(),
            };
            group.add_joints(&instance.joint_of_skin, skeleton);
            // Joints in common may tie together groups that were apart so far.
            let together = |other: &BindGroup, group: &BindGroup| other.fits(group, mesh, skeleton);
            while let Some(other) = groups.iter().position(|other| together(other, &group)) {
                let mut whole = groups.remove(other);
                whole.vertices.append(&mut group.vertices);
                whole.add_joints(&group.joints, skeleton);
                group = whole;
            }
            groups.push(group);
        }
        for group in &mut groups {
            group
                .vertices
                .sort_unstable_by_key(|vertices| vertices.start);
        }
        groups.sort_by_key(|group| group.vertices.first().map(|vertices| vertices.start));
        groups
    }

    /// Replaces the weights of the character, as [`Document::set_weights`] does. A vertex follows a node by its own skin's joint there, whichever joint of the node is named; a node that its skin does not
    /// list yet is added to it.
    pub fn set_binding(&mut self, skeleton: &Skeleton, weights: &Weights) -> Result<(), SaveError> {
        self.check_vertex_count("weights", weights.vertex_count())?;
        if !self
            .binding
            .instances
            .iter()
            .any(|instance| instance.skinned)
        {
            return Err(SaveError::NoSkin);
        }
        // On an error the document stays as it was.
        let mut changed = self.clone();
        let weights = changed.by_own_joints(skeleton, weights)?;
        changed.list_joints(skeleton, &weights);
        changed.set_weights(&weights)?;
        *self = changed;
        Ok(())
    }

    /// The weights, with each joint replaced by the one that the vertex's skin has on the same node.
    fn by_own_joints(&self, skeleton: &Skeleton, weights: &Weights) -> Result<Weights, SaveError> {
        let joints = skeleton.joints();
        let mut rows: Vec<Vec<(usize, f32)>> = (0..weights.vertex_count())
            .map(|vertex| {
                let row = weights.of(vertex);
                row.map(|influence| (influence.joint, influence.weight))
                    .collect()
            })
            .collect();
        for instance in self
            .binding
            .instances
            .iter()
            .filter(|instance| instance.skinned)
        {
            let listed = instance.joint_of_skin.iter();
            let mut own: HashMap<usize, usize> = listed
                .rev()
                .map(|&joint| (joints[joint].node, joint))
                .collect();
            for vertex in instance.primitives.iter().cloned().flatten() {
                for (joint, _) in &mut rows[vertex] {
                    if !instance.joint_of_skin.contains(joint) {
                        // All vertices of the skin agree on what a node that is new to it is called.
                        *joint = *own.entry(joints[*joint].node).or_insert(*joint);
                    }
                }
            }
        }
        let mut builder = WeightsBuilder::new(joints.len())?;
        for row in rows {
            let first = row.first().map_or(0, |(joint, _)| *joint);
            builder.push(row, first)?;
        }
        Ok(builder.finish().0)
    }
}

/// How groups grow: kept here, since only files have skins that differ by rounding.
trait Grouping {
    /// Adds joints, one for a node.
    fn add_joints(&mut self, joints: &[usize], skeleton: &Skeleton);
    /// Whether another group binds some of the same nodes, and binds none otherwise: then both are in one space.
    fn fits(&self, other: &BindGroup, mesh: &Mesh, skeleton: &Skeleton) -> bool;
}

impl Grouping for BindGroup {
    fn add_joints(&mut self, joints: &[usize], skeleton: &Skeleton) {
        self.joints.extend_from_slice(joints);
        self.joints.sort_unstable();
        // Joints are in the order of nodes.
        self.joints
            .dedup_by_key(|joint| skeleton.joints()[*joint].node);
    }

    fn fits(&self, other: &BindGroup, mesh: &Mesh, skeleton: &Skeleton) -> bool {
        let joints = skeleton.joints();
        let on_node: HashMap<usize, usize> = self
            .joints
            .iter()
            .map(|&joint| (joints[joint].node, joint))
            .collect();
        let places = other
            .vertices
            .iter()
            .cloned()
            .flatten()
            .map(|vertex| mesh.positions()[vertex]);
        let bounds = Bounds::around(places);
        let mut common = 0;
        for &joint in &other.joints {
            let Some(&known) = on_node.get(&joints[joint].node) else {
                continue;
            };
            common += 1;
            let alike = bounds.is_none_or(|bounds| {
                [bounds.min, bounds.max].iter().all(|&corner| {
                    bound_alike(&joints[known], &joints[joint], corner, bounds.extent())
                })
            });
            if known != joint && !alike {
                return false;
            }
        }
        common > 0
    }
}
