//! Twist joints in a file: a node, its place in the skins, its curves, and in its extras what turns
//! it.
//!
//! ```json
//! "extras": { "supple": { "twist": {
//!     "of": "child", "source": "hand", "against": "forearm",
//!     "axis": [1, 0, 0], "share": 0.5, "rest": [0, 0, 0, 1]
//! } } }
//! ```

use super::extras::OWN;
use super::store::{json_numbers, node_place};
use super::{Document, SaveError};
use crate::NotFinite;
use crate::text::quoted;
use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use supple::Asset;
use supple::clip::{Channel, Track};
use supple::skeleton::Skeleton;
use supple::twist::{TwistDriver, TwistJoint, TwistOf, Twisted};

/// The member of Supple's extras that is about twist joints.
const RECORD: &str = "twist";

/// A list of as many finite numbers.
fn numbers<const N: usize>(json: &Value) -> Option<[f64; N]> {
    let list = json.as_array()?.iter();
    let list: Option<Vec<f64>> = list
        .map(|number| number.as_f64().filter(|number| number.is_finite()))
        .collect();
    list?.try_into().ok()
}

impl Document {
    /// Adds the joint by which [`supple::twist::split`] has split a bone of this file's character,
    /// and divides the weights. Bakes that the file stores are stale afterwards.
    ///
    /// # Errors
    ///
    /// If the character is not that of this file with one more joint.
    pub fn add_twist_joint(&mut self, twisted: &Twisted) -> Result<(), SaveError> {
        let Twisted { asset, added } = twisted;
        let skeleton = asset.rig.skeleton();
        self.check_vertex_count("weights", asset.rig.weights().vertex_count())?;
        self.check_skinned()?;
        let joints = skeleton.joints();
        let first = joints.partition_point(|joint| joint.node < added.node);
        let count = joints.partition_point(|joint| joint.node <= added.node) - first;
        let nodes = skeleton.nodes().len();
        let driver = &added.driver;
        let mut named = [added.node, added.split, driver.source, driver.against].into_iter();
        let fits = nodes == self.binding.file_node.len() + 1
            && named.all(|node| node < nodes)
            && joints.len() == self.binding.file_joints.len() + count
            && asset.clips.len() == self.binding.animation_of_clip.len();
        if !fits {
            return Err(SaveError::NotOneMoreJoint);
        }
        // On an error the document stays as it was.
        let mut changed = self.clone();
        changed.add_node(skeleton, added)?;
        changed.renumber_joints(first, count);
        changed.list_joints(skeleton, asset.rig.weights())?;
        changed.number_joints_in_file_order();
        changed.add_turns(asset, added.node)?;
        changed.set_weights(asset.rig.weights())?;
        *self = changed;
        Ok(())
    }

    /// The nodes of the skeleton that were added by [`Document::add_twist_joint`].
    pub fn twist_joints(&self) -> Vec<usize> {
        let is_twist = |&node: &usize| {
            let json = &self.json["nodes"][self.binding.file_node[node]];
            json["extras"][OWN][RECORD].is_object()
        };
        let nodes = 0..self.binding.file_node.len();
        nodes.filter(is_twist).collect()
    }

    /// The drivers of these nodes, to turn them by [`TwistDriver::turn`] in a pose that does not
    /// come from a clip. Those whose extras are not valid any more are left out.
    pub fn twist_drivers(&self) -> Vec<(usize, TwistDriver)> {
        let nodes = self.twist_joints().into_iter();
        let driver = |node| Some((node, self.driver_of(node)?));
        nodes.filter_map(driver).collect()
    }

    /// Reads the driver of a twist joint.
    fn driver_of(&self, node: usize) -> Option<TwistDriver> {
        let json = &self.json["nodes"][self.binding.file_node[node]]["extras"][OWN][RECORD];
        let axis = DVec3::from_array(numbers(&json["axis"])?).try_normalize()?;
        let rest = DQuat::from_array(numbers(&json["rest"])?);
        Some(TwistDriver {
            twist_of: match json["of"].as_str()? {
                "child" => TwistOf::Child,
                "joint" => TwistOf::Joint,
                _ => return None,
            },
            source: self.node_of(&json["source"])?,
            against: self.node_of(&json["against"])?,
            rest: (rest.length() > 0.5).then(|| rest.normalize())?,
            axis,
            share: json["share"].as_f64().filter(|share| share.abs() <= 1.0)?,
        })
    }

    /// The node that a driver names, or gives by its index in the file.
    fn node_of(&self, json: &Value) -> Option<usize> {
        let nodes = self.json["nodes"].as_array()?;
        let file_node = match json.as_str() {
            Some(name) => nodes.iter().position(|node| node["name"] == name)?,
            None => usize::try_from(json.as_u64()?).ok()?,
        };
        let mut known = self.binding.file_node.iter();
        known.position(|known| *known == file_node)
    }

    /// Adds the new node after all others, so that the indices of nodes stay the same.
    fn add_node(&mut self, skeleton: &Skeleton, added: &TwistJoint) -> Result<(), NotFinite> {
        let node = &skeleton.nodes()[added.node];
        let place = node.rest.to_trs().translation.to_array();
        let place = json_numbers(place, || {
            format!("the translation of the new node {}", quoted(&node.name))
        })?;
        let file_node = self.push("nodes", json!({ "name": node.name, "translation": place }));
        self.binding.file_node.insert(added.node, file_node);
        let driver = self.driver_json(skeleton, &added.driver)?;
        self.json["nodes"][file_node]["extras"] = json!({ OWN: { RECORD: driver } });
        let parent = &mut self.json["nodes"][self.binding.file_node[added.split]];
        match parent["children"].as_array_mut() {
            Some(children) => children.push(json!(file_node)),
            None => parent["children"] = json!([file_node]),
        }
        Ok(())
    }

    /// The driver of a twist joint, as JSON. Other tools renumber nodes and keep their names, so a
    /// node is given by its name, unless another one has the same.
    fn driver_json(&self, skeleton: &Skeleton, driver: &TwistDriver) -> Result<Value, NotFinite> {
        let mut seen = HashSet::new();
        let names = skeleton.nodes().iter().map(|node| node.name.as_str());
        let repeated: HashSet<&str> = names.filter(|name| !seen.insert(*name)).collect();
        let node_json = |node: usize| match skeleton.nodes()[node].name.as_str() {
            name if !name.is_empty() && !repeated.contains(name) => json!(name),
            _ => json!(self.binding.file_node[node]),
        };
        let place = |what: &str| format!("the {what} of the twist");
        // A single number, checked like lists.
        json_numbers([driver.share], || place("share"))?;
        Ok(json!({
            "of": match driver.twist_of {
                TwistOf::Child => "child",
                TwistOf::Joint => "joint",
            },
            "source": node_json(driver.source),
            "against": node_json(driver.against),
            "axis": json_numbers(driver.axis.to_array(), || place("axis"))?,
            "share": driver.share,
            "rest": json_numbers(driver.rest.to_array(), || place("rest rotation"))?,
        }))
    }

    /// Renumbers the joints in the lists of skins, to make room for new ones.
    fn renumber_joints(&mut self, first: usize, count: usize) {
        // One list per skin, however many nodes use it.
        let mut renumbered: HashMap<*const [usize], Arc<[usize]>> = HashMap::new();
        for instance in &mut self.binding.instances {
            let list = renumbered
                .entry(Arc::as_ptr(&instance.joint_of_skin))
                .or_insert_with(|| {
                    let joints = instance.joint_of_skin.iter();
                    joints
                        .map(|&joint| joint + if joint < first { 0 } else { count })
                        .collect()
                });
            instance.joint_of_skin = list.clone();
        }
    }

    /// Lists the joints in the order in which reading the file finds them.
    fn number_joints_in_file_order(&mut self) {
        let mut listed = HashSet::new();
        let instances = self.binding.instances.iter();
        let joints = instances.flat_map(|instance| instance.joint_of_skin.iter().copied());
        self.binding.file_joints = joints.filter(|joint| listed.insert(*joint)).collect();
    }

    /// Adds the curves of a node to the animations of their clips.
    fn add_turns(&mut self, asset: &Asset, node: usize) -> Result<(), NotFinite> {
        let channel = Channel::Rotation { node };
        let file_node = self.binding.file_node[node];
        for (clip, animation) in self.binding.animation_of_clip.clone().iter().enumerate() {
            let tracks = asset.clips[clip].tracks.iter();
            let turns: Vec<&Track> = tracks
                .filter(|track| track.channel == channel && track.fits())
                .collect();
            let Some(animation) = *animation else {
                continue;
            };
            for track in turns {
                let what = node_place(
                    "rotation",
                    file_node,
                    &asset.rig.skeleton().nodes()[node].name,
                );
                let sampler = self.append_sampler("VEC4", track, &what)?;
                let animation = &mut self.json["animations"][animation];
                let Some(samplers) = animation["samplers"].as_array_mut() else {
                    continue;
                };
                let index = samplers.len();
                samplers.push(sampler);
                let target = json!({ "node": file_node, "path": "rotation" });
                let channel = json!({ "sampler": index, "target": target });
                if let Some(channels) = animation["channels"].as_array_mut() {
                    channels.push(channel);
                }
            }
        }
        Ok(())
    }
}
