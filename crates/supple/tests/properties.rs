//! What every skinning method must hold to, on random rigs. A new method joins by being listed in `Method::ALL`.

#![allow(clippy::unwrap_used)]

use glam::{DAffine3, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use proptest::sample::Index;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Affine, Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Output, Palette, Rig, Skin, Workspace};

/// Of the size of what is added up: a few roundings of `f32`.
const ROUNDING: f64 = 5e-7;
/// Of unit normals, which pass through an inverse: a few roundings more.
const NORMAL_ROUNDING: f64 = 2e-6;

/// Angles between joints stay well below the half turn at which blends of rotations are undefined.
const STRONG_BEND: f64 = 1.2;
/// Blends of rotations up to this far apart are far from singular, so that normals are well defined.
const MILD_BEND: f64 = 0.6;

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
}

fn rotation(largest_angle: f64) -> impl Strategy<Value = DQuat> {
    (vector(1.0), -largest_angle..largest_angle).prop_map(|(axis, angle)| {
        let axis = axis.try_normalize().unwrap_or(DVec3::Z);
        DQuat::from_axis_angle(axis, angle)
    })
}

fn rigid(largest_angle: f64) -> impl Strategy<Value = DAffine3> {
    let parts = (rotation(largest_angle), vector(2.0));
    parts.prop_map(|(rotation, translation)| {
        DAffine3::from_rotation_translation(rotation, translation)
    })
}

/// A forest of 1 to 12 joints, each turned, moved and scaled against its parent.
fn skeleton() -> impl Strategy<Value = Skeleton> {
    let scale = prop::array::uniform3(0.5..2.0).prop_map(DVec3::from_array);
    let joint = (any::<Index>(), 0..4, vector(1.0), rotation(3.0), scale);
    prop::collection::vec(joint, 1..12).prop_map(|joints| {
        let node = |(index, (parent, root, translation, rotation, scale)): (
            usize,
            (Index, i32, _, _, _),
        )| Node {
            name: String::new(),
            parent: (index > 0 && root > 0).then(|| parent.index(index)),
            rest: Local::Trs(Trs {
                translation,
                rotation,
                scale,
            }),
        };
        let nodes: Vec<Node> = joints.into_iter().enumerate().map(node).collect();
        let all: Vec<usize> = (0..nodes.len()).collect();
        Skeleton::bound_at_rest(nodes, &all).unwrap()
    })
}

/// A vertex: position, normal, and 1 to 10 influences.
type Vertex = (DVec3, DVec3, Vec<(Index, f32)>);

fn vertices(influences: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vertex>> {
    let normal = vector(1.0).prop_map(|normal| normal.try_normalize().unwrap_or(DVec3::X));
    let influences = prop::collection::vec((any::<Index>(), 0.01f32..1.0), influences);
    prop::collection::vec((vector(3.0), normal, influences), 8..50)
}

/// A random surface on a skeleton. Triangles join neighbours in the list.
fn bind(skeleton: Skeleton, vertices: &[Vertex], copies: usize) -> Rig {
    let joints = skeleton.joints().len();
    let mut builder = WeightsBuilder::new(joints).unwrap();
    let all = || std::iter::repeat_n(vertices, copies).flatten();
    for (_, _, influences) in all() {
        let influences = influences
            .iter()
            .map(|(joint, weight)| (joint.index(joints), *weight));
        builder.push(influences, 0).unwrap();
    }
    let positions = all().map(|(position, ..)| position.as_vec3()).collect();
    let normals = all().map(|(_, normal, _)| normal.as_vec3()).collect();
    let triangles = (2..vertices.len() as u32)
        .map(|last| [last - 2, last - 1, last])
        .collect();
    let mesh = Mesh::new(positions, Some(normals), None, triangles).unwrap();
    Rig::new(mesh, skeleton, builder.finish().0).unwrap()
}

fn rig() -> impl Strategy<Value = Rig> {
    (skeleton(), vertices(1..11)).prop_map(|(skeleton, vertices)| bind(skeleton, &vertices, 1))
}

/// A rig and a rigid motion for each of its joints.
fn posed_rig(largest_angle: f64) -> impl Strategy<Value = (Rig, Vec<DAffine3>)> {
    rig().prop_flat_map(move |rig| {
        let joints = rig.skeleton().joints().len();
        (
            Just(rig),
            prop::collection::vec(rigid(largest_angle), joints),
        )
    })
}

fn palette<'a>(posed_from_bind: impl IntoIterator<Item = &'a DAffine3>) -> Palette {
    Palette {
        posed_from_bind: posed_from_bind.into_iter().map(Affine::from_f64).collect(),
    }
}

fn rest_palette(rig: &Rig) -> Palette {
    rig.skeleton().palette(&rig.skeleton().rest_pose())
}

/// The methods whose blend does not depend on where the character stands. Log-matrix skinning takes its logarithms at the identity, so it
/// changes as the character turns: the flaw that the course describes.
fn methods_that_follow() -> impl Iterator<Item = &'static Method> {
    Method::ALL
        .iter()
        .filter(|method| **method != Method::LogMatrix)
}

/// The methods by which a vertex with one influence moves with that joint alone. Bones that stretch and twist, and curves, also look at
/// the joints around: that is their purpose.
fn methods_that_look_at_one_joint() -> impl Iterator<Item = &'static Method> {
    let looks_around = |method: &Method| matches!(method, Method::StretchTwist(_) | Method::Spline);
    Method::ALL
        .iter()
        .filter(move |method| !looks_around(method))
}

#[derive(Debug, PartialEq)]
struct Surface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

fn deform(rig: &Rig, method: &Method, palette: &Palette) -> Surface {
    deform_skin(&bake(rig, method), palette)
}

fn bake(rig: &Rig, method: &Method) -> Skin {
    Skin::bake(rig, method, Normals::Transported).unwrap()
}

fn deform_skin(skin: &Skin, palette: &Palette) -> Surface {
    let mut surface = Surface {
        positions: vec![Vec3::NAN; skin.vertex_count()],
        normals: vec![Vec3::NAN; skin.vertex_count()],
    };
    let output = Output {
        positions: &mut surface.positions,
        normals: Some(&mut surface.normals),
        tangents: None,
    };
    skin.deform(palette, &mut Workspace::default(), output)
        .unwrap();
    surface
}

/// The largest coordinate of some points: what roundings are relative to.
fn size<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> f64 {
    let largest = points.into_iter().map(|point| point.abs().max_element());
    f64::from(largest.fold(1.0, f32::max))
}

fn assert_close(
    method: &Method,
    found: &[Vec3],
    expected: impl Iterator<Item = DVec3>,
    tolerance: f64,
) -> Result<(), TestCaseError> {
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = found.as_dvec3().distance(expected);
        prop_assert!(
            error <= tolerance,
            "{}, vertex {}: {} for {}, off by {:e}",
            method,
            vertex,
            found,
            expected,
            error
        );
    }
    Ok(())
}

/// A rigid motion after any other moves the posed surface rigidly.
fn assert_follows(
    methods: impl Iterator<Item = &'static Method>,
    rig: &Rig,
    motions: &[DAffine3],
    after: DAffine3,
) -> Result<(), TestCaseError> {
    for method in methods {
        let before = deform(rig, method, &palette(motions));
        let moved: Vec<DAffine3> = motions.iter().map(|motion| after * *motion).collect();
        let found = deform(rig, method, &palette(&moved));
        let size = size(before.positions.iter().chain(&found.positions)) + 4.0;
        let expected = before
            .positions
            .iter()
            .map(|position| after.transform_point3(position.as_dvec3()));
        assert_close(method, &found.positions, expected, ROUNDING * size)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn under_the_identity_the_surface_comes_back_to_the_bit(rig in rig()) {
        for method in Method::ALL {
            let found = deform(&rig, method, &Palette::identity(rig.skeleton().joints().len()));
            for (found, given) in found.positions.iter().zip(rig.mesh().positions()) {
                prop_assert_eq!(found.to_array().map(f32::to_bits), given.to_array().map(f32::to_bits), "{}", method.name());
            }
            assert_close(method, &found.normals, rig.mesh().normals().iter().map(|n| n.as_dvec3()), NORMAL_ROUNDING)?;
        }
    }

    #[test]
    fn in_the_rest_pose_the_surface_comes_back(rig in rig()) {
        let extent = f64::from(rig.mesh().bounds().unwrap().extent());
        for method in Method::ALL {
            let found = deform(&rig, method, &rest_palette(&rig));
            assert_close(method, &found.positions, rig.mesh().positions().iter().map(|p| p.as_dvec3()), ROUNDING * extent)?;
            assert_close(method, &found.normals, rig.mesh().normals().iter().map(|n| n.as_dvec3()), NORMAL_ROUNDING)?;
        }
    }

    #[test]
    fn the_rest_surface_follows_a_rigid_motion_of_the_whole_skeleton(rig in rig(), motion in rigid(3.0)) {
        let still = vec![DAffine3::IDENTITY; rig.skeleton().joints().len()];
        assert_follows(Method::ALL.iter(), &rig, &still, motion)?;
        // The same through the skeleton: the motion above every root.
        let mut pose = rig.skeleton().rest_pose();
        for (node, local) in rig.skeleton().nodes().iter().zip(&mut pose.locals) {
            if node.parent.is_none() {
                *local = Local::Matrix(motion * local.to_affine());
            }
        }
        let positions = rig.mesh().positions();
        for method in Method::ALL {
            let found = deform(&rig, method, &rig.skeleton().palette(&pose));
            let expected = positions.iter().map(|position| motion.transform_point3(position.as_dvec3()));
            assert_close(method, &found.positions, expected, ROUNDING * (size(positions) + 4.0))?;
        }
    }

    #[test]
    fn a_posed_surface_follows_a_rigid_motion_of_the_whole_skeleton(
        (rig, motions) in posed_rig(STRONG_BEND), after in rigid(3.0)
    ) {
        assert_follows(methods_that_follow(), &rig, &motions, after)?;
    }

    #[test]
    fn normals_follow_a_rigid_motion_of_the_whole_skeleton(
        (rig, motions) in posed_rig(MILD_BEND), after in rigid(3.0)
    ) {
        for method in methods_that_follow() {
            let before = deform(&rig, method, &palette(&motions));
            let moved: Vec<DAffine3> = motions.iter().map(|motion| after * *motion).collect();
            let found = deform(&rig, method, &palette(&moved));
            let expected = before.normals.iter().map(|normal| after.transform_vector3(normal.as_dvec3()));
            assert_close(method, &found.normals, expected, NORMAL_ROUNDING)?;
            for normal in &found.normals {
                prop_assert!((normal.length() - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn vertices_with_one_influence_move_with_their_joint(
        (skeleton, vertices, seed) in (skeleton(), vertices(1..2), prop::collection::vec(rigid(3.0), 12))
    ) {
        let rig = bind(skeleton, &vertices, 1);
        let motions = &seed[..rig.skeleton().joints().len()];
        for method in methods_that_look_at_one_joint() {
            let found = deform(&rig, method, &palette(motions));
            let joint = |vertex: usize| motions[rig.weights().of(vertex).next().unwrap().joint];
            let (mesh, size) = (rig.mesh(), size(rig.mesh().positions()) + 2.0);
            let positions = mesh.positions().iter().enumerate();
            let expected = positions.map(|(vertex, position)| joint(vertex).transform_point3(position.as_dvec3()));
            assert_close(method, &found.positions, expected, ROUNDING * size)?;
            let normals = mesh.normals().iter().enumerate();
            let expected = normals.map(|(vertex, normal)| joint(vertex).transform_vector3(normal.as_dvec3()));
            assert_close(method, &found.normals, expected, NORMAL_ROUNDING)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// The large surface is the small one many times over: wherever a method cuts it into chunks for threads or lanes,
    /// every copy must come out the same.
    #[test]
    fn neither_chunks_nor_threads_change_a_bit(
        (skeleton, vertices, motions) in (skeleton(), vertices(1..11), prop::collection::vec(rigid(STRONG_BEND), 12))
    ) {
        const LARGE: usize = 40_000;
        let palette = palette(&motions[..skeleton.joints().len()]);
        let small = bind(skeleton.clone(), &vertices, 1);
        let large = bind(skeleton, &vertices, LARGE.div_ceil(vertices.len()));
        for method in Method::ALL {
            let expected = deform(&small, method, &palette);
            let skin = bake(&large, method);
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| deform_skin(&skin, &palette));
                for positions in found.positions.chunks(vertices.len()) {
                    prop_assert!(positions == expected.positions, "{} on {} threads", method.name(), threads);
                }
                for normals in found.normals.chunks(vertices.len()) {
                    prop_assert!(normals == expected.normals, "{} on {} threads", method.name(), threads);
                }
            }
        }
    }
}
