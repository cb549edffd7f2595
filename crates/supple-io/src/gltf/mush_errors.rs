//! Rounding errors of a stored bake of direct delta mush.

use glam::{DQuat, DVec3};
use std::sync::Arc;
use supple::clip::Clip;
use supple::deform::{BakedData, DeformError, DirectDeltaMush, MushVariant};
use supple::mush::Mush;
use supple::{
    Asset, Bounds, Local, Method, NodeCountError, Normals, Output, Palette, Pose, Rig, Skin,
    Workspace,
};

/// The number of clips that poses are taken from, and of poses from each.
const CLIPS: usize = 4;
const POSES_PER_CLIP: usize = 4;

/// The angle by which joints are turned where there are no clips, in radians.
const TURN: f64 = 0.7;

/// The errors of a stored bake of direct delta mush.
///
/// Each is the largest distance of a vertex from its position by the exact bake, in any of several
/// poses, as a share of the size of the posed surface.
#[derive(Clone, Debug, PartialEq)]
pub struct MushErrors {
    /// The error by rounding to 16 bits, over all variants but `ddm-v1`.
    pub rounding: f32,
    /// The error by rounding to 16 bits in `ddm-v1`, which divides by determinants.
    pub rounding_of_v1: f32,
    /// The error of the ordinary skin, shown instead of `ddm`.
    pub skin: f32,
    /// The number of poses.
    pub poses: usize,
    /// The names of the clips that the poses are from. If empty, all joints were turned, about one
    /// axis after the other.
    pub clips: Vec<String>,
}

impl MushErrors {
    /// Compares a bake with what a file holds of it, in four poses of each of the first four clips.
    /// `stored` is the bake as it is read back, and `skinned` the character with the file's
    /// ordinary skin.
    ///
    /// # Errors
    ///
    /// If a bake is not that of the character.
    pub fn measure(
        asset: &Asset,
        exact: &Arc<Mush>,
        stored: &Arc<Mush>,
        skinned: &Rig,
    ) -> Result<MushErrors, DeformError> {
        let clips = &asset.clips[..asset.clips.len().min(CLIPS)];
        let palettes = palettes(asset, clips)?;
        let mut errors = MushErrors {
            rounding: 0.0,
            rounding_of_v1: 0.0,
            skin: 0.0,
            poses: palettes.len(),
            clips: clips.iter().map(|clip| clip.name.clone()).collect(),
        };
        for variant in MushVariant::ALL {
            let [exact, stored] = [exact, stored].map(|mush| {
                let method = Method::DirectDeltaMush(DirectDeltaMush {
                    variant,
                    ..DirectDeltaMush::default()
                });
                let baked = BakedData {
                    mush: Some(mush.clone()),
                    ..BakedData::default()
                };
                Skin::bake_with(&asset.rig, &method, Normals::Transported, &baked)
            });
            let exact = exact?;
            let error = largest_difference(&exact, &stored?, &palettes)?;
            let largest = match variant {
                MushVariant::V1 => &mut errors.rounding_of_v1,
                _ => &mut errors.rounding,
            };
            *largest = largest.max(error);
            if variant == MushVariant::V0 {
                let skin = Skin::bake(skinned, &Method::Linear, Normals::Transported)?;
                errors.skin = largest_difference(&exact, &skin, &palettes)?;
            }
        }
        Ok(errors)
    }
}

/// The maps of the joints in the poses to compare.
fn palettes(asset: &Asset, clips: &[Clip]) -> Result<Vec<Palette>, NodeCountError> {
    let skeleton = asset.rig.skeleton();
    let poses: Vec<Pose> = match clips {
        [] => turned_poses(asset),
        clips => clips
            .iter()
            .flat_map(|clip| poses_of(asset, clip))
            .collect(),
    };
    poses.iter().map(|pose| skeleton.palette(pose)).collect()
}

/// Poses spread evenly over a clip.
fn poses_of(asset: &Asset, clip: &Clip) -> impl Iterator<Item = Pose> {
    let length = clip.duration() - clip.start();
    (0..POSES_PER_CLIP).map(move |index| {
        let share = (index as f64 + 0.5) / POSES_PER_CLIP as f64;
        asset.pose_at(clip, clip.start() + share * length)
    })
}

/// All joints turned at once, about one axis after the other.
fn turned_poses(asset: &Asset) -> Vec<Pose> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let turns = axes
        .into_iter()
        .flat_map(|axis| [(axis, TURN), (axis, -TURN)]);
    let poses = turns.map(|(axis, angle)| {
        let mut pose = asset.rest_pose();
        for joint in asset.rig.skeleton().joints() {
            if let Some(Local::Trs(trs)) = pose.locals.get_mut(joint.node) {
                trs.rotation *= DQuat::from_axis_angle(axis, angle);
            }
        }
        pose
    });
    poses.collect()
}

/// The largest distance between two deformed surfaces, as a share of the size of the first one in
/// that pose.
fn largest_difference(skin: &Skin, other: &Skin, palettes: &[Palette]) -> Result<f32, DeformError> {
    let mut workspace = Workspace::default();
    let mut surfaces = [skin, other].map(|skin| skin.rest().positions.to_vec());
    let mut largest: f32 = 0.0;
    for palette in palettes {
        for (skin, positions) in [skin, other].into_iter().zip(&mut surfaces) {
            let output = Output {
                positions,
                normals: None,
                tangents: None,
            };
            skin.deform(palette, &mut workspace, output)?;
        }
        let [one, other] = &surfaces;
        let extent = Bounds::around(one.iter().copied())
            .unwrap_or_default()
            .extent();
        let distances = one
            .iter()
            .zip(other)
            .map(|(one, other)| one.distance(*other));
        let farthest = distances.fold(0.0, f32::max);
        if extent > 0.0 {
            largest = largest.max(farthest / extent);
        }
    }
    Ok(largest)
}
