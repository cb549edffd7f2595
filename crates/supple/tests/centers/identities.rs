//! Properties that follow from the formulas alone.

use crate::random::config;
use crate::surfaces::{Bound, Row, apart, sheet, soup, tube};
use glam::{DAffine3, DVec3};
use proptest::prelude::*;
use std::f64::consts::TAU;
use supple::centers::CenterOptions;
use supple::characters::{self, Character};

const PAPER: CenterOptions = CenterOptions::PAPER;
/// The rounding of centers to `f32`, as a share of the extent.
const ROUNDING: f64 = 1e-6;

/// Every triangle with three vertices of its own, and which vertex each of them was.
fn split(bound: &Bound) -> (Bound, Vec<usize>) {
    let corners = bound.triangles.iter().flatten();
    let was: Vec<usize> = corners.map(|&corner| corner as usize).collect();
    let split = Bound {
        positions: was.iter().map(|&vertex| bound.positions[vertex]).collect(),
        rows: was
            .iter()
            .map(|&vertex| bound.rows[vertex].clone())
            .collect(),
        triangles: (0..bound.triangles.len() as u32)
            .map(|triangle| [3 * triangle, 3 * triangle + 1, 3 * triangle + 2])
            .collect(),
        joints: bound.joints,
    };
    (split, was)
}

#[test]
fn seams_and_connections_make_no_difference() {
    let bound = tube(4, 1.0, 0.6);
    let (split, was) = split(&bound);
    for (whole, apart) in [
        (bound.baked(&PAPER), split.baked(&PAPER)),
        (bound.exact(&PAPER), split.exact(&PAPER)),
    ] {
        for (vertex, center) in was.iter().zip(apart) {
            assert_eq!(center, whole[*vertex], "vertex {vertex}");
        }
    }
}

/// The same surface with its vertices, triangles and corners in another order.
fn shuffled(bound: &Bound) -> Bound {
    let last = bound.positions.len() as u32 - 1;
    let triangles = bound.triangles.iter().rev();
    Bound {
        positions: bound.positions.iter().rev().copied().collect(),
        rows: bound.rows.iter().rev().cloned().collect(),
        triangles: triangles
            .map(|[a, b, c]| [last - b, last - c, last - a])
            .collect(),
        joints: bound.joints,
    }
}

fn with_joints_reversed(bound: &Bound) -> Bound {
    let last = bound.joints - 1;
    let turned = |row: &Row| row.iter().map(|&(joint, w)| (last - joint, w)).collect();
    Bound {
        rows: bound.rows.iter().map(turned).collect(),
        ..bound.clone()
    }
}

/// Two vertices of a ring have the same weights, so that either of two edges may be cut first:
/// enough to see, not to matter.
#[test]
fn order_does_not_matter() {
    let bound = tube(4, 1.0, 0.6);
    let extent = bound.extent();
    let (exact, baked) = (bound.exact(&PAPER), bound.baked(&PAPER));
    let other = shuffled(&bound);
    let turned = |mut centers: Vec<Option<DVec3>>| {
        centers.reverse();
        centers
    };
    let error = apart(&turned(other.exact(&PAPER)), &exact, extent);
    assert!(error < ROUNDING, "{error:e}");
    let error = apart(&turned(other.baked(&PAPER)), &baked, extent);
    assert!(error < ROUNDING, "{error:e}");
    let other = with_joints_reversed(&bound);
    let error = apart(&other.exact(&PAPER), &exact, extent);
    assert!(error < ROUNDING, "{error:e}");
    // The grid lies differently over the weights.
    let error = apart(&other.baked(&PAPER), &baked, extent);
    assert!(error < 2.0 * PAPER.accuracy, "{error:e}");
}

#[test]
fn centers_move_and_grow_with_the_surface() {
    let bound = tube(4, 1.0, 0.6);
    let map = DAffine3::from_translation(DVec3::new(30.0, -20.0, 10.0))
        * DAffine3::from_scale(DVec3::splat(25.0))
        * DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.1);
    let moved = Bound {
        positions: bound
            .positions
            .iter()
            .map(|place| map.transform_point3(*place))
            .collect(),
        ..bound.clone()
    };
    for (before, after) in [
        (bound.baked(&PAPER), moved.baked(&PAPER)),
        (bound.exact(&PAPER), moved.exact(&PAPER)),
    ] {
        let expected: Vec<_> = before
            .iter()
            .map(|center| center.map(|center| map.transform_point3(center)))
            .collect();
        let error = apart(&after, &expected, moved.extent());
        assert!(error < ROUNDING, "{error:e}");
    }
}

/// Components that share no two joints know nothing of each other.
#[test]
fn components_on_other_joints_do_not_matter() {
    let here = tube(3, 1.0, 0.5);
    let mut there = tube(3, 2.0, 0.1);
    for row in &mut there.rows {
        for (joint, _) in row {
            *joint += 3;
        }
    }
    there.joints = 6;
    let both = here.clone().beside(&there).baked(&PAPER);
    let (first, second) = both.split_at(here.positions.len());
    for (found, alone) in [(first, here), (second, there)] {
        let error = apart(found, &alone.baked(&PAPER), alone.extent());
        assert!(error < ROUNDING, "{error:e}");
    }
}

/// The same tube twice, the second twice as large: each weight is found in both, four times as much
/// in the larger.
#[test]
fn components_with_the_same_weights_share_their_centers() {
    let small = tube(3, 1.0, 0.5);
    let mut large = small.clone();
    for place in &mut large.positions {
        *place = *place * 2.0 + DVec3::new(3.0, 0.0, 0.0);
    }
    let both = small.clone().beside(&large);
    let (a, b) = (small.exact(&PAPER), large.exact(&PAPER));
    let mean = |a: &Option<DVec3>, b: &Option<DVec3>| Some((a.as_ref()? + b.as_ref()? * 4.0) / 5.0);
    let expected: Vec<_> = a.iter().zip(&b).map(|(a, b)| mean(a, b)).collect();
    let found = both.exact(&PAPER);
    let (first, second) = found.split_at(a.len());
    assert!(apart(first, &expected, both.extent()) < ROUNDING);
    assert!(apart(second, &expected, both.extent()) < ROUNDING);
    let found = both.baked(&PAPER);
    let (first, second) = found.split_at(a.len());
    assert_eq!(first, second);
    assert!(apart(first, &expected, both.extent()) < PAPER.accuracy);
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn centers_of_a_flat_surface_lie_in_its_plane(
        bound in soup(16, 1..=16, 4),
        normal in crate::common::vector(1.0),
    ) {
        prop_assume!(normal.length() > 0.1);
        let normal = normal.normalize();
        let mut flat = bound;
        for place in &mut flat.positions {
            *place += normal * (0.4 - normal.dot(*place));
        }
        for center in flat
            .baked(&PAPER)
            .into_iter()
            .chain(flat.exact(&PAPER))
            .flatten()
        {
            let off = (normal.dot(center) - 0.4).abs();
            prop_assert!(off < ROUNDING * flat.extent(), "{off:e}");
        }
    }
}

#[test]
fn centers_of_the_cloth_lie_in_the_cloth_and_those_of_the_bar_on_its_axis() {
    let centers = |character: Character| {
        let rig = characters::build(character, characters::MIN_VERTICES)
            .unwrap()
            .rig;
        let mesh = rig.mesh();
        let extent = mesh.extent();
        let found = supple::centers::Centers::bake(mesh, rig.weights(), &PAPER).unwrap();
        let points: Vec<_> = found.points().iter().flatten().copied().collect();
        assert!(points.len() > 500);
        (mesh.positions().to_vec(), points, extent)
    };
    let (positions, points, extent) = centers(Character::Cloth);
    let flat = (0..3).find(|&axis| positions.iter().all(|p| p[axis] == positions[0][axis]));
    let axis = flat.unwrap();
    for point in points {
        assert!((point[axis] - positions[0][axis]).abs() < ROUNDING as f32 * extent);
    }
    let (_, points, extent) = centers(Character::Bar);
    for point in points {
        let off = point.y.hypot(point.z);
        assert!(off < PAPER.accuracy as f32 * extent, "{point}");
    }
}

/// A ring whose weights are the same all around has one center: its own.
#[test]
fn equal_weights_share_the_middle() {
    let ring = sheet([8, 48], true, 3, |along, around| {
        let angle = TAU * around;
        let place = DVec3::new(angle.cos(), angle.sin(), along);
        (place, vec![(0, 0.2), (1, 0.3), (2, 0.5)])
    });
    for center in ring.baked(&PAPER) {
        let error = center.unwrap().distance(DVec3::Z * 0.5);
        assert!(error < ROUNDING, "{error:e}");
    }
}

#[test]
fn one_influence_and_pairs_that_no_triangle_carries_have_no_center() {
    let mut bound = tube(3, 6.0, 0.0);
    let first = bound.positions.len();
    // Points that belong to no triangle. The first pair is found on the tube, the other two are
    // not.
    bound.joints = 5;
    bound.rows.extend([
        vec![(0, 0.4), (1, 0.6)],
        vec![(0, 0.5), (4, 0.5)],
        vec![(3, 0.2), (4, 0.8)],
    ]);
    bound.positions.extend([DVec3::X; 3]);
    // A triangle without an area holds nothing either.
    bound.rows.extend(vec![vec![(3, 0.5), (4, 0.5)]; 3]);
    bound.positions.extend([DVec3::X, DVec3::Y, DVec3::X]);
    let corner = first as u32 + 3;
    bound.triangles.push([corner, corner + 1, corner + 2]);
    for centers in [bound.baked(&PAPER), bound.exact(&PAPER)] {
        let single = (0..first).filter(|&vertex| bound.rows[vertex].len() == 1);
        let single: Vec<usize> = single.collect();
        assert!(single.len() > 20);
        for (vertex, center) in centers[..first].iter().enumerate() {
            assert_eq!(center.is_none(), single.contains(&vertex));
        }
        assert!(centers[first].is_some());
        assert!(centers[first + 1..].iter().all(Option::is_none));
    }
}
