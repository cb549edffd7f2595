//! Draws pictures of characters on the CPU: shaded, anti-aliased, framed automatically, with the
//! same bits for any number of threads.
//!
//! ```
//! use glam::Vec3;
//! use supple_render::{Camera, DrawnSurface, Paint, Scene, Settings, View, render};
//!
//! let positions = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let settings = Settings { width: 64, height: 64, ..Settings::default() };
//! let camera = Camera::framing(positions, View::THREE_QUARTER, settings.aspect());
//! let surface = DrawnSurface {
//!     positions: &positions,
//!     normals: &[],
//!     triangles: &[[0, 1, 2]],
//!     paint: Paint::CLAY,
//! };
//! let scene = Scene { surfaces: vec![surface], ground: Some(0.0), ..Scene::default() };
//! let image = render(&scene, &camera, &settings);
//!
//! let mut file = Vec::new();
//! image.write_png(&mut file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Look`] makes the [`Scene`] of a posed character; [`Silhouette`] collects what a camera must
//! show over a whole clip; [`GifWriter`] writes animations. With the feature `gpu`, `GpuPainter`
//! draws the same pictures with shaders, which also deform the skin.
//!
//! [`render`] gathers all surfaces into one *stage* of unit size, so that models of any scale look
//! the same. Many small depth maps record what each light sees. Then every band of rows is
//! rasterised, cut into fragments, lit and resolved on its own.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod camera;
mod scene;

mod stage;

mod lattice;
mod light;
mod raster;
mod receiver;

mod fragment;
mod shade;

mod bones;
mod marks;
mod render;

#[cfg(feature = "gpu")]
mod gpu;

mod color;
mod comment;
mod gif;
mod image;
mod label;

mod centers;
#[cfg(feature = "handles")]
mod handles;
mod staging;
mod stretch;
mod visibility;

pub use camera::{Camera, ParseCameraError, View};
pub use color::{FULL_STRETCH, srgb_from_linear, stretch_color, weight_colors};
pub use comment::read_comments;
pub use gif::{ColorTable, GifError, GifWriter, write_gif};
#[cfg(feature = "gpu")]
pub use gpu::{GpuPainter, PosedSkin};
#[cfg(feature = "handles")]
pub use handles::SegmentedBody;
pub use image::{Image, ImageError};
pub use light::Lamps;
pub use render::{Background, Settings, render};
pub use scene::{Bone, DrawnSurface, Marks, Paint, Scene, Substance, Wireframe};
pub use staging::{Look, Overlays, Silhouette};
pub use stretch::StretchColors;
pub use visibility::ViewSearch;
