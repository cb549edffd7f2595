//! As-rigid-as-possible skinning: the joints of a skeleton serve as point handles.
//!
//! `arap-point-handles.txt`, §3.1; the solver is [`crate::arap`]. The energy is minimised over the
//! whole surface once per pose; the vertex loop then applies the frame `[R_i v'_i − R_i v_i]`.
//!
//! Under scale and shear (two phases) the rest surface of the energy is the stretched surface, so
//! that a character at twice its size is not pressed back.

use super::direct::{FieldKey, Fields, OneByOne};
use super::error::DeformError;
use super::neighbour_blend::{NeighbourBlend, rigid_frame};
use super::rigid_motion::{BlendsMotions, RigidMotions, TwoPhases};
use super::vertex_loop::Deformer;
use crate::arap::{Arap, ArapOptions, ArapReport, ArapState};
use crate::rig::Rig;
use crate::transform::Affine;
use glam::{DAffine3, DVec3};
use std::sync::Arc;

pub(super) fn bake(
    rig: &Rig,
    options: &ArapOptions,
) -> Result<(Arc<dyn Deformer>, ArapReport), DeformError> {
    let arap = Arap::new(rig, options)?;
    let report = arap.report();
    let weights = arap.weights().clone();
    let neighbours = NeighbourBlend::of(arap.rest().len(), |point| arap.neighbours(point));
    let skin = ArapSkin { arap, neighbours };
    let skin = Arc::new(TwoPhases::with_weights(rig, &weights, skin));
    Ok((skin, report))
}

/// A surface prepared for the solver.
#[derive(Debug)]
struct ArapSkin {
    arap: Arap,
    neighbours: NeighbourBlend,
}

/// Scratch data of a pose.
#[derive(Debug, Default)]
struct PosedSurface {
    matrices: Vec<DAffine3>,
    stretched: Vec<DVec3>,
    /// The stretched rest surface, if the pose stretches.
    kept: Vec<DVec3>,
    state: ArapState,
    /// The frame of every point.
    frames: Vec<Affine>,
}

impl BlendsMotions for ArapSkin {
    type Posed = PosedSurface;
    type Lanes = OneByOne;

    const ONE_JOINT_IS_RIGID: bool = false;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedSurface) {
        let rest = self.arap.rest();
        posed.frames.clear();
        let common = motions.common();
        if let Some(common) = common.filter(|_| self.arap.preserves_rigid_motions()) {
            posed.state.start_afresh();
            posed.frames.resize(rest.len(), common);
            return;
        }
        motions.blend_linearly(
            rest,
            |point| self.arap.row(point),
            &mut posed.matrices,
            &mut posed.stretched,
            &mut posed.state.blended,
        );
        let turns = &mut posed.state.handle_turns;
        turns.clear();
        turns.extend(posed.matrices.iter().map(|map| map.matrix3));
        match motions.common_stretch() {
            // Blending a common stretch about each joint would bend the surface that should stay
            // rigid.
            Some(stretch) => {
                let stretched = rest.iter().map(|&place| stretch * place);
                posed.kept.clear();
                posed.kept.extend(stretched);
                self.arap.solve(&posed.kept, &mut posed.state);
            }
            None => self.arap.solve(&posed.stretched, &mut posed.state),
        }
        let state = &posed.state;
        let turned = state.smoothed.iter().zip(&state.rotations);
        let frames = turned
            .zip(&posed.stretched)
            .map(|((posed, rotation), rest)| rigid_frame(rotation, *rest, *posed));
        posed.frames.extend(frames);
    }

    #[inline]
    fn extras(&self, vertex: usize) -> &[f32] {
        self.neighbours.values(self.arap.weld().point_of(vertex))
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        self.neighbours
            .keys(self.arap.weld().point_of(vertex), keys);
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    #[inline]
    fn frame(
        &self,
        vertex: usize,
        _joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &PosedSurface,
    ) -> Affine {
        let point = self.arap.weld().point_of(vertex);
        self.neighbours.frame(point, fields.extras, &posed.frames)
    }
}
