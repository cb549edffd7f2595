//! The method that looks at the whole surface, against its formula: bodies of their own, so that
//! patches tell how they turn.

use crate::common::{palette, rotation, vector};
use crate::compare::{Count, compare_scene, influences};
use crate::plain::Posed;
use crate::plain::arap::{Body, arap};
use crate::random::config;
use crate::scenes::{Scene, chain, surface};
use glam::{DAffine3, DMat3, DVec3};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::OnceCell;
use std::f64::consts::TAU;
use supple::Method;
use supple::arap::{ArapOptions, HandleSmoothing};

const RINGS: usize = 9;
const AROUND: usize = 5;
const JOINTS: usize = 3;

/// The heaviest handle has a say of 2e-6 in each rotation, and every round passes on what the one
/// before came to.
const A_SAY: f64 = 2e-5;

/// A tube along a chain of joints with bumps on it, and a loose patch beside it that no joint holds
/// alone.
fn scene(bumps: &[DVec3], shifts: &[f64], joints: &[(glam::DQuat, DVec3, f64)]) -> Scene {
    let mut positions = Vec::new();
    let mut rows = Vec::new();
    let mut triangles = Vec::new();
    let sharpness = 1.5;
    for ring in 0..RINGS {
        let along = 2.0 * ring as f64 / (RINGS - 1) as f64;
        for step in 0..AROUND {
            let angle = TAU * (step as f64 + 0.5 * (ring % 2) as f64) / AROUND as f64;
            let index = ring * AROUND + step;
            positions.push(DVec3::new(0.4 * angle.cos(), along, 0.4 * angle.sin()) + bumps[index]);
            let row = (0..JOINTS).map(|joint| {
                let far = (along + shifts[index] - joint as f64).abs();
                (joint, (1.0 - sharpness * 0.6 * far).max(0.0).powi(2))
            });
            rows.push(row.filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>());
            if ring + 1 < RINGS {
                let at = |ring: usize, step: usize| (ring * AROUND + step % AROUND) as u32;
                let lean = ring % 2;
                triangles.push([
                    at(ring, step),
                    at(ring + 1, step + lean),
                    at(ring, step + 1),
                ]);
                triangles.push([
                    at(ring, step + 1 - lean),
                    at(ring + 1, step),
                    at(ring + 1, step + 1),
                ]);
            }
        }
    }
    let first = positions.len() as u32;
    for corner in 0..4 {
        let (x, y) = (f64::from(corner % 2), f64::from(corner / 2));
        positions.push(DVec3::new(1.0 + 0.3 * x, 0.5 + 0.3 * y, 0.1 * x * y));
        rows.push(vec![(0, 0.6), (1, 0.4)]);
    }
    triangles.push([first, first + 1, first + 2]);
    triangles.push([first + 1, first + 3, first + 2]);
    let normals = vec![DVec3::Z; positions.len()];
    let rig = surface(
        chain(JOINTS, DVec3::Y),
        &positions,
        &normals,
        &rows,
        triangles,
    );
    let maps: Vec<DAffine3> = joints
        .iter()
        .enumerate()
        .map(|(joint, &(turn, shift, stretch))| {
            let head = DAffine3::from_translation(DVec3::Y * joint as f64);
            let stretched = DMat3::from_diagonal(DVec3::new(1.0, stretch, 1.0 / stretch));
            let own = DAffine3 {
                matrix3: DMat3::from_quat(turn) * stretched,
                translation: shift,
            };
            head * own * head.inverse()
        })
        .collect();
    Scene {
        rig,
        palette: palette(&maps),
    }
}

fn scenes(most_stretch: f64) -> impl Strategy<Value = Scene> {
    let joint = (rotation(1.0), vector(0.3), 1.0..=most_stretch);
    (
        prop::collection::vec(vector(0.04), RINGS * AROUND),
        prop::collection::vec(-0.1..0.1, RINGS * AROUND),
        prop::collection::vec(joint, JOINTS),
    )
        .prop_map(|(bumps, shifts, joints)| scene(&bumps, &shifts, &joints))
}

fn compare(options: &ArapOptions, scene: &Scene, count: &Count) -> Result<(), TestCaseError> {
    let mesh = scene.rig.mesh();
    let positions = mesh.positions().iter();
    let triangles = mesh.triangles().iter();
    let vertices = 0..mesh.vertex_count();
    let body = Body {
        positions: positions.map(|place| place.as_dvec3()).collect(),
        triangles: triangles
            .map(|corners| corners.map(|corner| corner as usize))
            .collect(),
        influences: vertices
            .map(|vertex| influences(&scene.rig, vertex))
            .collect(),
    };
    let frames = OnceCell::new();
    let frame_of =
        |posed: &Posed, vertex: usize| frames.get_or_init(|| arap(posed, &body, options))[vertex];
    let method = Method::Arap(options.clone());
    compare_scene(scene, &method, frame_of, A_SAY, count)
}

fn compare_all(scenes: impl Strategy<Value = Scene>, with: &[ArapOptions]) {
    let count = Count::default();
    let result = TestRunner::new(config(40)).run(&scenes, |scene| {
        let mut with = with.iter();
        with.try_for_each(|options| compare(options, &scene, &count))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    count.assert_enough();
}

fn options(iterations: usize, threshold: f64, smoothing: HandleSmoothing) -> ArapOptions {
    ArapOptions {
        iterations,
        threshold,
        smoothing,
        ..ArapOptions::default()
    }
}

#[test]
fn arap_is_its_formula() {
    let by_the_threshold = ArapOptions {
        every_handle: false,
        ..options(2, 0.7, HandleSmoothing::Detailed)
    };
    let with = [
        ArapOptions::default(),
        options(1, 0.8, HandleSmoothing::None),
        options(6, 0.9, HandleSmoothing::Plain),
        by_the_threshold,
    ];
    compare_all(scenes(1.0), &with);
}

/// Under stretches the surface that is kept rigid is the stretched one.
#[test]
fn stretched_arap_is_its_formula() {
    let with = [
        ArapOptions::default(),
        options(4, 0.8, HandleSmoothing::Plain),
    ];
    compare_all(scenes(1.6), &with);
}

/// At rest, where other methods take a short way: eq. (2) to the letter flattens what is near
/// joints, there as anywhere.
#[test]
fn the_rest_pose_is_that_of_the_formula() {
    let still = (glam::DQuat::IDENTITY, DVec3::ZERO, 1.0);
    let bumps: Vec<DVec3> = (0..RINGS * AROUND)
        .map(|at| DVec3::new(0.03, 0.02, -0.04) * ((at * 7 % 5) as f64 - 2.0) * 0.5)
        .collect();
    let scene = scene(&bumps, &[0.0; RINGS * AROUND], &[still; JOINTS]);
    for smoothing in [HandleSmoothing::Plain, HandleSmoothing::Detailed] {
        let count = Count::default();
        compare(&options(3, 0.8, smoothing), &scene, &count).unwrap();
        count.assert_enough();
    }
}

/// As of a mesh that hangs on a node with an uneven scale: all joints do the same, or the same
/// beside their motions.
#[test]
fn an_uneven_scale_of_everything_bends_nothing() {
    use glam::{DAffine3, DQuat, DVec3};
    use supple::characters::{self, Character};
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let scale = DAffine3::from_scale_rotation_translation(
        DVec3::new(2.0, 1.0, 0.7),
        DQuat::from_rotation_z(0.4),
        DVec3::X,
    );
    let joints = asset.rig.skeleton().joints().len();
    let palette = crate::common::palette(&vec![scale; joints]);
    let method = supple::Method::Arap(ArapOptions {
        iterations: 10,
        ..ArapOptions::default()
    });
    let found = crate::common::deform(&asset.rig, &method, &palette);
    for (found, rest) in found.positions.iter().zip(asset.rig.mesh().positions()) {
        let expected = scale.transform_point3(rest.as_dvec3());
        assert!(found.as_dvec3().distance(expected) < 1e-5);
    }
}
