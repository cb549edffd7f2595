//! Multi-linear skinning: several learned numbers per influence instead of one weight.
//!
//! `skinning-course-direct-methods.txt`, §3. *Animation space* has four numbers (eq. 10 and 12):
//! `v' = Σ_j T_j y_j`, the most general linear method whose result follows rigid motions of the
//! character. *Multi-weight enveloping* has twelve: each entry of a joint's matrix has its own
//! weight, `v' = Σ_j (W_j ∘ T_j) v`. Linear blend skinning is the special case `y_j = w_j (v, 1)`,
//! or all twelve equal to `w_j`; without learned weights both methods are linear blend skinning,
//! bit for bit.

use super::direct::{BakedStreams, Direct, FieldKey, Fields, LaneFrames, OutsideValue, Streams};
use super::error::DeformError;
use super::lanes::{ALL, FrameLanes, Group, Lane, Packing, loaded};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::surface::Rows;
use crate::transform::{Affine, linear_blend};
use crate::weights::{Weights, WeightsBuilder};
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8};
use glam::{Vec3, Vec4};
use std::sync::Arc;

/// `N` numbers for every influence of every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiWeights<const N: usize> {
    /// The joints of each vertex.
    joints: Rows<u16>,
    /// Parallel to the joints.
    values: Vec<[f32; N]>,
}

/// Weights of animation space: the vertex `y_j` of each joint, with its share as the fourth number.
/// The shares of a vertex should sum to one (eq. 12); otherwise the surface does not follow
/// translations of the character.
pub type AnimationSpaceWeights = MultiWeights<4>;

/// Weights of multi-weight enveloping: one per entry of a joint's matrix, row by row.
pub type MatrixWeights = MultiWeights<12>;

impl<const N: usize> Default for MultiWeights<N> {
    fn default() -> MultiWeights<N> {
        MultiWeights {
            joints: Rows::default(),
            values: Vec::new(),
        }
    }
}

impl<const N: usize> MultiWeights<N> {
    /// Adds the next vertex: its joints, and the numbers of each. A vertex without joints stays at
    /// the origin.
    pub fn push(&mut self, influences: impl IntoIterator<Item = (u16, [f32; N])>) {
        let values = &mut self.values;
        self.joints
            .push_row(influences.into_iter().map(|(joint, own)| {
                values.push(own);
                joint
            }));
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.joints.len()
    }

    /// The influences of a vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (u16, [f32; N])> + '_ {
        let joints = self.joints.row(vertex).iter().copied();
        joints.zip(self.values[self.joints.range(vertex)].iter().copied())
    }

    /// Computes the numbers of every influence of a rig from its vertex and weight.
    fn from_rig(rig: &Rig, values: impl Fn(Vec3, f32) -> [f32; N]) -> MultiWeights<N> {
        let mut weights = MultiWeights::default();
        for (vertex, &position) in rig.mesh().positions().iter().enumerate() {
            let (joints, shares) = rig.weights().row(vertex);
            let values = shares.iter().map(|&share| values(position, share));
            weights.push(joints.iter().copied().zip(values));
        }
        weights
    }

    fn check(&self, rig: &Rig) -> Result<(), DeformError> {
        let mismatch = |what, found, expected| DeformError::SizeMismatch {
            what,
            found,
            expected,
        };
        let vertices = rig.mesh().vertex_count();
        if self.vertex_count() != vertices {
            return Err(mismatch("rows of weights", self.vertex_count(), vertices));
        }
        let joints = rig.skeleton().joints().len();
        if let Some(&joint) = self
            .joints
            .values()
            .iter()
            .max()
            .filter(|&&joint| usize::from(joint) >= joints)
        {
            return Err(mismatch(
                "joints named by the weights",
                usize::from(joint) + 1,
                joints,
            ));
        }
        let bad = self
            .values
            .iter()
            .position(|values| values.iter().any(|value| !value.is_finite()));
        match bad {
            None => Ok(()),
            Some(influence) => Err(DeformError::NotFinite {
                what: "weights",
                vertex: self.joints.row_of(influence),
            }),
        }
    }
}

impl AnimationSpaceWeights {
    /// The weights of linear blend skinning, `w (v, 1)`: a starting point for learning.
    pub fn linear(rig: &Rig) -> AnimationSpaceWeights {
        MultiWeights::from_rig(rig, |v, w| [w * v.x, w * v.y, w * v.z, w])
    }
}

impl MatrixWeights {
    /// The weights of linear blend skinning, all twelve equal: a starting point for learning.
    pub fn linear(rig: &Rig) -> MatrixWeights {
        MultiWeights::from_rig(rig, |_, weight| [weight; 12])
    }
}

/// The numbers of eight vertices at a time.
#[derive(Clone, Debug)]
pub(super) struct NumberLanes<const N: usize> {
    packing: Arc<Packing>,
    /// The numbers of each joint of each group; zeros for vertices that do not have it.
    numbers: Vec<[Lane; N]>,
}

impl<const N: usize> NumberLanes<N> {
    /// Packs the numbers of every influence of every vertex.
    fn pack(
        joints: &Rows<u16>,
        joint_count: usize,
        of: impl Fn(usize) -> [f32; N],
    ) -> Option<NumberLanes<N>> {
        let packing = Arc::new(Packing::of_joints(naming(joints, joint_count)?));
        let mut numbers = Vec::new();
        for group in packing.all_groups() {
            for &joint in group.joints().unwrap_or_default() {
                numbers.push(group.lanes(|vertex| {
                    let row = joints.range(vertex).zip(joints.row(vertex));
                    let own = row.filter(|(_, other)| **other == joint);
                    // A joint may be named more than once.
                    own.fold([0.0; N], |mut sum, (influence, _)| {
                        for (sum, number) in sum.iter_mut().zip(of(influence)) {
                            *sum += number;
                        }
                        sum
                    })
                }));
            }
        }
        Some(NumberLanes { packing, numbers })
    }

    /// The joints of a group, and the numbers of each.
    fn of_group<'a>(
        &'a self,
        group: &Group<'a>,
    ) -> impl Iterator<Item = (usize, &'a [Lane; N])> + 'a {
        let joints = group.joints().unwrap_or_default().iter();
        let joints = joints.map(|&joint| usize::from(joint));
        joints.zip(&self.numbers[group.slot_range()])
    }

    fn bytes(&self, packing: &Packing) -> usize {
        packing.bytes() + size_of_val(&self.numbers[..])
    }
}

/// Weights that name the joints of each vertex; a vertex without joints names the first.
fn naming(joints: &Rows<u16>, joint_count: usize) -> Option<Weights> {
    let mut weights = WeightsBuilder::new(joint_count).ok()?;
    for vertex in 0..joints.len() {
        let row = joints.row(vertex).iter();
        let row = row.map(|&joint| (usize::from(joint), 1.0));
        weights.push(row, 0).ok()?;
    }
    Some(weights.finish().0)
}

/// The palette of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedPalette {
    maps: Vec<Affine>,
    /// True if all numbers are finite: a number of zero does not remove those that are not.
    finite: bool,
}

impl PosedPalette {
    fn refill(&mut self, palette: &[Affine]) {
        palette.clone_into(&mut self.maps);
        let mut rows = palette.iter().flat_map(|map| &map.rows);
        self.finite = rows.all(|row| row.is_finite());
    }
}

/// Animation space in the form of its frame: `Σ y_j4 T_j`, and the offset of each joint's own rest
/// position.
#[derive(Clone, Debug)]
pub(super) struct AnimationSpaceSkin {
    joints: Rows<u16>,
    /// The fourth numbers of each influence.
    shares: Vec<f32>,
    /// `y_j − y_j4 v`, three numbers per influence: the offset of the joint's own rest position
    /// from the vertex. Zero for linear blending.
    offsets: Vec<f32>,
    /// The share and the offset of each influence.
    lanes: Option<NumberLanes<4>>,
}

impl AnimationSpaceSkin {
    pub(super) fn bake(
        rig: &Rig,
        weights: &AnimationSpaceWeights,
    ) -> Result<AnimationSpaceSkin, DeformError> {
        weights.check(rig)?;
        let mut offsets = Vec::with_capacity(weights.values.len() * 3);
        for (vertex, position) in rig.mesh().positions().iter().enumerate() {
            for (_, [x, y, z, share]) in weights.of(vertex) {
                let offset = Vec3::new(x, y, z) - *position * share;
                offsets.extend(offset.to_array());
            }
        }
        let shares: Vec<f32> = weights.values.iter().map(|values| values[3]).collect();
        let of = |influence: usize| {
            let offset = &offsets[3 * influence..3 * influence + 3];
            [shares[influence], offset[0], offset[1], offset[2]]
        };
        let joint_count = rig.skeleton().joints().len();
        Ok(AnimationSpaceSkin {
            lanes: NumberLanes::pack(&weights.joints, joint_count, of),
            shares,
            offsets,
            joints: weights.joints.clone(),
        })
    }
}

impl LaneFrames<PosedPalette> for NumberLanes<4> {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(&self, simd: S, group: &Group<'_>, posed: &PosedPalette) -> FrameLanes<S> {
        let mut frames = [f32x8::splat(simd, 0.0); 12];
        for (joint, numbers) in self.of_group(group) {
            let [share, x, y, z] = loaded(simd, numbers);
            for (row, numbers) in posed.maps[joint].rows.iter().enumerate() {
                let numbers = numbers.to_array();
                let entries = &mut frames[4 * row..4 * row + 4];
                for (entry, number) in entries.iter_mut().zip(numbers) {
                    *entry = share.mul_add(f32x8::splat(simd, number), *entry);
                }
                let carried = z * numbers[2];
                let carried = y.mul_add(f32x8::splat(simd, numbers[1]), carried);
                entries[3] += x.mul_add(f32x8::splat(simd, numbers[0]), carried);
            }
        }
        in_lanes(posed, frames)
    }
}

impl LaneFrames<PosedPalette> for NumberLanes<12> {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn frames<S: Simd>(&self, simd: S, group: &Group<'_>, posed: &PosedPalette) -> FrameLanes<S> {
        let mut frames = [f32x8::splat(simd, 0.0); 12];
        for (joint, numbers) in self.of_group(group) {
            let map = posed.maps[joint].to_array();
            for ((entry, number), weights) in frames.iter_mut().zip(map).zip(numbers) {
                let weights = f32x8::from_slice(simd, weights);
                *entry = weights.mul_add(f32x8::splat(simd, number), *entry);
            }
        }
        in_lanes(posed, frames)
    }
}

/// Frames of a group; all are doubtful if some joint is not finite.
#[inline(always)]
fn in_lanes<S: Simd>(posed: &PosedPalette, frames: [f32x8<S>; 12]) -> FrameLanes<S> {
    FrameLanes {
        doubtful: if posed.finite { 0 } else { ALL },
        ..FrameLanes::of(frames)
    }
}

impl Direct for AnimationSpaceSkin {
    type Posed = PosedPalette;
    type Lanes = NumberLanes<4>;

    const LINEAR_IN_FIELDS: bool = true;

    /// False: only if the fourth numbers sum to one (eq. 12), which is up to the training.
    const FOLLOWS_SHIFTS: bool = false;

    fn pose(&self, palette: &[Affine], posed: &mut PosedPalette) -> Result<(), DeformError> {
        posed.refill(palette);
        Ok(())
    }

    fn fields(&self, vertex: usize) -> Fields<'_> {
        let row = self.joints.range(vertex);
        Fields {
            weights: &self.shares[row.clone()],
            extras: &self.offsets[row.start * 3..row.end * 3],
        }
    }

    fn lanes(&self) -> Option<&NumberLanes<4>> {
        self.lanes.as_ref()
    }

    fn bytes(&self, packing: &Packing) -> usize {
        let numbers = self.lanes.as_ref();
        numbers.map_or(0, |numbers| numbers.bytes(packing))
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn Streams<PosedPalette>)> {
        Some((StreamLayout::of(Kernel::AnimationSpace, 0, 3, 3), self))
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        let joints = self.joints.row(vertex);
        let key = |kind, &joint: &u16| FieldKey {
            kind,
            owner: u32::from(joint),
            outside: OutsideValue::Zero,
        };
        keys.extend(joints.iter().map(|joint| key(FieldKey::WEIGHT, joint)));
        let offsets = joints
            .iter()
            .flat_map(|joint| [1, 2, 3].map(|kind| key(kind, joint)));
        keys.extend(offsets);
    }

    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &PosedPalette) -> Affine {
        let joints = self.joints.row(vertex);
        let mut frame = linear_blend(joints, fields.weights, &posed.maps);
        for (&joint, offset) in joints.iter().zip(fields.extras.chunks_exact(3)) {
            let offset = posed.maps[usize::from(joint)].transform_vector(Vec3::from_slice(offset));
            for (row, offset) in frame.rows.iter_mut().zip(offset.to_array()) {
                row.w += offset;
            }
        }
        frame
    }
}

impl BakedStreams for AnimationSpaceSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let Fields { weights, extras } = self.fields(vertex);
        stream.push_row((self.joints.row(vertex), weights));
        stream.influence_numbers.extend(extras);
    }
}

impl Streams<PosedPalette> for AnimationSpaceSkin {
    fn push_pose(
        &self,
        palette: &[Affine],
        _posed: &mut PosedPalette,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        for matrix in palette {
            stream.push_rows(matrix);
        }
        Ok(())
    }
}

/// Multi-weight enveloping.
#[derive(Clone, Debug)]
pub(super) struct MultiWeightSkin {
    weights: MatrixWeights,
    lanes: Option<NumberLanes<12>>,
}

impl MultiWeightSkin {
    pub(super) fn bake(rig: &Rig, weights: &MatrixWeights) -> Result<MultiWeightSkin, DeformError> {
        weights.check(rig)?;
        let joint_count = rig.skeleton().joints().len();
        let of = |influence: usize| weights.values[influence];
        Ok(MultiWeightSkin {
            lanes: NumberLanes::pack(&weights.joints, joint_count, of),
            weights: weights.clone(),
        })
    }
}

impl Direct for MultiWeightSkin {
    type Posed = PosedPalette;
    type Lanes = NumberLanes<12>;

    const LINEAR_IN_FIELDS: bool = true;

    /// False: weights of translations need not sum to one.
    const FOLLOWS_SHIFTS: bool = false;

    fn pose(&self, palette: &[Affine], posed: &mut PosedPalette) -> Result<(), DeformError> {
        posed.refill(palette);
        Ok(())
    }

    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: &[],
            extras: self.weights.values[self.weights.joints.range(vertex)].as_flattened(),
        }
    }

    fn lanes(&self) -> Option<&NumberLanes<12>> {
        self.lanes.as_ref()
    }

    fn bytes(&self, packing: &Packing) -> usize {
        let numbers = self.lanes.as_ref();
        numbers.map_or(0, |numbers| numbers.bytes(packing))
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        let joints = self.weights.joints.row(vertex);
        keys.extend(joints.iter().flat_map(|&joint| {
            (0..12).map(move |kind| FieldKey {
                kind,
                owner: u32::from(joint),
                outside: OutsideValue::Zero,
            })
        }));
    }

    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &PosedPalette) -> Affine {
        let joints = self.weights.joints.row(vertex);
        let mut frame = Affine::ZERO;
        for (&joint, weights) in joints.iter().zip(fields.extras.chunks_exact(12)) {
            let map = &posed.maps[usize::from(joint)];
            let rows = frame.rows.iter_mut().zip(&map.rows);
            for ((row, of_joint), weights) in rows.zip(weights.chunks_exact(4)) {
                *row += *of_joint * Vec4::from_slice(weights);
            }
        }
        frame
    }
}
