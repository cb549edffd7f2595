//! A GPU, and why there may be none.

use supple::Normals;
use supple::deform::DeformError;
use thiserror::Error;

/// Why something could not be done on the GPU.
#[derive(Debug, Error)]
pub enum GpuError {
    /// No GPU, or no driver for it.
    #[error(
        "no GPU can be used here: {why}. On Linux this needs a Vulkan driver and its loader libvulkan.so.1; Mesa's lavapipe (package mesa-vulkan-drivers) is one that runs on the CPU"
    )]
    NoAdapter {
        /// What was tried.
        why: String,
    },
    /// A GPU that does not give what is needed.
    #[error("the GPU '{adapter}' cannot be used: {why}")]
    NoDevice {
        /// Which.
        adapter: String,
        /// What it said.
        why: String,
    },
    /// A method that has no shader.
    #[error("the method has no shader: its frames are computed on the CPU alone")]
    NoShader,
    /// Normals that shaders do not make.
    #[error("normals on the GPU are 'transported', but '{}' were asked for", .0.name())]
    Normals(Normals),
    /// Tangents of a surface that has none.
    #[error("the rest surface has no tangents")]
    NoTangents,
    /// More than fits into one buffer.
    #[error("{what} take {bytes} bytes, but a buffer on '{adapter}' holds at most {most}")]
    TooLarge {
        /// What does not fit.
        what: &'static str,
        /// How much it is.
        bytes: u64,
        /// How much would be fine.
        most: u64,
        /// Where.
        adapter: String,
    },
    /// Fewer buffers for one shader than a method needs.
    #[error(
        "the method needs {needed} storage buffers in a shader, but the device on '{adapter}' gives {most}"
    )]
    StorageBuffers {
        /// How many it needs.
        needed: u32,
        /// How many there may be.
        most: u32,
        /// Where.
        adapter: String,
    },
    /// What the GPU could not make.
    #[error("the GPU '{adapter}' refused: {why}")]
    Refused {
        /// Which.
        adapter: String,
        /// What it said.
        why: String,
    },
    /// A picture that is too wide or too high.
    #[error(
        "a picture of {width} × {height} pixels is too large for '{adapter}': at most {most} each"
    )]
    PictureSize {
        /// Pixels per row.
        width: usize,
        /// Rows.
        height: usize,
        /// How many would be fine.
        most: usize,
        /// Where.
        adapter: String,
    },
    /// More instances than were made room for.
    #[error("{found} poses, but there is room for {room} instances")]
    Instances {
        /// How many poses were given.
        found: usize,
        /// How many there may be.
        room: usize,
    },
    /// A GPU that does not tell how long something took.
    #[error("the GPU '{adapter}' has no clock that could be read (timestamp queries)")]
    NoClock {
        /// Which.
        adapter: String,
    },
    /// What was asked of the GPU did not come back.
    #[error("the GPU did not give back the surface: {0}")]
    Lost(String),
    /// The pose does not fit.
    #[error(transparent)]
    Deform(#[from] DeformError),
}

/// A GPU with a queue of work.
#[derive(Clone, Debug)]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
}

impl Gpu {
    /// The fastest one that is there.
    ///
    /// # Errors
    ///
    /// If there is no GPU, or its driver refuses to open it.
    pub fn new() -> Result<Gpu, GpuError> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        let adapter = adapter.map_err(|why| GpuError::NoAdapter {
            why: why.to_string(),
        })?;
        let name = adapter.get_info().name;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("supple"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let device = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = device.map_err(|why| GpuError::NoDevice {
            adapter: name.clone(),
            why: why.to_string(),
        })?;
        Ok(Gpu {
            device,
            queue,
            name,
        })
    }

    /// A device that a renderer has already.
    pub fn of(device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        let name = device.adapter_info().name;
        Gpu {
            device,
            queue,
            name,
        }
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The device, for command encoders and buffers.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Does something that makes buffers, textures or pipelines; what the GPU has no room for, or
    /// refuses, is an error, where it would else be a panic.
    ///
    /// # Errors
    ///
    /// If the work fails, or the GPU has no room for it or refuses it.
    pub fn checked<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        let filters = [
            wgpu::ErrorFilter::Validation,
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
        ];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let made = work();
        let mut refused = None;
        for scope in scopes.into_iter().rev() {
            let found = pollster::block_on(scope.pop());
            refused = refused.or(found.map(|error| error.to_string()));
        }
        match refused {
            // What was refused is why the rest went wrong.
            Some(why) => Err(GpuError::Refused {
                adapter: self.name.clone(),
                why,
            }),
            None => made,
        }
    }

    /// The queue, for what was encoded.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Makes a group of bindings, numbered in order.
    pub fn bind_group<'a>(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: impl IntoIterator<Item = wgpu::BindingResource<'a>>,
    ) -> wgpu::BindGroup {
        let entries = (0..).zip(resources);
        let entries = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("supple"),
            layout,
            entries: &entries.collect::<Vec<_>>(),
        })
    }

    /// The first bytes of a buffer, when all that was submitted is done.
    ///
    /// # Errors
    ///
    /// If the GPU fails, or has no room for the copy.
    pub fn read(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>, GpuError> {
        let lost = |why: &dyn std::fmt::Display| GpuError::Lost(why.to_string());
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: bytes,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, bytes);
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        copy.map_async(wgpu::MapMode::Read, .., move |outcome| {
            // Nobody waits any more if the device was lost meanwhile.
            let _ = sender.send(outcome);
        });
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|why| lost(&why))?;
        let outcome = receiver.recv().map_err(|why| lost(&why))?;
        outcome.map_err(|why| lost(&why))?;
        let view = copy.get_mapped_range(..).map_err(|why| lost(&why))?;
        Ok(view.to_vec())
    }
}
