//! New weights for a file's character, whatever weights it had.

use super::{Document, SaveError};
use std::borrow::Cow;
use std::collections::HashSet;
use supple::Rig;
use supple::skeleton::Skeleton;
use supple::weights::bind::BindGroup;
use supple::weights::{Influence, Weights, WeightsBuilder};

impl Document {
    /// What of the character is bound together: the meshes of skins that have joints in common, which they bind in the same way. Empty in a file without skins.
    pub fn bind_groups(&self, skeleton: &Skeleton) -> Vec<BindGroup> {
        let mut groups: Vec<BindGroup> = Vec::new();
        for instance in self
            .binding
            .instances
            .iter()
            .filter(|instance| instance.skinned)
        {
            let mut group = BindGroup {
                vertices: instance.primitives.clone(),
                joints: instance.joint_of_skin.to_vec(),
            };
            group.joints.sort_unstable();
            group.joints.dedup();
            // Joints in common may tie together groups that were apart so far.
            while let Some(other) = groups
                .iter()
                .position(|other| belong_together(other, &group, skeleton))
            {
                let mut whole = groups.remove(other);
                whole.vertices.append(&mut group.vertices);
                whole.joints.append(&mut group.joints);
                whole.joints.sort_unstable();
                whole.joints.dedup();
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

    /// Replaces the weights of the character, as [`Document::set_weights`] does; skins come to list the joints that their vertices now need. Where skins bind a node by matrices that differ by
    /// rounding, vertices follow it as their own skin has it; where by more, it is an error.
    pub fn set_binding(&mut self, rig: &Rig) -> Result<(), SaveError> {
        self.check_character(rig)?;
        let weights = self.with_own_joints(rig)?;
        // On an error the document stays as it was.
        let mut changed = self.clone();
        changed.list_joints(rig.skeleton(), &weights);
        changed.set_weights(&weights)?;
        *self = changed;
        Ok(())
    }

    /// The weights, with joints of one node taken for one where a skin may list only one of them.
    fn with_own_joints<'r>(&self, rig: &'r Rig) -> Result<Cow<'r, Weights>, SaveError> {
        let weights = rig.weights();
        let called = self.names_in_skins(rig, |vertex| {
            let influences = weights.of(vertex);
            influences.map(|influence| (influence.joint, f64::from(influence.weight)))
        })?;
        if called.is_empty() {
            return Ok(Cow::Borrowed(weights));
        }
        let mut builder = WeightsBuilder::new(rig.skeleton().joints().len())?;
        for vertex in 0..weights.vertex_count() {
            let row = weights.of(vertex).map(|Influence { joint, weight }| {
                let own = called.get(&(vertex, joint));
                (own.copied().unwrap_or(joint), weight)
            });
            builder.push(row, 0)?;
        }
        Ok(Cow::Owned(builder.finish().0))
    }
}

/// Whether two groups share a joint, and no node is bound in two ways by both together: then they are bound in one space.
fn belong_together(one: &BindGroup, other: &BindGroup, skeleton: &Skeleton) -> bool {
    let of_one: HashSet<usize> = one.joints.iter().copied().collect();
    let nodes: HashSet<usize> = one
        .joints
        .iter()
        .map(|&joint| skeleton.joints()[joint].node)
        .collect();
    let (shared, new): (Vec<usize>, Vec<usize>) = other
        .joints
        .iter()
        .partition(|joint| of_one.contains(joint));
    !shared.is_empty()
        && new
            .iter()
            .all(|&joint| !nodes.contains(&skeleton.joints()[joint].node))
}
