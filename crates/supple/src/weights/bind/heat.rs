//! Bone heat: every point takes the temperature of the nearest bone that it sees, and heat spreads over the surface.
//!
//! `lecture-skinning.txt` names it (Baran and Popović 2007): the equilibrium of `−Δw_j + H w_j = H p_j`, where `p_j` is one at the points to which bone `j` is the
//! nearest visible one, and `H = c / d²` with `d` the distance to it; zero where no bone is seen. With the area matrix `M` and the cotangent Laplacian `L` the system
//! `(L + M H) w_j = M H p_j` is symmetric, the same for all bones, and takes one factorisation. Its solutions are in `0…1` and sum to one.

use super::handles::Hold;
use super::shape::Shape;
use super::{BindError, Rows};
use crate::exec;
use crate::sparse::Pattern;
use glam::DVec3;

/// How bone heat binds.
#[derive(Clone, Debug, PartialEq)]
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

/// How many bones are tried, nearest first. One that is hidden behind this many nearer ones is no bone of this point.
const TRIES: usize = 6;

/// Bones farther than this many times the nearest one are not looked for.
const FARTHEST: f64 = 3.0;

/// Bones count as equally near within this share of their square distance.
const TIE: f64 = 1e-4;

/// A piece of which fewer points see a bone than this share does not decide for itself: it lies over something, and follows that.
const SEEING: f64 = 0.5;

/// The rows of all points in pieces that see their bones; which pieces those are. If none does, every point is taken to see its nearest bone.
pub(super) fn rows(
    shape: &Shape,
    holds: &[Hold],
    options: &HeatOptions,
) -> Result<(Rows, Vec<bool>), BindError> {
    let points = shape.points.len();
    let look = || {
        exec::map_chunks(points, |points| {
            let mut places = Vec::with_capacity(holds.len());
            points
                .map(|point| see(shape, holds, point as u32, &mut places))
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
            *sight = nearest_of(holds, shape, point);
        }
    }
    let rows = spread(shape, holds, options, &sights, &seeing, &pattern)?;
    Ok((rows, seeing))
}

/// The nearest bones, seen or not.
fn nearest_of(holds: &[Hold], shape: &Shape, point: usize) -> Sight {
    let place = shape.points[point];
    let nearest: Vec<_> = holds.iter().map(|hold| hold.nearest(place)).collect();
    let squares = nearest.iter().map(|(_, square)| *square);
    Sight::of(&nearest, squares.fold(f64::INFINITY, f64::min))
}

impl Sight {
    /// The holds that are about as far as one whose square distance is known.
    fn of(nearest: &[(DVec3, f64)], square: f64) -> Sight {
        let near = (1.0 - TIE) * square..=(1.0 + TIE) * square;
        let holds = nearest.iter().enumerate();
        let holds = holds.filter(|(_, (_, square))| near.contains(square));
        Sight {
            holds: holds.map(|(hold, _)| hold as u16).collect(),
            square_distance: square,
        }
    }
}

/// The nearest bones that a point sees, through the inside of the body. `nearest` is scratch: the nearest place of every hold, and the square of how far it is.
fn see(shape: &Shape, holds: &[Hold], point: u32, nearest: &mut Vec<(DVec3, f64)>) -> Sight {
    let place = shape.points[point as usize];
    nearest.clear();
    nearest.extend(holds.iter().map(|hold| hold.nearest(place)));
    let closed = shape.pieces[shape.piece_of[point as usize] as usize].closed;
    let normal = shape.normals[point as usize];
    let mut passed = f64::NEG_INFINITY;
    let mut farthest = f64::INFINITY;
    for _ in 0..TRIES {
        let left = nearest.iter().filter(|(_, square)| *square > passed);
        let Some(&(target, square)) = left.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        if square > farthest {
            break;
        }
        farthest = farthest.min(square * FARTHEST * FARTHEST);
        passed = square * (1.0 + TIE);
        let way = target - place;
        // Away from the inside, no bone of this body is seen: what is in front of a face is not part of it.
        let outwards = closed && way.dot(normal) > 0.2 * way.length() * normal.length();
        if !outwards && !shape.hides(point, target) {
            return Sight::of(nearest, square);
        }
    }
    Sight::default()
}

/// Spreads heat over the pieces that see bones.
fn spread(
    shape: &Shape,
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
        diagonal[a] += edge.cotangents;
        diagonal[b] += edge.cotangents;
        -edge.cotangents
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
    let mut columns = vec![vec![0.0; heat.len()]; used.len()];
    for (point, (sight, &heat)) in sights.iter().zip(&heat).enumerate() {
        for hold in &sight.holds {
            if let Ok(column) = used.binary_search(hold) {
                columns[column][point] = heat / sight.holds.len() as f64;
            }
        }
    }
    let solved = system.solve(columns);
    let joints: Vec<u16> = used
        .iter()
        .map(|&hold| holds[usize::from(hold)].joint)
        .collect();
    let row = |point: usize| {
        let shares = joints
            .iter()
            .zip(&solved)
            .map(|(&joint, column)| (joint, column[point]));
        let shares = shares.filter(|(_, share)| *share > super::LEAST);
        shares.collect::<Vec<_>>()
    };
    let rows = exec::map_chunks(heat.len(), |points| points.map(row).collect::<Vec<_>>());
    Ok(rows.into_iter().flatten().collect())
}
