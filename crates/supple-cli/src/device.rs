//! The GPU, which deforms and draws in place of the processor.
//!
//! A command built without its feature `gpu` has the same functions; opening the GPU fails.

#[cfg(feature = "gpu")]
pub(crate) use with_gpu::{Gpu, Painter, no_shader, on_gpu};
#[cfg(not(feature = "gpu"))]
pub(crate) use without_gpu::{Gpu, Painter, not_built_in, on_gpu};

use crate::args::common::Device;
#[cfg(feature = "gpu")]
use crate::console;
#[cfg(feature = "gpu")]
use crate::driver_messages;
use crate::failure::Failure;
#[cfg(feature = "gpu")]
use supple_io::text::quoted;

/// Opens the GPU if it is the wanted device.
pub(crate) fn open(device: Device) -> Result<Option<Gpu>, Failure> {
    match device {
        Device::Cpu => Ok(None),
        #[cfg(feature = "gpu")]
        Device::Gpu => Ok(Some(open_gpu()?)),
        #[cfg(not(feature = "gpu"))]
        Device::Gpu => Err(not_built_in().hint("--device cpu needs no GPU")),
    }
}

/// Opens the GPU, and prints its name; a warning if it is software.
#[cfg(feature = "gpu")]
pub(crate) fn open_gpu() -> Result<Gpu, Failure> {
    let gpu = driver_messages::without_noise(Gpu::new)?;
    let name = quoted(gpu.name());
    console::eprint(&match gpu.is_software() {
        true => format!(
            "warning: the GPU {name} is software that runs on the processor; --device cpu is faster"
        ),
        false => format!("note: using the GPU {name}"),
    });
    Ok(gpu)
}

#[cfg(feature = "gpu")]
mod with_gpu {
    use crate::failure::Failure;
    use supple::{Method, Player};
    use supple_gpu::{GpuError, GpuLoop};
    use supple_render::{Camera, GpuPainter, Image, PosedSkin, Scene, Settings};

    pub(crate) use supple_gpu::Gpu;

    /// Lets the GPU deform what a player plays.
    pub(crate) fn on_gpu<'a>(
        player: Player<'a>,
        method: &Method,
        gpu: &Gpu,
    ) -> Result<Player<'a>, Failure> {
        let vertex_loop = GpuLoop::new(gpu, player.skin()).map_err(|error| match error {
            GpuError::NoShader => no_shader(method),
            other => other.into(),
        })?;
        Ok(player.on(Box::new(vertex_loop)))
    }

    /// The method runs on the processor only.
    pub(crate) fn no_shader(method: &Method) -> Failure {
        Failure::new(format!("the method '{method}' has no shader")).hint(
            "--device cpu supports all methods; 'supple shaders --layout packed -o DIR' writes \
             those with a shader",
        )
    }

    /// Draws on the GPU.
    pub(crate) struct Painter(Box<GpuPainter>);

    impl Painter {
        pub(crate) fn new(
            gpu: &Gpu,
            settings: &Settings,
            player: &Player<'_>,
        ) -> Result<Painter, Failure> {
            let painter = GpuPainter::new(gpu, settings)?.with_skin(player.skin())?;
            Ok(Painter(Box::new(painter)))
        }

        pub(crate) fn draw(
            &mut self,
            scene: &Scene<'_>,
            camera: &Camera,
            player: &Player<'_>,
        ) -> Result<Image, Failure> {
            let posed = PosedSkin {
                shape: player.shape(),
                palette: player.palette(),
            };
            Ok(self.0.render(scene, camera, Some(posed))?)
        }
    }

    impl From<GpuError> for Failure {
        fn from(error: GpuError) -> Failure {
            Failure::new(error.to_string()).hint("--device cpu needs no GPU")
        }
    }
}

#[cfg(not(feature = "gpu"))]
mod without_gpu {
    use crate::failure::Failure;
    use supple::{Method, Player};
    use supple_render::{Camera, Image, Scene, Settings};

    /// A GPU that cannot be opened.
    pub(crate) enum Gpu {}

    pub(crate) fn on_gpu<'a>(_: Player<'a>, _: &Method, gpu: &Gpu) -> Result<Player<'a>, Failure> {
        match *gpu {}
    }

    /// The command was built without GPU support.
    pub(crate) fn not_built_in() -> Failure {
        Failure::new(
            "this build of supple has no GPU support: install it with the feature 'gpu', \
             which is on by default (cargo install supple-cli)",
        )
    }

    pub(crate) enum Painter {}

    impl Painter {
        pub(crate) fn new(gpu: &Gpu, _: &Settings, _: &Player<'_>) -> Result<Painter, Failure> {
            match *gpu {}
        }

        pub(crate) fn draw(
            &mut self,
            _: &Scene<'_>,
            _: &Camera,
            _: &Player<'_>,
        ) -> Result<Image, Failure> {
            match *self {}
        }
    }
}
