//! A GPU in place of the CPU's vertex loop, for whoever wants the surface back.

use crate::device::{Gpu, GpuError};
use crate::format::Format;
use crate::skin::{GpuSkin, Surface};
use supple::deform::DeformError;
use supple::mesh::Shape;
use supple::{Output, Palette, Skin, VertexLoop};

/// One instance of a skin, deformed on a GPU and read back: [`supple::Player::on`] takes it.
#[derive(Debug)]
pub struct GpuLoop {
    gpu: Gpu,
    skin: GpuSkin,
}

impl GpuLoop {
    /// For a skin, with all that its surface has.
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
            other => DeformError::Elsewhere(other.to_string()),
        })?;
        let Surface {
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
