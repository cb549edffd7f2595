//! The smoothed surface as a blend of the joints.
//!
//! Linear blending and smoothing are both linear. So with eq. (1) and (2) the smoothed surface of a
//! pose is `ṽ_i = Σ_k S_ik Σ_j w_kj T_j u_k = Σ_j T_j (Σ_k S_ik w_kj u_k)`: the sums in brackets,
//! the first moments of direct delta mush (§3.4), do not depend on the pose. With `ψ_ij = Σ_k S_ik
//! w_kj` and the levers `l_ij = Σ_k S_ik w_kj (u_k − ũ_i)` it is `Σ_j ψ_ij T_j ũ_i + R_j l_ij`. A
//! frame then reads a few joints per point, instead of smoothing the whole surface in a hundred
//! steps.

use super::channels::{self, Lever, LocalNumbers, NOTHING};
use super::{MushOptions, MushSurface};
use crate::exec;
use crate::smoothing::Values;
use crate::surface::Rows;
use crate::weights::{Weights, WeightsBuilder};
use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f64x4};
use glam::{DAffine3, DMat3, DVec3, Vec3};

/// The smallest share of a joint. Where joints carry a point to places up to an extent apart, one
/// that is left out is an error of as much, relative to the extent. `prune` may ask for less.
const LEAST_SHARE: f64 = 1e-6;

/// The most joints per point, in the mean over all points. Beyond that, smoothing in every frame
/// costs less time and memory.
const MOST_JOINTS: usize = 32;

/// The most points in all parts of the surface that are solved, as a multiple of all points.
const MOST_SOLVED: usize = 48;

/// For each point, the joints that hold the smoothed surface there.
#[derive(Clone, Debug)]
pub(crate) struct SmoothedBlend {
    /// `ψ`: they sum to one exactly, so that a motion of all joints is kept.
    shares: Weights,
    /// `l`, of each share; the sum over the joints of a point is zero.
    levers: Vec<Vec3>,
    level: Level,
}

impl SmoothedBlend {
    /// `None` where so many joints reach each point that smoothing every frame is cheaper.
    /// `smooth_rest` gives the points `ũ`.
    pub(crate) fn of(
        surface: &MushSurface,
        options: &MushOptions,
        smooth_rest: impl Fn(usize) -> DVec3,
    ) -> Option<SmoothedBlend> {
        let smoothing = options.smoothing();
        let least = options.prune.clamp(NOTHING, LEAST_SHARE);
        let count = surface.point_count();
        let smooth_rest: Vec<DVec3> = (0..count).map(smooth_rest).collect();
        let support = surface.points_of_joints();
        let solved = channels::reached_points(surface, smoothing, &support, least);
        if solved > MOST_SOLVED * count {
            return None;
        }
        let levers = exec::map_runs(support.len(), |joints| {
            let mut local = LocalNumbers::none_of(surface);
            let solve = |joint: usize| {
                let support = &support[joint];
                channels::levers(
                    surface,
                    smoothing,
                    &smooth_rest,
                    support,
                    &mut local,
                    LEAST_SHARE,
                )
            };
            joints.map(solve).collect::<Vec<_>>()
        });
        let levers: Vec<Vec<Lever>> = levers.into_iter().flatten().collect();
        if levers.iter().map(Vec::len).sum::<usize>() > MOST_JOINTS * count {
            return None;
        }
        SmoothedBlend::from_joints(surface, &levers)
    }

    /// Sorts the levers of all joints by points. `None` if a point has too many joints.
    fn from_joints(surface: &MushSurface, of_joints: &[Vec<Lever>]) -> Option<SmoothedBlend> {
        let count = surface.point_count();
        let entries = of_joints.iter().enumerate();
        let entries = entries.flat_map(|(joint, levers)| {
            levers
                .iter()
                .map(move |lever| (lever.point as usize, (joint as u16, lever.values)))
        });
        let rows = Rows::of(count, entries);
        let mut shares = WeightsBuilder::new(surface.joint_count).ok()?;
        for point in 0..count {
            let row = rows.row(point).iter();
            let row = row.map(|(joint, [share, ..])| (*joint, *share));
            match rows.row(point).is_empty() {
                true => {
                    let own = surface.influences(point);
                    shares.push_shares(own.map(|(joint, weight)| (joint as u16, weight)))
                }
                false => shares.push_shares(row),
            }
            .ok()?;
        }
        let shares = shares.finish().0;
        let mut levers = Vec::with_capacity(shares.influence_count());
        for point in 0..count {
            let found = rows.row(point);
            let sum = found.iter().fold([0.0; 4], |sum, (_, values)| {
                std::array::from_fn(|at| sum[at] + values[at])
            });
            // What was left out leaves a sum of shares below one, and of levers not quite at zero.
            let scale = if sum[0] > 0.0 { 1.0 / sum[0] } else { 0.0 };
            let shift = DVec3::new(sum[1], sum[2], sum[3]) * scale;
            levers.extend(shares.row(point).0.iter().map(|joint| {
                let own = found.binary_search_by_key(joint, |(joint, _)| *joint);
                let Ok(own) = own else {
                    return Vec3::ZERO;
                };
                let [share, x, y, z] = found[own].1;
                (DVec3::new(x, y, z) * scale - shift * (share * scale)).as_vec3()
            }));
        }
        Some(SmoothedBlend {
            shares,
            levers,
            level: Level::new(),
        })
    }

    /// The bytes that a frame reads.
    pub(crate) fn bytes(&self) -> usize {
        self.shares.influence_count() * (size_of::<u16>() + size_of::<f32>() + size_of::<Vec3>())
    }

    /// The smoothed surface of a pose; the fourth number of each point is unused.
    pub(crate) fn places(
        &self,
        motions: impl Iterator<Item = DAffine3>,
        smooth_rest: &[Values<4>],
        columns: &mut Vec<[Values<4>; 4]>,
        places: &mut Vec<Values<4>>,
    ) {
        columns.clear();
        columns.extend(motions.map(|motion| {
            let column = |column: DVec3| column.extend(0.0).to_array();
            let DMat3 {
                x_axis,
                y_axis,
                z_axis,
            } = motion.matrix3;
            [x_axis, y_axis, z_axis, motion.translation].map(column)
        }));
        places.resize(smooth_rest.len(), [0.0; 4]);
        let columns = &columns[..];
        exec::for_each_chunk_mut(places, |first, places| {
            dispatch!(self.level, simd => self.chunk(simd, columns, smooth_rest, first, places));
        });
    }

    /// The points from `first` on.
    #[inline(always)]
    fn chunk<S: Simd>(
        &self,
        simd: S,
        columns: &[[Values<4>; 4]],
        smooth_rest: &[Values<4>],
        first: usize,
        places: &mut [Values<4>],
    ) {
        for (point, place) in (first..).zip(places) {
            let (joints, shares) = self.shares.row(point);
            let levers = &self.levers[self.shares.range(point)];
            let [x, y, z, _] = smooth_rest[point];
            let center = DVec3::new(x, y, z);
            let mut sum = f64x4::splat(simd, 0.0);
            for ((&joint, &share), lever) in joints.iter().zip(shares).zip(levers) {
                let [x, y, z, shift] = &columns[usize::from(joint)];
                let share = f64::from(share);
                let from = (center * share + lever.as_dvec3()).extend(share).to_array();
                for (column, factor) in [x, y, z, shift].into_iter().zip(from) {
                    let column = f64x4::from_slice(simd, column);
                    sum = column.mul_add(f64x4::splat(simd, factor), sum);
                }
            }
            sum.store_slice(place);
        }
    }
}
