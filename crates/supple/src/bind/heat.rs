//! Bone heat: every point is heated by the nearest visible bone, and heat diffuses over the
//! surface.
//!
//! `lecture-skinning.txt` mentions it (Baran and Popović 2007): the equilibrium of `−Δw_j + H w_j =
//! H p_j`, where `p_j` is one at the points whose nearest visible bone is `j`, and `H = c / d²`
//! with the distance `d` to it; zero if no bone is visible. With the area matrix `M` and the
//! cotangent Laplacian `L`, the system `(L + M H) w_j = M H p_j` is symmetric, equal for all bones,
//! and needs one factorisation. Its solutions are within `0…1` and sum to one.

use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use super::segment_tree::{Near, SegmentTree};
use super::{BindError, JointShares};
use crate::exec;
use crate::option_error::OptionError;
use crate::sparse::Pattern;
use glam::DVec3;

/// Options of bone heat.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct HeatOptions {
    /// `c` in `H = c / d²`: larger values keep weights closer to their bones, smaller values smooth
    /// them farther.
    pub strength: f64,
}

impl Default for HeatOptions {
    fn default() -> HeatOptions {
        HeatOptions { strength: 1.0 }
    }
}

impl HeatOptions {
    pub(super) fn check(&self) -> Result<(), OptionError> {
        super::check_positive("the strength", self.strength)
    }
}

/// The bones visible from a point.
#[derive(Clone, Debug, Default)]
struct Sight {
    /// The nearest bones; several if they are equally near.
    holds: Vec<u16>,
    square_distance: f64,
}

/// The number of nearest bones that are tested for visibility. Bones behind that many hidden ones
/// are ignored.
const MOST_TESTED: usize = 6;

/// Bones farther than this many times the nearest one are ignored.
const FARTHEST: f64 = 3.0;

/// Bones count as equally near if their squared distances differ by at most this share.
const TIE: f64 = 1e-4;

/// If fewer points of a piece than this share see a bone, the piece covers another one and follows
/// that.
const LEAST_SEEING: f64 = 0.5;

/// The rows of all points in pieces that see their bones, and which pieces those are. If no piece
/// does, every point uses its nearest bone.
pub(super) fn rows(
    shape: &OrientedSurface,
    holds: &[Hold],
    options: &HeatOptions,
) -> Result<(JointShares, Vec<bool>), BindError> {
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
    // The pattern of the equations does not depend on visibility.
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
            seen > 0.0 && seen >= LEAST_SEEING * all
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

/// The nearest bones, visible or not.
fn nearest_of(tree: &SegmentTree, place: DVec3) -> Sight {
    let square = tree.nearest_square(place);
    let mut near = Vec::new();
    tree.within(place, (1.0 + TIE) * square, &mut near);
    Sight::of(&near, square)
}

impl Sight {
    /// The holds at about the same distance as a known one.
    fn of(near: &[Near], square: f64) -> Sight {
        let as_far = (1.0 - TIE) * square..=(1.0 + TIE) * square;
        let holds = near.iter().filter(|near| as_far.contains(&near.square));
        Sight {
            holds: holds.map(|near| near.hold).collect(),
            square_distance: square,
        }
    }
}

/// The nearest bones visible from a point through the inside of the body. `near` is scratch: the
/// holds near enough to be tested.
fn see(shape: &OrientedSurface, tree: &SegmentTree, point: u32, near: &mut Vec<Near>) -> Sight {
    let place = shape.points[point as usize];
    let closed = shape.pieces[shape.piece_of[point as usize] as usize].closed;
    let normal = shape.normals[point as usize];
    let mut passed = f64::NEG_INFINITY;
    let farthest = tree.nearest_square(place) * FARTHEST * FARTHEST;
    // Includes holds at the distance of the farthest one that is tested.
    tree.within(place, (1.0 + TIE) * farthest, near);
    for _ in 0..MOST_TESTED {
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
        // Bones on the outer side of a point are not visible: an object in front of a face is not
        // part of the face.
        let outwards = closed && way.dot(normal) > 0.2 * way.length() * normal.length();
        if !outwards && !shape.hides(point, target) {
            return Sight::of(near, square);
        }
    }
    Sight::default()
}

/// The number of bones that are solved at once. More would only need more memory, a number per
/// point each.
const JOINTS_AT_ONCE: usize = 64;

/// Diffuses heat over the pieces that see bones.
fn spread(
    shape: &OrientedSurface,
    holds: &[Hold],
    options: &HeatOptions,
    sights: &[Sight],
    seeing: &[bool],
    pattern: &Pattern,
) -> Result<JointShares, BindError> {
    let takes_part = |point: usize| seeing[shape.piece_of[point] as usize];
    let heat: Vec<f64> = sights
        .iter()
        .enumerate()
        .map(|(point, sight)| {
            if sight.holds.is_empty() || !takes_part(point) {
                return 0.0;
            }
            // A point on its bone is treated as if it were a millionth of the extent away.
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
    // The right-hand sides, with an entry per visible bone of each point.
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
    let mut rows: JointShares = vec![Vec::new(); heat.len()];
    for (sources, joints) in sources
        .chunks(JOINTS_AT_ONCE)
        .zip(joints.chunks(JOINTS_AT_ONCE))
    {
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
