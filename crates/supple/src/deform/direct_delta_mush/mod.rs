//! Direct delta mush and its variants: each vertex follows the rigid motion that best fits its
//! smoothed surroundings.
//!
//! `direct-delta-mush.txt`, §3.5. The patch of a vertex is baked (`mush/`): per joint the matrix
//! `Ω_ij`, relative to the middle `p_i` of the patch. With posed positions relative to the heaviest
//! joint's image of that middle, eq. (7) reads `[Q q] = Σ_j [R_j δ_j] Ω_ij` with `δ_j = M_j p_i −
//! M_0 p_i`: eq. (10a) has nothing left to subtract, and `f32` suffices at any distance from the
//! origin. Every variant reads the data of Table 1, packed for that variant:
//!
//! | variant | per joint | per vertex | rotation |
//! |---|---|---|---|
//! | v0 | ω, χ, moments (10) | p | nearest to `Q`, never a reflection |
//! | v1 | the same (10) | p | cofactors: no decomposition; distorted, inside out if `det Q < 0` |
//! | v2 | ω, χ, ψ (5) | p | quaternions blended by ψ |
//! | v3 | ω, χ, ψ (5) | p, delta | matrices blended by ψ; the delta keeps its length |
//! | v4 | ω, ψ (2) | p | quaternions blended by ψ; the middle moves linearly |
//! | v5 | ω (1) | | linear blending |
//!
//! The covariance for v1 is the sum of its moments, so it is summed instead of stored.
//!
//! Of the two forms of v3 in the paper, this is the direct one: the other divides by the
//! determinant, the cube of a length, and diverges as rotations cancel out.
//!
//! Under scale and shear (two phases) the patch is stretched like its vertex.

mod blended;
mod lanes;
mod whitening;

use super::antipodality::{Antipodality, Signs};
use super::direct::{FieldKey, Fields, OutsideValue};
use super::lanes::FarPairs;
use super::rigid_motion::{BlendsMotions, MotionStreams, RigidMotions};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::mush::{Mush, MushError, MushOptions, PatchPart};
use crate::polar::{cofactors, frobenius_squared, minors, nearest_rotation, outer, trace};
use crate::rig::Rig;
use crate::surface::{StoredUnits, Units};
use crate::transform::{Affine, linear_blend};
use crate::weights::Weights;
use glam::{DMat3, DVec3, Mat3, Mat4, Quat, Vec3, Vec4};
pub(super) use lanes::{LanePatches, Rotations};
use lanes::{measured, patch_size};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use whitening::Whitening;

/// Options of direct delta mush.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct DirectDeltaMush {
    /// The variant: what is computed per frame.
    pub variant: MushVariant,
    /// Options of baking patches if [`BakedData::mush`](super::BakedData::mush) has none.
    pub smoothing: MushOptions,
}

impl DirectDeltaMush {
    /// A variant with the default smoothing.
    pub(super) const fn of(variant: MushVariant) -> DirectDeltaMush {
        DirectDeltaMush {
            variant,
            smoothing: MushOptions::DEFAULT,
        }
    }
}

/// Variants of §3.5. Higher variants read less data and are less accurate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MushVariant {
    /// The full model.
    #[default]
    V0,
    /// Cofactors instead of a decomposition.
    V1,
    /// Blended quaternions.
    V2,
    /// Blended matrices.
    V3,
    /// Rotations about blended centers, as in optimized centers of rotation.
    V4,
    /// Linear blend skinning with smoothed weights.
    V5,
}

impl MushVariant {
    /// All variants, in order.
    pub const ALL: [MushVariant; 6] = [
        MushVariant::V0,
        MushVariant::V1,
        MushVariant::V2,
        MushVariant::V3,
        MushVariant::V4,
        MushVariant::V5,
    ];
}

/// Returns the stored bake, or bakes the rig.
///
/// # Errors
///
/// Fails if an option is out of range, or the stored bake belongs to another character.
pub(super) fn stored_or_baked(
    rig: &Rig,
    options: &MushOptions,
    stored: Option<&Arc<Mush>>,
) -> Result<Arc<Mush>, MushError> {
    let Some(mush) = stored else {
        return Ok(Arc::new(Mush::bake(rig, options)?.mush));
    };
    let (found, expected) = (mush.centers().len(), rig.mesh().vertex_count());
    if found != expected {
        return Err(MushError::VertexCount { found, expected });
    }
    let joints = rig.skeleton().joints().len();
    match mush.weights().max_joint().filter(|&joint| joint >= joints) {
        Some(joint) => Err(MushError::NoJoint { joint, joints }),
        None => Ok(mush.clone()),
    }
}

/// A variant: its packed data, and the frame computed from them.
pub(super) trait Variant: Debug + Send + Sync + 'static {
    /// Numbers per vertex; the first three are the middle of the patch.
    const PER_VERTEX: usize;

    /// Numbers per joint of a vertex, in addition to `ω`.
    const PER_JOINT: usize;

    /// How lanes compute rotations.
    const ROTATIONS: Rotations;

    /// The kernel for GPUs.
    const KERNEL: Kernel;

    /// On GPUs, the count of numbers that hold the units of joint numbers.
    const MEASURES: usize = 1;

    /// Packs the numbers of a vertex.
    fn keep_vertex(_vertex: &PackedVertex<'_>, _numbers: &mut Vec<f32>) {}

    /// Packs the numbers of a joint of the vertex.
    fn keep_part(vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>);

    /// Converts the numbers of a vertex for GPUs: its units, and the numbers of its joints. `unit`
    /// is the packed unit of length of levers.
    fn stream_parts(parts: &[f32], unit: f32, stream: &mut VertexStream) {
        stream.numbers.push(unit);
        stream.influence_numbers.extend(parts);
    }

    /// The frame of a vertex in a pose.
    fn frame(patch: &Patch<'_>) -> Affine;

    /// True if the frame mirrors.
    fn inverts(_patch: &Patch<'_>) -> bool {
        false
    }
}

/// The data of a vertex to pack, in units of the surface.
pub(super) struct PackedVertex<'a> {
    /// From the middle of the patch to the vertex.
    delta: Vec3,
    parts: &'a [PatchPart],
}

impl PackedVertex<'_> {
    /// The second moments of all parts.
    fn covariance(&self) -> DMat3 {
        let sum = self.parts.iter().fold([0.0; 6], |mut sum, part| {
            for (sum, moment) in sum.iter_mut().zip(part.moments) {
                *sum += f64::from(moment);
            }
            sum
        });
        symmetric(sum)
    }
}

/// A symmetric matrix from the entries xx, xy, xz, yy, yz, zz.
fn symmetric([xx, xy, xz, yy, yz, zz]: [f64; 6]) -> DMat3 {
    DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

/// A character baked for a variant.
#[derive(Clone, Debug)]
pub(super) struct MushSkin<V> {
    /// The numbers of each vertex, followed by those of its joints.
    numbers: Vec<f32>,
    /// The joints of every vertex.
    weights: Weights,
    units: StoredUnits,
    signs: Signs,
    /// The signs that lanes use (`deform/lanes/far_pairs.rs`).
    lane_signs: Signs,
    /// The joint that holds most of the surface.
    main_joint: usize,
    /// The same numbers in lanes.
    lanes: LanePatches<V>,
}

impl<V: Variant> MushSkin<V> {
    pub(super) fn bake(rig: &Rig, mush: &Mush) -> MushSkin<V> {
        let units = Units::of(rig.mesh().bounds()).stored();
        let unit = units.extent();
        let places = rig.mesh().positions();
        let mut numbers = Vec::new();
        let mut parts = Vec::new();
        for (vertex, &center) in mush.centers().iter().enumerate() {
            parts.clear();
            parts.extend(mush.parts(vertex).iter().map(|part| PatchPart {
                lever: part.lever / unit,
                moments: part.moments.map(|moment| moment / unit / unit),
                ..*part
            }));
            // Baking thickens every patch, but a file may have a patch without extent. It rotates
            // as its joints do.
            if parts.iter().all(|part| part.moments == [0.0; 6]) {
                for part in &mut parts {
                    let ball = part.rotation_weight;
                    part.moments = [ball, 0.0, 0.0, ball, 0.0, ball];
                }
            }
            let packed = PackedVertex {
                delta: (places[vertex] - center) / unit,
                parts: &parts,
            };
            numbers.extend(units.store(center));
            V::keep_vertex(&packed, &mut numbers);
            for part in &parts {
                V::keep_part(&packed, part, &mut numbers);
            }
        }
        let weights = mush.weights();
        let of_vertex = |vertex: usize| &numbers[numbers_range::<V>(weights, vertex)];
        MushSkin {
            lanes: LanePatches::pack(weights, units, of_vertex),
            weights: weights.clone(),
            units,
            signs: Signs::bake(rig, Antipodality::PerVertex),
            lane_signs: Signs::bake(rig, Antipodality::PerJoint),
            main_joint: main_joint(weights, rig.skeleton().joints().len()),
            numbers,
        }
    }

    /// The packed numbers of a vertex.
    #[inline]
    fn numbers_of(&self, vertex: usize) -> &[f32] {
        &self.numbers[numbers_range::<V>(&self.weights, vertex)]
    }

    /// Chooses the signs of lanes.
    fn choose_signs(&self, posed: &mut PosedJoints) {
        posed.signed.clear();
        for rotation in &posed.rotations {
            self.lane_signs.push(&mut posed.signed, *rotation);
        }
        let signed = &posed.signed;
        let dot = |first: usize, second: usize| f64::from(signed[first].dot(signed[second]));
        posed.far.refill(&self.lanes.neighbours, signed.len(), dot);
    }

    fn patch<'a>(
        &'a self,
        joints: &'a [u16],
        fields: Fields<'a>,
        motions: &RigidMotions,
        posed: &'a PosedJoints,
    ) -> Patch<'a> {
        let (own, parts) = fields.extras.split_at(V::PER_VERTEX);
        let center = self.units.restore([own[0], own[1], own[2]]);
        let stretch = motions.stretch_blend(joints, fields.weights);
        let center = stretch.map_or(center, |stretch| stretch.transform_point(center));
        Patch {
            joints,
            weights: fields.weights,
            own: &own[3..],
            parts,
            center,
            stretch,
            unit: self.units.extent(),
            signs: &self.signs,
            posed,
        }
    }
}

/// The range of the packed numbers of a vertex among those of all.
#[inline]
fn numbers_range<V: Variant>(weights: &Weights, vertex: usize) -> Range<usize> {
    let joints = weights.range(vertex);
    let start = vertex * V::PER_VERTEX + joints.start * V::PER_JOINT;
    start..(vertex + 1) * V::PER_VERTEX + joints.end * V::PER_JOINT
}

/// The joint with the largest sum of weights.
fn main_joint(weights: &Weights, joints: usize) -> usize {
    let mut sums = vec![0.0; joints];
    for vertex in 0..weights.vertex_count() {
        for influence in weights.of(vertex) {
            sums[influence.joint] += f64::from(influence.weight);
        }
    }
    let heaviest = (0..joints).max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    heaviest.unwrap_or(0)
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedJoints {
    rotations: Vec<Quat>,
    matrices: Vec<Affine>,
    /// The matrices column by column: a sum of columns needs no dot products.
    columns: Vec<[Vec4; 4]>,
    /// The motion of the joint that holds most of the surface: an approximation of all motions.
    /// None if numbers are not finite: a weight of zero does not remove them, so vertices are
    /// processed one by one.
    about: Option<Affine>,
    /// The frame of every vertex if all joints have the same motion.
    common: Option<Affine>,
    /// The rotations with the signs that lanes use, and the pairs for which these are not the
    /// nearest; empty for variants that do not blend quaternions.
    signed: Vec<Quat>,
    far: FarPairs,
}

/// The kind of a vertex's own numbers among its fields.
const OWN: u16 = 1;

/// The kind of the first number of a joint; the other numbers follow.
const OF_JOINT: u16 = 2;

impl<V: Variant> BlendsMotions for MushSkin<V> {
    type Posed = PosedJoints;
    type Lanes = LanePatches<V>;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedJoints) {
        posed.common = motions.common();
        posed.rotations.clear();
        posed.matrices.clear();
        posed.columns.clear();
        for motion in &motions.motions {
            self.signs
                .push(&mut posed.rotations, motion.rotation.as_quat());
            let matrix = motion.to_affine();
            let [x, y, z] = matrix.rows;
            let columns = Mat4::from_cols(x, y, z, Vec4::W).transpose();
            posed.matrices.push(matrix);
            posed.columns.push([
                columns.x_axis,
                columns.y_axis,
                columns.z_axis,
                columns.w_axis,
            ]);
        }
        let mut rows = posed.matrices.iter().flat_map(|matrix| &matrix.rows);
        let finite = rows.all(|row| row.is_finite());
        posed.about = posed.matrices.get(self.main_joint).copied();
        posed.about = posed.about.filter(|_| finite);
        if V::ROTATIONS.blends_quaternions() {
            self.choose_signs(posed);
        }
    }

    #[inline]
    fn extras(&self, vertex: usize) -> &[f32] {
        self.numbers_of(vertex)
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        keys.extend((0..V::PER_VERTEX as u32).map(|owner| FieldKey {
            kind: OWN,
            owner,
            outside: OutsideValue::Unknown,
        }));
        for &joint in self.weights.row(vertex).0 {
            keys.extend((0..V::PER_JOINT as u16).map(|number| FieldKey {
                kind: OF_JOINT + number,
                owner: u32::from(joint),
                outside: OutsideValue::Zero,
            }));
        }
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
        match posed.common {
            Some(common) => common,
            None => V::frame(&self.patch(joints, fields, motions, posed)),
        }
    }

    #[inline]
    fn lanes(&self) -> Option<&LanePatches<V>> {
        Some(&self.lanes)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedJoints>)> {
        let per_vertex = V::PER_VERTEX + V::MEASURES;
        let layout = StreamLayout::of(V::KERNEL, per_vertex, V::PER_JOINT, 4);
        Some((layout, self))
    }

    fn inverts(
        &self,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        posed: &PosedJoints,
    ) -> bool {
        V::inverts(&self.patch(joints, fields, motions, posed))
    }
}

impl<V: Variant> MotionStreams<PosedJoints> for MushSkin<V> {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let (own, parts) = self.numbers_of(vertex).split_at(V::PER_VERTEX);
        let center = self.units.restore([own[0], own[1], own[2]]);
        stream.numbers.extend(center.to_array());
        stream.numbers.extend(&own[3..]);
        V::stream_parts(parts, self.units.extent(), stream);
    }

    fn push_joints(&self, _motions: &RigidMotions, posed: &PosedJoints, stream: &mut PoseStream) {
        for (rotation, matrix) in posed.rotations.iter().zip(&posed.matrices) {
            stream.joints.push(rotation.to_array());
            stream.push_rows(matrix);
        }
    }
}

/// A stretch whose smallest factor is below about this share of the largest is flat: a little more
/// than the rounding of `f32` entries. The smallest factor is the determinant over the cofactors.
const FLATTENED: f64 = 1e-6;

/// A vertex with its patch in a pose.
pub(super) struct Patch<'a> {
    joints: &'a [u16],
    /// `ω`.
    weights: &'a [f32],
    /// The vertex's own numbers after the middle.
    own: &'a [f32],
    parts: &'a [f32],
    /// The stretched middle of the patch.
    center: Vec3,
    stretch: Option<Affine>,
    /// The unit of length of levers, deltas and moments.
    unit: f32,
    signs: &'a Signs,
    posed: &'a PosedJoints,
}

impl Patch<'_> {
    /// Stretches a vector of the patch.
    #[inline]
    fn stretched(&self, vector: Vec3) -> Vec3 {
        match &self.stretch {
            Some(stretch) => stretch.transform_vector(vector),
            None => vector,
        }
    }

    /// True if the stretch is flat, up to rounding.
    fn is_flattened(&self) -> bool {
        self.stretch.is_some_and(|stretch| {
            let linear = stretch.to_f64().matrix3;
            let squares = frobenius_squared(&linear) * frobenius_squared(&cofactors(&linear));
            linear.determinant().abs() <= FLATTENED * squares.sqrt()
        })
    }

    /// A frame with this rotation that maps the middle of the patch to `middle`.
    #[inline]
    fn frame(&self, rotation: Mat3, middle: Vec3) -> Affine {
        Affine::from_mat3_translation(rotation, middle - rotation * self.center)
    }

    /// The posed position of the middle of the patch under the heaviest joint.
    #[inline]
    fn heaviest(&self) -> Vec3 {
        let heaviest = usize::from(self.joints[0]);
        self.posed.matrices[heaviest].transform_point(self.center)
    }

    /// `Q` and `q` of eq. (7): the complete `Σ M_j Ω_ij`.
    #[inline]
    fn gather(&self) -> (Mat3, Vec3) {
        let base = self.heaviest();
        let per_unit = self.unit.recip();
        let mut rows = [Vec4::ZERO; 3];
        let parts = self.parts.chunks_exact(9);
        for ((&joint, &weight), part) in self.joints.iter().zip(self.weights).zip(parts) {
            let &[lx, ly, lz, xx, xy, xz, yy, yz, zz] = part else {
                continue;
            };
            let mut omega = [
                Vec4::new(xx, xy, xz, lx),
                Vec4::new(xy, yy, yz, ly),
                Vec4::new(xz, yz, zz, lz),
                Vec4::new(lx, ly, lz, weight),
            ];
            if let Some(stretch) = &self.stretch {
                omega = stretched_moments(stretch, &omega);
            }
            let matrix = &self.posed.matrices[usize::from(joint)];
            let shift = (matrix.transform_point(self.center) - base) * per_unit;
            for (row, (turn, shift)) in rows
                .iter_mut()
                .zip(matrix.rows.iter().zip(shift.to_array()))
            {
                *row +=
                    omega[0] * turn.x + omega[1] * turn.y + omega[2] * turn.z + omega[3] * shift;
            }
        }
        let [x, y, z] = rows;
        let matrix = Mat3::from_cols(x.truncate(), y.truncate(), z.truncate()).transpose();
        (matrix, base + Vec3::new(x.w, y.w, z.w) * self.unit)
    }

    /// `Q`, the covariance `P` and `q`, in double precision.
    fn gather_wide(&self) -> (DMat3, DMat3, Vec3) {
        let base = self.heaviest();
        let (mut matrix, mut covariance, mut middle) = (DMat3::ZERO, DMat3::ZERO, DVec3::ZERO);
        let parts = self.parts.chunks_exact(9);
        for ((&joint, &weight), part) in self.joints.iter().zip(self.weights).zip(parts) {
            let &[lx, ly, lz, xx, xy, xz, yy, yz, zz] = part else {
                continue;
            };
            let mut lever = Vec3::new(lx, ly, lz).as_dvec3();
            let mut moments = symmetric([xx, xy, xz, yy, yz, zz].map(f64::from));
            if let Some(stretch) = &self.stretch {
                let linear = stretch.to_f64().matrix3;
                lever = linear * lever;
                moments = linear * moments * linear.transpose();
            }
            let posed = &self.posed.matrices[usize::from(joint)];
            let turn = posed.to_f64().matrix3;
            let shift = (posed.transform_point(self.center) - base) / self.unit;
            let shift = shift.as_dvec3();
            matrix += turn * moments + outer(shift, lever);
            covariance += moments;
            middle += turn * lever + shift * f64::from(weight);
        }
        (matrix, covariance, base + middle.as_vec3() * self.unit)
    }

    /// `q` alone, if each joint's part is a lever and one more number: `Σ M_j (ω_j p + χ_j, ω_j)`.
    #[inline]
    fn gather_middle(&self) -> Vec3 {
        let mut sum = Vec4::ZERO;
        let parts = self.parts.chunks_exact(4);
        for ((&joint, &weight), part) in self.joints.iter().zip(self.weights).zip(parts) {
            let lever = self.stretched(Vec3::new(part[0], part[1], part[2]));
            let carried = self.center * weight + lever * self.unit;
            let [x, y, z, shift] = &self.posed.columns[usize::from(joint)];
            sum += *x * carried.x + *y * carried.y + *z * carried.z + *shift * weight;
        }
        sum.truncate()
    }

    /// The blend of the joints' quaternions by `ψ`, the last of every `stride` numbers.
    #[inline]
    fn blended_rotation(&self, stride: usize) -> Mat3 {
        let shares = self.parts.iter().skip(stride - 1).step_by(stride);
        let sum = self
            .signs
            .sum_by(self.joints, shares.copied(), &self.posed.rotations);
        Mat3::from_quat(sum.normalize())
    }
}

/// `Ω` of a stretched patch: `S Ω Sᵀ` about its middle.
fn stretched_moments(stretch: &Affine, omega: &[Vec4; 4]) -> [Vec4; 4] {
    let linear = Mat3::from_cols(
        stretch.rows[0].truncate(),
        stretch.rows[1].truncate(),
        stretch.rows[2].truncate(),
    )
    .transpose();
    let moments = Mat3::from_cols(
        omega[0].truncate(),
        omega[1].truncate(),
        omega[2].truncate(),
    );
    let moments = linear * moments * linear.transpose();
    let lever = linear * omega[3].truncate();
    [
        moments.x_axis.extend(lever.x),
        moments.y_axis.extend(lever.y),
        moments.z_axis.extend(lever.z),
        lever.extend(omega[3].w),
    ]
}

/// The lever and the moments of a part.
fn keep_matrix(part: &PatchPart, numbers: &mut Vec<f32>) {
    numbers.extend(part.lever.to_array());
    numbers.extend(part.moments);
}

/// The full model (§3.5.1).
#[derive(Clone, Debug)]
pub(super) struct V0;

impl Variant for V0 {
    const PER_VERTEX: usize = 3;
    const PER_JOINT: usize = 9;
    const ROTATIONS: Rotations = Rotations::Nearest;
    const KERNEL: Kernel = Kernel::MushNearest;

    fn keep_part(_vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>) {
        keep_matrix(part, numbers);
    }

    fn stream_parts(parts: &[f32], unit: f32, stream: &mut VertexStream) {
        let parts = parts.as_chunks::<9>().0;
        let size = patch_size(parts);
        stream.numbers.push(size * unit);
        let parts = parts.iter().flat_map(|part| measured(part, size));
        stream.influence_numbers.extend(parts);
    }

    #[inline]
    fn frame(patch: &Patch<'_>) -> Affine {
        let (matrix, middle) = patch.gather();
        patch.frame(nearest_rotation(&matrix.as_dmat3()).as_mat3(), middle)
    }
}

/// Without decomposition (§3.5.2).
#[derive(Clone, Debug)]
pub(super) struct V1;

/// A patch flatter than this share of its spread is thickened: inverting its covariance would
/// amplify rounding in `f32`.
const FLAT: f64 = 1e-4;

impl Variant for V1 {
    const PER_VERTEX: usize = 3;
    const PER_JOINT: usize = 9;
    const ROTATIONS: Rotations = Rotations::Cofactors;
    const KERNEL: Kernel = Kernel::MushCofactors;
    const MEASURES: usize = 4 + 3;

    fn keep_part(vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>) {
        let ball = V1::ball(vertex) as f32 * part.rotation_weight;
        let [xx, xy, xz, yy, yz, zz] = part.moments;
        let thick = PatchPart {
            moments: [xx + ball, xy, xz, yy + ball, yz, zz + ball],
            ..*part
        };
        keep_matrix(&thick, numbers);
    }

    fn stream_parts(parts: &[f32], unit: f32, stream: &mut VertexStream) {
        let parts = parts.as_chunks::<9>().0;
        let whitening = Whitening::of(parts);
        stream.numbers.extend(whitening.axes().to_array());
        let spreads = whitening.spreads() * unit;
        stream.numbers.extend(spreads.to_array());
        let parts = parts.iter().flat_map(|part| whitening.part(part));
        stream.influence_numbers.extend(parts);
    }

    /// `R = cof(Q)·P / det P`, with `P` the covariance. Both are summed in double precision from
    /// the same numbers, so that their rounding errors cancel out. If the determinant is zero, uses
    /// the rotation of v0.
    #[inline]
    fn frame(patch: &Patch<'_>) -> Affine {
        let (matrix, covariance, middle) = patch.gather_wide();
        let rotation = cofactors(&matrix) * covariance * covariance.determinant().recip();
        let rotation = match rotation.is_finite() && !patch.is_flattened() {
            true => rotation,
            false => nearest_rotation(&matrix),
        };
        patch.frame(rotation.as_mat3(), middle)
    }

    fn inverts(patch: &Patch<'_>) -> bool {
        patch.gather_wide().0.determinant() < 0.0
    }
}

impl V1 {
    /// The missing thickness. The determinant divided by the sum of minors is the smallest
    /// variance, or up to a third of it.
    fn ball(vertex: &PackedVertex<'_>) -> f64 {
        let covariance = vertex.covariance();
        let least = covariance.determinant() / minors(&covariance);
        // For a patch that is a point or a line, rounding decides the quotient.
        let least = if least.is_finite() {
            least.max(0.0)
        } else {
            0.0
        };
        (FLAT * trace(&covariance) - least).max(0.0)
    }
}

/// The lever and the share of the rotation.
fn keep_lever(part: &PatchPart, numbers: &mut Vec<f32>) {
    numbers.extend(part.lever.to_array());
    numbers.push(part.rotation_weight);
}

/// Quaternions (§3.5.3).
#[derive(Clone, Debug)]
pub(super) struct V2;

impl Variant for V2 {
    const PER_VERTEX: usize = 3;
    const PER_JOINT: usize = 4;
    const ROTATIONS: Rotations = Rotations::Quaternions;
    const KERNEL: Kernel = Kernel::MushQuaternions;

    fn keep_part(_vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>) {
        keep_lever(part, numbers);
    }

    #[inline]
    fn frame(patch: &Patch<'_>) -> Affine {
        patch.frame(patch.blended_rotation(4), patch.gather_middle())
    }
}

/// Matrices (§3.5.3).
#[derive(Clone, Debug)]
pub(super) struct V3;

impl Variant for V3 {
    const PER_VERTEX: usize = 3 + 3;
    const PER_JOINT: usize = 4;
    const ROTATIONS: Rotations = Rotations::Matrices;
    const KERNEL: Kernel = Kernel::MushMatrices;

    fn keep_vertex(vertex: &PackedVertex<'_>, numbers: &mut Vec<f32>) {
        numbers.extend(vertex.delta.to_array());
    }

    fn keep_part(_vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>) {
        keep_lever(part, numbers);
    }

    #[inline]
    fn frame(patch: &Patch<'_>) -> Affine {
        let mut blend = Affine::ZERO;
        let shares = patch.parts.iter().skip(3).step_by(4);
        for (&joint, &share) in patch.joints.iter().zip(shares) {
            blend = blend.add_scaled(&patch.posed.matrices[usize::from(joint)], share);
        }
        let delta = Vec3::from_slice(patch.own);
        let delta = patch.stretched(delta);
        let turned = blend.transform_vector(delta);
        // Without a delta there is nothing to scale; where rotations cancel out, no direction is
        // left to scale along.
        let factor = delta.length() / turned.length();
        let factor = if factor < CANCELLED { factor } else { 1.0 };
        let even = factor.min(MOST_STRETCHED);
        let [x, y, z] = blend.rows.map(|row| row.truncate() * even);
        let mut rotation = Mat3::from_cols(x, y, z).transpose();
        if factor > even {
            // Scales along the delta only, so that other offsets, such as morph targets, do not
            // blow up with it.
            let along = delta / delta.length_squared();
            let rest = turned * (factor - even);
            rotation += Mat3::from_cols(rest * along.x, rest * along.y, rest * along.z);
        }
        patch.frame(rotation, patch.gather_middle())
    }
}

/// The largest scale factor of a blend of rotations in all directions …
const MOST_STRETCHED: f32 = 16.0;
/// … and of a delta before its direction is only rounding.
const CANCELLED: f32 = 1e4;

/// Centers of rotation (§3.5.4).
#[derive(Clone, Debug)]
pub(super) struct V4;

impl Variant for V4 {
    const PER_VERTEX: usize = 3;
    const PER_JOINT: usize = 1;
    const ROTATIONS: Rotations = Rotations::Centers;
    const KERNEL: Kernel = Kernel::MushCenters;
    const MEASURES: usize = 0;

    fn keep_part(_vertex: &PackedVertex<'_>, part: &PatchPart, numbers: &mut Vec<f32>) {
        numbers.push(part.rotation_weight);
    }

    fn stream_parts(parts: &[f32], _unit: f32, stream: &mut VertexStream) {
        stream.influence_numbers.extend(parts);
    }

    #[inline]
    fn frame(patch: &Patch<'_>) -> Affine {
        let blend = linear_blend(patch.joints, patch.weights, &patch.posed.matrices);
        patch.frame(
            patch.blended_rotation(1),
            blend.transform_point(patch.center),
        )
    }
}
