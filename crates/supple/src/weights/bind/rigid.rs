//! Every point follows the nearest bone. Where bones are equally near, as all around a joint, the one nearer to the root has it.

use super::handles::Hold;
use super::shape::Shape;
use crate::exec;

/// The nearest hold of every point.
pub(super) fn nearest_holds(shape: &Shape, holds: &[Hold]) -> Vec<u16> {
    let nearest = |point: usize| {
        let mut best = (0, f64::INFINITY);
        for (index, hold) in holds.iter().enumerate() {
            let square = hold.nearest(shape.points[point]).1;
            // Rounding must not decide what is a tie.
            if square < best.1 * (1.0 - 1e-9) {
                best = (index as u16, square);
            }
        }
        best.0
    };
    exec::map_chunks(shape.points.len(), |points| {
        points.map(nearest).collect::<Vec<_>>()
    })
    .concat()
}
