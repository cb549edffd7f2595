//! Centers of rotation with the rotation by least squares: the alternative that the paper considers
//! and rejects (§5, Fig. 14).
//!
//! `centers-of-rotation.txt`, §5. Minimising eq. (2) over the rotation as well is the orthogonal
//! Procrustes problem: `R` is the rotation nearest to `Σ s (ṽ − ṽ*)(v − p*)ᵀ`. Since the same blend
//! `R̃` of eq. (2b) moves all similar positions, this is `R̃ C`, with `C = Σ s (v − p*)(v − p*)ᵀ`
//! baked with the center. It needs no quaternions, but follows the straight lines of linear
//! blending: near a half turn the rotation jumps.
//!
//! `C` is symmetric, so six of the nine numbers that the paper counts are enough. If the
//! surroundings are flat or straight, the rotation is found from the remaining directions.

use super::centers_of_rotation::{center_keys, turned_about};
use super::direct::{FieldKey, Fields, OneByOne};
use super::error::DeformError;
use super::rigid_motion::{BlendsMotions, RigidMotions};
use crate::centers::{self, CenterOptions, Surroundings};
use crate::polar::Polar;
use crate::rig::Rig;
use crate::surface::{StoredUnits, Units};
use crate::transform::{Affine, linear_blend};
use glam::{DMat3, Mat3};

/// A vertex's center and the spread of the similar surface around it.
#[derive(Clone, Copy, Debug)]
struct BakedSpread {
    /// The center in units of the surface; then xx, xy, xz, yy, yz, zz of the spread, whose trace
    /// is one.
    numbers: [f32; 9],
    /// False if no center was found; the vertex's own position is used.
    found: bool,
}

/// The data of a vertex.
#[derive(Clone, Debug)]
pub(super) struct ProcrustesSkin {
    spreads: Vec<BakedSpread>,
    units: StoredUnits,
}

impl ProcrustesSkin {
    pub(super) fn bake(rig: &Rig, options: &CenterOptions) -> Result<ProcrustesSkin, DeformError> {
        let mesh = rig.mesh();
        let units = Units::of(rig.mesh().bounds()).stored();
        let surroundings = centers::surroundings(mesh, rig.weights(), options)?;
        let spreads = surroundings.into_iter().zip(mesh.positions());
        let spreads = spreads.map(|(surroundings, &own)| {
            // Around a single vertex, no direction is preferred.
            let Surroundings { center, spread } = surroundings.unwrap_or(Surroundings {
                center: own.as_dvec3(),
                spread: DMat3::IDENTITY,
            });
            let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
            let [x, y, z] = units.store(center.as_vec3());
            let scaled = |value: f64| {
                if trace > 0.0 {
                    (value / trace) as f32
                } else {
                    0.0
                }
            };
            let DMat3 {
                x_axis,
                y_axis,
                z_axis,
            } = spread;
            let [xx, xy, xz] = x_axis.to_array().map(scaled);
            let [yy, yz, zz] = [y_axis.y, y_axis.z, z_axis.z].map(scaled);
            BakedSpread {
                numbers: [x, y, z, xx, xy, xz, yy, yz, zz],
                found: surroundings.is_some(),
            }
        });
        Ok(ProcrustesSkin {
            spreads: spreads.collect(),
            units,
        })
    }
}

impl BlendsMotions for ProcrustesSkin {
    /// The matrix of each joint.
    type Posed = Vec<Affine>;
    type Lanes = OneByOne;

    fn pose(&self, motions: &RigidMotions, matrices: &mut Vec<Affine>) {
        matrices.clear();
        matrices.extend(motions.motions.iter().map(|motion| motion.to_affine()));
    }

    fn extras(&self, vertex: usize) -> &[f32] {
        &self.spreads[vertex].numbers
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        center_keys(self.spreads[vertex].found, 9, keys);
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        matrices: &Vec<Affine>,
    ) -> Affine {
        let &[x, y, z, xx, xy, xz, yy, yz, zz] = fields.extras else {
            return Affine::ZERO;
        };
        let mut center = self.units.restore([x, y, z]);
        let mut spread = Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]).as_dmat3();
        if let Some(stretch) = motions.stretch_blend(joints, fields.weights) {
            center = stretch.transform_point(center);
            let stretch = stretch.to_f64().matrix3;
            spread = stretch * spread * stretch.transpose();
        }
        let blend = linear_blend(joints, fields.weights, matrices);
        let rotation = Polar::of(blend.to_f64().matrix3 * spread).rotation;
        turned_about(center, Mat3::from_quat(rotation.as_quat()), &blend)
    }
}
