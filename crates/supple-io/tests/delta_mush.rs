//! Delta mush and direct delta mush on every shared model, from a rigid bind: finite at any time,
//! and no vertex thrown off its bones.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use glam::{DAffine3, DVec3, Vec3};
use std::path::Path;
use std::sync::Arc;
use supple::deform::{BakedData, DeltaMush, DirectDeltaMush, LocalFrames, MushVariant};
use supple::mush::{Mush, MushOptions};
use supple::{Asset, Method, Normals, Output, Palette, Rig, Skin, Workspace, exec};
use supple_io::gltf;

/// Times of a clip, as shares of its length: an end, between keys, and beyond.
const SHARES: [f64; 3] = [0.137, 0.5, 0.811];
/// A file with very many clips is asked for some of them, spread over all.
const MOST_CLIPS: usize = 4;
/// Larger models take too long in the profile of tests. The one there is, the body with every
/// triangle cut into four, is looked at in `every_method.rs`; it was measured once, at 0.008 for
/// all variants.
const MOST_VERTICES: usize = 20_000;

/// A bone from its head to its tail.
type Bone = (DVec3, DVec3);

fn distance(place: DVec3, bones: impl Iterator<Item = Bone>) -> f64 {
    let distances = bones.map(|(head, tail)| {
        let along = tail - head;
        let length = along.length_squared();
        let at = if length > 0.0 {
            (place - head).dot(along) / length
        } else {
            0.0
        };
        place.distance(head + along * at.clamp(0.0, 1.0))
    });
    distances.fold(f64::INFINITY, f64::min)
}

/// The largest allowed distances of vertices from their bones.
///
/// The issue asks for 1.5 times the distance at rest, to the whole skeleton. That is not even true
/// of a rigid bind: a vertex next to a bone that does not hold it is left behind when that bone
/// moves (4.9 times on the bone of dem_bones, 4.3 on momentum_test, 3.9 on the fox). So the
/// distance is that to the bones that hold the vertex, of which a rigid bind keeps the rest
/// distance exactly. And smoothing moves the surface of a bent limb away from the bone by design
/// (§3.3, "negative bulging"), the farther the coarser the mesh: a share of the extent is added
/// that is a little more than what was measured, at the worst joint of the coarsest models.
struct Reach {
    /// The file's vertices, and the joints that hold each: those of the bake and those of the
    /// file.
    holders: Vec<Vec<usize>>,
    bones: Vec<Bone>,
    /// From the bone that a rigid bind gives the vertex.
    at_rest: Vec<f64>,
    extent: f64,
}

impl Reach {
    fn of(rig: &Rig, mush: &Mush) -> Reach {
        let bones = rig.skeleton().bind_bones();
        let bones: Vec<Bone> = bones.iter().map(|bone| (bone.head, bone.tail)).collect();
        let positions = rig.mesh().positions();
        let holders = (0..positions.len()).map(|vertex| {
            let baked = mush.weights().of(vertex);
            let all = baked.chain(rig.weights().of(vertex));
            all.map(|influence| influence.joint).collect()
        });
        let at_rest = positions.iter().enumerate().map(|(vertex, place)| {
            let own = rig.weights().of(vertex).next().unwrap().joint;
            distance(place.as_dvec3(), [bones[own]].into_iter())
        });
        Reach {
            holders: holders.collect(),
            at_rest: at_rest.collect(),
            bones,
            extent: f64::from(rig.mesh().extent()),
        }
    }

    /// The largest excess over 1.5 times a vertex's rest distance, as a share of the extent, in a
    /// pose that may scale everything.
    fn farthest_beyond(&self, posed: &[Vec3], palette: &Palette) -> f64 {
        let maps: Vec<_> = palette
            .posed_from_bind
            .iter()
            .map(|map| DAffine3::from(*map))
            .collect();
        let scales = maps
            .iter()
            .map(|map| map.matrix3.determinant().abs().cbrt());
        let scale = scales.fold(0.0, f64::max);
        let bone = |joint: &usize| {
            let (head, tail) = self.bones[*joint];
            (
                maps[*joint].transform_point3(head),
                maps[*joint].transform_point3(tail),
            )
        };
        let beyond = posed.iter().enumerate().map(|(vertex, place)| {
            let away = distance(place.as_dvec3(), self.holders[vertex].iter().map(bone));
            (away - 1.5 * scale * self.at_rest[vertex]) / (scale * self.extent)
        });
        beyond.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Every method, with what it may be beyond 1.5 times the rest distance.
fn methods(options: &MushOptions) -> Vec<(Method, f64)> {
    let variants = [
        (MushVariant::V0, 0.04),
        // Distorted where patches are pressed flat, and inside out beyond: the flaw that the paper
        // describes. Distorted by its formula (§3.5.2), most of all at the ends of a
        // cylinder of few rings.
        (MushVariant::V1, 0.4),
        (MushVariant::V2, 0.05),
        (MushVariant::V3, 0.05),
        (MushVariant::V4, 0.07),
        (MushVariant::V5, 0.04),
    ];
    let direct = variants.map(|(variant, beyond)| {
        let smoothing = options.clone();
        let direct = DirectDeltaMush { variant, smoothing };
        (Method::DirectDeltaMush(direct), beyond)
    });
    let smoothed = [LocalFrames::Tangent, LocalFrames::BestFit].map(|frames| {
        let smoothing = options.clone();
        (Method::DeltaMush(DeltaMush { smoothing, frames }), 0.06)
    });
    direct.into_iter().chain(smoothed).collect()
}

fn poses(asset: &Asset) -> Vec<(String, Palette)> {
    let every = asset.clips.len().div_ceil(MOST_CLIPS).max(1);
    let clips = asset.clips.iter().step_by(every);
    let times = clips.flat_map(|clip| SHARES.map(|share| (clip, share)));
    times
        .map(|(clip, share)| {
            let pose = asset.pose_at(clip, share * clip.duration());
            (
                format!("'{}' at {share}", clip.name),
                asset.rig.skeleton().palette(&pose).unwrap(),
            )
        })
        .collect()
}

fn check(path: &Path) {
    let name = path.file_name().unwrap().display().to_string();
    let asset = gltf::load(path).unwrap().asset;
    let rig = &asset.rig;
    let poses = poses(&asset);
    if poses.is_empty() || !(1..MOST_VERTICES).contains(&rig.mesh().vertex_count()) {
        return;
    }
    let options = MushOptions {
        rigid: true,
        ..MushOptions::default()
    };
    let mush = Mush::bake(rig, &options)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .mush;
    let mush = Arc::new(mush);
    let reach = Reach::of(rig, &mush);
    let baked = BakedData {
        mush: Some(mush),
        ..BakedData::default()
    };
    for (method, allowed) in methods(&options) {
        let skin = Skin::bake_with(rig, &method, Normals::Transported, &baked).unwrap();
        let mut workspace = Workspace::default();
        let mut positions = vec![Vec3::NAN; skin.vertex_count()];
        for (pose, palette) in &poses {
            let output = Output {
                positions: &mut positions,
                normals: None,
                tangents: None,
            };
            skin.deform(palette, &mut workspace, output).unwrap();
            let lost = positions.iter().position(|place| !place.is_finite());
            assert_eq!(lost, None, "{name}, {method}, {pose}");
            let beyond = reach.farthest_beyond(&positions, palette);
            assert!(
                beyond < allowed,
                "{name}, {method}, {pose}: {beyond} of the extent beyond 1.5 times the rest \
                 distance"
            );
        }
    }
}

#[test]
fn no_vertex_is_thrown_off_its_bones_on_any_model() {
    let models = common::models();
    exec::map(models.len(), |model| check(&models[model]));
}
