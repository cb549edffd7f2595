//! One character played by every method at once, and measured.

mod measures;
mod samples;
mod sampling;

pub(crate) use measures::{FrameMeasures, SlowMeasures};
pub(crate) use samples::{Farthest, Samples, telling};
pub(crate) use sampling::middle;

use crate::methods::Entry;
use crate::regions::{self, TitledRegion};
use glam::Vec3;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use supple::deform::{BakedData, Normals, Workspace};
use supple::metrics::{Gauge, rest_scale};
use supple::{Affine, Asset, Method, Output, Palette, Player, Pose, Skin, exec};

/// Methods are compared at this many vertices: enough to find where they differ.
const COMPARED_VERTICES: usize = 4000;

/// A rest pose with less than this share of the bind pose's volume has collapsed, and is not used
/// as the reference.
const COLLAPSED: f64 = 0.05;

/// A player, or why there is none.
type Playing<'a> = Result<Player<'a>, String>;

/// One character and a player for every method, with what measuring its frames needs.
pub(crate) struct Comparison<'a> {
    pub asset: &'a Asset,
    /// Data that its methods need not compute.
    pub baked: BakedData,
    players: Vec<Mutex<Playing<'a>>>,
    /// The index of linear blending, if it is among the methods.
    linear: Option<usize>,
    pub gauge: Gauge,
    pub regions: Vec<TitledRegion>,
    /// Lengths in the rest pose over lengths in the bind pose: files may bind in other units than
    /// they show.
    pub scale: f64,
    /// The factor from lengths in the rest pose back to the bind pose; negative where the rest pose
    /// mirrors.
    bind_from_rest: f32,
    /// The volume in the file's rest pose over that in the bind pose.
    rest_volume: f64,
    /// The regions that share much of each region's skin.
    neighbours: Vec<Vec<usize>>,
    /// Vertices at which methods are compared: first `blended` vertices of several joints, then
    /// others; and for every region the indices of its own vertices in this list.
    compared: Vec<u32>,
    blended: usize,
    compared_in_region: Vec<Vec<u32>>,
}

impl<'a> Comparison<'a> {
    pub fn new(asset: &'a Asset, baked: &BakedData, entries: &[Entry]) -> Comparison<'a> {
        let players = exec::map(entries.len(), |index| {
            Mutex::new(play(asset, &entries[index].method, baked))
        });
        let gauge = Gauge::new(&asset.rig);
        let regions = regions::find(asset, &gauge);
        let mesh = asset.rig.mesh();
        let rest_scale = rest_scale(asset.rig.skeleton());
        let weights = asset.rig.weights();
        let (blended, others): (Vec<u32>, Vec<u32>) = (0..mesh.vertex_count() as u32)
            .partition(|&vertex| weights.of(vertex as usize).len() > 1);
        let some = |vertices: Vec<u32>, most: usize| {
            let step = vertices.len().div_ceil(most).max(1);
            vertices.into_iter().step_by(step)
        };
        let mut compared: Vec<u32> = some(blended, COMPARED_VERTICES).collect();
        let blended = compared.len();
        compared.extend(some(others, COMPARED_VERTICES / 4));
        let compared_in_region = regions.iter().map(|region| {
            let vertices = &region.skin.vertices;
            let member = |vertex: u32| vertices.binary_search(&(vertex as usize)).is_ok();
            let places = compared
                .iter()
                .enumerate()
                .filter(|(_, vertex)| member(**vertex));
            places.map(|(place, _)| place as u32).collect()
        });
        let mut comparison = Comparison {
            asset,
            baked: baked.clone(),
            players,
            linear: entries
                .iter()
                .position(|entry| entry.method == Method::Linear),
            gauge,
            scale: rest_scale.abs(),
            bind_from_rest: (1.0 / rest_scale) as f32,
            compared_in_region: compared_in_region.collect(),
            compared,
            blended,
            neighbours: regions::neighbours(&regions, mesh.vertex_count()),
            rest_volume: 1.0,
            regions,
        };
        let rest = asset.rest_pose();
        let volume = |method| {
            let change = |player: &Player<'_>| {
                comparison
                    .gauge
                    .volume_change(&comparison.unscaled(player.positions()))
            };
            comparison.pose(method, &rest, change).ok().flatten()
        };
        let mut methods = comparison
            .linear
            .into_iter()
            .chain(0..comparison.method_count());
        let at_rest = methods.find_map(volume).map(|change| 1.0 + change);
        // A rest pose that has all but collapsed is nothing to compare with.
        comparison.rest_volume = at_rest.filter(|&volume| volume > COLLAPSED).unwrap_or(1.0);
        comparison
    }

    /// Poses a method independently of the poses before.
    ///
    /// # Errors
    ///
    /// If the method cannot do the pose.
    pub fn pose<T>(
        &self,
        method: usize,
        pose: &Pose,
        then: impl FnOnce(&Player<'a>) -> T,
    ) -> Result<T, String> {
        self.pose_in_turn(method, 0, pose, then)
    }

    /// Poses a method in a frame of a series; frames after the first depend on the one before.
    fn pose_in_turn<T>(
        &self,
        method: usize,
        frame: usize,
        pose: &Pose,
        then: impl FnOnce(&Player<'a>) -> T,
    ) -> Result<T, String> {
        let player = self.players[method].lock();
        let mut player = player.unwrap_or_else(PoisonError::into_inner);
        let player = player.as_mut().map_err(|reason| reason.clone())?;
        if frame == 0 {
            player.start_afresh();
        }
        player.pose(pose).map_err(|error| error.to_string())?;
        if player.first_not_finite().is_some() {
            return Err("a position is not finite".to_owned());
        }
        Ok(then(player))
    }

    pub fn method_count(&self) -> usize {
        self.players.len()
    }

    /// The size of the character in the world.
    pub fn extent(&self) -> f64 {
        f64::from(self.asset.rig.mesh().extent()).max(1e-12) * self.scale
    }

    /// Positions as if shown in the units of the bind pose.
    fn unscaled(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let factor = self.bind_from_rest;
        positions
            .iter()
            .map(|&position| position * factor)
            .collect()
    }

    fn unmirrored(&self, normals: &[Vec3]) -> Vec<Vec3> {
        let side = self.bind_from_rest.signum();
        normals.iter().map(|&normal| normal * side).collect()
    }

    fn unscaled_palette(&self, palette: &Palette) -> Palette {
        let factor = self.bind_from_rest;
        let unscaled = |affine: &Affine| Affine {
            rows: affine.rows.map(|row| row * factor),
        };
        Palette {
            posed_from_bind: palette.posed_from_bind.iter().map(unscaled).collect(),
        }
    }

    /// The time of a method per vertex in nanoseconds, for positions and normals: the fastest of
    /// some runs.
    pub fn cost(&self, entry: &Entry, pose: &Pose) -> Option<f64> {
        let rig = &self.asset.rig;
        let count = rig.mesh().vertex_count();
        let mut positions = vec![Vec3::ZERO; count];
        let mut normals = vec![Vec3::ZERO; count];
        let palette = rig.skeleton().palette(pose).ok()?;
        let kind = Normals::Transported;
        let skin = Skin::bake_with(rig, &entry.method, kind, &self.baked).ok()?;
        let mut workspace = Workspace::default();
        let mut fastest = f64::INFINITY;
        let started = Instant::now();
        for run in 0..200 {
            let before = Instant::now();
            let output = Output {
                positions: &mut positions,
                normals: Some(&mut normals),
                tangents: None,
            };
            skin.deform(&palette, &mut workspace, output).ok()?;
            fastest = fastest.min(before.elapsed().as_secs_f64());
            if run >= 3 && started.elapsed().as_millis() > 40 {
                break;
            }
        }
        Some(fastest * 1e9 / count.max(1) as f64)
    }
}

fn play<'a>(asset: &'a Asset, method: &Method, baked: &BakedData) -> Playing<'a> {
    Skin::bake_with(&asset.rig, method, Normals::Transported, baked)
        .and_then(|skin| Player::with_skin(asset, skin))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::arap::ArapOptions;
    use supple::characters::{self, Character};

    /// Methods with state between frames start anew with every still and every clip.
    #[test]
    fn poses_do_not_depend_on_what_was_posed_before() {
        let asset = characters::build(Character::Bar, 2000).unwrap();
        let method = Method::Arap(ArapOptions {
            iterations: 1,
            follow: true,
            ..ArapOptions::default()
        });
        let entry = Entry::of(&method, method.to_string());
        let comparison = Comparison::new(&asset, &BakedData::default(), &[entry]);
        let clip = &asset.clips[0];
        let [one, other] = [0.5, 0.9].map(|share| asset.pose_at(clip, share * clip.duration()));
        let shown = |pose: &Pose| comparison.pose(0, pose, |player| player.positions().to_vec());
        let alone = shown(&one).unwrap();
        shown(&other).unwrap();
        assert_eq!(shown(&one).unwrap(), alone);
        let played = || comparison.sample(clip, 8, true).frames;
        let distortions = || -> Vec<f64> {
            let frames = played().into_iter().flatten();
            frames.map(|frame| frame.unwrap().distortion).collect()
        };
        let once = distortions();
        shown(&other).unwrap();
        assert_eq!(distortions(), once);
    }
}
