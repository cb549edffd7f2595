//! Linear blend skinning.
//!
//! `skinning-course-direct-methods.txt`, §2, eq. (1): `v' = Σ_j w_j T_j v = (Σ_j w_j T_j) v`. The second form is the
//! frame: the matrices are blended, then applied once to the position and once to the normal.

use super::DeformError;
use super::direct::{Direct, FieldKey, Fields};
use crate::rig::Rig;
use crate::transform::Affine;
use crate::weights::Weights;

/// What linear blending reads per frame: the weights as they are.
#[derive(Clone, Debug)]
pub(super) struct LinearSkin {
    weights: Weights,
}

impl LinearSkin {
    pub(super) fn bake(rig: &Rig) -> LinearSkin {
        LinearSkin::with_weights(rig.weights().clone())
    }

    /// With weights other than the rig's.
    pub(super) fn with_weights(weights: Weights) -> LinearSkin {
        LinearSkin { weights }
    }
}

/// `Σ w_j T_j`.
#[inline]
pub(crate) fn blend(joints: &[u16], weights: &[f32], palette: &[Affine]) -> Affine {
    let mut blend = Affine::ZERO;
    for (&joint, &weight) in joints.iter().zip(weights) {
        blend = blend.add_scaled(&palette[usize::from(joint)], weight);
    }
    blend
}

impl Direct for LinearSkin {
    type Posed = Vec<Affine>;

    const LINEAR_IN_FIELDS: bool = true;

    fn pose(&self, palette: &[Affine], posed: &mut Vec<Affine>) -> Result<(), DeformError> {
        palette.clone_into(posed);
        Ok(())
    }

    #[inline]
    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: self.weights.row(vertex).1,
            extras: &[],
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        FieldKey::of_weights(&self.weights, vertex, keys);
    }

    #[inline]
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Vec<Affine>) -> Affine {
        blend(self.weights.row(vertex).0, fields.weights, posed)
    }
}
