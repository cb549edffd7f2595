//! Where patches are thin and poses wild: no reflections, no jumps, and inside out only where it is
//! said.

use crate::common::{bake, palette};
use crate::plain::Posed;
use crate::reference::{self, ROUNDOFF, rounding};
use crate::surfaces::{
    Sheet, any_options, any_pose, any_rig, apart, baked, check, config, norm, palette_of, posed_by,
    rigid_tube, rotations, row_of_joints, upper, variant,
};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use proptest::prelude::*;
use std::sync::Arc;
use supple::deform::{DeltaMush, LocalFrames, MushVariant};
use supple::mush::EdgeWeights;
use supple::mush::{Mush, MushOptions};
use supple::{Method, Palette, Rig, Workspace};

/// Any turn at all.
const ANY_TURN: f64 = 3.1;

/// How far off the identity a turned frame times its transpose may be. Turning a vector takes nine
/// roundings of its length (`reference/variants.rs`); frames are read from normals, where being of
/// unit length again takes back nine and adds three. Products of two columns are off by twice as
/// much, in each of three directions.
const LEAN: f64 = 1.7321 * 2.0 * 21.0 * ROUNDOFF;

/// Scaled as a whole, a character is the same character.
#[test]
fn a_scale_of_all_joints_only_scales() {
    let cases = (any_rig(), any_options(), any_pose(1.2, 1.0), 0.1..8.0f64);
    let tally = check(60, &cases, |(rig, options, motions, scale), tally| {
        let plain = palette_of(&rig, &motions);
        let scaled: Vec<DAffine3> = motions
            .iter()
            .map(|motion| DAffine3::from_scale(DVec3::splat(scale)) * *motion)
            .collect();
        let scaled = palette_of(&rig, &scaled);
        let posed = Posed::new(&rig, &plain);
        let reference = reference::Mush::new(&rig, &options);
        let mush = baked(&rig, &options);
        for kind in MushVariant::ALL {
            let method = variant(&mush, kind);
            let (plain, scaled) = (
                posed_by(&rig, &method, &plain),
                posed_by(&rig, &method, &scaled),
            );
            for (vertex, (plain, scaled)) in plain.iter().zip(&scaled).enumerate() {
                let tolerance = reference.place(&posed, vertex, kind).tolerance();
                tally.count(tolerance.is_some());
                let Some(tolerance) = tolerance else { continue };
                let apart = (scaled.as_dvec3() / scale).distance(plain.as_dvec3());
                prop_assert!(
                    apart <= 4.0 * tolerance,
                    "{kind:?}, vertex {vertex}: {apart:e}, allowed four times {tolerance:e}"
                );
            }
        }

        Ok(())
    });
    tally.assert_at_least(0.6);
}

proptest! {
    #![proptest_config(config(60))]

    /// §3.5.2: "the deformation is inverted if det R' < 0".
    #[test]
    fn v1_is_inverted_where_the_determinant_is_negative(
        rig in any_rig(),
        options in any_options(),
        motions in any_pose(ANY_TURN, 1.0),
    ) {
        let palette = palette_of(&rig, &motions);
        let posed = Posed::new(&rig, &palette);
        let reference = reference::Mush::new(&rig, &options);
        let mush = baked(&rig, &options);
        for kind in MushVariant::ALL {
            let found = bake(&rig, &variant(&mush, kind))
                .inverted(&palette, &mut Workspace::default())
                .unwrap();
            for vertex in 0..rig.mesh().vertex_count() {
                let determinant = reference.determinant(&posed, vertex, MushVariant::V1);
                // Closer to zero, rounding decides.
                if determinant.abs() > 1e-6 {
                    let expected = kind == MushVariant::V1 && determinant < 0.0;
                    prop_assert_eq!(
                        found.contains(&vertex),
                        expected,
                        "{:?}, vertex {}: {:e}",
                        kind,
                        vertex,
                        determinant
                    );
                }
            }
        }
    }

    #[test]
    fn the_rotation_of_v0_is_never_a_reflection(
        rig in any_rig(),
        options in any_options(),
        motions in any_pose(ANY_TURN, 1.0),
    ) {
        let palette = palette_of(&rig, &motions);
        let method = variant(&baked(&rig, &options), MushVariant::V0);
        for (vertex, rotation) in rotations(&rig, &method, &palette).into_iter().enumerate() {
            let off = norm(rotation * rotation.transpose() - DMat3::IDENTITY);
            prop_assert!(
                rotation.determinant() > 0.0 && off <= LEAN,
                "vertex {vertex}: {rotation:?}, off by {off:e}"
            );
        }
    }

}

/// A vertex that is smoothed until nothing of itself is left, among others that are not smoothed at
/// all: its patch is one of them, somewhere else, and has no shape to tell a turn by.
#[test]
fn a_patch_without_a_shape_turns_as_its_joints_do() {
    let sheet = Sheet {
        places: vec![
            DVec3::ZERO,
            DVec3::new(0.0, 1.0, 0.2),
            DVec3::new(0.7, 0.3, 0.0),
            DVec3::new(9.0, 0.0, 1.0),
        ],
        triangles: vec![[0, 1, 2], [2, 1, 3]],
    };
    for only_neighbour in [false, true] {
        // A sliver leaves the vertex a single neighbour that counts.
        let mut sheet = sheet.clone();
        if only_neighbour {
            sheet.places[2] = DVec3::new(1e-3, 0.5, 0.1);
        }
        let rig = sheet.bound(row_of_joints(3), |place| {
            vec![(0, 0.4 + 0.1 * place.y), (1, 0.6 - 0.1 * place.y)]
        });
        let shares = vec![Some(2.0), Some(0.0), Some(0.0), Some(0.0)];
        let mesh = rig
            .mesh()
            .clone()
            .with_painted(supple::mush::LAMBDA_SHARE, shares)
            .unwrap();
        let rig = Rig::new(mesh, rig.skeleton().clone(), rig.weights().clone()).unwrap();
        let motion = DAffine3::from_translation(DVec3::new(1.0, 2.0, 3.0))
            * DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.3);
        let palette = palette(&[motion, motion, DAffine3::from_translation(DVec3::ONE)]);
        let smoothing = MushOptions {
            lambda: 4.0,
            iterations: 24,
            radius_from_bones: false,
            edge_weights: EdgeWeights::Cotangent,
            ..MushOptions::default()
        };
        let mush = baked(&rig, &smoothing);
        let variants = MushVariant::ALL.map(|kind| variant(&mush, kind));
        let best_fit = Method::DeltaMush(DeltaMush {
            smoothing,
            frames: LocalFrames::BestFit,
        });
        for method in variants.into_iter().chain([best_fit.clone().into()]) {
            let found = posed_by(&rig, &method, &palette);
            let expected: Vec<Vec3> = rig
                .mesh()
                .positions()
                .iter()
                .map(|place| motion.transform_point3(place.as_dvec3()).as_vec3())
                .collect();
            let apart = apart(&found, &expected);
            // On coordinates of at most 14. Two neighbours are a line, about which only the
            // thickness of their balls tells the turn, a thousandth of the patch; and what is
            // solved in every frame leaves more of nothing.
            let rounding = rounding(rig.skeleton().joints().len()) * 14.0;
            let exact = only_neighbour && method.method != best_fit;
            let allowed = if exact { 6.0 } else { 1e3 } * rounding;
            assert!(
                apart < allowed,
                "{method}: off by {apart:e}, with one neighbour: {only_neighbour}"
            );
        }
    }
}

/// A file may hold patches without any extent, which no bake makes.
#[test]
fn a_stored_patch_without_extent_turns_as_its_joints_do() {
    let rig = rigid_tube(4, 6, 0.3);
    let baked = baked(&rig, &options());
    let vertices = 0..rig.mesh().vertex_count();
    let parts = vertices.flat_map(|vertex| {
        baked
            .parts(vertex)
            .iter()
            .map(|part| supple::mush::PatchPart {
                lever: Vec3::ZERO,
                moments: [0.0; 6],
                ..*part
            })
    });
    let centers = baked.centers().to_vec();
    let mush = Mush::from_parts(baked.weights().clone(), parts.collect(), centers).unwrap();
    let mush = Arc::new(mush);
    let motion = DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.3);
    // The joints move alike up to a turn that is too small to see, so that no shortcut is taken.
    let turn = 1e-4;
    let nearly = DAffine3::from_rotation_z(turn) * motion;
    for kind in MushVariant::ALL {
        let found = rotations(&rig, &variant(&mush, kind), &palette(&[motion, nearly]));
        for (vertex, rotation) in found.into_iter().enumerate() {
            let apart = norm(rotation - motion.matrix3);
            // The norm of the difference of two rotations is √2 times the angle between them.
            assert!(apart < 1.5 * turn, "{kind:?}, vertex {vertex}: {rotation}");
        }
    }
}

/// A pose that changes over time, from 0 to 1.
type Motion = fn(f64) -> DAffine3;

fn at(motion: Motion, steps: u32) -> impl Iterator<Item = Palette> {
    (0..=steps).map(move |step| upper(motion(f64::from(step) / f64::from(steps))))
}

/// The joint above slides past the one below and drags the patches between them through themselves.
fn slide(time: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(0.02, -1.2 * time, 0.01))
        * DAffine3::from_rotation_z(0.4 * time)
}

fn bend(time: f64) -> DAffine3 {
    DAffine3::from_axis_angle(DVec3::new(0.3, 0.0, 1.0).normalize(), 2.4 * time)
}

fn twist(time: f64) -> DAffine3 {
    DAffine3::from_rotation_y(2.6 * time) * DAffine3::from_rotation_x(0.3 * time)
}

fn options() -> MushOptions {
    MushOptions {
        radius_from_bones: false,
        lambda: 0.5,
        kappa: 0.2,
        ..MushOptions::default()
    }
}

/// The longest step of any vertex from one time to the next.
fn longest_step(rig: &Rig, mush: &Arc<Mush>, motion: Motion, steps: u32) -> f64 {
    let method = variant(mush, MushVariant::V0);
    let surfaces: Vec<Vec<Vec3>> = at(motion, steps)
        .map(|palette| posed_by(rig, &method, &palette))
        .collect();
    surfaces
        .windows(2)
        .map(|pair| apart(&pair[0], &pair[1]))
        .fold(0.0, f64::max)
}

/// As the smallest singular value passes through zero, and the paper's own solution would flip over
/// to a reflection.
#[test]
fn the_rotation_of_v0_does_not_jump_where_a_patch_is_pressed_flat() {
    let rig = rigid_tube(24, 10, 0.3);
    let mush = baked(&rig, &options());
    let reference = reference::Mush::new(
        &rig,
        &MushOptions {
            prune: 0.0,
            ..options()
        },
    );
    let flips = (0..rig.mesh().vertex_count()).filter(|&vertex| {
        let signs = at(slide, 40).map(|palette| {
            reference.determinant(&Posed::new(&rig, &palette), vertex, MushVariant::V0) < 0.0
        });
        let signs: Vec<bool> = signs.collect();
        signs.contains(&true) && signs.contains(&false)
    });
    let flips: Vec<usize> = flips.collect();
    assert!(
        flips.len() > 10,
        "only {} patches pass through a plane",
        flips.len()
    );
    let method = variant(&mush, MushVariant::V0);
    let longest_turn = |steps: u32| {
        let turns: Vec<Vec<DMat3>> = at(slide, steps)
            .map(|palette| rotations(&rig, &method, &palette))
            .collect();
        let between = turns.windows(2).flat_map(|pair| {
            flips
                .iter()
                .map(|&vertex| norm(pair[0][vertex] - pair[1][vertex]))
        });
        between.fold(0.0, f64::max)
    };
    let (coarse, fine) = (longest_turn(100), longest_turn(400));
    assert!(
        fine < 0.4 * coarse,
        "turns of {coarse} are still {fine} with four times as many steps"
    );
}

/// A flat sheet, whose patches have no thickness, and a strip of triangles that all lie on a line.
#[test]
fn thin_surfaces_move_without_jumps() {
    let halves = |place: DVec3| vec![(usize::from(place.y > 1e-9), 1.0)];
    let flat = Sheet::grid([16, 8], false, |s, t| {
        DVec3::new(t - 0.5, 2.0 * s - 1.0, 0.0)
    })
    .bound(row_of_joints(2), halves);
    let line = Sheet::grid([24, 1], false, |s, t| DVec3::Y * (2.0 * s - 1.0 + t / 24.0))
        .bound(row_of_joints(2), halves);
    for (name, rig) in [("flat", flat), ("line", line)] {
        let mush = baked(&rig, &options());
        for (pose, motion) in [("bend", bend as Motion), ("twist", twist)] {
            let (coarse, fine) = (
                longest_step(&rig, &mush, motion, 50),
                longest_step(&rig, &mush, motion, 200),
            );
            assert!(
                fine < 0.4 * coarse,
                "{name}, {pose}: steps of {coarse:e} are still {fine:e}"
            );
        }
    }
}

/// Half of a tube grown to twice its size: every variant grows there, nothing flies off.
#[test]
fn a_joint_that_grows_takes_its_half_along() {
    let rig = rigid_tube(24, 10, 0.3);
    let mush = baked(&rig, &MushOptions::default());
    let grown = palette(&[DAffine3::IDENTITY, DAffine3::from_scale(DVec3::splat(2.0))]);
    let sheared = palette(&[
        DAffine3::IDENTITY,
        DAffine3::from_mat3(DMat3::from_cols(
            DVec3::X,
            DVec3::new(0.5, 1.0, 0.0),
            DVec3::Z,
        )),
    ]);
    for kind in MushVariant::ALL {
        for palette in [&grown, &sheared] {
            let found = posed_by(&rig, &variant(&mush, kind), palette);
            for (place, found) in rig.mesh().positions().iter().zip(&found) {
                let images = palette
                    .posed_from_bind
                    .iter()
                    .map(|map| map.transform_point(*place));
                // Away from the joint a vertex is where its own joint takes it, and near it between
                // the two.
                let (low, high) = images.fold(
                    (Vec3::INFINITY, Vec3::NEG_INFINITY),
                    |(low, high), image| (low.min(image), high.max(image)),
                );
                let slack = Vec3::splat(if place.y.abs() > 0.6 { 1e-4 } else { 0.12 });
                assert!(
                    found.cmpge(low - slack).all() && found.cmple(high + slack).all(),
                    "{kind:?}: {place} goes to {found}"
                );
            }
        }
    }
}

/// All joints press the surface flat, or into a line, in a direction in which rounding leaves a
/// little of what is lost: no variant makes much of that.
#[test]
fn joints_that_press_all_flat_send_nothing_away() {
    let rig = rigid_tube(24, 10, 0.3);
    let mush = baked(&rig, &MushOptions::default());
    let across = DMat3::from_axis_angle(DVec3::new(0.48, 0.6, 0.64), 0.7);
    let turn = DAffine3::from_axis_angle(DVec3::X, 0.5);
    for factors in [DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.0, 1.0, 0.0)] {
        let pressed = across * DMat3::from_diagonal(factors) * across.transpose();
        let pressed = DAffine3::from_mat3(pressed);
        let palette = palette(&[pressed, turn * pressed]);
        for kind in MushVariant::ALL {
            let found = posed_by(&rig, &variant(&mush, kind), &palette);
            for (place, found) in rig.mesh().positions().iter().zip(&found) {
                let images = palette.posed_from_bind.iter();
                let nearest = images
                    .map(|map| map.transform_point(*place).distance(*found))
                    .fold(f32::INFINITY, f32::min);
                assert!(
                    nearest < 0.3,
                    "{kind:?}, {factors}: {place} goes to {found}"
                );
            }
        }
    }
}
