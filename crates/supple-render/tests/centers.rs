//! Centers of rotation in pictures: where they are, and where there are none.

#![allow(clippy::unwrap_used)] // in the helpers of the tests below

use glam::{DVec2, Vec3};
use std::sync::Arc;
use supple::centers::{CenterOptions, Centers};
use supple::characters::{Character, build};
use supple::{Asset, Method, Normals, Player};
use supple_render::{Camera, Image, Look, Overlays, Settings, Silhouette, View, render};

const SIDE: usize = 240;

fn bar() -> Asset {
    build(Character::Bar, 2000).unwrap()
}

/// The middle of a clip, where it bends or twists most.
fn posed<'a>(asset: &'a Asset, clip: &str, method: &Method) -> Player<'a> {
    let mut player = Player::new(asset, method, Normals::Transported).unwrap();
    let clip = asset.clips.iter().find(|known| known.name == clip).unwrap();
    player.pose(&asset.pose_at(clip, 1.0)).unwrap();
    player
}

/// The positions of the centers by Algorithm 1, written plainly, and the vertices that they belong
/// to.
fn carried(player: &Player<'_>) -> Vec<(usize, Vec3)> {
    let rig = &player.asset().rig;
    let centers = Centers::bake(rig.mesh(), rig.weights(), &CenterOptions::default()).unwrap();
    let mut carried = Vec::new();
    for vertex in 0..rig.mesh().vertex_count() {
        let Some(center) = centers.of(vertex) else {
            continue;
        };
        let terms = rig.weights().of(vertex).map(|influence| {
            let joint = player.palette().posed_from_bind[influence.joint];
            joint.transform_point(center) * influence.weight
        });
        carried.push((vertex, terms.sum()));
    }
    carried
}

fn picture(player: &Player<'_>, overlays: Overlays, options: &CenterOptions) -> (Image, Camera) {
    let settings = Settings {
        width: SIDE,
        height: SIDE,
        ..Settings::default()
    };
    let mut whole = Silhouette::default();
    whole.add(player);
    let camera = Camera::framing(whole.points(), View::FRONT, settings.aspect());
    let asset = player.asset();
    let look = Look::new(asset, overlays).with_centers(asset, baked(asset, options));
    let scene = look.scene(player, whole.ground());
    (render(&scene, &camera, &settings), camera)
}

const PLAIN: Overlays = Overlays {
    skeleton: false,
    weights: false,
    wireframe: false,
};

const PAPER: CenterOptions = CenterOptions::PAPER;

fn baked(asset: &Asset, options: &CenterOptions) -> Arc<Centers> {
    let rig = &asset.rig;
    let centers = Centers::bake(rig.mesh(), rig.weights(), options);
    centers.unwrap().into()
}

fn is_red(pixel: [u8; 3]) -> bool {
    let [red, green, blue] = pixel.map(u32::from);
    red > 60 + green && red > 60 + blue
}

#[test]
fn red_dots_are_where_the_centers_are_carried_and_nowhere_else() {
    let bar = bar();
    for method in [
        Method::Linear,
        "cor".parse().unwrap(),
        "dqs".parse().unwrap(),
    ] {
        let player = posed(&bar, "bend-120", &method);
        let (image, camera) = picture(&player, PLAIN, &PAPER);
        let pixel_of = |place: Vec3| DVec2::from(camera.project(place, 1.0).unwrap()) * SIDE as f64;
        let centers = carried(&player);
        let dots: Vec<DVec2> = centers.iter().map(|(_, place)| pixel_of(*place)).collect();
        let joints: Vec<DVec2> = player
            .world_from_node()
            .iter()
            .map(|world| pixel_of(world.translation.as_vec3()))
            .collect();
        let nearest = |places: &[DVec2], pixel: DVec2| {
            let distances = places.iter().map(|place| place.distance(pixel));
            distances.fold(f64::INFINITY, f64::min)
        };
        let mut red = 0;
        for (index, &pixel) in image.pixels().iter().enumerate() {
            let place = DVec2::new((index % SIDE) as f64 + 0.5, (index / SIDE) as f64 + 0.5);
            let from_dot = nearest(&dots, place);
            if from_dot > 2.0 {
                assert!(!is_red(pixel), "{method}: red at {place}");
            }
            // Joints lie on top of centers.
            if from_dot < 0.5 && nearest(&joints, place) > 4.0 {
                assert!(is_red(pixel), "{method}: {pixel:?} at {place}");
                red += 1;
            }
        }
        assert!(red > 5, "{method}: {red}");
    }
}

#[test]
fn vertices_of_one_influence_have_no_dot() {
    let bar = bar();
    let player = posed(&bar, "twist-90", &Method::Linear);
    let weights = bar.rig.weights();
    let blended = (0..weights.vertex_count()).filter(|&vertex| weights.of(vertex).len() > 1);
    let centers = carried(&player);
    assert!(centers.iter().map(|(vertex, _)| *vertex).eq(blended));
    let look = Look::new(&bar, PLAIN).with_centers(&bar, baked(&bar, &PAPER));
    let scene = look.scene(&player, None);
    let [bones, dots, joints] = &scene.marks[..] else {
        panic!("bones, centers and joints");
    };
    assert_eq!((bones.strokes.len(), joints.strokes.len()), (1, 4));
    // Some stand for several, and none for nothing.
    let distance = |[from, to]: &[Vec3; 2], place: Vec3| {
        assert_eq!(from, to);
        from.distance(place)
    };
    for (vertex, place) in &centers {
        let near = dots.strokes.iter().any(|dot| distance(dot, *place) < 0.005);
        assert!(near, "vertex {vertex}");
    }
    for dot in &dots.strokes {
        let mut places = centers.iter().map(|(_, place)| *place);
        assert!(places.any(|place| distance(dot, place) < 1e-6), "{dot:?}");
    }
}

#[test]
fn overlays_combine_and_the_bits_do_not_depend_on_threads() {
    let arm = build(Character::Arm, 2000).unwrap();
    let all = Overlays {
        skeleton: true,
        weights: true,
        wireframe: true,
    };
    for overlays in [PLAIN, all] {
        let pictures = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let draw = || picture(&posed(&arm, "fist", &Method::Linear), overlays, &PAPER).0;
            pool.unwrap().install(draw)
        });
        assert!(pictures[0] == pictures[1]);
        assert!(pictures[0].pixels().iter().any(|&pixel| is_red(pixel)));
    }
}

#[test]
fn pictures_show_the_centers_that_they_are_given() {
    let arm = build(Character::Arm, 2000).unwrap();
    let player = posed(&arm, "fist", &Method::Linear);
    let drawn = |sigma: f64| {
        let options = CenterOptions { sigma, ..PAPER };
        picture(&player, PLAIN, &options).0
    };
    assert!(drawn(0.1) != drawn(3.0));
    // Centers of another character are none.
    let bar = bar();
    let look = Look::new(&bar, PLAIN).with_centers(&bar, baked(&arm, &PAPER));
    assert!(look.centers().is_none());
}
