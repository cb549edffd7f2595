//! Data that a method uses in addition to its options and the rig.

use super::{AnimationSpaceWeights, MatrixWeights};
#[cfg(doc)]
use super::{DualShare, Method};
use crate::centers::Centers;
use crate::mush::Mush;
use std::sync::Arc;

/// Baked, learned or painted data for [`Skin::bake_with`](super::Skin::bake_with). A method uses
/// the data given here, regardless of its options, and computes the rest.
///
/// One value serves all methods, each of which reads its own field. Clones share the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedData {
    /// Centers of rotation, for [`Method::CentersOfRotation`].
    pub centers: Option<Arc<Centers>>,
    /// Patches of direct delta mush, for all variants of [`Method::DirectDeltaMush`].
    pub mush: Option<Arc<Mush>>,
    /// Learned weights for [`Method::AnimationSpace`].
    pub animation_space: Option<Arc<AnimationSpaceWeights>>,
    /// Learned weights for [`Method::MultiWeight`].
    pub multi_weight: Option<Arc<MatrixWeights>>,
    /// Positions of vertices along their bones, from 0 at the joint to 1 at the end of the bone,
    /// for [`Method::StretchTwist`]: one number per influence, in the order of the rig's weights.
    /// If absent, vertices are projected onto their bones.
    pub endpoint_weights: Option<Arc<[f32]>>,
    /// Shares of dual quaternion skinning, one per vertex, for [`DualShare::AsPainted`].
    pub dual_shares: Option<Arc<[f32]>>,
}
