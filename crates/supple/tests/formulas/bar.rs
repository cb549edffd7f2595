//! Numbers on the built-in bar: what the papers say of each method.

use crate::common::deform_skin;
use crate::compare::method;
use glam::{DAffine3, DVec3};
use supple::characters::{self, Character};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Affine, Asset, Method, Normals, Palette, Rig, Skin};

fn bar() -> Asset {
    characters::build(Character::Bar, 4_000).unwrap()
}

/// The palette at the extreme of a clip, which is its middle.
fn extreme(asset: &Asset, clip: &str) -> Palette {
    let clip = asset.clips.iter().find(|found| found.name == clip).unwrap();
    let middle = 0.5 * (clip.start() + clip.duration());
    asset.palette_at(clip, middle)
}

fn positions(asset: &Asset, method: &Method, palette: &Palette) -> Vec<DVec3> {
    let skin = Skin::bake(&asset.rig, method, Normals::Transported).unwrap();
    let posed = deform_skin(&skin, palette).positions;
    posed.iter().map(|position| position.as_dvec3()).collect()
}

fn rest(asset: &Asset) -> Vec<DVec3> {
    let positions = asset.rig.mesh().positions();
    positions
        .iter()
        .map(|position| position.as_dvec3())
        .collect()
}

/// The distance from the X axis.
fn radius(point: DVec3) -> f64 {
    point.y.hypot(point.z)
}

/// The least and the largest share of its radius that a vertex at the joint keeps in a twist.
fn thickness(asset: &Asset, method: &Method, clip: &str) -> (f64, f64) {
    let posed = positions(asset, method, &extreme(asset, clip));
    let rest = rest(asset);
    let at_joint = rest
        .iter()
        .zip(&posed)
        .filter(|(rest, _)| rest.x.abs() < 1e-6);
    let shares: Vec<f64> = at_joint
        .map(|(rest, posed)| radius(*posed) / radius(*rest))
        .collect();
    assert!(shares.len() > 10);
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    (least, shares.iter().copied().fold(0.0, f64::max))
}

#[test]
fn a_strong_twist_is_a_candy_wrapper_in_linear_and_in_nothing_better() {
    let bar = bar();
    let (least, most) = thickness(&bar, &Method::Linear, "twist-150");
    let cosine = 75f64.to_radians().cos();
    assert!(
        (least - cosine).abs() < 1e-3 && (most - cosine).abs() < 1e-3,
        "{least} to {most}"
    );
    assert!(most < 0.30);
    let full = [
        "dual-quaternion",
        "dual-quaternion-intrinsic",
        "log-matrix",
        "spherical",
        "swing-twist",
        "differential",
        "stretch-twist",
        "spline",
        "cor",
    ];
    for method in full.into_iter().map(method) {
        let (least, most) = thickness(&bar, &method, "twist-150");
        assert!(least > 0.98 && most < 1.02, "{method}: {least} to {most}");
    }
}

/// The distance from a bone.
fn distance_to_segment(point: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let share = ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    point.distance(a + along * share)
}

/// The largest distance of any vertex from the nearer bone, as a share of the bar's largest radius.
fn bulge(asset: &Asset, method: &Method, clip: &str) -> f64 {
    let palette = extreme(asset, clip);
    let posed = positions(asset, method, &palette);
    let bones = asset.rig.skeleton().bind_bones();
    let ends: Vec<(DVec3, DVec3)> = bones
        .iter()
        .zip(&palette.posed_from_bind)
        .map(|(bone, transform)| {
            let transform = DAffine3::from(*transform);
            (
                transform.transform_point3(bone.head),
                transform.transform_point3(bone.tail),
            )
        })
        .collect();
    let from_bones = |point: &DVec3| {
        let distances = ends.iter().map(|&(a, b)| distance_to_segment(*point, a, b));
        distances.fold(f64::INFINITY, f64::min)
    };
    let largest_radius = rest(asset).into_iter().map(radius).fold(0.0, f64::max);
    posed.iter().map(from_bones).fold(0.0, f64::max) / largest_radius
}

#[test]
fn a_bend_bulges_in_dual_quaternions_most() {
    let bar = bar();
    let of = |method: &Method| bulge(&bar, method, "bend-90");
    assert!(of(&method("dual-quaternion")) > 1.08);
    // The flanks stand out a little by plain geometry: off the plane of the bend, shrinking towards
    // the joint shifts them sideways.
    assert!(of(&Method::Linear) < 1.02);
    let swing_twist = of(&method("swing-twist"));
    assert!(swing_twist < 1.02, "{swing_twist}");
    // The centers move linearly, and so inwards; about them the outer side keeps its radius, which
    // linear blending takes away.
    let centers = of(&method("cor"));
    assert!(centers < 1.08, "{centers}");
}

/// Both are exact between a joint at rest and another; turned as a whole, logarithms of matrices no
/// longer are.
#[test]
fn log_matrices_depart_once_the_bar_is_turned() {
    let (log_matrix, intrinsic) = (method("log-matrix"), method("dual-quaternion-intrinsic"));
    let bar = bar();
    let apart = |palette: &Palette| {
        let (a, b) = (
            positions(&bar, &log_matrix, palette),
            positions(&bar, &intrinsic, palette),
        );
        a.iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    };
    let bent = extreme(&bar, "bend-120");
    assert!(apart(&bent) < 1e-5, "{}", apart(&bent));
    let turn = DAffine3::from_axis_angle(DVec3::new(0.6, 0.8, 0.0), 1.8);
    let turned: Vec<Affine> = bent
        .posed_from_bind
        .iter()
        .map(|joint| Affine::from(turn * DAffine3::from(*joint)))
        .collect();
    let turned = Palette {
        posed_from_bind: turned,
    };
    assert!(apart(&turned) > 0.02, "{}", apart(&turned));
}

/// The surface of the bar on nine joints in a row, of which only the ends hold it, one handing over
/// to the other along its whole length.
fn bar_on_a_chain() -> Rig {
    let mesh = bar().rig.mesh().clone();
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(match joint {
            0 => DVec3::X * -0.5,
            _ => DVec3::X * 0.125,
        })),
    };
    let all: Vec<usize> = (0..9).collect();
    let skeleton = Skeleton::bound_at_rest((0..9).map(node).collect(), &all).unwrap();
    let mut weights = WeightsBuilder::new(9).unwrap();
    for position in mesh.positions() {
        let share = (position.x + 0.5).clamp(0.0, 1.0);
        weights.push([(0, 1.0 - share), (8, share)], 0).unwrap();
    }
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

#[test]
fn two_full_turns_stay_in_the_bar_with_differential_blending_and_are_lost_with_dual_quaternions() {
    let rig = bar_on_a_chain();
    // Each joint a quarter turn beyond the one before: the last has turned twice, and its matrix
    // says nothing of it.
    let quarter = |joint: usize| DAffine3::from_rotation_x(90f64.to_radians() * joint as f64);
    let palette = Palette {
        posed_from_bind: (0..9).map(|joint| Affine::from(quarter(joint))).collect(),
    };
    let turned = |method: &str| -> Vec<(f64, f64, f64)> {
        let skin = Skin::bake(&rig, &self::method(method), Normals::Transported).unwrap();
        let posed = deform_skin(&skin, &palette).positions;
        let pairs = rig.mesh().positions().iter().zip(posed);
        let thick = pairs.filter(|(rest, _)| radius(rest.as_dvec3()) > 0.05);
        thick
            .map(|(rest, posed)| {
                let (rest, posed) = (rest.as_dvec3(), posed.as_dvec3());
                let angle = posed.z.atan2(posed.y) - rest.z.atan2(rest.y);
                let share = (rest.x + 0.5).clamp(0.0, 1.0);
                (share, angle.to_degrees(), radius(posed) / radius(rest))
            })
            .collect()
    };
    let apart = |a: f64, b: f64| {
        let turn = (a - b).rem_euclid(360.0);
        turn.min(360.0 - turn)
    };
    for (share, angle, thickness) in turned("differential") {
        // Eight times the blend of none with a quarter turn: nearly even, and exact at the ends and
        // in the middle.
        let (sine, cosine) = 45f64.to_radians().sin_cos();
        let eighth = 2.0
            * (share * sine)
                .atan2(1.0 - share + share * cosine)
                .to_degrees();
        assert!((8.0 * eighth - 720.0 * share).abs() < 30.0);
        assert!(apart(angle, 8.0 * eighth) < 0.05, "{share}: {angle}");
        assert!((thickness - 1.0).abs() < 1e-4, "{share}: {thickness}");
    }
    for (share, angle, _) in turned("dual-quaternion") {
        assert!(apart(angle, 0.0) < 0.01, "{share}: {angle}");
    }
}
