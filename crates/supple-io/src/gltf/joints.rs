//! The joints of a character: those of all its skins, shared where they bind the same node in the
//! same way.

use super::accessor::Numbers;
use super::elements::in_range;
use super::fault::Fault;
use super::file::{File, MeshNode};
use super::tree::Tree;
use glam::{DAffine3, DMat4, Mat4};
use gltf_json::accessor::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// The joints of all skins of the character.
pub(super) struct Joints {
    /// (node, joint_from_bind) in the order of nodes.
    pub(super) sorted: Vec<(usize, DAffine3)>,
    /// The index in `sorted` of each joint, in the order in which the file lists them.
    pub(super) in_file_order: Vec<usize>,
    /// The joints that each mesh node is bound to: one list per skin, however many nodes use it.
    pub(super) of_mesh_node: Vec<Arc<SkinJoints>>,
}

/// A skin's joints as indices into the skeleton's.
pub(super) struct SkinJoints {
    pub(super) joints: Arc<[usize]>,
    /// The first joint listed that has no other joint of the skin above it; vertices without
    /// weights follow it.
    pub(super) root: usize,
}

/// Joints in the order in which the file lists them.
#[derive(Default)]
struct Listed {
    /// The node and the inverse bind matrix of each.
    joints: Vec<(usize, [f32; 16])>,
    index_of: HashMap<(usize, [u32; 16]), usize>,
}

impl Listed {
    /// The place of a joint, which is new unless the same node was bound by the same matrix before.
    fn place_of(&mut self, node: usize, matrix: [f32; 16]) -> usize {
        let key = (node, matrix.map(|x| (x + 0.0).to_bits()));
        *self.index_of.entry(key).or_insert_with(|| {
            self.joints.push((node, matrix));
            self.joints.len() - 1
        })
    }
}

impl Joints {
    /// Collects the joints of `bound` nodes; a node without a skin is its own joint.
    pub(super) fn new(file: &File, tree: &Tree, bound: &[&MeshNode]) -> Result<Joints, Fault> {
        let mut listed = Listed::default();
        // Each different list once: that of a skin, or the one joint of a node without a skin.
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let mut list_of_skin: HashMap<usize, usize> = HashMap::new();
        let mut list_of_mesh_node: Vec<usize> = Vec::with_capacity(bound.len());
        for mesh_node in bound {
            let known = mesh_node.skin.and_then(|skin| list_of_skin.get(&skin));
            if let Some(&known) = known {
                list_of_mesh_node.push(known);
                continue;
            }
            list_of_mesh_node.push(lists.len());
            match mesh_node.skin {
                Some(skin) => {
                    list_of_skin.insert(skin, lists.len());
                    lists.push(skin_joints(file, tree, skin, &mut listed)?);
                }
                None => {
                    let node = tree.order_of[mesh_node.node];
                    lists.push(vec![listed.place_of(node, Mat4::IDENTITY.to_cols_array())]);
                }
            }
        }
        let mut order: Vec<usize> = (0..listed.joints.len()).collect();
        order.sort_by_key(|&index| listed.joints[index].0);
        let mut in_file_order = vec![0; listed.joints.len()];
        for (sorted, &index) in order.iter().enumerate() {
            in_file_order[index] = sorted;
        }
        let node_of = |joint: usize| listed.joints[joint].0;
        let finished = |list: Vec<usize>| {
            Arc::new(SkinJoints {
                root: in_file_order[first_root(&list, node_of, tree)],
                joints: list.into_iter().map(|index| in_file_order[index]).collect(),
            })
        };
        let lists: Vec<Arc<SkinJoints>> = lists.into_iter().map(finished).collect();
        let of_mesh_node = list_of_mesh_node
            .into_iter()
            .map(|list| lists[list].clone());
        let sorted = order.into_iter().map(|index| {
            let (node, matrix) = &listed.joints[index];
            (*node, affine(matrix))
        });
        Ok(Joints {
            of_mesh_node: of_mesh_node.collect(),
            sorted: sorted.collect(),
            in_file_order,
        })
    }
}

/// The places of a skin's joints in the list.
fn skin_joints(
    file: &File,
    tree: &Tree,
    skin: usize,
    listed: &mut Listed,
) -> Result<Vec<usize>, Fault> {
    let place = format!("skins[{skin}]");
    let nodes = &file.skins[skin].joints;
    if nodes.is_empty() {
        return Err(Fault::new(
            format!("{place}.joints"),
            "a skin without joints",
        ));
    }
    let matrices = match file.skins[skin].inverse_bind_matrices {
        None => vec![Mat4::IDENTITY.to_cols_array(); nodes.len()],
        Some(accessor) => {
            let place = format!("{place}.inverseBindMatrices");
            let numbers =
                file.accessors
                    .floats(accessor.value(), Type::Mat4, Numbers::AsDeclared, &place)?;
            let matrices = numbers.as_chunks::<16>().0.to_vec();
            if matrices.len() < nodes.len() {
                let problem = format!("{} matrices for {} joints", matrices.len(), nodes.len());
                return Err(Fault::new(place, problem));
            }
            matrices
        }
    };
    let mut joints = Vec::with_capacity(nodes.len());
    for (node, matrix) in nodes.iter().zip(matrices) {
        in_range(
            node.value(),
            file.nodes.len(),
            "node",
            &format!("{place}.joints"),
        )?;
        joints.push(listed.place_of(tree.order_of[node.value()], matrix));
    }
    Ok(joints)
}

/// The first joint of a list without another of the list above it.
fn first_root(list: &[usize], node_of: impl Fn(usize) -> usize, tree: &Tree) -> usize {
    let mut nodes: Vec<usize> = list.iter().map(|&joint| node_of(joint)).collect();
    nodes.sort_unstable();
    // Nodes below another one follow it, so the highest ones are those that no earlier subtree
    // reaches.
    let mut reached = 0;
    nodes.retain(|&node| {
        let top = node >= reached;
        if top {
            reached = tree.subtree_end[node];
        }
        top
    });
    let is_top = |joint: &&usize| nodes.binary_search(&node_of(**joint)).is_ok();
    *list.iter().find(is_top).unwrap_or(&list[0])
}

/// A column-major 4×4 matrix; its last row is (0, 0, 0, 1) by definition.
fn affine(columns: &[f32; 16]) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array(&columns.map(f64::from)))
}
