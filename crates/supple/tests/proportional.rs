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

use counting::{
    MOST_GROWTH, MOST_GROWTH_OF_PIECES, grows_at_most, grows_with_its_input, memory_of,
};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use std::f32::consts::TAU;
use std::sync::Arc;
use supple::bind::{
    BindMethod, BoundedBiharmonicOptions, EnvelopeOptions, GeodesicOptions, Handle, HeatOptions,
    bind,
};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::edit::{
    Brush, Edit, EditRegion, Editor, Falloff, Mirror, MirrorSource, Paint, StrokePoint, Transfer,
};
use supple::exec;
use supple::findings::Findings;
use supple::inverse_kinematics::{Goal, ReachOptions, reach};
use supple::metrics::Gauge;
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, ShapeDiameter, place_handles};
use supple::quality::WeightQuality;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::twist::{TwistOptions, split};
use supple::weights::WeightsBuilder;
use supple::{Affine, Asset, Mesh, Method, Normals, Output, Palette, Rig, Skin, Workspace};

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
        let bake = |rig: &Rig| Skin::bake(rig, method, Normals::Gradient).unwrap();
        grows_with_its_input(&what, size, make_rig, |rig| {
            bake(rig);
        });
        let what = format!("a frame by {what}");
        grows_with_its_input(&what, size, |size| bake(&make_rig(size)), deform);
    }
    for (edit, run) in edits() {
        let what = format!("{edit} of {what}");
        grows_at_most(most_growth, &what, size, make_rig, run);
    }
    let measures = format!("measures of {what}");
    grows_at_most(most_growth, &measures, size, make_rig, measure);
    let handles = format!("handles of {what}");
    grows_at_most(most_growth, &handles, size, &make, place);
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

/// A name and what is done to a character.
type Work = (&'static str, fn(&Rig));

/// A name, the most bytes for each vertex, and what is done to a character.
type BoundedWork<'a> = (&'static str, usize, &'a dyn Fn(&Rig));

/// Edits of all weights, and strokes of a brush.
fn edits() -> [Work; 4] {
    [
        ("smoothing", |rig| {
            edited(
                rig,
                &Edit::Smooth {
                    steps: 2,
                    strength: 0.5,
                    joints: Vec::new(),
                },
            );
        }),
        ("mirroring", |rig| {
            edited(
                rig,
                &Edit::Mirror(Mirror {
                    plane: Some(0.0),
                    source: MirrorSource::Heavier,
                    ..Mirror::default()
                }),
            );
        }),
        ("a transfer", |rig| {
            edited(rig, &Edit::Transfer(Transfer::new(Arc::new(rig.clone()))));
        }),
        ("strokes", |rig| {
            let brush = Brush {
                paint: Paint::Add {
                    joint: 1,
                    amount: 0.3,
                },
                radius: 0.2,
                falloff: Falloff::Smooth,
            };
            let editor = Editor::new(rig);
            let mut stroke = editor.stroke(rig.weights()).unwrap();
            for vertex in [0, 1, 2] {
                stroke.dab(&brush, StrokePoint::Vertex(vertex)).unwrap();
            }
            stroke.change().unwrap();
        }),
    ]
}

fn edited(rig: &Rig, edit: &Edit) {
    let editor = Editor::new(rig);
    let change = editor.apply(rig.weights(), edit, &EditRegion::All);
    change.unwrap();
}

/// Everything that `info` and `compare` measure of a character.
fn measure(rig: &Rig) {
    WeightQuality::of(rig);
    Findings::of(rig, &[]);
    let gauge = Gauge::new(rig);
    let palette = rig.skeleton().rest_palette();
    gauge.measure(rig.mesh().positions(), rig.mesh().normals(), &palette);
    gauge.vertex_stretch(rig.mesh().positions());
    gauge.main_regions();
}

fn place(mesh: &Mesh) {
    // A few of them: where more fit, the number follows the shape.
    let options = HandleOptions {
        count: Some(5),
        ..HandleOptions::default()
    };
    place_handles(mesh, &options).unwrap();
}

/// Every frame of a skin that is baked already.
fn deform(skin: &Skin) {
    let mut positions = skin.rest().positions.to_vec();
    let mut normals = skin.rest().normals.to_vec();
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    let palette = Palette::identity(skin.joint_count());
    let mut bent = palette;
    if let Some(map) = bent.posed_from_bind.last_mut() {
        *map = Affine::from(DAffine3::from_rotation_z(0.5));
    }
    let workspace = &mut Workspace::default();
    skin.deform(&bent, workspace, output).unwrap();
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
        a_million_loose_vertices();
    });
}

/// A million vertices that no triangle has: so many bytes for each of them at most, and the body
/// among them is bound, edited and deformed as if they were not there.
fn a_million_loose_vertices() {
    const COUNT: usize = 1_000_000;
    let rig = on_two_joints(loose(COUNT));
    let handles = Handle::of_joints(rig.skeleton(), &[0, 1]);
    let [rigid, _, heat, ..] = binders();
    let works: [BoundedWork; 6] = [
        ("rigid weights", 400, &|rig| {
            bind(rig.mesh(), &handles, 2, &rigid, &|_| {}).unwrap();
        }),
        ("heat weights", 600, &|rig| {
            bind(rig.mesh(), &handles, 2, &heat, &|_| {}).unwrap();
        }),
        ("direct delta mush", 1000, &|rig| {
            Mush::bake(rig, &MushOptions::default()).unwrap();
        }),
        ("measures", 1000, &measure),
        ("smoothing", 1000, &edits()[0].1),
        ("a frame", 400, &|rig| {
            deform(&Skin::bake(rig, &Method::Linear, Normals::Gradient).unwrap());
        }),
    ];
    for (what, most, work) in works {
        let peak = memory_of(|| work(&rig)).peak / COUNT;
        assert!(peak < most, "{what}: {peak} bytes for each loose vertex");
    }
}

/// A tube of so many vertices on three joints, with a clip that twists the last.
fn with_a_twist(vertices: usize) -> Asset {
    let mesh = closed_tube(8, vertices as u32 / 8, 0.01, 4.0 * BONE as f32);
    let mut weights = WeightsBuilder::new(3).unwrap();
    for place in mesh.positions() {
        // A joint is at the end of the bone that its index counts.
        let joint = (f64::from(place.y) / BONE - 1.0).clamp(0.0, 2.0) as usize;
        weights.push([(joint, 1.0)], 0).unwrap();
    }
    let rig = Rig::new(mesh, chain(3), weights.finish().0).unwrap();
    let turn = DQuat::from_rotation_y(1.0).as_quat().to_array();
    let values = [[0.0, 0.0, 0.0, 1.0], turn].concat();
    let curve = Curve::new(vec![0.0, 1.0], values, 4, Interpolation::Linear).unwrap();
    let channel = Channel::Rotation { node: 2 };
    Asset {
        name: String::new(),
        rig,
        parts: Vec::new(),
        morphs: Vec::new(),
        rest_morph_weights: Vec::new(),
        clips: vec![Clip {
            name: String::new(),
            tracks: vec![Track { channel, curve }],
        }],
        props: Vec::new(),
    }
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
    grows_with_its_input("measures", 600, tube_rig, measure);
    for (edit, run) in edits() {
        grows_with_its_input(edit, 600, tube_rig, run);
    }
    for method in Method::ALL {
        let bake = |rig: &Rig| Skin::bake(rig, method, Normals::Gradient).unwrap();
        grows_with_its_input(method.name(), 600, tube_rig, |rig| {
            bake(rig);
        });
        let what = format!("a frame by {method}");
        grows_with_its_input(&what, 600, |joints| bake(&tube_rig(joints)), deform);
    }
    grows_with_its_input("a twist joint", 2000, with_a_twist, |asset| {
        split(asset, 1, &TwistOptions::default()).unwrap();
    });
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
