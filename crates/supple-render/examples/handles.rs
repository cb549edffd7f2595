//! The pictures of `docs/point-handles.md`, in the folder named on the command line.

#![allow(missing_docs, reason = "a program")]

#[allow(dead_code, reason = "other programs draw clips and palettes")]
mod album;

use album::{Outcome, character};
use glam::Vec3;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use supple::Mesh;
use supple::point_handles::{HandleOptions, PlacedHandles, ShapeDiameter, place_handles};
use supple::weights::bind::{BindMethod, BoundedBiharmonicOptions};
use supple_render::{
    Background, Camera, Paint, Scene, SegmentedBody, Settings, Surface, View, render, weight_colors,
};

fn main() -> Outcome<()> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("a folder to write into is needed")?,
    );
    std::fs::create_dir_all(&folder)?;
    let figure = character("figure:20000")?;
    let mesh = figure.rig.mesh();
    let handles = place_handles(mesh, &HandleOptions::default())?;
    let settings = settings(220, 320);
    painted(
        &folder,
        "figure-diameter",
        mesh,
        &diameter_colors(mesh),
        &settings,
    )?;
    segmented(
        &folder,
        "figure-handles",
        mesh,
        &handles,
        &settings,
        View::FRONT,
    )?;
    let method = BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions::default());
    let weights = handles.bind(mesh, &method, &|_| {})?.weights;
    painted(
        &folder,
        "figure-weights",
        mesh,
        &weight_colors(&weights),
        &settings,
    )?;
    for spec in ["arm", "bar", "tentacle"] {
        let asset = character(spec)?;
        let handles = place_handles(asset.rig.mesh(), &HandleOptions::default())?;
        let view = View::THREE_QUARTER;
        segmented(
            &folder,
            spec,
            asset.rig.mesh(),
            &handles,
            &self::settings(220, 160),
            view,
        )?;
    }
    Ok(())
}

fn settings(width: usize, height: usize) -> Settings {
    Settings {
        width,
        height,
        // Plain, so that the files are small.
        background: Background {
            center: Vec3::splat(0.87),
            corner: Vec3::splat(0.87),
        },
        ..Settings::default()
    }
}

/// Every vertex by its thickness, from blue over yellow to red by its logarithm.
fn diameter_colors(mesh: &Mesh) -> Vec<Vec3> {
    let diameters = ShapeDiameter::of(mesh);
    let known = || diameters.of_vertices().iter().flatten().map(|d| d.ln());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), d| {
        (low.min(d), high.max(d))
    });
    let (thin, middle, thick) = (
        Vec3::new(0.10, 0.20, 0.55),
        Vec3::new(0.85, 0.80, 0.35),
        Vec3::new(0.70, 0.05, 0.05),
    );
    let color = |diameter: &Option<f64>| {
        let share = diameter.map_or(0.0, |d| (d.ln() - low) / (high - low)) as f32;
        match share < 0.5 {
            true => thin.lerp(middle, share * 2.0),
            false => middle.lerp(thick, share * 2.0 - 1.0),
        }
    };
    diameters.of_vertices().iter().map(color).collect()
}

fn painted(
    folder: &Path,
    name: &str,
    mesh: &Mesh,
    colors: &[Vec3],
    settings: &Settings,
) -> Outcome<()> {
    let surface = Surface {
        positions: mesh.positions(),
        normals: mesh.normals(),
        triangles: mesh.triangles(),
        paint: Paint::PerVertex(colors),
    };
    let scene = Scene {
        surfaces: vec![surface],
        ..Scene::default()
    };
    let places = mesh.positions().iter().copied();
    let camera = Camera::framing(places, View::FRONT, settings.aspect());
    draw(folder, name, &scene, &camera, settings)
}

fn segmented(
    folder: &Path,
    name: &str,
    mesh: &Mesh,
    handles: &PlacedHandles,
    settings: &Settings,
    view: View,
) -> Outcome<()> {
    let body = SegmentedBody::new(mesh, handles);
    let camera = body.camera(view, settings.aspect());
    draw(folder, name, &body.scene(None), &camera, settings)
}

fn draw(
    folder: &Path,
    name: &str,
    scene: &Scene<'_>,
    camera: &Camera,
    settings: &Settings,
) -> Outcome<()> {
    let image = render(scene, camera, settings);
    let file = File::create(folder.join(format!("{name}.png")))?;
    Ok(image.write_png(BufWriter::new(file))?)
}
