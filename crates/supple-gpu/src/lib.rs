//! The skinning methods of Supple on the GPU.
//!
//! [`GpuSkin`] deforms a crowd with one dispatch, and leaves the surfaces in vertex buffers:
//!
//! ```no_run
//! use supple::{Palette, Skin};
//! use supple_gpu::{Format, Gpu, GpuError, GpuSkin};
//!
//! fn show(skin: &Skin, palettes: &[Palette]) -> Result<(), GpuError> {
//!     let gpu = Gpu::new()?; // or Gpu::of, for the device of your renderer
//!     let mut crowd = GpuSkin::new(&gpu, skin, Format::default(), palettes.len())?;
//!     // Every frame:
//!     crowd.pose(&gpu, palettes)?;
//!     let mut encoder = gpu.device().create_command_encoder(&Default::default());
//!     crowd.encode(&mut encoder);
//!     gpu.queue().submit([encoder.finish()]);
//!     // `crowd.positions()` is a vertex buffer now.
//!     Ok(())
//! }
//! ```
//!
//! # Overview
//!
//! | for | use |
//! | --- | --- |
//! | deformed vertex buffers | [`GpuSkin`] |
//! | deforming in your own vertex shader | [`GpuSkin::inputs`], [`GpuSkin::vertex_functions`] |
//! | less memory and bandwidth | [`Format::SHORT`] |
//! | the surface back on the CPU | [`GpuSkin::deform`], or [`GpuLoop`] in a [`supple::Player`] |
//! | short functions for the shaders of any engine | [`shaders::attribute_function`] |
//! | these shaders for an engine without wgpu | [`shaders`] |
//! | measuring | [`timing`] |
//!
//! # How it works
//!
//! The part that is computed once per pose stays on the CPU: a few vectors per joint
//! ([`supple::deform::PoseStream`]). The rest, one frame per vertex, is a function in WGSL, in a
//! file of its own for each kernel (`shaders/`), which a compute pass or a vertex shader calls.
//!
//! # Panics
//!
//! Buffers, skins and passes belong to one device. Functions that are given those of different
//! devices panic, as `wgpu` itself does.

mod attributes;
mod c_like;
mod description;
mod device;
mod export;
mod format;
mod inputs;
mod packing;
mod resources;
mod shader;
mod skin;
mod smoothing;
pub mod timing;
mod vertex_loop;

pub use device::{Gpu, GpuError};
pub use format::{Format, Width};
pub use skin::{DeformedSurface, GpuSkin};
pub use vertex_loop::GpuLoop;

/// The shaders as text, for engines without wgpu.
///
/// [`shader`](shaders::shader) gives the WGSL text for a method,
/// [`description`](shaders::description) says what it reads and writes, and
/// [`translate`](shaders::translate) gives it in other languages. These read packed buffers that
/// only this crate fills. [`attribute_function`](shaders::attribute_function) reads vertex
/// attributes instead, as a function to paste into shaders of your own.
pub mod shaders {
    pub use crate::attributes::{
        FunctionLanguage, InfluenceSets, JointMotions, PALETTE_HEADER, PALETTE_HEADER_NAME,
        attribute_function,
    };
    pub use crate::description::{description, pass_description};
    pub use crate::export::{ExportError, Language, translate};
    pub use crate::inputs::{InputBuffer, dispatch_size, input_buffers};
    pub use crate::shader::{LANES, Pass, Stage, passes, shader, vertex_functions};
}
