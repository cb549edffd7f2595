//! Properties that every character has, and that the papers' tests rely on.

use super::*;
use crate::deform::{Method, Normals, Output, Skin, Workspace};
use crate::pose::Pose;
use glam::DVec3;
use std::collections::HashSet;

const CLOSED: [Character; 4] = [
    Character::Bar,
    Character::Arm,
    Character::Tentacle,
    Character::Figure,
];
const SIZES: [usize; 3] = [2_000, 5_000, 39_158];

fn volume(mesh: &Mesh) -> f64 {
    let triangles = mesh.triangles().iter();
    let six_times: f64 = triangles
        .map(|corners| {
            let [a, b, c] = corners.map(|corner| mesh.positions()[corner as usize].as_dvec3());
            a.dot(b.cross(c))
        })
        .sum();
    six_times / 6.0
}

#[test]
fn closed_characters_are_one_closed_surface_without_handles_at_every_size() {
    for character in CLOSED {
        for size in SIZES {
            let asset = build(character, size).unwrap();
            let mesh = asset.rig.mesh();
            let topology = mesh.topology();
            let what = format!("{character:?} {size}: {topology:?}");
            assert!(topology.is_closed_manifold(), "{what}");
            assert_eq!(topology.components, 1, "{what}");
            assert_eq!(topology.degenerate_triangles, 0, "{what}");
            assert_eq!(topology.points, mesh.vertex_count(), "{what}");
            // Euler: a sphere has V - E + F = 2, and a closed triangle surface has 2 E = 3 F.
            assert_eq!(
                2 * mesh.vertex_count(),
                mesh.triangles().len() + 4,
                "{what}"
            );
            assert!(volume(mesh) > 0.0, "{what}");
        }
    }
}

#[test]
fn sizes_come_close_to_what_was_asked_and_influences_stay_few() {
    for &character in Character::ALL {
        for size in [2_000, 2_601, 8_435, 20_846, 22_459, 39_158] {
            let asset = build(character, size).unwrap();
            let found = asset.rig.mesh().vertex_count() as f64;
            assert!(
                (found / size as f64 - 1.0).abs() < 0.02,
                "{character:?} {size}: {found}"
            );
            assert!(asset.rig.weights().max_influences() <= 8, "{character:?}");
        }
    }
    let cloth = build(Character::Cloth, 2_601).unwrap();
    assert_eq!(cloth.rig.mesh().vertex_count(), 2_601);
    assert_eq!(cloth.rig.skeleton().joints().len(), 9);
}

#[test]
fn the_shape_is_the_same_at_every_size() {
    for character in CLOSED {
        let fine = build(character, 39_158).unwrap();
        let fine_bounds = fine.rig.mesh().bounds().unwrap();
        // Flat triangles lie inside of the round shape, the larger the more.
        for (size, tolerance) in [(2_000, 0.04), (5_000, 0.02)] {
            let coarse = build(character, size).unwrap();
            let bounds = coarse.rig.mesh().bounds().unwrap();
            let ratio = volume(coarse.rig.mesh()) / volume(fine.rig.mesh());
            assert!(
                (ratio - 1.0).abs() < tolerance,
                "{character:?} {size}: {ratio}"
            );
            let off = (bounds.min - fine_bounds.min)
                .abs()
                .max((bounds.max - fine_bounds.max).abs());
            assert!(
                off.max_element() < 0.01 * fine_bounds.extent(),
                "{character:?} {size}: {off}"
            );
        }
    }
}

/// Every size samples one surface, so a vertex of the coarse figure is no farther from the
/// triangles of the fine one than these lie inside the round shape: a fraction of a millimetre.
#[test]
fn vertices_of_a_coarse_figure_lie_on_the_fine_one() {
    let [coarse, fine] = [2_000, 39_158].map(|size| build(Character::Figure, size).unwrap());
    let fine = fine.rig.mesh();
    let corners: Vec<[Vec3; 3]> = fine
        .triangles()
        .iter()
        .map(|corners| corners.map(|corner| fine.positions()[corner as usize]))
        .collect();
    for &point in coarse.rig.mesh().positions() {
        let near = corners
            .iter()
            .filter(|[a, ..]| a.distance_squared(point) < 0.03 * 0.03);
        let nearest = near.map(|corners| distance_to_triangle(point, corners));
        let nearest = nearest.fold(f32::INFINITY, f32::min);
        assert!(nearest < 1e-3, "{point} is {nearest} m away");
    }
}

/// The distance to the closest of many points spread over a triangle, which is close enough to the
/// closest of all.
fn distance_to_triangle(point: Vec3, &[a, b, c]: &[Vec3; 3]) -> f32 {
    const STEPS: usize = 12;
    let mut nearest = f32::INFINITY;
    for i in 0..=STEPS {
        for j in 0..=STEPS - i {
            let (u, v) = (i as f32 / STEPS as f32, j as f32 / STEPS as f32);
            nearest = nearest.min(point.distance(a + (b - a) * u + (c - a) * v));
        }
    }
    nearest
}

#[test]
fn the_largest_figure_is_closed_and_of_the_size_asked_for() {
    let asset = build(Character::Figure, MAX_VERTICES).unwrap();
    let mesh = asset.rig.mesh();
    let off = mesh.vertex_count().abs_diff(MAX_VERTICES) as f64 / MAX_VERTICES as f64;
    assert!(off < 0.02, "{} vertices", mesh.vertex_count());
    let topology = mesh.topology();
    assert!(
        topology.is_closed_manifold() && topology.components == 1,
        "{topology:?}"
    );
}

#[test]
fn building_twice_gives_the_same_bits() {
    for &character in Character::ALL {
        assert_eq!(
            build(character, 3_000).unwrap(),
            build(character, 3_000).unwrap()
        );
    }
}

#[test]
fn the_figure_has_77_joints_that_all_but_the_root_hold_skin() {
    let asset = build(Character::Figure, 5_000).unwrap();
    let (skeleton, weights) = (asset.rig.skeleton(), asset.rig.weights());
    assert_eq!(skeleton.joints().len(), 77);
    let names: HashSet<&str> = (0..77).map(|joint| skeleton.joint_name(joint)).collect();
    assert_eq!(names.len(), 77);
    let vertices = 0..weights.vertex_count();
    let holding: HashSet<usize> = vertices
        .flat_map(|v| weights.of(v).map(|i| i.joint))
        .collect();
    let idle: Vec<&str> = (0..77)
        .filter(|joint| !holding.contains(joint))
        .map(|joint| skeleton.joint_name(joint))
        .collect();
    assert_eq!(idle, ["root"]);
}

#[test]
fn the_figure_is_symmetric_in_shape_and_weights() {
    let asset = build(Character::Figure, 2_000).unwrap();
    let (positions, weights) = (asset.rig.mesh().positions(), asset.rig.weights());
    let skeleton = asset.rig.skeleton();
    let opposite: Vec<usize> = (0..77)
        .map(|joint| {
            let name = skeleton.joint_name(joint);
            let other = match name.split_once('.') {
                Some((stem, "L")) => format!("{stem}.R"),
                Some((stem, _)) => format!("{stem}.L"),
                None => name.to_owned(),
            };
            (0..77).find(|&j| skeleton.joint_name(j) == other).unwrap()
        })
        .collect();
    for (vertex, position) in positions.iter().enumerate() {
        let image = Vec3::new(-position.x, position.y, position.z);
        let found = positions
            .iter()
            .position(|other| other.distance(image) < 1e-6);
        let found = found.unwrap_or_else(|| panic!("{position} has no mirror image"));
        for influence in weights.of(vertex) {
            let mut others = weights.of(found);
            let other = others.find(|other| other.joint == opposite[influence.joint]);
            let other = other.map_or(0.0, |other| other.weight);
            assert!((other - influence.weight).abs() < 2e-4, "at {position}");
        }
    }
}

fn largest_move(a: &Pose, b: &Pose) -> f64 {
    let pairs = a.locals.iter().zip(&b.locals);
    let moves = pairs.map(|(a, b)| {
        let (a, b) = (a.to_affine(), b.to_affine());
        let linear = (a.matrix3 - b.matrix3).to_cols_array();
        let turn = linear.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        turn.max((a.translation - b.translation).length())
    });
    moves.fold(0.0, f64::max)
}

#[test]
fn clips_start_and_end_at_rest_and_the_walk_loops() {
    for &character in Character::ALL {
        let asset = build(character, 2_000).unwrap();
        let rest = asset.rest_pose();
        assert!(asset.clips.len() >= 4, "{character:?}");
        let names: HashSet<&str> = asset.clips.iter().map(|clip| clip.name.as_str()).collect();
        assert_eq!(names.len(), asset.clips.len(), "{character:?}");
        for clip in &asset.clips {
            let end = clip.duration();
            let [first, middle, last] = [0.0, 0.5, 1.0].map(|t| asset.pose_at(clip, t * end));
            let what = format!("{character:?} {}", clip.name);
            assert!(largest_move(&first, &last) < 1e-6, "{what}");
            assert!(largest_move(&first, &middle) > 0.1, "{what}");
            for step in 0..=20 {
                let pose = asset.pose_at(clip, end * f64::from(step) / 20.0);
                assert!(pose.locals.iter().all(crate::Local::is_finite), "{what}");
            }
            if clip.name != "walk" {
                assert!(largest_move(&first, &rest) < 1e-6, "{what}");
            }
        }
    }
}

/// The position of a joint of the figure at a time of a clip.
fn joint_at(asset: &Asset, joint: &str, clip: &str, time: f64) -> DVec3 {
    let clip = asset.clips.iter().find(|other| other.name == clip).unwrap();
    let skeleton = asset.rig.skeleton();
    let node = skeleton
        .nodes()
        .iter()
        .position(|node| node.name == joint)
        .unwrap();
    let mut world = Vec::new();
    skeleton
        .forward_kinematics(&asset.pose_at(clip, time), &mut world)
        .unwrap();
    world[node].translation
}

#[test]
fn feet_stay_where_they_are_in_a_squat() {
    let asset = build(Character::Figure, 2_000).unwrap();
    let standing = joint_at(&asset, "foot.L", "squat", 0.0);
    for step in 0..=40 {
        let time = f64::from(step) / 20.0;
        let moved = joint_at(&asset, "foot.L", "squat", time) - standing;
        assert!(moved.length() < 0.004, "{moved} at {time} s");
    }
    assert!(joint_at(&asset, "pelvis", "squat", 1.0).y < 0.6);
}

#[test]
fn the_walk_keeps_to_the_floor() {
    let asset = build(Character::Figure, 2_000).unwrap();
    let clip = asset.clips.iter().find(|clip| clip.name == "walk").unwrap();
    for step in 0..22 {
        let posed = skinned(&asset, &asset.pose_at(clip, f64::from(step) * 0.05));
        let lowest = posed
            .iter()
            .map(|point| point.y)
            .fold(f32::INFINITY, f32::min);
        assert!(lowest.abs() < 0.012, "{lowest} at step {step}");
    }
}

/// The surface in a pose, by linear blending.
fn skinned(asset: &Asset, pose: &Pose) -> Vec<Vec3> {
    let mut posed = asset.rig.mesh().positions().to_vec();
    let output = Output {
        positions: &mut posed,
        normals: None,
        tangents: None,
    };
    let palette = asset.rig.skeleton().palette(pose).unwrap();
    let skin = Skin::bake(&asset.rig, &Method::Linear, Normals::Transported).unwrap();
    skin.deform(&palette, &mut Workspace::default(), output)
        .unwrap();
    posed
}

#[test]
fn the_bar_is_held_evenly_at_its_joint_and_collapses_there_as_the_papers_say() {
    for size in SIZES {
        let asset = build(Character::Bar, size).unwrap();
        let mesh = asset.rig.mesh();
        let ring: Vec<usize> = (0..mesh.vertex_count())
            .filter(|&vertex| mesh.positions()[vertex].x.abs() < 1e-6)
            .collect();
        assert!(ring.len() >= 12);
        for &vertex in &ring {
            let (joints, weights) = asset.rig.weights().row(vertex);
            assert_eq!((joints, weights), (&[0u16, 1][..], &[0.5f32, 0.5][..]));
        }
        let clip = asset
            .clips
            .iter()
            .find(|clip| clip.name == "twist-150")
            .unwrap();
        let posed = skinned(&asset, &asset.pose_at(clip, 1.0));
        for vertex in ring {
            let shrunk = posed[vertex].length() / mesh.positions()[vertex].length();
            assert!((shrunk - 75f32.to_radians().cos()).abs() < 1e-3, "{shrunk}");
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    for asked in [0, MIN_VERTICES - 1, MAX_VERTICES + 1] {
        // Not by unwrapping: what was built by mistake would be printed vertex by vertex.
        let outcome = build(Character::Cloth, asked).map(|_| ());
        let error = outcome.map_err(|error| error.to_string());
        let range = format!("from {MIN_VERTICES} to {MAX_VERTICES}");
        let expected = format!("the number of vertices is {asked}, but must be {range}");
        assert_eq!(error, Err(expected));
    }
}
