//! The experiment of `docs/arap.md` (Fig. 6 and 7 of the paper): how far point handles are from
//! bones, with and without the energy, as pictures, plots and a printed table.

use crate::Outcome;
use crate::album::{Album, LIGHT, Moment, Shot, character};
use glam::Vec3;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use supple::arap::{Arap, ArapOptions, ArapState};
use supple::bind::{BindMethod, BoundedBiharmonicOptions, Handle, bind};
use supple::metrics::RmsDistance;
use supple::{Asset, Method, Normals, Output, Palette, Rig, Skin, Weights, Workspace};
use supple_render::View;

/// Frames of a clip that are compared.
const FRAMES: usize = 24;

/// The thresholds of Fig. 7.
const THRESHOLDS: [f64; 8] = [0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99];

/// The rounds of Fig. 7.
const ROUNDS: [usize; 9] = [0, 1, 2, 3, 4, 6, 8, 10, 15];

/// The character of the experiment.
const ARM: &str = "arm:8435";

/// Its clips.
const CLIPS: [&str; 2] = ["fist", "elbow-bend-120"];

/// Draws the pictures.
pub(crate) fn draw(album: &Album) -> Outcome<()> {
    let arm = character(ARM)?;
    CLIPS
        .iter()
        .try_for_each(|clip| draw_clip(album, &arm, clip))
}

/// Measures the clips, and one of a file; prints the table and draws the plots.
pub(crate) fn measure(folder: &Path, file: Option<(&Path, &str)>) -> Outcome<()> {
    let arm = character(ARM)?;
    let mut plots = Vec::new();
    for clip in CLIPS {
        plots.push(Experiment::of(&arm, clip)?.run(&format!("arm, {clip}"), 0.95)?);
    }
    if let Some((file, clip)) = file {
        let asset = supple_io::gltf::load(file)?.asset;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        plots.push(Experiment::of(&asset, clip)?.run(&name, 0.95)?);
    }
    let lines = |plot: fn(&Curves) -> &Line| plots.iter().map(plot).collect::<Vec<_>>();
    std::fs::create_dir_all(folder)?;
    let rounds = chart("rounds of the energy", &lines(|curves| &curves.rounds));
    std::fs::write(folder.join("rounds.svg"), rounds)?;
    let thresholds = chart("threshold l", &lines(|curves| &curves.thresholds));
    Ok(std::fs::write(folder.join("threshold.svg"), thresholds)?)
}

/// A character with bone weights and with point weights, and where bones take it.
struct Experiment {
    bones: Rig,
    points: Rig,
    frames: Vec<(Palette, Vec<Vec3>)>,
    /// The factor that makes the longest side one.
    scale: f64,
}

/// Values over a number.
struct Line {
    name: String,
    values: Vec<(f64, f64)>,
    /// The error of linear blending of points.
    without: f64,
}

struct Curves {
    rounds: Line,
    thresholds: Line,
}

impl Experiment {
    fn of(asset: &Asset, clip: &str) -> Outcome<Experiment> {
        let (bones, points) = both_rigs(asset)?;
        let clip = asset.clips.iter().find(|known| known.name == clip);
        let clip = clip.ok_or("no such clip")?;
        let skin = Skin::bake(&bones, &Method::Linear, Normals::Transported)?;
        let frame = |at: usize| -> Outcome<(Palette, Vec<Vec3>)> {
            let length = clip.duration() - clip.start();
            let time = clip.start() + length * at as f64 / FRAMES as f64;
            let palette = bones.skeleton().palette(&asset.pose_at(clip, time))?;
            let positions = posed(&skin, &palette)?;
            Ok((palette, positions))
        };
        let frames = (0..FRAMES).map(frame).collect::<Outcome<Vec<_>>>()?;
        let bounds = bones.mesh().bounds().ok_or("nothing to bind")?;
        Ok(Experiment {
            scale: 1.0 / f64::from((bounds.max - bounds.min).max_element()),
            bones,
            points,
            frames,
        })
    }

    /// The table of a character, and its lines in the plots.
    #[expect(clippy::print_stdout, reason = "the table is for the terminal")]
    fn run(&self, name: &str, threshold: f64) -> Outcome<Curves> {
        let linear = Skin::bake(&self.points, &Method::Linear, Normals::Transported)?;
        let without = self.distance(|palette| posed(&linear, palette))?;
        let vertices = self.bones.mesh().vertex_count();
        println!("{name}, {vertices} vertices: linear blending of points {without:.3} %");
        let mut rounds = Vec::new();
        for iterations in ROUNDS {
            let options = ArapOptions {
                iterations,
                threshold,
                ..ArapOptions::default()
            };
            let (distance, milliseconds) = self.with(&options)?;
            println!(
                "  l = {threshold}, {iterations} rounds: {distance:.3} %, {milliseconds:.2} ms a \
                 frame"
            );
            rounds.push((iterations as f64, distance));
        }
        let mut thresholds = Vec::new();
        for threshold in THRESHOLDS {
            let options = ArapOptions {
                threshold,
                ..ArapOptions::default()
            };
            let (distance, _) = self.with(&options)?;
            println!("  l = {threshold}, 3 rounds: {distance:.3} %");
            thresholds.push((threshold, distance));
        }
        let line = |values| Line {
            name: name.to_owned(),
            values,
            without,
        };
        Ok(Curves {
            rounds: line(rounds),
            thresholds: line(thresholds),
        })
    }

    fn with(&self, options: &ArapOptions) -> Outcome<(f64, f64)> {
        let arap = Arap::new(&self.points, options)?;
        let mut state = ArapState::default();
        let mut seconds = 0.0;
        let distance = self.distance(|palette| {
            let mut positions = vec![Vec3::ZERO; self.points.mesh().vertex_count()];
            let start = Instant::now();
            arap.deform(palette, &mut state, &mut positions)?;
            seconds += start.elapsed().as_secs_f64();
            Ok(positions)
        })?;
        Ok((distance, 1e3 * seconds / FRAMES as f64))
    }

    /// The root of the mean square of all coordinates' differences to bones, in per cent of the
    /// longest side.
    fn distance(&self, mut pose: impl FnMut(&Palette) -> Outcome<Vec<Vec3>>) -> Outcome<f64> {
        let mut distance = RmsDistance::new();
        for (palette, expected) in &self.frames {
            distance.add(&pose(palette)?, expected);
        }
        Ok(100.0 * self.scale * distance.value())
    }
}

fn posed(skin: &Skin, palette: &Palette) -> Outcome<Vec<Vec3>> {
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let output = Output {
        positions: &mut positions,
        normals: None,
        tangents: None,
    };
    skin.deform(palette, &mut Workspace::default(), output)?;
    Ok(positions)
}

/// Bounded biharmonic weights of bones, and of points where the bones have their joints.
fn both_rigs(asset: &Asset) -> Outcome<(Rig, Rig)> {
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let joints: Vec<usize> = (0..skeleton.joints().len()).collect();
    let bones = Handle::of_joints(skeleton, &joints);
    let points = bones.iter();
    let points = points.map(|handle| Handle::point(handle.joint, handle.bones[0].head));
    let points: Vec<Handle> = points.collect();
    let method = BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions::default());
    let weights = |handles: &[Handle]| -> Outcome<Weights> {
        Ok(bind(mesh, handles, joints.len(), &method, &|_| {})?.weights)
    };
    let rig = |handles: &[Handle]| -> Outcome<Rig> {
        let weights = weights(handles)?;
        Ok(Rig::new(mesh.clone(), skeleton.clone(), weights)?)
    };
    Ok((rig(&bones)?, rig(&points)?))
}

/// Fig. 6: bones, points, and points with the energy.
fn draw_clip(album: &Album, asset: &Asset, clip: &'static str) -> Outcome<()> {
    let (bones, points) = both_rigs(asset)?;
    let arap = Method::Arap(ArapOptions {
        threshold: 0.95,
        ..ArapOptions::default()
    });
    let drawn = [
        ("bones", bones, Method::Linear),
        ("points", points.clone(), Method::Linear),
        ("rigid", points, arap),
    ];
    for (name, rig, method) in drawn {
        let mut asset = asset.clone();
        asset.rig = rig;
        let (yaw_degrees, pitch_degrees, framed): (_, _, fn(Vec3) -> bool) = match clip {
            "fist" => (60.0, 10.0, |place| place.x > 0.55),
            _ => (0.0, 85.0, |_| true),
        };
        let shot = Shot {
            moment: Moment::Clip(clip),
            size: (260, 200),
            framed,
            colors: Some(vec![LIGHT; asset.rig.mesh().vertex_count()]),
            ..Shot::of(
                &asset,
                View {
                    yaw_degrees,
                    pitch_degrees,
                },
            )
        };
        album.draw(&format!("{clip}-{name}"), &shot, &method)?;
    }
    Ok(())
}

/// Lines over a number, each with a dashed one for linear blending alone.
fn chart(title: &str, lines: &[&Line]) -> String {
    const COLORS: [&str; 3] = ["#c0392b", "#2874a6", "#1e8449"];
    let (width, height, left, top, right, bottom) = (520.0, 320.0, 56.0, 20.0, 16.0, 46.0);
    let values = || lines.iter().flat_map(|line| &line.values);
    let highest = lines.iter().map(|line| line.without);
    let highest = values()
        .map(|value| value.1)
        .chain(highest)
        .fold(0.0, f64::max)
        * 1.1;
    let low = values().map(|value| value.0).fold(f64::INFINITY, f64::min);
    let high = values()
        .map(|value| value.0)
        .fold(f64::NEG_INFINITY, f64::max);
    let x = |value: f64| left + (value - low) / (high - low) * (width - left - right);
    let y = |value: f64| top + (1.0 - value / highest) * (height - top - bottom);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut add = |text: String| {
        let _ = writeln!(svg, "{text}");
    };
    let step = 10f64.powf((highest / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * step);
    let step = step
        .into_iter()
        .find(|step| highest / step <= 6.0)
        .unwrap_or(highest);
    for tick in 0..=(highest / step) as usize {
        let value = tick as f64 * step;
        let at = y(value);
        add(format!(
            "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"#ddd\"/>",
            width - right
        ));
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            (value * 1e6).round() / 1e6
        ));
    }
    let numbers = lines.first().map(|line| &line.values);
    for (number, _) in numbers.into_iter().flatten() {
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{number}</text>",
            x(*number),
            height - bottom + 18.0
        ));
    }
    add(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{title}</text>",
        (left + width - right) / 2.0,
        height - 8.0
    ));
    add(format!(
        "<text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">\
         distance to bones, %</text>",
        (top + height - bottom) / 2.0
    ));
    for (line, color) in lines.iter().zip(COLORS) {
        let places = line
            .values
            .iter()
            .map(|value| format!("{:.1},{:.1}", x(value.0), y(value.1)));
        let places: Vec<String> = places.collect();
        add(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            places.join(" ")
        ));
        for place in &places {
            let (x, y) = place.split_once(',').unwrap_or_default();
            add(format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{color}\"/>"
            ));
        }
        let at = y(line.without);
        add(format!(
            "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"{color}\" stroke-dasharray=\"5 4\"/>",
            width - right
        ));
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{color}\">\
             {}, without the energy</text>",
            width - right - 4.0,
            at - 5.0,
            line.name
        ));
    }
    svg + "</svg>\n"
}
