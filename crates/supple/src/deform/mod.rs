//! Skinning methods: baked once into a [`Skin`], then run every frame.
//!
//! A direct method ends in one affine frame per vertex, so its file supplies only that, and what it
//! computes once per pose (`Direct` in `direct.rs`; `BlendsMotions` in `rigid_motion.rs` for
//! methods that only know rigid motions). The vertex loops and the three kinds of normals exist
//! once. To add a method: a file, an arm of [`Method`] with its words, an arm of
//! [`Skin::bake_with`]; the property tests in `tests/properties.rs` pick it up from
//! [`Method::ALL`].

mod antipodality;
#[cfg(feature = "arap")]
mod arap;
mod baked_data;
mod centers_of_rotation;
mod common_scale;
mod cor_procrustes;
mod delta_mush;
mod differential;
mod direct;
mod direct_delta_mush;
mod dual_quat;
mod dual_quaternion;
mod dual_quaternion_intrinsic;
mod error;
mod instructions;
mod lanes;
mod linear;
mod linear_dual_blend;
mod log_matrix;
mod method;
mod multi_linear;
mod neighbour_blend;
mod normals;
mod output;
mod rigid;
mod rigid_motion;
mod skin;
mod spherical;
mod spline;
mod streams;
mod stretch_twist;
mod swing_twist;
mod vertex_loop;
mod workspace;

pub use antipodality::Antipodality;
pub use baked_data::BakedData;
pub use centers_of_rotation::CentersOfRotation;
pub use delta_mush::{DeltaMush, LocalFrames};
pub use direct_delta_mush::{DirectDeltaMush, MushVariant};
pub use dual_quaternion::DualQuaternion;
pub use dual_quaternion_intrinsic::DualQuaternionIntrinsic;
pub use error::{DeformError, NoLogarithm};
pub use instructions::InstructionSet;
pub use linear_dual_blend::{DUAL_SHARE, DualShare, LinearDualBlend};
pub use method::{Method, UnknownMethod};
pub use multi_linear::{AnimationSpaceWeights, MatrixWeights, MultiWeights};
pub use normals::{Normals, UnknownNormals};
pub use output::{BufferOffset, NormalFormat, Output, TangentFormat, VertexBuffer, VertexBuffers};
pub use skin::Skin;
/// Baked and posed data as plain numbers. Hidden, because only `supple-gpu` packs them for its
/// shaders; engines use `supple-gpu`.
#[doc(hidden)]
pub use streams::{
    Kernel, PoseStream, SmoothedPiece, SmoothedPoint, SmoothingStream, StreamLayout, VertexStream,
};
pub use workspace::Workspace;

use crate::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE};

/// The names of vertex attributes that methods read.
pub const PAINTED_ATTRIBUTES: &[&str] = &[DUAL_SHARE, LAMBDA_SHARE, KAPPA_SHARE, ALPHA_SHARE];
