//! Scratch buffers of frames.

use super::output::WholeSurface;
use crate::transform::Affine;
use glam::Vec3;
use std::any::Any;

/// Scratch buffers, reused between frames. They grow on the first frame.
///
/// Any skin can use any workspace, one at a time. A workspace that is kept for one skin allocates
/// nothing from the second frame on. A clone starts empty.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The data of the method for the last pose.
    posed: Option<Box<dyn Any + Send>>,
    /// The palette moved near the origin.
    pub(super) palette: Vec<Affine>,
    pub(super) fields: [Vec<f32>; 2],
    pub(super) points: Vec<Vec3>,
    /// A whole surface before it is copied into vertex buffers.
    pub(super) surface: WholeSurface,
}

impl Workspace {
    /// Forgets the previous frame, for methods that start from it: the next frame does not continue
    /// it.
    pub fn start_afresh(&mut self) {
        self.posed = None;
    }

    /// The data of the method, if the same method used this workspace before.
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
