//! What a bake promises: shares that sum to one, few joints without creases, errors within a bound,
//! the same in any unit, in any place and on any number of threads.

use crate::common::{Bake, palette, rigid, size};
use crate::plain::Posed;
use crate::reference::{self, ROUNDOFF, Turn};
use crate::surfaces::{
    Sheet, any_options, any_rig, apart, baked, check, config, extent, posed_by, row_of_joints,
    variant,
};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use supple::characters::{self, Character};
use supple::deform::MushVariant;
use supple::mush::EdgeWeights;
use supple::mush::{Mush, MushOptions, PatchPart};
use supple::skeleton::Node;
use supple::transform::{Local, Trs};
use supple::{Normals, Palette, Rig, Skeleton};

/// No vertex strays farther than `prune` says, while its joints carry it no farther apart than
/// an extent; times as much as the pose loosens its patch, where a rotation is fitted to it.
/// That is a bound to first order, hence twice as much.
#[test]
fn pruning_moves_no_vertex_by_more_than_it_says() {
    let cases = (
        any_rig(),
        any_options(),
        prop::collection::vec(rigid(1.5), 12),
        prop::sample::select(&[1e-5, 1e-4, 1e-3][..]),
    );
    let tally = check(80, &cases, |(rig, options, motions, prune), tally| {
        let extent = extent(&rig);
        let motions = within_an_extent(&rig, &motions);
        let palette = palette(&motions);
        let posed = Posed::new(&rig, &palette);
        let exact = MushOptions {
            prune: 0.0,
            ..options.clone()
        };
        let reference = reference::Mush::new(&rig, &exact);
        let (all, few) = (
            baked(&rig, &exact),
            baked(&rig, &MushOptions { prune, ..options }),
        );
        for kind in MushVariant::ALL
            .into_iter()
            .filter(|kind| *kind != MushVariant::V1)
        {
            let all = posed_by(&rig, &variant(&all, kind), &palette);
            let few = posed_by(&rig, &variant(&few, kind), &palette);
            for (vertex, (all, few)) in all.iter().zip(&few).enumerate() {
                let placed = reference.place(&posed, vertex, kind);
                let apart = all.as_dvec3().distance(few.as_dvec3());
                let loosened = if kind == MushVariant::V0 {
                    reference.loosened(&posed, vertex)
                } else {
                    Some(1.0)
                };
                // Beyond that, what was pruned turns the patch by more than first order.
                let is_firm = |turn: Turn| prune * turn.amplification < FIRST_ORDER;
                let bounds = placed
                    .tolerance()
                    .zip(loosened)
                    .filter(|(_, loosened)| *loosened < 10.0 && placed.turn.is_some_and(is_firm));
                tally.count(bounds.is_some());
                let Some((rounding, loosened)) = bounds else {
                    continue;
                };
                let allowed = 2.0 * loosened.max(1.0) * prune * extent;
                prop_assert!(
                    apart <= allowed + 2.0 * rounding,
                    "{kind:?}, vertex {vertex}: {apart:e} of {allowed:e}, loosened {loosened}"
                );
            }
        }

        Ok(())
    });
    tally.assert_at_least(0.5);
}

/// Turns by less than this are nearly linear in what turns them.
const FIRST_ORDER: f64 = 0.1;

/// How far off one may be after smoothing, by the tests of `smoothing.rs`.
const SMOOTHED: f64 = 1e-8;

proptest! {
    #![proptest_config(config(80))]

    /// To the bit for `ω`, which are weights like any others; to smoothing and one rounding of each
    /// to `f32` for `ψ`; to a few roundings for levers. Whatever was pruned.
    #[test]
    fn shares_sum_to_one_and_levers_to_nothing(
        rig in any_rig(),
        options in any_options(),
        prune in prop::sample::select(&[0.0, 1e-5, 1e-3, 0.1][..]),
        most in prop::option::of(1..5usize),
    ) {
        let mush = baked(
            &rig,
            &MushOptions {
                prune,
                max_influences: most,
                ..options
            },
        );
        let extent = extent(&rig);
        for vertex in 0..rig.mesh().vertex_count() {
            let (weights, parts) = (mush.weights().of(vertex), mush.parts(vertex));
            prop_assert!(
                weights.len() <= most.unwrap_or(usize::MAX),
                "{} joints",
                weights.len()
            );
            prop_assert_eq!(
                weights
                    .clone()
                    .map(|influence| f64::from(influence.weight))
                    .sum::<f64>(),
                1.0
            );
            let rotation: f64 = parts
                .iter()
                .map(|part| f64::from(part.rotation_weight))
                .sum();
            let sizes: f64 = parts
                .iter()
                .map(|part| f64::from(part.rotation_weight.abs()))
                .sum();
            prop_assert!(
                (rotation - 1.0).abs() <= ROUNDOFF * sizes + SMOOTHED,
                "vertex {vertex}: ψ sum to {rotation}"
            );
            let lever: DVec3 = parts.iter().map(|part| part.lever.as_dvec3()).sum();
            prop_assert!(
                lever.length() <= 3e-7 * extent,
                "vertex {vertex}: levers sum to {lever}"
            );
        }
    }

}

/// The motions of a rig's joints, made smaller until no two of them carry a vertex farther apart
/// than the extent of all.
fn within_an_extent(rig: &Rig, motions: &[DAffine3]) -> Vec<DAffine3> {
    let extent = extent(rig);
    let mut share = 1.0;
    loop {
        let smaller: Vec<DAffine3> = motions[..rig.skeleton().joints().len()]
            .iter()
            .map(|motion| {
                let turn = DQuat::from_mat3(&motion.matrix3);
                DAffine3::from_rotation_translation(
                    DQuat::IDENTITY.slerp(turn, share),
                    motion.translation * share,
                )
            })
            .collect();
        let spread = rig.mesh().positions().iter().map(|place| {
            let images = smaller
                .iter()
                .map(|motion| motion.transform_point3(place.as_dvec3()));
            let images: Vec<DVec3> = images.collect();
            let pairs = images
                .iter()
                .flat_map(|a| images.iter().map(|b| a.distance(*b)));
            pairs.fold(0.0, f64::max)
        });
        if spread.fold(0.0, f64::max) <= extent {
            return smaller;
        }
        share *= 0.8;
    }
}

/// A tube on four joints in a row, each vertex on the nearest.
fn limb(along: usize, around: usize) -> Rig {
    let tube = Sheet::grid([along, around], true, |t, turn| {
        let angle = std::f64::consts::TAU * turn;
        // Round coordinates, that stay what they are in other units and places.
        let round = |x: f64| (x * 4096.0).round() / 4096.0;
        let radius = 0.3 + 0.1 * (5.0 * t).sin();
        DVec3::new(
            round(radius * angle.cos()),
            round(4.0 * t - 1.0),
            round(radius * angle.sin()),
        )
    });
    tube.bound(row_of_joints(4), |place| {
        vec![((place.y + 1.0).floor().clamp(0.0, 3.0) as usize, 1.0)]
    })
}

/// Each joint of the limb turned about itself against the one below.
fn curled(angle: f64) -> Vec<DAffine3> {
    let mut motions: Vec<DAffine3> = vec![DAffine3::IDENTITY];
    for joint in 1..4 {
        let head = DAffine3::from_translation(DVec3::Y * (f64::from(joint) - 1.0));
        let axis = DVec3::new(0.3, 0.2 * f64::from(joint), 1.0).normalize();
        let local = head * DAffine3::from_axis_angle(axis, angle) * head.inverse();
        motions.push(motions[motions.len() - 1] * local);
    }
    motions
}

/// As smoothing grows, joints overtake each other all over the limb. If one dropped out at once,
/// some step would be as long as ever, however many there are.
#[test]
fn few_joints_leave_no_creases() {
    let rig = limb(32, 7);
    let palette = palette(&curled(0.8));
    let longest_step = |steps: u32, most: Option<usize>, kind: MushVariant| {
        let at = |step: u32| {
            let options = MushOptions {
                lambda: 1.0 + 8.0 * f64::from(step) / f64::from(steps),
                kappa: 1.0 + 4.0 * f64::from(step) / f64::from(steps),
                max_influences: most,
                radius_from_bones: false,
                ..MushOptions::default()
            };
            let mush = baked(&rig, &options);
            let joints = mush.weights().max_influences();
            assert!(joints <= most.unwrap_or(4), "{joints} joints");
            assert!(
                most.is_some() || joints == 4,
                "the limb is too stiff to show anything"
            );
            posed_by(&rig, &variant(&mush, kind), &palette)
        };
        let surfaces: Vec<Vec<Vec3>> = (0..=steps).map(at).collect();
        surfaces
            .windows(2)
            .map(|pair| apart(&pair[0], &pair[1]))
            .fold(0.0, f64::max)
    };
    for (kind, most) in [
        (MushVariant::V0, 2),
        (MushVariant::V5, 2),
        (MushVariant::V0, 3),
    ] {
        let (coarse, fine) = (
            longest_step(24, Some(most), kind),
            longest_step(96, Some(most), kind),
        );
        assert!(
            fine < 0.4 * coarse,
            "{kind:?} with {most} joints: steps of {coarse:e} are still {fine:e}"
        );
        let free = longest_step(24, None, kind);
        assert!(coarse > 0.5 * free, "{kind:?}: nothing moves");
    }
}

/// The same character in another unit, and elsewhere.
#[test]
fn neither_size_nor_place_matters() {
    let rig = limb(24, 8);
    let motions = curled(0.7);
    let options = MushOptions::default();
    let surface = |rig: &Rig, motions: &[DAffine3], kind: MushVariant| {
        posed_by(
            rig,
            &variant(&baked(rig, &options), kind),
            &palette(motions),
        )
    };
    let maps = [
        DAffine3::from_scale(DVec3::splat(1e-3)),
        DAffine3::from_scale(DVec3::splat(1e3)),
        DAffine3::from_translation(DVec3::new(64.0, -128.0, 32.0)),
    ];
    for map in maps {
        let moved = mapped(&rig, map);
        let carried: Vec<DAffine3> = motions
            .iter()
            .map(|motion| map * *motion * map.inverse())
            .collect();
        for kind in MushVariant::ALL {
            let expected: Vec<Vec3> = surface(&rig, &motions, kind)
                .iter()
                .map(|place| map.transform_point3(place.as_dvec3()).as_vec3())
                .collect();
            let found = surface(&moved, &carried, kind);
            let apart = apart(&found, &expected);
            let largest = found
                .iter()
                .map(|place| f64::from(place.length()))
                .fold(0.0, f64::max);
            assert!(
                apart < 2e-6 * largest,
                "{kind:?}: {:e} of the largest coordinate",
                apart / largest
            );
        }
    }
}

/// A rig whose skeleton is a forest of joints bound at rest, grown and moved.
fn mapped(rig: &Rig, map: DAffine3) -> Rig {
    let mesh = rig.mesh();
    let places = mesh.positions().iter();
    let places = places.map(|place| map.transform_point3(place.as_dvec3()).as_vec3());
    let mesh = supple::Mesh::new(places.collect(), None, None, mesh.triangles().to_vec()).unwrap();
    let node = |node: &Node| {
        let place = node.rest.to_affine().translation;
        let place = match node.parent {
            Some(_) => map.transform_vector3(place),
            None => map.transform_point3(place),
        };
        Node {
            rest: Local::Trs(Trs::from_translation(place)),
            ..node.clone()
        }
    };
    let nodes: Vec<Node> = rig.skeleton().nodes().iter().map(node).collect();
    let all: Vec<usize> = (0..nodes.len()).collect();
    Rig::new(
        mesh,
        Skeleton::bound_at_rest(nodes, &all).unwrap(),
        rig.weights().clone(),
    )
    .unwrap()
}

#[test]
fn threads_change_no_bit() {
    let rig = limb(150, 24);
    let palette = palette(&curled(0.6));
    let options = MushOptions::default();
    let run = || {
        let mush = baked(&rig, &options);
        let surfaces = MushVariant::ALL.map(|kind| {
            let skin = variant(&mush, kind).bake(&rig, Normals::Gradient).unwrap();
            crate::common::deform_skin(&skin, &palette)
        });
        (mush, surfaces)
    };
    let expected = run();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(pool.install(run) == expected, "{threads} threads");
    }
    assert!(size(&expected.1[0].positions) > 1.0);
}

/// A surface large enough that every joint is solved on a part of it.
#[test]
fn solving_where_a_joint_matters_is_solving_everywhere() {
    let asset = characters::build(Character::Tentacle, 4_000).unwrap();
    let rig = &asset.rig;
    let palettes: Vec<Palette> = asset
        .clips
        .iter()
        .map(|clip| rig.skeleton().palette(&asset.pose_at(clip, 1.0)).unwrap())
        .collect();
    for (radius_from_bones, edge_weights) in [
        (false, EdgeWeights::Uniform),
        (true, EdgeWeights::Cotangent),
    ] {
        let options = MushOptions {
            rigid: true,
            radius_from_bones,
            edge_weights,
            ..MushOptions::default()
        };
        let everywhere = baked(
            rig,
            &MushOptions {
                prune: 0.0,
                ..options.clone()
            },
        );
        let where_it_matters = baked(rig, &options);
        let kept = |mush: &Mush| mush.weights().influence_count();
        assert!(kept(&where_it_matters) < kept(&everywhere));
        for palette in &palettes {
            let found = posed_by(rig, &variant(&where_it_matters, MushVariant::V0), palette);
            let expected = posed_by(rig, &variant(&everywhere, MushVariant::V0), palette);
            let apart = apart(&found, &expected) / extent(rig);
            assert!(apart < 1e-5, "{apart:e} of the extent");
        }
    }
}

/// Appendix C for what ships: pruned, limited and rounded.
#[test]
fn neither_alpha_nor_kappa_changes_what_turns() {
    let asset = characters::build(Character::Tentacle, 2_000).unwrap();
    for (prune, max_influences) in [(1e-5, None), (1e-3, None), (1e-5, Some(3))] {
        let bake = |alpha: f64, kappa: f64| {
            let options = MushOptions {
                alpha,
                kappa,
                prune,
                max_influences,
                ..MushOptions::default()
            };
            baked(&asset.rig, &options)
        };
        let (one, other) = (bake(0.1, 0.2), bake(0.9, 1.4));
        assert_eq!(one.centers(), other.centers());
        for vertex in 0..asset.rig.mesh().vertex_count() {
            let turning = |mush: &Mush, alpha: f32| -> BTreeMap<u16, PatchPart> {
                let parts = mush.weights().row(vertex).0.iter().zip(mush.parts(vertex));
                let parts = parts.filter(|(_, part)| part.rotation_weight > 0.0);
                let whole = |part: &PatchPart| PatchPart {
                    rotation_weight: part.rotation_weight,
                    lever: part.lever / (1.0 - alpha),
                    moments: part.moments.map(|moment| moment / (1.0 - alpha)),
                };
                parts.map(|(&joint, part)| (joint, whole(part))).collect()
            };
            let (one, other) = (turning(&one, 0.1), turning(&other, 0.9));
            assert!(one.keys().eq(other.keys()), "vertex {vertex}");
            for (one, other) in one.values().zip(other.values()) {
                assert!((one.rotation_weight - other.rotation_weight).abs() < 1e-6);
                assert!(one.lever.distance(other.lever) < 1e-6);
                let moments = one.moments.iter().zip(other.moments);
                assert!(
                    moments
                        .map(|(a, b)| (a - b).abs())
                        .all(|apart| apart < 1e-6)
                );
            }
        }
    }
}

/// Where a patch has so many joints that each of them alone is next to nothing, something must be
/// left.
#[test]
fn more_joints_than_pruning_allows_leave_a_patch_its_own() {
    const JOINTS: usize = 1_200;
    let all = |_: DVec3| (0..JOINTS).map(|joint| (joint, 1.0)).collect();
    let rig = Sheet::tube(2, 3, 0.5).bound(row_of_joints(JOINTS), all);
    let options = MushOptions {
        prune: 0.1,
        ..MushOptions::default()
    };
    let mush = baked(&rig, &options);
    let still = Palette::identity(JOINTS);
    for kind in MushVariant::ALL {
        let found = posed_by(&rig, &variant(&mush, kind), &still);
        assert!(apart(&found, rig.mesh().positions()) < 1e-6);
    }
}
