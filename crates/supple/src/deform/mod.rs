//! Skinning methods: baked once into a [`Skin`], then run every frame.
//!
//! A direct method ends in one affine frame per vertex, so its file supplies only that, and what it computes once per pose
//! (`Direct` in `direct.rs`; `BlendsMotions` in `rigid_motion.rs` for methods that only know rigid motions). The vertex loops
//! and the three kinds of normals exist once. To add a method: a file, an arm of [`Method`] with its words, an arm of [`Skin::bake`]; the
//! property tests in `tests/properties.rs` pick it up from [`Method::ALL`].

mod antipodality;
mod arap;
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
mod linear;
mod linear_dual_blend;
mod log_matrix;
mod method;
mod multi_linear;
mod normals;
mod rigid;
mod rigid_motion;
mod spherical;
mod spline;
mod stretch_twist;
mod swing_twist;
mod world;

pub use antipodality::Antipodality;
pub use centers_of_rotation::{CenterSource, CentersOfRotation};
pub use delta_mush::{DeltaMush, LocalFrames};
pub use direct_delta_mush::{DirectDeltaMush, MushSource, MushVariant};
pub use dual_quaternion::DualQuaternion;
pub use dual_quaternion_intrinsic::DualQuaternionIntrinsic;
pub(crate) use linear::blend as linear_blend;
pub use linear_dual_blend::{DUAL_SHARE, DualShare, LinearDualBlend};
pub use method::{Method, UnknownMethod};
pub use multi_linear::{AnimationSpaceWeights, MatrixWeights, MultiWeights};
pub use normals::{Normals, UnknownNormals};
pub use stretch_twist::StretchTwist;
pub(crate) use swing_twist::swing_and_twist;

use crate::arap::{ArapError, ArapReport};
use crate::centers::CenterError;
use crate::mesh::Shape;
use crate::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE, Mush, MushError};
use crate::normals::SmoothGroups;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::transform::Affine;
use direct::Deformer;
use glam::{Vec3, Vec4};
use normals::BakedNormals;
use rigid_motion::TwoPhases;
use std::any::Any;
use std::sync::Arc;
use thiserror::Error;

/// A variant of direct delta mush with both phases around it.
fn mush_skin<V: direct_delta_mush::Variant>(rig: &Rig, mush: &Mush) -> Arc<dyn Deformer> {
    let skin = direct_delta_mush::MushSkin::<V>::bake(rig, mush);
    Arc::new(TwoPhases::with_weights(rig, mush.weights().clone(), skin))
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
    arap_report: Option<Arc<ArapReport>>,
}

/// The names of vertex attributes that methods read.
pub const PAINTED_ATTRIBUTES: &[&str] = &[DUAL_SHARE, LAMBDA_SHARE, KAPPA_SHARE, ALPHA_SHARE];

/// What a frame needs beside the skin: buffers that grow on the first frame and are reused from then on.
///
/// Any skin may use any workspace, one at a time; kept for one skin, it allocates nothing from the second frame on. A copy starts empty.
#[derive(Debug, Default)]
pub struct Workspace {
    /// What the method computed for the last pose.
    posed: Option<Box<dyn Any + Send>>,
    /// The palette brought near the origin.
    palette: Vec<Affine>,
    fields: [Vec<f32>; 2],
    points: Vec<Vec3>,
    /// The frames of all vertices, for methods that compute them at once.
    frames: Vec<Affine>,
}

impl Workspace {
    /// Forgets the frame before, for methods that start from it: what comes next does not follow it.
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

/// Where a deformed surface goes: the caller's buffers, each of one entry per vertex.
#[derive(Debug)]
pub struct Output<'a> {
    /// Posed positions.
    pub positions: &'a mut [Vec3],
    /// Posed unit normals, if wanted.
    pub normals: Option<&'a mut [Vec3]>,
    /// Posed unit tangents (handedness in `w`), if wanted; needs a shape that has tangents.
    pub tangents: Option<&'a mut [Vec4]>,
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
    /// Centers of rotation that cannot be had.
    #[error(transparent)]
    Centers(#[from] CenterError),
    /// What smoothing bakes cannot be had.
    #[error(transparent)]
    Mush(#[from] MushError),
    /// A surface that cannot be kept rigid.
    #[error(transparent)]
    Arap(#[from] ArapError),
    /// Log-matrix skinning cannot blend this joint in this pose.
    #[error(
        "the matrix of joint {joint} '{name}' has no real logarithm in this pose: it mirrors, loses a dimension, or has two different negative eigenvalues"
    )]
    NoLogarithm {
        /// Which joint.
        joint: usize,
        /// Its name.
        name: String,
    },
}

impl Skin {
    /// Prepares a rig for a method and a kind of normals: the slow part, once per character.
    pub fn bake(rig: &Rig, method: &Method, normals: Normals) -> Result<Skin, DeformError> {
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
                Arc::new(linear_dual_blend::LinearDualSkin::bake(rig, options)?)
            }
            Method::SwingTwist => Arc::new(TwoPhases::around(
                rig,
                swing_twist::SwingTwistSkin::bake(rig),
            )),
            Method::Differential => Arc::new(TwoPhases::around(
                rig,
                differential::DifferentialSkin::bake(rig),
            )),
            Method::StretchTwist(options) => Arc::new(TwoPhases::around(
                rig,
                stretch_twist::StretchTwistSkin::bake(rig, options)?,
            )),
            Method::CentersOfRotation(options) => Arc::new(TwoPhases::around(
                rig,
                centers_of_rotation::CenterSkin::bake(rig, options)?,
            )),
            Method::CorProcrustes(options) => Arc::new(TwoPhases::around(
                rig,
                cor_procrustes::ProcrustesSkin::bake(rig, options)?,
            )),
            Method::DeltaMush(options) => delta_mush::bake(rig, options)?,
            Method::DirectDeltaMush(options) => {
                let mush = options.source.bake(rig)?;
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
            Method::Arap(options) => {
                let (skin, report) = arap::bake(rig, options)?;
                arap_report = Some(Arc::new(report));
                skin
            }
            Method::Spline => Arc::new(spline::SplineSkin::bake(rig)),
            Method::AnimationSpace(given) => Arc::new(multi_linear::AnimationSpaceSkin::bake(
                rig,
                given.as_deref(),
            )?),
            Method::MultiWeight(given) => {
                Arc::new(multi_linear::MultiWeightSkin::bake(rig, given.as_deref())?)
            }
        };
        let baked_normals = match normals {
            Normals::Transported => BakedNormals::Transported,
            Normals::Gradient => BakedNormals::Gradient(deformer.field_gradients(rig)),
            Normals::Recomputed => BakedNormals::Recomputed(SmoothGroups::of(rig)),
        };
        Ok(Skin {
            positions: rig.mesh().positions().to_vec(),
            normals: rig.mesh().normals().to_vec(),
            tangents: rig.mesh().tangents().map(<[Vec4]>::to_vec),
            joint_count: rig.skeleton().joints().len(),
            deformer,
            baked_normals: Arc::new(baked_normals),
            arap_report,
        })
    }

    /// Which joints hold what of the surface, and what none does; of [`Method::Arap`] alone.
    pub fn arap_report(&self) -> Option<&ArapReport> {
        self.arap_report.as_deref()
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Deforms the bind surface: the fast part, every frame; allocates nothing once the workspace has grown. It runs on the caller's thread, but for [`Method::Arap`], which shares its rounds with the thread pool.
    pub fn deform(
        &self,
        palette: &Palette,
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        let shape = Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        };
        self.deform_shape(shape, palette, workspace, output)
    }

    /// Deforms another shape of the same surface, such as one with morph targets applied.
    pub fn deform_shape(
        &self,
        shape: Shape<'_>,
        palette: &Palette,
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        self.check_sizes(&shape, palette, &output)?;
        let palette = &palette.posed_from_bind[..];
        let normals = &self.baked_normals;
        self.deformer
            .deform(shape, palette, normals, workspace, output)
    }

    /// Which vertices the method turns inside out in a pose, though no joint mirrors them: a flaw of `ddm-v1` (§3.5.2), where the determinant of a patch is negative.
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

    fn check_sizes(
        &self,
        shape: &Shape<'_>,
        palette: &Palette,
        output: &Output<'_>,
    ) -> Result<(), DeformError> {
        let vertices = self.vertex_count();
        let lengths = [
            ("rest positions", Some(shape.positions.len()), vertices),
            ("rest normals", Some(shape.normals.len()), vertices),
            ("rest tangents", shape.tangents.map(<[Vec4]>::len), vertices),
            ("output positions", Some(output.positions.len()), vertices),
            (
                "output normals",
                output.normals.as_ref().map(|n| n.len()),
                vertices,
            ),
            (
                "output tangents",
                output.tangents.as_ref().map(|t| t.len()),
                vertices,
            ),
            (
                "rest tangents, needed for output tangents",
                (output.tangents.is_some() && shape.tangents.is_none()).then_some(0),
                vertices,
            ),
            (
                "joints in the palette",
                Some(palette.posed_from_bind.len()),
                self.joint_count,
            ),
        ];
        for (what, found, expected) in lengths {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(DeformError::SizeMismatch {
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}
