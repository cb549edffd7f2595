//! Direct delta mush: what a bake takes, and what a frame takes by each of the variants.

use super::scenes;
use super::{MOMENT, best_of, built_in, clocked, markdown, milliseconds, readable};
use crate::failure::Failure;
use crate::source::Source;
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use supple::deform::{DeltaMush, DirectDeltaMush, MushSource};
use supple::mush::{Mush, MushOptions};
use supple::{Asset, Method, Normals, Output, Palette, Rig, Skin, Workspace};

/// All that is timed.
#[derive(Default)]
pub(super) struct Rows {
    bakes: Vec<Bake>,
    frames: Vec<Frame>,
}

/// The built-in characters.
pub(super) fn time_characters(with_exact: bool, tell: impl Fn(&Path)) -> Result<Rows, Failure> {
    let mut rows = Rows::default();
    for character in scenes::MUSHED {
        let file = built_in(character);
        tell(&file);
        let asset = Source::open(&file)?.asset;
        rows.bakes.extend(bakes(&file, &asset, with_exact)?);
        if character == scenes::POSED {
            rows.frames.extend(frames(&file, &asset, true)?);
        }
    }
    if with_exact {
        let file = built_in(scenes::LARGE);
        tell(&file);
        // To solve every joint everywhere on it would take longer than anyone waits.
        rows.bakes
            .extend(bakes(&file, &Source::open(&file)?.asset, false)?);
    }
    Ok(rows)
}

/// All that there is to time on one character.
pub(super) fn time_file(file: &Path, asset: &Asset, with_exact: bool) -> Result<Rows, Failure> {
    Ok(Rows {
        bakes: bakes(file, asset, with_exact)?,
        frames: frames(file, asset, false)?,
    })
}

/// A bake from a rigid bind.
struct Bake {
    character: String,
    vertices: usize,
    joints: usize,
    radius_from_bones: bool,
    /// The mean of what is kept.
    influences: f64,
    time: Duration,
    everywhere: Option<Everywhere>,
}

/// The same with every joint solved everywhere, and none left out.
struct Everywhere {
    time: Duration,
    /// The largest difference of deformed vertices over some poses, as a share of the extent.
    difference: f64,
}

fn bakes(file: &Path, asset: &Asset, with_exact: bool) -> Result<Vec<Bake>, Failure> {
    let bake = |radius_from_bones| bake(file, asset, radius_from_bones, with_exact);
    [false, true].into_iter().map(bake).collect()
}

fn bake(
    file: &Path,
    asset: &Asset,
    radius_from_bones: bool,
    with_exact: bool,
) -> Result<Bake, Failure> {
    let rig = &asset.rig;
    let options = scenes::mush_options(radius_from_bones);
    let (baked, time) = best_of(MOMENT, || clocked(|| Mush::bake(rig, &options)))?;
    let mush = baked.mush;
    let vertices = rig.mesh().vertex_count();
    let influences = mush.weights().influence_count() as f64 / vertices.max(1) as f64;
    let everywhere = match with_exact {
        true => Some(everywhere(asset, mush, &options)?),
        false => None,
    };
    Ok(Bake {
        character: file.display().to_string(),
        vertices,
        joints: rig.skeleton().joints().len(),
        radius_from_bones,
        influences,
        time,
        everywhere,
    })
}

fn everywhere(asset: &Asset, pruned: Mush, options: &MushOptions) -> Result<Everywhere, Failure> {
    let rig = &asset.rig;
    let whole = MushOptions {
        prune: 0.0,
        ..options.clone()
    };
    let (whole, time) = clocked(|| Mush::bake(rig, &whole))?;
    let skins = [pruned, whole.mush]
        .map(|mush| skin(rig, &known(DirectDeltaMush::default(), &Arc::new(mush))));
    let [pruned, whole] = skins;
    let (pruned, whole) = (pruned?, whole?);
    let mut workspace = Workspace::default();
    let mut places = [(); 2].map(|()| vec![Vec3::ZERO; rig.mesh().vertex_count()]);
    let mut largest: f32 = 0.0;
    for palette in scenes::poses(asset) {
        for (skin, places) in [&pruned, &whole].into_iter().zip(&mut places) {
            deform(skin, &palette, &mut workspace, places)?;
        }
        let pairs = places[0].iter().zip(&places[1]);
        let distances = pairs.map(|(a, b)| a.distance(*b));
        largest = distances.fold(largest, f32::max);
    }
    let extent = rig.mesh().bounds().map_or(1.0, |bounds| bounds.extent());
    Ok(Everywhere {
        time,
        difference: f64::from(largest / extent),
    })
}

fn skin(rig: &Rig, method: &Method) -> Result<Skin, Failure> {
    Ok(Skin::bake(rig, method, Normals::Transported)?)
}

/// A variant that takes what was baked already.
fn known(options: DirectDeltaMush, mush: &Arc<Mush>) -> Method {
    Method::DirectDeltaMush(DirectDeltaMush {
        source: MushSource::Known(mush.clone()),
        ..options
    })
}

fn deform(
    skin: &Skin,
    palette: &Palette,
    workspace: &mut Workspace,
    positions: &mut [Vec3],
) -> Result<(), Failure> {
    let output = Output {
        positions,
        normals: None,
        tangents: None,
    };
    Ok(skin.deform(palette, workspace, output)?)
}

/// What a frame takes, on one thread.
struct Frame {
    character: String,
    method: String,
    vertices: usize,
    influences: f64,
    time: Duration,
    /// How many times as long as linear blending with the same joints.
    beside_linear: f64,
    /// Microseconds per vertex in the paper.
    paper: Option<f64>,
}

/// Linear blending with the weights of v5, all variants, and delta mush, which smooths in every
/// frame.
fn frames(file: &Path, asset: &Asset, with_paper: bool) -> Result<Vec<Frame>, Failure> {
    let rig = &asset.rig;
    let options = scenes::mush_options(true);
    let mush = Arc::new(Mush::bake(rig, &options)?.mush);
    let poses = scenes::poses(asset);
    let palette = &poses[poses.len() - 1];
    let weights = mush.weights().clone();
    let blended = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
    let vertices = rig.mesh().vertex_count();
    let linear = frame(&skin(&blended, &Method::Linear)?, palette, vertices)?;
    let row = |method: &Method, time: Duration, paper: Option<f64>| Frame {
        character: file.display().to_string(),
        method: method.name().to_owned(),
        vertices,
        influences: mush.weights().influence_count() as f64 / vertices.max(1) as f64,
        time,
        beside_linear: time.as_secs_f64() / linear.as_secs_f64(),
        paper: paper.filter(|_| with_paper),
    };
    let mut rows = vec![row(&Method::Linear, linear, None)];
    let mut paper = scenes::BRUTE.iter();
    for method in Method::ALL {
        if let Method::DirectDeltaMush(options) = method {
            let time = frame(
                &skin(rig, &known(options.clone(), &mush))?,
                palette,
                vertices,
            )?;
            rows.push(row(method, time, paper.next().copied()));
        }
    }
    let smoothed = Method::DeltaMush(DeltaMush {
        smoothing: options,
        ..DeltaMush::default()
    });
    let time = frame(&skin(rig, &smoothed)?, palette, vertices)?;
    rows.push(row(&smoothed, time, None));
    Ok(rows)
}

fn frame(skin: &Skin, palette: &Palette, vertices: usize) -> Result<Duration, Failure> {
    let mut workspace = Workspace::default();
    let mut positions = vec![Vec3::ZERO; vertices];
    let (_, time) = best_of(MOMENT, || {
        clocked(|| deform(skin, palette, &mut workspace, &mut positions))
    })?;
    Ok(time)
}

impl Bake {
    fn to_json(&self) -> Value {
        let mut row = json!({
            "bench": "mush",
            "what": "bake",
            "character": self.character,
            "vertices": self.vertices,
            "joints": self.joints,
            "radius_from_bones": self.radius_from_bones,
            "influences": self.influences,
            "ms": milliseconds(self.time),
        });
        if let Some(everywhere) = &self.everywhere {
            row["everywhere_ms"] = json!(milliseconds(everywhere.time));
            row["largest_difference"] = json!(everywhere.difference);
        }
        row
    }
}

impl Frame {
    fn ns_per_vertex(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.vertices.max(1) as f64
    }

    fn to_json(&self) -> Value {
        let mut row = json!({
            "bench": "mush",
            "what": "frame",
            "method": self.method,
            "character": self.character,
            "vertices": self.vertices,
            "influences": self.influences,
            "ms": milliseconds(self.time),
            "ns_per_vertex": self.ns_per_vertex(),
            "beside_linear": self.beside_linear,
        });
        if let Some(paper) = self.paper {
            row["paper_ns_per_vertex"] = json!(paper * 1e3);
        }
        row
    }
}

impl Rows {
    pub(super) fn to_json(&self) -> impl Iterator<Item = Value> {
        let frames = self.frames.iter().map(Frame::to_json);
        self.bakes.iter().map(Bake::to_json).chain(frames)
    }

    /// For people: bakes, then frames.
    pub(super) fn tables(&self) -> String {
        format!("{}\n{}", self.bake_table(), self.frame_table())
    }

    fn bake_table(&self) -> String {
        let head = [
            "bake of direct delta mush",
            "vertices",
            "joints",
            "radius from bones",
            "influences",
            "every joint everywhere",
            "Supple",
            "a vertex",
            "largest difference",
        ];
        let lines = self.bakes.iter().map(|row| {
            let everywhere = row.everywhere.as_ref();
            let per_vertex = row.time.as_secs_f64() * 1e6 / row.vertices.max(1) as f64;
            [
                row.character.clone(),
                row.vertices.to_string(),
                row.joints.to_string(),
                if row.radius_from_bones { "on" } else { "off" }.to_owned(),
                format!("{:.1}", row.influences),
                everywhere
                    .map(|everywhere| readable(everywhere.time))
                    .unwrap_or_default(),
                readable(row.time),
                format!("{per_vertex:.1} µs"),
                everywhere
                    .map(|everywhere| format!("{:.1e}", everywhere.difference))
                    .unwrap_or_default(),
            ]
        });
        markdown(head, lines)
    }

    fn frame_table(&self) -> String {
        let head = [
            "a frame, one thread",
            "character",
            "vertices",
            "influences",
            "the paper, a vertex",
            "Supple, a vertex",
            "beside linear",
        ];
        let lines = self.frames.iter().map(|row| {
            let paper = row.paper.map(|paper| format!("{:.0} ns", paper * 1e3));
            [
                row.method.clone(),
                row.character.clone(),
                row.vertices.to_string(),
                format!("{:.1}", row.influences),
                paper.unwrap_or_default(),
                format!("{:.1} ns", row.ns_per_vertex()),
                format!("{:.1} ×", row.beside_linear),
            ]
        });
        markdown(head, lines)
    }
}
