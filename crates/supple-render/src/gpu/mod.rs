//! The same pictures on a GPU: skins deform themselves in its vertex shaders, and nothing but the
//! finished picture comes back.
//!
//! Shaders do the work of `light.rs`, `fragment.rs`, `shade.rs` and `render.rs` with the same
//! numbers: every lamp draws its map, surfaces are lit fragment by fragment, and the backdrop fills
//! the rest. Only edges differ: the GPU's samples lie elsewhere in a pixel.

mod shaders;
mod surfaces;

use crate::camera::Camera;
use crate::image::Image;
use crate::light::{BLOCKS, Lamp, MAP_SIZE, PlacedLamps, reach};
use crate::render::{Settings, finished, ground_on_stage, paleness};
use crate::scene::{Scene, Substance, Wireframe};
use crate::stage::{Lens, stage_from_world};
use glam::{Vec2, Vec3, Vec4};
use supple::mesh::Shape;
use supple::{Palette, Skin};
use supple_gpu::{Format, Gpu, GpuError, GpuSkin};
use surfaces::{Pipelines, SurfaceBuffers, VertexSource};
use wgpu::util::DeviceExt;
use wgpu::{BufferUsages, TextureFormat, TextureUsages};

/// Samples of a pixel in one pass: what every GPU has.
const SAMPLES: u32 = 4;

/// The shifts of passes in pixels, so that the samples of four of them fill a pixel evenly, and
/// those of two include its middle.
const SHIFTS: [[f32; 2]; 4] = [
    [-0.09375, -0.03125],
    [0.09375, 0.03125],
    [0.03125, -0.09375],
    [-0.03125, 0.09375],
];

/// Nothing higher than this above the middle of the stage is in the maps of lamps.
const HIGHEST: f32 = 1e3;

const MAP_FORMAT: TextureFormat = TextureFormat::Depth32Float;
const SURFACE_FORMAT: TextureFormat = TextureFormat::Rgba16Float;
const PICTURE_FORMAT: TextureFormat = TextureFormat::Rgba32Float;

/// The bytes of a pixel of the picture.
const PIXEL: usize = 16;

/// Draws scenes on a GPU. Pipelines are made once.
#[derive(Debug)]
pub struct GpuPainter {
    gpu: Gpu,
    settings: Settings,
    layouts: Layouts,
    highest: [wgpu::ComputePipeline; 2],
    backdrop: wgpu::RenderPipeline,
    plain: Pipelines,
    character: Option<(GpuSkin, Pipelines)>,
}

/// The source of a scene's first surface if a vertex shader deforms it.
#[derive(Clone, Copy, Debug)]
pub struct PosedSkin<'a> {
    /// The shape at rest, with morphs.
    pub shape: Shape<'a>,
    /// The pose.
    pub palette: &'a Palette,
}

/// The bind group layouts of pipelines.
#[derive(Debug)]
pub(super) struct Layouts {
    /// Vertices that are where they are.
    pub(super) plain: wgpu::BindGroupLayout,
    /// View, triangles, colours.
    pub(super) surface: wgpu::BindGroupLayout,
    /// Lamps alone.
    pub(super) lamps: wgpu::BindGroupLayout,
    /// Lamps, their maps, the highest of each block.
    pub(super) light: wgpu::BindGroupLayout,
    /// Maps, and the highest of each block, in two steps.
    highest: wgpu::BindGroupLayout,
    /// The surfaces as they were drawn.
    drawn: wgpu::BindGroupLayout,
    /// The view alone.
    view: wgpu::BindGroupLayout,
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Layouts {
        use wgpu::ShaderStages as Stages;
        let buffer = |ty| wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let read = buffer(wgpu::BufferBindingType::Storage { read_only: true });
        let write = buffer(wgpu::BufferBindingType::Storage { read_only: false });
        let uniform = buffer(wgpu::BufferBindingType::Uniform);
        let texture = |sample_type| wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2Array,
            multisampled: false,
        };
        let depth = texture(wgpu::TextureSampleType::Depth);
        let color = texture(wgpu::TextureSampleType::Float { filterable: false });
        let layout = |visibility: Stages, entries: &[wgpu::BindingType]| {
            let entries = entries.iter().enumerate();
            let entries: Vec<_> = entries
                .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
                    binding: binding as u32,
                    visibility,
                    ty,
                    count: None,
                })
                .collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("supple picture"),
                entries: &entries,
            })
        };
        let drawing = Stages::VERTEX_FRAGMENT;
        Layouts {
            plain: layout(Stages::VERTEX, &[read, read]),
            surface: layout(drawing, &[uniform, read, read]),
            lamps: layout(Stages::VERTEX, &[read]),
            light: layout(Stages::FRAGMENT, &[read, depth, read]),
            highest: layout(Stages::COMPUTE, &[depth, write, write]),
            drawn: layout(Stages::FRAGMENT, &[color]),
            view: layout(drawing, &[uniform]),
        }
    }
}

/// The uniforms of a camera and its light.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct View {
    target_and_scale: [f32; 4],
    eye: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    back: [f32; 4],
    size_and_shift: [f32; 4],
    key: [f32; 4],
    center: [f32; 4],
    corner: [f32; 4],
    counts: [u32; 4],
}

impl GpuPainter {
    /// For pictures of a size.
    ///
    /// # Errors
    ///
    /// If the GPU has no room for pictures of that size.
    pub fn new(gpu: &Gpu, settings: &Settings) -> Result<GpuPainter, GpuError> {
        let device = gpu.device();
        let most = device.limits().max_texture_dimension_2d as usize;
        let Settings { width, height, .. } = *settings;
        if width.max(height) > most {
            return Err(GpuError::PictureSize {
                width,
                height,
                most,
                adapter: gpu.name().to_owned(),
            });
        }
        let layouts = Layouts::new(device);
        let module = shader_module(device, shaders::highest());
        let layout = pipeline_layout(device, &[&layouts.highest]);
        let highest = ["in_blocks", "around_blocks"].map(|entry_point| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("supple lamp maps"),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            })
        });
        let module = shader_module(device, shaders::backdrop());
        let layout = pipeline_layout(device, &[&layouts.drawn, &layouts.view, &layouts.light]);
        let backdrop = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("supple backdrop"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("cover"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fill"),
                compilation_options: Default::default(),
                targets: &[Some(PICTURE_FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let plain = Pipelines::new(device, &layouts, &layouts.plain, shaders::PLAIN);
        Ok(GpuPainter {
            gpu: gpu.clone(),
            settings: *settings,
            layouts,
            highest,
            backdrop,
            plain,
            character: None,
        })
    }

    /// The first surface of every scene is deformed by a vertex shader, for the pose that comes
    /// with the scene.
    ///
    /// # Errors
    ///
    /// If the method has no vertex shader, or the GPU has no room for the character.
    pub fn with_skin(self, skin: &Skin) -> Result<GpuPainter, GpuError> {
        let skin = GpuSkin::new(&self.gpu, skin, Format::default(), 1)?;
        let (layout, _) = skin.inputs();
        let functions = skin.vertex_functions()?;
        let pipelines = Pipelines::new(self.gpu.device(), &self.layouts, layout, &functions);
        Ok(GpuPainter {
            character: Some((skin, pipelines)),
            ..self
        })
    }

    /// Draws a scene, with 4, 8 or 16 samples for each pixel. With a pose, its first surface goes
    /// through the vertex shader of the skin; its positions in the scene only bound the shadow.
    ///
    /// # Errors
    ///
    /// If the pose does not fit the skin, or the GPU fails.
    pub fn render(
        &mut self,
        scene: &Scene,
        camera: &Camera,
        posed: Option<PosedSkin<'_>>,
    ) -> Result<Image, GpuError> {
        let Settings { width, height, .. } = self.settings;
        if width == 0 || height == 0 {
            return Ok(Image::new(width, Vec::new()));
        }
        let gpu = self.gpu.clone();
        gpu.checked(|| self.draw(scene, camera, posed))
    }

    fn draw(
        &mut self,
        scene: &Scene,
        camera: &Camera,
        posed: Option<PosedSkin<'_>>,
    ) -> Result<Image, GpuError> {
        let Settings { width, height, .. } = self.settings;
        let skinned = match (&mut self.character, posed) {
            (Some((skin, _)), Some(PosedSkin { shape, palette })) => {
                skin.set_rest(&self.gpu, shape)?;
                skin.pose(&self.gpu, std::slice::from_ref(palette))?;
                true
            }
            _ => false,
        };
        let per_axis = self.settings.samples_per_axis.clamp(1, 8);
        let passes = (per_axis * per_axis).div_ceil(SAMPLES as usize);
        let passes = passes.next_power_of_two().min(SHIFTS.len());
        let lens = Lens::new(camera, width, height);
        let points = scene.surfaces.iter().flat_map(|surface| surface.positions);
        let points = || points.clone().map(|&point| stage_from_world(camera, point));
        let lamps = PlacedLamps::new(
            reach(points()),
            lens.camera_from_stage.row(0),
            self.settings.lamps,
        );
        let finite = points().filter(|point| point.is_finite());
        // A little more, as the GPU rounds elsewhere.
        let highest = finite.fold(1.0, |most: f32, point| most.max(point.length())) * 1.01;
        let highest = highest.min(HIGHEST);
        let view = self.view(scene, camera, &lens, &lamps, highest);
        let device = self.gpu.device();
        let views: Vec<wgpu::Buffer> = SHIFTS[..passes]
            .iter()
            .map(|&[x, y]| {
                let shift = if passes == 1 { [0.0, 0.0] } else { [x, y] };
                let [width, height, ..] = view.size_and_shift;
                let view = View {
                    size_and_shift: [width, height, shift[0], shift[1]],
                    ..view
                };
                filled(device, bytemuck::bytes_of(&view), BufferUsages::UNIFORM)
            })
            .collect();
        let mut surfaces = Vec::new();
        for (index, surface) in scene.surfaces.iter().enumerate() {
            let source = match (&self.character, skinned && index == 0) {
                (Some((skin, pipelines)), true) => VertexSource::Skin(skin, pipelines),
                _ => VertexSource::Plain(&self.plain),
            };
            let buffers = SurfaceBuffers::new(&self.gpu, &self.layouts, surface, source, &views);
            surfaces.extend(buffers);
        }
        let mut encoder = device.create_command_encoder(&Default::default());
        if let Some((skin, _)) = self.character.as_ref().filter(|_| skinned) {
            skin.prepare(&mut encoder.begin_compute_pass(&Default::default()));
        }
        let light = self.draw_maps(&mut encoder, &lamps, &surfaces);
        let drawn = self.draw_surfaces(&mut encoder, &surfaces, &light, passes);
        let colors = self.fill_and_read(encoder, &drawn, &light, &views[0])?;
        Ok(finished(colors, scene, camera, &lens, per_axis))
    }

    fn view(
        &self,
        scene: &Scene,
        camera: &Camera,
        lens: &Lens,
        lamps: &PlacedLamps,
        highest: f32,
    ) -> View {
        let beside = |vector: Vec3, number: f32| vector.extend(number).to_array();
        let axis = |row: usize, number: f32| beside(lens.camera_from_stage.row(row), number);
        let ground = ground_on_stage(scene, camera, lens);
        let background = self.settings.background;
        let (key, dome) = (lamps.key_lamps.len(), lamps.dome_lamps.len());
        View {
            target_and_scale: beside(camera.target.as_vec3(), camera.radius.recip() as f32),
            eye: beside(lens.eye, ground.unwrap_or(0.0)),
            right: axis(0, lens.half.x),
            up: axis(1, lens.half.y),
            back: axis(2, if ground.is_some() { 1.0 } else { 0.0 }),
            size_and_shift: Vec2::new(lens.width as f32, lens.height as f32)
                .extend(0.0)
                .extend(0.0)
                .to_array(),
            key: beside(lamps.key, highest),
            center: beside(background.center, paleness(scene)),
            corner: beside(background.corner, 0.0),
            counts: [
                key as u32,
                (key + dome) as u32,
                u32::from(scene.wireframe == Wireframe::Shown),
                u32::from(scene.substance == Substance::Glass),
            ],
        }
    }

    /// Draws the maps of all lamps. Returns the bind group that lights surfaces.
    fn draw_maps(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        lamps: &PlacedLamps,
        surfaces: &[SurfaceBuffers<'_>],
    ) -> wgpu::BindGroup {
        let device = self.gpu.device();
        let all = lamps.key_lamps.iter().chain(&lamps.dome_lamps);
        let packed: Vec<[Vec4; 4]> = all.map(packed_lamp).collect();
        let count = packed.len() as u32;
        let lamp_buffer = filled(device, bytemuck::cast_slice(&packed), BufferUsages::STORAGE);
        let maps = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("lamp maps"),
            size: extent(MAP_SIZE, MAP_SIZE, count),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: MAP_FORMAT,
            usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let lamps_group = self
            .gpu
            .bind_group(&self.layouts.lamps, [entire(&lamp_buffer)]);
        for layer in 0..count {
            let target = one_layer(&maps, layer);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("lamp map"),
                color_attachments: &[],
                depth_stencil_attachment: Some(depth_attachment(
                    &target,
                    1.0,
                    wgpu::StoreOp::Store,
                )),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            pass.set_bind_group(2, &lamps_group, &[]);
            for surface in surfaces {
                surface.draw_map(&mut pass, layer);
            }
        }
        let blocks = u64::from(count) * (BLOCKS * BLOCKS * size_of::<f32>()) as u64;
        let [nearest, around] = [(); 2].map(|()| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("highest of blocks"),
                size: blocks,
                usage: BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        });
        let whole = array_view(&maps);
        let group = self.gpu.bind_group(
            &self.layouts.highest,
            [
                wgpu::BindingResource::TextureView(&whole),
                entire(&nearest),
                entire(&around),
            ],
        );
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for pipeline in &self.highest {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(BLOCKS as u32, BLOCKS as u32, count);
        }
        drop(pass);
        self.gpu.bind_group(
            &self.layouts.light,
            [
                entire(&lamp_buffer),
                wgpu::BindingResource::TextureView(&whole),
                entire(&around),
            ],
        )
    }

    /// The surfaces with how much they cover, a layer for each pass.
    fn draw_surfaces(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        surfaces: &[SurfaceBuffers<'_>],
        light: &wgpu::BindGroup,
        passes: usize,
    ) -> wgpu::Texture {
        let device = self.gpu.device();
        let Settings { width, height, .. } = self.settings;
        let texture = |format, sample_count, layers, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some("surfaces"),
                size: extent(width, height, layers),
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let attached = TextureUsages::RENDER_ATTACHMENT;
        let samples = texture(SURFACE_FORMAT, SAMPLES, 1, attached);
        let depths = texture(MAP_FORMAT, SAMPLES, 1, attached);
        // Not straight into a layer: some drivers resolve into the first one only.
        let resolved = texture(SURFACE_FORMAT, 1, 1, attached | TextureUsages::COPY_SRC);
        let read = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
        let drawn = texture(SURFACE_FORMAT, 1, passes as u32, read);
        let [samples, depths, resolved_view] =
            [&samples, &depths, &resolved].map(|all| all.create_view(&Default::default()));
        for index in 0..passes {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("surfaces"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &samples,
                    depth_slice: None,
                    resolve_target: Some(&resolved_view),
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Discard,
                    },
                })],
                depth_stencil_attachment: Some(depth_attachment(
                    &depths,
                    0.0,
                    wgpu::StoreOp::Discard,
                )),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            pass.set_bind_group(2, light, &[]);
            for surface in surfaces {
                surface.draw(&mut pass, index);
            }
            drop(pass);
            let layer = wgpu::TexelCopyTextureInfo {
                origin: wgpu::Origin3d {
                    z: index as u32,
                    ..wgpu::Origin3d::ZERO
                },
                ..drawn.as_image_copy()
            };
            let size = extent(width, height, 1);
            encoder.copy_texture_to_texture(resolved.as_image_copy(), layer, size);
        }
        drawn
    }

    /// Fills what surfaces leave free, and waits for the picture.
    fn fill_and_read(
        &self,
        mut encoder: wgpu::CommandEncoder,
        drawn: &wgpu::Texture,
        light: &wgpu::BindGroup,
        view: &wgpu::Buffer,
    ) -> Result<Vec<Vec3>, GpuError> {
        let device = self.gpu.device();
        let Settings { width, height, .. } = self.settings;
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: extent(width, height, 1),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: PICTURE_FORMAT,
            usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let target = picture.create_view(&Default::default());
        let layers = array_view(drawn);
        let drawn = self.gpu.bind_group(
            &self.layouts.drawn,
            [wgpu::BindingResource::TextureView(&layers)],
        );
        let view = self.gpu.bind_group(&self.layouts.view, [entire(view)]);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("backdrop"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: None,
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_pipeline(&self.backdrop);
        pass.set_bind_group(0, &drawn, &[]);
        pass.set_bind_group(1, &view, &[]);
        pass.set_bind_group(2, light, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        let row = (width * PIXEL).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize);
        let rows = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("rows of the picture"),
            size: (row * height) as u64,
            usage: BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            picture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &rows,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row as u32),
                    rows_per_image: None,
                },
            },
            extent(width, height, 1),
        );
        self.gpu.queue().submit([encoder.finish()]);
        let bytes = self.gpu.read(&rows, rows.size())?;
        let pixels = bytes.chunks(row).flat_map(|row| {
            let pixels = row[..width * PIXEL].as_chunks::<PIXEL>().0;
            pixels.iter().map(|pixel| {
                let [x, y, z, _]: [f32; 4] = bytemuck::pod_read_unaligned(pixel);
                Vec3::new(x, y, z)
            })
        });
        Ok(pixels.collect())
    }
}

fn packed_lamp(lamp: &Lamp) -> [Vec4; 4] {
    [
        lamp.toward.extend(lamp.texel),
        lamp.right.extend(lamp.spacing),
        lamp.up.extend(0.0),
        lamp.color.extend(0.0),
    ]
}

fn extent(width: usize, height: usize, layers: u32) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: width as u32,
        height: height as u32,
        depth_or_array_layers: layers,
    }
}

fn one_layer(texture: &wgpu::Texture, layer: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..Default::default()
    })
}

fn array_view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..Default::default()
    })
}

fn depth_attachment(
    view: &wgpu::TextureView,
    clear: f32,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations {
            load: wgpu::LoadOp::Clear(clear),
            store,
        }),
        stencil_ops: None,
    }
}

pub(super) fn filled(device: &wgpu::Device, bytes: &[u8], usage: BufferUsages) -> wgpu::Buffer {
    // A binding must not be empty.
    let some = if bytes.is_empty() { &[0; 16] } else { bytes };
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("supple picture"),
        contents: some,
        usage,
    })
}

pub(super) fn entire(buffer: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
    buffer.as_entire_binding()
}

pub(super) fn shader_module(device: &wgpu::Device, text: String) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("supple picture"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    })
}

pub(super) fn pipeline_layout(
    device: &wgpu::Device,
    groups: &[&wgpu::BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = groups.iter().copied().map(Some).collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("supple picture"),
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}
