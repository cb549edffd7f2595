//! Timing of work on the GPU, by its own clock.

use crate::device::{Gpu, GpuError};
use crate::resources::{MOST_GROUPS, empty_buffer, largest_buffer};
use crate::skin::GpuSkin;
use std::time::{Duration, Instant};
use wgpu::BufferUsages;

/// The number of bytes of a timestamp.
const MOMENT: u64 = 8;

/// The time a GPU is kept busy before it is timed.
const WARM_UP: Duration = Duration::from_millis(500);

/// The time it is kept busy for each measurement.
const BUSY: Duration = Duration::from_millis(100);

/// The most dispatches of one pass.
const MOST_RUNS: f64 = 1000.0;

/// Two timestamps, and a buffer to read them from.
struct Stopwatch {
    moments: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

impl Stopwatch {
    fn new(gpu: &Gpu) -> Result<Stopwatch, GpuError> {
        let device = gpu.device();
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(GpuError::NoClock {
                adapter: gpu.name().to_owned(),
            });
        }
        Ok(Stopwatch {
            moments: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("moments"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("moments"),
                size: 2 * MOMENT,
                usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        })
    }

    /// Measures how long a pass takes.
    fn time(
        &self,
        gpu: &Gpu,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) -> Result<Duration, GpuError> {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("timed"),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &self.moments,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
        });
        record(&mut pass);
        drop(pass);
        encoder.resolve_query_set(&self.moments, 0..2, &self.resolved, 0);
        gpu.queue().submit([encoder.finish()]);
        let bytes = gpu.read(&self.resolved, 2 * MOMENT)?;
        let moments: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        let ticks = moments[1].saturating_sub(moments[0]) as f64;
        let nanoseconds = ticks * f64::from(gpu.queue().get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }

    /// Measures the best of several rounds of many runs. Some runs before are not timed, since an
    /// idle GPU lowers its clock rate.
    fn best(
        &self,
        gpu: &Gpu,
        rounds: usize,
        record: impl Fn(&mut wgpu::ComputePass<'_>),
    ) -> Result<Duration, GpuError> {
        let busy = |runs: u32| -> Result<Duration, GpuError> {
            let all = self.time(gpu, |pass| (0..runs).for_each(|_| record(pass)))?;
            Ok(all / runs)
        };
        let enough = |one: Duration| BUSY.div_duration_f64(one).clamp(1.0, MOST_RUNS) as u32;
        let mut runs = enough(busy(1)?);
        let start = Instant::now();
        while start.elapsed() < WARM_UP {
            runs = enough(busy(runs)?);
        }
        let mut best = Duration::MAX;
        for _ in 0..rounds.max(1) {
            best = best.min(busy(runs)?);
        }
        Ok(best)
    }
}

/// Measures how long one dispatch of a skin takes, in the poses that were set last: the best of
/// several rounds.
///
/// # Errors
///
/// If the GPU has no clock of its own, or fails.
pub fn time_frame(gpu: &Gpu, skin: &GpuSkin, rounds: usize) -> Result<Duration, GpuError> {
    Stopwatch::new(gpu)?.best(gpu, rounds, |pass| skin.dispatch(pass))
}

/// Measures how long copying a number of bytes takes, which bounds how fast a skin can be.
///
/// If they do not fit into a buffer, a part is timed and the result scaled.
///
/// # Errors
///
/// If the GPU has no clock of its own, no room for the buffers, or fails.
pub fn time_copy(gpu: &Gpu, bytes: u64, rounds: usize) -> Result<Duration, GpuError> {
    let device = gpu.device();
    let whole = bytes.next_multiple_of(16).max(16);
    let bytes = whole.min(largest_buffer(gpu) / 16 * 16);
    let buffer = || empty_buffer(gpu, "copied bytes", bytes, BufferUsages::STORAGE);
    let (from, to) = (buffer()?, buffer()?);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("copy"),
        source: wgpu::ShaderSource::Wgsl(include_str!("../shaders/copy.wgsl").into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("copy"),
        layout: None,
        module: &module,
        entry_point: Some("copy_all"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffers = [&from, &to].map(wgpu::Buffer::as_entire_binding);
    let bindings = gpu.bind_group(&pipeline.get_bind_group_layout(0), buffers);
    /// Vectors that a workgroup of the shader copies.
    const GROUP: u64 = 256;
    let groups = (bytes / 16).div_ceil(GROUP) as u32;
    let rows = groups.div_ceil(MOST_GROUPS);
    let part = Stopwatch::new(gpu)?.best(gpu, rounds, |pass| {
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(groups.div_ceil(rows), rows, 1);
    })?;
    Ok(part.mul_f64(whole as f64 / bytes as f64))
}
