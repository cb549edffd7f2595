//! Linear blend skinning.
//!
//! `skinning-course-direct-methods.txt`, §2, eq. (1): `v' = Σ_j w_j T_j v = (Σ_j w_j T_j) v`. The second form is the
//! frame: the matrices are blended, then applied once to the position and once to the normal.

use super::VertexFrame;
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
        LinearSkin {
            weights: rig.weights().clone(),
        }
    }
}

impl VertexFrame for LinearSkin {
    #[inline]
    fn frame(&self, vertex: usize, palette: &[Affine]) -> Affine {
        let (joints, weights) = self.weights.row(vertex);
        let mut blend = Affine::ZERO;
        for (&joint, &weight) in joints.iter().zip(weights) {
            blend = blend.add_scaled(&palette[usize::from(joint)], weight);
        }
        blend
    }
}
