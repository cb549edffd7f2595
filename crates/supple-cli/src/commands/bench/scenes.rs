//! What is timed: characters of the papers' sizes, crowded weights, brush strokes, poses, weights
//! to compute. Shared by `supple bench` and `cargo bench`.

use glam::DVec3;
use std::sync::Arc;
use supple::deform::{AnimationSpaceWeights, DirectDeltaMush, MatrixWeights, MushSource};
use supple::mush::{Mush, MushError, MushOptions};
use supple::weights::bind::{
    BindGroup, BindMethod, BoundedBiharmonicOptions, GeodesicOptions, Handle, HeatOptions,
};
use supple::weights::edit::{Brush, Edit, Falloff, Paint};
use supple::weights::{WeightsBuilder, WeightsError};
use supple::{Asset, Mesh, Method, Palette, Rig, Weights};

/// A row of the paper's Table 1, and the built-in character that comes nearest to it.
pub struct PaperModel {
    /// What the paper calls it.
    pub name: &'static str,
    /// The built-in character, with as many vertices.
    pub character: &'static str,
    /// How long the paper's precompute took on eight cores.
    pub seconds: f64,
}

/// Table 1 of the paper on centers of rotation.
pub const PAPER: [PaperModel; 5] = [
    PaperModel {
        name: "Goliath",
        character: "figure:39158",
        seconds: 15.7,
    },
    PaperModel {
        name: "man",
        character: "figure:20846",
        seconds: 5.6,
    },
    PaperModel {
        name: "boy",
        character: "arm:22459",
        seconds: 18.0,
    },
    PaperModel {
        name: "horse",
        character: "figure:8435",
        seconds: 10.9,
    },
    PaperModel {
        name: "cloth",
        character: "cloth:2601",
        seconds: 0.7,
    },
];

/// How many joints hold each vertex where weights are crowded, as bounded biharmonic weights are.
const CROWD: usize = 11;

/// Weights that fall with the distance to the nearest joints, the last of which reaches zero, so
/// that they are continuous.
pub fn crowded_weights(rig: &Rig) -> Result<Weights, WeightsError> {
    let bones = rig.skeleton().bind_bones();
    let extent = f64::from(rig.mesh().bounds().map_or(1.0, |bounds| bounds.extent()));
    let mut builder = WeightsBuilder::new(bones.len())?;
    for place in rig.mesh().positions() {
        let near = bones.iter().enumerate().map(|(joint, bone)| {
            let distance = bone.head.distance(place.as_dvec3()) / extent;
            (joint, (distance * distance + 1e-4).powi(-2) as f32)
        });
        let mut near: Vec<(usize, f32)> = near.collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1));
        let beyond = near.get(CROWD).map_or(0.0, |&(_, weight)| weight);
        let row = near.iter().take(CROWD);
        builder.push(row.map(|&(joint, weight)| (joint, weight - beyond)), 0)?;
    }
    Ok(builder.finish().0)
}

/// Weights after a stroke, and the vertices that it painted.
pub struct Stroke {
    /// All weights.
    pub weights: Weights,
    /// Where they changed.
    pub painted: Vec<usize>,
}

/// How many vertices a stroke paints.
pub const PAINTED: usize = 200;

/// Strokes all over a character, each on its own weights: more of a joint that some of the painted
/// vertices have.
pub fn strokes(rig: &Rig, count: usize) -> Result<Vec<Stroke>, WeightsError> {
    let vertices = rig.mesh().vertex_count();
    let place = |stroke: usize| stroke * vertices / count.max(1);
    (0..count).map(|index| stroke(rig, place(index))).collect()
}

fn stroke(rig: &Rig, at: usize) -> Result<Stroke, WeightsError> {
    let near = nearest(rig.mesh(), at);
    let radius = near.last().map_or(0.0, |&(distance, _)| distance);
    // A joint of a vertex near the edge of the brush.
    let edge = near[near.len() * 3 / 4].1;
    let joint = rig.weights().of(edge).last().map_or(0, |last| last.joint);
    let mut added = vec![0.0; rig.mesh().vertex_count()];
    for &(distance, vertex) in &near {
        added[vertex] = 0.01 + 0.3 * (1.0 - distance / radius.max(f32::MIN_POSITIVE));
    }
    let mut builder = WeightsBuilder::new(rig.skeleton().joints().len())?;
    for (vertex, &added) in added.iter().enumerate() {
        let row = rig.weights().of(vertex);
        let row = row.map(|influence| (influence.joint, influence.weight));
        builder.push(row.chain([(joint, added)]), 0)?;
    }
    Ok(Stroke {
        weights: builder.finish().0,
        painted: near.into_iter().map(|(_, vertex)| vertex).collect(),
    })
}

/// The vertices nearest to one, with their distances.
fn nearest(mesh: &Mesh, at: usize) -> Vec<(f32, usize)> {
    let middle = mesh.positions()[at];
    let places = mesh.positions().iter().enumerate();
    let mut near: Vec<(f32, usize)> = places
        .map(|(vertex, place)| (place.distance(middle), vertex))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    near.truncate(PAINTED);
    near
}

/// The characters on which direct delta mush is baked: one of a few dozen joints, then a body of
/// growing size.
pub const MUSHED: [&str; 4] = ["arm:10000", "figure:10000", "figure:20000", "figure:55000"];

/// The character whose frames are timed, as large as the paper's Brute.
pub const POSED: &str = "figure:55000";

/// The largest character to bake: for those who have a minute.
pub const LARGE: &str = "figure:200000";

/// The characters that are kept rigid, and what another program takes for about as many vertices.
pub const KEPT_RIGID: [(&str, Option<&str>); 3] = [
    ("figure:3500", None),
    (
        "figure:10000",
        Some("libigl, 8,000: set-up 60 ms, 6 ms a round"),
    ),
    ("figure:40000", Some("libigl: set-up 380 ms, 34 ms a round")),
];

/// From a rigid bind, with steps that are the same everywhere or follow the thickness of limbs.
pub fn mush_options(radius_from_bones: bool) -> MushOptions {
    MushOptions {
        rigid: true,
        radius_from_bones,
        ..MushOptions::DEFAULT
    }
}

/// Table 3 of the paper on direct delta mush: a vertex of the Brute by v0 to v5, in microseconds on
/// one thread.
pub const BRUTE: [f64; 6] = [3.2, 2.3, 2.9, 3.2, 2.6, 1.6];

/// How many clips are looked at.
const CLIPS: usize = 4;

/// The middle of the first clips; the rest pose where there are none.
pub fn poses(asset: &Asset) -> Vec<Palette> {
    let middle = |clip: &supple::Clip| (clip.start() + clip.duration()) / 2.0;
    let clips = asset.clips.iter().take(CLIPS);
    let mut poses: Vec<_> = clips
        .map(|clip| asset.palette_at(clip, middle(clip)))
        .collect();
    if poses.is_empty() {
        poses.push(asset.rig.skeleton().rest_palette());
    }
    poses
}

/// Weights that are computed.
pub struct Binding {
    /// The built-in character.
    pub character: &'static str,
    /// How many of its joints hold it; all of them if that is more than there are.
    pub joints: usize,
    /// How.
    pub method: BindMethod,
    /// What other programs take for as much on a machine of two cores.
    pub others: Option<&'static str>,
}

/// Each method at sizes that others' times are known for, and all of them on a whole figure.
pub fn bindings() -> Vec<Binding> {
    let heat = || BindMethod::Heat(HeatOptions::default());
    let bounded = |voxels| {
        BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
            voxels,
            ..BoundedBiharmonicOptions::default()
        })
    };
    let binding = |character, joints, method, others| Binding {
        character,
        joints,
        method,
        others,
    };
    let all = usize::MAX;
    vec![
        binding("figure:20000", 30, heat(), Some("Blender 0.72 s")),
        binding("figure:40000", 30, heat(), Some("Blender 1.7 s")),
        binding("figure:200000", 30, heat(), Some("Blender 13.6 s")),
        binding(
            "figure:20000",
            8,
            bounded(Some(17_000)),
            Some("libigl 15 s, converged 150 s"),
        ),
        binding("figure:20000", all, bounded(None), None),
        binding(
            "figure:100000",
            all,
            BindMethod::Geodesic(GeodesicOptions::default()),
            None,
        ),
        binding("figure:100000", all, heat(), None),
        binding("figure:100000", all, BindMethod::Rigid, None),
        binding(
            "figure:100000",
            all,
            BindMethod::Envelope(Default::default()),
            None,
        ),
    ]
}

/// A whole character, held by those of its joints that hold something already and have the longest
/// bones: no fingers and toes where few are asked for.
pub fn held_by(rig: &Rig, most: usize) -> BindGroup {
    let skeleton = rig.skeleton();
    let mut group = BindGroup::whole(rig.mesh(), skeleton);
    if most >= group.joints.len() {
        return group;
    }
    let mut lengths = vec![0.0; group.joints.len()];
    for handle in Handle::of_joints(skeleton, &group.joints) {
        let bones = handle.bones.iter();
        let spans = bones.map(|bone| DVec3::distance(bone.head, bone.tail));
        lengths[handle.joint] = spans.fold(0.0, f64::max);
    }
    let weights = rig.weights();
    let mut holds = vec![false; group.joints.len()];
    for influence in (0..weights.vertex_count()).flat_map(|vertex| weights.of(vertex)) {
        holds[influence.joint] = true;
    }
    group.joints.retain(|&joint| holds[joint]);
    group
        .joints
        .sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    group.joints.truncate(most);
    group.joints.sort_unstable();
    group
}

/// The character whose weights are edited.
pub const EDITED: &str = "figure:100000";

/// Edits that visit every vertex, and what they are called.
pub fn edits() -> [(&'static str, Edit); 2] {
    let smooth = Edit::Smooth {
        steps: 10,
        strength: 0.5,
        joints: Vec::new(),
    };
    [
        ("smooth, 10 steps", smooth),
        ("limit to 4", Edit::Limit { most: 4 }),
    ]
}

/// More of a joint, on a fiftieth of the extent around a place: about as wide as a wrist.
pub fn brush(mesh: &Mesh, joint: usize) -> Brush {
    Brush {
        paint: Paint::Add { joint, amount: 0.2 },
        radius: 0.02 * f64::from(mesh.bounds().map_or(1.0, |bounds| bounds.extent())),
        falloff: Falloff::Smooth,
    }
}

/// The character whose frames are timed by every direct method: in the nearest caches, in the
/// farther ones, in memory.
pub const CARRIED: [&str; 3] = ["figure:10000", "figure:40000", "figure:1000000"];

/// The most influences that a vertex has in those.
pub const INFLUENCES: [usize; 2] = [4, 8];

/// The characters whose frames are timed on the GPU, and how many instances of each.
pub const ON_GPU: [(&str, usize); 2] = [("figure:4000000", 1), ("figure:10000", 1000)];

/// With how many influences: direct delta mush gathers from more joints than others blend.
pub fn influences_on_gpu(method: &Method) -> usize {
    let [few, many] = INFLUENCES;
    match method {
        Method::DirectDeltaMush(_) => many,
        _ => few,
    }
}

/// Weights of which every vertex has so many, so that nothing is gained by vertices that have
/// fewer. Direct delta mush starts from those of the character, and finds its own.
pub fn weights_on_gpu(rig: &Rig, most: usize) -> Result<Weights, WeightsError> {
    if most > INFLUENCES[0] {
        return limited(rig, most);
    }
    limited_weights(&crowded_weights(rig)?, most, rig.skeleton().joints().len())
}

/// The methods whose frames are timed: all but those that solve for the whole surface in every
/// pose.
pub fn direct_methods() -> Vec<Method> {
    let solves = |method: &Method| matches!(method, Method::DeltaMush(_) | Method::Arap(_));
    let direct = Method::ALL.iter().filter(|method| !solves(method));
    direct.cloned().collect()
}

/// Weights of which vertices keep the heaviest.
pub fn limited(rig: &Rig, most: usize) -> Result<Weights, WeightsError> {
    limited_weights(rig.weights(), most, rig.skeleton().joints().len())
}

fn limited_weights(weights: &Weights, most: usize, joints: usize) -> Result<Weights, WeightsError> {
    let mut builder = WeightsBuilder::new(joints)?;
    for vertex in 0..weights.vertex_count() {
        let row = weights.of(vertex).take(most);
        builder.push(row.map(|influence| (influence.joint, influence.weight)), 0)?;
    }
    Ok(builder.finish().0)
}

/// A character for many methods, some of which share a bake.
pub struct FrameScene {
    /// The character.
    pub rig: Rig,
    /// The most influences of a vertex.
    pub most: usize,
    mush: Option<Arc<Mush>>,
}

impl FrameScene {
    /// Nothing is baked yet.
    pub fn new(rig: Rig, most: usize) -> FrameScene {
        FrameScene {
            rig,
            most,
            mush: None,
        }
    }

    /// The method with what it shares with others; direct delta mush keeps as many influences as
    /// the character.
    pub fn prepared(&mut self, method: &Method) -> Result<Method, MushError> {
        let options = match method {
            Method::DirectDeltaMush(options) => options,
            // Weights as those of linear blending, but read as learned ones are.
            Method::AnimationSpace(None) => {
                let weights = AnimationSpaceWeights::linear(&self.rig);
                return Ok(Method::AnimationSpace(Some(Arc::new(weights))));
            }
            Method::MultiWeight(None) => {
                let weights = MatrixWeights::linear(&self.rig);
                return Ok(Method::MultiWeight(Some(Arc::new(weights))));
            }
            _ => return Ok(method.clone()),
        };
        if self.mush.is_none() {
            let options = MushOptions {
                max_influences: Some(self.most),
                ..MushOptions::DEFAULT
            };
            self.mush = Some(Arc::new(Mush::bake(&self.rig, &options)?.mush));
        }
        let source = match &self.mush {
            Some(mush) => MushSource::Known(mush.clone()),
            None => options.source.clone(),
        };
        Ok(Method::DirectDeltaMush(DirectDeltaMush {
            variant: options.variant,
            source,
        }))
    }

    /// How many joints a vertex follows in the mean.
    pub fn mean_influences(&self, method: &Method) -> f64 {
        let weights = match method {
            Method::DirectDeltaMush(DirectDeltaMush {
                source: MushSource::Known(mush),
                ..
            }) => mush.weights(),
            _ => self.rig.weights(),
        };
        weights.influence_count() as f64 / weights.vertex_count().max(1) as f64
    }
}
