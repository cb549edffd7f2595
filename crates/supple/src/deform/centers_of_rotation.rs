//! Optimized centers of rotation: each vertex rotates by blended quaternions about its own baked
//! center.
//!
//! `centers-of-rotation.txt`, Algorithm 1: `R` is the normalised sum of the joints' quaternions,
//! `[R̃ t̃]` the linear blend of their matrices, and the center moves as in linear blending: `t =
//! R̃p* + t̃ − Rp*` (eq. 3b). The centers are baked in `centers/`.
//!
//! Under scale and shear (§3.3, two phases) the second phase starts from a stretched surface. A
//! vertex and everything similar to it are stretched alike, so the center of the stretched surface
//! is the stretched center.
//!
//! A vertex with one influence follows its joint for any center. A vertex without a similar
//! triangle matches only itself: it is its own center and moves as in linear blending. Neither case
//! leaves a crease to its neighbours: as the second weight vanishes, `R̃ → R`, and the center has
//! no effect.

use super::antipodality::{Antipodality, QuatLanes, Signs};
use super::direct::{FieldKey, Fields, OutsideValue};
use super::error::DeformError;
use super::lanes::{ChosenRecords, FrameLanes, Group, Lane, Packing, blend as blend_lanes, loaded};
use super::rigid_motion::{BlendsMotions, MotionLanes, MotionStreams, RigidMotions};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::centers::{CenterError, CenterOptions, Centers};
use crate::rig::Rig;
use crate::surface::{StoredUnits, Units};
use crate::transform::{Affine, linear_blend};
use fearless_simd::Simd;
use glam::{Mat3, Quat, Vec3};
use std::sync::Arc;

/// Options of skinning with centers of rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct CentersOfRotation {
    /// The choice of signs of quaternions.
    pub antipodality: Antipodality,
    /// Options of computing centers if [`BakedData::centers`](super::BakedData::centers) has none.
    pub centers: CenterOptions,
}

impl CentersOfRotation {
    pub(super) const DEFAULT: CentersOfRotation = CentersOfRotation {
        antipodality: Antipodality::PerVertex,
        centers: CenterOptions::PAPER,
    };
}

/// The centers, and how rotations are added.
#[derive(Clone, Debug)]
pub(super) struct CenterSkin {
    signs: Signs,
    centers: Vec<BakedCenter>,
    units: StoredUnits,
    packing: Arc<Packing>,
    /// The centers themselves, group by group.
    center_lanes: Vec<[Lane; 3]>,
}

/// A center in units of the surface.
#[derive(Clone, Copy, Debug)]
struct BakedCenter {
    place: [f32; 3],
    /// False if no center was found; the vertex's own position is used.
    found: bool,
}

impl CenterSkin {
    pub(super) fn bake(
        rig: &Rig,
        options: &CentersOfRotation,
        stored: Option<&Centers>,
    ) -> Result<CenterSkin, DeformError> {
        let mesh = rig.mesh();
        let computed;
        let centers = match stored {
            Some(centers) => centers,
            None => {
                computed = Centers::bake(mesh, rig.weights(), &options.centers)?;
                &computed
            }
        };
        if centers.points().len() != mesh.vertex_count() {
            return Err(DeformError::Centers(CenterError::VertexCount {
                what: "centers",
                found: centers.points().len(),
                expected: mesh.vertex_count(),
            }));
        }
        let units = Units::of(mesh.bounds()).stored();
        let baked = centers.points().iter().zip(mesh.positions());
        let baked = baked.map(|(center, &own)| BakedCenter {
            place: units.store(center.unwrap_or(own)),
            found: center.is_some(),
        });
        let baked: Vec<BakedCenter> = baked.collect();
        let packing = Packing::of(rig.weights().clone());
        let center = |vertex: usize| units.restore(baked[vertex].place).to_array();
        let groups = packing.all_groups();
        Ok(CenterSkin {
            signs: Signs::bake(rig, options.antipodality),
            center_lanes: groups.map(|group| group.lanes(center)).collect(),
            centers: baked,
            units,
            packing: Arc::new(packing),
        })
    }
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedJoints {
    rotations: Vec<Quat>,
    matrices: Vec<Affine>,
    /// Rotation and matrix of each joint in one record, the rotation first.
    records: ChosenRecords<16>,
}

/// Eq. (3b): rotates by `rotation` and moves `center` to where `blend` takes it.
#[inline]
pub(super) fn turned_about(center: Vec3, rotation: Mat3, blend: &Affine) -> Affine {
    let translation = blend.transform_point(center) - rotation * center;
    Affine::from_mat3_translation(rotation, translation)
}

/// The kind of centers among the fields of a vertex.
const CENTER: u16 = 1;

/// The kind of a vertex's own position used as its center: unrelated to the centers of neighbours.
const OWN_PLACE: u16 = 2;

/// The keys of a center and the numbers stored with it, `count` in all.
pub(super) fn center_keys(found: bool, count: u32, keys: &mut Vec<FieldKey>) {
    keys.extend((0..count).map(|owner| FieldKey {
        kind: if found { CENTER } else { OWN_PLACE },
        owner,
        outside: OutsideValue::Unknown,
    }));
}

impl BlendsMotions for CenterSkin {
    type Posed = PosedJoints;
    type Lanes = CenterSkin;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedJoints) {
        posed.rotations.clear();
        posed.matrices.clear();
        for motion in &motions.motions {
            let rotation = motion.rotation.as_quat();
            self.signs.push(&mut posed.rotations, rotation);
            posed.matrices.push(motion.to_affine());
        }
        let joints = posed.rotations.iter().zip(&posed.matrices);
        let records = joints.map(|(rotation, matrix)| {
            let mut record = [0.0; 16];
            record[..4].copy_from_slice(&rotation.to_array());
            record[4..].copy_from_slice(&matrix.to_array());
            record
        });
        posed
            .records
            .refill_with_signs(&self.packing, &self.signs, 4, records);
    }

    #[inline]
    fn extras(&self, vertex: usize) -> &[f32] {
        &self.centers[vertex].place
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        center_keys(self.centers[vertex].found, 3, keys);
    }

    #[inline]
    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        posed: &PosedJoints,
    ) -> Affine {
        let &[x, y, z] = fields.extras else {
            return Affine::ZERO;
        };
        let center = self.units.restore([x, y, z]);
        let center = match motions.stretch_blend(joints, fields.weights) {
            Some(stretch) => stretch.transform_point(center),
            None => center,
        };
        let rotation = self.signs.sum(joints, fields.weights, &posed.rotations);
        let blend = linear_blend(joints, fields.weights, &posed.matrices);
        turned_about(center, Mat3::from_quat(rotation.normalize()), &blend)
    }

    #[inline]
    fn lanes(&self) -> Option<&CenterSkin> {
        Some(self)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedJoints>)> {
        let layout = StreamLayout {
            antipodality: self.signs.antipodality(),
            ..StreamLayout::of(Kernel::CentersOfRotation, 3, 0, 2)
        };
        Some((layout, self))
    }
}

impl MotionLanes<PosedJoints> for CenterSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        stretch: Option<&FrameLanes<S>>,
        posed: &PosedJoints,
    ) -> FrameLanes<S> {
        let [x, y, z, w, numbers @ ..] = blend_lanes(simd, group, &posed.records);
        let sum = QuatLanes([x, y, z, w]);
        let center = loaded(simd, &self.center_lanes[group.index]);
        let center = match stretch {
            Some(stretch) => stretch.transform_points(&center),
            None => center,
        };
        let rotation = sum.to_rotation(simd, sum.twice_per_square(simd));
        let carried = FrameLanes::of(numbers).transform_points(&center);
        FrameLanes {
            doubtful: sum.cancelled_out(),
            ..FrameLanes::turned_about(&rotation, &center, &carried)
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.center_lanes[..])
    }
}

impl MotionStreams<PosedJoints> for CenterSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let center = self.units.restore(self.centers[vertex].place);
        stream.numbers.extend(center.to_array());
    }

    fn push_joints(&self, _motions: &RigidMotions, posed: &PosedJoints, stream: &mut PoseStream) {
        for (rotation, matrix) in posed.rotations.iter().zip(&posed.matrices) {
            stream.push_motion(rotation.to_array(), matrix.transform_point(Vec3::ZERO));
        }
    }
}
