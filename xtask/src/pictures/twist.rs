//! The pictures of `docs/twist-joints.md`.

use crate::Outcome;
use crate::album::{Album, LIGHT, plain};
use glam::{DQuat, DVec3, Vec3};
use supple::characters::{self, Character};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::skeleton::Node;
use supple::twist::{TwistOptions, split};
use supple::weights::WeightsBuilder;
use supple::{Asset, Local, Method, Normals, Player, Rig, Skeleton, Trs};
use supple_render::{Camera, Look, Overlays, View};

const METHODS: [&str; 3] = ["linear", "dual-quaternion", "cor"];

pub(super) fn draw(album: &Album) -> Outcome<()> {
    let mut traditional = traditional_arm()?;
    let wrist = turned(&traditional, "hand", 150.0)?;
    let shoulder = turned(&traditional, "upper_arm", 120.0)?;
    traditional.clips = vec![wrist, shoulder];
    let mut spread = traditional.clone();
    for name in ["upper_arm", "forearm"] {
        spread = split(&spread, joint(&spread, name)?, &TwistOptions::default())?.asset;
    }
    for (name, asset) in [("traditional", &traditional), ("spread", &spread)] {
        for method in METHODS {
            for (clip, pose) in ["wrist", "shoulder"].iter().enumerate() {
                let picture = Picture {
                    colors: Some(lines(asset)),
                    clip: Some(clip),
                    ..Picture::of(asset, pose)
                };
                let file = format!("{pose}-{name}-{method}");
                picture.draw(album, &file, &method.parse()?)?;
            }
        }
        let weights = Picture {
            colors: Some(forearm_weights(asset)),
            ..Picture::of(asset, "forearm")
        };
        weights.draw(album, &format!("weights-{name}"), &Method::Linear)?;
    }
    Ok(())
}

/// `@arm` as rigs usually are: without the twist joints that it has by itself. Their skin goes back
/// to the joints above.
fn traditional_arm() -> Outcome<Asset> {
    let mut arm = characters::build(Character::Arm, 20_000)?;
    let skeleton = arm.rig.skeleton();
    let is_extra = |node: &Node| node.name.ends_with("_twist");
    let mut nodes: Vec<Node> = Vec::new();
    // For each node the one that stands for it, and where it is from there.
    let mut stands_for: Vec<(usize, DVec3)> = Vec::new();
    for node in skeleton.nodes() {
        let place = node.rest.to_trs().translation;
        let (parent, offset) = match node.parent {
            Some(parent) => (Some(stands_for[parent].0), stands_for[parent].1 + place),
            None => (None, place),
        };
        match parent.filter(|_| is_extra(node)) {
            Some(parent) => stands_for.push((parent, offset)),
            None => {
                stands_for.push((nodes.len(), DVec3::ZERO));
                nodes.push(Node {
                    name: node.name.clone(),
                    parent,
                    rest: Local::Trs(Trs::from_translation(offset)),
                });
            }
        }
    }
    // Every node of a built-in character is a joint.
    let joints: Vec<usize> = (0..nodes.len()).collect();
    let mut weights = WeightsBuilder::new(joints.len())?;
    for vertex in 0..arm.rig.mesh().vertex_count() {
        let row = arm.rig.weights().of(vertex);
        let row = row.map(|influence| (stands_for[influence.joint].0, influence.weight));
        weights.push(row, 0)?;
    }
    let skeleton = Skeleton::bound_at_rest(nodes, &joints)?;
    arm.rig = Rig::new(arm.rig.mesh().clone(), skeleton, weights.finish().0)?;
    Ok(arm)
}

fn joint(asset: &Asset, name: &str) -> Outcome<usize> {
    let skeleton = asset.rig.skeleton();
    let mut joints = 0..skeleton.joints().len();
    let found = joints.find(|&joint| skeleton.joint_name(joint) == name);
    Ok(found.ok_or("no such joint")?)
}

/// A clip that turns a joint about the arm.
fn turned(arm: &Asset, name: &str, degrees: f64) -> Outcome<Clip> {
    let turn = DQuat::from_axis_angle(DVec3::X, degrees.to_radians());
    let keys = [DQuat::IDENTITY, turn].map(|key| key.to_array().map(|number| number as f32));
    let node = arm.rig.skeleton().joints()[joint(arm, name)?].node;
    let values = keys.as_flattened().to_vec();
    Ok(Clip {
        name: name.to_owned(),
        tracks: vec![Track {
            channel: Channel::Rotation { node },
            curve: Curve::new(vec![0.0, 1.0], values, 4, Interpolation::Linear)?,
        }],
    })
}

const DARK: Vec3 = Vec3::new(0.30, 0.15, 0.08);

/// Lines along the arm, so that a twist can be seen.
fn lines(asset: &Asset) -> Vec<Vec3> {
    let places = asset.rig.mesh().positions().iter();
    let color = |place: &Vec3| {
        let wave = (8.0 * place.y.atan2(place.z + 0.01)).sin();
        LIGHT.lerp(DARK, (0.5 + 3.0 * wave).clamp(0.0, 1.0))
    };
    places.map(color).collect()
}

/// The weights of the forearm, yellow, and of its twist joint, purple, as in Fig. 5 of the paper.
fn forearm_weights(asset: &Asset) -> Vec<Vec3> {
    let skeleton = asset.rig.skeleton();
    let color = |joint: usize| match skeleton.joint_name(joint) {
        "forearm" => Vec3::new(0.85, 0.62, 0.08),
        "forearm_twist" => Vec3::new(0.28, 0.10, 0.52),
        _ => Vec3::splat(0.55),
    };
    let vertices = 0..asset.rig.mesh().vertex_count();
    let blend = |vertex: usize| {
        let row = asset.rig.weights().of(vertex);
        row.map(|influence| color(influence.joint) * influence.weight)
            .sum()
    };
    vertices.map(blend).collect()
}

/// The subject, shared by all methods.
struct Picture<'a> {
    asset: &'a Asset,
    clip: Option<usize>,
    /// The visible part of the arm, from where to where.
    part: (f32, f32),
    size: (usize, usize),
    colors: Option<Vec<Vec3>>,
}

impl<'a> Picture<'a> {
    fn of(asset: &'a Asset, what: &str) -> Picture<'a> {
        let (part, size) = match what {
            "wrist" => ((0.28, 0.64), (300, 100)),
            "shoulder" => ((-0.08, 0.36), (300, 120)),
            _ => ((0.18, 0.64), (300, 80)),
        };
        Picture {
            asset,
            clip: None,
            part,
            size,
            colors: None,
        }
    }

    fn draw(&self, album: &Album, name: &str, method: &Method) -> Outcome<()> {
        let settings = plain(self.size);
        let mut player = Player::new(self.asset, method, Normals::Recomputed)?;
        let pose = match self.clip {
            Some(clip) => self.asset.pose_at(&self.asset.clips[clip], 1.0),
            None => self.asset.rest_pose(),
        };
        player.pose(&pose)?;
        let look = Look::new(self.asset, Overlays::default());
        let scene = match &self.colors {
            Some(colors) => look.scene_painted(&player, None, colors, LIGHT),
            None => look.scene(&player, None),
        };
        // By the rest places: the same camera for all.
        let places = self.asset.rig.mesh().positions().iter();
        let seen = places.filter(|place| (self.part.0..self.part.1).contains(&place.x));
        // The thumb reaches out of the row.
        let seen = seen.filter(|place| place.z < 0.07);
        let view = View {
            yaw_degrees: 0.0,
            pitch_degrees: 18.0,
        };
        let camera = Camera::framing(seen.copied(), view, settings.aspect());
        album.render(name, &scene, &camera, &settings)
    }
}
