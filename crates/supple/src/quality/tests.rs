use super::*;
use crate::characters::{Character, build};
use crate::skeleton::Node;
use crate::transform::{Local, Trs};
use crate::weights::WeightsBuilder;
use glam::{DVec3, Vec3};
use proptest::prelude::*;

fn skeleton(heads: &[DVec3]) -> Skeleton {
    let node = |&head: &DVec3| Node {
        name: String::new(),
        parent: None,
        rest: Local::Trs(Trs::from_translation(head)),
    };
    let all: Vec<usize> = (0..heads.len()).collect();
    Skeleton::bound_at_rest(heads.iter().map(node).collect(), &all).unwrap()
}

/// A flat square of `side` × `side` cells of two triangles each, corner to corner from 0 to 1.
fn square(side: usize) -> Mesh {
    let step = 1.0 / side as f32;
    let row = |y: usize| (0..=side).map(move |x| Vec3::new(x as f32 * step, y as f32 * step, 0.0));
    let positions = (0..=side).flat_map(row).collect();
    let at = |x: usize, y: usize| (y * (side + 1) + x) as u32;
    let mut triangles = Vec::new();
    for y in 0..side {
        for x in 0..side {
            triangles.push([at(x, y), at(x + 1, y), at(x + 1, y + 1)]);
            triangles.push([at(x, y), at(x + 1, y + 1), at(x, y + 1)]);
        }
    }
    Mesh::new(positions, None, None, triangles).unwrap()
}

/// Measures rows of (joint, weight), one per vertex. Sums are judged as given, everything else
/// after repair.
fn of_rows<Row: IntoIterator<Item = (usize, f32)>>(
    mesh: &Mesh,
    skeleton: &Skeleton,
    rows: impl IntoIterator<Item = Row>,
) -> WeightQuality {
    let mut builder = WeightsBuilder::new(skeleton.joints().len()).unwrap();
    for row in rows {
        builder.push(row, 0).unwrap();
    }
    let (weights, found) = builder.finish();
    WeightQuality::over(mesh, skeleton, &weights).as_found(&found)
}

/// Two joints, the first with a weight that depends on the position.
fn shared(mesh: &Mesh, heads: &[DVec3], weight: impl Fn(Vec3) -> f32) -> WeightQuality {
    let rows = mesh.positions().iter().map(|&place| {
        let weight = weight(place);
        [(0, weight), (1, 1.0 - weight)]
    });
    of_rows(mesh, &skeleton(heads), rows)
}

const APART: [DVec3; 2] = [DVec3::ZERO, DVec3::X];

#[test]
fn the_same_weights_everywhere_are_perfect() {
    let found = shared(&square(4), &APART, |_| 0.5);
    assert_eq!(found.smoothness.roughness, 0.0);
    assert_eq!(found.smoothness.worst, None);
    assert_eq!(found.monotonicity, Monotonicity::default());
    assert_eq!(found.locality.stray, 0.0);
    assert!((found.locality.influences - 2.0).abs() < 1e-12);
    assert_eq!(found.partition, PartitionError::default());
}

#[test]
fn roughness_is_the_integral_of_the_laplacian() {
    // w = x², over n cells of width h = 1/n, constant beyond the edges: the slope between columns k
    // and k+1 is (2k+1)h. It rises from zero to h in the first column, by 2h in each of the n − 1
    // columns between, and falls from 2 − h to zero in the last.
    let side = 16;
    let h = 1.0 / side as f64;
    let found = shared(&square(side), &APART, |place| place.x * place.x);
    let bend = h + (side - 1) as f64 * 2.0 * h + (2.0 - h);
    // Both joints have the same roughness, whatever they hold.
    let roughness = found.smoothness.roughness;
    assert!(
        (roughness - bend).abs() < 1e-5,
        "{roughness} against {bend}"
    );
    // Rigid: x² < ½ up to column 11, so a single jump runs down the whole side, counted on both
    // sides.
    let rigid = found.smoothness.rigid_roughness;
    assert!((rigid - 2.0 * side as f64).abs() < 1e-5, "{rigid}");
}

#[test]
fn a_lone_weight_is_found_and_so_far_above_its_neighbours() {
    // The middle of a square of 2 × 2 cells: its cotangent weights are 1 along the sides, 0 along
    // diagonals.
    let middle = |place: Vec3| {
        let is_middle = place == Vec3::new(0.5, 0.5, 0.0);
        if is_middle { 0.75 } else { 0.25 }
    };
    let found = shared(&square(2), &APART, middle);
    let kink = found.smoothness.worst.unwrap();
    assert_eq!((kink.vertex, kink.joint), (4, 0));
    assert!((kink.size - 0.5).abs() < 1e-7);
    // The roughness at the middle is 4 · ½, at its four neighbours ½ each.
    assert!((found.smoothness.roughness - 4.0).abs() < 1e-6);
}

#[test]
fn a_planted_maximum_is_found_where_it_is_and_as_high_as_it_is() {
    let side = 10;
    let falling = |place: Vec3| 0.9 - 0.8 * place.x;
    let mesh = square(side);
    assert_eq!(shared(&mesh, &APART, falling).monotonicity.spurious, 0);
    let bump = 5 * (side + 1) + 8; // at x = 0.8: 0.26, its highest neighbour at 0.7: 0.34
    let place = mesh.positions()[bump];
    let planted = |at: Vec3| if at == place { 0.64 } else { falling(at) };
    let found = shared(&mesh, &APART, planted).monotonicity;
    let worst = found.worst.unwrap();
    assert_eq!((found.spurious, found.joints), (1, 1));
    assert_eq!((worst.vertex, worst.joint), (bump, 0));
    assert!((worst.persistence - 0.30).abs() < 1e-6, "{worst:?}");
    // Below the rounding of painted weights: not spurious.
    let slight = |at: Vec3| if at == place { 0.355 } else { falling(at) };
    assert_eq!(shared(&mesh, &APART, slight).monotonicity.spurious, 0);
}

#[test]
fn plateaus_are_one_top_and_loose_pieces_have_one_each() {
    let flat_tops = |place: Vec3| if place.x < 0.45 { 1.0 } else { 0.0 };
    assert_eq!(
        shared(&square(10), &APART, flat_tops).monotonicity.spurious,
        0
    );
    // Two stripes of one joint on one square; and the same on two squares.
    let stripes = |place: Vec3| {
        if place.x < 0.15 || place.x > 0.85 {
            1.0
        } else {
            0.0
        }
    };
    let found = shared(&square(10), &APART, stripes);
    assert_eq!(
        (found.monotonicity.spurious, found.monotonicity.joints),
        (1, 1)
    );
    assert_eq!(found.monotonicity.worst.unwrap().persistence, 1.0);
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for shift in [0.0, 5.0] {
        let (first, one) = (positions.len() as u32, square(4));
        positions.extend(one.positions().iter().map(|place| *place + Vec3::X * shift));
        triangles.extend(
            one.triangles()
                .iter()
                .map(|corners| corners.map(|corner| corner + first)),
        );
    }
    let two = Mesh::new(positions, None, None, triangles).unwrap();
    let hills = |place: Vec3| (place.x % 5.0) * 0.5;
    assert_eq!(shared(&two, &APART, hills).monotonicity.spurious, 0);
}

#[test]
fn islands_of_influence_are_weighed() {
    // The right stripe (2 of 11 columns, 1½ cells wide) is smaller than the left one (2½ cells).
    let mesh = square(10);
    let stripes = |place: Vec3| {
        if place.x < 0.25 || place.x > 0.85 {
            1.0
        } else {
            0.0
        }
    };
    let found = shared(&mesh, &APART, stripes).locality;
    assert!((found.stray - 0.15).abs() < 1e-6, "{found:?}");
    let most = found.most_stray.unwrap();
    assert_eq!(most.joint, 0);
    assert!(mesh.positions()[most.vertex].x > 0.85);
    assert!((most.share - 0.15).abs() < 1e-6);
}

#[test]
fn reach_compares_the_bones_that_hold_with_the_nearest() {
    // Two points at distances 1 and 3 from the first joint, 3 and 1 from the second.
    let mesh = Mesh::new(vec![Vec3::X, Vec3::X * 3.0], None, None, vec![]).unwrap();
    let skeleton = skeleton(&[DVec3::ZERO, DVec3::X * 4.0]);
    let reach = |rows: [[(usize, f32); 2]; 2]| {
        let found = of_rows(&mesh, &skeleton, rows);
        found.locality
    };
    let near = reach([[(0, 1.0), (1, 0.0)], [(0, 0.0), (1, 1.0)]]);
    assert_eq!((near.reach, near.farthest), (1.0, None));
    assert_eq!(near.influences, 1.0);
    // A quarter of the first point's weight is on the far joint: (1·¾ + 3·¼ + 1) / (1 + 1).
    let far = reach([[(0, 0.75), (1, 0.25)], [(0, 0.0), (1, 1.0)]]);
    assert!((far.reach - 1.25).abs() < 1e-7, "{far:?}");
    let farthest = far.farthest.unwrap();
    assert_eq!((farthest.joint, farthest.vertex), (1, 0));
    // A quarter of its weight, 1¼, is at distance 3 instead of 1.
    assert!((farthest.reach - 1.4).abs() < 1e-6);
    assert_eq!(far.influences, 1.5);
}

#[test]
fn sums_are_judged_as_given() {
    let mesh = Mesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], None, None, vec![]).unwrap();
    let rows = [vec![(0, 0.5), (1, 0.25)], vec![(1, 1.125)], vec![]];
    let found = of_rows(&mesh, &skeleton(&APART), rows);
    let expected = PartitionError {
        most: 0.25,
        vertices: 2,
        without_weights: 1,
    };
    assert_eq!(found.partition, expected);
}

#[test]
fn the_two_sides_of_a_square_are_compared_joint_by_joint() {
    let mesh = square(4);
    let heads = [DVec3::new(0.25, 0.5, 0.0), DVec3::new(0.75, 0.5, 0.0)];
    let even = shared(&mesh, &heads, |place| 1.0 - place.x)
        .asymmetry
        .unwrap();
    assert_eq!((even.plane.normal, even.plane.offset), (DVec3::X, 0.5));
    assert!(even.most < 1e-6 && even.matched == 1.0);
    // One corner is too heavy by 0.2; its area is a third of its one or two triangles: 1/16 · 1/2 ·
    // 2/3 or 1/3.
    let corner = 4;
    let place = mesh.positions()[corner];
    let odd = shared(&mesh, &heads, |at| {
        (1.0 - at.x) + if at == place { 0.2 } else { 0.0 }
    });
    let odd = odd.asymmetry.unwrap();
    assert!((odd.most - 0.2).abs() < 1e-6, "{odd:?}");
    assert!([0, corner].contains(&odd.vertex), "both sides differ alike");
    // The corners at (0, 0) and (1, 0) have a third of two triangles and of one.
    let mean = 0.2 * (2.0 + 1.0) / 3.0 / 32.0;
    assert!((odd.mean - mean).abs() < 1e-6, "{odd:?} against {mean}");
}

fn quality(rig: &Rig, weights: Weights) -> WeightQuality {
    WeightQuality::of(&Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights).unwrap())
}

/// Multiplies every weight by a number between 0.7 and 1.3.
fn noisy(weights: &Weights) -> Weights {
    let mut builder = WeightsBuilder::new(1 << 16).unwrap();
    let mut state = 1u32;
    for vertex in 0..weights.vertex_count() {
        let row = weights.of(vertex).map(|influence| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let random = (state >> 8) as f32 / (1u32 << 24) as f32;
            (influence.joint, influence.weight * (0.7 + 0.6 * random))
        });
        builder.push(row.collect::<Vec<_>>(), 0).unwrap();
    }
    builder.finish().0
}

#[test]
fn smooth_noisy_and_rigid_weights_are_ranked() {
    let rig = build(Character::Figure, 5000).unwrap().rig;
    let smooth = WeightQuality::of(&rig);
    let noisy = quality(&rig, noisy(rig.weights()));
    let rigid = quality(&rig, rig.weights().heaviest_only());
    let roughness = [&smooth, &noisy, &rigid].map(|found| found.smoothness.roughness);
    assert!(1.3 * roughness[0] < roughness[1], "{roughness:?}");
    assert!(1.3 * roughness[1] < roughness[2], "{roughness:?}");
    assert_eq!(rigid.smoothness.roughness, rigid.smoothness.rigid_roughness);
    assert!(smooth.monotonicity.spurious < noisy.monotonicity.spurious);
    let asymmetry = [&smooth, &noisy].map(|found| found.asymmetry.unwrap());
    assert!(
        asymmetry[0].most < 1e-6 && asymmetry[1].mean > 0.01,
        "{asymmetry:?}"
    );
}

#[test]
fn finer_meshes_of_the_same_weights_have_the_same_figures() {
    let [coarse, fine] = [5_000, 40_000]
        .map(|vertices| WeightQuality::of(&build(Character::Figure, vertices).unwrap().rig));
    let alike =
        |a: f64, b: f64, tolerance: f64| assert!((a / b - 1.0).abs() < tolerance, "{a} and {b}");
    alike(coarse.smoothness.roughness, fine.smoothness.roughness, 0.1);
    alike(coarse.locality.reach, fine.locality.reach, 0.01);
    alike(coarse.locality.influences, fine.locality.influences, 0.02);
    let spurious = [&coarse, &fine].map(|found| found.monotonicity.spurious);
    assert!(spurious[0].abs_diff(spurious[1]) <= 2, "{spurious:?}");
    // Unlike rigid weights, whose roughness grows with the resolution.
    assert!(2.0 * coarse.smoothness.rigid_roughness < fine.smoothness.rigid_roughness);
}

#[test]
fn size_makes_no_difference() {
    let rig = build(Character::Arm, 2000).unwrap().rig;
    let figures = |scale: f32| {
        let positions = rig.mesh().positions().iter().map(|&place| place * scale);
        let mesh = Mesh::new(
            positions.collect(),
            None,
            None,
            rig.mesh().triangles().to_vec(),
        )
        .unwrap();
        let heads: Vec<DVec3> = rig
            .skeleton()
            .bind_bones()
            .iter()
            .map(|bone| bone.head * f64::from(scale))
            .collect();
        let found =
            WeightQuality::of(&Rig::new(mesh, skeleton(&heads), rig.weights().clone()).unwrap());
        let Smoothness {
            roughness,
            rigid_roughness,
            ..
        } = found.smoothness;
        let Locality {
            reach,
            stray,
            influences,
            ..
        } = found.locality;
        [
            roughness,
            rigid_roughness,
            reach,
            stray,
            influences,
            found.monotonicity.spurious as f64,
        ]
    };
    let expected = figures(1.0);
    for scale in [1e-3, 1e3] {
        for (found, expected) in figures(scale).into_iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-6 * expected,
                "{found} against {expected}"
            );
        }
    }
}

#[test]
fn seams_make_no_difference() {
    let rig = build(Character::Arm, 2000).unwrap().rig;
    let mesh = rig.mesh();
    // Every triangle with its own vertices.
    let corners: Vec<usize> = mesh
        .triangles()
        .iter()
        .flatten()
        .map(|&corner| corner as usize)
        .collect();
    let positions = corners
        .iter()
        .map(|&corner| mesh.positions()[corner])
        .collect();
    let triangles = (0..mesh.triangles().len() as u32)
        .map(|triangle| [0, 1, 2].map(|corner| 3 * triangle + corner));
    let split = Mesh::new(positions, None, None, triangles.collect()).unwrap();
    let rows = corners.iter().map(|&corner| {
        rig.weights()
            .of(corner)
            .map(|influence| (influence.joint, influence.weight))
    });
    let found = of_rows(&split, rig.skeleton(), rows);
    let expected = WeightQuality::of(&rig);
    let alike = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b, "{a} and {b}");
    alike(found.smoothness.roughness, expected.smoothness.roughness);
    alike(found.locality.reach, expected.locality.reach);
    assert_eq!(found.monotonicity.spurious, expected.monotonicity.spurious);
}

#[test]
fn a_finger_that_holds_skin_of_the_other_hand_is_found() {
    let rig = build(Character::Figure, 5000).unwrap().rig;
    let name = |wanted: &str| {
        let names =
            (0..rig.skeleton().joints().len()).map(|joint| rig.skeleton().joint_name(joint));
        names.into_iter().position(|name| name == wanted).unwrap()
    };
    let (finger, other) = (name("index_2.L"), name("index_2.R"));
    let before = WeightQuality::of(&rig);
    let mut builder = WeightsBuilder::new(rig.skeleton().joints().len()).unwrap();
    for vertex in 0..rig.weights().vertex_count() {
        let row = rig
            .weights()
            .of(vertex)
            .map(|influence| match influence.joint == other {
                true => (finger, influence.weight),
                false => (influence.joint, influence.weight),
            });
        builder.push(row.collect::<Vec<_>>(), 0).unwrap();
    }
    let found = quality(&rig, builder.finish().0);
    assert_eq!(found.locality.farthest.unwrap().joint, finger);
    assert_eq!(found.locality.most_stray.unwrap().joint, finger);
    assert!(found.locality.reach > before.locality.reach && before.locality.stray == 0.0);
    let worst = found.monotonicity.worst.unwrap();
    assert_eq!(worst.joint, finger);
    assert!(found.asymmetry.unwrap().most > 0.5);
}

#[test]
fn nothing_at_all_has_figures_too() {
    let empty = Mesh::new(vec![], None, None, vec![]).unwrap();
    let rows: [Vec<(usize, f32)>; 0] = [];
    let found = of_rows(&empty, &skeleton(&[]), rows);
    assert_eq!(found.smoothness, Smoothness::default());
    assert_eq!(found.locality.reach, 1.0);
    assert_eq!(found.asymmetry, None);
    let point = Mesh::new(vec![Vec3::ONE], None, None, vec![[0, 0, 0]]).unwrap();
    let found = of_rows(&point, &skeleton(&[DVec3::ONE]), [[(0, 1.0)]]);
    assert_eq!(
        (found.locality.reach, found.locality.influences),
        (1.0, 1.0)
    );
}

proptest! {
    #[test]
    fn any_surface_with_any_weights_has_finite_figures(
        places in prop::collection::vec(prop::array::uniform3(-2i8..=2), 1..24),
        corners in prop::collection::vec(prop::array::uniform3(0u32..24), 0..40),
        rows in prop::collection::vec(prop::collection::vec((0usize..4, -0.5f32..2.0), 0..4), 24),
    ) {
        let count = places.len();
        let positions = places
            .iter()
            .map(|place| Vec3::from_array(place.map(f32::from)));
        let triangles = corners
            .into_iter()
            .map(|corners| corners.map(|corner| corner % count as u32));
        let mesh = Mesh::new(positions.collect(), None, None, triangles.collect()).unwrap();
        let heads = [DVec3::ZERO, DVec3::X, DVec3::X, DVec3::new(-1.0, 2.0, 0.5)];
        let found = of_rows(&mesh, &skeleton(&heads), rows.into_iter().take(count));
        let Smoothness { roughness, rigid_roughness, .. } = found.smoothness;
        let Locality { reach, stray, influences, .. } = found.locality;
        for figure in [roughness, rigid_roughness, reach, stray, influences, found.partition.most] {
            prop_assert!(figure.is_finite() && figure >= 0.0, "{:?}", found);
        }
        prop_assert!(reach >= 1.0 && stray <= 1.0 && influences <= 4.0);
        if let Some(asymmetry) = found.asymmetry {
            prop_assert!(
                (0.0..=1.0 + 1e-9).contains(&asymmetry.most)
                    && asymmetry.mean <= asymmetry.most + 1e-9
            );
        }
    }
}
