//! Frames that rotate details with the tangent and the normal of the smoothed surface.

use super::{DeltaMushSkin, PosedSurface, SmoothSurface};
use crate::deform::lanes::{FrameLanes, LANES, Lane, Vec3Lanes, cross, dot, loaded, stored};
use crate::deform::neighbour_blend::rigid_frame;
use crate::deform::rigid_motion::RigidMotions;
use crate::exec;
use crate::transform::Affine;
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, dispatch, f32x8, mask32x8};
use glam::DMat3;

/// Eight tangent frames of the smoothed rest surface, and the points where they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestFrames {
    /// Tangents, bitangents, normals.
    axes: [Lane; 9],
    places: [Lane; 3],
}

/// An edge whose part along the surface is shorter than this share of it, squared, needs double
/// precision.
const STEEP: f32 = 1e-3;

impl DeltaMushSkin {
    /// The tangent frames of a surface at rest. Those of points without one are not numbers.
    pub(super) fn rest_frames_of(&self, smooth: &SmoothSurface) -> Vec<RestFrames> {
        let count = smooth.places.len();
        let blocks = (0..count).step_by(LANES).map(|first| {
            let mut block = RestFrames {
                axes: [[f32::NAN; LANES]; 9],
                places: [[0.0; LANES]; 3],
            };
            for (lane, point) in (first..count.min(first + LANES)).enumerate() {
                let frame = self.tangent_frame(smooth, point);
                let axes = frame.map_or([f32::NAN; 9], |frame| frame.as_mat3().to_cols_array());
                let place = smooth.place(point).as_vec3().to_array();
                let numbers = block.axes.iter_mut().chain(&mut block.places);
                for (lanes, number) in numbers.zip(axes.into_iter().chain(place)) {
                    lanes[lane] = number;
                }
            }
            block
        });
        blocks.collect()
    }

    /// The frame of a point between two surfaces; it follows the heaviest joint where a surface has
    /// collapsed.
    pub(super) fn frame_between(
        &self,
        point: usize,
        before: &SmoothSurface,
        after: &SmoothSurface,
        motions: &RigidMotions,
    ) -> Affine {
        let ends = self.tangent_frame(before, point);
        let ends = ends.zip(self.tangent_frame(after, point));
        let rotation = ends.map_or_else(
            || {
                let heaviest = usize::from(self.surface.row(point).0[0]);
                DMat3::from_quat(motions.motions[heaviest].rotation)
            },
            |(before, after)| after * before.transpose(),
        );
        rigid_frame(&rotation, before.place(point), after.place(point))
    }

    /// The frames of all points between the rest surface and a posed one.
    pub(super) fn tangent_frames(
        &self,
        after: &SmoothSurface,
        motions: &RigidMotions,
        posed: &mut PosedSurface,
    ) {
        posed.frames.resize(self.rest.len(), Affine::ZERO);
        exec::for_each_chunk_mut(&mut posed.frames, |first, frames| {
            dispatch!(self.level, simd => self.chunk(simd, after, motions, first, frames));
        });
    }

    /// The frames from `first` on, which is a multiple of eight.
    #[inline(always)]
    fn chunk<S: Simd>(
        &self,
        simd: S,
        after: &SmoothSurface,
        motions: &RigidMotions,
        first: usize,
        frames: &mut [Affine],
    ) {
        for (block, frames) in frames.chunks_mut(LANES).enumerate() {
            let first = first + block * LANES;
            let between = self.eight(simd, after, first, frames.len());
            let numbers = stored(between.numbers);
            for (lane, frame) in frames.iter_mut().enumerate() {
                *frame = match between.doubtful >> lane & 1 {
                    0 => Affine::from(std::array::from_fn::<f32, 12, _>(|at| numbers[at][lane])),
                    _ => self.frame_between(first + lane, &self.smooth_rest, after, motions),
                };
            }
        }
    }

    /// The frames of up to eight points.
    #[inline(always)]
    fn eight<S: Simd>(
        &self,
        simd: S,
        after: &SmoothSurface,
        first: usize,
        count: usize,
    ) -> FrameLanes<S> {
        // Normals and edges are differences of positions: those are taken in double precision.
        let (mut normals, mut edges) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        let mut places = [[0.0; LANES]; 3];
        for lane in 0..count {
            let point = first + lane;
            let place = after.place(point);
            let edge = after.place(self.towards[point] as usize) - place;
            let lanes = [&mut normals, &mut edges, &mut places];
            for (lanes, vector) in lanes.into_iter().zip([after.normals[point], edge, place]) {
                let vector = vector.as_vec3();
                lanes[0][lane] = vector.x;
                lanes[1][lane] = vector.y;
                lanes[2][lane] = vector.z;
            }
        }
        let rest = &self.rest_frames[first / LANES];
        let (normal, edge) = (loaded(simd, &normals), loaded(simd, &edges));
        let (normal, squared_normal) = unit(simd, &normal);
        let steep = dot(&edge, &normal);
        let mut along = edge;
        for axis in 0..3 {
            along[axis] = (-steep).mul_add(normal[axis], edge[axis]);
        }
        let (tangent, squared_along) = unit(simd, &along);
        let bitangent = cross(&normal, &tangent);
        let before = loaded(simd, &rest.axes);
        // The new axes times the old ones, transposed.
        let mut rotation = [f32x8::splat(simd, 0.0); 9];
        for row in 0..3 {
            for column in 0..3 {
                let sum =
                    bitangent[row].mul_add(before[3 + column], normal[row] * before[6 + column]);
                rotation[3 * row + column] = tangent[row].mul_add(before[column], sum);
            }
        }
        let usual = usual(squared_normal)
            & usual(squared_along)
            & squared_along.simd_ge(dot(&edge, &edge) * STEEP)
            & rotation[0].simd_eq(rotation[0]);
        let (center, carried) = (loaded(simd, &rest.places), loaded(simd, &places));
        FrameLanes {
            doubtful: !usual.to_bitmask(),
            ..FrameLanes::turned_about(&rotation, &center, &carried)
        }
    }
}

/// Unit vectors, and the squares of the lengths before.
#[inline(always)]
fn unit<S: Simd>(simd: S, vectors: &Vec3Lanes<S>) -> (Vec3Lanes<S>, f32x8<S>) {
    let squared = dot(vectors, vectors);
    let factor = f32x8::splat(simd, 1.0) / squared.sqrt();
    let [x, y, z] = *vectors;
    ([x * factor, y * factor, z * factor], squared)
}

/// True where the square of a length has neither lost digits nor grown beyond all numbers.
#[inline(always)]
fn usual<S: Simd>(squared: f32x8<S>) -> mask32x8<S> {
    squared.simd_ge(1e-30) & squared.simd_lt(1e30)
}
