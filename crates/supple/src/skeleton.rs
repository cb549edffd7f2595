//! Skeletons: a tree of nodes, some of which are joints that hold the surface.

pub use crate::bind_matrix::BindFault;

use crate::bind_matrix::{BindMatrix, UsualBinds};
use crate::pose::{NodeCountError, Palette, Pose};
use crate::transform::{Affine, Local};
use glam::{DAffine3, DVec3};
use thiserror::Error;

/// Skeleton: a tree of nodes, parents before children, and the joints among them.
///
/// Everything that moves is a node: a file may animate a node above the joints, or between them.
/// Weights name joints. A node may have several joints if a file binds it with different bind
/// matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    nodes: Vec<Node>,
    joints: Vec<Joint>,
}

/// Node of a skeleton: a moving frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name in the file; may be empty.
    pub name: String,
    /// The index of the parent node, always lower than the node's own.
    pub parent: Option<usize>,
    /// The transform relative to the parent in the rest pose.
    pub rest: Local,
}

/// Joint of a skeleton: a node that holds the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The node of the joint.
    pub node: usize,
    /// The nearest joint above, always lower than the joint's own index.
    pub parent: Option<usize>,
    /// Maps the bind surface into the node's frame (glTF's inverse bind matrix).
    pub joint_from_bind: DAffine3,
}

/// The bone of a joint in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindBone {
    /// The position of the joint.
    pub head: DVec3,
    /// The end of the bone: the mean of the child joints; the bone of a last joint continues in the
    /// direction of the bone above.
    pub tail: DVec3,
}

/// The distance below which joints of this skeleton are at the same position: files and kinematics
/// round.
pub(crate) fn same_place(heads: &[DVec3]) -> f64 {
    let first = heads.first().copied().unwrap_or_default();
    let size = heads.iter().map(|head| head.distance(first));
    1e-5 * size.fold(0.0, f64::max)
}

/// The words of a name, in lower case: `LowerArmTwist1.L` has lower, arm, twist and l.
pub(crate) fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let starts = !before.is_alphabetic() || (before.is_lowercase() && letter.is_uppercase());
        if letter.is_alphabetic() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    words
}

impl BindBone {
    /// The direction of the bone, if it has a length.
    pub fn axis(&self) -> Option<DVec3> {
        (self.tail - self.head).try_normalize()
    }

    /// The position along the bone nearest to a point, from 0 at the head to 1 at the tail (eq. 8
    /// of Jacobson and Sorkine 2011); 0 if the bone has no length.
    pub(crate) fn share_along(&self, place: DVec3) -> f64 {
        let along = self.tail - self.head;
        let share = (place - self.head).dot(along) / along.length_squared();
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The squared distance of a point from the bone.
    pub(crate) fn distance_squared(&self, place: DVec3) -> f64 {
        let nearest = self.head + (self.tail - self.head) * self.share_along(place);
        place.distance_squared(nearest)
    }
}

/// Error from nodes and joints that are not a valid [`Skeleton`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// A node precedes its parent.
    #[error("node {node} has the parent {parent}, which does not come before it")]
    ParentNotFirst {
        /// The node.
        node: usize,
        /// Its parent.
        parent: usize,
    },
    /// A joint names a node that does not exist, or joints are not in the order of their nodes.
    #[error("joint {joint} sits on node {node}, out of order or out of range ({nodes} nodes)")]
    JointOutOfOrder {
        /// The joint.
        joint: usize,
        /// Its node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// A transform is NaN or infinite.
    #[error("the {transform} of {what} {index} is not finite")]
    NotFinite {
        /// Rest transform or bind matrix.
        transform: &'static str,
        /// The kind: node or joint.
        what: &'static str,
        /// The index.
        index: usize,
    },
}

impl Skeleton {
    /// Creates a skeleton after checking it. `joints` are (node, joint_from_bind), in rising order
    /// of nodes, which puts parents first; the parents of joints are derived.
    ///
    /// # Errors
    ///
    /// Fails if a node precedes its parent, a joint is out of order or on a node that does not
    /// exist, or a transform is not finite.
    pub fn new(
        nodes: Vec<Node>,
        joints: Vec<(usize, DAffine3)>,
    ) -> Result<Skeleton, SkeletonError> {
        for (index, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent.filter(|&parent| parent >= index) {
                return Err(SkeletonError::ParentNotFirst {
                    node: index,
                    parent,
                });
            }
            if !node.rest.is_finite() {
                return Err(SkeletonError::NotFinite {
                    transform: "rest transform",
                    what: "node",
                    index,
                });
            }
        }
        // The first joint on each node represents it as a parent.
        let mut joint_of_node: Vec<Option<usize>> = vec![None; nodes.len()];
        let mut previous = 0;
        for (index, (node, joint_from_bind)) in joints.iter().enumerate() {
            if *node >= nodes.len() || *node < previous {
                return Err(SkeletonError::JointOutOfOrder {
                    joint: index,
                    node: *node,
                    nodes: nodes.len(),
                });
            }
            if !joint_from_bind.is_finite() {
                return Err(SkeletonError::NotFinite {
                    transform: "bind matrix",
                    what: "joint",
                    index,
                });
            }
            previous = *node;
            joint_of_node[*node].get_or_insert(index);
        }
        let mut nearest_joint: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let above = node.parent.and_then(|parent| nearest_joint[parent]);
            nearest_joint.push(joint_of_node[index].or(above));
        }
        let joints = joints
            .into_iter()
            .map(|(node, joint_from_bind)| Joint {
                node,
                parent: nodes[node].parent.and_then(|parent| nearest_joint[parent]),
                joint_from_bind,
            })
            .collect();
        Ok(Skeleton { nodes, joints })
    }

    /// Creates a skeleton whose bind pose is its rest pose, with a joint on every node listed in
    /// `joints`.
    ///
    /// # Errors
    ///
    /// Fails as [`Skeleton::new`] does, and if the rest scale of a joint's node is zero.
    pub fn bound_at_rest(nodes: Vec<Node>, joints: &[usize]) -> Result<Skeleton, SkeletonError> {
        let unbound = Skeleton::new(nodes, Vec::new())?;
        let world_from_node = unbound.rest_world();
        let nodes = unbound.nodes.len();
        let bound = joints
            .iter()
            .enumerate()
            .map(|(joint, &node)| match world_from_node.get(node) {
                Some(world) => Ok((node, world.inverse())),
                None => Err(SkeletonError::JointOutOfOrder { joint, node, nodes }),
            })
            .collect::<Result<_, _>>()?;
        Skeleton::new(unbound.nodes, bound)
    }

    /// All nodes, parents first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The name of a joint's node.
    ///
    /// # Panics
    ///
    /// Panics if there is no such joint, as indexing a slice does.
    pub fn joint_name(&self, joint: usize) -> &str {
        &self.nodes[self.joints[joint].node].name
    }

    /// The name of a joint in messages: its name, or its number if it has none.
    ///
    /// # Panics
    ///
    /// Panics if there is no such joint, as indexing a slice does.
    pub fn joint_label(&self, joint: usize) -> String {
        match self.joint_name(joint) {
            "" => format!("joint {joint}"),
            name => name.to_owned(),
        }
    }

    /// The fault of a joint's bind matrix, if any.
    ///
    /// # Panics
    ///
    /// Panics if there is no such joint, as indexing a slice does.
    pub fn bind_fault(&self, joint: usize) -> Option<BindFault> {
        BindMatrix::of(&self.joints[joint].joint_from_bind).fault()
    }

    /// The joints whose bind matrix is singular up to the rounding of `f32`, so that the bind
    /// position of the joint is unknown.
    pub fn singular_binds(&self) -> Vec<usize> {
        let is_singular =
            |joint: &usize| self.bind_fault(*joint).is_some_and(BindFault::is_singular);
        (0..self.joints.len()).filter(is_singular).collect()
    }

    /// The bind position of every joint. Along directions that a bind matrix (nearly) flattens, the
    /// position is taken from the parent, or else from the mean of the other joints.
    pub(crate) fn bind_heads(&self) -> Vec<DVec3> {
        let binds: Vec<BindMatrix> = self
            .joints
            .iter()
            .map(|joint| BindMatrix::of(&joint.joint_from_bind))
            .collect();
        let usual = UsualBinds::of(&binds);
        let determined = binds
            .iter()
            .filter_map(|bind| bind.well_determined_head(&usual));
        let determined: Vec<DVec3> = determined.collect();
        let middle = determined.iter().sum::<DVec3>() / determined.len().max(1) as f64;
        let mut heads: Vec<DVec3> = Vec::with_capacity(binds.len());
        for (joint, bind) in self.joints.iter().zip(&binds) {
            let near = joint.parent.map_or(middle, |parent| heads[parent]);
            heads.push(bind.well_determined_head(&usual).unwrap_or_else(|| {
                let distances = determined.iter().map(|head| head.distance(near));
                bind.head_near(near, distances.fold(0.0, f64::max), &usual)
            }));
        }
        heads
    }

    /// The bone of every joint in the bind pose. A bone has no length if neither a child nor the
    /// parent is apart from the joint, or if its children lie evenly around it.
    pub fn bind_bones(&self) -> Vec<BindBone> {
        let heads = self.bind_heads();
        let same_place = same_place(&heads);
        let apart = |a: DVec3, b: DVec3| a.distance(b) > same_place;
        let mut below = vec![(DVec3::ZERO, 0.0); heads.len()];
        for (joint, &head) in self.joints.iter().zip(&heads) {
            if let Some(parent) = joint.parent.filter(|&parent| apart(heads[parent], head)) {
                below[parent].0 += head;
                below[parent].1 += 1.0;
            }
        }
        let bone = |(index, &head): (usize, &DVec3)| {
            let (sum, count) = below[index];
            let above = self.joints[index]
                .parent
                .map_or(head, |parent| heads[parent]);
            let tail = if count > 0.0 {
                sum / count
            } else {
                head + (head - above)
            };
            let tail = if apart(head, tail) { tail } else { head };
            BindBone { head, tail }
        };
        heads.iter().enumerate().map(bone).collect()
    }

    /// The rest pose.
    pub fn rest_pose(&self) -> Pose {
        Pose {
            locals: self.nodes.iter().map(|node| node.rest).collect(),
            morph_weights: Vec::new(),
        }
    }

    /// Computes the world transform of every node (forward kinematics); refills `world_from_node`.
    ///
    /// # Errors
    ///
    /// Fails if the pose has another number of nodes than the skeleton; `world_from_node` is then
    /// unchanged.
    pub fn forward_kinematics(
        &self,
        pose: &Pose,
        world_from_node: &mut Vec<DAffine3>,
    ) -> Result<(), NodeCountError> {
        self.check_node_count(pose.locals.len())?;
        self.place_nodes(&pose.locals, world_from_node);
        Ok(())
    }

    /// Computes the world transform of every node in the rest pose.
    pub fn rest_world(&self) -> Vec<DAffine3> {
        let mut world_from_node = Vec::with_capacity(self.nodes.len());
        self.place_nodes(&self.rest_pose().locals, &mut world_from_node);
        world_from_node
    }

    /// Forward kinematics over as many nodes as there are local transforms.
    pub(crate) fn place_nodes(&self, locals: &[Local], world_from_node: &mut Vec<DAffine3>) {
        world_from_node.clear();
        for (node, local) in self.nodes.iter().zip(locals) {
            let parent_from_node = local.to_affine();
            world_from_node.push(match node.parent {
                Some(parent) => world_from_node[parent] * parent_from_node,
                None => parent_from_node,
            });
        }
    }

    /// Computes `posed_from_bind` of every joint from the world transforms of the nodes; refills
    /// `palette`.
    ///
    /// # Errors
    ///
    /// If there is not one world transform per node; the palette is then left as it was.
    pub fn fill_palette(
        &self,
        world_from_node: &[DAffine3],
        palette: &mut Palette,
    ) -> Result<(), NodeCountError> {
        self.check_node_count(world_from_node.len())?;
        self.fill_checked(world_from_node, palette);
        Ok(())
    }

    /// [`fill_palette`](Skeleton::fill_palette) of transforms that are known to be one per node.
    fn fill_checked(&self, world_from_node: &[DAffine3], palette: &mut Palette) {
        palette.posed_from_bind.clear();
        for joint in &self.joints {
            let posed_from_bind = world_from_node[joint.node] * joint.joint_from_bind;
            palette
                .posed_from_bind
                .push(Affine::from_f64(&posed_from_bind));
        }
    }

    /// Computes the palette of a pose, with buffers of its own.
    ///
    /// # Errors
    ///
    /// If the pose has another number of nodes than the skeleton.
    pub fn palette(&self, pose: &Pose) -> Result<Palette, NodeCountError> {
        self.check_node_count(pose.locals.len())?;
        Ok(self.palette_of(&pose.locals))
    }

    /// Computes the palette of the rest pose.
    pub fn rest_palette(&self) -> Palette {
        self.palette_of(&self.rest_pose().locals)
    }

    /// [`palette`](Skeleton::palette) of transforms that are known to be one per node.
    pub(crate) fn palette_of(&self, locals: &[Local]) -> Palette {
        let mut world_from_node = Vec::with_capacity(self.nodes.len());
        let mut palette = Palette::default();
        self.place_nodes(locals, &mut world_from_node);
        self.fill_checked(&world_from_node, &mut palette);
        palette
    }

    fn check_node_count(&self, found: usize) -> Result<(), NodeCountError> {
        let expected = self.nodes.len();
        match found == expected {
            true => Ok(()),
            false => Err(NodeCountError { found, expected }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Trs;
    use glam::DQuat;
    use std::f64::consts::FRAC_PI_2;

    fn node(name: &str, parent: Option<usize>, translation: DVec3) -> Node {
        Node {
            name: name.to_owned(),
            parent,
            rest: Local::Trs(Trs::from_translation(translation)),
        }
    }

    #[test]
    fn bind_matrices_that_flatten_space_are_found_also_where_files_round_them() {
        let turned = DQuat::from_rotation_x(0.7) * DQuat::from_rotation_y(1.1);
        let scaled = |x: f64, y: f64, z: f64| {
            let exact = DAffine3::from_scale(DVec3::new(x, y, z)) * DAffine3::from_quat(turned);
            crate::transform::Affine::from_f64(&(DAffine3::from_quat(turned) * exact)).to_f64()
        };
        let binds = [
            scaled(1.0, 1.0, 1.0),
            scaled(0.0, 1.0, 1.0),
            scaled(1e-3, 1e-3, 1e-3),
            scaled(1.0, 1e-4, 1.0),
            scaled(1e3, 1e3, 0.0),
            scaled(0.0, 0.0, 0.0),
            scaled(-1.0, 1.0, 1.0),
        ];
        let nodes = (0..binds.len()).map(|_| node("", None, DVec3::ZERO));
        let joints = binds.into_iter().enumerate().collect();
        let skeleton = Skeleton::new(nodes.collect(), joints).unwrap();
        assert_eq!(skeleton.singular_binds(), [1, 4, 5]);
    }

    #[test]
    fn a_turned_elbow_carries_the_hand() {
        let nodes = vec![
            node("shoulder", None, DVec3::ZERO),
            node("elbow", Some(0), DVec3::X),
            node("hand", Some(1), DVec3::X),
        ];
        let skeleton = Skeleton::bound_at_rest(nodes, &[0, 1, 2]).unwrap();
        let mut pose = skeleton.rest_pose();
        pose.locals[1] = Local::Trs(Trs {
            translation: DVec3::X,
            rotation: DQuat::from_rotation_z(FRAC_PI_2),
            scale: DVec3::ONE,
        });
        let palette = skeleton.palette(&pose).unwrap();
        let fingertip = palette.posed_from_bind[2].transform_point(glam::Vec3::new(3.0, 0.0, 0.0));
        assert!((fingertip - glam::Vec3::new(1.0, 2.0, 0.0)).length() < 1e-6);
    }

    #[test]
    fn joints_find_their_parents_across_plain_nodes() {
        let nodes = vec![
            node("scene", None, DVec3::ZERO),
            node("hip", Some(0), DVec3::ZERO),
            node("helper", Some(1), DVec3::ZERO),
            node("knee", Some(2), DVec3::ZERO),
        ];
        let skeleton = Skeleton::bound_at_rest(nodes, &[1, 3]).unwrap();
        let parents: Vec<_> = skeleton.joints().iter().map(|joint| joint.parent).collect();
        assert_eq!(parents, [None, Some(0)]);
        assert_eq!(skeleton.joint_name(1), "knee");
    }

    #[test]
    fn bones_end_between_the_joints_below_and_last_ones_go_on() {
        let nodes = vec![
            node("hip", None, DVec3::Y),
            node("left", Some(0), DVec3::new(-1.0, -0.5, 0.0)),
            node("right", Some(0), DVec3::new(1.0, -0.5, 0.0)),
        ];
        let bones = Skeleton::bound_at_rest(nodes, &[0, 1, 2])
            .unwrap()
            .bind_bones();
        assert_eq!((bones[0].head, bones[0].tail), (DVec3::Y, DVec3::Y * 0.5));
        assert_eq!(bones[2].tail, DVec3::new(2.0, 0.0, 0.0));
        // Feet all but evenly around a hip, and a helper that all but coincides with its parent.
        let nodes = vec![
            node("hip", None, DVec3::ZERO),
            node("left", Some(0), DVec3::new(-1.0, 1e-8, 0.0)),
            node("right", Some(0), DVec3::X),
            node("helper", Some(2), DVec3::Y * 1e-9),
        ];
        let bones = Skeleton::bound_at_rest(nodes, &[0, 1, 2, 3])
            .unwrap()
            .bind_bones();
        assert_eq!(bones[0].axis(), None);
        assert_eq!(bones[2].axis(), Some(DVec3::X));
        let lone = Skeleton::bound_at_rest(vec![node("lone", None, DVec3::X)], &[0]).unwrap();
        assert_eq!(lone.bind_bones()[0].axis(), None);
    }

    #[test]
    fn bad_trees_are_named() {
        let error = Skeleton::new(vec![node("a", Some(0), DVec3::ZERO)], vec![]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "node 0 has the parent 0, which does not come before it"
        );
        let nodes = vec![node("a", None, DVec3::ZERO)];
        let error = Skeleton::bound_at_rest(nodes, &[3]).unwrap_err();
        assert!(matches!(
            error,
            SkeletonError::JointOutOfOrder { node: 3, .. }
        ));
        let nodes = vec![node("a", None, DVec3::new(f64::NAN, 0.0, 0.0))];
        let error = Skeleton::new(nodes, vec![]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the rest transform of node 0 is not finite"
        );
    }
}
