//! What every skinning method must hold to, on random rigs. A new method joins by being listed in
//! `Method::ALL`.

#![allow(clippy::unwrap_used)]

mod common;
mod random;

use common::*;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use proptest::prelude::*;
use supple::deform::DeformError;
use supple::transform::Local;
use supple::{Method, Normals, Output, Palette, Rig, Skin, Workspace};

/// The unit roundoff of `f32`.
const ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

/// Relative to the size of the terms: one rounding of each map to `f32`, one for each of four
/// joints in a sum, and four in the product with a position.
const ROUNDING: f64 = 9.0 * ROUNDOFF;
/// Relative to unit normals, which pass through an inverse: each of its cofactors is a difference
/// of two products of sums as above, which doubles their error twice.
const NORMAL_ROUNDING: f64 = 4.0 * ROUNDING;

/// Angles between joints stay well below the half turn at which blends of rotations are undefined.
const STRONG_BEND: f64 = 1.2;
/// Blends of rotations up to this far apart are far from singular, so that normals are well
/// defined.
const MILD_BEND: f64 = 0.6;

/// Motions that a method is made for. Bones that stretch and curves follow the joints around them:
/// where joints fly apart at random, bones may shrink to nothing or turn around, and then any
/// rounding decides where they point.
fn within_reach(method: &Method, rig: &Rig, motions: &[DAffine3]) -> Vec<DAffine3> {
    if !looks_at_joints_around(method) {
        return motions.to_vec();
    }
    let near = |motion: &DAffine3| DAffine3 {
        translation: motion.translation * 0.05,
        ..*motion
    };
    in_sockets(rig, &motions.iter().map(near).collect::<Vec<_>>())
}

/// The additional rounding of a method at each vertex of a posed rig.
struct Slack {
    positions: Vec<f64>,
    normals: Vec<f64>,
}

impl Slack {
    fn of(method: &Method, skin: &Skin, motions: &[DAffine3]) -> Slack {
        if looks_at_surface_around(method) {
            return Slack::measured(method, skin, motions);
        }
        // The direction of a short bone multiplies the rounding of its ends.
        Slack::everywhere(
            skin,
            if looks_at_joints_around(method) {
                100.0
            } else {
                1.0
            },
        )
    }

    fn at_rest(method: &Method, skin: &Skin, joints: usize) -> Slack {
        match looks_at_surface_around(method) {
            true => Slack::measured(method, skin, &vec![DAffine3::IDENTITY; joints]),
            false => Slack::everywhere(skin, 1.0),
        }
    }

    fn everywhere(skin: &Skin, slack: f64) -> Slack {
        Slack {
            positions: vec![slack; skin.vertex_count()],
            normals: vec![slack; skin.vertex_count()],
        }
    }

    /// Of methods that fit a rotation to a patch: as much more as the patch magnifies what its
    /// joints do. The random surfaces of these tests are crumpled, and their patches thin, folded
    /// over and torn apart by joints that fly anywhere; a tangent of such a patch (delta mush) or
    /// the inverse of its covariance (`ddm-v1`) may magnify anything a thousandfold. So each joint
    /// is moved by ten thousand times a rounding, in a few directions, and what becomes of that
    /// is what may become of a rounding. A few directions of many: hence a factor of ten. And
    /// `ddm-v1` divides by covariances whose thinnest direction is a thousandth of the whole:
    /// no motion of a joint shows that, but the rounding of sums is made larger by as much.
    fn measured(method: &Method, skin: &Skin, motions: &[DAffine3]) -> Slack {
        const STEP: f64 = 1e-3;
        let still = deform_skin(skin, &palette(motions));
        let largest = size(&still.positions) + 4.0;
        let thinnest = if method.name() == "ddm-v1" {
            1000.0
        } else {
            1.0
        };
        let mut slack = Slack::everywhere(skin, thinnest);
        for trial in 0..6 {
            let direction = |joint: usize, seed: f64| {
                let angle = seed + 2.4 * joint as f64 + 1.1 * f64::from(trial);
                DVec3::new(angle.cos(), (1.7 * angle).sin(), (2.3 * angle).cos()).normalize()
            };
            let nudged = motions.iter().enumerate().map(|(joint, motion)| {
                let turn = DAffine3::from_axis_angle(direction(joint, 0.3), STEP);
                let shift = DAffine3::from_translation(direction(joint, 1.9) * STEP);
                shift * turn * *motion
            });
            let nudged = deform_skin(skin, &palette(&nudged.collect::<Vec<_>>()));
            let raise = |slack: &mut Vec<f64>, before: &[Vec3], after: &[Vec3], size: f64| {
                for (slack, (before, after)) in slack.iter_mut().zip(before.iter().zip(after)) {
                    let moved = f64::from(before.distance(*after)) / (STEP * size);
                    *slack = slack.max(10.0 * thinnest * moved);
                }
            };
            raise(
                &mut slack.positions,
                &still.positions,
                &nudged.positions,
                largest,
            );
            raise(&mut slack.normals, &still.normals, &nudged.normals, 1.0);
        }
        slack
    }
}

/// A rigid motion after any other moves the posed surface rigidly.
fn assert_follows(
    methods: impl Iterator<Item = &'static Method>,
    rig: &Rig,
    motions: &[DAffine3],
    after: DAffine3,
) -> Result<(), TestCaseError> {
    for method in methods {
        let motions = &within_reach(method, rig, motions);
        let skin = bake(rig, method);
        let before = deform_skin(&skin, &palette(motions));
        let moved: Vec<DAffine3> = motions.iter().map(|motion| after * *motion).collect();
        let found = deform_skin(&skin, &palette(&moved));
        let size = size(before.positions.iter().chain(&found.positions)) + 4.0;
        let expected = before
            .positions
            .iter()
            .map(|position| after.transform_point3(position.as_dvec3()));
        let slack = Slack::of(method, &skin, motions);
        assert_each_close(method, &found.positions, expected, |vertex| {
            slack.positions[vertex] * ROUNDING * size
        })?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(random::config(500))]

    #[test]
    fn under_the_identity_the_surface_comes_back_to_the_bit(rig in rig()) {
        for method in METHODS.iter() {
            let found = deform(
                &rig,
                method,
                &Palette::identity(rig.skeleton().joints().len()),
            );
            for (found, given) in found.positions.iter().zip(rig.mesh().positions()) {
                prop_assert_eq!(
                    found.to_array().map(f32::to_bits),
                    given.to_array().map(f32::to_bits),
                    "{}",
                    method.name()
                );
            }
            assert_close(
                method,
                &found.normals,
                rig.mesh().normals().iter().map(|n| n.as_dvec3()),
                NORMAL_ROUNDING,
            )?;
        }
    }

    #[test]
    fn in_the_rest_pose_the_surface_comes_back(rig in rig()) {
        let extent = f64::from(rig.mesh().extent());
        for method in METHODS.iter() {
            let skin = bake(&rig, method);
            let found = deform_skin(&skin, &rest_palette(&rig));
            let slack = Slack::at_rest(method, &skin, rig.skeleton().joints().len());
            let positions = rig.mesh().positions().iter().map(|p| p.as_dvec3());
            assert_each_close(method, &found.positions, positions, |vertex| {
                slack.positions[vertex] * ROUNDING * extent
            })?;
            let normals = rig.mesh().normals().iter().map(|n| n.as_dvec3());
            assert_each_close(method, &found.normals, normals, |vertex| {
                slack.normals[vertex] * NORMAL_ROUNDING
            })?;
        }
    }

    #[test]
    fn the_rest_surface_follows_a_rigid_motion_of_the_whole_skeleton(
        rig in rig(),
        motion in rigid(3.0),
    ) {
        let still = vec![DAffine3::IDENTITY; rig.skeleton().joints().len()];
        assert_follows(METHODS.iter(), &rig, &still, motion)?;
        // The same through the skeleton: the motion above every root.
        let mut pose = rig.skeleton().rest_pose();
        for (node, local) in rig.skeleton().nodes().iter().zip(&mut pose.locals) {
            if node.parent.is_none() {
                *local = Local::Matrix(motion * local.to_affine());
            }
        }
        let positions = rig.mesh().positions();
        for method in METHODS.iter() {
            let skin = bake(&rig, method);
            let found = deform_skin(&skin, &rig.skeleton().palette(&pose).unwrap());
            let slack = Slack::at_rest(method, &skin, rig.skeleton().joints().len());
            let expected = positions
                .iter()
                .map(|position| motion.transform_point3(position.as_dvec3()));
            let size = size(positions) + 4.0;
            assert_each_close(method, &found.positions, expected, |vertex| {
                slack.positions[vertex] * ROUNDING * size
            })?;
        }
    }

    #[test]
    fn a_posed_surface_follows_a_rigid_motion_of_the_whole_skeleton(
        (rig, motions) in posed_rig(STRONG_BEND), after in rigid(3.0)
    ) {
        assert_follows(methods_that_follow(), &rig, &motions, after)?;
    }

    /// Centimetres instead of metres, a scaled node above the skeleton, a character that grows.
    #[test]
    fn a_posed_surface_follows_the_unit_of_the_world(
        (rig, motions) in posed_rig(STRONG_BEND),
        unit in prop::sample::select(&[0.01, 0.5, 3.0, 100.0][..]),
    ) {
        for method in METHODS.iter() {
            let motions = within_reach(method, &rig, &motions);
            let skin = bake(&rig, method);
            let before = deform_skin(&skin, &palette(&motions));
            let scaled: Vec<DAffine3> = motions
                .iter()
                .map(|motion| DAffine3::from_scale(DVec3::splat(unit)) * *motion)
                .collect();
            let found = deform_skin(&skin, &palette(&scaled));
            let expected = before
                .positions
                .iter()
                .map(|position| position.as_dvec3() * unit);
            let size = size(&before.positions) + 4.0;
            let slack = Slack::of(method, &skin, &motions);
            assert_each_close(method, &found.positions, expected, |vertex| {
                4.0 * slack.positions[vertex] * ROUNDING * unit * size
            })?;
        }
    }

    #[test]
    fn normals_follow_a_rigid_motion_of_the_whole_skeleton(
        (rig, motions) in posed_rig(MILD_BEND),
        after in rigid(3.0),
    ) {
        for method in methods_that_follow() {
            let motions = within_reach(method, &rig, &motions);
            let skin = bake(&rig, method);
            let before = deform_skin(&skin, &palette(&motions));
            let moved: Vec<DAffine3> = motions.iter().map(|motion| after * *motion).collect();
            let found = deform_skin(&skin, &palette(&moved));
            let expected = before
                .normals
                .iter()
                .map(|normal| after.transform_vector3(normal.as_dvec3()));
            let slack = Slack::of(method, &skin, &motions);
            assert_each_close(method, &found.normals, expected, |vertex| {
                slack.normals[vertex] * NORMAL_ROUNDING
            })?;
            for normal in &found.normals {
                prop_assert!((normal.length() - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn vertices_with_one_influence_move_with_their_joint(
        (skeleton, vertices, seed) in
            (skeleton(), vertices(1..2), prop::collection::vec(rigid(3.0), 12)),
    ) {
        let rig = bind(skeleton, &vertices, 1);
        let motions = &seed[..rig.skeleton().joints().len()];
        for method in methods_that_look_at_one_joint() {
            let found = deform(&rig, method, &palette(motions));
            let joint = |vertex: usize| motions[rig.weights().of(vertex).next().unwrap().joint];
            let (mesh, size) = (rig.mesh(), size(rig.mesh().positions()) + 2.0);
            let positions = mesh.positions().iter().enumerate();
            let expected = positions
                .map(|(vertex, position)| joint(vertex).transform_point3(position.as_dvec3()));
            assert_close(method, &found.positions, expected, ROUNDING * size)?;
            let normals = mesh.normals().iter().enumerate();
            let expected =
                normals.map(|(vertex, normal)| joint(vertex).transform_vector3(normal.as_dvec3()));
            assert_close(method, &found.normals, expected, NORMAL_ROUNDING)?;
        }
    }
}

/// Maps that no rigid method is made for: stretched, sheared, mirrored, crushed to a plane, a line
/// or a point.
fn any_map() -> impl Strategy<Value = DAffine3> {
    let factor = prop_oneof![
        3 => 0.2..2.0f64,
        1 => -2.0..-0.2f64,
        1 => Just(0.0),
        1 => Just(-1.0),
        1 => Just(1.0),
    ];
    let factors = prop::array::uniform3(factor).prop_map(DVec3::from_array);
    (rotation(3.2), factors, rotation(3.2), vector(2.0)).prop_map(
        |(before, factors, after, translation)| DAffine3 {
            matrix3: DMat3::from_quat(after)
                * DMat3::from_diagonal(factors)
                * DMat3::from_quat(before),
            translation,
        },
    )
}

proptest! {
    #![proptest_config(random::config(500))]

    #[test]
    fn any_matrices_give_finite_numbers_and_single_joints_keep_to_theirs(
        (rig, maps) in posed_joints(rig(), any_map),
        kind in prop::sample::select(&Normals::ALL[..]),
    ) {
        let palette = palette(&maps);
        for method in METHODS.iter() {
            let skin = bake_with(&rig, method, kind);
            let mut positions = vec![Vec3::NAN; skin.vertex_count()];
            let mut normals = positions.clone();
            let output = Output {
                positions: &mut positions,
                normals: Some(&mut normals),
                tangents: None,
            };
            match skin.deform(&palette, &mut Workspace::default(), output) {
                Ok(()) => {}
                Err(DeformError::NoLogarithm { joint, .. }) => {
                    prop_assert_eq!(method, &Method::LogMatrix);
                    prop_assert!(
                        maps[joint].matrix3.determinant() <= 1e-6
                            || has_negative_eigenvalue(&maps[joint].matrix3)
                    );
                    continue;
                }
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
            for vertex in 0..skin.vertex_count() {
                prop_assert!(
                    positions[vertex].is_finite(),
                    "{}, vertex {}: {}",
                    method,
                    vertex,
                    positions[vertex]
                );
                prop_assert!(
                    (normals[vertex].length() - 1.0).abs() < 1e-5,
                    "{}, normal {}: {}",
                    method,
                    vertex,
                    normals[vertex]
                );
                let mut influences = rig.weights().of(vertex);
                let (first, second) = (influences.next().unwrap(), influences.next());
                if second.is_none() && looks_at_one_joint(method) {
                    let expected = maps[first.joint]
                        .transform_point3(rig.mesh().positions()[vertex].as_dvec3());
                    prop_assert!(
                        positions[vertex].as_dvec3().distance(expected) < 1e-5,
                        "{}, vertex {}",
                        method,
                        vertex
                    );
                }
            }
        }
    }
}

/// By the sign of the characteristic polynomial along the negative axis.
fn has_negative_eigenvalue(matrix: &DMat3) -> bool {
    let steps = (0..20_000).map(|step| -f64::from(step) * 5e-4);
    let mut values = steps.map(|value| (*matrix - DMat3::IDENTITY * value).determinant());
    values.any(|value| value <= 1e-5)
}

proptest! {
    #![proptest_config(random::config(12))]

    /// The surface is a small one many times over: wherever a method cuts it into chunks for
    /// threads or lanes, every copy must come out the same.
    #[test]
    fn neither_chunks_nor_threads_change_a_bit(
        (skeleton, vertices, motions) in
            (skeleton(), vertices(1..11), prop::collection::vec(rigid(STRONG_BEND), 12)),
    ) {
        const LARGE: usize = 10_000;
        let palette = palette(&motions[..skeleton.joints().len()]);
        let large = bind(skeleton, &vertices, LARGE.div_ceil(vertices.len()));
        for method in Method::ALL {
            // Gradients are baked on all threads, and the surface is deformed wherever the caller
            // is.
            let deform = || {
                let skin = bake_with(&large, method, Normals::Gradient);
                deform_skin(&skin, &palette)
            };
            let expected = deform();
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let found = pool.install(deform);
                for positions in found.positions.chunks(vertices.len()) {
                    prop_assert!(
                        *positions == expected.positions[..vertices.len()],
                        "{} on {} threads",
                        method.name(),
                        threads
                    );
                }
                for normals in found.normals.chunks(vertices.len()) {
                    prop_assert!(
                        *normals == expected.normals[..vertices.len()],
                        "{} on {} threads",
                        method.name(),
                        threads
                    );
                }
            }
        }
    }
}
