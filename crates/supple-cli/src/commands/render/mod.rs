//! `supple render`: a PNG of one pose, or a GIF of a clip.

mod panel;
mod shot;

use crate::args::render::{Focus, Overlay, RenderArguments};
use crate::console;
use crate::device::Gpu;
use crate::failure::Failure;
use crate::output::extension;
use crate::source::Source;
use crate::{posing, progress, wording};
use panel::{Canvas, Panel, draw};
use shot::{Frames, Shot, skin_around};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use supple::centers::{CenterError, Centers};
use supple::clip::Clip;
use supple::deform::BakedData;
use supple::{Asset, Method, Normals, Pose};
use supple_io::whole_file::write_whole;
use supple_render::{
    ColorTable, GifWriter, Image, Lamps, Look, Overlays, Settings, StretchColors, View,
};

/// The number of frames, spread over the clip, from which a palette is chosen.
const PALETTE_FRAMES: usize = 6;

/// The most pixels of a picture with several methods, four times as many as one can have.
const MOST_PIXELS: usize = 4 * 8192 * 8192;

pub(crate) fn run(options: &RenderArguments) -> Result<(), Failure> {
    let animated = match extension(&options.out).as_str() {
        "png" => false,
        "gif" => true,
        _ => return Err(Failure::wrong_ending(&options.out, ".png or .gif")),
    };
    check_overlays(&options.overlay)?;
    check_size(options)?;
    let shot = options
        .camera
        .as_deref()
        .map(Shot::of_picture)
        .transpose()?;
    let character = &options.character;
    let mut methods = options.methods.methods.clone();
    let (gpu, source) = posing::open(character, &methods, &options.mush, &options.out)?;
    let mut baked = source.prepare(&mut methods, &options.mush)?;
    let centers = match options.overlay.contains(&Overlay::Centers) {
        true => centers_of(&methods, &source, &mut baked),
        false => None,
    };
    let picture = Picture {
        methods,
        baked,
        normals: character.normals.normals,
        gpu,
        overlays: overlays(&options.overlay),
        stretch: options.overlay.contains(&Overlay::Stretch),
        centers,
        view: options.view,
        focus: options.focus.clone(),
        focused: match &options.focus {
            Focus::Joint(joint) => Some(skin_around(&source, joint)?),
            Focus::All | Focus::Moving => None,
        },
        shot,
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

/// Refuses overlays that colour the same surface.
fn check_overlays(wanted: &[Overlay]) -> Result<(), Failure> {
    match wanted.contains(&Overlay::Weights) && wanted.contains(&Overlay::Stretch) {
        true => Err(Failure::usage(
            "the overlays 'weights' and 'stretch' both colour the surface; choose one",
        )),
        false => Ok(()),
    }
}

fn check_size(options: &RenderArguments) -> Result<(), Failure> {
    let (width, height) = options.size;
    let count = options.methods.methods.len();
    match count * width * height > MOST_PIXELS {
        true => Err(Failure::usage(format!(
            "{count} pictures of {width} × {height} pixels are too large for one file"
        ))
        .hint("choose a smaller --size, which is that of each method")),
        false => Ok(()),
    }
}

/// The centers of rotation to draw: those of the first method that uses some, which uses the same.
fn centers_of(
    methods: &[Method],
    source: &Source,
    baked: &mut BakedData,
) -> Option<Result<Arc<Centers>, CenterError>> {
    let turns_about = |method: &&Method| matches!(method, Method::CentersOfRotation(_));
    let user = methods.iter().find(turns_about);
    let centers = source.centers_beside(user.or(methods.first())?, baked);
    if let (Some(_), Ok(centers)) = (user, &centers) {
        baked.centers = Some(centers.clone());
    }
    Some(centers)
}

fn overlays(wanted: &[Overlay]) -> Overlays {
    Overlays {
        skeleton: wanted.contains(&Overlay::Skeleton),
        weights: wanted.contains(&Overlay::Weights),
        wireframe: wanted.contains(&Overlay::Wireframe),
    }
}

/// The settings of pictures.
struct Picture {
    /// One for each panel.
    methods: Vec<Method>,
    /// Data that the methods need not compute.
    baked: BakedData,
    normals: Normals,
    /// The GPU that deforms and draws, in place of the processor.
    gpu: Option<Gpu>,
    overlays: Overlays,
    /// True if the surface is coloured by its stretch.
    stretch: bool,
    /// The centers of rotation to draw, if any.
    centers: Option<Result<Arc<Centers>, CenterError>>,
    view: View,
    focus: Focus,
    /// Vertices that the camera frames, if it frames a joint.
    focused: Option<Vec<u32>>,
    /// The camera of an earlier picture, if it is wanted.
    shot: Option<Shot>,
    /// Those of one panel.
    settings: Settings,
}

impl Picture {
    fn panels<'a>(&self, asset: &'a Asset, settings: &Settings) -> Result<Vec<Panel<'a>>, Failure> {
        let methods = self.methods.iter();
        methods
            .map(|method| Panel::new(self, asset, method, settings))
            .collect()
    }

    /// What all panels show alike; `frames` are those that the camera must see, besides the one
    /// that the panels are in.
    fn canvas(
        &self,
        asset: &Asset,
        panels: &mut [Panel<'_>],
        frames: Option<&Frames<'_>>,
    ) -> Result<Canvas, Failure> {
        let framed = Shot::of(self, panels, frames)?;
        let shot = self.shot.unwrap_or(framed);
        Ok(Canvas {
            look: self.look(asset),
            stretch: self.stretch.then(|| StretchColors::new(asset)),
            camera: shot.camera,
            ground: shot.ground,
            comment: shot.to_string(),
        })
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

    /// Draws one pose; `clip` shows which part moves, for `--focus moving`.
    fn write_png(
        &self,
        asset: &Asset,
        clip: Option<&Clip>,
        pose: &Pose,
        path: &Path,
    ) -> Result<(), Failure> {
        let mut panels = self.panels(asset, &self.settings)?;
        for panel in &mut panels {
            panel.player.pose(pose)?;
        }
        let frames = clip
            .filter(|_| self.focus == Focus::Moving)
            .map(Frames::few);
        let canvas = self.canvas(asset, &mut panels, frames.as_ref())?;
        if frames.is_some() {
            for panel in &mut panels {
                panel.player.start_afresh();
                panel.player.pose(pose)?;
            }
        }
        let image = draw(&mut panels, &canvas)?;
        let comment = &canvas.comment;
        write_whole(path, |out| {
            let written = image.write_png_with_comment(out, comment);
            written.map_err(io::Error::other)
        })
        .map_err(|error| Failure::writing(path, error))
    }

    /// Draws a clip as a GIF, with one camera.
    fn write_gif(&self, asset: &Asset, clip: &Clip, fps: f64, path: &Path) -> Result<(), Failure> {
        let settings = Settings {
            samples_per_axis: 3,
            lamps: Lamps::FEW,
            ..self.settings
        };
        // A GIF cannot hold more than 50 frames a second.
        let fps = fps.min(50.0);
        let frames = Frames::of(clip, fps)?;
        let mut panels = self.panels(asset, &settings)?;
        frames.show(0, &mut panels)?;
        let canvas = self.canvas(asset, &mut panels, Some(&frames))?;
        let bar = progress::bar(
            frames.count(),
            &format!("drawing {}", supple_io::text::shortened(&clip.name)),
        );
        let every = frames.count().div_ceil(PALETTE_FRAMES);
        let mut samples: BTreeMap<usize, Image> = BTreeMap::new();
        for frame in 0..frames.count() {
            frames.show(frame, &mut panels)?;
            if frame % every == 0 {
                samples.insert(frame, draw(&mut panels, &canvas)?);
            }
        }
        let palette = ColorTable::of(samples.values());
        let size = samples
            .values()
            .next()
            .map(|image| (image.width(), image.height()));
        let (width, height) = size.unwrap_or_default();
        // An error other than that of the file.
        let mut failed = None;
        let written = write_whole(path, |out| {
            let mut gif =
                GifWriter::new(out, width, height, palette, fps).map_err(io::Error::other)?;
            gif.comment(&canvas.comment).map_err(io::Error::other)?;
            for frame in 0..frames.count() {
                let shown = frames.show(frame, &mut panels);
                let drawn = shown.and_then(|()| match samples.remove(&frame) {
                    Some(image) => Ok(image),
                    None => draw(&mut panels, &canvas),
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
