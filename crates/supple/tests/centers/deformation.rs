//! Deformations by centers of rotation, as one sees them.

use crate::common::{Bake, Prepared, bake, deform, deform_skin, palette};
use crate::surfaces::{Bound, sheet};
use glam::{DAffine3, DVec3, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;
use supple::centers::{CenterError, CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::deform::{Antipodality, BakedData, CentersOfRotation, DeformError};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::{Method, Normals, Rig, Skin};

fn method(name: &str) -> Method {
    name.parse().unwrap()
}

/// A surface on joints in a row, all at the origin.
fn rig(bound: &Bound) -> Rig {
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::ZERO)),
    };
    let all: Vec<usize> = (0..bound.joints).collect();
    let nodes = (0..bound.joints).map(node).collect();
    let skeleton = Skeleton::bound_at_rest(nodes, &all).unwrap();
    Rig::new(bound.mesh(), skeleton, bound.weights()).unwrap()
}

/// A strip whose second weight fades to nothing; beyond, vertices have no center. No step may show
/// where they begin.
#[test]
fn nothing_tears_where_centers_end() {
    const STEPS: usize = 400;
    let strip = sheet([STEPS, 2], false, 2, |along, across| {
        let left = (1.0 - along / 0.6).max(0.0);
        let second = 0.9 * left * left * (3.0 - 2.0 * left);
        let place = DVec3::new(along - 0.3, across * 0.1, 0.0);
        (place, vec![(0, 1.0 - second), (1, second)])
    });
    let rig = rig(&strip);
    let baked = Centers::bake(rig.mesh(), rig.weights(), &CenterOptions::PAPER).unwrap();
    let columns = 3;
    let ends = (0..=STEPS).position(|step| baked.of(step * columns).is_none());
    let ends = ends.unwrap();
    assert!((200..300).contains(&ends), "{ends}");
    for turn in [
        DAffine3::from_rotation_z(1.5),
        DAffine3::from_rotation_x(2.6),
        DAffine3::from_translation(DVec3::new(0.1, 0.2, 0.0)) * DAffine3::from_rotation_y(1.0),
    ] {
        let palette = palette(&[DAffine3::IDENTITY, turn]);
        for name in ["cor", "cor-procrustes"] {
            let posed = deform(&rig, &method(name), &palette).positions;
            let stretch = |step: usize| {
                let at = |points: &[Vec3], step: usize| points[step * columns + 1].as_dvec3();
                let rest = rig.mesh().positions();
                at(&posed, step).distance(at(&posed, step + 1))
                    / at(rest, step).distance(at(rest, step + 1))
            };
            for step in 1..STEPS {
                let change = (stretch(step) - stretch(step - 1)).abs();
                assert!(stretch(step) < 3.0, "{name}, {step}: {}", stretch(step));
                assert!(change < 0.04, "{name}, {step}: {change}");
            }
            for step in ends - 2..ends + 2 {
                let from_one = (stretch(step) - 1.0).abs();
                assert!(from_one < 0.02, "{name}, {step}: {from_one}");
            }
        }
    }
}

/// Fig. 12: centers in the plane of a cloth move it nearly as linear blending does.
#[test]
fn cloth_moves_nearly_linearly() {
    let asset = characters::build(Character::Cloth, characters::MIN_VERTICES).unwrap();
    let skins = ["linear", "cor", "dual-quaternion"].map(|name| bake(&asset.rig, &method(name)));
    let (mut cor, mut dual) = (0.0, 0.0);
    for clip in &asset.clips {
        for quarter in 1..4 {
            let share = f64::from(quarter) / 4.0;
            let time = clip.start() + (clip.duration() - clip.start()) * share;
            let palette = asset.palette_at(clip, time);
            let [linear, centers, quaternions] =
                [0, 1, 2].map(|skin: usize| deform_skin(&skins[skin], &palette));
            let apart = |other: &[Vec3]| -> f64 {
                let pairs = linear.positions.iter().zip(other);
                pairs.map(|(a, b)| f64::from(a.distance_squared(*b))).sum()
            };
            cor += apart(&centers.positions);
            dual += apart(&quaternions.positions);
        }
    }
    let factor = (dual / cor).sqrt();
    assert!(factor > 2.0, "{factor}");
}

/// The rotation of each cross-section of the bar about its axis, in degrees, along it.
fn turns(name: &str) -> Vec<f64> {
    let asset = characters::build(Character::Bar, 4_000).unwrap();
    let clip = asset.clips.iter().find(|clip| clip.name == "twist-150");
    let clip = clip.unwrap();
    let middle = 0.5 * (clip.start() + clip.duration());
    let palette = asset.palette_at(clip, middle);
    let posed = deform(&asset.rig, &method(name), &palette).positions;
    let rest = asset.rig.mesh().positions();
    let mut sections: Vec<(f64, f64)> = Vec::new();
    for (rest, posed) in rest.iter().zip(&posed) {
        let (rest, posed) = (rest.as_dvec3(), posed.as_dvec3());
        // One vertex of each cross-section tells, where all of it turns alike.
        if rest.y > 0.05 && rest.z.abs() < 1e-6 {
            sections.push((rest.x, posed.z.atan2(posed.y).to_degrees()));
        }
    }
    sections.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(sections.len() > 30, "{}", sections.len());
    sections.into_iter().map(|(_, turn)| turn).collect()
}

/// Fig. 14: both turn by 150° in all, but rotations fitted to linear blending do most of it in one
/// place.
#[test]
fn fitted_rotations_bunch_up_at_the_joint() {
    let steps = |turns: &[f64]| {
        turns
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).abs())
            .fold(0.0, f64::max)
    };
    let (even, fitted) = (turns("cor"), turns("cor-procrustes"));
    for turns in [&even, &fitted] {
        let all = (turns[turns.len() - 1] - turns[0]).abs();
        assert!((all - 150.0).abs() < 1.0, "{all}");
    }
    let (even, fitted) = (steps(&even), steps(&fitted));
    assert!(fitted > 1.5 * even, "{fitted} beside {even}");
}

/// A ring about Z, held by the first and the last of three joints in equal shares.
fn ring() -> Rig {
    rig(&sheet([2, 24], true, 3, |along, around| {
        let angle = TAU * around;
        let place = DVec3::new(angle.cos(), angle.sin(), along - 0.5);
        (place, vec![(0, 0.5), (2, 0.5)])
    }))
}

/// Each joint turned by as much against its parent: where that makes more than half a turn, signs
/// per vertex take the shorter way around, and signs per joint the way of the chain.
#[test]
fn signs_per_joint_follow_the_chain() {
    let rig = ring();
    let turned = |name: &str, degrees: f64| {
        let motions = [0.0, 1.0, 2.0]
            .map(|joint: f64| DAffine3::from_rotation_z(joint * degrees.to_radians()));
        let posed = deform(&rig, &method(name), &palette(&motions)).positions;
        // The first vertex of a ring lies on X.
        assert!((posed[0].truncate().length() - 1.0).abs() < 1e-5);
        f64::from(posed[0].y.atan2(posed[0].x)).to_degrees()
    };
    for (degrees, per_vertex, per_joint) in [
        (30.0, 30.0, 30.0),
        (80.0, 80.0, 80.0),
        (100.0, -80.0, 100.0),
    ] {
        let found = turned("cor", degrees);
        assert!((found - per_vertex).abs() < 1e-3, "{degrees}: {found}");
        let found = turned("cor:per-joint", degrees);
        assert!((found - per_joint).abs() < 1e-3, "{degrees}: {found}");
    }
}

/// The same pose by both options, where no sign has to be turned.
#[test]
fn signs_per_joint_are_those_per_vertex_in_mild_poses() {
    let asset = characters::build(Character::Arm, characters::MIN_VERTICES).unwrap();
    let clip = &asset.clips[0];
    let time = clip.start() + 0.2 * (clip.duration() - clip.start());
    let palette = asset.palette_at(clip, time);
    let per_vertex = deform(&asset.rig, &method("cor"), &palette);
    let per_joint = deform(&asset.rig, &method("cor:per-joint"), &palette);
    let rest = asset.rig.mesh().positions();
    assert!(per_vertex.positions != rest);
    for (a, b) in per_vertex.positions.iter().zip(&per_joint.positions) {
        assert!(a.distance(*b) < 1e-6, "{a} and {b}");
    }
}

/// Known centers are used as they are: about a point that no sum would give, the ring turns about
/// that.
#[test]
fn known_centers_are_used_and_checked() {
    let rig = ring();
    let count = rig.mesh().vertex_count();
    let with = |centers: Centers| {
        let method = Method::CentersOfRotation(CentersOfRotation::default());
        let centers = Some(Arc::new(centers));
        let baked = BakedData {
            centers,
            ..BakedData::default()
        };
        Prepared { method, baked }
    };
    let point = Vec3::new(2.0, 1.0, 0.0);
    let centers = Centers::from_points(&vec![point; count], rig.mesh(), rig.weights()).unwrap();
    let motions = [0.0, 0.5, 1.0].map(DAffine3::from_rotation_z);
    let posed = deform(&rig, &with(centers), &palette(&motions)).positions;
    // R̃ of two turns by ±½ about the middle one is that one, shortened to cos ½ in the plane.
    let middle = DAffine3::from_rotation_z(0.5);
    for (rest, posed) in rig.mesh().positions().iter().zip(posed) {
        let (rest, center) = (rest.as_dvec3(), point.as_dvec3());
        let moved = middle.transform_point3(center * 0.5f64.cos());
        let expected = moved + middle.transform_vector3(rest - center);
        assert!(posed.as_dvec3().distance(expected) < 1e-6);
    }
    let other = crate::surfaces::tube(2, 1.0, 0.0);
    let (mesh, weights) = (other.mesh(), other.weights());
    let foreign = Centers::bake(&mesh, &weights, &CenterOptions::PAPER).unwrap();
    let error = with(foreign).bake(&rig, Normals::Transported).unwrap_err();
    let expected = CenterError::VertexCount {
        what: "centers",
        found: mesh.vertex_count(),
        expected: count,
    };
    assert_eq!(error, DeformError::Centers(expected));
}

/// Methods refuse what centers refuse.
#[test]
fn methods_name_options_that_make_no_sense() {
    let options = CenterOptions {
        sigma: 0.0,
        ..CenterOptions::PAPER
    };
    let cor = Method::CentersOfRotation(CentersOfRotation {
        antipodality: Antipodality::PerVertex,
        centers: options,
    });
    for method in [cor, Method::CorProcrustes(options)] {
        let error = Skin::bake(&ring(), &method, Normals::Transported).unwrap_err();
        assert!(error.to_string().contains("sigma is 0"), "{error}");
    }
    assert!("cor:sideways".parse::<Method>().is_err());
    assert_eq!(
        method("centers-of-rotation:per-joint").to_string(),
        "cor:per-joint"
    );
}
