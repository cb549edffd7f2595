//! Pictures for the pages in `docs/`: what is drawn, by which method, into a folder.

use crate::Outcome;
use glam::Vec3;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use supple::characters::{self, Character};
use supple::{Affine, Asset, Method, Normals, Palette, Player};
use supple_render::{Background, Camera, Look, Overlays, Scene, Settings, View, render};

/// Pixels of a picture for each pixel of the page, so that it is sharp on dense screens.
pub(crate) const PIXELS: usize = 2;

/// The colour of skin.
pub(crate) const LIGHT: Vec3 = Vec3::new(0.72, 0.58, 0.46);

/// A built-in character, with a number of vertices if there is one, as in `figure:20000`.
pub(crate) fn character(spec: &str) -> Outcome<Asset> {
    let (name, vertices) = match spec.split_once(':') {
        Some((name, vertices)) => (name, Some(vertices.parse()?)),
        None => (spec, None),
    };
    let mut all = Character::ALL.iter().copied();
    let character = all.find(|known| known.name() == name);
    let character = character.ok_or("no such character")?;
    let vertices = vertices.unwrap_or(character.default_vertices());
    Ok(characters::build(character, vertices)?)
}

/// The size of the picture, relative to the part that must be visible.
const ROOM: f32 = 1.07;

/// The subject, shared by all methods.
#[derive(Clone)]
pub(crate) struct Shot<'a> {
    pub(crate) asset: &'a Asset,
    pub(crate) moment: Moment,
    pub(crate) view: View,
    /// The size on the page.
    pub(crate) size: (usize, usize),
    pub(crate) overlays: Overlays,
    pub(crate) normals: Normals,
    pub(crate) colors: Option<Vec<Vec3>>,
    /// The rest positions that must be visible.
    pub(crate) framed: fn(Vec3) -> bool,
}

/// A pose.
#[derive(Clone)]
pub(crate) enum Moment {
    Rest,
    /// The middle of a clip.
    Clip(&'static str),
    Palette(Vec<Affine>),
}

impl<'a> Shot<'a> {
    pub(crate) fn of(asset: &'a Asset, view: View) -> Shot<'a> {
        Shot {
            asset,
            moment: Moment::Rest,
            view,
            size: (200, 200),
            overlays: Overlays::default(),
            normals: Normals::Recomputed,
            colors: None,
            framed: |_| true,
        }
    }

    fn played(&self, method: &Method) -> Outcome<Player<'a>> {
        let mut player = Player::new(self.asset, method, self.normals)?;
        match &self.moment {
            Moment::Rest => player.pose(&self.asset.rest_pose())?,
            Moment::Clip(name) => {
                let mut clips = self.asset.clips.iter();
                let clip = clips
                    .find(|clip| clip.name == *name)
                    .ok_or("no such clip")?;
                let middle = (clip.start() + clip.duration()) / 2.0;
                player.pose(&self.asset.pose_at(clip, middle))?;
            }
            Moment::Palette(joints) => {
                let palette = Palette {
                    posed_from_bind: joints.clone(),
                };
                player.pose_with_palette(&self.asset.rest_pose(), &palette)?;
            }
        }
        Ok(player)
    }

    /// The places that must be seen, by linear blending: the same camera for all methods.
    fn camera(&self, settings: &Settings) -> Outcome<Camera> {
        let player = self.played(&Method::Linear)?;
        let rest = self.asset.rig.mesh().positions().iter();
        let framed = rest.zip(player.positions());
        let framed = framed.filter(|(rest, _)| (self.framed)(**rest));
        let points: Vec<Vec3> = framed.map(|(_, posed)| *posed).collect();
        // With room for what other methods do.
        let middle = points.iter().sum::<Vec3>() / points.len().max(1) as f32;
        let points = points.iter().map(|point| middle.lerp(*point, ROOM));
        Ok(Camera::framing(points, self.view, settings.aspect()))
    }
}

/// The folder of pictures.
pub(crate) struct Album {
    folder: PathBuf,
}

impl Album {
    /// An album in a folder, which is made if there is none.
    pub(crate) fn new(folder: &Path) -> Outcome<Album> {
        std::fs::create_dir_all(folder)?;
        Ok(Album {
            folder: folder.to_owned(),
        })
    }

    /// Writes a text file.
    pub(crate) fn write(&self, name: &str, text: &str) -> Outcome<()> {
        Ok(std::fs::write(self.folder.join(name), text)?)
    }

    /// Draws a character by a method.
    pub(crate) fn draw(&self, name: &str, shot: &Shot<'_>, method: &Method) -> Outcome<()> {
        let settings = plain(shot.size);
        let player = shot.played(method)?;
        let look = Look::new(shot.asset, shot.overlays);
        let scene = match &shot.colors {
            Some(colors) => look.scene_painted(&player, None, colors, LIGHT),
            None => look.scene(&player, None),
        };
        self.render(name, &scene, &shot.camera(&settings)?, &settings)
    }

    /// Draws a scene.
    pub(crate) fn render(
        &self,
        name: &str,
        scene: &Scene<'_>,
        camera: &Camera,
        settings: &Settings,
    ) -> Outcome<()> {
        let file = File::create(self.folder.join(format!("{name}.png")))?;
        let image = render(scene, camera, settings);
        Ok(image.write_png(BufWriter::new(file))?)
    }
}

/// Settings for a picture of this size on a page, with a plain background, so that files are small.
pub(crate) fn plain((width, height): (usize, usize)) -> Settings {
    let grey = Vec3::splat(0.87);
    Settings {
        width: PIXELS * width,
        height: PIXELS * height,
        background: Background {
            center: grey,
            corner: grey,
        },
        ..Settings::default()
    }
}
