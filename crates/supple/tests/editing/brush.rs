//! Brushes: how far they reach, how they fade, and where they do not come.

use super::sheet::{self, dense};
use glam::Vec3;
use supple::characters::{self, Character};
use supple::edit::{Brush, Edit, EditRegion, Editor, Falloff, Paint, StrokePoint};
use supple::{Mesh, Rig, Weights};

fn blank() -> Weights {
    sheet::weights_of_points(&vec![vec![(0, 1.0)]; sheet::COLUMNS * sheet::ROWS])
}

fn add(radius: f64, falloff: Falloff) -> Brush {
    let paint = Paint::Add {
        joint: 1,
        amount: 0.5,
    };
    Brush {
        paint,
        radius,
        falloff,
    }
}

#[test]
fn paint_fades_with_the_distance_and_crosses_seams() {
    let weights = blank();
    let editor = Editor::new(&sheet::rig(weights.clone()));
    // On the seam, in the middle row.
    let center = Vec3::new(4.0, 2.0, 0.0);
    for (falloff, at) in [
        (
            Falloff::Smooth,
            (|t: f64| (1.0 - t * t).powi(2)) as fn(f64) -> f64,
        ),
        (Falloff::Linear, |t: f64| 1.0 - t),
        (Falloff::Constant, |_| 1.0),
    ] {
        let stroke = Edit::Stroke(
            add(2.5, falloff),
            vec![StrokePoint::Near(center + Vec3::Z * 0.3)],
        );
        let change = editor.apply(&weights, &stroke, &EditRegion::All).unwrap();
        let painted = change.redo(&weights).unwrap();
        for (vertex, place) in sheet::mesh().positions().iter().enumerate() {
            let t = f64::from(place.distance(center)) / 2.5;
            let expected = if t < 1.0 { 0.5 * at(t) } else { 0.0 };
            let found = dense(&painted, vertex)[1];
            // Distances are those of a straight line to a few hundredths.
            assert!(
                (found - expected).abs() < 0.02,
                "{place}: {found} for {expected}"
            );
        }
    }
}

#[test]
fn a_stroke_in_the_making_is_the_same_stroke() {
    let weights = blank();
    let editor = Editor::new(&sheet::rig(weights.clone()));
    let places = [
        StrokePoint::Vertex(12),
        StrokePoint::Near(Vec3::new(3.2, 1.1, 0.0)),
        StrokePoint::Vertex(30),
    ];
    for brush in [
        add(1.7, Falloff::Smooth),
        Brush {
            paint: Paint::Smooth { strength: 0.8 },
            ..add(2.0, Falloff::Linear)
        },
    ] {
        let mut stroke = editor.stroke(&weights).unwrap();
        stroke
            .dab(&add(1.0, Falloff::Constant), StrokePoint::Vertex(12))
            .unwrap();
        let first = stroke.change().unwrap().redo(&weights).unwrap();
        let mut covered = Vec::new();
        for place in places {
            covered.extend(stroke.dab(&brush, place).unwrap());
        }
        let whole = stroke.change().unwrap();
        let rest = editor
            .apply(
                &first,
                &Edit::Stroke(brush, places.to_vec()),
                &EditRegion::All,
            )
            .unwrap();
        let (a, b) = (whole.redo(&weights).unwrap(), rest.redo(&first).unwrap());
        for vertex in 0..a.vertex_count() {
            let (a, b) = (dense(&a, vertex), dense(&b, vertex));
            assert!(
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6),
                "{a:?} {b:?}"
            );
        }
        assert!(
            rest.vertices()
                .iter()
                .all(|vertex| covered.contains(vertex))
        );
    }
}

#[test]
fn a_brush_stays_on_the_finger_that_it_touches() {
    let rig = characters::build(Character::Figure, 20_000).unwrap().rig;
    let skeleton = rig.skeleton();
    let joint = |name: &str| {
        let mut joints = 0..skeleton.joints().len();
        joints
            .find(|&joint| skeleton.joint_name(joint) == name)
            .unwrap()
    };
    let tip = |name: &str| skeleton.bind_bones()[joint(name)].head.as_vec3();
    let (index, middle) = (tip("index_3.L"), tip("middle_3.L"));
    let between = f64::from(index.distance(middle));
    let brush = Brush {
        paint: Paint::Set {
            joint: 0,
            value: 1.0,
        },
        // Farther than the next finger is, but not down to where they meet.
        radius: 1.3 * between,
        falloff: Falloff::Constant,
    };
    let editor = Editor::new(&rig);
    let stroke = Edit::Stroke(brush, vec![StrokePoint::Near(index)]);
    let change = editor
        .apply(rig.weights(), &stroke, &EditRegion::All)
        .unwrap();
    assert!(change.vertices().len() > 20);
    let of_middle = [joint("middle_2.L"), joint("middle_3.L")];
    let mut near = 0;
    for vertex in 0..rig.mesh().vertex_count() {
        let heaviest = usize::from(rig.weights().row(vertex).0[0]);
        let away = f64::from(rig.mesh().positions()[vertex].distance(index));
        if of_middle.contains(&heaviest) {
            near += usize::from(away < brush.radius);
            assert!(change.vertices().binary_search(&(vertex as u32)).is_err());
        }
    }
    assert!(
        near > 20,
        "through the air, {near} vertices of the next finger are in reach"
    );
}

#[test]
fn a_piece_apart_is_not_reached() {
    let below = sheet::mesh();
    let above = below
        .positions()
        .iter()
        .map(|place| *place + Vec3::Z * 0.01);
    let positions: Vec<Vec3> = below.positions().iter().copied().chain(above).collect();
    let count = below.vertex_count() as u32;
    let shifted = below
        .triangles()
        .iter()
        .map(|corners| corners.map(|corner| corner + count));
    let triangles = below.triangles().iter().copied().chain(shifted).collect();
    let both = Mesh::new(positions, None, None, triangles).unwrap();
    let mut weights = supple::weights::WeightsBuilder::new(2).unwrap();
    for _ in 0..2 * count {
        weights.push([(0, 1.0)], 0).unwrap();
    }
    let weights = weights.finish().0;
    let editor = Editor::new(&Rig::new(both, sheet::skeleton(), weights.clone()).unwrap());
    let stroke = Edit::Stroke(add(100.0, Falloff::Constant), vec![StrokePoint::Vertex(3)]);
    let change = editor.apply(&weights, &stroke, &EditRegion::All).unwrap();
    assert!(change.vertices().iter().copied().eq(0..count));
    // Nor does smoothing pass.
    let painted = change.redo(&weights).unwrap();
    let smooth = Edit::Smooth {
        steps: 9,
        strength: 1.0,
        joints: Vec::new(),
    };
    assert!(
        editor
            .apply(&painted, &smooth, &EditRegion::All)
            .unwrap()
            .vertices()
            .is_empty()
    );
}

#[test]
fn a_surface_without_triangles_cannot_be_touched() {
    let points = Mesh::new(vec![Vec3::ZERO, Vec3::X], None, None, Vec::new()).unwrap();
    let mut weights = supple::weights::WeightsBuilder::new(1).unwrap();
    weights.push([(0, 1.0)], 0).unwrap();
    weights.push([(0, 1.0)], 0).unwrap();
    let weights = weights.finish().0;
    let editor = Editor::new(&Rig::new(points, sheet::skeleton(), weights.clone()).unwrap());
    let mut stroke = editor.stroke(&weights).unwrap();
    let brush = add(10.0, Falloff::Constant);
    assert_eq!(
        stroke.dab(&brush, StrokePoint::Near(Vec3::ZERO)).unwrap(),
        [0u32; 0]
    );
    assert_eq!(stroke.dab(&brush, StrokePoint::Vertex(1)).unwrap(), [1]);
    assert_eq!(stroke.change().unwrap().vertices(), [1]);
}
