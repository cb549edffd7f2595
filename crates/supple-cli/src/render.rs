//! `supple render`: a PNG of one moment, or a GIF of a clip.

use crate::args::{Overlay, RenderOptions};
use crate::convert::ending;
use crate::failure::Failure;
use crate::source::Source;
use crate::{posing, progress};
use std::io;
use std::path::Path;
use supple::clip::Clip;
use supple::{Asset, Bounds, Method, Player};
use supple_io::write_whole;
use supple_render::{
    Camera, GifWriter, Image, Look, Overlays, Palette, Settings, View, render, visible_points,
};

/// A palette is chosen from this many frames, spread over the clip.
const PALETTE_FRAMES: usize = 6;

pub(crate) fn run(options: &RenderOptions) -> Result<(), Failure> {
    let animated = match ending(&options.out).as_str() {
        "png" => false,
        "gif" => true,
        _ => {
            let message = format!("{}: the ending must be .png or .gif", options.out.display());
            return Err(Failure::usage(message));
        }
    };
    let source = Source::open(&options.file)?;
    let picture = Picture {
        method: options.method.method,
        overlays: overlays(&options.overlay),
        view: options.view,
        settings: Settings {
            width: options.size.0,
            height: options.size.1,
            ..Settings::default()
        },
    };
    let asset = &source.asset;
    if animated {
        let wished = posing::wanted_clip(asset, &options.moment)?;
        let clip = wished.or(asset.clips.first()).ok_or_else(|| {
            Failure::new("there is no clip to play").hint("write a .png instead")
        })?;
        return picture.write_gif(asset, clip, options.moment.fps, &options.out);
    }
    let pose = posing::wanted_pose(asset, &options.moment)?;
    let mut player = Player::new(asset, &picture.method);
    player.pose(&pose);
    let camera = Shot::new(&picture, std::iter::once(bounds(&player)));
    picture.write_png(&player, &camera, &options.out)
}

fn overlays(wanted: &[Overlay]) -> Overlays {
    Overlays {
        skeleton: wanted.contains(&Overlay::Skeleton),
        weights: wanted.contains(&Overlay::Weights),
        wireframe: wanted.contains(&Overlay::Wireframe),
    }
}

/// How pictures of an asset are made.
pub(crate) struct Picture {
    pub(crate) method: Method,
    pub(crate) overlays: Overlays,
    pub(crate) view: View,
    pub(crate) settings: Settings,
}

/// A camera and the ground under what it shows.
pub(crate) struct Shot {
    camera: Camera,
    ground: Option<f32>,
}

impl Shot {
    /// Frames boxes around everything that will be shown.
    pub(crate) fn new(picture: &Picture, boxes: impl Iterator<Item = Option<Bounds>>) -> Shot {
        let all = boxes.flatten().reduce(|a, b| a.union(&b));
        let corners = all.iter().flat_map(|all| {
            let side = |high: bool| if high { all.max } else { all.min };
            (0..8).map(move |corner| {
                glam::Vec3::new(side(corner & 1 > 0).x, side(corner & 2 > 0).y, side(corner & 4 > 0).z)
            })
        });
        Shot {
            camera: Camera::framing(corners, picture.view, picture.settings.aspect()),
            ground: all.map(|all| all.min.y),
        }
    }
}

/// The box around everything that a frame shows.
pub(crate) fn bounds(player: &Player<'_>) -> Option<Bounds> {
    Bounds::around(visible_points(player))
}

impl Picture {
    pub(crate) fn draw(&self, player: &Player<'_>, look: &Look, shot: &Shot) -> Image {
        render(&look.scene(player, shot.ground), &shot.camera, &self.settings)
    }

    pub(crate) fn write_png(&self, player: &Player<'_>, shot: &Shot, path: &Path) -> Result<(), Failure> {
        let look = Look::new(player.asset(), self.overlays);
        let image = self.draw(player, &look, shot);
        write_whole(path, |out| image.write_png(out).map_err(io::Error::other))
            .map_err(|error| Failure::writing(path, error))
    }

    /// Plays a clip into a GIF, under one camera.
    pub(crate) fn write_gif(&self, asset: &Asset, clip: &Clip, fps: f64, path: &Path) -> Result<(), Failure> {
        // A GIF cannot hold more than 50 frames a second.
        let fps = fps.min(50.0);
        let count = ((clip.duration() * fps).round() as usize).max(1);
        let mut player = Player::new(asset, &self.method);
        let look = Look::new(asset, self.overlays);
        let mut boxes = Vec::with_capacity(count);
        let mut pose = asset.rest_pose();
        let mut go_to = |player: &mut Player<'_>, frame: usize| {
            clip.sample(frame as f64 / fps, &mut pose);
            player.pose(&pose);
        };
        for frame in 0..count {
            go_to(&mut player, frame);
            boxes.push(bounds(&player));
        }
        let shot = Shot::new(self, boxes.into_iter());
        let sampled = PALETTE_FRAMES.min(count);
        let bar = progress::bar(sampled + count, &format!("drawing {}", clip.name));
        let mut samples = Vec::with_capacity(sampled);
        for sample in 0..sampled {
            go_to(&mut player, sample * count / sampled);
            samples.push(self.draw(&player, &look, &shot));
            bar.inc(1);
        }
        let palette = Palette::of(&samples);
        let written = write_whole(path, |out| {
            let Settings { width, height, .. } = self.settings;
            let mut gif = GifWriter::new(out, width, height, palette, fps).map_err(io::Error::other)?;
            for frame in 0..count {
                go_to(&mut player, frame);
                gif.push(&self.draw(&player, &look, &shot)).map_err(io::Error::other)?;
                bar.inc(1);
            }
            gif.finish().map_err(io::Error::other)?.flush()
        });
        bar.finish_and_clear();
        written.map_err(|error| Failure::writing(path, error))
    }
}
