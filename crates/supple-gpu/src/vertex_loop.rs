//! A GPU in place of the CPU's vertex loop, for callers that need the surface back.

use crate::device::{Gpu, GpuError};
use crate::format::Format;
use crate::skin::{DeformedSurface, GpuSkin};
use supple::deform::DeformError;
use supple::mesh::Shape;
use supple::{Output, Palette, Skin, VertexLoop};

/// A vertex loop on a GPU, for [`supple::Player::on`]: deforms one instance and reads it back.
#[derive(Debug)]
pub struct GpuLoop {
    gpu: Gpu,
    skin: GpuSkin,
}

impl GpuLoop {
    /// Prepares a skin, with normals, and with tangents if its surface has them.
    ///
    /// # Errors
    ///
    /// If the method has no shader, or the GPU has no room for the character.
    pub fn new(gpu: &Gpu, skin: &Skin) -> Result<GpuLoop, GpuError> {
        let format = Format {
            tangents: skin.rest().tangents.is_some(),
            ..Format::default()
        };
        Ok(GpuLoop {
            gpu: gpu.clone(),
            skin: GpuSkin::new(gpu, skin, format, 1)?,
        })
    }
}

impl VertexLoop for GpuLoop {
    fn deform(
        &mut self,
        shape: Shape<'_>,
        palette: &Palette,
        output: Output<'_>,
    ) -> Result<(), DeformError> {
        let tangents = shape.tangents.is_some();
        self.skin.skin().check_output(&output, 1, tangents)?;
        let palettes = std::slice::from_ref(palette);
        let set = self.skin.set_rest(&self.gpu, shape);
        let deformed = set.and_then(|()| self.skin.deform(&self.gpu, palettes));
        let surface = deformed.map_err(|error| match error {
            GpuError::Deform(error) => error,
            other => DeformError::Backend(other.to_string()),
        })?;
        let DeformedSurface {
            positions,
            normals,
            tangents,
        } = &surface;
        output.positions.copy_from_slice(positions);
        if let Some(out) = output.normals {
            out.copy_from_slice(normals);
        }
        if let Some(out) = output.tangents {
            out.copy_from_slice(tangents);
        }
        Ok(())
    }
}
