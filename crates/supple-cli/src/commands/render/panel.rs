//! One method in motion, drawn on the processor or the GPU.

use super::Picture;
use crate::args::method::method_text;
use crate::device::Painter;
use crate::failure::Failure;
use crate::posing;
use supple::{Asset, Method, Player, Skin};
use supple_render::{Camera, Image, Look, Settings, StretchColors, render};

/// One method of a picture.
pub(super) struct Panel<'a> {
    pub(super) player: Player<'a>,
    label: String,
    brush: Brush,
}

/// The renderer on the processor or the GPU.
enum Brush {
    Cpu(Settings),
    Gpu(Painter),
}

/// What all panels show alike.
pub(super) struct Canvas {
    pub(super) look: Look,
    pub(super) stretch: Option<StretchColors>,
    pub(super) camera: Camera,
    /// The height of the ground.
    pub(super) ground: Option<f32>,
    /// The comment by which the picture keeps its camera.
    pub(super) comment: String,
}

impl<'a> Panel<'a> {
    pub(super) fn new(
        picture: &Picture,
        asset: &'a Asset,
        method: &Method,
        settings: &Settings,
    ) -> Result<Panel<'a>, Failure> {
        let skin = Skin::bake_with(&asset.rig, method, picture.normals, &picture.baked)?;
        let player = posing::player(asset, method, skin, picture.gpu.as_ref())?;
        let brush = match &picture.gpu {
            Some(gpu) => Brush::Gpu(Painter::new(gpu, settings, &player)?),
            None => Brush::Cpu(*settings),
        };
        Ok(Panel {
            player,
            label: method_text(method),
            brush,
        })
    }

    /// Draws the frame that the player is in.
    fn draw(&mut self, canvas: &Canvas) -> Result<Image, Failure> {
        let Canvas { look, ground, .. } = canvas;
        let player = &self.player;
        let colors = canvas.stretch.as_ref().map(|stretch| stretch.of(player));
        let scene = match &colors {
            Some(colors) => look.scene_painted(player, *ground, colors, StretchColors::PROPS),
            None => look.scene(player, *ground),
        };
        match &mut self.brush {
            Brush::Cpu(settings) => Ok(render(&scene, &canvas.camera, settings)),
            Brush::Gpu(painter) => painter.draw(&scene, &canvas.camera, player),
        }
    }
}

/// Draws all panels beside each other, labelled if there are several.
pub(super) fn draw(panels: &mut [Panel<'_>], canvas: &Canvas) -> Result<Image, Failure> {
    let are_labelled = panels.len() > 1;
    let draw = |(index, panel): (usize, &mut Panel<'_>)| -> Result<Image, Failure> {
        let image = panel.draw(canvas)?;
        let image = match canvas.stretch {
            Some(_) if index == 0 => image.with_stretch_scale(),
            _ => image,
        };
        Ok(match are_labelled {
            true => image.with_label(&panel.label),
            false => image,
        })
    };
    let images: Vec<Image> = panels
        .iter_mut()
        .enumerate()
        .map(draw)
        .collect::<Result<_, _>>()?;
    Ok(Image::tiled(&images))
}
