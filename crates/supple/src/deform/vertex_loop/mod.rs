//! Vertex loops, shared by all methods, kinds of normals and outputs.

mod blocks;
mod gradients;

use super::direct::{BakedStreams, Direct, LaneFrames};
use super::error::DeformError;
use super::instructions::InstructionSet;
use super::lanes::{Packing, RestSurface};
use super::normals::{BakedNormals, FieldGradients, recompute_normals};
use super::output::{Output, Sink};
use super::streams::{PoseStream, StreamLayout};
use super::workspace::Workspace;
use crate::mesh::Shape;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::transform::Affine;
use glam::Vec3;
use std::fmt::Debug;
use std::sync::Arc;

/// A baked method of any kind.
pub(super) trait Deformer: Debug + Send + Sync {
    /// The order and grouping of vertices, if the method has one.
    fn packing(&self) -> Option<&Arc<Packing>>;

    /// The bytes of baked data that a frame reads for all vertices, without the rest surface.
    fn bytes(&self, packing: &Packing) -> usize;

    /// Deforms a surface into a sink; all sizes are already checked.
    fn deform(
        &self,
        job: &Job<'_>,
        workspace: &mut Workspace,
        sink: Sink<'_>,
    ) -> Result<(), DeformError>;

    /// The vertices among the first `vertices` that the method turns inside out in a pose.
    fn inverted(
        &self,
        vertices: usize,
        palette: &[Affine],
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError>;

    /// The baked data for GPUs; `None` if the method has no kernel.
    fn streams(&self) -> Option<(StreamLayout, &dyn BakedStreams)>;

    /// Appends a pose for GPUs; nothing if the method has no kernel.
    fn stream_pose(
        &self,
        palette: &[Affine],
        workspace: &mut Workspace,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError>;

    /// The gradients over the surface of the fields that frames depend on.
    fn field_gradients(&self, rig: &Rig) -> FieldGradients;
}

/// The input of a vertex loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The rest surface.
    pub(super) shape: Shape<'a>,
    /// The rest surface in lanes.
    pub(super) rest: RestSurface<'a>,
    pub(super) packing: &'a Packing,
    /// One palette per instance.
    pub(super) palettes: &'a [Palette],
    pub(super) normals: &'a BakedNormals,
    pub(super) instructions: InstructionSet,
}

/// An instance of a character in its pose.
#[derive(Debug)]
struct Instance<P> {
    posed: P,
    outcome: Result<(), DeformError>,
}

impl<P: Default> Default for Instance<P> {
    fn default() -> Instance<P> {
        Instance {
            posed: P::default(),
            outcome: Ok(()),
        }
    }
}

impl<M: Direct> Deformer for M {
    fn packing(&self) -> Option<&Arc<Packing>> {
        Some(self.lanes()?.packing())
    }

    fn bytes(&self, packing: &Packing) -> usize {
        Direct::bytes(self, packing)
    }

    fn deform(
        &self,
        job: &Job<'_>,
        workspace: &mut Workspace,
        sink: Sink<'_>,
    ) -> Result<(), DeformError> {
        let mut instances = workspace.take_posed::<Vec<Instance<M::Posed>>>();
        instances.resize_with(job.palettes.len(), Instance::default);
        let outcome = match (job.normals, job.instructions.level()) {
            (BakedNormals::Transported, Some(level)) => {
                blocks::deform_blocks(self, job, level, &mut instances, sink)
            }
            _ => each_instance(self, job, &mut instances, workspace, sink),
        };
        workspace.put_posed(instances);
        outcome
    }

    fn inverted(
        &self,
        vertices: usize,
        palette: &[Affine],
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError> {
        let mut instances = workspace.take_posed::<Vec<Instance<M::Posed>>>();
        instances.resize_with(1, Instance::default);
        let posed = &mut instances[0].posed;
        let outcome = self.pose(palette, posed);
        let inverted = outcome.map(|()| {
            let inverted = (0..vertices).filter(|&vertex| self.inverts(vertex, posed));
            inverted.collect()
        });
        workspace.put_posed(instances);
        inverted
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn BakedStreams)> {
        let (layout, streams) = Direct::streams(self)?;
        Some((layout, streams))
    }

    fn stream_pose(
        &self,
        palette: &[Affine],
        workspace: &mut Workspace,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        let Some((_, streams)) = Direct::streams(self) else {
            return Ok(());
        };
        let mut instances = workspace.take_posed::<Vec<Instance<M::Posed>>>();
        instances.resize_with(1, Instance::default);
        let outcome = streams.push_pose(palette, &mut instances[0].posed, stream);
        workspace.put_posed(instances);
        outcome
    }

    fn field_gradients(&self, rig: &Rig) -> FieldGradients {
        FieldGradients::of(self, rig)
    }
}

/// Deforms instance by instance, for passes that cannot run on single blocks: normals that depend
/// on neighbours, and the plain loop.
fn each_instance<M: Direct>(
    method: &M,
    job: &Job<'_>,
    instances: &mut [Instance<M::Posed>],
    workspace: &mut Workspace,
    mut sink: Sink<'_>,
) -> Result<(), DeformError> {
    let vertices = job.shape.positions.len();
    for (instance, palette) in instances.iter_mut().zip(job.palettes) {
        let (own, others) = sink.split_at(vertices);
        let mut whole = std::mem::take(&mut workspace.surface);
        let outcome = match own {
            Sink::Slices(output) => deform_one(method, job, palette, instance, workspace, output),
            Sink::Buffers(mut sink) => {
                let (normals, tangents) = (sink.wants_normals(), sink.wants_tangents());
                let output = whole.sized(vertices, normals, tangents);
                let outcome = deform_one(method, job, palette, instance, workspace, output);
                sink.put(&whole.sized(vertices, normals, tangents));
                outcome
            }
        };
        workspace.surface = whole;
        outcome?;
        sink = others;
    }
    Ok(())
}

fn deform_one<M: Direct>(
    method: &M,
    job: &Job<'_>,
    palette: &Palette,
    instance: &mut Instance<M::Posed>,
    workspace: &mut Workspace,
    mut output: Output<'_>,
) -> Result<(), DeformError> {
    let palette_maps = &palette.posed_from_bind[..];
    let posed = &mut instance.posed;
    match (job.normals, job.instructions.level()) {
        (BakedNormals::Gradient(gradients), _) => {
            let shift = match M::FOLLOWS_SHIFTS {
                true => gradients.far_shift(palette_maps),
                false => Vec3::ZERO,
            };
            if shift == Vec3::ZERO {
                method.pose(palette_maps, posed)?;
            } else {
                workspace.palette.clear();
                let near = palette_maps.iter().map(|map| map.shifted(-shift));
                workspace.palette.extend(near);
                method.pose(&workspace.palette, posed)?;
            }
            let buffers = &mut workspace.fields;
            gradients::follow(
                method,
                job.shape,
                palette_maps,
                posed,
                gradients,
                buffers,
                &mut output,
            );
            if shift != Vec3::ZERO {
                for position in output.positions.iter_mut() {
                    *position += shift;
                }
            }
        }
        (BakedNormals::Recomputed(surface), Some(level)) => {
            // Vertices without triangles keep transported normals.
            let palettes = std::slice::from_ref(palette);
            let job = Job { palettes, ..*job };
            let instances = std::slice::from_mut(instance);
            blocks::deform_blocks(method, &job, level, instances, output.reborrowed().into())?;
            recompute_normals(surface, &mut output, palette_maps, &mut workspace.points);
        }
        (BakedNormals::Recomputed(surface), None) => {
            method.pose(palette_maps, posed)?;
            transport(method, job.shape, posed, &mut output);
            recompute_normals(surface, &mut output, palette_maps, &mut workspace.points);
        }
        (BakedNormals::Transported, _) => {
            method.pose(palette_maps, posed)?;
            transport(method, job.shape, posed, &mut output);
        }
    }
    Ok(())
}

/// The plain vertex loop: positions by the frame, normals by its inverse transpose (eq. 16 of the
/// course).
fn transport<M: Direct>(method: &M, shape: Shape<'_>, posed: &M::Posed, output: &mut Output<'_>) {
    let normals = output.normals.as_deref_mut().unwrap_or_default();
    let tangents = output.tangents.as_deref_mut().unwrap_or_default();
    let rest_tangents = shape.tangents.unwrap_or_default();
    for (vertex, position) in output.positions.iter_mut().enumerate() {
        let frame = method.frame(vertex, method.fields(vertex), posed);
        *position = frame.transform_point(shape.positions[vertex]);
        if let Some(normal) = normals.get_mut(vertex) {
            *normal = frame.transform_normal(shape.normals[vertex]);
        }
        if let Some(tangent) = tangents.get_mut(vertex) {
            *tangent = frame.transform_tangent(rest_tangents[vertex]);
        }
    }
}
