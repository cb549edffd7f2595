//! The library beside the plain formulas.

use crate::common::{Surface, deform_skin};
use crate::plain::{Formula, Posed};
use crate::scenes::Scene;
use glam::{DMat3, DVec3};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use supple::{Method, Normals, Rig, Skin};

/// Closer than this to where a formula jumps, the two may fall on different sides.
const LEAST_MARGIN: f64 = 0.03;
/// Frames that crush space more than this carry no normal worth comparing.
const MOST_CONDITION: f64 = 100.0;

/// The method of a name, with the option that may follow.
pub fn method(name: &str) -> Method {
    name.parse().unwrap()
}

/// The joints of a vertex as the formulas take them.
pub fn influences(rig: &Rig, vertex: usize) -> Vec<(usize, f64)> {
    let all = rig.weights().of(vertex);
    all.map(|influence| (influence.joint, f64::from(influence.weight)))
        .collect()
}

pub fn deform(scene: &Scene, method: &Method, normals: Normals) -> Surface {
    let skin = Skin::bake(&scene.rig, method, normals).unwrap();
    deform_skin(&skin, &scene.palette)
}

/// What coordinates are at most on the way from a vertex to where it goes: roundings are relative to it.
fn size(posed: &Posed, position: DVec3) -> f64 {
    let joints = 0..posed.parents.len();
    let sizes = joints.flat_map(|joint| {
        [
            posed.heads[joint],
            posed.tails[joint],
            posed.transforms[joint].translation,
            posed.motion(joint).translation,
            posed.transforms[joint].transform_point3(position),
        ]
    });
    sizes.fold(position.length(), |size, point| size.max(point.length()))
}

fn norm(matrix: DMat3) -> f64 {
    let squares = matrix.to_cols_array().map(|entry| entry * entry);
    squares.into_iter().sum::<f64>().sqrt()
}

/// How many vertices and normals were compared, of how many.
#[derive(Debug, Default)]
pub struct Count {
    all: Cell<usize>,
    positions: Cell<usize>,
    normals: Cell<usize>,
    worst: Cell<f64>,
    worst_normal: Cell<f64>,
}

fn add_one(count: &Cell<usize>) {
    count.set(count.get() + 1);
}

/// Positions and transported normals of one scene. `rounding` is a share of the largest coordinate on the way.
pub fn compare_scene(
    scene: &Scene,
    method: &Method,
    formula: Formula,
    rounding: f64,
    count: &Count,
) -> Result<(), TestCaseError> {
    let found = deform(scene, method, Normals::Transported);
    let posed = Posed::new(scene.rig.skeleton(), &scene.palette);
    for (vertex, position) in scene.rig.mesh().positions().iter().enumerate() {
        let position = position.as_dvec3();
        let frame = formula(&posed, position, &influences(&scene.rig, vertex));
        add_one(&count.all);
        if frame.margin < LEAST_MARGIN {
            continue;
        }
        add_one(&count.positions);
        let expected = frame.map.transform_point3(position);
        let error = found.positions[vertex].as_dvec3().distance(expected);
        let tolerance = rounding * size(&posed, position) / frame.margin;
        count.worst.set(count.worst.get().max(error / tolerance));
        prop_assert!(
            error <= tolerance,
            "{method}, vertex {vertex}: {} for {expected}, off by {error:e}, allowed {tolerance:e}, margin {}",
            found.positions[vertex],
            frame.margin
        );
        let linear = frame.map.matrix3;
        let condition = norm(linear) * norm(linear.inverse());
        if condition.is_nan() || condition > MOST_CONDITION {
            continue;
        }
        add_one(&count.normals);
        let normal = scene.rig.mesh().normals()[vertex].as_dvec3();
        let expected = (linear.inverse().transpose() * normal).normalize();
        let error = found.normals[vertex].as_dvec3().distance(expected);
        let tolerance = rounding * condition / frame.margin;
        count
            .worst_normal
            .set(count.worst_normal.get().max(error / tolerance));
        prop_assert!(
            error <= tolerance,
            "{method}, normal {vertex}: {} for {expected}, off by {error:e}, allowed {tolerance:e}",
            found.normals[vertex]
        );
    }
    Ok(())
}

/// Positions and transported normals over many scenes, nearly all of whose vertices must be comparable.
pub fn compare(
    method: &Method,
    formula: Formula,
    scenes: impl Strategy<Value = Scene>,
    rounding: f64,
) {
    let count = Count::default();
    let config = ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(&scenes, |scene| {
        compare_scene(&scene, method, formula, rounding, &count)
    });
    println!("{method}: {count:?}");
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let enough = count.all.get() * 3 / 4;
    assert!(
        count.positions.get() > enough,
        "too few compared: {count:?}"
    );
    assert!(
        count.normals.get() > enough / 2,
        "too few compared: {count:?}"
    );
}
