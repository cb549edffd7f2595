//! Memory and time grow with the input and not with its square: joints times vertices, joints times
//! joints, copies of a triangle, fans, slivers, loose vertices.

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
use supple::bind::{
    BindMethod, BoundedBiharmonicOptions, EnvelopeOptions, GeodesicOptions, Handle, HeatOptions,
    bind,
};
use supple::edit::{Edit, EditRegion, Editor};
use supple::exec;
use supple::inverse_kinematics::{Goal, ReachOptions, reach};
use supple::mush::{Mush, MushOptions};
use supple::point_handles::ShapeDiameter;
use supple::quality::WeightQuality;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Rig, Skin};

/// Four times the input may take this many times the memory …
const MOST_GROWTH: f64 = 6.0;

/// … or, where triangles become thinner at the same time, this many times: a tree cuts thin ones
/// into up to sixteen pieces, each of a vector that doubles. The square would be sixteen times.
const MOST_GROWTH_OF_PIECES: f64 = 10.0;

/// Four times the input may take this many times the processor time …
const MOST_SLOWDOWN: f64 = 10.0;

/// … and these seconds more: clocks tick every four milliseconds, and machines are shared.
const SOME_TIME: f64 = 0.1;

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

/// A closed tube around the Y axis from the origin upwards: rings of vertices, and a lid at each
/// end.
fn closed_tube(around: u32, rings: u32, radius: f32, height: f32) -> Mesh {
    let place = |at: u32| {
        let (sine, cosine) = (TAU * (at % around) as f32 / around as f32).sin_cos();
        let y = height * (at / around) as f32 / (rings - 1) as f32;
        Vec3::new(radius * cosine, y, radius * sine)
    };
    let mut places: Vec<Vec3> = (0..rings * around).map(place).collect();
    places.extend([Vec3::ZERO, Vec3::Y * height]);
    let middle = rings * around;
    let mut triangles = Vec::new();
    for at in 0..around {
        let next = (at + 1) % around;
        for ring in 0..rings - 1 {
            let [a, b] = [at, next].map(|at| ring * around + at);
            triangles.extend([[a, a + around, b], [b, a + around, b + around]]);
        }
        let last = (rings - 1) * around;
        triangles.extend([[middle, at, next], [middle + 1, last + next, last + at]]);
    }
    Mesh::new(places, None, None, triangles).unwrap()
}

/// A tube around a chain, with a ring of vertices for every ten joints.
fn tube(joints: usize) -> Mesh {
    let rings = joints as u32 / 10;
    closed_tube(8, rings, 0.1, (rings - 1) as f32 * 10.0 * BONE as f32)
}

/// A disk of two fans, each of many triangles that meet in one vertex.
fn fans(triangles: usize) -> Mesh {
    closed_tube(triangles as u32 / 4, 2, 1.0, 0.5)
}

/// A prism of triangles as long as it is wide, the thinner the more there are.
fn slivers(triangles: usize) -> Mesh {
    closed_tube(3, triangles as u32 / 6, 1.0, 1.0)
}

/// A small tube and vertices of no triangle around it.
fn loose(vertices: usize) -> Mesh {
    let body = closed_tube(8, 4, 1.0, 1.0);
    let mut places = body.positions().to_vec();
    let angle = |vertex: usize| 2.4 * vertex as f32;
    let around = (0..vertices).map(|vertex| {
        let height = vertex as f32 / vertices as f32;
        Vec3::new(angle(vertex).cos(), height, angle(vertex).sin())
    });
    places.extend(around);
    Mesh::new(places, None, None, body.triangles().to_vec()).unwrap()
}

/// A mesh on two joints, the lower half on the first.
fn on_two_joints(mesh: Mesh) -> Rig {
    let mut weights = WeightsBuilder::new(2).unwrap();
    for place in mesh.positions() {
        weights
            .push([(usize::from(place.y > 0.25), 1.0)], 0)
            .unwrap();
    }
    Rig::new(mesh, chain(2), weights.finish().0).unwrap()
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

/// Many copies of one triangle.
fn copies(count: usize) -> Mesh {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    Mesh::new(corners, None, None, vec![[0, 1, 2]; count]).unwrap()
}

/// The processor time of the calling thread so far, in seconds; none outside of Linux.
fn time_of_thread() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// The peak memory and the time of something for an input.
fn cost<T>(input: &T, run: impl Fn(&T)) -> (usize, Option<f64>) {
    let begin = time_of_thread();
    let peak = peak_of(|| run(input));
    let time = time_of_thread().zip(begin).map(|(end, begin)| end - begin);
    (peak, time)
}

/// Runs something for an input and for one four times as large.
#[track_caller]
fn grows_with_its_input<T>(what: &str, size: usize, make: impl Fn(usize) -> T, run: impl Fn(&T)) {
    grows_at_most(MOST_GROWTH, what, size, make, run);
}

#[track_caller]
fn grows_at_most<T>(
    most_growth: f64,
    what: &str,
    size: usize,
    make: impl Fn(usize) -> T,
    run: impl Fn(&T),
) {
    let [small, large] = [size, 4 * size].map(make);
    let (one, one_time) = cost(&small, &run);
    let (four, four_time) = cost(&large, &run);
    let growth = four as f64 / one as f64;
    assert!(growth < most_growth, "{what}: {one} bytes, then {four}");
    if let Some((one, four)) = one_time.zip(four_time) {
        let allowed = MOST_SLOWDOWN * one + SOME_TIME;
        assert!(four < allowed, "{what}: {one} seconds, then {four}");
    }
}

/// Everything that looks at a whole surface, over one that is hard on it.
#[track_caller]
fn copes_with(what: &str, most_growth: f64, size: usize, make: impl Fn(usize) -> Mesh) {
    let handles = Handle::of_joints(&chain(2), &[0, 1]);
    // The cells of geodesic binding are those of `bbw`, and take most of the time of both.
    let binders = binders().into_iter();
    for method in binders.filter(|method| !matches!(method, BindMethod::Geodesic(_))) {
        let what = format!("{} of {what}", method.name());
        grows_at_most(most_growth, &what, size, &make, |mesh| {
            bind(mesh, &handles, 2, &method, &|_| {}).unwrap();
        });
    }
    let make_rig = |size| on_two_joints(make(size));
    for method in Method::ALL {
        let what = format!("{} of {what}", method.name());
        grows_with_its_input(&what, size, make_rig, |rig| {
            Skin::bake(rig, method, Normals::Gradient).unwrap();
        });
    }
    grows_with_its_input(&format!("quality of {what}"), size, make_rig, |rig| {
        WeightQuality::of(rig);
    });
    let edit = format!("an edit of {what}");
    grows_at_most(most_growth, &edit, size, make_rig, smooth);
    let thickness = format!("the thickness of {what}");
    grows_at_most(most_growth, &thickness, size, &make, |mesh| {
        ShapeDiameter::of(mesh);
    });
}

/// Every way of binding, over bodies of the same number of voxels.
fn binders() -> [BindMethod; 5] {
    let voxels = Some(2000);
    [
        BindMethod::Rigid,
        BindMethod::Envelope(EnvelopeOptions::default()),
        BindMethod::Heat(HeatOptions::default()),
        BindMethod::Geodesic(GeodesicOptions {
            voxels,
            ..GeodesicOptions::default()
        }),
        BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
            voxels,
            ..BoundedBiharmonicOptions::default()
        }),
    ]
}

fn smooth(rig: &Rig) {
    let editor = Editor::new(rig);
    let smooth = Edit::Smooth {
        steps: 2,
        strength: 0.5,
        joints: Vec::new(),
    };
    let change = editor.apply(rig.weights(), &smooth, &EditRegion::All);
    change.unwrap();
}

/// One test, since memory is counted for all threads; and on one thread, where nothing depends on
/// how many pieces of work happen to run at once.
#[test]
fn memory_and_time_grow_with_the_input() {
    exec::on_threads(1, || {
        with_many_joints();
        copes_with("copies", MOST_GROWTH, 1000, copies);
        copes_with("fans", MOST_GROWTH_OF_PIECES, 1000, fans);
        copes_with("slivers", MOST_GROWTH_OF_PIECES, 600, slivers);
        copes_with("loose vertices", MOST_GROWTH, 2000, loose);
    });
}

fn with_many_joints() {
    // Once, so that what threads keep for themselves is there.
    let _ = Mush::bake(&tube_rig(100), &MushOptions::default());
    let bodies = |joints: usize| {
        let all: Vec<usize> = (0..joints).collect();
        let handles = Handle::of_joints(&chain(joints), &all);
        (tube(joints), handles, joints)
    };
    for method in binders() {
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
}
