//! Bone heat against its formula, with dense matrices and nothing else.

use super::scene::{Body, bound, chain, held};
use glam::DVec3;
use supple::bind::{BindMethod, Handle, HeatOptions};

/// Solves in place by elimination with the largest pivots; columns of the right side become those
/// of the solution.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for step in 0..size {
        let largest =
            |&a: &usize, &b: &usize| matrix[a][step].abs().total_cmp(&matrix[b][step].abs());
        let pivot = (step..size).max_by(largest).unwrap();
        matrix.swap(step, pivot);
        right.swap(step, pivot);
        let (top, row) = (matrix[step].clone(), right[step].clone());
        for below in step + 1..size {
            let factor = matrix[below][step] / top[step];
            if factor != 0.0 {
                for column in step..size {
                    matrix[below][column] -= factor * top[column];
                }
                for (value, above) in right[below].iter_mut().zip(&row) {
                    *value -= factor * above;
                }
            }
        }
    }
    for step in (0..size).rev() {
        for after in step + 1..size {
            let (factor, row) = (matrix[step][after], right[after].clone());
            for (value, known) in right[step].iter_mut().zip(&row) {
                *value -= factor * known;
            }
        }
        right[step]
            .iter_mut()
            .for_each(|value| *value /= matrix[step][step]);
    }
    right
}

/// True if two vertices are ends of an edge.
fn linked(body: &Body, a: usize, b: usize) -> bool {
    let both = |corners: &[u32; 3]| corners.contains(&(a as u32)) && corners.contains(&(b as u32));
    a != b && body.triangles.iter().any(both)
}

/// `(L + M H) w = M H p` over a surface every point of which sees its nearest bone. Straight bones
/// only.
fn plain_heat(body: &Body, bones: &[(DVec3, DVec3)], strength: f64) -> Vec<Vec<f64>> {
    let places: Vec<DVec3> = body
        .positions
        .iter()
        .map(|place| place.as_dvec3())
        .collect();
    let count = places.len();
    let mut cotangents = vec![vec![0.0; count]; count];
    let mut areas = vec![0.0; count];
    for corners in &body.triangles {
        let [a, b, c] = corners.map(|corner| corner as usize);
        for (from, to, apex) in [(a, b, c), (b, c, a), (c, a, b)] {
            let (one, other) = (places[from] - places[apex], places[to] - places[apex]);
            let across = one.cross(other).length();
            let half_cotangent = 0.5 * one.dot(other) / across;
            cotangents[from][to] += half_cotangent;
            cotangents[to][from] += half_cotangent;
            areas[apex] += across / 6.0;
        }
    }
    // Across the diagonal of a rectangle nothing flows, by the formula; a thousandth does, so that
    // all of a surface is connected.
    let mut matrix = vec![vec![0.0; count]; count];
    for (a, row) in cotangents.iter().enumerate() {
        for (b, &cotangent) in row.iter().enumerate().filter(|&(b, _)| linked(body, a, b)) {
            matrix[a][a] += cotangent.max(6e-4);
            matrix[a][b] -= cotangent.max(6e-4);
        }
    }
    let distance = |place: DVec3, &(head, tail): &(DVec3, DVec3)| {
        let along = tail - head;
        let share = ((place - head).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        place.distance(head + along * share)
    };
    let mut right = vec![vec![0.0; bones.len()]; count];
    for point in 0..count {
        let distances: Vec<f64> = bones
            .iter()
            .map(|bone| distance(places[point], bone))
            .collect();
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let heat = strength * areas[point] / (least * least);
        matrix[point][point] += heat;
        // Around a joint the next bone is hardly farther away: bones are as near as each other
        // within a ten-thousandth of the square.
        let tied: Vec<usize> = (0..bones.len())
            .filter(|&bone| distances[bone].powi(2) <= least.powi(2) * (1.0 + 1e-4))
            .collect();
        for &bone in &tied {
            right[point][bone] = heat / tied.len() as f64;
        }
    }
    solve(matrix, right)
}

fn agrees(body: &Body, places: &[DVec3], strength: f64) {
    let handles: Vec<Handle> = chain(0, places);
    let bones: Vec<(DVec3, DVec3)> = places.windows(2).map(|ends| (ends[0], ends[1])).collect();
    let method = BindMethod::Heat(HeatOptions { strength });
    let found = bound(&body.mesh(), &handles, &method);
    assert!(found.report.followers.is_empty());
    let expected = plain_heat(body, &bones, strength);
    for (vertex, row) in expected.iter().enumerate() {
        // What is below a ten-thousandth is dropped, and the rest takes its place.
        let kept: Vec<f64> = row
            .iter()
            .map(|&share| if share > 1e-4 { share } else { 0.0 })
            .collect();
        let sum: f64 = kept.iter().sum();
        for (joint, share) in kept.iter().enumerate() {
            let off = (held(&found.weights, vertex, joint) - share / sum).abs();
            assert!(off < 2e-5, "vertex {vertex}, joint {joint}: off by {off}");
        }
    }
}

#[test]
fn heat_on_a_tube_is_the_solution_of_its_equation() {
    let places = [0.1, 0.4, 0.65, 0.9].map(|height| DVec3::Y * height);
    let tube = Body::tube(1.0, 0.12, 22, 14, true);
    for strength in [0.2, 1.0, 5.0] {
        agrees(&tube, &places, strength);
    }
}

#[test]
fn heat_on_a_ball_is_the_solution_of_its_equation() {
    let ball = Body::ball(glam::Vec3::ZERO, 1.0, 14, 21);
    let places = [
        DVec3::new(-0.6, 0.1, 0.0),
        DVec3::new(0.1, 0.0, 0.1),
        DVec3::new(0.5, 0.4, -0.2),
    ];
    agrees(&ball, &places, 1.0);
}
