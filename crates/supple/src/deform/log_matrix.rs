//! Log-matrix skinning: blends matrix logarithms linearly and takes the exponential of the sum.
//!
//! `skinning-course-direct-methods.txt`, §4, eq. (14) (printed there without the weights): `exp(Σ
//! w_j log T_j)`. The whole affine matrix is blended, including scale and shear, so there are no
//! two phases. The known failures of the method are kept: all logarithms are taken at the identity,
//! so blends do not take the shortest path if joints are far from their rest rotation, and the
//! result changes when the whole character rotates or moves. Some matrices have no real logarithm
//! (with mirroring, a lost dimension, or two different negative eigenvalues); a pose that blends
//! such a joint is an error that names the joint. (Scale and mirroring shared by all joints are
//! removed before: `common_scale.rs`.) Computed in `f64`, since squarings lose digits.
//!
//! A file may store positions in a space of their own (integers in a box). Its bind matrices then
//! begin with the map `D` out of that space, a scale and a translation: every `T_j` is that of the
//! plain character times `D`. A logarithm would blend `D` with the motions. So logarithms are taken
//! of `T_j D⁻¹`, and the exponential of the sum is followed by `D`. `D` is found from the rest pose
//! ([`dequantisation`]), and omitted if positions are stored as they are.
//!
//! In eight lanes, the exponential is that of plain vertices with fewer terms: enough for `f32`.
//! The number of squarings is that of the largest logarithm of the pose, so that a vertex has the
//! same bits beside any others.

use super::common_scale::{CommonScale, RestScale};
use super::direct::{Direct, FieldKey, Fields, LaneFrames};
use super::error::{DeformError, NoLogarithm};
use super::lanes::{
    ALL, ChosenRecords, FrameLanes, Group, Packing, blend as blend_lanes, weighted_sums,
};
use crate::bind_matrix::{BindFault, BindMatrix};
use crate::mesh::Mesh;
use crate::polar::{Polar, narrowed};
use crate::rig::Rig;
use crate::transform::Affine;
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f64x8, mask32x8};
use glam::{DAffine3, DMat3, DMat4, DVec3, Vec3};
use std::sync::Arc;

/// The weights, and the joints whose logarithms are needed.
#[derive(Clone, Debug)]
pub(super) struct LogMatrixSkin {
    packing: Arc<Packing>,
    /// The vertices of each group with one influence, as bits.
    single: Vec<u8>,
    /// True for joints that share a vertex with another joint; the others need no logarithm.
    blended: Vec<bool>,
    rest_scale: RestScale,
    /// `D` and its inverse; none if positions are stored as they are.
    rest: Option<[DAffine3; 2]>,
    names: Vec<String>,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct LogMatrixPose {
    palette: Vec<Affine>,
    /// The palette after `D⁻¹`.
    from_rest: Vec<Affine>,
    logarithms: Vec<DMat4>,
    /// The upper three rows of the logarithms, divided by two as often as lanes square.
    records: Vec<[f64; 12]>,
    squarings: i32,
    /// The palette in lanes, for vertices with one influence.
    palette_records: ChosenRecords<12>,
    /// The common scale that was removed from all joints.
    common_scale: CommonScale,
}

impl LogMatrixSkin {
    pub(super) fn bake(rig: &Rig) -> LogMatrixSkin {
        let (skeleton, weights) = (rig.skeleton(), rig.weights());
        let mut blended = vec![false; skeleton.joints().len()];
        for vertex in 0..weights.vertex_count() {
            let joints = weights.row(vertex).0;
            for &joint in joints.iter().filter(|_| joints.len() > 1) {
                blended[usize::from(joint)] = true;
            }
        }
        let name = |joint| skeleton.joint_name(joint).to_owned();
        let rest = dequantisation(rig);
        let packing = Arc::new(Packing::with_common_sets(weights.clone()));
        let is_single = |vertex: usize| weights.row(vertex).0.len() == 1;
        let groups = packing.all_groups();
        LogMatrixSkin {
            single: groups.map(|group| group.bits(is_single)).collect(),
            packing: packing.clone(),
            names: (0..blended.len()).map(name).collect(),
            blended,
            rest_scale: match &rest {
                Some([rest, _]) => RestScale::of(rig).relative_to(rest),
                None => RestScale::of(rig),
            },
            rest,
        }
    }
}

/// The largest relative difference of maps that are equal up to rounding.
const SAME: f64 = 1e-5;

/// The map out of the space of stored positions, and its inverse. None if there is no such space,
/// or if it only changes the unit, which all joints share.
///
/// In the rest pose, the joint that holds most of the surface has the map `R D`, where `R` is the
/// placement of the character. `R` rotates and translates but does not scale; so a scale implies a
/// `D`, which the polar decomposition separates. The translation is attributed to `D` entirely,
/// since a character that is stored in a box rests where it was bound.
///
/// Only for positions that are [integers](is_quantised): others are in the space of the formula.
fn dequantisation(rig: &Rig) -> Option<[DAffine3; 2]> {
    if !is_quantised(rig.mesh()) {
        return None;
    }
    let (skeleton, weights) = (rig.skeleton(), rig.weights());
    let mut held = vec![0.0; skeleton.joints().len()];
    for vertex in 0..weights.vertex_count() {
        for influence in weights.of(vertex) {
            held[influence.joint] += f64::from(influence.weight);
        }
    }
    let most = (0..held.len()).max_by(|&a, &b| held[a].total_cmp(&held[b]).then(b.cmp(&a)))?;
    if skeleton.bind_fault(most).is_some() {
        return None;
    }
    let joint = &skeleton.joints()[most];
    let at_rest = skeleton.rest_world()[joint.node] * joint.joint_from_bind;
    let Polar { rotation, stretch } = Polar::of(at_rest.matrix3);
    if stretch.abs_diff_eq(DMat3::IDENTITY, SAME) {
        return None;
    }
    let map = DAffine3 {
        matrix3: stretch,
        translation: rotation.inverse() * at_rest.translation,
    };
    let scale = stretch.determinant().cbrt();
    let bounds = rig.mesh().bounds()?;
    let size = f64::from(bounds.extent()) + bounds.center().as_dvec3().length();
    let is_even = stretch.abs_diff_eq(DMat3::IDENTITY * scale, SAME * scale.abs());
    if is_even && map.translation.length() <= SAME * scale.abs() * size {
        return None;
    }
    let inverse = map.inverse();
    (map.is_finite() && inverse.is_finite()).then_some([map, inverse])
}

/// True if all positions are integers, or integers divided by the largest integer of their type
/// (`KHR_mesh_quantization`).
fn is_quantised(mesh: &Mesh) -> bool {
    let steps = [1.0, 127.0, 255.0, 32767.0, 65535.0];
    steps.into_iter().any(|steps: f32| {
        // A hundredth of a step is more than the rounding of `f32` for any of these types.
        let is_step = |place: &Vec3| {
            let place = *place * steps;
            place.abs_diff_eq(place.round(), 0.01)
        };
        mesh.positions().iter().all(is_step)
    })
}

impl Direct for LogMatrixSkin {
    type Posed = LogMatrixPose;
    type Lanes = LogMatrixSkin;

    const FOLLOWS_SHIFTS: bool = false;

    fn pose(&self, palette: &[Affine], posed: &mut LogMatrixPose) -> Result<(), DeformError> {
        palette.clone_into(&mut posed.palette);
        posed.from_rest.clear();
        match &self.rest {
            Some([_, bind_from_rest]) => posed.from_rest.extend(
                palette
                    .iter()
                    .map(|map| Affine::from_f64(&(map.to_f64() * *bind_from_rest))),
            ),
            None => posed.from_rest.extend_from_slice(palette),
        }
        posed.common_scale = self.rest_scale.common_scale(&posed.from_rest);
        posed.logarithms.clear();
        for (joint, map) in posed.from_rest.iter().enumerate() {
            let logarithm = match self.blended[joint] {
                true => logarithm(&posed.common_scale.removed_from(map)),
                false => Ok(DMat4::ZERO),
            };
            let none = |reason| DeformError::NoLogarithm {
                joint,
                name: self.names[joint].clone(),
                reason,
            };
            posed.logarithms.push(logarithm.map_err(none)?);
        }
        posed.refill_records(&self.packing);
        Ok(())
    }

    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: self.packing.weights().row(vertex).1,
            extras: &[],
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        FieldKey::of_weights(self.packing.weights(), vertex, keys);
    }

    /// None if positions are stored in a space of their own.
    fn lanes(&self) -> Option<&LogMatrixSkin> {
        self.rest.is_none().then_some(self)
    }

    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &LogMatrixPose) -> Affine {
        let joints = self.packing.weights().row(vertex).0;
        if let &[joint] = joints {
            return posed.palette[usize::from(joint)];
        }
        let influences = joints.iter().zip(fields.weights);
        let sum = influences.fold(DMat4::ZERO, |sum, (&joint, &weight)| {
            sum + posed.logarithms[usize::from(joint)] * f64::from(weight)
        });
        let blend = DAffine3::from_mat4(exponential(&sum));
        let blend = match &self.rest {
            Some([rest_from_bind, _]) => blend * *rest_from_bind,
            None => blend,
        };
        posed.common_scale.reapplied_to(Affine::from_f64(&blend))
    }
}

impl LogMatrixPose {
    fn refill_records(&mut self, packing: &Packing) {
        let linear = |logarithm: &DMat4| DMat3::from_mat4(*logarithm).to_cols_array();
        self.squarings = halvings(self.logarithms.iter().flat_map(linear));
        let share = 0.5f64.powi(self.squarings);
        self.records.clear();
        self.records.extend(self.logarithms.iter().map(|logarithm| {
            let rows = (*logarithm * share).transpose().to_cols_array();
            std::array::from_fn(|at| rows[at])
        }));
        let palette = self.palette.iter().map(Affine::to_array);
        self.palette_records.refill(packing, palette);
    }
}

impl LaneFrames<LogMatrixPose> for LogMatrixSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(&self, simd: S, group: &Group<'_>, posed: &LogMatrixPose) -> FrameLanes<S> {
        let single = u64::from(self.single[group.index]);
        if single == ALL {
            return FrameLanes::of(blend_lanes(simd, group, &posed.palette_records));
        }
        let sum = weighted_sums(simd, group, &posed.records);
        let blend = exponential_lanes(simd, &sum, posed.squarings);
        let mut frames = FrameLanes::splat(simd, &Affine::ZERO);
        for (number, wide) in frames.numbers.iter_mut().zip(blend) {
            *number = narrowed(simd, wide);
        }
        if !posed.common_scale.is_identity() {
            frames = frames.scaled(posed.common_scale.factors().as_vec3());
        }
        if single != 0 {
            let rigid = blend_lanes(simd, group, &posed.palette_records);
            let mask = mask32x8::from_bitmask(simd, single);
            for (number, rigid) in frames.numbers.iter_mut().zip(rigid) {
                *number = mask.select(rigid, *number);
            }
        }
        frames
    }
}

/// The number of terms of the series in lanes: the next is below `1e-10`.
const LANE_TERMS: i32 = 11;

/// [`exponential`] of eight matrices, row by row, that are small enough for the series; the result
/// is squared.
#[inline(always)]
fn exponential_lanes<S: Simd>(simd: S, matrix: &[f64x8<S>; 12], squarings: i32) -> [f64x8<S>; 12] {
    let [zero, one] = [f64x8::splat(simd, 0.0), f64x8::splat(simd, 1.0)];
    let identity = [
        one, zero, zero, zero, zero, one, zero, zero, zero, zero, one, zero,
    ];
    let mut result = identity;
    for term in (1..=LANE_TERMS).rev() {
        let share = f64x8::splat(simd, 1.0 / f64::from(term));
        let mut small = *matrix;
        for entry in &mut small {
            *entry *= share;
        }
        // The last row of the matrix is zero, that of the result (0, 0, 0, 1).
        result = product_added(&small, &result, &identity);
        for row in 0..3 {
            result[4 * row + 3] += small[4 * row + 3];
        }
    }
    for _ in 0..squarings {
        let shifts = [
            zero, zero, zero, result[3], zero, zero, zero, result[7], zero, zero, zero, result[11],
        ];
        result = product_added(&result, &result, &shifts);
    }
    result
}

/// The linear part of `a`, times `b`, plus `sum`.
#[inline(always)]
fn product_added<S: Simd>(
    a: &[f64x8<S>; 12],
    b: &[f64x8<S>; 12],
    sum: &[f64x8<S>; 12],
) -> [f64x8<S>; 12] {
    let mut product = *sum;
    for row in [0, 4, 8] {
        for column in 0..4 {
            let entry = a[row + 2].mul_add(b[8 + column], sum[row + column]);
            let entry = a[row + 1].mul_add(b[4 + column], entry);
            product[row + column] = a[row].mul_add(b[column], entry);
        }
    }
    product
}

/// How often matrices with these entries must be divided by two to be small.
fn halvings(entries: impl Iterator<Item = f64>) -> i32 {
    let size = entries.fold(0.0, |size: f64, entry| size.max(entry.abs()));
    match size > 0.25 {
        true => ((size * 4.0).log2().ceil() as i32).min(60),
        false => 0,
    }
}

/// The exponential of a matrix whose last row is zero: scaling, Taylor series, squaring.
fn exponential(matrix: &DMat4) -> DMat4 {
    // The translation enters linearly: only the linear part must be small.
    let linear = DMat3::from_mat4(*matrix).to_cols_array();
    let halvings = halvings(linear.into_iter());
    let small = *matrix * 0.5f64.powi(halvings);
    // The entries of three columns are at most a quarter, so the twelfth term is below the last
    // digit.
    let mut result = DMat4::IDENTITY;
    for term in (1..=14).rev() {
        result = DMat4::IDENTITY + small * result * (1.0 / f64::from(term));
    }
    for _ in 0..halvings {
        result = result * result;
    }
    result
}

/// The principal real logarithm of an affine map, or the reason why there is none.
///
/// `log [A t; 0 1] = [L u; 0 0]` with `L = log A` and `t = (Σ L^k / (k+1)!) u`.
fn logarithm(map: &DAffine3) -> Result<DMat4, NoLogarithm> {
    let linear = linear_logarithm(&map.matrix3)?;
    // The sum is a block of the exponential of [L I; 0 0], here column by column.
    let column = |axis: DVec3| {
        let matrix = DMat4::from_mat3_translation(linear, axis);
        let matrix = DMat4 {
            w_axis: axis.extend(0.0),
            ..matrix
        };
        exponential(&matrix).w_axis.truncate()
    };
    let sum = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
    let shift = sum.inverse() * map.translation;
    let whole = DMat4 {
        w_axis: shift.extend(0.0),
        ..DMat4::from_mat3_translation(linear, DVec3::ZERO)
    };
    match whole.is_finite() {
        true => Ok(whole),
        false => Err(NoLogarithm::NotFinite),
    }
}

/// Matrices are considered to commute if their products differ by less than this, relative to their
/// size.
const COMMUTE: f64 = 1e-6;

fn linear_logarithm(matrix: &DMat3) -> Result<DMat3, NoLogarithm> {
    if !matrix.is_finite() {
        return Err(NoLogarithm::NotFinite);
    }
    // In a flattened matrix, rounding decides the sign of the determinant.
    let fault = BindMatrix::of(&DAffine3::from_mat3(*matrix)).fault();
    if fault.is_some_and(BindFault::is_singular) {
        return Err(NoLogarithm::Flattens);
    }
    if matrix.determinant() < 0.0 {
        return Err(NoLogarithm::Mirrors);
    }
    let Polar { rotation, stretch } = Polar::of(*matrix);
    let turn = rotation_logarithm(rotation);
    if stretch == DMat3::IDENTITY {
        return Ok(turn);
    }
    let size = |matrix: &DMat3| {
        let entries = matrix.to_cols_array();
        entries
            .into_iter()
            .fold(0.0f64, |size, entry| size.max(entry.abs()))
    };
    // With a uniform scale, or a scale along the axis of the rotation, the logarithms add up. This
    // also covers half turns, where pairs of equal negative eigenvalues defeat the general
    // algorithm. The logarithm must commute, not the rotation: a half turn commutes with any
    // stretch in its plane.
    let apart = turn * stretch - stretch * turn;
    if size(&apart) <= COMMUTE * size(&stretch) {
        return Ok(turn + stretch_logarithm(&stretch));
    }
    if has_negative_eigenvalue(matrix) {
        return Err(NoLogarithm::NegativeEigenvalues);
    }
    // Inverse scaling and squaring: square roots until the matrix is near the identity, then a
    // series.
    let mut root = *matrix;
    let mut roots = 0;
    while size(&(root - DMat3::IDENTITY)) > 0.1 {
        // Square roots fail for matrices with nearly zero determinant.
        root = square_root(&root).ok_or(NoLogarithm::Flattens)?;
        roots += 1;
        if roots > 60 {
            return Err(NoLogarithm::Flattens);
        }
    }
    // log((1 + z) / (1 − z)) = 2 (z + z³/3 + z⁵/5 + …)
    let z = (root - DMat3::IDENTITY) * (root + DMat3::IDENTITY).inverse();
    let squared = z * z;
    let mut power = z;
    let mut sum = DMat3::ZERO;
    for odd in (1..26).step_by(2) {
        sum += power * (2.0 / f64::from(odd));
        power *= squared;
    }
    Ok(sum * 2f64.powi(roots))
}

/// Angle times axis, as a cross-product matrix. At exactly half a turn, either sign of the axis is
/// right.
fn rotation_logarithm(rotation: glam::DQuat) -> DMat3 {
    let turn = rotation.to_scaled_axis();
    let turn = match turn.length() {
        angle if angle > std::f64::consts::PI => turn * (1.0 - std::f64::consts::TAU / angle),
        _ => turn,
    };
    DMat3::from_cols(
        DVec3::new(0.0, turn.z, -turn.y),
        DVec3::new(-turn.z, 0.0, turn.x),
        DVec3::new(turn.y, -turn.x, 0.0),
    )
}

/// The logarithm of a symmetric matrix with positive eigenvalues.
fn stretch_logarithm(stretch: &DMat3) -> DMat3 {
    let (values, axes) = crate::polar::symmetric_eigen(&((*stretch + stretch.transpose()) * 0.5));
    axes * DMat3::from_diagonal(values.map(f64::ln)) * axes.transpose()
}

/// True if a matrix of positive determinant has a negative eigenvalue; it then has two.
///
/// They are the negative roots of the characteristic polynomial `λ³ − t λ² + m λ − d`. It is
/// negative at zero and at −∞, so there are such roots if and only if its largest value for
/// negative λ, at its left stationary point, is not negative.
fn has_negative_eigenvalue(matrix: &DMat3) -> bool {
    let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
    let squared = *matrix * *matrix;
    let trace_of_square = squared.x_axis.x + squared.y_axis.y + squared.z_axis.z;
    let minors = 0.5 * (trace * trace - trace_of_square);
    let determinant = matrix.determinant();
    let discriminant = trace * trace - 3.0 * minors;
    if discriminant < 0.0 {
        return false;
    }
    let left = (trace - discriminant.sqrt()) / 3.0;
    let value = ((left - trace) * left + minors) * left - determinant;
    // Rounding errors of the size of the terms count as touching zero.
    let size =
        left.abs().powi(3) + (trace * left * left).abs() + (minors * left).abs() + determinant;
    left < 0.0 && value >= -1e-9 * size
}

/// The principal square root by the iteration of Denman and Beavers.
fn square_root(matrix: &DMat3) -> Option<DMat3> {
    let (mut root, mut inverse) = (*matrix, DMat3::IDENTITY);
    let mut before = f64::INFINITY;
    for _ in 0..100 {
        let next = (root + inverse.inverse()) * 0.5;
        inverse = (inverse + root.inverse()) * 0.5;
        let change = next - root;
        root = next;
        if !root.is_finite() {
            return None;
        }
        let entries = |matrix: &DMat3| matrix.to_cols_array().into_iter();
        let size =
            |matrix: &DMat3| entries(matrix).fold(0.0f64, |size, entry| size.max(entry.abs()));
        let change = size(&change) / size(&root);
        // Converged at the last digit, or at the limit of rounding.
        if change <= 1e-14 || (change < 1e-6 && change >= before) {
            return Some(root);
        }
        before = change;
    }
    None
}
