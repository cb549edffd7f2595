//! Pieces without a bone follow the nearest pieces that have one: buttons, eyes, a jacket over a
//! body.

use super::JointShares;
use super::handles::{Hold, Segment};
use super::oriented_surface::{OrientedSurface, Piece};
use super::segment_tree::SegmentTree;
use crate::exec;
use crate::surface::Rows;
use std::collections::HashMap;

/// A loose piece smaller than this share of the model moves rigidly: a button does not bend.
const SMALL: f64 = 0.04;

/// The number of smoothing steps for the copied weights of a large piece: the nearest point of a
/// body may jump from an arm to the trunk.
const SMOOTHING: usize = 10;

/// Gives weights to all points of unbound pieces, from the nearest point of bound pieces, or from
/// the nearest bone if no piece is bound.
pub(super) fn follow(
    shape: &OrientedSurface,
    holds: &[Hold],
    rows: &mut JointShares,
    bound: &[bool],
) {
    let followers: Vec<u32> = (0..shape.points.len() as u32)
        .filter(|&point| !bound[shape.piece_of[point as usize] as usize])
        .collect();
    if followers.is_empty() {
        return;
    }
    let leads = |triangle: u32| bound[shape.piece_of_triangle(triangle) as usize];
    let taken = exec::map_chunks(followers.len(), |range| {
        let take = |&point: &u32| {
            let place = shape.points[point as usize].as_vec3();
            let nearest = shape.tree.nearest(place, f32::INFINITY, leads)?;
            let corners = shape.triangles[nearest.triangle as usize];
            let corners = corners.map(|corner| rows[corner as usize].as_slice());
            let shares = nearest.shares.map(f64::from);
            Some(mixed(corners.into_iter().zip(shares)))
        };
        followers[range].iter().map(take).collect::<Vec<_>>()
    })
    .concat();
    for (&point, row) in followers.iter().zip(taken) {
        rows[point as usize] = row.unwrap_or_default();
    }
    super::fill_empty(shape, holds, rows);
    smooth(
        shape,
        rows,
        |point| !bound[shape.piece_of[point] as usize],
        SMOOTHING,
    );
}

/// Averages the rows of some points with those of their neighbours, which must all have rows.
fn smooth(
    shape: &OrientedSurface,
    rows: &mut JointShares,
    wanted: impl Fn(usize) -> bool,
    steps: usize,
) {
    let edges = shape.edges.iter().map(|edge| edge.ends);
    let inner = edges.filter(|ends| ends.iter().all(|&end| wanted(end as usize)));
    let inner = inner.map(|[a, b]| (a, b, ()));
    let (neighbours, _) = Rows::of_neighbours(shape.points.len(), inner).unzip();
    let points: Vec<usize> = (0..shape.points.len())
        .filter(|&point| !neighbours.row(point).is_empty())
        .collect();
    for _ in 0..steps {
        let averaged: Vec<_> = points
            .iter()
            .map(|&point| {
                let neighbours = neighbours.row(point);
                let share = 0.5 / neighbours.len() as f64;
                let around = neighbours
                    .iter()
                    .map(|&other| (rows[other as usize].as_slice(), share));
                mixed(std::iter::once((rows[point].as_slice(), 0.5)).chain(around))
            })
            .collect();
        for (&point, row) in points.iter().zip(averaged) {
            rows[point] = row;
        }
    }
}

/// Gives all points of a small piece without its own bone the same row.
pub(super) fn stiffen_small_pieces(
    shape: &OrientedSurface,
    holds: &[Hold],
    rows: &mut JointShares,
) {
    if shape.pieces.len() < 2 {
        return;
    }
    let tree = SegmentTree::over(holds);
    let small = |piece: &&Piece| {
        let is_small = piece.points.len() > 1 && piece.extent() < SMALL;
        is_small && !tree.any_through(piece.low, piece.high, |segment| passes(segment, piece))
    };
    for piece in shape.pieces.iter().filter(small) {
        let share = 1.0 / piece.points.len() as f64;
        let mean = mixed(
            piece
                .points
                .iter()
                .map(|&point| (rows[point as usize].as_slice(), share)),
        );
        for &point in &piece.points {
            rows[point as usize].clone_from(&mean);
        }
    }
}

/// True if a bone passes through the bounding box of a piece.
fn passes(segment: &Segment, piece: &Piece) -> bool {
    let (low, high) = (piece.low, piece.high);
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    let (from, along) = (segment.from, segment.at(1.0) - segment.from);
    for axis in 0..3 {
        let [a, b] = [low[axis], high[axis]].map(|wall| wall - from[axis]);
        if along[axis] == 0.0 {
            if a > 0.0 || b < 0.0 {
                return false;
            }
            continue;
        }
        let (a, b) = (a / along[axis], b / along[axis]);
        enters = enters.max(a.min(b));
        leaves = leaves.min(a.max(b));
    }
    enters <= leaves
}

/// A mix of rows by shares, with joints in order of appearance.
pub(super) fn mixed<'a>(rows: impl Iterator<Item = (&'a [(u16, f64)], f64)>) -> Vec<(u16, f64)> {
    /// Up to this number of joints, a linear search is fastest.
    const FEW: usize = 32;
    let mut mix: Vec<(u16, f64)> = Vec::new();
    // The position of each joint in the mix, if there are many.
    let mut places: HashMap<u16, usize> = HashMap::new();
    for (row, share) in rows.filter(|(_, share)| *share > 0.0) {
        for &(joint, weight) in row {
            let place = match places.is_empty() {
                true => mix.iter().position(|(known, _)| *known == joint),
                false => places.get(&joint).copied(),
            };
            match place {
                Some(place) => mix[place].1 += weight * share,
                None => {
                    mix.push((joint, weight * share));
                    if places.is_empty() && mix.len() > FEW {
                        places.extend(
                            mix.iter()
                                .zip(0..)
                                .map(|((joint, _), place)| (*joint, place)),
                        );
                    } else if !places.is_empty() {
                        places.insert(joint, mix.len() - 1);
                    }
                }
            }
        }
    }
    mix
}

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{bones, boxes, points};
    use super::*;

    #[test]
    fn a_mix_adds_up_what_rows_have_in_common() {
        let rows: [&[(u16, f64)]; 3] = [&[(1, 1.0)], &[(2, 0.5), (1, 0.5)], &[(7, 1.0)]];
        let mix = mixed(rows.into_iter().zip([0.5, 0.5, 0.0]));
        assert_eq!(mix, [(1, 0.75), (2, 0.25)]);
        // Very many joints, in any order, give the same result as few.
        let row: Vec<(u16, f64)> = (0..1000).map(|at| (at * 7 % 1000, 1e-3)).collect();
        let mix = mixed([(&row[..], 0.5), (&row[500..], 0.25)].into_iter());
        assert!(
            mix.iter()
                .map(|entry| entry.0)
                .eq(row.iter().map(|entry| entry.0))
        );
        assert_eq!((mix[0].1, mix[999].1), (5e-4, 5e-4 + 2.5e-4));
    }

    #[test]
    fn a_piece_that_is_not_bound_follows_the_nearest_that_is() {
        let mesh = boxes(&[
            ([0.0; 3], [1.0; 3]),
            ([1.2, 0.0, 0.0], [1.5, 1.0, 1.0]),
            ([9.0; 3], [9.5; 3]),
        ]);
        let shape = OrientedSurface::of(&mesh);
        let holds = Hold::all_of(&points(&[[0.5; 3], [9.2; 3]]), &shape);
        let rows_of = |piece: usize| {
            if piece == 0 {
                vec![(0, 1.0)]
            } else {
                vec![(1, 1.0)]
            }
        };
        let pieces = shape.piece_of.iter().map(|&piece| piece as usize);
        let mut rows: JointShares = pieces
            .map(|piece| if piece == 1 { vec![] } else { rows_of(piece) })
            .collect();
        follow(&shape, &holds, &mut rows, &[true, false, true]);
        for &point in &shape.pieces[1].points {
            let row = &rows[point as usize];
            assert!(row.len() == 1 && row[0].0 == 0 && (row[0].1 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn only_small_pieces_without_a_bone_are_stiff() {
        let mesh = boxes(&[
            ([0.0; 3], [10.0; 3]),
            ([10.1, 5.0, 5.0], [10.3, 5.2, 5.2]),
            ([12.0; 3], [12.2; 3]),
        ]);
        let shape = OrientedSurface::of(&mesh);
        let holds = Hold::all_of(&bones(&[([11.0; 3], [13.0; 3])]), &shape);
        let mut rows: JointShares = (0..shape.points.len() as u16)
            .map(|point| vec![(point, 1.0)])
            .collect();
        stiffen_small_pieces(&shape, &holds, &mut rows);
        let stiff = |piece: usize| {
            let points = &shape.pieces[piece].points;
            points
                .iter()
                .all(|&point| rows[point as usize] == rows[points[0] as usize])
        };
        assert!(
            !stiff(0) && stiff(1) && !stiff(2),
            "a body, a button, a small thing with a bone"
        );
    }
}
