//! Skins in the memory of a GPU.

use crate::device::{Gpu, GpuError};
use crate::format::Format;
use crate::inputs::{Call, dispatch_size, pack_poses};
use crate::packing::{PackedRest, Slices};
use crate::resources::{
    MOST_GROUPS, bind_group_layout, buffer, empty_buffer, filled_buffer, input_layout,
};
use crate::shader::{Stage, shader, vertex_functions};
use crate::smoothing::{self, Smoothing};
use glam::{Vec3, Vec4};
use std::mem::offset_of;
use supple::deform::{PoseStream, Workspace};
use supple::mesh::Shape;
use supple::{Normals, Palette, Skin};
use wgpu::BufferUsages;

/// A deformed surface that was read back from the GPU, instance after instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformedSurface {
    /// The positions of vertices.
    pub positions: Vec<Vec3>,
    /// The normals of vertices; empty if the format has none.
    pub normals: Vec<Vec3>,
    /// The tangents of vertices; empty if the format has none.
    pub tangents: Vec<Vec4>,
}

/// A baked skin in the memory of a GPU, with room for several instances.
///
/// Pipelines and buffers are made once. Every frame writes poses and deforms all instances with one
/// dispatch; delta mush needs further ones before it.
#[derive(Debug)]
pub struct GpuSkin {
    skin: Skin,
    format: Format,
    pipeline: wgpu::ComputePipeline,
    input_layout: wgpu::BindGroupLayout,
    inputs: wgpu::BindGroup,
    outputs: wgpu::BindGroup,
    /// The passes that go before, for methods that smooth the surface.
    smoothing: Option<Smoothing>,
    call: wgpu::Buffer,
    /// The parameters that are the same in every dispatch.
    constant: Call,
    poses: wgpu::Buffer,
    rest: wgpu::Buffer,
    packed_rest: PackedRest,
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    tangents: wgpu::Buffer,
    /// The number of bytes that each instance reads.
    read_bytes: u64,
    room: usize,
    instances: usize,
    /// True if the poses that were set last have stretches.
    stretches: bool,
    workspace: Workspace,
    streams: Vec<PoseStream>,
    vectors: Vec<[f32; 4]>,
}

/// The number of vectors of a stretch.
const STRETCH: usize = 3;

impl GpuSkin {
    /// Uploads a skin, with room for `instances` at once.
    ///
    /// # Errors
    ///
    /// If the method has no shader, or the GPU has no room for the character.
    pub fn new(
        gpu: &Gpu,
        skin: &Skin,
        format: Format,
        instances: usize,
    ) -> Result<GpuSkin, GpuError> {
        gpu.checked(|| GpuSkin::unchecked(gpu, skin, format, instances))
    }

    fn unchecked(
        gpu: &Gpu,
        skin: &Skin,
        format: Format,
        instances: usize,
    ) -> Result<GpuSkin, GpuError> {
        let layout = skin.stream_layout().ok_or(GpuError::NoShader)?;
        let source = shader(&layout, format, Stage::Compute).ok_or(GpuError::NoShader)?;
        if format.normals && skin.normals() != Normals::Transported {
            return Err(GpuError::Normals(skin.normals()));
        }
        if format.tangents && skin.rest().tangents.is_none() {
            return Err(GpuError::NoTangents);
        }
        if instances > MOST_GROUPS as usize {
            return Err(GpuError::Instances {
                found: instances,
                room: MOST_GROUPS as usize,
            });
        }
        let slices = Slices::of(skin, &layout, format);
        let mut packed_rest = PackedRest::default();
        packed_rest.pack(&skin.rest(), format);
        let vertices = instances * skin.vertex_count();
        let joints = skin.joint_count();
        let pose = 1 + joints * (layout.per_joint + STRETCH) + layout.shared;
        let filled = |what, bytes: &[u8]| filled_buffer(gpu, what, bytes);
        let output = |what, wanted: bool, numbers: usize| {
            let bytes = if wanted { vertices * numbers * 4 } else { 0 };
            let usage = BufferUsages::STORAGE | BufferUsages::VERTEX | BufferUsages::COPY_SRC;
            empty_buffer(gpu, what, bytes as u64, usage)
        };
        let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let call = empty_buffer(gpu, "parameters", size_of::<Call>() as u64, uniform)?;
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let poses = empty_buffer(gpu, "poses", (instances * pose * 16) as u64, storage)?;
        let packed = slices.words();
        let starts = filled("slices", bytemuck::cast_slice(&slices.starts))?;
        let words = filled("weights and baked numbers", bytemuck::cast_slice(&packed))?;
        let smoothed = skin.stream_smoothing();
        let table = smoothed.as_ref().map(smoothing::table);
        let table = table.unwrap_or_else(|| skin.stream_table());
        let table = filled("table", bytemuck::cast_slice(&table))?;
        let rest = filled("rest surface", bytemuck::cast_slice(&packed_rest.words))?;
        let positions = output("positions", true, 3)?;
        let normals = output("normals", format.normals, 3)?;
        let tangents = output("tangents", format.tangents, 4)?;

        let device = gpu.device();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("supple"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let buffers = [&call, &poses, &starts, &words, &table];
        let smoothing = smoothed
            .map(|stream| Smoothing::new(gpu, &stream, &layout, format, buffers, instances))
            .transpose()?;
        let smoothed = smoothing.as_ref().map(Smoothing::smoothed);
        let mut inputs = buffers.to_vec();
        inputs.push(&rest);
        inputs.extend(smoothed);
        let layouts = [input_layout(device, inputs.len()), output_layout(device)];
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("supple"),
            bind_group_layouts: &[Some(&layouts[0]), Some(&layouts[1])],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("supple deform"),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("deform"),
            compilation_options: Default::default(),
            cache: None,
        });
        let [input_layout, output_layout] = layouts;
        let inputs = inputs.iter().map(|buffer| buffer.as_entire_binding());
        let inputs = gpu.bind_group(&input_layout, inputs);
        let outputs = [&positions, &normals, &tangents].map(wgpu::Buffer::as_entire_binding);
        let outputs = gpu.bind_group(&output_layout, outputs);
        let read_bytes = size_of_val(&slices.starts[..])
            + size_of_val(&packed[..])
            + size_of_val(&packed_rest.words[..]);
        Ok(GpuSkin {
            skin: skin.clone(),
            format,
            pipeline,
            input_layout,
            inputs,
            outputs,
            smoothing,
            call,
            constant: Call::of(skin, slices.number_range, &packed_rest),
            poses,
            rest,
            packed_rest,
            positions,
            normals,
            tangents,
            read_bytes: read_bytes as u64,
            room: instances,
            instances: 0,
            stretches: false,
            workspace: Workspace::default(),
            streams: vec![PoseStream::default(); instances],
            vectors: Vec::new(),
        })
    }

    /// Replaces the rest surface from the next dispatch on, such as by one with morph targets
    /// applied.
    ///
    /// # Errors
    ///
    /// If the shape has another number of vertices than the skin.
    pub fn set_rest(&mut self, gpu: &Gpu, shape: Shape<'_>) -> Result<(), GpuError> {
        self.skin.check_shape(&shape)?;
        if self.format.tangents && shape.tangents.is_none() {
            return Err(GpuError::NoTangents);
        }
        self.packed_rest.pack(&shape, self.format);
        self.constant.low = self.packed_rest.low.to_array();
        self.constant.size = self.packed_rest.size.to_array();
        let words = bytemuck::cast_slice(&self.packed_rest.words);
        gpu.queue().write_buffer(&self.rest, 0, words);
        for (place, corner) in [
            (offset_of!(Call, low), &self.constant.low),
            (offset_of!(Call, size), &self.constant.size),
        ] {
            let corner = bytemuck::bytes_of(corner);
            gpu.queue().write_buffer(&self.call, place as u64, corner);
        }
        Ok(())
    }

    /// Uploads poses for the next dispatch, one for each instance.
    ///
    /// # Errors
    ///
    /// If there are more palettes than instances, one has another number of joints, or the method
    /// cannot do a pose.
    pub fn pose(&mut self, gpu: &Gpu, palettes: &[Palette]) -> Result<(), GpuError> {
        if palettes.len() > self.room {
            return Err(GpuError::Instances {
                found: palettes.len(),
                room: self.room,
            });
        }
        for (palette, stream) in palettes.iter().zip(&mut self.streams) {
            self.skin
                .stream_pose(palette, &mut self.workspace, stream)?;
        }
        let streams = &self.streams[..palettes.len()];
        let joints = self.skin.joint_count();
        let call = pack_poses(&self.constant, streams, joints, &mut self.vectors);
        gpu.queue()
            .write_buffer(&self.call, 0, bytemuck::bytes_of(&call));
        gpu.queue()
            .write_buffer(&self.poses, 0, bytemuck::cast_slice(&self.vectors));
        self.instances = palettes.len();
        self.stretches = call.stretches != 0;
        Ok(())
    }

    /// Encodes a pass that deforms all instances whose poses were set last.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("supple deform"),
            timestamp_writes: None,
        });
        self.dispatch(&mut pass);
    }

    /// Deforms all instances whose poses were set last, within a pass of the caller.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [row, instances, layers] = dispatch_size(&self.skin, self.instances as u32);
        if row == 0 || instances == 0 {
            return;
        }
        self.prepare(pass);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.inputs, &[]);
        pass.set_bind_group(1, &self.outputs, &[]);
        pass.dispatch_workgroups(row, instances, layers);
    }

    /// Dispatches what must precede vertex shaders that deform by themselves: delta mush smooths
    /// the surface; other methods do nothing.
    pub fn prepare(&self, pass: &mut wgpu::ComputePass<'_>) {
        if let Some(smoothing) = &self.smoothing {
            smoothing.dispatch(pass, self.instances);
        }
    }

    /// The number of bytes that a dispatch moves for the instances whose poses were set last: reads
    /// of the rest surface and of baked numbers, and writes. Poses are small and do not count.
    pub fn bytes(&self) -> u64 {
        let written = [&self.positions, &self.normals, &self.tangents];
        let wanted = [true, self.format.normals, self.format.tangents];
        let written = written.iter().zip(wanted).filter(|(_, wanted)| *wanted);
        let room: u64 = written.map(|(buffer, _)| buffer.size()).sum();
        let instances = self.instances as u64;
        let smoothing = self.smoothing.as_ref();
        let smoothed = smoothing.map_or(0, |smoothing| smoothing.bytes(self.stretches));
        room / self.room.max(1) as u64 * instances + (self.read_bytes + smoothed) * instances
    }

    /// The skin on the CPU.
    pub fn skin(&self) -> &Skin {
        &self.skin
    }

    /// Group 0 of all shaders of the skin, for your own pipeline, visible to compute and vertex
    /// shaders.
    pub fn inputs(&self) -> (&wgpu::BindGroupLayout, &wgpu::BindGroup) {
        (&self.input_layout, &self.inputs)
    }

    /// The text to put before your own vertex shader: see [`crate::shaders::vertex_functions`].
    ///
    /// # Errors
    ///
    /// If the method has no vertex shader.
    pub fn vertex_functions(&self) -> Result<String, GpuError> {
        let layout = self.skin.stream_layout().ok_or(GpuError::NoShader)?;
        vertex_functions(&layout, self.format).ok_or(GpuError::NoShader)
    }

    /// The buffer of deformed positions: three numbers per vertex, instance after instance.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.positions
    }

    /// The buffer of deformed normals, three numbers per vertex; none if the format has none.
    pub fn normals(&self) -> Option<&wgpu::Buffer> {
        self.format.normals.then_some(&self.normals)
    }

    /// The buffer of deformed tangents, four numbers per vertex; none if the format has none.
    pub fn tangents(&self) -> Option<&wgpu::Buffer> {
        self.format.tangents.then_some(&self.tangents)
    }

    /// Uploads poses, deforms all instances and reads the surface back, for files and tests. A
    /// renderer uses [`GpuSkin::positions`] instead.
    ///
    /// # Errors
    ///
    /// As [`GpuSkin::pose`] does, and if the GPU fails.
    pub fn deform(&mut self, gpu: &Gpu, palettes: &[Palette]) -> Result<DeformedSurface, GpuError> {
        self.pose(gpu, palettes)?;
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        self.encode(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        let vertices = palettes.len() * self.skin.vertex_count();
        let read = |buffer: &wgpu::Buffer, numbers: usize| read(gpu, buffer, vertices * numbers);
        let vectors = |numbers: Vec<f32>| {
            let vectors = numbers.as_chunks::<3>().0.iter();
            vectors.copied().map(Vec3::from_array).collect()
        };
        let mut surface = DeformedSurface {
            positions: vectors(read(&self.positions, 3)?),
            ..DeformedSurface::default()
        };
        if self.format.normals {
            surface.normals = vectors(read(&self.normals, 3)?);
        }
        if self.format.tangents {
            let numbers = read(&self.tangents, 4)?;
            let tangents = numbers.as_chunks::<4>().0.iter();
            surface.tangents = tangents.copied().map(Vec4::from_array).collect();
        }
        Ok(surface)
    }
}

/// The layout of group 1 of compute passes: deformed positions, normals and tangents.
fn output_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let write = wgpu::BufferBindingType::Storage { read_only: false };
    bind_group_layout(device, wgpu::ShaderStages::COMPUTE, &[buffer(write); 3])
}

/// Reads the first numbers of a buffer.
fn read(gpu: &Gpu, buffer: &wgpu::Buffer, numbers: usize) -> Result<Vec<f32>, GpuError> {
    if numbers == 0 {
        return Ok(Vec::new());
    }
    let bytes = gpu.read(buffer, (numbers * 4) as u64)?;
    Ok(bytemuck::pod_collect_to_vec(&bytes))
}
