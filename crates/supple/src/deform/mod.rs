//! Skinning methods: baked once into a [`Skin`], then run every frame.
//!
//! A direct method ends in one affine frame per vertex, so its file supplies only that, and what it
//! computes once per pose (`Direct` in `direct.rs`; `BlendsMotions` in `rigid_motion.rs` for
//! methods that only know rigid motions). The vertex loops and the three kinds of normals exist
//! once. To add a method: a file, an arm of [`Method`] with its words, an arm of [`Skin::bake`];
//! the property tests in `tests/properties.rs` pick it up from [`Method::ALL`].

mod antipodality;
#[cfg(feature = "arap")]
mod arap;
mod baked_data;
mod centers_of_rotation;
mod cor_procrustes;
mod delta_mush;
mod differential;
mod direct;
mod direct_delta_mush;
mod dual_quat;
mod dual_quaternion;
mod dual_quaternion_intrinsic;
mod hats;
mod instructions;
mod lanes;
mod linear;
mod linear_dual_blend;
mod log_matrix;
mod method;
mod multi_linear;
mod normals;
mod output;
mod rigid;
mod rigid_motion;
mod spherical;
mod spline;
mod streams;
mod stretch_twist;
mod swing_twist;
mod world;

pub use antipodality::Antipodality;
pub use baked_data::BakedData;
pub use centers_of_rotation::CentersOfRotation;
pub use delta_mush::{DeltaMush, LocalFrames};
pub use direct_delta_mush::{DirectDeltaMush, MushVariant};
pub use dual_quaternion::DualQuaternion;
pub use dual_quaternion_intrinsic::DualQuaternionIntrinsic;
pub use instructions::InstructionSet;
pub use linear_dual_blend::{DUAL_SHARE, DualShare, LinearDualBlend};
pub use log_matrix::NoLogarithm;
pub use method::{Method, UnknownMethod};
pub use multi_linear::{AnimationSpaceWeights, MatrixWeights, MultiWeights};
pub use normals::{Normals, UnknownNormals};
pub use output::{NormalFormat, Output, Place, TangentFormat, VertexBuffer, VertexBuffers};
pub use streams::{
    Kernel, PoseStream, SmoothedPiece, SmoothedPoint, SmoothingStream, StreamLayout, VertexStream,
};
pub(crate) use swing_twist::swing_and_twist;

#[cfg(feature = "arap")]
use crate::arap::{ArapError, ArapReport};
use crate::centers::CenterError;
use crate::mesh::{MeshError, Shape};
use crate::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE, Mush, MushError};
use crate::normals::SmoothGroups;
use crate::pose::{NodeCountError, Palette};
use crate::rig::Rig;
use crate::transform::Affine;
use crate::weights::Weights;
use direct::{Deformer, Job};
use glam::{Vec3, Vec4};
use lanes::{LaneSurface, Packing, RestSurface};
use normals::BakedNormals;
use output::WholeSurface;
use rigid_motion::TwoPhases;
use std::any::Any;
use std::sync::Arc;
use thiserror::Error;

/// A variant of direct delta mush with both phases around it.
fn mush_skin<V: direct_delta_mush::Variant>(rig: &Rig, mush: &Mush) -> Arc<dyn Deformer> {
    let skin = direct_delta_mush::MushSkin::<V>::bake(rig, mush);
    Arc::new(TwoPhases::with_weights(rig, mush.weights(), skin))
}

/// A character prepared for one method: immutable, shareable between threads, what ships.
#[derive(Clone, Debug)]
pub struct Skin {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
    joint_count: usize,
    deformer: Arc<dyn Deformer>,
    baked_normals: Arc<BakedNormals>,
    /// Which vertices go side by side.
    packing: Arc<Packing>,
    /// The rest surface as the vertex loop reads it.
    lanes: Arc<LaneSurface>,
    instructions: InstructionSet,
    #[cfg(feature = "arap")]
    arap_report: Option<Arc<ArapReport>>,
}

/// The names of vertex attributes that methods read.
pub const PAINTED_ATTRIBUTES: &[&str] = &[DUAL_SHARE, LAMBDA_SHARE, KAPPA_SHARE, ALPHA_SHARE];

/// What a frame needs beside the skin: buffers that grow on the first frame and are reused from
/// then on.
///
/// Any skin may use any workspace, one at a time; kept for one skin, it allocates nothing from the
/// second frame on. A copy starts empty.
#[derive(Debug, Default)]
pub struct Workspace {
    /// What the method computed for the last pose.
    posed: Option<Box<dyn Any + Send>>,
    /// The palette brought near the origin.
    palette: Vec<Affine>,
    fields: [Vec<f32>; 2],
    points: Vec<Vec3>,
    /// A surface that is made as a whole before it goes into vertex buffers.
    surface: WholeSurface,
}

impl Workspace {
    /// Forgets the frame before, for methods that start from it: what comes next does not follow
    /// it.
    pub fn start_afresh(&mut self) {
        self.posed = None;
    }

    /// The method's own data, if this workspace was used by the same method before.
    fn take_posed<T: Default + Send + 'static>(&mut self) -> Box<T> {
        let posed = self.posed.take();
        posed
            .and_then(|posed| posed.downcast().ok())
            .unwrap_or_default()
    }

    fn put_posed<T: Send + 'static>(&mut self, posed: Box<T>) {
        self.posed = Some(posed);
    }
}

impl Clone for Workspace {
    fn clone(&self) -> Workspace {
        Workspace::default()
    }
}

/// Why a surface could not be prepared or deformed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DeformError {
    /// Sizes that do not fit the character.
    #[error("{what}: {found}, but the character has {expected}")]
    SizeMismatch {
        /// What was of the wrong size.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits.
        expected: usize,
    },
    /// A number of a vertex that is NaN or infinite.
    #[error("the {what} of vertex {vertex} is not finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Whose.
        vertex: usize,
    },
    /// Vertex buffers that cannot hold what is asked for.
    #[error("{what}: {why}")]
    Layout {
        /// Which attribute.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A shape with morph targets that does not fit its mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Centers of rotation that cannot be had.
    #[error(transparent)]
    Centers(#[from] CenterError),
    /// What smoothing bakes cannot be had.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// A surface that cannot be kept rigid.
    #[cfg(feature = "arap")]
    #[error(transparent)]
    Arap(#[from] ArapError),
    /// A vertex loop that runs elsewhere has failed.
    #[error("{0}")]
    Elsewhere(String),
    /// Differential blending over joints that are too far from each other in the skeleton.
    #[error(
        "the paths between the joints of vertex {vertex} and those before it are too long: steps along the skeleton may be at most {most}"
    )]
    TooManySteps {
        /// The vertex with which they became too many.
        vertex: usize,
        /// How many there may be.
        most: usize,
    },
    /// Log-matrix skinning cannot blend this joint in this pose.
    #[error("the matrix of joint {joint} '{name}' has no real logarithm in this pose: {reason}")]
    NoLogarithm {
        /// Which joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Why not.
        reason: NoLogarithm,
    },
}

impl From<NodeCountError> for DeformError {
    fn from(NodeCountError { found, expected }: NodeCountError) -> DeformError {
        DeformError::SizeMismatch {
            what: "nodes in the pose",
            found,
            expected,
        }
    }
}

impl Skin {
    /// Prepares a rig for a method and a kind of normals: the slow part, once per character.
    ///
    /// Computes all that the method needs; [`Skin::bake_with`] uses what is there already.
    ///
    /// # Errors
    ///
    /// If an option is out of its range.
    pub fn bake(rig: &Rig, method: &Method, normals: Normals) -> Result<Skin, DeformError> {
        Skin::bake_with(rig, method, normals, &BakedData::default())
    }

    /// Prepares a rig with data that was baked, learned or painted before.
    ///
    /// # Errors
    ///
    /// If an option is out of its range, or the data belong to another character.
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
            // Without learned weights these are linear blending.
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

    /// The same skin on other instructions than the best that the machine has; where it does not
    /// have them, it takes the plain way.
    #[must_use]
    pub fn on(self, instructions: InstructionSet) -> Skin {
        Skin {
            instructions,
            ..self
        }
    }

    /// The instructions that the vertex loop runs on.
    pub fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// Which joints hold what of the surface, and what none does; of [`Method::Arap`] alone.
    #[cfg(feature = "arap")]
    pub fn arap_report(&self) -> Option<&ArapReport> {
        self.arap_report.as_deref()
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Deforms the bind surface: the fast part, every frame; allocates nothing once the workspace
    /// has grown. A large surface is shared out to the threads of the pool that the caller is
    /// in, or of the global one, and comes out the same to the bit for any number of them. From a
    /// thread outside of the pool, the pool's queue takes a block about every sixty frames.
    ///
    /// # Errors
    ///
    /// If palette or output do not fit the character, or the method cannot do the pose.
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
    /// If shape, palette or output do not fit the character, or the method cannot do the pose.
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

    /// Deforms many instances of the character at once, each in a pose of its own: their surfaces
    /// come one after the other. Small ones share out the threads, too.
    ///
    /// # Errors
    ///
    /// If a palette or the output does not fit the character, or the method cannot do a pose.
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

    /// The same into the vertex buffers of an engine, with any stride and packed normals.
    ///
    /// # Errors
    ///
    /// If a palette or a buffer does not fit the character, or the method cannot do a pose.
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

    /// The bytes that a frame must move for each vertex: what is read of the rest surface and of
    /// the weights, and what is written.
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

    /// Which vertices the method turns inside out in a pose, though no joint mirrors them: a flaw
    /// of `ddm-v1` (§3.5.2), where the determinant of a patch is negative.
    ///
    /// # Errors
    ///
    /// If the palette does not fit the character, or the method cannot do the pose.
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

    /// How its normals are made.
    pub fn normals(&self) -> Normals {
        self.baked_normals.kind()
    }

    /// Whether a shape has as many vertices as the surface.
    ///
    /// # Errors
    ///
    /// If positions, normals or tangents are not one per vertex.
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

    /// Whether an output has room for so many instances, and a shape the tangents that it asks for.
    ///
    /// # Errors
    ///
    /// If positions, normals or tangents are not one per vertex and instance.
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

fn check_size(what: &'static str, found: usize, expected: usize) -> Result<(), DeformError> {
    match found == expected {
        true => Ok(()),
        false => Err(DeformError::SizeMismatch {
            what,
            found,
            expected,
        }),
    }
}
