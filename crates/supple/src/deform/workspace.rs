//! Scratch buffers of frames.

use super::output::WholeSurface;
use crate::transform::Affine;
use glam::Vec3;
use std::any::Any;

/// Scratch buffers, reused between frames: they grow on the first frame.
///
/// Any skin may use any workspace, one at a time; kept for one skin, it allocates nothing from the
/// second frame on. A copy starts empty.
#[derive(Debug, Default)]
pub struct Workspace {
    /// What the method computed for the last pose.
    posed: Option<Box<dyn Any + Send>>,
    /// The palette brought near the origin.
    pub(super) palette: Vec<Affine>,
    pub(super) fields: [Vec<f32>; 2],
    pub(super) points: Vec<Vec3>,
    /// A surface that is made as a whole before it goes into vertex buffers.
    pub(super) surface: WholeSurface,
}

impl Workspace {
    /// Forgets the frame before, for methods that start from it: what comes next does not follow
    /// it.
    pub fn start_afresh(&mut self) {
        self.posed = None;
    }

    /// The method's own data, if this workspace was used by the same method before.
    pub(super) fn take_posed<T: Default + Send + 'static>(&mut self) -> Box<T> {
        let posed = self.posed.take();
        posed
            .and_then(|posed| posed.downcast().ok())
            .unwrap_or_default()
    }

    pub(super) fn put_posed<T: Send + 'static>(&mut self, posed: Box<T>) {
        self.posed = Some(posed);
    }
}

impl Clone for Workspace {
    fn clone(&self) -> Workspace {
        Workspace::default()
    }
}
