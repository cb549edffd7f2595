//! What a frame reads, as plain numbers: for vertex loops that run elsewhere, such as shaders.
//!
//! A method's formula has two halves: what is computed once per pose and what is computed per
//! vertex. The first stays here; what comes out of it, and what was baked, is handed out in
//! the form that the second half wants, which [`Kernel`] names.

use super::antipodality::Antipodality;
use crate::transform::Affine;
use glam::Vec3;

/// A formula for the frame of a vertex: several methods may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kernel {
    /// `Σ w_j T_j`; per joint the rows of its matrix.
    Linear,
    /// Linear blending and what each joint's own rest position adds; per influence that offset.
    AnimationSpace,
    /// Sums of dual quaternions; per joint its real and its dual part.
    DualQuaternion,
    /// Between linear and dual quaternion blending; per vertex the share of the latter, per joint
    /// matrix and dual quaternion.
    LinearDualBlend,
    /// Rotation about a baked center; per vertex the center, per joint quaternion and shift.
    CentersOfRotation,
    /// Direct delta mush v0; per vertex the middle of its patch and its size, per influence lever
    /// and moments in that size, per joint quaternion and matrix.
    MushNearest,
    /// v1: per vertex the middle of its patch, the axes of the patch as a quaternion and its spread
    /// along each, per influence lever and moments along the axes in these spreads.
    MushCofactors,
    /// v2: per vertex the middle and a length, per influence lever in that length and share of the
    /// rotation.
    MushQuaternions,
    /// v3: per vertex the middle, the delta in a length, and that length, per influence lever in it
    /// and share of the rotation.
    MushMatrices,
    /// v4: per vertex the middle, per influence the share of the rotation.
    MushCenters,
    /// Rotation about a center that joints agree on; per vertex which center, per joint quaternion
    /// and shift; the centers are shared.
    Spherical,
    /// Linear blending, and what twists about bones add to it; per joint its matrix. For each two
    /// joints, the table says which hinge is between them, counted from one; a hinge shares eight
    /// vectors: the frames of the joint above and of the swing, axis and angle, pivot.
    SwingTwist,
    /// Bones that stretch and twist; per influence the place along the bone, per joint frame, axis
    /// with twist, stretch, and head.
    StretchTwist,
    /// Delta mush with tangent frames; per vertex which point of [`Skin::stream_smoothing`](super::Skin::stream_smoothing) it is
    /// (a whole number, by its bits), per joint the rows of its rigid motion. That surface is
    /// smoothed before.
    DeltaMush,
}

impl Kernel {
    /// All of them.
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

/// How the streams of a skin are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamLayout {
    /// The formula.
    pub kernel: Kernel,
    /// Where it chooses the signs of quaternions.
    pub antipodality: Antipodality,
    /// Numbers of each vertex.
    pub per_vertex: usize,
    /// Numbers of each influence, beside joint and weight.
    pub per_influence: usize,
    /// Vectors of four numbers of each joint in a pose.
    pub per_joint: usize,
    /// Vectors of a pose that do not belong to a joint.
    pub shared: usize,
}

impl StreamLayout {
    /// Of a kernel that sums no quaternions, or chooses their signs per vertex.
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

/// A vertex as a kernel reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexStream {
    /// The joints it follows, heaviest first, with its weights.
    pub influences: Vec<(u16, f32)>,
    /// Its own numbers.
    pub numbers: Vec<f32>,
    /// Those of its influences, one after the other.
    pub influence_numbers: Vec<f32>,
}

impl VertexStream {
    pub(super) fn push_row(&mut self, (joints, weights): (&[u16], &[f32])) {
        let row = joints.iter().copied().zip(weights.iter().copied());
        self.influences.extend(row);
    }
}

/// A pose as a kernel reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseStream {
    /// What the rows of every frame are multiplied by at last: the size of the world, and whether
    /// it is mirrored.
    pub factors: [f32; 3],
    /// What is blended linearly and done before all else, joint by joint; empty if nothing
    /// stretches.
    pub stretches: Vec<Affine>,
    /// The joints, [`StreamLayout::per_joint`] vectors each.
    pub joints: Vec<[f32; 4]>,
    /// What does not belong to a joint, [`StreamLayout::shared`] vectors.
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

/// What is smoothed in every frame before frames can be had, as plain numbers: for passes over the
/// points of a surface.
///
/// Smoothing `S` keeps whatever moves a piece of the surface as a whole. So one joint of a piece is
/// its reference, and only what other joints do beside it is smoothed: `ṽ = T_ref(ũ + S g)` with `g
/// = T_ref⁻¹ v − u`. Then single precision is enough wherever the character stands, and a small
/// piece that follows one joint keeps its shape to the bit, however small smoothing makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothingStream {
    /// The surface with its seams closed.
    pub points: Vec<SmoothedPoint>,
    /// What is connected.
    pub pieces: Vec<SmoothedPiece>,
    /// What smoothing is: one series of terms `f` after the other, each of which smooths what the
    /// one before has made; none is empty.
    ///
    /// With `L` of [`SmoothedPoint::neighbours`] and `y = L x`, and with both sums zero at first,
    /// for each term of a series from first to last: `δ ← δ − f y − L β`, then `β ← β + δ`. Of the
    /// last one half is taken, `δ ← δ − ½(f y + L β)`. The result is `x + δ`.
    pub series: Vec<Vec<f32>>,
}

/// A point of a surface that is smoothed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmoothedPoint {
    /// `u`: where it is at rest.
    pub place: [f32; 3],
    /// `ũ`: where smoothing takes it at rest, seen from the middle of its piece.
    pub smooth: [f32; 3],
    /// What rounding has left of that.
    pub smooth_left: [f32; 3],
    /// The piece it belongs to.
    pub piece: u32,
    /// A vertex that is there, whose joints and weights it has.
    pub vertex: u32,
    /// The neighbour that gives its tangent; the point itself if it has none.
    pub towards: u32,
    /// Its neighbours, and what `L β` takes of the difference to each: `(L β)_i = Σ share (β_i −
    /// β_j)`.
    pub neighbours: Vec<(u32, f32)>,
    /// The two other corners of the triangles around it, in their order.
    pub triangles: Vec<[u32; 2]>,
}

/// A connected piece of a surface that is smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothedPiece {
    /// A place in the middle of the smoothed piece, at rest.
    pub middle: [f32; 3],
    /// The joint that is the reference: the one that holds most of it.
    pub joint: u16,
}
