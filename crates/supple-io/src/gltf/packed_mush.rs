//! A bake of direct delta mush in few bytes: fractions of 16 bits, and their scales.
//!
//! Shares still sum to exactly one, and levers to zero, so that the rest pose and rigid motions of
//! the whole character are as exact as with the bake itself.

use glam::{DVec3, Vec3};
use supple::mush::{Mush, MushError, PatchPart};
use supple::weights::{WeightsBuilder, whole_steps};

/// One, as a share.
const WHOLE: u16 = u16::MAX;

/// One, as a signed fraction.
const SIGNED_WHOLE: f64 = i16::MAX as f64;

/// The largest lever of a vertex stays this many steps below one, which leaves room to correct the
/// sum.
const LEVER_ROOM: f64 = 2.0;

/// The largest moment of a vertex stays this many steps below one, for that and for [`BALL`].
const MOMENT_ROOM: f64 = 4.0;

/// Moments are fractions of a length along each axis, so that a patch may be thin along one and
/// still has digits there; but no thinner than this share of the longest, which keeps the ball
/// above the rounding of `f32`.
const THINNEST: f64 = 1.0 / 8.0;

/// Each patch is thickened by a ball of this many steps. The sum of the moments is rounded by half
/// a step at most, so a matrix of them is off by less than two, and the ball keeps the covariance
/// of the flattest patch positive: it cannot turn over by rounding. The ball is shared out as
/// rotations are, so that it turns as their blend.
const BALL: f64 = 2.0;

/// The axes of the moments: xx, xy, xz, yy, yz, zz.
const AXES: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// A bake as a file holds it.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedMush {
    /// The start of the influences of each vertex, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) influences: Vec<PackedInfluence>,
    pub(super) centers: Vec<Vec3>,
    /// The scales of each vertex: a length for levers, and one for each axis, whose products scale
    /// moments.
    pub(super) scales: Vec<[f32; 4]>,
}

/// The share of one joint in the patch of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PackedInfluence {
    /// The skeleton's joint.
    pub(super) joint: u16,
    /// ω and ψ.
    pub(super) shares: [u16; 2],
    /// The lever, then the moments.
    pub(super) patch: [i16; 9],
}

impl PackedMush {
    pub(super) fn of(mush: &Mush) -> PackedMush {
        let mut packed = PackedMush {
            starts: vec![0],
            centers: mush.centers().to_vec(),
            ..PackedMush::default()
        };
        for vertex in 0..mush.centers().len() {
            let (joints, weights) = mush.weights().row(vertex);
            packed.push(joints, weights, mush.parts(vertex));
        }
        packed
    }

    fn push(&mut self, joints: &[u16], weights: &[f32], parts: &[PatchPart]) {
        let rotations: Vec<f32> = parts.iter().map(|part| part.rotation_weight).collect();
        let shares = whole_shares(weights);
        let rotations = whole_shares(&rotations);
        let (shares, kept) = nothing_less_than_a_step(shares, &rotations);
        let parts: Vec<&PatchPart> = kept.iter().map(|&index| &parts[index]).collect();
        let share_of = |index: usize| f64::from(shares[index]) / f64::from(WHOLE);
        let rotation_of = |index: usize| f64::from(rotations[index]) / f64::from(WHOLE);

        let mut patches = vec![[0i16; 9]; parts.len()];
        let mut put = |number: usize, steps: Vec<i64>| {
            for (patch, step) in patches.iter_mut().zip(steps) {
                patch[number] = step.clamp(-i64::from(i16::MAX), i64::from(i16::MAX)) as i16;
            }
        };
        // Subtracts what rounding and omitted influences leave of the sum, which must be zero.
        let sum: DVec3 = parts.iter().map(|part| part.lever.as_dvec3()).sum();
        let levers: Vec<DVec3> = parts
            .iter()
            .zip(&kept)
            .map(|(part, &index)| part.lever.as_dvec3() - share_of(index) * sum)
            .collect();
        let lever_scale = lever_scale(&levers);
        for axis in 0..3 {
            let levers = levers.iter().map(|lever| lever[axis]);
            put(axis, whole_steps(&in_steps(levers, lever_scale.into()), 0));
        }
        let moment_scales = moment_scales(&parts);
        for (number, [row, column]) in AXES.into_iter().enumerate() {
            let scale = f64::from(moment_scales[row]) * f64::from(moment_scales[column]);
            let moments = parts.iter().map(|part| f64::from(part.moments[number]));
            let mut moments = in_steps(moments, scale);
            if row == column && scale > 0.0 {
                for (moment, &index) in moments.iter_mut().zip(&kept) {
                    *moment += BALL * rotation_of(index);
                }
            }
            let sum: f64 = moments.iter().sum();
            put(3 + number, whole_steps(&moments, sum.round() as i64));
        }
        for (&index, patch) in kept.iter().zip(patches) {
            self.influences.push(PackedInfluence {
                joint: joints[index],
                shares: [shares[index], rotations[index]],
                patch,
            });
        }
        self.starts.push(self.influences.len());
        let [x, y, z] = moment_scales;
        self.scales.push([lever_scale, x, y, z]);
    }

    /// The numbers that a reader of the file finds.
    pub(super) fn fractions(&self) -> MushRows {
        let mut rows = MushRows {
            starts: self.starts.clone(),
            centers: self.centers.clone(),
            scales: self.scales.clone(),
            ..MushRows::default()
        };
        for influence in &self.influences {
            let share = |share: u16| (f64::from(share) / f64::from(WHOLE)) as f32;
            let fraction = |steps: i16| (f64::from(steps) / SIGNED_WHOLE) as f32;
            rows.joints.push(usize::from(influence.joint));
            rows.shares.push(influence.shares.map(share));
            rows.patches.push(influence.patch.map(fraction));
        }
        rows
    }
}

/// Shares as whole numbers that sum to exactly one.
fn whole_shares(shares: &[f32]) -> Vec<u16> {
    let sum: f64 = shares.iter().map(|&share| f64::from(share)).sum();
    let whole = f64::from(WHOLE);
    let steps: Vec<f64> = shares
        .iter()
        .map(|&share| f64::from(share) / sum * whole)
        .collect();
    let steps = whole_steps(&steps, i64::from(WHOLE));
    steps
        .into_iter()
        .map(|step| step.clamp(0, i64::from(WHOLE)) as u16)
        .collect()
}

/// Gives every joint that turns the vertex at least one step of weight, taken from the heaviest,
/// since an influence without weight is dropped. Returns the shares and the influences that are
/// left.
fn nothing_less_than_a_step(mut shares: Vec<u16>, rotations: &[u16]) -> (Vec<u16>, Vec<usize>) {
    for index in 0..shares.len() {
        if shares[index] > 0 || rotations[index] == 0 {
            continue;
        }
        let heaviest = (0..shares.len()).max_by_key(|&other| shares[other]);
        if let Some(heaviest) = heaviest.filter(|&heaviest| shares[heaviest] > 1) {
            shares[heaviest] -= 1;
            shares[index] = 1;
        }
    }
    let kept = (0..shares.len())
        .filter(|&index| shares[index] > 0)
        .collect();
    (shares, kept)
}

/// A length slightly above the largest lever of a vertex.
fn lever_scale(levers: &[DVec3]) -> f32 {
    let largest = levers.iter().map(|lever| lever.abs().max_element());
    let largest = largest.fold(0.0, f64::max);
    (largest * SIGNED_WHOLE / (SIGNED_WHOLE - LEVER_ROOM)) as f32
}

/// Lengths along the axes whose products are slightly above the moments of a vertex.
fn moment_scales(parts: &[&PatchPart]) -> [f32; 3] {
    let largest = |number: usize| {
        let moments = parts
            .iter()
            .map(|part| f64::from(part.moments[number]).abs());
        moments.fold(0.0, f64::max)
    };
    let lengths = [0, 3, 5].map(|on_the_diagonal| largest(on_the_diagonal).sqrt());
    let longest = lengths.into_iter().fold(0.0, f64::max);
    if longest == 0.0 {
        return [0.0; 3];
    }
    let lengths = lengths.map(|length| length.max(longest * THINNEST));
    let ratios = AXES.into_iter().enumerate();
    let ratios =
        ratios.map(|(number, [row, column])| largest(number) / (lengths[row] * lengths[column]));
    // More than one only by rounding: the moments of a part are those of a mass.
    let ratio = ratios.fold(0.0, f64::max);
    let room = SIGNED_WHOLE / (SIGNED_WHOLE - MOMENT_ROOM);
    lengths.map(|length| (length * (ratio * room).sqrt()) as f32)
}

fn in_steps(values: impl Iterator<Item = f64>, scale: f64) -> Vec<f64> {
    let in_steps = |value: f64| match scale > 0.0 {
        true => value / scale * SIGNED_WHOLE,
        false => 0.0,
    };
    values.map(in_steps).collect()
}

/// Rows of a bake as fractions and scales, by the skeleton's joints.
#[derive(Clone, Debug, Default)]
pub(super) struct MushRows {
    /// The start of the influences of each vertex, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) joints: Vec<usize>,
    /// ω and ψ.
    pub(super) shares: Vec<[f32; 2]>,
    /// Levers and moments.
    pub(super) patches: Vec<[f32; 9]>,
    pub(super) centers: Vec<Vec3>,
    pub(super) scales: Vec<[f32; 4]>,
}

impl MushRows {
    /// An influence that holds nothing yet.
    pub(super) fn push_influence(&mut self, joint: usize) {
        self.joints.push(joint);
        self.shares.push([0.0; 2]);
        self.patches.push([0.0; 9]);
    }

    /// Adds to an influence of a vertex whose scales are one.
    pub(super) fn add_part(&mut self, at: usize, share: f32, part: &PatchPart) {
        self.shares[at][0] += share;
        self.shares[at][1] += part.rotation_weight;
        let numbers = part.lever.to_array().into_iter().chain(part.moments);
        for (sum, number) in self.patches[at].iter_mut().zip(numbers) {
            *sum += number;
        }
    }

    /// The bake, in the units of the mesh. No vertex may name a joint twice.
    pub(super) fn into_mush(self, joint_count: usize) -> Result<Mush, MushError> {
        let mut weights = WeightsBuilder::new(joint_count)?;
        let row = |vertex: usize| self.starts[vertex]..self.starts[vertex + 1];
        for vertex in 0..self.centers.len() {
            let influences = row(vertex).map(|at| (self.joints[at], self.shares[at][0]));
            weights.push(influences, joint_count)?;
        }
        let (weights, _) = weights.finish();
        let mut parts = Vec::with_capacity(weights.influence_count());
        for (vertex, &[lever_scale, axes @ ..]) in self.scales.iter().enumerate() {
            // Weights come heaviest first, without those that are zero.
            for &joint in weights.row(vertex).0 {
                let Some(at) = row(vertex).find(|&at| self.joints[at] == usize::from(joint)) else {
                    continue;
                };
                let [x, y, z, mut moments @ ..] = self.patches[at];
                for (moment, [row, column]) in moments.iter_mut().zip(AXES) {
                    *moment = *moment * axes[row] * axes[column];
                }
                parts.push(PatchPart {
                    rotation_weight: self.shares[at][1],
                    lever: Vec3::new(x, y, z) * lever_scale,
                    moments,
                });
            }
        }
        Mush::from_parts(weights, parts, self.centers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_exactly_one() {
        assert_eq!(whole_shares(&[1.0]), [WHOLE]);
        let thirds = whole_shares(&[1.0 / 3.0; 3]);
        assert_eq!(thirds, [21845; 3]);
    }

    #[test]
    fn what_turns_a_vertex_also_carries_it_and_what_does_nothing_is_left_out() {
        let (shares, kept) = nothing_less_than_a_step(vec![65535, 0, 0], &[65000, 535, 0]);
        assert_eq!(shares, [65534, 1, 0]);
        assert_eq!(kept, [0, 1]);
    }
}
