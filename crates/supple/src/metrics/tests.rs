//! Surfaces and deformations whose measures are known.

use super::*;
use crate::characters::{Character, build};
use crate::deform::{Method, Normals};
use crate::mesh::Mesh;
use crate::player::Player;
use crate::rig::Asset;
use crate::skeleton::{Node, Skeleton};
use crate::transform::{Affine, Local, Trs};
use crate::weights::WeightsBuilder;
use glam::{DAffine3, DQuat, DVec3, Mat3, Quat};
use std::f32::consts::{FRAC_PI_2, TAU};

fn volume(gauge: &Gauge, positions: &[Vec3]) -> f64 {
    gauge.volume(positions).unwrap()
}

/// A surface that follows one joint.
pub(super) fn rig_of(
    positions: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
    triangles: Vec<[u32; 3]>,
) -> Rig {
    let root = Node {
        name: String::new(),
        parent: None,
        rest: Local::Trs(Trs::IDENTITY),
    };
    let skeleton = Skeleton::bound_at_rest(vec![root], &[0]).unwrap();
    let mut weights = WeightsBuilder::new(1).unwrap();
    for _ in &positions {
        weights.push([(0, 1.0)], 0).unwrap();
    }
    let mesh = Mesh::new(positions, normals, None, triangles).unwrap();
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

/// A unit cube in the middle, four vertices and a normal per face.
fn hard_cube() -> Rig {
    let (mut positions, mut normals, mut triangles) = (vec![], vec![], vec![]);
    for (out, right) in [
        (Vec3::X, Vec3::Y),
        (-Vec3::X, Vec3::Z),
        (Vec3::Y, Vec3::Z),
        (-Vec3::Y, Vec3::X),
        (Vec3::Z, Vec3::X),
        (-Vec3::Z, Vec3::Y),
    ] {
        let up = out.cross(right);
        let first = positions.len() as u32;
        for (u, v) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            positions.push(out * 0.5 + right * u + up * v);
            normals.push(out);
        }
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    rig_of(positions, Some(normals), triangles)
}

const SIDES: u32 = 24;

/// A tube along X, one metre long and of radius 0.25, open at both ends.
fn tube() -> Rig {
    let rings = 10;
    let mut positions = vec![];
    let mut triangles = vec![];
    for ring in 0..=rings {
        for side in 0..SIDES {
            let (sin, cos) = (TAU * side as f32 / SIDES as f32).sin_cos();
            let x = ring as f32 / rings as f32;
            positions.push(Vec3::new(x, 0.25 * cos, 0.25 * sin));
            if ring < rings {
                let [a, b] = [side, (side + 1) % SIDES].map(|side| ring * SIDES + side);
                triangles.extend([[a, b, b + SIDES], [a, b + SIDES, a + SIDES]]);
            }
        }
    }
    rig_of(positions, None, triangles)
}

/// A ball of radius 1: an octahedron, its triangles cut in four again and again.
fn ball() -> Rig {
    let mut soup = vec![];
    for x in [Vec3::X, -Vec3::X] {
        for y in [Vec3::Y, -Vec3::Y] {
            for z in [Vec3::Z, -Vec3::Z] {
                let outwards = x.cross(y).dot(z) > 0.0;
                soup.push(if outwards { [x, y, z] } else { [x, z, y] });
            }
        }
    }
    for _ in 0..4 {
        soup = soup
            .into_iter()
            .flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [a + b, b + c, c + a].map(Vec3::normalize);
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    let positions: Vec<Vec3> = soup.into_iter().flatten().collect();
    let triangles = (0..positions.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let triangles = triangles.collect();
    rig_of(positions, None, triangles)
}

fn moved(rig: &Rig, by: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    rig.mesh().positions().iter().map(|&p| by(p)).collect()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} instead of {expected}"
    );
}

#[test]
fn a_scaled_cube_has_known_measures() {
    let rig = hard_cube();
    let gauge = Gauge::new(&rig);
    assert_eq!(gauge.holes(), 0, "seams are no holes");
    near(gauge.rest_volume(), 1.0, 1e-12);
    near(gauge.rest_area(), 6.0, 1e-12);
    let twice = moved(&rig, |p| 2.0 * p + Vec3::splat(100.0));
    near(volume(&gauge, &twice), 8.0, 1e-9);
    near(gauge.volume_change(&twice).unwrap(), 7.0, 1e-9);
    near(gauge.area(&twice), 24.0, 1e-9);
    near(gauge.area_change(&twice), 3.0, 1e-9);
    for stretch in gauge.stretch(&twice) {
        near(stretch.largest, 2.0, 1e-9);
        near(stretch.least, 2.0, 1e-9);
    }
    let summary = gauge.stretch_summary(&gauge.stretch(&twice));
    near(summary.mean_distortion, 2f64.sqrt(), 1e-9);
    assert!(
        gauge
            .vertex_stretch(&twice)
            .iter()
            .all(|&doublings| (doublings - 2.0).abs() < 1e-6)
    );
    let edges = gauge.edges(&twice);
    for change in [edges.rms, edges.mean, edges.largest, edges.least] {
        near(change, 1.0, 1e-9);
    }
    // s² for scaling by 1 + s.
    near(gauge.rigid_energy(&twice), 1.0, 1e-9);
    let tenth = moved(&rig, |p| 1.1 * p);
    near(gauge.rigid_energy(&tenth), 0.01, 1e-6);
    let inside_out = moved(&rig, |p| -p);
    near(volume(&gauge, &inside_out), -1.0, 1e-9);
    assert!(
        gauge.rigid_energy(&inside_out) > 1.0,
        "a mirror image is not rigid"
    );
}

#[test]
fn the_holes_of_a_tube_are_closed() {
    let rig = tube();
    let gauge = Gauge::new(&rig);
    assert_eq!(gauge.holes(), 2);
    let sides = f64::from(SIDES);
    let turn = std::f64::consts::TAU / sides;
    let exact = sides / 2.0 * turn.sin() * 0.25 * 0.25;
    near(gauge.rest_volume(), exact, 1e-7);
    let sheared = moved(&rig, |p| p + Vec3::Y * p.x);
    near(volume(&gauge, &sheared), exact, 1e-7);
    let flipped: Vec<[u32; 3]> = rig
        .mesh()
        .triangles()
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();
    let flipped = rig_of(rig.mesh().positions().to_vec(), None, flipped);
    near(Gauge::new(&flipped).rest_volume(), -exact, 1e-7);
}

#[test]
fn a_sheet_has_no_volume_to_change() {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
    let rig = rig_of(positions, None, vec![[0, 1, 2], [0, 2, 3]]);
    let gauge = Gauge::new(&rig);
    assert_eq!(gauge.holes(), 1);
    assert_eq!(gauge.volume_change(rig.mesh().positions()), None);
    near(gauge.rest_area(), 1.0, 1e-12);
}

#[test]
fn shear_has_the_singular_values_of_the_textbook() {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X * 0.5];
    let triangles = vec![[0, 1, 2], [0, 3, 1]];
    let rig = rig_of(positions, None, triangles);
    let gauge = Gauge::new(&rig);
    // x + ky has the golden ratio for k = 1; then turned out of its plane.
    let turn = Quat::from_scaled_axis(Vec3::new(0.3, 1.0, -2.0));
    let sheared = moved(&rig, |p| turn * Vec3::new(p.x + p.y, p.y, 0.0));
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let stretch = gauge.stretch(&sheared);
    near(stretch[0].largest, golden, 1e-6);
    near(stretch[0].least, 1.0 / golden, 1e-6);
    near(stretch[0].area_ratio(), 1.0, 1e-6);
    assert_eq!(stretch[1], Stretch::NONE, "no area at rest, no stretch");
    let summary = gauge.stretch_summary(&gauge.stretch(&sheared));
    assert_eq!(summary.worst.unwrap().triangle, 0);
    near(summary.largest_p99, golden, 1e-6);
    near(summary.least_p1, 1.0 / golden, 1e-6);
    // Shear keeps the area: seen by the one colour, not by the other.
    near(f64::from(gauge.vertex_stretch(&sheared)[0]), 0.0, 1e-6);
    let distortion = (golden - 1.0).hypot(1.0 / golden - 1.0);
    near(
        f64::from(gauge.vertex_distortion(&sheared)[0]),
        distortion,
        1e-6,
    );
    // Crushed to a point: as far as colours go, and finite.
    let crushed = moved(&rig, |_| Vec3::ONE);
    assert_eq!(gauge.vertex_stretch(&crushed)[2], -4.0);
    near(
        gauge
            .stretch_summary(&gauge.stretch(&crushed))
            .mean_distortion,
        2f64.sqrt(),
        1e-12,
    );
    near(gauge.edges(&crushed).least, -1.0, 1e-12);
}

#[test]
fn percentiles_go_by_area() {
    // A large square at rest, and a hundred small triangles that double: less than 1 % of the area,
    // 98 % of the triangles.
    let mut positions = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
    let mut triangles = vec![[0, 1, 2], [0, 2, 3]];
    for small in 0..100 {
        let corner = Vec3::new(2.0, small as f32 * 0.02, 0.0);
        let first = positions.len() as u32;
        positions.extend([corner, corner + Vec3::X * 0.01, corner + Vec3::Y * 0.01]);
        triangles.push([first, first + 1, first + 2]);
    }
    let rig = rig_of(positions, None, triangles);
    let doubled = moved(&rig, |p| if p.x > 1.5 { p * 2.0 } else { p });
    let gauge = Gauge::new(&rig);
    let summary = gauge.stretch_summary(&gauge.stretch(&doubled));
    near(summary.largest_p99, 1.0, 1e-6);
    near(summary.worst.unwrap().stretch.largest, 2.0, 1e-4);
}

#[test]
fn a_rigid_motion_changes_nothing() {
    let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.9, 0.4));
    let motion = DAffine3::from_rotation_translation(turn, DVec3::new(1.0, 2.0, -0.5));
    let asset = build(Character::Arm, 2_000).unwrap();
    for rig in [&hard_cube(), &tube(), &ball(), &asset.rig] {
        let gauge = Gauge::new(rig);
        let positions = moved(rig, |p| motion.transform_point3(p.as_dvec3()).as_vec3());
        let turned = |&normal: &Vec3| turn.as_quat() * normal;
        let normals: Vec<Vec3> = rig.mesh().normals().iter().map(turned).collect();
        let joints = rig.skeleton().joints().len();
        let palette = Palette {
            posed_from_bind: vec![Affine::from_f64(&motion); joints],
        };
        let metrics = gauge.measure(&positions, &normals, &palette);
        near(metrics.volume_change.unwrap(), 0.0, 1e-4);
        near(metrics.area_change, 0.0, 1e-4);
        near(metrics.stretch.mean_distortion, 0.0, 1e-3);
        near(metrics.stretch.largest_p99, 1.0, 2e-3);
        near(metrics.stretch.least_p1, 1.0, 2e-3);
        near(metrics.edges.rms, 0.0, 1e-3);
        near(metrics.rigid_energy, 0.0, 1e-6);
        let at_rest = gauge.normal_error(
            rig.mesh().positions(),
            rig.mesh().normals(),
            &Palette::default(),
        );
        near(metrics.normals.mean_degrees, at_rest.mean_degrees, 0.01);
        for region in metrics.regions {
            near(region.mean_distortion, 0.0, 1e-3);
            near(region.area_change, 0.0, 1e-3);
            let radius = region.radius.unwrap();
            near(radius.collapse, 1.0, 1e-3);
            near(radius.at_joint, 1.0, 1e-3);
            near(radius.bulge, 1.0, 1e-2);
        }
    }
}

#[test]
fn twisting_a_tube_costs_energy_and_more_twist_costs_more() {
    let rig = tube();
    let gauge = Gauge::new(&rig);
    let energy =
        |angle: f32| gauge.rigid_energy(&moved(&rig, |p| Quat::from_rotation_x(angle * p.x) * p));
    assert!(energy(0.0) < 1e-12);
    assert!(energy(0.5) > 1e-4);
    assert!(energy(1.0) > 2.0 * energy(0.5));
}

#[test]
fn normals_of_a_turned_ball_fit_and_tilted_ones_are_told_by_their_angle() {
    let rig = ball();
    let gauge = Gauge::new(&rig);
    let turn = Quat::from_scaled_axis(Vec3::new(1.0, 2.0, 3.0));
    let positions = moved(&rig, |p| turn * p);
    let normals: Vec<Vec3> = rig.mesh().normals().iter().map(|&n| turn * n).collect();
    let error = gauge.normal_error(&positions, &normals, &Palette::default());
    assert!(error.largest_degrees < 0.01, "{error:?}");
    // On a ball around the origin the normal is the position, but for the unevenness of the
    // triangles.
    let error = gauge.normal_error(&positions, &positions, &Palette::default());
    assert!(
        error.mean_degrees < 0.5 && error.largest_degrees < 1.5,
        "{error:?}"
    );
    let tilt = 10f32.to_radians();
    let tilted: Vec<Vec3> = normals
        .iter()
        .map(|&n| Quat::from_axis_angle(n.any_orthonormal_vector(), tilt) * n)
        .collect();
    let error = gauge.normal_error(&positions, &tilted, &Palette::default());
    near(error.mean_degrees, 10.0, 0.01);
    near(error.largest_degrees, 10.0, 0.01);
    // One wrong normal is found.
    let mut wrong = normals.clone();
    wrong[17] = -wrong[17];
    let error = gauge.normal_error(&positions, &wrong, &Palette::default());
    assert_eq!(error.worst_vertex, Some(17));
    near(error.largest_degrees, 180.0, 0.1);
    assert!(error.mean_degrees < 0.5);
}

#[test]
fn hard_edges_are_no_error_and_shear_without_new_normals_is() {
    let rig = hard_cube();
    let gauge = Gauge::new(&rig);
    let normals = rig.mesh().normals();
    let error = gauge.normal_error(rig.mesh().positions(), normals, &Palette::default());
    assert_eq!((error.mean_degrees, error.largest_degrees), (0.0, 0.0));
    // Sheared by 45°, the two faces across X lean by that much, the other four stay in their
    // planes.
    let shear = Mat3::from_cols(Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Z);
    let sheared = moved(&rig, |p| shear * p);
    let error = gauge.normal_error(&sheared, normals, &Palette::default());
    near(error.largest_degrees, 45.0, 1e-4);
    near(error.mean_degrees, 45.0 / 3.0, 1e-4);
}

fn bar() -> Asset {
    build(Character::Bar, 4_000).unwrap()
}

/// The bar at the extreme of a clip: palette and posed positions.
fn extreme(asset: &Asset, clip: &str, method: Method) -> (Palette, Vec<Vec3>) {
    let clip = asset.clips.iter().find(|c| c.name == clip).unwrap();
    let pose = asset.pose_at(clip, clip.duration() / 2.0);
    let mut player = Player::new(asset, &method, Normals::Transported).unwrap();
    player.pose(&pose).unwrap();
    let palette = asset.rig.skeleton().palette(&pose).unwrap();
    (palette, player.positions().to_vec())
}

/// The radius at the one joint between the bar's bones.
fn bar_radius(asset: &Asset, positions: &[Vec3], palette: &Palette) -> JointRadius {
    let radii = Gauge::new(&asset.rig).radii(positions, palette);
    assert_eq!(radii.len(), 1);
    assert_eq!(asset.rig.skeleton().joint_name(radii[0].joint), "second");
    radii[0].clone()
}

/// Every vertex turned about the bar's joint, which is at the origin, by its share of an angle:
/// what rotations do that are blended as such.
fn turned_by_share(asset: &Asset, turn: impl Fn(f32) -> Quat) -> Vec<Vec3> {
    let share = |vertex: usize| {
        let of_second = asset.rig.weights().of(vertex).find(|i| i.joint == 1);
        of_second.map_or(0.0, |influence| influence.weight)
    };
    let positions = asset.rig.mesh().positions().iter().enumerate();
    positions.map(|(v, &p)| turn(share(v)) * p).collect()
}

#[test]
fn a_bar_at_rest_has_stations_on_both_sides_of_its_joint() {
    let asset = bar();
    let radius = bar_radius(&asset, asset.rig.mesh().positions(), &Palette::identity(2));
    near(radius.rest_radius, 0.1, 0.02);
    assert!(radius.stations.is_sorted_by(|a, b| a.along < b.along));
    assert!(radius.stations.len() >= 5, "{radius:?}");
    assert!(radius.stations.iter().any(|station| station.along == 0.0));
    let ends = [radius.stations.first(), radius.stations.last()].map(|s| s.unwrap().along);
    near(ends[0], -ends[1], 1e-6);
    for station in radius.stations {
        near(station.least, 1.0, 1e-6);
        near(station.largest, 1.0, 1e-6);
    }
}

#[test]
fn a_linear_twist_collapses_to_the_cosine_of_half_its_angle() {
    let asset = bar();
    for (clip, degrees) in [("twist-90", 90f64), ("twist-150", 150.0)] {
        let (palette, positions) = extreme(&asset, clip, Method::Linear);
        let radius = bar_radius(&asset, &positions, &palette);
        let expected = (degrees / 2.0).to_radians().cos();
        near(radius.at_joint, expected, 0.005);
        near(radius.collapse, expected, 0.005);
        assert!(radius.bulge <= 1.0 + 1e-4, "{radius:?}");
    }
    // Turning each vertex by its share keeps the radius instead; only the flat triangles between
    // two turned rings cut a little inside.
    let (palette, _) = extreme(&asset, "twist-150", Method::Linear);
    let turned = turned_by_share(&asset, |share| {
        Quat::from_rotation_x(share * 150f32.to_radians())
    });
    let radius = bar_radius(&asset, &turned, &palette);
    near(radius.at_joint, 1.0, 0.025);
    near(radius.bulge, 1.0, 1e-3);
}

#[test]
fn a_linear_bend_thins_and_does_not_bulge_but_turning_by_share_does() {
    let asset = bar();
    let (palette, positions) = extreme(&asset, "bend-90", Method::Linear);
    let linear = bar_radius(&asset, &positions, &palette);
    assert!(linear.bulge < 1.03, "{linear:?}");
    assert!(linear.at_joint < 0.85, "{linear:?}");
    let turned = turned_by_share(&asset, |share| Quat::from_rotation_z(share * FRAC_PI_2));
    let bulging = bar_radius(&asset, &turned, &palette);
    assert!(bulging.bulge > 1.1, "{bulging:?}");
    assert!(bulging.at_joint > linear.at_joint);
}

#[test]
fn a_joint_pulled_out_of_its_socket_has_a_bone_in_the_gap() {
    let asset = bar();
    let pulled = DAffine3::from_translation(DVec3::X * 0.4);
    let palette = Palette {
        posed_from_bind: vec![Affine::IDENTITY, Affine::from_f64(&pulled)],
    };
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    player
        .pose_with_palette(&asset.rest_pose(), &palette)
        .unwrap();
    let radius = bar_radius(&asset, player.positions(), &palette);
    near(radius.at_joint, 1.0, 1e-4);
    near(radius.bulge, 1.0, 1e-4);
}

#[test]
fn regions_hold_what_blends_and_the_distortion_is_in_them() {
    let asset = bar();
    let gauge = Gauge::new(&asset.rig);
    assert!(gauge.region_of_joint(0).is_none(), "the root has no parent");
    let region = gauge.region_of_joint(1).unwrap();
    assert_eq!((region.joint, region.other), (1, 0));
    let positions = asset.rig.mesh().positions();
    assert!(region.vertices.iter().all(|&v| positions[v].x.abs() < 0.16));
    let inside = positions.iter().filter(|p| p.x.abs() < 0.14).count();
    let in_region = |v: &&usize| positions[**v].x.abs() < 0.14;
    assert_eq!(region.vertices.iter().filter(in_region).count(), inside);

    let (palette, posed) = extreme(&asset, "twist-150", Method::Linear);
    let metrics = gauge.measure(&posed, asset.rig.mesh().normals(), &palette);
    let around_joint = &metrics.regions[0];
    assert!(around_joint.mean_distortion > 2.0 * metrics.stretch.mean_distortion);
    assert!(around_joint.area_change < 0.0);
    assert!(metrics.volume_change.unwrap() < -0.05);
    assert_eq!(
        around_joint.radius.as_ref(),
        gauge.radii(&posed, &palette).first()
    );
}

#[test]
fn the_main_regions_of_a_body_are_those_of_parents_and_of_a_cloth_those_of_neighbours() {
    let asset = bar();
    let gauge = Gauge::new(&asset.rig);
    let [main] = gauge.main_regions() else {
        panic!("a bar has one region");
    };
    let region = gauge.region_of_joint(1).unwrap();
    assert_eq!((main.joint, main.other), (1, 0));
    assert_eq!(main.vertices, region.vertices);
    assert_eq!(main.triangles, region.triangles);
    assert_eq!((main.share, main.size), (region.share, region.size));
    assert!(main.share > 0.0 && main.share < 0.3, "{}", main.share);
    assert!(main.blends.iter().all(|&blend| blend > 0.0 && blend <= 1.0));

    let cloth = build(Character::Cloth, 2000).unwrap();
    let joints = cloth.rig.skeleton().joints();
    let gauge = Gauge::new(&cloth.rig);
    let main = gauge.main_regions();
    assert!(
        main.iter()
            .any(|region| joints[region.joint].parent != Some(region.other))
    );
    let shares: Vec<f64> = main.iter().map(|region| region.share).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
}

#[test]
fn a_joint_bends_twists_and_shifts() {
    let asset = bar();
    let gauge = Gauge::new(&asset.rig);
    let region = gauge.region_of_joint(1).unwrap();
    let motion = |clip: &str| {
        let (palette, _) = extreme(&asset, clip, Method::Linear);
        gauge.motion(region, &palette)
    };
    let bend = motion("bend-120");
    near(bend.bend.to_degrees(), 120.0, 1e-3);
    near(bend.twist, 0.0, 1e-5);
    near(bend.shift, 0.0, 1e-5);
    let twist = motion("twist-150");
    near(twist.twist.to_degrees(), 150.0, 1e-3);
    near(twist.bend, 0.0, 1e-5);
    let both = motion("bend-and-shift");
    assert!(both.shift > 0.1 && both.bend > 0.1, "{both:?}");
    near(both.amount(), both.bend + both.twist + both.shift, 1e-12);
    near(both.bend_axis.length(), 1.0, 1e-9);
}

#[test]
fn odd_surfaces_give_numbers() {
    let huge = |p: Vec3| (p + Vec3::splat(0.3)) * 3e37;
    let fins = vec![
        [0, 1, 2],
        [0, 1, 3],
        [1, 0, 3],
        [0, 1, 1],
        [2, 2, 2],
        [3, 1, 0],
    ];
    let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO];
    let rigs = [
        rig_of(vec![], None, vec![]),
        rig_of(vec![Vec3::ONE], None, vec![]),
        rig_of(vec![Vec3::ONE; 3], None, vec![[0, 1, 2]]),
        rig_of(points, None, fins),
        build(Character::Cloth, 2_000).unwrap().rig,
        build(Character::Figure, 2_000).unwrap().rig,
    ];
    for rig in &rigs {
        let gauge = Gauge::new(rig);
        let palette = Palette::identity(rig.skeleton().joints().len());
        for positions in [
            rig.mesh().positions().to_vec(),
            moved(rig, |_| Vec3::ZERO),
            moved(rig, huge),
        ] {
            let metrics = gauge.measure(&positions, rig.mesh().normals(), &palette);
            let mut numbers = vec![
                metrics.volume_change.unwrap_or(0.0),
                metrics.area_change,
                metrics.stretch.mean_distortion,
                metrics.stretch.largest_p99,
                metrics.stretch.least_p1,
                metrics.edges.rms,
                metrics.edges.mean,
                metrics.edges.largest,
                metrics.edges.least,
                metrics.rigid_energy,
                metrics.normals.mean_degrees,
                metrics.normals.largest_degrees,
            ];
            for radius in metrics.regions.iter().filter_map(|r| r.radius.as_ref()) {
                numbers.extend([radius.at_joint, radius.bulge, radius.collapse]);
            }
            assert!(numbers.iter().all(|x| x.is_finite()), "{numbers:?}");
            let colours = gauge.vertex_stretch(&positions);
            assert_eq!(colours.len(), rig.mesh().vertex_count());
            assert!(colours.iter().all(|c| (-4.0..=4.0).contains(c)));
        }
    }
    // Nothing follows the figure's root, and what follows a shoulder blade mostly follows the arm;
    // all else can be measured.
    let [.., figure] = &rigs;
    let gauge = Gauge::new(figure);
    let joints = 0..figure.skeleton().joints().len();
    let without: Vec<&str> = joints
        .clone()
        .filter(|&joint| gauge.region_of_joint(joint).is_none())
        .map(|joint| figure.skeleton().joint_name(joint))
        .collect();
    assert_eq!(without, ["root", "pelvis", "scapula.L", "scapula.R"]);
    let radii = gauge.radii(figure.mesh().positions(), &Palette::identity(joints.len()));
    assert_eq!(radii.len(), gauge.regions.len());
}
