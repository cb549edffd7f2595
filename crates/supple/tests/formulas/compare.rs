//! The library beside the plain formulas.

use crate::common::{Bake, Surface, bake_with, deform_skin};
use crate::plain::{Formula, Frame, Posed, common_scale};
use crate::random::config;
use crate::scenes::Scene;
use glam::{DMat3, DVec3};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use supple::{Method, Normals, Rig};

/// Scenes for each method.
pub const CASES: u32 = 200;
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

pub fn deform(scene: &Scene, method: &impl Bake, normals: Normals) -> Surface {
    let skin = bake_with(&scene.rig, method, normals);
    deform_skin(&skin, &scene.palette)
}

/// The largest coordinate on the way from a vertex to its posed position, to which roundings are
/// relative.
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

/// The numbers of compared vertices and normals, and of all.
#[derive(Debug, Default)]
pub struct Count {
    all: Cell<usize>,
    positions: Cell<usize>,
    normals: Cell<usize>,
}

impl Count {
    /// Most must have been comparable.
    pub fn assert_enough(&self) {
        let enough = self.all.get() * 3 / 4;
        assert!(
            self.positions.get() > enough && self.normals.get() > enough,
            "too few compared: {self:?}"
        );
    }
}

fn add_one(count: &Cell<usize>) {
    count.set(count.get() + 1);
}

/// Positions and transported normals of one scene against the frame of every vertex. `rounding` is
/// a share of the largest coordinate on the way.
pub fn compare_scene(
    scene: &Scene,
    method: &impl Bake,
    frame_of: impl Fn(&Posed, usize) -> Frame,
    rounding: f64,
    count: &Count,
) -> Result<(), TestCaseError> {
    let found = deform(scene, method, Normals::Transported);
    let in_use = |joint: usize| {
        let mut rows =
            (0..scene.rig.weights().vertex_count()).map(|v| scene.rig.weights().row(v).0);
        rows.any(|joints| joints.contains(&(joint as u16)))
    };
    let world = common_scale(&scene.palette, in_use);
    let posed = Posed::shrunk(&scene.rig, &scene.palette, world);
    for (vertex, position) in scene.rig.mesh().positions().iter().enumerate() {
        let position = position.as_dvec3();
        let frame = frame_of(&posed, vertex);
        add_one(&count.all);
        if frame.margin < LEAST_MARGIN {
            continue;
        }
        add_one(&count.positions);
        let expected = world * frame.map.transform_point3(position);
        let error = found.positions[vertex].as_dvec3().distance(expected);
        let tolerance = rounding * world.max(1.0) * size(&posed, position) / frame.margin;
        prop_assert!(
            error <= tolerance,
            "{method}, vertex {vertex}: {} for {expected}, off by {error:e}, allowed {tolerance:e}",
            found.positions[vertex]
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
        prop_assert!(
            error <= tolerance,
            "{method}, normal {vertex}: {} for {expected}, off by {error:e}, allowed {tolerance:e}",
            found.normals[vertex]
        );
    }
    Ok(())
}

/// Positions and transported normals over many scenes, most of whose vertices must be comparable.
pub fn compare(name: &str, formula: Formula, scenes: impl Strategy<Value = Scene>, rounding: f64) {
    compare_method(&method(name), formula, scenes, rounding, CASES);
}

/// The same for a method with options of its own.
pub fn compare_method(
    method: &Method,
    formula: Formula,
    scenes: impl Strategy<Value = Scene>,
    rounding: f64,
    cases: u32,
) {
    let count = Count::default();
    let result = TestRunner::new(config(cases)).run(&scenes, |scene| {
        let frame_of = |posed: &Posed, vertex: usize| {
            let position = scene.rig.mesh().positions()[vertex].as_dvec3();
            formula(posed, position, &influences(&scene.rig, vertex))
        };
        compare_scene(&scene, method, frame_of, rounding, &count)
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    count.assert_enough();
}
