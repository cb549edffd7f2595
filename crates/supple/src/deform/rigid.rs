//! Rigid skinning: one joint per vertex (`skinning-course-direct-methods.txt`, §2, the older games' variant).

use super::VertexFrame;
use crate::rig::Rig;
use crate::transform::Affine;

/// The heaviest joint of every vertex; on a tie the one with the lower index.
#[derive(Clone, Debug)]
pub(super) struct RigidSkin {
    joints: Vec<u16>,
}

impl RigidSkin {
    pub(super) fn bake(rig: &Rig) -> RigidSkin {
        let weights = rig.weights();
        let heaviest = |vertex| weights.row(vertex).0[0];
        RigidSkin {
            joints: (0..weights.vertex_count()).map(heaviest).collect(),
        }
    }
}

impl VertexFrame for RigidSkin {
    #[inline]
    fn frame(&self, vertex: usize, palette: &[Affine]) -> Affine {
        palette[usize::from(self.joints[vertex])]
    }
}
