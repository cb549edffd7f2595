//! Point handles in a file: a joint for each, side by side under one node, since no handle moves
//! another; pseudo-edges in the extras of the skin.
//!
//! ```json
//! "extras": { "supple": { "point_handles": { "edges": [[0, 1], [1, 2]] } } }
//! ```
//!
//! Edges name joints by their index in the skin's list (`docs/point-handles.md`).

use super::centers::forget_centers;
use super::document::Instance;
use super::extras::OWN;
use super::mush::forget_mush;
use super::store::{Accessor, json_numbers};
use super::{Document, Loaded, SaveError};
use crate::text::shortened;
use crate::{NotFinite, numbers};
use glam::{DAffine3, DVec3, Vec3};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use supple::point_handles::PlacedHandles;
use supple::{Mesh, Rig, Weights};

/// The member of Supple's extras that is about point handles.
const RECORD: &str = "point_handles";

/// The name of the node above all handles.
const PARENT: &str = "handles";

/// The share of the character's size by which two frames may move a corner of it apart and still
/// count as equal up to the rounding of files.
const ALIKE: f64 = 1e-5;

fn alike(a: &DAffine3, b: &DAffine3, [min, max]: [Vec3; 2]) -> bool {
    let corner = |at: usize| {
        let side = |axis: usize| if at >> axis & 1 == 0 { min } else { max }[axis];
        DVec3::from_array([0, 1, 2].map(|axis| f64::from(side(axis))))
    };
    let [from, to] = [0, 7].map(|at| a.transform_point3(corner(at)));
    let close = ALIKE * from.distance(to);
    (0..8).all(|at| {
        let [a, b] = [a, b].map(|frame| frame.transform_point3(corner(at)));
        a.distance(b) <= close
    })
}

impl Document {
    /// The surface of the character as the file shows it at rest: each mesh in its bind pose, moved
    /// by the rest pose of the joint that holds most of it.
    ///
    /// Handles are placed in this surface, and [`Document::with_point_handles`] binds the meshes of
    /// the file to them.
    ///
    /// # Errors
    ///
    /// If the rig is not the character of this file, or a vertex is not finite at rest.
    pub fn surface_at_rest(&self, rig: &Rig) -> Result<Mesh, SaveError> {
        self.check_vertex_count("a character", rig.mesh().vertex_count())?;
        let mut positions = rig.mesh().positions().to_vec();
        for (instance, frame) in self.binding.instances.iter().zip(self.frames(rig)) {
            for vertex in instance.primitives.iter().cloned().flatten() {
                let place = frame.transform_point3(positions[vertex].as_dvec3());
                positions[vertex] = place.as_vec3();
            }
        }
        numbers::check_vectors("position at rest", &positions)?;
        let triangles = rig.mesh().triangles().to_vec();
        Mesh::new(positions, None, None, triangles).map_err(|_| SaveError::OtherSkeleton)
    }

    /// The transform by which the rest pose moves each mesh of the character; those that are equal
    /// up to rounding are the same.
    fn frames(&self, rig: &Rig) -> Vec<DAffine3> {
        let skeleton = rig.skeleton();
        let world_from_node = skeleton.rest_world();
        let frame = |instance: &Instance| {
            let mut held = vec![0.0; skeleton.joints().len()];
            for vertex in instance.primitives.iter().cloned().flatten() {
                for influence in rig.weights().of(vertex) {
                    held[influence.joint] += f64::from(influence.weight);
                }
            }
            let most = (0..held.len()).max_by(|&a, &b| held[a].total_cmp(&held[b]).then(b.cmp(&a)));
            most.map_or(DAffine3::IDENTITY, |joint| {
                let joint = &skeleton.joints()[joint];
                world_from_node[joint.node] * joint.joint_from_bind
            })
        };
        let bounds = rig.mesh().bounds();
        let corners = bounds.map_or([Vec3::ZERO; 2], |bounds| [bounds.min, bounds.max]);
        let mut frames: Vec<DAffine3> = Vec::new();
        for frame in self.binding.instances.iter().map(frame) {
            let known = frames.iter().find(|known| alike(known, &frame, corners));
            frames.push(known.copied().unwrap_or(frame));
        }
        frames
    }

    /// Binds the meshes of the file to point handles instead of bones, and reads the result. Of the
    /// clips, only the channels of morph targets stay, since nothing follows the others any more.
    ///
    /// `rig` is the character of this file; the handles are in the space of
    /// [`Document::surface_at_rest`], and `weights` bind the vertices to the handles.
    ///
    /// # Errors
    ///
    /// If the rig or the weights are not those of this file, or the changed file cannot be read.
    pub fn with_point_handles(
        &self,
        rig: &Rig,
        handles: &PlacedHandles,
        weights: &Weights,
    ) -> Result<Loaded, SaveError> {
        self.check_vertex_count("a character", rig.mesh().vertex_count())?;
        self.check_vertex_count("weights", weights.vertex_count())?;
        let frames = self.frames(rig);
        let mut changed = self.clone();
        changed.drop_former_handles();
        changed.json["skins"] = json!([]);
        let (parent, joints) = changed.add_handles(&handles.places)?;
        let list: Arc<[usize]> = (0..handles.places.len()).collect();
        // One skin for all meshes with the same frame.
        let mut skins: Vec<(DAffine3, usize)> = Vec::new();
        for (index, frame) in frames.into_iter().enumerate() {
            let known = skins.iter().find(|(known, _)| *known == frame);
            let skin = match known {
                Some((_, skin)) => *skin,
                None => {
                    let skin = changed.add_skin(parent, &joints, handles, &frame)?;
                    skins.push((frame, skin));
                    skin
                }
            };
            let instance = &mut changed.binding.instances[index];
            instance.skinned = true;
            instance.joint_of_skin = list.clone();
            changed.json["nodes"][instance.node]["skin"] = json!(skin);
        }
        for mesh in changed.json["meshes"].as_array_mut().into_iter().flatten() {
            forget_centers(mesh);
            forget_mush(mesh);
        }
        changed.list_mush_extension();
        changed.keep_clips_of_morphs();
        changed.set_weights(weights)?;
        changed.read(PARENT)
    }

    /// The pseudo-edges of the file between joints of the skeleton, each once. Those that are not
    /// valid are skipped; [`Document::bad_pseudo_edges`] lists them.
    pub fn pseudo_edges(&self) -> Vec<[usize; 2]> {
        let read = self.read_edges().into_iter();
        let mut edges: Vec<[usize; 2]> = read.filter_map(Result::ok).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The pseudo-edges of the file that are not valid.
    pub fn bad_pseudo_edges(&self) -> Vec<BadEdge> {
        let mut bad: Vec<BadEdge> = Vec::new();
        for fault in self.read_edges().into_iter().filter_map(Result::err) {
            // Several meshes may share a skin.
            if !bad.contains(&fault) {
                bad.push(fault);
            }
        }
        bad
    }

    /// The edges that the skins of the character list, as joints of the skeleton, the lower first.
    fn read_edges(&self) -> Vec<Result<[usize; 2], BadEdge>> {
        let mut edges = Vec::new();
        let instances = self.binding.instances.iter();
        for instance in instances.filter(|instance| instance.skinned) {
            let Some(skin) = self.json["nodes"][instance.node]["skin"].as_u64() else {
                continue;
            };
            let listed = &self.json["skins"][skin as usize]["extras"][OWN][RECORD]["edges"];
            let Some(list) = listed.as_array() else {
                if !listed.is_null() {
                    let (edge, problem) = (None, "not a list".to_owned());
                    edges.push(Err(BadEdge {
                        skin,
                        edge,
                        problem,
                    }));
                }
                continue;
            };
            for (edge, ends) in list.iter().enumerate() {
                let joints = joints_of_edge(ends, &instance.joint_of_skin);
                edges.push(joints.map_err(|problem| BadEdge {
                    skin,
                    edge: Some(edge),
                    problem,
                }));
            }
        }
        edges
    }

    /// Removes the nodes of handles that the file has already, which nothing needs once their skin
    /// is gone. In files that Supple wrote they are the last nodes. If other nodes follow them, or
    /// something is attached to one of them, all stay, since other parts of the file name nodes by
    /// number.
    fn drop_former_handles(&mut self) {
        let skins = self.json["skins"].as_array();
        let skins = skins.into_iter().flatten();
        let skins = skins.filter(|skin| skin["extras"][OWN][RECORD].is_object());
        let nodes_of = |skin: &Value| -> Vec<u64> {
            let joints = skin["joints"].as_array().into_iter().flatten();
            let nodes = joints.chain(skin.get("skeleton"));
            nodes.filter_map(Value::as_u64).collect()
        };
        let former: HashSet<u64> = skins.flat_map(nodes_of).collect();
        let Some(nodes) = self.json["nodes"].as_array_mut() else {
            return;
        };
        let first = nodes.len().saturating_sub(former.len());
        let is_bare = |node: &Value| {
            let holds = ["mesh", "camera", "extensions"];
            let children = node["children"].as_array().into_iter().flatten();
            let mut children = children.filter_map(Value::as_u64);
            holds.iter().all(|held| node.get(held).is_none())
                && children.all(|child| former.contains(&child))
        };
        let are_last = former.iter().all(|&node| node >= first as u64);
        if !are_last || !nodes[first..].iter().all(is_bare) {
            return;
        }
        nodes.truncate(first);
        for node in nodes {
            forget_from(node, "children", first);
        }
        for scene in self.json["scenes"].as_array_mut().into_iter().flatten() {
            forget_from(scene, "nodes", first);
        }
    }

    /// Adds nodes for handles, under one that all scenes show; returns that one, and theirs.
    fn add_handles(&mut self, places: &[DVec3]) -> Result<(usize, Vec<usize>), NotFinite> {
        let nodes = self.json["nodes"].as_array();
        let names = nodes.into_iter().flatten();
        let names = names.filter_map(|node| Some(node["name"].as_str()?.to_owned()));
        let mut taken: HashSet<String> = names.collect();
        let mut free = |wanted: String| {
            let numbered = (2..).map(|number| format!("{wanted}_{number}"));
            let mut names = std::iter::once(wanted.clone()).chain(numbered);
            let name = names.find(|name| taken.insert(name.clone()));
            name.unwrap_or(wanted)
        };
        let parent_name = free(PARENT.to_owned());
        let mut joints = Vec::with_capacity(places.len());
        for (handle, place) in places.iter().enumerate() {
            let name = free(format!("handle_{handle}"));
            let place = place.as_vec3().as_dvec3().to_array();
            let place = json_numbers(place, || format!("the position of handle {handle}"))?;
            let node = json!({ "name": name, "translation": place });
            joints.push(self.push("nodes", node));
        }
        let parent = self.push("nodes", json!({ "name": parent_name, "children": joints }));
        let scenes = self.json["scenes"].as_array_mut();
        for scene in scenes.into_iter().flatten() {
            match scene["nodes"].as_array_mut() {
                Some(nodes) => nodes.push(json!(parent)),
                None => scene["nodes"] = json!([parent]),
            }
        }
        Ok((parent, joints))
    }

    fn add_skin(
        &mut self,
        parent: usize,
        joints: &[usize],
        handles: &PlacedHandles,
        frame: &DAffine3,
    ) -> Result<usize, NotFinite> {
        let matrices = handles.places.iter().map(|place| {
            // As the node has it, rounded.
            let place = place.as_vec3().as_dvec3();
            DAffine3::from_translation(-place) * *frame
        });
        let matrices = self.append(Accessor::bind_matrices(matrices, |handle| handle)?);
        Ok(self.push(
            "skins",
            json!({
                "name": PARENT,
                "joints": joints,
                "skeleton": parent,
                "inverseBindMatrices": matrices,
                "extras": { OWN: { RECORD: { "edges": handles.edges } } },
            }),
        ))
    }

    /// Removes all channels of clips but those of morph targets.
    fn keep_clips_of_morphs(&mut self) {
        let Some(animations) = self.json["animations"].as_array_mut() else {
            return;
        };
        animations.retain_mut(|animation| {
            let Some(channels) = animation["channels"].as_array_mut() else {
                return false;
            };
            channels.retain(|channel| channel["target"]["path"] == "weights");
            !channels.is_empty()
        });
        let none_left = animations.is_empty();
        if let Some(root) = self.json.as_object_mut().filter(|_| none_left) {
            root.shift_remove("animations");
        }
    }
}

/// A pseudo-edge in a file that is not valid, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEdge {
    /// The skin that lists it, by its index in the file.
    pub skin: u64,
    /// Its index in the list; none if there is no list.
    pub edge: Option<usize>,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for BadEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadEdge { skin, problem, .. } = self;
        match self.edge {
            Some(edge) => write!(f, "pseudo-edge {edge} of skin {skin}: {problem}"),
            None => write!(f, "the pseudo-edges of skin {skin}: {problem}"),
        }
    }
}

/// The joints of an edge that a skin lists, the lower first.
fn joints_of_edge(ends: &Value, joint_of_skin: &[usize]) -> Result<[usize; 2], String> {
    let numbers = ends.as_array().map(Vec::as_slice);
    let Some([a, b]) = numbers else {
        let ends = shortened(&ends.to_string());
        return Err(format!("{ends} is not a pair of joint indices"));
    };
    let joint = |number: &Value| {
        let known = number.as_u64().and_then(|at| usize::try_from(at).ok());
        let joint = known.and_then(|at| joint_of_skin.get(at).copied());
        joint.ok_or_else(|| {
            let joints = joint_of_skin.len();
            let number = shortened(&number.to_string());
            format!("the skin has no joint {number}, only {joints}")
        })
    };
    let (from, to) = (joint(a)?, joint(b)?);
    match from == to {
        true => Err(format!("it connects joint {a} with itself")),
        false => Ok([from.min(to), from.max(to)]),
    }
}

/// Removes nodes from a list, from the index `first` on, and the list if it becomes empty, since
/// glTF has no empty lists.
fn forget_from(holder: &mut Value, list: &str, first: usize) {
    let Some(nodes) = holder.get_mut(list).and_then(Value::as_array_mut) else {
        return;
    };
    nodes.retain(|node| node.as_u64().is_none_or(|node| node < first as u64));
    let none_left = nodes.is_empty();
    if let Some(holder) = holder.as_object_mut().filter(|_| none_left) {
        holder.shift_remove(list);
    }
}
