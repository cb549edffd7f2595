//! A GPU, and why it could not do something.

use supple::Normals;
use supple::deform::DeformError;
use thiserror::Error;

/// Why something could not be done on the GPU.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no GPU, or no driver for it.
    #[error(
        "no GPU can be used here: {why}. On Linux this needs a Vulkan driver and its loader \
         libvulkan.so.1; Mesa's lavapipe (package mesa-vulkan-drivers) is one that runs on the CPU"
    )]
    NoAdapter {
        /// The error of every backend that was tried.
        why: String,
    },
    /// The GPU does not have the limits or features that are needed.
    #[error("the GPU '{adapter}' cannot be used: {why}")]
    NoDevice {
        /// The name of the GPU.
        adapter: String,
        /// The error of its driver.
        why: String,
    },
    /// The method has no shader.
    #[error("the method has no shader: its frames are computed on the CPU alone")]
    NoShader,
    /// Shaders do not compute this kind of normals.
    #[error("normals on the GPU are 'transported', but '{}' were asked for", .0.name())]
    Normals(Normals),
    /// Tangents were requested of a surface that has none.
    #[error("the rest surface has no tangents")]
    NoTangents,
    /// The data does not fit into one buffer.
    #[error("{what} take {bytes} bytes, but a buffer on '{adapter}' holds at most {most}")]
    TooLarge {
        /// The data, such as "poses".
        what: &'static str,
        /// Its number of bytes.
        bytes: u64,
        /// The largest number of bytes.
        most: u64,
        /// The name of the GPU.
        adapter: String,
    },
    /// The method needs more buffers in one shader than the GPU has.
    #[error(
        "the method needs {needed} storage buffers in a shader, but the device on '{adapter}' \
         supports {most}"
    )]
    StorageBuffers {
        /// The number of buffers that the method needs.
        needed: u32,
        /// The largest number of buffers.
        most: u32,
        /// The name of the GPU.
        adapter: String,
    },
    /// The GPU refused to make a buffer, a texture or a pipeline.
    #[error("the GPU '{adapter}' reported an error: {why}")]
    Refused {
        /// The name of the GPU.
        adapter: String,
        /// The error of its driver.
        why: String,
    },
    /// A picture is too wide or too high.
    #[error(
        "a picture of {width} × {height} pixels is too large for '{adapter}': at most {most} each"
    )]
    PictureSize {
        /// The width in pixels.
        width: usize,
        /// The height in pixels.
        height: usize,
        /// The largest width and height.
        most: usize,
        /// The name of the GPU.
        adapter: String,
    },
    /// There are more poses than instances.
    #[error("{found} poses, but there is room for {room} instances")]
    Instances {
        /// The number of poses.
        found: usize,
        /// The number of instances.
        room: usize,
    },
    /// The GPU does not measure how long work takes.
    #[error("the GPU '{adapter}' has no clock that could be read (timestamp queries)")]
    NoClock {
        /// The name of the GPU.
        adapter: String,
    },
    /// A result could not be read back.
    #[error("the surface could not be read back from the GPU: {0}")]
    Lost(String),
    /// The pose or the shape does not fit the skin.
    #[error(transparent)]
    Deform(#[from] DeformError),
}

/// A GPU: its device, and the queue that takes work for it.
#[derive(Clone, Debug)]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    is_software: bool,
}

impl Gpu {
    /// Opens the fastest GPU of this machine.
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
        let info = adapter.get_info();
        let name = info.name;
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
            is_software: info.device_type == wgpu::DeviceType::Cpu,
        })
    }

    /// Uses a device that a renderer has already.
    pub fn of(device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        let info = device.adapter_info();
        Gpu {
            device,
            queue,
            name: info.name,
            is_software: info.device_type == wgpu::DeviceType::Cpu,
        }
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if the GPU is a program that runs on the processor, such as Mesa's lavapipe.
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// The device, which makes command encoders and buffers.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Runs `work`, which makes buffers, textures or pipelines. If the GPU has no room for them or
    /// refuses them, that is an error, where it would otherwise be a panic.
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

    /// The queue, which takes encoded commands.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Makes a group of bindings, numbered in order.
    ///
    /// # Panics
    ///
    /// As `wgpu` does by default: if the resources do not fit the layout or are of another device.
    /// [`Gpu::checked`] makes this an error.
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

    /// Reads the first bytes of a buffer, once all submitted work is done.
    ///
    /// # Errors
    ///
    /// If the GPU fails, or has no room for the copy.
    ///
    /// # Panics
    ///
    /// As `wgpu` does by default: if the buffer is smaller, cannot be copied from
    /// (`BufferUsages::COPY_SRC`), or is of another device. [`Gpu::checked`] makes this an error.
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
