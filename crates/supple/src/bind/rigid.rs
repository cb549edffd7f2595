//! Rigid weights: every point follows the nearest bone. Of equally near bones, as all around a
//! joint, the one nearer to the root wins.

use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use super::segment_tree::SegmentTree;
use crate::exec;

/// The nearest hold of every point.
pub(super) fn nearest_holds(shape: &OrientedSurface, holds: &[Hold]) -> Vec<u16> {
    let tree = SegmentTree::over(holds);
    exec::map_chunks(shape.points.len(), |points| {
        let mut near = Vec::new();
        let nearest = |point: usize| {
            let place = shape.points[point];
            tree.within(place, tree.nearest_square(place) * (1.0 + 1e-6), &mut near);
            let mut best = (0, f64::INFINITY);
            for near in &near {
                // Rounding must not decide ties.
                if near.square < best.1 * (1.0 - 1e-9) {
                    best = (near.hold, near.square);
                }
            }
            best.0
        };
        points.map(nearest).collect::<Vec<_>>()
    })
    .concat()
}
