//! Buffers, bindings and dispatches, as all shaders of a skin need them.

use crate::device::{Gpu, GpuError};
use crate::shader::LANES;
use wgpu::{BindingType, BufferBindingType, BufferUsages, ShaderStages};

/// The most workgroups in a dimension that every GPU takes.
pub(crate) const MOST_GROUPS: u32 = 65_535;

/// The number of slices along the first dimension of a dispatch: even over the rows, so that few
/// workgroups are idle.
pub(crate) fn row(vertices: usize) -> u32 {
    let slices = vertices.div_ceil(LANES) as u32;
    slices.div_ceil(slices.div_ceil(MOST_GROUPS).max(1))
}

/// The layout of group 0, which compute passes and vertex shaders share: parameters, poses, slices,
/// words and the table; for frames also the rest surface, and the smoothed surface if there is one.
pub(crate) fn input_layout(device: &wgpu::Device, buffers: usize) -> wgpu::BindGroupLayout {
    let mut types = vec![buffer(BufferBindingType::Storage { read_only: true }); buffers];
    types[0] = buffer(BufferBindingType::Uniform);
    bind_group_layout(device, ShaderStages::COMPUTE | ShaderStages::VERTEX, &types)
}

/// A buffer that a shader reads from its start.
pub(crate) fn buffer(ty: BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

/// The layout of a group whose bindings are numbered in order.
pub(crate) fn bind_group_layout(
    device: &wgpu::Device,
    visibility: ShaderStages,
    types: &[BindingType],
) -> wgpu::BindGroupLayout {
    let entries = (0..).zip(types);
    let entries = entries.map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    });
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("supple"),
        entries: &entries.collect::<Vec<_>>(),
    })
}

/// Makes a buffer, of 16 bytes at least: a binding must not be empty.
pub(crate) fn empty_buffer(
    gpu: &Gpu,
    what: &'static str,
    bytes: u64,
    usage: BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    let most = largest_buffer(gpu);
    if bytes > most {
        return Err(GpuError::TooLarge {
            what,
            bytes,
            most,
            adapter: gpu.name().to_owned(),
        });
    }
    Ok(gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some(what),
        size: bytes.max(16),
        usage,
        mapped_at_creation: false,
    }))
}

/// Makes a storage buffer with some content.
pub(crate) fn filled_buffer(
    gpu: &Gpu,
    what: &'static str,
    bytes: &[u8],
) -> Result<wgpu::Buffer, GpuError> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let buffer = empty_buffer(gpu, what, bytes.len() as u64, usage)?;
    gpu.queue().write_buffer(&buffer, 0, bytes);
    Ok(buffer)
}

/// The most bytes of a buffer that shaders can address.
pub(crate) fn largest_buffer(gpu: &Gpu) -> u64 {
    let limits = gpu.device().limits();
    limits
        .max_buffer_size
        .min(limits.max_storage_buffer_binding_size)
        // Shaders count in 32 bits.
        .min(u64::from(u32::MAX))
}
