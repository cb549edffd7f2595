//! `supple bake -m ddm`: the bake in the character's file, and how far what the file holds is off.

use crate::args::mush::MushArguments;
use crate::console;
use crate::failure::Failure;
use crate::mush;
use crate::source::Source;
use crate::wording::{bytes, many, mush_influences, share_of_size, unusable};
use glam::{DQuat, DVec3};
use std::sync::Arc;
use supple::deform::{DeformError, DirectDeltaMush, MushSource, MushVariant};
use supple::mush::{Mush, MushOptions};
use supple::{
    Asset, Bounds, Local, Method, Normals, Output, Palette, Pose, Rig, Skin, Weights, Workspace,
};
use supple_io::gltf::{self, Document, MUSH_EXTENSION, StoredMush};
use supple_io::shortened;

/// Joints per vertex of the ordinary skin: what every engine can do.
const SKIN_INFLUENCES: usize = 4;

/// Errors are measured in so many clips, at so many times of each.
const MEASURED_CLIPS: usize = 4;
const MEASURED_TIMES: usize = 4;

/// In a file without clips all joints are turned by this, in radians, about one axis after the
/// other.
const TURN: f64 = 0.7;

/// Stores the bake, with its own weights as the ordinary skin; returns what to tell about it.
pub(crate) fn store(
    document: &mut Document,
    source: &Source,
    wanted: &MushArguments,
) -> Result<String, Failure> {
    let (options, mush) = bake(source, wanted)?;
    let rig = &source.asset.rig;
    document.set_mush(rig, &mush, &options, skin_influences(&options))?;
    // What is told, and what was measured, is about what others will read.
    let read = gltf::from_slice(&document.to_glb()?, &source.asset.name)?;
    let stored = read.stored_mush.as_ref();
    let Some((stored, kept)) = stored.and_then(|stored| Some((stored, stored.fitting()?))) else {
        let why = stored.and_then(|stored| unusable(&stored.state));
        let why = why.map_or_else(String::new, |(_, why)| format!(": {why}"));
        return Err(Failure::new(format!(
            "the bake cannot be read back from the file{why}"
        )));
    };
    let poses = Measured::of(&source.asset)?;
    let mush = Arc::new(mush);
    // The one that divides by determinants is told of by itself.
    let (mut of_others, mut of_v1): (f32, f32) = (0.0, 0.0);
    for variant in MushVariant::ALL {
        let [exact, kept] = [&mush, kept].map(|mush| run_by(variant, mush));
        let error = poses.largest_difference(rig, &exact, rig, &kept)?;
        let largest = match variant {
            MushVariant::V1 => &mut of_v1,
            _ => &mut of_others,
        };
        *largest = largest.max(error);
    }
    let skin_error = poses.largest_difference(
        rig,
        &run_by(MushVariant::V0, &mush),
        &read.asset.rig,
        &Method::Linear,
    )?;
    let (count, vertices) = (
        many(poses.palettes.len(), "pose"),
        rig.mesh().vertex_count(),
    );
    Ok(format!(
        "note: {} of {}, {} in the extension {MUSH_EXTENSION}
note: numbers of 16 bits move the surface by at most {} of its size, 'ddm-v1' by {} ({count} of {})
note: the ordinary skin is now that of 'ddm-v5' with {}, so that any program shows an approximation: at most {} of the size away from 'ddm' in these poses",
        mush_influences(kept.weights()),
        many(vertices, "vertex"),
        bytes(stored.byte_count),
        share_of_size(of_others),
        share_of_size(of_v1),
        poses.what,
        at_most(read.asset.rig.weights()),
        share_of_size(skin_error),
    ))
}

/// Makes the bake's own weights the ordinary skin, and stores nothing else; returns what to tell
/// about it.
pub(crate) fn store_as_skin(
    document: &mut Document,
    source: &Source,
    wanted: &MushArguments,
) -> Result<String, Failure> {
    let (options, mush) = bake(source, wanted)?;
    let most = skin_influences(&options);
    document.set_skin_of_mush(&source.asset.rig, &mush, most)?;
    Ok(format!(
        "note: the skin is now that of 'ddm-v5' with {}; nothing else is stored",
        at_most(&mush.weights().limited(most))
    ))
}

fn bake(source: &Source, wanted: &MushArguments) -> Result<(MushOptions, Mush), Failure> {
    let rig = &source.asset.rig;
    let mut options = source.mush_options(wanted)?;
    // Known from now on by nothing else: the weights are about to be replaced.
    options.rigid |= rig.weights().max_influences() == 1;
    let stored = source.stored_mush.as_ref();
    let same = stored.filter(|stored| stored.is_by(&options));
    if let Some(mush) = same.and_then(StoredMush::fitting) {
        console::tell("note: the file holds this bake already; it is stored again as it is");
        return Ok((options, Mush::clone(mush)));
    }
    source.tell_of_smoothed_weights(&options);
    let mush = mush::bake(rig, &options)?;
    Ok((options, mush))
}

fn skin_influences(options: &MushOptions) -> usize {
    options.max_influences.unwrap_or(SKIN_INFLUENCES)
}

fn at_most(weights: &Weights) -> String {
    format!(
        "at most {} per vertex",
        many(weights.max_influences(), "joint")
    )
}

fn run_by(variant: MushVariant, mush: &Arc<Mush>) -> Method {
    Method::DirectDeltaMush(DirectDeltaMush {
        variant,
        source: MushSource::Known(mush.clone()),
    })
}

/// The poses in which errors are measured.
struct Measured {
    palettes: Vec<Palette>,
    /// Where they come from.
    what: String,
}

impl Measured {
    fn of(asset: &Asset) -> Result<Measured, Failure> {
        let skeleton = asset.rig.skeleton();
        let clips = asset.clips.iter().take(MEASURED_CLIPS);
        let names: Vec<String> = clips.clone().map(|clip| shortened(&clip.name)).collect();
        let poses: Vec<Pose> = match names.is_empty() {
            true => turned_poses(asset),
            false => clips
                .flat_map(|clip| {
                    let length = clip.duration() - clip.start();
                    (0..MEASURED_TIMES).map(move |index| {
                        let share = (index as f64 + 0.5) / MEASURED_TIMES as f64;
                        asset.pose_at(clip, clip.start() + share * length)
                    })
                })
                .collect(),
        };
        let palettes = poses.iter().map(|pose| skeleton.palette(pose));
        Ok(Measured {
            palettes: palettes.collect::<Result<_, _>>()?,
            what: match names.is_empty() {
                true => "all joints turned".to_owned(),
                false => names.join(", "),
            },
        })
    }

    /// How far two methods are apart, as a share of the size of the posed surface.
    fn largest_difference(
        &self,
        rig: &Rig,
        method: &Method,
        other_rig: &Rig,
        other_method: &Method,
    ) -> Result<f32, DeformError> {
        let skins = [
            Skin::bake(rig, method, Normals::Transported)?,
            Skin::bake(other_rig, other_method, Normals::Transported)?,
        ];
        let mut workspace = Workspace::default();
        let mut surfaces = [
            rig.mesh().positions().to_vec(),
            rig.mesh().positions().to_vec(),
        ];
        let mut largest: f32 = 0.0;
        for palette in &self.palettes {
            for (skin, positions) in skins.iter().zip(&mut surfaces) {
                let output = Output {
                    positions,
                    normals: None,
                    tangents: None,
                };
                skin.deform(palette, &mut workspace, output)?;
            }
            let [one, other] = &surfaces;
            let extent = Bounds::around(one.iter().copied()).map_or(0.0, |bounds| bounds.extent());
            let pairs = one.iter().zip(other);
            let apart = pairs.map(|(one, other)| one.distance(*other));
            let apart = apart.fold(0.0, f32::max);
            if extent > 0.0 {
                largest = largest.max(apart / extent);
            }
        }
        Ok(largest)
    }
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
