//! The vertex loop: positions by the frame, normals by its inverse transpose (eq. 16 of the
//! course), tangents along.

use super::frames::{FrameLanes, loaded};
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
    mut output: Output<'_>,
) {
    let carrier = Carrier {
        method,
        posed,
        rest,
    };
    let mut groups = packing.groups(block).enumerate();
    while let Some((at, group)) = groups.next() {
        if !M::IN_PAIRS {
            let frames = method.frame_lanes(simd, &group, posed);
            carrier.carry(simd, at, &group, &frames, &mut output);
            continue;
        }
        // The last of an odd number goes beside itself.
        let next = groups.next();
        let other = next.as_ref().map_or(&group, |(_, other)| other);
        let frames = method.frame_lane_pair(simd, [&group, other], posed);
        carrier.carry(simd, at, &group, &frames[0], &mut output);
        if let Some((at, other)) = &next {
            carrier.carry(simd, *at, other, &frames[1], &mut output);
        }
    }
}

/// A method in a pose, and the rest surface of a block.
struct Carrier<'a, M: Direct> {
    method: &'a M,
    posed: &'a M::Posed,
    rest: RestBlock<'a>,
}

impl<M: Direct> Carrier<'_, M> {
    /// Carries the vertices of a group, the `at`-th of its block, by their frames.
    #[inline(always)]
    fn carry<S: Simd>(
        &self,
        simd: S,
        at: usize,
        group: &Group<'_>,
        frames: &FrameLanes<S>,
        output: &mut Output<'_>,
    ) {
        let rest = &self.rest;
        let mut doubtful = frames.doubtful;
        let [x, y, z] = frames.positions(&loaded(simd, &rest.positions[at]));
        put(output.positions, group.locals, |lane| {
            Vec3::new(x[lane], y[lane], z[lane])
        });
        if let Some(normals) = &mut output.normals {
            let ([x, y, z], unusual) = frames.normals(simd, &loaded(simd, &rest.normals[at]));
            put(normals, group.locals, |lane| {
                Vec3::new(x[lane], y[lane], z[lane])
            });
            doubtful |= unusual;
        }
        if let Some(tangents) = &mut output.tangents {
            let ([x, y, z, w], unusual) = frames.tangents(simd, &loaded(simd, &rest.tangents[at]));
            put(tangents, group.locals, |lane| {
                Vec4::new(x[lane], y[lane], z[lane], w[lane])
            });
            doubtful |= unusual;
        }
        // Last, when no register holds anything.
        if doubtful & ALL != 0 {
            self.carry_one_by_one(at, group, doubtful, output.reborrowed());
        }
    }

    /// Some vertices of a group, by the frame that has an answer for everything.
    #[cold]
    #[inline(never)]
    fn carry_one_by_one(&self, at: usize, group: &Group<'_>, lanes: u64, mut output: Output<'_>) {
        let Carrier {
            method,
            posed,
            rest,
        } = self;
        for lane in (0..LANES).filter(|lane| (lanes >> lane) & 1 != 0) {
            let vertex = group.vertex(lane);
            let to = usize::from(group.locals[lane]);
            let frame = method.frame(vertex, method.fields(vertex), posed);
            let position = rest.positions[at].map(|all| all[lane]);
            output.positions[to] = frame.transform_point(Vec3::from_array(position));
            if let Some(normals) = &mut output.normals {
                let normal = rest.normals[at].map(|all| all[lane]);
                normals[to] = frame.transform_normal(Vec3::from_array(normal));
            }
            if let Some(tangents) = &mut output.tangents {
                let tangent = rest.tangents[at].map(|all| all[lane]);
                tangents[to] = frame.transform_tangent(Vec4::from_array(tangent));
            }
        }
    }
}

#[inline(always)]
fn put<T>(slice: &mut [T], vertices: &[u16; LANES], value: impl Fn(usize) -> T) {
    for (lane, &vertex) in vertices.iter().enumerate() {
        slice[usize::from(vertex)] = value(lane);
    }
}
