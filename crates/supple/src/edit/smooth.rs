//! Smoothing weights over the surface.
//!
//! One step moves a point towards the mean of its neighbours, `w ← (1 − s)·w + s·Σ_j share_j·w_j`,
//! with the clamped cotangents of `surface/laplacian.rs`. Means of rows that sum to one sum to one,
//! no weight becomes negative, and pieces that share no point don't affect each other.

use super::row::{Row, blend, share_of};
use super::{Change, EditError, Editor, check_number};
use crate::exec;
use crate::weights::Weights;

/// The largest number of steps.
const MOST_STEPS: u32 = 10_000;

/// Shares below this are dropped between steps: hundreds of them are less than one step of the grid
/// of weights.
const NEGLIGIBLE: f64 = 1e-10;

impl Editor {
    pub(super) fn smooth(
        &self,
        weights: &Weights,
        points: &[u32],
        steps: u32,
        strength: f64,
        joints: &[usize],
    ) -> Result<Change, EditError> {
        check_number("the strength", strength, 0.0..=1.0, "from 0 to 1")?;
        let range = 0.0..=f64::from(MOST_STEPS);
        check_number(
            "the number of steps",
            f64::from(steps),
            range,
            "at most 10000",
        )?;
        for &joint in joints {
            self.check_joint(joint)?;
        }
        let mut moves = vec![joints.is_empty(); self.locked.len()];
        for &joint in joints {
            moves[joint] = true;
        }
        let count = self.weld.point_count();
        let rows = exec::map_chunks(count, |chunk| {
            chunk
                .map(|point| self.row(weights, point))
                .collect::<Vec<_>>()
        });
        let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
        for _ in 0..steps {
            let smoothed = exec::map_chunks(points.len(), |chunk| {
                let smoothed = points[chunk].iter().map(|&point| {
                    let at = |point: usize| &rows[point];
                    self.smoothed_row(point as usize, strength, at, |joint| {
                        moves[usize::from(joint)]
                    })
                });
                smoothed.collect::<Vec<_>>()
            });
            for (&point, row) in points.iter().zip(smoothed.into_iter().flatten()) {
                rows[point as usize] = row;
            }
        }
        let smoothed = points.iter().map(|&point| {
            let row = std::mem::take(&mut rows[point as usize]);
            (point, row)
        });
        self.change(weights, smoothed)
    }

    /// One step at one point. Locked joints keep their shares; unsmoothed joints share what the
    /// smoothed ones leave.
    pub(super) fn smoothed_row<'r>(
        &self,
        point: usize,
        strength: f64,
        row_at: impl Fn(usize) -> &'r Row,
        moves: impl Fn(u16) -> bool,
    ) -> Row {
        let own = row_at(point);
        let (neighbours, shares) = self.laplacian.row(point);
        if neighbours.is_empty() {
            return own.clone();
        }
        let around = neighbours.iter().zip(shares);
        let around = around.map(|(&other, share)| (row_at(other as usize), strength * share));
        let mut row = blend(std::iter::once((own, 1.0 - strength)).chain(around));
        let (mut left, mut moving, mut staying) = (1.0, 0.0, 0.0);
        for (joint, share) in &mut row {
            if self.locks(*joint) {
                *share = share_of(own, *joint);
                left -= *share;
            } else if moves(*joint) {
                moving += *share;
            } else {
                *share = share_of(own, *joint);
                staying += *share;
            }
        }
        // Smoothed joints have the shares of the step as far as there is room; the others fill up,
        // or if there are none, the smoothed ones do.
        let left = f64::max(left, 0.0);
        let scale = |part: f64, sum: f64| if sum > 0.0 { part / sum } else { 0.0 };
        let taken = if staying > 0.0 {
            moving.min(left)
        } else {
            left
        };
        let (of_moving, of_staying) = (scale(taken, moving), scale(left - taken, staying));
        for (joint, share) in &mut row {
            if !self.locks(*joint) {
                *share *= if moves(*joint) { of_moving } else { of_staying };
            }
        }
        row.retain(|&(_, share)| share > NEGLIGIBLE);
        row
    }
}
