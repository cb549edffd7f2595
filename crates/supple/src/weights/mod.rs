//! Skinning weights: any number of influences per vertex, in compressed rows.

mod seams;
mod steps;

#[cfg(any(feature = "bind", feature = "metrics"))]
pub(crate) use seams::weld_seams;
pub(crate) use seams::{closed_over_seams, weld_bound};

use crate::merging::merge_by_key;
use crate::surface::Rows;
use std::ops::Range;
use steps::row_in_steps;
use thiserror::Error;

pub use steps::whole_steps;

/// Weights are multiples of one divided by this number, so that every sum of them is exact in
/// `f32`.
///
/// Multiples of 2⁻²⁴ up to 1 are exactly the numbers whose sums, in any order, with or without
/// fused multiply-add, do not round. So `Σ w = 1` holds exactly, and the rest pose is reproduced
/// bit for bit. The grid is as fine as `f32` just below 1 (an error of 3e-8).
const GRID: f64 = (1u32 << 24) as f64;

/// The influences of every vertex.
///
/// Influences of a vertex are sorted by falling weight, ties by joint index. Every weight is
/// positive, their sum is exactly one, and every vertex has at least one influence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    joints: Rows<u16>,
    /// Parallel to the joints.
    values: Vec<f32>,
}

/// A joint with its weight on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Index of the joint in the skeleton.
    pub joint: usize,
    /// The weight, above zero.
    pub weight: f32,
}

/// Error from numbers that are not valid [`Weights`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A weight is NaN or infinite.
    #[error("vertex {vertex} has the weight {weight} for joint {joint}")]
    NotFinite {
        /// The vertex.
        vertex: usize,
        /// The joint.
        joint: usize,
        /// The weight found.
        weight: f32,
    },
    /// An influence names a joint that does not exist.
    #[error(
        "vertex {vertex} has the weight {weight} for joint {joint}, but there are {joints} joints"
    )]
    JointOutOfRange {
        /// The vertex.
        vertex: usize,
        /// The joint found.
        joint: usize,
        /// Its weight.
        weight: f32,
        /// The number of joints.
        joints: usize,
    },
    /// More joints than 16-bit indices can name.
    #[error("{0} joints are more than the {max} that weights can name", max = 1 << 16)]
    TooManyJoints(usize),
    /// More influences than 32-bit indices can name.
    #[error("{0} influences are more than 32-bit indices can name")]
    TooManyInfluences(usize),
    /// A vertex has no weight, and there is no joint to follow instead.
    #[error("vertex {vertex} has no weight and there is no joint to follow")]
    NoJoints {
        /// The vertex.
        vertex: usize,
    },
}

/// Repairs that were made while building weights.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WeightsReport {
    /// The number of vertices whose weights did not sum to one.
    pub unnormalised: usize,
    /// The smallest and the largest sum among them.
    pub sum_range: Option<(f64, f64)>,
    /// The number of vertices without any weight; they follow the fallback joint.
    pub without_weights: usize,
    /// The first such vertex.
    pub first_without_weights: Option<usize>,
    /// The number of negative weights, which count as zero.
    pub negative: usize,
    /// The number of influences with weight zero whose joint does not exist.
    pub out_of_range_unused: usize,
}

/// Builds [`Weights`] row by row; repairs what it can and reports the repairs.
#[derive(Debug)]
pub struct WeightsBuilder {
    weights: Weights,
    report: WeightsReport,
    joint_count: usize,
    row: Vec<(u16, f64)>,
}

impl WeightsBuilder {
    /// A builder for a skeleton of `joint_count` joints.
    ///
    /// # Errors
    ///
    /// Fails if there are more joints than 16-bit indices can name.
    pub fn new(joint_count: usize) -> Result<WeightsBuilder, WeightsError> {
        if joint_count > 1 << 16 {
            return Err(WeightsError::TooManyJoints(joint_count));
        }
        Ok(WeightsBuilder {
            weights: Weights::default(),
            report: WeightsReport::default(),
            joint_count,
            row: Vec::new(),
        })
    }

    /// Adds the influences of the next vertex, in any order; a joint may occur more than once.
    ///
    /// They are normalised to sum to one; a vertex without influences follows `fallback`.
    ///
    /// # Errors
    ///
    /// Fails if a weight is not finite, or a joint with a weight or the fallback does not exist.
    pub fn push(
        &mut self,
        influences: impl IntoIterator<Item = (usize, f32)>,
        fallback: usize,
    ) -> Result<(), WeightsError> {
        let vertex = self.weights.vertex_count();
        self.row.clear();
        for (joint, weight) in influences {
            if !weight.is_finite() {
                return Err(WeightsError::NotFinite {
                    vertex,
                    joint,
                    weight,
                });
            }
            if joint >= self.joint_count {
                if weight != 0.0 {
                    return Err(WeightsError::JointOutOfRange {
                        vertex,
                        joint,
                        weight,
                        joints: self.joint_count,
                    });
                }
                self.report.out_of_range_unused += 1;
                continue;
            }
            if weight < 0.0 {
                self.report.negative += 1;
            }
            if weight > 0.0 {
                self.row.push((joint as u16, f64::from(weight)));
            }
        }
        // A joint may occur more than once.
        merge_by_key(
            &mut self.row,
            |entry| entry.0,
            |kept, next| kept.1 += next.1,
        );
        let sum: f64 = self.row.iter().map(|(_, weight)| weight).sum();
        if self.row.is_empty() {
            if fallback >= self.joint_count {
                return Err(WeightsError::NoJoints { vertex });
            }
            self.report.without_weights += 1;
            self.report.first_without_weights.get_or_insert(vertex);
            self.row.push((fallback as u16, 1.0));
        } else {
            // Differences within the rounding of each weight to f32 are not reported.
            let rounding = 2e-7 * (1 + self.row.len()) as f64;
            if (sum - 1.0).abs() > rounding {
                self.report.unnormalised += 1;
                let (low, high) = self.report.sum_range.unwrap_or((sum, sum));
                self.report.sum_range = Some((low.min(sum), high.max(sum)));
            }
            for (_, weight) in &mut self.row {
                *weight /= sum;
            }
        }
        self.finish_row(&[])
    }

    /// Adds the influences of the next vertex from computed shares: every joint at most once, none
    /// negative, at least one positive. They are normalised.
    pub(crate) fn push_shares(
        &mut self,
        shares: impl IntoIterator<Item = (u16, f64)>,
    ) -> Result<(), WeightsError> {
        self.push_shares_around(&[], shares)
    }

    /// Adds the influences of the next vertex: some weights unchanged, bit for bit, and the
    /// remaining weight distributed in proportion to shares, as for
    /// [`WeightsBuilder::push_shares`]. The unchanged weights lie on the grid, and sum to less than
    /// one.
    pub(crate) fn push_shares_around(
        &mut self,
        kept: &[(u16, f32)],
        shares: impl IntoIterator<Item = (u16, f64)>,
    ) -> Result<(), WeightsError> {
        self.row.clear();
        self.row.extend(shares);
        let sum: f64 = self.row.iter().map(|(_, share)| share).sum();
        for (_, share) in &mut self.row {
            *share /= sum;
        }
        self.finish_row(kept)
    }

    /// Rounds the row, which sums to one up to rounding, to the grid, scaled to the weight that the
    /// kept weights leave, and appends both, heaviest first.
    fn finish_row(&mut self, kept: &[(u16, f32)]) -> Result<(), WeightsError> {
        let kept = kept.iter();
        let kept = kept.map(|&(joint, weight)| (joint, (f64::from(weight) * GRID) as i64));
        let shared = GRID as i64 - kept.clone().map(|(_, step)| step).sum::<i64>();
        let mut steps = row_in_steps(&self.row, shared);
        steps.extend(kept);
        steps.sort_by_key(|&(joint, step)| (-step, joint));
        steps.retain(|&(_, step)| step > 0);
        let count = self.weights.values.len() + steps.len();
        if u32::try_from(count).is_err() {
            return Err(WeightsError::TooManyInfluences(count));
        }
        self.weights
            .push_row(&steps, |step| (step as f64 / GRID) as f32);
        Ok(())
    }

    /// The weights, and the report of repairs.
    pub fn finish(self) -> (Weights, WeightsReport) {
        (self.weights, self.report)
    }
}

impl Weights {
    fn push_row(&mut self, steps: &[(u16, i64)], weight: impl Fn(i64) -> f32) {
        self.joints.push_row(steps.iter().map(|&(joint, _)| joint));
        self.values
            .extend(steps.iter().map(|&(_, step)| weight(step)));
    }

    /// Weights of no vertices, with room for as many as here.
    fn none_of_as_many(&self) -> Weights {
        Weights {
            joints: Rows::with_capacity(self.vertex_count(), self.values.len()),
            values: Vec::with_capacity(self.values.len()),
        }
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.joints.len()
    }

    /// The influences of a vertex, heaviest first.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    #[inline]
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = Influence> + Clone + '_ {
        let (joints, values) = self.row(vertex);
        joints
            .iter()
            .zip(values)
            .map(|(&joint, &weight)| Influence {
                joint: usize::from(joint),
                weight,
            })
    }

    /// The weight of a joint on a vertex; zero if it has none.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    pub fn weight_of(&self, vertex: usize, joint: usize) -> f32 {
        let mut influences = self.of(vertex);
        let own = influences.find(|influence| influence.joint == joint);
        own.map_or(0.0, |influence| influence.weight)
    }

    /// The joints and weights of a vertex as slices, heaviest first.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    #[inline]
    pub fn row(&self, vertex: usize) -> (&[u16], &[f32]) {
        (self.joints.row(vertex), &self.values[self.range(vertex)])
    }

    /// The indices of a vertex's influences among all, for arrays parallel to them.
    #[inline]
    pub(crate) fn range(&self, vertex: usize) -> Range<usize> {
        self.joints.range(vertex)
    }

    /// These weights with some rows replaced by those of other weights; the vertices are in rising
    /// order. Both have the same number of vertices.
    pub(crate) fn with_rows_of(&self, others: &Weights, vertices: &[u32]) -> Weights {
        let same = |&vertex: &u32| (vertex, vertex as usize);
        self.with_replaced(others, vertices.iter().map(same))
    }

    /// These weights with some rows replaced: pairs of a vertex here and a row of the other
    /// weights. The vertices are in rising order.
    pub(crate) fn with_replaced(
        &self,
        others: &Weights,
        rows: impl IntoIterator<Item = (u32, usize)>,
    ) -> Weights {
        let mut weights = self.none_of_as_many();
        let mut next = 0;
        for (vertex, row) in rows {
            weights.append_rows(self, next..vertex as usize);
            weights.append_rows(others, row..row + 1);
            next = vertex as usize + 1;
        }
        weights.append_rows(self, next..self.vertex_count());
        weights
    }

    fn append_rows(&mut self, from: &Weights, vertices: Range<usize>) {
        let values = from.joints.range_of(vertices.clone());
        self.joints.append_rows(&from.joints, vertices);
        self.values.extend_from_slice(&from.values[values]);
    }

    /// Binds each vertex to its heaviest joint alone.
    pub fn heaviest_only(&self) -> Weights {
        let vertices = self.vertex_count();
        let mut joints = Rows::with_capacity(vertices, vertices);
        for row in self.joints.iter() {
            joints.push_row([row[0]]);
        }
        Weights {
            joints,
            values: vec![1.0; vertices],
        }
    }

    /// Limits the number of influences per vertex to `most`, continuously: an influence fades to
    /// zero as it approaches the heaviest dropped one, so that no crease appears.
    pub fn limited(&self, most: usize) -> Weights {
        let mut limited = WeightsBuilder {
            weights: Weights::default(),
            report: WeightsReport::default(),
            joint_count: 1 << 16,
            row: Vec::new(),
        };
        for vertex in 0..self.vertex_count() {
            let (joints, values) = self.row(vertex);
            let values = values.iter().map(|&value| f64::from(value));
            let row: Vec<(u16, f64)> = joints.iter().copied().zip(values).collect();
            // The number of influences does not grow, so it can be counted.
            let pushed = limited.push_shares(limited_row(&row, most));
            debug_assert!(pushed.is_ok());
        }
        limited.finish().0
    }

    /// Some of these rows.
    pub(crate) fn picked(&self, rows: impl IntoIterator<Item = usize>) -> Weights {
        let mut weights = Weights::default();
        for row in rows {
            weights.append_rows(self, row..row + 1);
        }
        weights
    }

    /// The largest number of influences at any vertex.
    pub fn max_influences(&self) -> usize {
        self.joints.iter().map(<[u16]>::len).max().unwrap_or(0)
    }

    /// The total number of influences.
    pub fn influence_count(&self) -> usize {
        self.values.len()
    }

    /// The highest joint index in use.
    pub fn max_joint(&self) -> Option<usize> {
        let highest = self.joints.values().iter().max();
        highest.map(|&joint| usize::from(joint))
    }
}

/// The heaviest influence of a row in any order; of equal weights, that of the lowest joint.
pub(crate) fn heaviest_influence(row: &[(u16, f64)]) -> Option<(u16, f64)> {
    row.iter().copied().reduce(|best, next| {
        let heavier = next.1 > best.1 || (next.1 == best.1 && next.0 < best.0);
        if heavier { next } else { best }
    })
}

/// At most `most` influences of a row that is sorted by falling weight; not normalised.
///
/// With `n` the largest weight that is dropped, each kept weight `w` becomes `w − n (n / w)⁴`: zero
/// for `w = n`, and nearly unchanged from twice that weight on. (Subtracting `n` from all weights
/// is simpler, but gives nearly everything to one of several weights that are almost equal.) If
/// even the largest weight is hardly larger than `n`, the first weights are kept unchanged.
pub(crate) fn limited_row(
    row: &[(u16, f64)],
    most: usize,
) -> impl Iterator<Item = (u16, f64)> + '_ {
    let most = most.max(1);
    let next = row.get(most).map_or(0.0, |&(_, weight)| weight);
    let alike = ((next / row[0].1 - 0.8) / 0.2).clamp(0.0, 1.0);
    let faded = move |weight: f64| {
        let left = (weight - next * (next / weight).powi(4)).max(0.0);
        left + alike * (weight - left)
    };
    let kept = row.iter().take(most);
    let kept = kept.map(move |&(joint, weight)| (joint, faded(weight)));
    kept.filter(|(_, share)| *share > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(
        rows: &[&[(usize, f32)]],
        joints: usize,
    ) -> Result<(Weights, WeightsReport), WeightsError> {
        let mut builder = WeightsBuilder::new(joints)?;
        for row in rows {
            builder.push(row.iter().copied(), 0)?;
        }
        Ok(builder.finish())
    }

    #[test]
    fn rows_are_ordered_merged_and_normalised() {
        let (weights, report) = build(&[&[(2, 0.25), (0, 0.5), (2, 0.25), (1, 0.5)]], 3).unwrap();
        let row: Vec<_> = weights.of(0).map(|i| i.joint).collect();
        assert_eq!(row, [0, 1, 2]);
        assert_eq!(report.unnormalised, 1);
        assert_eq!(report.sum_range, Some((1.5, 1.5)));
    }

    #[test]
    fn a_limit_fades_out_what_comes_near_to_the_next_and_a_tie_takes_the_first() {
        let (weights, _) = build(
            &[
                &[(0, 0.4), (1, 0.3), (2, 0.2), (3, 0.1)],
                &[(3, 0.25), (1, 0.25), (2, 0.25), (0, 0.25)],
            ],
            4,
        )
        .unwrap();
        let limited = weights.limited(2);
        let (joints, values) = limited.row(0);
        assert_eq!(joints, [0, 1]);
        let [a, b] = [0.4f64, 0.3].map(|w| w - 0.2 * (0.2 / w).powi(4));
        assert!((f64::from(values[0]) - a / (a + b)).abs() < 1e-6);
        assert!((f64::from(values[1]) - b / (a + b)).abs() < 1e-6);
        assert_eq!(limited.row(1), (&[0u16, 1][..], &[0.5f32, 0.5][..]));
        assert_eq!(weights.limited(4), weights);
        assert_eq!(weights.heaviest_only().row(0), (&[0u16][..], &[1.0f32][..]));
    }

    #[test]
    fn a_vertex_without_weights_follows_the_fallback_and_is_reported() {
        let (weights, report) = build(&[&[(1, 1.0)], &[(1, 0.0)], &[]], 2).unwrap();
        assert_eq!(weights.row(1), (&[0u16][..], &[1.0f32][..]));
        assert_eq!(report.without_weights, 2);
        assert_eq!(report.first_without_weights, Some(1));
    }

    #[test]
    fn bad_weights_are_named() {
        let error = build(&[&[(0, 1.0)], &[(5, 0.5)]], 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "vertex 1 has the weight 0.5 for joint 5, but there are 2 joints"
        );
        let error = build(&[&[(1, f32::NAN)]], 2).unwrap_err();
        assert_eq!(error.to_string(), "vertex 0 has the weight NaN for joint 1");
        assert!(
            build(&[&[(5, 0.0), (0, 1.0)]], 2)
                .unwrap()
                .1
                .out_of_range_unused
                == 1
        );
        assert!(build(&[&[(1, -0.5), (0, 1.0)]], 2).unwrap().1.negative == 1);
        assert_eq!(
            build(&[&[]], 0).unwrap_err(),
            WeightsError::NoJoints { vertex: 0 }
        );
    }

    #[test]
    fn sums_are_exactly_one_also_with_very_many_influences() {
        for count in [5_000, 20_000, 65_536] {
            let row: Vec<(usize, f32)> = (0..count).map(|joint| (joint, 0.37)).collect();
            let (weights, _) = build(&[&row], count).unwrap();
            let sum: f64 = weights
                .of(0)
                .map(|influence| f64::from(influence.weight))
                .sum();
            assert_eq!(sum, 1.0);
            assert_eq!(weights.of(0).len(), count);
        }
    }

    proptest! {
        #[test]
        fn sums_are_exactly_one_in_any_order_and_building_again_changes_nothing(
            row in prop::collection::vec((0usize..300, 0.0f32..2.0), 1..40),
        ) {
            prop_assume!(row.iter().any(|(_, w)| *w > 1e-3));
            let (weights, _) = build(&[&row], 300).unwrap();
            let (joints, values) = weights.row(0);
            prop_assert_eq!(values.iter().sum::<f32>(), 1.0);
            prop_assert_eq!(values.iter().rev().sum::<f32>(), 1.0);
            prop_assert!(values.is_sorted_by(|a, b| a >= b) && values.iter().all(|&w| w > 0.0));
            let again: Vec<_> = joints
                .iter()
                .map(|&j| usize::from(j))
                .zip(values.iter().copied())
                .collect();
            let (second, report) = build(&[&again], 300).unwrap();
            prop_assert_eq!(&second, &weights);
            prop_assert_eq!(report, WeightsReport::default());
            let total: f64 = row.iter().map(|(_, w)| f64::from(*w)).sum();
            for influence in weights.of(0) {
                let given: f64 = row
                    .iter()
                    .filter(|(j, _)| *j == influence.joint)
                    .map(|(_, w)| f64::from(*w))
                    .sum();
                prop_assert!((f64::from(influence.weight) - given / total).abs() <= 1.0 / GRID);
            }
        }
    }
}
