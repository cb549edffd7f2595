//! Surfaces on the GPU, and the pipelines that draw them.

use super::shaders;
use super::{
    Layouts, MAP_FORMAT, SAMPLES, SURFACE_FORMAT, entire, filled, pipeline_layout, shader_module,
};
use crate::scene::{DrawnSurface, Paint};
use glam::{Vec3, Vec4};
use supple_gpu::{Gpu, GpuSkin};
use wgpu::BufferUsages;

/// The pipelines for one source of vertices.
#[derive(Debug)]
pub(super) struct Pipelines {
    surface: wgpu::RenderPipeline,
    map: wgpu::RenderPipeline,
}

impl Pipelines {
    /// `functions` is a text with `posed_vertex`, which reads `vertices`.
    pub(super) fn new(
        device: &wgpu::Device,
        layouts: &Layouts,
        vertices: &wgpu::BindGroupLayout,
        functions: &str,
    ) -> Pipelines {
        let depth = |compare| wgpu::DepthStencilState {
            format: MAP_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(compare),
            stencil: Default::default(),
            bias: Default::default(),
        };
        let module = shader_module(device, shaders::surface(functions));
        let layout = pipeline_layout(device, &[vertices, &layouts.surface, &layouts.light]);
        let surface = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("supple surface"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("draw_surface"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(depth(wgpu::CompareFunction::Greater)),
            multisample: wgpu::MultisampleState {
                count: SAMPLES,
                ..Default::default()
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("shade"),
                compilation_options: Default::default(),
                targets: &[Some(SURFACE_FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let module = shader_module(device, shaders::lamp_map(functions));
        let layout = pipeline_layout(device, &[vertices, &layouts.surface, &layouts.lamps]);
        let map = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("supple lamp map"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("draw_map"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(depth(wgpu::CompareFunction::Less)),
            multisample: Default::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        });
        Pipelines { surface, map }
    }
}

/// The source of vertices.
#[derive(Clone, Copy)]
pub(super) enum VertexSource<'a> {
    /// A vertex shader that deforms.
    Skin(&'a GpuSkin, &'a Pipelines),
    /// The positions of the scene.
    Plain(&'a Pipelines),
}

/// A surface in the memory of a GPU.
pub(super) struct SurfaceBuffers<'a> {
    pipelines: &'a Pipelines,
    vertices: wgpu::BindGroup,
    /// For each pass.
    surface: Vec<wgpu::BindGroup>,
    indices: wgpu::Buffer,
    corners: u32,
}

impl<'a> SurfaceBuffers<'a> {
    /// Nothing if there is nothing to draw. Triangles that cannot be drawn are left out.
    pub(super) fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        surface: &DrawnSurface<'_>,
        source: VertexSource<'a>,
        views: &[wgpu::Buffer],
    ) -> Option<SurfaceBuffers<'a>> {
        let count = surface.positions.len();
        let drawable = |corners: &&[u32; 3]| {
            corners.iter().all(|&corner| {
                let position = surface.positions.get(corner as usize);
                position.is_some_and(|position| position.is_finite())
            })
        };
        let triangles: Vec<[u32; 3]> = surface.triangles.iter().filter(drawable).copied().collect();
        if triangles.is_empty() {
            return None;
        }
        let storage = |bytes: &[u8]| filled(gpu.device(), bytes, BufferUsages::STORAGE);
        let smooth = if surface.normals.is_empty() { 0.0 } else { 1.0 };
        let colors: Vec<Vec4> = match surface.paint {
            Paint::Uniform(color) => vec![color.extend(smooth); count],
            Paint::PerVertex(colors) => {
                let last = colors.last().copied().unwrap_or(Vec3::ONE);
                let color = |vertex| colors.get(vertex).copied().unwrap_or(last);
                (0..count)
                    .map(|vertex| color(vertex).extend(smooth))
                    .collect()
            }
        };
        let (pipelines, vertices) = match source {
            VertexSource::Skin(skin, pipelines) => (pipelines, skin.inputs().1.clone()),
            VertexSource::Plain(pipelines) => {
                let positions = storage(bytemuck::cast_slice(surface.positions));
                let mut normals = surface.normals.to_vec();
                normals.resize(count, Vec3::ZERO);
                let normals = storage(bytemuck::cast_slice(&normals));
                let resources = [entire(&positions), entire(&normals)];
                (pipelines, gpu.bind_group(&layouts.plain, resources))
            }
        };
        let usage = BufferUsages::STORAGE | BufferUsages::INDEX;
        let indices = filled(gpu.device(), bytemuck::cast_slice(&triangles), usage);
        let colors = storage(bytemuck::cast_slice(&colors));
        let surface = views.iter().map(|view| {
            let resources = [entire(view), entire(&indices), entire(&colors)];
            gpu.bind_group(&layouts.surface, resources)
        });
        Some(SurfaceBuffers {
            pipelines,
            vertices,
            surface: surface.collect(),
            corners: 3 * triangles.len() as u32,
            indices,
        })
    }

    /// Draws what is seen in a pass.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, index: usize) {
        pass.set_pipeline(&self.pipelines.surface);
        pass.set_bind_group(0, &self.vertices, &[]);
        pass.set_bind_group(1, &self.surface[index], &[]);
        pass.draw(0..self.corners, 0..1);
    }

    /// Draws what a lamp sees.
    pub(super) fn draw_map(&self, pass: &mut wgpu::RenderPass<'_>, lamp: u32) {
        pass.set_pipeline(&self.pipelines.map);
        pass.set_bind_group(0, &self.vertices, &[]);
        pass.set_bind_group(1, &self.surface[0], &[]);
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.corners, 0, lamp..lamp + 1);
    }
}
