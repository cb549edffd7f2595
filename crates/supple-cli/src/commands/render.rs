//! `supple render`: a PNG of one pose, or a GIF of a clip.

use crate::args::render::{Focus, Overlay, RenderArguments};
use crate::console;
use crate::device::{Gpu, Painter};
use crate::failure::Failure;
use crate::joints::find_node;
use crate::output::extension;
use crate::source::Source;
use crate::{posing, progress, wording};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use supple::centers::{CenterError, Centers};
use supple::clip::Clip;
use supple::deform::{BakedData, DeformError};
use supple::metrics::Gauge;
use supple::{Asset, Bounds, Method, Normals, Player, Pose, Skin};
use supple_io::text::quoted;
use supple_io::whole_file::write_whole;
use supple_render::{
    Camera, ColorTable, GifWriter, Image, Lamps, Look, Overlays, Settings, Silhouette, View, render,
};

/// The number of frames, spread over the clip, from which a palette is chosen.
const PALETTE_FRAMES: usize = 6;

/// A vertex moves if it leaves its place by more than this share of the character's size.
const MOVING: f32 = 0.01;

/// The size of a close-up, relative to the part that moves.
const SURROUNDINGS: f32 = 1.25;

/// The same relative to the skin around a joint, so that the limbs on both sides are seen.
const AROUND_JOINT: f32 = 2.2;

/// The number of frames of a clip that are searched for moving parts, for a single picture.
const FOCUS_FRAMES: usize = 20;

/// The largest number of frames of a GIF.
const MOST_FRAMES: usize = 10_000;

pub(crate) fn run(options: &RenderArguments) -> Result<(), Failure> {
    let animated = match extension(&options.out).as_str() {
        "png" => false,
        "gif" => true,
        _ => return Err(Failure::wrong_ending(&options.out, ".png or .gif")),
    };
    let character = &options.character;
    let (gpu, source) = posing::open(character, &options.mush, &options.out)?;
    let mut method = character.method.method.clone();
    let mut baked = source.prepare(std::slice::from_mut(&mut method), &options.mush)?;
    let centers = options.overlay.contains(&Overlay::Centers);
    let centers = centers.then(|| source.centers_beside(&method, &baked));
    if let (Method::CentersOfRotation(_), Some(Ok(centers))) = (&method, &centers) {
        baked.centers = Some(centers.clone());
    }
    let picture = Picture {
        method,
        baked,
        normals: character.normals.normals,
        gpu,
        overlays: overlays(&options.overlay),
        centers,
        view: options.view,
        focus: options.focus.clone(),
        focused: match &options.focus {
            Focus::Joint(joint) => Some(skin_around(&source, joint)?),
            Focus::All | Focus::Moving => None,
        },
        settings: Settings {
            width: options.size.0,
            height: options.size.1,
            ..Settings::default()
        },
    };
    let asset = &source.asset;
    if animated {
        if character.moment.time.is_some() || character.moment.frame.is_some() {
            return Err(Failure::usage(
                "a .gif shows the whole clip; write a .png for one pose",
            ));
        }
        if !options.reach.is_empty() {
            return Err(Failure::usage(
                "--reach, --move and --turn make one pose; write a .png",
            ));
        }
        let wished = posing::wanted_clip(asset, &character.moment)?;
        let clip = wished.or(asset.clips.first()).ok_or_else(|| {
            Failure::new("the character has no clip").hint("write a .png instead")
        })?;
        let fps = character.moment.fps.unwrap_or(posing::USUAL_FPS);
        return picture.write_gif(asset, clip, fps, &options.out);
    }
    let clip = posing::wanted_clip(asset, &character.moment)?;
    if options.focus == Focus::Moving && clip.is_none() {
        let message = "--focus moving needs a clip";
        return Err(Failure::usage(message).hint("give one with --clip or --time"));
    }
    let mut pose = posing::wanted_pose(asset, &character.moment)?;
    options.reach.apply_and_report_misses(&source, &mut pose)?;
    picture.write_png(asset, clip, &pose, &options.out)
}

fn overlays(wanted: &[Overlay]) -> Overlays {
    Overlays {
        skeleton: wanted.contains(&Overlay::Skeleton),
        weights: wanted.contains(&Overlay::Weights),
        wireframe: wanted.contains(&Overlay::Wireframe),
    }
}

/// The settings of pictures.
pub(crate) struct Picture {
    pub(crate) method: Method,
    /// Data that the method need not compute.
    pub(crate) baked: BakedData,
    pub(crate) normals: Normals,
    /// The GPU that deforms and draws, in place of the processor.
    pub(crate) gpu: Option<Gpu>,
    pub(crate) overlays: Overlays,
    /// The centers of rotation to draw, if any.
    pub(crate) centers: Option<Result<Arc<Centers>, CenterError>>,
    pub(crate) view: View,
    pub(crate) focus: Focus,
    /// Vertices that the camera frames, if it frames a joint.
    pub(crate) focused: Option<Vec<u32>>,
    pub(crate) settings: Settings,
}

/// The renderer on the processor or the GPU.
enum Brush {
    Cpu(Settings),
    Gpu(Painter),
}

impl Brush {
    fn draw(&mut self, player: &Player<'_>, look: &Look, shot: &Shot) -> Result<Image, Failure> {
        let scene = look.scene(player, shot.ground);
        match self {
            Brush::Cpu(settings) => Ok(render(&scene, &shot.camera, settings)),
            Brush::Gpu(painter) => painter.draw(&scene, &shot.camera, player),
        }
    }
}

/// Frames of equal length; the end of the clip, where a loop is back at its start, is left out.
struct Frames<'a> {
    clip: &'a Clip,
    fps: f64,
    count: usize,
}

impl<'a> Frames<'a> {
    fn of(clip: &'a Clip, fps: f64) -> Result<Frames<'a>, Failure> {
        let seconds = clip.duration() - clip.start();
        let count = (seconds * fps).round().max(1.0);
        if count > MOST_FRAMES as f64 {
            let message = format!(
                "the clip {} lasts {seconds} s, which makes more than {MOST_FRAMES} frames",
                quoted(&clip.name)
            );
            return Err(Failure::new(message).hint("choose a lower --fps"));
        }
        Ok(Frames {
            clip,
            fps,
            count: count as usize,
        })
    }

    /// A fixed number of frames of a clip, to find the parts that move.
    fn few(clip: &'a Clip) -> Frames<'a> {
        Frames {
            clip,
            fps: FOCUS_FRAMES as f64 / (clip.duration() - clip.start()).max(1e-3),
            count: FOCUS_FRAMES,
        }
    }

    /// Poses a frame. Frames are played in order, as some methods start from the previous one.
    fn show(&self, frame: usize, player: &mut Player<'_>) -> Result<(), DeformError> {
        if frame == 0 {
            player.start_afresh();
        }
        let time = self.clip.start() + frame as f64 / self.fps;
        let pose = player.asset().pose_at(self.clip, time);
        player.pose(&pose)
    }
}

/// A camera, and the height of the ground.
struct Shot {
    camera: Camera,
    ground: Option<f32>,
}

impl Shot {
    /// Frames all positions of a clip, or the part that moves.
    ///
    /// # Errors
    /// A position is not finite.
    fn of(
        picture: &Picture,
        player: &mut Player<'_>,
        frames: Option<&Frames<'_>>,
    ) -> Result<Shot, Failure> {
        let mut whole = Silhouette::default();
        posing::check_finite(player)?;
        whole.add(player);
        let focused = picture.focused.as_deref().unwrap_or_default();
        let mut part = Silhouette::default();
        add_vertices(&mut part, player, focused);
        if let Some(frames) = frames {
            for frame in 0..frames.count {
                frames.show(frame, player)?;
                posing::check_finite(player)?;
                whole.add(player);
                add_vertices(&mut part, player, focused);
            }
            if picture.focus == Focus::Moving {
                add_moving(&mut part, player, frames)?;
            }
        }
        let framed = match picture.focused {
            Some(_) => part.widened(AROUND_JOINT),
            None => part
                .close_up(&whole, SURROUNDINGS)
                .unwrap_or_else(|| whole.points().collect()),
        };
        Ok(Shot {
            camera: Camera::framing(framed, picture.view, picture.settings.aspect()),
            ground: whole.ground(),
        })
    }
}

fn add_vertices(part: &mut Silhouette, player: &Player<'_>, vertices: &[u32]) {
    let positions = player.positions();
    let points = vertices.iter().map(|&vertex| positions[vertex as usize]);
    part.add_points(&points.collect::<Vec<_>>());
}

/// The vertices of the skin around a joint: where it blends with its parent, or if nothing does,
/// all that it influences.
fn skin_around(source: &Source, joint: &str) -> Result<Vec<u32>, Failure> {
    let node = find_node(source, joint)?;
    let rig = &source.asset.rig;
    let joints = rig.skeleton().joints().iter();
    let is_there = joints
        .map(|joint| joint.node == node)
        .collect::<Vec<bool>>();
    let gauge = Gauge::new(rig);
    let mut region: Vec<u32> = Vec::new();
    for joint in (0..is_there.len()).filter(|&joint| is_there[joint]) {
        if let Some(found) = gauge.region_of_joint(joint) {
            let triangles = rig.mesh().triangles();
            region.extend(
                found
                    .triangles
                    .iter()
                    .flat_map(|&triangle| triangles[triangle]),
            );
        }
    }
    if region.is_empty() {
        let weights = rig.weights();
        let influences = |vertex: &u32| {
            weights
                .of(*vertex as usize)
                .any(|held| is_there[held.joint])
        };
        region.extend((0..weights.vertex_count() as u32).filter(influences));
    }
    if region.is_empty() {
        let message = format!("the joint {} influences no vertex", quoted(joint));
        return Err(Failure::usage(message).hint("give another one to --focus"));
    }
    region.sort_unstable();
    region.dedup();
    Ok(region)
}

/// Adds the vertices that move at any time of the clip, in all frames.
fn add_moving(
    moving: &mut Silhouette,
    player: &mut Player<'_>,
    frames: &Frames<'_>,
) -> Result<(), Failure> {
    frames.show(0, player)?;
    let start = player.positions().to_vec();
    let extent = Bounds::around(start.iter().copied())
        .unwrap_or_default()
        .extent();
    let mut moves = vec![false; start.len()];
    for frame in 0..frames.count {
        frames.show(frame, player)?;
        for (moves, (now, then)) in moves.iter_mut().zip(player.positions().iter().zip(&start)) {
            *moves |= now.distance(*then) > MOVING * extent;
        }
    }
    for frame in 0..frames.count {
        frames.show(frame, player)?;
        let points = player.positions().iter().zip(&moves);
        let points: Vec<_> = points
            .filter(|(_, moves)| **moves)
            .map(|(point, _)| *point)
            .collect();
        moving.add_points(&points);
    }
    Ok(())
}

impl Picture {
    fn player<'a>(&self, asset: &'a Asset) -> Result<Player<'a>, Failure> {
        let skin = Skin::bake_with(&asset.rig, &self.method, self.normals, &self.baked)?;
        posing::player(asset, &self.method, skin, self.gpu.as_ref())
    }

    fn look(&self, asset: &Asset) -> Look {
        let look = Look::new(asset, self.overlays);
        let Some(centers) = &self.centers else {
            return look;
        };
        let look = match centers {
            Ok(centers) => look.with_centers(asset, centers.clone()),
            Err(_) => look,
        };
        let points = look.centers().map(Centers::points);
        if points.is_none_or(|points| points.iter().all(Option::is_none)) {
            let why = wording::why_no_centers(&asset.rig);
            console::eprint(&format!("note: no vertex has a center of rotation: {why}"));
        }
        look
    }

    fn brush(&self, settings: &Settings, player: &Player<'_>) -> Result<Brush, Failure> {
        Ok(match &self.gpu {
            Some(gpu) => Brush::Gpu(Painter::new(gpu, settings, player)?),
            None => Brush::Cpu(*settings),
        })
    }

    /// Draws one pose; `clip` shows which part moves, for `--focus moving`.
    pub(crate) fn write_png(
        &self,
        asset: &Asset,
        clip: Option<&Clip>,
        pose: &Pose,
        path: &Path,
    ) -> Result<(), Failure> {
        let mut player = self.player(asset)?;
        player.pose(pose)?;
        let frames = clip
            .filter(|_| self.focus == Focus::Moving)
            .map(Frames::few);
        let shot = Shot::of(self, &mut player, frames.as_ref())?;
        if frames.is_some() {
            player.start_afresh();
            player.pose(pose)?;
        }
        let look = self.look(asset);
        let image = self
            .brush(&self.settings, &player)?
            .draw(&player, &look, &shot)?;
        write_whole(path, |out| image.write_png(out).map_err(io::Error::other))
            .map_err(|error| Failure::writing(path, error))
    }

    /// Draws a clip as a GIF, with one camera.
    pub(crate) fn write_gif(
        &self,
        asset: &Asset,
        clip: &Clip,
        fps: f64,
        path: &Path,
    ) -> Result<(), Failure> {
        let settings = Settings {
            samples_per_axis: 3,
            lamps: Lamps::FEW,
            ..self.settings
        };
        // A GIF cannot hold more than 50 frames a second.
        let fps = fps.min(50.0);
        let frames = Frames::of(clip, fps)?;
        let mut player = self.player(asset)?;
        frames.show(0, &mut player)?;
        let shot = Shot::of(self, &mut player, Some(&frames))?;
        let look = self.look(asset);
        let bar = progress::bar(
            frames.count,
            &format!("drawing {}", supple_io::text::shortened(&clip.name)),
        );
        let mut brush = self.brush(&settings, &player)?;
        let mut draw = |player: &Player<'_>| brush.draw(player, &look, &shot);
        let every = frames.count.div_ceil(PALETTE_FRAMES);
        let mut samples: BTreeMap<usize, Image> = BTreeMap::new();
        for frame in 0..frames.count {
            frames.show(frame, &mut player)?;
            if frame % every == 0 {
                samples.insert(frame, draw(&player)?);
            }
        }
        let palette = ColorTable::of(samples.values());
        // An error other than that of the file.
        let mut failed = None;
        let written = write_whole(path, |out| {
            let mut gif = GifWriter::new(out, settings.width, settings.height, palette, fps)
                .map_err(io::Error::other)?;
            for frame in 0..frames.count {
                let shown = frames.show(frame, &mut player).map_err(Failure::from);
                let drawn = shown.and_then(|()| match samples.remove(&frame) {
                    Some(image) => Ok(image),
                    None => draw(&player),
                });
                let image = drawn.map_err(|failure| {
                    failed = Some(failure);
                    io::Error::other("no picture")
                })?;
                gif.push(&image).map_err(io::Error::other)?;
                bar.inc(1);
            }
            gif.finish().map_err(io::Error::other)?.flush()
        });
        bar.finish_and_clear();
        written.map_err(|error| failed.unwrap_or_else(|| Failure::writing(path, error)))
    }
}
