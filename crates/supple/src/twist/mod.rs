//! Twist joints: an additional joint in the middle of a bone that spreads a twist along it.
//!
//! `centers-of-rotation.txt`, §4, Fig. 4 and 5. With smooth weights, the twist of a wrist happens
//! within a finger's breadth of the wrist, whereas a real twist runs down the whole forearm. So the
//! bone gets a second joint, and the weight `w` of the bone on a vertex is divided between them,
//!
//! `w' = w · e` and `w ← w − w'`, with `e` the position of the vertex along the bone, 0 at the
//! joint and 1 at the end (eq. 8 of Jacobson and Sorkine 2011, clamped).
//!
//! The ramp is linear over the whole bone, as in the paper, although the new joint is in the
//! middle: there both joints hold the skin equally, as two bones do at the joint between them, and
//! the twist grows evenly from one end to the other. A steeper ramp would only move the
//! candy-wrapper artifact from the wrist to the middle of the bone.
//!
//! The new joint is a child of the split one, rests where the split one carries it, and rotates
//! only about the bone, so that a pose without twist is unchanged. Nothing is attached to it: the
//! child at the end of the bone keeps its parent and thus its motion, bit for bit. The rotation of
//! the new joint depends on the twist to be spread ([`TwistOf`]):
//!
//! - **the child's** (a wrist, on the forearm): half of it. The skin rotates by 0 at the elbow, by
//!   half the twist at the wrist, and by all of it in the hand. `w' = w e`.
//! - **the joint's own** (a shoulder that rolls, on the upper arm): half of it backwards, since the
//!   joint itself has the whole twist and must keep it for its children. The skin near the shoulder
//!   follows the new joint, `w' = w (1 − e)`: it rotates by 0 in the trunk, by half the twist at
//!   the shoulder, and by all of it at the elbow.
//!
//! In `rotation = swing · twist`, both relative to rest, the angle of the twist does not depend on
//! the order of the two.
//!
//! Clips rarely move both sides of a body alike, but both must look alike. So whatever is derived
//! from the character is derived from a bone and its mirror image together ([`decide`]).

mod over_time;

use crate::clip::{Channel, Clip, Track};
use crate::pose::Pose;
use crate::rig::{Asset, Rig, RigError};
use crate::rotation::swing_and_twist;
use crate::skeleton::{BindBone, Joint, Node, Skeleton, SkeletonError, same_place};
use crate::symmetry::joint_partners;
use crate::transform::{Affine, Local, Trs};
use crate::weights::{WeightsBuilder, WeightsError};
use glam::{DAffine3, DQuat, DVec3};
use over_time::{Turning, turning};
use thiserror::Error;

/// The share of the twist that the new joint takes.
const SHARE: f64 = 0.5;

/// The smallest rotation of a twist joint in radians, a tenth of a degree: files round rotations,
/// sometimes to 16 bits, and smaller ones are invisible.
const LEAST_TURN: f64 = 0.1 * std::f64::consts::PI / 180.0;

/// The twist that a split bone spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TwistOf {
    /// The twist of the joint at the end of the bone, such as a wrist over the forearm.
    Child,
    /// The twist of the split joint itself relative to its parent, such as a shoulder over the
    /// upper arm.
    Joint,
}

/// Options of splitting a bone. By default everything is derived from the character, see
/// [`decide`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct TwistOptions {
    /// The joint at the end of the bone, a child of the split joint. By default, the child whose
    /// bone is nearest to the skin that the joint holds.
    pub toward: Option<usize>,
    /// The twist to spread. By default the larger one in the clips, on either side of a symmetric
    /// character; the child's if no clip twists, or if both are equal up to rounding.
    pub twist_of: Option<TwistOf>,
    /// The name of the new joint. By default the name of the split joint with `_twist` appended.
    pub name: Option<String>,
}

/// Decision of how a bone is split; its mirror image has the mirrored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwistDecision {
    /// The joint at the end of the bone.
    pub toward: usize,
    /// The twist to spread.
    pub twist_of: TwistOf,
    /// The joint on the other side of the character, if it has a bone that can be split alike.
    pub partner: Option<usize>,
}

/// A character with a twist joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Twisted {
    /// The character. Nodes and joints after the new ones are renumbered.
    pub asset: Asset,
    /// The added joint.
    pub added: TwistJoint,
}

/// A joint that was added to spread a twist. Nodes are indices in the new skeleton.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TwistJoint {
    /// Its node.
    pub node: usize,
    /// The node of the joint whose bone was split; its parent.
    pub split: usize,
    /// The node of the joint at the end of the bone.
    pub toward: usize,
    /// The driver of its rotation.
    pub driver: TwistDriver,
    /// The number of vertices with weight on it.
    pub vertex_count: usize,
    /// Its largest rotation in all clips, if it exceeds rounding.
    pub largest: Option<LargestTurn>,
}

/// Driver of a twist joint: how it follows a pose.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TwistDriver {
    /// The joint whose twist it spreads.
    pub twist_of: TwistOf,
    /// The node whose twist is used …
    pub source: usize,
    /// … relative to this ancestor.
    pub against: usize,
    /// The rest rotation of the source in the frame of the ancestor.
    pub rest: DQuat,
    /// The direction of the bone in the frames of the split joint and of the new one.
    pub axis: DVec3,
    /// The share of the twist by which the new joint rotates; negative if it takes back the
    /// rotation of its parent.
    pub share: f64,
}

/// Largest rotation of a twist joint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LargestTurn {
    /// The clip.
    pub clip: usize,
    /// The time in seconds.
    pub time: f64,
    /// The angle about the bone in radians.
    pub angle: f64,
}

/// Error from splitting a bone.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TwistError {
    /// The joint does not exist.
    #[error("there is no joint {joint}: the skeleton has {joints}")]
    NoSuchJoint {
        /// The joint named.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// The joint has no child.
    #[error("joint '{joint}' is the last of its chain: it has no bone to split")]
    LastOfChain {
        /// The joint's name.
        joint: String,
    },
    /// The given end of the bone is not a child of the joint.
    #[error("the bone of joint '{joint}' cannot end at '{toward}', which is not its child")]
    NotBelow {
        /// The joint's name.
        joint: String,
        /// The name of the given end.
        toward: String,
    },
    /// Both ends of the bone are at the same position.
    #[error("joints '{joint}' and '{toward}' are at the same position: there is no bone to split")]
    NoLength {
        /// The joint's name.
        joint: String,
        /// The name of the joint at the end of the bone.
        toward: String,
    },
    /// The bone already has a joint in its middle.
    #[error("the bone from '{joint}' to '{toward}' is already split by '{by}'")]
    AlreadySplit {
        /// The joint's name.
        joint: String,
        /// The name of the joint at the end of the bone.
        toward: String,
        /// The name of the joint in its middle.
        by: String,
    },
    /// The joint holds no skin along the bone that the new joint could take over.
    #[error("joint '{joint}' holds no skin along its bone: there is nothing to divide")]
    HoldsNothing {
        /// The joint's name.
        joint: String,
    },
    /// The joint has no parent joint to twist against.
    #[error("joint '{joint}' has no parent joint, so it has no twist of its own to spread")]
    NothingAbove {
        /// The joint's name.
        joint: String,
    },
    /// The name is taken.
    #[error("a node named '{0}' already exists")]
    NameTaken(String),
    /// Too many joints or influences.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A number is not finite.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The weights do not fit the skeleton.
    #[error(transparent)]
    Rig(#[from] RigError),
}

/// Decides what `options` leave open about splitting the bone of a joint, once for the joint and
/// its partner on the other side: the end of the bone by the skin on both sides, the twist by the
/// clips on both sides.
///
/// Partners are those of [`Symmetry`](crate::symmetry::Symmetry), or those by name on a character
/// that is not symmetric. To split several bones, decide about all of them before splitting any.
///
/// # Errors
///
/// Fails if the joint does not exist, its bone cannot be split, or it follows no twist.
pub fn decide(
    asset: &Asset,
    joint: usize,
    options: &TwistOptions,
) -> Result<TwistDecision, TwistError> {
    let bone = Bone::find(&asset.rig, joint, options.toward)?;
    let (partner, bones) = match pair(&asset.rig, joint, &bone, options.toward) {
        Some((partner, bones)) => (Some(partner), bones.into()),
        None => (None, vec![bone]),
    };
    Ok(TwistDecision {
        toward: bones[0].toward,
        twist_of: options
            .twist_of
            .unwrap_or_else(|| larger_twist(asset, &bones)),
        partner,
    })
}

/// The partner of a joint on the other side, and the bones of both with ends that mirror each
/// other: the given end, or that which is nearer to the skin of both sides.
fn pair(rig: &Rig, joint: usize, bone: &Bone, toward: Option<usize>) -> Option<(usize, [Bone; 2])> {
    let skeleton = rig.skeleton();
    let partners = joint_partners(rig.mesh(), skeleton);
    let partner_of = |joint: usize| partners.get(joint).copied().flatten();
    let partner = partner_of(joint).filter(|&partner| partner != joint)?;
    let other = Bone::at(rig, partner, None).ok()?;
    let off = |[toward, image]: [usize; 2]| {
        distance_of_skin(skeleton, bone.node, &bone.held, toward)
            + distance_of_skin(skeleton, other.node, &other.held, image)
    };
    let own = [bone.toward, partner_of(bone.toward)?];
    let others = [partner_of(other.toward)?, other.toward];
    let ends = match toward.is_none() && off(others) < off(own) {
        true => others,
        false => own,
    };
    let at = |joint: usize, toward: usize| Bone::at(rig, joint, Some(toward)).ok();
    Some((partner, [at(joint, ends[0])?, at(partner, ends[1])?]))
}

/// Splits the bone of a joint by a new joint in its middle; everything else is unchanged.
///
/// # Errors
///
/// Fails if the joint does not exist, its bone cannot be split or follows no twist, or the name is
/// taken.
pub fn split(asset: &Asset, joint: usize, options: &TwistOptions) -> Result<Twisted, TwistError> {
    let (toward, twist_of) = match (options.toward, options.twist_of) {
        (Some(toward), Some(twist_of)) => (toward, twist_of),
        _ => {
            let decision = decide(asset, joint, options)?;
            (decision.toward, decision.twist_of)
        }
    };
    let bone = Bone::find(&asset.rig, joint, Some(toward))?;
    let skeleton = asset.rig.skeleton();
    let name = match &options.name {
        Some(name) if skeleton.nodes().iter().any(|node| node.name == *name) => {
            return Err(TwistError::NameTaken(name.clone()));
        }
        Some(name) => name.clone(),
        None => free_name(skeleton, bone.node),
    };
    let driven = Driven::new(asset, &bone, twist_of);
    let Driven { driver, turnings } = driven.ok_or_else(|| TwistError::NothingAbove {
        joint: label(skeleton, bone.node),
    })?;
    let division = Division::new(skeleton, &bone, driver.twist_of)?;
    let numbering = Numbering::new(skeleton, &bone, division.joints.len());
    let driver = TwistDriver {
        source: numbering.node(driver.source),
        against: numbering.node(driver.against),
        ..driver
    };
    let mut clips = Vec::with_capacity(asset.clips.len());
    let mut largest: Option<LargestTurn> = None;
    for (index, (clip, turning)) in asset.clips.iter().zip(turnings).enumerate() {
        let mut clip = numbering.clip(clip);
        if let Some(turning) = turning {
            let (time, angle) = turning.largest(driver.share);
            if angle.abs() > largest.map_or(LEAST_TURN, |largest| largest.angle.abs()) {
                let clip = index;
                largest = Some(LargestTurn { clip, time, angle });
            }
            let channel = Channel::Rotation {
                node: numbering.new_node,
            };
            let curve = turning.curve(driver.axis, driver.share);
            clip.tracks
                .extend(curve.map(|curve| Track { channel, curve }));
        }
        clips.push(clip);
    }
    let rig = Rig::new(
        asset.rig.mesh().clone(),
        numbering.skeleton(skeleton, &bone, name, &division.joints)?,
        numbering.weights(&asset.rig, &division)?,
    )?;
    let mut props = asset.props.clone();
    for prop in &mut props {
        prop.node = numbering.node(prop.node);
    }
    let added = TwistJoint {
        node: numbering.new_node,
        split: bone.node,
        toward: numbering.node(bone.end),
        driver,
        vertex_count: division.vertex_count,
        largest,
    };
    let asset = Asset {
        rig,
        clips,
        props,
        ..asset.clone()
    };
    Ok(Twisted { asset, added })
}

impl TwistDriver {
    /// The twist of a pose about the bone relative to rest, in (−π, π].
    ///
    /// A single pose does not show twists beyond half a turn; clips are followed from key to key
    /// instead.
    pub fn twist(&self, skeleton: &Skeleton, pose: &Pose) -> f64 {
        let rotation = rotation_between(skeleton, pose, self.against, self.source);
        // Relative to the split joint, which is above one of the two nodes and is the other.
        let from_rest = match self.twist_of {
            TwistOf::Child => rotation * self.rest.conjugate(),
            TwistOf::Joint => self.rest.conjugate() * rotation,
        };
        swing_and_twist(from_rest, Some(self.axis)).1
    }

    /// Rotates a twist joint, by its node, to follow a pose that does not come from a clip.
    pub fn turn(&self, node: usize, skeleton: &Skeleton, pose: &mut Pose) {
        let angle = self.share * self.twist(skeleton, pose);
        if let Some(local) = pose.locals.get_mut(node) {
            let rotation = DQuat::from_axis_angle(self.axis, angle);
            *local = Local::Trs(Trs {
                rotation,
                ..local.to_trs()
            });
        }
    }
}

impl TwistJoint {
    /// Rotates the joint to follow a pose that does not come from a clip.
    pub fn follow(&self, skeleton: &Skeleton, pose: &mut Pose) {
        self.driver.turn(self.node, skeleton, pose);
    }
}

/// A bone of a joint.
struct Bone {
    /// The node of its joint.
    node: usize,
    /// The joints on that node; several skins may bind it, each with its own bind matrix.
    joints: Vec<usize>,
    /// The joint at its end.
    toward: usize,
    /// The node of that joint.
    end: usize,
    /// The vector from head to end in the rest frame of its node. It is the same for all skins,
    /// whatever pose they were bound in.
    along: DVec3,
    held: Vec<HeldSkin>,
}

/// A vertex held by a joint.
struct HeldSkin {
    vertex: usize,
    joint: usize,
    /// The position of the vertex in the frame of the joint's node.
    point: DVec3,
    weight: f64,
}

impl Bone {
    /// A bone that can be split.
    fn find(rig: &Rig, joint: usize, toward: Option<usize>) -> Result<Bone, TwistError> {
        let bone = Bone::at(rig, joint, toward)?;
        let skeleton = rig.skeleton();
        let places = rest_places(skeleton);
        let same_place = same_place(&places);
        let place = |joint: usize| places[joint];
        let middle = (place(bone.joints[0]) + place(bone.toward)) / 2.0;
        let splits = |&other: &usize| {
            skeleton.joints()[other].node != bone.end && place(other).distance(middle) <= same_place
        };
        match below(skeleton, bone.node).into_iter().find(splits) {
            Some(by) => Err(TwistError::AlreadySplit {
                joint: label(skeleton, bone.node),
                toward: label(skeleton, bone.end),
                by: skeleton.joint_label(by),
            }),
            None => Ok(bone),
        }
    }

    /// A bone that may already be split.
    fn at(rig: &Rig, joint: usize, toward: Option<usize>) -> Result<Bone, TwistError> {
        let skeleton = rig.skeleton();
        let joints = skeleton.joints();
        let named = |joint: usize| {
            let no_such = TwistError::NoSuchJoint {
                joint,
                joints: joints.len(),
            };
            joints.get(joint).map(|joint| joint.node).ok_or(no_such)
        };
        let node = named(joint)?;
        let on_node = (0..joints.len()).filter(|&index| joints[index].node == node);
        let on_node: Vec<usize> = on_node.collect();
        let below = below(skeleton, node);
        let Some(&first_below) = below.first() else {
            return Err(TwistError::LastOfChain {
                joint: label(skeleton, node),
            });
        };
        let places = rest_places(skeleton);
        let same_place = same_place(&places);
        let is_apart = |toward: usize| places[toward].distance(places[joint]) > same_place;
        let no_length = |toward: usize| TwistError::NoLength {
            joint: label(skeleton, node),
            toward: skeleton.joint_label(toward),
        };
        let held = held_skin(rig, &on_node);
        let toward = match toward {
            Some(toward) => {
                let end = named(toward)?;
                let is_below = below.iter().any(|&other| joints[other].node == end);
                if !is_below {
                    return Err(TwistError::NotBelow {
                        joint: label(skeleton, node),
                        toward: label(skeleton, end),
                    });
                }
                toward
            }
            None => {
                // Of two joints in one direction, such as a helper joint before the wrist, the
                // farther one is nearer to all of the skin.
                let distance = |toward: usize| distance_of_skin(skeleton, node, &held, toward);
                let ends = below.iter().copied().filter(|&toward| is_apart(toward));
                let nearest = ends.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                nearest.ok_or_else(|| no_length(first_below))?
            }
        };
        let along = place_in(skeleton, node, joints[toward].node);
        if !along.length_squared().is_normal() || !is_apart(toward) {
            return Err(no_length(toward));
        }
        if held.is_empty() {
            return Err(TwistError::HoldsNothing {
                joint: label(skeleton, node),
            });
        }
        Ok(Bone {
            node,
            joints: on_node,
            toward,
            end: joints[toward].node,
            along,
            held,
        })
    }
}

/// The joints below that on a node, one for each of their nodes.
fn below(skeleton: &Skeleton, node: usize) -> Vec<usize> {
    let joints = skeleton.joints();
    let is_below = |index: &usize| {
        let parent = joints[*index].parent;
        joints[*index].node != node && parent.is_some_and(|parent| joints[parent].node == node)
    };
    let mut below: Vec<usize> = (0..joints.len()).filter(is_below).collect();
    below.dedup_by_key(|joint| joints[*joint].node);
    below
}

/// The rest positions of all joints.
fn rest_places(skeleton: &Skeleton) -> Vec<DVec3> {
    let world_from_node = skeleton.rest_world();
    let joints = skeleton.joints().iter();
    joints
        .map(|joint| world_from_node[joint.node].translation)
        .collect()
}

/// The sum of the squared distances of a joint's skin from the bone to another joint, by weight.
fn distance_of_skin(skeleton: &Skeleton, node: usize, held: &[HeldSkin], toward: usize) -> f64 {
    let along = place_in(skeleton, node, skeleton.joints()[toward].node);
    let bone = from_origin(along);
    let off = held
        .iter()
        .map(|held| held.weight * bone.distance_squared(held.point));
    off.sum()
}

/// The vertices held by some joints, in rising order.
fn held_skin(rig: &Rig, joints: &[usize]) -> Vec<HeldSkin> {
    let mut held = Vec::new();
    for (vertex, position) in rig.mesh().positions().iter().enumerate() {
        for influence in rig.weights().of(vertex) {
            if joints.contains(&influence.joint) {
                let node_from_bind = rig.skeleton().joints()[influence.joint].joint_from_bind;
                held.push(HeldSkin {
                    vertex,
                    joint: influence.joint,
                    point: node_from_bind.transform_point3(position.as_dvec3()),
                    weight: f64::from(influence.weight),
                });
            }
        }
    }
    held
}

/// A bone in the frame of its own joint.
fn from_origin(along: DVec3) -> BindBone {
    BindBone {
        head: DVec3::ZERO,
        tail: along,
    }
}

/// The nodes from `to` upwards to the child of `from`.
fn path_up(skeleton: &Skeleton, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
    let up = std::iter::successors(Some(to), |&node| skeleton.nodes().get(node)?.parent);
    up.take_while(move |&node| node != from)
}

/// The rest position of a node in the frame of an ancestor.
fn place_in(skeleton: &Skeleton, from: usize, to: usize) -> DVec3 {
    let up = path_up(skeleton, from, to);
    up.fold(DVec3::ZERO, |place, node| {
        let rest = skeleton.nodes()[node].rest.to_affine();
        rest.transform_point3(place)
    })
}

/// The rotation of a node in the frame of an ancestor, without scales in between.
fn rotation_between(skeleton: &Skeleton, pose: &Pose, from: usize, to: usize) -> DQuat {
    let up = path_up(skeleton, from, to);
    let rotation = up.fold(DQuat::IDENTITY, |rotation, node| {
        let local = pose.locals.get(node).map(Local::to_trs);
        local.map_or(DQuat::IDENTITY, |local| local.rotation) * rotation
    });
    rotation.normalize()
}

/// The name of the joint on a node in messages.
fn label(skeleton: &Skeleton, node: usize) -> String {
    let mut joints = skeleton.joints().iter();
    let joint = joints.position(|joint| joint.node == node);
    joint.map_or_else(String::new, |joint| skeleton.joint_label(joint))
}

/// A name that no node has.
fn free_name(skeleton: &Skeleton, node: usize) -> String {
    let name = match skeleton.nodes()[node].name.as_str() {
        "" => "twist".to_owned(),
        name => format!("{name}_twist"),
    };
    let is_taken = |name: &String| skeleton.nodes().iter().any(|node| node.name == *name);
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(name)
}

/// The larger twist of some bones in the clips.
fn larger_twist(asset: &Asset, bones: &[Bone]) -> TwistOf {
    let largest = |twist_of: TwistOf| {
        let driven = bones
            .iter()
            .filter_map(|bone| Driven::new(asset, bone, twist_of));
        driven.map(|driven| driven.largest()).fold(0.0, f64::max)
    };
    match largest(TwistOf::Joint) > largest(TwistOf::Child) + LEAST_TURN {
        true => TwistOf::Joint,
        false => TwistOf::Child,
    }
}

/// The driver of a new joint, in the old node numbering, and its rotation in every clip.
struct Driven {
    driver: TwistDriver,
    turnings: Vec<Option<Turning>>,
}

impl Driven {
    /// None for the twist of a joint without a parent.
    fn new(asset: &Asset, bone: &Bone, twist_of: TwistOf) -> Option<Driven> {
        let skeleton = asset.rig.skeleton();
        let above = || {
            bone.joints.iter().find_map(|&joint| {
                let parent = skeleton.joints()[joint].parent?;
                Some(skeleton.joints()[parent].node)
            })
        };
        let (against, source, share) = match twist_of {
            TwistOf::Child => (bone.node, bone.end, SHARE),
            TwistOf::Joint => (above()?, bone.node, -SHARE),
        };
        let driver = TwistDriver {
            twist_of,
            source,
            against,
            rest: rotation_between(skeleton, &skeleton.rest_pose(), against, source),
            axis: bone.along.normalize(),
            share,
        };
        let clips = asset.clips.iter();
        let turnings = clips.map(|clip| turning(skeleton, clip, &driver)).collect();
        Some(Driven { driver, turnings })
    }

    /// The largest rotation in all clips.
    fn largest(&self) -> f64 {
        let turnings = self.turnings.iter().flatten();
        turnings
            .map(|turning| turning.largest(self.driver.share).1.abs())
            .fold(0.0, f64::max)
    }
}

/// The division of the skin of a bone between its two joints.
struct Division {
    /// The joints that give up some of their weights, to a new joint each.
    joints: Vec<usize>,
    /// The nonzero weights that vertices give up: vertices in rising order, (joint, weight).
    given: Vec<(usize, usize, f64)>,
    vertex_count: usize,
}

impl Division {
    fn new(skeleton: &Skeleton, bone: &Bone, twist_of: TwistOf) -> Result<Division, TwistError> {
        let whole = from_origin(bone.along);
        let given = bone.held.iter().filter_map(|held| {
            let along = whole.share_along(held.point);
            let part = match twist_of {
                TwistOf::Child => held.weight * along,
                TwistOf::Joint => held.weight * (1.0 - along),
            };
            // Shares below the resolution of weights are dropped.
            let counts = part > f64::from(f32::EPSILON);
            counts.then_some((held.vertex, held.joint, part))
        });
        let given: Vec<(usize, usize, f64)> = given.collect();
        let gives = |joint: &usize| given.iter().any(|(_, giver, _)| giver == joint);
        let joints: Vec<usize> = bone.joints.iter().copied().filter(gives).collect();
        if joints.is_empty() {
            return Err(TwistError::HoldsNothing {
                joint: label(skeleton, bone.node),
            });
        }
        let mut vertices: Vec<usize> = given.iter().map(|(vertex, ..)| *vertex).collect();
        vertices.dedup();
        Ok(Division {
            joints,
            vertex_count: vertices.len(),
            given,
        })
    }
}

/// The numbering of nodes and joints with the new ones.
struct Numbering {
    new_node: usize,
    first_new_joint: usize,
    new_joints: usize,
}

impl Numbering {
    /// The new node is placed after all descendants of the split one, as if a file had listed it
    /// there.
    fn new(skeleton: &Skeleton, bone: &Bone, new_joints: usize) -> Numbering {
        let mut is_below = vec![false; skeleton.nodes().len()];
        let mut last = bone.node;
        for (index, node) in skeleton.nodes().iter().enumerate() {
            is_below[index] =
                index == bone.node || node.parent.is_some_and(|parent| is_below[parent]);
            if is_below[index] {
                last = index;
            }
        }
        let new_node = last + 1;
        let before = |joint: &Joint| joint.node < new_node;
        Numbering {
            new_node,
            first_new_joint: skeleton.joints().partition_point(before),
            new_joints,
        }
    }

    fn node(&self, node: usize) -> usize {
        node + usize::from(node >= self.new_node)
    }

    fn joint(&self, joint: usize) -> usize {
        match joint < self.first_new_joint {
            true => joint,
            false => joint + self.new_joints,
        }
    }

    fn clip(&self, clip: &Clip) -> Clip {
        let mut clip = clip.clone();
        for track in &mut clip.tracks {
            match &mut track.channel {
                Channel::Translation { node }
                | Channel::Rotation { node }
                | Channel::Scale { node } => *node = self.node(*node),
                Channel::MorphWeights { .. } => {}
            }
        }
        clip
    }

    fn skeleton(
        &self,
        old: &Skeleton,
        bone: &Bone,
        name: String,
        divided: &[usize],
    ) -> Result<Skeleton, SkeletonError> {
        // `joint_from_bind` of the new joint is that of the split one, relative to the middle of
        // the bone. Files round it, so the middle is moved by the same rounding: at rest both
        // joints then carry the skin equally.
        let bind_of = |joint: usize| old.joints()[joint].joint_from_bind;
        let seen_from = |middle: DVec3, bind: DAffine3| {
            let exact = DAffine3::from_translation(-middle) * bind;
            Affine::from_f64(&exact).to_f64().translation
        };
        let middle = bone.along / 2.0;
        let rounded = divided.first().map(|&joint| {
            let bind = bind_of(joint);
            bind.translation - seen_from(middle, bind)
        });
        let middle = rounded.unwrap_or(middle);
        let mut nodes: Vec<Node> = old.nodes().to_vec();
        for node in &mut nodes {
            node.parent = node.parent.map(|parent| self.node(parent));
        }
        let node = Node {
            name,
            parent: Some(bone.node),
            rest: Local::Trs(Trs::from_translation(middle)),
        };
        nodes.insert(self.new_node, node);
        let joints = old.joints().iter();
        let mut joints: Vec<(usize, DAffine3)> = joints
            .map(|joint| (self.node(joint.node), joint.joint_from_bind))
            .collect();
        let new = divided.iter().map(|&joint| {
            let bind = bind_of(joint);
            let joint_from_bind = DAffine3 {
                translation: seen_from(middle, bind),
                ..bind
            };
            (self.new_node, joint_from_bind)
        });
        joints.splice(self.first_new_joint..self.first_new_joint, new);
        Skeleton::new(nodes, joints)
    }

    fn weights(&self, rig: &Rig, division: &Division) -> Result<crate::Weights, WeightsError> {
        let joint_count = rig.skeleton().joints().len() + self.new_joints;
        let mut builder = WeightsBuilder::new(joint_count)?;
        let mut given = division.given.iter().peekable();
        let mut row: Vec<(u16, f64)> = Vec::new();
        for vertex in 0..rig.weights().vertex_count() {
            row.clear();
            let weights = rig.weights().of(vertex);
            row.extend(weights.map(|influence| {
                let joint = self.joint(influence.joint) as u16;
                (joint, f64::from(influence.weight))
            }));
            while let Some(&(_, joint, part)) = given.next_if(|(giver, ..)| *giver == vertex) {
                let place = division.joints.iter().position(|&giver| giver == joint);
                let giver = self.joint(joint) as u16;
                let receiver = (self.first_new_joint + place.unwrap_or(0)) as u16;
                for (joint, weight) in &mut row {
                    if *joint == giver {
                        *weight -= part;
                    }
                }
                row.push((receiver, part));
            }
            builder.push_shares(row.iter().copied())?;
        }
        Ok(builder.finish().0)
    }
}

#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod tests;
