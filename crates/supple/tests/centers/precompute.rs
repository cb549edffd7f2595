//! The exact sum against the brute force, and the fast path against the exact sum.

use crate::plain::centers_of_rotation::{pieces_of, similar_to};
use crate::random::config;
use crate::surfaces::{Bound, apart, sheet, soup, tube};
use glam::DVec3;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use supple::centers::{CenterError, CenterOptions, Centers, exact};
use supple::characters::{self, Character};
use supple::{Mesh, Weights};

const PAPER: CenterOptions = CenterOptions::PAPER;

/// Eq. (4) over every piece, for every vertex.
fn brute(mesh: &Mesh, weights: &Weights, options: &CenterOptions) -> Vec<Option<DVec3>> {
    let pieces = pieces_of(mesh, weights, options.epsilon);
    let of = |vertex: usize| {
        let row = weights.of(vertex);
        let row: Vec<_> = row.map(|i| (i.joint, f64::from(i.weight))).collect();
        similar_to(&pieces, &row, options.sigma).map(|similar| similar.center)
    };
    (0..mesh.vertex_count()).map(of).collect()
}

fn small() -> impl Strategy<Value = Bound> {
    prop_oneof![
        soup(3, 1..=3, 2),
        soup(3, 1..=3, 12),
        soup(12, 1..=12, 1),
        soup(12, 1..=12, 2),
        soup(12, 1..=12, 4),
        soup(16, 1..=16, 12),
        (soup(6, 1..=6, 3), soup(9, 1..=9, 5)).prop_map(|(a, b)| a.beside(&b)),
    ]
}

fn options() -> impl Strategy<Value = CenterOptions> {
    let sigma = prop::sample::select(&[0.05, 0.1, 0.3][..]);
    let epsilon = prop::sample::select(&[0.05, 0.1, 0.5][..]);
    (sigma, epsilon).prop_map(|(sigma, epsilon)| CenterOptions {
        sigma,
        epsilon,
        ..PAPER
    })
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn the_exact_sum_is_the_brute_force(bound in small(), options in options()) {
        let expected = brute(&bound.mesh(), &bound.weights(), &options);
        let error = apart(&bound.exact(&options), &expected, bound.extent());
        prop_assert!(error < 1e-9, "off by {error:e}");
    }
}

/// The errors of baked centers, as shares of the extent, rising. Of vertices in triangles only: to
/// others, nothing need be similar.
fn errors(mesh: &Mesh, weights: &Weights, options: &CenterOptions) -> Vec<f64> {
    let expected = exact(mesh, weights, options).unwrap();
    let found = Centers::bake(mesh, weights, options).unwrap();
    let extent = f64::from(mesh.extent());
    let mut in_triangles = vec![false; mesh.vertex_count()];
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|corner| mesh.positions()[corner as usize]);
        if f64::from((b - a).cross(c - a).length()) > 1e-8 * extent * extent {
            for &corner in triangle {
                in_triangles[corner as usize] = true;
            }
        }
    }
    let mut errors: Vec<f64> = Vec::new();
    for vertex in (0..mesh.vertex_count()).filter(|&vertex| in_triangles[vertex]) {
        let (found, expected) = (found.of(vertex), expected[vertex]);
        assert_eq!(found.is_some(), expected.is_some());
        if let (Some(found), Some(expected)) = (found, expected) {
            errors.push(found.as_dvec3().distance(expected) / extent);
        }
    }
    errors.sort_by(f64::total_cmp);
    errors
}

fn worst(mesh: &Mesh, weights: &Weights, options: &CenterOptions) -> f64 {
    *errors(mesh, weights, options).last().unwrap()
}

#[test]
fn baked_centers_of_the_characters_are_as_accurate_as_wanted() {
    for &character in Character::ALL {
        let rig = characters::build(character, characters::MIN_VERTICES)
            .unwrap()
            .rig;
        let error = worst(rig.mesh(), rig.weights(), &PAPER);
        assert!(error < PAPER.accuracy, "@{}: {error:e}", character.name());
    }
}

#[test]
fn other_options_keep_the_accuracy() {
    let rig = characters::build(Character::Bar, characters::MIN_VERTICES)
        .unwrap()
        .rig;
    let mut all = vec![PAPER];
    all.extend([0.05, 0.3, 1.0].map(|sigma| CenterOptions { sigma, ..PAPER }));
    all.extend([0.02, 0.5].map(|epsilon| CenterOptions { epsilon, ..PAPER }));
    all.extend([1e-3, 1e-4, 1e-5, 1e-6].map(|accuracy| CenterOptions { accuracy, ..PAPER }));
    for options in all {
        let error = worst(rig.mesh(), rig.weights(), &options);
        assert!(error < options.accuracy, "{options:?}: {error:e}");
    }
}

#[test]
fn a_finer_accuracy_gives_better_centers() {
    let bound = tube(4, 1.5, 0.7);
    let (mesh, weights) = (bound.mesh(), bound.weights());
    let mut before = f64::INFINITY;
    for accuracy in [1e-3, 1e-4, 1e-5, 2e-6, 1e-7] {
        let options = CenterOptions { accuracy, ..PAPER };
        let error = worst(&mesh, &weights, &options);
        assert!(
            error < 0.4 * before,
            "{accuracy:e}: {error:e} after {before:e}"
        );
        before = error;
    }
    // Beyond the finest grid centers are summed directly, and only rounded.
    assert!(before < 1e-7, "{before:e}");
}

#[test]
fn smooth_weights_keep_the_accuracy() {
    for (joints, steep) in [(2, 0.5), (2, 3.0), (2, 10.0), (5, 0.3), (5, 1.0), (5, 6.0)] {
        let bound = tube(joints, steep, 0.7);
        let error = worst(&bound.mesh(), &bound.weights(), &PAPER);
        assert!(
            error < PAPER.accuracy,
            "{joints} joints, {steep}: {error:e}"
        );
    }
}

/// Weights and triangles without any order: nothing averages out, and yet few are off by more than
/// wanted.
#[test]
fn rough_weights_miss_the_accuracy_by_little() {
    let mut runner = TestRunner::deterministic();
    let mut all = Vec::new();
    for influences in [2, 3] {
        for _ in 0..4 {
            let bound = soup(200, 180..=200, influences)
                .new_tree(&mut runner)
                .unwrap()
                .current();
            all.extend(errors(&bound.mesh(), &bound.weights(), &PAPER));
        }
    }
    all.sort_by(f64::total_cmp);
    let share = |share: f64| all[(all.len() as f64 * share) as usize];
    assert!(share(0.99) < PAPER.accuracy, "{:e}", share(0.99));
    assert!(
        *all.last().unwrap() < 3.0 * PAPER.accuracy,
        "{:?}",
        all.last()
    );
}

/// Vertices and triangles of a few triangles are summed directly, so that any weights are as good
/// as others.
#[test]
fn a_few_triangles_are_summed_directly() {
    let mut runner = TestRunner::deterministic();
    for influences in [2, 3, 6, 12] {
        for _ in 0..5 {
            let bound = soup(16, 1..=16, influences)
                .new_tree(&mut runner)
                .unwrap()
                .current();
            let error = worst_of(&bound);
            assert!(error < 1e-6, "{influences} influences: {error:e}");
        }
    }
}

/// A large square, and far away a small one whose weights differ by some σ: both of two joints.
fn large_and_small(apart: f64, area: f64, low: f64) -> Bound {
    let square = |place: DVec3, side: f64, low: f64| {
        sheet([8, 8], false, 2, |y, z| {
            let place = place + DVec3::new(0.0, y, z) * side;
            (place, vec![(0, low), (1, 1.0 - low)])
        })
    };
    let large = square(DVec3::ZERO, 0.5, low + apart * PAPER.sigma);
    large.beside(&square(DVec3::X, 0.5 * area.sqrt(), low))
}

/// Little surface is similar to the small square, but much is nearly similar, in two places of the
/// space of weights: the worst case for a grid.
#[test]
fn a_small_piece_has_its_center_too() {
    for apart in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5] {
        for area in [1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8] {
            for low in [0.31, 0.3517, 0.42, 0.47, 0.5099] {
                let bound = large_and_small(apart, area, low);
                let error = worst_of(&bound);
                assert!(error < 1e-3, "{apart} σ, {area:e} of the area: {error:e}");
            }
        }
    }
}

fn worst_of(bound: &Bound) -> f64 {
    apart(&bound.baked(&PAPER), &bound.exact(&PAPER), bound.extent())
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let rig = characters::build(Character::Figure, 5_000).unwrap().rig;
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let bake = || Centers::bake(rig.mesh(), rig.weights(), &PAPER).unwrap();
        pool.build().unwrap().install(bake)
    };
    assert!(on(1) == on(2));
    let bound = tube(5, 1.0, 0.3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| bound.exact(&PAPER))
    };
    assert!(on(1) == on(2));
}

#[test]
fn options_that_make_no_sense_are_named() {
    let bound = tube(2, 1.0, 0.0);
    let (mesh, weights) = (bound.mesh(), bound.weights());
    let with = |change: fn(&mut CenterOptions, f64), value: f64| {
        let mut options = PAPER;
        change(&mut options, value);
        options
    };
    type Change = fn(&mut CenterOptions, f64);
    let names: [(&str, Change); 3] = [
        ("sigma", |options, value| options.sigma = value),
        ("epsilon", |options, value| options.epsilon = value),
        ("accuracy", |options, value| options.accuracy = value),
    ];
    for (name, change) in names {
        for value in [0.0, -0.1, f64::NAN, f64::INFINITY, 1e-12] {
            let options = with(change, value);
            let errors = [
                exact(&mesh, &weights, &options).unwrap_err(),
                Centers::bake(&mesh, &weights, &options).unwrap_err(),
            ];
            for error in errors {
                let text = error.to_string();
                assert!(text.starts_with(&format!("{name} is {value}")), "{text}");
            }
        }
    }
}

#[test]
fn sizes_that_do_not_fit_are_named() {
    let (bound, other) = (tube(2, 1.0, 0.0), tube(3, 1.0, 0.0));
    let mut shorter = other;
    shorter.rows.pop();
    let (mesh, weights) = (bound.mesh(), shorter.weights());
    let [found, expected] = [weights.vertex_count(), mesh.vertex_count()];
    let wrong = CenterError::VertexCount {
        what: "weights",
        found,
        expected,
    };
    assert_eq!(exact(&mesh, &weights, &PAPER).unwrap_err(), wrong);
    assert_eq!(Centers::bake(&mesh, &weights, &PAPER).unwrap_err(), wrong);
    let text = wrong.to_string();
    assert!(text.contains(&found.to_string()) && text.contains(&expected.to_string()));
    let weights = bound.weights();
    let mut points = mesh.positions().to_vec();
    points[7].y = f32::NAN;
    let error = Centers::from_points(&points, &mesh, &weights).unwrap_err();
    assert_eq!(error, CenterError::NotFinite { vertex: 7 });
    points.pop();
    let error = Centers::from_points(&points, &mesh, &weights).unwrap_err();
    assert!(error.to_string().contains("centers"), "{error}");
}
