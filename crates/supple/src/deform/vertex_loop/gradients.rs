//! The vertex loop with gradient normals.

use crate::deform::direct::{Direct, Fields};
use crate::deform::normals::FieldGradients;
use crate::deform::output::Output;
use crate::mesh::Shape;
use crate::transform::{Affine, posed_tangent};
use glam::Vec3;

/// Positions by the frame, normals and tangents by the Jacobian of eq. (17): `J = F + Σ (∂F/∂w · v)
/// ∇wᵀ`.
///
/// `J` need not be inverted: it maps two directions of the rest surface, and the normal is their
/// cross product.
pub(super) fn follow<M: Direct>(
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
        // Normals in a file may have any length, even zero.
        let (u, v) = rest_normal.normalize_or(Vec3::Y).any_orthonormal_pair();
        let (posed_u, posed_v) = (carried(u), carried(v));
        let mirrored = palette[gradients.heaviest_joint(vertex)].mirrors();
        if let Some(normal) = normals.get_mut(vertex) {
            let across = posed_u.cross(posed_v);
            let across = if mirrored { -across } else { across };
            // If the surface is crushed to a line, the frame alone may still have a normal.
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
