//! Baked and posed data as plain numbers, for vertex loops on other backends such as GPUs.
//!
//! A method's formula has a part that is computed once per pose and a part that is computed per
//! vertex. The first part stays on the CPU; its results and the baked data are provided in the
//! format of the second part, which is named by [`Kernel`].

use super::antipodality::Antipodality;
use crate::transform::Affine;
use glam::Vec3;

/// A formula for the frame of a vertex, possibly shared by several methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kernel {
    /// `Σ w_j T_j`; per joint the rows of its matrix.
    Linear,
    /// Linear blending plus the offset of each joint's own rest position; per influence that
    /// offset.
    AnimationSpace,
    /// Sums of dual quaternions; per joint the real and the dual part.
    DualQuaternion,
    /// A mix of linear and dual quaternion blending; per vertex the share of the latter, per joint
    /// matrix and dual quaternion.
    LinearDualBlend,
    /// Rotation about a baked center; per vertex the center, per joint quaternion and translation.
    CentersOfRotation,
    /// Direct delta mush v0; per vertex the middle of its patch and the size of the patch, per
    /// influence lever and moments relative to that size, per joint quaternion and matrix.
    MushNearest,
    /// v1: per vertex the middle of its patch, the axes of the patch as a quaternion and the spread
    /// along each axis, per influence lever and moments along the axes relative to the spreads.
    MushCofactors,
    /// v2: per vertex the middle and a length, per influence the lever relative to that length and
    /// the share of the rotation.
    MushQuaternions,
    /// v3: per vertex the middle, the delta relative to a length, and that length, per influence
    /// the lever relative to it and the share of the rotation.
    MushMatrices,
    /// v4: per vertex the middle, per influence the share of the rotation.
    MushCenters,
    /// Rotation about a least-squares center of the joints; per vertex the index of its center, per
    /// joint quaternion and translation; the centers are shared.
    Spherical,
    /// Linear blending plus the twist about bones; per joint its matrix. For each pair of joints,
    /// the table has the number of the hinge between them, counted from one; a hinge has eight
    /// shared vectors: the frames of the joint above and of the swing, axis and angle, pivot.
    SwingTwist,
    /// Bones that stretch and twist; per influence the position along the bone, per joint frame,
    /// axis with twist, stretch, and head.
    StretchTwist,
    /// Delta mush with tangent frames; per vertex the index of its point in
    /// [`Skin::stream_smoothing`](super::Skin::stream_smoothing) (an integer, stored by its bits),
    /// per joint the rows of its rigid motion. The surface is smoothed before.
    DeltaMush,
}

impl Kernel {
    /// All kernels.
    pub const ALL: &[Kernel] = &[
        Kernel::Linear,
        Kernel::AnimationSpace,
        Kernel::DualQuaternion,
        Kernel::LinearDualBlend,
        Kernel::CentersOfRotation,
        Kernel::MushNearest,
        Kernel::MushCofactors,
        Kernel::MushQuaternions,
        Kernel::MushMatrices,
        Kernel::MushCenters,
        Kernel::Spherical,
        Kernel::SwingTwist,
        Kernel::StretchTwist,
        Kernel::DeltaMush,
    ];
}

/// Layout of a skin's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamLayout {
    /// The formula.
    pub kernel: Kernel,
    /// The choice of signs of quaternions in the kernel.
    pub antipodality: Antipodality,
    /// The number of floats per vertex.
    pub per_vertex: usize,
    /// The number of floats per influence, in addition to joint and weight.
    pub per_influence: usize,
    /// The number of vectors of four floats per joint in a pose.
    pub per_joint: usize,
    /// The number of vectors in a pose that are not per joint.
    pub shared: usize,
}

impl StreamLayout {
    /// The layout of a kernel without sums of quaternions, or with signs chosen per vertex.
    pub(super) const fn of(
        kernel: Kernel,
        per_vertex: usize,
        per_influence: usize,
        per_joint: usize,
    ) -> StreamLayout {
        StreamLayout {
            kernel,
            antipodality: Antipodality::PerVertex,
            per_vertex,
            per_influence,
            per_joint,
            shared: 0,
        }
    }
}

/// The data of a vertex for a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexStream {
    /// Its joints and weights, heaviest first.
    pub influences: Vec<(u16, f32)>,
    /// The numbers of the vertex.
    pub numbers: Vec<f32>,
    /// The numbers of its influences, one after the other.
    pub influence_numbers: Vec<f32>,
}

impl VertexStream {
    pub(super) fn push_row(&mut self, (joints, weights): (&[u16], &[f32])) {
        let row = joints.iter().copied().zip(weights.iter().copied());
        self.influences.extend(row);
    }
}

/// The data of a pose for a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseStream {
    /// Factors of the rows of every frame, applied last: the common scale, and its mirroring.
    pub factors: [f32; 3],
    /// The stretches of the joints, blended linearly and applied first; empty if no joint
    /// stretches.
    pub stretches: Vec<Affine>,
    /// The data of the joints, [`StreamLayout::per_joint`] vectors each.
    pub joints: Vec<[f32; 4]>,
    /// The data shared by all joints, [`StreamLayout::shared`] vectors.
    pub shared: Vec<[f32; 4]>,
}

impl Default for PoseStream {
    fn default() -> PoseStream {
        PoseStream {
            factors: [1.0; 3],
            stretches: Vec::new(),
            joints: Vec::new(),
            shared: Vec::new(),
        }
    }
}

impl PoseStream {
    pub(super) fn clear(&mut self) {
        self.factors = [1.0; 3];
        self.stretches.clear();
        self.joints.clear();
        self.shared.clear();
    }

    pub(super) fn push_motion(&mut self, rotation: [f32; 4], shift: Vec3) {
        self.joints.push(rotation);
        self.joints.push(shift.extend(0.0).to_array());
    }

    pub(super) fn push_rows(&mut self, matrix: &Affine) {
        self.joints.extend(matrix.rows.map(|row| row.to_array()));
    }
}

/// Smoothing of the surface in every frame before frames are computed, as plain numbers for passes
/// over points.
///
/// Smoothing `S` preserves motions of a whole piece of the surface. So one joint of a piece is its
/// reference, and only the motion relative to that joint is smoothed: `ṽ = T_ref(ũ + S g)` with `g
/// = T_ref⁻¹ v − u`. Then single precision suffices at any distance from the origin, and a small
/// piece that follows one joint keeps its shape bit for bit, however much smoothing shrinks it.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothingStream {
    /// The points of the surface with its seams closed.
    pub points: Vec<SmoothedPoint>,
    /// The connected pieces.
    pub pieces: Vec<SmoothedPiece>,
    /// The smoothing operator: series of terms `f`, none of them empty. Each series smooths the
    /// result of the one before.
    ///
    /// With `L` of [`SmoothedPoint::neighbours`], `y = L x`, and both sums zero at first, for each
    /// term of a series from first to last: `δ ← δ − f y − L β`, then `β ← β + δ`. The last term
    /// counts half, `δ ← δ − ½(f y + L β)`. The result is `x + δ`.
    pub series: Vec<Vec<f32>>,
}

/// A point of a smoothed surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmoothedPoint {
    /// `u`: its rest position.
    pub place: [f32; 3],
    /// `ũ`: its smoothed rest position, relative to the middle of its piece.
    pub smooth: [f32; 3],
    /// The rounding error of `smooth`.
    pub smooth_left: [f32; 3],
    /// The index of its piece.
    pub piece: u32,
    /// One of its vertices, whose joints and weights it has.
    pub vertex: u32,
    /// The neighbour that defines its tangent; the point itself if it has none.
    pub towards: u32,
    /// Its neighbours and their coefficients in `(L β)_i = Σ share (β_i − β_j)`.
    pub neighbours: Vec<(u32, f32)>,
    /// The two other corners of the triangles around it, in order.
    pub triangles: Vec<[u32; 2]>,
}

/// A connected piece of a smoothed surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothedPiece {
    /// A point in the middle of the smoothed piece, at rest.
    pub middle: [f32; 3],
    /// The reference joint: the one that holds most of the piece.
    pub joint: u16,
}
