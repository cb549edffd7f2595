//! Every method against its formula, on random rigs in random poses.

use crate::common::{Prepared, SUMMED_DIRECTLY, palette};
use crate::compare::{
    CASES, Count, compare, compare_method, compare_scene, deform, influences, method,
};
use crate::plain::centers_of_rotation::{
    centers_of_rotation, centers_of_rotation_per_joint, cor_procrustes,
};
use crate::plain::differential::differential;
use crate::plain::direct::{animation_space, linear, linear_dual_blend, multi_weight, rigid};
use crate::plain::dual_quaternion::{
    dual_quaternion, dual_quaternion_intrinsic, dual_quaternion_per_joint,
};
use crate::plain::log_matrix::log_matrix;
use crate::plain::spherical::spherical;
use crate::plain::spline::spline;
use crate::plain::stretch_twist::{stretch_twist, stretch_twist_by};
use crate::plain::swing_twist::swing_twist;
use crate::plain::{Formula, Frame, Posed};
use crate::random::config;
use crate::scenes::{Scene, chain, chained, curl, loose, points};
use glam::{DVec3, DVec4};
use proptest::prelude::*;
use std::sync::Arc;
use supple::centers::CenterOptions;
use supple::deform::{
    Antipodality, BakedData, CentersOfRotation, DualShare, LinearDualBlend, MultiWeights,
};
use supple::{Method, Normals};

/// The unit roundoff of `f32`.
const ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

/// The error of a blend, as a share of the largest coordinate on the way: one rounding of each map
/// to `f32`, one for each of four joints in the sum, and four in the product with a position.
const ROUNDING: f64 = 9.0 * ROUNDOFF;
/// For those that also normalise sums, or compute maps from rotations: as many roundings again.
const MORE_ROUNDING: f64 = 2.0 * ROUNDING;
/// Curves and the frames along them are sampled at the ends of 16 steps: between two, they are off
/// by an eighth of the squared step times their bend, which is a turn of about one.
const SAMPLING: f64 = 1.0 / (8.0 * 16.0 * 16.0);

/// Baked centers may be this share of the extent away from exact ones.
const BAKING: f64 = CenterOptions::PAPER.accuracy;

/// Any turn at all.
const ANY_TURN: f64 = 3.1;
/// Turns that stay within half a turn of each other.
const STRONG_TURN: f64 = 1.2;

#[test]
fn rigid_is_its_formula() {
    compare("rigid", rigid, loose(ANY_TURN, 2.0), ROUNDING);
}

#[test]
fn linear_is_its_formula() {
    compare("linear", linear, loose(ANY_TURN, 2.0), ROUNDING);
}

#[test]
fn dual_quaternion_is_its_formula() {
    let name = "dual-quaternion";
    compare(name, dual_quaternion, loose(STRONG_TURN, 1.0), ROUNDING);
    compare(name, dual_quaternion, loose(ANY_TURN, 2.0), ROUNDING);
    compare(name, dual_quaternion, chained(ANY_TURN, 2.0), ROUNDING);
}

#[test]
fn dual_quaternion_per_joint_is_its_formula() {
    let (name, formula) = ("dual-quaternion:per-joint", dual_quaternion_per_joint);
    compare(name, formula, loose(STRONG_TURN, 2.0), ROUNDING);
    compare(name, formula, chained(2.0, 2.0), ROUNDING);
}

#[test]
fn dual_quaternion_intrinsic_is_its_formula() {
    let (name, formula) = ("dual-quaternion-intrinsic", dual_quaternion_intrinsic);
    compare(name, formula, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
}

/// Within turns and stretches that keep eigenvalues away from the negative axis, where logarithms
/// jump.
#[test]
fn log_matrix_is_its_formula() {
    compare("log-matrix", log_matrix, loose(2.0, 1.4), MORE_ROUNDING);
}

#[test]
fn spherical_is_its_formula() {
    let name = "spherical";
    compare(name, spherical, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare(name, spherical, chained(STRONG_TURN, 1.0), MORE_ROUNDING);
}

#[test]
fn swing_twist_is_its_formula() {
    let name = "swing-twist";
    compare(name, swing_twist, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare(name, swing_twist, chained(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare(name, swing_twist, chained(2.0, 1.0), MORE_ROUNDING);
}

#[test]
fn differential_is_its_formula() {
    let name = "differential";
    compare(name, differential, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare(name, differential, chained(2.0, 2.0), MORE_ROUNDING);
}

#[test]
fn stretch_twist_is_its_formula() {
    let name = "stretch-twist";
    compare(name, stretch_twist, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare(name, stretch_twist, chained(2.0, 2.0), MORE_ROUNDING);
}

#[test]
fn spline_is_its_formula() {
    compare("spline", spline, chained(0.6, 1.3), SAMPLING);
}

/// Fewer scenes: their formulas go through the whole surface for every vertex.
fn compare_centers(
    method: &Method,
    formula: Formula,
    scenes: impl Strategy<Value = Scene>,
    rounding: f64,
) {
    compare_method(method, formula, scenes, rounding, 50);
}

/// Exact centers: what is left is the method at run time.
#[test]
fn cor_is_its_formula() {
    let with = |antipodality| {
        Method::CentersOfRotation(CentersOfRotation {
            antipodality,
            centers: SUMMED_DIRECTLY,
        })
    };
    let (method, formula) = (with(Antipodality::PerVertex), centers_of_rotation);
    compare_centers(&method, formula, loose(ANY_TURN, 2.0), ROUNDING);
    compare_centers(&method, formula, chained(STRONG_TURN, 1.0), ROUNDING);
    let (method, formula) = (with(Antipodality::PerJoint), centers_of_rotation_per_joint);
    compare_centers(&method, formula, loose(STRONG_TURN, 2.0), ROUNDING);
}

#[test]
fn cor_procrustes_is_its_formula() {
    let (method, formula) = (Method::CorProcrustes(SUMMED_DIRECTLY), cor_procrustes);
    compare_centers(&method, formula, loose(STRONG_TURN, 2.0), MORE_ROUNDING);
    compare_centers(&method, formula, chained(STRONG_TURN, 1.0), MORE_ROUNDING);
}

/// With centers from the grid, as methods have them by default.
#[test]
fn baked_centers_serve_as_well_as_exact_ones() {
    let (cor, procrustes) = (method("cor"), method("cor-procrustes"));
    compare_centers(&cor, centers_of_rotation, loose(STRONG_TURN, 2.0), BAKING);
    compare_centers(
        &procrustes,
        cor_procrustes,
        chained(STRONG_TURN, 1.0),
        BAKING,
    );
}

/// A point beside the middle one of three bones, held by the other two: its place on the curve is
/// between those.
#[test]
fn splines_leave_no_gap_between_the_bones_that_hold_a_vertex() {
    let skeleton = chain(3, DVec3::Y);
    let point = DVec3::new(0.3, 1.4, 0.0);
    let joints = vec![(0, 0.6), (2, 0.4)];
    let motions = curl(&skeleton, DVec3::Z, 0.5);
    let scene = Scene {
        rig: points(skeleton, &[(point, joints.clone())]),
        palette: palette(&motions),
    };
    let posed = Posed::new(&scene.rig, &scene.palette);
    let frame = spline(&posed, point, &influences(&scene.rig, 0));
    let expected = frame.map.transform_point3(point);
    let found = deform(&scene, &method("spline"), Normals::Transported).positions[0].as_dvec3();
    assert!(found.distance(expected) < 1e-3, "{found} for {expected}");
}

fn share() -> impl Strategy<Value = f32> {
    0.0..=1.0f32
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn linear_dual_blend_is_its_formula(
        scene in loose(STRONG_TURN, 2.0),
        everywhere in share(),
        painted in prop::collection::vec(share(), 50),
    ) {
        let each = painted[..scene.rig.mesh().vertex_count()].to_vec();
        let baked = BakedData {
            dual_shares: Some(each.clone().into()),
            ..BakedData::default()
        };
        for (dual, baked) in [
            (DualShare::AsPainted, BakedData::default()),
            (DualShare::Everywhere(everywhere), baked.clone()),
            (DualShare::AsPainted, baked),
        ] {
            let method = Method::LinearDualBlend(LinearDualBlend { dual });
            let method = Prepared { method, baked };
            let frame_of = |posed: &Posed, vertex: usize| {
                let share = match (dual, &method.baked.dual_shares) {
                    (DualShare::Everywhere(share), _) => share,
                    (DualShare::AsPainted, Some(shares)) => shares[vertex],
                    (DualShare::AsPainted, None) => 0.5,
                };
                linear_dual_blend(
                    posed,
                    DVec3::ZERO,
                    &influences(&scene.rig, vertex),
                    f64::from(share),
                )
            };
            compare_scene(&scene, &method, frame_of, ROUNDING, &Count::default())?;
        }
    }

    #[test]
    fn stretch_twist_with_endpoint_weights_is_its_formula(
        scene in chained(STRONG_TURN, 2.0),
        weights in prop::collection::vec(share(), 500),
    ) {
        let vertices = 0..scene.rig.mesh().vertex_count();
        let counts: Vec<usize> = vertices
            .map(|vertex| scene.rig.weights().of(vertex).len())
            .collect();
        let endpoint_weights = Some(weights[..counts.iter().sum()].into());
        let baked = BakedData {
            endpoint_weights,
            ..BakedData::default()
        };
        let method = Prepared {
            method: Method::StretchTwist,
            baked,
        };
        let frame_of = |posed: &Posed, vertex: usize| {
            let first: usize = counts[..vertex].iter().sum();
            let own: Vec<f64> = weights[first..first + counts[vertex]]
                .iter()
                .map(|&e| f64::from(e))
                .collect();
            stretch_twist_by(posed, &influences(&scene.rig, vertex), &own)
        };
        compare_scene(&scene, &method, frame_of, MORE_ROUNDING, &Count::default())?;
    }

    /// Only positions: a vertex that every joint sees elsewhere has no frame by the formula alone.
    #[test]
    fn animation_space_is_its_formula(
        scene in loose(STRONG_TURN, 2.0),
        offsets in prop::collection::vec(prop::array::uniform4(-0.3..0.3f32), 500),
    ) {
        let mut offsets = offsets.iter().cycle();
        let mut weights = MultiWeights::<4>::default();
        let mut expected = Vec::new();
        let posed = Posed::new(&scene.rig, &scene.palette);
        for vertex in 0..scene.rig.mesh().vertex_count() {
            let position = scene.rig.mesh().positions()[vertex];
            let (mut joints, mut numbers) = (Vec::new(), Vec::new());
            let mut left = 1.0;
            for influence in scene.rig.weights().of(vertex) {
                let offset = offsets.next().unwrap();
                let shared = influence.weight + offset[3] * influence.weight;
                left -= shared;
                let y = position * influence.weight + glam::Vec3::from_slice(&offset[..3]);
                joints.push(influence.joint);
                numbers.push(y.extend(shared));
            }
            numbers[0].w += left;
            weights.push(
                joints
                    .iter()
                    .zip(&numbers)
                    .map(|(&joint, y)| (joint as u16, y.to_array())),
            );
            let numbers: Vec<DVec4> = numbers.iter().map(|y| y.as_dvec4()).collect();
            expected.push(animation_space(&posed, &joints, &numbers));
        }
        let baked = BakedData {
            animation_space: Some(Arc::new(weights)),
            ..BakedData::default()
        };
        let method = Prepared {
            method: Method::AnimationSpace,
            baked,
        };
        let found = deform(&scene, &method, Normals::Transported);
        let largest = crate::common::size(&found.positions) + 30.0;
        for (found, expected) in found.positions.iter().zip(expected) {
            let error = found.as_dvec3().distance(expected);
            prop_assert!(error < ROUNDING * largest, "{found} for {expected}");
        }
    }

    #[test]
    fn multi_weight_is_its_formula(
        scene in loose(STRONG_TURN, 2.0),
        numbers in prop::collection::vec(prop::array::uniform12(-0.25..1.0f32), 500),
    ) {
        let mut weights = MultiWeights::<12>::default();
        let mut maps: Vec<(Vec<usize>, Vec<[f64; 12]>)> = Vec::new();
        let mut numbers = numbers.into_iter().cycle();
        for vertex in 0..scene.rig.mesh().vertex_count() {
            let joints: Vec<usize> = scene
                .rig
                .weights()
                .of(vertex)
                .map(|influence| influence.joint)
                .collect();
            let own: Vec<[f32; 12]> = numbers.by_ref().take(joints.len()).collect();
            weights.push(
                joints
                    .iter()
                    .map(|&joint| joint as u16)
                    .zip(own.iter().copied()),
            );
            maps.push((joints, own.iter().map(|w| w.map(f64::from)).collect()));
        }
        let baked = BakedData {
            multi_weight: Some(Arc::new(weights)),
            ..BakedData::default()
        };
        let method = Prepared {
            method: Method::MultiWeight,
            baked,
        };
        let frame_of = |posed: &Posed, vertex: usize| {
            let (joints, weights) = &maps[vertex];
            Frame::safe(multi_weight(posed, joints, weights))
        };
        // Ten influences at most, each with a weight of up to one: the terms are ten times as large
        // as for weights that sum to one.
        compare_scene(
            &scene,
            &method,
            frame_of,
            10.0 * MORE_ROUNDING,
            &Count::default(),
        )?;
    }

    #[test]
    fn without_learned_weights_the_learned_methods_are_linear_to_the_bit(
        scene in loose(ANY_TURN, 2.0),
    ) {
        let linear = deform(&scene, &Method::Linear, Normals::Transported);
        for method in [Method::AnimationSpace, Method::MultiWeight] {
            let found = deform(&scene, &method, Normals::Transported);
            prop_assert!(found == linear, "{method}");
        }
    }
}
