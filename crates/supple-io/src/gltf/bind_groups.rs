//! The parts of a file's character that are bound together.

use super::skins::{ROUNDED_BIND, apart};
use super::{Document, SaveError};
use std::collections::HashMap;
use supple::bind::BindGroup;
use supple::skeleton::Skeleton;
use supple::{Bounds, Mesh};

impl Document {
    /// The parts of the character that are bound together: the meshes of skins that share nodes and
    /// bind them alike, up to rounding. Of the joints on one node, a group has one. Empty in a file
    /// without skins.
    ///
    /// # Errors
    ///
    /// If the mesh or the skeleton is not that of this file's character.
    pub fn bind_groups(
        &self,
        mesh: &Mesh,
        skeleton: &Skeleton,
    ) -> Result<Vec<BindGroup>, SaveError> {
        self.check_vertex_count("a mesh", mesh.vertex_count())?;
        self.check_skeleton(skeleton)?;
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
            // Shared joints may join groups that were separate so far.
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
        Ok(groups)
    }
}

/// The growth of groups in a file: only files have skins that differ by rounding.
trait Grouping {
    /// Adds joints, one for each node.
    fn add_joints(&mut self, joints: &[usize], skeleton: &Skeleton);
    /// True if another group binds some of the same nodes and binds all of these alike, so that
    /// both are in one space.
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
        // Rounding is relative to the size of the whole character: a tooth is small.
        let extent = mesh.extent();
        let mut common = 0;
        for &joint in &other.joints {
            let Some(&known) = on_node.get(&joints[joint].node) else {
                continue;
            };
            common += 1;
            let alike = bounds.is_none_or(|bounds| {
                [bounds.min, bounds.max].iter().all(|&corner| {
                    apart(&joints[known], &joints[joint], corner, extent) <= ROUNDED_BIND
                })
            });
            if known != joint && !alike {
                return false;
            }
        }
        common > 0
    }
}
