//! Differential blending (Öztireli, Baran, Popa, Dalstein, Sumner and Gross 2013, eq. 15): motions
//! along the skeleton are cut into pieces from joint to joint, and each level of pieces is blended
//! by itself.

use super::dual_quaternion::{DualQuat, sum_of_shorter};
use super::{Frame, Influences, Posed};
use glam::{DAffine3, DVec3};

pub fn differential(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let paths: Vec<Vec<usize>> = influences
        .iter()
        .map(|&(joint, _)| posed.path(joint))
        .collect();
    let levels = paths.iter().map(Vec::len).max().unwrap_or(0);
    let mut product = DAffine3::IDENTITY;
    let mut margin: f64 = 1.0;
    for level in 0..levels {
        let piece = |path: &Vec<usize>| match (level, path.get(level)) {
            (_, None) => DAffine3::IDENTITY,
            (0, Some(&root)) => posed.motion(root),
            (_, Some(&joint)) => posed.motion_between(path[level - 1], joint),
        };
        let weights = influences.iter().map(|&(_, weight)| weight);
        let pieces = paths.iter().map(|path| DualQuat::of(&piece(path)));
        let (sum, level_margin) = sum_of_shorter(weights.zip(pieces));
        product *= sum.motion();
        margin = margin.min(level_margin);
    }
    Frame {
        map: product * posed.phase_one(influences),
        margin,
    }
}
