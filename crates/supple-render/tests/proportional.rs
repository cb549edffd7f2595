//! Memory and time of pictures grow with what is drawn and not with its square: joints, copies of a
//! triangle, fans, loose vertices.

#![allow(clippy::unwrap_used)]

#[path = "../../supple/tests/counting/mod.rs"]
mod counting;

use counting::grows_with_its_input;
use glam::Vec3;
use std::f32::consts::TAU;
use supple::exec;
use supple_render::{
    Bone, Camera, DrawnSurface, Lamps, Marks, Paint, Scene, Settings, View, render,
};

/// Positions and triangles.
type Shape = (Vec<Vec3>, Vec<[u32; 3]>);

fn copies(count: usize) -> Shape {
    (vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]; count])
}

fn fan(count: usize) -> Shape {
    let count = count as u32;
    let rim = |at: u32| {
        let (sine, cosine) = (TAU * at as f32 / count as f32).sin_cos();
        Vec3::new(cosine, 0.0, sine)
    };
    let places = std::iter::once(Vec3::Y).chain((0..count).map(rim));
    let triangles = (0..count).map(|at| [0, 1 + (at + 1) % count, 1 + at]);
    (places.collect(), triangles.collect())
}

fn loose(count: usize) -> Shape {
    let (mut places, triangles) = fan(8);
    places.extend((0..count).map(|at| Vec3::splat(at as f32 / count as f32)));
    (places, triangles)
}

fn draw((positions, triangles): &Shape) {
    let settings = Settings {
        width: 48,
        height: 48,
        samples_per_axis: 2,
        lamps: Lamps::FEW,
        ..Settings::default()
    };
    let surface = DrawnSurface {
        positions,
        normals: &[],
        triangles,
        paint: Paint::CLAY,
    };
    // As many bones and dots as there are positions.
    let bones = positions.windows(2).map(|ends| Bone {
        from: ends[0],
        to: ends[1],
        radius: 0.01,
        color: Vec3::ONE,
    });
    let scene = Scene {
        surfaces: vec![surface],
        bones: bones.collect(),
        marks: vec![Marks::dots(positions.iter().copied(), 0.01, Vec3::ONE)],
        ground: Some(0.0),
        ..Scene::default()
    };
    let camera = Camera::framing(positions.iter().copied(), View::THREE_QUARTER, 1.0);
    render(&scene, &camera, &settings);
}

/// One test, since memory is counted for all threads; and on one thread.
#[test]
fn pictures_take_memory_and_time_in_proportion() {
    exec::on_threads(1, || {
        // Once, so that what threads keep for themselves is there.
        draw(&fan(100));
        grows_with_its_input("copies", 5000, copies, draw);
        grows_with_its_input("fans", 1000, fan, draw);
        grows_with_its_input("loose vertices", 5000, loose, draw);
    });
}
