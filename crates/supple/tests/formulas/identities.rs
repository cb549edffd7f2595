//! Properties that follow from the formulas alone: mirrors, common motions, and poses with known
//! results.

use crate::common::{
    bake, deform_skin, looks_at_surface_around, methods_that_follow, palette, rigid, size,
};
use crate::compare::{deform, influences, method};
use crate::plain::algebra::logarithm;
use crate::plain::{Influences, Posed};
use crate::random::config;
use crate::scenes::{Scene, chain, chained, curl, loose, points};
use crate::table::{FORMULAS, formula};
use glam::{DAffine3, DMat3, DMat4, DVec3};
use proptest::prelude::*;
use supple::deform::DeformError;
use supple::{Method, Normals, Output, Skin, Workspace};

fn mirror_at(normal: DVec3, distance: f64) -> DAffine3 {
    let n = normal.normalize();
    let column = |axis: DVec3| axis - n * (2.0 * n.dot(axis));
    DAffine3 {
        matrix3: DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)),
        translation: n * (2.0 * distance),
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// A mirror after every joint gives the mirror image, normals and all.
    #[test]
    fn a_mirrored_world_shows_the_mirror_image(
        scene in chained(0.6, 1.5),
        normal in crate::common::vector(1.0),
        distance in -1.0..1.0,
    ) {
        prop_assume!(normal.length() > 0.1);
        let mirror = mirror_at(normal, distance);
        let mirrored = scene.moved(mirror);
        let posed = Posed::new(&scene.rig, &scene.palette);
        // Those of whole surfaces look in a mirror in `../mush/`.
        for method in methods_that_follow().filter(|method| !looks_at_surface_around(method)) {
            let skin = bake(&scene.rig, method);
            let plain = deform_skin(&skin, &scene.palette);
            let found = deform_skin(&skin, &mirrored.palette);
            let heads = posed
                .heads
                .iter()
                .map(|head| head.as_vec3())
                .collect::<Vec<_>>();
            let size = 2.0 * size(plain.positions.iter().chain(&heads)) + 2.0;
            for vertex in 0..found.positions.len() {
                let position = scene.rig.mesh().positions()[vertex].as_dvec3();
                let frame = formula(method)(&posed, position, &influences(&scene.rig, vertex));
                if frame.margin < 0.1 {
                    continue;
                }
                let expected = mirror.transform_point3(plain.positions[vertex].as_dvec3());
                let error = found.positions[vertex].as_dvec3().distance(expected);
                prop_assert!(
                    error < 2e-6 * size / frame.margin,
                    "{method}, vertex {vertex}: off by {error:e}"
                );
                if frame.map.matrix3.determinant() < 0.1 {
                    continue;
                }
                let expected = mirror.transform_vector3(plain.normals[vertex].as_dvec3());
                let error = found.normals[vertex].as_dvec3().distance(expected);
                prop_assert!(error < 1e-4, "{method}, normal {vertex}: off by {error:e}");
            }
        }
    }

    /// The formulas themselves: the rest pose stays, single joints carry their vertices, a common
    /// motion carries all.
    #[test]
    fn the_formulas_are_sound(scene in chained(0.6, 1.5), after in rigid(3.0)) {
        let posed = Posed::new(&scene.rig, &scene.palette);
        let moved = posed.again(&scene.rig, &scene.moved(after).palette);
        let still = posed.again(&scene.rig, &supple::Palette::identity(posed.parents.len()));
        for &(name, formula) in FORMULAS {
            for vertex in 0..4 {
                let position = scene.rig.mesh().positions()[vertex].as_dvec3();
                let joints = influences(&scene.rig, vertex);
                let at = |posed: &Posed, joints: Influences<'_>| {
                    let frame = formula(posed, position, joints);
                    (frame.map.transform_point3(position), frame.margin)
                };
                let (before, margin) = at(&posed, &joints);
                if margin < 0.1 {
                    continue;
                }
                if name != "log-matrix" {
                    let error = at(&moved, &joints).0.distance(after.transform_point3(before));
                    prop_assert!(error < 2e-4, "{name} does not follow: {error:e}");
                }
                let error = at(&still, &joints).0.distance(position);
                prop_assert!(error < 1e-9, "{name} moves the rest pose: {error:e}");
                if !matches!(name, "stretch-twist" | "spline") {
                    let joint = joints[0].0;
                    let expected = posed.transforms[joint].transform_point3(position);
                    let error = at(&posed, &[(joint, 1.0)]).0.distance(expected);
                    prop_assert!(error < 1e-9, "{name} does not carry a rigid part: {error:e}");
                }
            }
        }
    }

    /// `Σ w_j log(b⁻¹ q_j) = 0` at what the library calls the middle, seen in where it takes the
    /// origin and the axes.
    #[test]
    fn the_intrinsic_middle_is_a_fixed_point(scene in loose(0.8, 1.0)) {
        let method = method("dual-quaternion-intrinsic");
        let posed = Posed::new(&scene.rig, &scene.palette);
        for vertex in 0..8 {
            let joints = influences(&scene.rig, vertex);
            let corners =
                [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|corner| (corner, joints.clone()));
            let rig = points(scene.rig.skeleton().clone(), &corners);
            let palette = scene.palette.clone();
            let found = deform(&Scene { rig, palette }, &method, Normals::Transported).positions;
            let [origin, x, y, z] = [0, 1, 2, 3].map(|corner| found[corner].as_dvec3());
            let middle = DAffine3 {
                matrix3: DMat3::from_cols(x - origin, y - origin, z - origin),
                translation: origin,
            };
            let mean = joints.iter().fold(DMat4::ZERO, |sum, &(joint, weight)| {
                sum + logarithm(middle.inverse() * posed.motion(joint)) * weight
            });
            prop_assert!(mean.abs_diff_eq(DMat4::ZERO, 1e-4), "{mean:?}");
        }
    }
}

/// A chain of joints along Y, a point out on X held by the first and the last, in equal or given
/// shares.
fn shared_point(joints: usize, share: f64) -> supple::Rig {
    let skeleton = chain(joints, DVec3::ZERO);
    points(
        skeleton,
        &[(DVec3::X, vec![(0, 1.0 - share), (joints - 1, share)])],
    )
}

fn posed_point(scene: &Scene, method: &Method) -> DVec3 {
    let skin = bake(&scene.rig, method);
    deform_skin(&skin, &scene.palette).positions[0].as_dvec3()
}

/// The rotation of a point on X about Z, in degrees within (−180, 180].
fn turn_about_z(point: DVec3) -> f64 {
    point.y.atan2(point.x).to_degrees()
}

/// The turn of `(1 − share) 1 ⊕ share q` with `q` a turn by `degrees`.
fn blended_turn(share: f64, degrees: f64) -> f64 {
    let half = degrees.to_radians() / 2.0;
    let turn = (share * half.sin()).atan2(1.0 - share + share * half.cos());
    2.0 * turn.to_degrees()
}

/// Three joints, each turned by 100° against its parent: between the first and the last lie 200°,
/// or 160° the other way.
#[test]
fn signs_per_vertex_take_the_short_way_and_per_joint_the_long_one() {
    let turned = |degrees: f64| {
        let rig = shared_point(3, 0.5);
        let mut motions = curl(rig.skeleton(), DVec3::Z, f64::to_radians(degrees));
        let inverse = motions[0].inverse();
        for motion in &mut motions {
            *motion = inverse * *motion;
        }
        let palette = palette(&motions);
        Scene { rig, palette }
    };
    let per_vertex = method("dual-quaternion");
    let per_joint = method("dual-quaternion:per-joint");
    let far = turned(100.0);
    assert!((turn_about_z(posed_point(&far, &per_vertex)) + 80.0).abs() < 1e-3);
    assert!((turn_about_z(posed_point(&far, &per_joint)) - 100.0).abs() < 1e-3);
    let near = turned(80.0);
    for method in [per_vertex, per_joint] {
        assert!((turn_about_z(posed_point(&near, &method)) - 80.0).abs() < 1e-3);
    }
}

#[test]
fn the_intrinsic_middle_turns_evenly_and_the_linear_one_does_not() {
    let intrinsic = method("dual-quaternion-intrinsic");
    let linear = method("dual-quaternion");
    let mut largest_gap: f64 = 0.0;
    for share in [0.1, 0.25, 0.5, 0.8] {
        let rig = shared_point(2, share);
        let motions = [
            DAffine3::IDENTITY,
            DAffine3::from_rotation_z(150f64.to_radians()),
        ];
        let palette = palette(&motions);
        let scene = Scene { rig, palette };
        let even = turn_about_z(posed_point(&scene, &intrinsic));
        assert!((even - 150.0 * share).abs() < 1e-3, "{share}: {even}");
        let blended = turn_about_z(posed_point(&scene, &linear));
        assert!((blended - blended_turn(share, 150.0)).abs() < 1e-3);
        largest_gap = largest_gap.max((blended - even).abs());
    }
    assert!(largest_gap > 3.0, "{largest_gap}");
}

/// Nine joints on one axis, each a quarter turn on: two full turns, which only a blend of
/// differences can see.
#[test]
fn two_full_turns_survive_differential_blending() {
    let differential = method("differential");
    for share in [0.125, 0.25, 0.5, 0.75] {
        let rig = shared_point(9, share);
        let mut motions = curl(rig.skeleton(), DVec3::Z, 90f64.to_radians());
        let first = motions[0].inverse();
        for motion in &mut motions {
            *motion = first * *motion;
        }
        let palette = palette(&motions);
        let scene = Scene { rig, palette };
        let found = turn_about_z(posed_point(&scene, &differential));
        let expected = 8.0 * blended_turn(share, 90.0);
        assert!(
            (expected - 720.0 * share).abs() < 25.0,
            "{share}: {expected}"
        );
        let apart = (found - expected).rem_euclid(360.0);
        assert!(
            apart.min(360.0 - apart) < 1e-2,
            "{share}: {found} for {expected}"
        );
        let lost = turn_about_z(posed_point(&scene, &method("dual-quaternion")));
        assert!(lost.abs() < 1e-3, "{lost}");
    }
}

/// The images of the origin and the axes, as one map, for points that two joints hold in equal
/// shares.
fn half_way(method: &Method, transforms: [DAffine3; 2]) -> DAffine3 {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let scene = Scene {
        rig: points(
            chain(2, DVec3::ZERO),
            &corners.map(|corner| (corner, vec![(0, 0.5), (1, 0.5)])),
        ),
        palette: palette(&transforms),
    };
    let found = deform(&scene, method, Normals::Transported).positions;
    let [origin, x, y, z] = [0, 1, 2, 3].map(|corner| found[corner].as_dvec3());
    DAffine3 {
        matrix3: DMat3::from_cols(x - origin, y - origin, z - origin),
        translation: origin,
    }
}

/// The same pose, turned as a whole: every other method turns its result, this one makes another.
#[test]
fn log_matrices_depend_on_the_world() {
    let method = method("log-matrix");
    let bent = [DAffine3::IDENTITY, DAffine3::from_rotation_z(2.0)];
    let before = half_way(&method, bent);
    let apart = |after: DAffine3| {
        let found = half_way(&method, bent.map(|motion| after * motion));
        let followed = after * before;
        found
            .transform_point3(DVec3::X)
            .distance(followed.transform_point3(DVec3::X))
    };
    // A turn about another axis makes the middle stray; one that takes a joint past the half turn
    // throws it to the other side.
    let strayed = apart(DAffine3::from_axis_angle(DVec3::new(0.8, 0.6, 0.0), 1.8));
    assert!(strayed > 0.02, "{strayed}");
    let thrown = apart(DAffine3::from_rotation_z(1.6));
    assert!((thrown - 2.0).abs() < 1e-3, "{thrown}");
    // But only the motion after matters, not the frame in which all is written: C T C⁻¹ makes C v'
    // of C v.
    let frame = DAffine3::from_axis_angle(DVec3::new(0.0, 0.6, 0.8), 2.0)
        * DAffine3::from_translation(DVec3::new(0.5, -1.0, 2.0));
    let found = half_way(&method, bent.map(|motion| frame * motion * frame.inverse()));
    assert!(found.abs_diff_eq(frame * before * frame.inverse(), 1e-5));
}

/// If every joint mirrors, logarithms are taken on the other side of the mirror.
#[test]
fn log_matrices_live_in_a_mirrored_world() {
    let method = method("log-matrix");
    let bent = [
        DAffine3::from_rotation_x(0.4),
        DAffine3::from_rotation_z(1.0),
    ];
    for axis in DVec3::AXES {
        let mirror = mirror_at(axis, 0.0);
        let found = half_way(&method, bent.map(|motion| mirror * motion));
        assert!(
            found.abs_diff_eq(mirror * half_way(&method, bent), 1e-5),
            "{axis}"
        );
    }
}

/// Half of the logarithm is that of a square root, also at a half turn, where any axis in the plane
/// will do.
#[test]
fn half_of_a_logarithm_is_a_square_root() {
    let turned = DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7);
    let shift = DAffine3::from_translation(DVec3::new(0.3, 2.0, -1.0));
    let maps = [
        DAffine3::from_rotation_y(2.9),
        DAffine3::from_scale(DVec3::new(-1.0, -1.0, 1.0)),
        DAffine3::from_scale(DVec3::new(-2.0, 0.5, -2.0)),
        DAffine3::from_scale(DVec3::new(3.0, 0.01, 1.0)),
    ];
    for map in maps {
        let map = shift * turned * map * turned.inverse();
        let root = half_way(&method("log-matrix"), [DAffine3::IDENTITY, map]);
        assert!(
            (root * root).abs_diff_eq(map, 1e-4),
            "{:?} for {map:?}",
            root * root
        );
    }
}

#[test]
fn joints_without_a_logarithm_are_named() {
    let hopeless = [
        DVec3::new(-1.0, 1.0, 1.0),
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::new(-1.0, -2.0, 1.0),
        DVec3::new(-3.0, 0.7, -0.5),
    ];
    for scale in hopeless {
        let rig = shared_point(3, 0.5);
        let skin = Skin::bake(&rig, &method("log-matrix"), Normals::Transported).unwrap();
        let mut positions = rig.mesh().positions().to_vec();
        let mut run = |transforms: &[DAffine3]| {
            let output = Output {
                positions: &mut positions,
                normals: None,
                tangents: None,
            };
            skin.deform(&palette(transforms), &mut Workspace::default(), output)
        };
        let (fine, transform) = (DAffine3::IDENTITY, DAffine3::from_scale(scale));
        let found = run(&[fine, fine, transform]);
        let named = matches!(found, Err(DeformError::NoLogarithm { joint: 2, .. }));
        assert!(named, "{scale}: {found:?}");
        // A joint that blends nothing may be as it likes.
        run(&[fine, transform, fine]).unwrap();
    }
}
