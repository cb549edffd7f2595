//! A character baked for a method, and the functions to deform it in every frame.

#[cfg(feature = "arap")]
use super::arap;
use super::baked_data::BakedData;
use super::direct_delta_mush::{self, MushVariant};
use super::error::{DeformError, check_size};
use super::instructions::InstructionSet;
use super::lanes::{LaneSurface, Packing, RestSurface};
use super::method::Method;
use super::normals::{BakedNormals, Normals};
use super::output::{Output, VertexBuffers};
use super::rigid_motion::TwoPhases;
use super::streams::{PoseStream, SmoothingStream, StreamLayout, VertexStream};
use super::vertex_loop::{Deformer, Job};
use super::workspace::Workspace;
use super::{
    centers_of_rotation, cor_procrustes, delta_mush, differential, dual_quaternion,
    dual_quaternion_intrinsic, linear, linear_dual_blend, log_matrix, multi_linear, rigid,
    spherical, spline, stretch_twist, swing_twist,
};
#[cfg(feature = "arap")]
use crate::arap::ArapReport;
use crate::mesh::Shape;
use crate::mush::Mush;
use crate::normals::SmoothGroups;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::weights::Weights;
use glam::{Vec3, Vec4};
use std::sync::Arc;

/// A variant of direct delta mush with both phases.
fn mush_skin<V: direct_delta_mush::Variant>(rig: &Rig, mush: &Mush) -> Arc<dyn Deformer> {
    let skin = direct_delta_mush::MushSkin::<V>::bake(rig, mush);
    Arc::new(TwoPhases::with_weights(rig, mush.weights(), skin))
}

/// A character baked for one method: immutable and shareable between threads.
#[derive(Clone, Debug)]
pub struct Skin {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
    joint_count: usize,
    deformer: Arc<dyn Deformer>,
    baked_normals: Arc<BakedNormals>,
    /// The order and grouping of vertices.
    packing: Arc<Packing>,
    /// The rest surface in the layout of the vertex loop.
    lanes: Arc<LaneSurface>,
    instructions: InstructionSet,
    #[cfg(feature = "arap")]
    arap_report: Option<Arc<ArapReport>>,
}

impl Skin {
    /// Bakes a rig for a method and a kind of normals: the slow part, once per character.
    ///
    /// Computes all data that the method needs; [`Skin::bake_with`] uses existing data.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range.
    pub fn bake(rig: &Rig, method: &Method, normals: Normals) -> Result<Skin, DeformError> {
        Skin::bake_with(rig, method, normals, &BakedData::default())
    }

    /// Bakes a rig with data that was baked, learned or painted before.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range, or the data belong to another character.
    pub fn bake_with(
        rig: &Rig,
        method: &Method,
        normals: Normals,
        baked: &BakedData,
    ) -> Result<Skin, DeformError> {
        #[cfg(feature = "arap")]
        let mut arap_report = None;
        let deformer: Arc<dyn Deformer> = match method {
            Method::Rigid => Arc::new(rigid::RigidSkin::bake(rig)),
            Method::Linear => Arc::new(linear::LinearSkin::bake(rig)),
            Method::DualQuaternion(options) => Arc::new(TwoPhases::around(
                rig,
                dual_quaternion::DualQuaternionSkin::bake(rig, options),
            )),
            Method::DualQuaternionIntrinsic(options) => Arc::new(TwoPhases::around(
                rig,
                dual_quaternion_intrinsic::IntrinsicSkin::bake(rig, options),
            )),
            Method::LogMatrix => Arc::new(log_matrix::LogMatrixSkin::bake(rig)),
            Method::Spherical => {
                Arc::new(TwoPhases::around(rig, spherical::SphericalSkin::bake(rig)))
            }
            Method::LinearDualBlend(options) => {
                let shares = baked.dual_shares.as_deref();
                Arc::new(linear_dual_blend::LinearDualSkin::bake(
                    rig, options, shares,
                )?)
            }
            Method::SwingTwist => Arc::new(TwoPhases::around(
                rig,
                swing_twist::SwingTwistSkin::bake(rig),
            )),
            Method::Differential => Arc::new(TwoPhases::around(
                rig,
                differential::DifferentialSkin::bake(rig)?,
            )),
            Method::StretchTwist => Arc::new(TwoPhases::around(
                rig,
                stretch_twist::StretchTwistSkin::bake(rig, baked.endpoint_weights.as_deref())?,
            )),
            Method::CentersOfRotation(options) => Arc::new(TwoPhases::around(
                rig,
                centers_of_rotation::CenterSkin::bake(rig, options, baked.centers.as_deref())?,
            )),
            Method::CorProcrustes(options) => Arc::new(TwoPhases::around(
                rig,
                cor_procrustes::ProcrustesSkin::bake(rig, options)?,
            )),
            Method::DeltaMush(options) => delta_mush::bake(rig, options)?,
            Method::DirectDeltaMush(options) => {
                let stored = baked.mush.as_ref();
                let mush = direct_delta_mush::stored_or_baked(rig, &options.smoothing, stored)?;
                match options.variant {
                    MushVariant::V0 => mush_skin::<direct_delta_mush::V0>(rig, &mush),
                    MushVariant::V1 => mush_skin::<direct_delta_mush::V1>(rig, &mush),
                    MushVariant::V2 => mush_skin::<direct_delta_mush::V2>(rig, &mush),
                    MushVariant::V3 => mush_skin::<direct_delta_mush::V3>(rig, &mush),
                    MushVariant::V4 => mush_skin::<direct_delta_mush::V4>(rig, &mush),
                    MushVariant::V5 => {
                        Arc::new(linear::LinearSkin::with_weights(mush.weights().clone()))
                    }
                }
            }
            #[cfg(feature = "arap")]
            Method::Arap(options) => {
                let (skin, report) = arap::bake(rig, options)?;
                arap_report = Some(Arc::new(report));
                skin
            }
            Method::Spline => Arc::new(spline::SplineSkin::bake(rig)),
            // Without learned weights these are linear blend skinning.
            Method::AnimationSpace => match &baked.animation_space {
                Some(weights) => Arc::new(multi_linear::AnimationSpaceSkin::bake(rig, weights)?),
                None => Arc::new(linear::LinearSkin::bake(rig)),
            },
            Method::MultiWeight => match &baked.multi_weight {
                Some(weights) => Arc::new(multi_linear::MultiWeightSkin::bake(rig, weights)?),
                None => Arc::new(linear::LinearSkin::bake(rig)),
            },
        };
        let baked_normals = match normals {
            Normals::Transported => BakedNormals::Transported,
            Normals::Gradient => BakedNormals::Gradient(deformer.field_gradients(rig)),
            Normals::Recomputed => BakedNormals::Recomputed(SmoothGroups::of(rig)),
        };
        let mesh = rig.mesh();
        let packing = deformer.packing().cloned();
        let packing = packing.unwrap_or_else(|| {
            Arc::new(Packing::in_order(mesh.vertex_count(), Weights::default()))
        });
        Ok(Skin {
            positions: mesh.positions().to_vec(),
            normals: mesh.normals().to_vec(),
            tangents: mesh.tangents().map(<[Vec4]>::to_vec),
            joint_count: rig.skeleton().joints().len(),
            deformer,
            baked_normals: Arc::new(baked_normals),
            lanes: Arc::new(LaneSurface::of(&packing, &mesh.shape())),
            packing,
            instructions: InstructionSet::best(),
            #[cfg(feature = "arap")]
            arap_report,
        })
    }

    /// The same skin on another instruction set than the best of the machine. If the machine does
    /// not support it, the plain loop is used.
    #[must_use]
    pub fn on(self, instructions: InstructionSet) -> Skin {
        Skin {
            instructions,
            ..self
        }
    }

    /// The instruction set of the vertex loop.
    pub fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// The report on how joints hold the surface, and on parts that no joint holds; for
    /// [`Method::Arap`] only.
    #[cfg(feature = "arap")]
    pub fn arap_report(&self) -> Option<&ArapReport> {
        self.arap_report.as_deref()
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Deforms the bind surface: the fast part, every frame. Allocates nothing once the workspace
    /// has grown.
    ///
    /// A large surface is divided among the threads of the caller's thread pool, or of the global
    /// pool; the result is bit-identical for any number of threads. If the caller is outside of the
    /// pool, the pool's queue allocates a block about every sixty frames.
    ///
    /// # Errors
    ///
    /// Fails if palette or output do not fit the character, or the method cannot deform to the
    /// pose.
    pub fn deform(
        &self,
        palette: &Palette,
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        self.deform_crowd(std::slice::from_ref(palette), workspace, output)
    }

    /// Deforms another shape of the same surface, such as one with morph targets applied.
    ///
    /// # Errors
    ///
    /// Fails if shape, palette or output do not fit the character, or the method cannot deform to
    /// the pose.
    pub fn deform_shape(
        &self,
        shape: Shape<'_>,
        palette: &Palette,
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        let palettes = std::slice::from_ref(palette);
        self.check_shape(&shape)?;
        self.check_palettes(palettes)?;
        self.check_output(&output, 1, shape.tangents.is_some())?;
        let job = Job {
            shape,
            rest: RestSurface::Other(shape),
            ..self.job(palettes)
        };
        self.deformer.deform(&job, workspace, output.into())
    }

    /// Deforms many instances of the character at once, each in its own pose. The surfaces are
    /// written one after the other, and small instances are divided among threads, too.
    ///
    /// # Errors
    ///
    /// Fails if a palette or the output does not fit the character, or the method cannot deform to
    /// a pose.
    pub fn deform_crowd(
        &self,
        palettes: &[Palette],
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        self.check_palettes(palettes)?;
        self.check_output(&output, palettes.len(), self.tangents.is_some())?;
        let job = self.job(palettes);
        self.deformer.deform(&job, workspace, output.into())
    }

    /// Deforms instances into the vertex buffers of an engine, with any stride and packed normals.
    ///
    /// # Errors
    ///
    /// Fails if a palette or a buffer does not fit the character, or the method cannot deform to a
    /// pose.
    pub fn deform_into_buffers(
        &self,
        palettes: &[Palette],
        workspace: &mut Workspace,
        buffers: VertexBuffers<'_, '_>,
    ) -> Result<(), DeformError> {
        self.check_palettes(palettes)?;
        buffers.check(palettes.len() * self.vertex_count())?;
        self.check_tangents(buffers.tangent.is_some(), self.tangents.is_some())?;
        let job = self.job(palettes);
        self.deformer.deform(&job, workspace, buffers.into())
    }

    /// The memory traffic of a frame per vertex in bytes: the rest surface and weights that are
    /// read, and the output that is written.
    pub fn bytes_per_vertex(&self, normals: bool, tangents: bool) -> f64 {
        let vertices = self.vertex_count().max(1) as f64;
        let baked = self.deformer.bytes(&self.packing) as f64 / vertices;
        let attribute = |wanted: bool, bytes: usize| if wanted { 2.0 * bytes as f64 } else { 0.0 };
        baked + attribute(true, 12) + attribute(normals, 12) + attribute(tangents, 16)
    }

    fn job<'a>(&'a self, palettes: &'a [Palette]) -> Job<'a> {
        Job {
            shape: self.rest(),
            rest: RestSurface::Own(&self.lanes),
            packing: &self.packing,
            palettes,
            normals: &self.baked_normals,
            instructions: self.instructions,
        }
    }

    /// The vertices that the method turns inside out in a pose although no joint mirrors them. Only
    /// `ddm-v1` can (§3.5.2), where the determinant of a patch is negative.
    ///
    /// # Errors
    ///
    /// Fails if the palette does not fit the character, or the method cannot deform to the pose.
    pub fn inverted(
        &self,
        palette: &Palette,
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError> {
        let found = palette.posed_from_bind.len();
        if found != self.joint_count {
            return Err(DeformError::SizeMismatch {
                what: "joints in the palette",
                found,
                expected: self.joint_count,
            });
        }
        let palette = &palette.posed_from_bind;
        let vertices = self.vertex_count();
        self.deformer.inverted(vertices, palette, workspace)
    }

    /// The kind of its normals.
    pub fn normals(&self) -> Normals {
        self.baked_normals.kind()
    }

    /// Checks that a shape has as many vertices as the surface.
    ///
    /// # Errors
    ///
    /// Fails unless positions, normals and tangents have one entry per vertex.
    #[doc(hidden)] // for supple-gpu
    pub fn check_shape(&self, shape: &Shape<'_>) -> Result<(), DeformError> {
        let vertices = self.vertex_count();
        check_size("rest positions", shape.positions.len(), vertices)?;
        check_size("rest normals", shape.normals.len(), vertices)?;
        let tangents = shape.tangents.map_or(vertices, <[Vec4]>::len);
        check_size("rest tangents", tangents, vertices)
    }

    fn check_palettes(&self, palettes: &[Palette]) -> Result<(), DeformError> {
        let mut sizes = palettes.iter().map(|palette| palette.posed_from_bind.len());
        sizes.try_for_each(|found| check_size("joints in the palette", found, self.joint_count))
    }

    fn check_tangents(&self, wanted: bool, there: bool) -> Result<(), DeformError> {
        let found = if wanted && !there {
            0
        } else {
            self.vertex_count()
        };
        let what = "rest tangents, needed for output tangents";
        check_size(what, found, self.vertex_count())
    }

    /// Checks that an output has room for a number of instances, and that the shape has tangents if
    /// the output asks for them.
    ///
    /// # Errors
    ///
    /// Fails unless positions, normals and tangents have one entry per vertex and instance.
    #[doc(hidden)] // for supple-gpu
    pub fn check_output(
        &self,
        output: &Output<'_>,
        instances: usize,
        tangents: bool,
    ) -> Result<(), DeformError> {
        let vertices = instances * self.vertex_count();
        check_size("output positions", output.positions.len(), vertices)?;
        let found = output.normals.as_ref().map_or(vertices, |n| n.len());
        check_size("output normals", found, vertices)?;
        let found = output.tangents.as_ref().map_or(vertices, |t| t.len());
        check_size("output tangents", found, vertices)?;
        self.check_tangents(output.tangents.is_some(), tangents)
    }
}

/// Data for vertex loops on a GPU.
impl Skin {
    /// The layout of this skin's data for a GPU; none for methods without a kernel.
    #[doc(hidden)] // for supple-gpu
    pub fn stream_layout(&self) -> Option<StreamLayout> {
        Some(self.deformer.streams()?.0)
    }

    /// A table for the kernel: for each pair of joints, the hinge between them; empty for most
    /// methods.
    #[doc(hidden)] // for supple-gpu
    pub fn stream_table(&self) -> Vec<u32> {
        let streams = self.deformer.streams();
        streams.map_or_else(Vec::new, |(_, streams)| streams.table())
    }

    /// The smoothing that precedes the kernel, if any.
    #[doc(hidden)] // for supple-gpu
    pub fn stream_smoothing(&self) -> Option<SmoothingStream> {
        self.deformer.streams()?.1.smoothing()
    }

    /// Reads a vertex in the layout of [`Skin::stream_layout`]. Reads nothing for methods without
    /// one.
    ///
    /// # Panics
    ///
    /// Panics if there is no such vertex, as indexing a slice does.
    #[doc(hidden)] // for supple-gpu
    pub fn stream_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        stream.influences.clear();
        stream.numbers.clear();
        stream.influence_numbers.clear();
        if let Some((_, streams)) = self.deformer.streams() {
            streams.push_vertex(vertex, stream);
        }
    }

    /// Reads a pose in the layout of [`Skin::stream_layout`]. Reads nothing for methods without
    /// one.
    ///
    /// # Errors
    ///
    /// Fails if the palette does not fit the character, or the method cannot deform to the pose.
    #[doc(hidden)] // for supple-gpu
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
    #[doc(hidden)] // for supple-gpu
    pub fn rest(&self) -> Shape<'_> {
        Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        }
    }

    /// The number of joints of a palette.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }
}
