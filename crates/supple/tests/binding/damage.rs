//! Surfaces as files have them: turned, doubled, open, in pieces. The weights are about those of
//! the surface as it should be.

use super::scene::{
    Body, Difference, FIGURE, apart, assert_near, bound, chain, difference, held, methods,
};
use glam::{DVec3, Vec3};
use supple::bind::BindMethod;

/// Binds a damaged figure by every method, and compares its vertices with those of the whole one.
#[track_caller]
fn binds_as_before(body: &Body, allowed: impl Fn(&BindMethod) -> Difference, what: &str) {
    let mesh = body.mesh();
    for (method, before) in FIGURE.each_method() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        let vertices = 0..FIGURE.body.positions.len();
        let found_difference = difference(&found.weights, &before.weights, vertices);
        let what = format!("{what}, {}", method.name());
        assert_near(found_difference, allowed(&method), &what);
        let before = &before.report.unreached;
        let lost = found.report.unreached.iter();
        let lost = lost.filter(|joint| !before.contains(joint)).count();
        let same = allowed(&method).most < 1e-3;
        assert!(
            !same || lost == 0,
            "{what}: {lost} joints hold nothing any more"
        );
    }
}

/// Not a bit of difference that could be told from rounding.
fn nothing(_: &BindMethod) -> Difference {
    Difference {
        mean: 1e-6,
        most: 1e-4,
    }
}

fn turned(&[a, b, c]: &[u32; 3]) -> [u32; 3] {
    [a, c, b]
}

/// A number that looks like chance for every index, always the same.
fn scattered(index: usize) -> u64 {
    (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

#[test]
fn inverted_normals_change_nothing() {
    let body = &FIGURE.body;
    let inverted = body.with_triangles(body.triangles.iter().map(turned));
    binds_as_before(&inverted, nothing, "inverted");
}

#[test]
fn faces_turned_by_chance_change_nothing() {
    let body = &FIGURE.body;
    let faces = body.triangles.iter().enumerate();
    let some = faces.map(|(index, corners)| match scattered(index) % 3 {
        0 => turned(corners),
        _ => *corners,
    });
    binds_as_before(&body.with_triangles(some), nothing, "a third turned");
}

#[test]
fn doubled_faces_change_nothing() {
    let body = &FIGURE.body;
    let again = body.triangles.iter().copied().chain(body.triangles.clone());
    binds_as_before(&body.with_triangles(again), nothing, "doubled");
    let back = body.triangles.iter().map(turned);
    let both_ways = body.triangles.iter().copied().chain(back);
    binds_as_before(&body.with_triangles(both_ways), nothing, "both ways");
}

/// As textures cut it: every triangle has vertices of its own.
#[test]
fn vertices_at_one_place_are_one_and_have_the_same_weights() {
    let body = &FIGURE.body;
    let mut cut = body.with_triangles([]);
    for (index, corners) in body.triangles.iter().enumerate() {
        let first = (body.positions.len() + 3 * index) as u32;
        let places = corners.map(|corner| body.positions[corner as usize]);
        cut.positions.extend(places);
        cut.triangles.push([first, first + 1, first + 2]);
    }
    let mesh = cut.mesh();
    for (method, before) in FIGURE.each_method() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        for (index, &corner) in body.triangles.as_flattened().iter().enumerate() {
            let vertex = body.positions.len() + index;
            let of_vertex = found.weights.of(vertex);
            let same = of_vertex.eq(before.weights.of(corner as usize));
            assert!(same, "{}, vertex {vertex}", method.name());
        }
    }
}

/// Soles and the top of the head are gone. Away from the holes little changes.
#[test]
fn a_body_with_holes_is_bound_as_a_whole_one() {
    let between = |place: Vec3| place.y > 0.03 && place.y < 1.68;
    let open = FIGURE.body.where_all(between);
    assert!(open.triangles.len() < FIGURE.body.triangles.len());
    let mesh = open.mesh();
    let far_from_holes = |place: Vec3| (0.3..1.4).contains(&place.y);
    let positions = &FIGURE.body.positions;
    let vertices = || (0..positions.len()).filter(|&vertex| far_from_holes(positions[vertex]));
    for (method, before) in FIGURE.each_method() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        let each =
            vertices().map(|vertex| apart((&found.weights, vertex), (&before.weights, vertex)));
        let mean = each.clone().sum::<f64>() / vertices().count() as f64;
        let most = each.fold(0.0, f64::max);
        // There is less volume to fill, so that voxels lie otherwise; as coarse as they are here,
        // fingers feel it.
        let in_voxels = matches!(
            method,
            BindMethod::Geodesic(_) | BindMethod::BoundedBiharmonic(_)
        );
        let allowed = Difference {
            mean: if in_voxels { 0.15 } else { 0.01 },
            most: if in_voxels { 0.9 } else { 0.1 },
        };
        assert_near(
            Difference { mean, most },
            allowed,
            &format!("open, {}", method.name()),
        );
    }
}

/// As it is modelled before it is mirrored: the spine lies where the surface is cut open.
#[test]
fn half_a_body_is_held_by_the_bones_on_its_border() {
    let half = FIGURE.body.where_all(|place| place.x > -1e-5);
    let mesh = half.mesh();
    for method in methods() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        for name in [
            "spine1", "spine2", "spine3", "spine4", "chest", "neck1", "head",
        ] {
            let joint = FIGURE.joint(name);
            let corners = half.triangles.as_flattened().iter();
            let held = corners.flat_map(|&corner| found.weights.of(corner as usize));
            let held = held.filter(|influence| influence.joint == joint);
            let most = held.map(|influence| influence.weight).fold(0.0, f32::max);
            assert!(most > 0.1, "{}: {name} holds {most} at most", method.name());
        }
    }
}

/// A few faces are missing here and there.
#[test]
fn small_holes_do_not_show() {
    let body = &FIGURE.body;
    let faces = body.triangles.iter().enumerate();
    let kept = faces.filter(|(index, _)| !scattered(*index).is_multiple_of(50));
    let kept = body.with_triangles(kept.map(|(_, corners)| *corners));
    // Ears have few triangles: without some of them, another bone may be the nearest there.
    let allowed = |_: &BindMethod| Difference {
        mean: 0.015,
        most: 0.5,
    };
    binds_as_before(&kept, allowed, "small holes");
}

/// A shell within the body, as of lungs or of a body below its clothes.
#[test]
fn a_shell_within_another_does_not_come_between_the_bones_and_the_skin() {
    let mesh = FIGURE.rig.mesh();
    let mut inner = FIGURE.body.clone();
    for (place, normal) in inner.positions.iter_mut().zip(mesh.normals()) {
        *place -= *normal * 0.004;
    }
    // Envelopes are as wide as both shells are together, and the outer skin, which sees no bone,
    // follows the inner one by heat.
    let allowed = |method: &BindMethod| Difference {
        mean: match method {
            BindMethod::Envelope(_) | BindMethod::Heat(_) => 0.1,
            _ => 0.05,
        },
        most: 1.0,
    };
    binds_as_before(&FIGURE.body.clone().with(&inner), allowed, "shell");
}

/// Islands far from everything, of all kinds, follow what is nearest; the body does not mind them.
#[test]
fn loose_islands_follow_and_disturb_nothing() {
    let mut body = FIGURE.body.clone();
    body.add(&Body::cube(Vec3::new(0.5, 0.2, 0.3), 0.05));
    body.add(&Body::sheet(0.1, 0.1, 4, 4).mapped(|place| place + Vec3::new(-0.4, 0.5, 0.2)));
    body.add(&Body::tube(0.3, 0.05, 6, 12, false).mapped(|place| place + Vec3::Z * 0.4));
    let single = body.positions.len();
    body.positions.push(Vec3::new(0.0, 2.0, 0.0));
    // They widen the extent by which bones are cut at the skin, the box of the voxels, and the
    // envelopes of the bones they are nearest to.
    let allowed = |method: &BindMethod| Difference {
        mean: match method {
            BindMethod::Rigid | BindMethod::Heat(_) => 0.03,
            _ => 0.2,
        },
        most: 1.0,
    };
    binds_as_before(&body, allowed, "islands");
    let mesh = body.mesh();
    let of_the_head = ["head", "jaw", "neck1", "neck2"].map(|name| FIGURE.joint(name));
    for method in methods() {
        let found = bound(&mesh, &FIGURE.handles, &method);
        let over_the_head: f64 = of_the_head
            .iter()
            .map(|&joint| held(&found.weights, single, joint))
            .sum();
        assert!(over_the_head > 0.9, "{}: {over_the_head}", method.name());
    }
}

/// The bones run through the middle, where there is no inside by the letter: both ends are open.
#[test]
fn a_tube_open_at_both_ends_is_bound_as_a_closed_one() {
    let places = [0.0, 0.5, 1.0].map(|height| DVec3::Y * height);
    let handles = chain(0, &places);
    let [open, closed] = [false, true].map(|closed| Body::tube(1.0, 0.12, 24, 16, closed));
    // The closed one begins with the vertex of its lower end.
    for method in methods() {
        let open = bound(&open.mesh(), &handles, &method).weights;
        let closed = bound(&closed.mesh(), &handles, &method).weights;
        let apart =
            (0..open.vertex_count()).map(|vertex| apart((&open, vertex), (&closed, vertex + 1)));
        let most = apart.fold(0.0, f64::max);
        println!("open tube, {}: most {most:.5}", method.name());
        assert!(most < 0.05, "{}: {most}", method.name());
    }
}
