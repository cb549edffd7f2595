//! Scenes, characters and settings that contradict themselves: a picture without what cannot be
//! drawn, or an error, never a panic.

#![allow(clippy::unwrap_used)]

use glam::{DVec3, Vec3};
use std::sync::Arc;
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::mesh::Part;
use supple::point_handles::{HandleOptions, PlacedHandles, place_handles};
use supple::{Asset, Method, Normals, Player};
use supple_render::{
    Bone, Camera, ColorTable, DrawnSurface, GifWriter, Image, Lamps, Look, Marks, Overlays, Paint,
    Scene, SegmentedBody, Settings, Silhouette, View, ViewSearch, render, write_gif,
};

const CORNERS: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

fn settings() -> Settings {
    Settings {
        width: 24,
        height: 16,
        samples_per_axis: 2,
        lamps: Lamps { key: 1, dome: 2 },
        ..Settings::default()
    }
}

fn bar() -> Asset {
    characters::build(Character::Bar, 2_000).unwrap()
}

/// The picture of a scene around the unit triangle.
fn picture(scene: &Scene<'_>, settings: &Settings) -> Image {
    let camera = Camera::framing(CORNERS, View::FRONT, settings.aspect());
    render(scene, &camera, settings)
}

fn player(asset: &Asset) -> Player<'_> {
    let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(&asset.rest_pose()).unwrap();
    player
}

#[test]
fn handles_and_segments_that_do_not_exist_are_not_drawn() {
    let mesh = bar().rig.mesh().clone();
    let whole = place_handles(&mesh, &HandleOptions::default()).unwrap();
    let drawn = |change: &dyn Fn(&mut PlacedHandles)| {
        let mut handles = whole.clone();
        change(&mut handles);
        let body = SegmentedBody::new(&mesh, &handles);
        let camera = body.camera(View::FRONT, 1.0);
        render(&body.scene(Some(0.0)), &camera, &settings());
        body.scene(None).marks
    };
    let strokes = |marks: Vec<Marks>| marks.iter().map(|marks| marks.strokes.len()).sum::<usize>();
    let count = strokes(drawn(&|_| ()));
    assert_eq!(count, whole.places.len() + whole.edges.len());
    let without_edges = strokes(drawn(&|handles| handles.edges.clear()));
    let missing = whole.places.len();
    let of_nothing = strokes(drawn(&|handles| {
        handles.edges = vec![[0, missing], [missing; 2]]
    }));
    assert_eq!(of_nothing, without_edges);
    drawn(&|handles| handles.kinds.clear());
    drawn(&|handles| handles.places.clear());
    drawn(&|handles| handles.places[0] = DVec3::NAN);
    drawn(&|handles| handles.segments.of_triangles.truncate(1));
    drawn(&|handles| handles.segments.of_triangles = vec![Some(usize::MAX); 3]);
}

#[test]
fn surfaces_that_contradict_themselves_are_drawn_as_far_as_possible() {
    let odd = [[0, 1, 2], [0, 1, 3], [u32::MAX; 3]];
    let sound = [[0, 1, 2]];
    let scene = |triangles, normals, paint| Scene {
        surfaces: vec![DrawnSurface {
            positions: &CORNERS,
            normals,
            triangles,
            paint,
        }],
        ..Scene::default()
    };
    let expected = picture(&scene(&sound, &[], Paint::CLAY), &settings());
    let found = picture(&scene(&odd, &[], Paint::CLAY), &settings());
    assert_eq!(found, expected);
    let many = [Vec3::NAN; 7];
    for normals in [&many[..1], &many] {
        for colors in [&many[..0], &many[..1], &many] {
            picture(&scene(&odd, normals, Paint::PerVertex(colors)), &settings());
        }
    }
    let mut overlaid = scene(&odd, &[], Paint::CLAY);
    let ends = [Vec3::NAN, Vec3::splat(f32::MAX)];
    overlaid.bones = vec![Bone {
        from: ends[0],
        to: ends[1],
        radius: 0.01,
        color: Vec3::ONE,
    }];
    overlaid.marks = vec![Marks {
        strokes: vec![ends, [Vec3::ZERO; 2]],
        radius: f32::INFINITY,
        color: Vec3::NAN,
    }];
    overlaid.ground = Some(f32::NAN);
    picture(&overlaid, &settings());
}

#[test]
fn pictures_without_pixels_samples_or_lamps_are_drawn() {
    let scene = Scene::default();
    for (width, height) in [(0, 0), (0, 5), (5, 0), (1, 1)] {
        let settings = Settings {
            width,
            height,
            ..settings()
        };
        let image = picture(&scene, &settings);
        assert_eq!(image.pixels().len(), width * height);
        assert_eq!(image.write_png(Vec::new()).is_ok(), width * height > 0);
    }
    for samples_per_axis in [0, usize::MAX] {
        let lamps = Lamps { key: 0, dome: 0 };
        let settings = Settings {
            samples_per_axis,
            lamps,
            ..settings()
        };
        picture(&scene, &settings);
    }
    let nowhere = View {
        yaw_degrees: f64::NAN,
        pitch_degrees: f64::INFINITY,
    };
    let camera = Camera::framing([Vec3::NAN, Vec3::INFINITY], nowhere, f64::NAN);
    render(&scene, &camera, &settings());
}

#[test]
fn looks_of_another_character_are_drawn() {
    let bar = bar();
    let arm = characters::build(Character::Arm, 2_000).unwrap();
    let vertices = bar.rig.mesh().vertex_count();
    let part = |vertices, color| Part {
        vertices,
        color,
        ..bar.parts[0].clone()
    };
    let odd = Asset {
        parts: vec![
            part(0..usize::MAX, None),
            part(vertices..vertices + 9, Some(Vec3::ONE)),
        ],
        ..bar.clone()
    };
    let centers = Centers::bake(bar.rig.mesh(), bar.rig.weights(), &CenterOptions::PAPER);
    let centers = Arc::new(centers.unwrap());
    let all = Overlays {
        skeleton: true,
        weights: true,
        wireframe: true,
    };
    for overlays in [Overlays::default(), all] {
        for asset in [&bar, &odd, &arm] {
            for look in [
                Look::new(&odd, overlays),
                Look::new(&bar, overlays).with_centers(&bar, centers.clone()),
                Look::new(&bar, overlays).with_centers(&arm, centers.clone()),
            ] {
                let player = player(asset);
                let scene = look.scene(&player, Some(0.0));
                picture(&scene, &settings());
            }
        }
    }
}

#[test]
fn views_of_triangles_that_do_not_exist_are_found() {
    let triangle = [CORNERS];
    for (triangles, surface) in [(&triangle[..], usize::MAX), (&triangle, 0), (&[], 4)] {
        let search = ViewSearch {
            triangles,
            surface,
            wanted: &[0, 1, usize::MAX],
            framed: &[],
            aspect: 0.0,
        };
        let view = search.best(|_| 1.0);
        assert!(view.yaw_degrees.is_finite());
    }
    let nothing = Silhouette::default();
    assert_eq!(nothing.ground(), None);
    assert!(nothing.widened(f32::NAN).is_empty());
    assert!(nothing.close_up(&nothing, 1.0).is_none());
}

#[test]
fn animations_that_contradict_themselves_are_refused() {
    let small = Image::new(2, vec![[9; 3]; 4]);
    let large = Image::new(3, vec![[9; 3]; 9]);
    assert!(write_gif(Vec::new(), &[], 12.0).is_err());
    assert!(write_gif(Vec::new(), &[Image::new(0, vec![])], 12.0).is_err());
    assert!(write_gif(Vec::new(), &[small.clone(), large], 12.0).is_err());
    assert!(GifWriter::new(Vec::new(), 70_000, 1, ColorTable::default(), 12.0).is_err());
    // Rates are brought into range, and a table without colours is black.
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE] {
        write_gif(Vec::new(), &[small.clone(), small.clone()], rate).unwrap();
        let mut writer = GifWriter::new(Vec::new(), 2, 2, ColorTable::default(), rate).unwrap();
        writer.push(&small).unwrap();
        writer.finish().unwrap();
    }
}
