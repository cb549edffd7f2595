//! The vertex loop: positions by the frame, normals by its inverse transpose (eq. 16 of the course), tangents along.

use super::frames::loaded;
use super::packing::{Group, Packing};
use super::surface::RestBlock;
use super::{ALL, LANES};
use crate::deform::direct::Direct;
use crate::deform::output::Output;
use fearless_simd::Simd;
use glam::{Vec3, Vec4};

/// Carries the vertices of a block into slices that begin with the first of them.
#[inline(always)]
pub(in crate::deform) fn carry<S: Simd, M: Direct>(
    simd: S,
    method: &M,
    posed: &M::Posed,
    packing: &Packing,
    block: usize,
    rest: RestBlock<'_>,
    output: Output<'_>,
) {
    let Output {
        positions,
        mut normals,
        mut tangents,
    } = output;
    for (at, group) in packing.groups(block).enumerate() {
        let frames = method.frame_lanes(simd, &group, posed);
        let mut doubtful = frames.doubtful;
        let [x, y, z] = frames.positions(&loaded(simd, &rest.positions[at]));
        put(positions, group.locals, |lane| {
            Vec3::new(x[lane], y[lane], z[lane])
        });
        if let Some(normals) = &mut normals {
            let ([x, y, z], unusual) = frames.normals(simd, &loaded(simd, &rest.normals[at]));
            put(normals, group.locals, |lane| {
                Vec3::new(x[lane], y[lane], z[lane])
            });
            doubtful |= unusual;
        }
        if let Some(tangents) = &mut tangents {
            let ([x, y, z, w], unusual) = frames.tangents(simd, &loaded(simd, &rest.tangents[at]));
            put(tangents, group.locals, |lane| {
                Vec4::new(x[lane], y[lane], z[lane], w[lane])
            });
            doubtful |= unusual;
        }
        // Last, when no register holds anything.
        if doubtful & ALL != 0 {
            let output = Output {
                positions,
                normals: normals.as_deref_mut(),
                tangents: tangents.as_deref_mut(),
            };
            carry_one_by_one(method, posed, &group, doubtful, rest, at, output);
        }
    }
}

/// Some vertices of a group, by the frame that has an answer for everything.
#[cold]
#[inline(never)]
fn carry_one_by_one<M: Direct>(
    method: &M,
    posed: &M::Posed,
    group: &Group<'_>,
    lanes: u64,
    rest: RestBlock<'_>,
    group_in_block: usize,
    mut output: Output<'_>,
) {
    for lane in (0..LANES).filter(|lane| (lanes >> lane) & 1 != 0) {
        let vertex = group.vertex(lane);
        let at = usize::from(group.locals[lane]);
        let frame = method.frame(vertex, method.fields(vertex), posed);
        let position = rest.positions[group_in_block].map(|all| all[lane]);
        output.positions[at] = frame.transform_point(Vec3::from_array(position));
        if let Some(normals) = &mut output.normals {
            let normal = rest.normals[group_in_block].map(|all| all[lane]);
            normals[at] = frame.transform_normal(Vec3::from_array(normal));
        }
        if let Some(tangents) = &mut output.tangents {
            let tangent = rest.tangents[group_in_block].map(|all| all[lane]);
            tangents[at] = frame.transform_tangent(Vec4::from_array(tangent));
        }
    }
}

#[inline(always)]
fn put<T>(slice: &mut [T], vertices: &[u16; LANES], value: impl Fn(usize) -> T) {
    for (lane, &vertex) in vertices.iter().enumerate() {
        slice[usize::from(vertex)] = value(lane);
    }
}
