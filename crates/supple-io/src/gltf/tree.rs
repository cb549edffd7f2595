//! The nodes of a file as a tree, parents first.

use super::elements::in_range;
use super::fault::Fault;
use glam::{DAffine3, DMat4, DQuat, DVec3};
use gltf_json::{Index, Node as FileNode};
use serde_json::Value;
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
    /// `json` is the whole file, in double precision, which the typed nodes do not have.
    pub(super) fn new(file_nodes: &[FileNode], json: &Value) -> Result<Tree, Fault> {
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
        // With one parent each, nodes that no root reaches form a cycle.
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
                rest: rest_transform(node, index, &json["nodes"][index])?,
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

/// The transform of a node in double precision, as JSON has it: offsets of kilometres may cancel
/// out further down the tree.
fn rest_transform(node: &FileNode, index: usize, json: &Value) -> Result<Local, Fault> {
    let in_f32 = [
        node.matrix.as_ref().map(<[f32; 16]>::as_slice),
        node.translation.as_ref().map(<[f32; 3]>::as_slice),
        node.rotation.as_ref().map(|rotation| rotation.0.as_slice()),
        node.scale.as_ref().map(<[f32; 3]>::as_slice),
    ];
    if in_f32
        .into_iter()
        .flatten()
        .flatten()
        .any(|x| !x.is_finite())
    {
        let problem = "the transform holds a number beyond the range of 32-bit floats";
        return Err(Fault::new(format!("nodes[{index}]"), problem));
    }
    if node.matrix.is_some() {
        let columns = numbers::<16>(json, "matrix");
        return Ok(Local::Matrix(DAffine3::from_mat4(DMat4::from_cols_array(
            &columns,
        ))));
    }
    let rotation = match node.rotation {
        Some(_) => DQuat::from_array(numbers(json, "rotation")),
        None => DQuat::IDENTITY,
    };
    Ok(Local::Trs(Trs {
        translation: node.translation.map_or(DVec3::ZERO, |_| {
            DVec3::from_array(numbers(json, "translation"))
        }),
        rotation: if rotation.length_squared() > 0.0 {
            rotation.normalize()
        } else {
            DQuat::IDENTITY
        },
        scale: node
            .scale
            .map_or(DVec3::ONE, |_| DVec3::from_array(numbers(json, "scale"))),
    }))
}

/// An array of numbers that is known to be there.
fn numbers<const N: usize>(json: &Value, key: &str) -> [f64; N] {
    std::array::from_fn(|index| json[key][index].as_f64().unwrap_or(0.0))
}
