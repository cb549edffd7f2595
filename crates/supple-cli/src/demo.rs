//! `supple demo`: the whole flow on built-in characters, ending in a page to open.

use crate::args::{DemoOptions, Focus};
use crate::failure::Failure;
use crate::render::Picture;
use crate::source::Source;
use std::path::{Path, PathBuf};
use std::time::Instant;
use supple::{Asset, Method, Normals};
use supple_io::write_whole;
use supple_render::{Overlays, Settings, View};

const PAGE: &str = include_str!("demo.html");
const FIGURE: &str = "@figure:8000";
/// Coarse enough that its triangles can be seen.
const COARSE: &str = "@figure:2500";
const TOY: &str = "@bar:2000";
const FPS: f64 = 16.0;

/// The pictures of the grid.
const TILE: (usize, usize) = (340, 380);
/// The one at the top.
const HERO: (usize, usize) = (520, 640);

pub(crate) fn run(options: &DemoOptions) -> Result<(), Failure> {
    let started = Instant::now();
    let folder = Folder::make(&options.out)?;
    let figure = Source::open(FIGURE.as_ref())?.asset;
    let toy = Source::open(TOY.as_ref())?.asset;

    let hero = "figure-walk.gif";
    let walk = figure
        .clips
        .iter()
        .find(|clip| clip.name == "walk")
        .or(figure.clips.first());
    if let Some(walk) = walk {
        picture(HERO, Overlays::default(), View::THREE_QUARTER).write_gif(
            &figure,
            walk,
            FPS,
            &folder.file(hero),
        )?;
    }
    let inside = folder.overlays(&figure, &Source::open(COARSE.as_ref())?.asset)?;
    let clips = folder.clips(&figure, Focus::Moving, |name| name != "walk")?;
    let toy = folder.clips(&toy, Focus::All, |_| true)?;

    let page = PAGE
        .replace("{{hero}}", hero)
        .replace("{{hero_width}}", &HERO.0.to_string())
        .replace("{{hero_height}}", &HERO.1.to_string())
        .replace("{{facts}}", &facts(&figure))
        .replace("{{inside}}", &inside)
        .replace("{{clips}}", &clips)
        .replace("{{toy}}", &toy)
        .replace(
            "{{seconds}}",
            &format!("{:.0}", started.elapsed().as_secs_f64().max(1.0)),
        );
    let index = folder.file("index.html");
    write_whole(&index, |out| out.write_all(page.as_bytes()))
        .map_err(|error| Failure::writing(&index, error))?;
    crate::print(&format!("open {}\n", index.display()))
}

fn picture((width, height): (usize, usize), overlays: Overlays, view: View) -> Picture {
    Picture {
        method: Method::Linear,
        normals: Normals::Transported,
        overlays,
        view,
        focus: Focus::All,
        settings: Settings {
            width,
            height,
            ..Settings::default()
        },
    }
}

fn facts(asset: &Asset) -> String {
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let facts = [
        ("vertices", mesh.vertex_count()),
        ("triangles", mesh.triangles().len()),
        ("joints", skeleton.joints().len()),
        ("clips", asset.clips.len()),
    ];
    facts
        .map(|(what, count)| format!("<dt>{what}</dt><dd>{count}</dd>"))
        .concat()
}

/// The folder that the demo fills.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn make(path: &Path) -> Result<Folder, Failure> {
        std::fs::create_dir_all(path).map_err(|error| Failure::writing(path, error))?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// One still for every overlay; returns their tiles.
    fn overlays(&self, figure: &Asset, coarse: &Asset) -> Result<String, Failure> {
        let none = Overlays::default();
        let (wireframe, skeleton, weights) = (
            Overlays {
                wireframe: true,
                ..none
            },
            Overlays {
                skeleton: true,
                ..none
            },
            Overlays {
                weights: true,
                ..none
            },
        );
        let coarse_size = format!(
            "one closed mesh of triangles, here with {} vertices",
            coarse.rig.mesh().vertex_count()
        );
        let kinds = [
            (
                "surface",
                coarse,
                "The surface",
                coarse_size.as_str(),
                wireframe,
            ),
            (
                "skeleton",
                figure,
                "The skeleton",
                "joints, each carrying all below it",
                skeleton,
            ),
            (
                "weights",
                figure,
                "The weights",
                "each joint a colour, mixed where joints share the skin",
                weights,
            ),
        ];
        let mut tiles = String::new();
        for (kind, asset, title, caption, overlays) in kinds {
            let name = format!("{}-{kind}.png", asset.name);
            let picture = picture(TILE, overlays, View::THREE_QUARTER);
            picture.write_png(asset, None, &asset.rest_pose(), &self.file(&name))?;
            tiles += &tile(&name, title, caption);
        }
        Ok(tiles)
    }

    /// One animation for every clip that is wanted; returns their tiles.
    fn clips(
        &self,
        asset: &Asset,
        focus: Focus,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<String, Failure> {
        let mut tiles = String::new();
        for clip in asset.clips.iter().filter(|clip| wanted(&clip.name)) {
            let name = format!("{}-{}.gif", asset.name, clip.name);
            let picture = Picture {
                focus,
                ..picture(TILE, Overlays::default(), View::THREE_QUARTER)
            };
            picture.write_gif(asset, clip, FPS, &self.file(&name))?;
            let title = clip.name.replace(['-', '_'], " ");
            tiles += &tile(
                &name,
                &title,
                &format!("@{} --clip {}", asset.name, clip.name),
            );
        }
        Ok(tiles)
    }
}

fn tile(image: &str, title: &str, caption: &str) -> String {
    let (width, height) = TILE;
    format!(
        "<figure><img loading=\"lazy\" src=\"{image}\" width=\"{width}\" height=\"{height}\" alt=\"{title}\">\
         <figcaption><b>{title}</b>{caption}</figcaption></figure>\n"
    )
}
