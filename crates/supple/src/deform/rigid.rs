//! Rigid skinning: one joint per vertex (`skinning-course-direct-methods.txt`, §2, the older games' variant).

use super::DeformError;
use super::direct::{Direct, FieldKey, Fields};
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

impl Direct for RigidSkin {
    type Posed = Vec<Affine>;

    fn pose(&self, palette: &[Affine], posed: &mut Vec<Affine>) -> Result<(), DeformError> {
        palette.clone_into(posed);
        Ok(())
    }

    /// None: the frame is constant around every vertex.
    #[inline]
    fn fields(&self, _vertex: usize) -> Fields<'_> {
        Fields {
            weights: &[],
            extras: &[],
        }
    }

    fn keys(&self, _vertex: usize, _keys: &mut Vec<FieldKey>) {}

    #[inline]
    fn frame(&self, vertex: usize, _fields: Fields<'_>, posed: &Vec<Affine>) -> Affine {
        posed[usize::from(self.joints[vertex])]
    }
}
