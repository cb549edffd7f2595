//! The skinning methods of Supple on the GPU.
//!
//! What is computed once per pose stays on the CPU ([`supple::deform::PoseStream`]): a few vectors
//! per joint. The rest, one frame per vertex, is a function in WGSL, in a file of its own for each
//! kernel (`shaders/`), which a compute pass or a vertex shader calls: [`shader`] puts the text
//! together, and [`vertex_functions`] for a vertex shader of one's own.
//!
//! ```no_run
//! use supple::{Palette, Skin};
//! use supple_gpu::{Format, Gpu, GpuError, GpuSkin};
//!
//! fn show(skin: &Skin, palettes: &[Palette]) -> Result<(), GpuError> {
//!     let gpu = Gpu::new()?;
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

mod device;
mod export;
mod format;
mod packing;
mod resources;
mod shader;
mod skin;
mod smoothing;
mod timing;
mod vertex_loop;

pub use device::{Gpu, GpuError};
pub use export::{ExportError, Language, description, pass_description, translate};
pub use format::{Format, Width};
pub use shader::{LANES, Pass, Stage, passes, shader, vertex_functions};
pub use skin::{GpuSkin, Surface};
pub use timing::{time_copy, time_frame};
pub use vertex_loop::GpuLoop;
