//! The nodes of a file as a tree, parents first.

use super::Fault;
use super::read::in_range;
use glam::{DAffine3, DMat4, DQuat, DVec3, Vec3};
use gltf_json::{Index, Node as FileNode};
use supple::skeleton::Node;
use supple::transform::{Local, Trs};

/// The nodes of a file, parents first.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The file's index of each node.
    pub(super) file_node: Vec<usize>,
    /// The place of each of the file's nodes in `nodes`.
    pub(super) order_of: Vec<usize>,
    /// One past the last node below each node of `nodes`, which lie together.
    pub(super) subtree_end: Vec<usize>,
}

impl Tree {
    pub(super) fn new(file_nodes: &[FileNode]) -> Result<Tree, Fault> {
        let count = file_nodes.len();
        let mut parent_of: Vec<Option<usize>> = vec![None; count];
        for (index, node) in file_nodes.iter().enumerate() {
            for child in node.children.iter().flatten().map(Index::value) {
                let place = format!("nodes[{index}].children");
                in_range(child, count, "node", &place)?;
                if let Some(other) = parent_of[child] {
                    let problem = format!("node {child} is also a child of node {other}");
                    return Err(Fault::new(place, problem));
                }
                parent_of[child] = Some(index);
            }
        }
        // Depth first from the roots, without recursion: files may nest as deep as they like.
        let mut file_node = Vec::with_capacity(count);
        let mut order_of = vec![usize::MAX; count];
        let mut pending: Vec<usize> = (0..count)
            .rev()
            .filter(|&n| parent_of[n].is_none())
            .collect();
        while let Some(node) = pending.pop() {
            order_of[node] = file_node.len();
            file_node.push(node);
            let children = file_nodes[node].children.iter().flatten();
            pending.extend(children.rev().map(Index::value));
        }
        // With one parent each, whatever no root reaches runs in a circle.
        if let Some(lost) = order_of.iter().position(|&order| order == usize::MAX) {
            let problem = format!("node {lost} is below itself: the nodes form a cycle");
            return Err(Fault::new(format!("nodes[{lost}]"), problem));
        }
        let mut nodes = Vec::with_capacity(count);
        for &index in &file_node {
            let node = &file_nodes[index];
            nodes.push(Node {
                name: node.name.clone().unwrap_or_default(),
                parent: parent_of[index].map(|parent| order_of[parent]),
                rest: rest_transform(node, index)?,
            });
        }
        let mut subtree_end: Vec<usize> = (1..=count).collect();
        for (index, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                subtree_end[parent] = subtree_end[parent].max(subtree_end[index]);
            }
        }
        Ok(Tree {
            nodes,
            file_node,
            order_of,
            subtree_end,
        })
    }
}

fn rest_transform(node: &FileNode, index: usize) -> Result<Local, Fault> {
    let vector = |v: [f32; 3]| Vec3::from_array(v).as_dvec3();
    let rotation = node.rotation.map_or(DQuat::IDENTITY, |q| {
        let q = DQuat::from_array(q.0.map(f64::from));
        if q.length_squared() > 0.0 {
            q.normalize()
        } else {
            DQuat::IDENTITY
        }
    });
    let rest = match node.matrix {
        Some(matrix) => Local::Matrix(affine(&matrix)),
        None => Local::Trs(Trs {
            translation: node.translation.map_or(DVec3::ZERO, vector),
            rotation,
            scale: node.scale.map_or(DVec3::ONE, vector),
        }),
    };
    if !rest.is_finite() {
        let problem = "the transform holds a number beyond the range of 32-bit floats";
        return Err(Fault::new(format!("nodes[{index}]"), problem));
    }
    Ok(rest)
}

/// A column-major 4×4 matrix; its last row is (0, 0, 0, 1) by definition.
pub(super) fn affine(columns: &[f32; 16]) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array(&columns.map(f64::from)))
}
