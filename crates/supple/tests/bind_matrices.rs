//! Bind matrices that are singular, nearly so, tiny, huge or mirrored, and surfaces that are stored
//! in a space of their own, for every method.

#![allow(clippy::unwrap_used)]

mod common;

use common::METHODS;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use supple::skeleton::BindFault;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Output, Palette, Rig, Skin, Workspace};

const RINGS: u32 = 13;
const SIDES: u32 = 6;
const NAMES: [&str; 3] = ["root", "arm", "hand"];
const PLACES: [f64; 3] = [0.0, 1.5, 3.0];

/// A closed-sided tube along X, from −0.5 to 4.
fn tube() -> Mesh {
    let mut positions = Vec::new();
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let angle = f64::from(side) * std::f64::consts::TAU / f64::from(SIDES);
            let along = -0.5 + 4.5 * f64::from(ring) / f64::from(RINGS - 1);
            positions.push(DVec3::new(along, 0.4 * angle.cos(), 0.3 * angle.sin()).as_vec3());
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            let [a, b] = [ring * SIDES + side, ring * SIDES + next];
            triangles.extend([[a, a + SIDES, b], [b, a + SIDES, b + SIDES]]);
        }
    }
    Mesh::new(positions, None, None, triangles).unwrap()
}

/// Three joints in a row, the first of them turned and shifted at rest by a map.
fn nodes(root: DAffine3) -> Vec<Node> {
    let places = [0.0, 1.5, 1.5];
    (0..3)
        .map(|index| {
            let place = DAffine3::from_translation(DVec3::X * places[index]);
            Node {
                name: NAMES[index].to_owned(),
                parent: index.checked_sub(1),
                rest: Local::Matrix(if index == 0 { root * place } else { place }),
            }
        })
        .collect()
}

/// Each joint as it would be bound to the tube.
fn binds() -> [DAffine3; 3] {
    PLACES.map(|place| DAffine3::from_translation(DVec3::X * -place))
}

fn rig(mesh: Mesh, root: DAffine3, binds: [DAffine3; 3]) -> Rig {
    let skeleton = Skeleton::new(nodes(root), binds.into_iter().enumerate().collect()).unwrap();
    let mut weights = WeightsBuilder::new(3).unwrap();
    let plain = tube();
    for position in plain.positions() {
        // Hats over the joints, wide enough that the middle shares all of its skin.
        let share = |place: f64| (1.0 - (f64::from(position.x) - place).abs() / 1.6).max(0.0);
        let row = PLACES.map(share).into_iter().enumerate();
        let row = row.map(|(joint, share)| (joint, share as f32));
        let nearest = usize::from(position.x > 3.0) * 2;
        weights.push(row, nearest).unwrap();
    }
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

/// The tube at rest, bent, and bent with a stretched arm.
fn poses(rig: &Rig) -> Vec<Palette> {
    let skeleton = rig.skeleton();
    let pose = |turns: [DQuat; 3], scale: DVec3| {
        let mut pose = skeleton.rest_pose();
        for (node, turn) in turns.into_iter().enumerate() {
            let scale = if node == 1 { scale } else { DVec3::ONE };
            let local = Trs {
                rotation: turn,
                scale,
                ..Trs::IDENTITY
            };
            let rest = pose.locals[node].to_affine();
            pose.locals[node] = Local::Matrix(rest * local.to_affine());
        }
        skeleton.palette(&pose).unwrap()
    };
    let bent = [
        DQuat::from_rotation_y(0.2),
        DQuat::from_rotation_z(0.8) * DQuat::from_rotation_x(0.5),
        DQuat::from_rotation_y(-0.7),
    ];
    vec![
        pose([DQuat::IDENTITY; 3], DVec3::ONE),
        pose(bent, DVec3::ONE),
        pose(bent, DVec3::new(1.3, 0.8, 1.1)),
    ]
}

fn deform(rig: &Rig, method: &Method, palette: &Palette) -> Result<Vec<Vec3>, String> {
    deform_skin(&bake(rig, method)?, palette)
}

fn bake(rig: &Rig, method: &Method) -> Result<Skin, String> {
    Skin::bake(rig, method, Normals::Transported).map_err(|error| error.to_string())
}

fn deform_skin(skin: &Skin, palette: &Palette) -> Result<Vec<Vec3>, String> {
    let mut positions = vec![Vec3::NAN; skin.vertex_count()];
    let mut normals = positions.clone();
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    let done = skin.deform(palette, &mut Workspace::default(), output);
    done.map_err(|error| error.to_string())?;
    Ok(positions)
}

fn farthest(positions: &[Vec3]) -> f64 {
    let far = positions.iter().map(|place| place.as_dvec3().length());
    far.fold(
        0.0,
        |far, own| if own.is_nan() { f64::NAN } else { far.max(own) },
    )
}

/// Linear maps that make something odd of a bind matrix.
fn odd_maps() -> Vec<(String, DMat3)> {
    let turn = DMat3::from_quat(DQuat::from_rotation_x(0.4) * DQuat::from_rotation_z(1.1));
    let scaled = |x: f64, y: f64, z: f64| DMat3::from_diagonal(DVec3::new(x, y, z));
    let mut maps = vec![
        ("zero".to_owned(), DMat3::ZERO),
        ("mirrored".to_owned(), scaled(-1.0, 1.0, 1.0)),
        (
            "mirrored and turned".to_owned(),
            turn * scaled(1.0, -1.0, 1.0),
        ),
    ];
    for share in [0.0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-12, 1e-20] {
        for (axes, flat) in [
            ("x", scaled(share, 1.0, 1.0)),
            ("z", scaled(1.0, 1.0, share)),
            ("yz", scaled(1.0, share, share)),
            ("xy, one less", scaled(share, 0.1 * share, 1.0)),
        ] {
            maps.push((format!("{axes} by {share:e}"), flat));
            maps.push((
                format!("{axes} by {share:e}, turned"),
                turn * flat * turn.transpose(),
            ));
        }
    }
    for size in [1e-50, 1e-44, 1e-40, 1e-38, 1e-20, 1e15, 1e30] {
        maps.push((format!("all by {size:e}"), turn * size));
    }
    maps
}

/// The largest distance of a vertex from the origin, relative to linear blending.
const BOUND: f64 = 20.0;

#[test]
fn odd_bind_matrices_keep_every_method_near_linear_blending_or_name_the_joint() {
    let mut wrong = Vec::new();
    for (what, map) in odd_maps() {
        for keeps_place in [true, false] {
            let mut binds = binds();
            let plain = binds[1];
            binds[1] = DAffine3::from_mat3(map) * plain;
            if !keeps_place {
                // Only the linear part is odd: the matrix tells of a place that is far away.
                binds[1].translation = plain.translation + DVec3::new(0.2, 0.5, -0.6);
            }
            let rig = rig(tube(), DAffine3::IDENTITY, binds);
            let poses = poses(&rig);
            let linear = poses.iter().map(|palette| {
                let positions = deform(&rig, &Method::Linear, palette).unwrap();
                farthest(&positions).max(4.0)
            });
            let linear: Vec<f64> = linear.collect();
            for method in METHODS.iter() {
                let skin = bake(&rig, method);
                for (number, palette) in poses.iter().enumerate() {
                    let case =
                        format!("{what}, place kept: {keeps_place}, pose {number}, {method}");
                    let deformed = skin.clone().and_then(|skin| deform_skin(&skin, palette));
                    match deformed {
                        Ok(positions) => {
                            let far = farthest(&positions) / linear[number];
                            // Neither too far nor NaN.
                            if !(0.0..=BOUND).contains(&far) {
                                wrong.push(format!("{case}: {far:e} times as far"));
                            }
                        }
                        Err(error) if error.contains("joint 1 'arm'") => {}
                        Err(error) => wrong.push(format!("{case}: {error}")),
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn faults_of_bind_matrices_are_told_by_joint() {
    let flat = |scale: DVec3| {
        let mut binds = binds();
        binds[1] = DAffine3::from_scale(scale) * binds[1];
        rig(tube(), DAffine3::IDENTITY, binds)
    };
    let fault = |scale: DVec3| flat(scale).skeleton().bind_fault(1);
    assert_eq!(fault(DVec3::ONE), None);
    assert_eq!(fault(DVec3::new(-1.0, 1.0, 1.0)), None);
    assert_eq!(fault(DVec3::splat(1e30)), None);
    assert_eq!(fault(DVec3::new(1.0, 1.0, 1e-12)), Some(BindFault::Plane));
    assert_eq!(fault(DVec3::new(0.0, 1.0, 0.0)), Some(BindFault::Line));
    assert_eq!(fault(DVec3::ZERO), Some(BindFault::Zero));
    assert_eq!(fault(DVec3::splat(1e-40)), Some(BindFault::Subnormal));
    assert_eq!(flat(DVec3::X).skeleton().singular_binds(), [1]);
    assert_eq!(
        BindFault::Plane.to_string(),
        "is singular (its columns lie in a plane)"
    );
}

/// The same character with positions in a space of their own, out of which a map leads.
fn stored_through(map: DAffine3, root: DAffine3, binds: [DAffine3; 3]) -> Rig {
    let back = map.inverse();
    let plain = tube();
    let positions = plain.positions().iter();
    let positions = positions.map(|place| back.transform_point3(place.as_dvec3()).as_vec3());
    let mesh = Mesh::new(positions.collect(), None, None, plain.triangles().to_vec()).unwrap();
    rig(mesh, root, binds.map(|bind| bind * map))
}

/// Largest distances between the character stored plainly and stored through a map, by method.
fn distances(map: DAffine3, root: DAffine3) -> Vec<(String, f64)> {
    let plain = rig(tube(), root, binds());
    let stored = stored_through(map, root, binds());
    let pairs: Vec<(Palette, Palette)> = poses(&plain).into_iter().zip(poses(&stored)).collect();
    let of_method = |method: &Method| {
        let apart = pairs.iter().map(|(palette, stored_palette)| {
            let expected = deform(&plain, method, palette).unwrap();
            let found = deform(&stored, method, stored_palette).unwrap();
            let apart = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
            f64::from(apart.fold(0.0, f32::max))
        });
        (method.to_string(), apart.fold(0.0, f64::max))
    };
    METHODS.iter().map(of_method).collect()
}

/// The rest placements of the character's root: as it was bound, and rotated and translated as in a
/// file with another up axis.
fn roots() -> [DAffine3; 2] {
    [
        DAffine3::IDENTITY,
        DAffine3::from_rotation_translation(
            DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            DVec3::new(0.3, 1.0, -0.2),
        ),
    ]
}

#[test]
fn another_unit_and_origin_of_stored_positions_change_no_method() {
    for root in roots() {
        for (scale, shift) in [
            (0.01, DVec3::ZERO),
            (4.5 / 65535.0, DVec3::new(-0.5, -0.4, -0.3)),
            (30.0, DVec3::new(2.0, -1.0, 5.0)),
        ] {
            let map = DAffine3::from_scale_rotation_translation(
                DVec3::splat(scale),
                DQuat::IDENTITY,
                shift,
            );
            for (method, apart) in distances(map, root) {
                // Its result depends on the space that the surface is in, by its formula.
                if method != "log-matrix" {
                    assert!(apart < 2e-5, "{method} {scale} {shift}: {apart:e}");
                }
            }
        }
    }
}

/// The map out of a file's integers is no part of what logarithms blend, however uneven it is.
#[test]
fn quantised_positions_do_not_enter_logarithms() {
    let log_matrix: Method = "log-matrix".parse().unwrap();
    let turned = DAffine3::from_rotation_x(-std::f64::consts::FRAC_PI_2);
    for root in [DAffine3::IDENTITY, turned] {
        for size in [DVec3::splat(4.5), DVec3::new(2.0, 5.0, 3.0)] {
            let map = DAffine3 {
                matrix3: DMat3::from_diagonal(size / 65535.0),
                translation: DVec3::new(-0.5, -0.4, -0.3),
            };
            let plain = tube();
            let integer = |place: &Vec3| {
                let place = map.inverse().transform_point3(place.as_dvec3());
                place.round().as_vec3()
            };
            let integers: Vec<Vec3> = plain.positions().iter().map(integer).collect();
            let places = integers.iter().map(|place| place.as_dvec3());
            let places = places.map(|place| map.transform_point3(place).as_vec3());
            let mesh = |places: Vec<Vec3>| {
                Mesh::new(places, None, None, plain.triangles().to_vec()).unwrap()
            };
            let plain = rig(mesh(places.collect()), root, binds());
            let stored = rig(mesh(integers), root, binds().map(|bind| bind * map));
            for (palette, stored_palette) in poses(&plain).iter().zip(&poses(&stored)) {
                let expected = deform(&plain, &log_matrix, palette).unwrap();
                let found = deform(&stored, &log_matrix, stored_palette).unwrap();
                let apart = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
                let apart = apart.fold(0.0, f32::max);
                assert!(apart < 2e-5, "{size}: {apart:e}");
            }
        }
    }
}
