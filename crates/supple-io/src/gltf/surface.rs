//! The primitives of a file as one bound surface.

use super::Notes;
use super::accessor::Numbers;
use super::centers::{CENTER_ATTRIBUTE, CenterPoints};
use super::fault::Fault;
use super::file::{File, MeshNode};
use super::joints::SkinJoints;
use glam::{Vec3, Vec4};
use gltf_json::Index;
use gltf_json::accessor::Type;
use gltf_json::mesh::{Mode, Semantic};
use gltf_json::validation::Checked;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use supple::Weights;
use supple::deform::PAINTED_ATTRIBUTES;
use supple::mesh::{Mesh, MeshError, Morph, MorphTarget, Part};
use supple::weights::WeightsBuilder;

/// All primitives as one surface.
pub(super) struct ReadSurface {
    pub(super) mesh: Mesh,
    pub(super) parts: Vec<Part>,
    pub(super) morphs: Vec<Morph>,
    pub(super) weights: Weights,
    pub(super) centers: CenterPoints,
}

/// Collects primitives into one surface.
pub(super) struct SurfaceReader<'a> {
    file: &'a File<'a>,
    positions: Vec<Vec3>,
    /// `None` for primitives that have none.
    normals: Vec<Option<Vec<Vec3>>>,
    tangents: Vec<Option<Vec<Vec4>>>,
    /// By name, one per vertex so far.
    painted: BTreeMap<&'static str, Vec<Option<f32>>>,
    triangles: Vec<[u32; 3]>,
    parts: Vec<Part>,
    morphs: Vec<Morph>,
    weights: WeightsBuilder,
    centers: CenterPoints,
}

impl<'a> SurfaceReader<'a> {
    pub(super) fn new(file: &'a File<'a>, joint_count: usize) -> Result<SurfaceReader<'a>, Fault> {
        Ok(SurfaceReader {
            file,
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
            painted: BTreeMap::new(),
            triangles: Vec::new(),
            parts: Vec::new(),
            morphs: Vec::new(),
            weights: WeightsBuilder::new(joint_count)
                .map_err(|error| Fault::new("nodes", error.to_string()))?,
            centers: CenterPoints::default(),
        })
    }

    /// Adds the primitives of a node's mesh; without `joints` the weights follow joint 0.
    pub(super) fn add(
        &mut self,
        node: &MeshNode,
        joints: Option<&SkinJoints>,
        first_weight: usize,
        notes: &mut Notes,
    ) -> Result<Vec<Range<usize>>, Fault> {
        let mesh = &self.file.meshes[node.mesh];
        let name = self.file.node_name(node);
        // Nodes and primitives take memory even if they have no vertex.
        let again = || format!("node {} uses it, too", node.node);
        let place = format!("meshes[{}]", node.mesh);
        self.file
            .accessors
            .spend(32 + name.len() as u64, &place, again)?;
        let mut ranges = Vec::with_capacity(mesh.primitives.len());
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{}].primitives[{index}]", node.mesh);
            let part_name = match mesh.primitives.len() {
                1 => name.clone(),
                _ => format!("{name} {index}"),
            };
            let targets = primitive.targets.as_ref().map_or(0, Vec::len);
            let kept = 32 * (1 + targets as u64) + part_name.len() as u64;
            self.file.accessors.spend(kept, &place, again)?;
            let expected = self.file.morph_count(node.mesh);
            if targets != expected {
                let problem =
                    format!("{targets} morph targets, but the first primitive has {expected}");
                return Err(Fault::new(format!("{place}.targets"), problem));
            }
            let range = self.add_primitive(primitive, &place, part_name, notes)?;
            self.add_morphs(primitive, &place, &range, first_weight)?;
            match joints.filter(|_| node.skin.is_some()) {
                Some(joints) => {
                    self.add_weights(primitive, &place, joints, range.len())?;
                    self.add_centers(primitive, &place, &range);
                }
                // Without a skin, everything follows the one joint that stands for the node.
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
    ) -> Result<Range<usize>, Fault> {
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
        self.add_painted(primitive, place, first, count)?;
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

    /// The custom attributes that methods read; not all primitives need to have them.
    fn add_painted(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        first: usize,
        count: usize,
    ) -> Result<(), Fault> {
        for &name in PAINTED_ATTRIBUTES {
            let Some(accessor) = attribute(primitive, custom(name)) else {
                continue;
            };
            let there = format!("{place}.{name}");
            let values = self.file.accessors.scalars(accessor, &there)?;
            let values = same_length(values, count, &there)?;
            let painted = self.painted.entry(name).or_default();
            painted.resize(first, None);
            painted.extend(values.into_iter().map(Some));
        }
        Ok(())
    }

    /// Stored centers of rotation; not all primitives need to have them.
    fn add_centers(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        vertices: &Range<usize>,
    ) {
        let Some(accessor) = attribute(primitive, custom(CENTER_ATTRIBUTE)) else {
            return;
        };
        let there = format!("{place}.{CENTER_ATTRIBUTE}");
        let read = self.file.accessors.vec3s(accessor, &there);
        match read.and_then(|centers| same_length(centers, vertices.len(), &there)) {
            Ok(centers) => {
                self.centers.points.resize(vertices.start, None);
                self.centers.points.extend(centers.into_iter().map(Some));
            }
            Err(fault) => {
                self.centers.fault.get_or_insert(fault);
            }
        }
    }

    fn add_triangles(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        first: usize,
        count: usize,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        let indices_place = format!("{place}.indices");
        let indices = match primitive.indices {
            Some(accessor) => {
                let accessor = accessor.value();
                self.file
                    .accessors
                    .integers(accessor, Type::Scalar, &indices_place)?
            }
            None => (0..count as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|&index| index as usize >= count) {
            let problem = format!(
                "element {at} is vertex {}, but the primitive has {count} vertices",
                indices[at]
            );
            return Err(Fault::new(indices_place, problem));
        }
        let corner = |at: usize| first as u32 + indices[at];
        let runs = indices.len().saturating_sub(2);
        match primitive.mode {
            Checked::Valid(Mode::Triangles) => {
                let (triangles, rest) = indices.as_chunks::<3>();
                if !rest.is_empty() {
                    let problem = format!("{} corners do not make whole triangles", indices.len());
                    return Err(Fault::new(place, problem));
                }
                let shifted = triangles
                    .iter()
                    .map(|t| t.map(|index| first as u32 + index));
                self.triangles.extend(shifted);
            }
            // Every other triangle of a strip is reversed, to keep its winding.
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
            Checked::Invalid => {
                return Err(Fault::new(
                    format!("{place}.mode"),
                    "an unknown primitive mode",
                ));
            }
        }
        Ok(())
    }

    fn add_morphs(
        &mut self,
        primitive: &gltf_json::mesh::Primitive,
        place: &str,
        vertices: &Range<usize>,
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
                    "vertex {vertex} has the weight {weight} for joint {local}, but the skin has \
                     {} joints",
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

    pub(super) fn finish(self, notes: &mut Notes) -> Result<ReadSurface, Fault> {
        let bad = |error: MeshError| Fault::new("meshes", error.to_string());
        let normals = if self.normals.iter().all(Option::is_none) {
            None
        } else {
            // Primitives without normals get computed ones; the others keep their own.
            let all = supple::normals::vertex_normals(&self.positions, &self.triangles);
            let mut all = all.map_err(bad)?;
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
        let mut mesh = Mesh::new(self.positions, normals, tangents, self.triangles).map_err(bad)?;
        for (name, mut values) in self.painted {
            values.resize(mesh.vertex_count(), None);
            mesh = mesh.with_painted(name, values).map_err(bad)?;
        }
        let (weights, report) = self.weights.finish();
        notes.weights = report;
        Ok(ReadSurface {
            mesh,
            parts: self.parts,
            morphs: self.morphs,
            weights,
            centers: self.centers,
        })
    }
}

/// A custom attribute, by its name with the underscore.
fn custom(name: &str) -> Semantic {
    Semantic::Extras(name.trim_start_matches('_').to_owned())
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

/// The positions of every mesh node's morph weights in a pose.
#[derive(Default)]
pub(super) struct MorphWeights {
    pub(super) rest: Vec<f32>,
    pub(super) of_node: HashMap<usize, Range<usize>>,
}

impl MorphWeights {
    pub(super) fn add(&mut self, file: &File, node: &MeshNode) -> Result<Range<usize>, Fault> {
        let start = self.rest.len();
        let count = file.morph_count(node.mesh);
        let own = file.nodes[node.node].weights.as_ref();
        let given = own.or(file.meshes[node.mesh].weights.as_ref());
        let used = given.map(|weights| &weights[..count.min(weights.len())]);
        if let Some(at) =
            used.and_then(|weights| weights.iter().position(|weight| !weight.is_finite()))
        {
            let place = match own {
                Some(_) => format!("nodes[{}].weights", node.node),
                None => format!("meshes[{}].weights", node.mesh),
            };
            return Err(Fault::new(place, format!("weight {at} is not finite")));
        }
        let weight = |index: usize| used.and_then(|weights| weights.get(index)).copied();
        self.rest
            .extend((0..count).map(|index| weight(index).unwrap_or(0.0)));
        self.of_node.insert(node.node, start..start + count);
        Ok(start..start + count)
    }
}
