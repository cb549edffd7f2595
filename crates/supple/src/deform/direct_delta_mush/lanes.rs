//! The variants that gather matrices, eight vertices at a time.
//!
//! `Σ M_j Ω_ij` is fifty multiply-adds per joint of a vertex, and the nearest rotation a chain of dependent ones, so vertices are put side by side in lanes. Vertices are sorted by their
//! joints first: the eight of a group then have nearly the same ones, and the group goes through the joints of all, each with one matrix for all lanes. A lane that does not have a joint
//! holds zeros for it.

use super::{MushSkin, PosedJoints, Variant};
use crate::polar::{self, RotationLanes};
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f32x8, f64x8};
use glam::{Mat3, Vec4};

/// How many vertices go side by side.
const LANES: usize = 8;

/// A number of each of the vertices of a group.
type Lane = [f32; LANES];

/// Patches of all vertices, packed in groups.
#[derive(Clone, Debug)]
pub(super) struct LanePatches {
    /// The vertices of all groups; the last one of all is repeated to fill its group.
    vertices: Vec<u32>,
    /// Where the slots of each group start; one entry more than groups.
    starts: Vec<u32>,
    /// The joint of each slot.
    joints: Vec<u16>,
    /// `ω`, lever and moments of each slot.
    omegas: Vec<[Lane; 10]>,
    /// The middles of the patches of each group.
    centers: Vec<[Lane; 3]>,
    level: Level,
}

/// How a gathered matrix becomes a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::deform) enum Rotations {
    /// The nearest one (v0).
    Nearest,
    /// By cofactors and the covariance (v1).
    Cofactors,
}

impl LanePatches {
    /// Packs the patches of a skin whose parts are matrices.
    pub(super) fn pack<V: Variant>(skin: &MushSkin<V>) -> LanePatches {
        let weights = &skin.weights;
        let count = weights.vertex_count();
        let mut vertices: Vec<u32> = (0..count as u32).collect();
        vertices.sort_by_cached_key(|&vertex| sorted_joints(weights, vertex));
        let missing = vertices.len().next_multiple_of(LANES) - vertices.len();
        vertices.extend(vertices.last().copied().into_iter().cycle().take(missing));
        let mut lanes = LanePatches {
            vertices: Vec::new(),
            starts: vec![0],
            joints: Vec::new(),
            omegas: Vec::new(),
            centers: Vec::new(),
            level: Level::new(),
        };
        for group in vertices.chunks_exact(LANES) {
            lanes.push(skin, group);
        }
        lanes.vertices = vertices;
        lanes
    }

    fn push<V: Variant>(&mut self, skin: &MushSkin<V>, group: &[u32]) {
        let first = self.joints.len();
        let mut centers = [[0.0; LANES]; 3];
        for (lane, &vertex) in group.iter().enumerate() {
            let vertex = vertex as usize;
            let (own, parts) = skin.numbers_of(vertex).split_at(V::PER_VERTEX);
            let center = skin.frame.point([own[0], own[1], own[2]]).to_array();
            for (all, number) in centers.iter_mut().zip(center) {
                all[lane] = number;
            }
            let (joints, weights) = skin.weights.row(vertex);
            let parts = parts.chunks_exact(V::PER_JOINT);
            for ((&joint, &weight), part) in joints.iter().zip(weights).zip(parts) {
                let known = self.joints[first..]
                    .iter()
                    .position(|&other| other == joint);
                let slot = known.map_or(self.joints.len(), |at| first + at);
                if slot == self.joints.len() {
                    self.joints.push(joint);
                    self.omegas.push([[0.0; LANES]; 10]);
                }
                let numbers = [weight].into_iter().chain(part.iter().copied());
                for (all, number) in self.omegas[slot].iter_mut().zip(numbers) {
                    all[lane] = number;
                }
            }
        }
        self.centers.push(centers);
        self.starts.push(self.joints.len() as u32);
    }

    /// The frames of all vertices.
    pub(super) fn frames(
        &self,
        rotations: Rotations,
        unit: f32,
        posed: &PosedJoints,
        frames: &mut [Affine],
    ) {
        dispatch!(self.level, simd => self.each_group(simd, rotations, unit, posed, frames));
    }

    #[inline(always)]
    fn each_group<S: Simd>(
        &self,
        simd: S,
        rotations: Rotations,
        unit: f32,
        posed: &PosedJoints,
        frames: &mut [Affine],
    ) {
        for (group, vertices) in self.vertices.chunks_exact(LANES).enumerate() {
            let slots = self.starts[group] as usize..self.starts[group + 1] as usize;
            let center = &self.centers[group];
            let (joints, omegas) = (&self.joints[slots.clone()], &self.omegas[slots]);
            let (rotation, middle) = match rotations {
                Rotations::Nearest => {
                    let (matrix, middle) =
                        gather(simd, joints, omegas, center, unit, &posed.matrices);
                    (nearest(simd, &matrix), middle)
                }
                Rotations::Cofactors => {
                    let wide = gather_wide(simd, joints, omegas, center, unit, &posed.matrices);
                    (by_cofactors(simd, &wide), wide.middle)
                }
            };
            scatter(simd, &rotation, &middle, center, vertices, frames);
        }
    }
}

/// The joints of a vertex in rising order: vertices with the same ones become neighbours.
fn sorted_joints(weights: &Weights, vertex: u32) -> Vec<u16> {
    let mut joints = weights.row(vertex as usize).0.to_vec();
    joints.sort_unstable();
    joints
}

/// `Q` row by row, and `q`, of all lanes.
#[inline(always)]
fn gather<S: Simd>(
    simd: S,
    joints: &[u16],
    omegas: &[[Lane; 10]],
    center: &[Lane; 3],
    unit: f32,
    matrices: &[Affine],
) -> ([Lane; 9], [Lane; 3]) {
    let load = |lane: &Lane| f32x8::from_slice(simd, lane);
    let splat = |number: f32| f32x8::splat(simd, number);
    let center = [load(&center[0]), load(&center[1]), load(&center[2])];
    let zero = splat(0.0);
    let per_unit = splat(unit.recip());
    let mut matrix = [zero; 9];
    let mut middle = [zero; 3];
    let mut base = [zero; 3];
    for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
        let rows = &matrices[usize::from(joint)].rows;
        let weight = load(&omega[0]);
        let lever = [load(&omega[1]), load(&omega[2]), load(&omega[3])];
        let [xx, xy, xz] = [load(&omega[4]), load(&omega[5]), load(&omega[6])];
        let [yy, yz, zz] = [load(&omega[7]), load(&omega[8]), load(&omega[9])];
        for axis in 0..3 {
            let row = rows[axis];
            let [x, y, z, w] = [splat(row.x), splat(row.y), splat(row.z), splat(row.w)];
            let carried = x.mul_add(center[0], y.mul_add(center[1], z.mul_add(center[2], w)));
            if slot == 0 {
                base[axis] = carried;
            }
            let shift = (carried - base[axis]) * per_unit;
            let row = 3 * axis;
            matrix[row] = x.mul_add(
                xx,
                y.mul_add(xy, z.mul_add(xz, shift.mul_add(lever[0], matrix[row]))),
            );
            matrix[row + 1] = x.mul_add(
                xy,
                y.mul_add(yy, z.mul_add(yz, shift.mul_add(lever[1], matrix[row + 1]))),
            );
            matrix[row + 2] = x.mul_add(
                xz,
                y.mul_add(yz, z.mul_add(zz, shift.mul_add(lever[2], matrix[row + 2]))),
            );
            middle[axis] = x.mul_add(
                lever[0],
                y.mul_add(
                    lever[1],
                    z.mul_add(lever[2], shift.mul_add(weight, middle[axis])),
                ),
            );
        }
    }
    let unit = splat(unit);
    let mut gathered = ([[0.0; LANES]; 9], [[0.0; LANES]; 3]);
    for (sum, lane) in matrix.iter().zip(&mut gathered.0) {
        sum.store_slice(lane);
    }
    for axis in 0..3 {
        middle[axis]
            .mul_add(unit, base[axis])
            .store_slice(&mut gathered.1[axis]);
    }
    gathered
}

/// The same numbers in double precision.
#[inline(always)]
fn widened<S: Simd>(simd: S, lane: &Lane) -> f64x8<S> {
    let mut wide = [0.0; LANES];
    for at in 0..LANES {
        wide[at] = f64::from(lane[at]);
    }
    f64x8::from_slice(simd, &wide)
}

#[inline(always)]
fn narrowed<S: Simd>(wide: f64x8<S>, lane: &mut Lane) {
    let mut numbers = [0.0; LANES];
    wide.store_slice(&mut numbers);
    for at in 0..LANES {
        lane[at] = numbers[at] as f32;
    }
}

/// The rotations nearest to the matrices of all lanes.
#[inline(always)]
fn nearest<S: Simd>(simd: S, matrix: &[Lane; 9]) -> [Lane; 9] {
    let mut wide = [f64x8::splat(simd, 0.0); 9];
    for entry in 0..9 {
        wide[entry] = widened(simd, &matrix[entry]);
    }
    let RotationLanes { rotation, doubtful } = polar::nearest_rotations(simd, &wide);
    let mut lanes = [[0.0; LANES]; 9];
    for entry in 0..9 {
        narrowed(rotation[entry], &mut lanes[entry]);
    }
    for lane in (0..LANES).filter(|&lane| doubtful[lane]) {
        put_nearest(matrix, lane, &mut lanes);
    }
    lanes
}

/// `Q` row by row and the covariance, in double precision: the quotient of the two keeps only what rounding they share.
struct Wide<S: Simd> {
    matrix: [f64x8<S>; 9],
    covariance: [f64x8<S>; 6],
    /// `q`.
    middle: [Lane; 3],
}

#[inline(always)]
fn gather_wide<S: Simd>(
    simd: S,
    joints: &[u16],
    omegas: &[[Lane; 10]],
    center: &[Lane; 3],
    unit: f32,
    matrices: &[Affine],
) -> Wide<S> {
    let splat = |number: f32| f64x8::splat(simd, f64::from(number));
    let zero = splat(0.0);
    let per_unit = f64x8::splat(simd, f64::from(unit).recip());
    let center = [
        widened(simd, &center[0]),
        widened(simd, &center[1]),
        widened(simd, &center[2]),
    ];
    let mut base = [zero; 3];
    let mut wide = Wide {
        matrix: [zero; 9],
        covariance: [zero; 6],
        middle: [[0.0; LANES]; 3],
    };
    let mut middle = [zero; 3];
    for (slot, (&joint, omega)) in joints.iter().zip(omegas).enumerate() {
        let rows = &matrices[usize::from(joint)].rows;
        let mut numbers = [zero; 10];
        for (number, lane) in numbers.iter_mut().zip(omega) {
            *number = widened(simd, lane);
        }
        let [weight, lx, ly, lz, xx, xy, xz, yy, yz, zz] = numbers;
        let covariance = [xx, xy, xz, yy, yz, zz];
        for (sum, moment) in wide.covariance.iter_mut().zip(covariance) {
            *sum += moment;
        }
        for axis in 0..3 {
            let row = rows[axis];
            let [x, y, z, w] = [splat(row.x), splat(row.y), splat(row.z), splat(row.w)];
            let carried = x.mul_add(center[0], y.mul_add(center[1], z.mul_add(center[2], w)));
            if slot == 0 {
                base[axis] = carried;
            }
            let shift = (carried - base[axis]) * per_unit;
            let sums = &mut wide.matrix[3 * axis..3 * axis + 3];
            sums[0] = x.mul_add(xx, y.mul_add(xy, z.mul_add(xz, shift.mul_add(lx, sums[0]))));
            sums[1] = x.mul_add(xy, y.mul_add(yy, z.mul_add(yz, shift.mul_add(ly, sums[1]))));
            sums[2] = x.mul_add(xz, y.mul_add(yz, z.mul_add(zz, shift.mul_add(lz, sums[2]))));
            let lever = x.mul_add(lx, y.mul_add(ly, z * lz));
            middle[axis] += shift.mul_add(weight, lever);
        }
    }
    let unit = f64x8::splat(simd, f64::from(unit));
    for axis in 0..3 {
        narrowed(
            middle[axis].mul_add(unit, base[axis]),
            &mut wide.middle[axis],
        );
    }
    wide
}

/// `cof(Q)·P / det P` of all lanes.
#[inline(always)]
fn by_cofactors<S: Simd>(simd: S, wide: &Wide<S>) -> [Lane; 9] {
    let [xx, xy, xz, yy, yz, zz] = wide.covariance;
    let determinant =
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    let factor = f64x8::splat(simd, 1.0) / determinant;
    let cofactors = polar::cofactor_lanes(&wide.matrix);
    let mut lanes = [[0.0; LANES]; 9];
    for row in 0..3 {
        let [a, b, c] = [
            cofactors[3 * row],
            cofactors[3 * row + 1],
            cofactors[3 * row + 2],
        ];
        narrowed((a * xx + b * xy + c * xz) * factor, &mut lanes[3 * row]);
        narrowed((a * xy + b * yy + c * yz) * factor, &mut lanes[3 * row + 1]);
        narrowed((a * xz + b * yz + c * zz) * factor, &mut lanes[3 * row + 2]);
    }
    // A patch without extent has no inverse.
    for lane in 0..LANES {
        let lost = lanes.iter().any(|entry| !entry[lane].is_finite());
        if lost {
            let mut matrix = [[0.0; LANES]; 9];
            for (entry, sum) in matrix.iter_mut().zip(&wide.matrix) {
                narrowed(*sum, entry);
            }
            put_nearest(&matrix, lane, &mut lanes);
        }
    }
    lanes
}

/// One lane's rotation by the way that always has an answer.
fn put_nearest(matrix: &[Lane; 9], lane: usize, rotations: &mut [Lane; 9]) {
    let columns = Mat3::from_cols_array(&matrix.map(|entry| entry[lane]));
    let rotation = polar::nearest_rotation(&columns.transpose().as_dmat3()).as_mat3();
    let rows = rotation.transpose().to_cols_array();
    for (entry, number) in rotations.iter_mut().zip(rows) {
        entry[lane] = number;
    }
}

/// Writes the frames of a group: turned, with the center carried to the middle.
#[inline(always)]
fn scatter<S: Simd>(
    simd: S,
    rotation: &[Lane; 9],
    middle: &[Lane; 3],
    center: &[Lane; 3],
    vertices: &[u32],
    frames: &mut [Affine],
) {
    let load = |lane: &Lane| f32x8::from_slice(simd, lane);
    let center = [load(&center[0]), load(&center[1]), load(&center[2])];
    let mut translation = [[0.0; LANES]; 3];
    for axis in 0..3 {
        let row = 3 * axis;
        let turned = load(&rotation[row]).mul_add(
            center[0],
            load(&rotation[row + 1]).mul_add(center[1], load(&rotation[row + 2]) * center[2]),
        );
        (load(&middle[axis]) - turned).store_slice(&mut translation[axis]);
    }
    for (lane, &vertex) in vertices.iter().enumerate() {
        let mut rows = [Vec4::ZERO; 3];
        for axis in 0..3 {
            rows[axis] = Vec4::new(
                rotation[3 * axis][lane],
                rotation[3 * axis + 1][lane],
                rotation[3 * axis + 2][lane],
                translation[axis][lane],
            );
        }
        frames[vertex as usize] = Affine { rows };
    }
}
