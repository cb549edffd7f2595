//! Blocks of vertices: positions by the frame, normals by its inverse transpose (eq. 16 of the
//! course), tangents by the frame.

use super::{Instance, Job};
use crate::deform::direct::{Direct, LaneFrames};
use crate::deform::error::DeformError;
use crate::deform::lanes::{ALL, FrameLanes, Group, LANES, Packing, RestBlock, loaded};
use crate::deform::output::{BlockSurface, Output, Sink};
use crate::exec;
use fearless_simd::{Level, Simd, dispatch};
use glam::{Vec3, Vec4};

/// Up to this number of vertices, everything stays on one thread: waking another thread takes about
/// as long as deforming them.
const WORTH_A_THREAD: usize = 16_384;

/// Deforms blocks of vertices of all instances on all threads.
pub(super) fn deform_blocks<M: Direct>(
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
                let deform_into = |output: Output<'_>| {
                    job.rest.with_block(job.packing, block, |rest| {
                        let packing = job.packing;
                        dispatch!(level, simd => {
                            deform_block(simd, method, posed, packing, block, rest, output)
                        });
                    });
                };
                match own {
                    Sink::Slices(output) => deform_into(output),
                    Sink::Buffers(mut sink) => {
                        let mut surface = BlockSurface::default();
                        deform_into(surface.output(vertices, &sink));
                        sink.put(&surface.output(vertices, &sink));
                    }
                }
                sink = others;
            }
        },
    );
    Ok(())
}

/// Deforms the vertices of a block into slices that start with its first vertex.
#[inline(always)]
fn deform_block<S: Simd, M: Direct>(
    simd: S,
    method: &M,
    posed: &M::Posed,
    packing: &Packing,
    block: usize,
    rest: RestBlock<'_>,
    mut output: Output<'_>,
) {
    let deformer = BlockDeformer {
        method,
        posed,
        rest,
    };
    let mut groups = packing.groups(block).enumerate();
    let Some(lanes) = method.lanes() else {
        for (at, group) in groups {
            let frames = FrameLanes::one_by_one(simd, &group, |vertex| {
                method.frame(vertex, method.fields(vertex), posed)
            });
            deformer.deform_group(simd, at, &group, &frames, &mut output);
        }
        return;
    };
    while let Some((at, group)) = groups.next() {
        if !M::Lanes::IN_PAIRS {
            let frames = lanes.frames(simd, &group, posed);
            deformer.deform_group(simd, at, &group, &frames, &mut output);
            continue;
        }
        // The last group of an odd number is paired with itself.
        let next = groups.next();
        let other = next.as_ref().map_or(&group, |(_, other)| other);
        let frames = lanes.frame_pair(simd, [&group, other], posed);
        deformer.deform_group(simd, at, &group, &frames[0], &mut output);
        if let Some((at, other)) = &next {
            deformer.deform_group(simd, *at, other, &frames[1], &mut output);
        }
    }
}

/// A method in a pose, and the rest surface of a block.
struct BlockDeformer<'a, M: Direct> {
    method: &'a M,
    posed: &'a M::Posed,
    rest: RestBlock<'a>,
}

impl<M: Direct> BlockDeformer<'_, M> {
    /// Deforms the vertices of the `at`-th group of its block by their frames.
    #[inline(always)]
    fn deform_group<S: Simd>(
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
        // Last, when no register is in use.
        if doubtful & ALL != 0 {
            self.deform_one_by_one(at, group, doubtful, output.reborrowed());
        }
    }

    /// Deforms some vertices of a group one by one, with a result for every frame.
    #[cold]
    #[inline(never)]
    fn deform_one_by_one(&self, at: usize, group: &Group<'_>, lanes: u64, mut output: Output<'_>) {
        let BlockDeformer {
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
