//! Memory grows with the input and not with its square: joints times vertices, joints times joints,
//! copies of a triangle.

#![cfg(all(
    feature = "arap",
    feature = "bind",
    feature = "ik",
    feature = "metrics"
))]
#![allow(clippy::unwrap_used)]

mod counting;

use counting::peak_of;
use glam::{DVec3, Vec3};
use std::f32::consts::TAU;
use supple::bind::{BindMethod, EnvelopeOptions, GeodesicOptions, Handle, HeatOptions, bind};
use supple::edit::{Edit, EditRegion, Editor};
use supple::inverse_kinematics::{Goal, ReachOptions, reach};
use supple::mush::{Mush, MushOptions};
use supple::point_handles::ShapeDiameter;
use supple::quality::WeightQuality;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Rig, Skin};

/// Four times the input may take this many times the memory.
const MOST_GROWTH: f64 = 6.0;

/// How far joints of a chain are from each other.
const BONE: f64 = 0.01;

fn chain(joints: usize) -> Skeleton {
    let node = |joint: usize| Node {
        name: format!("joint{joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y * BONE)),
    };
    let all: Vec<usize> = (0..joints).collect();
    Skeleton::bound_at_rest((0..joints).map(node).collect(), &all).unwrap()
}

/// A closed tube around a chain, with a ring of vertices for every few joints.
fn tube(joints: usize) -> Mesh {
    const AROUND: u32 = 8;
    let rings = joints as u32 / 10;
    let place = |at: u32| {
        let (sine, cosine) = (TAU * (at % AROUND) as f32 / AROUND as f32).sin_cos();
        let height = (at / AROUND) as f32 * 10.0 * BONE as f32;
        Vec3::new(0.1 * cosine, height, 0.1 * sine)
    };
    let mut places: Vec<Vec3> = (0..rings * AROUND).map(place).collect();
    let [bottom, top] = [0.0, (rings - 1) as f32 * 10.0 * BONE as f32];
    places.extend([Vec3::Y * bottom, Vec3::Y * top]);
    let middle = rings * AROUND;
    let mut triangles = Vec::new();
    for at in 0..AROUND {
        let next = (at + 1) % AROUND;
        for ring in 0..rings - 1 {
            let [a, b] = [at, next].map(|at| ring * AROUND + at);
            triangles.extend([[a, a + AROUND, b], [b, a + AROUND, b + AROUND]]);
        }
        let last = (rings - 1) * AROUND;
        triangles.extend([[middle, at, next], [middle + 1, last + next, last + at]]);
    }
    Mesh::new(places, None, None, triangles).unwrap()
}

/// A tube held by many joints, each vertex by the few nearest.
fn tube_rig(joints: usize) -> Rig {
    let mesh = tube(joints);
    let mut weights = WeightsBuilder::new(joints).unwrap();
    for place in mesh.positions() {
        let near = (f64::from(place.y) / BONE) as usize;
        let row = [(near, 0.6), ((near + 1).min(joints - 1), 0.4)];
        weights.push(row, 0).unwrap();
    }
    Rig::new(mesh, chain(joints), weights.finish().0).unwrap()
}

/// Many copies of one triangle on two joints.
fn copies(count: usize) -> Rig {
    let mesh = Mesh::new(
        vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        None,
        None,
        vec![[0, 1, 2]; count],
    );
    let mut weights = WeightsBuilder::new(2).unwrap();
    for joint in [0, 1, 1] {
        weights.push([(joint, 1.0)], 0).unwrap();
    }
    Rig::new(mesh.unwrap(), chain(2), weights.finish().0).unwrap()
}

/// Runs something for an input and for one four times as large.
#[track_caller]
fn grows_with_its_input<T>(what: &str, size: usize, make: impl Fn(usize) -> T, run: impl Fn(&T)) {
    let [one, four] = [size, 4 * size].map(|size| {
        let input = make(size);
        peak_of(|| run(&input))
    });
    let growth = four as f64 / one as f64;
    assert!(growth < MOST_GROWTH, "{what}: {one} bytes, then {four}");
}

/// One test, since memory is counted for all threads.
#[test]
fn memory_grows_with_the_input() {
    // Once, so that what threads keep for themselves is there.
    let _ = Mush::bake(&tube_rig(100), &MushOptions::default());
    let binders = [
        BindMethod::Rigid,
        BindMethod::Envelope(EnvelopeOptions::default()),
        BindMethod::Heat(HeatOptions::default()),
        BindMethod::Geodesic(GeodesicOptions {
            voxels: Some(2000),
            ..GeodesicOptions::default()
        }),
    ];
    let bodies = |joints: usize| {
        let all: Vec<usize> = (0..joints).collect();
        let handles = Handle::of_joints(&chain(joints), &all);
        (tube(joints), handles, joints)
    };
    for method in binders {
        grows_with_its_input(method.name(), 600, bodies, |(mesh, handles, joints)| {
            bind(mesh, handles, *joints, &method, &|_| {}).unwrap();
        });
    }
    grows_with_its_input("a bake of direct delta mush", 600, tube_rig, |rig| {
        Mush::bake(rig, &MushOptions::default()).unwrap();
    });
    grows_with_its_input("the quality of weights", 600, tube_rig, |rig| {
        WeightQuality::of(rig);
    });
    for method in Method::ALL {
        grows_with_its_input(method.name(), 600, tube_rig, |rig| {
            Skin::bake(rig, method, Normals::Gradient).unwrap();
        });
    }
    grows_with_its_input("reaching", 600, chain, |skeleton| {
        let end = skeleton.nodes().len() - 1;
        let height = BONE * (end + 1) as f64;
        let goal = Goal::new(end, DVec3::new(0.2 * height, 0.8 * height, 0.0));
        let mut pose = skeleton.rest_pose();
        let options = ReachOptions::default();
        let reached = reach(skeleton, &mut pose, &[goal], &options).unwrap();
        assert!(reached[0].distance < 1e-6 * height, "{reached:?}");
    });
    grows_with_its_input("an edit of copies", 1000, copies, |rig| {
        let editor = Editor::new(rig);
        let smooth = Edit::Smooth {
            steps: 2,
            strength: 0.5,
            joints: Vec::new(),
        };
        let change = editor.apply(rig.weights(), &smooth, &EditRegion::All);
        change.unwrap();
    });
    grows_with_its_input("the thickness of copies", 1000, copies, |rig| {
        ShapeDiameter::of(rig.mesh());
    });
}
