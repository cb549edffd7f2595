//! `supple demo`: the whole flow on built-in characters, ending in a page to open.

use crate::args::DemoOptions;
use crate::failure::Failure;
use crate::render::{Picture, Shot, bounds};
use crate::source::Source;
use std::path::{Path, PathBuf};
use std::time::Instant;
use supple::{Asset, Method, Player};
use supple_io::write_whole;
use supple_render::{Overlays, Settings, View};

const PAGE: &str = include_str!("demo.html");
const FIGURE: &str = "@figure:20000";
const TOY: &str = "@bar:4000";
const FPS: f64 = 20.0;

/// Square pictures of the grid.
const TILE: (usize, usize) = (360, 400);
/// The one at the top.
const HERO: (usize, usize) = (520, 640);

pub(crate) fn run(options: &DemoOptions) -> Result<(), Failure> {
    let started = Instant::now();
    let folder = Folder::make(&options.out)?;
    let figure = Source::open(FIGURE)?.asset;
    let toy = Source::open(TOY)?.asset;

    let hero = "figure-walk.gif";
    let walk = figure.clips.iter().find(|clip| clip.name == "walk").or(figure.clips.first());
    if let Some(walk) = walk {
        picture(HERO, Overlays::default(), View::THREE_QUARTER)
            .write_gif(&figure, walk, FPS, &folder.file(hero))?;
    }
    let inside = folder.overlays(&figure)?;
    let clips = folder.clips(&figure, |name| name != "walk")?;
    let toy = folder.clips(&toy, |_| true)?;

    let page = PAGE
        .replace("{{hero}}", hero)
        .replace("{{hero_width}}", &HERO.0.to_string())
        .replace("{{hero_height}}", &HERO.1.to_string())
        .replace("{{facts}}", &facts(&figure))
        .replace("{{inside}}", &inside)
        .replace("{{clips}}", &clips)
        .replace("{{toy}}", &toy)
        .replace("{{seconds}}", &format!("{:.0}", started.elapsed().as_secs_f64().max(1.0)));
    let index = folder.file("index.html");
    write_whole(&index, |out| out.write_all(page.as_bytes()))
        .map_err(|error| Failure::writing(&index, error))?;
    crate::print(&format!("open {}\n", index.display()))
}

fn picture((width, height): (usize, usize), overlays: Overlays, view: View) -> Picture {
    Picture {
        method: Method::Linear,
        overlays,
        view,
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
    facts.map(|(what, count)| format!("<dt>{what}</dt><dd>{count}</dd>")).concat()
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
    fn overlays(&self, asset: &Asset) -> Result<String, Failure> {
        let none = Overlays::default();
        let kinds = [
            ("surface", "The surface", "one closed mesh of triangles", Overlays { wireframe: true, ..none }),
            ("skeleton", "The skeleton", "joints, each moving all below it", Overlays { skeleton: true, ..none }),
            ("weights", "The weights", "each joint a colour, mixed where joints share the skin", Overlays { weights: true, ..none }),
        ];
        let player = Player::new(asset, &Method::Linear);
        let mut tiles = String::new();
        for (kind, title, caption, overlays) in kinds {
            let name = format!("{}-{kind}.png", asset.name);
            let picture = picture(TILE, overlays, View::THREE_QUARTER);
            let shot = Shot::new(&picture, std::iter::once(bounds(&player)));
            picture.write_png(&player, &shot, &self.file(&name))?;
            tiles += &tile(&name, title, caption);
        }
        Ok(tiles)
    }

    /// One animation for every clip that is wanted; returns their tiles.
    fn clips(&self, asset: &Asset, wanted: impl Fn(&str) -> bool) -> Result<String, Failure> {
        let mut tiles = String::new();
        for clip in asset.clips.iter().filter(|clip| wanted(&clip.name)) {
            let name = format!("{}-{}.gif", asset.name, clip.name.replace(' ', "-"));
            picture(TILE, Overlays::default(), View::THREE_QUARTER)
                .write_gif(asset, clip, FPS, &self.file(&name))?;
            let title = clip.name.replace(['_', '-'], " ");
            tiles += &tile(&name, &title, &format!("@{} --clip {}", asset.name, clip.name));
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
