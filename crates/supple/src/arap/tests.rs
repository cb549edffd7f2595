use super::*;
use crate::characters::{self, Character};
use crate::deform::{Method, Normals, Output, Skin, Workspace};
use crate::player::Player;
use crate::transform::Affine;
use glam::{DAffine3, DQuat};

fn figure() -> crate::rig::Asset {
    characters::build(Character::Figure, 2000).unwrap()
}

fn bent(asset: &crate::rig::Asset, clip: usize, time: f64) -> Palette {
    let skeleton = asset.rig.skeleton();
    let mut pose = skeleton.rest_pose();
    asset.clips[clip].sample(time, &mut pose);
    skeleton.palette(&pose).unwrap()
}

fn rest_places(rig: &Rig) -> Vec<DVec3> {
    let positions = rig.mesh().positions().iter();
    positions.map(|place| place.as_dvec3()).collect()
}

fn largest_distance(a: &[Vec3], b: &[DVec3]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| a.as_dvec3().distance(*b))
        .fold(0.0, f64::max)
}

fn deformed(arap: &Arap, palette: &Palette) -> Vec<Vec3> {
    let mut positions = vec![Vec3::ZERO; arap.weld.points().len()];
    arap.deform(palette, &mut ArapState::default(), &mut positions)
        .unwrap();
    positions
}

/// A direct implementation of the minimisation: full matrices, one row at a time, rotations by
/// singular vectors.
struct Plain {
    rest: Vec<DVec3>,
    edges: Vec<(usize, usize, f64)>,
    held: Vec<bool>,
}

impl Plain {
    fn of(arap: &Arap) -> Plain {
        let surface = &arap.surface;
        let points = 0..surface.point_count();
        Plain {
            rest: surface.rest.clone(),
            edges: points
                .flat_map(|point| {
                    surface
                        .around(point)
                        .map(move |(other, o)| (point, other, o))
                })
                .collect(),
            held: arap.held.clone(),
        }
    }

    fn rotations(&self, posed: &[DVec3]) -> Vec<DMat3> {
        let mut sums = vec![DMat3::ZERO; posed.len()];
        for &(i, j, omega) in &self.edges {
            let (rest, posed) = (self.rest[i] - self.rest[j], posed[i] - posed[j]);
            sums[i] += crate::polar::outer(posed, rest) * omega;
        }
        let fit = |sum: DMat3| DMat3::from_quat(crate::polar::Polar::of(sum).rotation);
        sums.into_iter().map(fit).collect()
    }

    fn energy(&self, posed: &[DVec3], rotations: &[DMat3]) -> f64 {
        let term = |&(i, j, omega): &(usize, usize, f64)| {
            let turned = rotations[i] * (self.rest[i] - self.rest[j]);
            omega * (posed[i] - posed[j] - turned).length_squared()
        };
        self.edges.iter().map(term).sum()
    }

    /// The positions of least energy for some rotations, by sweeps until nothing moves.
    fn places(&self, from: &[DVec3], rotations: &[DMat3]) -> Vec<DVec3> {
        let mut posed = from.to_vec();
        for _ in 0..20_000 {
            let mut moved = 0.0f64;
            let mut at = 0;
            while at < self.edges.len() {
                let point = self.edges[at].0;
                let (mut sum, mut total) = (DVec3::ZERO, 0.0);
                while at < self.edges.len() && self.edges[at].0 == point {
                    let (i, j, omega) = self.edges[at];
                    let edge = self.rest[i] - self.rest[j];
                    sum += (posed[j] + (rotations[i] + rotations[j]) * edge * 0.5) * omega;
                    total += omega;
                    at += 1;
                }
                if !self.held[point] {
                    moved = moved.max(posed[point].distance(sum / total));
                    posed[point] = sum / total;
                }
            }
            if moved < 1e-13 {
                return posed;
            }
        }
        panic!("sweeps did not settle");
    }
}

#[test]
fn rounds_are_those_of_a_plain_solver_and_lower_the_energy() {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let palette = bent(&asset, 0, 0.6 * asset.clips[0].duration());
    let options = ArapOptions {
        iterations: 4,
        threshold: 0.9,
        smoothing: HandleSmoothing::None,
        ..ArapOptions::DEFAULT
    };
    let arap = Arap::new(&asset.rig, &options).unwrap();
    let free = arap.held.iter().filter(|held| !**held).count();
    assert!(free > 20 && free < arap.held.len(), "{free} are free");
    let mut state = ArapState::default();
    let energies = arap.energies(&palette, &mut state).unwrap();
    let plain = Plain::of(&arap);
    let mut posed = state.blended.clone();
    let mut rotations = plain.rotations(&posed);
    let mut expected = vec![plain.energy(&posed, &rotations)];
    for _ in 0..options.iterations {
        posed = plain.places(&posed, &rotations);
        rotations = plain.rotations(&posed);
        expected.push(plain.energy(&posed, &rotations));
    }
    for (found, expected) in energies.iter().zip(&expected) {
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }
    assert!(energies.windows(2).all(|pair| pair[1] < pair[0]));
    let most = state.places.iter().zip(&posed);
    let most = most.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    // The weight of the heaviest handle's rotation in a patch.
    assert!(most < 1e-5, "{most}");
}

#[test]
fn the_energy_falls_in_every_pose_of_every_character() {
    for character in Character::ALL {
        let asset = characters::build(*character, 2000).unwrap();
        let options = ArapOptions {
            iterations: 12,
            threshold: 0.8,
            ..ArapOptions::DEFAULT
        };
        let arap = Arap::new(&asset.rig, &options).unwrap();
        for clip in 0..asset.clips.len() {
            let palette = bent(&asset, clip, 0.37 * asset.clips[clip].duration());
            let energies = arap.energies(&palette, &mut ArapState::default()).unwrap();
            for pair in energies.windows(2) {
                assert!(pair[1] <= pair[0] * (1.0 + 1e-9) + 1e-12, "{energies:?}");
            }
        }
    }
}

#[test]
fn the_rest_pose_and_rigid_motions_hold() {
    let asset = figure();
    let arap = Arap::new(&asset.rig, &ArapOptions::DEFAULT).unwrap();
    let joints = asset.rig.skeleton().joints().len();
    let rest = rest_places(&asset.rig);
    let found = deformed(&arap, &Palette::identity(joints));
    assert!(largest_distance(&found, &rest) < 1e-6);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.9);
    let motion = DAffine3::from_rotation_translation(turn, DVec3::new(3.0, -1.0, 0.5));
    let palette = Palette {
        posed_from_bind: vec![Affine::from_f64(&motion); joints],
    };
    let moved: Vec<DVec3> = rest.iter().map(|&p| motion.transform_point3(p)).collect();
    assert!(largest_distance(&deformed(&arap, &palette), &moved) < 4e-6);
    // The paper's form flattens details near handles even at rest, and nowhere else.
    let plain = ArapOptions {
        smoothing: HandleSmoothing::Plain,
        ..ArapOptions::DEFAULT
    };
    let plain = Arap::new(&asset.rig, &plain).unwrap();
    let found = deformed(&plain, &Palette::identity(joints));
    for (vertex, (found, rest)) in found.iter().zip(&rest).enumerate() {
        let near_handle = plain.holder[plain.weld.point_of(vertex)].is_some();
        assert!(near_handle || found.as_dvec3().distance(*rest) < 1e-6);
    }
    assert!(largest_distance(&found, &rest) > 1e-4);
}

#[test]
fn eq_2_moves_points_near_handles_to_the_mean_of_their_neighbours() {
    let asset = figure();
    let palette = bent(&asset, 0, 0.4);
    let with = |smoothing| {
        let options = ArapOptions {
            smoothing,
            ..ArapOptions::DEFAULT
        };
        let arap = Arap::new(&asset.rig, &options).unwrap();
        let mut state = ArapState::default();
        let mut positions = vec![Vec3::ZERO; asset.rig.mesh().vertex_count()];
        arap.deform(&palette, &mut state, &mut positions).unwrap();
        (arap, state)
    };
    let (arap, plain) = with(HandleSmoothing::Plain);
    let (_, before) = with(HandleSmoothing::None);
    for point in 0..arap.surface.point_count() {
        let place = before.smoothed[point];
        let expected = match arap.holder[point] {
            None => place,
            Some(_) => {
                let total: f64 = arap.surface.around(point).map(|(_, omega)| omega).sum();
                let around = arap.surface.around(point);
                let pull = around.map(|(other, omega)| (before.smoothed[other] - place) * omega);
                place + pull.sum::<DVec3>() / total
            }
        };
        assert!(plain.smoothed[point].distance(expected) < 1e-12);
    }
}

#[test]
fn switching_a_handle_is_the_same_as_starting_over() {
    let asset = figure();
    let palette = bent(&asset, 0, 0.4);
    let mut arap = Arap::new(&asset.rig, &ArapOptions::DEFAULT).unwrap();
    let all = deformed(&arap, &palette);
    let report = arap.report();
    let busiest = (0..report.held.len()).max_by_key(|&handle| report.held[handle]);
    let busiest = busiest.unwrap();
    arap.set_active(busiest, false).unwrap();
    assert!(!arap.active[busiest] && arap.report().held[busiest] == 0);
    let without = deformed(&arap, &palette);
    let all_places: Vec<DVec3> = all.iter().map(|place| place.as_dvec3()).collect();
    assert!(largest_distance(&without, &all_places) > 1e-4);
    arap.set_active(busiest, true).unwrap();
    assert_eq!(deformed(&arap, &palette), all, "to the bit");
    let handles = report.held.len();
    let handle = handles;
    let refused = arap.set_active(handle, false);
    assert_eq!(refused, Err(ArapError::NoHandle { handle, handles }));
    let refused = arap.set_active_many([(busiest, false), (handle, false)]);
    assert_eq!(refused, Err(ArapError::NoHandle { handle, handles }));
    assert!(arap.active[busiest], "nothing is switched by halves");
    assert_eq!(deformed(&arap, &palette), all, "to the bit");
    arap.set_active_many([(busiest, false), (0, false)])
        .unwrap();
    let both = deformed(&arap, &palette);
    let mut one_by_one = Arap::new(&asset.rig, &ArapOptions::DEFAULT).unwrap();
    one_by_one.set_active(busiest, false).unwrap();
    one_by_one.set_active(0, false).unwrap();
    assert_eq!(deformed(&one_by_one, &palette), both, "to the bit");
}

/// Moving a joint slightly moves the surface slightly, with any smoothing.
#[test]
fn as_a_method_it_does_not_jump_as_it_leaves_the_rest_pose() {
    let asset = figure();
    let joints = asset.rig.skeleton().joints().len();
    for smoothing in [
        HandleSmoothing::None,
        HandleSmoothing::Plain,
        HandleSmoothing::Detailed,
    ] {
        let options = ArapOptions {
            smoothing,
            ..ArapOptions::DEFAULT
        };
        let arap = Arap::new(&asset.rig, &options).unwrap();
        let mut palette = Palette::identity(joints);
        let at_rest = as_a_method(&asset.rig, &options, &palette);
        let expected: Vec<DVec3> = deformed(&arap, &palette)
            .iter()
            .map(|place| place.as_dvec3())
            .collect();
        assert!(largest_distance(&at_rest, &expected) < 1e-5);
        let hair = DAffine3::from_translation(DVec3::X * 1e-4);
        palette.posed_from_bind[joints / 2] = Affine::from_f64(&hair);
        let moved = as_a_method(&asset.rig, &options, &palette);
        let at_rest: Vec<DVec3> = at_rest.iter().map(|place| place.as_dvec3()).collect();
        let jump = largest_distance(&moved, &at_rest);
        assert!(jump < 3e-4, "{smoothing:?}: {jump}");
    }
}

fn as_a_method(rig: &Rig, options: &ArapOptions, palette: &Palette) -> Vec<Vec3> {
    let method = Method::Arap(options.clone());
    let skin = Skin::bake(rig, &method, Normals::Transported).unwrap();
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let output = Output {
        positions: &mut positions,
        normals: None,
        tangents: None,
    };
    skin.deform(palette, &mut Workspace::default(), output)
        .unwrap();
    positions
}

/// A single frame does not depend on poses that were deformed before.
#[test]
fn a_player_that_starts_afresh_forgets_the_frame_before() {
    let asset = figure();
    let options = ArapOptions {
        follow: true,
        ..ArapOptions::DEFAULT
    };
    let method = Method::Arap(options);
    let mut player = Player::new(&asset, &method, Normals::Transported).unwrap();
    let clip = &asset.clips[0];
    let [one, other] = [0.3, 0.7].map(|share| asset.pose_at(clip, share * clip.duration()));
    player.start_afresh();
    player.pose(&one).unwrap();
    let alone = player.positions().to_vec();
    player.pose(&other).unwrap();
    player.pose(&one).unwrap();
    assert_ne!(player.positions(), alone, "it follows");
    player.start_afresh();
    player.pose(&one).unwrap();
    assert_eq!(player.positions(), alone);
}

/// The paper's rule, and the additional rule for handles that would hold nothing.
#[test]
fn points_are_held_by_the_threshold_or_where_a_handle_has_its_most() {
    let asset = figure();
    let with = |every_handle| {
        let options = ArapOptions {
            every_handle,
            ..ArapOptions::DEFAULT
        };
        Arap::new(&asset.rig, &options).unwrap()
    };
    let (strict, kind) = (with(false), with(true));
    let mut heaviest_somewhere = vec![false; strict.handles];
    for point in 0..strict.surface.point_count() {
        let (handles, weights) = strict.row(point);
        let by_rule = (f64::from(weights[0]) > 0.95).then_some(handles[0]);
        assert_eq!(strict.holder[point], by_rule);
        assert!(by_rule.is_none() || kind.holder[point] == by_rule);
        heaviest_somewhere[usize::from(handles[0])] = true;
    }
    assert!(!strict.report().idle.is_empty());
    for handle in kind.report().idle {
        assert!(!heaviest_somewhere[handle]);
    }
    // Joints without any weight are not reported.
    let has_weight = |handle: &usize| {
        let mut vertices = 0..asset.rig.mesh().vertex_count();
        vertices.any(|vertex| {
            let mut own = asset.rig.weights().of(vertex);
            own.any(|influence| influence.joint == *handle)
        })
    };
    let unheard: Vec<usize> = (0..strict.handles)
        .filter(|&handle| strict.report().held[handle] == 0)
        .collect();
    let (weighted, bare): (Vec<usize>, Vec<usize>) = unheard.into_iter().partition(has_weight);
    assert_eq!(strict.report().idle, weighted);
    assert!(!bare.is_empty(), "the root of a figure holds nothing");
}

#[test]
fn without_any_handle_everything_is_linear_blending() {
    let asset = figure();
    let palette = bent(&asset, 0, 0.4);
    let mut arap = Arap::new(&asset.rig, &ArapOptions::DEFAULT).unwrap();
    for handle in 0..asset.rig.skeleton().joints().len() {
        arap.set_active(handle, false).unwrap();
    }
    let report = arap.report();
    assert_eq!(report.loose.len(), arap.surface.pieces);
    assert!(report.idle.is_empty(), "what is off is not idle");
    let mut state = ArapState::default();
    let mut positions = vec![Vec3::ZERO; asset.rig.mesh().vertex_count()];
    arap.deform(&palette, &mut state, &mut positions).unwrap();
    assert_eq!(state.smoothed, state.blended);
}

/// Continuing from the last frame converges to the same result as starting from linear blending, in
/// fewer rounds.
#[test]
fn following_the_frame_before_comes_to_the_same_in_fewer_rounds() {
    let asset = figure();
    let options = |iterations, follow| ArapOptions {
        iterations,
        tolerance: 1e-6,
        follow,
        ..ArapOptions::DEFAULT
    };
    let settled = Arap::new(&asset.rig, &options(4000, false)).unwrap();
    let follows = Arap::new(&asset.rig, &options(4000, true)).unwrap();
    let few = Arap::new(&asset.rig, &options(2, false)).unwrap();
    let few_follow = Arap::new(&asset.rig, &options(2, true)).unwrap();
    let (mut state, mut few_state) = (ArapState::default(), ArapState::default());
    let vertices = asset.rig.mesh().vertex_count();
    let extent = settled.extent;
    for frame in 0..12 {
        let palette = bent(&asset, 0, 0.3 + frame as f64 / 60.0);
        let expected: Vec<DVec3> = deformed(&settled, &palette)
            .iter()
            .map(|place| place.as_dvec3())
            .collect();
        let mut found = vec![Vec3::ZERO; vertices];
        follows.deform(&palette, &mut state, &mut found).unwrap();
        let off = largest_distance(&found, &expected) / extent;
        assert!(off < 1e-5, "frame {frame}: {off}");
        few_follow
            .deform(&palette, &mut few_state, &mut found)
            .unwrap();
        let follow_off = largest_distance(&found, &expected);
        let few_off = largest_distance(&deformed(&few, &palette), &expected);
        // The first frame has nothing to continue, and the second only two rounds.
        let share = [1.0, 0.9].get(frame).copied().unwrap_or(0.75);
        assert!(
            follow_off <= share * few_off,
            "frame {frame}: {follow_off} {few_off}"
        );
    }
}

#[test]
fn options_out_of_range_are_refused() {
    let asset = figure();
    let refused = |change: fn(&mut ArapOptions)| {
        let mut options = ArapOptions::DEFAULT;
        change(&mut options);
        assert!(Arap::new(&asset.rig, &options).is_err(), "{options:?}");
    };
    refused(|options| options.threshold = 1.0);
    refused(|options| options.threshold = f64::NAN);
    refused(|options| options.tolerance = -1.0);
    refused(|options| options.iterations = 99_999);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let asset = figure();
    let arap = Arap::new(&asset.rig, &ArapOptions::DEFAULT).unwrap();
    let mut positions = vec![Vec3::ZERO; asset.rig.mesh().vertex_count()];
    let mut state = ArapState::default();
    assert!(
        arap.deform(&Palette::identity(1), &mut state, &mut positions)
            .is_err()
    );
    let joints = asset.rig.skeleton().joints().len();
    let palette = Palette::identity(joints);
    assert!(
        arap.deform(&palette, &mut state, &mut positions[1..])
            .is_err()
    );
    assert!(
        Arap::of(
            asset.rig.mesh(),
            asset.rig.weights(),
            1,
            &ArapOptions::DEFAULT
        )
        .is_err()
    );
}
