//! The library beside the formulas, on random surfaces, options and poses.

use crate::common::{Bake, bake, deform_skin};
use crate::reference::{self, Frames, Placed, ROUNDOFF, delta_mush};
use crate::surfaces::{
    Tally, any_options, any_pose, any_rig, baked, check, config, extent, palette_of, posed, variant,
};
use glam::DMat4;
use proptest::prelude::*;
use supple::deform::{DeltaMush, LocalFrames, MushVariant};
use supple::mush::{Baked, Mush, MushOptions};
use supple::{Method, Palette, Rig};

/// Any turn at all.
const ANY_TURN: f64 = 3.1;

/// The error of a stored number: weights are rounded to a grid of steps of `2⁻²⁴`, levers and
/// moments to `f32`. The few steps that sums over the joints then miss (one, or zero) are added to
/// some of them.
const STORED: f64 = 6.0 * ROUNDOFF;

/// Compares a method with where its formula takes every vertex. `more` is what it may be off by
/// beside rounding; `None` where that is beyond first order.
fn compare(
    rig: &Rig,
    palette: &Palette,
    method: &impl Bake,
    world: f64,
    place: impl Fn(usize) -> Placed,
    more: impl Fn(&Placed) -> Option<f64>,
    tally: &Tally,
) -> Result<(), TestCaseError> {
    let found = deform_skin(&bake(rig, method), palette).positions;
    for (vertex, found) in found.iter().enumerate() {
        let placed = place(vertex);
        let expected = placed.place * world;
        let error = found.as_dvec3().distance(expected);
        let more = more(&placed);
        let tolerance = placed
            .tolerance()
            .zip(more)
            .map(|(own, more)| world.max(1.0) * (own + more));
        tally.count(tolerance.is_some());
        if let Some(tolerance) = tolerance {
            prop_assert!(
                error <= tolerance,
                "{method}, vertex {vertex}: {} for {expected}, off by {error:e}, allowed \
                 {tolerance:e}",
                found
            );
        }
        // Also a rotation that is hardly determined keeps lengths. v1 distorts by design, and v3
        // scales to that length by a factor that may be large.
        let keeps_lengths = !matches!(method.to_string().as_str(), "ddm-v1" | "ddm-v3");
        if let Some(more) = more.filter(|_| keeps_lengths) {
            let from_middle = found.as_dvec3().distance(placed.middle * world);
            let stretched = (from_middle - placed.arm * world).abs();
            let tolerance = world.max(1.0) * (placed.length_tolerance() + more);
            prop_assert!(
                stretched <= tolerance,
                "{method}, vertex {vertex}: {from_middle} away from the posed middle, for {}, \
                 allowed {tolerance:e}",
                placed.arm * world
            );
        }
    }
    Ok(())
}

fn compare_variants(
    rig: &Rig,
    palette: &Palette,
    options: &MushOptions,
    tally: &Tally,
) -> Result<(), TestCaseError> {
    let reference = reference::Mush::new(rig, options);
    let (posed, world) = posed(rig, palette);
    let mush = baked(rig, options);
    for kind in MushVariant::ALL {
        let place = |vertex| reference.place(&posed, vertex, kind);
        let method = variant(&mush, kind);
        compare(rig, palette, &method, world, place, |_| Some(0.0), tally)?;
    }
    Ok(())
}

#[test]
fn every_variant_is_its_formula() {
    let cases = (any_rig(), any_options(), any_pose(ANY_TURN, 1.0));
    let tally = check(150, &cases, |(rig, options, motions), tally| {
        compare_variants(&rig, &palette_of(&rig, &motions), &options, tally)
    });
    tally.assert_at_least(0.7);
}

#[test]
fn every_variant_is_its_formula_on_stretched_joints() {
    let cases = (any_rig(), any_options(), any_pose(1.2, 2.0));
    let tally = check(150, &cases, |(rig, options, motions), tally| {
        compare_variants(&rig, &palette_of(&rig, &motions), &options, tally)
    });
    tally.assert_at_least(0.7);
}

#[test]
fn delta_mush_is_its_formula() {
    let poses = (any_pose(ANY_TURN, 1.0), any_pose(1.2, 2.0));
    let cases = (any_rig(), any_options(), poses);
    let tally = check(
        150,
        &cases,
        |(rig, smoothing, (motions, stretched)), tally| {
            let surface = reference::Surface::new(&rig, &smoothing);
            let smoother = surface.smoother(&surface.lambda, smoothing.iterations, smoothing.steps);
            for motions in [motions, stretched] {
                let palette = palette_of(&rig, &motions);
                let (posed, world) = posed(&rig, &palette);
                for (frames, formula) in [
                    (LocalFrames::Tangent, Frames::Tangent),
                    (LocalFrames::BestFit, Frames::BestFit),
                ] {
                    let method = Method::DeltaMush(DeltaMush {
                        smoothing: smoothing.clone(),
                        frames,
                    });
                    let places = delta_mush(&surface, &smoother, &posed, formula);
                    let place = |vertex: usize| places[vertex];
                    compare(&rig, &palette, &method, world, place, |_| Some(0.0), tally)?;
                }
            }
            Ok(())
        },
    );
    tally.assert_at_least(0.5);
}

/// The default options: strengths from the bones, joints pruned.
#[test]
fn the_defaults_are_the_formula_too() {
    let cases = (any_rig(), any_pose(1.2, 1.0), any::<bool>());
    let tally = check(150, &cases, |(rig, motions, explicit), tally| {
        let options = MushOptions {
            steps: if explicit {
                supple::mush::Steps::Explicit
            } else {
                supple::mush::Steps::Implicit
            },
            ..MushOptions::default()
        };
        // Shares of up to two, painted on the mesh, would be too much for explicit steps.
        prop_assume!(!explicit || Mush::bake(&rig, &options).is_ok());
        let palette = palette_of(&rig, &motions);
        let (posed, world) = posed(&rig, &palette);
        let exact = MushOptions {
            prune: 0.0,
            ..options.clone()
        };
        let reference = reference::Mush::new(&rig, &exact);
        let mush = baked(&rig, &options);
        for kind in MushVariant::ALL {
            let place = |vertex| reference.place(&posed, vertex, kind);
            let pruned = |placed: &Placed| {
                let moved = options.prune * (extent(&rig) + 2.0 * placed.size);
                let more = moved * (1.0 + placed.turn?.amplification);
                (more < 1e-3).then_some(more)
            };
            let method = variant(&mush, kind);
            compare(&rig, &palette, &method, world, place, pruned, tally)?;
        }
        let surface = &reference.surface;
        let places = delta_mush(surface, &reference.smoother, &posed, Frames::Tangent);
        let method = Method::DeltaMush(DeltaMush {
            smoothing: options,
            frames: LocalFrames::Tangent,
        });
        let place = |vertex: usize| places[vertex];
        compare(&rig, &palette, &method, world, place, |_| Some(0.0), tally)
    });
    tally.assert_at_least(0.5);
}

proptest! {
    #![proptest_config(config(150))]

    /// The numbers themselves: `p`, `ω`, `ψ`, `χ` and the moments, about the middle of each patch.
    #[test]
    fn the_baked_numbers_are_those_of_the_formulas(rig in any_rig(), options in any_options()) {
        let reference = reference::Mush::new(&rig, &options);
        let Baked { mush, connections } = Mush::bake(&rig, &options).unwrap();
        prop_assert_eq!(connections.links, reference.surface.links.len());
        let (extent, far) = (extent(&rig), crate::common::size(rig.mesh().positions()));
        for vertex in 0..rig.mesh().vertex_count() {
            let point = reference.surface.point_of[vertex];
            let p = reference.middle(vertex);
            let found = mush.centers()[vertex].as_dvec3();
            prop_assert!(
                // Each coordinate is rounded once, and p is relative to a rounded middle.
                found.distance(p) <= 4.0 * ROUNDOFF * (far + extent),
                "vertex {vertex}: p is {found} for {p}"
            );
            let mut left = reference.omega[point].clone();
            let ball = reference.ball(vertex);
            for (influence, part) in mush.weights().of(vertex).zip(mush.parts(vertex)) {
                let joint = influence.joint;
                let omega = std::mem::replace(&mut left[joint], DMat4::ZERO);
                let share = omega.w_axis.w;
                let rotation_share = reference.psi[point][joint].w_axis.w;
                let chi = omega.w_axis.truncate();
                let lever = chi - p * share;
                let moments = omega.to_cols_array_2d();
                prop_assert!(
                    (f64::from(influence.weight) - share).abs() < STORED,
                    "vertex {vertex}, joint {joint}: ω is {} for {share}",
                    influence.weight
                );
                prop_assert!(
                    (f64::from(part.rotation_weight) - rotation_share).abs() < STORED,
                    "vertex {vertex}, joint {joint}: ψ is {} for {rotation_share}",
                    part.rotation_weight
                );
                prop_assert!(
                    part.lever.as_dvec3().distance(lever) <= STORED * extent,
                    "vertex {vertex}, joint {joint}: χ − ωp is {} for {lever}",
                    part.lever
                );
                for (slot, (a, b)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
                    .into_iter()
                    .enumerate()
                {
                    let ball = if a == b { ball * rotation_share } else { 0.0 };
                    let expected = ball + moments[a][b] - chi[a] * p[b] - p[a] * lever[b];
                    let found = f64::from(part.moments[slot]);
                    // A moment is of second order in positions, whose errors add.
                    prop_assert!(
                        (found - expected).abs() <= 2.0 * STORED * extent * extent,
                        "vertex {vertex}, joint {joint}: moment {found} for {expected}"
                    );
                }
            }
            for (joint, omega) in left.iter().enumerate() {
                prop_assert!(
                    omega.w_axis.w.abs() < ROUNDOFF,
                    "vertex {vertex} has lost joint {joint} with {}",
                    omega.w_axis.w
                );
            }
        }
    }
}
