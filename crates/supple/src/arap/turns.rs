//! Rotations of handles from their translations, so that users only need to move handles.
//!
//! `arap-point-handles.txt`, §3.2. Pseudo-edges connect handles: `p_{i,k} = p_i − p_j` at rest and
//! `p'_{i,k}` after the move. Each edge of a handle gives the shortest rotation from one to the
//! other, and the handle rotates by their mean.

use crate::pose::Palette;
use crate::transform::Affine;
use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4};
use thiserror::Error;

/// Averaging of the rotations that the edges of a handle suggest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RotationMean {
    /// Eq. (3), by recursion: fast, but accurate only for rotations that are close to each other.
    /// Later edges have more influence.
    Recursion,
    /// Eq. (4): the eigenvector of the largest eigenvalue of `M = 1/E Σ q qᵀ`; accurate for any
    /// rotations.
    #[default]
    Eigenvector,
}

/// Error from computing the rotations of handles.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The numbers of positions at rest and after the move differ.
    #[error("{rest} handles at rest, but {moved} moved ones")]
    Unpaired {
        /// The number of positions at rest.
        rest: usize,
        /// The number of moved positions.
        moved: usize,
    },
    /// The number of rotations is not the number of handles.
    #[error("{turns} rotations for {handles} handles")]
    TurnCount {
        /// The number of handles.
        handles: usize,
        /// The number of rotations.
        turns: usize,
    },
    /// A pseudo-edge names a handle that does not exist.
    #[error("a pseudo-edge joins handles {0} and {1}, but there are {2}")]
    NoSuchHandle(usize, usize, usize),
    /// A position is NaN or infinite.
    #[error("the position of handle {0} is not finite")]
    NotFinite(usize),
}

/// Computes the rotation of every handle. Edges without length are ignored; a handle without other
/// edges does not rotate.
///
/// # Errors
///
/// Fails if the numbers of rest positions and moved positions differ, a position is not finite, or
/// an edge names a handle that does not exist.
pub fn turns(
    rest: &[DVec3],
    moved: &[DVec3],
    edges: &[[usize; 2]],
    mean: RotationMean,
) -> Result<Vec<DQuat>, TurnError> {
    let handles = rest.len();
    check_pairs(rest, moved)?;
    let finite = |handle: &usize| rest[*handle].is_finite() && moved[*handle].is_finite();
    if let Some(handle) = (0..handles).find(|handle| !finite(handle)) {
        return Err(TurnError::NotFinite(handle));
    }
    let mut arcs: Vec<Vec<DQuat>> = vec![Vec::new(); handles];
    for &[a, b] in edges {
        if a.max(b) >= handles {
            return Err(TurnError::NoSuchHandle(a, b, handles));
        }
        // Both ends of an edge have the same rotation, since both vectors are reversed.
        let arc = shortest_arc(rest[a] - rest[b], moved[a] - moved[b]);
        for handle in [a, b] {
            arcs[handle].extend(arc);
        }
    }
    let mean = |arcs: &Vec<DQuat>| match mean {
        RotationMean::Recursion => recursive_mean(arcs),
        RotationMean::Eigenvector => eigenvector_mean(arcs),
    };
    Ok(arcs.iter().map(mean).collect())
}

/// Computes the map `posed_from_bind` of every handle from its translation and rotation.
///
/// # Errors
///
/// Fails unless there is one moved position and one rotation for each handle at rest.
pub fn handle_palette(
    rest: &[DVec3],
    moved: &[DVec3],
    turns: &[DQuat],
) -> Result<Palette, TurnError> {
    check_pairs(rest, moved)?;
    if turns.len() != rest.len() {
        return Err(TurnError::TurnCount {
            handles: rest.len(),
            turns: turns.len(),
        });
    }
    let maps = rest.iter().zip(moved).zip(turns).map(|((from, to), turn)| {
        let map = DAffine3::from_rotation_translation(*turn, *to - *turn * *from);
        Affine::from_f64(&map)
    });
    Ok(Palette {
        posed_from_bind: maps.collect(),
    })
}

fn check_pairs(rest: &[DVec3], moved: &[DVec3]) -> Result<(), TurnError> {
    let (rest, moved) = (rest.len(), moved.len());
    match rest == moved {
        true => Ok(()),
        false => Err(TurnError::Unpaired { rest, moved }),
    }
}

/// The shortest rotation from one direction to another, by the half-way quaternion `(|a||b| + a·b,
/// a × b)`. None if either vector has no length.
fn shortest_arc(from: DVec3, to: DVec3) -> Option<DQuat> {
    let (from, to) = (from.try_normalize()?, to.try_normalize()?);
    let axis = from.cross(to);
    let half = DQuat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + from.dot(to));
    // For opposite directions, about any perpendicular axis.
    let around = || DQuat::from_axis_angle(from.any_orthonormal_vector(), std::f64::consts::PI);
    Some(match half.length() > 1e-9 {
        true => half.normalize(),
        false => around(),
    })
}

fn recursive_mean(arcs: &[DQuat]) -> DQuat {
    let Some((&first, others)) = arcs.split_first() else {
        return DQuat::IDENTITY;
    };
    let add = |mean: DQuat, (number, &arc): (usize, &DQuat)| (mean + arc) * (number as f64).recip();
    let mean = (2..).zip(others).fold(first, add);
    match mean.length() > 1e-12 {
        true => mean.normalize(),
        false => first,
    }
}

/// After this many squarings, a matrix is that of the dominant eigenvector alone, if its eigenvalue
/// exceeds the next one by a billionth.
const SQUARINGS: usize = 36;

fn eigenvector_mean(arcs: &[DQuat]) -> DQuat {
    let mut matrix = DMat4::ZERO;
    for arc in arcs {
        let q = DVec4::from_array(arc.to_array());
        matrix += DMat4::from_cols(q * q.x, q * q.y, q * q.z, q * q.w);
    }
    for _ in 0..SQUARINGS {
        let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z + matrix.w_axis.w;
        if trace <= 0.0 {
            return DQuat::IDENTITY;
        }
        matrix *= trace.recip();
        matrix *= matrix;
    }
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis, matrix.w_axis];
    let largest = columns.into_iter().reduce(|largest, next| {
        match next.length_squared() > largest.length_squared() {
            true => next,
            false => largest,
        }
    });
    let turn = DQuat::from_vec4(largest.unwrap_or(DVec4::W).normalize_or(DVec4::W));
    // The sign of an eigenvector is arbitrary.
    if turn.w < 0.0 { -turn } else { turn }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn star(arms: usize) -> (Vec<DVec3>, Vec<[usize; 2]>) {
        let tip = |arm: usize| {
            let angle = 2.0 * PI * arm as f64 / arms as f64;
            DVec3::new(angle.cos(), angle.sin(), 0.0) * (1.0 + arm as f64)
        };
        let places = std::iter::once(DVec3::ZERO).chain((0..arms).map(tip));
        (places.collect(), (1..=arms).map(|arm| [0, arm]).collect())
    }

    fn angle_between(a: DQuat, b: DQuat) -> f64 {
        2.0 * a.dot(b).abs().min(1.0).acos()
    }

    #[test]
    fn a_flat_star_that_turns_in_its_plane_turns_every_handle() {
        let (rest, edges) = star(5);
        for angle in [0.3, -2.0, 3.0] {
            let turn = DQuat::from_rotation_z(angle);
            let shift = DVec3::new(4.0, -2.0, 1.0);
            let moved: Vec<DVec3> = rest.iter().map(|&place| turn * place + shift).collect();
            for mean in [RotationMean::Eigenvector, RotationMean::Recursion] {
                for found in turns(&rest, &moved, &edges, mean).unwrap() {
                    assert!(angle_between(found, turn) < 1e-7, "{mean:?} {found}");
                }
            }
            let turned = turns(&rest, &moved, &edges, RotationMean::Eigenvector).unwrap();
            let palette = handle_palette(&rest, &moved, &turned).unwrap();
            for (map, (from, to)) in palette.posed_from_bind.iter().zip(rest.iter().zip(&moved)) {
                assert!(map.to_f64().transform_point3(*from).distance(*to) < 1e-5);
            }
        }
    }

    #[test]
    fn moving_all_alike_turns_nothing() {
        let (rest, edges) = star(4);
        let moved: Vec<DVec3> = rest.iter().map(|&place| place + DVec3::ONE).collect();
        for mean in [RotationMean::Eigenvector, RotationMean::Recursion] {
            let found = turns(&rest, &moved, &edges, mean).unwrap();
            assert!(found.iter().all(|turn| turn.w > 1.0 - 1e-12));
        }
    }

    /// Eq. (3) and eq. (4) as written, with numbers.
    #[test]
    fn means_are_those_of_the_paper() {
        let arcs = [0.2, 0.9, -0.4, 1.4].map(|angle| {
            let axis = DVec3::new(1.0, angle, -0.3).normalize();
            DQuat::from_axis_angle(axis, 2.0 * angle)
        });
        let two = (arcs[1] + arcs[0]) * 0.5;
        let three = (arcs[2] + two) * (1.0 / 3.0);
        let four = (arcs[3] + three) * 0.25;
        assert!(angle_between(recursive_mean(&arcs), four.normalize()) < 1e-9);
        // The eigenvector maximises the quadratic form of M on the sphere.
        let form = |q: DQuat| arcs.iter().map(|arc| arc.dot(q).powi(2)).sum::<f64>();
        let found = eigenvector_mean(&arcs);
        let steps = [DVec4::X, DVec4::Y, DVec4::Z, DVec4::W];
        for step in steps.into_iter().flat_map(|step| [step, -step]) {
            let beside = DQuat::from_vec4(DVec4::from_array(found.to_array()) + step * 1e-3);
            assert!(form(beside.normalize()) <= form(found) + 1e-15);
        }
    }

    /// For edges with very different rotations, the recursion favours the later ones; the
    /// eigenvector does not: Fig. 4.
    #[test]
    fn the_eigenvector_does_not_care_for_the_order_of_edges() {
        let arcs = [2.8, -2.6, 2.9].map(DQuat::from_rotation_x);
        let turned = [arcs[2], arcs[0], arcs[1]];
        let apart = |mean: fn(&[DQuat]) -> DQuat| angle_between(mean(&arcs), mean(&turned));
        assert!(apart(eigenvector_mean) < 1e-7);
        assert!(apart(recursive_mean) > 0.3);
    }

    #[test]
    fn odd_handles_get_clear_answers() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::X, DVec3::Y * 5.0];
        let moved = [DVec3::ZERO, -DVec3::X, -DVec3::X, DVec3::Y];
        let mean = RotationMean::Eigenvector;
        let found = turns(&rest, &moved, &[[0, 1], [1, 2]], mean).unwrap();
        assert!(
            (found[0] * DVec3::X).distance(-DVec3::X) < 1e-9,
            "turned around"
        );
        assert_eq!(found[2], DQuat::IDENTITY, "an edge without length");
        assert_eq!(found[3], DQuat::IDENTITY, "no edge at all");
        let none = turns(&rest, &moved, &[[0, 9]], mean);
        assert_eq!(none, Err(TurnError::NoSuchHandle(0, 9, 4)));
        let bad = [DVec3::NAN; 4];
        assert_eq!(turns(&rest, &bad, &[], mean), Err(TurnError::NotFinite(0)));
        assert!(turns(&rest, &bad[1..], &[], mean).is_err());
    }
}
