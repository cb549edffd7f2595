//! Blends of the frames of neighbouring points, for methods that compute one frame per point and
//! pose: delta mush and as-rigid-as-possible.
//!
//! The fields of a vertex are the hat functions (the linear finite-element basis) of its point and
//! of the point's neighbours: 1 for the point itself, 0 for the neighbours. So a vertex has the
//! frame of its own point, and the gradients of the fields give the change of the frame along the
//! surface, which gradient normals need.

use super::direct::{FieldKey, OutsideValue};
use crate::surface::Rows;
use crate::transform::Affine;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::iter::once;

/// The hat functions at each point: its own and those of its neighbours.
#[derive(Debug)]
pub(super) struct NeighbourBlend {
    /// The point of each function: the point itself first, then its neighbours.
    owners: Rows<u32>,
    values: Vec<f32>,
}

/// The kind of hat functions among the fields.
const HAT: u16 = 1;

impl NeighbourBlend {
    pub(super) fn of<'a>(points: usize, neighbours: impl Fn(usize) -> &'a [u32]) -> NeighbourBlend {
        let (mut owners, mut values) = (Rows::default(), Vec::new());
        for point in 0..points {
            let others = neighbours(point).iter().copied();
            owners.push_row(once(point as u32).chain(others));
            values.push(1.0);
            values.resize(owners.values().len(), 0.0);
        }
        NeighbourBlend { owners, values }
    }

    /// The values of the hat functions at a point.
    #[inline]
    pub(super) fn values(&self, point: usize) -> &[f32] {
        &self.values[self.owners.range(point)]
    }

    /// The keys of the hat functions at a point.
    pub(super) fn keys(&self, point: usize, keys: &mut Vec<FieldKey>) {
        let owners = self.owners.row(point).iter();
        keys.extend(owners.map(|&owner| FieldKey {
            kind: HAT,
            owner,
            outside: OutsideValue::Zero,
        }));
    }

    /// The blend of the frames of a point and its neighbours, by these values of the hat functions.
    #[inline]
    pub(super) fn frame(&self, point: usize, values: &[f32], frames: &[Affine]) -> Affine {
        let [first, others @ ..] = values else {
            return frames[point];
        };
        let mut frame = Affine::ZERO.add_scaled(&frames[point], *first);
        let neighbours = &self.owners.row(point)[1..];
        for (&neighbour, &share) in neighbours.iter().zip(others) {
            if share != 0.0 {
                frame = frame.add_scaled(&frames[neighbour as usize], share);
            }
        }
        frame
    }
}

/// The rigid frame that rotates a rest position and moves it to a posed one. Rounding errors of the
/// rotation are removed.
pub(super) fn rigid_frame(rotation: &DMat3, rest: DVec3, posed: DVec3) -> Affine {
    Affine::from_f64(&DAffine3 {
        matrix3: DMat3::from_quat(DQuat::from_mat3(rotation).normalize()),
        translation: posed - *rotation * rest,
    })
}
