//! The fast vertex loop: the same surface as the plain one, on every instruction set, for any order
//! of vertices, into any buffers, for any crowd.

#![allow(clippy::unwrap_used)]

mod common;
mod random;

use common::*;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3, Vec4};
use proptest::prelude::*;
use supple::characters::{self, Character};
use supple::deform::{
    BufferOffset, DeformError, InstructionSet, NormalFormat, TangentFormat, VertexBuffer,
    VertexBuffers,
};
use supple::mesh::Shape;
use supple::{Asset, Mesh, Method, Normals, Output, Palette, Rig, Skin, Workspace};

/// Of the extent of what comes out: what the lanes may round otherwise than the plain loop.
const ROUNDING: f32 = 1e-6;

/// Of unit normals and tangents, which pass through an inverse.
const DIRECTION_ROUNDING: f32 = 5e-6;

/// A whole surface.
#[derive(Clone, Debug, PartialEq)]
struct Deformed {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
}

impl Deformed {
    fn sized(vertices: usize) -> Deformed {
        Deformed {
            positions: vec![Vec3::NAN; vertices],
            normals: vec![Vec3::NAN; vertices],
            tangents: vec![Vec4::NAN; vertices],
        }
    }

    fn output(&mut self) -> Output<'_> {
        Output {
            positions: &mut self.positions,
            normals: Some(&mut self.normals),
            tangents: Some(&mut self.tangents),
        }
    }
}

fn deformed(skin: &Skin, palette: &Palette) -> Deformed {
    let mut surface = Deformed::sized(skin.vertex_count());
    let workspace = &mut Workspace::default();
    skin.deform(palette, workspace, surface.output()).unwrap();
    surface
}

/// The rig with tangents across its normals.
fn with_tangents(rig: &Rig) -> Rig {
    let mesh = rig.mesh();
    let tangents = mesh.normals().iter().enumerate().map(|(vertex, normal)| {
        let across = normal.normalize_or(Vec3::Y).any_orthonormal_vector();
        across.extend(if vertex % 3 == 0 { -1.0 } else { 1.0 })
    });
    let mesh = Mesh::new(
        mesh.positions().to_vec(),
        Some(mesh.normals().to_vec()),
        Some(tangents.collect()),
        mesh.triangles().to_vec(),
    );
    Rig::new(mesh.unwrap(), rig.skeleton().clone(), rig.weights().clone()).unwrap()
}

fn largest(points: &[Vec3]) -> f32 {
    let sizes = points.iter().map(|point| point.abs().max_element());
    sizes.fold(1.0, f32::max)
}

/// Every instruction set that is here against the plain loop.
fn assert_like_plain(skin: &Skin, palette: &Palette, slack: f32, what: &str) {
    let plain = deformed(&skin.clone().on(InstructionSet::Plain), palette);
    let extent = largest(&plain.positions);
    for set in InstructionSet::available() {
        let found = deformed(&skin.clone().on(set), palette);
        for vertex in 0..skin.vertex_count() {
            let off = found.positions[vertex].distance(plain.positions[vertex]) / extent;
            assert!(
                off <= slack * ROUNDING,
                "{what} on {set}, vertex {vertex}: {off:e}"
            );
            let off = found.normals[vertex].distance(plain.normals[vertex]);
            assert!(
                off <= slack * DIRECTION_ROUNDING,
                "{what} on {set}, normal {vertex}: {off:e}"
            );
            let off = found.tangents[vertex].distance(plain.tangents[vertex]);
            assert!(
                off <= slack * DIRECTION_ROUNDING,
                "{what} on {set}, tangent {vertex}: {off:e}"
            );
        }
    }
}

fn figure(vertices: usize) -> Asset {
    characters::build(Character::Figure, vertices).unwrap()
}

/// The first clip of a character, in the middle.
fn middle_pose(asset: &Asset) -> Palette {
    let clip = &asset.clips[0];
    let pose = asset.pose_at(clip, clip.start() + 0.5 * clip.duration());
    asset.rig.skeleton().palette(&pose).unwrap()
}

/// How much more than others a method may differ between the two loops: where it fits rotations to
/// patches, or divides by lengths of bones.
fn slack(method: &Method) -> f32 {
    if looks_at_surface_around(method) || looks_at_joints_around(method) {
        20.0
    } else {
        1.0
    }
}

#[test]
fn every_method_on_every_instruction_set_is_the_plain_loop_for_all_clips() {
    let asset = figure(3000);
    let rig = with_tangents(&asset.rig);
    for method in Method::ALL {
        let skin = Skin::bake(&rig, method, Normals::Transported).unwrap();
        for clip in &asset.clips {
            for share in [0.3, 0.8] {
                let time = clip.start() + share * (clip.duration() - clip.start());
                let palette = rig.skeleton().palette(&asset.pose_at(clip, time)).unwrap();
                let what = format!("{method}, {}", clip.name);
                assert_like_plain(&skin, &palette, slack(method), &what);
            }
        }
    }
}

#[test]
fn the_plain_loop_is_there_everywhere_and_the_best_comes_last() {
    let sets: Vec<InstructionSet> = InstructionSet::available().collect();
    assert_eq!(sets[0], InstructionSet::Plain);
    assert_eq!(*sets.last().unwrap(), InstructionSet::best());
    assert!(sets.len() > 1);
}

/// A surface whose vertices come in an order that has nothing to do with their places.
fn shuffled(rig: &Rig) -> Rig {
    let mesh = rig.mesh();
    let count = mesh.vertex_count();
    // A step without a common factor visits every vertex.
    let step = (count * 5 / 8..)
        .find(|step| gcd(*step, count) == 1)
        .unwrap();
    let order: Vec<usize> = (0..count).map(|at| at * step % count).collect();
    let mut builder = supple::weights::WeightsBuilder::new(rig.skeleton().joints().len()).unwrap();
    for &vertex in &order {
        let row = rig.weights().of(vertex);
        let row = row.map(|influence| (influence.joint, influence.weight));
        builder.push(row, 0).unwrap();
    }
    let pick = |values: &[Vec3]| order.iter().map(|&vertex| values[vertex]).collect();
    let mesh = Mesh::new(
        pick(mesh.positions()),
        Some(pick(mesh.normals())),
        None,
        Vec::new(),
    );
    Rig::new(mesh.unwrap(), rig.skeleton().clone(), builder.finish().0).unwrap()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn the_order_of_vertices_changes_no_bit() {
    let asset = figure(5000);
    let palette = middle_pose(&asset);
    let count = asset.rig.mesh().vertex_count();
    let other = shuffled(&asset.rig);
    let step = (count * 5 / 8..)
        .find(|step| gcd(*step, count) == 1)
        .unwrap();
    for method in [
        Method::Rigid,
        Method::Linear,
        "dual-quaternion".parse().unwrap(),
        "linear-dual-blend".parse().unwrap(),
        "swing-twist".parse().unwrap(),
        Method::Spherical,
        "differential".parse().unwrap(),
        "stretch-twist".parse().unwrap(),
    ] {
        let in_order = deform(&asset.rig, &method, &palette);
        let found = deform(&other, &method, &palette);
        for at in 0..count {
            let vertex = at * step % count;
            assert_eq!(
                found.positions[at], in_order.positions[vertex],
                "{method}, vertex {vertex}"
            );
            assert_eq!(
                found.normals[at], in_order.normals[vertex],
                "{method}, vertex {vertex}"
            );
        }
    }
}

proptest! {
    #![proptest_config(random::config(48))]

    /// Vertices on joints of all kinds, so that neighbours have little in common, with motions so
    /// strong that the signs of quaternions differ from vertex to vertex.
    #[test]
    fn vertices_that_have_nothing_in_common_come_out_as_by_the_plain_loop(
        (rig, motions) in posed_rig(3.1),
    ) {
        for name in [
            "rigid",
            "linear",
            "dual-quaternion",
            "dual-quaternion:per-joint",
            "linear-dual-blend",
            "swing-twist",
            "spherical",
            "differential",
            "stretch-twist",
        ] {
            let method: Method = name.parse().unwrap();
            let skin = Skin::bake(&with_tangents(&rig), &method, Normals::Transported).unwrap();
            // Sums of motions that nearly cancel out multiply their rounding.
            assert_like_plain(&skin, &palette(&motions), 30.0, name);
        }
    }

    /// Stretches, mirrors, sizes far from one.
    #[test]
    fn stretched_and_mirrored_joints_come_out_as_by_the_plain_loop(
        (rig, motions) in posed_rig(0.6),
        stretch in prop::array::uniform3(0.4..2.0),
        mirrored in any::<bool>(),
        world in prop::sample::select(vec![1e-3, 1.0, 1e3]),
    ) {
        let side = if mirrored { -1.0 } else { 1.0 };
        let world =
            DAffine3::from_mat3(DMat3::from_diagonal(DVec3::new(side * world, world, world)));
        let stretch = DAffine3::from_mat3(DMat3::from_diagonal(DVec3::from_array(stretch)));
        let maps = motions.iter().enumerate().map(|(joint, motion)| {
            world
                * *motion
                * if joint % 2 == 0 {
                    stretch
                } else {
                    DAffine3::IDENTITY
                }
        });
        let palette = palette(&maps.collect::<Vec<_>>());
        for name in [
            "linear",
            "dual-quaternion",
            "linear-dual-blend",
            "cor",
            "swing-twist",
            "spherical",
            "differential",
            "stretch-twist",
            "ddm",
            "ddm-v2",
            "ddm-v3",
            "ddm-v4",
        ] {
            let method: Method = name.parse().unwrap();
            let skin = Skin::bake(&with_tangents(&rig), &method, Normals::Transported).unwrap();
            assert_like_plain(&skin, &palette, 30.0 * slack(&method), name);
        }
    }

    /// Weights of 16 bits: still sums of exactly one, off by no more than a step.
    #[test]
    fn weights_in_16_bits_sum_to_one_and_move_little((rig, motions) in posed_rig(0.6)) {
        let short = rig.weights().in_16_bits();
        prop_assert_eq!(short.vertex_count(), rig.weights().vertex_count());
        for vertex in 0..short.vertex_count() {
            prop_assert_eq!(
                short
                    .of(vertex)
                    .map(|influence| influence.weight)
                    .sum::<f32>(),
                1.0
            );
            let steps = short.of(vertex).map(|influence| influence.weight * 32768.0);
            prop_assert!(steps.clone().all(|step| step.fract() == 0.0));
            let weights: Vec<f32> = steps.collect();
            prop_assert!(weights.is_sorted_by(|a, b| a >= b));
            for influence in rig.weights().of(vertex) {
                let off = (short.weight_of(vertex, influence.joint) - influence.weight).abs();
                prop_assert!(off <= 1.0 / 32768.0, "vertex {}: {}", vertex, off);
            }
        }
        let palette = palette(&motions);
        let rig =
            with_tangents(&Rig::new(rig.mesh().clone(), rig.skeleton().clone(), short).unwrap());
        for name in ["linear", "dual-quaternion"] {
            let skin = Skin::bake(&rig, &name.parse().unwrap(), Normals::Transported).unwrap();
            assert_like_plain(&skin, &palette, 3.0, name);
        }
    }
}

/// So many that rounding each by itself would add up to more than the heaviest can spare.
#[test]
fn weights_of_a_thousand_joints_in_16_bits_sum_to_one() {
    let mut builder = supple::weights::WeightsBuilder::new(1000).unwrap();
    builder
        .push((0..1000).map(|joint| (joint, 1.0)), 0)
        .unwrap();
    let short = builder.finish().0.in_16_bits();
    assert_eq!(short.influence_count(), 1000);
    assert_eq!(
        short.of(0).map(|influence| influence.weight).sum::<f32>(),
        1.0
    );
}

/// Also vertices that stand beside others.
#[test]
fn a_joint_that_is_not_finite_takes_only_its_own_vertices_along() {
    let asset = figure(2000);
    let mut palette = middle_pose(&asset);
    let lost = asset.rig.weights().of(700).next().unwrap().joint;
    palette.posed_from_bind[lost].rows[1].w = f32::NAN;
    for name in [
        "rigid",
        "linear",
        "dual-quaternion",
        "cor",
        "swing-twist",
        "spherical",
        "differential",
        "stretch-twist",
        "ddm",
        "ddm-v2",
    ] {
        let method: Method = name.parse().unwrap();
        let skin = bake(&asset.rig, &method);
        let plain = deform_skin(&skin.clone().on(InstructionSet::Plain), &palette);
        let found = deform_skin(&skin, &palette);
        let finite = plain.positions.iter().filter(|place| place.is_finite());
        assert!(finite.count() > 0, "{method}");
        for (found, plain) in found.positions.iter().zip(&plain.positions) {
            assert_eq!(found.is_finite(), plain.is_finite(), "{method}");
        }
    }
}

/// Two joints half a turn apart: rounding must not decide which way is shorter, on any instruction
/// set.
#[test]
fn joints_half_a_turn_apart_tie_and_rounding_does_not_decide() {
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let rig = with_tangents(&bar.rig);
    let joints = rig.skeleton().joints().len();
    for axis in [
        DVec3::X,
        DVec3::new(0.6, 0.0, 0.8),
        DVec3::new(-0.48, 0.6, 0.64),
    ] {
        let half_turn = |off: f64| {
            let turn = DAffine3::from_axis_angle(axis, std::f64::consts::PI + off);
            let maps: Vec<DAffine3> = (0..joints)
                .map(|joint| if joint == 0 { DAffine3::IDENTITY } else { turn })
                .collect();
            palette(&maps)
        };
        // All methods that add quaternions.
        for name in [
            "dual-quaternion",
            "dual-quaternion:per-joint",
            "dual-quaternion-intrinsic",
            "linear-dual-blend",
            "spherical",
            "differential",
            "cor",
            "cor:per-joint",
            "ddm-v2",
            "ddm-v4",
        ] {
            let method = &name.parse::<Method>().unwrap();
            let skin = Skin::bake(&rig, method, Normals::Transported).unwrap();
            let exact = deformed(&skin, &half_turn(0.0));
            assert_like_plain(&skin, &half_turn(0.0), 10.0, &format!("{method}, {axis}"));
            for off in [1e-7, -1e-7] {
                let near = deformed(&skin, &half_turn(off));
                let pairs = exact.positions.iter().zip(&near.positions);
                let apart = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
                assert!(apart < 1e-4, "{method}, {axis}, {off}: {apart:e}");
            }
        }
    }
}

#[test]
fn weights_in_16_bits_move_fewer_bytes() {
    let asset = figure(2000);
    let short = asset.rig.weights().in_16_bits();
    let (mesh, skeleton) = (asset.rig.mesh().clone(), asset.rig.skeleton().clone());
    let rig = Rig::new(mesh, skeleton, short).unwrap();
    let bytes = |rig: &Rig| bake(rig, &Method::Linear).bytes_per_vertex(false, false);
    assert!(
        bytes(&rig) + 5.0 < bytes(&asset.rig),
        "{} {}",
        bytes(&rig),
        bytes(&asset.rig)
    );
}

/// A walk and a turn: poses of many instances.
fn crowd(asset: &Asset, count: usize) -> Vec<Palette> {
    let clip = &asset.clips[0];
    let palettes = (0..count).map(|instance| {
        let time = clip.start() + clip.duration() * instance as f64 / count as f64;
        let mut palette = asset.palette_at(clip, time);
        let turn = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(instance as f64),
            DVec3::X * instance as f64,
        );
        for map in &mut palette.posed_from_bind {
            *map = supple::transform::Affine::from(turn * DAffine3::from(*map));
        }
        palette
    });
    palettes.collect()
}

#[test]
fn a_crowd_is_its_members_one_by_one_on_any_number_of_threads() {
    let asset = figure(2500);
    let rig = with_tangents(&asset.rig);
    let palettes = crowd(&asset, 12);
    for kind in Normals::ALL {
        for method in [Method::Linear, "cor".parse().unwrap(), Method::Spherical] {
            let skin = Skin::bake(&rig, &method, kind).unwrap();
            let expected: Vec<Deformed> = palettes
                .iter()
                .map(|palette| deformed(&skin, palette))
                .collect();
            for threads in [1, 2, 5] {
                let mut all = Deformed::sized(palettes.len() * skin.vertex_count());
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| {
                    skin.deform_crowd(&palettes, &mut Workspace::default(), all.output())
                })
                .unwrap();
                for (instance, expected) in expected.iter().enumerate() {
                    let own = instance * skin.vertex_count()..(instance + 1) * skin.vertex_count();
                    assert_eq!(
                        all.positions[own.clone()],
                        expected.positions,
                        "{method}, {kind}, {instance}"
                    );
                    assert_eq!(all.normals[own.clone()], expected.normals);
                    assert_eq!(all.tangents[own], expected.tangents);
                }
            }
        }
    }
}

#[test]
fn a_large_surface_has_the_same_bits_on_any_number_of_threads() {
    let asset = figure(40_000);
    let palette = middle_pose(&asset);
    for name in [
        "linear",
        "dual-quaternion",
        "cor",
        "swing-twist",
        "spherical",
        "differential",
        "stretch-twist",
        "ddm",
        "ddm-v2",
        "ddm-v3",
    ] {
        let skin = bake(&asset.rig, &name.parse::<Method>().unwrap());
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| deform_skin(&skin, &palette))
        };
        let alone = on(1);
        for threads in [2, 3, 7] {
            let found = on(threads);
            assert!(
                found.positions == alone.positions && found.normals == alone.normals,
                "{name} on {threads}"
            );
        }
    }
}

#[test]
fn an_empty_crowd_and_an_empty_surface_are_no_work() {
    let asset = figure(2000);
    let skin = bake(&asset.rig, &Method::Linear);
    skin.deform_crowd(&[], &mut Workspace::default(), Deformed::sized(0).output())
        .unwrap_err();
    let output = Output {
        positions: &mut [],
        normals: None,
        tangents: None,
    };
    skin.deform_crowd(&[], &mut Workspace::default(), output)
        .unwrap();
    let mesh = Mesh::new(Vec::new(), None, None, Vec::new()).unwrap();
    let weights = supple::weights::WeightsBuilder::new(asset.rig.skeleton().joints().len())
        .unwrap()
        .finish()
        .0;
    let rig = Rig::new(mesh, asset.rig.skeleton().clone(), weights).unwrap();
    let skin = bake(&rig, &Method::Linear);
    let output = Output {
        positions: &mut [],
        normals: None,
        tangents: None,
    };
    skin.deform(&middle_pose(&asset), &mut Workspace::default(), output)
        .unwrap();
}

#[test]
fn another_shape_with_the_same_places_gives_the_same_bits() {
    let asset = figure(2500);
    let rig = with_tangents(&asset.rig);
    let palette = middle_pose(&asset);
    for method in Method::ALL {
        let skin = Skin::bake(&rig, method, Normals::Transported).unwrap();
        let mut found = Deformed::sized(skin.vertex_count());
        let mesh = rig.mesh();
        let shape = Shape {
            positions: mesh.positions(),
            normals: mesh.normals(),
            tangents: mesh.tangents(),
        };
        skin.deform_shape(shape, &palette, &mut Workspace::default(), found.output())
            .unwrap();
        assert!(found == deformed(&skin, &palette), "{method}");
    }
}

fn snorm(bytes: &[u8], at: usize, wide: bool) -> f32 {
    if wide {
        f32::from(i16::from_ne_bytes([bytes[2 * at], bytes[2 * at + 1]])) / 32767.0
    } else {
        f32::from(i8::from_ne_bytes([bytes[at]])) / 127.0
    }
}

fn floats<const N: usize>(bytes: &[u8]) -> [f32; N] {
    std::array::from_fn(|at| f32::from_ne_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap()))
}

/// Unfolds the square back onto the octahedron.
fn from_octahedral([x, y]: [f32; 2]) -> Vec3 {
    let z = 1.0 - x.abs() - y.abs();
    let unfolded = if z >= 0.0 {
        Vec3::new(x, y, z)
    } else {
        Vec3::new((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y), z)
    };
    unfolded.normalize()
}

#[test]
fn vertex_buffers_hold_what_slices_hold() {
    let asset = figure(2500);
    let rig = with_tangents(&asset.rig);
    let palettes = crowd(&asset, 2);
    let normals = [
        NormalFormat::Float32,
        NormalFormat::Snorm16,
        NormalFormat::Snorm8,
        NormalFormat::Octahedral16,
    ];
    let tangents = [
        TangentFormat::Float32,
        TangentFormat::Snorm16,
        TangentFormat::Snorm8,
    ];
    for kind in Normals::ALL {
        let skin = Skin::bake(&rig, &Method::Linear, kind).unwrap();
        let count = 2 * skin.vertex_count();
        let mut expected = Deformed::sized(count);
        skin.deform_crowd(&palettes, &mut Workspace::default(), expected.output())
            .unwrap();
        for normal in normals {
            for tangent in tangents {
                // Positions and tangents side by side with a gap between, normals apart; the last
                // vertex ends with its tangent.
                let (stride, apart) = (20 + tangent.bytes(), normal.bytes() + 3);
                let mut side_by_side = vec![0xaa; stride * count];
                let mut others = vec![0xaa; apart * (count - 1) + normal.bytes()];
                let buffers = VertexBuffers {
                    buffers: &mut [
                        VertexBuffer {
                            bytes: &mut others,
                            stride: apart,
                        },
                        VertexBuffer {
                            bytes: &mut side_by_side,
                            stride,
                        },
                    ],
                    position: BufferOffset {
                        buffer: 1,
                        offset: 4,
                    },
                    normal: Some((
                        BufferOffset {
                            buffer: 0,
                            offset: 0,
                        },
                        normal,
                    )),
                    tangent: Some((
                        BufferOffset {
                            buffer: 1,
                            offset: 20,
                        },
                        tangent,
                    )),
                };
                skin.deform_into_buffers(&palettes, &mut Workspace::default(), buffers)
                    .unwrap();
                for vertex in 0..count {
                    let own = &side_by_side[stride * vertex..];
                    assert_eq!(own[..4], [0xaa; 4]);
                    assert_eq!(own[16..20], [0xaa; 4]);
                    assert_eq!(floats(&own[4..]), expected.positions[vertex].to_array());
                    let found = match tangent {
                        TangentFormat::Float32 => Vec4::from_array(floats(&own[20..])),
                        TangentFormat::Snorm16 => {
                            Vec4::from_array([0, 1, 2, 3].map(|at| snorm(&own[20..], at, true)))
                        }
                        TangentFormat::Snorm8 => {
                            Vec4::from_array([0, 1, 2, 3].map(|at| snorm(&own[20..], at, false)))
                        }
                    };
                    let step = match tangent {
                        TangentFormat::Float32 => 0.0,
                        TangentFormat::Snorm16 => 3e-5,
                        TangentFormat::Snorm8 => 7e-3,
                    };
                    assert!(found.distance(expected.tangents[vertex]) <= step);
                    let own = &others[apart * vertex..];
                    let (found, step) = match normal {
                        NormalFormat::Float32 => (Vec3::from_array(floats(own)), 0.0),
                        NormalFormat::Snorm16 => (
                            Vec3::from_array([0, 1, 2].map(|at| snorm(own, at, true))),
                            3e-5,
                        ),
                        NormalFormat::Snorm8 => (
                            Vec3::from_array([0, 1, 2].map(|at| snorm(own, at, false))),
                            7e-3,
                        ),
                        NormalFormat::Octahedral16 => {
                            (from_octahedral([0, 1].map(|at| snorm(own, at, true))), 1e-4)
                        }
                    };
                    assert!(
                        found.distance(expected.normals[vertex]) <= step,
                        "{normal:?}, {vertex}: {found} for {}",
                        expected.normals[vertex]
                    );
                    if vertex + 1 < count {
                        assert_eq!(own[normal.bytes()..apart], [0xaa; 3]);
                    }
                }
            }
        }
    }
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let asset = figure(2000);
    let skin = bake(&asset.rig, &Method::Linear);
    let palette = [middle_pose(&asset)];
    let count = skin.vertex_count();
    let refused = |bytes: usize,
                   stride: usize,
                   position: BufferOffset,
                   normal: Option<(BufferOffset, NormalFormat)>| {
        let mut bytes = vec![0; bytes];
        let buffers = VertexBuffers {
            buffers: &mut [VertexBuffer {
                bytes: &mut bytes,
                stride,
            }],
            position,
            normal,
            tangent: None,
        };
        let outcome = skin.deform_into_buffers(&palette, &mut Workspace::default(), buffers);
        outcome.unwrap_err().to_string()
    };
    let place = |buffer, offset| BufferOffset { buffer, offset };
    assert_eq!(
        refused(12 * count, 12, place(1, 0), None),
        "positions: buffer 1 is asked for, but there are 1"
    );
    assert_eq!(
        refused(12 * count, 12, place(0, 4), None),
        "positions: bytes 4 to 16 of each vertex, but a vertex has 12 in buffer 0"
    );
    assert_eq!(
        refused(12 * count - 1, 12, place(0, 0), None),
        format!(
            "positions: buffer 0 has {} bytes, too few for {count} vertices of 12 each",
            12 * count - 1
        )
    );
    let overlapping = Some((place(0, 8), NormalFormat::Snorm8));
    assert_eq!(
        refused(16 * count, 16, place(0, 0), overlapping),
        "positions: they overlap the normals"
    );
    assert!(
        refused(usize::from(u16::MAX), usize::MAX, place(0, 0), None)
            .starts_with("positions: buffer 0 has")
    );
    let mut bytes = vec![0; 32 * count];
    let buffers = VertexBuffers {
        buffers: &mut [VertexBuffer {
            bytes: &mut bytes,
            stride: 32,
        }],
        position: place(0, 0),
        normal: None,
        tangent: Some((place(0, 12), TangentFormat::Float32)),
    };
    let without = skin.deform_into_buffers(&palette, &mut Workspace::default(), buffers);
    assert!(matches!(
        without,
        Err(DeformError::SizeMismatch {
            what: "rest tangents, needed for output tangents",
            ..
        })
    ));
}
