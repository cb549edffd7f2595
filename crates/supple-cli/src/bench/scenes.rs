//! What is timed: characters of the papers' sizes, crowded weights, brush strokes, poses. Shared by `supple bench` and `cargo bench`.

use supple::mush::MushOptions;
use supple::weights::{WeightsBuilder, WeightsError};
use supple::{Asset, Mesh, Palette, Rig, Weights};

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

/// Weights that fall with the distance to the nearest joints, the last of which reaches zero, so that they are continuous.
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

/// Strokes all over a character, each on its own weights: more of a joint that some of the painted vertices have.
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

/// The characters on which direct delta mush is baked: one of a few dozen joints, then a body of growing size.
pub const MUSHED: [&str; 4] = ["arm:10000", "figure:10000", "figure:20000", "figure:55000"];

/// The character whose frames are timed, as large as the paper's Brute.
pub const POSED: &str = "figure:55000";

/// The largest character to bake: for those who have a minute.
pub const LARGE: &str = "figure:200000";

/// From a rigid bind, with steps that are the same everywhere or follow the thickness of limbs.
pub fn mush_options(radius_from_bones: bool) -> MushOptions {
    MushOptions {
        rigid: true,
        radius_from_bones,
        ..MushOptions::DEFAULT
    }
}

/// Table 3 of the paper on direct delta mush: a vertex of the Brute by v0 to v5, in microseconds on one thread.
pub const BRUTE: [f64; 6] = [3.2, 2.3, 2.9, 3.2, 2.6, 1.6];

/// How many clips are looked at.
const CLIPS: usize = 4;

/// The middle of the first clips; the rest pose where there are none.
pub fn poses(asset: &Asset) -> Vec<Palette> {
    let middle = |clip: &supple::Clip| (clip.start() + clip.duration()) / 2.0;
    let clips = asset.clips.iter().take(CLIPS);
    let mut poses: Vec<_> = clips
        .map(|clip| asset.pose_at(clip, middle(clip)))
        .collect();
    if poses.is_empty() {
        poses.push(asset.rest_pose());
    }
    let skeleton = asset.rig.skeleton();
    poses.iter().map(|pose| skeleton.palette(pose)).collect()
}
