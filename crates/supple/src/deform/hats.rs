//! Frames that are computed once per pose, point by point, and blended between neighbours: for
//! methods that look at the whole surface.
//!
//! The fields of a vertex are the hat functions of its point and of the neighbours: one for itself,
//! zero for the others. So it has its own frame, and the gradients of the fields tell how the frame
//! changes along the surface, as gradient normals need it.

use super::direct::{FieldKey, OutsideValue};
use crate::transform::Affine;

/// The hat functions of all points.
#[derive(Debug)]
pub(super) struct Hats {
    /// Where those of each point start; one entry more than points.
    starts: Vec<u32>,
    /// Whose they are: the point's own first, then those of its neighbours.
    owners: Vec<u32>,
    values: Vec<f32>,
}

/// The kind of hat functions among the fields.
const HAT: u16 = 1;

impl Hats {
    pub(super) fn of<'a>(points: usize, neighbours: impl Fn(usize) -> &'a [u32]) -> Hats {
        let (mut owners, mut values, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for point in 0..points {
            owners.push(point as u32);
            values.push(1.0);
            owners.extend_from_slice(neighbours(point));
            values.resize(owners.len(), 0.0);
            starts.push(owners.len() as u32);
        }
        Hats {
            starts,
            owners,
            values,
        }
    }

    #[inline]
    fn range(&self, point: usize) -> std::ops::Range<usize> {
        self.starts[point] as usize..self.starts[point + 1] as usize
    }

    /// What the hat functions are at a point.
    #[inline]
    pub(super) fn values(&self, point: usize) -> &[f32] {
        &self.values[self.range(point)]
    }

    /// What they stand for.
    pub(super) fn keys(&self, point: usize, keys: &mut Vec<FieldKey>) {
        let owners = self.owners[self.range(point)].iter();
        keys.extend(owners.map(|&owner| FieldKey {
            kind: HAT,
            owner,
            outside: OutsideValue::Zero,
        }));
    }

    /// The frame of a point if the hat functions had these values there.
    #[inline]
    pub(super) fn frame(&self, point: usize, values: &[f32], frames: &[Affine]) -> Affine {
        let [first, others @ ..] = values else {
            return frames[point];
        };
        let mut frame = Affine::ZERO.add_scaled(&frames[point], *first);
        let neighbours = &self.owners[self.range(point)][1..];
        for (&neighbour, &share) in neighbours.iter().zip(others) {
            if share != 0.0 {
                frame = frame.add_scaled(&frames[neighbour as usize], share);
            }
        }
        frame
    }
}
