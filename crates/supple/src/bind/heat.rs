//! Bone heat: every point takes the temperature of the nearest bone that it sees, and heat spreads
//! over the surface.
//!
//! `lecture-skinning.txt` names it (Baran and Popović 2007): the equilibrium of `−Δw_j + H w_j = H
//! p_j`, where `p_j` is one at the points to which bone `j` is the nearest visible one, and `H = c
//! / d²` with `d` the distance to it; zero where no bone is seen. With the area matrix `M` and the
//! cotangent Laplacian `L` the system `(L + M H) w_j = M H p_j` is symmetric, the same for all
//! bones, and takes one factorisation. Its solutions are in `0…1` and sum to one.

use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use super::segment_tree::{Near, SegmentTree};
use super::{BindError, Rows};
use crate::exec;
use crate::sparse::Pattern;
use glam::DVec3;

/// How bone heat binds.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HeatOptions {
    /// `c` in `H = c / d²`: more keeps weights nearer to their bones, less smooths them farther.
    pub strength: f64,
}

impl Default for HeatOptions {
    fn default() -> HeatOptions {
        HeatOptions { strength: 1.0 }
    }
}

impl HeatOptions {
    pub(super) fn check(&self) -> Result<(), BindError> {
        super::check_positive("strength", self.strength)
    }
}

/// What a point sees.
#[derive(Clone, Debug, Default)]
struct Sight {
    /// The nearest bones, more than one where they are equally near.
    holds: Vec<u16>,
    square_distance: f64,
}

/// How many bones are tried, nearest first. One that is hidden behind this many nearer ones is no
/// bone of this point.
const TRIES: usize = 6;

/// Bones farther than this many times the nearest one are not looked for.
const FARTHEST: f64 = 3.0;

/// Bones count as equally near within this share of their square distance.
const TIE: f64 = 1e-4;

/// A piece of which fewer points see a bone than this share does not decide for itself: it lies
/// over something, and follows that.
const SEEING: f64 = 0.5;

/// The rows of all points in pieces that see their bones; which pieces those are. If none does,
/// every point is taken to see its nearest bone.
pub(super) fn rows(
    shape: &OrientedSurface,
    holds: &[Hold],
    options: &HeatOptions,
) -> Result<(Rows, Vec<bool>), BindError> {
    let points = shape.points.len();
    let tree = SegmentTree::over(holds);
    let look = || {
        exec::map_chunks(points, |points| {
            let mut near = Vec::new();
            points
                .map(|point| see(shape, &tree, point as u32, &mut near))
                .collect::<Vec<_>>()
        })
    };
    let order = || {
        let entries: Vec<[u32; 2]> = shape.edges.iter().map(|edge| edge.ends).collect();
        Pattern::of(points, &entries)
    };
    // Which equations there are does not hang on what is seen.
    let (looked, pattern) = exec::both(look, order);
    let pattern = pattern.map_err(|_| BindError::Solver)?;
    let mut sights: Vec<Sight> = looked.into_iter().flatten().collect();
    let mut seeing: Vec<bool> = shape
        .pieces
        .iter()
        .map(|piece| {
            let area = |point: &u32| shape.areas[*point as usize];
            let sees = |point: &&u32| !sights[**point as usize].holds.is_empty();
            let all: f64 = piece.points.iter().map(area).sum();
            let seen: f64 = piece.points.iter().filter(sees).map(area).sum();
            seen > 0.0 && seen >= SEEING * all
        })
        .collect();
    if !seeing.contains(&true) {
        for (piece, sees) in shape.pieces.iter().zip(&mut seeing) {
            *sees = piece.points.len() > 1;
        }
        for (point, sight) in sights.iter_mut().enumerate() {
            *sight = nearest_of(&tree, shape.points[point]);
        }
    }
    let rows = spread(shape, holds, options, &sights, &seeing, &pattern)?;
    Ok((rows, seeing))
}

/// The nearest bones, seen or not.
fn nearest_of(tree: &SegmentTree, place: DVec3) -> Sight {
    let square = tree.nearest_square(place);
    let mut near = Vec::new();
    tree.within(place, (1.0 + TIE) * square, &mut near);
    Sight::of(&near, square)
}

impl Sight {
    /// The holds that are about as far as one whose square distance is known.
    fn of(near: &[Near], square: f64) -> Sight {
        let as_far = (1.0 - TIE) * square..=(1.0 + TIE) * square;
        let holds = near.iter().filter(|near| as_far.contains(&near.square));
        Sight {
            holds: holds.map(|near| near.hold).collect(),
            square_distance: square,
        }
    }
}

/// The nearest bones that a point sees, through the inside of the body. `near` is scratch: the
/// holds that are near enough to be tried.
fn see(shape: &OrientedSurface, tree: &SegmentTree, point: u32, near: &mut Vec<Near>) -> Sight {
    let place = shape.points[point as usize];
    let closed = shape.pieces[shape.piece_of[point as usize] as usize].closed;
    let normal = shape.normals[point as usize];
    let mut passed = f64::NEG_INFINITY;
    let farthest = tree.nearest_square(place) * FARTHEST * FARTHEST;
    // Also what is as far as the farthest that is tried.
    tree.within(place, (1.0 + TIE) * farthest, near);
    for _ in 0..TRIES {
        let left = near.iter().filter(|near| near.square > passed);
        let Some(&Near {
            point: target,
            square,
            ..
        }) = left.min_by(|a, b| a.square.total_cmp(&b.square))
        else {
            break;
        };
        if square > farthest {
            break;
        }
        passed = square * (1.0 + TIE);
        let way = target - place;
        // Away from the inside, no bone of this body is seen: what is in front of a face is not
        // part of it.
        let outwards = closed && way.dot(normal) > 0.2 * way.length() * normal.length();
        if !outwards && !shape.hides(point, target) {
            return Sight::of(near, square);
        }
    }
    Sight::default()
}

/// Bones whose heat is spread at once. More would only take more memory: a number per point each.
const TOGETHER: usize = 64;

/// Spreads heat over the pieces that see bones.
fn spread(
    shape: &OrientedSurface,
    holds: &[Hold],
    options: &HeatOptions,
    sights: &[Sight],
    seeing: &[bool],
    pattern: &Pattern,
) -> Result<Rows, BindError> {
    let takes_part = |point: usize| seeing[shape.piece_of[point] as usize];
    let heat: Vec<f64> = sights
        .iter()
        .enumerate()
        .map(|(point, sight)| {
            if sight.holds.is_empty() || !takes_part(point) {
                return 0.0;
            }
            // A point on its bone is held as by one a millionth of the extent away.
            options.strength * shape.areas[point] / sight.square_distance.max(1e-12)
        })
        .collect();
    // Points of other pieces have the equation `w = 0`.
    let mut diagonal: Vec<f64> = (0..heat.len())
        .map(|point| if takes_part(point) { heat[point] } else { 1.0 })
        .collect();
    let entries = shape.edges.iter().map(|edge| {
        let [a, b] = edge.ends.map(|end| end as usize);
        if !takes_part(a) {
            return 0.0;
        }
        diagonal[a] += edge.weight;
        diagonal[b] += edge.weight;
        -edge.weight
    });
    let entries: Vec<f64> = entries.collect();
    let system = pattern
        .factor(&diagonal, &entries)
        .map_err(|_| BindError::Solver)?;
    let mut used: Vec<u16> = sights
        .iter()
        .flat_map(|sight| sight.holds.iter().copied())
        .collect();
    used.sort_unstable();
    used.dedup();
    // The right-hand sides, of which each point has as many entries as it sees bones.
    let mut sources: Vec<Vec<(u32, f64)>> = vec![Vec::new(); used.len()];
    for (point, (sight, &heat)) in sights.iter().zip(&heat).enumerate() {
        for hold in &sight.holds {
            if let Ok(column) = used.binary_search(hold) {
                sources[column].push((point as u32, heat / sight.holds.len() as f64));
            }
        }
    }
    let joints: Vec<u16> = used
        .iter()
        .map(|&hold| holds[usize::from(hold)].joint)
        .collect();
    let mut rows: Rows = vec![Vec::new(); heat.len()];
    for (sources, joints) in sources.chunks(TOGETHER).zip(joints.chunks(TOGETHER)) {
        let column = |source: &Vec<(u32, f64)>| {
            let mut column = vec![0.0; heat.len()];
            for &(point, heat) in source {
                column[point as usize] = heat;
            }
            column
        };
        let solved = system.solve(sources.iter().map(column).collect());
        exec::for_each_chunk_mut(&mut rows, |first, rows| {
            for (point, row) in (first..).zip(rows) {
                let shares = joints.iter().zip(&solved);
                let shares = shares.map(|(&joint, column)| (joint, column[point]));
                row.extend(shares.filter(|(_, share)| *share > super::LEAST));
            }
        });
    }
    Ok(rows)
}
