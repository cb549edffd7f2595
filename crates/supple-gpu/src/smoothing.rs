//! The passes that smooth the surface in every frame before it is deformed, as delta mush does.
//!
//! The first pass moves the points of the welded surface with the joints, and each later one adds a
//! term of the series that smooth them ([`SmoothingStream::series`]), for all instances at once.
//! Nothing is read back or allocated.

use crate::device::{Gpu, GpuError};
use crate::format::Format;
use crate::resources::{bind_group_layout, buffer, empty_buffer, input_layout, row};
use crate::shader::{LANES, Pass};
use supple::deform::{SmoothedPoint, SmoothingStream, StreamLayout};
use wgpu::BufferBindingType::{self, Storage};
use wgpu::{BindingType, BufferUsages, ShaderStages};

/// The number of bytes of a point in an array: three numbers.
const FIELD_BYTES: u64 = 12;

/// The number of fields of an instance: the surface, and the stretched surface.
const MOST_FIELDS: u64 = 2;

/// The number of arrays of a field without sums: see `points.wgsl`.
const ARRAYS: u64 = 3;

/// The number of storage buffers of the pass that deforms, with the smoothed surface.
const STORAGE_BUFFERS: u32 = 9;

/// The welded surface as shaders read it: see `points.wgsl`.
pub(crate) fn table(stream: &SmoothingStream) -> Vec<u32> {
    let points = stream.points.len();
    let slices = points.div_ceil(LANES);
    let mut words = vec![points as u32, row(points)];
    let starts = words.len();
    words.resize(starts + 3 * slices, 0);
    for piece in &stream.pieces {
        words.extend(piece.middle.map(f32::to_bits));
        words.push(u32::from(piece.joint));
    }
    for (slice, points) in stream.points.chunks(LANES).enumerate() {
        let most = |count: fn(&SmoothedPoint) -> usize| points.iter().map(count).max().unwrap_or(0);
        let neighbours = most(|point| point.neighbours.len());
        let triangles = most(|point| point.triangles.len());
        let start = words.len();
        let about = [start, neighbours, triangles].map(|word| word as u32);
        words[starts + 3 * slice..][..3].copy_from_slice(&about);
        let per_point = POINT_WORDS + 2 * (neighbours + triangles);
        words.resize(start + per_point * LANES, 0);
        for (lane, point) in points.iter().enumerate() {
            let own = (slice * LANES + lane) as u32;
            let [x, y, z] = point.place.map(f32::to_bits);
            let [smooth_x, smooth_y, smooth_z] = point.smooth.map(f32::to_bits);
            let [left_x, left_y, left_z] = point.smooth_left.map(f32::to_bits);
            let fixed: [u32; POINT_WORDS] = [
                x,
                y,
                z,
                smooth_x,
                smooth_y,
                smooth_z,
                left_x,
                left_y,
                left_z,
                point.piece,
                point.vertex,
                point.towards,
            ];
            let neighbour = |at: usize| {
                let known = point.neighbours.get(at);
                known.map_or([own, 0], |&(other, share)| [other, share.to_bits()])
            };
            let triangle = |at: usize| point.triangles.get(at).copied().unwrap_or([own; 2]);
            let all = fixed
                .into_iter()
                .chain((0..neighbours).flat_map(neighbour))
                .chain((0..triangles).flat_map(triangle));
            for (word, value) in all.enumerate() {
                words[start + word * LANES + lane] = value;
            }
        }
    }
    words
}

/// The number of words of every point, before those of its neighbours.
const POINT_WORDS: usize = 12;

/// The smoothing passes of a character.
#[derive(Debug)]
pub(crate) struct Smoothing {
    pipelines: [wgpu::ComputePipeline; 2],
    inputs: wgpu::BindGroup,
    /// Sums alternate between two buffers: a group for each direction.
    bindings: [wgpu::BindGroup; 2],
    fields: wgpu::Buffer,
    terms: usize,
    /// The number of bytes from one term to the next.
    stride: u32,
    points: usize,
    /// The number of bytes that a field of an instance moves.
    field_bytes: u64,
}

impl Smoothing {
    /// Prepares the passes over a surface; `inputs` are the first buffers of every shader of the
    /// skin.
    pub(crate) fn new(
        gpu: &Gpu,
        stream: &SmoothingStream,
        layout: &StreamLayout,
        format: Format,
        inputs: [&wgpu::Buffer; 5],
        instances: usize,
    ) -> Result<Smoothing, GpuError> {
        let device = gpu.device();
        let most = device.limits().max_storage_buffers_per_shader_stage;
        if most < STORAGE_BUFFERS {
            return Err(GpuError::StorageBuffers {
                needed: STORAGE_BUFFERS,
                most,
                adapter: gpu.name().to_owned(),
            });
        }
        let points = stream.points.len();
        let room = instances as u64 * MOST_FIELDS * points as u64 * FIELD_BYTES;
        let field = |what, arrays| empty_buffer(gpu, what, arrays * room, BufferUsages::STORAGE);
        let fields = field("points and their changes", ARRAYS)?;
        let sums = [
            field("sums of smoothing", 1)?,
            field("sums of smoothing", 1)?,
        ];
        let stride = device.limits().min_uniform_buffer_offset_alignment;
        let terms = terms(&stream.series, stride as usize);
        let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let term_buffer = empty_buffer(gpu, "terms of smoothing", terms.len() as u64, uniform)?;
        gpu.queue().write_buffer(&term_buffer, 0, &terms);

        let input_layout = input_layout(device, inputs.len());
        let fields_layout = fields_layout(device);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("supple smoothing"),
            bind_group_layouts: &[Some(&input_layout), Some(&fields_layout)],
            immediate_size: 0,
        });
        let pipelines = [Pass::BlendPoints, Pass::SmoothPoints].map(|pass| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(pass.entry_point()),
                source: wgpu::ShaderSource::Wgsl(pass.shader(layout, format).into()),
            });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(pass.entry_point()),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(pass.entry_point()),
                compilation_options: Default::default(),
                cache: None,
            })
        });
        let term = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &term_buffer,
            offset: 0,
            size: std::num::NonZero::new(size_of::<Term>() as u64),
        });
        let bindings = [[0, 1], [1, 0]].map(|[from, to]| {
            let buffers = [&fields, &sums[from], &sums[to]];
            let buffers = buffers.map(wgpu::Buffer::as_entire_binding);
            gpu.bind_group(&fields_layout, [term.clone()].into_iter().chain(buffers))
        });
        let inputs = inputs.map(wgpu::Buffer::as_entire_binding);
        let inputs = gpu.bind_group(&input_layout, inputs);
        let count = stream.series.iter().map(Vec::len).sum();
        let neighbours = stream.points.iter().map(|point| point.neighbours.len());
        Ok(Smoothing {
            pipelines,
            inputs,
            bindings,
            fields,
            terms: count,
            stride,
            points,
            field_bytes: moved_bytes(points, neighbours.sum(), count),
        })
    }

    /// The smoothed surface, for the shader that deforms.
    pub(crate) fn smoothed(&self) -> &wgpu::Buffer {
        &self.fields
    }

    /// Smooths the first `instances` instances.
    pub(crate) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, instances: usize) {
        let row = row(self.points);
        let slices = self.points.div_ceil(LANES) as u32;
        if row == 0 || instances == 0 {
            return;
        }
        pass.set_bind_group(0, &self.inputs, &[]);
        let [blend, smooth] = &self.pipelines;
        pass.set_pipeline(blend);
        pass.set_bind_group(1, &self.bindings[0], &[0]);
        pass.dispatch_workgroups(row, instances as u32, slices.div_ceil(row));
        pass.set_pipeline(smooth);
        for term in 0..self.terms {
            let offset = term as u32 * self.stride;
            pass.set_bind_group(1, &self.bindings[(term + 1) % 2], &[offset]);
            pass.dispatch_workgroups(row, instances as u32, slices.div_ceil(row));
        }
    }

    /// The number of bytes that the passes of an instance move, with or without stretches.
    pub(crate) fn bytes(&self, stretches: bool) -> u64 {
        self.field_bytes * if stretches { 2 } else { 1 }
    }
}

/// The number of bytes that a field moves: what the first pass writes; for every term what is read
/// of the surface and of three arrays, and two arrays that are written; the two arrays that are
/// read in the end. Reads of neighbours are cached, and do not count.
fn moved_bytes(points: usize, neighbours: usize, terms: usize) -> u64 {
    let (points, neighbours, terms) = (points as u64, neighbours as u64, terms as u64);
    let term = 5 * FIELD_BYTES * points + 8 * neighbours;
    3 * FIELD_BYTES * points + terms * term + 2 * FIELD_BYTES * points
}

/// A term as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Term {
    factor: f32,
    share: f32,
    is_first: u32,
    goes_on: u32,
}

/// The terms of all series, `stride` bytes apart. There is at least one, since it must be bound.
fn terms(series: &[Vec<f32>], stride: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, factors) in series.iter().enumerate() {
        for (place, &factor) in factors.iter().enumerate() {
            let is_last = place + 1 == factors.len();
            let term = Term {
                factor,
                share: if is_last { 0.5 } else { 1.0 },
                is_first: u32::from(place == 0),
                goes_on: u32::from(is_last && number + 1 < series.len()),
            };
            let next = bytes.len() + stride;
            bytes.extend_from_slice(bytemuck::bytes_of(&term));
            bytes.resize(next, 0);
        }
    }
    bytes.resize(bytes.len().max(stride), 0);
    bytes
}

/// The layout of group 1 of the passes: a term, the fields, sums to read and sums to write.
fn fields_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    // Every pass has a term of its own.
    let term = BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let [read, write] = [true, false].map(|read_only| buffer(Storage { read_only }));
    bind_group_layout(device, ShaderStages::COMPUTE, &[term, write, read, write])
}
