//! The pictures of `docs/weights.md`.

use crate::Outcome;
use crate::album::{Album, LIGHT, Moment, Shot, character};
use glam::Vec3;
use std::f32::consts::{PI, TAU};
use supple::bind::{BindGroup, BindMethod, HeatOptions, bind_groups};
use supple::{Asset, Mesh, Method, Normals, Rig};
use supple_render::{Overlays, View};

pub(super) fn draw(album: &Album) -> Outcome<()> {
    let figure = character("figure:20000")?;
    for method in BindMethod::all() {
        let asset = bound(&figure, figure.rig.mesh().clone(), &method)?;
        bodies(album, method.name(), &asset)?;
        bends(album, method.name(), &asset)?;
    }
    clothes(album, &figure)
}

/// All joints in their colours, and one joint by itself.
fn bodies(album: &Album, method: &str, asset: &Asset) -> Outcome<()> {
    let body = Shot {
        size: (150, 190),
        overlays: Overlays {
            weights: true,
            ..Overlays::default()
        },
        framed: |place| place.y > 0.8 && place.x.abs() < 0.38,
        normals: Normals::Transported,
        ..Shot::of(asset, View::FRONT)
    };
    album.draw(&format!("body-{method}"), &body, &Method::Linear)?;
    let chest = Shot {
        overlays: Overlays::default(),
        colors: Some(heat_map(asset, "chest")?),
        ..body
    };
    album.draw(&format!("chest-{method}"), &chest, &Method::Linear)
}

/// An elbow, a hip and a fist by linear blending: what it shows is the weights.
fn bends(album: &Album, method: &str, asset: &Asset) -> Outcome<()> {
    let elbow = Shot {
        moment: Moment::Clip("elbow-bend-120"),
        size: (150, 130),
        framed: |place| (place - Vec3::new(0.37, 1.2, -0.02)).length() < 0.11,
        colors: Some(vec![LIGHT; asset.rig.mesh().vertex_count()]),
        normals: Normals::Transported,
        ..Shot::of(asset, view(150.0, 20.0))
    };
    let hip = Shot {
        moment: Moment::Clip("hip-flexion-90"),
        framed: |place| (place - Vec3::new(0.1, 0.92, 0.05)).length() < 0.19,
        ..Shot {
            view: view(58.0, 12.0),
            ..elbow.clone()
        }
    };
    let fist = Shot {
        moment: Moment::Clip("fist"),
        framed: |place| place.x > 0.55,
        ..Shot {
            view: view(60.0, 10.0),
            ..elbow.clone()
        }
    };
    for (name, shot) in [("elbow", elbow), ("hip", hip), ("fist", fist)] {
        album.draw(&format!("{name}-{method}"), &shot, &Method::Linear)?;
    }
    Ok(())
}

/// A shirt over the body with buttons on it, none of them connected with anything.
fn clothes(album: &Album, figure: &Asset) -> Outcome<()> {
    let (mesh, colors) = dressed(figure)?;
    let asset = bound(figure, mesh, &BindMethod::Heat(HeatOptions::default()))?;
    let moments = [
        ("rest", Moment::Rest),
        ("arms-raised", Moment::Clip("arms-raised")),
        ("spine-twist", Moment::Clip("spine-twist")),
    ];
    for (name, moment) in moments {
        let shot = Shot {
            moment,
            size: (200, 200),
            colors: Some(colors.clone()),
            framed: |place| place.y > 0.85 && place.x.abs() < 0.5,
            normals: Normals::Transported,
            ..Shot::of(&asset, view(20.0, 5.0))
        };
        album.draw(&format!("shirt-{name}"), &shot, &Method::Linear)?;
    }
    Ok(())
}

fn view(yaw_degrees: f64, pitch_degrees: f64) -> View {
    View {
        yaw_degrees,
        pitch_degrees,
    }
}

/// A mesh on the skeleton of a character, with as many influences as `supple weights` leaves.
fn bound(character: &Asset, mesh: Mesh, method: &BindMethod) -> Outcome<Asset> {
    let skeleton = character.rig.skeleton();
    let groups = [BindGroup::whole(&mesh, skeleton)];
    let weights = bind_groups(&mesh, skeleton, &groups, method, &|_| {})?.weights;
    let mut asset = character.clone();
    asset.rig = Rig::new(mesh, skeleton.clone(), weights.limited(4))?;
    asset.parts.clear();
    Ok(asset)
}

/// One joint's weight at every vertex, from blue over white to red.
fn heat_map(asset: &Asset, joint: &str) -> Outcome<Vec<Vec3>> {
    let (skeleton, weights) = (asset.rig.skeleton(), asset.rig.weights());
    let mut joints = 0..skeleton.joints().len();
    let joint = joints
        .find(|&at| skeleton.joint_name(at) == joint)
        .ok_or("no such joint")?;
    let (cold, middle, hot) = (
        Vec3::new(0.10, 0.20, 0.55),
        Vec3::new(0.85, 0.80, 0.55),
        Vec3::new(0.70, 0.05, 0.05),
    );
    let color = |vertex: usize| {
        let mut influences = weights.of(vertex);
        let influence = influences.find(|influence| influence.joint == joint);
        let weight = influence.map_or(0.0, |influence| influence.weight);
        if weight < 0.5 {
            cold.lerp(middle, weight * 2.0)
        } else {
            middle.lerp(hot, weight * 2.0 - 1.0)
        }
    };
    Ok((0..weights.vertex_count()).map(color).collect())
}

const SHIRT: Vec3 = Vec3::new(0.10, 0.22, 0.42);
const BUTTON: Vec3 = Vec3::new(0.85, 0.62, 0.10);

/// The body, a shirt just above its skin, and buttons just above the shirt.
fn dressed(figure: &Asset) -> Outcome<(Mesh, Vec<Vec3>)> {
    let body = figure.rig.mesh();
    let mut places = body.positions().to_vec();
    let mut colors = vec![LIGHT; places.len()];
    let mut triangles = body.triangles().to_vec();
    let (low, high) = (Vec3::new(-0.29, 0.93, -1.0), Vec3::new(0.29, 1.43, 1.0));
    let covered = |&corner: &u32| {
        let place = body.positions()[corner as usize];
        place == place.clamp(low, high)
    };
    let mut copies = vec![u32::MAX; places.len()];
    let shirt = body.triangles().iter();
    for corners in shirt.filter(|corners| corners.iter().any(covered)) {
        triangles.push(corners.map(|corner| {
            let corner = corner as usize;
            if copies[corner] == u32::MAX {
                copies[corner] = places.len() as u32;
                let above = body.positions()[corner] + body.normals()[corner] * 0.012;
                // What reaches beyond the hem is moved to it, so that it is straight.
                places.push(above.clamp(low, high));
            }
            copies[corner]
        }));
    }
    colors.resize(places.len(), SHIRT);
    for button in 0..5 {
        let height = 1.02 + 0.075 * button as f32;
        let middle = body.positions().iter().filter(|place| place.x.abs() < 0.03);
        let near = middle.filter(|place| (place.y - height).abs() < 0.02);
        let front = near.map(|place| place.z).fold(f32::MIN, f32::max);
        add_button(
            Vec3::new(0.0, height, front + 0.018),
            &mut places,
            &mut triangles,
        );
        colors.resize(places.len(), BUTTON);
    }
    Ok((Mesh::new(places, None, None, triangles)?, colors))
}

/// A flat ball.
fn add_button(middle: Vec3, places: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    const AROUND: u32 = 12;
    const RINGS: u32 = 6;
    let first = places.len() as u32;
    for ring in 0..=RINGS {
        for step in 0..AROUND {
            let (down, around) = (
                PI * ring as f32 / RINGS as f32,
                TAU * step as f32 / AROUND as f32,
            );
            let (radius, height) = down.sin_cos();
            let (y, x) = around.sin_cos();
            places.push(middle + Vec3::new(radius * x, radius * y, 0.4 * height) * 0.013);
        }
    }
    let at = |ring: u32, step: u32| first + ring * AROUND + step % AROUND;
    for ring in 0..RINGS {
        for step in 0..AROUND {
            let corners = [
                at(ring, step),
                at(ring + 1, step),
                at(ring + 1, step + 1),
                at(ring, step + 1),
            ];
            triangles.push([corners[0], corners[1], corners[2]]);
            triangles.push([corners[0], corners[2], corners[3]]);
        }
    }
}
