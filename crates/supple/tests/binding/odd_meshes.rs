//! Surfaces that are hardly surfaces, and such as are easily bound wrongly.

use super::scene::{Body, bound, chain, held, methods, methods_with};
use glam::{DVec3, Vec3};
use supple::bind::{BindMethod, Handle};

fn upright(places: &[f64]) -> Vec<Handle> {
    let places: Vec<DVec3> = places.iter().map(|&height| DVec3::Y * height).collect();
    chain(0, &places)
}

/// Binds by every method, and gives the weights of each.
#[track_caller]
fn binds(body: &Body, handles: &[Handle]) -> Vec<(BindMethod, supple::Weights)> {
    let each = methods_with(1000).into_iter();
    each.map(|method| {
        let weights = bound(&body.mesh(), handles, &method).weights;
        (method, weights)
    })
    .collect()
}

/// Two bars side by side, a fiftieth of their length apart, each with two bones.
#[test]
fn fingers_side_by_side_do_not_hold_each_other() {
    let bar = Body::tube(1.0, 0.1, 30, 16, true);
    let apart = 0.22;
    let mut body = bar.clone();
    let second = body.add(&bar.mapped(|place| place + Vec3::X * apart));
    let heights = [0.05, 0.5, 0.95];
    let mut handles = upright(&heights);
    let places = heights.map(|height| DVec3::new(f64::from(apart), height, 0.0));
    handles.extend(chain(2, &places));
    for method in methods_with(2000).into_iter().skip(2) {
        let weights = bound(&body.mesh(), &handles, &method).weights;
        for vertex in 0..weights.vertex_count() {
            let others = if second.contains(&vertex) {
                [0, 1]
            } else {
                [2, 3]
            };
            let across: f64 = others
                .iter()
                .map(|&joint| held(&weights, vertex, joint))
                .sum();
            assert!(
                across < 0.01,
                "{}, vertex {vertex}: {across}",
                method.name()
            );
        }
    }
}

/// The same as one body: a palm joins them at one end, so the way from one to the other is long,
/// but there is one.
#[test]
fn fingers_of_one_hand_do_not_hold_each_other_at_their_tips() {
    // A fork as a box of unit squares: two prongs over a palm, cut from blocks.
    let mut body = Body::default();
    for (low, high) in [([0, 0], [9, 4]), ([0, 4], [4, 24]), ([5, 4], [9, 24])] {
        body.add(&block(low, high));
    }
    let prong =
        |x: f64, first: usize| chain(first, &[4.0, 14.0, 23.0].map(|y| DVec3::new(x, y, 2.0)));
    let mut handles = prong(2.0, 0);
    handles.extend(prong(7.0, 2));
    handles.push(Handle::point(4, DVec3::new(4.5, 2.0, 2.0)));
    for method in methods_with(3000).into_iter().skip(2) {
        let weights = bound(&body.mesh(), &handles, &method).weights;
        for (vertex, place) in body
            .positions
            .iter()
            .enumerate()
            .filter(|(_, place)| place.y > 12.0)
        {
            let others = if place.x < 4.5 { [2, 3] } else { [0, 1] };
            let across: f64 = others
                .iter()
                .map(|&joint| held(&weights, vertex, joint))
                .sum();
            assert!(across < 0.01, "{} at {place}: {across}", method.name());
        }
    }
}

/// A box of depth 4 with a vertex at every whole coordinate of its skin.
fn block(low: [i32; 2], high: [i32; 2]) -> Body {
    let low = Vec3::new(low[0] as f32, low[1] as f32, 0.0);
    let size = Vec3::new(high[0] as f32, high[1] as f32, 4.0) - low;
    let mut body = Body::default();
    for (across, up, out) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        for far in [false, true] {
            let counts = [across, up].map(|axis| size[axis] as usize);
            let side = Body::sheet(size[across], size[up], counts[0], counts[1]);
            body.add(&side.mapped(|place| {
                let mut placed = low;
                placed[across] += place.x;
                placed[up] += place.y;
                placed[out] += if far { size[out] } else { 0.0 };
                placed
            }));
        }
    }
    body
}

#[test]
fn crossing_tubes_are_bound_by_their_own_bones() {
    let upright_tube = Body::tube(1.0, 0.1, 24, 12, true);
    let lying = upright_tube.mapped(|place| Vec3::new(place.y - 0.5, 0.5 + place.z, place.x));
    let mut body = upright_tube;
    let lying = body.add(&lying);
    let mut handles = upright(&[0.0, 1.0]);
    handles.extend(chain(1, &[-0.5, 0.5].map(|x| DVec3::new(x, 0.5, 0.0))));
    for (method, weights) in binds(&body, &handles) {
        for (vertex, place) in body.positions.iter().enumerate() {
            // At the ends there is no doubt.
            let (own, far) = match lying.contains(&vertex) {
                true => (1, place.x.abs() > 0.4),
                false => (0, (place.y - 0.5).abs() > 0.4),
            };
            let share = held(&weights, vertex, own);
            assert!(!far || share > 0.9, "{} at {place}: {share}", method.name());
        }
    }
}

#[test]
fn three_triangles_on_an_edge_are_bound() {
    let wing = |angle: f32| {
        let (sine, cosine) = angle.sin_cos();
        Body::sheet(0.5, 1.0, 6, 12)
            .mapped(|place| Vec3::new(place.x * cosine, place.y, place.x * sine))
    };
    let body = wing(0.0).with(&wing(2.1)).with(&wing(4.2));
    for (method, weights) in binds(&body, &upright(&[0.0, 0.5, 1.0])) {
        assert!(held(&weights, 0, 0) > 0.9, "{}", method.name());
        assert!(
            held(&weights, weights.vertex_count() - 1, 1) > 0.75,
            "{}",
            method.name()
        );
    }
}

#[test]
fn degenerate_triangles_and_lonely_vertices_are_bound_with_the_rest() {
    let mut body = Body::tube(1.0, 0.1, 20, 12, true);
    let count = body.positions.len() as u32;
    body.triangles
        .extend([[0, 0, 0], [1, 1, 2], [0, count - 1, 0]]);
    // In a row, and all at one place.
    body.triangles.push([1, 13, 25]);
    body.positions
        .extend([Vec3::Y * 3.0, Vec3::Y * -3.0, Vec3::Y * -3.0]);
    body.triangles.push([count + 1, count + 2, count + 2]);
    for (method, weights) in binds(&body, &upright(&[0.0, 0.5, 1.0])) {
        let [above, below] = [(count, 1), (count + 1, 0)];
        assert!(
            held(&weights, above.0 as usize, above.1) > 0.9,
            "{}",
            method.name()
        );
        assert!(
            held(&weights, below.0 as usize, below.1) > 0.9,
            "{}",
            method.name()
        );
    }
}

#[test]
fn points_without_triangles_follow_their_nearest_bones() {
    let body = Body::tube(1.0, 0.1, 20, 12, true).with_triangles([]);
    for (method, weights) in binds(&body, &upright(&[0.0, 0.5, 1.0])) {
        for (vertex, place) in body.positions.iter().enumerate() {
            let nearest = usize::from(place.y > 0.5);
            let far = (place.y - 0.5).abs() > 0.3;
            assert!(
                !far || held(&weights, vertex, nearest) > 0.9,
                "{} at {place}",
                method.name()
            );
        }
    }
}

#[test]
fn next_to_nothing_is_bound() {
    let handles = upright(&[0.0, 0.5, 1.0]);
    let triangle = Body {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2]],
    };
    let point = Body {
        positions: vec![Vec3::Y],
        triangles: vec![],
    };
    let all_in_one_place = Body::tube(1.0, 0.1, 2, 3, true).mapped(|_| Vec3::ONE);
    for body in [Body::default(), point, triangle, all_in_one_place] {
        binds(&body, &handles);
    }
}

/// Bones in the plane of a sheet, and a little above it: the same.
#[test]
fn a_sheet_is_bound_by_bones_in_it_and_above_it() {
    let body = Body::sheet(0.4, 1.0, 12, 30);
    for above in [0.0, 0.05] {
        let places = [0.0, 0.5, 1.0].map(|height| DVec3::new(0.2, height, above));
        for method in methods() {
            let weights = bound(&body.mesh(), &chain(0, &places), &method).weights;
            for (vertex, place) in body.positions.iter().enumerate() {
                let own = usize::from(place.y > 0.5);
                let far = (place.y - 0.5).abs() > 0.4;
                let share = held(&weights, vertex, own);
                let name = method.name();
                assert!(
                    !far || share > 0.85,
                    "{name}, {above} above, at {place}: {share}"
                );
            }
        }
    }
}
