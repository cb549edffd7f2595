//! Skeletons as the characters' files write them down.

use super::CharacterError;
use crate::skeleton::{Node, Skeleton};
use crate::transform::{Local, Trs};
use glam::DVec3;

/// Joints in the making: every node is a joint, its rest frame is turned as the world is.
#[derive(Default)]
pub(super) struct Bones {
    nodes: Vec<Node>,
    /// The rest position of each joint in the world.
    pub(super) positions: Vec<DVec3>,
}

impl Bones {
    /// Adds a joint and returns its index.
    pub(super) fn add(
        &mut self,
        name: impl Into<String>,
        parent: Option<usize>,
        position: DVec3,
    ) -> usize {
        let origin = parent.map_or(DVec3::ZERO, |parent| self.positions[parent]);
        self.nodes.push(Node {
            name: name.into(),
            parent,
            rest: Local::Trs(Trs::from_translation(position - origin)),
        });
        self.positions.push(position);
        self.nodes.len() - 1
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// For every joint the one of the other side, by the endings `.L` and `.R`; itself in the
    /// middle.
    pub(super) fn opposite(&self) -> Vec<usize> {
        let named = |name: &str| self.nodes.iter().position(|node| node.name == name);
        let nodes = self.nodes.iter().enumerate();
        nodes
            .map(|(index, Node { name, .. })| {
                let left = name.strip_suffix(".L").map(|stem| format!("{stem}.R"));
                let right = || name.strip_suffix(".R").map(|stem| format!("{stem}.L"));
                let other = left.or_else(right).and_then(|other| named(&other));
                other.unwrap_or(index)
            })
            .collect()
    }

    /// The rest position of a joint relative to its parent.
    pub(super) fn rest_translation(&self, joint: usize) -> DVec3 {
        self.nodes[joint].rest.to_trs().translation
    }

    pub(super) fn into_skeleton(self) -> Result<Skeleton, CharacterError> {
        let joints: Vec<usize> = (0..self.nodes.len()).collect();
        Ok(Skeleton::bound_at_rest(self.nodes, &joints)?)
    }
}
