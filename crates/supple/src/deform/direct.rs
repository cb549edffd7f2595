//! What a direct method is to the rest of the library, and the vertex loops that exist once for all
//! of them.

use super::lanes::{FrameLanes, Group, Packing, RestSurface, carry};
use super::normals::{BakedNormals, FieldGradients, recompute_normals};
use super::output::{BlockSurface, Output, Sink};
use super::streams::{PoseStream, SmoothingStream, StreamLayout, VertexStream};
use super::{DeformError, InstructionSet, Workspace};
use crate::exec;
use crate::mesh::Shape;
use crate::pose::Palette;
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Level, Simd, dispatch};
use glam::Vec3;
use std::fmt::Debug;
use std::sync::Arc;

/// A method that ends in one affine frame per vertex, which depends on the pose and on a few
/// numbers of the vertex.
pub(super) trait Direct: Debug + Send + Sync + 'static {
    /// What is computed once per pose and shared by all vertices. It lives in the caller's
    /// [`Workspace`], so it must be refilled in place.
    type Posed: Debug + Default + Send + Sync + 'static;

    /// True if the frame is a linear function of the fields.
    const LINEAR_IN_FIELDS: bool = false;

    /// True if shifting all joints alike shifts the result and changes nothing else.
    const FOLLOWS_SHIFTS: bool = true;

    /// True if groups of vertices are better done two at a time.
    const IN_PAIRS: bool = false;

    /// Computes what all vertices share in a pose. The palette has as many joints as the rig that
    /// was baked.
    fn pose(&self, palette: &[Affine], posed: &mut Self::Posed) -> Result<(), DeformError>;

    /// The numbers of a vertex on which its frame depends and which vary over the surface.
    fn fields(&self, vertex: usize) -> Fields<'_>;

    /// What each of those numbers stands for, weights first.
    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>);

    /// `posed_from_bind` of a vertex, if it had these fields.
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Self::Posed) -> Affine;

    /// Which vertices go side by side, for a method that has a way to do several at once.
    fn packing(&self) -> Option<&Arc<Packing>> {
        None
    }

    /// The frames of a group of vertices: one by one, unless the method has a faster way.
    #[inline(always)]
    fn frame_lanes<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        posed: &Self::Posed,
    ) -> FrameLanes<S> {
        FrameLanes::one_by_one(simd, group, |vertex| {
            self.frame(vertex, self.fields(vertex), posed)
        })
    }

    /// The same of two groups.
    #[inline(always)]
    fn frame_lane_pair<S: Simd>(
        &self,
        simd: S,
        [first, second]: [&Group<'_>; 2],
        posed: &Self::Posed,
    ) -> [FrameLanes<S>; 2] {
        [
            self.frame_lanes(simd, first, posed),
            self.frame_lanes(simd, second, posed),
        ]
    }

    /// The bytes that a frame reads of what was baked for all vertices, beside the rest surface.
    fn bytes(&self, packing: &Packing) -> usize {
        let rows_known = packing.weights().vertex_count() > 0;
        let vertices = (0..packing.vertex_count()).map(|vertex| {
            let Fields { weights, extras } = self.fields(vertex);
            let rows = if rows_known { 0 } else { weights.len() };
            rows * (size_of::<f32>() + size_of::<u16>()) + size_of_val(extras)
        });
        packing.bytes() + vertices.sum::<usize>()
    }

    /// True if the frame of a vertex turns the surface inside out though no joint of its does: a
    /// flaw that some methods have.
    fn inverts(&self, _vertex: usize, _posed: &Self::Posed) -> bool {
        false
    }

    /// How a vertex loop elsewhere reads what was baked, for a method that has a kernel.
    fn stream_layout(&self) -> Option<StreamLayout> {
        None
    }

    /// What is looked up there beside vertices and poses.
    fn stream_table(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What is smoothed there before.
    fn stream_smoothing(&self) -> Option<SmoothingStream> {
        None
    }

    /// A vertex as it is read there.
    fn stream_vertex(&self, _vertex: usize, _stream: &mut VertexStream) {}

    /// Computes what a pose is read of there: all that [`pose`](Direct::pose) does, unless some of
    /// it is done there as well.
    fn pose_for_stream(
        &self,
        palette: &[Affine],
        posed: &mut Self::Posed,
    ) -> Result<(), DeformError> {
        self.pose(palette, posed)
    }

    /// A pose as it is read there.
    fn stream_pose(&self, _posed: &Self::Posed, _stream: &mut PoseStream) {}

    /// How the frame changes as the fields do: exactly if it is linear in them, else by central
    /// differences.
    fn frame_change(
        &self,
        vertex: usize,
        fields: Fields<'_>,
        change: Fields<'_>,
        posed: &Self::Posed,
        scratch: &mut Vec<f32>,
    ) -> Affine {
        if Self::LINEAR_IN_FIELDS {
            return self.frame(vertex, change, posed);
        }
        let step = DIFFERENCE / change.largest();
        if !step.is_finite() {
            return Affine::ZERO;
        }
        let ahead = self.frame(vertex, fields.moved(change, step, scratch), posed);
        let behind = self.frame(vertex, fields.moved(change, -step, scratch), posed);
        let half = 0.5 / step;
        Affine::ZERO
            .add_scaled(&ahead, half)
            .add_scaled(&behind, -half)
    }
}

/// How far fields are moved for a difference: for a character near the origin, the curvature of a
/// blend and the rounding of `f32` both stay below 1e-3 of the change.
const DIFFERENCE: f32 = 1.0 / 128.0;

/// The numbers of a vertex that its frame depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    /// One per influence.
    pub(super) weights: &'a [f32],
    /// What else a method keeps, in its own order.
    pub(super) extras: &'a [f32],
}

impl Fields<'_> {
    fn largest(&self) -> f32 {
        let all = self.weights.iter().chain(self.extras);
        all.fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// These fields plus `change * step`, written into `scratch`.
    fn moved<'s>(&self, change: Fields<'_>, step: f32, scratch: &'s mut Vec<f32>) -> Fields<'s> {
        scratch.clear();
        let weights = self.weights.iter().zip(change.weights);
        let extras = self.extras.iter().zip(change.extras);
        scratch.extend(
            weights
                .chain(extras)
                .map(|(value, change)| value + change * step),
        );
        let (weights, extras) = scratch.split_at(self.weights.len());
        Fields { weights, extras }
    }
}

/// What a field stands for, so that it can be followed from vertex to vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldKey {
    /// Which of a method's kinds of field it is.
    pub(super) kind: u16,
    /// Whose it is: a joint, a chain of joints.
    pub(super) owner: u32,
    /// What it is at a vertex that does not have it.
    pub(super) elsewhere: Elsewhere,
}

/// What a field is where it is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Elsewhere {
    /// Nothing: weights.
    Zero,
    /// Unknown: a place along a bone that the vertex does not follow.
    Unknown,
}

impl FieldKey {
    /// The kind of plain weights.
    pub(super) const WEIGHT: u16 = 0;

    /// The keys of a vertex's weights.
    pub(super) fn of_weights(weights: &Weights, vertex: usize, keys: &mut Vec<FieldKey>) {
        keys.extend(weights.row(vertex).0.iter().map(|&joint| FieldKey {
            kind: FieldKey::WEIGHT,
            owner: u32::from(joint),
            elsewhere: Elsewhere::Zero,
        }));
    }
}

/// A baked method behind one door, whatever it is.
pub(super) trait Deformer: Debug + Send + Sync {
    /// Which vertices go side by side, if the method minds.
    fn packing(&self) -> Option<&Arc<Packing>>;

    /// The bytes that a frame reads of what was baked for all vertices, beside the rest surface.
    fn bytes(&self, packing: &Packing) -> usize;

    /// Deforms a surface into a sink; all sizes have been checked.
    fn deform(
        &self,
        job: &Job<'_>,
        workspace: &mut Workspace,
        sink: Sink<'_>,
    ) -> Result<(), DeformError>;

    /// Which of the first `vertices` the method turns inside out in a pose.
    fn inverted(
        &self,
        vertices: usize,
        palette: &[Affine],
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError>;

    fn stream_layout(&self) -> Option<StreamLayout>;

    fn stream_table(&self) -> Vec<u32>;

    fn stream_smoothing(&self) -> Option<SmoothingStream>;

    fn stream_vertex(&self, vertex: usize, stream: &mut VertexStream);

    fn stream_pose(
        &self,
        palette: &[Affine],
        workspace: &mut Workspace,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError>;

    /// How the fields that frames depend on vary over the surface.
    fn field_gradients(&self, rig: &crate::rig::Rig) -> FieldGradients;
}

/// What is deformed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The rest surface.
    pub(super) shape: Shape<'a>,
    /// The same in lanes.
    pub(super) rest: RestSurface<'a>,
    pub(super) packing: &'a Packing,
    /// One for every instance.
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
        Direct::packing(self)
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
                carry_all(self, job, level, &mut instances, sink)
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

    fn stream_layout(&self) -> Option<StreamLayout> {
        Direct::stream_layout(self)
    }

    fn stream_table(&self) -> Vec<u32> {
        Direct::stream_table(self)
    }

    fn stream_smoothing(&self) -> Option<SmoothingStream> {
        Direct::stream_smoothing(self)
    }

    fn stream_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        Direct::stream_vertex(self, vertex, stream);
    }

    fn stream_pose(
        &self,
        palette: &[Affine],
        workspace: &mut Workspace,
        stream: &mut PoseStream,
    ) -> Result<(), DeformError> {
        let mut instances = workspace.take_posed::<Vec<Instance<M::Posed>>>();
        instances.resize_with(1, Instance::default);
        let posed = &mut instances[0].posed;
        let outcome = self.pose_for_stream(palette, posed);
        if outcome.is_ok() {
            Direct::stream_pose(self, posed, stream);
        }
        workspace.put_posed(instances);
        outcome
    }

    fn field_gradients(&self, rig: &crate::rig::Rig) -> FieldGradients {
        FieldGradients::of(self, rig)
    }
}

/// Up to so many vertices in all stay on one thread: to wake another takes about as long as they
/// do.
const WORTH_A_THREAD: usize = 16_384;

/// Blocks of vertices of all instances, on as many threads as there are.
fn carry_all<M: Direct>(
    method: &M,
    job: &Job<'_>,
    level: Level,
    instances: &mut [Instance<M::Posed>],
    sink: Sink<'_>,
) -> Result<(), DeformError> {
    let pose = |index: usize, instance: &mut Instance<M::Posed>| {
        let palette = &job.palettes[index].posed_from_bind;
        instance.outcome = method.pose(palette, &mut instance.posed);
    };
    match instances {
        [alone] => pose(0, alone),
        _ => exec::for_each_mut(instances, pose),
    }
    for instance in instances.iter_mut() {
        std::mem::replace(&mut instance.outcome, Ok(()))?;
    }
    let (blocks, vertices) = (job.packing.block_count(), job.shape.positions.len());
    let first_vertex =
        |piece: usize| piece / blocks * vertices + job.packing.first_vertex(piece % blocks);
    let pieces = instances.len() * blocks;
    let threads = instances.len() * vertices > WORTH_A_THREAD;
    let instances = &*instances;
    exec::for_each_run(
        0..pieces,
        if threads { 1 } else { pieces },
        sink,
        &|sink: Sink<'_>, start, middle| sink.split_at(first_vertex(middle) - first_vertex(start)),
        &|run, mut sink| {
            for piece in run {
                let vertices = first_vertex(piece + 1) - first_vertex(piece);
                let (own, others) = sink.split_at(vertices);
                let posed = &instances[piece / blocks].posed;
                let block = piece % blocks;
                let carry_into = |output: Output<'_>| {
                    job.rest.with_block(job.packing, block, |rest| {
                        dispatch!(level, simd => carry(simd, method, posed, job.packing, block, rest, output));
                    });
                };
                match own {
                    Sink::Slices(output) => carry_into(output),
                    Sink::Buffers(mut sink) => {
                        let mut surface = BlockSurface::default();
                        carry_into(surface.output(vertices, &sink));
                        sink.put(&surface.output(vertices, &sink));
                    }
                }
                sink = others;
            }
        },
    );
    Ok(())
}

/// Instance by instance, for what cannot be done a block at a time: normals that look at
/// neighbours, and the plain loop.
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
            follow_gradients(
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
            // The normals of vertices without a triangle are transported.
            let palettes = std::slice::from_ref(palette);
            let job = Job { palettes, ..*job };
            let instances = std::slice::from_mut(instance);
            carry_all(method, &job, level, instances, output.reborrowed().into())?;
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

/// The vertex loop with the Jacobian of eq. (17): `J = F + Σ (∂F/∂w · v) ∇wᵀ`.
///
/// `J` need not be inverted: two directions of the rest surface are carried by it, and the normal
/// is their cross product.
fn follow_gradients<M: Direct>(
    method: &M,
    shape: Shape<'_>,
    palette: &[Affine],
    posed: &M::Posed,
    gradients: &FieldGradients,
    [scratch, change]: &mut [Vec<f32>; 2],
    output: &mut Output<'_>,
) {
    let normals = output.normals.as_deref_mut().unwrap_or_default();
    let tangents = output.tangents.as_deref_mut().unwrap_or_default();
    let rest_tangents = shape.tangents.unwrap_or_default();
    for (vertex, position) in output.positions.iter_mut().enumerate() {
        let fields = method.fields(vertex);
        let frame = method.frame(vertex, fields, posed);
        let rest = shape.positions[vertex];
        *position = frame.transform_point(rest);
        if normals.is_empty() && tangents.is_empty() {
            continue;
        }
        let rest_normal = shape.normals[vertex];
        let gradient = gradients.of_vertex(vertex);
        let mut carried = |direction: Vec3| {
            let along = frame.transform_vector(direction);
            if gradient.iter().all(|gradient| *gradient == Vec3::ZERO) {
                return along;
            }
            change.clear();
            change.extend(gradient.iter().map(|gradient| gradient.dot(direction)));
            let (weights, extras) = change.split_at(fields.weights.len());
            let change = Fields { weights, extras };
            let frame_change = method.frame_change(vertex, fields, change, posed, scratch);
            along + frame_change.transform_point(rest)
        };
        // A file's normals may be of any length, even none.
        let (u, v) = rest_normal.normalize_or(Vec3::Y).any_orthonormal_pair();
        let (posed_u, posed_v) = (carried(u), carried(v));
        let mirrored = palette[gradients.heaviest_joint(vertex)].mirrors();
        if let Some(normal) = normals.get_mut(vertex) {
            let across = posed_u.cross(posed_v);
            let across = if mirrored { -across } else { across };
            // Where the surface is crushed to a line, the frame alone may still know.
            let crushed = across.length_squared()
                <= 1e-12 * posed_u.length_squared() * posed_v.length_squared();
            *normal = match across.try_normalize().filter(|_| !crushed) {
                Some(normal) => normal,
                None => frame.transform_normal(rest_normal),
            };
        }
        if let Some(tangent) = tangents.get_mut(vertex) {
            let rest = rest_tangents[vertex];
            let along = posed_u * u.dot(rest.truncate()) + posed_v * v.dot(rest.truncate());
            *tangent = crate::transform::posed_tangent(rest, along, mirrored);
        }
    }
}
