//! Point handles: thickness known in closed form, places known by hand, trees along the body, and
//! any soup of triangles.

#![cfg(feature = "bind")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod random;

use glam::{DVec3, Mat3, Quat, Vec3};
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_3, FRAC_PI_4, TAU};
use supple::Mesh;
use supple::bind::BindMethod;
use supple::characters::{self, Character};
use supple::point_handles::{
    HandleError, HandleKind, HandleOptions, PlacedHandles, ShapeDiameter, place_handles,
};

const AROUND: usize = 32;

/// A closed tube along a path, with a given width at every place.
fn tube(path: &[(Vec3, f32)]) -> Mesh {
    let mut positions = Vec::new();
    for (index, &(middle, radius)) in path.iter().enumerate() {
        let before = path[index.saturating_sub(1)].0;
        let after = path[(index + 1).min(path.len() - 1)].0;
        let along = (after - before).normalize();
        let aside = along.cross(Vec3::Z).normalize();
        let above = along.cross(aside);
        for step in 0..AROUND {
            let (sine, cosine) = (std::f32::consts::TAU * step as f32 / AROUND as f32).sin_cos();
            positions.push(middle + (aside * cosine + above * sine) * radius);
        }
    }
    let mut triangles = Vec::new();
    let at = |ring: usize, step: usize| (ring * AROUND + step % AROUND) as u32;
    for ring in 0..path.len() - 1 {
        for step in 0..AROUND {
            let [a, b] = [at(ring, step), at(ring, step + 1)];
            let [c, d] = [at(ring + 1, step), at(ring + 1, step + 1)];
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    for (ring, turned) in [(0, true), (path.len() - 1, false)] {
        let middle = positions.len() as u32;
        positions.push(path[ring].0);
        for step in 0..AROUND {
            let [a, b] = [at(ring, step), at(ring, step + 1)];
            triangles.push(if turned {
                [b, a, middle]
            } else {
                [a, b, middle]
            });
        }
    }
    Mesh::new(positions, None, None, triangles).unwrap()
}

/// A straight body along X, by its radius at every place.
fn turned(from: f32, to: f32, rings: usize, radius: impl Fn(f32) -> f32) -> Mesh {
    let place = |ring: usize| from + (to - from) * ring as f32 / rings as f32;
    let path: Vec<(Vec3, f32)> = (0..=rings)
        .map(|ring| (Vec3::X * place(ring), radius(place(ring))))
        .collect();
    tube(&path)
}

/// Two balls with a bar between them.
fn dumbbell() -> Mesh {
    turned(-3.999, 3.999, 160, |x| {
        let ball = (1.0 - (x.abs() - 3.0).powi(2)).max(0.0).sqrt();
        if x.abs() > 3.0 { ball } else { ball.max(0.35) }
    })
}

/// The rule of Shapira et al. for rays of some lengths, given at the angles of the sunflower that
/// the library casts; none for rays that meet a surface facing the same way.
fn by_rule(length: impl Fn(f64, f64) -> Option<f64>, turn: f64) -> f64 {
    let golden = TAU * (1.0 - 2.0 / (1.0 + 5f64.sqrt()));
    let mut rays: Vec<(f64, f64)> = (0..30)
        .filter_map(|ray| {
            let angle = FRAC_PI_3 * ((f64::from(ray) + 0.5) / 30.0).sqrt();
            let length = length(angle, turn + golden * f64::from(ray))?;
            Some((length, 1.0 / angle))
        })
        .collect();
    rays.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = rays.len() as f64;
    let median = 0.5 * (rays[(rays.len() - 1) / 2].0 + rays[rays.len() / 2].0);
    let mean = rays.iter().map(|ray| ray.0).sum::<f64>() / count;
    let variance = rays.iter().map(|ray| (ray.0 - mean).powi(2)).sum::<f64>() / count;
    let kept = rays
        .iter()
        .filter(|ray| (ray.0 - median).powi(2) <= variance);
    let (sum, weights) = kept.fold((0.0, 0.0), |(sum, weights), (length, weight)| {
        (sum + length * weight, weights + weight)
    });
    sum / weights
}

/// The thickness behind the triangles whose middle is somewhere.
fn thickness_where(mesh: &Mesh, somewhere: impl Fn(Vec3) -> bool) -> Vec<f64> {
    let diameters = ShapeDiameter::of(mesh);
    let triangles = mesh.triangles().iter().zip(diameters.of_triangles());
    let inside = triangles.filter(|(corners, _)| {
        let sum: Vec3 = corners
            .iter()
            .map(|&at| mesh.positions()[at as usize])
            .sum();
        somewhere(sum / 3.0)
    });
    let found: Vec<f64> = inside.map(|(_, diameter)| diameter.unwrap()).collect();
    assert!(found.len() > 20);
    found
}

#[test]
fn a_ball_is_as_thick_as_the_rule_says() {
    let mesh = turned(-2.999, 2.999, 40, |x| (9.0 - x * x).sqrt());
    let expected = by_rule(
        |angle, _| (angle < FRAC_PI_4).then(|| 6.0 * angle.cos()),
        0.0,
    );
    for found in thickness_where(&mesh, |place| place.x.abs() < 2.0) {
        assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
    }
}

#[test]
fn a_long_tube_is_as_thick_as_the_rule_says() {
    let mesh = turned(-20.0, 20.0, 200, |_| 0.5);
    let chord = |angle: f64, around: f64| {
        let (sine, cosine) = angle.sin_cos();
        // As a cut through the tube shows it: how far ahead and how far aside.
        let (ahead, aside) = (cosine, sine * around.sin());
        (aside.abs() < ahead).then(|| ahead / (ahead * ahead + aside * aside))
    };
    let turns = (0..64).map(|turn| by_rule(chord, TAU * f64::from(turn) / 64.0));
    let (low, high) = turns.fold((f64::INFINITY, 0.0f64), |(low, high), found| {
        (low.min(found), high.max(found))
    });
    for found in thickness_where(&mesh, |place| place.x.abs() < 10.0) {
        assert!(
            found > 0.97 * low && found < 1.03 * high,
            "{found}: {low}..{high}"
        );
    }
}

#[test]
fn a_slab_is_as_thick_as_the_rule_says() {
    // Two sheets of squares, joined at their rims by nothing that the rays could reach.
    let side = 24u32;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for (height, turned) in [(0.0, true), (0.2, false)] {
        let first = positions.len() as u32;
        for y in 0..=side {
            for x in 0..=side {
                positions.push(Vec3::new(x as f32 * 0.1, y as f32 * 0.1, height));
            }
        }
        for y in 0..side {
            for x in 0..side {
                let a = first + y * (side + 1) + x;
                let [b, c, d] = [a + 1, a + side + 1, a + side + 2];
                let both = if turned {
                    [[a, d, b], [a, c, d]]
                } else {
                    [[a, b, d], [a, d, c]]
                };
                triangles.extend(both);
            }
        }
    }
    let (low, high) = (0, (side + 1) * (side + 1));
    let rim: Vec<u32> = (0..side)
        .chain((0..side).map(|y| y * (side + 1) + side))
        .chain((1..=side).rev().map(|x| side * (side + 1) + x))
        .chain((1..=side).rev().map(|y| y * (side + 1)))
        .collect();
    for (at, &a) in rim.iter().enumerate() {
        let b = rim[(at + 1) % rim.len()];
        triangles.extend([[low + a, low + b, high + b], [low + a, high + b, high + a]]);
    }
    let mesh = Mesh::new(positions, None, None, triangles).unwrap();
    let expected = by_rule(|angle, _| Some(0.2 / angle.cos()), 0.0);
    let middle = |place: Vec3| (place.truncate() - 1.2).abs().max_element() < 0.7;
    for found in thickness_where(&mesh, middle) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    }
}

#[test]
fn thickness_moves_and_grows_with_the_body_and_minds_no_winding_and_no_doubles() {
    let mesh = dumbbell();
    let plain = ShapeDiameter::of(&mesh);
    let turn = Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.6));
    let moved = |place: &Vec3| turn * *place * 100.0 + Vec3::new(300.0, -50.0, 20.0);
    let positions = mesh.positions().iter().map(moved).collect();
    let mixed = mesh.triangles().iter().enumerate();
    let mut triangles: Vec<[u32; 3]> = mixed
        .map(|(index, &[a, b, c])| if index % 3 == 0 { [a, c, b] } else { [a, b, c] })
        .collect();
    let doubles: Vec<[u32; 3]> = triangles
        .iter()
        .step_by(5)
        .map(|&[a, b, c]| [b, a, c])
        .collect();
    triangles.extend(doubles);
    let other = ShapeDiameter::of(&Mesh::new(positions, None, None, triangles).unwrap());
    let mut off: Vec<f64> = plain
        .of_vertices()
        .iter()
        .zip(other.of_vertices())
        .map(|(plain, other)| (other.unwrap() / (100.0 * plain.unwrap()) - 1.0).abs())
        .collect();
    off.sort_by(f64::total_cmp);
    assert!(off[off.len() / 2] < 1e-3, "{}", off[off.len() / 2]);
    assert!(off[off.len() - 1] < 0.1, "{}", off[off.len() - 1]);
}

#[test]
fn openings_are_filled_from_around() {
    let mesh = turned(-4.0, 4.0, 60, |_| 0.5);
    let whole = mesh.triangles().iter();
    let is_cap = |corners: &&[u32; 3]| {
        corners
            .iter()
            .all(|&at| mesh.positions()[at as usize].x.abs() > 3.99)
    };
    let open: Vec<[u32; 3]> = whole.filter(|corners| !is_cap(corners)).copied().collect();
    let mesh = Mesh::new(mesh.positions().to_vec(), None, None, open).unwrap();
    for found in thickness_where(&mesh, |_| true) {
        assert!((0.7..1.3).contains(&found), "{found}");
    }
}

fn placed(mesh: &Mesh) -> PlacedHandles {
    place_handles(mesh, &HandleOptions::default()).unwrap()
}

/// The winding number of a surface around a position, by the solid angles of all triangles.
fn winding(mesh: &Mesh, place: DVec3) -> f64 {
    let angle = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|at| mesh.positions()[at as usize].as_dvec3() - place);
        let lengths = [a.length(), b.length(), c.length()];
        let below = lengths.iter().product::<f64>()
            + a.dot(b) * lengths[2]
            + b.dot(c) * lengths[0]
            + c.dot(a) * lengths[1];
        2.0 * a.dot(b.cross(c)).atan2(below)
    };
    mesh.triangles().iter().map(angle).sum::<f64>() / (2.0 * TAU)
}

#[test]
fn a_dumbbell_has_handles_where_its_bar_ends_and_all_lie_on_its_axis() {
    let mesh = dumbbell();
    let handles = placed(&mesh);
    for side in [-1.0, 1.0] {
        // Rays from the bar see the ball from some way off.
        let near = |place: &&DVec3| (1.4..2.4).contains(&(place.x * side));
        assert_eq!(
            handles.places.iter().filter(near).count(),
            1,
            "{:?}",
            handles.places
        );
        assert!(handles.places.iter().any(|place| place.x * side > 2.5));
    }
    for place in &handles.places {
        assert!(place.with_x(0.0).length() < 0.1, "{place}");
    }
    assert_eq!(handles.edges.len(), handles.places.len() - 1);
    assert_eq!(handles.segments.count, 3);
}

#[test]
fn a_bar_has_two_ends_and_a_middle_and_a_ball_has_a_center() {
    let bar = placed(&turned(-3.0, 3.0, 60, |_| 0.5));
    let mut along: Vec<f64> = bar.places.iter().map(|place| place.x).collect();
    along.sort_by(f64::total_cmp);
    assert!(along.len() >= 3, "{along:?}");
    assert!(along[0] < -2.2 && along[along.len() - 1] > 2.2, "{along:?}");
    let is_end = |kind: &&HandleKind| **kind == HandleKind::End;
    assert_eq!(bar.kinds.iter().filter(is_end).count(), 2);
    let ball = placed(&turned(-0.999, 0.999, 40, |x| (1.0 - x * x).sqrt()));
    assert_eq!(ball.places.len(), 1, "{:?}", ball.places);
    assert_eq!(ball.edges, [[0; 2]; 0]);
    assert!(ball.places[0].length() < 0.5);
}

#[test]
fn all_handles_of_closed_bodies_are_inside_and_none_is_alone() {
    for character in [
        Character::Figure,
        Character::Arm,
        Character::Tentacle,
        Character::Bar,
    ] {
        let asset = characters::build(character, 4000).unwrap();
        let mesh = asset.rig.mesh();
        let handles = placed(mesh);
        assert!(handles.places.len() >= 3, "{}", character.name());
        for place in &handles.places {
            assert!(winding(mesh, *place) > 0.5, "{}: {place}", character.name());
        }
        let mut reached = vec![false; handles.places.len()];
        for edge in &handles.edges {
            edge.iter().for_each(|&end| reached[end] = true);
        }
        assert!(reached.iter().all(|reached| *reached));
    }
}

#[test]
fn a_figure_has_handles_near_its_joints() {
    let asset = characters::build(Character::Figure, 8000).unwrap();
    let handles = placed(asset.rig.mesh());
    let skeleton = asset.rig.skeleton();
    for name in [
        "neck1",
        "upper_arm.L",
        "forearm.L",
        "forearm.R",
        "hand.L",
        "shin.L",
        "foot.R",
    ] {
        let mut joints = 0..skeleton.joints().len();
        let joint = joints
            .find(|&joint| skeleton.joint_name(joint) == name)
            .unwrap();
        let place = skeleton.joints()[joint]
            .joint_from_bind
            .inverse()
            .translation;
        let away = handles.places.iter().map(|handle| handle.distance(place));
        let away = away.fold(f64::INFINITY, f64::min);
        assert!(away < 0.1, "{name}: {away}");
    }
}

/// The largest distance of the mirror image of a handle from the nearest handle.
fn lopsided(handles: &PlacedHandles) -> f64 {
    let away = |place: &DVec3| {
        let image = DVec3::new(-place.x, place.y, place.z);
        let others = handles.places.iter().map(|other| other.distance(image));
        others.fold(f64::INFINITY, f64::min)
    };
    handles.places.iter().map(away).fold(0.0, f64::max)
}

#[test]
fn a_symmetric_body_has_the_same_handles_left_and_right() {
    let figure = characters::build(Character::Figure, 8000).unwrap();
    let handles = placed(figure.rig.mesh());
    assert!(lopsided(&handles) < 1e-5, "{}", lopsided(&handles));
    let image = |handle: usize| {
        let place = handles.places[handle] * DVec3::new(-1.0, 1.0, 1.0);
        let mut others = 0..handles.places.len();
        others.find(|&other| handles.places[other].distance(place) < 1e-5)
    };
    for edge in &handles.edges {
        let mut images = edge.map(|end| image(end).unwrap());
        images.sort_unstable();
        assert!(handles.edges.contains(&images), "{edge:?}");
    }
    let on_plane = handles.places.iter().filter(|place| place.x.abs() < 1e-6);
    assert!(on_plane.count() >= 3);
    for place in &handles.places {
        assert!(winding(figure.rig.mesh(), *place) > 0.5, "{place}");
    }
}

#[test]
fn a_body_that_is_not_symmetric_is_left_as_it_is() {
    // Thick on the left, with a long thin rest on the right.
    let mesh = turned(-3.0, 5.0, 160, |x| if x < -1.0 { 1.0 } else { 0.35 });
    let bent = mesh.positions().iter();
    let bent = bent.map(|place| *place + Vec3::Y * (0.05 * place.x * place.x));
    let mesh = Mesh::new(bent.collect(), None, None, mesh.triangles().to_vec()).unwrap();
    let handles = placed(&mesh);
    assert!(lopsided(&handles) > 0.5, "{:?}", handles.places);
}

#[test]
fn the_handle_of_a_wide_end_is_in_its_middle() {
    let tentacle = characters::build(Character::Tentacle, 4000).unwrap();
    let mesh = tentacle.rig.mesh();
    let bounds = mesh.bounds().unwrap();
    let size = bounds.max - bounds.min;
    // It stands along its longest axis.
    let along = size.max_position();
    let middle = (0.5 * (bounds.min + bounds.max)).as_dvec3();
    for place in placed(mesh).places {
        let mut aside = place - middle;
        aside[along] = 0.0;
        let width = f64::from(size.min_element());
        assert!(aside.length() < 0.03 * width, "{place} {width}");
    }
}

/// Two meshes as one.
fn both(one: &Mesh, other: &Mesh) -> Mesh {
    let count = one.vertex_count() as u32;
    let positions = [one.positions(), other.positions()].concat();
    let moved = other.triangles().iter();
    let moved = moved.map(|corners| corners.map(|at| at + count));
    let triangles = one.triangles().iter().copied().chain(moved);
    Mesh::new(positions, None, None, triangles.collect()).unwrap()
}

#[test]
fn a_sleeve_is_carried_by_the_arm_in_it() {
    let arm = turned(-3.0, 3.0, 60, |_| 0.4);
    let sleeve = turned(-2.0, 1.0, 60, |_| 0.45);
    let dressed = placed(&both(&arm, &sleeve));
    assert_eq!(dressed.report.small_pieces, 1);
    assert_eq!(dressed.places.len(), placed(&arm).places.len());
}

#[test]
fn there_is_a_handle_where_two_pieces_touch() {
    // Of the same thickness, so that nothing else tells of the joint.
    let upper = turned(-4.0, 0.1, 60, |_| 0.4);
    let lower = turned(-0.1, 5.0, 60, |_| 0.4);
    let handles = placed(&both(&upper, &lower));
    let near = handles.places.iter().filter(|place| place.length() < 0.2);
    assert_eq!(near.count(), 1, "{:?}", handles.places);
    assert!(handles.kinds.contains(&HandleKind::Between));
}

#[test]
fn as_many_handles_as_are_asked_for() {
    let asset = characters::build(Character::Figure, 4000).unwrap();
    for count in [1, 5, 12, 40] {
        let options = HandleOptions {
            count: Some(count),
            ..HandleOptions::default()
        };
        let handles = place_handles(asset.rig.mesh(), &options).unwrap();
        assert_eq!(handles.places.len(), count);
        for place in &handles.places {
            assert!(winding(asset.rig.mesh(), *place) > 0.5, "{count}: {place}");
        }
    }
}

/// A horseshoe: its ends are near, but not along it.
fn horseshoe() -> (Mesh, Vec<DVec3>) {
    let at = |share: f32| {
        let angle = (10.0 + 340.0 * share).to_radians();
        Vec3::new(angle.sin(), angle.cos(), 0.0) * 2.0
    };
    let path: Vec<(Vec3, f32)> = (0..=120)
        .map(|ring| (at(ring as f32 / 120.0), 0.2))
        .collect();
    let shares = [0.02, 0.5, 0.98, 0.25, 0.75];
    (
        tube(&path),
        shares.iter().map(|&share| at(share).as_dvec3()).collect(),
    )
}

#[test]
fn the_tree_runs_along_the_body_not_across_a_gap() {
    let (mesh, places) = horseshoe();
    let options = HandleOptions {
        automatic: false,
        given: places.clone(),
        ..HandleOptions::default()
    };
    let handles = place_handles(&mesh, &options).unwrap();
    assert_eq!(handles.places, places);
    assert_eq!(handles.edges, [[0, 3], [1, 3], [1, 4], [2, 4]]);
    assert!(handles.report.across.is_empty());
}

#[test]
fn parts_that_are_not_connected_are_tied_together_and_told_of() {
    let one = turned(-3.0, 3.0, 40, |_| 0.5);
    let count = one.vertex_count() as u32;
    let mut positions = one.positions().to_vec();
    positions.extend(one.positions().iter().map(|place| *place + Vec3::Y * 3.0));
    let mut triangles = one.triangles().to_vec();
    triangles.extend(
        one.triangles()
            .iter()
            .map(|corners| corners.map(|at| at + count)),
    );
    let mesh = Mesh::new(positions, None, None, triangles).unwrap();
    let handles = placed(&mesh);
    assert_eq!(handles.report.across.len(), 1);
    assert_eq!(handles.edges.len(), handles.places.len() - 1);
    assert_eq!(handles.report.pieces, 2);
}

#[test]
fn what_cannot_be_is_said() {
    let (mesh, places) = horseshoe();
    let with = |given: &[DVec3], edges: Option<Vec<[usize; 2]>>| {
        let options = HandleOptions {
            automatic: false,
            given: given.to_vec(),
            edges,
            ..HandleOptions::default()
        };
        place_handles(&mesh, &options).unwrap_err()
    };
    assert_eq!(with(&[], None), HandleError::NoHandles);
    assert_eq!(with(&[DVec3::NAN], None), HandleError::NotFinite(0));
    let outside = with(&[places[0], DVec3::ZERO], None);
    let HandleError::Outside {
        handle, distance, ..
    } = outside
    else {
        panic!("{outside}");
    };
    assert!(handle == 1 && (distance - 1.8).abs() < 0.02, "{distance}");
    let nearly = places[0] + DVec3::X * 1e-4;
    for second in [places[0], nearly] {
        let error = with(&[places[0], places[1], second], None);
        let HandleError::SamePlace {
            first: 0,
            second: 2,
            distance,
            extent,
        } = error
        else {
            panic!("{error}");
        };
        assert!((distance - second.distance(places[0])).abs() < 1e-12);
        assert!((5.0..8.0).contains(&extent), "{extent}");
    }
    let edge = |edges: &[[usize; 2]]| with(&places, Some(edges.to_vec()));
    assert_eq!(
        edge(&[[0, 5]]),
        HandleError::NoSuchHandle {
            handle: 5,
            count: 5
        }
    );
    assert_eq!(edge(&[[1, 1]]), HandleError::EdgeToItself(1));
    assert_eq!(edge(&[[0, 1], [2, 3]]), HandleError::Isolated(4));
    let nothing = Mesh::new(vec![Vec3::ZERO; 3], None, None, vec![[0, 1, 2]]).unwrap();
    let error = place_handles(&nothing, &HandleOptions::default());
    assert_eq!(error, Err(HandleError::NoSurface));
    let none = HandleOptions {
        count: Some(0),
        ..HandleOptions::default()
    };
    let error = place_handles(&mesh, &none).unwrap_err();
    assert!(error.to_string().contains("the number of handles is 0"));
    let fewer = HandleOptions {
        count: Some(2),
        given: places[..3].to_vec(),
        ..HandleOptions::default()
    };
    let error = place_handles(&mesh, &fewer);
    assert_eq!(
        error,
        Err(HandleError::FewerThanGiven { count: 2, given: 3 })
    );
}

/// A ball has room for a few handles only; given ones count, and those beside them are made up for
/// elsewhere.
#[test]
fn handles_that_there_is_no_room_for_are_reported() {
    let options = |count: usize, given: &[DVec3]| HandleOptions {
        count: Some(count),
        given: given.to_vec(),
        ..HandleOptions::default()
    };
    let ball = turned(-0.999, 0.999, 40, |x| (1.0 - x * x).sqrt());
    for given in [&[][..], &[DVec3::ZERO, DVec3::X * 0.5]] {
        let crowded = place_handles(&ball, &options(500, given)).unwrap();
        let found = crowded.places.len();
        assert!(found < 500 && crowded.report.missing == 500 - found);
    }
    let bar = turned(-3.0, 3.0, 60, |_| 0.4);
    for given in [&[][..], &[DVec3::X * 0.1], &[DVec3::ZERO, DVec3::X * 2.0]] {
        for count in [2, 4, 6] {
            let handles = place_handles(&bar, &options(count, given)).unwrap();
            assert_eq!(handles.report.missing, 0, "{count} {given:?}");
            assert_eq!(handles.places.len(), count);
            assert_eq!(handles.places[..given.len()], *given);
        }
    }
}

/// A mesh with more vertices and triangles, the latter by numbers among the new vertices.
fn with(mesh: &Mesh, more: &[Vec3], triangles: &[[u32; 3]]) -> Mesh {
    let first = mesh.vertex_count() as u32;
    let shifted = |corners: &[u32; 3]| corners.map(|corner| corner + first);
    let triangles = mesh
        .triangles()
        .iter()
        .copied()
        .chain(triangles.iter().map(shifted));
    let positions = [mesh.positions(), more].concat();
    Mesh::new(positions, None, None, triangles.collect()).unwrap()
}

/// Invisible parts of a surface do not change a body's position, size and middle.
#[test]
fn what_has_no_area_is_no_body() {
    let body = dumbbell();
    let plain = placed(&body);
    let far = Vec3::new(300.0, -700.0, 900.0);
    let spots = [
        with(&body, &[far], &[]),
        with(&body, &[far * 1e30], &[]),
        with(&body, &[far, far, far], &[[0, 1, 2]]),
        // A line, as nearly as numbers can tell.
        with(&body, &[far, far * 1.7, far * 3.1], &[[0, 1, 2]]),
    ];
    let methods = BindMethod::all().into_iter();
    for method in methods.filter(|method| ["bbw", "geodesic"].contains(&method.name())) {
        let bound = |handles: &PlacedHandles, mesh: &Mesh| {
            let bound = handles.bind(mesh, &method, &|_| {});
            bound.unwrap().weights
        };
        let expected = bound(&plain, &body);
        for (at, spoiled) in spots.iter().enumerate() {
            let handles = placed(spoiled);
            assert_eq!(handles.places, plain.places, "{at}");
            assert_eq!(handles.edges, plain.edges, "{at}");
            let found = bound(&handles, spoiled);
            for vertex in 0..body.vertex_count() {
                let expected = expected.of(vertex).map(|own| (own.joint, own.weight));
                let found = found.of(vertex).map(|own| (own.joint, own.weight));
                assert!(found.eq(expected), "{at}, {}: {vertex}", method.name());
            }
        }
    }
}

/// A sheet of squares over two directions, from a corner.
fn sheet(corner: Vec3, along: Vec3, across: Vec3, steps: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let side = steps as u32 + 1;
    let share = |at: u32| at as f32 / steps as f32;
    let at = |at: u32| corner + along * share(at % side) + across * share(at / side);
    let square = |at: u32| [[at, at + 1, at + side + 1], [at, at + side + 1, at + side]];
    let squares = (0..side * (side - 1)).filter(|at| at % side + 1 < side);
    (
        (0..side * side).map(at).collect(),
        squares.flat_map(square).collect(),
    )
}

#[test]
fn a_handle_off_a_sheet_is_refused() {
    let (positions, triangles) = sheet(Vec3::ZERO, Vec3::X, Vec3::Y, 20);
    let cloth = Mesh::new(positions, None, None, triangles).unwrap();
    let with = |place: DVec3| {
        let options = HandleOptions {
            automatic: false,
            given: vec![DVec3::new(0.2, 0.2, 0.0), place],
            ..HandleOptions::default()
        };
        place_handles(&cloth, &options)
    };
    assert!(with(DVec3::new(0.8, 0.7, 0.001)).is_ok());
    for far in [
        DVec3::new(0.8, 0.7, 0.1),
        DVec3::new(5.0, 0.7, 0.0),
        DVec3::splat(-1e6),
    ] {
        let error = with(far).unwrap_err();
        let HandleError::OffSheet {
            handle: 1, place, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(place, far);
    }
}

/// Handles of what has no inside lie on it, beside a body or grown to it, and each of them holds
/// something.
#[test]
fn handles_of_capes_and_fins_lie_on_them_and_hold() {
    let bar = turned(-3.0, 3.0, 24, |_| 0.4);
    let bodies = [
        // A cape behind, beside the body and slanted.
        (
            "cape",
            Vec3::new(-2.0, 0.6, -1.0),
            Vec3::X * 4.0,
            Vec3::new(0.0, 1.5, 2.0),
        ),
        // A fin whose lower edge is in the body.
        (
            "fin",
            Vec3::new(-1.5, 0.2, 0.0),
            Vec3::X * 3.0,
            Vec3::Y * 3.0,
        ),
        // One that has grown to the body, along vertices of it.
        (
            "grown fin",
            Vec3::new(-1.5, -0.4, 0.0),
            Vec3::X * 3.0,
            Vec3::Y * -3.0,
        ),
        // One that hangs on the end of the bar like a flag.
        (
            "flag",
            Vec3::new(2.9, 0.0, 0.0),
            Vec3::X * 3.0,
            Vec3::new(0.3, 2.0, 0.7),
        ),
    ];
    for (name, corner, along, across) in bodies {
        let (positions, triangles) = sheet(corner, along, across, 12);
        let body = with(&bar, &positions, &triangles);
        for count in [None, Some(14)] {
            let options = HandleOptions {
                count,
                ..HandleOptions::default()
            };
            let handles = place_handles(&body, &options).unwrap();
            let on_sheet = |place: DVec3| {
                let normal = along.cross(across).as_dvec3().normalize();
                (place - corner.as_dvec3()).dot(normal).abs() < 0.05
            };
            for place in &handles.places {
                let lies = winding(&bar, *place) > 0.3 || on_sheet(*place);
                assert!(lies, "{name}, {count:?}: {place}");
            }
            for method in BindMethod::all() {
                if ["bbw", "geodesic"].contains(&method.name()) {
                    let bound = handles.bind(&body, &method, &|_| {}).unwrap();
                    let unreached = &bound.report.unreached;
                    assert_eq!(*unreached, [0; 0], "{name}, {count:?}, {}", method.name());
                }
            }
        }
    }
}

#[test]
fn point_weights_are_one_at_their_handle_and_share_what_is_between() {
    let mesh = turned(-3.0, 3.0, 60, |_| 0.4);
    let options = HandleOptions {
        automatic: false,
        given: [-2.5, 0.0, 2.5].map(|x| DVec3::X * x).to_vec(),
        ..HandleOptions::default()
    };
    let handles = place_handles(&mesh, &options).unwrap();
    let methods = BindMethod::all().into_iter();
    for method in methods.filter(|method| ["bbw", "geodesic"].contains(&method.name())) {
        let weights = handles.bind(&mesh, &method, &|_| {}).unwrap().weights;
        let held = |x: f32, joint: usize| {
            let near = (0..mesh.vertex_count()).min_by(|&a, &b| {
                let away = |at: usize| (mesh.positions()[at].x - x).abs();
                away(a).total_cmp(&away(b))
            });
            let mut influences = weights.of(near.unwrap());
            let own = influences.find(|influence| influence.joint == joint);
            own.map_or(0.0, |influence| influence.weight)
        };
        for (joint, x) in [-2.5, 0.0, 2.5].into_iter().enumerate() {
            assert!(held(x, joint) > 0.9, "{}: {joint}", method.name());
        }
        for joint in [0, 1] {
            assert!((held(-1.25, joint) - 0.5).abs() < 0.2, "{}", method.name());
        }
    }
}

proptest! {
    #![proptest_config(random::config(48))]

    #[test]
    fn no_soup_of_triangles_is_too_much(
        places in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 3..40),
        corners in prop::collection::vec(prop::array::uniform3(0u32..1000), 0..60),
        count in prop::option::of(1usize..12),
        clusters in prop::option::of(1usize..5),
    ) {
        let positions: Vec<Vec3> = places.into_iter().map(Vec3::from_array).collect();
        let vertices = positions.len() as u32;
        let triangles = corners.into_iter().map(|corners| corners.map(|at| at % vertices));
        let mesh = Mesh::new(positions, None, None, triangles.collect()).unwrap();
        for diameter in ShapeDiameter::of(&mesh).of_vertices().iter().flatten() {
            prop_assert!(diameter.is_finite() && *diameter > 0.0);
        }
        let options = HandleOptions { count, clusters, ..HandleOptions::default() };
        match place_handles(&mesh, &options) {
            Err(error) => prop_assert_eq!(error, HandleError::NoSurface),
            Ok(handles) => {
                prop_assert!(!handles.places.is_empty());
                prop_assert!(handles.places.iter().all(|place| place.is_finite()));
                prop_assert_eq!(handles.edges.len(), handles.places.len() - 1);
            }
        }
    }
}

/// However many are asked for, and whatever they are moved to.
#[test]
fn found_handles_are_apart() {
    for (character, vertices) in [
        (Character::Bar, 2000),
        (Character::Arm, 4000),
        (Character::Tentacle, 3000),
        (Character::Cloth, 2601),
    ] {
        let rig = characters::build(character, vertices).unwrap().rig;
        for count in [None, Some(3), Some(25)] {
            let options = HandleOptions {
                count,
                ..HandleOptions::default()
            };
            let placed = place_handles(rig.mesh(), &options).unwrap();
            let extent = f64::from(rig.mesh().extent());
            for (handle, place) in placed.places.iter().enumerate() {
                for other in &placed.places[..handle] {
                    assert!(
                        place.distance(*other) > 1e-4 * extent,
                        "{character:?}, {handle}"
                    );
                }
            }
        }
    }
}
