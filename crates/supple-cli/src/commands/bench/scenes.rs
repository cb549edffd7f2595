//! Inputs of benchmarks: characters, poses and weights, shared by `supple bench` and `cargo bench`.

use std::sync::Arc;
use supple::deform::{AnimationSpaceWeights, BakedData, DeformError, MatrixWeights};
use supple::mush::{Mush, MushError, MushOptions};
use supple::weights::{WeightsBuilder, WeightsError};
use supple::{Asset, Method, Normals, Palette, Rig, Skin, Weights};

/// The characters whose centers of rotation are baked: of the sizes in the paper's Table 1, and
/// growing.
pub const CENTERED: [&str; 8] = [
    "figure:39158",
    "figure:20846",
    "arm:22459",
    "figure:8435",
    "cloth:2601",
    "figure:10000",
    "figure:100000",
    "figure:1000000",
];

/// The number of influences per vertex for crowded weights, such as bounded biharmonic weights.
const CROWD: usize = 11;

/// Weights that fall with the distance to the nearest joints, the last of which reaches zero, so
/// that they are continuous.
pub fn crowded_weights(rig: &Rig) -> Result<Weights, WeightsError> {
    let bones = rig.skeleton().bind_bones();
    let extent = f64::from(rig.mesh().extent());
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

/// The characters on which direct delta mush is baked: one of a few dozen joints, then a body of
/// growing size.
pub const MUSHED: [&str; 4] = ["arm:10000", "figure:10000", "figure:20000", "figure:55000"];

/// The largest character to bake, which takes seconds.
pub const LARGE: &str = "figure:200000";

/// From a rigid bind, with steps that are the same everywhere or follow the thickness of limbs.
pub fn mush_options(radius_from_bones: bool) -> MushOptions {
    MushOptions {
        rigid: true,
        radius_from_bones,
        ..MushOptions::default()
    }
}

/// The largest number of clips that are examined.
const CLIPS: usize = 4;

/// The middle of the first clip, or the rest pose.
pub fn first_pose(asset: &Asset) -> Palette {
    poses(asset).swap_remove(0)
}

/// The middle of each of the first clips, or the rest pose.
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

/// The characters whose weights are computed.
pub const BOUND: [&str; 2] = ["figure:20000", "figure:100000"];

/// The characters whose frames are timed: one that fits into the nearest caches, one that fits into
/// the farther ones, one that does not.
pub const CARRIED: [&str; 3] = ["figure:10000", "figure:40000", "figure:1000000"];

/// The most influences that a vertex has in those.
pub const INFLUENCES: [usize; 2] = [4, 8];

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

/// The heaviest influences of each vertex.
pub fn limited_weights(
    weights: &Weights,
    most: usize,
    joints: usize,
) -> Result<Weights, WeightsError> {
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
    baked: BakedData,
}

impl FrameScene {
    /// Nothing is baked yet.
    pub fn new(rig: Rig, most: usize) -> FrameScene {
        FrameScene {
            rig,
            most,
            baked: BakedData::default(),
        }
    }

    /// Baked data, which methods use instead of computing them: direct delta mush keeps as many
    /// influences as the character, and learned weights are those of linear blending.
    pub fn baked_for(&mut self, method: &Method) -> Result<&BakedData, MushError> {
        let baked = &mut self.baked;
        match method {
            Method::AnimationSpace if baked.animation_space.is_none() => {
                let weights = AnimationSpaceWeights::linear(&self.rig);
                baked.animation_space = Some(Arc::new(weights));
            }
            Method::MultiWeight if baked.multi_weight.is_none() => {
                baked.multi_weight = Some(Arc::new(MatrixWeights::linear(&self.rig)));
            }
            Method::DirectDeltaMush(_) if baked.mush.is_none() => {
                let options = MushOptions {
                    max_influences: Some(self.most),
                    ..MushOptions::default()
                };
                baked.mush = Some(Arc::new(Mush::bake(&self.rig, &options)?.mush));
            }
            _ => {}
        }
        Ok(baked)
    }

    /// A skin for a method.
    pub fn skin(&mut self, method: &Method) -> Result<Skin, DeformError> {
        let baked = self.baked_for(method)?.clone();
        Skin::bake_with(&self.rig, method, Normals::Transported, &baked)
    }

    /// The mean number of influences per vertex.
    pub fn mean_influences(&self, method: &Method) -> f64 {
        let weights = match (method, &self.baked.mush) {
            (Method::DirectDeltaMush(_), Some(mush)) => mush.weights(),
            _ => self.rig.weights(),
        };
        weights.influence_count() as f64 / weights.vertex_count().max(1) as f64
    }
}
