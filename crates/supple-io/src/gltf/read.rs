//! From the JSON of a file to a character.

use super::accessor::{Accessors, Numbers};
use super::container::Container;
use super::{Binding, Fault, Instance, Notes, PropBinding};
use glam::{DAffine3, DMat4, DQuat, DVec3, Vec3, Vec4};
use gltf_json::accessor::Type;
use gltf_json::mesh::{Mode, Semantic};
use gltf_json::validation::Checked;
use gltf_json::{Index, Mesh as FileMesh, Node as FileNode, Skin as FileSkin, animation};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::mesh::{Mesh, Morph, MorphTarget, Part};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Asset, Prop, Rig};

/// What reading gives.
pub(super) struct Character {
    pub(super) asset: Asset,
    pub(super) notes: Notes,
    pub(super) binding: Binding,
}

/// The colour of surfaces that are white or textured: a light clay.
const CLAY: Vec3 = Vec3::new(0.58, 0.47, 0.39);

/// Extensions that change how geometry is stored, which Supple cannot decode.
const UNREADABLE: [&str; 3] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
];

/// Reads the character of a file.
pub(super) fn character(
    container: &Container,
    file_size: usize,
    name: &str,
) -> Result<Character, Fault> {
    let json = &container.json;
    let file = File {
        accessors: Accessors::new(container, file_size)?,
        nodes: section(json, "nodes")?,
        meshes: section(json, "meshes")?,
        skins: section(json, "skins")?,
        json,
    };
    let mut notes = Notes {
        unknown_required_extensions: required_extensions(json)?,
        ..Notes::default()
    };
    let tree = Tree::new(&file.nodes)?;
    let mesh_nodes = file.mesh_nodes()?;
    notes.unskinned = mesh_nodes.iter().all(|node| node.skin.is_none());
    let (bound, hung): (Vec<&MeshNode>, Vec<&MeshNode>) = mesh_nodes
        .iter()
        .partition(|node| notes.unskinned || node.skin.is_some());
    if bound.is_empty() {
        return Err(Fault::new(
            "nodes",
            "no node has a mesh: there is no character here",
        ));
    }

    let joints = Joints::new(&file, &tree, &bound)?;
    let skeleton = Skeleton::new(tree.nodes.clone(), joints.sorted.clone())
        .map_err(|error| Fault::new("nodes", error.to_string()))?;

    let mut surface = SurfaceReader::new(&file, joints.sorted.len())?;
    let mut morph_weights = MorphWeights::default();
    let mut instances = Vec::new();
    for (index, node) in bound.iter().enumerate() {
        let weights = morph_weights.add(&file, node)?;
        let skin_joints = &joints.of_mesh_node[index];
        let primitives = surface.add(node, Some(skin_joints), weights.start, &mut notes)?;
        instances.push(Instance {
            node: node.node,
            mesh: node.mesh,
            skinned: node.skin.is_some(),
            joint_of_skin: skin_joints.joints.clone(),
            primitives,
        });
    }
    let surface = surface.finish(&mut notes)?;

    let mut props = Vec::new();
    let mut prop_bindings = Vec::new();
    for node in &hung {
        let weights = morph_weights.add(&file, node)?;
        let mut surface = SurfaceReader::new(&file, 1)?;
        surface.add(node, None, weights.start, &mut notes)?;
        prop_bindings.push(PropBinding {
            node: node.node,
            morph_weights: weights,
        });
        let surface = surface.finish(&mut Notes::default())?;
        props.push(Prop {
            name: file.node_name(node),
            node: tree.order_of[node.node],
            mesh: surface.mesh,
            morphs: surface.morphs,
            color: surface.parts.first().map_or(CLAY, |part| part.color),
        });
    }

    let clips = clips(&file, &tree, &morph_weights, &mut notes)?;
    let rig = Rig::new(surface.mesh, skeleton, surface.weights)
        .map_err(|error| Fault::new("meshes", error.to_string()))?;
    Ok(Character {
        asset: Asset {
            name: name.to_owned(),
            rig,
            parts: surface.parts,
            morphs: surface.morphs,
            rest_morph_weights: morph_weights.rest,
            clips,
            props,
        },
        notes,
        binding: Binding {
            file_node: tree.file_node,
            file_joints: joints.in_file_order,
            instances,
            props: prop_bindings,
        },
    })
}

/// The elements of a top-level array; none if it is absent. Errors name the element.
pub(super) fn section<T: DeserializeOwned>(json: &Value, key: &str) -> Result<Vec<T>, Fault> {
    let elements = match json.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(Fault::new(key, "not an array")),
    };
    let typed = |(index, element): (usize, &Value)| {
        T::deserialize(element)
            .map_err(|error| Fault::new(format!("{key}[{index}]"), error.to_string()))
    };
    elements.iter().enumerate().map(typed).collect()
}

/// Refuses compressed geometry, and lists required extensions that nobody here knows.
fn required_extensions(json: &Value) -> Result<Vec<String>, Fault> {
    let mut unknown = Vec::new();
    let required = json.get("extensionsRequired").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if UNREADABLE.contains(&name) {
            let problem = format!(
                "{name} is compressed geometry, which Supple cannot decode; export without compression"
            );
            return Err(Fault::new("extensionsRequired", problem));
        }
        let harmless = name == "KHR_mesh_quantization"
            || name.starts_with("KHR_materials_")
            || name.starts_with("KHR_texture_")
            || name.starts_with("EXT_texture_");
        if !harmless {
            unknown.push(name.to_owned());
        }
    }
    Ok(unknown)
}

/// The parts of a file that a character is made of.
struct File<'a> {
    accessors: Accessors<'a>,
    nodes: Vec<FileNode>,
    meshes: Vec<FileMesh>,
    skins: Vec<FileSkin>,
    json: &'a Value,
}

/// A node with a mesh, both in range.
struct MeshNode {
    node: usize,
    mesh: usize,
    skin: Option<usize>,
}

impl File<'_> {
    fn mesh_nodes(&self) -> Result<Vec<MeshNode>, Fault> {
        let mut result = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(mesh) = node.mesh.map(|mesh| mesh.value()) else {
                continue;
            };
            let place = format!("nodes[{index}]");
            in_range(mesh, self.meshes.len(), "mesh", &place)?;
            let skin = node.skin.map(|skin| skin.value());
            if let Some(skin) = skin {
                in_range(skin, self.skins.len(), "skin", &place)?;
            }
            result.push(MeshNode {
                node: index,
                mesh,
                skin,
            });
        }
        Ok(result)
    }

    fn node_name(&self, node: &MeshNode) -> String {
        let names = [&self.nodes[node.node].name, &self.meshes[node.mesh].name];
        let given = names.into_iter().flatten().find(|name| !name.is_empty());
        given
            .cloned()
            .unwrap_or_else(|| format!("mesh {}", node.mesh))
    }

    fn material_color(&self, material: Option<usize>) -> Vec3 {
        let path = |index: usize| format!("/materials/{index}/pbrMetallicRoughness");
        let Some(pbr) = material.and_then(|index| self.json.pointer(&path(index))) else {
            return CLAY;
        };
        let factor = pbr.get("baseColorFactor").and_then(Value::as_array);
        let channel = |i: usize| factor?.get(i)?.as_f64().map(|x| x.clamp(0.0, 1.0) as f32);
        match (channel(0), channel(1), channel(2)) {
            (Some(r), Some(g), Some(b))
                if pbr.get("baseColorTexture").is_none() && r.min(g).min(b) < 0.95 =>
            {
                Vec3::new(r, g, b)
            }
            _ => CLAY,
        }
    }

    /// How many morph targets a mesh has: as many as its first primitive (all must have the same).
    fn morph_count(&self, mesh: usize) -> usize {
        let first = self.meshes[mesh].primitives.first();
        first
            .and_then(|primitive| primitive.targets.as_ref())
            .map_or(0, Vec::len)
    }
}

fn in_range(index: usize, count: usize, what: &str, place: &str) -> Result<(), Fault> {
    if index < count {
        return Ok(());
    }
    Err(Fault::new(
        place,
        format!("names {what} {index}, but there are {count}"),
    ))
}

/// The nodes of a file, parents first.
struct Tree {
    nodes: Vec<Node>,
    /// The file's index of each node.
    file_node: Vec<usize>,
    /// The place of each of the file's nodes in `nodes`.
    order_of: Vec<usize>,
}

impl Tree {
    fn new(file_nodes: &[FileNode]) -> Result<Tree, Fault> {
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
                rest: rest_transform(node),
            });
        }
        Ok(Tree {
            nodes,
            file_node,
            order_of,
        })
    }
}

fn rest_transform(node: &FileNode) -> Local {
    if let Some(matrix) = node.matrix {
        return Local::Matrix(affine(&matrix));
    }
    let vector =
        |v: Option<[f32; 3]>, default: DVec3| v.map_or(default, |v| Vec3::from_array(v).as_dvec3());
    let rotation = node.rotation.map_or(DQuat::IDENTITY, |q| {
        let q = DQuat::from_array(q.0.map(f64::from));
        if q.length_squared() > 0.0 {
            q.normalize()
        } else {
            DQuat::IDENTITY
        }
    });
    Local::Trs(Trs {
        translation: vector(node.translation, DVec3::ZERO),
        rotation,
        scale: vector(node.scale, DVec3::ONE),
    })
}

/// A column-major 4×4 matrix; its last row is (0, 0, 0, 1) by definition.
fn affine(columns: &[f32; 16]) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array(&columns.map(f64::from)))
}

/// The joints of all skins of the character, shared where they bind the same node in the same way.
struct Joints {
    /// (node, joint_from_bind) in the order of nodes.
    sorted: Vec<(usize, DAffine3)>,
    /// For each joint as the file lists them, its index in `sorted`.
    in_file_order: Vec<usize>,
    /// For each mesh node, the joints of its skin.
    of_mesh_node: Vec<SkinJoints>,
}

/// A skin's joints as indices into the skeleton's.
#[derive(Clone)]
struct SkinJoints {
    joints: Vec<usize>,
    /// The first joint listed that has no other joint of the skin above it; vertices without weights follow it.
    root: usize,
}

impl Joints {
    fn new(file: &File, tree: &Tree, bound: &[&MeshNode]) -> Result<Joints, Fault> {
        let mut listed: Vec<(usize, [f32; 16])> = Vec::new();
        let mut index_of: HashMap<(usize, [u32; 16]), usize> = HashMap::new();
        let mut of_skin: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut lists: Vec<Vec<usize>> = Vec::with_capacity(bound.len());
        let mut list = |node: usize, matrix: [f32; 16]| {
            let key = (node, matrix.map(|x| (x + 0.0).to_bits()));
            *index_of.entry(key).or_insert_with(|| {
                listed.push((node, matrix));
                listed.len() - 1
            })
        };
        for mesh_node in bound {
            let Some(skin) = mesh_node.skin else {
                let identity = DMat4::IDENTITY.as_mat4().to_cols_array();
                lists.push(vec![list(tree.order_of[mesh_node.node], identity)]);
                continue;
            };
            if let Some(known) = of_skin.get(&skin) {
                lists.push(known.clone());
                continue;
            }
            let matrices = inverse_bind_matrices(file, skin)?;
            let mut joints = Vec::with_capacity(matrices.len());
            for (joint, matrix) in file.skins[skin].joints.iter().zip(matrices) {
                let place = format!("skins[{skin}].joints");
                in_range(joint.value(), file.nodes.len(), "node", &place)?;
                joints.push(list(tree.order_of[joint.value()], matrix));
            }
            of_skin.insert(skin, joints.clone());
            lists.push(joints);
        }
        let mut order: Vec<usize> = (0..listed.len()).collect();
        order.sort_by_key(|&index| listed[index].0);
        let mut in_file_order = vec![0; listed.len()];
        for (sorted, &index) in order.iter().enumerate() {
            in_file_order[index] = sorted;
        }
        let of_mesh_node = lists
            .into_iter()
            .map(|list| SkinJoints {
                root: in_file_order[skin_root(&list, &listed, tree)],
                joints: list.into_iter().map(|index| in_file_order[index]).collect(),
            })
            .collect();
        let sorted = order
            .into_iter()
            .map(|index| (listed[index].0, affine(&listed[index].1)))
            .collect();
        Ok(Joints {
            sorted,
            in_file_order,
            of_mesh_node,
        })
    }
}

fn inverse_bind_matrices(file: &File, skin_index: usize) -> Result<Vec<[f32; 16]>, Fault> {
    let skin = &file.skins[skin_index];
    let place = format!("skins[{skin_index}]");
    if skin.joints.is_empty() {
        return Err(Fault::new(
            format!("{place}.joints"),
            "a skin without joints",
        ));
    }
    let Some(accessor) = skin.inverse_bind_matrices else {
        return Ok(vec![
            DMat4::IDENTITY.as_mat4().to_cols_array();
            skin.joints.len()
        ]);
    };
    let place = format!("{place}.inverseBindMatrices");
    let numbers =
        file.accessors
            .floats(accessor.value(), Type::Mat4, Numbers::AsDeclared, &place)?;
    let matrices = numbers.as_chunks::<16>().0.to_vec();
    if matrices.len() < skin.joints.len() {
        let problem = format!(
            "{} matrices for {} joints",
            matrices.len(),
            skin.joints.len()
        );
        return Err(Fault::new(place, problem));
    }
    Ok(matrices)
}

/// The first listed joint without another of the same list above it.
fn skin_root(list: &[usize], listed: &[(usize, [f32; 16])], tree: &Tree) -> usize {
    let mut in_skin = vec![false; tree.nodes.len()];
    for &joint in list {
        in_skin[listed[joint].0] = true;
    }
    // Parents come first, so one pass tells of every node whether a joint is above it.
    let mut below_joint = vec![false; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        below_joint[index] = node
            .parent
            .is_some_and(|parent| below_joint[parent] || in_skin[parent]);
    }
    let top = list.iter().find(|&&joint| !below_joint[listed[joint].0]);
    *top.unwrap_or(&list[0])
}

/// Where the morph weights of every mesh node are in a pose.
#[derive(Default)]
struct MorphWeights {
    rest: Vec<f32>,
    of_node: HashMap<usize, std::ops::Range<usize>>,
}

impl MorphWeights {
    fn add(&mut self, file: &File, node: &MeshNode) -> Result<std::ops::Range<usize>, Fault> {
        let start = self.rest.len();
        let count = file.morph_count(node.mesh);
        let own = file.nodes[node.node].weights.as_ref();
        let given = own.or(file.meshes[node.mesh].weights.as_ref());
        if let Some(at) =
            given.and_then(|weights| weights.iter().position(|weight| !weight.is_finite()))
        {
            let place = match own {
                Some(_) => format!("nodes[{}].weights", node.node),
                None => format!("meshes[{}].weights", node.mesh),
            };
            return Err(Fault::new(place, format!("weight {at} is not finite")));
        }
        let weight = |index: usize| given.and_then(|weights| weights.get(index)).copied();
        self.rest
            .extend((0..count).map(|index| weight(index).unwrap_or(0.0)));
        self.of_node.insert(node.node, start..start + count);
        Ok(start..start + count)
    }
}

/// Primitives put together.
struct BoundSurface {
    mesh: Mesh,
    parts: Vec<Part>,
    morphs: Vec<Morph>,
    weights: supple::Weights,
}

/// Collects primitives into one surface.
struct SurfaceReader<'a> {
    file: &'a File<'a>,
    positions: Vec<Vec3>,
    /// `None` for primitives that have none.
    normals: Vec<Option<Vec<Vec3>>>,
    tangents: Vec<Option<Vec<Vec4>>>,
    triangles: Vec<[u32; 3]>,
    parts: Vec<Part>,
    morphs: Vec<Morph>,
    weights: WeightsBuilder,
}

impl<'a> SurfaceReader<'a> {
    fn new(file: &'a File<'a>, joint_count: usize) -> Result<SurfaceReader<'a>, Fault> {
        Ok(SurfaceReader {
            file,
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
            triangles: Vec::new(),
            parts: Vec::new(),
            morphs: Vec::new(),
            weights: WeightsBuilder::new(joint_count)
                .map_err(|error| Fault::new("skins", error.to_string()))?,
        })
    }

    /// Adds the primitives of a node's mesh; without `joints` the weights follow joint 0.
    fn add(
        &mut self,
        node: &MeshNode,
        joints: Option<&SkinJoints>,
        first_weight: usize,
        notes: &mut Notes,
    ) -> Result<Vec<std::ops::Range<usize>>, Fault> {
        let mesh = &self.file.meshes[node.mesh];
        let name = self.file.node_name(node);
        let mut ranges = Vec::with_capacity(mesh.primitives.len());
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{}].primitives[{index}]", node.mesh);
            let part_name = match mesh.primitives.len() {
                1 => name.clone(),
                _ => format!("{name} {index}"),
            };
            let targets = primitive.targets.as_ref().map_or(0, Vec::len);
            let expected = self.file.morph_count(node.mesh);
            if targets != expected {
                let problem =
                    format!("{targets} morph targets, but the first primitive has {expected}");
                return Err(Fault::new(format!("{place}.targets"), problem));
            }
            let range = self.add_primitive(primitive, &place, part_name, notes)?;
            self.add_morphs(primitive, &place, &range, first_weight)?;
            match joints.filter(|_| node.skin.is_some()) {
                Some(joints) => self.add_weights(primitive, &place, joints, range.len())?,
                // Not skinned: everything follows the one joint that stands for the node.
                None => {
                    let joint = joints.map_or(0, |joints| joints.root);
                    for _ in range.clone() {
                        let pushed = self.weights.push([(joint, 1.0)], joint);
                        pushed.map_err(|error| Fault::new(&place, error.to_string()))?;
                    }
                }
            }
            ranges.push(range);
        }
        Ok(ranges)
    }

    fn add_primitive(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        name: String,
        notes: &mut Notes,
    ) -> Result<std::ops::Range<usize>, Fault> {
        let file = self.file;
        let Some(position) = attribute(primitive, Semantic::Positions) else {
            return Err(Fault::new(place, "has no POSITION"));
        };
        let first = self.positions.len();
        let positions = file
            .accessors
            .vec3s(position, &format!("{place}.POSITION"))?;
        let count = positions.len();
        if u32::try_from(first + count).is_err() {
            return Err(Fault::new(
                place,
                "more vertices than 32-bit indices can name",
            ));
        }
        self.positions.extend(positions);
        let normals = match attribute(primitive, Semantic::Normals) {
            Some(accessor) => {
                let there = format!("{place}.NORMAL");
                let normals = file.accessors.vec3s(accessor, &there)?;
                Some(same_length(normals, count, &there)?)
            }
            None => None,
        };
        self.normals.push(normals);
        let tangents = match attribute(primitive, Semantic::Tangents) {
            Some(accessor) => {
                let there = format!("{place}.TANGENT");
                let tangents = file
                    .accessors
                    .vec4s(accessor, Numbers::AsDeclared, &there)?;
                Some(same_length(tangents, count, &there)?)
            }
            None => None,
        };
        self.tangents.push(tangents);
        let first_triangle = self.triangles.len();
        self.add_triangles(primitive, place, first, count, notes)?;
        self.parts.push(Part {
            name,
            vertices: first..first + count,
            triangles: first_triangle..self.triangles.len(),
            color: file.material_color(primitive.material.map(|material| material.value())),
        });
        Ok(first..first + count)
    }

    fn add_triangles(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        first: usize,
        count: usize,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        let place = format!("{place}.indices");
        let indices = match primitive.indices {
            Some(accessor) => {
                let accessor = accessor.value();
                self.file
                    .accessors
                    .integers(accessor, Type::Scalar, &place)?
            }
            None => (0..count as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|&index| index as usize >= count) {
            let problem = format!(
                "element {at} is vertex {}, but the primitive has {count} vertices",
                indices[at]
            );
            return Err(Fault::new(place, problem));
        }
        let corner = |at: usize| first as u32 + indices[at];
        let runs = indices.len().saturating_sub(2);
        match primitive.mode {
            Checked::Valid(Mode::Triangles) => {
                let (triangles, rest) = indices.as_chunks::<3>();
                if !rest.is_empty() {
                    let problem = format!("{} indices do not make whole triangles", indices.len());
                    return Err(Fault::new(place, problem));
                }
                let shifted = triangles
                    .iter()
                    .map(|t| t.map(|index| first as u32 + index));
                self.triangles.extend(shifted);
            }
            // Every other triangle of a strip is turned around, to keep its winding.
            Checked::Valid(Mode::TriangleStrip) => self.triangles.extend((0..runs).map(|i| {
                let (b, c) = if i % 2 == 0 {
                    (i + 1, i + 2)
                } else {
                    (i + 2, i + 1)
                };
                [corner(i), corner(b), corner(c)]
            })),
            Checked::Valid(Mode::TriangleFan) => {
                let fan = (0..runs).map(|i| [corner(i + 1), corner(i + 2), corner(0)]);
                self.triangles.extend(fan);
            }
            Checked::Valid(_) => notes.not_triangles += 1,
            Checked::Invalid => return Err(Fault::new(place, "an unknown primitive mode")),
        }
        Ok(())
    }

    fn add_morphs(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        vertices: &std::ops::Range<usize>,
        first_weight: usize,
    ) -> Result<(), Fault> {
        let mut targets = Vec::new();
        for (index, target) in primitive.targets.iter().flatten().enumerate() {
            let read = |accessor: Option<Index<gltf_json::Accessor>>, name: &str| {
                let Some(accessor) = accessor else {
                    return Ok(Vec::new());
                };
                let there = format!("{place}.targets[{index}].{name}");
                let offsets = self.file.accessors.vec3s(accessor.value(), &there)?;
                same_length(offsets, vertices.len(), &there)
            };
            targets.push(MorphTarget {
                positions: read(target.positions, "POSITION")?,
                normals: read(target.normals, "NORMAL")?,
                tangents: read(target.tangents, "TANGENT")?,
            });
        }
        if !targets.is_empty() {
            self.morphs.push(Morph {
                first_vertex: vertices.start,
                first_weight,
                targets,
            });
        }
        Ok(())
    }

    /// All JOINTS_n and WEIGHTS_n sets of a primitive.
    fn add_weights(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        joints: &SkinJoints,
        count: usize,
    ) -> Result<(), Fault> {
        let mut sets: Vec<(Vec<[u32; 4]>, Vec<Vec4>)> = Vec::new();
        for semantic in primitive.attributes.keys() {
            let Checked::Valid(Semantic::Joints(set)) = semantic else {
                continue;
            };
            let joints = attribute(primitive, Semantic::Joints(*set));
            let weights = attribute(primitive, Semantic::Weights(*set));
            let (Some(joints), Some(weights)) = (joints, weights) else {
                continue;
            };
            let (joints_place, weights_place) = (
                format!("{place}.JOINTS_{set}"),
                format!("{place}.WEIGHTS_{set}"),
            );
            let indices = self
                .file
                .accessors
                .integers(joints, Type::Vec4, &joints_place)?;
            let indices = indices.as_chunks::<4>().0.to_vec();
            let weights = self
                .file
                .accessors
                .vec4s(weights, Numbers::Fractions, &weights_place)?;
            sets.push((
                same_length(indices, count, &joints_place)?,
                same_length(weights, count, &weights_place)?,
            ));
        }
        for vertex in 0..count {
            let influences = sets.iter().flat_map(|(indices, weights)| {
                let pairs = indices[vertex].into_iter().zip(weights[vertex].to_array());
                pairs.map(|(local, weight)| (local as usize, weight))
            });
            let skeleton_joint = |local: usize| joints.joints.get(local).copied();
            let missing = influences
                .clone()
                .find(|&(local, weight)| weight != 0.0 && skeleton_joint(local).is_none());
            if let Some((local, weight)) = missing {
                let problem = format!(
                    "vertex {vertex} has the weight {weight} for joint {local}, but the skin has {} joints",
                    joints.joints.len()
                );
                return Err(Fault::new(place, problem));
            }
            let known = influences
                .map(|(local, weight)| (skeleton_joint(local).unwrap_or(usize::MAX), weight));
            self.weights
                .push(known, joints.root)
                .map_err(|error| Fault::new(place, error.to_string()))?;
        }
        Ok(())
    }

    fn finish(self, notes: &mut Notes) -> Result<BoundSurface, Fault> {
        let normals = if self.normals.iter().all(Option::is_none) {
            None
        } else {
            // Primitives without normals get computed ones; the others keep their own.
            let mut all = supple::normals::vertex_normals(&self.positions, &self.triangles);
            for (part, given) in self.parts.iter().zip(self.normals) {
                if let Some(given) = given {
                    all[part.vertices.clone()].copy_from_slice(&given);
                }
            }
            Some(all)
        };
        let tangents =
            if self.tangents.iter().all(Option::is_none) {
                None
            } else {
                let mut all = Vec::with_capacity(self.positions.len());
                for (part, given) in self.parts.iter().zip(self.tangents) {
                    all.extend(given.unwrap_or_else(|| {
                        vec![Vec4::new(1.0, 0.0, 0.0, 1.0); part.vertices.len()]
                    }));
                }
                Some(all)
            };
        let mesh = Mesh::new(self.positions, normals, tangents, self.triangles)
            .map_err(|error| Fault::new("meshes", error.to_string()))?;
        let (weights, report) = self.weights.finish();
        notes.weights = report;
        Ok(BoundSurface {
            mesh,
            parts: self.parts,
            morphs: self.morphs,
            weights,
        })
    }
}

fn attribute(primitive: &gltf_json::mesh::Primitive, semantic: Semantic) -> Option<usize> {
    let accessor = primitive.attributes.get(&Checked::Valid(semantic))?;
    Some(accessor.value())
}

fn same_length<T>(values: Vec<T>, count: usize, place: &str) -> Result<Vec<T>, Fault> {
    if values.len() == count {
        return Ok(values);
    }
    let problem = format!("{} elements, but POSITION has {count}", values.len());
    Err(Fault::new(place, problem))
}

/// A sampler is read once, however many channels use it.
fn clips(
    file: &File,
    tree: &Tree,
    morph_weights: &MorphWeights,
    notes: &mut Notes,
) -> Result<Vec<Clip>, Fault> {
    let animations = match file.json.get("animations") {
        None => return Ok(Vec::new()),
        Some(Value::Array(animations)) => animations,
        Some(_) => return Err(Fault::new("animations", "not an array")),
    };
    let mut clips = Vec::with_capacity(animations.len());
    for (index, animation) in animations.iter().enumerate() {
        let place = format!("animations[{index}]");
        let name = animation.get("name").and_then(Value::as_str);
        let name = name.map_or_else(|| format!("clip {index}"), str::to_owned);
        let within = |fault: Fault| Fault::new(format!("{place}.{}", fault.place), fault.problem);
        let samplers: Vec<animation::Sampler> = section(animation, "samplers").map_err(within)?;
        let raw: Vec<Value> = section(animation, "channels").map_err(within)?;
        let mut tracks = Vec::new();
        for (index, channel) in raw.iter().enumerate() {
            let place = format!("{place}.channels[{index}]");
            // A target without a node belongs to an extension.
            if channel.pointer("/target/node").is_none_or(Value::is_null) {
                notes.ignored_channels += 1;
                continue;
            }
            let channel: animation::Channel = serde_json::from_value(channel.clone())
                .map_err(|error| Fault::new(&place, error.to_string()))?;
            let sampler = channel.sampler.value();
            in_range(sampler, samplers.len(), "sampler", &place)?;
            let node = channel.target.node.value();
            in_range(node, file.nodes.len(), "node", &format!("{place}.target"))?;
            let driven = match channel.target.path {
                Checked::Valid(path) => {
                    driven(path, tree.order_of[node], morph_weights.of_node.get(&node))
                }
                Checked::Invalid => None,
            };
            let Some(driven) = driven else {
                notes.ignored_channels += 1;
                continue;
            };
            tracks.push(Track {
                channel: driven,
                curve: curve(file, &samplers[sampler], &driven, &place)?,
            });
        }
        clips.push(Clip { name, tracks });
    }
    Ok(clips)
}

fn driven(
    path: animation::Property,
    node: usize,
    morph_weights: Option<&std::ops::Range<usize>>,
) -> Option<Channel> {
    Some(match path {
        animation::Property::Translation => Channel::Translation { node },
        animation::Property::Rotation => Channel::Rotation { node },
        animation::Property::Scale => Channel::Scale { node },
        animation::Property::MorphTargetWeights => {
            let weights = morph_weights.filter(|weights| !weights.is_empty())?;
            Channel::MorphWeights {
                first: weights.start,
                count: weights.len(),
            }
        }
    })
}

fn curve(
    file: &File,
    sampler: &animation::Sampler,
    channel: &Channel,
    place: &str,
) -> Result<Curve, Fault> {
    let interpolation = match sampler.interpolation {
        Checked::Valid(animation::Interpolation::Step) => Interpolation::Step,
        Checked::Valid(animation::Interpolation::Linear) => Interpolation::Linear,
        Checked::Valid(animation::Interpolation::CubicSpline) => Interpolation::CubicHermite,
        Checked::Invalid => return Err(Fault::new(place, "an unknown interpolation")),
    };
    let element = match channel {
        Channel::Translation { .. } | Channel::Scale { .. } => Type::Vec3,
        Channel::Rotation { .. } => Type::Vec4,
        Channel::MorphWeights { .. } => Type::Scalar,
    };
    let times = file
        .accessors
        .scalars(sampler.input.value(), &format!("{place} input"))?;
    let output = sampler.output.value();
    let values = file.accessors.floats(
        output,
        element,
        Numbers::AsDeclared,
        &format!("{place} output"),
    )?;
    Curve::new(times, values, channel.width(), interpolation)
        .map_err(|error| Fault::new(place, error.to_string()))
}
