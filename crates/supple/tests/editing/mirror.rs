//! Mirrors: what is symmetric stays so, and what is not becomes so.

use glam::{DVec3, Vec3};
use supple::characters::{self, Character};
use supple::edit::{Edit, EditRegion, Editor, Mirror, MirrorSource, Paint};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Rig, Weights};

fn mirrored(editor: &Editor, weights: &Weights, source: MirrorSource) -> Weights {
    let mirror = Edit::Mirror(Mirror {
        source,
        ..Mirror::default()
    });
    let change = editor.apply(weights, &mirror, &EditRegion::All).unwrap();
    change.redo(weights).unwrap()
}

fn largest_difference(a: &Weights, b: &Weights) -> f32 {
    let difference = |vertex: usize| {
        let mut largest: f32 = 0.0;
        for (these, those) in [(a, b), (b, a)] {
            for influence in these.of(vertex) {
                let other = those.weight_of(vertex, influence.joint);
                largest = largest.max((influence.weight - other).abs());
            }
        }
        largest
    };
    (0..a.vertex_count()).map(difference).fold(0.0, f32::max)
}

fn joint_named(rig: &Rig, name: &str) -> usize {
    let mut joints = 0..rig.skeleton().joints().len();
    joints
        .find(|&joint| rig.skeleton().joint_name(joint) == name)
        .unwrap()
}

#[test]
fn the_figure_is_its_own_mirror_image_and_a_stroke_on_one_side_comes_to_both() {
    let rig = characters::build(Character::Figure, 4_000).unwrap().rig;
    let editor = Editor::new(&rig);
    for source in [
        MirrorSource::Positive,
        MirrorSource::Negative,
        MirrorSource::Heavier,
    ] {
        let same = mirrored(&editor, rig.weights(), source);
        let difference = largest_difference(&same, rig.weights());
        assert!(difference < 1e-4, "{source:?}: {difference}");
    }
    let (left, right) = (joint_named(&rig, "hand.L"), joint_named(&rig, "hand.R"));
    let flood = Edit::Flood(Paint::Set {
        joint: left,
        value: 0.75,
    });
    let change = editor
        .apply(rig.weights(), &flood, &EditRegion::HeldBy(vec![left]))
        .unwrap();
    let painted = change.redo(rig.weights()).unwrap();
    let positive = rig.mesh().positions()[change.vertices()[0] as usize].x > 0.0;
    let (from, to) = match positive {
        true => (MirrorSource::Positive, MirrorSource::Negative),
        false => (MirrorSource::Negative, MirrorSource::Positive),
    };
    let both = mirrored(&editor, &painted, from);
    // Of as many vertices the other hand has the weight now.
    let with_weight = |weights: &Weights, joint: usize| {
        let vertices = 0..weights.vertex_count();
        let has = |vertex: &usize| (weights.weight_of(*vertex, joint) - 0.75).abs() < 1e-6;
        vertices.filter(has).count()
    };
    assert!(with_weight(&both, left) > 20);
    assert_eq!(with_weight(&both, left), with_weight(&both, right));
    // Symmetric now: mirrors from either side, and again, change nothing any more.
    assert_eq!(mirrored(&editor, &both, from), both);
    assert!(largest_difference(&mirrored(&editor, &both, to), &both) < 1e-6);
    assert!(largest_difference(&mirrored(&editor, &both, MirrorSource::Heavier), &both) < 1e-6);
    let away = mirrored(&editor, &painted, to);
    assert!(largest_difference(&away, rig.weights()) < 1e-4);
}

/// A strip from x = −2 to 4 with the mirror at 1; the triangles of its two sides are cut
/// differently, and so are the vertices.
fn strip(names: [&str; 3], places: [f64; 3]) -> Rig {
    let columns = [-2.0, -1.0, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0];
    let positions = columns
        .iter()
        .flat_map(|&x| [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)]);
    let positions: Vec<Vec3> = positions.collect();
    let quads = (0..columns.len() as u32 - 1).map(|column| 2 * column);
    let triangles = quads.flat_map(|a| [[a, a + 2, a + 3], [a, a + 3, a + 1]]);
    let mesh = Mesh::new(positions.clone(), None, None, triangles.collect()).unwrap();
    let node = |(name, x): (&str, f64)| Node {
        name: name.to_owned(),
        parent: None,
        rest: Local::Trs(Trs::from_translation(DVec3::X * x)),
    };
    let nodes = names.into_iter().zip(places).map(node).collect();
    let skeleton = Skeleton::bound_at_rest(nodes, &[0, 1, 2]).unwrap();
    // On the positive side, the weight of the last joint rises with x.
    let mut weights = WeightsBuilder::new(3).unwrap();
    for place in positions {
        let share = ((place.x - 1.0) / 3.0).max(0.0);
        weights.push([(0, 1.0 - share), (2, share)], 0).unwrap();
    }
    Rig::new(mesh, skeleton, weights.finish().0).unwrap()
}

#[test]
fn between_vertices_weights_are_interpolated_and_the_plane_is_found() {
    for names in [["root", "Arm_R", "Arm_L"], ["", "", ""]] {
        let rig = strip(names, [1.0, -1.0, 3.0]);
        let editor = Editor::new(&rig);
        let both = mirrored(&editor, rig.weights(), MirrorSource::Positive);
        for (vertex, place) in rig.mesh().positions().iter().enumerate() {
            let share = (place.x - 1.0).abs() / 3.0;
            let arm = if place.x > 1.0 { 2 } else { 1 };
            let found = both.weight_of(vertex, arm);
            assert!((found - share).abs() < 1e-6, "{place}: {found} for {share}");
        }
    }
}

#[test]
fn a_joint_without_counterpart_is_named_if_it_is_needed() {
    let rig = strip(["root", "tail", "Arm_L"], [1.0, 1.0, 3.0]);
    let editor = Editor::new(&rig);
    let mirror = |source: MirrorSource| {
        let mirror = Mirror {
            source,
            plane: Some(1.0),
            ..Mirror::default()
        };
        editor.apply(rig.weights(), &Edit::Mirror(mirror), &EditRegion::All)
    };
    let error = mirror(MirrorSource::Positive).unwrap_err();
    assert_eq!(
        error.to_string(),
        "'Arm_L' has no counterpart on the other side, neither by name nor by position, and does \
         not lie on the plane x = 1.0000"
    );
    let change = mirror(MirrorSource::Negative).unwrap();
    let wiped = change.redo(rig.weights()).unwrap();
    assert_eq!(wiped.max_joint(), Some(0));
}

#[test]
fn a_lid_does_not_take_the_weights_of_an_eye_that_it_touches() {
    // A square over the plane, and two small ones that lie on it, left and right, each held by its
    // own joint.
    let square = |x: f32, size: f32, z: f32| {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(across, up)| Vec3::new(x + size * across, size * up, z))
    };
    let positions = [
        square(0.0, 2.0, 0.0),
        square(1.5, 0.5, 0.0),
        square(-1.5, 0.5, 0.0),
    ]
    .concat();
    let corners = |first: u32| [[first, first + 1, first + 2], [first, first + 2, first + 3]];
    let triangles = [0, 4, 8].map(corners).concat();
    let mesh = Mesh::new(positions, None, None, triangles).unwrap();
    let node = |(name, x): (&str, f64)| Node {
        name: name.to_owned(),
        parent: None,
        rest: Local::Trs(Trs::from_translation(DVec3::X * x)),
    };
    let nodes = [("head", 0.0), ("eye.L", 1.5), ("eye.R", -1.5)].map(node);
    let skeleton = Skeleton::bound_at_rest(nodes.into(), &[0, 1, 2]).unwrap();
    let mut weights = WeightsBuilder::new(3).unwrap();
    for vertex in 0..12 {
        weights.push([(vertex / 4, 1.0)], 0).unwrap();
    }
    let rig = Rig::new(mesh, skeleton, weights.finish().0).unwrap();
    let editor = Editor::new(&rig);
    for source in [
        MirrorSource::Positive,
        MirrorSource::Negative,
        MirrorSource::Heavier,
    ] {
        assert_eq!(&mirrored(&editor, rig.weights(), source), rig.weights());
    }
}
