//! What a direct method is to the rest of the library, and the vertex loops that exist once for all of them.

use super::normals::{BakedNormals, FieldGradients};
use super::{DeformError, Output, Workspace};
use crate::mesh::Shape;
use crate::transform::Affine;
use crate::weights::Weights;
use glam::{Vec3, Vec4};
use std::fmt::Debug;

/// A method that ends in one affine frame per vertex, which depends on the pose and on a few numbers of the vertex.
pub(super) trait Direct: Debug + Send + Sync + 'static {
    /// What is computed once per pose and shared by all vertices. It lives in the caller's [`Workspace`], so it must be refilled in place.
    type Posed: Debug + Default + Send + 'static;

    /// True if the frame is a linear function of the fields.
    const LINEAR_IN_FIELDS: bool = false;

    /// True if shifting all joints alike shifts the result and changes nothing else.
    const FOLLOWS_SHIFTS: bool = true;

    /// Computes what all vertices share in a pose. The palette has as many joints as the rig that was baked.
    fn pose(&self, palette: &[Affine], posed: &mut Self::Posed) -> Result<(), DeformError>;

    /// The numbers of a vertex on which its frame depends and which vary over the surface.
    fn fields(&self, vertex: usize) -> Fields<'_>;

    /// What each of those numbers stands for, weights first.
    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>);

    /// `posed_from_bind` of a vertex, if it had these fields.
    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &Self::Posed) -> Affine;

    /// The frames of all vertices at once, for a method that has a faster way than one by one: true if they were written.
    fn frames(&self, _posed: &Self::Posed, _frames: &mut Vec<Affine>) -> bool {
        false
    }

    /// True if the frame of a vertex turns the surface inside out though no joint of its does: a flaw that some methods have.
    fn inverts(&self, _vertex: usize, _posed: &Self::Posed) -> bool {
        false
    }

    /// How the frame changes as the fields do: exactly if it is linear in them, else by central differences.
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

/// How far fields are moved for a difference: for a character near the origin, the curvature of a blend and the rounding of `f32` both stay
/// below 1e-3 of the change.
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
    /// Deforms a shape whose sizes have been checked.
    fn deform(
        &self,
        shape: Shape<'_>,
        palette: &[Affine],
        normals: &BakedNormals,
        workspace: &mut Workspace,
        output: Output<'_>,
    ) -> Result<(), DeformError>;

    /// Which of the first `vertices` the method turns inside out in a pose.
    fn inverted(
        &self,
        vertices: usize,
        palette: &[Affine],
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError>;

    /// How the fields that frames depend on vary over the surface.
    fn field_gradients(&self, rig: &crate::rig::Rig) -> FieldGradients;
}

impl<M: Direct> Deformer for M {
    fn deform(
        &self,
        shape: Shape<'_>,
        palette: &[Affine],
        normals: &BakedNormals,
        workspace: &mut Workspace,
        mut output: Output<'_>,
    ) -> Result<(), DeformError> {
        let mut posed = workspace.take_posed::<M::Posed>();
        let shift = match normals {
            BakedNormals::Gradient(gradients) if M::FOLLOWS_SHIFTS => gradients.far_shift(palette),
            _ => Vec3::ZERO,
        };
        let outcome = if shift == Vec3::ZERO {
            self.pose(palette, &mut posed)
        } else {
            workspace.palette.clear();
            workspace
                .palette
                .extend(palette.iter().map(|map| map.shifted(-shift)));
            self.pose(&workspace.palette, &mut posed)
        };
        if outcome.is_ok() {
            match normals {
                BakedNormals::Transported => {
                    transport(self, shape, &posed, &mut workspace.frames, &mut output);
                }
                BakedNormals::Gradient(gradients) => {
                    let buffers = &mut workspace.fields;
                    follow_gradients(
                        self,
                        shape,
                        palette,
                        &posed,
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
                BakedNormals::Recomputed(surface) => {
                    // The normals of vertices without a triangle are transported.
                    transport(self, shape, &posed, &mut workspace.frames, &mut output);
                    surface.recompute_into(&mut output, palette, &mut workspace.points);
                }
            }
        }
        workspace.put_posed(posed);
        outcome
    }

    fn inverted(
        &self,
        vertices: usize,
        palette: &[Affine],
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, DeformError> {
        let mut posed = workspace.take_posed::<M::Posed>();
        let outcome = self.pose(palette, &mut posed);
        let inverted = outcome.map(|()| {
            let inverted = (0..vertices).filter(|&vertex| self.inverts(vertex, &posed));
            inverted.collect()
        });
        workspace.put_posed(posed);
        inverted
    }

    fn field_gradients(&self, rig: &crate::rig::Rig) -> FieldGradients {
        FieldGradients::of(self, rig)
    }
}

/// The vertex loop: positions by the frame, normals by its inverse transpose (eq. 16 of the course).
fn transport<M: Direct>(
    method: &M,
    shape: Shape<'_>,
    posed: &M::Posed,
    frames: &mut Vec<Affine>,
    output: &mut Output<'_>,
) {
    if method.frames(posed, frames) {
        carry_by(|vertex| frames[vertex], shape, output);
    } else {
        let frame = |vertex: usize| method.frame(vertex, method.fields(vertex), posed);
        carry_by(frame, shape, output);
    }
}

#[inline]
fn carry_by(frame: impl Fn(usize) -> Affine, shape: Shape<'_>, output: &mut Output<'_>) {
    let normals = output.normals.as_deref_mut().unwrap_or_default();
    let tangents = output.tangents.as_deref_mut().unwrap_or_default();
    let rest_tangents = shape.tangents.unwrap_or_default();
    for (vertex, position) in output.positions.iter_mut().enumerate() {
        let frame = frame(vertex);
        *position = frame.transform_point(shape.positions[vertex]);
        if let Some(normal) = normals.get_mut(vertex) {
            *normal = frame.transform_normal(shape.normals[vertex]);
        }
        if let Some(tangent) = tangents.get_mut(vertex) {
            let rest = rest_tangents[vertex];
            let along = frame.transform_vector(rest.truncate());
            *tangent = posed_tangent(rest, along, frame.mirrors());
        }
    }
}

/// A tangent of unit length; a mirror turns the bitangent around, which `w` tells.
#[inline]
fn posed_tangent(rest: Vec4, along: Vec3, mirrored: bool) -> Vec4 {
    let side = if mirrored { -rest.w } else { rest.w };
    along.normalize_or(rest.truncate()).extend(side)
}

/// The vertex loop with the Jacobian of eq. (17): `J = F + Σ (∂F/∂w · v) ∇wᵀ`.
///
/// `J` need not be inverted: two directions of the rest surface are carried by it, and the normal is their cross product.
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
            *tangent = posed_tangent(rest, along, mirrored);
        }
    }
}
