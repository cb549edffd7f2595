//! The pictures of `docs/point-handles.md`.

use crate::Outcome;
use crate::album::{Album, character, plain};
use glam::Vec3;
use supple::Mesh;
use supple::bind::{BindMethod, BoundedBiharmonicOptions};
use supple::point_handles::{HandleOptions, PlacedHandles, ShapeDiameter, place_handles};
use supple_render::{Camera, DrawnSurface, Paint, Scene, SegmentedBody, View, weight_colors};

pub(super) fn draw(album: &Album) -> Outcome<()> {
    let figure = character("figure:20000")?;
    let mesh = figure.rig.mesh();
    let handles = place_handles(mesh, &HandleOptions::default())?;
    let size = (220, 320);
    painted(album, "figure-diameter", mesh, &diameter_colors(mesh), size)?;
    segmented(album, "figure-handles", mesh, &handles, size, View::FRONT)?;
    let method = BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions::default());
    let weights = handles.bind(mesh, &method, &|_| {})?.weights;
    painted(
        album,
        "figure-weights",
        mesh,
        &weight_colors(&weights),
        size,
    )?;
    for spec in ["arm", "bar", "tentacle"] {
        let asset = character(spec)?;
        let mesh = asset.rig.mesh();
        let handles = place_handles(mesh, &HandleOptions::default())?;
        segmented(album, spec, mesh, &handles, (220, 160), View::THREE_QUARTER)?;
    }
    Ok(())
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
    album: &Album,
    name: &str,
    mesh: &Mesh,
    colors: &[Vec3],
    size: (usize, usize),
) -> Outcome<()> {
    let surface = DrawnSurface {
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
    let settings = plain(size);
    let camera = Camera::framing(places, View::FRONT, settings.aspect());
    album.render(name, &scene, &camera, &settings)
}

fn segmented(
    album: &Album,
    name: &str,
    mesh: &Mesh,
    handles: &PlacedHandles,
    size: (usize, usize),
    view: View,
) -> Outcome<()> {
    let body = SegmentedBody::new(mesh, handles);
    let settings = plain(size);
    let camera = body.camera(view, settings.aspect());
    album.render(name, &body.scene(None), &camera, &settings)
}
