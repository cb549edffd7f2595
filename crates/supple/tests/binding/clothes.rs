//! Clothes on a body: they move with the body, and do not change its weights.

use super::scene::{Body, Difference, FIGURE, apart, assert_near, bound, difference, held};
use glam::{DQuat, DVec3, Vec3};
use std::ops::Range;
use supple::bind::BindMethod;
use supple::transform::Local;
use supple::{Method, Normals, Output, Rig, Skin, Workspace};

/// Vertices of the figure's chest that look ahead.
fn chest() -> Vec<usize> {
    let mesh = FIGURE.rig.mesh();
    let on_chest = |vertex: &usize| {
        let place = mesh.positions()[*vertex];
        let ahead = mesh.normals()[*vertex].z > 0.6;
        ahead && place.x.abs() < 0.12 && (1.0..1.42).contains(&place.y)
    };
    (0..mesh.vertex_count()).filter(on_chest).collect()
}

#[test]
fn buttons_move_rigidly_with_what_is_behind_them_and_do_not_disturb_the_body() {
    let mesh = FIGURE.rig.mesh();
    let chest = chest();
    let places = (0..30).map(|button| chest[button * chest.len() / 30]);
    let mut body = FIGURE.body.clone();
    let buttons: Vec<(usize, Range<usize>)> = places
        .map(|vertex| {
            let center = mesh.positions()[vertex] + mesh.normals()[vertex] * 0.009;
            (vertex, body.add(&Body::cube(center, 0.008)))
        })
        .collect();
    let dressed = body.mesh();
    for (method, before) in FIGURE.each_method() {
        let found = bound(&dressed, &FIGURE.handles, &method);
        let name = method.name();
        let disturbed = difference(&found.weights, &before.weights, 0..mesh.vertex_count());
        let allowed = Difference {
            mean: 0.005,
            most: 0.25,
        };
        assert_near(disturbed, allowed, &format!("body below buttons, {name}"));
        assert_eq!(found.report.pieces, before.report.pieces + 30, "{name}");
        for (vertex, button) in &buttons {
            for other in button.clone() {
                let same = found.weights.of(other).eq(found.weights.of(button.start));
                assert!(same, "{name}: a button bends");
            }
            let apart = apart((&found.weights, button.start), (&found.weights, *vertex));
            // One bone alone may change between a button's own place and what is behind it.
            let allowed = if method == BindMethod::Rigid {
                1.0
            } else {
                0.25
            };
            assert!(apart <= allowed, "{name}: {apart} from vertex {vertex}");
        }
    }
}

#[test]
fn a_ball_in_front_of_the_face_follows_the_head() {
    let nose = FIGURE.body.positions.iter().copied();
    let nose = nose.filter(|place| place.y > 1.55 && place.x.abs() < 0.03);
    let nose = nose.max_by(|a, b| a.z.total_cmp(&b.z)).unwrap();
    let mut body = FIGURE.body.clone();
    let ball = body.add(&Body::ball(nose + Vec3::Z * 0.05, 0.04, 10, 16));
    let mesh = body.mesh();
    let of_the_head = ["head", "jaw", "neck1", "neck2"].map(|name| FIGURE.joint(name));
    for (method, _) in FIGURE.each_method() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        for vertex in ball.clone() {
            let held: f64 = of_the_head
                .iter()
                .map(|&joint| held(&found.weights, vertex, joint))
                .sum();
            assert!(held > 0.9, "{}, vertex {vertex}: {held}", method.name());
        }
        if let BindMethod::Heat(_) = method {
            let is_known = |follower: &supple::bind::Follower| ball.contains(&follower.vertex);
            let followers = &found.report.followers;
            assert!(followers.iter().any(is_known), "{followers:?}");
        }
    }
}

/// The torso once more, a little wider, open at the neck, the arms and the waist; and the vertex
/// below each of its own.
fn shirt() -> (Body, Vec<usize>) {
    let mesh = FIGURE.rig.mesh();
    let torso =
        |place: Vec3| (1.0..1.42).contains(&place.y) && place.x.abs() < 0.16 && place.z.abs() < 0.3;
    let cut = FIGURE.body.where_all(torso);
    let mut number = vec![u32::MAX; cut.positions.len()];
    let mut shirt = Body::default();
    let mut below = Vec::new();
    for corners in &cut.triangles {
        let corners = corners.map(|corner| {
            let vertex = corner as usize;
            if number[vertex] == u32::MAX {
                number[vertex] = below.len() as u32;
                below.push(vertex);
                let lifted = mesh.positions()[vertex] + mesh.normals()[vertex] * 0.017;
                shirt.positions.push(lifted);
            }
            number[vertex]
        });
        shirt.triangles.push(corners);
    }
    (shirt, below)
}

#[test]
fn a_shirt_bends_with_the_body_below_it() {
    let (shirt, below) = shirt();
    let mut body = FIGURE.body.clone();
    let worn = body.add(&shirt);
    let mesh = body.mesh();
    for (method, _) in FIGURE.each_method() {
        let name = method.name();
        let found = bound(&mesh, &FIGURE.handles, &method);
        let each = worn.clone().zip(&below);
        let each =
            each.map(|(vertex, &below)| apart((&found.weights, vertex), (&found.weights, below)));
        let each: Vec<f64> = each.collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        let most = each.iter().copied().fold(0.0, f64::max);
        // Where one bone alone holds, it changes a little farther on in the shirt.
        let allowed = match method {
            BindMethod::Rigid => Difference {
                mean: 0.1,
                most: 1.0,
            },
            _ => Difference {
                mean: 0.08,
                most: 0.6,
            },
        };
        assert_near(
            Difference { mean, most },
            allowed,
            &format!("shirt, {name}"),
        );
        if method == BindMethod::Rigid {
            continue;
        }
        let bent =
            bowed(&Rig::new(mesh.clone(), FIGURE.rig.skeleton().clone(), found.weights).unwrap());
        let lift = worn.clone().zip(&below).map(|(vertex, &below)| {
            let (from, to) = (bent.0[below], bent.0[vertex]);
            (
                (to - from).length() / 0.017,
                (to - from).dot(bent.1[below]) / 0.017,
            )
        });
        let lift: Vec<(f32, f32)> = lift.collect();
        let farthest = lift.iter().map(|lift| lift.0).fold(0.0, f32::max);
        let inside = lift.iter().filter(|lift| lift.1 < 0.0).count();
        println!(
            "bent shirt, {name}: {farthest:.2} times as far, {inside} of {} inside",
            lift.len()
        );
        assert!(farthest < 4.0, "{name}: {farthest} times as far");
        assert!(inside * 50 <= lift.len(), "{name}: {inside} came inside");
    }
}

/// Positions and normals as the figure bows and turns.
fn bowed(rig: &Rig) -> (Vec<Vec3>, Vec<Vec3>) {
    let skeleton = rig.skeleton();
    let mut pose = skeleton.rest_pose();
    for name in ["spine1", "spine2", "spine3", "spine4", "chest"] {
        let node = skeleton.joints()[FIGURE.joint(name)].node;
        let mut local = pose.locals[node].to_trs();
        local.rotation *= DQuat::from_rotation_x(0.2) * DQuat::from_axis_angle(DVec3::Y, 0.1);
        pose.locals[node] = Local::Trs(local);
    }
    let skin = Skin::bake(rig, &Method::Linear, Normals::Gradient).unwrap();
    let mut positions = vec![Vec3::ZERO; rig.mesh().vertex_count()];
    let mut normals = positions.clone();
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    let palette = skeleton.palette(&pose).unwrap();
    skin.deform(&palette, &mut Workspace::default(), output)
        .unwrap();
    (positions, normals)
}
