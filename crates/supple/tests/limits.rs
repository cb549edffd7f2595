//! Limits of what can be asked for: what is at a limit is accepted, and one more is refused with
//! the number.

#![cfg(all(feature = "arap", feature = "bind", feature = "characters"))]
#![allow(clippy::unwrap_used)]

use glam::{DVec3, Vec3};
use supple::arap::{Arap, ArapOptions};
use supple::characters::{self, Character, MAX_VERTICES};
use supple::deform::{DeformError, DeltaMush};
use supple::edit::{Edit, EditRegion, Editor};
use supple::mush::MushOptions;
use supple::point_handles::{HandleError, HandleOptions, place_handles};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::{WeightsBuilder, WeightsError};
use supple::{Mesh, Method, Normals, Rig, Skin};

/// The largest number of joints.
const JOINTS: usize = 65_536;

fn chain(joints: usize) -> Skeleton {
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y * 1e-3)),
    };
    let all: Vec<usize> = (0..joints).collect();
    Skeleton::bound_at_rest((0..joints).map(node).collect(), &all).unwrap()
}

/// A point per pair of joints, shared by both.
fn points_on(joints: usize, pairs: impl Iterator<Item = [usize; 2]>) -> Rig {
    let mut weights = WeightsBuilder::new(joints).unwrap();
    for [a, b] in pairs {
        weights.push([(a, 0.5), (b, 0.5)], 0).unwrap();
    }
    let weights = weights.finish().0;
    let places = vec![Vec3::X; weights.vertex_count()];
    let mesh = Mesh::new(places, None, None, vec![]).unwrap();
    Rig::new(mesh, chain(joints), weights).unwrap()
}

#[test]
fn weights_name_as_many_joints_as_16_bits_can() {
    let rig = points_on(JOINTS, std::iter::once([0, JOINTS - 1]));
    assert_eq!(rig.weights().max_joint(), Some(JOINTS - 1));
    let palette = rig.skeleton().rest_palette();
    assert_eq!(palette.posed_from_bind.len(), JOINTS);
    let refused = WeightsBuilder::new(JOINTS + 1).unwrap_err();
    assert_eq!(refused, WeightsError::TooManyJoints(JOINTS + 1));
    assert_eq!(
        refused.to_string(),
        "65537 joints are more than the 65536 that weights can name"
    );
}

/// Steps take four bytes, so that these are 200 MB. Each pair adds the joints between it, two for
/// each level.
#[test]
fn paths_of_differential_blending_have_fifty_million_steps_at_most() {
    let pairs = |count: usize| (0..count).map(|at| [at, JOINTS - 1]);
    let baked = |count: usize| {
        let rig = points_on(JOINTS, pairs(count));
        Skin::bake(&rig, &Method::Differential, Normals::Transported).map(|_| ())
    };
    // The path to the lower joint below the upper one, twice, for each pair.
    let steps = |count: usize| -> usize { (0..count).map(|at| 2 * (JOINTS - 1 - at)).sum() };
    let most = 50_000_000;
    let count = (1..).find(|&count| steps(count) > most).unwrap() - 1;
    baked(count).unwrap();
    let refused = baked(count + 1).unwrap_err();
    let expected = DeformError::TooManySteps {
        vertex: count,
        most,
    };
    assert_eq!(refused, expected);
    assert!(
        refused.to_string().ends_with("at most 50000000"),
        "{refused}"
    );
}

#[test]
fn a_thousand_handles_can_be_asked_for() {
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let given = vec![DVec3::ZERO; 1_001];
    let refused = |count| {
        let options = HandleOptions {
            count: Some(count),
            given: given.clone(),
            ..HandleOptions::default()
        };
        place_handles(bar.rig.mesh(), &options).unwrap_err()
    };
    // Past the limit, and on to what is wrong with it.
    let found = refused(1_000);
    assert!(
        matches!(found, HandleError::FewerThanGiven { .. }),
        "{found}"
    );
    assert_eq!(
        refused(1_001).to_string(),
        "the number of handles is 1001, but must be between 1 and 1000"
    );
}

#[test]
fn built_in_characters_have_four_million_vertices_at_most() {
    let asked = MAX_VERTICES + 1;
    let refused = characters::build(Character::Bar, asked).unwrap_err();
    assert!(
        refused.to_string().contains("must be from 2000 to 4000000"),
        "{refused}"
    );
}

#[test]
fn smoothing_takes_ten_thousand_steps_at_most() {
    let bar = characters::build(Character::Bar, 2_000).unwrap();
    let mushed = |iterations| {
        let smoothing = MushOptions {
            iterations,
            ..MushOptions::default()
        };
        let method = Method::DeltaMush(DeltaMush {
            smoothing,
            ..DeltaMush::default()
        });
        Skin::bake(&bar.rig, &method, Normals::Transported)
    };
    mushed(10_000).unwrap();
    assert!(mushed(10_001).is_err());
    let editor = Editor::new(&bar.rig);
    let smoothed = |steps| {
        let smooth = Edit::Smooth {
            steps,
            strength: 0.5,
            joints: Vec::new(),
        };
        editor.apply(bar.rig.weights(), &smooth, &EditRegion::Vertices(vec![]))
    };
    smoothed(10_000).unwrap();
    assert!(smoothed(10_001).is_err());
    let rounds = |iterations| {
        let options = ArapOptions {
            iterations,
            ..ArapOptions::default()
        };
        Arap::new(&bar.rig, &options)
    };
    rounds(10_000).unwrap();
    assert!(rounds(10_001).is_err());
}
