//! What a frame reads, as plain numbers: for vertex loops that run elsewhere, such as shaders.
//!
//! A method's formula has two halves: what is computed once per pose and what is computed per vertex. The first stays here; what comes out of it, and what was baked, is handed out in
//! the form that the second half wants, which [`Kernel`] names.

use super::antipodality::Antipodality;
use super::{DeformError, Skin, Workspace};
use crate::mesh::Shape;
use crate::pose::Palette;
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
    /// Between linear and dual quaternion blending; per vertex the share of the latter, per joint matrix and dual quaternion.
    LinearDualBlend,
    /// Rotation about a baked center; per vertex the center, per joint quaternion and shift.
    CentersOfRotation,
    /// Direct delta mush v0; per vertex the middle of its patch and its size, per influence lever and moments in that size, per joint quaternion and matrix.
    MushNearest,
    /// v1: per vertex the middle of its patch, the axes of the patch as a quaternion and its spread along each, per influence lever and moments along the axes in these spreads.
    MushCofactors,
    /// v2: per vertex the middle and a length, per influence lever in that length and share of the rotation.
    MushQuaternions,
    /// v3: per vertex the middle, the delta in a length, and that length, per influence lever in it and share of the rotation.
    MushMatrices,
    /// v4: per vertex the middle, per influence the share of the rotation.
    MushCenters,
    /// Rotation about a center that joints agree on; per vertex which center, per joint quaternion and shift; the centers are shared.
    Spherical,
    /// Linear blending, and what twists about bones add to it; per joint its matrix. For each two joints, the table says which hinge is between them, counted from one; a hinge shares eight vectors: the
    /// frames of the joint above and of the swing, axis and angle, pivot.
    SwingTwist,
    /// Bones that stretch and twist; per influence the place along the bone, per joint frame, head, axis with twist, and stretch.
    StretchTwist,
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
    /// What the rows of every frame are multiplied by at last: the size of the world, and whether it is mirrored.
    pub factors: [f32; 3],
    /// What is blended linearly and done before all else, joint by joint; empty if nothing stretches.
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

impl Skin {
    /// How a vertex loop elsewhere reads this skin; none for methods whose frames are computed here alone.
    pub fn stream_layout(&self) -> Option<StreamLayout> {
        self.deformer.stream_layout()
    }

    /// What the kernel looks up beside vertices and poses: for each joint and each other one, the hinge between them; empty for most.
    pub fn stream_table(&self) -> Vec<u32> {
        self.deformer.stream_table()
    }

    /// A vertex as [`Skin::stream_layout`] says it is read. Nothing for methods without one.
    pub fn stream_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.influences.clear();
        stream.numbers.clear();
        stream.influence_numbers.clear();
        self.deformer.stream_vertex(vertex, stream);
    }

    /// A pose as it is read. Nothing for methods without a layout.
    pub fn stream_pose(
        &self,
        palette: &Palette,
        workspace: &mut Workspace,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        self.check_palettes(std::slice::from_ref(palette))?;
        stream.clear();
        let palette = &palette.posed_from_bind;
        self.deformer.stream_pose(palette, workspace, stream)
    }

    /// The rest surface.
    pub fn rest(&self) -> Shape<'_> {
        Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        }
    }

    /// The number of joints that a palette must have.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }
}
